"""The joint-distribution test: sweeps leave the joint distribution of everything as it is.

Comes in: a model and its program. Parameters and data are drawn together from the model; then the
sweep is run with the data fixed. Since the sweep leaves the posterior invariant, each variable has
the same distribution after as before. The replicates are independent. Three tests for each function
of the draws, each valid whatever its distribution; the level is shared out among all of them:

- two-sample Kolmogorov-Smirnov, against a second set of forward draws that is never swept;
- location: the mean change of the function's rank within that second set, a z test;
- spread: the same for the squared distance of the rank from the middle.

And, if asked for, of sweeps that are reversible: the flow between each two cells of values is the
same there and back, a fair coin for each replicate that goes from one to the other. Cells are made
of the second set alone, so that the binomial p-values are exact. A sweep that leaves the joint
distribution as it is, but goes round, is seen by this test alone.

Ranks are bounded, so that the z tests hold for heavy tails too; and they compare each replicate
with itself, so that what a sweep leaves nearly unchanged does not blur them.

A constraint is met by drawing everything again until it holds. Two things may depend on what is
observed: the tables of some rewrites, with which a program is to be `remade` for what is drawn; and
whether a rewrite fits, in which case the test is of the data `where` it does (given any event of
the data alone, the posterior is the same, so that sweeps leave the joint distribution as it is).
An auxiliary variable that a scan draws, given its last value, has to `start` from its conditional:
the program without the scan draws it so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import erfc, sqrt

import numpy as np
from scipy.special import bdtr, kolmogorov

from gibbsppl.checks.table import table, verdict
from gibbsppl.code.program import Program
from gibbsppl.errors import RunError
from gibbsppl.html import Printed
from gibbsppl.model.density import log_density
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.forward import State, simulate
from gibbsppl.model.graph import Factor, Graph
from gibbsppl.runtime import moves

TUNING_SWEEPS = 100
# Sweeps after which a program that has tuned nothing is taken to have nothing to tune.
UNTUNED_SWEEPS = 10
# Draws that break a constraint, one after the other, before the test gives up.
MOST_REFUSED = 10_000
# The roundings of an entry in a sweep: a turn takes two products and a sum of each of two entries.
ROUNDINGS = 6
# Cells of values between which flows are compared: a third of all values in each.
CELLS = 3

Function = Callable[[Values], float]
Remade = Callable[[State], tuple[Values, Program]]
Where = Callable[[State], bool]
Sweep = Callable[[State], None]
Started = Callable[[], tuple[State, Sweep, State]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """One test of a function of the draws: the distance or z score, and its p-value."""

    function: str
    test: str
    statistic: float
    p_value: float


@dataclass(frozen=True, slots=True)
class GewekeResult(Printed):
    """All comparisons, with the level that the family of them is tested at."""

    comparisons: tuple[Comparison, ...]
    replicates: int
    level: float

    @property
    def threshold(self) -> float:
        """The p-value below which a single comparison fails."""
        return self.level / max(len(self.comparisons), 1)

    @property
    def passed(self) -> bool:
        """Whether no function tells before from after."""
        return all(c.p_value >= self.threshold for c in self.comparisons)

    def __str__(self) -> str:
        rows = [
            (c.function, c.test, f"{c.statistic:.3f}", f"{c.p_value:.1e}", self._verdict(c))
            for c in self.comparisons
        ]
        return table(("function", "test", "statistic", "p-value", "verdict"), rows)

    def _verdict(self, comparison: Comparison) -> str:
        return verdict(comparison.p_value >= self.threshold)


def geweke(  # noqa: PLR0913  (the settings of the test are named by keyword)
    rng: np.random.Generator,
    graph: Graph,
    data: Values,
    program: Program,
    *,
    replicates: int = 1000,
    sweeps: int = 3,
    functions: Mapping[str, Function] | None = None,
    level: float = 1e-3,
    remade: Remade | None = None,
    where: Where | None = None,
    start: Program | None = None,
    reversible: bool = False,
) -> GewekeResult:
    """Forward draws against forward draws followed by sweeps, by a test of each function.

    ``functions`` map names to functions of a dict of all arrays (default: `default_functions`);
    ``remade`` maps what is observed to the data and the program for it (default: as given);
    ``where`` says of what data the test is (default: any), by what is observed alone; ``start``
    draws the auxiliary variables of the first state (default: the first sweep does);
    ``reversible``: flows between values are compared, too.
    """
    functions = dict(functions or default_functions(graph))
    remade = remade or (lambda seen: ({**data, **seen}, program))

    def together() -> State:
        return drawn_together(rng, graph, data, where)

    def started() -> tuple[State, Sweep, State]:
        return _started(rng, graph, data, remade, together(), start)

    tuning = _tuning(started)
    measured = [
        [
            _measured(functions, {**data, **values})
            for values in (together(), *_before_and_after(started, sweeps, tuning))
        ]
        for _ in range(replicates)
    ]
    samples = np.transpose(measured, (2, 1, 0))
    most = max(int(np.prod([graph.sizes[d] for d in v.dims])) for v in graph.variables.values())
    named, operations = dict(zip(functions, samples, strict=True)), ROUNDINGS * most * (1 + sweeps)
    return compared(named, level, operations=operations, reversible=reversible)


def compared(
    samples: Mapping[str, Floats], level: float, *, operations: int = 1, reversible: bool = False
) -> GewekeResult:
    """The tests of functions, by their values in replicates.

    Of each there are three rows: of fresh draws, and of others before and after sweeps. A value
    is rounded by so many ``operations``.
    """
    rounded = {n: _without_rounding(np.asarray(own), operations) for n, own in samples.items()}
    _refuse_non_finite({name: own[-1] for name, own in rounded.items()})
    tests = (_tests, _balance) if reversible else (_tests,)
    found = tuple(test(name, *own) for name, own in rounded.items() for test in tests)
    return GewekeResult(sum(found, ()), max(own.shape[-1] for own in samples.values()), level)


def default_functions(graph: Graph) -> dict[str, Function]:
    """What the test compares unless told otherwise.

    The mean, mean square and last element of each latent array, the product of its mean with that
    of each observed array, and the log density of each factor, which ties variables together.
    """
    latent = graph.drawn
    observed = tuple(dict.fromkeys(s.target.array.name for s in graph.statements if s.known == 1))
    found: dict[str, Function] = {}
    for x in latent:
        found[f"mean of {x}"] = partial(_mean_of, x)
        found[f"mean square of {x}"] = partial(_mean_square_of, x)
        found[f"last of {x}"] = partial(_last_of, x)
        for y in observed:
            found[f"mean of {x} times mean of {y}"] = partial(_product_of_means, x, y)
    for factor in graph.factors:
        found[f"log density of {factor.name}"] = partial(_log_density_of, factor, graph.sizes)
    return found


def _mean_of(name: str, values: Values) -> float:
    return float(np.mean(values[name]))


def _mean_square_of(name: str, values: Values) -> float:
    return float(np.mean(np.square(values[name])))


def _last_of(name: str, values: Values) -> float:
    return float(np.ravel(values[name])[-1])


def _product_of_means(x: str, y: str, values: Values) -> float:
    return _mean_of(x, values) * _mean_of(y, values)


def _log_density_of(factor: Factor, sizes: Sizes, values: Values) -> float:
    return float(np.sum(log_density(factor, values, sizes)))


def _measured(functions: Mapping[str, Function], values: State) -> list[float]:
    return [f(values) for f in functions.values()]


def drawn_together(
    rng: np.random.Generator, graph: Graph, data: Values, where: Where | None = None
) -> State:
    """Ancestral draws of everything, made again until the constraints, and ``where``, hold."""
    for _ in range(MOST_REFUSED):
        values = _drawn(rng, graph, data)
        if values is not None and (where is None or where(values)):
            return values
    names = ", ".join(p.name for p in graph.potentials) or "where="
    raise RunError(
        f"{names}: broken by {MOST_REFUSED} draws in a row; make the model smaller for a "
        "joint-distribution test, or its priors such that what is asked for is likely."
    )


def _drawn(rng: np.random.Generator, graph: Graph, data: Values) -> State | None:
    """Ancestral draws of everything, or `None` where the latent part breaks a constraint.

    It is drawn first: what is broken may be no parameter of the rest.
    """
    if not graph.potentials:
        return simulate(rng, graph, data)
    statements = replace(graph, potentials=())
    values = simulate(rng, statements, data, observed=False)
    latent = {s.target.array.name: values[s.target.array.name] for s in graph.latent}
    logs = [log_density(p, {**data, **values}, graph.sizes) for p in graph.potentials]
    if not all(np.isin(found, (0, -np.inf)).all() for found in logs):
        return simulate(rng, graph, data)  # refuses a potential that is no constraint
    holds = all((found == 0).all() for found in logs)
    return simulate(rng, statements, data, given=latent) if holds else None


def _tuning(started: Started) -> State:
    """The tuning of moves, learnt on other draws: only fixed moves leave the joint invariant."""
    state, sweep, _ = started()
    for made in range(TUNING_SWEEPS):
        sweep(state)
        # (a random scan may leave out a move in its first sweeps)
        if made >= UNTUNED_SWEEPS and not any(name.startswith("~") for name in state):
            break
    moves.freeze(state)
    return {name: value for name, value in state.items() if name.startswith("~")}


def _before_and_after(started: Started, sweeps: int, tuning: State) -> tuple[State, State]:
    """A draw of everything, and its latent part moved on by sweeps given its observed part."""
    state, sweep, values = started()
    state |= deepcopy(tuning)
    for _ in range(sweeps):
        sweep(state)
    moved = {name: np.asarray(state.get(name, value)) for name, value in values.items()}
    _refuse_non_finite(moved)
    return values, moved


def _started(
    rng: np.random.Generator,
    graph: Graph,
    data: Values,
    remade: Remade,
    values: State,
    start: Program | None,
) -> tuple[State, Sweep, State]:
    """Of a draw of everything the latent part as a state, the sweep given the rest, and all."""
    latent = set(graph.drawn)
    seen = {n: v for n, v in values.items() if n in data or n not in latent}
    state = {n: np.array(v) for n, v in values.items() if n in latent}
    own, program = remade(seen)
    constants = program.prepare(own)
    if start is not None:
        start.augment(rng, state, start.prepare(own))
    return state, lambda state: program.sweep(rng, state, constants), values


def _refuse_non_finite(values: State) -> None:
    """Of a log density that is minus infinity no rank would tell: the state is impossible."""
    for name, value in values.items():
        if not np.isfinite(value).all():
            raise RunError(
                f"{name}: not finite after a sweep; if the sweep is right, give the model "
                "moderate, proper priors at a small size for a joint-distribution test."
            )


def _without_rounding(values: Floats, operations: int) -> Floats:
    """The values; those alike that differ by no more than so many roundings.

    The entries of a vector of shares have the same mean, whatever they are, and its product with a
    mean of counts has ties; a direction that has been turned has the length one, but for an error
    at each turn.

    >>> len({*_without_rounding(np.array([1 / 3, 1 / 3 + 2**-50]), operations=12).tolist()})
    1
    >>> len({*_without_rounding(np.array([1e8, 1e8 + 1e-3]), operations=12).tolist()})
    2
    >>> len({*_without_rounding(np.array([1 / 3, 1 / 3 + 2**-50, 5.0]), operations=12).tolist()})
    2
    """
    if not np.isfinite(values).all():
        return values
    share = np.finfo(np.float64).eps * operations
    if np.ptp(values) <= share * np.max(np.abs(values)):
        return np.full_like(values, values.flat[0])
    ordered = np.unique(values)
    is_first = np.diff(ordered, prepend=-np.inf) > share * np.abs(ordered)
    firsts = ordered[is_first]
    return firsts[np.searchsorted(firsts, values, side="right") - 1]


def _tests(
    name: str, fresh: Floats, before: Floats, after: Floats
) -> tuple[Comparison, Comparison, Comparison]:
    ranks = [_distribution(fresh, sample) for sample in (before, after)]
    change = ranks[1] - ranks[0]
    widening = (ranks[1] - 0.5) ** 2 - (ranks[0] - 0.5) ** 2
    return (
        _same_distribution(name, fresh, after),
        _mean_is_zero(name, "location", change),
        _mean_is_zero(name, "spread", widening),
    )


def _balance(name: str, fresh: Floats, before: Floats, after: Floats) -> tuple[Comparison]:
    """The largest difference of the flows between two cells, there and back, in standard errors.

    Of so many replicates that go between two cells each number that goes there has a binomial
    distribution; the p-value is of all pairs of cells together.
    """
    ends = np.unique(np.quantile(fresh, np.arange(1, CELLS) / CELLS))
    cells = [np.searchsorted(ends, sample, side="left") for sample in (before, after)]
    flows = np.zeros((CELLS, CELLS), dtype=int)
    np.add.at(flows, tuple(cells), 1)
    pairs = [tuple(sorted((flows[i, j], flows[j, i]))) for i, j in combinations(range(CELLS), 2)]
    p_values = [min(1.0, 2.0 * float(bdtr(less, less + more, 0.5))) for less, more in pairs]
    worst = max((more - less) / sqrt(less + more or 1) for less, more in pairs)
    return (Comparison(name, "balance", worst, min(1.0, len(pairs) * min(p_values))),)


def _same_distribution(name: str, first: Floats, second: Floats) -> Comparison:
    """The two-sample Kolmogorov-Smirnov test (its asymptotic p-value errs on the safe side)."""
    points = np.concatenate([first, second])
    gap = np.abs(_distribution(first, points) - _distribution(second, points))
    distance = float(gap.max())
    size = first.size * second.size / points.size
    return Comparison(name, "distance", distance, float(kolmogorov(np.sqrt(size) * distance)))


def _mean_is_zero(name: str, test: str, change: Floats) -> Comparison:
    error = float(change.std()) / sqrt(change.size)
    z = float(change.mean()) / error if error > 0 else 0.0
    return Comparison(name, test, z, erfc(abs(z) / sqrt(2)))


def _distribution(sample: Floats, points: Floats) -> Floats:
    """The empirical distribution function of a sample at some points."""
    return np.asarray(np.searchsorted(np.sort(sample), points, side="right") / sample.size)
