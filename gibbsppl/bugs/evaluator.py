"""Expressions of a program at all positions of a space: known numbers, or formulas.

A *reader* gives the values of references: numbers of known arrays, or elements of random arrays.
Operators, functions and vectors are evaluated here. Loop variables and indices count from 1, as in
the program; formulas count positions from 0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
import sympy as sp

from gibbsppl.algebra.copies import copy_of
from gibbsppl.algebra.expressions import Dim, Expr, substitute
from gibbsppl.bugs.functions import LINKS, function
from gibbsppl.bugs.grids import Array, Grid, combined
from gibbsppl.bugs.printing import text_of_expression as text
from gibbsppl.bugs.ragged_lengths import (
    by_lengths,
    is_whole,
    lengths_between,
    number_of,
    varying,
    whole,
    with_ends,
)  # fmt: skip
from gibbsppl.bugs.relations import Space
from gibbsppl.bugs.rows import SHAPES, Function, Template, Unsupported
from gibbsppl.bugs.syntax import (
    Assignment,
    Call,
    Everything,
    Expression,
    Number,
    Operation,
    Program,
    Reference,
    Statement,
    is_polynomial,
)
from gibbsppl.bugs.values import (
    Formula,
    Known,
    Value,
    length_mask,
    lengths_of,
    map_values,
    renamed,
    side_by_side,
)

UNKNOWN = Grid((), np.zeros(()), np.zeros((), dtype=bool))


class Reader(Protocol):
    """The meaning of references, and numbers as expressions."""

    def reference(
        self, ref: Reference, indices: tuple[Value, ...] | None, within: Evaluator
    ) -> Value:
        """The value of a reference with its indices (those without brackets have none)."""

    def shape(self, name: str) -> tuple[int, ...] | None:
        """The shape of an array, once it is known."""

    def axis(self, count: int, of: tuple[str, int] | None = None) -> Dim:
        """A dim for the positions of a vector, or all of an axis of an array."""

    def size(self, dim: Dim) -> int:
        """The number of positions along such a dim."""

    def has(self, dim: Dim) -> bool:
        """Whether a dim is known."""

    def expr_of(self, value: Known, space: Space) -> Expr:
        """An expression that reads known numbers."""


class Evaluator:
    """Evaluates the expressions of one line at all positions of a space.

    Vectors have at least ``longest`` positions; shorter vectors, and vectors of different lengths,
    carry their lengths. ``goes_on``: ranges need not repeat their last number beyond the end, if
    the array has other elements to read there.
    """

    def __init__(
        self,
        program: Program,
        reader: Reader,
        space: Space,
        *,
        longest: int = 0,
        goes_on: bool = False,
    ) -> None:
        self.program, self.reader, self.space = program, reader, space
        self.longest, self.goes_on = longest, goes_on

    def within(self, *, longest: int = 0, goes_on: bool = False) -> Evaluator:
        """An evaluator of a part of an expression, which may ask something else of vectors."""
        return Evaluator(self.program, self.reader, self.space, longest=longest, goes_on=goes_on)

    def value(self, expression: Expression) -> Value:
        """The value of an expression: a number, a vector or a matrix, at each position."""
        match expression:
            case Number(value=number):
                return Known(Grid.of(number), text=text(expression))
            case Reference():
                return self._reference(expression)
            case Operation(operator=":", operands=(first, last)):
                return self._range(expression, first, last)
            case Operation(operator=name, operands=arguments):
                return self._called(name, expression, arguments)
            case Call(function=name, arguments=arguments):
                return self._called(name, expression, arguments)
            case Everything():
                raise self.error(expression, "nothing here; expected an expression.")
        raise AssertionError(expression)

    def number(self, expression: Expression) -> Value:
        """An expression that is one number at each position."""
        found = self.value(expression)
        if found.axes:
            raise self.error(
                expression,
                f"{text(expression)} is a vector or a matrix; expected a number: index it, or sum "
                "it up.",
            )
        return found

    def expr(self, value: Value) -> Expr:
        """A value as an expression."""
        return value.expr if isinstance(value, Formula) else self.reader.expr_of(value, self.space)

    def indices(self, ref: Reference, shape: tuple[int, ...] | None) -> tuple[Value, ...]:
        """The indices of a reference to an array, whose shape may not be known yet."""
        assert ref.indices is not None
        if shape is not None and len(shape) != len(ref.indices):
            raise self.error(
                ref,
                f"{ref.name} has {len(shape)} axes, found {len(ref.indices)} indices; write one "
                "for each (an empty one is all positions).",
            )
        sizes = shape or (None,) * len(ref.indices)
        return tuple(self.index(ref, n, s) for n, s in enumerate(sizes))

    def index(self, ref: Reference, axis: int, size: int | None) -> Value:
        """One index of a reference; an empty one is all positions."""
        assert ref.indices is not None
        given = ref.indices[axis]
        if isinstance(given, Everything):
            if size is None:
                raise self.error(ref, f"the size of {ref.name} is not known; declare it with var.")
            return self._positions(1, size, (ref.name, axis))
        value = self.value(given)
        if not isinstance(value, Known) or size is None or not is_whole(value, size):
            return value
        if value.lengths:
            own = free(self.reader.axis(size, (ref.name, axis)), set(self.space.used))
            return renamed(value, {value.axes[0]: own})
        return self._positions(1, size, (ref.name, axis))

    def error(self, where: Expression | Statement, message: str) -> Exception:
        """An error at a place of the program."""
        return self.program.error(where.at, message)

    def _reference(self, ref: Reference) -> Value:
        if ref.indices is None and ref.name in self.space.loops:
            return Known(self.space.loops[ref.name], text=ref.name)
        shape = self.reader.shape(ref.name)
        if ref.indices is None and not shape:
            return self.reader.reference(ref, None, self)
        if ref.indices is None:  # (the name of an array alone is all of it)
            ref = replace(ref, indices=(Everything(ref.at),) * len(shape or ()))
        found = self.within(longest=self.longest).indices(ref, shape)
        for axis, index in enumerate(found):
            self._check_not_empty(ref, axis, index)
        return self.reader.reference(ref, self._apart(found), self)

    def _check_not_empty(self, ref: Reference, axis: int, index: Value) -> None:
        """Refuse a range without an element: it has none, or a shorter one at some positions."""
        assert ref.indices is not None
        if not self.space.size or not isinstance(index, Known) or not index.is_known:
            return
        empty = [g.values == 0 for g in index.lengths.values()] or [not index.grid.values.size]
        if not any(map(np.any, empty)):
            return
        where, advice = "", ""
        if index.lengths:
            (length,) = index.lengths.values()
            first = int(np.argmax(self.space.rows(length) == 0))
            loops = (f"{n} is {self.space.rows(g)[first]}" for n, g in self.space.loops.items())
            where = f" where {' and '.join(loops)}"
            advice = ": let the loop start where there is one"
        raise self.error(
            ref,
            f"index {axis + 1} of {ref.name}, {text(ref.indices[axis])}, has no element{where}; "
            f"expected one or more{advice}.",
        )

    def _apart(self, indices: tuple[Value, ...]) -> tuple[Value, ...]:
        """Indices whose axes are different ones."""
        taken = set(self.space.used)
        found = []
        for value in indices:
            names = {a: free(a, taken) for a in value.axes}
            found.append(renamed(value, names))
            taken |= set(names.values())
        return tuple(found)

    def _range(self, where: Expression, first: Expression, last: Expression) -> Value:
        """Whole numbers in a row."""
        numbers = self.within()
        ends = tuple(map(numbers.number, (first, last)))
        grids = [e.grid for e in ends if isinstance(e, Known)]
        if len(grids) < len(ends):
            raise self.error(where, "the ends of a range are random; expected numbers, or data.")
        if not all(g.is_known for g in grids):
            return Known(UNKNOWN)
        low, high = (whole(Grid(g.dims, g.values)).reduced() for g in grids)
        count = combined(lambda a, b: np.maximum(b - a + 1.0, 0.0), low, high).values
        self.program.check_size(where.at, "a range", count.max(initial=0.0) * max(count.size, 1))
        if not low.dims and not high.dims:
            return self._positions(int(low.values), int(high.values))
        return self._varying(low, high)

    def _positions(self, first: int, last: int, of: tuple[str, int] | None = None) -> Known:
        count = max(last - first + 1, 0)
        if 0 < count < self.longest:
            return self._varying(Grid.of(first), Grid.of(last))
        axis = self.reader.axis(count, of)
        return Known(Grid((axis,), np.arange(first, first + count)), (axis,))

    def _varying(self, low: Grid, high: Grid) -> Known:
        lengths = lengths_between(low, high)
        count = max(int(lengths.values.max(initial=0)), self.longest)
        axis = free(self.reader.axis(count), set(self.space.used))
        return varying(low, high, lengths, axis, count)

    def vector(self, expression: Expression) -> Grid | None:
        """The known numbers of a vector along the last axis; unknown beyond the vector's end.

        None while the vector is not known.
        """
        found = self.value(expression)
        if isinstance(found, Known) and not found.is_known:
            return None
        if len(found.axes) != 1:
            raise self.error(expression, f"{text(expression)} is no range; expected one, as 1:N.")
        if isinstance(found, Formula):
            return None
        return with_ends(found)

    def assigned(self, line: Assignment) -> Value:
        """The value that a line with ``<-`` gives, its link undone."""
        value = self.value(line.value)
        if line.link is None:
            return value
        return self._of_numbers(line, LINKS[line.link], (value,))

    def size(self, axis: Dim, value: Value) -> int:
        """The number of positions along an axis of a value."""
        if isinstance(value, Known) and axis in value.grid.dims:
            return int(value.grid.values.shape[value.grid.dims.index(axis)])
        return self.reader.size(axis)

    def _called(self, name: str, where: Expression, arguments: tuple[Expression, ...]) -> Value:
        row = function(name, len(arguments))
        if isinstance(row, Unsupported):
            raise self.error(where, row.message)
        if not row.of_arrays:
            return self._of_numbers(where, row, tuple(map(self.value, arguments)))
        goes_on = row.is_fold and not row.may_repeat and all(map(is_polynomial, arguments))
        inner = self.within(goes_on=goes_on)
        values = tuple(map(inner.value, arguments))
        if any(isinstance(v, Known) and not v.is_known for v in values):
            return Known(UNKNOWN)
        known = tuple(v for v in values if isinstance(v, Known))
        if len(known) == len(values):
            return self._of_known_arrays(row, known, where)
        return self._of_arrays(row, values, where)

    def _of_numbers(
        self, where: Expression | Assignment, row: Function, values: tuple[Value, ...]
    ) -> Value:
        """A function of numbers, position by position; of vectors of one shape entry by entry."""
        beside = side_by_side(values)
        sizes = {self._sizes(v) for v in values if v.axes}
        if beside is None or len(sizes - {None}) > 1:
            raise self.error(where, f"{row.names[0]} is of vectors of different shapes.")
        values, like = beside
        symbolic = row.symbolic
        if symbolic is None:
            if any(isinstance(v, Formula) for v in values):
                raise self.error(where, f"{row.names[0]} of random variables: {row.reason}.")
            symbolic = _of_no_expression
        told = "" if isinstance(where, Assignment) else text(where)
        return map_values(row.of_numbers, symbolic, values, like, self.expr, told)

    def _of_known_arrays(
        self, row: Function, values: tuple[Known, ...], where: Expression
    ) -> Value:
        """A function of vectors and matrices of numbers: their own axes are the last ones."""
        counts = tuple(len(v.axes) for v in values)
        dims = tuple(dict.fromkeys(d for v in values for d in v.grid.dims if d not in v.axes))
        taken = {*self.space.used, *dims}

        def numeric(*arrays: Array) -> Array:
            return row.of_numbers(*arrays, axes=counts)

        def axis(size: int) -> Dim:
            found = free(self.reader.axis(size), taken)
            taken.add(found)
            return found

        lengths = lengths_of(values)
        try:
            with np.errstate(all="ignore"):
                if lengths:
                    given = [(v.grid, v.axes) for v in values]
                    grid, axes, own = by_lengths(numeric, given, lengths, axis)
                    return Known(grid, axes, text(where), lengths=own)
                found = np.asarray(numeric(*(v.grid.along((*dims, *v.axes)) for v in values)))
        except (ValueError, IndexError, np.linalg.LinAlgError) as error:
            raise self._undefined(where, row, values, error) from None
        axes = tuple(map(axis, found.shape[len(dims) :]))
        return Known(Grid((*dims, *axes), found), axes, text(where))

    def _of_arrays(self, row: Function, values: tuple[Value, ...], where: Expression) -> Value:
        """A function of vectors and matrices of random variables."""
        if row.symbolic is None:
            raise self.error(where, f"{row.names[0]} of random variables: {row.reason}.")
        if not row.is_fold and lengths_of(values):
            raise self.error(
                where,
                f"{row.names[0]} of random vectors whose lengths differ is not supported; expected "
                "ranges of one length.",
            )
        given = (
            self._count(row, v, where) if n in row.counts else self.template(v)
            for n, v in enumerate(values)
        )
        try:
            found = row.symbolic(*given)
        except (ValueError, IndexError) as error:
            raise self._undefined(where, row, values, error) from None
        if found.expr in (sp.nan, sp.zoo):
            raise self._undefined(where, row, values, ValueError("no number"))
        taken = set(self.space.used)
        names: dict[Dim, Dim] = {}
        taken |= {a for a in found.axes if self.reader.has(a)}
        for axis, size in zip(found.axes, found.sizes, strict=True):
            if not self.reader.has(axis):
                names[axis] = free(self.reader.axis(size), taken)
                taken.add(names[axis])
        axes = tuple(names.get(a, a) for a in found.axes)
        return Formula(substitute(found.expr, names), axes)

    def _count(self, row: Function, value: Value, where: Expression) -> Array:
        """A number, or a vector of them, that is the same at all positions."""
        if isinstance(value, Known) and set(value.grid.dims) <= set(value.axes):
            return value.grid.values
        raise self.error(where, f"{row.names[0]}: how often varies, or is random; expected one.")

    def template(self, value: Value) -> Template:
        """A value as a template: an expression, with a mask of the positions within lengths."""
        sizes = tuple(self.size(a, value) for a in value.axes)
        found = Template(self.expr(value), value.axes, sizes)
        within = length_mask(value.lengths, dict(zip(value.axes, sizes, strict=True)))
        if within is None:
            return found

        def count() -> Expr:
            return self.expr(Known(number_of(value.lengths, found.axes, sizes), text="count"))

        lengths = tuple(value.lengths.get(a) for a in value.axes)
        told = self.expr(Known(within, text="within"))
        return replace(found, within=told, count=count, lengths=lengths)

    def _sizes(self, value: Value) -> tuple[int, ...] | None:
        """The size along each axis; None where it is not known."""
        if isinstance(value, Known) and not set(value.axes) <= set(value.grid.dims):
            return None
        return tuple(self.size(a, value) for a in value.axes)

    def _undefined(
        self, where: Expression, row: Function, values: tuple[Value, ...], error: Exception
    ) -> Exception:
        shapes = " and ".join(SHAPES[min(len(v.axes), 2)] for v in values)
        return self.error(
            where, f"{row.names[0]} of {shapes} of these sizes is not defined ({error})."
        )


def free(dim: Dim, taken: set[Dim]) -> Dim:
    """A dim, or a copy of it where it is taken."""
    return copy_of(dim, taken) if dim in taken else dim


def _of_no_expression(*_values: Expr) -> Expr:
    """A placeholder for the formula of a function of known numbers, whose values become data."""
    return sp.nan
