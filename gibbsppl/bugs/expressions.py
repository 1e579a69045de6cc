"""Expressions of a BUGS text, by the precedence of operators, without a call for each of them.

From the loosest to the tightest: ``||``; ``&&``; ``!``; comparisons; ``+ -``; ``* /``; ``%*%``;
``:``; ``-`` before a value; ``^``. Comparisons and ranges do not follow one another, ``^`` groups
from the right, all others from the left.

>>> from gibbsppl.bugs.sources import Source
>>> read_expression(Tokens(Source("-x^2", "text")))
Operation(operator='-', operands=(Operation(operator='^', operands=(Reference(name='x',
    indices=None), Number(value=2.0))),))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from gibbsppl.bugs.lexer import Token
from gibbsppl.bugs.reader import Tokens
from gibbsppl.bugs.spellings import NO_FUNCTIONS
from gibbsppl.bugs.syntax import (
    Call,
    Everything,
    Expression,
    Number,
    Operation,
    Reference,
    parts_of,
)

COMPARISON, RANGE, POWER = 4, 8, 10
BINARY: Mapping[str, int] = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), COMPARISON),
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(("*", "/"), 6),
    "%*%": 7,
    ":": RANGE,
    "^": POWER,
}
PREFIX: Mapping[str, int] = {"!": 3, "-": 9}

# What may not follow one another without brackets, and what to write.
SINGLE: Mapping[int, str] = {
    COMPARISON: "one comparison at a time: write a < b && b < c for a < b < c",
    RANGE: "a range has two ends, first:last",
}

# What may stand where a value should, and what to write.
_NO_OPERAND: Mapping[str, str] = {
    "+": "a number has no + before it",
    "[": "an index follows a name, x[i]; vectors are given as data",
    ",": "a value is missing before it",
    ")": "a value is missing before it",
    "=": "two values are compared by ==",
}

# Operations may be made of one another to this depth, so that what goes through a tree by calling
# itself stays within Python's limit of calls.
DEEPEST_TREE = 200


@dataclass(frozen=True, slots=True)
class _Pending:
    """An operator of ``count`` operands, the last of which has not been read in full."""

    token: Token
    level: int
    count: int


def read_expression(tokens: Tokens) -> Expression:
    """The longest expression that the next tokens make."""
    operands: list[Expression] = []
    pending: list[_Pending] = []
    while True:
        while sign := tokens.accept(*PREFIX):
            pending.append(_Pending(sign, PREFIX[sign.text], 1))
        operands.append(_operand(tokens))
        sign = tokens.accept(*BINARY)
        if sign is None:
            break
        level = BINARY[sign.text]
        is_left = level != POWER and level not in SINGLE
        _reduce(operands, pending, level if is_left else level + 1)
        if level in SINGLE and pending and pending[-1].level == level:
            raise tokens.wrong(sign, "another operator or the end of the expression", SINGLE[level])
        pending.append(_Pending(sign, level, 2))
    _reduce(operands, pending, 0)
    return operands[0]


def _reduce(operands: list[Expression], pending: list[_Pending], level: int) -> None:
    """Make operations of the last pending operators that bind at least as tightly as a level."""
    while pending and pending[-1].level >= level:
        operator = pending.pop()
        parts = tuple(operands[-operator.count :])
        del operands[-operator.count :]
        operands.append(Operation(operator.token.text, parts, operator.token.at))


def _operand(tokens: Tokens) -> Expression:
    """A number, a variable, a call, or an expression in brackets."""
    token = tokens.peek()
    if token.kind == "number":
        return Number(float(tokens.take().text), token.at)
    if token.kind == "name" and tokens.peek_further().text == "(":
        call = read_call(tokens, "an expression")
        _check_no_index(tokens, "give the result a name, y <- f(x), and write y[i]")
        return call
    if token.kind == "name":
        return read_reference(tokens)
    if token.text != "(":
        raise tokens.wrong(token, "a number, a name or (", _NO_OPERAND.get(token.text, ""))
    tokens.open("(")
    inner = read_expression(tokens)
    tokens.close("an operator or ")
    _check_no_index(tokens, "give the expression a name, y <- a + b, and write y[i]")
    return inner


def read_call(tokens: Tokens, expected: str) -> Call:
    """A function, or a distribution, with its arguments."""
    token = tokens.name(expected)
    if advice := NO_FUNCTIONS.get(token.text):
        raise tokens.wrong(token, expected, advice)
    tokens.open("(", "parameters stand in brackets, dnorm(mu, tau)")
    arguments = () if tokens.peek().text == ")" else read_list(tokens, read_expression)
    tokens.close("an operator, a comma or ")
    return Call(token.text, arguments, token.at)


def read_reference(tokens: Tokens, advice: str = "") -> Reference:
    """A variable, with its indices where it has some."""
    token = tokens.name("a variable", advice)
    if tokens.peek().text != "[":
        return Reference(token.text, None, token.at)
    tokens.open("[")
    indices = read_list(tokens, _index)
    tokens.close("an operator, a comma or ")
    _check_no_index(tokens, "all indices stand in one pair of brackets, x[i, j]")
    return Reference(token.text, indices, token.at)


def read_list(
    tokens: Tokens, read: Callable[[Tokens], Expression]
) -> tuple[Expression, ...]:
    """One or more expressions, parted by commas."""
    found = [read(tokens)]
    while tokens.accept(","):
        found.append(read(tokens))
    return tuple(found)


def check_depth(tokens: Tokens, expressions: Iterable[Expression]) -> None:
    """Refuse operations that are made of one another to more than a stated depth."""
    level, depth = list(expressions), 0
    while level:
        if depth > DEEPEST_TREE:
            raise tokens.source.error(
                level[0].at,
                f"found more than {DEEPEST_TREE} operations made of one another, expected no more "
                "than that: give parts names of their own, part <- ..., or use sum(x[1:n]).",
            )
        level, depth = [p for e in level for p in parts_of(e)], depth + 1


def _index(tokens: Tokens) -> Expression:
    token = tokens.peek()
    return Everything(token.at) if token.text in (",", "]") else read_expression(tokens)


def _check_no_index(tokens: Tokens, advice: str) -> None:
    token = tokens.peek()
    if token.text == "[":
        raise tokens.wrong(token, "an operator or the end of the expression", advice)
