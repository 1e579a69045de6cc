"""Dispersed states: ancestral draws, except where a prior is too vague to be drawn from.

Comes in: a graph, its data, values that the user fixes. Goes out: a state of positive density, and
notes that say which rule gave each variable its start.

>>> print(describe())
An initial value is a draw from its prior given what is already set, if the prior is not too vague:
16 draws are made, and the first is kept where all are finite and off the edge of the support, and
they spread over no more than 10 data scales (real line) or a factor of about 1,000 (half line).
Elsewhere: Normal(0, data scale) on the real line; a distance exp(Normal(0, 1)) from the bound on a
half line; expit(Normal(0, 1)) of an interval; flat on a simplex; any direction of a unit vector;
the identity for a matrix; a small count. Bounds are those of the support, and those that potentials
tell of an element by comparing it with numbers. The data scale is the root mean square of the
observed values of continuous distributions, and 1 if there are none; that of exponents, logits and
probits, and of what these are drawn around, is 1, and of a coefficient of such, 1 over the root
mean square of its covariate. A start of zero density is drawn again, each time with half the spread
(draws of priors towards their medians; after 20 attempts by the rule alone), and every second time
with all that is 0 or 1 at 1. If all 40 attempts have zero density, the 3 with the fewest impossible
elements are moved: as little as possible to where all inequalities that are linear hold with room;
then, element by element, by steps of all sizes towards where every value, parameter and potential
is possible. One at which the density of an element is too small for a number, or a power in it too
large, is moved to the centre, if that is more probable; then each variable is let out again as far
as the log density falls by no more than its own size.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import leaves_of
from gibbsppl.code.log_densities import LogDensities
from gibbsppl.errors import StartError
from gibbsppl.initial.dispersed import CANDIDATES, VAGUE_IN_DATA_SCALES, Start, dispersed
from gibbsppl.initial.feasible import free_in
from gibbsppl.initial.inits import finite_arrays
from gibbsppl.initial.nearing import brought_nearer
from gibbsppl.initial.requirements import requirements_of
from gibbsppl.initial.unitless import unitless_scales
from gibbsppl.initial.zero_density import why_impossible
from gibbsppl.model.density import Told
from gibbsppl.model.evaluation import Sizes, Values, largest_power
from gibbsppl.model.forward import State, as_declared
from gibbsppl.model.graph import Factor, Graph, Potential, Statement
from gibbsppl.model.graph_views import held
from gibbsppl.pieces.outcomes import with_outcomes

Mend = Callable[[State], None]

# By the rule alone in the second half of them.
ATTEMPTS = 40
HALVINGS = ATTEMPTS // 2
# From so many attempts a search starts, if none has a positive density.
SEARCHES = 3
# So many at a time, where a start is looked for between the whole spread and the centre.
STEP = 5

# The log of the smallest positive number.
LEAST = math.log(float(np.finfo(float).smallest_subnormal))
# What has a square.
LARGEST = math.sqrt(float(np.finfo(float).max))


def describe() -> str:
    """The rule, as text."""
    return (
        "An initial value is a draw from its prior given what is already set, if the prior is not "
        f"too vague:\n{CANDIDATES} draws are made, and the first is kept where all are finite and "
        "off the edge of the support, and\nthey spread over no more than "
        f"{VAGUE_IN_DATA_SCALES:g} data scales (real line) or a factor of about 1,000 (half "
        "line).\nElsewhere: Normal(0, data scale) on the real line; a distance exp(Normal(0, 1)) "
        "from the bound on a\nhalf line; expit(Normal(0, 1)) of an interval; flat on a "
        "simplex; any direction of a unit vector;\nthe identity for a matrix; a small count. "
        "Bounds are those of the support, and those that potentials\ntell of an element by "
        "comparing it with numbers. The data scale is the root mean square of the\nobserved values "
        "of continuous distributions, and 1 if there are none; that of exponents, logits and\n"
        "probits, and of what these are drawn around, is 1, and of a coefficient of such, 1 over "
        "the root\nmean square of its covariate. A start of zero density is drawn again, each time "
        "with half the spread\n(draws of priors towards their medians; after "
        f"{HALVINGS} attempts by the rule alone), and every second time\nwith all that is 0 or 1 "
        f"at 1. If all {ATTEMPTS} attempts have zero density, the {SEARCHES} with the fewest "
        "impossible\nelements are moved: as little as possible to where all inequalities that are "
        "linear hold with room;\nthen, element by element, by steps of all sizes towards where "
        "every value, parameter and potential\nis possible. One at which the density of an "
        "element is too small for a number, or a power in it too\nlarge, is moved to the centre, "
        "if that is more probable; then each variable is let out again as far\nas the log density "
        "falls by no more than its own size."
    )


def initial_state(  # noqa: PLR0913  (settings, all named at the call)
    rng: np.random.Generator,
    graph: Graph,
    data: Values,
    init: Values | None = None,
    *,
    spread: float = 1.0,
    settle: bool = True,
    mend: Mend | None = None,
    densities: LogDensities | None = None,
) -> tuple[State, dict[str, str]]:
    """A state of positive density, and for each variable a note that says where it comes from.

    ``init`` fixes variables: ``{"mu": 0.0}``; a shape must be the variable's own, and elements that
    are NaN or masked come from the rule. ``spread`` is the share of the usual spread to begin
    with. ``settle``: a start that is as good as impossible is moved to where there is room (by many
    more draws). ``mend`` may change a state of zero density in place (a sweep draws labels that the
    observations allow); what is fixed stays fixed. ``densities`` are by default interpreted.
    """
    densities = densities or LogDensities(graph)
    asked = finite_arrays("init", graph, data, init or {})
    given = {n: a for n, a in asked.items() if not np.isnan(a).any()}
    swept = mend if len(given) == len(asked) else None
    scale = data_scale(graph, data)
    unitless = unitless_scales(graph, data)
    tried: list[_Found] = []
    for attempt in range(ATTEMPTS):
        shrink, by_rule = spread * 0.5 ** (attempt % HALVINGS), attempt >= HALVINGS
        start = Start(
            rng, graph, scale, shrink, asked,
            present=attempt % 2 == 1, by_rule=by_rule, unitless=unitless,
        )  # fmt: skip
        again = replace(start, rng=copy.deepcopy(rng))
        found = _found(densities, start, data, given)
        if swept is not None and not found.is_possible:
            found = _mended(densities, found, swept, given)
        elif settle and found.is_possible and not found.has_room:
            found = _settled(densities, rng, again, found, data, given)
        if found.is_possible:
            return _as_start(graph, found, asked)
        tried.append(found)
    for nearest in sorted(tried, key=lambda t: t.impossible)[:SEARCHES]:
        moved = _searched(densities, rng, nearest, asked)
        if swept is not None and not moved.is_possible:
            moved = _mended(densities, moved, swept, given)
        if moved.is_possible:
            return _as_start(graph, moved, asked)
    raise StartError(_why_not(graph, found.values, found.terms, asked))


def _as_start(graph: Graph, found: _Found, asked: Values) -> tuple[State, dict[str, str]]:
    """The state and the notes of a start, in the arrays of the declared model."""
    notes = {**found.notes, **dict.fromkeys(asked, "given")}
    own = (*graph.drawn, *held(graph))
    return {n: as_declared(graph, n, found.values[n]) for n in own}, notes


@dataclass(frozen=True, slots=True)
class _Found:
    """The values of one attempt, what is told of each factor's log density, and notes."""

    values: State
    terms: Mapping[str, Told]
    notes: Mapping[str, str]
    overflows: bool

    @property
    def log_density(self) -> float:
        """The log density of all factors."""
        return float(sum(t.total for t in self.terms.values()))

    @property
    def worth(self) -> float:
        """The log density where it can be computed in other ways too, and -inf elsewhere."""
        return self.log_density if self.is_possible and not self.overflows else -math.inf

    @property
    def is_possible(self) -> bool:
        """Whether the density is positive and finite."""
        return math.isfinite(self.log_density)

    @property
    def impossible(self) -> int:
        """The number of elements whose density is zero or no number."""
        return sum(t.lost for t in self.terms.values())

    @property
    def least(self) -> float:
        """The least log density of a wider start: lower by at most the size of ``worth``."""
        return self.worth - abs(self.worth)

    @property
    def has_room(self) -> bool:
        """Whether nothing is too large, and no element's density too small, for a number."""
        return not self.overflows and all(t.least > LEAST for t in self.terms.values())


def _found(densities: LogDensities, start: Start, data: Values, given: Values) -> _Found:
    values = dispersed(start, data, given)
    return _looked_at(densities, values, start.notes)


def _looked_at(densities: LogDensities, values: State, notes: Mapping[str, str]) -> _Found:
    graph = densities.graph
    terms = densities.of(graph.factors, values)
    known = [t.largest for t in terms.values() if t.largest is not None]
    rest = [f for f in graph.factors if terms[f.name].largest is None]
    too_large = any(not x < LARGEST for x in known) or overflows(rest, values, graph.sizes)
    return _Found(values, terms, notes, too_large)


def overflows(factors: Iterable[Factor], values: Values, sizes: Sizes) -> bool:
    """Whether the square of a power that log densities are made of is no number."""
    # (what is stored of a sparse array is a table of rows: its cells are not looked at)
    made = [
        f
        for f in factors
        if isinstance(f, Statement) or (isinstance(f, Potential) and not f.is_sparse)
    ]
    powers = (f for f in made if f.log_density.has(sp.exp, sp.Pow))
    found = (largest_power(f.log_density, f.over, values, sizes) for f in powers)
    return any(not largest < LARGEST for largest in found)


def _mended(densities: LogDensities, found: _Found, mend: Mend, given: Values) -> _Found:
    """What is made of values of zero density; what is given stays."""
    graph = densities.graph
    own = (*graph.drawn, *held(graph))
    state = {n: as_declared(graph, n, found.values[n]) for n in own}
    mend(state)
    values = {**found.values, **state, **given}
    return _looked_at(densities, values, found.notes)


def _searched(
    densities: LogDensities, rng: np.random.Generator, found: _Found, asked: Values
) -> _Found:
    """A start moved to where the requirements of the model are met, or nearer to there."""
    graph = densities.graph
    # Few models come here, and scipy.optimize takes long to import.
    from gibbsppl.initial.polyhedra import inside_linear  # noqa: PLC0415

    free = free_in(graph, found.values, asked)
    requirements = requirements_of(with_outcomes(graph, found.values))
    values = inside_linear(graph, requirements, found.values, free)
    values = brought_nearer(graph, requirements, values, free, rng)
    return _looked_at(densities, values, found.notes)


def _settled(
    densities: LogDensities,
    rng: np.random.Generator,
    start: Start,
    found: _Found,
    data: Values,
    given: Values,
) -> _Found:
    """A start that is as good as impossible, drawn again with as much spread as there is room for.

    It stays where the log density at the centre is not less than half of its size (or all is out
    of reach there too, of priors and of the rule). Else all variables are moved towards their
    centres while that makes it more probable; then one after the other is let out again, as far as
    the log density falls by no more than its size.
    """
    by_rule = start.by_rule

    def with_spread(halvings: int, own: Mapping[str, float]) -> _Found:
        stream, shrink = copy.deepcopy(start.rng), start.shrink * 0.5**halvings
        again = replace(start, rng=stream, shrink=shrink, own=own, notes={}, by_rule=by_rule)
        return _found(densities, again, data, given)

    centre = with_spread(HALVINGS, {})
    if centre.worth == -math.inf and not by_rule:
        by_rule = True
        centre = with_spread(HALVINGS, {})
    if not found.worth < centre.least:
        return found
    between = {n: with_spread(n, {}) for n in range(STEP, HALVINGS, STEP)}
    tried = {0: found, **between, HALVINGS: centre}
    halved = max(tried, key=lambda n: tried[n].worth)
    best, least = tried[halved], tried[halved].least
    own: dict[str, float] = {}
    for name in rng.permutation([n for n in start.graph.drawn if n not in given]):
        own[name] = start.shrink * 0.5**halved
        for fewer in range(0, halved, 2 * STEP):
            wider = with_spread(halved, {**own, name: start.shrink * 0.5**fewer})
            if wider.worth >= least:
                best, own[name] = wider, start.shrink * 0.5**fewer
                break
    return best


def data_scale(graph: Graph, data: Values) -> float:
    """The root mean square of the observed values of continuous families; 1 without any."""
    names = {s.target.array.name for s in graph.statements if s.known != 0 and _is_measured(s)}
    found_in = ((p.of, p) for p in graph.potentials if p.of is not None and p.of in data)
    of = [(n, p) for n, p in found_in if not graph.variables[n].integer]
    names |= {n for n, _ in of}
    cells = {n: math.prod(map(len, p.over)) for n, p in of if p.is_sparse}
    found = [np.ravel(np.asarray(data[n], dtype=np.float64)) for n in sorted(names & set(data))]
    values = np.concatenate(found or [np.ones(1)])
    zeros = sum(size - np.size(data[n]) for n, size in cells.items())
    return float(np.sqrt(np.nanmean(values**2) * (values.size / (values.size + zeros)))) or 1.0


def _is_measured(statement: Statement) -> bool:
    return statement.support.kind in ("real", "vector")


def _why_not(graph: Graph, values: Values, terms: Mapping[str, Told], given: Values) -> str:
    bad = [n for n, t in terms.items() if t.lost]
    reads = {f.name: f for f in graph.factors}
    read = sorted({str(x.array) for n in bad for x in leaves_of(reads[n].log_density)} & set(given))
    advice = f"change the init of {', '.join(read)}" if read else "pass values with init={...}"
    seen = [n for n in bad if getattr(reads[n], "known", 0) != 0]
    why = why_impossible(graph, reads[(seen or bad)[0]], values)
    return (
        f"{', '.join(seen or bad)}: no start of positive density was found in {ATTEMPTS} attempts: "
        f"{why}; correct the data or the model, or {advice}."
    )
