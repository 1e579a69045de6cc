"""The full conditional of a statement, recognised by its statistics and its support.

Comes in: a graph and one of its statements. Goes out: a `Conditional` (closed form), a
`FiniteConditional` (labels), or a `NotConjugate` with its reason. There is no table of pairs: all
log densities that mention the target are added up as pieces, and the family whose row has those
statistics on that support owns the conditional.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp
from sympy import Add, Mul

from gibbsppl.density import evaluate
from gibbsppl.elements import element_pieces
from gibbsppl.expressions import (
    Binder,
    Dim,
    Equals,
    Expr,
    Leaf,
    Where,
    copy_of,
    dims_of,
    primed,
    renamed_apart,
    root_of,
    substitute,
)
from gibbsppl.families import FAMILIES, Family
from gibbsppl.graph import PLAIN, Factor, Graph, Range, Statement
from gibbsppl.pieces import (
    Piece,
    Role,
    View,
    bounds_seen,
    expand_logs,
    inside,
    is_separable,
    pieces_of,
    region_of,
    roles_of,
    touches,
    views_of,
)
from gibbsppl.supports import REAL, VECTOR


@dataclass(frozen=True, slots=True)
class Conditional:
    """A closed form: the family, and for each of its statistics the pieces that multiply it.

    ``place`` is the leaf that the statistics are written in: the target; for a block the target
    with its ``dense`` axes replaced by one dim, the event of the block.
    """

    statement: Statement
    family: Family
    known: tuple[tuple[str, Expr], ...]
    place: Leaf
    event: tuple[Dim, ...]
    statistics: tuple[Expr, ...]
    pieces: tuple[tuple[Piece, ...], ...]
    roles: tuple[Role, ...]
    elements: bool = False

    @property
    def dense(self) -> tuple[int, ...]:
        """The axes of the array that are drawn jointly."""
        return tuple(a for a, role in enumerate(self.roles) if role == "dense")

    @property
    def batch(self) -> tuple[int, ...]:
        """The axes of the array along which elements are independent."""
        return tuple(a for a, role in enumerate(self.roles) if role != "dense")


@dataclass(frozen=True, slots=True)
class FiniteConditional:
    """Labels ``lower .. lower + size - 1``: each piece's coefficient is a log weight by label."""

    statement: Statement
    label: Dim
    lower: int
    size: int
    pieces: tuple[Piece, ...]
    elements: bool = False


@dataclass(frozen=True, slots=True)
class NotConjugate:
    """No family owns the conditional: why, which term is in the way, and whose family is nearest."""

    statement: Statement
    reason: str
    offending: tuple[Piece, ...]
    nearest: str | None
    pieces: tuple[Piece, ...]
    elements: bool = False


Derived = Conditional | FiniteConditional | NotConjugate

LABEL = Dim("label")
ENTRY = Dim("entry")


def conditional_of(
    graph: Graph, statement: Statement, data: Mapping[str, Any], *, elements: bool = False
) -> Derived:
    """The full conditional of what a statement defines, given everything else.

    ``elements`` asks for the reading by element: the conditional of each element given all others.
    """
    if statement.support.is_finite and statement.support.kind == "integer":
        limits = _limits(graph, statement, data)
        if limits is not None:
            return _finite(graph, statement, limits)
    region = region_of(graph, statement)
    pieces = tuple(
        p
        for p in pieces_of(graph.factors_of(statement.target.array), statement, graph.sizes)
        if any(touches(view, p.over, region) for view in p.views)
    )
    roles = roles_of(pieces, statement)
    joint = all(is_separable(p) for p in pieces) and set(roles) <= {"batch", "dense"}
    whole = _is_whole(graph, statement, roles)
    if elements or not joint or not whole:
        inside = roles_of(pieces, statement, region)
        return _by_element(statement, pieces, inside, elements)
    return match(statement, pieces, roles)


def _is_whole(graph: Graph, statement: Statement, roles: tuple[Role, ...]) -> bool:
    """Whether a block would cover all positions of its dense axes, none of them known."""
    full = {r.dim: len(r) == graph.sizes[r.dim] for r in statement.over}
    dense = [i for i, role in zip(statement.target.indices, roles, strict=True) if role == "dense"]
    return not dense or (
        statement.known == 0 and all(full.get(d, d in statement.event) for d in dense)
    )


def _by_element(
    statement: Statement, pieces: tuple[Piece, ...], roles: tuple[Role, ...], asked: bool
) -> Derived:
    """The conditional of one element given the others: drawn one by one where they interact."""
    batch: tuple[Role, ...] = ("batch",) * len(roles)
    dependent = asked or set(roles) != {"batch"} or not all(is_separable(p) for p in pieces)
    dependent = dependent and bool(statement.over or statement.event)
    if all(is_separable(p) for p in pieces) and not _has_joint_event(statement):
        found = match(statement, element_pieces(pieces), batch, elements=dependent)
        # A move of one element weighs whole terms, each once.
        refused = dependent and isinstance(found, NotConjugate)
        return replace(found, pieces=pieces) if refused else found
    reason = "a term of the log density holds several elements at once"
    offending = tuple(p for p in pieces if not is_separable(p))
    return NotConjugate(statement, reason, offending, None, pieces, elements=dependent)


def _has_joint_event(statement: Statement) -> bool:
    """Whether the elements of one event cannot be moved one at a time (a simplex, a matrix)."""
    return statement.support.kind in ("simplex", "spd", "counts")


def match(
    statement: Statement,
    pieces: tuple[Piece, ...],
    roles: tuple[Role, ...],
    *,
    elements: bool = False,
) -> Conditional | NotConjugate:
    """The smallest family that owns all statistics of the pieces on the statement's support."""
    place, event = _place(statement, roles, elements)
    forms = tuple(normal_form(p, place, event) for p in pieces)
    for family in sorted(_rows(), key=lambda f: len(_statistics(f, statement, place, event) or ())):
        found = _owned(family, statement, place, event, pieces, forms)
        if found is not None:
            statistics, owned, known = found
            return Conditional(
                statement, family, known, place, event, statistics, owned, roles, elements
            )
    return _refusal(statement, pieces, forms, place, event, elements)


def _rows() -> Iterable[Family]:
    return (f for f in FAMILIES.values() if f.natural is not None)


def _place(
    statement: Statement, roles: tuple[Role, ...], elements: bool
) -> tuple[Leaf, tuple[Dim, ...]]:
    """The leaf in which statistics are written, and its event dims."""
    target = statement.target
    dense = [a for a, role in enumerate(roles) if role == "dense"]
    if elements and statement.support.kind == "vector":
        return target, ()
    if not dense or statement.support.kind not in ("real", "vector"):
        return target, statement.event
    batch = [i for a, i in enumerate(target.indices) if a not in dense]
    return Leaf(target.array, *batch, ENTRY), (ENTRY,)


def _support_of(statement: Statement, event: tuple[Dim, ...]) -> Any:
    """The support to match: real scalars drawn jointly are a real vector, and the reverse."""
    support = statement.support
    if support == REAL and event:
        return VECTOR
    return REAL if support == VECTOR and not event else support


def _arguments(family: Family, statement: Statement) -> dict[str, Expr] | None:
    """The values of the parameters that must be known, dummies for the others."""
    natural = family.natural
    assert natural is not None
    own = dict(statement.arguments) if family is statement.family else {}
    if not set(natural.known) <= set(own):
        return None
    return {n: own[n] if n in natural.known else sp.Dummy(n) for n in family.parameters}


def _statistics(
    family: Family, statement: Statement, place: Leaf, event: tuple[Dim, ...]
) -> tuple[Expr, ...] | None:
    """The statistics of a row in the place, or None where the row cannot apply."""
    natural, arguments = family.natural, _arguments(family, statement)
    if natural is None or arguments is None or family.event != len(event):
        return None
    if family.support(event, **arguments) != _support_of(statement, event):
        return None
    known = {n: arguments[n] for n in natural.known}
    return tuple(natural.statistics(place, event, **known))


Owned = tuple[tuple[Expr, ...], tuple[tuple[Piece, ...], ...], tuple[tuple[str, Expr], ...]]


def _owned(
    family: Family,
    statement: Statement,
    place: Leaf,
    event: tuple[Dim, ...],
    pieces: tuple[Piece, ...],
    forms: tuple[Expr | None, ...],
) -> Owned | None:
    """Statistics, pieces by statistic and known parameters, if the row owns all the pieces."""
    statistics = _statistics(family, statement, place, event)
    natural, arguments = family.natural, _arguments(family, statement)
    if statistics is None or natural is None or arguments is None:
        return None
    known = tuple((n, arguments[n]) for n in natural.known)
    base = _terms(natural.log_base(place, event, **dict(known)), statement)
    keys = [_alpha(s) for s in statistics]
    squares = {_alpha(place**2): j for j, k in enumerate(keys) if k == _alpha(_pair(place, event))}
    owned: list[list[Piece]] = [[] for _ in statistics]
    for piece, form in zip(pieces, forms, strict=True):
        if form in base and piece.coefficient == base[form] and piece.factor == statement.name:
            base.pop(form)
        elif form in keys:
            owned[keys.index(form)].append(piece)
        elif form in squares:
            owned[squares[form]].append(piece)
        else:
            return None
    return None if base else (statistics, tuple(map(tuple, owned)), known)


def _pair(place: Leaf, event: tuple[Dim, ...]) -> Expr:
    """x[k] * x[k'], the statistic of two entries of one event."""
    return place * substitute(place, {d: primed(d) for d in event[:1]}) if event else sp.S.NaN


def _terms(log_base: Expr, statement: Statement) -> dict[Expr, Expr]:
    """The base measure as coefficient by statistic; a piece must have just that coefficient."""
    array = statement.target.array.name
    found: dict[Expr, Expr] = {}
    expanded = sp.expand(expand_logs(log_base, {array}), log=False)
    for body in Add.make_args(expanded) if expanded != 0 else ():
        while isinstance(body, Binder) and any(True for _ in views_of(body, {array})):
            body = body.body
        coefficient, statistic = body.as_independent(*_leaves(body, array))
        if statistic != 1:
            found[_alpha(statistic)] = coefficient
    return found


def _leaves(expr: Expr, array: str) -> set[Leaf]:
    return {leaf for leaf in expr.atoms(Leaf) if leaf.array.name == array}


def normal_form(piece: Piece, place: Leaf, event: tuple[Dim, ...]) -> Expr | None:
    """The piece's statistic written in the place, or None where it holds what cannot be.

    A view's indices are replaced by the place's everywhere, so that ``x[g[i]]**k[g[i]]`` is
    ``x[t]**k[t]``; what still depends on other dims is not constant over what is summed.
    """
    if not is_separable(piece):
        return None
    leaves = sorted(_leaves(piece.statistic, place.array.name), key=sp.default_sort_key)
    places = (place, substitute(place, {d: primed(d) for d in event}))
    if len(leaves) > len(places):
        return None
    mapping: dict[Expr, Expr] = {}
    if len(piece.views) == 2:  # noqa: PLR2004
        mapping = dict(zip(leaves, places, strict=True))
    elif leaves:
        (leaf,), (view,) = leaves, piece.views
        mapping = {leaf: place} if ENTRY in event else _aligned(leaf, view, place)
    form = _alpha(substitute(piece.statistic, mapping))
    allowed = dims_of(place) | {primed(d) for d in event}
    return form if dims_of(form) <= allowed else None


def _aligned(leaf: Leaf, view: View, place: Leaf) -> dict[Expr, Expr]:
    """Each index of a view to the place's index on that axis; the leaf itself to the place."""
    pairs = zip(view.indices, place.indices, strict=True)
    mapping = {v: p for v, p in pairs if v is not None and not v.is_number and v != p}
    whole = all(v is not None for v in view.indices)
    return mapping | ({leaf: place} if whole and leaf.indices == view.indices else {})


def _alpha(expr: Expr, depth: int = 0) -> Expr:
    """The expression with bound dims named by depth, so that equal ones compare equal."""
    if isinstance(expr, Binder):
        names = {d: Dim(f"·{depth + j}") for j, d in enumerate(expr.bound)}
        body = _alpha(expr.body.xreplace(names), depth + len(names))
        rest = (_alpha(a, depth) for a in expr.args[1 + expr.binds :])
        return expr.func(body, *names.values(), *rest)
    if not expr.args or isinstance(expr, Leaf):
        return expr
    return expr.func(*(_alpha(a, depth) for a in expr.args))


def _refusal(
    statement: Statement,
    pieces: tuple[Piece, ...],
    forms: tuple[Expr | None, ...],
    place: Leaf,
    event: tuple[Dim, ...],
    elements: bool,
) -> NotConjugate:
    """Why no row matched: the statistics found, and the row that shares the most of them."""
    shown = {p.statistic if f is None else f for p, f in zip(pieces, forms, strict=True)}
    names = ", ".join(sorted(map(PLAIN.text, shown)))
    support = _support_of(statement, event)
    reason = f"no family on {support} has the statistics {{{names}}}"
    best: tuple[int, str | None, set[Expr]] = (0, None, set())
    for family in _rows():
        keys = {_alpha(s) for s in _statistics(family, statement, place, event) or ()}
        if len(keys & shown) > best[0]:
            best = (len(keys & shown), family.name, keys)
    offending = tuple(p for p, f in zip(pieces, forms, strict=True) if f not in best[2])
    return NotConjugate(statement, reason, offending, best[1], pieces, elements)


def _limits(graph: Graph, statement: Statement, data: Mapping[str, Any]) -> tuple[int, int] | None:
    """The smallest and largest label, if they follow from constants and data alone."""
    support = statement.support
    arrays = {str(s) for b in (support.lower, support.upper) for s in sp.sympify(b).free_symbols}
    arrays = {a for a in arrays if a in graph.variables}
    if not arrays <= set(data) or any(graph.variables[a].kind == "random" for a in arrays):
        return None
    lower, upper = (
        evaluate(sp.sympify(b), statement.over, data, graph.sizes)
        for b in (support.lower, support.upper)
    )
    return int(np.min(lower)), int(np.max(upper))


def _finite(graph: Graph, statement: Statement, limits: tuple[int, int]) -> FiniteConditional:
    """Every access of the label replaced by a label dim; terms without it dropped."""
    lower, upper = limits
    value = LABEL + lower
    pieces: list[Piece] = []
    dependent = False
    array = statement.target.array
    for factor in graph.factors_of(array):
        density = factor.log_density + bounds_seen(factor, statement)
        if factor.name == statement.name:
            density += Add(*map(sp.log, inside(statement.target, statement.support)))
        density = renamed_apart(density, {r.dim for r in factor.over})
        density = expand_logs(density, {array.name})
        views = tuple(views_of(density, {array.name}))
        for view in views:
            piece = _labelled(factor, density, view, views, value, graph.sizes)
            if piece is not None:
                pieces.append(piece)
                dependent = dependent or len(views) > 1 or len(piece.over) > len(factor.over)
    return FiniteConditional(
        statement, LABEL, lower, upper - lower + 1, tuple(pieces), dependent and bool(statement.over)
    )


def _labelled(
    factor: Factor,
    density: Expr,
    view: View,
    views: tuple[View, ...],
    value: Expr,
    sizes: Mapping[Dim, int],
) -> Piece | None:
    """The terms of a factor that depend on the label, where the element of a view is the label.

    Other views are read where they show another element. A view under a sum stands for all of its
    elements: which one is the label is a further dim.
    """
    ranged = {r.dim for r in factor.over}
    summed = {d for i in view.indices if i is not None for d in dims_of(i)} - ranged
    copies = {d: copy_of(d, density.free_symbols | ranged | summed) for d in summed}
    at = tuple(i if i is None else substitute(i, copies) for i in view.indices)
    mapping: dict[Expr, Expr] = {}
    for other in views:
        leaf = Leaf(other.array, *other.indices)
        meet = [Equals(a, b) for a, b in zip(other.indices, at, strict=True) if a != b]
        if not meet:
            mapping[leaf] = value
        elif not any((e.args[0] - e.args[1]).is_number for e in meet):
            mapping[leaf] = Where(Mul(*meet), value, leaf)
    # (Under the sum on purpose: the copy says which of the summed elements is the label.)
    terms = Add.make_args(sp.expand_mul(density.xreplace(mapping), deep=False))
    coefficient = Add(*(t for t in terms if LABEL in dims_of(t)))
    over = factor.over + tuple(Range(c, 0, sizes[Dim(root_of(c))]) for c in copies.values())
    return Piece(factor.name, LABEL, (View(view.array, at),), coefficient, over) if coefficient else None
