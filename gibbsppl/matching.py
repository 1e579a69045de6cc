"""The smallest family that owns all statistics of a conditional.

Comes in: a statement and the pieces that mention it. Goes out: a `Conditional`, or a
`NotConjugate` with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy import Add

from gibbsppl.dependence import Role, is_separable
from gibbsppl.expressions import Binder, Dim, Expr, Leaf, dims_of, primed, substitute
from gibbsppl.families import FAMILIES, Family
from gibbsppl.graph import PLAIN, Statement
from gibbsppl.logs import expand_logs
from gibbsppl.pieces import Piece, View, views_of
from gibbsppl.supports import REAL, VECTOR

# The dim of the entries of a block, in the place that its statistics are written in.
ENTRY = Dim("entry")


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
class NotConjugate:
    """No family owns the conditional: why, which terms are in the way, whose family is nearest."""

    statement: Statement
    reason: str
    offending: tuple[Piece, ...]
    nearest: str | None
    pieces: tuple[Piece, ...]
    elements: bool = False


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
    for term in Add.make_args(expanded) if expanded != 0 else ():
        number, summed = term.as_coeff_Mul()
        body = _summand(summed, array)
        if leaves := _leaves(body, array):
            coefficient, statistic = body.as_independent(*leaves)
            found[_alpha(statistic)] = number * coefficient
    return found


def _summand(term: Expr, array: str) -> Expr:
    """What a term sums over elements of the array, if it is such a sum."""
    while isinstance(term, Binder) and any(True for _ in views_of(term, {array})):
        term = term.body
    return term


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
    if len(piece.views) == 2:
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
