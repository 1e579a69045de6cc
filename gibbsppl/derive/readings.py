"""Pieces about a variable, written for one element: the statistics to be recognised.

Comes in: a statement with the pieces that mention it. Goes out: a `Reading`: the pieces with their
statistics in one *place*, the support and the limits that other factors put on it; as it is, or
after a change of variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.copies import primed, root_of
from gibbsppl.algebra.expressions import (
    Binder,
    Dim,
    Expr,
    Leaf,
    Over,
    dims_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.functions import Maximum, Minimum
from gibbsppl.algebra.polynomials import MOST_KEPT, multiplied_out
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import REAL, VECTOR, Support
from gibbsppl.derive.changes import SHIFT, Change, is_log_of_exponential, proposed
from gibbsppl.model.density import regions
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import Role, is_separable, shifted
from gibbsppl.pieces.limits import Limit, Side, is_surely_at_least
from gibbsppl.pieces.logs import opened_exponential
from gibbsppl.pieces.split import Piece, View, split

# The dim of the entries of a block, in the place that its statistics are written in.
ENTRY = Dim("entry")


@dataclass(frozen=True, slots=True)
class Reading:
    """Pieces with all statistics written in one place (a leaf), and the support of the place.

    ``place`` is the target; for a block the target with its dense axes replaced by one dim, the
    ``event`` of the block; after a ``change`` the new variable in its stead. ``over`` are the
    ranges of the statement's values, those of its event last.
    """

    statement: Statement
    over: tuple[Range, ...]
    place: Leaf
    event: tuple[Dim, ...]
    support: Support
    pieces: tuple[Piece, ...]
    limits: tuple[Limit, ...] = ()
    change: Change | None = None
    forms: tuple[Expr | None, ...] = field(init=False)

    def __post_init__(self) -> None:
        forms = (normal_form(p, self.place, self.event) for p in self.pieces)
        object.__setattr__(self, "forms", tuple(forms))

    @property
    def array(self) -> str:
        """The name of the array that the statistics are of."""
        return self.place.array.name

    def direct(self, of: Piece | Limit, value: Expr) -> Expr | None:
        """A value in the dims of the target, if the piece or limit is there once an element."""
        view = of.views[0] if isinstance(of, Piece) else of.view
        mapping = direct_view(view, of.over, self.statement, self.over)
        if mapping is None or (isinstance(of, Piece) and len(of.views) > 1):
            return None
        return substitute(value, mapping)

    def total(self, pieces: Iterable[Piece]) -> Expr | None:
        """The sum of the coefficients of pieces that are there once an element; else None."""
        found = [self.direct(p, p.coefficient) for p in pieces]
        known = [value for value in found if value is not None]
        return multiplied_out(Add(*known)) if len(known) == len(found) else None


def reading_of(
    statement: Statement,
    pieces: tuple[Piece, ...],
    limits: tuple[Limit, ...],
    roles: tuple[Role, ...],
    sizes: Mapping[Dim, int],
    *,
    elements: bool,
) -> Reading:
    """The reading before any change of variable, without pieces that cancel or are constant."""
    place, event = _place(statement, roles, elements)
    over = regions(statement, sizes)
    pieces = tuple(p for p in pieces if not _is_a_total(p, statement, over))
    reading = Reading(statement, over, place, event, _support_of(statement, event), pieces, limits)
    return _without_cancelling(reading)


def changed(reading: Reading, graph: Graph, data: Values) -> Iterator[Reading]:
    """The readings after each change of variable that the statistics or the limits suggest."""
    support = reading.support
    if support.kind == "real" and not reading.event:
        # (not in normal form: constants of changes keep the names of dims that are summed over)
        written = (in_place(p, reading.place, reading.event) for p in reading.pieces)
        forms = [f for f in written if f is not None]
        for plain in proposed(forms, reading.place):
            for change in dict.fromkeys((_from_location(plain, reading), plain)):
                if change.applies_to(support):
                    yield _after(reading, change, change.mapped(support), reading.limits, graph)
    if support.is_discrete:
        yield from _shifted(reading, graph, data)


def _from_location(change: Change, reading: Reading) -> Change:
    """The change from the location of the variable's family, if that is of exponentials too."""
    statement = reading.statement
    row, arguments = statement.family.location_scale, dict(statement.arguments)
    own = (p.statistic for p in reading.pieces if p.factor == statement.name)
    if row is None or row.location is None or not any(s.has(sp.exp) for s in own):
        return change
    location = arguments[row.location]
    if not change.transform.is_exponential or mentions(location, (reading.array,)):
        return change
    return replace(change, origin=location)


def _shifted(reading: Reading, graph: Graph, data: Values) -> Iterator[Reading]:
    """The readings of counts less a bound given by another factor: the rest is a count again."""
    told = [(n.side, reading.direct(n, n.value) if n.whole else None) for n in reading.limits]
    found = [(side, value) for side, value in told if value is not None]
    if len(found) < len(told):
        return
    at_least = partial(is_surely_at_least, over=reading.over, graph=graph, data=data)
    support = reading.support
    lowers = [support.lower, *(v for side, v in found if side == "lower")]
    uppers = [support.upper, *(v for side, v in found if side == "upper")]
    for lower in lowers:
        if lower == support.lower or not all(at_least(lower, b) for b in lowers):
            continue
        change = Change(SHIFT, lower)
        if support.kind == "counts":
            if len(uppers) > 1:
                return
            total = support.upper - Over(lower, reading.event[0])
            yield _after(reading, change, Support("counts", sp.S.Zero, total), (), graph)
            return
        for upper in uppers:
            if all(b in (upper, sp.oo) or at_least(b, upper) for b in uppers):
                mapped = Support("integer", sp.S.Zero, multiplied_out(upper - lower))
                yield _after(reading, change, mapped, (), graph)
                return


def _after(
    reading: Reading, change: Change, support: Support, limits: tuple[Limit, ...], graph: Graph
) -> Reading:
    """The reading of the new variable; the log of the Jacobian is one more term."""
    statement = reading.statement
    new = change.variable(reading.place, reading.support, graph.variables)
    pieces = [p for piece in reading.pieces for p in transformed(piece, change, new, graph)]
    pieces += jacobian_pieces(statement, change, new, graph)
    moved = tuple(limit_after(limit, change, new) for limit in limits)
    after = Reading(
        statement, reading.over, new, reading.event, support, tuple(pieces), moved, change
    )
    return _without_cancelling(after)


def jacobian_pieces(
    statement: Statement, change: Change, new: Leaf, graph: Graph
) -> tuple[Piece, ...]:
    """The log of the Jacobian, one term per element of the statement."""
    over = regions(statement, graph.sizes)
    jacobian = change.log_jacobian(new.array[statement.target.indices])
    return split(statement.name, jacobian, over, {new.array.name}, graph.sizes)


def transformed(piece: Piece, change: Change, new: Leaf, graph: Graph) -> tuple[Piece, ...]:
    """A piece with its statistic as a function of the new variable."""
    backward = {
        v.leaf: change_at(change, new, v).backward(new.array[v.read])
        for v in piece.views
        if None not in v.indices
    }
    targets = {new.array.name}
    statistic = piece.statistic.xreplace(backward)
    logs = (s for s in statistic.atoms(sp.Function) if is_log_of_exponential(s))
    opened = {s: opened_exponential(s, targets) for s in logs}
    density = _joined(piece.coefficient * statistic.xreplace(opened))
    return split(piece.factor, density, piece.over, targets, graph.sizes)


def _joined(product: Expr) -> Expr:
    """The product with exponentials merged, where terms of the exponents cancel."""
    factors = Mul.make_args(product)
    exponents = [multiplied_out(f.args[0]) for f in factors if isinstance(f, sp.exp)]
    total = multiplied_out(Add(*exponents))
    if len(Add.make_args(total)) >= sum(len(Add.make_args(e)) for e in exponents):
        return product
    return Mul(sp.exp(total), *(f for f in factors if not isinstance(f, sp.exp)))


def limit_after(limit: Limit, change: Change, new: Leaf) -> Limit:
    """The bound of the new variable that a bound of the old one amounts to."""
    domain, value = change.transform.domain, limit.value
    if domain.lower != -sp.oo and not value.is_nonnegative:
        value = Maximum(value, domain.lower)
    if domain.upper != sp.oo:
        value = Minimum(value, domain.upper)
    side: Side = limit.side
    if not change.is_increasing:
        side = "lower" if side == "upper" else "upper"
    view = View(new.array, limit.view.indices)
    return replace(limit, side=side, value=change_at(change, new, view).at(value), view=view)


def change_at(change: Change, new: Leaf, view: View) -> Change:
    """The change with its constants read where a view looks."""
    moved = {
        i: j for i, j in zip(new.indices, view.read, strict=True) if i != j and not i.is_number
    }
    return replace(
        change,
        constant=substitute(change.constant, moved),
        origin=substitute(change.origin, moved),
    )


def direct_view(
    view: View, over: tuple[Range, ...], statement: Statement, whole: tuple[Range, ...]
) -> dict[Expr, Expr] | None:
    """The target's dim for each dim of a view that shows each element of the statement once.

    ``whole`` are the ranges of the statement's values, those of its event last.
    """
    target = statement.target
    own: dict[Expr, Range] = {r.dim: r for r in whole}
    ranges: dict[Expr, Range] = {r.dim: r for r in over}
    mapping: dict[Expr, Expr] = {}
    for index, at in zip(view.indices, target.indices, strict=True):
        if index is None or (index.is_number and index != at):
            return None
        if index.is_number:
            continue
        if index not in ranges or index in mapping:
            return None
        r = ranges[index]
        if not (r.start <= at < r.stop if at.is_number else _is_same(r, own[at])):
            return None
        mapping[index] = at
    return mapping if set(mapping) == set(ranges) else None


def _without_cancelling(reading: Reading) -> Reading:
    """The reading without pieces of one statistic whose coefficients add up to zero."""
    groups: dict[Expr, list[Piece]] = {}
    for piece, form in zip(reading.pieces, reading.forms, strict=True):
        if form is not None:
            groups.setdefault(form, []).append(piece)
    gone = [
        piece
        for group in groups.values()
        if len(group) > 1 and reading.total(group) == 0
        for piece in group
    ]
    if not gone:
        return reading
    kept = tuple(p for p in reading.pieces if p not in gone)
    return replace(reading, pieces=kept)


def _is_same(r: Range, other: Range) -> bool:
    """Whether two ranges are of the same positions."""
    return (r.start, r.stop) == (other.start, other.stop)


def _is_a_total(piece: Piece, statement: Statement, whole: tuple[Range, ...]) -> bool:
    """Whether a piece weighs all entries of one value alike, whose total never changes."""
    if statement.support.kind not in ("simplex", "counts") or len(piece.views) != 1:
        return False
    (view,) = piece.views
    if piece.statistic != view.leaf:
        return False
    ranges: dict[Expr, Range] = {r.dim: r for r in piece.over}
    own: dict[Expr, Range] = {r.dim: r for r in whole}
    pairs = zip(view.read, statement.target.indices, strict=True)
    return all(
        e in ranges
        and _is_same(ranges[e], own[i])
        and e not in dims_of(piece.coefficient)
        and sum(e in dims_of(index) for index in view.read) == 1
        for e, i in pairs
        if i in statement.event
    )


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


def _support_of(statement: Statement, event: tuple[Dim, ...]) -> Support:
    """The support to match: real scalars drawn jointly are a real vector, and the reverse."""
    support = statement.support
    if support == REAL and event:
        return VECTOR
    return REAL if support == VECTOR and not event else support


@lru_cache(maxsize=MOST_KEPT)
def normal_form(piece: Piece, place: Leaf, event: tuple[Dim, ...]) -> Expr | None:
    """The piece's statistic written in the place, so that equal ones compare equal."""
    form = in_place(piece, place, event)
    return None if form is None else alpha(form)


@lru_cache(maxsize=MOST_KEPT)
def in_place(piece: Piece, place: Leaf, event: tuple[Dim, ...]) -> Expr | None:
    """The piece's statistic written in the place, or None where parts of it cannot be.

    A view's indices are replaced by the place's everywhere, so that ``x[g[i]]**k[g[i]]`` is
    ``x[t]**k[t]``, and ``x[i - 1]**k[i - 1]`` too. A statistic that still depends on other dims
    varies within the sum; arrays read some positions off the place do not exist everywhere.
    """
    if not is_separable(piece):
        return None
    leaves = sorted(leaves_in(piece.statistic, place.array.name), key=sp.default_sort_key)
    places = (place, substitute(place, {d: primed(d) for d in event}))
    if len(leaves) > len(places) or (leaves and len(leaves) != len(piece.views)):
        return None
    mapping: dict[Expr, Expr] = {}
    # (dims of the factor may have the names of the place's, and be other positions)
    own = {d: Dim(f"°{d.name}") for d in dims_of(place)}
    if len(piece.views) == 2:
        mapping, own = dict(zip(leaves, places, strict=True)), {}
    elif leaves:
        (leaf,), (view,) = leaves, piece.views
        if ENTRY in event:
            mapping, own = {leaf: place}, {}
        else:
            mapping = _aligned(leaf, view, substitute(place, own))
    form = substitute(piece.statistic, mapping)
    allowed = dims_of(substitute(place, own)) | {primed(d) for d in event}
    if not dims_of(form) <= allowed:
        return None
    form = substitute(form, {d: i for i, d in own.items()})
    return None if _reads_beside(form, place) else form


def _reads_beside(form: Expr, place: Leaf) -> bool:
    """Whether arrays are read at positions next to those of the place."""
    indices = (i for leaf in form.atoms(Leaf) for i in leaf.indices)
    return any(shifted(i)[1] and dims_of(i) <= dims_of(place) for i in indices)


def leaves_in(expr: Expr, array: str) -> set[Leaf]:
    """The leaves of an array in an expression."""
    return {leaf for leaf in expr.atoms(Leaf) if leaf.array.name == array}


def _aligned(leaf: Leaf, view: View, place: Leaf) -> dict[Expr, Expr]:
    """Each index of a view to the place's index on that axis; the leaf itself to the place."""
    pairs = ((v, p) for v, p in zip(view.indices, place.indices, strict=True) if v is not None)
    mapping: dict[Expr, Expr] = {}
    for v, p in pairs:
        dim, shift = shifted(v)
        if not v.is_number and v != p:
            mapping |= {v: p} if dim is None else {dim: p - shift}
    whole = all(v is not None for v in view.indices)
    return mapping | ({leaf: place} if whole and leaf.indices == view.indices else {})


def alpha(expr: Expr, depth: int = 0) -> Expr:
    """The expression with bound dims named by depth, so that equal ones compare equal.

    Dims that the body does not depend on keep their names: their size counts its repetitions.
    """
    if isinstance(expr, Binder):
        free = dims_of(expr.body)
        names = {d: Dim(f"·{depth + j}") for j, d in enumerate(expr.bound) if d in free}
        names = {d: names.get(d, Dim(root_of(d))) for d in expr.bound}
        body = alpha(expr.body.xreplace(names), depth + len(names))
        rest = (alpha(a, depth) for a in expr.args[1 + expr.binds :])
        return expr.func(body, *names.values(), *rest)
    if not expr.args or isinstance(expr, Leaf):
        return expr
    return expr.func(*(alpha(a, depth) for a in expr.args))
