"""Ancestral draws of a model: each statement given its parents, in order.

Comes in: a graph and its data. Goes out: values of all its random arrays. Statements that read one
another (``x[t]`` given ``x[t - 1]``) are interleaved along the lagged axis, in order of position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, mentions
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import Support
from gibbsppl.errors import ModelError
from gibbsppl.families.masses import from_flat
from gibbsppl.model.ancestral import in_order
from gibbsppl.model.density import regions
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.lagged import Lagged, lagged
from gibbsppl.model.operations import Bools
from gibbsppl.runtime import simulation
from gibbsppl.runtime.functions import leaves_few_digits

State = dict[str, Any]
Draw = Callable[[Statement, State], Floats]
DRAW = Dim("draw~")

# Whole numbers from here on do not fit into arrays; NumPy's draws of counts stop just below.
LARGEST_INTEGER = 2.0**63


def simulate(
    rng: np.random.Generator,
    graph: Graph,
    data: Values,
    *,
    given: Values | None = None,
    observed: bool = True,
) -> State:
    """Ancestral draws of all random arrays, by name.

    ``given`` fixes the values of some arrays; ``observed=False`` keeps what was observed.
    """
    given = given or {}

    def draw(statement: Statement, values: State) -> Floats:
        return drawn(rng, statement, values, graph.sizes)

    state = walk(graph, data, draw, rng, given=given, observed=observed)
    return {name: as_declared(graph, name, state[name]) for name in targets_of(graph)}


def as_declared(graph: Graph, name: str, value: ArrayLike) -> ArrayLike:
    """The array as whole numbers, if the variable is declared to hold them."""
    return np.rint(value).astype(np.int64) if graph.variables[name].integer else value


def prior_predictive(
    rng: np.random.Generator, graph: Graph, data: Values, *, draws: int = 1
) -> State:
    """Independent draws of everything random, the observed included: name -> (draws, ...)."""
    states = [simulate(rng, graph, data) for _ in range(draws)]
    return {name: np.stack([s[name] for s in states]) for name in targets_of(graph)}


def targets_of(graph: Graph) -> tuple[str, ...]:
    """The names of the arrays that statements fill, in order of their first statement."""
    return tuple(dict.fromkeys(s.target.array.name for s in graph.statements))


def walk(
    graph: Graph,
    data: Values,
    draw: Draw,
    rng: np.random.Generator,
    *,
    given: Values | None = None,
    observed: bool = True,
) -> State:
    """All values, those of each statement filled in by ``draw(statement, values)`` in order.

    ``draw``, by the generator ``rng``, is called once per statement; of one that reads itself with
    a lag a few times (`gibbsppl.model.lagged`), or once per position.
    """
    given = given or {}
    _refuse_potentials(graph)
    values = unfilled(graph, data, given)
    chains: dict[str, Lagged] = {}

    def at_once(statement: Statement) -> bool:
        found = lagged(graph, statement, values)
        if found is not None:
            chains[statement.name] = found
        return found is not None

    for part in in_order(graph, _to_fill(graph, given, observed=observed), values, at_once):
        where = _free(part, values, graph.sizes, observed=observed)
        chain = chains.pop(part.name, None)
        if chain is None:
            fill(part, draw(part, values), values, graph.sizes, where=where)
        else:
            drawn_ = chain.drawn(graph, rng, values, draw, where)
            fill(part, drawn_, values, graph.sizes, where=where)
    return values


def _refuse_potentials(graph: Graph) -> None:
    sparse = dict.fromkeys(p.of for p in graph.potentials if p.of is not None)
    if sparse:
        raise ModelError(
            f"{', '.join(sparse)}: observed as a sparse array, whose cells are not made, so that "
            "it is not simulated; declare the model with a dense array."
        )
    if graph.potentials:
        names = ", ".join(p.name for p in graph.potentials)
        raise ModelError(
            f"{names}: a model with potentials has no order in which its variables could be drawn "
            "one after the other; pass values (init=...), or write the factor as statements."
        )


def _to_fill(graph: Graph, given: Values, *, observed: bool) -> list[Statement]:
    return [
        s
        for s in graph.statements
        if s.target.array.name not in given and (observed or s.is_latent)
    ]


def unfilled(graph: Graph, data: Values, given: Values) -> State:
    """The data, what is given, the constants; elsewhere values that no draw can be made from."""
    values: State = {name: np.asarray(value) for name, value in data.items()}
    known = (c.target.array.name for c in graph.constants)
    for name in dict.fromkeys((*targets_of(graph), *known)):
        variable = graph.variables[name]
        shape = tuple(graph.sizes[d] for d in variable.dims)
        blank = np.full(shape, -1 if variable.integer else np.nan)
        values[name] = np.array(values.get(name, blank), dtype=blank.dtype)
    values |= {name: np.array(value) for name, value in given.items()}
    put_constants(graph, values)
    return values


def put_constants(graph: Graph, values: State) -> None:
    """Put the elements that are no variables, but known to the model, into their arrays."""
    for constant in graph.constants:
        region = evaluate(constant.value, constant.over, values, graph.sizes)
        _place(constant.target, constant.over, region, values, graph.sizes)


def _free(part: Statement, values: State, sizes: Sizes, *, observed: bool) -> Bools | bool:
    """Where the statement is to be filled: everywhere, or only where it is not known."""
    if observed or part.known == 0:
        return True
    is_free: Bools = evaluate(part.known, regions(part, sizes), values, sizes) == 0
    return is_free


def fill(
    statement: Statement,
    value: ArrayLike,
    values: State,
    sizes: Sizes,
    *,
    where: Bools | bool = True,
) -> None:
    """Write values (ranges first, event axes last) into the elements that the statement fills."""
    over = regions(statement, sizes)
    if where is not True:
        value = np.where(where, value, evaluate(statement.target, over, values, sizes))
    _place(statement.target, over, value, values, sizes)


def _place(
    leaf: Leaf, over: Sequence[Range], value: ArrayLike, values: State, sizes: Sizes
) -> None:
    shape = tuple(map(len, over))
    indices = (np.rint(evaluate(i, over, values, sizes)).astype(int) for i in leaf.indices)
    values[leaf.array.name][tuple(indices)] = np.broadcast_to(value, shape)


# Drawing one statement


def drawn(
    rng: np.random.Generator, statement: Statement, values: Values, sizes: Sizes, draws: int = 0
) -> Floats:
    """A draw of each value of the statement given the arrays it reads; event axes come last.

    With ``draws``, so many independent ones, along a first axis.
    """
    over = (*((Range(DRAW, 0, draws),) if draws else ()), *statement.over)
    is_truncated = statement.lower is not None or statement.upper is not None
    draw = truncated_draw if is_truncated else _plain_draw
    with np.errstate(all="ignore"):  # (what comes of it is looked at)
        result = draw(rng, statement, over, values, sizes)
    is_count = statement.support.kind == "integer"
    possible = np.abs(result) < (LARGEST_INTEGER if is_count else np.inf)  # (a NaN is not)
    if not possible.all():
        raise ModelError(
            f"{statement.name}: a draw from {statement.family.name} is {result[~possible][0]:g}, "
            f"expected {'a whole number below 2**63' if is_count else 'a finite number'}; its "
            "parameters are too extreme to simulate from: give tighter priors, or pass values."
        )
    return _at_limits(statement, result, over, values, sizes)


def _at_limits(
    statement: Statement, result: Floats, over: tuple[Range, ...], values: Values, sizes: Sizes
) -> Floats:
    """The values as they would be observed: those beyond a detection limit at the limit."""
    for censoring in statement.censored:
        if not mentions(censoring.where, (statement.target.array.name,)):
            raise ModelError(
                f"{statement.name}: event= says which values were seen, but not when others would "
                "have been censored, so they cannot be simulated; give lower= or upper= alone, "
                "the limits of what can be seen."
            )
        if censoring.upper is not None:
            result = np.maximum(result, evaluate(censoring.upper, over, values, sizes))
        if censoring.lower is not None:
            result = np.minimum(result, evaluate(censoring.lower, over, values, sizes))
    return result


def _plain_draw(
    rng: np.random.Generator,
    statement: Statement,
    over: tuple[Range, ...],
    values: Values,
    sizes: Sizes,
) -> Floats:
    parameters = [
        _parameter(statement, name, argument, over, values, sizes)
        for name, argument in statement.arguments
    ]
    shape = tuple(len(r) for r in (*over, *regions(statement, sizes)[len(statement.over) :]))
    simulate_row = getattr(simulation, statement.family.simulate)
    try:
        return np.asarray(simulate_row(rng, *parameters, size=shape), dtype=np.float64)
    except ValueError as error:
        raise ModelError(
            f"{statement.name}: {statement.family.name} cannot be simulated: {error}; give "
            "it a proper prior and parameters in its range, or pass values."
        ) from error


def _parameter(
    statement: Statement,
    name: str,
    argument: Expr,
    over: tuple[Range, ...],
    values: Values,
    sizes: Sizes,
) -> Floats:
    """The values of one parameter, its event axes last."""
    parameter = statement.family.parameters[name]
    event = statement.event
    dims = event if len(event) >= parameter.event else (event[0], primed(event[0]))
    along = tuple(Range(d, 0, sizes[d]) for d in dims[: parameter.event])
    value = evaluate(argument, (*over, *along), values, sizes)
    support = parameter.support
    lower, upper = float(support.lower), float(support.upper)
    inside = np.isfinite(value) & (value >= lower) & (value <= upper)
    if not inside.all():
        raise ModelError(
            f"{statement.name}: parameter {name!r} of {statement.family.name} is "
            f"{value[~inside][0]:g}, expected a value in {support}; check the priors and data that "
            f"{argument} is made of."
        )
    if value.shape[len(over) :] != tuple(map(len, along)):
        value = np.broadcast_to(value, value.shape[: len(over)] + tuple(map(len, along)))
    return value


def truncated_draw(
    rng: np.random.Generator,
    statement: Statement,
    over: tuple[Range, ...],
    values: Values,
    sizes: Sizes,
) -> Floats:
    """Draws between the bounds, by bisection of the log distribution function.

    In the upper half of the distribution the log survival function is inverted instead, which
    keeps its digits there.
    """
    cdf, sf = statement.family.log_cdf, statement.family.log_sf
    if cdf is None or sf is None:
        raise ModelError(
            f"{statement.name}: {statement.family.name} has no distribution function to truncate "
            "it with; leave out lower= and upper=, or use a family that can be truncated."
        )
    arguments = dict(statement.arguments)
    shape = tuple(map(len, over))
    point = Array("point~")[tuple(r.dim - r.start for r in over)]

    below, above = cdf(point, **arguments), sf(point, **arguments)

    whole = statement.support.kind == "integer"
    full = statement.family.support(statement.event, **arguments)
    least, most = _ends(full, over, values, sizes)
    lower, upper = _interval(statement, over, values, sizes)
    least, lower = (least - 1, lower - 1) if whole else (least, lower)

    def at(formula: Expr, x: Floats) -> Floats:
        here = {**values, "point~": np.broadcast_to(x, shape)}
        certain = np.where((x >= most) == (formula is below), 0.0, -np.inf)
        is_end = (x <= least) | (x >= most)
        return np.where(is_end, certain, evaluate(formula, over, here, sizes))

    uniform = rng.random(shape)
    in_upper = at(above, lower) < at(below, upper)
    at_lower, at_upper = (np.where(in_upper, at(above, x), at(below, x)) for x in (lower, upper))
    goal = _log_mixture(at_lower, at_upper, uniform)

    def is_below(x: Floats) -> Bools:
        if in_upper.all() or not in_upper.any():  # (each is evaluated some dozens of times)
            return at(above, x) > goal if in_upper.all() else at(below, x) < goal
        return np.where(in_upper, at(above, x) > goal, at(below, x) < goal)

    if whole:
        return whole_bisection(is_below, lower, upper)
    larger, smaller = np.maximum(at_lower, at_upper), np.minimum(at_lower, at_upper)
    is_flat = leaves_few_digits(larger, smaller)
    found = bisection(is_below, lower, upper)
    return np.where(is_flat, from_flat(full, lower, upper, uniform), found)


def _interval(
    statement: Statement, over: tuple[Range, ...], values: Values, sizes: Sizes
) -> tuple[Floats, Floats]:
    """Where both the family's support and the truncation allow values."""
    full = statement.family.support(statement.event, **dict(statement.arguments))
    own, narrowed = (_ends(s, over, values, sizes) for s in (full, statement.support))
    lower, upper = np.maximum(own[0], narrowed[0]), np.minimum(own[1], narrowed[1])
    if (lower >= upper).any() and statement.support.kind != "integer":
        raise ModelError(
            f"{statement.name}: the truncation leaves nothing: lower bound "
            f"{lower[lower >= upper][0]:g} is not below upper bound {upper[lower >= upper][0]:g}."
        )
    return lower, upper


def _ends(
    support: Support, over: tuple[Range, ...], values: Values, sizes: Sizes
) -> tuple[Floats, Floats]:
    """The ends of a support, one for each element."""
    shape, ends = tuple(map(len, over)), (sp.sympify(support.lower), sp.sympify(support.upper))
    lower, upper = (np.broadcast_to(evaluate(e, over, values, sizes), shape) for e in ends)
    return lower, upper


def _log_mixture(log_a: Floats, log_b: Floats, weight: Floats) -> Floats:
    """``log((1 - w) exp(a) + w exp(b))``."""
    return np.asarray(np.logaddexp(log_a + np.log1p(-weight), log_b + np.log(weight)))


def bisection(is_below: Callable[[Floats], Bools], lower: Floats, upper: Floats) -> Floats:
    """Where ``is_below`` turns false between the bounds, which may be infinite, elementwise.

    >>> bisection(lambda x: np.sqrt(x) < 2.0, np.array([0.0]), np.array([np.inf])).round(9)
    array([4.])
    """
    low, high = _turning(is_below, lower, upper)
    return np.where(high == upper, low, high)


def whole_bisection(is_below: Callable[[Floats], Bools], lower: Floats, upper: Floats) -> Floats:
    """The first whole number above ``lower`` at which ``is_below`` is false, or ``upper``.

    >>> whole_bisection(lambda x: x < 2.5, np.array([-1.0]), np.array([np.inf]))
    array([3.])
    """
    return _turning(lambda x: is_below(np.floor(x)), lower, upper)[1]


def _turning(
    is_below: Callable[[Floats], Bools], lower: Floats, upper: Floats
) -> tuple[Floats, Floats]:
    """Two neighbouring numbers, ``is_below`` of the first alone; the bounds are not asked for.

    The numbers are counted, so that as many steps are needed at any size.
    """
    low, high = _places(lower), _places(upper)
    while (is_open := high - 1 > low).any():
        middle = low // 2 + high // 2 + (low & high & 1)
        below = is_below(_at_places(middle))
        low = np.where(is_open & below, middle, low)
        high = np.where(is_open & ~below, middle, high)
    return _at_places(low), _at_places(high)


def _places(x: Floats) -> NDArray[np.int64]:
    """The places of numbers in the order of all that there are, 0 being that of zero."""
    size = np.abs(np.asarray(x, dtype=np.float64)).view(np.int64)
    return np.where(np.signbit(x), -size, size)


def _at_places(place: NDArray[np.int64]) -> Floats:
    """The numbers at these places."""
    return np.copysign(np.abs(place).view(np.float64), place)
