"""Joint draws of variables whose log density is quadratic in all their elements together.

The log density is ``sum of linear * x + sum of squares * x**2 + sum of pairs * x[first] x[second]``
over the elements of several arrays. A `Joint` is made once: it holds the elements drawn (all others
are known, and conditioned on) and the place of each coefficient in the precision matrix.

>>> rng = np.random.default_rng(1)
>>> t = np.arange(1, 3)
>>> joint = Joint({"x": drawn((3,), [((0, 3),)])}, [("x", (t,), "x", (t - 1,))])
>>> given = {"x": (1e8 * np.ones(3), -1e8)}, [1e8 * np.ones(2)]
>>> joint.draw(rng, {"x": np.zeros(3)}, given)["x"].round(2)
array([1.5, 2. , 1.5])
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from gibbsppl.runtime.factors import factor_of, storage_of
from gibbsppl.runtime.layouts import DENSE, MODERATE
from gibbsppl.runtime.patterns import Pair, Pattern
from gibbsppl.runtime.places import Bounds, missing_positions
from gibbsppl.runtime.types import (
    Array,
    Constants,
    Flags,
    Floats,
    Generator,
    Ints,
    Numbers,
    State,
    Wholes,
)

# Coefficients of x and x**2 for each array, and those of each pair.
Given = tuple[Mapping[str, tuple[Numbers, Numbers]], Sequence[Numbers]]


def drawn(
    shape: tuple[int, ...], places: Sequence[Bounds], known: Array | None = None
) -> Flags:
    """The mask of the elements drawn of an array: in the places, and not ``known``.

    >>> drawn((4,), [((1, 4),)], np.array([0, 0, 1, 0]))
    array([False,  True, False,  True])
    """
    found = np.zeros(shape, dtype=bool)
    for place in places:
        if known is None:
            found[tuple(slice(a, b) for a, b in place)] = True
        elif place:
            found[missing_positions(known, place)] = True
        else:
            found[()] = bool(known == 0)
    return found


# Where one eigenvalue is far below all others, one would do.
ITERATIONS = 3


class Joint:
    """The map from a quadratic log density's coefficients to its matrix; made once, used often."""

    def __init__(
        self,
        arrays: Mapping[str, Flags],
        pairs: Sequence[Pair],
        dense: int = DENSE,
        *,
        in_blocks: bool = False,
        last: Sequence[str] = (),
        called: str = "",
    ) -> None:
        self.arrays = tuple(arrays)
        # (the name of its step: others may draw other parts of the same arrays)
        self.called = called or ", ".join(arrays)
        self.drawn = dict(arrays)
        pattern = Pattern.of(arrays, pairs)
        self.shapes = {name: free.shape for name, free in arrays.items()}
        ends = map(int, pattern.starts)
        spans = itertools.pairwise(ends)
        # Name, shape, which elements are drawn (None: all), and where they are among all.
        self.places = [
            (name, free.shape, None if free.all() else np.flatnonzero(free), start, stop)
            for (name, free), (start, stop) in zip(arrays.items(), spans, strict=True)
        ]
        self.size = int(pattern.starts[-1])
        # Where the coefficients of each pair are, after those of the squares; and their shape.
        self.pairs = list(pattern.pairs(self.size))
        self.beside = [b for n, e in enumerate(pattern.ends) for b in _beside(n, pairs[n], *e[:4])]
        ends_with = [self.arrays.index(name) for name in last]
        self.layout = pattern.blocks() if in_blocks else pattern.layout(dense, ends_with)
        self.border = len(self.layout.border)
        self.order = np.concatenate([self.layout.inside, self.layout.border])
        self.rank = np.argsort(self.order)
        self.in_order = bool((np.diff(self.order) > 0).all())
        self._fill(pattern)

    def _fill(self, pattern: Pattern) -> None:
        """Find the place of each entry: inside, beside the border, or in the border's corner."""
        first, second = pattern.first[pattern.inner], pattern.second[pattern.inner]
        rank = self.rank
        count = self.size - self.border
        # The diagonal first, then the pairs; an element paired with itself is on the diagonal.
        i = np.concatenate([rank, rank[first]])
        j = np.concatenate([rank, rank[second]])
        low, high = np.minimum(i, j), np.maximum(i, j)
        inside, corner = np.flatnonzero(high < count), np.flatnonzero(low >= count)
        side = np.flatnonzero((low < count) & (high >= count))
        apart = inside[low[inside] != high[inside]]
        self.storage = storage_of(self.layout, low[apart], high[apart])
        slot, entry = self.storage.slots(low[inside], high[inside])
        beside = self.storage.size + low[side] * self.border + high[side] - count
        start = self.storage.size + count * self.border
        twice = corner[low[corner] != high[corner]]
        rows = np.concatenate([low[corner], high[twice]]) - count
        columns = np.concatenate([high[corner], low[twice]]) - count
        self.slots = np.concatenate([slot, beside, start + rows * self.border + columns])
        found = np.concatenate([inside[entry], side, corner, twice])
        # (half of the log density's second derivative is the coefficient of a square)
        self.weights = np.where(i == j, -2.0, -1.0)[found]
        every = np.concatenate([np.arange(self.size), self.size + np.flatnonzero(pattern.inner)])
        self.sources = every[found]
        # The place of each coefficient in half of the matrix: two elements, or twice the same.
        self.entries = every, self.order[i], self.order[j]
        self.stored = start + self.border**2

    def flat(self, values: State, into: Floats | None = None) -> Floats:
        """The values of the elements drawn, as one vector, array after array."""
        found = np.empty(self.size) if into is None else into
        for name, shape, free, start, stop in self.places:
            if free is None:
                found[start:stop].reshape(shape)[...] = values[name]
            else:
                found[start:stop] = np.broadcast_to(values[name], shape).ravel()[free]
        return found

    def assembled(self, state: State, given: Given) -> tuple[Floats, Floats]:
        """The linear coefficients and the stored entries of the precision, of elements drawn."""
        linear = self.flat({name: one for name, (one, _) in given[0].items()})
        coefficients = self.coefficients(given)
        for number, at, row, name, read in self.beside:
            known = np.asarray(state[name], dtype=float).ravel()[read]
            linear += np.bincount(row, coefficients[self.pairs[number][0] + at] * known, self.size)
        weighted = coefficients[self.sources] * self.weights
        return linear, np.bincount(self.slots, weighted, self.stored)  # type: ignore[return-value]  # floats

    def coefficients(self, given: Given) -> Floats:
        """The coefficients of squares, then the coefficients of all pairs."""
        own, pairs = given
        found = np.empty(self.pairs[-1][1] if self.pairs else self.size)
        self.flat({name: two for name, (_, two) in own.items()}, found)
        for (start, stop, shape), value in zip(self.pairs, pairs, strict=True):
            found[start:stop].reshape(shape)[...] = value
        return found

    def draw(self, rng: Generator, state: State, given: Given) -> dict[str, Numbers]:
        """The arrays, with a joint draw in place of the elements drawn."""
        linear, filled = self.assembled(state, given)
        z = rng.standard_normal(self.size)[:, None]
        if self.in_order and not self.border:
            factor = self.storage.factor(filled)
            return self.placed(state, factor.solve(linear[:, None] + factor.noise(z))[:, 0])
        return self.placed(state, self._solved(filled, linear[:, None], z)[:, 0])

    def mean(self, state: State, given: Given) -> dict[str, Numbers]:
        """The arrays, with the mean in place of the elements drawn."""
        linear, filled = self.assembled(state, given)
        return self.placed(state, self._solved(filled, linear[:, None])[:, 0])

    def normal(self, rng: Generator, state: State, given: Given) -> tuple[Floats, Floats]:
        """The mean of the elements drawn, and a draw less the mean."""
        linear, filled = self.assembled(state, given)
        both = np.stack([linear, np.zeros(self.size)], axis=1)
        solved = self._solved(filled, both, rng.standard_normal(self.size)[:, None])
        return solved[:, 0] - solved[:, 1], solved[:, 1]

    def deviations(self, given: Given, z: Floats) -> Floats:
        """Draws less the mean, in columns, from columns of standard normal numbers.

        Numbers are in the order of factorisation, draws in that of the elements.
        """
        _, filled = self.assembled(self.zeros, given)
        return self._solved(filled, np.zeros(z.shape), z)

    @property
    def zeros(self) -> dict[str, Numbers]:
        """The arrays with zeros for all elements."""
        return {name: np.zeros(shape) for name, shape in self.shapes.items()}

    def distance(self, given: Given, x: Floats) -> float:
        """The squared length of a vector of the elements drawn, in units of the precision."""
        coefficients = self.coefficients(given)
        sources, i, j = self.entries
        return -2.0 * float(coefficients[sources] @ (x[i] * x[j]))

    def border_of(self, given: Given) -> tuple[Floats, Floats]:
        """How the inside follows the border, and the precision of the border with it moving along.

        In the order of factorisation: where the border takes a step ``d`` the mean of the inside
        takes the step ``-beside @ d``.
        """
        _, filled = self.assembled(self.zeros, given)
        start = self.storage.size + (self.size - self.border) * self.border
        side = filled[self.storage.size : start].reshape(-1, self.border)
        corner = filled[start:].reshape(self.border, self.border)
        columns = np.array(side, order="F" if self.layout.kind == "band" else "C")
        beside = self.storage.factor(filled[: self.storage.size]).solve(columns)
        precision = corner - side.T @ beside
        return beside, (precision + precision.T) / 2

    def precision(self, given: Given) -> Floats:
        """The precision matrix of the elements drawn, with all of its zeros."""
        coefficients = self.coefficients(given)
        sources, i, j = self.entries
        matrix = np.zeros((self.size, self.size))
        np.add.at(matrix, (i, j), -coefficients[sources])
        return matrix + matrix.T

    def weakest(self, state: State, given: Given) -> tuple[float, Floats]:
        """The least eigenvalue of the precision, and its eigenvector, in units of the elements.

        In these the diagonal is one. Of more elements than a dense matrix has they are found by
        inverse iteration, from ones of both signs.
        """
        if not self.size:
            return 1.0, np.zeros(0)
        coefficients = self.coefficients(given)
        sources, i, j = self.entries
        own = np.bincount(i[i == j], coefficients[sources[i == j]], self.size)
        unit = np.sqrt(np.maximum(-2.0 * own, np.finfo(float).tiny))
        if self.size <= MODERATE:
            values, vectors = np.linalg.eigh(self.precision(given) / unit / unit[:, None])
            return float(values[0]), vectors[:, 0]
        filled = self.assembled(state, given)[1]
        vector, size = np.where(np.arange(self.size) % 3 == 1, -1.0, 1.0), 1.0
        for _ in range(ITERATIONS):
            found = unit * self._solved(filled, (unit * vector / size)[:, None])[:, 0]
            vector, size = found, float(np.linalg.norm(found))
        return 1.0 / size, vector / size

    @property
    def elements(self) -> list[str]:
        """The names of the elements drawn."""
        found = []
        for name, shape, free, *_ in self.places:
            for flat in range(math.prod(shape)) if free is None else free:
                at = ", ".join(str(int(i)) for i in np.unravel_index(flat, shape))
                found.append(f"{name}[{at}]" if shape else name)
        return found

    def sd(self, state: State, given: Given) -> dict[str, Numbers]:
        """The arrays, with the standard deviations of the elements drawn, and 0 elsewhere."""
        _, filled = self.assembled(state, given)
        variances = np.diagonal(self._solved(filled, np.eye(self.size)))
        return self.placed(self.zeros, np.sqrt(variances))

    def covariance(self, state: State, given: Given) -> tuple[Floats, Floats]:
        """The means and the whole covariance matrix of the elements drawn."""
        linear, filled = self.assembled(state, given)
        both = np.concatenate([linear[:, None], np.eye(self.size)], axis=1)
        solved = self._solved(filled, both)
        return solved[:, 0], solved[:, 1:]

    def number(self, name: str, *indices: Wholes) -> Ints:
        """The numbers, among all elements drawn, of some elements of an array; -1 of all others."""
        numbers = np.full(self.shapes[name], -1, dtype=np.intp)
        for own, shape, free, start, stop in self.places:
            if own == name:
                if free is None:
                    numbers[...] = np.arange(start, stop).reshape(shape)
                else:
                    numbers.flat[free] = np.arange(start, stop)
        pairs = [(np.asarray(i), n) for i, n in zip(indices, self.shapes[name], strict=True)]
        inside = [(i >= 0) & (i < n) for i, n in pairs]
        at = tuple(np.clip(i, 0, n - 1) for i, n in pairs)
        return np.where(np.logical_and.reduce(inside), numbers[at], -1)

    def _solved(self, filled: Floats, right: Floats, z: Floats | None = None) -> Floats:
        """``Q^-1 right`` for columns of right sides, and a draw's noise: the inside comes first.

        ``z`` has a column for each of ``right``, or one for all.
        """
        count, border = self.size - self.border, self.border
        right = right[self.order]
        factor = self.storage.factor(filled[: self.storage.size])
        start = self.storage.size + count * border
        # (LAPACK's, of what it solves)
        order: Literal["F", "C"] = "F" if self.layout.kind == "band" else "C"
        columns = np.empty((count, border + right.shape[1]), order=order)
        columns[:, :border] = filled[self.storage.size : start].reshape(count, border)
        columns[:, border:] = right[:count]
        if z is not None:
            columns[:, border:] += factor.noise(z[:count])
        solved = factor.solve(columns)
        beside, inner = solved[:, :border], solved[:, border:]
        found = np.empty(right.shape)
        if border:
            side = columns[:, :border]
            corner = filled[start:].reshape(border, border) - side.T @ beside
            last = factor_of((corner + corner.T)[None] / 2)
            known = right[count:] - beside.T @ right[:count]
            if z is not None:
                known += last.noise(z[count:])
            outer = last.solve(known)
            inner = inner - beside @ outer
            found[self.order[count:]] = outer
        found[self.order[:count]] = inner
        return found

    def placed(self, state: State, x: Floats) -> dict[str, Numbers]:
        """The arrays, with the values ``x`` in place of the elements drawn."""
        found: dict[str, Numbers] = {}
        for name, shape, free, start, stop in self.places:
            if free is None:
                found[name] = x[start:stop].reshape(shape) if shape else x[start]
            else:
                whole = np.array(state[name], dtype=float)
                whole.flat[free] = x[start:stop]
                found[name] = whole[()]
        return found

    def columns(self, state: State, x: Floats) -> dict[str, Numbers]:
        """The arrays with one more axis, the last, along which they have columns of values."""
        count, found = x.shape[1], dict[str, Numbers]()
        for name, shape, free, start, stop in self.places:
            whole = np.empty((math.prod(shape), count))
            whole[...] = np.broadcast_to(state[name], shape).reshape(-1, 1)
            whole[slice(None) if free is None else free] = x[start:stop]
            found[name] = whole.reshape(*shape, count)
        return found


def joint_in(constants: Constants, step: str) -> Joint:
    """The joint draw of a step, by its name, among what a program has computed once."""
    found = (c for c in constants.values() if isinstance(c, Joint))
    return next(c for c in found if c.called == step)


def _beside(
    number: int, pair: Pair, one: Ints, other: Ints, flat_one: Ints, flat_other: Ints
) -> Iterator[tuple[int, Ints, Ints, str, Ints]]:
    """The coefficients of pairs with a known element, which add to the other's linear term."""
    ends = ((one, other, pair[2], flat_other), (other, one, pair[0], flat_one))
    for row, known, name, read in ends:
        at = np.flatnonzero((row >= 0) & (known < 0))
        if at.size:
            yield number, at, row[at], name, read[at]
