"""The text of an expression over arrays: one case per kind, and the arithmetic among them.

Comes in: an expression of the array language. Goes out: `Text`, the source of an array with one
axis per dim, in the order of the `Writer`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gibbsppl.code.arrays.expressions import (
    ONE,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Size,
    is_call,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.systems import Recursive
from gibbsppl.code.arrays.terms import Quotient, is_negative, quotient, terms_of, varies
from gibbsppl.code.numpy_text.reads import element_text
from gibbsppl.code.numpy_text.recursions import recursive_text
from gibbsppl.code.numpy_text.reductions import entry_text, reduced_text
from gibbsppl.code.numpy_text.text import ATOM, POWER, PRODUCT, SUM, Text, number, plus_text
from gibbsppl.code.numpy_text.whole_numbers import is_count
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.errors import CompileError


def write(writer: Writer, e: Expr) -> Text:
    """The text of an expression, by its kind."""
    match e:
        case Number(value=value):
            return number(value)
        case Size(dim=dim):
            return writer.sized(dim)
        case Position():
            return _positions(writer, e)
        case Element():
            return element_text(writer, e)
        case Reduce(by="inverse"):
            raise CompileError(f"the NumPy back end reads entries of inverse matrices: {e}.")
        case Reduce():
            return reduced_text(writer, e)
        case Recursive():
            return recursive_text(writer, e)
        case Apply(function="+"):
            return _sum(writer, e)
        case Apply(function="*" | "/" | "neg"):
            return _product(writer, quotient(e))
        case Apply(function="**"):
            return _power(writer, e)
        case Apply(function="entry", arguments=(Reduce() as whole, row, column)):
            return entry_text(writer, whole, row, column)
        case Apply():
            return _call(writer, e)
    raise CompileError(f"the NumPy back end cannot write {e}.")


def _positions(writer: Writer, e: Position) -> Text:
    """A dim as a value: the positions of the range in force."""
    if e.dim in writer.fixed:
        at = writer.fixed[e.dim]
        if isinstance(at, int):
            return Text(str(at + e.shift))
        return Text(plus_text(at, e.shift), (), SUM if e.shift else ATOM)
    own = writer.places_along(e.dim)
    stride = f", {own.step}" if own.step != 1 else ""
    ends = f"{own.start + e.shift}, {writer.end_text(e.dim, own.stop, e.shift)}"
    return Text(f"{writer.call('arange')}({ends}{stride})", (e.dim,))


def _sum(writer: Writer, e: Expr) -> Text:
    """The text of a sum of terms with signs; terms of data alone are computed once.

    Whole numbers that may cancel are added first, to the last digit: ``exp(x) - n + 3`` is 0 where
    x is -40 and n is 3, ``3 - n + exp(x)`` is not.
    """
    every = terms_of(e)
    whole = _cancelling(writer, every)
    rest = [t for t in every if not any(t is w for w in whole)]
    terms: list[Expr] = []
    for part in (whole, rest):
        together = writer.together(part, total)
        is_new = len(together) < len(part)
        terms += sorted(together, key=partial(_constant_last, writer, is_new))
    signs = ["-" if is_negative(t) else "+" for t in terms]
    plain = [negative(t) if s == "-" else t for s, t in zip(signs, terms, strict=True)]
    texts, dims = writer.aligned([writer.text(t) for t in plain], PRODUCT)
    signed = [_sign_out(s, t) for s, t in zip(signs, texts, strict=True)]
    (sign, first), *others = signed
    code = first if sign == "+" else f"-{first}"
    return Text(code + "".join(f" {sign} {t}" for sign, t in others), dims, SUM)


def _cancelling(writer: Writer, terms: Sequence[Expr]) -> list[Expr]:
    """The whole numbers of a sum, if they may cancel."""
    whole = [t for t in terms if is_count(t, writer.variables)]
    settled = not writer.preparing and all(map(writer.is_settled, whole))
    signs = {is_negative(t) for t in whole}
    return [] if settled or len(signs) < 2 or len(whole) == len(terms) else whole


def _sign_out(sign: str, text: str) -> tuple[str, str]:
    """The sign of a term, combined with the text's own, and the text without a sign."""
    if not text.startswith("-"):
        return sign, text
    return ("-" if sign == "+" else "+"), text[1:]


def _constant_last(writer: Writer, is_new: bool, term: Expr) -> tuple[bool, bool, str]:
    """Numbers go last; terms with a minus sign go after one without; new terms by their texts."""
    return not varies(term), is_negative(term), writer.shown(term) if is_new else ""


def _product(writer: Writer, found: Quotient) -> Text:
    """Factors, then divisors."""
    numbers = [f for f in found.above if isinstance(f, Number)]
    divisors = [f for f in found.below if isinstance(f, Number)]
    inverses: dict[int, Expr] = {}
    every: list[Expr] = [f for f in found.above if not isinstance(f, Number)]
    for b in (b for b in found.below if b not in divisors):
        if _may_be_infinite(b):
            every.append(Apply("reciprocal", (b,)))
            continue
        one = Apply("/", (ONE, b))
        inverses[id(one)] = b
        every.append(one)
    together = writer.together(every, product)
    above = [*numbers, *(f for f in together if id(f) not in inverses)]
    below = [inverses[id(f)] for f in together if id(f) in inverses] + divisors
    return _quotient(writer, found.sign, above, below)


def _may_be_infinite(divisor: Expr) -> bool:
    """Whether a divisor may end at 0: a bound that is infinite there."""
    base = divisor.parts[0] if is_call(divisor, "**") or is_call(divisor, "sqrt") else divisor
    positive = (isinstance(a, Number) and a.value > 0 for a in base.parts)
    return is_call(base, "maximum") and not any(positive)


def _quotient(writer: Writer, sign: int, above: Sequence[Expr], below: Sequence[Expr]) -> Text:
    """Factors over divisors, with a sign."""
    if sign > 0 and len(above) == 1 and not below:
        return writer.text(above[0])
    texts, dims = writer.aligned([writer.text(f) for f in above], PRODUCT)
    numerator = " * ".join(texts) or "1"
    unders = [writer.text(f) for f in below]
    _, all_dims = writer.aligned([Text("", dims), *unders])
    under = [writer.align(u, all_dims, POWER) for u in unders]
    if under and dims != all_dims:
        numerator = writer.align(Text(numerator, dims, PRODUCT), all_dims, PRODUCT)
    code = " / ".join([numerator, *under])
    return Text("-" * (sign < 0) + code, all_dims, PRODUCT)


def _power(writer: Writer, e: Expr) -> Text:
    base, exponent = e.parts
    whole = isinstance(exponent, Number) and exponent.value == int(exponent.value)
    if isinstance(exponent, Number) and whole and varies(base) and writer.is_whole(base):
        inner = writer.text(base)
        return Text(f"{inner.within(ATOM)}**{int(exponent.value)}.0", inner.dims, POWER)
    texts, dims = writer.aligned([writer.text(base), writer.text(exponent)], ATOM)
    return Text(f"{texts[0]}**{texts[1]}", dims, POWER)


def _call(writer: Writer, e: Apply) -> Text:
    """A function of arguments; what the log of a narrow mass is computed by is computed there."""
    name, arguments = e.function, e.arguments
    while name == "log_add_exp" and is_call(arguments[0], name):
        arguments = (*arguments[0].parts, *arguments[1:])
    texts, dims = writer.aligned([writer.text(a) for a in arguments])
    if name == "log_mass":
        texts = [*texts[:4], *(f"lambda: {text}" for text in texts[4:])]
    return Text(f"{writer.call(name)}({', '.join(texts)})", dims)
