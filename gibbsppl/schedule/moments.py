"""Moments: what others read of a variable that is taken by its mean.

Comes in: what a term of the log density asks of a variable. Goes out: an element of an array of the
state, and the `Moment` that says what the array is. Means and covariances are kept apart, never raw
second moments: a square about a centre stays one, far from zero, too.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf
from gibbsppl.algebra.notation import Sign
from gibbsppl.algebra.ranges import Range, fresh
from gibbsppl.model.graph import PLAIN

# By what a conditional is read: a draw from it, its mode, or its mean.
By = Literal["draw", "mode", "mean"]
# The argument of a function of one element.
X = sp.Symbol("x", real=True)


@dataclass(frozen=True, slots=True)
class Moment:
    """An array of expectations along dims.

    It is written as a ``sign`` of what is ``inside``. ``at_point`` is its value where the variable
    is a point, an expression of its elements: what a point would have as moments. ``what``
    it is of the variables ``of`` which it is. ``place``: where it is of anything, if not all over.
    """

    name: str
    dims: tuple[Dim, ...]
    of: tuple[str, ...]
    what: Any
    sign: str
    inside: tuple[Expr, ...]
    at_point: Expr = sp.S.Zero
    positive: bool = False
    place: tuple[Range, ...] = ()

    @property
    def told(self) -> str:
        """The moment in mathematical notation."""
        return PLAIN.signed(self.written, self.dims)

    @property
    def written(self) -> Sign:
        """How elements are written."""
        return Sign(self.sign, self.inside, self.dims)

    @property
    def array(self) -> Array:
        """The name of the array in expressions."""
        return Array(self.name, positive=True) if self.positive else Array(self.name)

    def __getitem__(self, indices: tuple[Expr, ...]) -> Leaf:
        return self.array[indices]


class Refused(Exception):  # noqa: N818  (becomes an error with the name of the variable)
    """A reason why an expectation has no formula, with the way out."""


@dataclass(slots=True)
class Asked:
    """The moments that have been asked for, by what they are of.

    ``taken`` are names that no array of moments may have, ``sizes`` those of dims of labels that
    the model has none for.
    """

    taken: set[str]
    found: dict[Hashable, Moment] = field(default_factory=dict)
    sizes: dict[Dim, int] = field(default_factory=dict)

    def moment(
        self, of: tuple[str, ...], what: Hashable, stem: str, dims: Iterable[Dim], **facts: Any
    ) -> Moment:
        """The moment of a key, made where it is new; ``facts`` are its further fields."""
        key = (of, what)
        if key not in self.found:
            name = fresh(re.sub(r"\W+", "_", stem).strip("_"), self.taken)
            self.taken.add(name)
            self.found[key] = Moment(name, tuple(dims), of, what, **facts)
        return self.found[key]
