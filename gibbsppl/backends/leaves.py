"""Reading an array at the indices of a leaf: slices where they are plain, gathers where not."""

from __future__ import annotations

from gibbsppl.backends.text import Text
from gibbsppl.backends.writer import Writer
from gibbsppl.expressions import Dim, Expr, Leaf, dims_of


def leaf_text(writer: Writer, leaf: Leaf) -> Text:
    """The text of an array at its indices."""
    name = writer.array(leaf.array.name)
    if not leaf.indices:
        return Text(name)
    gathers = _gathers(writer, leaf)
    plain: dict[int, tuple[Dim, str]] = {
        axis: _slice(writer, leaf, axis, index)
        for axis, index in enumerate(leaf.indices)
        if axis not in gathers
    }
    inner = {d for t in gathers.values() for d in t.dims}
    for axis, (dim, _) in list(plain.items()):
        # A dim that occurs twice is read pairwise: all its axes become gathers.
        if dim in inner or any(dim == d for a, (d, _) in plain.items() if a != axis):
            gathers[axis] = writer.write(leaf.indices[axis])
    return _indexed(writer, name, len(leaf.indices), plain, gathers)


def _gathers(writer: Writer, leaf: Leaf) -> dict[int, Text]:
    """The texts of the indices that are not slices, by axis."""
    read = {x.array.name for index in leaf.indices for x in index.atoms(Leaf)}
    writer.hoisted.positions.update(read)
    found = {
        axis: writer.write(index)
        for axis, index in enumerate(leaf.indices)
        if not index.is_Integer and _contiguous(index) is None
    }
    if found:
        integers = {a: Text(str(i)) for a, i in enumerate(leaf.indices) if i.is_Integer}
        found.update(integers)
    return found


def _contiguous(index: Expr) -> tuple[Dim, int] | None:
    """A dim and a constant whose sum the index is, if it is."""
    dims = dims_of(index)
    if len(dims) != 1 or index.atoms(Leaf):
        return None
    (dim,) = dims
    shift = index - dim
    return (dim, int(shift)) if shift.is_Integer else None


def _slice(writer: Writer, leaf: Leaf, axis: int, index: Expr) -> tuple[Dim, str]:
    """The dim of an axis that is read without a gather, and the text of its index."""
    if index.is_Integer:
        return Dim("·"), str(index)
    found = _contiguous(index)
    assert found is not None
    dim, shift = found
    start, stop = (p + shift for p in writer.range(dim))
    size = writer.sizes[writer.axes_of(leaf.array.name)[axis]]
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
    """A gather under a local name, so that it is made once however often it is read."""
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
