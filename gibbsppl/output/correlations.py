"""Pairs of elements whose draws are correlated most: what a Gibbs sampler mixes slowly by.

Comes in: draws by element. Goes out: ``Correlations``, the pairs in order, printed as a table.

>>> rng = np.random.default_rng(1)
>>> x = rng.normal(size=500)
>>> found = correlations_of({"x": x, "y": -x, "z": rng.normal(size=500)}, most=1)
>>> print(found)
x  y  -1.00
>>> round(found["x", "y"], 6)
-1.0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.html import Printed
from gibbsppl.output.arrays import Array

# Of so many elements all pairs are looked at.
MOST_ELEMENTS = 5000


@dataclass(frozen=True, slots=True, repr=False)
class Correlations(Printed):
    """Pairs of elements by their labels, with the correlation of their draws; largest first.

    >>> list(Correlations({("a", "b"): 0.9, ("a", "c"): -0.5}))
    [('a', 'b'), ('a', 'c')]
    """

    pairs: Mapping[tuple[str, str], float]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, pair: tuple[str, str]) -> float:
        for key in (pair, pair[::-1]):
            if key in self.pairs:
                return self.pairs[key]
        raise RunError(
            f"correlations: found no pair {pair!r} among those that are correlated most; ask for "
            "more of them, most=100."
        )

    def __repr__(self) -> str:
        widths = [max((len(p[k]) for p in self.pairs), default=0) for k in (0, 1)]
        return "\n".join(
            f"{one:<{widths[0]}}  {other:<{widths[1]}}  {r:5.2f}"
            for (one, other), r in self.pairs.items()
        )


def correlations_of(elements: Mapping[str, Array], most: int = 10) -> Correlations:
    """The pairs that are correlated most, of elements by their labels with their draws in a row.

    Elements that are the same in all draws have no correlations. Raises `RunError` for more than
    5000 elements.
    """
    if len(elements) > MOST_ELEMENTS:
        raise RunError(
            f"correlations: found {len(elements)} elements, all pairs of which are looked at, "
            f"expected at most {MOST_ELEMENTS}: name some variables, correlations([...])."
        )
    rows = {n: np.asarray(row, dtype=float) for n, row in elements.items()}
    varying = {n: row for n, row in rows.items() if np.isfinite(row).all() and np.ptp(row) > 0}
    if len(varying) < 2:
        return Correlations({})
    labels, found = list(varying), np.corrcoef(list(varying.values()))
    above = np.triu_indices(len(labels), 1)
    order = np.argsort(-np.abs(found[above]), kind="stable")[:most]
    places = [(int(above[0][k]), int(above[1][k])) for k in order]
    return Correlations({(labels[i], labels[j]): float(found[i, j]) for i, j in places})
