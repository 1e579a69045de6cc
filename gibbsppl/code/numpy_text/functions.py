"""Functions as values: what they compute in order, and what of it is computed once.

Comes in: the parts of a function, which hold expressions over arrays, and say how they are spelled.
Goes out: the same parts, after those that name what several of them gather; then their lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, Self, TypeAlias, TypeVar

from gibbsppl.code.arrays.expressions import Element, Expr, Position, Reduce, at, walk
from gibbsppl.code.arrays.statements import Add, Let
from gibbsppl.code.arrays.systems import Recursive
from gibbsppl.code.arrays.terms import is_gather, varies
from gibbsppl.code.numpy_text.looked_up import is_looked_up
from gibbsppl.code.numpy_text.recursions import call_text
from gibbsppl.code.numpy_text.writer import Writer

Ranges: TypeAlias = Mapping[str, range]


class Part(Protocol):
    """A part of a function: expressions, each at the positions of some ranges, and their lines."""

    def values(self, writer: Writer) -> tuple[tuple[Expr, Ranges], ...]:
        """The expressions, with the positions at which dims are read."""

    def with_values(self, values: Sequence[Expr]) -> Self:
        """The same part of other expressions."""

    def lines(self, writer: Writer) -> list[str]:
        """The lines."""


P = TypeVar("P", bound=Part)


@dataclass(frozen=True, slots=True)
class Line:
    """A line without expressions."""

    text: str

    def values(self, writer: Writer) -> tuple[tuple[Expr, Ranges], ...]:
        """No expressions."""
        del writer
        return ()

    def with_values(self, values: Sequence[Expr]) -> Line:
        """The line."""
        del values
        return self

    def lines(self, writer: Writer) -> list[str]:
        """The line."""
        del writer
        return [self.text]


@dataclass(frozen=True, slots=True)
class Added:
    """An array, and what is added to it; ``spelled`` writes both."""

    let: Let
    adds: tuple[Add, ...]
    spelled: Callable[[Writer, Let, Sequence[Add]], list[str]]

    def values(self, writer: Writer) -> tuple[tuple[Expr, Ranges], ...]:
        """The values added."""
        return tuple((a.value, {s.dim: writer.positions(s) for s in a.over}) for a in self.adds)

    def with_values(self, values: Sequence[Expr]) -> Added:
        """The same with other values."""
        both = zip(self.adds, values, strict=True)
        return replace(self, adds=tuple(replace(a, value=v) for a, v in both))

    def lines(self, writer: Writer) -> list[str]:
        """The lines of the array."""
        return self.spelled(writer, self.let, self.adds)


@dataclass(frozen=True, slots=True)
class Written:
    """Expressions, each at positions of ranges, and lines that are made of them."""

    placed: tuple[tuple[Expr, Ranges], ...]
    spelled: Callable[[Writer, Sequence[Expr]], list[str]]

    @classmethod
    def of(
        cls, exprs: Iterable[Expr], spelled: Callable[[Writer, Sequence[Expr]], list[str]]
    ) -> Written:
        """Expressions at all positions."""
        return cls(tuple((e, {}) for e in exprs), spelled)

    def values(self, writer: Writer) -> tuple[tuple[Expr, Ranges], ...]:
        """The expressions."""
        del writer
        return self.placed

    def with_values(self, values: Sequence[Expr]) -> Written:
        """The same of other expressions."""
        both = zip(values, self.placed, strict=True)
        return replace(self, placed=tuple((v, ranges) for v, (_, ranges) in both))

    def lines(self, writer: Writer) -> list[str]:
        """The lines."""
        return self.spelled(writer, [e for e, _ in self.placed])


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading of arrays in a way that costs: a gather, or arrays computed by recursion.

    ``form`` is the same whatever its dims are called, ``ranges`` are those of the ``dims`` of the
    reading ``of`` at one place; ``is_own``: it reads the argument of a density.
    """

    form: Expr
    ranges: tuple[range, ...]
    is_own: bool
    of: Element | Recursive = field(compare=False)
    dims: tuple[str, ...] = field(compare=False)

    @property
    def along(self) -> dict[str, range]:
        """The range of each dim."""
        return dict(zip(self.dims, self.ranges, strict=True))


def lines_of(writer: Writer, parts: Sequence[Part]) -> list[str]:
    """The lines of a function, what several parts gather named first."""
    (found,) = with_names(((writer, parts),))
    return [line for part in found for line in part.lines(writer)]


def with_names(bodies: Sequence[tuple[Writer, Sequence[Part]]]) -> list[list[Part]]:
    """The parts of a function, and of one inside of it, with a name for what is read repeatedly.

    What does not read the argument of the inner function is named in the outer one.
    """
    found = [list(parts) for _, parts in bodies]
    writers = [writer for writer, _ in bodies]
    for level in range(len(bodies)):
        names: list[_Name] = []
        while (reading := _repeated(writers, [names, *found], is_own=level > 0)) is not None:
            name = _Name.of(writers, level, reading)
            before = [n for n, other in enumerate(names) if other.is_read_by(reading.of)]
            names = [_replaced(writers[level], p, name) for p in names]
            names.insert(max(before, default=-1) + 1, name)
            found = [
                [_replaced(w, p, name) for p in parts]
                for w, parts in zip(writers, found, strict=True)
            ]
        found[level] = [*names, *found[level]]
    return found


def _repeated(
    writers: Sequence[Writer], bodies: Sequence[Sequence[Part]], *, is_own: bool
) -> Reading | None:
    """The first reading that occurs more than once; None if there is none."""
    own = writers[-1] if is_own else writers[0]
    both = zip([own, *writers], bodies, strict=True)
    every = [r for w, parts in both for p in parts for r in _readings_of(w, p)]
    counts = Counter(r for r in every if r.is_own == is_own)
    return next((r for r in every if counts[r] > 1), None)


def _readings_of(writer: Writer, part: Part) -> Iterator[Reading]:
    for value, ranges in part.values(writer):
        yield from _readings(writer, value, ranges)


def _readings(writer: Writer, e: Expr, ranges: Ranges) -> Iterator[Reading]:
    """The readings of an expression in ways that cost, the outermost first."""
    if (writer.is_settled(e) and varies(e)) or _is_left(writer, e, ranges):
        return
    if (found := _reading(writer, e, ranges)) is not None:
        yield found
    inside = _inside(writer, e, ranges)
    for part in e.indices if isinstance(e, Recursive) else e.parts:
        yield from _readings(writer, part, inside)


def _is_left(writer: Writer, e: Expr, ranges: Ranges) -> bool:
    """Whether nothing that an expression gathers is made an array."""
    return isinstance(e, Reduce) and is_looked_up(writer, e, ranges)


def _inside(writer: Writer, e: Expr, ranges: Ranges) -> Ranges:
    """The ranges that hold inside of an expression."""
    if not isinstance(e, Reduce):
        return ranges
    return {**ranges, **{s.dim: writer.positions(s) for s in e.spans}}


def _reading(writer: Writer, e: Expr, ranges: Ranges) -> Reading | None:
    """An expression as a reading; None for others."""
    if isinstance(e, Recursive):
        of: Element | Recursive = Recursive(e.system, e.array, ())
    elif isinstance(e, Element) and is_gather(e):
        of = e
    else:
        return None
    dims = _dims_in_order(of)
    form = at(of, {d: Position(f"·{n}") for n, d in enumerate(dims)})
    if isinstance(form, Recursive):
        form = replace(form, array="")  # (all arrays of a system come from one call)
    own = tuple(ranges[d] if d in ranges else writer.places_along(d) for d in dims)
    return Reading(form, own, writer.local in of.arrays, of, dims)


def _dims_in_order(e: Element | Recursive) -> tuple[str, ...]:
    """The dims of an expression in the order in which it has them."""
    found = [x.dim for x in walk(e) if isinstance(x, Position) and x.dim in e.free]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Name:
    """A local name for a reading, whose dims are in this order.

    ``stands`` are the names of the arrays that stand for those that it is of.
    """

    name: str
    reading: Reading
    order: tuple[int, ...]
    stands: Mapping[str, str]

    @classmethod
    def of(cls, writers: Sequence[Writer], level: int, reading: Reading) -> _Name:
        """The name, which all writers know."""
        writer, of = writers[level], reading.of
        if isinstance(of, Recursive):
            owns = [own for own, _ in of.system.shapes]
            name = writer.names.fresh("_and_".join(map(of.system.plain_name, owns)))
            dims = reading.dims
            codes = {own: f"{name}[{k}]" if len(owns) > 1 else name for k, own in enumerate(owns)}
            shapes = {own: tuple(map(writer.whole, sizes)) for own, sizes in of.system.shapes}
        else:
            name = writer.names.fresh(f"{writer.names.of(of.array)}_read")
            with writer.along(reading.along), writer.arranged(reading.dims), writer.held.unseen():
                dims = writer.text(of).dims
            codes, shapes = {of.array: name}, {of.array: ()}
        outer = tuple(len(reading.along[d]) for d in dims)
        stands = {own: f"·{code}" for own, code in codes.items()}
        for w in writers:
            for own, code in codes.items():
                w.stand_in(stands[own], code, (*outer, *shapes[own]), own)
        return cls(name, reading, tuple(map(reading.dims.index, dims)), stands)

    def element(self, e: Element | Recursive, reading: Reading) -> Expr:
        """The element that stands for the same reading at some place."""
        outer = (Position(reading.dims[n], -reading.ranges[n].start) for n in self.order)
        inner = e.indices if isinstance(e, Recursive) else ()
        return Element(self.stands[e.array], (*outer, *inner))

    def is_read_by(self, e: Expr) -> bool:
        """Whether an expression reads what has the name."""
        return not e.arrays.isdisjoint(self.stands.values())

    def values(self, writer: Writer) -> tuple[tuple[Expr, Ranges], ...]:
        """The element read, unless a whole system is."""
        del writer
        of = self.reading.of
        return ((of, self.reading.along),) if isinstance(of, Element) else ()

    def with_values(self, values: Sequence[Expr]) -> _Name:
        """The same name for what reads other arrays."""
        found = [v for v in values if isinstance(v, Element)]
        return replace(self, reading=replace(self.reading, of=found[0])) if found else self

    def lines(self, writer: Writer) -> list[str]:
        """The line that makes it."""
        of = self.reading.of
        with writer.along(self.reading.along), writer.arranged(self.reading.dims):
            if isinstance(of, Recursive):
                return [f"{self.name} = {call_text(writer, of.system, self.reading.dims)}"]
            return [f"{self.name} = {writer.text(of).code}"]


def _replaced(writer: Writer, part: P, name: _Name) -> P:
    """A part that reads the name."""
    found = part.values(writer)
    return part.with_values([_with_name(writer, e, ranges, name) for e, ranges in found])


def _with_name(writer: Writer, e: Expr, ranges: Ranges, name: _Name) -> Expr:
    """An expression that reads the name, wherever it is not computed beforehand."""
    if (writer.is_settled(e) and varies(e)) or _is_left(writer, e, ranges):
        return e
    inside = _inside(writer, e, ranges)

    def one(part: Expr) -> Expr:
        return _with_name(writer, part, inside, name)

    if isinstance(e, Element | Recursive):
        found = _reading(writer, e, ranges)
        if found is not None and found == name.reading:
            indices = tuple(map(one, e.indices)) if isinstance(e, Recursive) else e.indices
            return name.element(replace(e, indices=indices), found)
    if isinstance(e, Recursive):
        return replace(e, indices=tuple(map(one, e.indices)))
    return e.over(one)


def parts_of(lines: Iterable[str | Part]) -> list[Part]:
    """Parts, those without expressions given as lines."""
    return [Line(p) if isinstance(p, str) else p for p in lines]
