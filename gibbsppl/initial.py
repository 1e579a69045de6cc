"""Where a chain starts: ancestral draws, except where a prior is too vague to be drawn from.

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
observed values of continuous distributions, and 1 if there are none. A start of zero density is
drawn again, each time with half the spread, and every second time with all that is 0 or 1 at 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.density import event_dims, kept_entries, log_terms, regions
from gibbsppl.errors import ModelError, RunError
from gibbsppl.evaluation import Floats, Values, evaluate
from gibbsppl.expressions import leaves_of, mentions
from gibbsppl.feasible import put_in_order, raise_to_observed
from gibbsppl.forward import State, as_declared, drawn, fill, unfilled, walk
from gibbsppl.graph import Graph, Statement
from gibbsppl.impossible import why_impossible
from gibbsppl.inits import checked_init
from gibbsppl.known_limits import known_limits

Mend = Callable[[State], None]

CANDIDATES = 16
ATTEMPTS = 40
EDGE_OF_SIMPLEX = 1e-30
VAGUE_IN_DATA_SCALES = 10.0
VAGUE_IN_LOGS = np.log(1000.0) / 2


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
        "of continuous distributions, and 1 if there are none. A start of zero density is\ndrawn "
        "again, each time with half the spread, and every second time with all that is 0 or 1 at 1."
    )


def initial_state(
    rng: np.random.Generator,
    graph: Graph,
    data: Values,
    init: Mapping[str, Any] | None = None,
    *,
    spread: float = 1.0,
    mend: Mend | None = None,
) -> tuple[State, dict[str, str]]:
    """A state of positive density, and for each variable a note that says where it comes from.

    ``init`` fixes variables: ``{"mu": 0.0}``; a shape must be the variable's own, and elements that
    are NaN or masked come from the rule. ``spread`` widens the values that do not come from the
    prior. ``mend`` may change a state of zero density in place (a sweep draws labels that the
    observations allow); what is fixed stays fixed.
    """
    asked = checked_init(graph, data, init or {})
    given = {n: a for n, a in asked.items() if not np.isnan(a).any()}
    names = graph.drawn
    values: State = {}
    terms: dict[str, float] = {}
    for attempt in range(ATTEMPTS):
        scale = data_scale(graph, data)
        start = _Start(rng, graph, scale, spread * 0.5**attempt, asked, present=attempt % 2 == 1)
        values = _attempt(start, data, given)
        terms = log_terms(graph, values)
        if mend is not None and not asked and not np.isfinite(sum(terms.values())):
            state = {n: as_declared(graph, n, values[n]) for n in names}
            mend(state)
            values |= state
            terms = log_terms(graph, values)
        if np.isfinite(sum(terms.values())):
            notes = start.notes | dict.fromkeys(asked, "given")
            return {n: as_declared(graph, n, values[n]) for n in names}, notes
    raise RunError(_why_not(graph, values, terms, asked))


def data_scale(graph: Graph, data: Values) -> float:
    """The root mean square of the observed values of continuous families; 1 without any."""
    names = {s.target.array.name for s in graph.statements if s.known != 0 and _is_measured(s)}
    # Of a sparse array, one potential is over all cells and the other over those stored.
    sparse = [(p.of, math.prod(map(len, p.over))) for p in graph.potentials if p.of]
    sparse = [(n, size) for n, size in sparse if n in data and not graph.variables[n].integer]
    names |= {n for n, _ in sparse}
    found = [np.ravel(np.asarray(data[n], dtype=np.float64)) for n in sorted(names & set(data))]
    values = np.concatenate(found or [np.ones(1)])
    zeros = sum(size - np.size(data[n]) for n, size in sparse)
    return float(np.sqrt(np.nanmean(values**2) * (values.size / (values.size + zeros)))) or 1.0


def _is_measured(statement: Statement) -> bool:
    return statement.support.kind in ("real", "vector")


def _attempt(start: _Start, data: Values, given: Values) -> State:
    graph = start.graph
    if any(p.of is None for p in graph.potentials):
        values = unfilled(graph, data, given)
        for statement in graph.latent:
            if statement.target.array.name not in given:
                values = start.without_order(statement, values)
        raise_to_observed(graph, values, start.asked)
        put_in_order(graph, values, start.asked)
        return values
    stated = replace(graph, potentials=())
    values = walk(stated, data, start.draw, given=given, observed=False)
    raise_to_observed(graph, values, start.asked)
    return values


@dataclass(frozen=True, slots=True)
class _Start:
    """One attempt: ``shrink`` scales the spread of the values that do not come from the prior.

    ``asked`` are the user's values, NaN where there is none. ``present``: what is 0 or 1 starts at
    1, as what is there can be seen or not, and what is not there cannot be seen.
    """

    rng: np.random.Generator
    graph: Graph
    scale: float
    shrink: float
    asked: Values
    present: bool = False
    notes: dict[str, str] = field(default_factory=dict)

    def draw(self, statement: Statement, values: State) -> Floats:
        """The prior's draw where the prior is not vague, the rule's value elsewhere."""
        sizes = self.graph.sizes
        fallback = self._fallback(statement, values)
        try:
            candidates = drawn(self.rng, statement, values, sizes, draws=CANDIDATES)
        except (ModelError, ValueError, FloatingPointError):
            vague = np.ones(fallback.shape, dtype=bool)
            candidates = fallback[None]
        else:
            vague = self._is_vague(statement, candidates, values)
        self._note(statement, vague)
        return self._as_asked(statement, np.where(vague, fallback, candidates[0]), values)

    def _as_asked(self, statement: Statement, found: Floats, values: Values) -> Floats:
        """The values with those that the user gives in their place."""
        name, support = statement.target.array.name, statement.support
        if self.present and support.is_discrete and (support.lower, support.upper) == (0, 1):
            found = np.ones_like(found)
        if name not in self.asked:
            return found
        here = {**values, name: self.asked[name]}
        asked = evaluate(
            statement.target, regions(statement, self.graph.sizes), here, self.graph.sizes
        )
        return np.where(np.isnan(asked), found, asked)

    def _note(self, statement: Statement, vague: Any) -> None:
        share = "prior" if not vague.any() else "rule" if vague.all() else "prior and rule"
        before = self.notes.get(statement.name, share)
        self.notes[statement.name] = share if share == before else "prior and rule"

    def without_order(self, statement: Statement, values: Values) -> State:
        """The rule's values, for models that cannot be drawn in order (potentials)."""
        name, sizes = statement.target.array.name, self.graph.sizes
        here = {**values, name: np.array(values[name], dtype=np.float64)}
        free = True
        if statement.known != 0:
            free = evaluate(statement.known, regions(statement, sizes), values, sizes) == 0
        found = self._as_asked(statement, self._fallback(statement, values), values)
        fill(statement, found, here, sizes, where=free)
        self.notes[statement.name] = "rule"
        return here

    def _is_vague(self, statement: Statement, candidates: Floats, values: Values) -> Any:
        """Where the candidates are not a start: too far apart, or on the edge of the support."""
        kind = statement.support.kind
        match kind:
            case "real" | "integer" | "vector":
                lower, upper = self._bounds(statement, values)
                return _is_spread(candidates, lower, upper, self.scale, kind == "integer")
            case "simplex":
                kept = kept_entries(statement, values, self.graph.sizes)
                inside = (candidates[0] > EDGE_OF_SIMPLEX) | ~kept
                edge = ~inside.all(axis=-1, keepdims=True)
                return np.broadcast_to(edge, candidates.shape[1:])
            case "sphere":
                return np.zeros(candidates.shape[1:], dtype=bool)
            case "spd":
                edge = np.linalg.eigvalsh(candidates[0]).min(axis=-1)[..., None, None] <= 0
                return np.broadcast_to(edge, candidates.shape[1:])
            case "counts":
                return np.zeros(candidates.shape[1:], dtype=bool)

    def _bounds(self, statement: Statement, values: Values) -> tuple[Floats, Floats]:
        """Those of the support, and what potentials tell beside them, if that leaves anything."""
        if statement.support.kind == "vector":
            return np.asarray(-np.inf), np.asarray(np.inf)
        name, sizes = statement.target.array.name, self.graph.sizes
        lower, upper = (
            evaluate(sp.sympify(b), statement.over, values, sizes)
            for b in (statement.support.lower, statement.support.upper)
        )
        tied = [p for p in self.graph.potentials if mentions(p.log_density, (name,))]
        if not tied:
            return lower, upper
        told = known_limits(self.graph, values, name, tied)
        low, high = (
            evaluate(statement.target, statement.over, {**values, name: limit}, sizes)
            for limit in (told.lower, told.upper)
        )
        low, high = np.maximum(lower, low), np.minimum(upper, high)
        is_empty = low > high
        return np.where(is_empty, lower, low), np.where(is_empty, upper, high)

    def _fallback(self, statement: Statement, values: Values) -> Floats:
        """The rule's values: inside the support, of unit or data scale."""
        over = regions(statement, self.graph.sizes)
        shape = tuple(map(len, over))
        noise = self.shrink * self.rng.standard_normal(shape)
        batch = shape[: len(shape) - len(event_dims(statement))]
        match statement.support.kind:
            case "real" | "integer" | "vector" as kind:
                lower, upper = self._bounds(statement, values)
                inside = _inside(noise, lower, upper, self.scale)
                whole = np.clip(np.rint(inside), lower, upper) if kind == "integer" else inside
                return np.asarray(whole)
            case "simplex":
                weights = np.exp(noise) * kept_entries(statement, values, self.graph.sizes)
                return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
            case "sphere":
                direction = self.rng.standard_normal(shape)
                return np.asarray(direction / np.linalg.norm(direction, axis=-1, keepdims=True))
            case "spd":
                return np.broadcast_to(np.eye(shape[-1]), shape).copy()
            case "counts":
                total = evaluate(
                    sp.sympify(statement.support.upper), statement.over, values, self.graph.sizes
                )
                totals = np.broadcast_to(np.rint(total).astype(int), batch)
                flat = np.full(shape[-1], 1 / shape[-1])
                return self.rng.multinomial(totals, flat).astype(np.float64)


def _is_spread(candidates: Floats, lower: Any, upper: Any, scale: float, whole: bool) -> Any:
    """Whether the prior's candidates cover too wide a range to start from any of them."""
    bounded = np.isfinite(lower) & np.isfinite(upper)
    half = np.isfinite(lower) ^ np.isfinite(upper)
    distance = np.where(np.isfinite(lower), candidates - lower, upper - candidates)
    with np.errstate(all="ignore"):
        logs = _spread(np.log(distance + whole)) > VAGUE_IN_LOGS
        real = _spread(candidates) > VAGUE_IN_DATA_SCALES * scale
    edge = np.where(whole, False, (candidates == lower) | (candidates == upper))[0]  # noqa: FBT003
    # An interval much wider than the data is no better known than a half line.
    wide = ~np.asarray(whole) & (upper - lower > VAGUE_IN_DATA_SCALES * scale)
    half_line = ~np.isfinite(logs * 1.0) | logs | edge
    return np.where(bounded, edge | wide, np.where(half, half_line, real))


def _spread(candidates: Floats) -> Floats:
    """Half the distance between the quartiles; infinite if some candidates are."""
    finite = np.isfinite(candidates).all(axis=0)
    safe = np.where(finite, candidates, 0.0)
    low, high = np.quantile(safe, [0.25, 0.75], axis=0)
    return np.where(finite, (high - low) / 2, np.inf)


def _inside(noise: Floats, lower: Any, upper: Any, scale: float) -> Floats:
    """Points of unit or data scale between bounds that may be infinite."""
    with np.errstate(all="ignore"):
        above, below = lower + np.exp(noise), upper - np.exp(noise)
        between = lower + (upper - lower) / (1 + np.exp(-np.clip(noise, -30, 30)))
    one_sided = np.where(np.isfinite(lower), above, np.where(np.isfinite(upper), below, 0.0))
    free = np.isneginf(lower) & np.isposinf(upper)
    bounded = np.isfinite(lower) & np.isfinite(upper)
    return np.where(bounded, between, np.where(free, scale * noise, one_sided))


def _why_not(graph: Graph, values: Values, terms: Mapping[str, float], given: Values) -> str:
    bad = [n for n, t in terms.items() if not np.isfinite(t)]
    reads = {f.name: f for f in graph.factors}
    read = sorted({str(x.array) for n in bad for x in leaves_of(reads[n].log_density)} & set(given))
    advice = f"change the init of {', '.join(read)}" if read else "pass values with init={...}"
    seen = [n for n in bad if getattr(reads[n], "known", 0) != 0]
    why = why_impossible(graph, reads[(seen or bad)[0]], values)
    return (
        f"{', '.join(seen or bad)}: no start of positive density was found in {ATTEMPTS} attempts: "
        f"{why}; correct the data or the model, or {advice}."
    )
