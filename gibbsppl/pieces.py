"""A log density, split into pieces: coefficient times statistic of the target, summed over dims.

Comes in: a scalar template and the names of the target arrays. Goes out: `Piece` values. The way:
*cut* (each largest part free of the targets becomes one leaf, so that expansion costs nothing
there), *open* (``Over(f(k), k)**2`` is ``f(k₁) f(k₂)``), expand, collect, restore.

>>> y, a, tau = Array("y"), Array("a"), Array("tau", positive=True)
>>> i, g = Dim("i"), Array("g")
>>> normal = sp.log(tau[()]) / 2 - tau[()] * (y[i] - a[g[i]]) ** 2 / 2
>>> for piece in split("y", normal, (Range(i, 0, 9),), {"a"}, {}):
...     print(piece)
y: a[g[i]] * (tau*y[i]), over i
y: a[g[i]]**2 * (-tau/2), over i
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Literal

import sympy as sp
from sympy import Add, Mul

from gibbsppl.expressions import (
    Array,
    AtMost,
    Binder,
    Dim,
    Expit,
    Expr,
    InverseEntry,
    Leaf,
    LogDet,
    LogPhi,
    Over,
    Phi,
    Softplus,
    Times,
    Where,
    copy_of,
    dims_of,
    mentions,
    renamed_apart,
    root_of,
    substitute,
)
from gibbsppl.graph import Factor, Graph, Range, Statement
from gibbsppl.supports import Support


@dataclass(frozen=True, slots=True)
class View:
    """How a factor sees an array: one index expression per axis, ``None`` where all is read.

    The coefficient of a statistic is summed onto the element that the view shows: the pull-back.
    An index that is a dim of no enclosing range is one that a sum inside the statistic binds.
    """

    array: Array
    indices: tuple[Expr | None, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """``coefficient * statistic``, summed over the ranges: one term of a factor's log density."""

    factor: str
    statistic: Expr
    views: tuple[View, ...]
    coefficient: Expr
    over: tuple[Range, ...]

    def __str__(self) -> str:
        over = ", ".join(r.dim.name for r in self.over)
        text = f"{self.factor}: {self.statistic} * ({self.coefficient})"
        return f"{text}, over {over}" if over else text


class Bound(sp.Function):  # type: ignore[misc]
    """Marks a monomial as summed over a dim to which a sum has been opened."""

    nargs = 1
    is_positive = True


def split(
    factor: str,
    log_density: Expr,
    over: tuple[Range, ...],
    targets: Collection[str],
    sizes: Mapping[Dim, int],
) -> tuple[Piece, ...]:
    """The log density as pieces; terms free of the targets are dropped."""
    log_density = renamed_apart(log_density, {r.dim for r in over})
    cuts = _Cuts()
    opener = _Opener(targets)
    density = opener.opened(expand_logs(cuts.cut(log_density, targets), targets))
    found: dict[tuple[Expr, frozenset[Dim]], Expr] = defaultdict(lambda: sp.S.Zero)
    for term in Add.make_args(_expanded(density, targets)):
        statistic, coefficient, bound = _parted(term, targets)
        if statistic != 1:
            found[statistic, bound] += coefficient
    return tuple(
        Piece(
            factor,
            cuts.restored(statistic),
            tuple(views_of(statistic, targets)),
            restored,
            over + tuple(Range(d, 0, sizes.get(Dim(root_of(d)), 0)) for d in sorted(bound, key=str)),
        )
        for (statistic, bound), coefficient in found.items()
        if (restored := _tidied(cuts.restored(coefficient))) != 0
    )


def pieces_of(
    factors: Iterable[Factor], statement: Statement, sizes: Mapping[Dim, int]
) -> tuple[Piece, ...]:
    """All pieces of the log joint that mention what a statement defines."""
    array = statement.target.array.name
    return tuple(
        chain.from_iterable(
            split(f.name, f.log_density + bounds_seen(f, statement), f.over, {array}, sizes)
            for f in factors
        )
    )


def bounds_seen(factor: Factor, statement: Statement) -> Expr:
    """The log indicators of a factor's support that another statement's target is subject to.

    ``y ~ Uniform(0, theta)`` tells theta that it is above y. A target's own support is no term: it
    is part of the match.
    """
    array = statement.target.array.name
    if not isinstance(factor, Statement) or factor.name == statement.name:
        return sp.S.Zero
    return Add(*(sp.log(b) for b in inside(factor.target, factor.support) if mentions(b, (array,))))


def inside(x: Expr, support: Support) -> tuple[Expr, ...]:
    """The bounds of a support that depend on other arrays, as indicators."""
    lower, upper = sp.sympify(support.lower), sp.sympify(support.upper)
    bounds = ((lower, AtMost(lower, x)), (upper, AtMost(x, upper)))
    return tuple(indicator for bound, indicator in bounds if bound.atoms(Array))


class _Cuts:
    """The parts that were named by one leaf each, and back."""

    def __init__(self) -> None:
        self.names: dict[Expr, Leaf] = {}

    def cut(self, expr: Expr, targets: Collection[str]) -> Expr:
        """The expression with each largest part free of the targets named by one leaf."""
        if not mentions(expr, targets):
            return expr if expr.is_number or isinstance(expr, Leaf | Dim) else self._named(expr)
        if isinstance(expr, Leaf):
            return expr
        if isinstance(expr, Binder):
            return expr.func(self.cut(expr.body, targets), *expr.args[1:])
        if not (expr.is_Add or expr.is_Mul):
            return expr.func(*(self.cut(a, targets) for a in expr.args))
        held = [self.cut(a, targets) for a in expr.args if mentions(a, targets)]
        free = [a for a in expr.args if not a.is_number and not mentions(a, targets)]
        numbers = [a for a in expr.args if a.is_number]
        if expr.is_Add:
            free, numbers = free + numbers, []
        return expr.func(*numbers, *([self.cut(expr.func(*free), targets)] if free else []), *held)

    def _named(self, expr: Expr) -> Leaf:
        if expr not in self.names:
            kind = {"positive": True} if expr.is_positive else {"real": True}
            dims = sorted(dims_of(expr), key=str)
            self.names[expr] = Array(f"·{len(self.names)}", **kind)[tuple(dims)]
        return self.names[expr]

    def restored(self, expr: Expr) -> Expr:
        """The expression with the named parts in place again, their dims renamed along."""
        originals = {leaf.array: (leaf, part) for part, leaf in self.names.items()}
        return expr.xreplace(
            {
                leaf: substitute(part, dict(zip(named.indices, leaf.indices, strict=True)))
                for leaf in expr.atoms(Leaf)
                if leaf.array in originals
                for named, part in (originals[leaf.array],)
            }
        )


class _Opener:
    """Opens sums that hold a target; each copy of a dim gets a name of its own."""

    def __init__(self, targets: Collection[str]) -> None:
        self.targets = targets
        self.taken: set[Dim] = set()

    def opened(self, expr: Expr) -> Expr:
        """Over(f(k), k)**2 as f(k₁) * f(k₂), each copy marked as bound."""
        if not mentions(expr, self.targets):
            return expr
        if isinstance(expr, Over):
            (dim,) = expr.bound
            copy = copy_of(dim, self.taken)
            self.taken.add(copy)
            return Bound(copy) * self.opened(substitute(expr.body, {dim: copy}))
        if expr.is_Pow and expr.has(Over) and expr.exp.is_Integer and expr.exp > 0:
            return Mul(*(self.opened(expr.base) for _ in range(int(expr.exp))))
        if expr.is_Add or expr.is_Mul:
            return expr.func(*map(self.opened, expr.args))
        return expr


def expand_logs(expr: Expr, targets: Collection[str]) -> Expr:
    """Logs of products, powers, exponentials and determinants as sums, where a target is in them.

    Positivity of the parts is taken for granted (a density is positive, so its factors can be
    chosen so); the ratio check of every derived conditional guards it.
    """
    if not mentions(expr, targets) or isinstance(expr, Leaf):
        return expr
    if isinstance(expr, sp.log):
        return _log(expand_logs(expr.args[0], targets), targets)
    if isinstance(expr, LogDet):
        return _log_det(expr, targets)
    if isinstance(expr, Binder):
        return expr.func(expand_logs(expr.body, targets), *expr.args[1:])
    return expr.func(*(expand_logs(a, targets) for a in expr.args))


def _log(of: Expr, targets: Collection[str]) -> Expr:
    """The log of an expression, taken apart."""
    if of.is_Add:
        of = sp.factor_terms(of, radical=True) if (one := _one_minus(of)) is None else one
    if of.is_Mul:
        return Add(*(_log(a, targets) for a in of.args))
    if of.is_Add and (factored := sp.factor(of)).is_Mul:
        return Add(*(_log(a, targets) for a in factored.args))
    match of:
        case sp.Pow():
            return of.exp * _log(of.base, targets)
        case sp.exp():
            return of.args[0]
        case Times():
            return Over(_log(of.body, targets), *of.bound)
        case Over() if not mentions(of, targets):
            return sp.log(of)
        case Expit():
            return -Softplus(-of.args[0])
        case Phi():
            return LogPhi(of.args[0])
        case Where():
            chosen, yes, no = of.args
            return chosen * _log(yes, targets) + (1 - chosen) * _log(no, targets)
    return sp.log(of)


def _one_minus(of: Expr) -> Expr | None:
    """1 - expit(x) as expit(-x), 1 - Phi(x) as Phi(-x)."""
    rest = 1 - of
    return rest.func(-rest.args[0]) if isinstance(rest, Expit | Phi) else None


def _log_det(expr: LogDet, targets: Collection[str]) -> Expr:
    """The log determinant of a scaled or inverted matrix, taken apart."""
    body, bound = expr.body, expr.bound
    if isinstance(body, InverseEntry) and body.args[3:] == bound:
        return -_log_det(LogDet(body.body, *body.bound), targets)
    outer = [a for a in Mul.make_args(body) if not dims_of(a) & set(bound)]
    if body.is_Mul and outer:
        rest = Mul(*(a for a in body.args if a not in outer))
        return Over(_log(Mul(*outer), targets), bound[0]) + LogDet(rest, *bound)
    return expr


def _expanded(density: Expr, targets: Collection[str]) -> Expr:
    """The density multiplied out."""
    return _multiplied_out(expand_logs(_multiplied_out(density), targets))


def _multiplied_out(expr: Expr) -> Expr:
    """Products and powers of sums as sums; arguments of other functions are left as they are.

    A square inside a function stays a square: expanded, it would lose its digits far from zero.
    """
    if expr.is_Add:
        return Add(*map(_multiplied_out, expr.args))
    if expr.is_Mul:
        return sp.expand_mul(Mul(*map(_multiplied_out, expr.args)), deep=False)
    if isinstance(expr, sp.exp):
        return Mul(*(sp.exp(a) for a in Add.make_args(_multiplied_out(expr.args[0]))))
    if expr.is_Pow and expr.exp.is_number:
        power = sp.expand_power_base(sp.Pow(_multiplied_out(expr.base), expr.exp), force=True)
        return sp.expand_multinomial(power, deep=False) if power.is_Pow else _multiplied_out(power)
    return expr


def _parted(term: Expr, targets: Collection[str]) -> tuple[Expr, Expr, frozenset[Dim]]:
    """Statistic, coefficient and bound dims of one monomial, its copies of dims named in order."""
    parts = Mul.make_args(term)
    marks = [p.args[0] for p in parts if isinstance(p, Bound)]
    held = [p for p in parts if mentions(p, targets)]
    free = [p for p in parts if not isinstance(p, Bound) and p not in held]
    renamed = _in_order(marks, Mul(*held), Mul(*free))
    statistic, coefficient = (Mul(*ps).xreplace(renamed) for ps in (held, free))
    return statistic, coefficient, frozenset(renamed.get(d, d) for d in marks)


def _in_order(marks: list[Dim], statistic: Expr, coefficient: Expr) -> dict[Dim, Dim]:
    """New names for bound dims, by root in order of appearance, so that equal monomials merge."""
    if not marks:
        return {}
    text = str(statistic) + "|" + str(coefficient)
    counts: dict[str, int] = defaultdict(int)
    renamed = {}
    for dim in sorted(marks, key=lambda d: (text.find(d.name + "]") % (len(text) + 1), d.name)):
        root = Dim(root_of(dim))
        taken = [r for r in renamed.values() if root_of(r) == root.name]
        renamed[dim] = copy_of(root, taken)
        counts[root.name] += 1
    return renamed


def _tidied(coefficient: Expr) -> Expr:
    """The coefficient with common factors taken out; zero if it is."""
    if not coefficient.is_Add:
        return coefficient
    if sp.expand(coefficient) == 0:
        return sp.S.Zero
    return sp.factor_terms(coefficient)


def views_of(statistic: Expr, targets: Collection[str]) -> Iterator[View]:
    """The views of the targets in a statistic: each once, in order."""
    return iter(dict.fromkeys(_views(statistic, targets)))


def _views(expr: Expr, targets: Collection[str]) -> Iterator[View]:
    if isinstance(expr, Leaf) and expr.array.name in targets:
        yield View(expr.array, expr.indices)
    match expr:
        case LogDet(body=Leaf() as leaf):
            yield from _whole(leaf, dict.fromkeys(expr.bound), targets)
        case InverseEntry(body=Leaf() as leaf):
            entries = dict(zip(expr.bound, expr.args[3:], strict=True))
            yield from _whole(leaf, entries, targets)
        case _:
            for a in sorted(expr.args, key=sp.default_sort_key) if expr.is_Mul else expr.args:
                yield from _views(a, targets)


def _whole(
    leaf: Leaf, entries: Mapping[Dim, Expr | None], targets: Collection[str]
) -> Iterator[View]:
    if leaf.array.name in targets:
        yield View(leaf.array, tuple(entries.get(i, i) for i in leaf.indices))


Role = Literal["batch", "dense", "band", "graph"]


def is_separable(piece: Piece) -> bool:
    """Whether the statistic is a function of one view, or a product of two such functions.

    A sum inside a function (``log(1 + exp(sum(x[i, k] * b[k], k)))``) is not: it binds an index.
    """
    ranges = {r.dim for r in piece.over}
    for view in piece.views:
        inner = [d for i in view.indices if i is not None for d in dims_of(i)]
        if not set(inner) <= ranges:
            return False
    if len(piece.views) == 1:
        return True
    if len(piece.views) > 2:  # noqa: PLR2004
        return False
    parts = Mul.make_args(piece.statistic)
    arrays = {v.array.name for v in piece.views}
    return all(len(set(views_of(p, arrays))) == 1 for p in parts)


def roles_of(
    pieces: Iterable[Piece], statement: Statement, region: tuple[Place, ...] | None = None
) -> tuple[Role, ...]:
    """How elements depend on one another, axis by axis, read from the pieces with two views.

    The same index expression: ``batch`` (independent); two dims that are both summed: ``dense``; a
    constant difference: ``band``; anything else (data indices): ``graph``. Within a ``region``, a
    difference that leads out of it links no two of its elements.
    """
    found: list[Role] = ["batch"] * len(statement.target.indices)
    order: tuple[Role, ...] = ("batch", "dense", "band", "graph")
    for piece in pieces:
        summed = {r.dim for r in piece.over}
        for v, w in combinations(piece.views, 2):
            pairs = list(zip(v.indices, w.indices, strict=True))
            if region and any(_leads_out(*pair, place) for pair, place in zip(pairs, region, strict=True)):
                continue
            for axis, (a, b) in enumerate(pairs):
                found[axis] = max(found[axis], _role(a, b, summed), key=order.index)
    return tuple(found)


def _role(a: Expr | None, b: Expr | None, summed: set[Dim]) -> Role:
    if a == b or a is None or b is None:
        return "batch"
    if a in summed and b in summed:
        return "dense"
    return "band" if (a - b).is_number else "graph"


def _leads_out(a: Expr | None, b: Expr | None, place: Place) -> bool:
    """Whether two indices cannot both be in a place."""
    length = 1 if isinstance(place, int) else len(place)
    if a is None or b is None or a == b or not (a - b).is_number:
        return False
    return bool(abs(a - b) >= length)


Place = Range | int


def region_of(graph: Graph, statement: Statement) -> tuple[Place, ...]:
    """The positions of its array that a statement fills, axis by axis."""
    ranges = {r.dim: r for r in statement.over}
    return tuple(
        int(i) if i.is_Integer else ranges.get(i, Range(i, 0, graph.sizes[i]))
        for i in statement.target.indices
    )


def touches(view: View, over: Iterable[Range], region: tuple[Place, ...]) -> bool:
    """Whether a view may show an element of a region."""
    ranges = {r.dim: r for r in over}
    return all(
        shown is None or overlap(shown, place)
        for index, place in zip(view.indices, region, strict=True)
        if index is not None
        for shown in (_shown(index, ranges),)
    )


def _shown(index: Expr, ranges: Mapping[Dim, Range]) -> Place | None:
    """The positions that an index takes, if they are a range or one position."""
    if index.is_Integer:
        return int(index)
    dim, shift = shifted(index)
    if dim not in ranges:
        return None
    return Range(dim, ranges[dim].start + shift, ranges[dim].stop + shift)


def shifted(index: Expr) -> tuple[Dim | None, int]:
    """A dim and a constant, if the index is their sum.

    >>> shifted(Dim("t") - 1)
    (t, -1)
    """
    dims = [d for d in index.free_symbols if isinstance(d, Dim)]
    if len(dims) != 1 or index.atoms(Array):
        return None, 0
    shift = index - dims[0]
    return (dims[0], int(shift)) if shift.is_Integer else (None, 0)


def overlap(a: Place, b: Place) -> bool:
    """Whether two places have a position in common."""
    (a0, a1), (b0, b1) = ((p, p + 1) if isinstance(p, int) else (p.start, p.stop) for p in (a, b))
    return a0 < b1 and b0 < a1
