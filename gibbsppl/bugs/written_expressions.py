"""Expressions of the model as expressions of a BUGS program.

Positions count from 0 in the model, and from 1 in the program. A sum over a dimension, and any
other vector that an expression needs whole, becomes an auxiliary array, computed by a line with
``<-`` beside the reading line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.exact_numbers import nearest_float
from gibbsppl.algebra.expressions import (
    Binder,
    Dim,
    Expr,
    Greatest,
    InverseEntry,
    Leaf,
    Least,
    LogDet,
    Over,
    Times,
    dims_of,
)
from gibbsppl.algebra.functions import (
    FUNCTIONS,
    LogGammaP,
)
from gibbsppl.algebra.ranges import Range, range_of
from gibbsppl.algebra.recursions import Earlier, Own, Recursion, System
from gibbsppl.bugs.syntax import (
    Assignment,
    Call,
    Expression,
    Loop,
    Number,
    Operation,
    Reference,
    Statement,
)
from gibbsppl.errors import ModelError, told_of
from gibbsppl.model.graph import Graph

# The names in the program of the model's arrays and quantities, dims and recursive arrays.
Names = dict[str | Dim | Own, str]


def call(function: str, *arguments: Expression) -> Call:
    """A function of some arguments."""
    return Call(function, arguments)


def operation(operator: str, *operands: Expression) -> Operation:
    """An operator between operands."""
    return Operation(operator, operands)


def number(value: Expr | float) -> Expression:
    """A number; a fraction stays one."""
    value = sp.sympify(value)
    if isinstance(value, sp.Rational) and not value.is_Integer:
        above, below = number(value.p), number(value.q)
        short = sp.Rational(repr(float(value)))
        return number(sp.Float(value)) if short == value else operation("/", above, below)
    if value < 0:
        return operation("-", number(-value))
    return Number(nearest_float(value))


def span(start: int, stop: int) -> Expression:
    """The positions from ``start`` on, before ``stop``, both counted from 0."""
    return operation(":", number(start + 1), number(stop))


_FOLDS: Mapping[type[Expr], str] = MappingProxyType(
    {Over: "sum", Times: "prod", Greatest: "max", Least: "min"}
)


@dataclass(eq=False)
class Expressions:
    """Writes the expressions of one line, whose loops go along the dims of ``ranges``.

    ``names``: model's name -> program's name. ``beside`` collects auxiliary lines that give arrays
    for the expressions, ``read`` the arrays of the model in use, ``systems`` the recursions in use;
    ``fresh`` makes a name for an auxiliary array.
    """

    graph: Graph
    names: Names
    ranges: tuple[Range, ...]
    fresh: Callable[[str], str]
    owner: str
    beside: list[Statement] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    systems: dict[System, None] = field(default_factory=dict)

    def written(self, expr: Expr) -> Expression:
        """An expression of the program, which may read auxiliary arrays."""
        expr = sp.sympify(expr)
        if isinstance(expr, Leaf):
            return self._element(expr)
        if isinstance(expr, Earlier | Recursion):
            return Reference(self._array(expr), tuple(map(self.index, expr.indices)) or None)
        if isinstance(expr, Binder):
            return self._folded(expr)
        if isinstance(expr, Dim):
            return operation("-", self.variable(expr), number(1))
        if expr.is_Number:
            with told_of(self.owner, ModelError):
                return number(expr)
        if expr is sp.pi:
            return number(sp.pi.evalf(17))
        if isinstance(expr, sp.Add):
            return self._sum(expr)
        if isinstance(expr, sp.Mul):
            return self._product(expr)
        if isinstance(expr, sp.Pow):
            return self._power(expr)
        return self._function(expr)

    def variable(self, dim: Dim) -> Expression:
        """The variable of the loop along a dim."""
        return Reference(self._loop(dim))

    def _loop(self, dim: Dim) -> str:
        """The name of the loop variable along a dim; copies of a dim have separate names."""
        if dim not in self.names:
            self.names[dim] = self.fresh(self.names[Dim(root_of(dim))])
        return self.names[dim]

    def index(self, expr: Expr) -> Expression:
        """An index: one more than a position."""
        if isinstance(expr, Dim):
            return self.variable(expr)
        if isinstance(expr, Leaf):  # (its values are positions, from 1 on in the program)
            return self._plain(expr)
        shift, rest = expr.as_coeff_Add()
        if isinstance(rest, Dim):
            step = self.variable(rest)
            return operation("+" if shift > 0 else "-", step, number(abs(shift)))
        if isinstance(rest, Leaf):
            return operation("+" if shift > 0 else "-", self._plain(rest), number(abs(shift)))
        return self.written(expr + 1)

    def _plain(self, leaf: Leaf) -> Expression:
        indices = tuple(map(self.index, leaf.indices))
        return Reference(self._array(leaf), indices or None)

    def _array(self, element: Leaf | Earlier | Recursion) -> str:
        """The name of the array of an element, which the program has to have."""
        if isinstance(element, Leaf):
            self.read.add(element.array.name)
            return self.names[element.array.name]
        if isinstance(element, Recursion):
            assert not element.outer  # (an array is declared with all dims that its steps read)
            self.systems.setdefault(element.system)
        own = element.own
        if own not in self.names:
            self.names[own] = self.fresh(own.name)
        return self.names[own]

    def _element(self, leaf: Leaf) -> Expression:
        """An element; of an array of labels or positions one less than in the program."""
        found = self._plain(leaf)
        of = self.graph.variables[leaf.array.name].of
        return found if of is None else operation("-", found, number(1))

    def _sum(self, expr: Expr) -> Expression:
        terms = sorted(expr.as_ordered_terms(), key=_is_negative)
        found = self.written(terms[0])
        for term in terms[1:]:
            if _is_negative(term):
                found = operation("-", found, self.written(-term))
            else:
                found = operation("+", found, self.written(term))
        return found

    def _product(self, expr: Expr) -> Expression:
        if _is_negative(expr):
            return operation("-", self.written(-expr))
        factors = expr.as_ordered_factors()
        above = [f for f in factors if not _is_below(f)]
        below = [1 / f for f in factors if _is_below(f)]
        rational = [f for f in above if isinstance(f, sp.Rational) and not f.is_Integer]
        for r in rational:
            above = [f for f in above if f is not r] + ([sp.Integer(r.p)] if r.p != 1 else [])
            below.append(sp.Integer(r.q))
        found = self._times(above) if above else number(1)
        for f in below:
            found = operation("/", found, self.written(f))
        return found

    def _times(self, factors: list[Expr]) -> Expression:
        found = self.written(factors[0])
        for f in factors[1:]:
            found = operation("*", found, self.written(f))
        return found

    def _power(self, expr: Expr) -> Expression:
        base, exponent = expr.args
        if exponent == sp.Rational(1, 2):
            return call("sqrt", self.written(base))
        if _is_below(expr):
            return operation("/", number(1), self.written(base**-exponent))
        return call("pow", self.written(base), self.written(exponent))

    def _function(self, expr: Expr) -> Expression:
        row = FUNCTIONS.get(expr.func)
        if isinstance(expr, sp.exp) and isinstance(expr.args[0], LogGammaP):
            return call("gammap", *map(self.written, expr.args[0].args))
        if row is not None and row.bugs:
            write = operation if row.relation else call
            return write(row.bugs, *map(self.written, expr.args))
        if row is not None and row.in_full is not None:
            return self.written(row.in_full(*expr.args))
        raise ModelError(
            f"{self.owner}: {expr.func.__name__} has no name in the language of BUGS; write the "
            "model without it."
        )

    # -- arrays that are read whole --

    def _folded(self, expr: Binder) -> Expression:
        if type(expr) in _FOLDS:
            along = range_of(expr, self.graph.sizes)
            pair = self._inner(expr.body, along) if isinstance(expr, Over) else None
            if pair is not None:
                return call("inprod", *pair)
            return call(_FOLDS[type(expr)], self.whole(expr.body, (along,)))
        if isinstance(expr, LogDet):
            return call("logdet", self.whole(expr.body, self._full(expr.bound)))
        if isinstance(expr, InverseEntry):
            return self._of_inverse(expr)
        raise ModelError(
            f"{self.owner}: {expr.symbol} has no name in the language of BUGS; write the model "
            "without it."
        )

    def _full(self, dims: tuple[Dim, ...]) -> tuple[Range, ...]:
        return tuple(Range(d, 0, self.graph.sizes[Dim(root_of(d))]) for d in dims)

    def _of_inverse(self, expr: InverseEntry) -> Expression:
        """An element of the inverse of a matrix, which becomes an auxiliary array."""
        along = self._full(expr.bound)
        matrix = self.whole(expr.body, along)
        outer = self._outer(dims_of(expr.body) - set(expr.bound))
        name = self.fresh("inverse")
        spans = tuple(span(r.start, r.stop) for r in along)
        target = Reference(name, (*(self.variable(r.dim) for r in outer), *spans))
        self._beside(outer, Assignment(target, None, call("inverse", matrix)))
        entries = tuple(map(self.index, expr.args[3:]))
        return Reference(name, (*(self.variable(r.dim) for r in outer), *entries))

    def _inner(self, body: Expr, along: Range) -> tuple[Expression, Expression] | None:
        """Two vectors of which a sum is the inner product."""
        factors = body.as_ordered_factors()
        found = [self._slice(f, (along,)) for f in factors]
        pair = tuple(f for f in found if f is not None)
        return (pair[0], pair[1]) if len(factors) == len(pair) == 2 else None

    def whole(self, expr: Expr, along: tuple[Range, ...], name: str = "term") -> Expression:
        """All values of an expression along some ranges, as a vector or a matrix.

        ``name`` is for the auxiliary array of an expression that is not an array already.
        """
        found = self._slice(expr, along)
        if found is not None:
            return found
        outer = self._outer(dims_of(expr) - {r.dim for r in along})
        name = self.fresh(name)
        inner = replace(self, ranges=(*outer, *along))
        every = (*outer, *along)
        target = Reference(name, tuple(self.variable(r.dim) for r in every))
        self._beside(every, Assignment(target, None, inner.written(expr)))
        spans = tuple(span(r.start, r.stop) for r in along)
        return Reference(name, (*(self.variable(r.dim) for r in outer), *spans))

    def _slice(self, expr: Expr, along: tuple[Range, ...]) -> Expression | None:
        """An array itself, if an expression is its elements in order."""
        if not isinstance(expr, Leaf | Earlier | Recursion):
            return None
        if isinstance(expr, Leaf) and self.graph.variables[expr.array.name].of is not None:
            return None
        dims = [r.dim for r in along]
        own = [i for i in expr.indices if isinstance(i, Dim) and i in dims]
        others = {d for i in expr.indices if i not in dims for d in dims_of(i)}
        if own != dims or others & set(dims):
            return None
        ranges: dict[Expr, Range] = {r.dim: r for r in along}
        indices = tuple(
            span(ranges[i].start, ranges[i].stop) if i in ranges else self.index(i)
            for i in expr.indices
        )
        return Reference(self._array(expr), indices)

    def _outer(self, used: set[Dim]) -> tuple[Range, ...]:
        """The ranges around the line, limited to the dims in use."""
        return tuple(r for r in self.ranges if r.dim in used)

    def _beside(self, ranges: tuple[Range, ...], line: Statement) -> None:
        for r in reversed(ranges):
            line = self.loop(r, (line,))
        self.beside.append(line)

    def loop(self, along: Range, body: tuple[Statement, ...]) -> Loop:
        """A loop along a range."""
        return Loop(self._loop(along.dim), span(along.start, along.stop), body)


def _is_negative(term: Expr) -> bool:
    return bool(term.as_coeff_Mul()[0] < 0)


def _is_below(factor: Expr) -> bool:
    """Whether a factor is written below the line of a fraction."""
    return isinstance(factor, sp.Pow) and _is_negative(factor.args[1])
