"""The text of an expression: one case per kind, and the arithmetic among them.

Comes in: a scalar template. Goes out: `Text`, the source of an array with one axis per dim, in
the order of the `Writer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import sympy as sp
from sympy import Mul

from gibbsppl.algebra.expressions import (
    Dim,
    Expr,
    Greatest,
    InverseEntry,
    Leaf,
    Least,
    LogDet,
    Over,
    Times,
    dims_of,
)
from gibbsppl.algebra.functions import FUNCTIONS, LogMass, Maximum
from gibbsppl.algebra.near_one import (
    as_exponential,
    called_as,
    log_of_one_minus,
    log_parts,
    terms_of,
)
from gibbsppl.algebra.recursions import Earlier, Recursion
from gibbsppl.code.extremes import extreme_text
from gibbsppl.code.reads import leaf_text
from gibbsppl.code.recursions import earlier_text, recursion_text
from gibbsppl.code.sums import over_text
from gibbsppl.code.text import ATOM, POWER, PRODUCT, SUM, Text, number, split_number
from gibbsppl.code.writer import Writer
from gibbsppl.errors import CompileError
from gibbsppl.pieces.limits import is_whole


def write(writer: Writer, expr: Expr) -> Text:
    """The text of an expression, by its kind."""
    match expr:
        case sp.Number() | sp.NumberSymbol():
            return number(expr)
        case Dim():
            return _positions(writer, expr)
        case Leaf():
            return leaf_text(writer, expr)
        case sp.Add():
            return _sum(writer, expr)
        case sp.Mul():
            return _product(writer, expr)
        case sp.Pow():
            return _power(writer, expr)
        case _ if expr.func in OWN:
            return OWN[expr.func](writer, expr)
        case sp.log():
            return _log(writer, expr)
        case sp.Function() if expr.func in FUNCTIONS:
            return _function(writer, expr)
        case _ if expr.is_number:
            return number(expr)
        case _:
            raise CompileError(f"the NumPy back end cannot write {expr}.")


def _positions(writer: Writer, dim: Dim) -> Text:
    """A dim as a value: the positions of the range in force."""
    if dim in writer.fixed:
        return Text(str(writer.fixed[dim]))
    start, stop = writer.range(dim)
    stride = f", {writer.stride(dim)}" if writer.stride(dim) != 1 else ""
    return Text(f"{writer.call('arange')}({start}, {stop}{stride})", (dim,))


def _sum(writer: Writer, expr: Expr) -> Text:
    """The text of a sum of terms with signs; terms of data alone are computed once."""
    every = terms_of(expr)
    whole = _cancelling(writer, every)
    parts = (whole, [t for t in every if t not in whole])
    together = (sorted(writer.data_together(p, sp.Add), key=_constant_last) for p in parts)
    terms = [*chain.from_iterable(together)]
    signs = ["-" if t.could_extract_minus_sign() else "+" for t in terms]
    plain = [-t if sign == "-" else t for sign, t in zip(signs, terms, strict=True)]
    texts, dims = writer.aligned([writer.write(t) for t in plain], PRODUCT)
    signed = [_sign_out(s, t) for s, t in zip(signs, texts, strict=True)]
    (sign, first), *rest = signed
    code = first if sign == "+" else f"-{first}"
    return Text(code + "".join(f" {sign} {t}" for sign, t in rest), dims, SUM)


def _cancelling(writer: Writer, terms: Sequence[Expr]) -> list[Expr]:
    """The whole numbers of a sum, if they may cancel: they are added first, to the last digit.

    ``exp(x) - n + 3`` is 0 where x is -40 and n is 3, ``3 - n + exp(x)`` is not.
    """
    whole = [t for t in terms if is_whole(t, writer.graph)]
    signs = {t.could_extract_minus_sign() for t in whole}
    settled = not writer.preparing and all(map(writer.is_data, whole))
    return [] if settled or len(signs) < 2 or len(whole) == len(terms) else whole


def _sign_out(sign: str, text: str) -> tuple[str, str]:
    """The sign of a term, combined with the text's own, and the text without a sign."""
    if not text.startswith("-"):
        return sign, text
    return ("-" if sign == "+" else "+"), text[1:]


def _constant_last(term: Expr) -> tuple[bool, bool, str]:
    """Numbers go last; terms with a minus sign go after one without."""
    return (term.is_number, bool(term.could_extract_minus_sign()), str(term))


def _product(writer: Writer, expr: Expr) -> Text:
    """Factors, then divisors: a negative power divides."""
    coefficient, rest = expr.as_coeff_Mul()
    factors = writer.weighted(writer.data_together(list(Mul.make_args(rest)), Mul))
    below = [1 / f for f in factors if _divides(f) and not _may_be_infinite(f)]
    above = [f for f in factors if 1 / f not in below]
    sign = "-" if coefficient.is_negative else ""
    front, divisor = split_number(abs(coefficient))
    parts = [writer.write(f) for f in above]
    texts, dims = writer.aligned(parts, PRODUCT)
    numerator = " * ".join(([front] if front else []) + texts) or "1"
    unders = [writer.write(f) for f in below]
    _, all_dims = writer.aligned([Text("", dims), *unders])
    under = [writer.align(u, all_dims, POWER) for u in unders] + ([divisor] if divisor else [])
    if under and dims != all_dims:
        numerator = writer.align(Text(numerator, dims, PRODUCT), all_dims, PRODUCT)
    code = " / ".join([numerator, *under])
    return Text(sign + code, all_dims, PRODUCT)


def _power(writer: Writer, expr: Expr) -> Text:
    base, exponent = expr.args
    if exponent == sp.Rational(1, 2):
        inner = writer.write(base)
        return Text(f"{writer.call('sqrt')}({inner.code})", inner.dims)
    if _divides(expr):
        inner = writer.write(base**-exponent)
        if _may_be_infinite(expr):
            return Text(f"{writer.call('reciprocal')}({inner.code})", inner.dims)
        return Text(f"1 / {inner.within(POWER)}", inner.dims, PRODUCT)
    if exponent.is_Integer and writer.is_whole(base):
        inner = writer.write(base)
        return Text(f"{inner.within(ATOM)}**{int(exponent)}.0", inner.dims, POWER)
    texts, dims = writer.aligned([writer.write(base), writer.write(exponent)], ATOM)
    return Text(f"{texts[0]}**{texts[1]}", dims, POWER)


def _divides(expr: Expr) -> bool:
    """Whether a factor is written as a divisor."""
    return bool(isinstance(expr, sp.Pow) and expr.exp.is_number and expr.exp.is_negative)


def _may_be_infinite(expr: Expr) -> bool:
    """Whether a divisor may end at 0: a bound that is infinite there."""
    base, _ = expr.args
    return isinstance(base, Maximum) and not base.is_positive


def _function(writer: Writer, expr: Expr) -> Text:
    name, arguments = called_as(expr)
    texts, dims = writer.aligned([writer.write(a) for a in arguments])
    return Text(f"{writer.call(name)}({', '.join(texts)})", dims)


def _log_mass(writer: Writer, expr: Expr) -> Text:
    """The log of a mass; what it is where an interval is narrow is computed there alone."""
    texts, dims = writer.aligned([writer.write(a) for a in expr.args])
    inside = [*texts[:4], *(f"lambda: {text}" for text in texts[4:])]
    return Text(f"{writer.call('log_mass')}({', '.join(inside)})", dims)


def _log(writer: Writer, expr: Expr) -> Text:
    (of,) = expr.args
    if (text := _log_of_exponentials(writer, of)) is not None:
        return text
    parts = log_parts(of)
    return _function(writer, expr) if parts is None else writer.write(sp.Add(*parts))


def _log_of_exponentials(writer: Writer, of: Expr) -> Text | None:
    """The log of a sum of exponentials, none of which is formed: they may be too large."""
    if isinstance(of, Over):
        body, ranges = writer.unnested(of)
        weight, exponent = as_exponential(body)
        is_weighted = weight == 1 or weight.is_positive
        if exponent == 0 or not is_weighted or not {r.dim for r in ranges} <= dims_of(exponent):
            return None
        with writer.over(ranges):
            inner = writer.write(exponent + _log_of_positive(weight))
        summed = {r.dim for r in ranges}
        axes = tuple(n for n, d in enumerate(inner.dims) if d in summed)
        left = tuple(d for d in inner.dims if d not in summed)
        return Text(f"{writer.call('log_sum_exp')}({inner.code}, {axes})", left)
    if (form := log_of_one_minus(of)) is not None:
        inner = writer.write(form[1])
        return Text(f"{writer.call(form[0])}({inner.code})", inner.dims)
    terms = sp.Add.make_args(of)
    logs = [log for t in terms if (log := _log_term(t)) is not None]
    if len(logs) < 2 or len(logs) < len(terms) or not of.has(sp.exp):
        return None
    texts, dims = writer.aligned([writer.write(x) for x in logs])
    return Text(f"{writer.call('log_add_exp')}({', '.join(texts)})", dims)


def _log_of_positive(weight: Expr) -> Expr:
    """The log of a product of powers, which may themselves be too large."""
    powers = (f.as_base_exp() for f in sp.Mul.make_args(weight))
    return sp.Add(
        *(e * sp.log(b) if b.is_positive and e.is_real else sp.log(b**e) for b, e in powers)
    )


def _log_term(term: Expr) -> Expr | None:
    """The log of a term that is an exponential times a positive number, or such a number."""
    number, rest = term.as_coeff_Mul()
    if not number.is_positive or not (rest == 1 or isinstance(rest, sp.exp)):
        return None
    return sp.log(number) + (rest.args[0] if rest != 1 else 0)


def _times(writer: Writer, expr: Times) -> Text:
    """A product over a dim."""
    (dim,) = expr.bound
    inner = writer.write(expr.body)
    if dim not in inner.dims:
        return Text(f"{inner.within(POWER)}**{writer.size(dim)}", inner.dims, POWER)
    left = tuple(d for d in inner.dims if d != dim)
    return Text(f"{inner.within(ATOM)}.prod(axis={inner.dims.index(dim)})", left)


def _log_det(writer: Writer, expr: LogDet) -> Text:
    inner = _matrix(writer, expr.body, *expr.bound)
    return Text(f"{writer.call('logdet')}({inner.code})", inner.dims[:-2])


def _inverse(writer: Writer, expr: InverseEntry) -> Text:
    """The text of an inverse matrix: the whole, its diagonal, or the entries at two indices."""
    inner = _matrix(writer, expr.body, *expr.bound)
    row, column = expr.args[3:]
    outer = inner.dims[:-2]
    code = f"{writer.call('inverse')}({inner.code})"
    is_apart = not {row, column} & set(outer)
    if is_apart and row == column and isinstance(row, Dim):
        return Text(f"{code}.diagonal(axis1=-2, axis2=-1)", (*outer, row))
    if is_apart and isinstance(row, Dim) and isinstance(column, Dim):
        return Text(code, (*outer, row, column))
    places = [*map(writer.places, outer), writer.write(row), writer.write(column)]
    at, dims = writer.aligned(places)
    return Text(f"{code}[{', '.join(at)}]", dims)


def _matrix(writer: Writer, body: Expr, row: Dim, column: Dim) -> Text:
    """The text of a matrix, or of several: the two dims last."""
    text = writer.write(body)
    outer = tuple(d for d in text.dims if d not in (row, column))
    if not {row, column} <= set(text.dims):
        raise CompileError(f"{body} is no matrix over {row} and {column}.")
    return writer.transposed(text, (*outer, row, column))


# What is read for all positions of a dim, arrays that are computed, and what may not be needed.
OWN: Mapping[Any, Callable[[Writer, Any], Text]] = {
    Over: over_text,
    Greatest: extreme_text,
    Least: extreme_text,
    Times: _times,
    LogDet: _log_det,
    InverseEntry: _inverse,
    LogMass: _log_mass,
    Recursion: recursion_text,
    Earlier: earlier_text,
}
