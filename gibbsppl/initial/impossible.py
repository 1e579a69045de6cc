"""Errors for models whose data have density zero for all values of the latent variables.

Comes in: a graph and its data. Goes out: nothing, or an error that names the variable, the
position, what was found and what was expected.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import (
    Binder,
    Expr,
    Extreme,
    Leaf,
    Over,
    dims_of,
    leaves_of,
    mentions,
)
from gibbsppl.algebra.functions import INDICATORS, Maximum, Minimum, Where
from gibbsppl.algebra.ranges import Range, range_of
from gibbsppl.algebra.supports import Support
from gibbsppl.analysis.bounds import ends_of
from gibbsppl.errors import ModelError
from gibbsppl.initial.zero_density import why_impossible
from gibbsppl.model.density import log_density
from gibbsppl.model.evaluation import Values, evaluate
from gibbsppl.model.graph import PLAIN, Constant, Factor, Graph, Potential, Statement
from gibbsppl.model.operations import Bools
from gibbsppl.model.positions import place

# Larger arrays of ends are not laid out.
MOST_POSITIONS = 1_000_000


def check_possible(graph: Graph, data: Values) -> None:
    """Raise an error where a parameter or an observed value cannot be in its support.

    For all values of the latent variables: other failures are left to the start of a run.
    """
    latent = {*graph.drawn, *(n for n in graph.random if n not in data)}
    for constant in graph.constants:
        _check_constant(graph, data, constant)
    for factor in graph.factors:
        _check_data(graph, data, factor, latent)
    for statement in graph.statements:
        for name, argument in statement.arguments:
            parameter = statement.family.parameters[name]
            if parameter.event == 0 and mentions(argument, latent):
                _check_parameter(graph, data, statement, name, parameter.support)
        if statement.known == 1 and not statement.censored:
            _check_bounds(graph, data, statement, latent)
        if not statement.censored and dims_of(statement.known) <= {r.dim for r in statement.over}:
            _check_observed(graph, data, statement, latent)


def _check_constant(graph: Graph, data: Values, constant: Constant) -> None:
    """Refuse a constant that is no whole number in an array of whole numbers."""
    found = np.ravel(evaluate(constant.value, constant.over, data, graph.sizes))
    name, of = constant.target.array.name, PLAIN.text(constant.target)
    if graph.variables[name].integer and (found != np.rint(found)).any():
        told = "whole numbers, as all others of the array are: use another array for it"
        raise ModelError(f"{name}: found {found} for {of}; expected {told}.")


def _check_data(graph: Graph, data: Values, factor: Factor, latent: Collection[str]) -> None:
    """What a factor makes of data alone is finite."""
    if isinstance(factor, Statement):
        _check_edges(factor)
        said = [a for _, a in factor.arguments]
    else:
        said = [] if isinstance(factor, Potential) and factor.of else [factor.log_density]
    parts = (p for s in said for p in _of_data(s, _ranges(s, factor, graph), graph, latent))
    for part, over in parts:
        if math.prod(_shape(over)) <= MOST_POSITIONS:
            found = evaluate(part, over, data, graph.sizes)
            bad = ~np.isfinite(np.broadcast_to(found, _shape(over)))
            if bad.any():
                at = _first(bad)
                value = np.broadcast_to(found, _shape(over))[at]
                where = place(at, over, graph.labels)
                raise ModelError(
                    f"{factor.name}: reads {PLAIN.text(part)}, which is {value:g}{where}; "
                    "expected finite numbers: correct the data, or choose with gp.where before "
                    "the function is applied."
                )


ON_AN_EDGE = (
    "an argument is exactly on the edge of its support",
    "leave out what is certain, or put a number near the edge in its place",
)
OUTSIDE_OF_AN_ARRAY = (
    "an index is outside of its array",
    "keep the index in its range, such as by max(1, min(n, index))",
)


def _check_edges(statement: Statement) -> None:
    """No argument is written as one on the edge of its support, whose log has no value."""
    if statement.log_density.has(sp.zoo, sp.nan):
        arguments = ", ".join(f"{n}={PLAIN.text(a)}" for n, a in statement.arguments)
        is_outside = any(a.has(sp.nan) for _, a in statement.arguments)
        told, advice = OUTSIDE_OF_AN_ARRAY if is_outside else ON_AN_EDGE
        raise ModelError(
            f"{statement.name}: the log density of {statement.family.name}({arguments}) has no "
            f"value where {told}; expected arguments inside: {advice}."
        )


def _of_data(
    expr: Expr, over: tuple[Range, ...], graph: Graph, latent: Collection[str]
) -> Iterator[tuple[Expr, tuple[Range, ...]]]:
    """The largest parts of an expression that read data alone, except within choices."""
    if not mentions(expr, latent):
        if expr.args and not isinstance(expr, Leaf):
            yield expr, over
    elif isinstance(expr, Over):
        yield from _of_data(expr.body, (*over, range_of(expr, graph.sizes)), graph, latent)
    elif not isinstance(expr, Leaf | Binder | Where):
        for a in expr.args:
            yield from _of_data(a, over, graph, latent)


def _ranges(expr: Expr, factor: Factor, graph: Graph) -> tuple[Range, ...]:
    """The ranges of a factor, and all of each other dim that an argument has (of an event)."""
    more = dims_of(expr) - {r.dim for r in factor.over}
    every = (Range(d, 0, graph.sizes[d]) for d in sorted(more, key=str))
    return (*factor.over, *every)


def _check_observed(
    graph: Graph, data: Values, statement: Statement, latent: Collection[str]
) -> None:
    """An observed value does not have probability zero whatever the latent variables are."""
    if any(b is not None and mentions(b, latent) for b in (statement.lower, statement.upper)):
        return  # (what is beyond a latent bound wherever that may be, `_check_bounds` tells)
    said = [a for _, a in statement.arguments]
    read = {leaf.array.name for a in said for leaf in leaves_of(a, latent)}
    seen = evaluate(statement.known, statement.over, data, graph.sizes) == 1
    fixed = np.array(np.broadcast_to(seen, _shape(statement.over)))
    for name, argument in sorted(statement.arguments, key=_size) if read else ():
        if (
            not fixed.any()
            or statement.family.parameters[name].event
            or _is_large(graph, argument, statement.over)
        ):
            return
        lower, upper = ends_of(argument, statement.over, graph, data)
        fixed &= lower == upper
    if not fixed.any():
        return
    # Where the arguments are the same whatever the latent variables are, any values will do.
    random = [graph.variables[n] for n in latent]
    shapes = [tuple(graph.sizes[d] for d in v.dims) for v in random]
    anything = (np.full(n, 0.0 if v.integer else 0.5) for v, n in zip(random, shapes, strict=True))
    values = {**dict(zip(latent, anything, strict=True)), **data}
    bad = fixed & ~np.isfinite(log_density(statement, values, graph.sizes))
    if bad.any():
        why = why_impossible(graph, statement, values, bad)
        raise ModelError(
            f"{statement.name}: {why}; no draw of the latent variables can change that: correct "
            "the value, or the data that its parameters are made of."
        )


def _check_parameter(
    graph: Graph, data: Values, statement: Statement, name: str, support: Support
) -> None:
    """Raise if a parameter is outside of its support for all values of the latent variables."""
    argument = dict(statement.arguments)[name]
    free = support.lower == -sp.oo and support.upper == sp.oo
    if free or _is_large(graph, argument, statement.over):
        return
    low, high = float(support.lower), float(sp.sympify(support.upper))
    for part, may_be in _chosen_among(graph, data, statement, argument):
        lower, upper = ends_of(part, statement.over, graph, data)
        bad = (upper < low) | (lower > high)
        if support.kind == "real" and _is_continuous(graph, part):
            bad |= (lower < upper) & ((upper == low) | (lower == high))
        bad &= may_be
        if bad.any():
            at = _first(bad)
            where = place(at, statement.over, graph.labels)
            how = "is always" if part == argument else "may be"
            raise ModelError(
                f"{statement.name}: {name} is {PLAIN.text(argument)}, which {how} "
                f"{_between(lower[at], upper[at])}{where}; expected a number in "
                f"{support!r}: correct the data, the sign, or the support of what it reads."
            )


def _chosen_among(
    graph: Graph, data: Values, statement: Statement, argument: Expr
) -> Iterator[tuple[Expr, Bools | bool]]:
    """An argument and its branches, with the positions where each may be chosen."""
    waiting: list[tuple[Expr, Bools | bool]] = [(argument, True)]
    while waiting:
        part, may_be = waiting.pop()
        yield part, may_be
        if isinstance(part, Where):
            chosen, yes, no = part.args
            never, always = ends_of(chosen, statement.over, graph, data)
            waiting += [(yes, may_be & (always > 0)), (no, may_be & (never < 1))]


def _size(argument: tuple[str, Expr]) -> int:
    """How long an argument is, so that the simplest come first."""
    return int(sp.count_ops(argument[1]))


def _is_continuous(graph: Graph, expr: Expr) -> bool:
    """Whether an expression that moves at all is nowhere with a positive probability."""
    jumps = (Where, Minimum, Maximum, Extreme, *INDICATORS)
    labels = (leaf for leaf in leaves_of(expr) if graph.variables[leaf.array.name].integer)
    latent = set(graph.drawn)
    return not expr.has(*jumps) and not any(leaf.array.name in latent for leaf in labels)


def _check_bounds(
    graph: Graph, data: Values, statement: Statement, latent: Collection[str]
) -> None:
    """An observed value is not beyond a latent bound wherever that may be."""
    support, over = statement.support, statement.over
    bounds = [sp.sympify(b) for b in (support.lower, support.upper)]
    if support.kind not in ("real", "integer") or not any(mentions(b, latent) for b in bounds):
        return
    if any(_is_large(graph, b, over) for b in bounds):
        return
    seen = np.broadcast_to(evaluate(statement.target, over, data, graph.sizes), _shape(over))
    for bound, sign, word in zip(bounds, (1, -1), ("least", "most"), strict=True):
        lower, upper = ends_of(bound, over, graph, data)
        nearest = lower if sign > 0 else upper
        bad = sign * (nearest - seen) > 0
        if bad.any():
            at = _first(bad)
            where = place(at, over, graph.labels)
            raise ModelError(
                f"{statement.name}: found {seen[at]:g}{where}; expected a value in "
                f"{support!r}, where {PLAIN.text(bound)} is at {word} {nearest[at]:g}: correct "
                "the value, or the support of what bounds it."
            )


def _between(lower: float, upper: float) -> str:
    lower, upper = lower + 0.0, upper + 0.0  # (without the sign of a zero)
    if lower == upper:
        return f"{lower:g}"
    if math.isinf(lower):
        return f"at most {upper:g}"
    return f"at least {lower:g}" if math.isinf(upper) else f"between {lower:g} and {upper:g}"


def _is_large(graph: Graph, expr: Expr, over: tuple[Range, ...]) -> bool:
    bound = {d for b in expr.atoms(sp.Expr) for d in getattr(b, "bound", ())}
    inner = math.prod(graph.sizes.get(d, 1) for d in bound)
    return inner * math.prod(_shape(over)) > MOST_POSITIONS


def _shape(over: tuple[Range, ...]) -> tuple[int, ...]:
    return tuple(map(len, over))


def _first(bad: Bools) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(bad)[0])
