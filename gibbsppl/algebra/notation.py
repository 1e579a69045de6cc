"""Expressions as a person writes them: decimals, sums over named dims, positive terms first.

Comes in: a SymPy expression and a `Notation`. Goes out: text. In the short notation an element at
its array's own dims is written by its name alone, as in the model's own language.

>>> from gibbsppl.algebra.expressions import Array
>>> velocity, z, g, k = Array("velocity"), Array("z"), Dim("galaxy"), Dim("component")
>>> total = Over(Equals(z[g], k) * velocity[g], g, 0, 82)
>>> notation = Notation(sizes={g: 82, k: 3}, own={"velocity": (g,), "z": (g,)})
>>> notation.text(-total / 2 + number(0.001))
'0.001 - sum(velocity, galaxy where z = component)/2'
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.exact_numbers import number
from gibbsppl.algebra.expressions import (
    Binder,
    Dim,
    Expr,
    Greatest,
    InverseEntry,
    Leaf,
    Least,
    LogDet,
    Over,
    Times,
    substitute,
)
from gibbsppl.algebra.functions import (
    FUNCTIONS,
    INDICATORS,
    Equals,
    LogMass,
    Where,
)
from gibbsppl.algebra.masses import written_out
from gibbsppl.algebra.ranges import numbered, unnested
from gibbsppl.algebra.recursions import Earlier, Recursion

SUM, PRODUCT, POWER, ATOM = range(4)
RELATIONS = {f: FUNCTIONS[f].relation for f in INDICATORS}
LONGEST_DECIMAL = 8
# Python writes larger floats with an exponent.
LARGEST_WHOLE = 10**16
NO_BREAK = "\u00a0"

Written = tuple[str, int]


def _enclosed(written: Written, rank: int) -> str:
    """A text inside of an operator: in parentheses where it binds less tightly."""
    text, own = written
    return text if own >= rank else f"({text})"


def rank_of(factor: Expr) -> int:
    """Where a factor stands in a product."""
    base = factor.base if isinstance(factor, sp.Pow) else factor
    match base:
        case Leaf():
            return 1 if base.indices else 0
        case sp.Add():
            return 2
        case Over():
            return 4
    return 3


@dataclass(frozen=True, slots=True)
class Sign:
    """How elements of an array are written that are something of others: ``E[log(tau[k])]``.

    ``inside`` are expressions of the dims of the array.
    """

    sign: str
    inside: tuple[Expr, ...]
    dims: tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class Notation:
    """How to write: the size of each dim, and the dims of the arrays written by name alone.

    ``signs`` are of arrays that are written by what they are.
    """

    sizes: Mapping[Dim, int] = field(default_factory=dict)
    own: Mapping[str, tuple[Dim, ...]] = field(default_factory=dict)
    signs: Mapping[str, Sign] = field(default_factory=dict)

    def text(self, expr: Expr) -> str:
        """The expression as text."""
        return self._written(self.sized(sp.sympify(expr)))[0]

    def sized(self, expr: Expr) -> Expr:
        """The expression with sizes as numbers, and sums of ones along a dim as its size."""
        ones = (o for o in expr.atoms(Over) if o.body == 1 and o.bound[0] in self.sizes)
        sizes = {o: sp.Integer(self.sizes[o.bound[0]]) for o in ones if len(o.args) == 2}
        return numbered(substitute(expr, sizes) if sizes else expr, self.sizes)

    def factor(self, expr: Expr) -> str:
        """The expression as a factor of a product: a sum in parentheses."""
        return self._within(self.sized(sp.sympify(expr)), PRODUCT)

    def total(self, terms: Iterable[Expr]) -> str:
        """The sum of the terms, in the order given, plain numbers added up where the first is."""
        parts = [a for t in terms for a in self.ordered(self.sized(sp.sympify(t)))]
        numbers = [p for p, _ in parts if p.is_number]
        merged = Add(*numbers)
        texts = [text for p, text in parts if not p.is_number]
        if merged != 0:
            at = [p for p, _ in parts].index(numbers[0])
            before = sum(not p.is_number for p, _ in parts[:at])
            texts.insert(before, self._written(merged)[0])
        return signed_sum(texts) if texts else "0"

    def _written(self, expr: Expr) -> Written:
        """Text, and how tightly its outermost operator binds."""
        if expr.is_number and not expr.args:
            return _number(expr)
        match expr:
            case Leaf():
                return self._leaf(expr), ATOM
            case Recursion() | Earlier():
                name, *indices = (str(expr.own), *expr.indices)
                return f"{name}[{', '.join(map(self.text, indices))}]", ATOM
            case sp.Add():
                return signed_sum([text for _, text in self.ordered(expr)]), SUM
            case sp.Mul():
                return self._product(expr)
            case sp.exp():
                return f"exp({self.text(expr.args[0])})", ATOM
            case sp.Pow():
                return self._power(expr)
            case Over():
                return self._sum(expr), ATOM
            case Greatest() | Least():
                return self._extreme(expr), ATOM
            case _ if expr.func in RELATIONS:
                return f"[{self._relation(expr)}]", ATOM
            case _:
                return self._call(expr)

    def _within(self, expr: Expr, rank: int) -> str:
        return _enclosed(self._written(expr), rank)

    def _leaf(self, leaf: Leaf) -> str:
        name = leaf.array.name
        if name in self.signs:
            return self.signed(self.signs[name], leaf.indices)
        if not leaf.indices or self.own.get(name) == leaf.indices:
            return str(name)
        return f"{name}[{', '.join(map(self.text, leaf.indices))}]"

    def signed(self, sign: Sign, indices: Sequence[Expr]) -> str:
        """What is something of others, at indices."""
        at = {d: i for d, i in zip(sign.dims, indices, strict=True) if d != i}
        inside = (self.text(substitute(e, at)).strip("[]") if e.func in RELATIONS
                  else self.text(substitute(e, at)) for e in sign.inside)  # fmt: skip
        return f"{sign.sign}[{', '.join(inside)}]"

    def ordered(self, expr: Expr) -> list[tuple[Expr, str]]:
        """The terms of a sum with texts: positive terms first, negative terms last."""

        def key(term: tuple[Expr, str]) -> tuple[bool, bool, int, str]:
            expr, text = term
            return text.startswith("-"), bool(expr.is_number), len(text), text

        return sorted(((a, self._written(a)[0]) for a in Add.make_args(expr)), key=key)

    def _product(self, expr: Expr) -> Written:
        """``-5*a*b/(2*c**2)``: sign, numbers, scalars, elements, then functions and sums."""
        coefficient, rest = expr.as_coeff_Mul()
        above, below = fraction_of(Mul.make_args(rest))
        sign = "-" if coefficient.is_negative else ""
        p, q = coefficient_text(abs(coefficient))
        tops = [_enclosed(w, PRODUCT) for w in self._ranked(above)]
        lows = [_enclosed(w, POWER) for w in self._ranked(below)]
        tops = ([p] if p != "1" or not tops else []) + tops
        lows = ([q] if q != "1" else []) + lows
        text = sign + "*".join(tops)
        if lows:
            low = "*".join(lows)
            text += f"/({low})" if len(lows) > 1 else f"/{low}"
        return text, PRODUCT

    def _ranked(self, factors: Iterable[Expr]) -> list[Written]:
        """The factors of a product in their order, written."""
        found = [(rank_of(f), self._written(f)) for f in factors]
        return [written for _, written in sorted(found)]

    def _power(self, expr: sp.Pow) -> Written:
        base, exponent = expr.base, expr.exp
        if exponent == sp.Rational(1, 2):
            return f"sqrt({self.text(base)})", ATOM
        if exponent.is_number and exponent.is_negative:
            return f"1/{self._within(base**-exponent, POWER)}", PRODUCT
        return f"{self._within(base, ATOM)}**{self._within(exponent, ATOM)}", POWER

    def _sum(self, expr: Over) -> str:
        """``sum(body, dims where conditions)``; a count where the body is a condition alone."""
        body, sums = unnested(expr)
        factors = Mul.make_args(body)
        conditions = [f for f in factors if isinstance(f, Equals)]
        rest = Mul(*(f for f in factors if f not in conditions))
        over = self._ranges(sums) + self._where(conditions)
        return f"count({over})" if rest == 1 else f"sum({self.text(rest)}, {over})"

    def _extreme(self, expr: Greatest | Least) -> str:
        """``max(body, dims where conditions)``."""
        body, extremes = unnested(expr)
        conditions: list[Expr] = []
        if isinstance(body, Where) and body.args[2].is_infinite:
            conditions, body = list(Mul.make_args(body.args[0])), body.args[1]
        over = self._ranges(extremes) + self._where(conditions)
        return f"{expr.symbol}({self.text(body)}, {over})"

    def _where(self, conditions: Sequence[Expr]) -> str:
        told = " and ".join(sorted(map(self._relation, conditions)))
        return f" where {told}" if told else ""

    def _ranges(self, nest: Iterable[Binder]) -> str:
        return ", ".join(map(self._range, nest))

    def _range(self, expr: Binder) -> str:
        (dim,), bounds = expr.bound, expr.args[2:]
        size = self.sizes.get(dim, self.sizes.get(Dim(root_of(dim))))
        if all(b == e for b, e in zip(bounds, (0, size), strict=False)):
            return str(dim)
        return f"{dim} = {bounds[0]}..{bounds[1] - 1}"

    def _relation(self, expr: Expr) -> str:
        if expr.func not in RELATIONS:
            return self.text(expr)  # (what is 1 or 0 by itself)
        left, right = map(self.text, expr.args)
        return f"{left} {RELATIONS[expr.func]} {right}"

    def _call(self, expr: Expr) -> Written:
        match expr:
            case LogDet():
                return f"logdet({self._matrix(expr.body, expr.bound)})", ATOM
            case InverseEntry():
                entry = ", ".join(map(self.text, expr.args[3:]))
                return f"inverse({self._matrix(expr.body, expr.bound)})[{entry}]", ATOM
            case Times():
                return f"prod({self.text(expr.body)}, {expr.bound[0]})", ATOM
            case _ if not expr.args or isinstance(expr, sp.Symbol):
                return str(expr), ATOM
        if isinstance(expr, LogMass) and (found := written_out(expr)) is not None:
            return self.text(found), ATOM
        # (how the log of a mass is computed where it is small says nothing more)
        args = expr.args[:4] if isinstance(expr, LogMass) else expr.args
        inside = ", ".join(map(self.text, args))
        row = FUNCTIONS.get(expr.func)
        return (f"{expr.func}({inside})" if row is None else row.printed(inside)), ATOM

    def _matrix(self, body: Expr, bound: Sequence[Dim]) -> str:
        """A matrix without its two bound dims, where it is an array's."""
        if isinstance(body, Leaf):
            outer = [self.text(i) for i in body.indices if i not in bound]
            return f"{body.array.name}[{', '.join(outer)}]" if outer else str(body.array.name)
        return f"{self.text(body)}, {', '.join(map(str, bound))}"


def signed_sum(texts: Sequence[str]) -> str:
    """Terms joined by their signs.

    >>> signed_sum(["alpha", "-1", "x"])
    'alpha - 1 + x'
    """
    first, *rest = texts
    return first + "".join(f" - {t[1:]}" if t.startswith("-") else f" + {t}" for t in rest)


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a formula, broken between terms; inside of one only where it is too long.

    >>> wrapped("sum(a + b, i) - tau*(c - d)", 20)
    ['sum(a + b, i)', '  - tau*(c - d)']
    """
    lines: list[str] = []
    for depth in (0, 1, 2, 99):
        bound = _bound(text, depth)
        lines = textwrap.wrap(bound, width, subsequent_indent="  ", break_long_words=False)
        if max(map(len, lines), default=0) <= width:
            break
    return [line.replace(NO_BREAK, " ") for line in lines]


def _bound(text: str, deepest: int) -> str:
    """The text with non-breaking blanks at all places but those allowed for line breaks."""
    depth, found = 0, ""
    for n, ch in enumerate(text):
        depth += (ch in "([") - (ch in ")]")
        at_operator = found[-1:] in ("+", "-", "=") or text[n + 1 : n + 2] == "="
        breaks = ch != " " or (depth <= deepest and not at_operator)
        found += ch if breaks else NO_BREAK
    return found


def _number(value: Expr) -> Written:
    """A number: a decimal where that is short and exact, else a fraction."""
    if isinstance(value, sp.Rational) and not value.is_Integer:
        text = _decimal(value)
        return (text, ATOM) if text is not None else (f"{value.p}/{value.q}", PRODUCT)
    return _whole(value), SUM if value.is_negative else ATOM


def _decimal(value: sp.Rational) -> str | None:
    plain = f"{float(value):.{LONGEST_DECIMAL - 3}f}".rstrip("0")
    short = f"{float(value):.12g}".replace("e-0", "e-").replace("e+0", "e+")
    text = plain if number(float(plain)) == value else short
    is_exact = number(float(text)) == value
    return text if is_exact and len(text) <= LONGEST_DECIMAL else None


def coefficient_text(value: Expr) -> tuple[str, str]:
    """What a number contributes above and below the line of a product."""
    if isinstance(value, sp.Rational) and value.q > 4 and (text := _decimal(value)) is not None:
        return text, "1"
    if isinstance(value, sp.Rational):
        return _whole(sp.Integer(value.p)), _whole(sp.Integer(value.q))
    return str(value), "1"


def _whole(value: Expr) -> str:
    """A number; a whole one of many digits as the float that it is, such as 1e+200."""
    is_long = value.is_Integer and abs(value) > LARGEST_WHOLE
    is_float = is_long and math.isfinite(float(value)) and int(float(value)) == value
    return repr(float(value)) if is_float else str(value)


def fraction_of(factors: Iterable[Expr]) -> tuple[list[Expr], list[Expr]]:
    """The factors above the line and, with their exponents turned, those below."""
    above, below = [], []
    for factor in factors:
        power = factor.as_base_exp() if isinstance(factor, sp.Pow) else (factor, sp.S.One)
        if power[1].is_number and power[1].is_negative:
            below.append(power[0] ** -power[1])
        elif factor != 1:
            above.append(factor)
    return above, below
