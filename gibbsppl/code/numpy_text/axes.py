"""Where the axes of arrays stand, and which positions of each dim are read.

Comes in: texts with dims. Goes out: the same, turned and indexed so that they broadcast together.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import KW_ONLY, dataclass, field

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range, from_the_end, size_of
from gibbsppl.code.arrays.expressions import Apply, Expr, Number, Size, Span
from gibbsppl.code.arrays.systems import SO_FAR
from gibbsppl.code.arrays.terms import terms_of
from gibbsppl.code.numpy_text.text import ATOM, SUM, Text, plus_text, tuple_text


def named(dims: Iterable[Dim | str]) -> tuple[str, ...]:
    """The names of dims."""
    return tuple(map(str, dims))


@dataclass(slots=True)
class Axes:
    """The order of axes in force, the positions of dims that are read, and those that are fixed."""

    sizes: Mapping[Dim, int]
    _: KW_ONLY
    order: dict[str, int] = field(default_factory=dict)
    ranges: dict[str, range] = field(default_factory=dict)
    fixed: dict[str, str | int] = field(default_factory=dict)

    @abstractmethod
    def call(self, name: str) -> str:
        """The name by which generated code calls a function."""

    @abstractmethod
    def sized(self, dim: Dim | str) -> Text:
        """The text of the size of a dim: a name, if it is a dim of the model."""

    def size_text(self, dim: Dim | str) -> str:
        """The size of a dim as it stands among arguments."""
        return self.sized(dim).code

    def transposed(self, text: Text, dims: tuple[str, ...]) -> Text:
        """The text with its axes in the given order."""
        if text.dims == dims:
            return text
        axes = ", ".join(str(text.dims.index(d)) for d in dims)
        turn = "T" if len(dims) == 2 else f"transpose({axes})"
        return Text(f"{text.within(ATOM)}.{turn}", dims)

    def size(self, dim: Dim | str) -> int:
        """The size of a dim, of a copy of it, or of one that a recursion has instead."""
        return size_of(Dim(str(dim).removesuffix(SO_FAR)), self.sizes)

    def places_along(self, dim: str) -> range:
        """The positions of a dim in force."""
        return self.ranges[dim] if dim in self.ranges else range(self.size(dim))

    def whole(self, e: Expr) -> int:
        """The number that an end of a span is."""
        match e:
            case Number(value=value):
                return int(value)
            case Size(dim=dim):
                return self.size(dim)
            case Apply(function="+"):
                return sum(map(self.whole, e.parts))
        raise TypeError(e)

    def end_text(self, dim: Dim | str, stop: int, shift: int = 0) -> str:
        """The end of a range along a dim as text: from the end of the dim where it is near."""
        missing = from_the_end(stop, self.size(dim))
        if missing is None:
            return str(stop + shift)
        return plus_text(self.size_text(dim), shift - missing)

    def count_text(self, dim: Dim | str, own: range) -> str:
        """The number of positions of a range along a dim, as text."""
        missing = from_the_end(own.stop, self.size(dim)) if own.step == 1 else None
        if missing is None:
            return str(len(own))
        return plus_text(self.size_text(dim), -missing - own.start)

    def length_text(self, place: Range | int) -> str:
        """The number of positions of a place along an axis, as text."""
        if isinstance(place, int):
            return "1"
        return self.count_text(place.dim, range(place.start, place.stop))

    def extent(self, dim: Dim | str) -> str:
        """The number of positions of a dim in force, as text."""
        return self.count_text(dim, self.places_along(str(dim)))

    def shape_text(self, dims: Iterable[Dim | str]) -> str:
        """The shape of an array with these axes, at the positions in force, as text."""
        return tuple_text(map(self.extent, dims))

    def bounds_text(self, place: Iterable[Range | int]) -> str:
        """A place as text: the first position and the end, axis by axis."""
        return tuple_text(
            f"({p}, {p + 1})"
            if isinstance(p, int)
            else f"({p.start}, {self.end_text(p.dim, p.stop)})"
            for p in place
        )

    def whole_text(self, e: Expr, more: int = 0) -> str:
        """An end of a span, and some positions more, as text."""
        terms = terms_of(e)
        offset = more + sum(int(t.value) for t in terms if isinstance(t, Number))
        names = [self.size_text(t.dim) for t in terms if isinstance(t, Size)]
        return plus_text(" + ".join(names), offset) if names else str(offset)

    @contextmanager
    def over(self, ranges: Iterable[Range | Span]) -> Iterator[None]:
        """A context in which dims are read at the positions of ranges."""
        with self.along({str(r.dim): self.positions(r) for r in ranges}):
            yield

    def positions(self, r: Range | Span) -> range:
        """The positions of a range."""
        return range(r.start, r.stop) if isinstance(r, Range) else range(*map(self.whole, r.ends))

    @contextmanager
    def along(self, ranges: Mapping[str, range]) -> Iterator[None]:
        """A context in which dims are read at positions, maybe with strides."""
        before = dict(self.ranges)
        self.ranges.update(ranges)
        yield
        self.ranges = before

    @contextmanager
    def arranged(self, dims: Iterable[Dim | str]) -> Iterator[None]:
        """A context with axes in this order."""
        before, self.order = self.order, {}
        self.arrange(dims)
        yield
        self.order = before

    def first(self, dims: tuple[str, ...]) -> AbstractContextManager[None]:
        """A context in which some dims come first in the order of axes."""
        return self.arranged((*dims, *(d for d in self.order if d not in dims)))

    @contextmanager
    def at(self, positions: Mapping[str, str | int]) -> Iterator[None]:
        """A context in which dims are fixed at one position each."""
        before = dict(self.fixed)
        self.fixed.update(positions)
        yield
        self.fixed = before

    def arrange(self, dims: Iterable[Dim | str]) -> None:
        """Append dims to the order of axes, unless already there."""
        for d in map(str, dims):
            self.order.setdefault(d, len(self.order))

    def sorted(self, dims: Iterable[str]) -> tuple[str, ...]:
        """Dims in the order of axes."""
        declared = {d.name: n for n, d in enumerate(self.sizes)}

        def place(d: str) -> tuple[int, int, int, str]:
            # Long dims last: inner loops over them are fast.
            root = declared.get(root_of(Dim(d)), len(declared))
            size = len(self.places_along(d)) if d not in self.order else 0
            return self.order.get(d, len(self.order)), size, declared.get(d, root), d

        return tuple(sorted(set(dims), key=place))

    def places(self, dim: str) -> Text:
        """The positions of a dim in an array cut to the range in force."""
        return Text(f"{self.call('arange')}({self.extent(dim)})", (dim,))

    def aligned(self, texts: list[Text], rank: int = SUM) -> tuple[list[str], tuple[str, ...]]:
        """The code of texts, indexed to broadcast together, and the dims of the result."""
        dims = self.sorted(d for t in texts for d in t.dims)
        return [self.align(t, dims, rank) for t in texts], dims

    def align(self, text: Text, dims: Sequence[Dim | str], rank: int = SUM) -> str:
        """The code of a text, indexed to broadcast against an array with these dims."""
        names = named(dims)
        text = self.transposed(text, tuple(d for d in names if d in text.dims))
        if not text.dims:
            return text.within(rank)
        wanted = names[names.index(text.dims[0]) :]
        if wanted == text.dims:
            return text.within(rank)
        index = ", ".join(":" if d in text.dims else "None" for d in wanted)
        return f"{text.within(ATOM)}[{index}]"

    def full(self, text: Text, dims: Sequence[Dim | str]) -> str:
        """The code of a text that has all axes, broadcast where it lacks some."""
        code = self.align(text, dims)
        if text.dims == named(dims):
            return code
        return f"{self.call('broadcast_to')}({code}, {self.shape_text(dims)})"

    def spread(self, text: Text, dims: tuple[str, ...]) -> Text:
        """The text with one axis for each dim, broadcast along missing dims."""
        ordered = self.transposed(text, tuple(d for d in dims if d in text.dims))
        if ordered.dims == dims:
            return ordered
        index = ", ".join(":" if d in ordered.dims else "None" for d in dims)
        shape = self.shape_text(dims)
        code = f"{self.call('broadcast_to')}({ordered.within(ATOM)}[{index}], {shape})"
        return Text(code, dims)
