"""Arrays that are computed from their own earlier elements, as parts of expressions.

>>> from gibbsppl.code.arrays.expressions import ONE, ZERO
>>> t, first = Position(f"t{SO_FAR}"), Element(f"x{SO_FAR}", (ZERO,))
>>> here, before = (Element(f"x{SO_FAR}", (Position(t.dim, n),)) for n in (0, -1))
>>> steps = Given(first, Element("a"), ()), Given(here, Apply("*", (before, Element("b"))), ())
>>> along = Span(t.dim, ONE, Number(5))
>>> blocks = Block(None, steps[:1]), Block(along, steps[1:])
>>> x = Recursive(System(((f"x{SO_FAR}", (Number(5),)),), blocks), f"x{SO_FAR}", (Position("n"),))
>>> print(x, sorted(x.arrays), sorted(x.free))
x so far[n] ['a', 'b'] ['n']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from gibbsppl.code.arrays.expressions import (
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Span,
    Within,
    text,
)

# What the names of dims and arrays end in that a system alone knows.
SO_FAR = " so far"


@dataclass(frozen=True)
class Given:
    """An element of a recursive array and its value, at all positions of spans."""

    element: Element
    value: Expr
    over: tuple[Span, ...]

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The element, the value, and the ends of the spans."""
        return (self.element, self.value, *(e for s in self.over for e in s.ends))

    @cached_property
    def free(self) -> frozenset[str]:
        """The dims for each position of which there is an element and a value."""
        own = {s.dim for s in self.over}
        return frozenset[str]().union(*(p.free for p in self.parts)) - own

    def scoped(self, within: Within, bound: frozenset[str]) -> Given:
        """The same of other expressions; ``bound`` are dims of what is around it."""
        function = within(bound | {s.dim for s in self.over})
        element = function(self.element)
        assert isinstance(element, Element)
        over = tuple(s.over(function) for s in self.over)
        return Given(element, function(self.value), over)


@dataclass(frozen=True)
class Block:
    """Elements that are given in order, at one position after the other of a span, if there is one.

    Elements of the same position are given in order, each for all positions of its own spans. One
    that ``is_backward`` begins at the last position.
    """

    span: Span | None
    steps: tuple[Given, ...]
    is_backward: bool = False

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The expressions of all steps, and the ends of the span."""
        ends = () if self.span is None else self.span.ends
        return (*ends, *(p for s in self.steps for p in s.parts))

    @cached_property
    def free(self) -> frozenset[str]:
        """The dims that are none of its own."""
        own = set() if self.span is None else {self.span.dim}
        return frozenset[str]().union(*(s.free for s in self.steps)) - own

    def scoped(self, within: Within) -> Block:
        """The same of other expressions."""
        if self.span is None:
            return Block(None, tuple(s.scoped(within, frozenset()) for s in self.steps))
        own = frozenset({self.span.dim})
        span = self.span.over(within(own))
        steps = tuple(s.scoped(within, own) for s in self.steps)
        return Block(span, steps, self.is_backward)

    @property
    def stem(self) -> str:
        """The name outside of the system of the dim of the span."""
        return "" if self.span is None else self.span.dim.removesuffix(SO_FAR)


@dataclass(frozen=True)
class System:
    """Arrays that are computed from their own earlier elements, in blocks, one after the other.

    ``shapes`` are the names of the arrays, which hold within the system alone, with their sizes.
    """

    shapes: tuple[tuple[str, tuple[Expr, ...]], ...]
    blocks: tuple[Block, ...]

    @property
    def owns(self) -> frozenset[str]:
        """The names of the arrays."""
        return frozenset(name for name, _ in self.shapes)

    @staticmethod
    def plain_name(own: str) -> str:
        """The name of an array outside of the system."""
        return own.removesuffix(SO_FAR)

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The expressions of all blocks."""
        return tuple(p for b in self.blocks for p in b.parts)

    @cached_property
    def free(self) -> frozenset[str]:
        """The dims for each position of which there are such arrays."""
        return frozenset[str]().union(*(b.free for b in self.blocks))

    @cached_property
    def arrays(self) -> frozenset[str]:
        """The names of other arrays that it reads."""
        return frozenset[str]().union(*(p.arrays for p in self.parts)) - self.owns

    def scoped(self, within: Within) -> System:
        """The same of other expressions."""
        return System(self.shapes, tuple(b.scoped(within) for b in self.blocks))


@dataclass(frozen=True, repr=False)
class Recursive(Expr):
    """An element of an array that a system computes."""

    system: System
    array: str
    indices: tuple[Expr, ...]

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The indices, and the expressions of the system."""
        return (*self.indices, *self.system.parts)

    @cached_property
    def free(self) -> frozenset[str]:
        """The dims of the indices, and those that the system does not bind."""
        return self.system.free.union(*(i.free for i in self.indices))

    @cached_property
    def arrays(self) -> frozenset[str]:
        """The arrays that the system and the indices read."""
        return self.system.arrays.union(*(i.arrays for i in self.indices))

    def over(self, function: Callable[[Expr], Expr]) -> Expr:
        """The element of a system of other expressions."""
        return self.scoped(lambda _: function)

    def scoped(self, within: Within) -> Expr:
        """The same with other parts; dims that the system binds are not those of the indices."""
        indices = tuple(map(within(frozenset()), self.indices))
        return Recursive(self.system.scoped(within), self.array, indices)

    @property
    def told(self) -> str:
        """The array within its system, at the indices."""
        return f"{self.array}[{', '.join(map(text, self.indices))}]"


def taken_out(
    given: Given, along: Span, owns: frozenset[str], count: int
) -> tuple[Given, dict[str, tuple[tuple[Span, ...], Expr]]]:
    """A step with names for parts free of the recursion, and these parts, with their spans.

    They can be computed for all positions at once, counted from the first of each span. Names go on
    from a count.
    """
    spans = {s.dim: s for s in (along, *given.over)}
    parts: dict[str, tuple[tuple[Span, ...], Expr]] = {}

    def shortened(e: Expr) -> Expr:
        if e.arrays.isdisjoint(owns):
            is_short = not e.parts or isinstance(e, Element) or not e.free & spans.keys()
            return e if is_short else named(e)
        if isinstance(e, Reduce | Element | Recursive):
            return e
        if isinstance(e, Apply) and e.function in {"+", "*"}:
            free = [a for a in e.parts if a.arrays.isdisjoint(owns)]
            held = [shortened(a) for a in e.parts if not any(a is f for f in free)]
            made = Apply(e.function, tuple(free)) if len(free) > 1 else None
            first = [shortened(made)] if made is not None else list(map(shortened, free))
            return Apply(e.function, (*first, *held))
        return e.over(shortened)

    def named(e: Expr) -> Expr:
        name = next((n for n, (_, own) in parts.items() if own == e), None)
        if name is None:
            name = f"part {count + len(parts)}"
            parts[name] = (tuple(spans.values()), e)
        return Element(name, tuple(_from_first(s) for s in spans.values()))

    return Given(given.element, shortened(given.value), given.over), parts


def _from_first(span: Span) -> Expr:
    """A position, counted from the first of a span."""
    assert isinstance(span.start, Number)
    return Position(span.dim, -int(span.start.value))
