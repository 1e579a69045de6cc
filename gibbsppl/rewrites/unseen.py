"""Values that nothing but their own statement sees are drawn last, and integrated out before.

Comes in: a graph and its data. Goes out: the graph without such values, and the statements that
draw them given all else. The density of what is drawn integrates to one, so a new observation or a
missing one tells its parameters nothing; a value of which only bounds are seen tells the
probability of lying between them. Parameters move further when they are not tied to what is
imputed (D. A. van Dyk and T. Park, 2008, "Partially collapsed Gibbs samplers", Journal of the
American Statistical Association 103).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.dependence import region_of, slices_of
from gibbsppl.evaluation import evaluate
from gibbsppl.expressions import (
    Array,
    AtMost,
    Below,
    Dim,
    Expr,
    Leaf,
    leaves_of,
    mentions,
)
from gibbsppl.graph import (
    Censoring,
    Graph,
    Kind,
    Potential,
    Range,
    Statement,
    Variable,
    fresh,
    said_by,
)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The graph with what is seen of arrays alone; ``unseen`` draw the rest, in the order given."""

    graph: Graph
    data: Mapping[str, Any]
    unseen: tuple[Statement, ...] = ()

    def is_left(self, statement: Statement) -> bool:
        """Whether something of a statement is seen: observed values, or bounds of others."""
        return any(s.name == statement.name for s in self.graph.statements)


def without_unseen(graph: Graph, data: Mapping[str, Any], kept: Collection[str] = ()) -> Seen:
    """The graph without values that nothing sees; arrays in ``kept`` stay as they are.

    A model of which nothing is observed stays as it is.
    """
    found = Seen(graph, data)
    while (more := _without_one(found, kept)) is not None:
        found = more
    return found if found.graph.potentials or _is_observed(found.graph) else Seen(graph, data)


def _is_observed(graph: Graph) -> bool:
    return any(s.known != 0 for s in graph.statements)


def with_unseen(graph: Graph, original: Graph, unseen: Sequence[Statement]) -> Graph:
    """A graph without values that nothing sees, with them again."""
    names = {s.target.array.name for s in unseen}
    own = {s.name for s in unseen}
    tied = {p.name: p for p in original.potentials if _arrays_of(p) & names}
    kept = tuple(s for s in graph.statements if s.name not in own)
    return replace(
        graph,
        variables={**graph.variables, **original.variables},
        statements=(*kept, *unseen),
        potentials=(*graph.potentials, *tied.values()),
        constants=original.constants,
        deterministics=original.deterministics,
    )


def _arrays_of(factor: Potential | Statement) -> set[str]:
    return {x.array.name for e in said_by(factor) for x in leaves_of(e)}


def _without_one(found: Seen, kept: Collection[str]) -> Seen | None:
    """The graph without the values of one more array that nothing sees."""
    graph = found.graph
    for name in dict.fromkeys(s.target.array.name for s in reversed(graph.latent)):
        own = tuple(s for s in graph.statements if s.target.array.name == name)
        if name in kept or not all(map(_is_distribution, own)):
            continue
        readers = [f for f in graph.factors_of(name) if f not in own]
        rest = [f for f in readers if isinstance(f, Potential)]
        if len(rest) < len(readers) or _reads_itself(own, name):
            continue
        limits = _limits(graph, found.data, name, rest)
        if limits is None or (rest and not all(_can_be_bounded(s) for s in own)):
            continue
        return _left(found, own, rest, limits)
    return None


def _is_distribution(statement: Statement) -> bool:
    """Whether the density of what is drawn integrates to one, over single numbers if some are seen.

    An improper one is a constant on an infinite range.
    """
    name, support = statement.target.array.name, statement.support
    endless = support.lower == -sp.oo or support.upper == sp.oo
    is_constant = not mentions(statement.log_density, (name,))
    whole = statement.known in (0, 1) or not statement.family.event
    return whole and not statement.censored and not (is_constant and endless)


def _can_be_bounded(statement: Statement) -> bool:
    return statement.family.log_cdf is not None and statement.support.kind == "real"


def _reads_itself(own: Sequence[Statement], name: str) -> bool:
    """Whether elements depend on others of their array."""
    bounds = (b for s in own for b in (s.lower, s.upper) if b is not None)
    return any(mentions(e, (name,)) for e in (*bounds, *(a for s in own for _, a in s.arguments)))


Limits = tuple[np.ndarray, np.ndarray]


def _limits(
    graph: Graph, data: Mapping[str, Any], name: str, potentials: Sequence[Potential]
) -> Limits | None:
    """Between which numbers potentials say that each element is; None if they say other things."""
    shape = tuple(graph.sizes[d] for d in graph.variables[name].dims)
    lower, upper = np.full(shape, -np.inf), np.full(shape, np.inf)
    for potential in potentials:
        density = potential.log_density
        if not isinstance(density, sp.log):
            return None
        for factor in sp.Mul.make_args(density.args[0]):
            if not isinstance(factor, AtMost | Below) or not _bounded(
                graph, data, name, potential.over, factor, (lower, upper)
            ):
                return None
    return lower, upper


def _bounded(
    graph: Graph,
    data: Mapping[str, Any],
    name: str,
    over: tuple[Range, ...],
    indicator: Expr,
    limits: Limits,
) -> bool:
    """Narrow the limits by one indicator, if it compares an element with a number that is known."""
    low, high = indicator.args
    leaf, bound, side = (high, low, 0) if isinstance(high, Leaf) else (low, high, 1)
    if not isinstance(leaf, Leaf) or leaf.array.name != name:
        return False
    latent = {s.target.array.name for s in graph.latent}
    if leaves_of(bound, latent) or any(leaves_of(i, latent) for i in leaf.indices):
        return False
    shape, limit = tuple(map(len, over)), limits[side]
    places = np.zeros(shape, dtype=np.intp)
    for size, index in zip(limit.shape, leaf.indices, strict=True):
        at = evaluate(index, over, data, graph.sizes)
        places = places * size + np.broadcast_to(at, shape).astype(np.intp)
    value = np.broadcast_to(evaluate(bound, over, data, graph.sizes), shape)
    ufunc: Any = (np.maximum, np.minimum)[side]
    ufunc.at(limit.reshape(-1), places.ravel(), value.ravel())
    return True


def _left(
    found: Seen, own: tuple[Statement, ...], gone: Sequence[Any], limits: Limits
) -> Seen | None:
    """The graph with what is seen of an array's values."""
    graph = found.graph
    name = own[0].target.array.name
    dims = graph.variables[name].dims
    known = _known(graph, found.data, own)
    told = known | np.isfinite(limits[0]) | np.isfinite(limits[1])
    seen = [s for s in own if told[slices_of(region_of(graph, s))].any()]
    arrays = _Arrays({n: v for n, v in graph.variables.items() if n != name}, found.data, dims)
    stated: dict[str, Statement] = {}
    if seen:
        values = np.zeros(known.shape) if name not in found.data else np.array(found.data[name])
        inside = _inside(values, known, limits)
        if inside is None:
            return None
        like = graph.variables[name]
        array = arrays.named(f"{name}.seen", inside, own[0].target.array, like.of)
        groups = tuple(arrays.censorings(name, known, limits, inside))
        for s in seen:
            here = [c for where, c in groups if where[slices_of(region_of(graph, s))].any()]
            at = dict(zip(dims, s.target.indices, strict=True))
            stated[s.name] = replace(
                s,
                target=Leaf(array, *s.target.indices),
                known=sp.S.One,
                censored=tuple(_at(c, at) for c in here),
            )
    left = replace(
        graph,
        variables=arrays.variables,
        statements=tuple(
            stated.get(s.name, s) for s in graph.statements if s not in own or s.name in stated
        ),
        potentials=tuple(p for p in graph.potentials if p not in gone),
        constants=tuple(c for c in graph.constants if c.target.array.name != name),
        deterministics=tuple(d for d in graph.deterministics if not mentions(d.value, (name,))),
    )
    return Seen(left, arrays.data, (*(s for s in own if s.is_latent), *found.unseen))


def _known(graph: Graph, data: Mapping[str, Any], own: Sequence[Statement]) -> np.ndarray:
    """Which elements of an array are observed."""
    shape = tuple(graph.sizes[d] for d in graph.variables[own[0].target.array.name].dims)
    known = np.zeros(shape, dtype=bool)
    for s in own:
        here = slices_of(region_of(graph, s))
        if s.known == 1:
            known[here] = True
        elif s.known != 0:
            known[here] = np.asarray(data[s.known.array.name], dtype=bool)[here]
    return known


def _at(censoring: Censoring, at: Mapping[Dim, Expr]) -> Censoring:
    """A censoring of an array at the indices of a statement."""
    ends = (e if e is None else e.xreplace(at) for e in (censoring.lower, censoring.upper))
    return Censoring(censoring.where.xreplace(at), *ends)


def _inside(values: np.ndarray, known: np.ndarray, limits: Limits) -> np.ndarray | None:
    """Values, with numbers that are possible where they are not seen; None if some are refused."""
    lower, upper = limits
    if ((values < lower) | (values > upper))[known].any():
        return None
    some = values[known][0] if known.any() else 0.0
    bound = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper, some))
    inside = np.where(known, values, bound)
    return inside.astype(values.dtype) if (bound == some).all() else inside


def _signs(array: Array) -> dict[str, bool]:
    """What is known of the sign of the elements of an array."""
    return {n: True for n in ("positive", "nonnegative") if getattr(array, f"is_{n}")}


class _Arrays:
    """New arrays of data along the dims of another."""

    def __init__(
        self, variables: Mapping[str, Variable], data: Mapping[str, Any], dims: tuple[Dim, ...]
    ) -> None:
        self.variables, self.data, self.dims = dict(variables), dict(data), dims

    def named(
        self, name: str, values: np.ndarray, like: Array | None = None, of: Dim | None = None
    ) -> Array:
        """A new array, of the sign of another one; of positions along a dim, if one is given."""
        own = fresh(name, self.variables)
        kind: Kind = "data" if of is None else "index"
        integer = values.dtype.kind in "iub"
        self.variables[own] = Variable(own, self.dims, kind, integer=integer, of=of)
        self.data[own] = values
        return Array(own) if like is None else Array(own, **_signs(like))

    def censorings(
        self, name: str, known: np.ndarray, limits: Limits, inside: np.ndarray
    ) -> Iterator[tuple[np.ndarray, Censoring]]:
        """What is known of values that are not seen, and of which: nothing, one end, or both."""
        has = [np.isfinite(e) for e in limits]
        for below in (False, True):
            for above in (False, True):
                where = ~known & (has[0] == below) & (has[1] == above)
                if not where.any():
                    continue
                kind = {(False, False): "missing", (True, False): "above", (False, True): "below"}
                told = f"{name}.{kind.get((below, above), 'between')}"
                ends = [
                    self.named(f"{told}.{side}", np.where(where, end, inside))[self.dims]
                    if wanted
                    else None
                    for side, end, wanted in zip(
                        ("lower", "upper"), limits, (below, above), strict=True
                    )
                ]
                yield where, Censoring(self.named(told, where.astype(int))[self.dims], *ends)
