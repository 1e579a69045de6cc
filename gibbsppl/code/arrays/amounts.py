"""Amounts: how often, or how much, as a polynomial in the sizes of dims.

>>> n, k = Amount.size("n"), Amount.size("k")
>>> work = n * k * k * 3 + n * 5 + k * k * k
>>> print(work)
3*n*k**2 + k**3 + 5*n
>>> work.at({"n": 10, "k": 2}), work.leading({"n": 10, "k": 2})
(178.0, 'n*k**2 + k**3')
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import prod

# The power of each dim, in the order of their names; a group has so many members for each other.
Monomial = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Amount:
    """A sum of terms: numbers times powers of sizes, some of which may be negative."""

    terms: Mapping[Monomial, float]

    @classmethod
    def number(cls, value: float) -> Amount:
        """A number, whatever the sizes."""
        return cls({(): float(value)} if value else {})

    @classmethod
    def size(cls, dim: str) -> Amount:
        """The size of a dim."""
        return cls({((dim, 1),): 1.0})

    @classmethod
    def sum(cls, amounts: Iterable[Amount]) -> Amount:
        """The sum of amounts."""
        terms: dict[Monomial, float] = {}
        for amount in amounts:
            for m, c in amount.terms.items():
                terms[m] = terms.get(m, 0.0) + c
        return cls({m: c for m, c in terms.items() if c})

    def __add__(self, other: Amount | float) -> Amount:
        return Amount.sum((self, _amount(other)))

    __radd__ = __add__

    def __sub__(self, other: Amount | float) -> Amount:
        return self + _amount(other) * -1

    def __mul__(self, other: Amount | float) -> Amount:
        if not isinstance(other, Amount):
            return Amount({m: c * other for m, c in self.terms.items()} if other else {})
        if other.is_number:
            return self * other.at({})
        found = [
            Amount({_times(m, own): c * of}) for m, c in self.terms.items()
            for own, of in other.terms.items()
        ]  # fmt: skip
        return Amount.sum(found)

    __rmul__ = __mul__

    @property
    def is_number(self) -> bool:
        """Whether it is the same for all sizes."""
        return not any(self.terms)

    @property
    def varying(self) -> Amount:
        """The terms that depend on sizes; the number, where there are none.

        >>> print((Amount.size("n") + 127).varying)
        n
        """
        return self if self.is_number else Amount({m: c for m, c in self.terms.items() if m})

    def at(self, sizes: Mapping[str, float]) -> float:
        """The number for sizes."""
        return sum(c * _value(m, sizes) for m, c in self.terms.items())

    def over(self, other: Amount, sizes: Mapping[str, float]) -> Amount:
        """The ratio, exact for these sizes; of several terms below the line by their largest."""
        below = other.at(sizes)
        if not below:
            return Amount.number(0.0)
        largest = max(other.terms, key=lambda m: abs(other.terms[m] * _value(m, sizes)))
        inverse = tuple((d, -p) for d, p in largest)
        return self * Amount({inverse: _value(largest, sizes) / below})

    def where(self, known: Mapping[str, Amount], sizes: Mapping[str, float]) -> Amount:
        """The same amount, with some sizes as amounts in those of others."""
        if not any(d in known for m in self.terms for d, _ in m):
            return self
        found = []
        for m, c in self.terms.items():
            term = Amount({tuple((d, p) for d, p in m if d not in known): c})
            for d, p in m:
                for _ in range(abs(p) if d in known else 0):
                    term = term * known[d] if p > 0 else term.over(known[d], sizes)
            found.append(term)
        return Amount.sum(found)

    def leading(self, sizes: Mapping[str, float], named: Collection[str] | None = None) -> str:
        """The terms of which no other is a multiple, the largest first, without their numbers.

        Those with other dims than the ``named`` ones (default: all are), such as the rows of
        tables, are left out if they are smaller than one without.
        """
        known = [m for m in self.terms if self.terms[m] > 0]
        told = [m for m in known if named is None or all(d in named for d, _ in m)]
        largest = max((self.terms[m] * _value(m, sizes) for m in told if m), default=0.0)
        told += [m for m in known if m not in told and self.terms[m] * _value(m, sizes) > largest]
        found = [m for m in told if not any(_is_part(m, other) for other in told)]
        found.sort(key=lambda m: (-_value(m, sizes), m))
        return " + ".join(map(_text, found)) or ("1" if self.terms else "0")

    def __str__(self) -> str:
        told = sorted(self.terms.items(), key=lambda t: (-sum(p for _, p in t[0]), t[0]))
        shown = [_text(m) if c == 1 and m else f"{c:.6g}{'*' if m else ''}{_text(m) if m else ''}"
                 for m, c in told]  # fmt: skip
        return " + ".join(shown) or "0"


def _amount(value: Amount | float) -> Amount:
    return value if isinstance(value, Amount) else Amount.number(value)


def _times(one: Monomial, other: Monomial) -> Monomial:
    powers = dict(one)
    for d, p in other:
        powers[d] = powers.get(d, 0) + p
    return tuple(sorted((d, p) for d, p in powers.items() if p))


def _value(m: Monomial, sizes: Mapping[str, float]) -> float:
    return prod(float(sizes[d]) ** p if sizes[d] else float(p <= 0) for d, p in m)


def _is_part(m: Monomial, other: Monomial) -> bool:
    """Whether a monomial is another one divided by sizes."""
    powers, own = dict(other), dict(m)
    every = powers.keys() | own.keys()
    return m != other and all(own.get(d, 0) <= powers.get(d, 0) for d in every)


def _text(m: Monomial) -> str:
    """A monomial as Python writes it; those of lower powers first."""
    if not m:
        return "1"
    above = [d if p == 1 else f"{d}**{p}" for d, p in sorted(m, key=lambda t: t[1]) if p > 0]
    below = [d if p == -1 else f"{d}**{-p}" for d, p in m if p < 0]
    return "/".join(["*".join(above) or "1", *below])
