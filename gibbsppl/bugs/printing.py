r"""The text of a BUGS program or expression: what `gibbsppl.bugs.parse` reads as the same tree.

>>> from gibbsppl.bugs.parse import parse
>>> print(text(parse("model{for(i in 1:N){log(mu[i])=a+-b*(x[i,]-2)\ny[i]~dpois(mu[i])I(,3)}}")))
model {
  for (i in 1:N) {
    log(mu[i]) <- a + -b * (x[i, ] - 2)
    y[i] ~ dpois(mu[i]) I(, 3)
  }
}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gibbsppl.bugs.expressions import BINARY, POWER, PREFIX, SINGLE
from gibbsppl.bugs.syntax import (
    Assignment,
    Call,
    Declaration,
    Everything,
    Expression,
    Loop,
    Number,
    Operation,
    Program,
    Reference,
    Restriction,
    Statement,
    Stochastic,
)

INDENT = "  "
ATOM = max(BINARY.values()) + 1

# Operators without space around them.
_TIGHT = (":", "^")


def text(program: Program) -> str:
    """The program, declarations first, one statement a line."""
    lines = []
    if program.declarations:
        lines.append(f"var {', '.join(map(_declaration, program.declarations))};")
    if program.data is not None:
        lines += ["data {", *_indented(program.data), "}"]
    return "\n".join([*lines, "model {", *_indented(program.model), "}"])


def text_of_expression(expression: Expression) -> str:
    """The expression, with brackets where they are needed."""
    return _written(expression)[0]


def _declaration(declaration: Declaration) -> str:
    return _with_indices(declaration.name, declaration.sizes)


def _indented(statements: Iterable[Statement]) -> list[str]:
    return [INDENT + line for s in statements for line in _lines(s)]


def _lines(statement: Statement) -> list[str]:
    match statement:
        case Loop(name, values, body):
            head = f"for ({name} in {text_of_expression(values)}) {{"
            return [head, *_indented(body), "}"]
        case Assignment(target, link, value):
            left = _with_indices(target.name, target.indices)
            left = left if link is None else f"{link}({left})"
            return [f"{left} <- {text_of_expression(value)}"]
        case Stochastic(target, distribution, restriction):
            left, right = text_of_expression(target), text_of_expression(distribution)
            return [f"{left} ~ {right}{_restriction(restriction)}"]


def _restriction(restriction: Restriction | None) -> str:
    if restriction is None:
        return ""
    bounds = (restriction.lower, restriction.upper)
    lower, upper = ("" if b is None else text_of_expression(b) for b in bounds)
    return f" {restriction.kind}({lower}, {upper})"


def _written(expression: Expression) -> tuple[str, int]:
    """Text, and how tightly its outermost operator binds."""
    match expression:
        case Number(value):
            return _number(value), PREFIX["-"] if value < 0 else ATOM
        case Reference(name, indices):
            return _with_indices(name, indices), ATOM
        case Everything():
            return "", ATOM
        case Call(function, arguments):
            return f"{function}({_listed(arguments)})", ATOM
        case Operation(operator, (operand,)):
            level = PREFIX[operator]
            return f"{operator}{_within(operand, level)}", level
        case Operation(operator, (left, right)):
            level = BINARY[operator]
            # What groups from one side needs no brackets on that side.
            is_single = level in SINGLE
            first = _within(left, level + (is_single or level == POWER))
            second = _within(right, level + (level != POWER))
            between = operator if operator in _TIGHT else f" {operator} "
            return f"{first}{between}{second}", level
    raise AssertionError(f"an operation of {len(expression.operands)} operands")


def _within(expression: Expression, level: int) -> str:
    """The expression as an operand, in brackets if it binds less tightly than a level."""
    written, own = _written(expression)
    return written if own >= level else f"({written})"


def _with_indices(name: str, indices: Sequence[Expression] | None) -> str:
    return name if indices is None else f"{name}[{_listed(indices)}]"


def _listed(expressions: Iterable[Expression]) -> str:
    return ", ".join(map(text_of_expression, expressions))


def _number(value: float) -> str:
    """The shortest text of a number that is read as the same."""
    short = repr(float(value))
    return short.removesuffix(".0")
