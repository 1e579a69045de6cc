"""Index notation: arrays, dimensions, sums over dimensions, as SymPy expressions.

Comes in: names. Goes out: scalar templates, one per statement, whatever the size of the data.

A **leaf** is one element of an array, ``Leaf(array, *indices)``; an index is a dimension, a
dimension plus a constant, a constant, or another leaf (a gather). ``Over(body, k)`` is the sum of
``body`` over dimension ``k``; it is opaque to SymPy's ``expand``. (SymPy's ``Indexed`` has no
scalars, and no assumptions on the array, without which logarithms of products do not split.)

>>> U, V, user = Array("U"), Array("V"), Array("user")
>>> i, k = Dim("i"), Dim("k")
>>> Over(U[user[i], k] * V[i, k], k)
sum(U[user[i], k]*V[i, k], k)
>>> dims_of(Over(U[user[i], k] * V[i, k], k))
{i}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Self, TypeAlias, overload

import sympy as sp
from sympy.printing.str import StrPrinter

from gibbsppl.algebra.copies import copies_of

Expr: TypeAlias = sp.Expr
Operand: TypeAlias = sp.Expr | int | float
# (a mapping from leaves counts as none from expressions, though it may stand for one)
Replacements: TypeAlias = Mapping[Any, Expr]


class Dim(sp.Symbol):
    """A named dimension, used as an index; as a number it is the position along the dimension."""

    __slots__ = ()

    def __new__(cls, name: str, **_: bool | None) -> Self:
        return super().__new__(cls, name, nonnegative=True)


class Size(sp.Symbol):
    """The number of positions of a dimension: what a sum of ones along it is.

    A coefficient that counts positions keeps the name of the dimension: it holds for other data.

    >>> Size("rat") * Array("tau")[()] / 2
    |rat|*tau/2
    """

    __slots__ = ()

    def __new__(cls, name: str, **_: bool | None) -> Self:
        return super().__new__(cls, name, integer=True, positive=True)

    def _sympystr(self, printer: StrPrinter) -> str:
        del printer
        return f"|{self.name}|"


class Array(sp.Symbol):
    """The name of an array; its assumptions (``positive``, ``nonnegative``) hold of each element.

    So do its ``bounds``, two numbers.

    >>> Array("x")[Dim("t") - 1], Array("tau", positive=True)[()]
    (x[t - 1], tau)
    >>> p = Array("p", bounds=(0, 1), positive=True)
    >>> p == Array("p", positive=True), p.renamed("q").bounds
    (False, (0, 1))
    """

    __slots__ = ("bounds",)

    bounds: tuple[Expr, Expr]

    def __new__(
        cls,
        name: str,
        bounds: tuple[Operand, Operand] = (-sp.oo, sp.oo),
        **assumptions: bool | None,
    ) -> Self:
        assumptions = assumptions or {"real": True}
        cls._sanitize(assumptions, cls)
        made = sp.Symbol.__xnew__(cls, name, **assumptions)
        lower, upper = map(sp.sympify, bounds)
        made.bounds = sp.Max(lower, 0) if made.is_nonnegative else lower, upper
        return made

    def renamed(self, name: str) -> Array:
        """The array of another name of which the same is known."""
        return Array(name, self.bounds, **self._assumptions_orig)

    def _hashable_content(self) -> tuple[object, ...]:
        return (*super()._hashable_content(), *self.bounds)

    def __getnewargs_ex__(
        self,
    ) -> tuple[tuple[str, tuple[Expr, Expr]], dict[str, bool | None]]:
        return (self.name, self.bounds), self._assumptions_orig

    def __getitem__(self, indices: Operand | tuple[Operand, ...]) -> Leaf:
        return Leaf(self, *(indices if isinstance(indices, tuple) else (indices,)))

    # An array has elements but is no sequence of them: SymPy must not try to iterate over it.
    __iter__ = None


class Leaf(sp.Expr):
    """One element of an array."""

    args: tuple[Array, *tuple[Expr, ...]]
    is_commutative = True
    _diff_wrt = True

    def __new__(cls, array: Array, *indices: Operand) -> Self:
        return super().__new__(cls, array, *map(sp.sympify, indices))

    @property
    def array(self) -> Array:
        """The array that the element is of."""
        return self.args[0]

    @property
    def indices(self) -> tuple[Expr, ...]:
        """One index expression per axis of the array."""
        return self.args[1:]

    @property
    def own_dims(self) -> tuple[Dim, ...]:
        """The indices, of an element at the dims of its array."""
        return self.indices  # type: ignore[return-value]

    def _eval_is_positive(self) -> bool | None:
        return self.args[0].is_positive

    def _eval_is_nonnegative(self) -> bool | None:
        return self.args[0].is_nonnegative

    def _eval_is_extended_real(self) -> bool:
        return True

    def _eval_is_real(self) -> bool:
        return True

    def _sympystr(self, printer: StrPrinter) -> str:
        name, *indices = map(printer.doprint, self.args)
        return f"{name}[{', '.join(indices)}]" if indices else str(name)


def array_of(name: str, *, is_positive: bool) -> Array:
    """An array of positive numbers, or of any."""
    return Array(name, positive=True) if is_positive else Array(name)


class Binder(sp.Expr):
    """An expression whose first argument is read for all positions of its bound dimensions."""

    is_commutative = True
    binds = 1

    @property
    def body(self) -> Expr:
        """The expression under the binder."""
        return self.args[0]

    @property
    def bound(self) -> tuple[Dim, ...]:
        """The dimensions that the binder binds."""
        return self.args[1 : 1 + self.binds]  # type: ignore[return-value]

    @property
    def free_symbols(self) -> set[sp.Symbol]:
        """The symbols of the body that are not bound, and those of the entries asked for."""
        rest = (a.free_symbols for a in self.args[1 + self.binds :])
        return (self.body.free_symbols - set(self.bound)).union(*rest)

    def _eval_is_extended_real(self) -> bool:
        return True

    def _sympystr(self, printer: StrPrinter) -> str:
        return f"{self.symbol}({', '.join(map(printer.doprint, self.args))})"

    symbol = "binder"


class Over(Binder):
    """``Over(body, k)``: the sum of the body over dimension ``k``.

    ``Over(body, k, start, stop)`` is the sum over the positions ``start .. stop - 1`` alone: the
    sum keeps its region in every pass, without the statement that it came from.
    """

    symbol = "sum"

    def __new__(cls, body: Operand, dim: Dim, *bounds: Operand) -> Expr:  # type: ignore[misc]
        body = sp.sympify(body)
        if body == 0:
            return sp.S.Zero
        return super().__new__(cls, body, dim, *map(sp.Integer, bounds))

    def _eval_is_positive(self) -> bool | None:
        return True if self.body.is_positive else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.body.is_nonnegative else None


class Times(Binder):
    """``Times(body, k)``: the product of the body over dimension ``k``."""

    symbol = "prod"

    def _eval_is_positive(self) -> bool | None:
        return True if self.body.is_positive else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.body.is_nonnegative else None


class Extreme(Binder):
    """The largest or the smallest value of the body over positions of the bound dim."""

    def _eval_is_positive(self) -> bool | None:
        return True if self.body.is_positive else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.body.is_nonnegative else None


class Greatest(Extreme):
    """``Greatest(body, k, start, stop)``: the largest value of the body over positions of k."""

    symbol = "max"


class Least(Extreme):
    """``Least(body, k, start, stop)``: the smallest value of the body over positions of k."""

    symbol = "min"


class LogDet(Binder):
    """``LogDet(body, k, l)``: the log determinant of the positive definite matrix over k, l."""

    symbol = "logdet"
    binds = 2


class InverseEntry(Binder):
    """``InverseEntry(body, k, l, i, j)``: entry (i, j) of the inverse of the matrix over k, l."""

    symbol = "inverse"
    binds = 2


@overload
def substitute(expr: Leaf, replacements: Mapping[Dim, Expr]) -> Leaf: ...
@overload
def substitute(expr: Expr, replacements: Replacements) -> Expr: ...
def substitute(expr: Expr, replacements: Replacements) -> Expr:
    """The expression with leaves or dims replaced, bound dims left alone and never captured.

    >>> A, b, k, l = Array("A"), Array("b"), Dim("k"), Dim("l")
    >>> substitute(Over(A[k, l] * b[l], l), {k: l})
    sum(b[l₁]*A[l, l₁], l₁)
    >>> one, two, C = Dim("k₁"), Dim("k₂"), Array("C")
    >>> substitute(Over(Over(C[k, one, two], two), one), {k: one})
    sum(sum(C[k₁, k₂, k₃], k₃), k₂)
    """
    if not replacements:
        return expr
    if expr in replacements:
        return replacements[expr]
    if isinstance(expr, Binder):
        return _substitute_under(expr, replacements)
    if not expr.args or isinstance(expr, sp.Symbol):
        return expr
    args = tuple(substitute(a, replacements) for a in expr.args)
    return expr if args == expr.args else expr.func(*args)


def _substitute_under(expr: Binder, replacements: Replacements) -> Expr:
    inner = {k: v for k, v in replacements.items() if not set(expr.bound) & k.free_symbols}
    incoming = set().union(*(v.free_symbols for v in inner.values())) if inner else set()
    taken = incoming.union(expr.body.free_symbols, *(k.free_symbols for k in inner))
    renamed = copies_of((d for d in expr.bound if d in incoming), taken.union(expr.bound))
    body = substitute(substitute(expr.body, renamed), inner)
    rest = (substitute(a, replacements) for a in expr.args[1 + expr.binds :])
    return expr.func(body, *(renamed.get(d, d) for d in expr.bound), *rest)


def renamed_apart(expr: Expr, taken: Iterable[sp.Symbol]) -> Expr:
    """The expression with bound dims renamed where the name is taken.

    >>> x, t = Array("x"), Dim("t")
    >>> renamed_apart(Over(x[t], t) * x[t], {t})
    x[t]*sum(x[t₁], t₁)
    """
    if not expr.has(Binder):
        return expr
    taken = set(taken)
    args = tuple(renamed_apart(a, taken) if isinstance(a, sp.Expr) else a for a in expr.args)
    if isinstance(expr, Binder):
        clashing = (d for d in expr.bound if d in taken)
        names = copies_of(clashing, {*taken, *expr.bound, *args[0].free_symbols})
        bound = (names.get(d, d) for d in expr.bound)
        return expr.func(substitute(args[0], names), *bound, *args[1 + expr.binds :])
    return expr if args == expr.args else expr.func(*args)


def dims_of(expr: sp.Basic) -> set[Dim]:
    """The free dimensions of an expression, without bound ones."""
    return {s for s in expr.free_symbols if isinstance(s, Dim)}


def leaves_of(expr: sp.Basic, arrays: Iterable[str] | None = None) -> set[Leaf]:
    """All leaves in an expression (those inside indices included), of the arrays named if any."""
    found = expr.atoms(Leaf)
    if arrays is None:
        return found
    wanted = set(arrays)
    return {a for a in found if a.array.name in wanted}


@lru_cache(maxsize=2**14)
def arrays_in(expr: sp.Basic) -> frozenset[str]:
    """The arrays that an expression reads, looked for in each part once."""
    own = frozenset((expr.name,) if isinstance(expr, Array) else ())
    return own.union(*map(arrays_in, expr.args))


def mentions(expr: sp.Basic, arrays: Iterable[str]) -> bool:
    """Whether an expression reads any of the arrays named."""
    return not arrays_in(expr).isdisjoint(arrays)
