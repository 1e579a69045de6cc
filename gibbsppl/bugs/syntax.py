"""The tree of a BUGS program, and the error that points at a place in its text.

`gibbsppl.bugs.parse` makes trees of text and `gibbsppl.bugs.printing` text of trees. Positions are
no part of what two trees have to agree in to be equal.

>>> mu = Reference("mu", (Reference("i"),))
>>> mu == Reference("mu", (Reference("i", at=Position(3, 7)),))
True
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Literal, TypeGuard

from gibbsppl.errors import ModelError

# Of an array, a range or a nest of loops: some arrays of this size are made while it is read.
MOST_POSITIONS = 10**8

# The links that the left side of an assignment may have: log(mu[i]) <- ...
LINKS = ("log", "logit", "probit", "cloglog")

LONGEST_EXCERPT = 88


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text: line and column, both counted from 1."""

    line: int
    column: int


NOWHERE = Position(0, 0)


# ---- expressions -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """A number: the parser makes none that is negative (that is an operation) or not finite."""

    value: float
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reference:
    """A variable, or a part of it: ``x`` (no indices), ``x[i, 1:3]``, ``x[]`` (everything)."""

    name: str
    indices: tuple[Expression, ...] | None = None
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Everything:
    """An index that was left empty, which stands for all positions: ``x[, 1]``."""

    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """A function, or a distribution, of arguments: ``exp(x)``, ``dnorm(mu, tau)``."""

    function: str
    arguments: tuple[Expression, ...]
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator between two operands, or ``-`` or ``!`` before one; it stands at the operator.

    Operators are ``+ - * / ^ %*% : < <= > >= == != && || !``; ``**`` is read as ``^``.
    """

    operator: str
    operands: tuple[Expression, ...]
    at: Position = field(default=NOWHERE, compare=False, repr=False)


Expression = Number | Reference | Everything | Call | Operation


# ---- statements ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Restriction:
    """Bounds of a distribution: ``T(lower, upper)``, ``I(lower, upper)`` or ``C(lower, upper)``."""

    kind: Literal["T", "I", "C"]
    lower: Expression | None
    upper: Expression | None
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Stochastic:
    """``target ~ distribution``, within bounds where there is a restriction."""

    target: Reference
    distribution: Call
    restriction: Restriction | None = None
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assignment:
    """``target <- value``, or ``link(target) <- value``."""

    target: Reference
    link: str | None
    value: Expression
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Loop:
    """``for (name in values) { body }``; the values are mostly a range ``1:N``."""

    name: str
    values: Expression
    body: tuple[Statement, ...]
    at: Position = field(default=NOWHERE, compare=False, repr=False)


Statement = Stochastic | Assignment | Loop


@dataclass(frozen=True, slots=True)
class Declaration:
    """The declaration by ``var`` of a variable: ``x[N, 2]``, or ``y`` (no sizes)."""

    name: str
    sizes: tuple[Expression, ...] | None = None
    at: Position = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Program:
    """A whole text. ``source`` has line feeds alone as line ends; ``data`` is None without block.

    ``origin`` is what errors call the text: the name of its file, or "text"; ``end`` is where its
    last block ends.
    """

    source: str = field(compare=False, repr=False)
    origin: str = field(compare=False)
    declarations: tuple[Declaration, ...]
    data: tuple[Statement, ...] | None
    model: tuple[Statement, ...]
    end: int = field(default=0, compare=False, repr=False)

    def error(self, at: Position, reason: str) -> BugsError:
        """The error for a place of this program, with a reason."""
        return BugsError(reason, self.source, self.origin, at)

    def check_size(self, at: Position, what: str, count: float) -> None:
        """Refuse a number of positions too large for memory while a program is read."""
        if count != count:  # noqa: PLR0124  (only what is no number differs from itself)
            raise self.error(at, f"the size of {what} is no number (NaN); expected a number.")
        if count > MOST_POSITIONS:
            raise self.error(
                at,
                f"found {what} with {count:.4g} positions, expected at most {MOST_POSITIONS:.4g}: "
                "all of them are held in memory.",
            )

    @contextmanager
    def told_at(self, at: Position) -> Iterator[None]:
        """A context in which errors of the model are raised at a place of this program."""
        try:
            yield
        except BugsError:
            raise
        except ModelError as error:
            raise self.error(at, str(error)) from error


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that an expression is made of directly."""
    match expression:
        case Reference():
            return expression.indices or ()
        case Call():
            return expression.arguments
        case Operation():
            return expression.operands
        case _:
            return ()


def with_parts(expression: Expression, parts: tuple[Expression, ...]) -> Expression:
    """An expression made of other expressions."""
    match expression:
        case Reference() if expression.indices is not None:
            return replace(expression, indices=parts)
        case Call():
            return replace(expression, arguments=parts)
        case Operation():
            return replace(expression, operands=parts)
    return expression


def is_range(expression: Expression) -> TypeGuard[Operation]:
    """Whether an expression is written as a range, ``1:3``."""
    return isinstance(expression, Operation) and expression.operator == ":"


def is_polynomial(expression: Expression) -> bool:
    """Whether an expression is a number wherever all that it reads are numbers.

    Sums and products of names are; quotients, powers and functions need not be.
    """
    match expression:
        case Number() | Reference():
            return True
        case Operation(operator="+" | "-" | "*", operands=operands):
            return all(map(is_polynomial, operands))
        case _:
            return False


def references_read(statement: Stochastic | Assignment) -> Iterator[Reference]:
    """The references to the right, also in bounds and indices."""
    _, *right = expressions_of(statement)  # (the first one is the left side)
    return references_in(*right)


def references_in(*expressions: Expression) -> Iterator[Reference]:
    """The references in expressions, also in indices."""
    waiting = [*expressions]
    while waiting:
        expression = waiting.pop()
        if isinstance(expression, Reference):
            yield expression
        waiting += parts_of(expression)


def names_read(statement: Stochastic | Assignment) -> frozenset[str]:
    """The names to the right, also in bounds and indices there."""
    return frozenset(ref.name for ref in references_read(statement))


def expressions_of(statement: Statement | Declaration) -> Iterator[Expression]:
    """The expressions of a statement, from left to right; of a loop, without those of its body."""
    match statement:
        case Loop():
            yield statement.values
        case Declaration():
            yield from statement.sizes or ()
        case Assignment():
            yield from (statement.target, statement.value)
        case Stochastic(target, distribution, restriction):
            yield from (target, distribution)
            if restriction is not None:
                bounds = (restriction.lower, restriction.upper)
                yield from (b for b in bounds if b is not None)


# ---- errors ----------------------------------------------------------------------------------


class BugsError(ModelError):
    """Text that is no BUGS program, or no data, with the line and a caret under the place.

    >>> print(BugsError("found '<=', expected ~ or <-.", "  mu <= 3", "a.bug", Position(1, 6)))
    a.bug, line 1, column 6: found '<=', expected ~ or <-.
        mu <= 3
           ^
    """

    def __init__(
        self, reason: str, source: str = "", origin: str = "text", at: Position = NOWHERE
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.source = source
        self.origin = origin
        self.at = at

    def __str__(self) -> str:
        if self.at == NOWHERE:
            return f"{self.origin}: {self.reason}"
        place = f"{self.origin}, line {self.at.line}, column {self.at.column}"
        return f"{place}: {self.reason}\n{_excerpt(self.source, self.at)}"


def _excerpt(source: str, at: Position) -> str:
    """The line of a place, shortened to the part around it, with a caret below."""
    line, place = source.split("\n")[at.line - 1], at.column - 1
    start = min(len(line) - len(line.lstrip()), place)
    if place - start >= LONGEST_EXCERPT:
        start = place - LONGEST_EXCERPT // 2
    shown = printable(line[start : start + LONGEST_EXCERPT].rstrip())
    before = "".join("\t" if c == "\t" else " " for c in shown[: place - start])
    return f"    {shown}\n    {before.ljust(place - start)}^"


def printable(text: str) -> str:
    """The text with a mark in place of each character that cannot be shown."""
    return "".join(c if c.isprintable() or c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in text)
