"""Arrays with some elements known, and the numbers that references read.

Nothing is random here: every element is a known number or unknown.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.bugs.evaluator import Evaluator
from gibbsppl.bugs.grids import Array, Grid
from gibbsppl.bugs.relations import Relation, Space
from gibbsppl.bugs.syntax import Everything, Program, Reference
from gibbsppl.bugs.values import Known, Value, lengths_of


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """An array and which of its elements are known numbers."""

    values: Array
    known: NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, ...]:
        """The size along each axis."""
        return self.values.shape


class KnownNumbers:
    """Reads arrays of numbers; unknown elements are marked as unknown."""

    def __init__(self, program: Program, numbers: Mapping[str, Numbers]) -> None:
        self.program, self.numbers = program, numbers
        self.axes = 0

    def reference(
        self, ref: Reference, indices: tuple[Value, ...] | None, _evaluator: Evaluator
    ) -> Value:
        """The numbers at indices."""
        if ref.name not in self.numbers:
            axes = () if indices is None else tuple(a for i in indices for a in i.axes)
            return Known(Grid((), np.zeros(()), np.zeros((), bool)), axes)
        found = self.numbers[ref.name]
        if any(not i.is_known for i in indices or () if isinstance(i, Known)):
            return Known(Grid((), np.zeros(()), np.zeros((), bool)))
        return numbers_at(self.program, ref, found, indices)

    def shape(self, name: str) -> tuple[int, ...] | None:
        """The shape of an array, once it is known."""
        return self.numbers[name].shape if name in self.numbers else None

    def axis(self, _count: int, _of: tuple[str, int] | None = None) -> Dim:
        """A new dim for each vector."""
        self.axes += 1
        return Dim(f"axis {self.axes}")

    def size(self, dim: Dim) -> int:
        """Never called: vectors are arrays of numbers here, with sizes of their own."""
        raise AssertionError(dim)

    def has(self, dim: Dim) -> bool:
        """Whether a dim is known."""
        raise AssertionError(dim)

    def expr_of(self, value: Known, _space: Space) -> Expr:
        """Never called: all values are numbers here."""
        raise AssertionError(value)


def check_given(program: Program, ref: Reference, names: Container[str]) -> None:
    """Refuse a name that is neither in the data nor given by a line."""
    if ref.name not in names:
        raise program.error(
            ref.at,
            f"{ref.name} is not known: it is neither in the data nor given by a line.",
        )  # fmt: skip


def numbers_at(
    program: Program, ref: Reference, found: Numbers, indices: tuple[Value, ...] | None
) -> Known:
    """The numbers that a reference reads; indices are known."""
    dims, at, axes = elements_of(program, ref, found.shape, indices)
    grid = Grid(dims, found.values[at], found.known[at])
    return Known(grid, axes, lengths=lengths_of(indices or ()))


def elements_of(
    program: Program, ref: Reference, shape: tuple[int, ...], indices: tuple[Value, ...] | None
) -> tuple[tuple[Dim, ...], tuple[NDArray[np.intp], ...], tuple[Dim, ...]]:
    """The dims of a reference, the index arrays along these dims, and the axes of its vectors."""
    grids = [i.grid for i in indices or () if isinstance(i, Known)]
    if len(grids) != len(shape):
        raise program.error(
                ref.at,
            f"{ref.name} has {len(shape)} indices, found {len(grids)}; write one for each, or "
            "nothing between the commas for all positions.",
        )  # fmt: skip
    axes = tuple(a for i in indices or () for a in i.axes)
    dims = (*(d for g in grids for d in g.dims if d not in axes), *axes)
    dims = tuple(dict.fromkeys(dims))
    at = []
    for number, (g, size) in enumerate(zip(grids, shape, strict=True), 1):
        values = g.values
        if values.size and (values.min() < 1 or values.max() > size):
            bad = int(values.min() if values.min() < 1 else values.max())
            raise program.error(
                ref.at,
                f"index {number} of {ref.name} is {bad}, expected 1 to {size}: the array has "
                f"no such element.",
            )  # fmt: skip
        if values.dtype.kind == "f" and (values != np.rint(values)).any():
            bad = values.ravel()[np.argmax(np.ravel(values != np.rint(values)))]
            raise program.error(
                ref.at,
                f"index {number} of {ref.name} is {bad}, expected a whole number.",
            )  # fmt: skip
        at.append(g.along(dims).astype(np.intp) - 1)
    return dims, tuple(at), axes


def evaluator_of(program: Program, numbers: Mapping[str, Numbers], space: Space) -> Evaluator:
    """An evaluator of known numbers at the positions of a space."""
    return Evaluator(program, KnownNumbers(program, numbers), space)


def target_of(
    program: Program, relation: Relation, numbers: Mapping[str, Numbers]
) -> tuple[Known, ...] | None:
    """The indices on the left side of a line, at all positions; None while any is unknown.

    Ranges of different lengths count as unknown until the line is divided.
    """
    assert relation.space is not None
    target = relation.line.target
    if target.indices is None:
        return ()
    evaluator = evaluator_of(program, numbers, relation.space)
    shape = evaluator.reader.shape(target.name)
    if shape is None and any(isinstance(i, Everything) for i in target.indices):
        return None
    found = evaluator.indices(target, shape)
    settled = (isinstance(f, Known) and f.is_known and not f.lengths for f in found)
    return found if all(settled) else None  # type: ignore[return-value]


def is_settled(program: Program, relation: Relation, numbers: Mapping[str, Numbers]) -> bool:
    """Whether all elements that a line gives are known."""
    name = relation.line.target.name
    at = target_of(program, relation, numbers) if name in numbers else None
    if at is None:
        return False
    _, elements, _ = elements_of(program, relation.line.target, numbers[name].shape, at or None)
    return bool(numbers[name].known[elements].all())
