"""A log density, split into pieces: coefficient times statistic of the target, summed over dims.

Comes in: a scalar template and the names of the target arrays. Goes out: `Piece` values. The way:
*cut* (each largest part free of the targets becomes one leaf, so that expansion costs nothing
there), *open* (``Over(f(k), k)**2`` is ``f(k₁) f(k₂)``), expand, collect, restore.

>>> y, a, tau = Array("y"), Array("a"), Array("tau", positive=True)
>>> i, g = Dim("i"), Array("g")
>>> normal = sp.log(tau[()]) / 2 - tau[()] * (y[i] - a[g[i]]) ** 2 / 2
>>> for piece in split("y", normal, (Range(i, 0, 9),), {"a"}, {}):
...     print(piece)
y: a[g[i]]**2 * (-tau/2), over i
y: a[g[i]] * (tau*y[i]), over i
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.bounds import inside
from gibbsppl.algebra.copies import copy_of, root_of
from gibbsppl.algebra.cuts import Cuts
from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    Expr,
    InverseEntry,
    Leaf,
    LogDet,
    Over,
    dims_of,
    mentions,
    renamed_apart,
    substitute,
)
from gibbsppl.algebra.identities import simplified
from gibbsppl.algebra.polynomials import MOST_KEPT, multiplied_out
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.graph import Factor, Statement
from gibbsppl.pieces.gates import NO_GATES, Binary, FrozenBinary, frozen, opened
from gibbsppl.pieces.logs import expand_logs, expand_power


@dataclass(frozen=True, slots=True)
class View:
    """An array as a factor reads it: one index expression per axis, ``None`` where all is read.

    The coefficient of a statistic is summed onto the element that the view shows: the pull-back.
    An index that is a dim of no enclosing range is one that a sum inside the statistic binds.
    """

    array: Array
    indices: tuple[Expr | None, ...]

    @property
    def read(self) -> tuple[Expr, ...]:
        """The indices, of a view without axes of which all is read."""
        return self.indices  # type: ignore[return-value]

    @property
    def leaf(self) -> Leaf:
        """The element that is seen, of a view without axes of which all is read."""
        return Leaf(self.array, *self.read)


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

    @property
    def value(self) -> Expr:
        """The term as one expression, exponentials along the same dims merged.

        Each alone may overflow where the product does not.
        """
        factors = Mul.make_args(self.coefficient * self.statistic)
        powers = {f: e for f in factors if (e := _exponent(f)) is not None}
        powers = powers if len(powers) > 1 else {}
        rest = Mul(*(f for f in factors if f not in powers))
        joined: list[Expr] = []
        for power in sorted(powers.values(), key=_width):
            within = [e for e in joined if dims_of(e) <= dims_of(power)]
            joined = [*(e for e in joined if e not in within), Add(power, *within)]
        return Mul(rest, *map(sp.exp, joined))

    @property
    def is_exponential_twice(self) -> bool:
        """Whether both the coefficient and the statistic have an exponential."""
        both = (Mul.make_args(e) for e in (self.coefficient, self.statistic))
        return all(any(_exponent(f) is not None for f in factors) for factors in both)


def _exponent(factor: Expr) -> Expr | None:
    """The exponent of an exponential; of a power, its own times the log of its base."""
    if isinstance(factor, sp.exp):
        return factor.args[0]
    if not isinstance(factor, sp.Pow) or factor.exp.is_number or not factor.base.is_positive:
        return None
    return factor.exp * sp.log(factor.base)


def _width(expr: Expr) -> tuple[int, str]:
    """The number of dims of an expression, and its text."""
    return len(dims_of(expr)), str(expr)


class Summed(sp.Function):
    """Marks a monomial as summed over a dim to which a sum has been opened.

    With the start and the stop of the sum, where these are not those of the dim.
    """

    args: tuple[Dim, *tuple[Expr, ...]]

    nargs = (1, 3)
    is_positive = True


def split(
    factor: str,
    log_density: Expr,
    over: tuple[Range, ...],
    targets: Collection[str],
    sizes: Mapping[Dim, int],
) -> tuple[Piece, ...]:
    """The log density as pieces; terms free of the targets are dropped."""
    found = _split(log_density, over, frozenset(targets))
    return tuple(
        Piece(factor, statistic, views, coefficient, over + _ranges(bound, sizes))
        for statistic, views, coefficient, bound in found
    )


@lru_cache(maxsize=MOST_KEPT)
def _split(
    log_density: Expr, over: tuple[Range, ...], targets: frozenset[str]
) -> tuple[tuple[Expr, tuple[View, ...], Expr, frozenset[Summed]], ...]:
    """Statistic, views, coefficient and bound dims of each piece, worked out once.

    Most factors are the same in all the graphs that a search for rewrites makes.
    """
    found, cuts = _collected(log_density, over, targets)
    return tuple(
        (cuts.restored(statistic), tuple(views_of(statistic, targets)), restored, bound)
        for (statistic, bound), coefficient in found.items()
        if statistic != 1 and (restored := _tidied(cuts.restored(coefficient))) != 0
    )


def rest_of(
    log_density: Expr,
    over: tuple[Range, ...],
    targets: Collection[str],
    sizes: Mapping[Dim, int],
    binary: Binary = NO_GATES,
) -> Expr:
    """The terms of a log density that hold no target: the terms dropped by `split`.

    Gates are taken out as they are for `pieces_of`: a choice between a target and something else
    leaves something else.
    """
    reduced = opened(simplified(log_density, targets), targets, binary, whole=True)
    found, cuts = _collected(reduced, over, targets)
    total = sp.S.Zero
    for (statistic, bound), coefficient in found.items():
        if statistic == 1:
            term = cuts.restored(coefficient)
            for r in _ranges(bound, sizes):
                term = Over(term, r.dim, r.start, r.stop)
            total += term
    return total


def _collected(
    log_density: Expr, over: tuple[Range, ...], targets: Collection[str]
) -> tuple[dict[tuple[Expr, frozenset[Summed]], Expr], Cuts]:
    """The coefficients by statistic and bound dims, with the parts that were cut out."""
    own = {r.dim for r in over}
    log_density = renamed_apart(log_density, own)
    cuts = Cuts()
    opener = _Opener(targets, own)
    density = opener.opened(expand_logs(cuts.cut(log_density, targets), targets))
    found: dict[tuple[Expr, frozenset[Summed]], Expr] = defaultdict(lambda: sp.S.Zero)
    for term in Add.make_args(_expanded(density, targets)):
        statistic, coefficient, bound = _parted(term, targets, own)
        found[statistic, bound] += coefficient
    return found, cuts


def _ranges(bound: Collection[Summed], sizes: Mapping[Dim, int]) -> tuple[Range, ...]:
    """The ranges of copies of dims: all positions of the dim, unless the mark has ends."""
    found = []
    for dim, *ends in sorted((mark.args for mark in bound), key=str):
        start, stop = map(int, ends or (0, sizes.get(Dim(root_of(dim)), 0)))
        found.append(Range(dim, start, stop))
    return tuple(found)


def pieces_of(
    factors: Iterable[Factor],
    statement: Statement,
    sizes: Mapping[Dim, int],
    binary: Binary = NO_GATES,
) -> tuple[Piece, ...]:
    """All pieces of the log joint density that mention a statement's array.

    ``binary`` names the arrays whose elements are 0 or 1.
    """
    targets = {statement.target.array.name}
    return tuple(
        chain.from_iterable(
            split(f.name, prepared(f, statement, binary), f.over, targets, sizes)
            for f in factors
        )
    )


def prepared(factor: Factor, statement: Statement, binary: Binary) -> Expr:
    """What a factor says of a statement's target: reduced, gates taken out, bounds added."""
    targets = {statement.target.array.name}
    counts = statement.support.is_discrete
    reduced = _reduced(factor.log_density, frozenset(targets), counts, frozen(binary))
    return reduced + support_indicators(factor, statement)


@lru_cache(maxsize=MOST_KEPT)
def _reduced(density: Expr, targets: frozenset[str], counts: bool, gates: FrozenBinary) -> Expr:
    """A log density, reduced, with gates out."""
    return opened(simplified(density, targets, counts=counts), targets, dict(gates))


def support_indicators(factor: Factor, statement: Statement) -> Expr:
    """The log indicators of a factor's support that a statement's target is subject to.

    ``y ~ Uniform(0, theta)`` tells theta that it is above y. The bounds of a target's own support
    are no terms, they are part of the match; but for elements that are bounds of others.
    """
    array = statement.target.array.name
    if not isinstance(factor, Statement):
        return sp.S.Zero
    support = factor.support
    own = factor.name == statement.name
    if own and not any(mentions(sp.sympify(b), (array,)) for b in (support.lower, support.upper)):
        return sp.S.Zero
    found = inside(factor.target, support, factor.event)
    return Add(*(sp.log(b) for b in found if mentions(b, (array,))))


class _Opener:
    """Opens sums that hold a target; each copy of a dim gets a name of its own."""

    def __init__(self, targets: Collection[str], own: Collection[Dim]) -> None:
        self.targets = targets
        self.taken = set(own)

    def opened(self, expr: Expr, is_factor: bool = False) -> Expr:
        """Over(f(k), k)**2 as f(k₁) * f(k₂), each copy marked as bound.

        A sum that is multiplied stays whole where no piece could be taken out of it.
        """
        if not mentions(expr, self.targets):
            return expr
        if isinstance(expr, Over):
            if is_factor and _is_whole(expr, self.targets):
                return expr
            (dim,) = expr.bound
            copy = copy_of(dim, self.taken)
            self.taken.add(copy)
            body = substitute(expr.body, {dim: copy})
            return Summed(copy, *expr.args[2:]) * self.opened(body, is_factor)
        if isinstance(expr, sp.Pow) and expr.has(Over) and expr.exp.is_Integer and expr.exp > 0:
            is_factor = is_factor or expr.exp != 1
            return Mul(*(self.opened(expr.base, is_factor) for _ in range(int(expr.exp))))
        if expr.is_Add:
            return Add(*(self.opened(a, is_factor) for a in expr.args))
        if expr.is_Mul:
            held = [a for a in expr.args if a.has(Over) and mentions(a, self.targets)]
            return Mul(*(self.opened(a, is_factor or len(held) > 1) for a in expr.args))
        return expr


def _is_whole(total: Over, targets: Collection[str]) -> bool:
    """Whether a sum over a dim is one statistic: the dim tells what is done, not what is read.

    Of ``Over(f(x, k), k)**2`` the terms ``f(x, k₁) f(x, k₂)`` are statistics of no family, and as
    many as the square of the dim; of ``Over(x[k] * w[k], k)**2`` each term is one of elements.
    """
    (dim,) = total.bound
    if any(dim in i.free_symbols for v in views_of(total.body, targets) for i in v.indices if i):
        return False
    terms = Add.make_args(_multiplied_out(expand_logs(total.body, targets), targets))
    held = (p for t in terms for p in Mul.make_args(t) if mentions(p, targets))
    return any(dim in dims_of(p) for p in held)


def _expanded(density: Expr, targets: Collection[str]) -> Expr:
    """The density multiplied out."""
    return _multiplied_out(expand_logs(_multiplied_out(density, targets), targets), targets)


def _multiplied_out(expr: Expr, targets: Collection[str]) -> Expr:
    """Products and powers of sums as sums; arguments of other functions are left as they are.

    A square inside a function stays a square: expanded, it would lose its digits far from zero.
    """
    if expr.is_Add:
        return Add(*(_multiplied_out(a, targets) for a in expr.args))
    if expr.is_Mul:
        return sp.expand_mul(Mul(*(_multiplied_out(a, targets) for a in expr.args)), deep=False)
    if isinstance(expr, sp.exp):
        return Mul(*(sp.exp(a) for a in Add.make_args(_multiplied_out(expr.args[0], targets))))
    if isinstance(expr, sp.Pow) and (expr.exp.is_number or expr.base.is_Mul):
        power = expand_power(sp.Pow(_multiplied_out(expr.base, targets), expr.exp), targets)
        if isinstance(power, sp.Pow):
            # (below a fraction nothing is collected, and a square loses its digits near zero)
            return sp.expand_multinomial(power, deep=False) if power.exp.is_positive else power
        return _multiplied_out(power, targets)
    return expr


def _parted(
    term: Expr, targets: Collection[str], own: Collection[Dim]
) -> tuple[Expr, Expr, frozenset[Summed]]:
    """Statistic, coefficient and bound dims of one monomial, its copies of dims named in order.

    Sums that stay inside bind dims of other names than the copies.
    """
    parts = Mul.make_args(term)
    marks = [p for p in parts if isinstance(p, Summed)]
    held = [p for p in parts if mentions(p, targets)]
    free = [p for p in parts if not isinstance(p, Summed) and p not in held]
    renamed = _in_order([m.args[0] for m in marks], Mul(*held), Mul(*free), own)
    statistic, coefficient = (
        renamed_apart(substitute(Mul(*ps), renamed), renamed.values()) for ps in (held, free)
    )
    return statistic, coefficient, frozenset(
        b for m in marks if isinstance(b := m.xreplace(renamed), Summed)
    )


def _in_order(
    marks: list[Dim], statistic: Expr, coefficient: Expr, own: Collection[Dim]
) -> dict[Dim, Dim]:
    """New names for bound dims, by root in order of appearance, so that equal monomials merge."""
    if not marks:
        return {}
    text = str(statistic) + "|" + str(coefficient)
    renamed: dict[Dim, Dim] = {}
    for dim in sorted(marks, key=lambda d: (text.find(d.name + "]") % (len(text) + 1), d.name)):
        root = Dim(root_of(dim))
        renamed[dim] = copy_of(root, (*own, *renamed.values()))
    return renamed


def _tidied(coefficient: Expr) -> Expr:
    """The coefficient with common factors taken out; zero if it is."""
    if not coefficient.is_Add:
        return coefficient
    if multiplied_out(coefficient) == 0:
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
        own = (entries.get(i, i) if isinstance(i, Dim) else i for i in leaf.indices)
        yield View(leaf.array, tuple(own))
    for i in leaf.indices:
        yield from _views(i, targets)
