"""Joint normal draws of many elements that few rows tie: a factor of the order of the rows.

The log density is ``sum of linear * x + sum of squares * x**2``, with a square of each element, and
of each row ``response * z - weight * z**2 / 2``, where ``z`` is a row of the design times x. With
``D`` the precisions of the elements alone, ``F`` the design and ``a`` the responses, both divided
so that all weights are one,

    u ~ Normal(D^-1 linear, D^-1),  v ~ Normal(F u, 1),  x = u + D^-1 F' (F D^-1 F' + 1)^-1 (a - v)

is a draw: its cost is of the order of the columns alone (A. Bhattacharya, A. Chakraborty and B. K.
Mallick, 2016, "Fast sampling with Gaussian scale mixture priors in high-dimensional regression",
Biometrika 103, 985-991).

>>> joint = ByRows({"x": (3,)}, [(1,)])
>>> given = {"x": (0.0, -0.5)}, [(2.0, np.array([12.0]), (np.array([[1.0, 1.0, 1.0]]),))]
>>> joint.mean({}, given)["x"].round(3)
array([1.714, 1.714, 1.714])
>>> np.linalg.solve(np.eye(3) + 2 * np.ones((3, 3)), np.full(3, 12.0)).round(3)
array([1.714, 1.714, 1.714])
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from gibbsppl.runtime.factors import factor_of
from gibbsppl.runtime.joint import Joint
from gibbsppl.runtime.types import Constants, Flags, Floats, Generator, Numbers, State

# Of the rows of a factor: weights, responses, and the design of each array.
RowValues = tuple[Numbers, Numbers, Sequence[Numbers]]
# Coefficients of x and x**2 for each array, and what the rows of each factor are.
GivenRows = tuple[Mapping[str, tuple[Numbers, Numbers]], Sequence[RowValues]]


class ByRows:
    """The elements of whole arrays, and rows along which they are tied; made once, used often."""

    def __init__(
        self,
        arrays: Mapping[str, tuple[int, ...]],
        rows: Sequence[tuple[int, ...]],
        called: str = "",
    ) -> None:
        self.arrays = tuple(arrays)
        self.called = called or ", ".join(arrays)  # (the name of its step)
        self.shapes = dict(arrays)
        self.rows = tuple(rows)
        ends = itertools.accumulate(map(math.prod, arrays.values()), initial=0)
        # Where the elements of each array are among all, and each factor's rows among these.
        self.spans = list(zip(arrays, itertools.pairwise(ends), strict=True))
        self.size = sum(map(math.prod, arrays.values()))

    @property
    def drawn(self) -> dict[str, Flags]:
        """The masks of the elements drawn: all of them."""
        return {name: np.ones(shape, dtype=bool) for name, shape in self.shapes.items()}

    def assembled(self, state: State, given: GivenRows) -> tuple[Floats, ...]:
        """The coefficients and precisions of elements alone, the design, and the responses.

        Of rows without weight the responses are coefficients of elements.
        """
        del state
        own, rows = given
        linear = self.flat({name: one for name, (one, _) in own.items()})
        precisions = -2.0 * self.flat({name: two for name, (_, two) in own.items()})
        designs, responses = [], []
        for shape, (weight, response, design) in zip(self.rows, rows, strict=True):
            w, r = (np.broadcast_to(v, shape).ravel() for v in (weight, response))
            whole = self._design(shape, design)
            root = np.sqrt(w)
            if not (w > 0).all():
                linear += np.where(w > 0, 0.0, r) @ whole
                r = np.where(w > 0, r, 0.0)
            designs.append(whole * root[:, None])
            responses.append(r / np.where(w > 0, root, 1.0))
        return linear, precisions, np.concatenate(designs), np.concatenate(responses)

    def _design(self, shape: tuple[int, ...], design: Sequence[Numbers]) -> Floats:
        """The rows of a factor, with a column for each element."""
        count = math.prod(shape)
        found = np.empty((count, self.size))
        for part, (name, (start, stop)) in zip(design, self.spans, strict=True):
            whole = np.broadcast_to(part, (*shape, *self.shapes[name]))
            found[:, start:stop] = whole.reshape(count, stop - start)
        return found

    def draw(self, rng: Generator, state: State, given: GivenRows) -> dict[str, Numbers]:
        """The arrays, all of them drawn."""
        linear, precisions, design, responses = self.assembled(state, given)
        noise = np.sqrt(_positive(precisions)) * rng.standard_normal(self.size)
        beside = rng.standard_normal(len(responses))
        return self.placed(_solved(linear + noise, precisions, design, responses - beside))

    def mean(self, state: State, given: GivenRows) -> dict[str, Numbers]:
        """The arrays at their means."""
        return self.placed(_solved(*self.assembled(state, given)))

    def sd(self, state: State, given: GivenRows) -> dict[str, Numbers]:
        """The standard deviations of all elements."""
        _, precisions, design, _ = self.assembled(state, given)
        scaled = design / _positive(precisions)
        matrix = _of_rows(design, scaled)
        explained = (scaled * factor_of(matrix[None]).solve(scaled)).sum(axis=0)
        return self.placed(np.sqrt(1 / precisions - explained))

    def precision(self, given: GivenRows) -> Floats:
        """The precision matrix of all elements."""
        _, precisions, design, _ = self.assembled({}, given)
        return np.diag(precisions) + design.T @ design

    def diagonal(self, given: GivenRows) -> dict[str, Numbers]:
        """The diagonal of the precision matrix."""
        _, precisions, design, _ = self.assembled({}, given)
        return self.placed(precisions + (design**2).sum(axis=0))

    def flat(self, values: State) -> Floats:
        """The values of all elements, as one vector, array after array."""
        found = np.empty(self.size)
        for name, (start, stop) in self.spans:
            found[start:stop].reshape(self.shapes[name])[...] = values[name]
        return found

    def placed(self, x: Floats) -> dict[str, Numbers]:
        """The arrays with the values ``x``."""
        shapes = self.shapes
        return {n: x[a:b].reshape(shapes[n]) if shapes[n] else x[a] for n, (a, b) in self.spans}


def jointly_in(constants: Constants, step: str) -> Joint | ByRows:
    """The joint draw of a step, by its name, by rows or by the precision matrix."""
    found = (c for c in constants.values() if isinstance(c, Joint | ByRows))
    return next(c for c in found if c.called == step)


def _solved(linear: Floats, precisions: Floats, design: Floats, responses: Floats) -> Floats:
    """``(D + F'F)^-1 (linear + F' responses)``.

    Elements that no row shows, as weights are whose gates are shut, have no part in the matrix; if
    fewer are left than there are rows, it is ``D + F'F`` of these.
    """
    first = linear / _positive(precisions)
    shown = design.any(axis=0)
    if not shown.any():
        return first
    left = responses - design @ first
    if np.count_nonzero(shown) < len(design):
        own = design[:, shown]
        matrix = own.T @ own
        matrix[np.diag_indices_from(matrix)] += precisions[shown]
        first[shown] += factor_of(matrix[None]).solve((own.T @ left)[:, None])[:, 0]
        return first
    scaled = design / precisions
    away = factor_of(_of_rows(design, scaled)[None]).solve(left[:, None])
    return np.asarray(first + away[:, 0] @ scaled)


def _of_rows(design: Floats, scaled: Floats) -> Floats:
    """The matrix of the order of the rows."""
    found: Floats = design @ scaled.T
    found[np.diag_indices_from(found)] += 1.0
    return found


def _positive(precisions: Floats) -> Floats:
    if not (precisions > 0).all():
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return precisions
