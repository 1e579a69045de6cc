r"""An expression as a formula, in LaTeX or in MathML.

Comes in: an expression, a `Markup`, and the `Notation` that says how the same is written as text:
which terms come first, which numbers are decimals. Goes out: a formula in that language.

>>> from gibbsppl.algebra.expressions import Array, Dim
>>> from gibbsppl.display.markup import LATEX
>>> tau, x, i = Array("tau")[()], Array("x"), Dim("i")
>>> print(Formulas(LATEX, Notation({i: 3})).formula(-tau * Over(x[i] ** 2, i) / 2))
- \frac{\tau \, \sum_{i} {x_{i}}^{2}}{2}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import sympy as sp

from gibbsppl.algebra.copies import root_of
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
)
from gibbsppl.algebra.functions import FUNCTIONS, Equals, LogMass, Where
from gibbsppl.algebra.masses import written_out
from gibbsppl.algebra.notation import (
    ATOM,
    POWER,
    PRODUCT,
    RELATIONS,
    SUM,
    Notation,
    Written,
    coefficient_text,
    fraction_of,
    rank_of,
)
from gibbsppl.algebra.ranges import unnested
from gibbsppl.algebra.recursions import Earlier, Recursion
from gibbsppl.display.markup import GREEK, Markup

# As mathematics writes what programs call otherwise.
CONSTANTS = {"pi": "pi", "E": "e", "EulerGamma": "gamma"}
FUNCTION_NAMES = {"loggamma": ("log", "Gamma"), "digamma": ("psi",)}
WORD = re.compile(r"(?P<name>[^\W\d]\w*)|(?P<number>\d[\d.]*)|(?P<sign>\S)")


@dataclass(frozen=True, slots=True)
class Formulas:
    """The writer of formulas in a language, of the expressions of one graph."""

    markup: Markup
    notation: Notation

    def formula(self, expr: Expr) -> str:
        """The formula of an expression."""
        return self._written(self.notation.sized(sp.sympify(expr)))[0]

    def element(self, name: str, indices: Iterable[Expr]) -> str:
        """An element of an array, its indices below the line."""
        return self.markup.name(name, [self.formula(i) for i in indices])

    def _within(self, expr: Expr, rank: int) -> str:
        text, own = self._written(expr)
        return text if own >= rank else self.markup.enclosed(text, "(", ")")

    def _written(self, expr: Expr) -> Written:
        if expr.is_number and not expr.args:
            return self._number(expr)
        match expr:
            case Leaf():
                return self._leaf(expr), ATOM
            case Recursion() | Earlier():
                return self.element(str(expr.own), expr.indices), ATOM
            case Dim():
                return self.dim(expr), ATOM
            case sp.Add():
                return self._sum(expr), SUM
            case sp.Mul():
                return self._product(expr)
            case sp.Pow() if not isinstance(expr, sp.exp):
                return self._power(expr)
            case Over() | Times() | Greatest() | Least():
                return self._binder(expr), PRODUCT
            case Where():
                return self._cases(expr), ATOM
            case sp.Abs():
                return self.markup.enclosed(self.formula(expr.args[0]), "|", "|"), ATOM
            case _ if expr.func in RELATIONS:
                return self.markup.enclosed(self._relation(expr), "[", "]"), ATOM
            case _:
                return self._call(expr), ATOM

    def _number(self, value: Expr) -> Written:
        text = self.notation.text(value)
        sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
        above, _, below = digits.partition("/")
        if digits == "oo":
            written = self.markup.sign("oo")
        elif digits in CONSTANTS:
            written = self.markup.letter(CONSTANTS[digits])
        elif below:
            written = self.markup.fraction(*map(self.markup.number, (above, below)))
        else:
            written = self._decimal(digits)
        if sign:
            return self.markup.row([self.markup.sign(sign), written]), SUM
        return written, PRODUCT if below else ATOM

    def _decimal(self, digits: str) -> str:
        """A decimal, a power of ten written as one."""
        number, _, exponent = digits.partition("e")
        if not exponent:
            return self.markup.number(digits)
        power = self._number(sp.Integer(int(exponent)))[0]
        ten = self.markup.above(self.markup.number("10"), power)
        return ten if number == "1" else self._joined([self.markup.number(number), ten])

    def _leaf(self, leaf: Leaf) -> str:
        name = leaf.array.name
        if name in self.notation.signs:
            return self.markup.words(self.notation.text(leaf))
        return self.element(name, leaf.indices)

    def dim(self, dim: Dim) -> str:
        """A dim: a letter, or a word; copies are told apart as in text."""
        return self.markup.letter(dim.name) if len(dim.name) == 1 else self.markup.word(dim.name)

    def _sum(self, expr: sp.Add) -> str:
        parts: list[str] = []
        for term, text in self.notation.ordered(expr):
            is_less = text.startswith("-")
            if is_less or parts:
                parts.append(self.markup.sign("-" if is_less else "+"))
            parts.append(self._within(-term if is_less else term, PRODUCT))
        return self.markup.row(parts)

    def _product(self, expr: sp.Mul) -> Written:
        coefficient, rest = expr.as_coeff_Mul()
        above, below = fraction_of(sp.Mul.make_args(rest))
        p, q = coefficient_text(abs(coefficient))
        tops = [self._decimal(p)] if p != "1" or not above else []
        lows = [self._decimal(q)] if q != "1" else []
        # (what is alone above or below a line needs no parentheses)
        tops += self._factors(above, alone=not tops and bool(lows or below))
        lows += self._factors(below, alone=not lows)
        written = self._joined(tops)
        if lows:
            written = self.markup.fraction(written, self._joined(lows))
        if not coefficient.is_negative:
            return written, PRODUCT
        return self.markup.row([self.markup.sign("-"), written]), SUM

    def _factors(self, factors: Sequence[Expr], *, alone: bool) -> list[str]:
        if alone and len(factors) == 1:
            return [self.formula(factors[0])]
        ranked = sorted(factors, key=lambda f: (rank_of(f), self.notation.text(f)))
        # (what follows a sum over positions would be read as a part of it)
        return [
            self._within(f, PRODUCT if n == len(ranked) - 1 or not isinstance(f, Binder) else ATOM)
            for n, f in enumerate(ranked)
        ]

    def _joined(self, factors: Sequence[str]) -> str:
        return self.markup.joined(factors, "*")

    def _power(self, expr: sp.Pow) -> Written:
        base, exponent = expr.base, expr.exp
        if exponent == sp.Rational(1, 2):
            return self.markup.root(self.formula(base)), ATOM
        if exponent.is_number and exponent.is_negative:
            one = self.markup.number("1")
            return self.markup.fraction(one, self.formula(base**-exponent)), PRODUCT
        return self.markup.above(self._within(base, ATOM), self.formula(exponent)), POWER

    def _binder(self, expr: Binder) -> str:
        """A sum, product or extreme over positions, these and their conditions below the sign."""
        body, nest = unnested(expr)
        factors = sp.Mul.make_args(body)
        conditions = [f for f in factors if isinstance(expr, Over) and isinstance(f, Equals)]
        rest = sp.Mul(*(f for f in factors if f not in conditions))
        told = [*map(self._range, nest), *map(self._relation, conditions)]
        sign = self.markup.big(expr.symbol, self.markup.listed(told))
        return self.markup.row([sign, self._within(rest, PRODUCT)])

    def _range(self, expr: Binder) -> str:
        (dim,), bounds = expr.bound, expr.args[2:]
        size = self.notation.sizes.get(dim, self.notation.sizes.get(Dim(root_of(dim))))
        if all(b == e for b, e in zip(bounds, (0, size), strict=False)):
            return self.dim(dim)
        return self.positions(dim, int(bounds[0]), int(bounds[1]))

    def positions(self, dim: Dim, start: int, stop: int) -> str:
        """The positions from a start to before a stop, as a formula."""
        ends = [self.markup.number(str(start))]
        if stop - start > 1:
            ends += [self.markup.sign("..."), self.markup.number(str(stop - 1))]
        return self.markup.row([self.dim(dim), self.markup.sign("="), self.markup.listed(ends)])

    def _relation(self, expr: Expr) -> str:
        if expr.func not in RELATIONS:
            return self.formula(expr)
        left, right = map(self.formula, expr.args)
        return self.markup.row([left, self.markup.sign(RELATIONS[expr.func]), right])

    def _cases(self, expr: Expr) -> str:
        words, pairs = self.markup.words, []
        while isinstance(expr, Where):
            condition, value, expr = expr.args
            when = self.markup.row([words("if "), self._relation(condition)])
            pairs.append((self.formula(value), when))
        return self.markup.cases([*pairs, (self.formula(expr), words("otherwise"))])

    def _call(self, expr: Expr) -> str:
        if isinstance(expr, LogMass) and (found := written_out(expr)) is not None:
            return self.formula(found)
        match expr:
            case LogDet():
                inside = [self._matrix(expr)]
                printed = "log(det(\0))"
            case InverseEntry():
                inverse = self.markup.row([self.markup.sign("-"), self.markup.number("1")])
                matrix = self.markup.above(self._matrix(expr), inverse)
                entry = self.markup.listed([self.formula(a) for a in expr.args[3:]])
                return self.markup.below(self.markup.enclosed(matrix, "(", ")"), entry)
            case _ if not expr.args or isinstance(expr, sp.Symbol):
                return self.markup.name(str(expr))
            case _:
                args = expr.args[:4] if isinstance(expr, LogMass) else expr.args
                inside = [self.formula(a) for a in args]
                row = FUNCTIONS.get(expr.func)
                printed = f"{expr.func}(\0)" if row is None else row.printed("\0")
        before, _, after = printed.partition("\0")
        return self.markup.row([*self._words(before), self.markup.listed(inside),
                                *self._words(after)])  # fmt: skip

    def _words(self, text: str) -> list[str]:
        """The names, numbers and signs of how a function is printed."""
        written = {"name": self._function, "number": self.markup.number, "sign": self.markup.sign}
        return [written[str(m.lastgroup)](m.group()) for m in WORD.finditer(text)]

    def _function(self, name: str) -> str:
        """The name of a function: words, and Greek letters among these."""
        parts = FUNCTION_NAMES.get(name, (name,))
        markup = self.markup
        return markup.row([markup.letter(p) if p in GREEK else markup.word(p) for p in parts])

    def _matrix(self, expr: Binder) -> str:
        """A matrix without its two bound dims, where it is an array's."""
        body = expr.body
        if isinstance(body, Leaf):
            return self.element(body.array.name, [i for i in body.indices if i not in expr.bound])
        return self.formula(body)
