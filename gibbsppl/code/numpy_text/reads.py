"""Reading an array at indices: slices where they are plain, gathers where not."""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.code.arrays.expressions import Element, Expr, Number, Position
from gibbsppl.code.numpy_text.text import Text, plus_text, slice_text
from gibbsppl.code.numpy_text.writer import Computed, Writer


def element_text(writer: Writer, e: Element) -> Text:
    """The text of an array at its indices."""
    if e.array in writer.computed:
        return elements_text(writer, writer.computed[e.array], e.indices)
    name = writer.array(e.array)
    if not e.indices:
        return Text(name)
    return elements_text(writer, Computed(name, (), writer.shape(e.array)), e.indices)


def elements_text(writer: Writer, array: Computed, indices: Sequence[Expr]) -> Text:
    """The text of an array at indices, after axes along which all of it is read."""
    first = len(array.outer)
    gathers = {first + axis: text for axis, text in _gathers(writer, indices).items()}
    plain: dict[int, tuple[str, str]] = {axis: (dim, ":") for axis, dim in enumerate(array.outer)}
    for axis, index in enumerate(indices):
        if first + axis not in gathers:
            plain[first + axis] = _slice(writer, array.shape[axis], index)
    inner = {d for t in gathers.values() for d in t.dims}
    for axis, (dim, _) in list(plain.items()):
        # A dim that occurs twice is read pairwise: all its axes become gathers.
        if dim in inner or any(dim == d for a, (d, _) in plain.items() if a != axis):
            own = writer.places(dim) if axis < first else writer.text(indices[axis - first])
            gathers[axis] = own
    return _indexed(writer, array.code, first + len(indices), plain, gathers)


def _gathers(writer: Writer, indices: Sequence[Expr]) -> dict[int, Text]:
    """The texts of the indices that are not slices, by axis."""
    writer.hoisted.positions.update(*(i.arrays for i in indices))
    fixed = {a: text for a, i in enumerate(indices) if (text := _fixed(writer, i)) is not None}
    found = {
        axis: writer.text(index)
        for axis, index in enumerate(indices)
        if axis not in fixed and not isinstance(index, Position)
    }
    return found | {a: Text(text) for a, text in fixed.items()} if found else found


def _fixed(writer: Writer, index: Expr) -> str | None:
    """The text of an index at a single position: a number or a loop variable; else None."""
    if isinstance(index, Number):
        return str(int(index.value))
    if not isinstance(index, Position) or index.dim not in writer.fixed:
        return None
    at, shift = writer.fixed[index.dim], index.shift
    if isinstance(at, int):
        return str(at + shift)
    return plus_text(at, shift)


def _slice(writer: Writer, size: int, index: Expr) -> tuple[str, str]:
    """The dim of an axis that is read without a gather, and the text of its index."""
    if (fixed := _fixed(writer, index)) is not None:
        return "·", fixed
    assert isinstance(index, Position)
    own = writer.places_along(index.dim)
    start, stop = own.start + index.shift, own.stop + index.shift
    return index.dim, slice_text(start, stop, size, own.step)


def _indexed(
    writer: Writer,
    name: str,
    count: int,
    plain: dict[int, tuple[str, str]],
    gathers: dict[int, Text],
) -> Text:
    """An array read at the slices and gathers of its axes.

    The dims of the gathers stand where the first of them is, or in front if they are apart.
    """
    texts, inner = writer.aligned(list(gathers.values()))
    codes = dict(zip(gathers, texts, strict=True))
    index = [codes[a] if a in codes else plain[a][1] for a in range(count)]
    sliced = {a: d for a, (d, t) in plain.items() if ":" in t and a not in gathers}
    axes = sorted(gathers)
    together = bool(axes) and axes[-1] - axes[0] + 1 == len(axes)
    before = [d for a, d in sorted(sliced.items()) if together and a < axes[0]]
    after = [d for a, d in sorted(sliced.items()) if not (together and a < axes[0])]
    dims = (*before, *inner, *after)
    return Text(_read(name, index), dims)


def _read(name: str, index: list[str]) -> str:
    """The text that reads an array at an index."""
    open_axes = [i for i in index if i != ":"]
    if len(index) > 1 and len(open_axes) == 1 and open_axes[0].isidentifier():
        # The same as a plain index with an array, and faster where whole rows are read.
        return f"{name}.take({open_axes[0]}, axis={index.index(open_axes[0])})"
    while index and index[-1] == ":":
        index.pop()
    return f"{name}[{', '.join(index)}]" if index else name
