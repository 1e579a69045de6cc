"""Log densities of factors: by the plain interpreter, or in loops where that pays.

Comes in: a graph, its data, how often log densities will be evaluated. Loops of a factor are
compiled where the interpreter would take longer for all of these: that depends on the model, its
sizes and this number alone. Where a factor has no loops, it is interpreted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gibbsppl.algebra.expressions import Expr, Over
from gibbsppl.algebra.ranges import range_of
from gibbsppl.errors import NotLoweredError
from gibbsppl.model.along_draws import Along, Declared, draws_at_once, total_along
from gibbsppl.model.density import Told, told_of
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Factor, Graph

if TYPE_CHECKING:
    from gibbsppl.code.density_program import DensityProgram

# CPU seconds that the interpreter takes for a number of those that are summed, at a position of a
# factor; and that loops of a factor take to be made and compiled.
A_NUMBER, COMPILING = 30e-9, 2.0


@dataclass(frozen=True, slots=True)
class LogDensities:
    """The log densities of a graph's factors; those ``in_loops`` are, by the factor's name."""

    graph: Graph
    in_loops: Mapping[str, DensityProgram] = field(default_factory=dict)

    def of(self, factors: Iterable[Factor], values: Values) -> dict[str, Told]:
        """The facts of each factor's log density, by its name."""
        return {f.name: self._one(f, values) for f in factors}

    def of_observations(self, data: Values, states: Sequence[Values]) -> list[float]:
        """The log density of what was observed, given each state; -inf if it is not a number.

        Where it is interpreted, that is for all of them at once.
        """
        total, step = np.zeros(len(states)), draws_at_once(self.graph)
        for start in range(0, len(states), step):
            some = states[start : start + step]
            along = {
                n: np.stack([s[n] for s in some], axis=-1)
                for n in self.graph.variables
                if all(n in s for s in some)
            }
            with np.errstate(invalid="ignore"):
                for factor in observed(self.graph):
                    total[start : start + step] += self._along(factor, data, some, along)
        return [float(t) if math.isfinite(t) else -math.inf for t in total]

    def _along(
        self, factor: Declared, data: Values, states: Sequence[Values], along: Along
    ) -> Floats:
        if factor.name in self.in_loops:
            return np.array([self._one(factor, {**data, **s}).total for s in states])
        return total_along(factor, data, along, self.graph.sizes, len(states))

    def _one(self, factor: Factor, values: Values) -> Told:
        program = self.in_loops.get(factor.name)
        if program is not None and program.can_read(values):
            return program(values)
        return told_of(factor, values, self.graph.sizes)


def observed(graph: Graph) -> tuple[Declared, ...]:
    """The factors that say how likely the observations are."""
    seen = tuple(s for s in graph.statements if s.known != 0)
    return (*seen, *(p for p in graph.potentials if p.of is not None))


def compiled_where_it_pays(
    graph: Graph, factors: Iterable[Factor], data: Values, evaluations: int
) -> LogDensities:
    """The log densities of some factors, each of which is evaluated so often."""
    found = {}
    for factor in factors:
        if pays(factor, graph.sizes, evaluations):
            from gibbsppl.code.density_program import DensityProgram  # noqa: PLC0415  (seldom)

            try:
                found[factor.name] = DensityProgram.of(graph, factor, data)
            except NotLoweredError:
                continue
    return LogDensities(graph, found)


def pays(factor: Factor, sizes: Sizes, evaluations: int) -> bool:
    """Whether loops of a factor, or of its moments, that are so often called pay."""
    return evaluations * numbers_of(factor, sizes) * A_NUMBER > COMPILING


def numbers_of(factor: Factor, sizes: Sizes) -> int:
    """The number of summands of a factor, at all of its positions."""
    return math.prod(map(len, factor.over)) * _summed(factor.log_density, sizes)


def _summed(expr: Expr, sizes: Sizes) -> int:
    """The number of summands of the largest sum in an expression.

    >>> from gibbsppl.algebra.expressions import Array, Dim
    >>> i, k = Dim("i"), Dim("k")
    >>> x = Array("x")
    >>> _summed(1 + Over(x[i] * Over(x[k] + i, k), i), {i: 5, k: 3})
    15
    """
    inner = max((_summed(a, sizes) for a in expr.args), default=1)
    return inner * len(range_of(expr, sizes)) if isinstance(expr, Over) else inner
