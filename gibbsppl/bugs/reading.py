"""The origin of a model read from a text: the program, its data, and the names of arrays.

`gibbsppl.checks.reading` compares the model with a second evaluation of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gibbsppl.algebra.ranges import Range
from gibbsppl.bugs.grids import Array, Data
from gibbsppl.bugs.interpreted_values import Unrolled
from gibbsppl.bugs.interpreter import unrolled
from gibbsppl.bugs.layouts import Layout, Table
from gibbsppl.bugs.syntax import Loop, Program, Statement, Stochastic
from gibbsppl.model.evaluation import Values, evaluate
from gibbsppl.model.graph import Factor, Graph


@dataclass(frozen=True, slots=True, eq=False)
class Beside:
    """An auxiliary variable beside the values of an array, by its name in the model.

    ``row`` is the row of each element, if the model has the array as a table; ``event`` are the
    axes of one value.
    """

    name: str
    row: Array | None = None
    event: tuple[int, ...] = ()

    def values(self, state: Values) -> Array:
        """The values, with axes in the array's order."""
        found = np.asarray(state[self.name])
        if self.row is None:
            return found
        rows = found[np.maximum(self.row, 0)]
        inner = range(self.row.ndim, rows.ndim)
        return np.moveaxis(rows, inner, self.event[: len(inner)])


def beside(name: str, layout: Layout) -> Beside:
    """The auxiliary variable of that name, of an array of that layout."""
    return Beside(name, layout.row, layout.event) if isinstance(layout, Table) else Beside(name)


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A program and its data; ``beside`` are its auxiliary variables, as ``x.weight``.

    ``factors`` are the factors made of the program: a model with other factors is not the
    program's. ``ordered``: the vectors that the model holds sorted, and their names in the model.
    """

    program: Program
    data: Data
    beside: Mapping[str, Beside]
    factors: tuple[Factor, ...]
    ordered: Mapping[str, str]

    def is_of(self, graph: Graph) -> bool:
        """Whether a graph still has exactly the factors made of the program."""
        return graph.factors == self.factors

    @property
    def is_up_to_a_constant(self) -> bool:
        """Whether the densities may differ by a constant: by bounds other than T, or orders."""
        bounds = (line.restriction for line in lines_in(self.program.model))
        return bool(self.ordered) or any(b is not None and b.kind != "T" for b in bounds)

    @property
    def drawn(self) -> tuple[str, ...]:
        """The names of the arrays given by lines with ~."""
        return tuple(dict.fromkeys(line.target.name for line in lines_in(self.program.model)))

    def values(self, graph: Graph, state: Values) -> dict[str, Array]:
        """The program's random arrays; ``state`` has the model's, and the data."""
        quantities = {d.name: d for d in graph.deterministics}
        found: dict[str, Array] = {n: b.values(state) for n, b in self.beside.items()}
        for name in self.drawn:
            if name in quantities:
                found[name] = value_of(graph, name, state)
            elif self.ordered.get(name, name) in state:
                found[name] = state[self.ordered.get(name, name)]
        return found

    def is_in_order(self, state: Values) -> bool:
        """Whether the vectors that the model holds sorted are increasing: a state of the program.

        The program's density of any other state is zero, or its orders would be counted twice.
        """
        own = (np.asarray(state[own]) for own in self.ordered.values())
        return all(bool((np.diff(x) > 0).all()) for x in own)

    def orders(self, state: Values) -> Iterator[dict[str, Array]]:
        """The state with these vectors (if any) sorted, then the state with them reversed."""
        if self.ordered:
            sorted_ = {own: np.sort(state[own]) for own in self.ordered.values()}
            yield {**state, **sorted_}
            yield {**state, **{own: np.flip(x, -1) for own, x in sorted_.items()}}

    def unrolled(self, values: Values) -> Unrolled:
        """The program with its loops unrolled; ``values`` have the shapes of arrays."""
        return unrolled(self.program, self.data, {n: np.shape(v) for n, v in values.items()})


def lines_in(statements: tuple[Statement, ...]) -> Iterator[Stochastic]:
    """The lines with ~."""
    for s in statements:
        if isinstance(s, Loop):
            yield from lines_in(s.body)
        elif isinstance(s, Stochastic):
            yield s


def value_of(graph: Graph, name: str, state: Values) -> Array:
    """The value of a quantity of a model."""
    (quantity,) = (d for d in graph.deterministics if d.name == name)
    over = tuple(Range(d, 0, graph.sizes[d]) for d in quantity.dims)
    found = evaluate(quantity.value, over, state, graph.sizes)
    return np.broadcast_to(found, tuple(map(len, over)))
