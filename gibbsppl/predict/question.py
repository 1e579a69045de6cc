"""The question of a prediction, and how the arrays that it needs are put together.

Comes in: a question, as `gibbsppl.predict.new_data` reads it from what a user says; draws. Goes
out: arrays to simulate from, those of a series begun with what is before; the new elements of what
came of it, with their labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.output.arrays import Array
from gibbsppl.predict.series import further_labels


@dataclass(frozen=True, slots=True)
class Question:
    """A prediction to be made.

    ``graph`` has the statements of ``names``, what is predicted, and of ``redrawn``, sizes as they
    are at the new data. ``kept`` names the latent variables whose draws are used, ``redrawn`` those
    that live along ``new_dims`` and so have no draws. Where positions along ``series`` follow those
    before, arrays have all ``start`` of these first: of the ones in ``carried`` they are read,
    ``before`` has the observed ones.
    """

    names: tuple[str, ...]
    graph: Graph
    data: Values
    new_dims: frozenset[Dim]
    kept: tuple[str, ...]
    redrawn: tuple[str, ...]
    series: Dim | None = None
    start: int = 0
    carried: tuple[str, ...] = ()
    before: Values = field(default_factory=dict)

    @property
    def read(self) -> tuple[str, ...]:
        """The names of all arrays whose draws are used."""
        return (*self.kept, *(n for n in self.carried if n not in self.before))

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array of which draws are used."""
        sizes = self.graph.sizes
        along = {**sizes, self.series: self.start} if self.series is not None else sizes
        return tuple(along[d] for d in self.graph.variables[name].dims)

    def new_shape(self, name: str) -> tuple[int, ...]:
        """The shape of what is predicted of an array."""
        sizes = self.graph.sizes
        along = {**sizes, self.series: sizes[self.series] - self.start} if self.series else sizes
        return tuple(along[d] for d in self.graph.variables[name].dims)

    def begun(self, draws: Values, count: int) -> dict[str, Array]:
        """The arrays that are carried on, from what is before: draws are their last axis."""
        found = {}
        for name in self.carried:
            old = np.asarray(draws[name] if name not in self.before else self.before[name])
            if name in self.before:
                old = np.broadcast_to(old[..., None], (*old.shape, count))
            axis = self._axis(name)
            more = [(0, 0)] * old.ndim
            more[axis] = (0, self.graph.sizes[self.graph.variables[name].dims[axis]] - self.start)
            blank = -1 if self.graph.variables[name].integer else np.nan
            found[name] = np.pad(old, more, constant_values=blank)
        return found

    def at_new(self, name: str, array: Array) -> Array:
        """The elements of an array, draws last, at the new positions."""
        if self.series is None or self.series not in self.graph.variables[name].dims:
            return array
        return array[(*[slice(None)] * self._axis(name), slice(self.start, None))]

    def range_of(self, dim: Dim, sizes: Mapping[Dim, int]) -> Range:
        """The new positions along a dim, all where none are old."""
        return Range(dim, self.start if dim == self.series else 0, sizes[dim])

    def _axis(self, name: str) -> int:
        dims = [d for d in self.graph.variables[name].dims if d == self.series]
        return self.graph.variables[name].dims.index(dims[0])

    def new_coords(self, coords: Mapping[str, Array], dims: Iterable[str]) -> dict[str, Array]:
        """The labels along dims: of old positions, and of a series that is carried on."""
        new = {d.name for d in self.new_dims}
        found = {d: coords[d] for d in dims if d in coords and d not in new}
        if self.series is not None and self.series.name in dims:
            own = self.series.name
            labels = further_labels(coords.get(own), self.graph.sizes[self.series] - self.start)
            found |= {} if labels is None else {own: labels}
        return found

    @property
    def name(self) -> str:
        """The only variable that is predicted."""
        (name,) = self.names
        return name

    @property
    def random(self) -> set[str]:
        """The arrays that have a value for each draw."""
        return {*self.kept, *self.redrawn, *self.names}
