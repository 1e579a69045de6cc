"""Elements that are drawn jointly, and what products of two of them tie.

Comes in: masks of the elements drawn of each array, and the pairs of elements of each coefficient.
Goes out: a `Pattern`, which says how the precision matrix is laid out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.runtime.layouts import DENSE, Layout, in_blocks, layout_of
from gibbsppl.runtime.types import Flags, Ints, Wholes

# First array and index, second array and index; the indices broadcast, one entry per coefficient.
Pair = tuple[str, tuple[Wholes, ...], str, tuple[Wholes, ...]]
# Both elements of each entry of a pair, by number among those drawn and in their arrays; the shape.
End = tuple[Ints, Ints, Ints, Ints, tuple[int, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """The elements drawn, and the two elements that each coefficient of a product ties.

    ``first`` and ``second`` are numbers of elements drawn, -1 for known elements; ``starts`` is the
    number of the first element of each array; ``ends`` has the elements of each pair.
    """

    starts: Ints
    first: Ints
    second: Ints
    inner: Flags
    ends: tuple[End, ...]

    @classmethod
    def of(cls, arrays: Mapping[str, Flags], pairs: Sequence[Pair], kept: int = 5) -> Pattern:
        """The pattern of pairs of elements drawn, by masks; two parts of ends tell a layout."""
        shapes = {name: free.shape for name, free in arrays.items()}
        places = _places(arrays)
        ends: Any = tuple(_ends(pair, shapes, places)[:kept] for pair in pairs)
        first, second = (_joined([e[k] for e in ends], np.intp) for k in (0, 1))
        starts = np.cumsum([0, *(int(f.sum()) for f in arrays.values())])
        return cls(starts, first, second, (first >= 0) & (second >= 0), ends)

    @property
    def is_closed(self) -> bool:
        """Whether each coefficient ties two elements that are both drawn."""
        return bool(self.inner.all())

    def pairs(self, start: int) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """The start and stop of each pair's coefficients in a vector, and their shape."""
        for *_, flat, _, shape in self.ends:
            yield start, start + flat.size, shape
            start += flat.size

    def layout(self, dense: int = DENSE, last: Sequence[int] = ()) -> Layout:
        """How the precision matrix is factorised with the least work; arrays that come ``last``."""
        owners = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        first, second = self.first[self.inner], self.second[self.inner]
        return layout_of(owners, first, second, dense=dense, last=last)

    def blocks(self) -> Layout:
        """The layout in blocks, as a pencil has it."""
        return in_blocks(int(self.starts[-1]), self.first[self.inner], self.second[self.inner])


def _places(arrays: Mapping[str, Flags]) -> dict[str, Ints]:
    """The number of each element of each array among the elements drawn; -1 if not drawn."""
    found, start = {}, 0
    for name, free in arrays.items():
        flat = free.ravel()
        found[name] = np.where(flat, np.cumsum(flat) - 1 + start, -1)
        start += int(flat.sum())
    return found


def _ends(
    pair: Pair, shapes: Mapping[str, tuple[int, ...]], places: Mapping[str, Ints]
) -> End:
    """The numbers and positions of both elements of each entry of a pair."""
    names, indices = (pair[0], pair[2]), (pair[1], pair[3])
    full = np.broadcast_shapes(*(np.shape(i) for index in indices for i in index))
    flat = []
    for name, index in zip(names, indices, strict=True):
        at = [np.broadcast_to(np.asarray(i, dtype=np.intp), full).ravel() for i in index]
        zero = np.zeros(int(np.prod(full)), dtype=np.intp)
        flat.append(np.ravel_multi_index(at, shapes[name]) if at else zero)
    one, other = (places[name][at] for name, at in zip(names, flat, strict=True))
    return one, other, flat[0], flat[1], full


def _joined(parts: Sequence[Any], kind: type[np.intp]) -> Ints:
    """The parts concatenated; an empty array without parts."""
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)
