"""Reading an array at the indices of a leaf: slices where they are plain, gathers where not."""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, dims_of
from gibbsppl.code.text import Text
from gibbsppl.code.writer import Computed, Writer


def leaf_text(writer: Writer, leaf: Leaf) -> Text:
    """The text of an array at its indices."""
    name = writer.array(leaf.array.name)
    if not leaf.indices:
        return Text(name)
    shape = tuple(writer.sizes[d] for d in writer.axes_of(leaf.array.name))
    return elements_text(writer, Computed(name, (), shape), leaf.indices)


def elements_text(writer: Writer, array: Computed, indices: Sequence[Expr]) -> Text:
    """The text of an array at indices, after axes along which all of it is read."""
    first = len(array.outer)
    gathers = {first + axis: text for axis, text in _gathers(writer, indices).items()}
    plain: dict[int, tuple[Dim, str]] = {axis: (dim, ":") for axis, dim in enumerate(array.outer)}
    for axis, index in enumerate(indices):
        if first + axis not in gathers:
            plain[first + axis] = _slice(writer, array.shape[axis], index)
    inner = {d for t in gathers.values() for d in t.dims}
    for axis, (dim, _) in list(plain.items()):
        # A dim that occurs twice is read pairwise: all its axes become gathers.
        if dim in inner or any(dim == d for a, (d, _) in plain.items() if a != axis):
            own = writer.places(dim) if axis < first else writer.write(indices[axis - first])
            gathers[axis] = own
    return _indexed(writer, array.code, first + len(indices), plain, gathers)


def _gathers(writer: Writer, indices: Sequence[Expr]) -> dict[int, Text]:
    """The texts of the indices that are not slices, by axis."""
    read = {x.array.name for index in indices for x in index.atoms(Leaf)}
    writer.hoisted.positions.update(read)
    fixed = {a: text for a, i in enumerate(indices) if (text := _fixed(writer, i)) is not None}
    found = {
        axis: writer.write(index)
        for axis, index in enumerate(indices)
        if axis not in fixed and _contiguous(index) is None
    }
    return found | {a: Text(text) for a, text in fixed.items()} if found else found


def _fixed(writer: Writer, index: Expr) -> str | None:
    """The text of an index at a single position: a number or a loop variable; else None."""
    if index.is_Integer:
        return str(index)
    found = _contiguous(index)
    if found is None or found[0] not in writer.fixed:
        return None
    at, shift = writer.fixed[found[0]], found[1]
    if isinstance(at, int):
        return str(at + shift)
    return f"{at} {'-' if shift < 0 else '+'} {abs(shift)}" if shift else at


def _contiguous(index: Expr) -> tuple[Dim, int] | None:
    """A dim and a constant whose sum the index is, if it is."""
    dims = dims_of(index)
    if len(dims) != 1 or index.atoms(Leaf):
        return None
    (dim,) = dims
    shift = index - dim
    return (dim, int(shift)) if shift.is_Integer else None


def _slice(writer: Writer, size: int, index: Expr) -> tuple[Dim, str]:
    """The dim of an axis that is read without a gather, and the text of its index."""
    if (fixed := _fixed(writer, index)) is not None:
        return Dim("·"), fixed
    found = _contiguous(index)
    assert found is not None
    dim, shift = found
    start, stop = (p + shift for p in writer.range(dim))
    stride = f":{writer.stride(dim)}" if writer.stride(dim) != 1 else ""
    if (start, stop) == (0, size) and not stride:
        return dim, ":"
    return dim, f"{start or ''}:{stop if stop != size else ''}{stride}"


def _indexed(
    writer: Writer,
    name: str,
    count: int,
    plain: dict[int, tuple[Dim, str]],
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
    text = Text(_read(name, index), dims)
    return _kept(writer, name, text) if gathers else text


def _kept(writer: Writer, name: str, text: Text) -> Text:
    """A gather under a local name, so that repeated readings gather once."""
    if writer.preparing or not writer.keeps:
        return text
    return Text(writer.named_once(text.code, f"{name}_read"), text.dims)


def _read(name: str, index: list[str]) -> str:
    """The text that reads an array at an index."""
    open_axes = [i for i in index if i != ":"]
    if len(index) > 1 and len(open_axes) == 1 and open_axes[0].isidentifier():
        # The same as a plain index with an array, and faster where whole rows are read.
        return f"{name}.take({open_axes[0]}, axis={index.index(open_axes[0])})"
    while index and index[-1] == ":":
        index.pop()
    return f"{name}[{', '.join(index)}]" if index else name
