"""Scales of observations that can be explained without a rest, however many they are.

Comes in: a graph and its data. Goes out: names of arrays. Where what observations are drawn around
has a latent number for each of them, as in a series of levels that are seen with noise, the density
of the observations has no largest value: it grows without end as the noise goes to zero, and says
nothing of how good a state is.

>>> import gibbsppl as gp
>>> with gp.Model(coords={"t": 3}) as levels:
...     noise, spread = gp.HalfNormal("noise", sigma=1), gp.HalfNormal("spread", sigma=1)
...     level = gp.Normal("level", 0, sigma=spread, dims="t")
...     y = gp.Normal("y", level, sigma=noise, dims="t", observed=[1.0, 3.0, 2.0])
>>> sorted(scales_of_saturated(levels.graph, levels.data))
['noise']
"""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet

from gibbsppl.algebra.expressions import arrays_in
from gibbsppl.model.density import free_elements
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Factor, Graph, Statement
from gibbsppl.model.graph_views import read_expressions


def scales_of_saturated(graph: Graph, data: Values) -> set[str]:
    """The arrays that only observations read which are explained without a rest by others.

    These are of a density, and are drawn around at least as many latent numbers as were observed.
    """
    read_by: dict[str, list[Factor]] = {n: [] for n in graph.drawn}
    for factor in graph.factors:
        for name in {n for e in read_expressions(factor) for n in arrays_in(e)} & {*read_by}:
            read_by[name].append(factor)
    return {
        name
        for name, readers in read_by.items()
        if readers and all(_is_saturated(f, graph, data, name) for f in readers)
    }


def _is_saturated(factor: Factor, graph: Graph, data: Values, name: str) -> bool:
    """Whether a factor is of observed measurements, of which no rest is left for an array."""
    if not isinstance(factor, Statement) or factor.known == 0 or factor.support.is_discrete:
        return False
    around = _explaining(factor, name) & {*graph.drawn}
    numbers = (n for n in around if not graph.variables[n].integer)
    unknown = sum(math.prod(graph.sizes[d] for d in graph.variables[n].dims) for n in numbers)
    free = free_elements(factor, data, graph.sizes)
    return bool(unknown >= free.size - free.sum())


def _explaining(statement: Statement, name: str) -> AbstractSet[str]:
    """The arrays in the location of a family, if it has one and ``name`` is none of them.

    Of a family without, the other arrays in its parameters.
    """
    row = statement.family.location_scale
    if row is None or row.location is None:
        return {n for _, a in statement.arguments for n in arrays_in(a)} - {name}
    read = arrays_in(dict(statement.arguments)[row.location])
    return frozenset() if name in read else read
