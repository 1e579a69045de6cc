"""A log density at many values of some arrays at once, along one more axis that these have.

>>> from gibbsppl.algebra.expressions import Array, Over
>>> beta, x, i, k = Array("beta"), Array("x"), Dim("i"), Dim("k")
>>> term = Contribution("y", Over(Over(beta[k] * x[i, k], k) ** 2, i), ())
>>> along(Dim("b"), 32, {"beta": "tried"}, (term,))[0].value
sum(sum(tried[k, b]*x[i, k], k)**2, i)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gibbsppl.algebra.expressions import Dim, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.contractions import Contribution


def along(
    axis: Dim, count: int, arrays: Mapping[str, str], terms: Iterable[Contribution]
) -> tuple[Contribution, ...]:
    """The terms, each a number, for so many values of arrays, which others stand for by name."""
    return tuple(
        replace(t, value=t.value.xreplace(_moved(axis, arrays, t)), place=(Range(axis, 0, count),))
        for t in terms
    )


def _moved(axis: Dim, arrays: Mapping[str, str], term: Contribution) -> dict[Leaf, Leaf]:
    """The elements of the arrays, as those that stand for them."""
    return {
        x: Leaf(x.array.renamed(arrays[x.array.name]), *x.indices, axis)
        for x in term.value.atoms(Leaf)
        if x.array.name in arrays
    }
