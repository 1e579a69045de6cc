"""Sums as arrays of their own: zeros, then additions; one way to do each sum.

A sum over a one-hot factor, ``sum(n: [z[n] == k] * x[n])``, adds where it is hot; where ``k`` is
one position at a time, and the index is data, it is a sum over the members of a group.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from gibbsppl.code.arrays.equations import equations_of
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Span,
    at,
    is_call,
    mapped,
    product,
    total,
    walk,
)
from gibbsppl.code.arrays.groups import Groups, Hot, hot_of
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.orders import in_order, ordered
from gibbsppl.code.arrays.statements import (
    Add,
    Argument,
    Choice,
    Density,
    Draw,
    Let,
    Loop,
    Statement,
    Store,
    spans_of,
)
from gibbsppl.code.arrays.sweeps import Sweep, names_in, spans_in

# What a reduction starts from.
STARTS = {"sum": ZERO, "product": ONE, "max": Number(-inf), "min": Number(inf)}


def contracted(sweep: Sweep) -> Sweep:
    """The sweep with every reduction as an array of its own."""
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    spans = spans_in(sweep.every)
    groups = Groups.of(sweep, names, spans)
    work = _Contraction(names, groups, spans, sweep.lanes)
    statements = work.of(sweep.statements, frozenset())
    monitors = work.of(sweep.monitors, frozenset())
    tables = tuple(groups.tables)
    return replace(
        sweep, statements=statements, monitors=monitors, arrays=dict(groups.arrays), tables=tables
    )


@dataclass(slots=True)
class _Contraction:
    """The work on a sweep: what is known of arrays, names, tables, and spans of dims.

    ``lanes`` are dims whose positions come last.
    """

    names: Names
    groups: Groups
    spans: Mapping[str, Span]
    lanes: frozenset[str]

    def of(self, statements: Iterable[Statement], fixed: frozenset[str]) -> tuple[Statement, ...]:
        """Statements without reductions; ``fixed`` are the dims of loops around them."""
        return tuple(s for one in statements for s in self.one(one, fixed))

    def one(self, s: Statement, fixed: frozenset[str]) -> list[Statement]:
        """A statement without reductions, after those that compute them."""
        if isinstance(s, Loop):
            inside = fixed | {d.dim for d in s.over}
            return [replace(s, body=self.of(s.body, inside))]
        if isinstance(s, Choice):
            return [s.of(lambda body: self.of(body, fixed))]
        before: list[Statement] = []
        if isinstance(s, Draw) and s.density is not None:
            s = replace(s, density=self.density(s.density, fixed))
            arguments = tuple(
                replace(a, value=self.expr(a.value, before, s, fixed)) for a in s.arguments
            )
            return [*before, replace(s, arguments=arguments)]
        if isinstance(s, Draw):
            arguments = tuple(
                replace(a, value=self.expr(a.value, before, s, fixed)) for a in s.arguments
            )
            return [*before, replace(s, arguments=arguments)]
        if isinstance(s, Add) and (grouped := self.member_of(s, fixed)) is not None:
            return grouped
        done = replace(s, value=self.expr(s.value, before, s, fixed))
        return [*before, done]

    def member_of(self, s: Add, fixed: frozenset[str]) -> list[Statement] | None:
        """An addition for the members of one group; None for others."""
        hot, value = _parted(Reduce(s.value, s.over, s.by), fixed)
        grouped = self.groups.of_one(hot, s.over, fixed)
        if grouped is None:
            return None
        span, placed = self.groups.members(grouped, s.over)
        inner: list[Statement] = []
        value = self.expr(placed(value), inner, None, fixed | {span.dim})
        indices = tuple(map(placed, s.indices))
        inner.append(replace(s, indices=indices, value=value, over=()))
        return [Loop((span,), tuple(inner), s.note)]

    def density(self, density: Density, fixed: frozenset[str]) -> Density:
        """A log density without reductions."""
        body = list(self.of(density.body, fixed))
        value = self.expr(density.value, body, None, fixed)
        return replace(density, body=tuple(body), value=value)

    def expr(
        self, expr: Expr, before: list[Statement], s: Statement | None, fixed: frozenset[str]
    ) -> Expr:
        """An expression without reductions; statements that compute these are put before it."""

        def contracted_(e: Expr) -> Expr | None:
            if is_call(e, "entry") and isinstance(e.parts[0], Reduce):
                whole, *places = e.parts
                found = [self.expr(p, before, s, fixed) for p in places]
                return self.of_matrix(self.inside(whole, before, s, fixed), found, before, s, fixed)
            if not isinstance(e, Reduce):
                return None
            e = _pushed(_flattened(e), fixed)
            hot, value = _parted(e, fixed)
            if (one := self.groups.of_one(hot, e.spans, fixed)) is not None:
                return self.of_members(e, one, value, before, s, fixed)
            if (apart := self.with_members(e, hot, value, fixed)) is not None:
                return self.of_members(apart, hot[0], apart.body, before, s, fixed)
            if (equations := equations_of(e, fixed)) is not None:
                return self.solved(*equations, before, s, fixed)
            inner = self.inside(e, before, s, fixed)
            if e.by == "logdet":
                return self.of_matrix(inner, (), before, s, fixed)
            return self.reduced(inner, before, s, fixed)

        return mapped(expr, contracted_)

    def with_members(
        self, e: Reduce, hot: Sequence[Hot], value: Expr, fixed: frozenset[str]
    ) -> Reduce | None:
        """The sum over the members of one group of sums over other spans; None for others."""
        indices = frozenset[str]().union(*(h.index.free for h in hot))
        own = tuple(x for x in e.spans if x.dim in indices)
        rest = tuple(x for x in e.spans if x not in own)
        is_apart = not any(end.free & indices for x in rest for end in x.ends)
        if e.by != "sum" or not is_apart or self.groups.of_one(hot, own, fixed) is None:
            return None
        return Reduce(Reduce(value, rest), own)

    def of_members(
        self,
        e: Reduce,
        group: Hot,
        value: Expr,
        before: list[Statement],
        s: Statement | None,
        fixed: frozenset[str],
    ) -> Expr:
        """A reduction over the members of one group: what each is made of is computed for it."""
        kept = [self.span(d, s) for d in in_order(e, fixed, s, self.lanes)]
        name = self.names.fresh(_stem(e, value, is_hot=True))
        before.append(Let(name, tuple(kept), STARTS[e.by]))
        span, placed = self.groups.members(group, e.spans)
        inner: list[Statement] = []
        value = self.expr(placed(value), inner, None, fixed | {span.dim})
        here = tuple(Position(k.dim) for k in kept)
        inner.append(_added(name, here, value, tuple(kept), e.by))
        before.append(Loop((span,), tuple(inner)))
        return Element(name, here)

    def inside(
        self, e: Expr, before: list[Statement], s: Statement | None, fixed: frozenset[str]
    ) -> Reduce:
        """A reduction whose body has none."""
        assert isinstance(e, Reduce)
        # (what is computed for the body is so at the positions that the reduction is over)
        around = replace(self, spans={**self.spans, **{x.dim: x for x in e.spans}})
        return replace(e, body=around.expr(e.body, before, s, fixed))

    def of_matrix(
        self,
        e: Reduce,
        places: Sequence[Expr],
        before: list[Statement],
        s: Statement | None,
        fixed: frozenset[str],
    ) -> Expr:
        """The log determinant of a matrix, or an entry of its inverse: computed by a kernel."""
        kept = [self.span(d, s) for d in in_order(e, fixed, s, self.lanes)]
        stem = "_".join([e.by, *sorted(e.arrays)[:2]])
        matrix, found = self.names.fresh(f"{stem}_of"), self.names.fresh(stem)
        dims = (*kept, *e.spans)
        before.append(Let(matrix, dims, e.body))
        given = Element(matrix, tuple(Position(k.dim) for k in dims))
        outer = tuple(Position(k.dim) for k in kept)
        own = e.spans if e.by == "inverse" else ()
        target = Element(found, (*outer, *(Position(k.dim) for k in own)))
        before.append(Let(found, (*kept, *own), ZERO))
        argument = Argument(given, e.spans, as_is=True)
        before.append(Draw((target,), e.by, (argument,), tuple(kept), own, is_random=False))
        return Element(found, (*outer, *places))

    def solved(
        self,
        matrix: Reduce,
        right: Expr,
        place: Position,
        span: Span,
        before: list[Statement],
        s: Statement | None,
        fixed: frozenset[str],
    ) -> Expr:
        """An element of the inverse of a matrix times a vector: a kernel solves the equations."""
        matrix = self.inside(matrix, before, s, fixed)
        names = [self.names.fresh(n) for n in ("equations", "equations_right", "solved")]
        rows = (matrix.spans[0],)
        given = [(matrix.spans, matrix.body), ((span,), self.expr(right, before, s, fixed))]
        arguments = list[Argument]()
        for name, (own, value) in zip(names, given, strict=False):
            before.append(Let(name, own, value))
            here = Element(name, tuple(Position(x.dim) for x in own))
            arguments.append(Argument(here, own, as_is=True))
        target = Element(names[-1], (Position(rows[0].dim),))
        before.append(Let(names[-1], rows, ZERO))
        before.append(Draw((target,), "solution", tuple(arguments), own=rows, is_random=False))
        return Element(names[-1], (place,))

    def reduced(
        self, e: Reduce, before: list[Statement], s: Statement | None, fixed: frozenset[str]
    ) -> Expr:
        """The element that a reduction is, which statements compute."""
        if e.by == "log_sum_exp":
            return self.log_sum_exp(e, before, s, fixed)
        hot, value = _parted(e, fixed)
        if (apart := _by_group(e, hot, value, fixed)) is not None:
            members, common, spans = apart
            found = product([*common, self.reduced(members, before, s, fixed)])
            return self.reduced(Reduce(found, spans), before, s, fixed) if spans else found
        kept = [self.span(d, s) for d in in_order(e, fixed, s, self.lanes)]
        name = self.names.fresh(_stem(e, value, is_hot=bool(hot)))
        before.append(Let(name, tuple(kept), STARTS[e.by]))
        spans, first = e.spans, list[str]()
        if (every := self.groups.of_all(hot, e.spans, value, fixed)) is not None:
            span, placed = self.groups.members(every, e.spans)
            spans, value = (span,), placed(value)
            hot, first = [], [d for d in (every.dim, span.dim) if d is not None]
        free = {h.dim: h for h in reversed(hot) if h.dim is not None and h.dim not in fixed}
        inside = [h for h in hot if h not in free.values()]
        places: dict[str, Expr] = {dim: h.index for dim, h in free.items()}
        if inside:
            value = _where_hot(inside, value, STARTS[e.by], places)
        own = [k for k in kept if k.dim not in places]
        indices = tuple(places.get(k.dim, Position(k.dim)) for k in kept)
        before[:] = [_of_whole_numbers(x, places.values()) for x in before]
        first = first or [x.dim for x in spans if places]
        over = ordered(value, (*spans, *own), first, self.lanes)
        before.append(_added(name, indices, value, over, e.by))
        return Element(name, tuple(Position(k.dim) for k in kept))

    def span(self, dim: str, s: Statement | None) -> Span:
        """The positions of a dim that a statement needs."""
        own = {x.dim: x for x in (spans_of(s) if s is not None else ())}
        found = own.get(dim, self.spans.get(dim))
        return found if found is not None else Span.whole(dim)

    def log_sum_exp(
        self, e: Reduce, before: list[Statement], s: Statement | None, fixed: frozenset[str]
    ) -> Expr:
        """The log of a sum of exponentials: the largest is taken out."""
        largest = self.reduced(replace(e, by="max"), before, s, fixed)
        away = Apply("exp", (total([e.body, Apply("neg", (largest,))]),))
        summed = self.reduced(Reduce(away, e.spans), before, s, fixed)
        found = total([largest, Apply("log", (summed,))])
        return Apply("where", (Apply("below", (Number(-inf), largest)), found, largest))


def _of_whole_numbers(s: Statement, indices: Iterable[Expr]) -> Statement:
    """A new array, of whole numbers where indices read it."""
    if isinstance(s, Let) and any(s.name in i.arrays for i in indices):
        return replace(s, type="int")
    return s


def _by_group(
    e: Reduce, hot: Sequence[Hot], value: Expr, fixed: frozenset[str]
) -> tuple[Reduce, list[Expr], tuple[Span, ...]] | None:
    """A sum over the members of each group, what these have in common, and what it is summed over.

    ``sum(n, j: [z[n] == k] * x[n, j] * t[z[n], j])`` is the sum over ``j`` of ``t[k, j]`` times
    ``sum(n: [z[n] == k] * x[n, j])``. None where members have nothing in common.
    """
    axes = {h.index: h.axis for h in hot if h.dim is not None and h.dim not in fixed}
    if e.by != "sum" or not hot or len(axes) < len(hot):
        return None
    moving = frozenset[str]().union(*(h.index.free for h in hot))
    own, common = list[Expr](), list[Expr]()
    for f in value.parts if is_call(value, "*") else (value,):
        of_group = mapped(f, lambda x: axes.get(x) if isinstance(x, Element) else None)
        is_common = bool(f.arrays) and not of_group.free & moving
        (common if is_common else own).append(of_group if is_common else f)
    if not common:
        return None
    outer = frozenset[str]().union(*(f.free for f in common)) - moving
    spans = tuple(x for x in e.spans if x.dim in outer)
    is_hot = [Apply("equals", (h.index, h.axis)) for h in hot]
    inner = tuple(x for x in e.spans if x.dim not in outer)
    return Reduce(product([*is_hot, *own]), inner), common, spans


def _where_hot(
    hot: Sequence[Hot], value: Expr, other: Expr, places: Mapping[str, Expr]
) -> Expr:
    """A value where one-hot factors are 1 at some places, another elsewhere."""
    conditions = tuple(Apply("equals", (h.index, at(h.axis, places))) for h in hot)
    both = conditions[0] if len(conditions) == 1 else Apply("and", conditions)
    return Apply("where", (both, value, other))


def _flattened(e: Reduce) -> Reduce:
    """A sum of a product with a sum that has one-hot factors, as one sum over all spans.

    (The inner sum alone would be a table of zeros and ones, of all positions by all groups.)
    """
    factors = e.body.parts if is_call(e.body, "*") else (e.body,)
    for f in factors:
        if not isinstance(f, Reduce) or {e.by, f.by} != {"sum"}:
            continue
        spans = (*e.spans, *f.spans)
        rest = [g for g in factors if g is not f]
        own = {s.dim for s in f.spans}
        is_apart = not own & frozenset[str]().union(*(g.free for g in rest))
        inner = f.body.parts if is_call(f.body, "*") else (f.body,)
        dims = {s.dim for s in spans}
        if is_apart and any(hot_of(g, dims) is not None for g in inner):
            return _flattened(Reduce(product([*rest, *inner]), spans))
    return e


def _pushed(e: Reduce, fixed: frozenset[str]) -> Reduce:
    """A sum of a product with the sum over a dim of some factors taken before the other factors.

    That saves positions where others have dims that these lack; what is summed has the dims of one
    of the others at most, so that it is no larger.
    """
    factors = e.body.parts if is_call(e.body, "*") else ()
    if e.by != "sum" or not all(s.is_whole for s in e.spans) or any(map(_has_equals, factors)):
        return e
    for span in e.spans:
        group = [f for f in factors if span.dim in f.free]
        others = [f for f in factors if f not in group]
        own = frozenset[str]().union(*(f.free for f in group)) - {span.dim} - fixed
        saved = frozenset[str]().union(*(f.free for f in others)) - own - fixed
        rest = tuple(s for s in e.spans if s != span)
        if rest and saved and any(own <= f.free for f in others):
            first = _pushed(Reduce(product(group), (span,)), fixed)
            return _pushed(Reduce(product([first, *others]), rest), fixed)
    return e


def _has_equals(e: Expr) -> bool:
    """Whether an expression has a one-hot factor, which says where to add."""
    return any(is_call(p, "equals") for p in walk(e))


def _parted(e: Reduce, fixed: frozenset[str]) -> tuple[list[Hot], Expr]:
    """The one-hot factors of a reduction, and the rest of its body."""
    inside = {s.dim for s in e.spans}
    if e.by == "sum":
        factors = list(e.body.parts) if is_call(e.body, "*") else [e.body]
        hot = [(f, h) for f in factors if (h := hot_of(f, inside)) is not None]
        hot = [
            (f, h)
            for f, h in hot
            if h.dim in fixed or not any(h.dim in g.free for g in factors if g is not f)
        ]
        rest = [f for f in factors if not any(f is g for g, _ in hot)]
        return [h for _, h in hot], product(rest)
    if is_call(e.body, "where") and e.body.parts[2] == STARTS.get(e.by):
        condition, value, _ = e.body.parts
        factors = list(condition.parts) if is_call(condition, "*") else [condition]
        found = [hot_of(f, inside) for f in factors]
        own = [h for h in found if h is not None and (h.dim in fixed or h.dim not in value.free)]
        if len(own) == len(factors):
            return own, value
    return [], e.body


def _added(
    name: str, indices: tuple[Expr, ...], value: Expr, over: tuple[Span, ...], by: str
) -> Statement:
    if by == "product":
        here = Element(name, indices)
        return Loop(over, (Store(here, product([here, value])),)) if over else Store(
            here, product([here, value])
        )
    return Add(name, indices, value, over, by=by)


def _stem(e: Reduce, value: Expr, is_hot: bool) -> str:
    """A name for what a reduction is of."""
    read = sorted(value.arrays) or sorted(e.arrays)
    word = "count" if is_hot and isinstance(value, Number) else e.by
    return "_".join([word, *[n.strip("~") for n in read][:3]])
