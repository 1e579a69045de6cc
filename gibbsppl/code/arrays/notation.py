"""Expressions over arrays in the notation of models, for comments.

>>> from gibbsppl.code.arrays.expressions import negative, product
>>> x, y = (Element(name, (Position("n"),)) for name in "xy")
>>> total = Reduce(product([x, y]), (Span("n", Number(1), Size("n")),))
>>> print(Notation({"n": 5}.__getitem__).text(negative(Apply("/", (total, Number(2))))))
-sum(x[n]*y[n], n = 1..4)/2
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from gibbsppl.algebra.functions import FUNCTIONS
from gibbsppl.algebra.notation import signed_sum
from gibbsppl.code.arrays.expressions import (
    ONE,
    RELATIONS,
    Apply,
    Element,
    Expr,
    Number,
    Position,
    Reduce,
    Size,
    Span,
    is_call,
    number,
)
from gibbsppl.code.arrays.systems import SO_FAR, Recursive
from gibbsppl.code.arrays.terms import Quotient, quotient, terms_of

SUM, PRODUCT, POWER, ATOM = range(4)


@dataclass(frozen=True, slots=True)
class Notation:
    """How to write: the size of each dim is a number."""

    size: Callable[[str], int]

    def text(self, e: Expr) -> str:
        """The expression as text."""
        return self._written(e)[0]

    def _written(self, e: Expr) -> tuple[str, int]:
        """Text, and how tightly its outermost operator binds."""
        match e:
            case Number(value=value):
                return number(value), SUM if value < 0 else ATOM
            case Size(dim=dim):
                return str(self.size(dim)), ATOM
            case Position(dim=dim, shift=shift):
                here = dim.removesuffix(SO_FAR)
                if not shift:
                    return here, ATOM
                return f"{here} {'-' if shift < 0 else '+'} {abs(shift)}", SUM
            case Element(array=array, indices=indices):
                inside = f"[{', '.join(map(self.text, indices))}]" if indices else ""
                return array.removesuffix(SO_FAR) + inside, ATOM
            case Recursive(array=array, indices=indices):
                return self._written(Element(array, indices))
            case Reduce():
                return self._reduced(e), ATOM
            case Apply(function="+"):
                return signed_sum([t for _, t in self._ordered(e)]), SUM
            case Apply(function="*" | "/" | "neg"):
                return self._product(quotient(e)), PRODUCT
            case Apply(function="**", arguments=(base, exponent)):
                return f"{self._within(base, ATOM)}**{self._within(exponent, ATOM)}", POWER
            case Apply(function=function) if function in RELATIONS:
                return f"[{self._relation(e)}]", ATOM
            case Apply(function="entry", arguments=(whole, *places)):
                return f"{self.text(whole)}[{', '.join(map(self.text, places))}]", ATOM
            case Apply(function=function, arguments=arguments):
                return _called(function, [self.text(a) for a in arguments]), ATOM
        raise TypeError(e)

    def _within(self, e: Expr, rank: int) -> str:
        found, own = self._written(e)
        return found if own >= rank else f"({found})"

    def _ordered(self, e: Expr) -> list[tuple[tuple[bool, bool, int], str]]:
        """The terms of a sum: positive terms first, negative terms last, short ones before long."""
        terms = [(t, self.text(t)) for t in terms_of(e)]
        keys = (((s.startswith("-"), isinstance(t, Number), len(s)), s) for t, s in terms)
        return sorted(keys)

    def _product(self, found: Quotient) -> str:
        """``-2*a*b/c``: the sign, numbers, then all other factors over divisors."""
        shown = "*".join(self._within(f, PRODUCT) for f in sorted(found.above, key=self._rank))
        below = [self._within(f, POWER) for f in sorted(found.below, key=self._rank)]
        divided = f"/({'*'.join(below)})" if len(below) > 1 else "".join(f"/{b}" for b in below)
        return "-" * (found.sign < 0) + (shown or "1") + divided

    def _rank(self, e: Expr) -> tuple[int, str]:
        """Where a factor stands in a product: numbers, scalars, elements, functions, sums."""
        match e.parts[0] if is_call(e, "**") else e:
            case Number():
                return 0, ""
            case Element(indices=indices):
                return (2 if indices else 1), self.text(e)
            case Apply(function="+"):
                return 3, self.text(e)
            case Reduce():
                return 5, self.text(e)
        return 4, self.text(e)

    def _reduced(self, e: Reduce) -> str:
        """``sum(body, dims where conditions)``; a count where the body is a condition alone."""
        if e.by in {"inverse", "logdet"}:
            return f"{e.by}({self._matrix(e)})"
        body, conditions = _parted(e)
        over = ", ".join(map(self._span, e.spans))
        if conditions:
            over += " where " + " and ".join(sorted(map(self._relation, conditions)))
        if e.by == "log_sum_exp":
            return f"log(sum(exp({self.text(body)}), {over}))"
        if conditions and body == ONE:
            return f"count({over})"
        return f"{ {'product': 'prod'}.get(e.by, e.by) }({self.text(body)}, {over})"

    def _matrix(self, e: Reduce) -> str:
        """A matrix without its two dims, where it is an array's."""
        own = tuple(Position(s.dim) for s in e.spans)
        match e.body:
            case Element(array=array, indices=(*outer, a, b)) if (a, b) == own:
                inside = f"[{', '.join(map(self.text, outer))}]" if outer else ""
                return array + inside
        return f"{self.text(e.body)}, {', '.join(s.dim for s in e.spans)}"

    def _relation(self, e: Expr) -> str:
        if not isinstance(e, Apply) or e.function not in RELATIONS:
            return self.text(e)  # (what is 1 or 0 by itself)
        sign = "=" if e.function == "equals" else RELATIONS[e.function]
        return f" {sign} ".join(map(self.text, e.arguments))

    def _span(self, span: Span) -> str:
        if span.is_whole:
            return span.dim
        last = self._less_one(span.stop)
        return f"{span.dim.removesuffix(SO_FAR)} = {self.text(span.start)}..{last}"

    def _less_one(self, stop: Expr) -> str:
        """The position before an end."""
        sizes = [self.size(t.dim) for t in terms_of(stop) if isinstance(t, Size)]
        numbers = [t.value for t in terms_of(stop) if isinstance(t, Number)]
        if len(sizes) + len(numbers) == len(terms_of(stop)):
            return number(sum(sizes) + sum(numbers) - 1)
        return signed_sum([self.text(stop), "-1"])


def _parted(e: Reduce) -> tuple[Expr, list[Expr]]:
    """The body of a reduction, and the conditions under which it counts."""
    if e.by == "sum" and is_call(e.body, "*"):
        conditions = [f for f in e.body.parts if is_call(f, "equals")]
        rest = tuple(f for f in e.body.parts if not is_call(f, "equals"))
        return Quotient(1, rest, ()).value, conditions
    if e.by == "sum" and is_call(e.body, "equals"):
        return ONE, [e.body]
    if e.by in {"max", "min"} and is_call(e.body, "where"):
        condition, body, _ = e.body.parts
        return body, list(condition.parts if is_call(condition, "*") else (condition,))
    return e.body, []


def _called(function: str, arguments: list[str]) -> str:
    """The text of a function at arguments."""
    *first, last = arguments
    row, form = _forms().get(function, (None, ""))
    if row is None:
        return f"{function}({', '.join(arguments)})"
    if form == "near one":
        last = signed_sum(["1", last])
    elif form == "of a log":
        last = f"exp({last})"
    return row(*first, last)


@cache
def _forms() -> Mapping[str, tuple[Callable[..., str], str]]:
    """How functions are shown, by their names in NumPy."""
    found: dict[str, tuple[Callable[..., str], str]] = {}
    for row in FUNCTIONS.values():
        found.setdefault(row.numpy, (row.printed, ""))
        found.setdefault(row.near_one, (row.printed, "near one"))
        found.setdefault(row.of_exponential, (row.printed, "of a log"))
    found.pop("", None)
    return found
