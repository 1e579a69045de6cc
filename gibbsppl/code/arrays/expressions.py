"""Expressions: one number for each position of their free dims.

>>> x, k = Element("x", (Element("z", (Position("n"),)),)), Position("k")
>>> print(Reduce(Apply("*", (x, k)), (Span.whole("n"),)))
sum(n: x[z[n]] * k)
>>> sorted(free(Reduce(Apply("*", (x, k)), (Span.whole("n"),))))
['k']
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import TypeAlias

# A function of expressions, where some dims are bound.
Within: TypeAlias = Callable[[frozenset[str]], Callable[["Expr"], "Expr"]]


@dataclass(frozen=True)
class Expr:
    """An expression; its free dims and the arrays that it reads are found once."""

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The expressions that it is made of."""
        return ()

    @cached_property
    def free(self) -> frozenset[str]:
        """The dims for each position of which it has a number."""
        return frozenset[str]().union(*(p.free for p in self.parts))

    @cached_property
    def arrays(self) -> frozenset[str]:
        """The names of the arrays that it reads."""
        return frozenset[str]().union(*(p.arrays for p in self.parts))

    def over(self, function: Callable[[Expr], Expr]) -> Expr:
        """The same expression with a function applied to its parts."""
        del function
        return self

    def scoped(self, within: Within) -> Expr:
        """The same with other parts: ``within`` dims that it binds there, a function of parts."""
        return self.over(within(frozenset()))

    @property
    def told(self) -> str:
        """The text of a kind of expression that is declared elsewhere."""
        raise TypeError(self)

    def __str__(self) -> str:
        return text(self)


@dataclass(frozen=True, repr=False)
class Number(Expr):
    """A number; ``stays``: it is one of the algorithm, whatever the model and the data."""

    value: float
    stays: bool = False


@dataclass(frozen=True, repr=False)
class Size(Expr):
    """How many positions a dim has; never a number in a program."""

    dim: str


@dataclass(frozen=True, repr=False)
class Position(Expr):
    """The position along a dim, plus a constant."""

    dim: str
    shift: int = 0

    @cached_property
    def free(self) -> frozenset[str]:
        """The dim."""
        return frozenset({self.dim})


@dataclass(frozen=True, repr=False)
class Element(Expr):
    """An element of an array; an index that is itself an element is a gather."""

    array: str
    indices: tuple[Expr, ...] = ()

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The indices."""
        return self.indices

    @cached_property
    def arrays(self) -> frozenset[str]:
        """The array, and those that its indices read."""
        return frozenset({self.array}).union(*(i.arrays for i in self.indices))

    def over(self, function: Callable[[Expr], Expr]) -> Expr:
        """The element at other indices."""
        return Element(self.array, tuple(map(function, self.indices)))


@dataclass(frozen=True, repr=False)
class Apply(Expr):
    """A function of numbers: ``+ * / ** neg``, comparisons, ``where``, those of the language."""

    function: str
    arguments: tuple[Expr, ...]

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The arguments."""
        return self.arguments

    def over(self, function: Callable[[Expr], Expr]) -> Expr:
        """The function of other arguments."""
        return Apply(self.function, tuple(map(function, self.arguments)))


@dataclass(frozen=True)
class Span:
    """The positions of a dim from a start to before a stop, which are expressions.

    The members of a group are a span from ``starts[k]`` to ``starts[k + 1]``.
    """

    dim: str
    start: Expr
    stop: Expr

    @classmethod
    def whole(cls, dim: str, size: str | None = None) -> Span:
        """All positions of a dim, which may be a copy of another."""
        return cls(dim, Number(0), Size(size or dim))

    @property
    def is_whole(self) -> bool:
        """Whether it is all positions of its dim, or of the dim that it is a copy of."""
        return self.start == Number(0) and isinstance(self.stop, Size)

    @property
    def ends(self) -> tuple[Expr, Expr]:
        """The start and the stop."""
        return self.start, self.stop

    def over(self, function: Callable[[Expr], Expr]) -> Span:
        """The span between other ends."""
        return Span(self.dim, function(self.start), function(self.stop))

    def __str__(self) -> str:
        if self.is_whole and self.stop == Size(self.dim):
            return self.dim
        return f"{self.dim} in {self.start}..{self.stop}"


@dataclass(frozen=True, repr=False)
class Reduce(Expr):
    """The sum of a body over spans, or its ``product``, ``max``, ``min`` or ``log_sum_exp``.

    The ``logdet`` of a matrix over two spans is a number; ``entry`` reads its ``inverse``.
    """

    body: Expr
    spans: tuple[Span, ...]
    by: str = "sum"

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The body, and the ends of the spans."""
        return (self.body, *(e for s in self.spans for e in s.ends))

    @cached_property
    def free(self) -> frozenset[str]:
        """The dims of the body that are not reduced, and those of the ends of spans."""
        own = {s.dim for s in self.spans}
        ends = frozenset[str]().union(*(e.free for s in self.spans for e in s.ends))
        return (self.body.free | ends) - own

    def over(self, function: Callable[[Expr], Expr]) -> Expr:
        """The same of another body, between other ends."""
        spans = tuple(s.over(function) for s in self.spans)
        return Reduce(function(self.body), spans, self.by)

    def scoped(self, within: Within) -> Expr:
        """The same with other parts, in which the dims of the spans are its own."""
        return self.over(within(frozenset(s.dim for s in self.spans)))


ZERO, ONE, TWO = Number(0), Number(1), Number(2)


def free(expr: Expr) -> frozenset[str]:
    """The dims for each position of which an expression has a number."""
    return expr.free


def walk(expr: Expr) -> Iterator[Expr]:
    """An expression and all that it is made of, from the outside."""
    yield expr
    for part in expr.parts:
        yield from walk(part)


def mapped(expr: Expr, function: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with parts replaced: a function returns the new part, or None to go inside."""
    found = function(expr)
    return found if found is not None else expr.over(lambda part: mapped(part, function))


def at(expr: Expr, positions: Mapping[str, Expr]) -> Expr:
    """The expression at positions of its dims.

    >>> print(at(Element("x", (Position("i", 1),)), {"i": Element("g", (Position("n"),))}))
    x[g[n] + 1]
    """

    def replaced(part: Expr, known: Mapping[str, Expr]) -> Expr:
        if not part.free & known.keys():
            return part
        if isinstance(part, Position):
            return plus(known[part.dim], part.shift)

        def within(bound: frozenset[str]) -> Callable[[Expr], Expr]:
            inner = {d: e for d, e in known.items() if d not in bound}
            return lambda p: replaced(p, inner)

        return part.scoped(within)

    return replaced(expr, positions)


def plus(expr: Expr, shift: int) -> Expr:
    """A position plus a constant."""
    match expr:
        case _ if shift == 0:
            return expr
        case Position(dim=dim, shift=own):
            return Position(dim, own + shift)
        case Number(value=value):
            return Number(value + shift)
    return Apply("+", (expr, Number(shift)))


def total(terms: list[Expr]) -> Expr:
    """The sum of terms."""
    parts = [t for term in terms for t in (term.parts if is_call(term, "+") else (term,))]
    parts = [t for t in parts if t != ZERO]
    return parts[0] if len(parts) == 1 else Apply("+", tuple(parts)) if parts else ZERO


def product(factors: list[Expr]) -> Expr:
    """The product of factors."""
    parts = [f for factor in factors for f in (factor.parts if is_call(factor, "*") else (factor,))]
    parts = [f for f in parts if f != ONE]
    return parts[0] if len(parts) == 1 else Apply("*", tuple(parts)) if parts else ONE


def negative(expr: Expr) -> Expr:
    """Minus an expression."""
    match expr:
        case Number(value=value):
            return Number(-value)
        case Apply(function="neg", arguments=(inner,)):
            return inner
    return Apply("neg", (expr,))


def is_call(expr: Expr, function: str) -> bool:
    """Whether an expression is a call of a function."""
    return isinstance(expr, Apply) and expr.function == function


def elements(expr: Expr) -> Iterator[Element]:
    """All elements of arrays that an expression reads."""
    return (e for e in walk(expr) if isinstance(e, Element))


# How strongly operators bind.
BINDS = {"+": 1, "neg": 2, "*": 3, "/": 3, "//": 3, "**": 5}
# Whole numbers up to here are written as such.
LARGEST_WHOLE = 1e15
RELATIONS = {"equals": "==", "below": "<", "at_most": "<="}


def text(expr: Expr, level: int = 0) -> str:
    """The text of an expression; in parentheses where what is around it binds more strongly."""
    match expr:
        case Number(value=value):
            return f"({number(value)})" if value < 0 and level > 1 else number(value)
        case Size(dim=dim):
            return f"size({dim})"
        case Position(dim=dim, shift=shift):
            shown = f"{dim} {'-' if shift < 0 else '+'} {abs(shift)}" if shift else dim
            return f"({shown})" if shift and level > 1 else shown
        case Element(array=array, indices=indices):
            return f"{array}[{', '.join(map(text, indices))}]" if indices else array
        case Reduce(body=body, spans=spans, by=by):
            return f"{by}({', '.join(map(str, spans))}: {text(body)})"
        case Apply(function=function, arguments=arguments) if function in BINDS:
            shown = infix(function, tuple(arguments), text)
            return f"({shown})" if BINDS[function] < level else shown
        case Apply(function=function, arguments=(a, b)) if function in RELATIONS:
            return f"[{text(a)} {RELATIONS[function]} {text(b)}]"
        case Apply(function=function, arguments=arguments):
            return f"{function}({', '.join(map(text, arguments))})"
    return expr.told


def is_whole(value: float) -> bool:
    """Whether a number is a whole one, and exact as such."""
    return isfinite(value) and abs(value) < LARGEST_WHOLE and value == int(value)


def number(value: float) -> str:
    """A number as Python writes it."""
    return repr(int(value)) if is_whole(value) else repr(float(value))


def infix(
    function: str, arguments: tuple[Expr, ...], written: Callable[[Expr, int], str]
) -> str:
    """The text of an operation; ``written(argument, level)`` is that of its arguments."""
    own = BINDS[function]
    if function == "+":
        found = ""
        for n, a in enumerate(arguments):
            minus = is_call(a, "neg") or (n > 0 and isinstance(a, Number) and a.value < 0)
            sign = ("-" if minus else "") if n == 0 else " - " if minus else " + "
            found += sign + written(negative(a) if minus else a, own + minus)
        return found
    if function == "neg":
        return f"-{written(arguments[0], own + 1)}"
    if function == "*":
        return " * ".join(written(a, own if n == 0 else own + 1) for n, a in enumerate(arguments))
    if function in {"/", "//"}:
        return f"{written(arguments[0], own)} {function} {written(arguments[1], own + 1)}"
    return f"{written(arguments[0], own + 1)}**{written(arguments[1], own)}"
