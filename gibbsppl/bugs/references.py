"""References as expressions of the model's arrays.

Comes in: the layout of each array. Goes out, for any expression of the program, one of the model:
elements of random arrays, data, and positions as data where they follow no rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.exact_numbers import number
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, Over, dims_of, substitute
from gibbsppl.algebra.functions import Equals, Where
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import fresh
from gibbsppl.algebra.supports import Support
from gibbsppl.bugs.added_names import OwnNames
from gibbsppl.bugs.checked_lines import check_assigned
from gibbsppl.bugs.evaluator import Evaluator, free
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.grids import Grid, combined, filled, position_of, positions_within
from gibbsppl.bugs.layouts import Layout, Natural
from gibbsppl.bugs.numbers import elements_of
from gibbsppl.bugs.parts import NUMBER, Read, bound, read_at, recursive
from gibbsppl.bugs.relations import Space
from gibbsppl.bugs.syntax import Assignment, Expression, Reference, parts_of
from gibbsppl.bugs.values import Formula, Known, Value, length_mask, lengths_of
from gibbsppl.errors import ModelError
from gibbsppl.language.certain import is_between, may_be_beyond
from gibbsppl.language.model import Model, typed
from gibbsppl.model.graph import Variable


def _gone_on(index: Known) -> Known:
    """An index whose ranges go on in steps of one, if all of them have such steps."""
    ((axis, length),) = index.lengths.items() if index.lengths else ((None, None),)
    if axis is None or length is None:
        return index
    dims = (*(d for d in index.grid.dims if d != axis), axis)
    every = index.grid.along(dims)
    steps = every[..., :1] + np.arange(every.shape[-1])
    within = length_mask(index.lengths, {axis: every.shape[-1]})
    assert within is not None
    told = np.broadcast_arrays(every, steps, within.along(dims))
    is_same = (told[0] == told[1])[told[2].astype(bool)].all()
    return replace(index, grid=Grid(dims, steps)) if is_same else index


class Elements:
    """Turns references into elements of the model's arrays; declares data as needed.

    ``within``: the positions at which values are used (None: all); ``stays_inside``: whether values
    at other positions must be positions of their array, too.
    """

    def __init__(
        self,
        facts: Facts,
        model: Model,
        layouts: Mapping[str, Layout],
        symbols: Mapping[str, Array],
        dims: Mapping[str, tuple[Dim, ...]],
        own: OwnNames,
    ) -> None:
        self.facts, self.model, self.own = facts, model, own
        self.layouts, self.symbols, self.dims = layouts, symbols, dims
        self.made: dict[tuple[bytes, tuple[int, ...], str, tuple[Dim, ...], Dim | None], Array] = {}
        self.lowest: dict[str, int] = {}
        self.centred: dict[str, int] = {}
        self.reading: list[int] = []
        self.simplexes: dict[str, str] = {}
        self.supports: dict[str, tuple[Support, ...]] = {}
        self.within: Grid | None = None
        self.stays_inside = False

    def shape(self, name: str) -> tuple[int, ...] | None:
        """The shape of an array, in the program."""
        return self.facts.shape(name) if name in self.facts.numbers else None

    def axis(self, count: int, of: tuple[str, int] | None = None) -> Dim:
        """A dim for the positions of a vector, or of all positions of an axis of an array."""
        if of is not None:
            return self.dims[of[0]][of[1]]
        return self.own.entries(count)

    def size(self, dim: Dim) -> int:
        """The size of a dim."""
        return self.model.size(dim)

    def reference(
        self, ref: Reference, indices: tuple[Value, ...] | None, evaluator: Evaluator
    ) -> Value:
        """Known numbers, or an expression of random elements."""
        indices = indices or ()
        if any(isinstance(i, Formula) for i in indices):
            return self._at_labels(ref, indices, evaluator)
        if evaluator.goes_on:
            indices = self._going_on(ref, indices)
        found = read_at(self.facts, ref, indices or None)
        if isinstance(found, Known):
            expr = self._data_at(ref.name, indices, evaluator.space.starts)
            return replace(found, text=ref.name, expr=expr)
        if ref.name in self.facts.computed:
            at = self._positions(ref, self.dims[ref.name], found.dims, found.at, evaluator.space)
            return Formula(Leaf(Array(ref.name), *at), found.axes, lengths_of(indices))
        values = [self._of_line(int(n), ref, found, evaluator) for n in found.lines]
        expr = values[-1]
        for number_, value in zip(reversed(found.lines[:-1]), reversed(values[:-1]), strict=True):
            here = Grid(found.dims, (found.relation.values == number_).astype(int))
            expr = Where(
                self.expr_of(Known(here, text=f"is_{ref.name}"), evaluator.space), value, expr
            )
        return Formula(expr, found.axes, lengths_of(indices))

    def _going_on(self, ref: Reference, indices: tuple[Value, ...]) -> tuple[Value, ...]:
        """Ranges continued beyond their ends in steps of one, if the array has elements there.

        Such positions need no table. Arrays that may be recursive keep their ends.
        """
        known = [i for i in indices if isinstance(i, Known)]
        if ref.name in self.facts.recursive or not lengths_of(known):
            return indices
        shape, defined = self.facts.shape(ref.name), self.facts.defined[ref.name].relation
        found = tuple(_gone_on(i) for i in known)
        ends = zip(found, shape, strict=True)
        if any(i.grid.values.max(initial=1) > size for i, size in ends):
            return indices
        _, at, _ = elements_of(self.facts.program, ref, shape, found)
        there = self.facts.numbers[ref.name].known | (defined > 0)
        return found if there[at].all() else indices

    def has(self, dim: Dim) -> bool:
        """Whether a dim is known."""
        return self.model.has_dim(dim)

    def expr_of(self, value: Known, space: Space) -> Expr:
        """Known numbers as an expression: a number, or an array of the data."""
        if value.expr is not None:
            return value.expr
        plain = value.grid.reduced()
        if np.isnan(plain.values).any():
            told = value.text or "a number"
            where = f" at {int(np.isnan(plain.values).sum())} positions" if plain.dims else ""
            raise ModelError(
                f"{told} is not defined{where} (NaN); expected numbers: leave these out, or give "
                "them a value by ifelse()."
            )
        if not plain.dims:
            return number(plain.values.item())
        return self._array(plain, value.text, None, space.starts)

    def data_of(self, grid: Grid, text: str, starts: Mapping[Dim, int]) -> Expr:
        """Numbers as an array of the data, even where all are the same."""
        return self._array(grid, text, None, starts)

    def one(self, dims: tuple[Dim, ...]) -> Expr:
        """The number one along dims of one position."""
        return self._array(Grid(dims, np.ones((1,) * len(dims))), "one", None, {})

    def position(self, grid: Grid, of: Dim, text: str, starts: Mapping[Dim, int]) -> Expr:
        """Positions, counted from 0, as an index expression."""
        found = next(self._positions_of(grid, of, starts), None)
        return found if found is not None else self._array(grid.reduced(), text, of, starts)

    def _positions_of(self, grid: Grid, of: Dim, starts: Mapping[Dim, int]) -> Iterator[Expr]:
        """Index expressions equal to the positions where values are used, in order of preference.

        Around labels given at scattered positions, all other positions are mere padding.
        """
        everywhere = position_of(grid, {d: starts.get(d, 0) for d in grid.dims})
        if everywhere is not None and not self.stays_inside:
            yield everywhere
        if self.within is not None:
            ways = positions_within(grid, self.within, starts, of)
            yield from (p for p in ways if self._is_inside(p, of, starts))
        if everywhere is not None:
            yield everywhere

    def _is_inside(self, index: Expr, of: Dim, starts: Mapping[Dim, int]) -> bool:
        """Whether an index may not leave the array at positions that do not matter, nor does."""
        assert self.within is not None
        lengths = dict(zip(self.within.dims, self.within.values.shape, strict=True))
        lows = {d: int(index - d) + starts.get(d, 0) for d in dims_of(index)}
        inside = (0 <= low <= self.model.size(of) - lengths[d] for d, low in lows.items())
        return not self.stays_inside or all(inside)

    def _of_line(self, line: int, ref: Reference, found: Read, evaluator: Evaluator) -> Expr:
        """The value of a line at its own elements (arbitrary elsewhere)."""
        here = found.relation.values == line
        if line == NUMBER:
            numbers = self.facts.numbers[ref.name]
            values = np.where(here, numbers.values[found.at], 1)
            return self.expr_of(Known(Grid(found.dims, values), text=ref.name), evaluator.space)
        if line == 0:
            at = tuple(filled(np.broadcast_to(a, here.shape), here) for a in found.at)
            return self.element(ref, found.dims, at, evaluator.space)
        assignment = self.facts.relation(line).line
        assert isinstance(assignment, Assignment)
        space = bound(self.facts, line, found.places(line), evaluator.space)
        if line in self.reading:
            way = self.reading[self.reading.index(line) :]
            raise recursive(self.facts, ref, assignment, way)
        self.reading.append(line)
        with self.facts.program.told_at(assignment.value.at):
            value = Evaluator(self.facts.program, self, space).assigned(assignment)
        self.reading.pop()
        inner = Evaluator(self.facts.program, self, space)
        # (of a vector or a matrix that is assigned, the element that is read)
        offsets = self._within(assignment, found, inner, here)
        check_assigned(self.facts, assignment, len(value.axes), len(offsets))
        names: dict[Expr, Expr] = dict(zip(value.axes, offsets, strict=True))
        with self.facts.program.told_at(assignment.value.at):
            expr = inner.expr(value)
        if isinstance(value, Formula) and expr.is_infinite:
            raise inner.error(
                assignment.value,
                f"{ref.name} is infinite ({expr}), whatever is random in it; expected finite "
                "numbers: leave out what is infinite, or give it a value by ifelse().",
            )
        return substitute(expr, names)

    def _within(
        self, line: Assignment, found: Read, inner: Evaluator, here: np.ndarray
    ) -> list[Expr]:
        """The positions of the entries read in the vector of a line (elsewhere the nearest)."""
        shape = self.facts.shape(line.target.name)
        offsets = []
        for axis, size in enumerate(shape):
            index = inner.index(line.target, axis, size)
            if index.axes:
                assert isinstance(index, Known)
                low = int(index.grid.values.min())
                at = np.broadcast_to(found.at[axis] + 1 - low, here.shape)
                grid = Grid(found.dims, filled(at, here))
                name, starts = f"{line.target.name}_at", inner.space.starts
                offsets.append(self.position(grid, index.axes[0], name, starts))
        return offsets

    def element(
        self, ref: Reference, dims: tuple[Dim, ...], at: tuple[np.ndarray, ...], space: Space
    ) -> Expr:
        """Elements of a random array."""
        layout, symbol = self.layouts[ref.name], self.symbols[ref.name]
        starts = space.starts
        if isinstance(layout, Natural):
            indices = self._positions(ref, layout.dims, dims, at, space)
        else:
            outer = tuple(a for n, a in enumerate(at) if n not in layout.event)
            rows = Grid(dims, layout.row[outer])
            own = self.dims[ref.name]
            indices = [self.position(rows, layout.dim, f"{ref.name}_row", starts)]
            indices += [
                self.position(Grid(dims, at[n]), own[n], f"{ref.name}_at", starts)
                for n in layout.event
            ]
        mean = self._mean(ref.name, layout, indices)
        return Leaf(symbol, *indices) + self.lowest.get(ref.name, 0) - mean

    def _positions(
        self,
        ref: Reference,
        own: tuple[Dim, ...],
        dims: tuple[Dim, ...],
        at: tuple[np.ndarray, ...],
        space: Space,
    ) -> list[Expr]:
        """The indices of elements of an array that has the program's axes."""
        axes = zip(at, own, ref.indices or (), strict=True)
        return [
            self.position(Grid(dims, a), d, self._called(ref, i), space.starts) for a, d, i in axes
        ]

    def _called(self, ref: Reference, index: Expression) -> str:
        """The name for positions along an axis: that of the data they are read from, if any."""
        waiting = [index]
        while waiting:
            expression = waiting.pop(0)
            match expression:
                case Reference(name, indices) if indices is not None:
                    if self.facts.numbers[name].known.all():
                        return name
            waiting += parts_of(expression)
        return f"{ref.name}_at"

    def _mean(self, name: str, layout: Layout, indices: Sequence[Expr]) -> Expr:
        """The mean of the drawn values along the axis of their sum of zero."""
        if name not in self.centred:
            return sp.S.Zero
        assert isinstance(layout, Natural)
        axis = self.centred[name]
        others = [i for n, i in enumerate(indices) if n != axis]
        along = free(layout.dims[axis], {d for i in others for d in dims_of(i)})
        every = [along if n == axis else i for n, i in enumerate(indices)]
        return Over(Leaf(self.symbols[name], *every), along) / self.size(layout.dims[axis])

    def _at_labels(self, ref: Reference, indices: tuple[Value, ...], evaluator: Evaluator) -> Value:
        """Elements at random indices: at all positions of an axis, then at the label of each."""
        found: list[Value] = []
        labels: dict[Dim, Expr] = {}
        sizes: dict[Dim, int] = {}
        for axis, index in enumerate(indices):
            if isinstance(index, Known):
                found.append(index)
                continue
            label = multiplied_out(index.expr - 1)
            if index.axes:
                raise evaluator.error(
                    ref,
                    f"index {axis + 1} of {ref.name} is a vector of random variables; expected "
                    "one label.",
                )
            size = self.facts.shape(ref.name)[axis]
            if not size:
                raise evaluator.error(
                    ref,
                    f"index {axis + 1} of {ref.name} is a label, but no line gives an element "
                    "along this axis; expected one for each label.",
                )
            taken = {*evaluator.space.used, *labels, *(a for i in indices for a in i.axes)}
            dim = free(self.dims[ref.name][axis], taken)
            labels[dim], sizes[dim] = label, size
            found.append(Known(Grid((dim,), np.arange(1, size + 1)), (dim,)))
        value = self.reference(ref, tuple(found), evaluator)
        axes = tuple(a for a in value.axes if a not in labels)
        expr = self.expr_of(value, evaluator.space) if isinstance(value, Known) else value.expr
        for dim, label in labels.items():
            last = sp.Integer(sizes[dim] - 1)
            own = self.supports.get(label.array.name, ()) if isinstance(label, Leaf) else ()
            ends = (own, sp.S.Zero, last, self.supports)
            if isinstance(label, Leaf) and not may_be_beyond(self.model, *ends):
                expr = substitute(expr, {dim: label})
                continue
            choices = [substitute(expr, {dim: sp.Integer(k)}) for k in range(sizes[dim])]
            # (no element has an index outside of the array)
            is_inside = is_between(self.model, label, sp.S.Zero, last, self.supports)
            expr = choices.pop() if is_inside else sp.nan
            for k, choice in reversed(list(enumerate(choices))):
                expr = Where(Equals(label, k), choice, expr)
        return Formula(expr, axes, value.lengths)

    def _data_at(
        self, name: str, indices: tuple[Value, ...], starts: Mapping[Dim, int]
    ) -> Expr | None:
        """An element of a data array at constants or shifted dims; None for other indices."""
        numbers = self.facts.numbers[name]
        if not numbers.known.all() or name in self.layouts or not indices:
            return None
        found = []
        for value in indices:
            assert isinstance(value, Known)
            every = {d: starts.get(d, 0) for d in value.grid.dims}
            index = position_of(combined(lambda a: a - 1, value.grid), every)
            if index is None:
                return None
            found.append(index)
        return Leaf(self.declared(name, numbers.values, self.dims[name], None), *found)

    def _array(self, grid: Grid, text: str, of: Dim | None, starts: Mapping[Dim, int]) -> Expr:
        """Data along dims of the model, filled up where the dims go on."""
        shape = tuple(self.model.size(d) for d in grid.dims)
        values = np.zeros(shape, dtype=np.asarray(grid.values).dtype)
        if of is None and values.dtype.kind == "f":
            values += 1.0
        inside = tuple(
            slice(starts.get(d, 0), starts.get(d, 0) + n)
            for d, n in zip(grid.dims, grid.values.shape, strict=True)
        )
        values[inside] = grid.values
        roots: list[Dim] = []
        for d, size in zip(grid.dims, shape, strict=True):
            root = Dim(root_of(d))
            # (an array has each dim once: two positions along one are two axes)
            roots.append(self.own.entries(size, roots) if root in roots else root)
        name = re.sub(r"\W+", "_", text).strip("_") or "data"
        return Leaf(self.declared(name, values, tuple(roots), of), *grid.dims)

    def declared(
        self, name: str, values: np.ndarray, dims: tuple[Dim, ...], of: Dim | None
    ) -> Array:
        """An array of the data, declared once."""
        key = (values.tobytes(), values.shape, values.dtype.str, dims, of)
        if key not in self.made:
            # (what lines with ~ give is declared under its own name, observed or not)
            quantities = {n for n, a in self.facts.numbers.items() if not a.known.all()}
            taken = quantities | self.facts.random | set(self.model._names)  # noqa: SLF001
            own = fresh(name, taken)
            whole = values.dtype.kind in "iu"
            variable = Variable(own, dims, "index" if of else "data", integer=whole, of=of)
            self.model.declare(variable, "data")
            kept = typed(values, is_whole=whole or of is not None)
            kept.setflags(write=False)
            self.model.declared.values[own] = kept
            self.made[key] = Array(own)
        return self.made[key]
