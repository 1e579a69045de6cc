"""Unseen leaves (missing data, predictions, censored values): integrated out, and imputed last.

No factor but their own statement reads such values. Comes in: a graph and its data. Goes out: the
graph without them, and the statements that draw them given all else. The density of a leaf
integrates to one, so a new observation or a missing one tells its parameters nothing; a value of
which only bounds are seen tells the probability of lying between them. Parameters move further when
they are not tied to imputed values (D. A. van Dyk and T. Park, 2008, "Partially collapsed Gibbs
samplers", Journal of the American Statistical Association 103).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import (
    Dim,
    Expr,
    Leaf,
    dims_of,
    leaves_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.functions import Where
from gibbsppl.algebra.ranges import Range, fresh, size_of
from gibbsppl.algebra.supports import UNIT, Kind
from gibbsppl.analysis.bounds import ends_of
from gibbsppl.analysis.known_limits import KnownLimits, known_limits
from gibbsppl.analysis.shares import are_shares
from gibbsppl.derive.conditionals import Derived, conditional_of
from gibbsppl.families.rows import Parameter
from gibbsppl.language.checks import outside
from gibbsppl.model.evaluation import Values, evaluate
from gibbsppl.model.graph import Censoring, Graph, Potential, Statement, expressions_read_by
from gibbsppl.pieces.dependence import region_of, slices_of
from gibbsppl.rewrites.applied import is_rewritten
from gibbsppl.rewrites.observed import Observed


@dataclass(frozen=True, slots=True, eq=False)
class WithoutLeaves:
    """The graph of the observed values of arrays; statements in ``leaves`` impute the rest."""

    graph: Graph
    data: Values
    leaves: tuple[Statement, ...] = ()

    def is_left(self, statement: Statement) -> bool:
        """Whether a statement has observed values, or bounds of others."""
        return any(s.name == statement.name for s in self.graph.statements)


def marginalise_leaves(
    graph: Graph, data: Values, kept: Collection[str] = ()
) -> WithoutLeaves:
    """The graph with leaves integrated out; arrays in ``kept`` stay as they are.

    A model without observations stays as it is.
    """
    found = WithoutLeaves(graph, data)
    while (more := _without_one(found, kept)) is not None:
        found = more
    if found.graph.potentials or _is_observed(found.graph):
        return found
    return WithoutLeaves(graph, data)


def _is_observed(graph: Graph) -> bool:
    return any(s.known != 0 for s in graph.statements)


def with_leaves(graph: Graph, original: Graph, leaves: Sequence[Statement]) -> Graph:
    """A graph without leaves, with them again.

    The observed values of a statement that has been rewritten count in the rewritten one alone.
    """
    names = {s.target.array.name for s in leaves}
    own = {s.name for s in leaves}
    tied = {p.name: p for p in original.potentials if _arrays_of(p) & names}
    rewritten = {s.name for s in graph.statements if s.name in own and is_rewritten(s)}
    taken = {f.name for f in (*graph.factors, *original.factors)}
    seen = {n: fresh(f"{n}.seen", taken) for n in rewritten}
    kept = (replace(s, name=seen.get(s.name, s.name)) for s in graph.statements)
    again = (replace(s, censored=(Censoring(s.known),)) if s.name in seen else s for s in leaves)
    return replace(
        graph,
        variables={**graph.variables, **original.variables},
        statements=(*(s for s in kept if s.name not in own), *again),
        potentials=(*graph.potentials, *tied.values()),
        constants=original.constants,
        deterministics=original.deterministics,
    )


def conditional_of_leaf(graph: Graph, statement: Statement, data: Values) -> Derived:
    """The conditional of a statement's leaves, in a graph that has them."""
    whole = (statement if s.name == statement.name else s for s in graph.statements)
    return conditional_of(replace(graph, statements=tuple(whole)), statement, data)


def _arrays_of(factor: Potential | Statement) -> set[str]:
    return {x.array.name for e in expressions_read_by(factor) for x in leaves_of(e)}


def _without_one(found: WithoutLeaves, kept: Collection[str]) -> WithoutLeaves | None:
    """The graph with the leaves of one more array integrated out; None if there are none."""
    for name in dict.fromkeys(s.target.array.name for s in reversed(found.graph.latent)):
        less = None if name in kept else _without(found, name)
        if less is not None:
            return less
    return None


def _without(found: WithoutLeaves, name: str) -> WithoutLeaves | None:
    """The graph with the values of an array integrated out; None if other factors read them."""
    graph, data = found.graph, found.data
    own = graph.statements_of(name)
    readers = [f for f in graph.factors_of(name) if f not in own]
    ties = [f for f in readers if isinstance(f, Potential)]
    if len(ties) < len(readers) or _reads_itself(own, name):
        return None
    if not all(_is_distribution(s, graph, data) for s in own):
        return None
    limits = known_limits(graph, data, name, ties)
    if not limits.are_all or (ties and not all(map(_can_be_bounded, own))):
        return None
    known = _known(graph, data, own)
    if ties:
        inside = _inside_supports(graph, data, own, limits)
        if inside is None or _violates(np.asarray(data.get(name, 0)), known, inside):
            return None
        limits = inside
    if limits.told.any() and not (known | limits.told).all() and name not in data:
        return None  # (no number can stand for values without bounds)
    return _left(found, own, ties, known, limits)


def _reads_itself(own: Sequence[Statement], name: str) -> bool:
    """Whether elements depend on others of their array."""
    bounds = (b for s in own for b in (s.lower, s.upper) if b is not None)
    return any(mentions(e, (name,)) for e in (*bounds, *(a for s in own for _, a in s.arguments)))


# ---- what integrates to one ------------------------------------------------------------------


def _is_distribution(statement: Statement, graph: Graph, data: Values) -> bool:
    """Whether the density of the drawn values integrates to one at all parameter values.

    False for a constant on an infinite range, and where parameters may have values for which there
    is no density: the statement excludes these. Vectors are drawn whole.
    """
    name, support = statement.target.array.name, statement.support
    endless = support.lower == -sp.oo or support.upper == sp.oo
    is_constant = not mentions(statement.log_density, (name,))
    whole = statement.known == 0 or not statement.family.event
    if not whole or statement.censored or (is_constant and endless):
        return False
    latent = set(graph.drawn)
    bounds = (b for b in (statement.lower, statement.upper) if b is not None)
    if any(mentions(b, latent) for b in bounds):
        return False
    if not endless and not statement.family.event:
        width, _ = ends_of(support.upper - support.lower, statement.over, graph, data)
        if (width < 0).any():
            return False
    return all(
        _is_certain(statement, which, argument, graph, data)
        or _is_read_by_data(statement, which, argument, graph)
        for which, argument in statement.arguments
        if mentions(argument, latent)
    )


def _is_read_by_data(statement: Statement, which: str, argument: Expr, graph: Graph) -> bool:
    """Whether observed values have the same parameter, and so exclude the same values of it.

    The parameters of a replicate of data are the data's own.
    """
    return any(
        s.known == 1
        and s.family is statement.family
        and _renamed(s, which, _ranges(statement, graph), graph) == argument
        for s in graph.statements
    )


def _renamed(statement: Statement, which: str, over: Sequence[Range], graph: Graph) -> Expr | None:
    """A parameter at the positions of other ranges; None if these are not as long."""
    own = _ranges(statement, graph)
    if [(r.start, r.stop) for r in own] != [(r.start, r.stop) for r in over]:
        return None
    names = {a.dim: b.dim for a, b in zip(own, over, strict=True)}
    return substitute(dict(statement.arguments)[which], names)


def _ranges(statement: Statement, graph: Graph) -> tuple[Range, ...]:
    """The ranges of a statement's values, and of the entries of each."""
    return (*statement.over, *(Range(d, 0, size_of(d, graph.sizes)) for d in statement.event))


def _is_certain(
    statement: Statement, which: str, argument: Expr, graph: Graph, data: Values
) -> bool:
    """Whether a parameter is in its range for all values of the variables in the argument."""
    parameter = statement.family.parameters[which]
    support = parameter.support
    own = _event_of(statement.event, parameter)
    if isinstance(argument, Where) and not dims_of(argument.args[0]) & set(own):
        return all(_is_certain(statement, which, a, graph, data) for a in argument.args[1:])
    if parameter.event or support.is_discrete:
        if isinstance(argument, Leaf) and argument.array.name in data:
            table = np.asarray(data[argument.array.name])
            return _are_inside(argument, own, parameter, table)
        if len(own) == 1 and support == UNIT:
            return are_shares(argument, own[0], statement.over, graph, data)
        return isinstance(argument, Leaf) or (support.kind == "real" and support.lower == -sp.oo)
    if support.lower == -sp.oo and support.upper == sp.oo:
        return True
    lower, upper = ends_of(argument, statement.over, graph, data)
    return bool((lower >= float(support.lower)).all() and (upper <= float(support.upper)).all())


def _event_of(event: Sequence[Dim], parameter: Parameter) -> tuple[Dim, ...]:
    """The dims of one value of a parameter: none for a number, two for a matrix."""
    enough = event if len(event) >= parameter.event else (event[0], primed(event[0]))
    return tuple(enough[: parameter.event])


def _are_inside(
    leaf: Leaf, own: Sequence[Dim], parameter: Parameter, values: np.ndarray
) -> bool:
    """Whether all vectors (matrices, numbers) of a table of data are in the range of a parameter.

    The table is read at what is drawn: which of them are read is not known.
    """
    support, axes = parameter.support, [leaf.indices.index(d) for d in own if d in leaf.indices]
    if len(axes) < len(own):
        return False
    kind: Kind = "simplex" if own and support == UNIT else support.kind
    rows = np.moveaxis(values, axes, range(-len(axes), 0))
    return not outside(kind, rows, float(support.lower), float(support.upper)).any()


# ---- bounds that are seen --------------------------------------------------------------------


def _can_be_bounded(statement: Statement) -> bool:
    return statement.family.log_cdf is not None and statement.support.kind == "real"


def _has_random_support(statement: Statement, graph: Graph) -> bool:
    """Whether the bounds of a support depend on what is drawn."""
    ends = (statement.support.lower, statement.support.upper)
    return any(mentions(sp.sympify(e), graph.drawn) for e in ends)


def _inside_supports(
    graph: Graph, data: Values, own: Sequence[Statement], limits: KnownLimits
) -> KnownLimits | None:
    """The limits inside of the supports, as others say nothing; None if a support is random."""
    lower, upper = limits.lower.copy(), limits.upper.copy()
    for s in own:
        if _has_random_support(s, graph):
            return None
        ends = [sp.sympify(e) for e in (s.support.lower, s.support.upper)]
        here, shape = slices_of(region_of(graph, s)), tuple(map(len, s.over))
        low, high = (
            np.broadcast_to(evaluate(e, s.over, data, graph.sizes), shape).reshape(
                lower[here].shape
            )
            for e in ends
        )
        lower[here] = np.where(lower[here] <= low, -np.inf, lower[here])
        upper[here] = np.where(upper[here] >= high, np.inf, upper[here])
    return KnownLimits(lower, upper)


def _violates(values: np.ndarray, known: np.ndarray, limits: KnownLimits) -> bool:
    """Whether a value that is observed is beyond its limits."""
    return bool(((values < limits.lower) | (values > limits.upper))[known].any())


# ---- what is left ----------------------------------------------------------------------------


def _known(graph: Graph, data: Values, own: Sequence[Statement]) -> np.ndarray:
    """Which elements of an array are observed."""
    shape = tuple(graph.sizes[d] for d in graph.variables[own[0].target.array.name].dims)
    known = np.zeros(shape, dtype=bool)
    for s in own:
        here = slices_of(region_of(graph, s))
        if s.known == 1:
            known[here] = True
        elif s.mask is not None:
            known[here] = np.asarray(data[s.mask], dtype=np.bool_)[here]
    return known


def _left(
    found: WithoutLeaves,
    own: tuple[Statement, ...],
    ties: Sequence[Potential],
    known: np.ndarray,
    limits: KnownLimits,
) -> WithoutLeaves:
    """The graph with an array reduced to observed values, and bounds of other values."""
    graph, name = found.graph, own[0].target.array.name
    told = known | limits.told
    seen = [s for s in own if told[slices_of(region_of(graph, s))].any()]
    arrays = Observed(graph, found.data, name)
    # (a random support decides which values are possible: no number can stand for the rest)
    random = [s for s in seen if _has_random_support(s, graph)]
    stated = {s.name: arrays.tabulated(s, graph.sizes) for s in random}
    if plain := [s for s in seen if s not in random]:
        stated |= arrays.stated(plain, graph, known, limits)
    left = replace(
        graph,
        sizes={**graph.sizes, **arrays.sizes},
        variables=arrays.variables,
        statements=tuple(
            stated.get(s.name, s) for s in graph.statements if s not in own or s.name in stated
        ),
        potentials=tuple(p for p in graph.potentials if p not in ties),
        constants=tuple(c for c in graph.constants if c.target.array.name != name),
        deterministics=tuple(d for d in graph.deterministics if not mentions(d.value, (name,))),
    )
    return WithoutLeaves(left, arrays.data, (*(s for s in own if s.is_latent), *found.leaves))
