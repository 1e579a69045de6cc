"""Statements: what makes arrays, adds to them, draws, and replaces values of the state.

The ``step`` of a statement is the one that it was made for, by name; one that a pass makes may have
none.

>>> from gibbsppl.code.arrays.expressions import ONE, ZERO, Position
>>> n = Span.whole("n")
>>> print(Let("count", (Span.whole("k"),), ZERO))
let count[k] = 0
>>> print(Add("count", (Element("z", (Position("n"),)),), ONE, (n,)))
add count[z[n]] += 1  for n
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from gibbsppl.code.arrays.expressions import Element, Expr, Span, text

# (new arrays are double; large ones from outside may be single)
Type: TypeAlias = Literal["float", "int", "single"]


class Printed:
    """A value with lines as its text."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(lines(self))  # type: ignore[arg-type]  # each kind of statement is one


@dataclass(frozen=True, slots=True)
class Let(Printed):
    """A new array: a value for each position of its dims.

    ``is_empty``: what it begins with is of no account, since a draw fills it.
    """

    name: str
    dims: tuple[Span, ...]
    value: Expr
    note: str = ""
    type: Type = "float"
    is_empty: bool = False
    step: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Add(Printed):
    """``array[indices] += value`` at all positions; where elements coincide, all of them count.

    ``by`` is ``sum``, or ``max`` or ``min`` for the extreme of what is there and the values.
    """

    array: str
    indices: tuple[Expr, ...]
    value: Expr
    over: tuple[Span, ...]
    note: str = ""
    by: str = "sum"
    step: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a kernel: a number, or an array over dims of its ``own``, in order.

    ``as_is``: nothing else reads the array, or the kernel does not overwrite it.
    """

    value: Expr
    own: tuple[Span, ...] = ()
    as_is: bool = False


@dataclass(frozen=True, slots=True)
class Density:
    """A log density that a kernel evaluates: a number for the value of its argument."""

    argument: str
    value: Expr
    body: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class Draw(Printed):
    """Elements of arrays made by a kernel, independently for all positions of ``over``.

    A target with dims of an argument's ``own`` is an array to the kernel. What is not random is
    computed by the kernel from its arguments alone.
    """

    targets: tuple[Element, ...]
    kernel: str
    arguments: tuple[Argument, ...]
    over: tuple[Span, ...] = ()
    own: tuple[Span, ...] = ()
    density: Density | None = None
    is_random: bool = True
    note: str = ""
    step: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Store(Printed):
    """Elements replaced by values, at all positions of ``over``."""

    target: Element
    value: Expr
    over: tuple[Span, ...] = ()
    note: str = ""
    step: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Loop(Printed):
    """Statements carried out for one position after the other: where order matters, or fused."""

    over: tuple[Span, ...]
    body: tuple[Statement, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Choice(Printed):
    """One of several bodies, by its number."""

    number: Expr
    bodies: tuple[tuple[Statement, ...], ...]

    @property
    def over(self) -> tuple[Span, ...]:
        """No spans: one body is carried out, once."""
        return ()

    def of(self, function: Callable[[tuple[Statement, ...]], Iterable[Statement]]) -> Choice:
        """The same of other bodies."""
        return Choice(self.number, tuple(tuple(function(b)) for b in self.bodies))


Statement: TypeAlias = Let | Add | Draw | Store | Loop | Choice


def spans_of(statement: Statement) -> tuple[Span, ...]:
    """The spans over which a statement is carried out."""
    return statement.dims if isinstance(statement, Let) else statement.over


def inner(statement: Statement) -> tuple[Statement, ...]:
    """The statements inside of a statement."""
    match statement:
        case Loop(body=body):
            return body
        case Draw(density=Density(body=body)):
            return body
        case Choice(bodies=bodies):
            return tuple(s for body in bodies for s in body)
    return ()


def expressions_of(statement: Statement) -> Iterator[Expr]:
    """The expressions of a statement itself, without those of statements inside."""
    yield from (e for s in spans_of(statement) for e in s.ends)
    match statement:
        case Let():
            yield statement.value
        case Add():
            yield from (*statement.indices, statement.value)
        case Store():
            yield from (*statement.target.indices, statement.value)
        case Choice():
            yield statement.number
        case Draw():
            yield from (i for t in statement.targets for i in t.indices)
            yield from (a.value for a in statement.arguments)
            own = (s for a in statement.arguments for s in a.own)
            yield from (e for s in (*own, *statement.own) for e in s.ends)
            if statement.density is not None:
                yield statement.density.value


def with_expressions(statement: Statement, function: Callable[[Expr], Expr]) -> Statement:
    """The statement with a function applied to its values, and to those of statements inside."""
    match statement:
        case Let() | Store() | Add():
            return replace(statement, value=function(statement.value))
        case Loop():
            body = tuple(with_expressions(s, function) for s in statement.body)
            return replace(statement, body=body)
        case Choice():
            made = statement.of(lambda body: (with_expressions(s, function) for s in body))
            return replace(made, number=function(made.number))
        case Draw():
            arguments = (replace(a, value=function(a.value)) for a in statement.arguments)
            density = statement.density
            if density is not None:
                body = tuple(with_expressions(s, function) for s in density.body)
                density = replace(density, body=body, value=function(density.value))
            return replace(statement, arguments=tuple(arguments), density=density)


def everywhere(statement: Statement, function: Callable[[Expr], Expr]) -> Statement:
    """The statement with a function applied to values, indices, what it changes, and ends."""
    match statement:
        case Let():
            dims = tuple(d.over(function) for d in statement.dims)
            return replace(statement, dims=dims, value=function(statement.value))
        case Add(array=array, indices=indices):
            target = function(Element(array, indices))
            over = tuple(d.over(function) for d in statement.over)
            value = function(statement.value)
            return replace(statement, indices=target.parts, value=value, over=over)
        case Store():
            over = tuple(d.over(function) for d in statement.over)
            target = _element(function, statement.target)
            return replace(statement, target=target, value=function(statement.value), over=over)
        case Loop():
            over = tuple(d.over(function) for d in statement.over)
            return replace(
                statement, over=over, body=tuple(everywhere(s, function) for s in statement.body)
            )
        case Draw():
            return _draw_everywhere(statement, function)
        case Choice():
            made = statement.of(lambda body: (everywhere(s, function) for s in body))
            return replace(made, number=function(made.number))


def _element(function: Callable[[Expr], Expr], element: Element) -> Element:
    """The element that a function makes of another; an element stays one."""
    found = function(element)
    return found if isinstance(found, Element) else element


def _draw_everywhere(draw: Draw, function: Callable[[Expr], Expr]) -> Draw:
    arguments = tuple(
        replace(a, value=function(a.value), own=tuple(d.over(function) for d in a.own))
        for a in draw.arguments
    )
    density = draw.density
    if density is not None:
        body = tuple(everywhere(s, function) for s in density.body)
        density = replace(density, body=body, value=function(density.value))
    targets = tuple(_element(function, t) for t in draw.targets)
    over, own = (tuple(d.over(function) for d in spans) for spans in (draw.over, draw.own))
    return replace(
        draw, targets=targets, arguments=arguments, density=density, over=over, own=own
    )


def replaced(
    statements: Iterable[Statement], function: Callable[[Statement], Iterable[Statement]]
) -> tuple[Statement, ...]:
    """Statements with others in place of each; loops, choices and log densities keep their own.

    >>> from gibbsppl.code.arrays.expressions import ZERO
    >>> made = Loop((Span.whole("n"),), (Let("x", (), ZERO),))
    >>> print(*replaced([made], lambda s: [s, Let("y", (), ZERO)]))
    for n:
        let x = 0
        let y = 0
    """
    found = list[Statement]()
    for s in statements:
        match s:
            case Loop():
                found.append(replace(s, body=replaced(s.body, function)))
            case Choice():
                found.append(s.of(lambda body: replaced(body, function)))
            case Draw(density=Density() as density):
                body = replaced(density.body, function)
                found.append(replace(s, density=replace(density, body=body)))
            case _:
                found += function(s)
    return tuple(found)


def of_step(statement: Statement, name: str) -> Statement:
    """The statement, and those inside of it, as a part of a step, unless they are one's already."""
    match statement:
        case Loop():
            return replace(statement, body=tuple(of_step(s, name) for s in statement.body))
        case Choice():
            return statement.of(lambda body: (of_step(s, name) for s in body))
        case Draw(density=Density() as density):
            body = tuple(of_step(s, name) for s in density.body)
            statement = replace(statement, density=replace(density, body=body))
    return statement if statement.step else replace(statement, step=name)


def lines(statement: Statement) -> list[str]:
    """The lines of a statement."""
    if isinstance(statement, Choice):
        return _choice(statement)
    note = f"  # {statement.note}" if statement.note else ""
    over = "" if isinstance(statement, Let) else _for(statement.over)
    match statement:
        case Let():
            value = "empty" if statement.is_empty else statement.value
            found = [f"let {head(statement.name, statement.dims)} = {value}"]
        case Add():
            target = Element(statement.array, statement.indices)
            sign = "+=" if statement.by == "sum" else f"{statement.by}="
            found = [f"add {target} {sign} {statement.value}{over}"]
        case Store():
            found = [f"set {statement.target} = {statement.value}{over}"]
        case Draw():
            found = _draw(statement, over)
        case Loop():
            inside = [f"    {line}" for s in statement.body for line in lines(s)]
            found = [f"for {', '.join(map(str, statement.over))}:", *inside]
    return [found[0] + note, *found[1:]]


def _choice(choice: Choice) -> list[str]:
    found = [f"choose {choice.number}:"]
    for n, body in enumerate(choice.bodies):
        found += [f"    {n}:", *(f"        {line}" for s in body for line in lines(s))]
    return found


def _for(over: tuple[Span, ...]) -> str:
    return f"  for {', '.join(map(str, over))}" if over else ""


def _draw(draw: Draw, over: str) -> list[str]:
    verb, sign = ("draw", "~") if draw.is_random else ("call", "=")
    targets = ", ".join(map(str, draw.targets))
    called = ", ".join(map(_argument, draw.arguments))
    found = [f"{verb} {targets} {sign} {draw.kernel}({called}){over}"]
    if draw.density is not None:
        inside = [line for s in draw.density.body for line in lines(s)]
        inside.append(f"log density of {draw.density.argument} = {draw.density.value}")
        found += [f"    {line}" for line in inside]
    return found


def _argument(argument: Argument) -> str:
    own = f"[{', '.join(map(str, argument.own))}] " if argument.own else ""
    return own + text(argument.value)


def head(name: str, dims: tuple[Span, ...]) -> str:
    """An array with its dims."""
    return f"{name}[{', '.join(map(str, dims))}]" if dims else name
