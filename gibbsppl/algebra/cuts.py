"""Parts of an expression that are free of the targets, each named by one leaf.

Algebra on the rest (expanding, collecting) leaves the parts alone, however long they are.

>>> from gibbsppl.algebra.expressions import Array, Dim
>>> x, y, i = Array("x"), Array("y"), Dim("i")
>>> cuts = Cuts()
>>> short = cuts.cut((y[i] + 1) ** 2 * x[i], {"x"})
>>> short, cuts.restored(short)
(x[i]*·0[i], (y[i] + 1)**2*x[i])
"""

from __future__ import annotations

from collections.abc import Collection

from gibbsppl.algebra.expressions import (
    Binder,
    Dim,
    Expr,
    Leaf,
    array_of,
    dims_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.recursions import Recursion


class Cuts:
    """Names parts of expressions by a leaf each, and puts the parts back."""

    def __init__(self) -> None:
        self.names: dict[Expr, Leaf] = {}

    def cut(self, expr: Expr, targets: Collection[str]) -> Expr:
        """The expression with each largest part free of the targets named by one leaf."""
        if not mentions(expr, targets):
            return expr if expr.is_number or isinstance(expr, Leaf | Dim) else self._named(expr)
        if isinstance(expr, Leaf | Recursion):
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
            name = f"·{len(self.names)}"
            array = array_of(name, is_positive=bool(expr.is_positive))
            self.names[expr] = array[tuple(sorted(dims_of(expr), key=str))]
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
