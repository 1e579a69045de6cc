"""Elements that no term sees together share a colour: each colour is drawn in vector calls.

Where the entries of a value are tied to one another (the shares of a simplex), values have colours.

Comes in: a conditional whose elements depend on one another, its graph and data. Goes out: a
`Pattern`, where all conflicts are constant steps on a lattice (a chessboard has two colours); a
`Chart`, the colour of each element as a table, from the graph of conflicts; or `OneByOne`, with
the reason unless every element is in conflict with every other.

Given all other colours, the elements of one colour are independent, whatever the kernel
(J. Gonzalez, Y. Low, A. Gretton, C. Guestrin, 2011, "Parallel Gibbs sampling: from colored fields
to thin junction trees", Proceedings of AISTATS 14).

>>> pattern({(1, 0), (0, 1)}, 2)
Pattern(steps=(1, 1), count=2)
>>> pattern({(1, 0), (0, 1), (1, 1), (1, -1)}, 2)
Pattern(steps=(1, 2), count=4)
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import product
from math import prod

import networkx as nx
import numpy as np
import scipy
from numpy.typing import NDArray

from gibbsppl.algebra.expressions import mentions
from gibbsppl.derive.conditionals import Derived
from gibbsppl.derive.conflicts import (
    DrawnElements,
    Meeting,
    Offset,
    TooMany,
    meetings_of,
    offsets_of,
    pairs_of,
)
from gibbsppl.derive.contractions import data_only
from gibbsppl.derive.form_facts import charted, shown_by
from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.multilinear_forms import NotMultilinear
from gibbsppl.model.density import tied_dims
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import Place, region_of, slices_of
from gibbsppl.pieces.gates import binary_arrays
from gibbsppl.pieces.split import pieces_of

# Patterns of more colours than this are not looked for.
MOST_OF_PATTERN = 32


@dataclass(frozen=True, slots=True)
class Pattern:
    """The colour of the element at ``i`` is ``sum(steps[k] * i[k], k) mod count``."""

    steps: tuple[int, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Chart:
    """The colour of each element by a table, which has a name; -1 where none is drawn.

    ``factors`` are those in which elements meet.
    """

    count: int
    table: NDArray[np.intp] = field(repr=False, compare=False)
    factors: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class OneByOne:
    """No two elements share a colour; ``why`` is the reason, unless all are in conflict."""

    why: str = ""


Colours = Pattern | Chart | OneByOne


def colours_told(colours: Colours | None) -> str:
    """The words for the colours in which dependent elements are drawn.

    >>> colours_told(Pattern((1, 1), 2)), colours_told(OneByOne())
    ('in 2 colours', 'one by one')
    """
    if isinstance(colours, Pattern | Chart) and not _is_each(colours):
        return f"in {colours.count} colours" if colours.count > 1 else "in 1 colour"
    why = colours.why if isinstance(colours, OneByOne) else ""
    return f"one by one: {why}" if why else "one by one"


def _is_each(colours: Pattern | Chart) -> bool:
    """Whether each of several elements has a colour of its own."""
    return isinstance(colours, Chart) and 1 < colours.count == np.sum(colours.table >= 0)


def colours_of(graph: Graph, derived: Derived, data: Values) -> Colours | None:
    """How the elements of a conditional are coloured; None where they are independent."""
    statement = derived.statement
    if not derived.elements:
        return None
    if graph.marginals:
        return OneByOne("sums over its elements are read")
    array, events = statement.target.array, len(tied_dims(statement))
    whole = region_of(graph, statement)
    region = whole[: len(whole) - events]
    if isinstance(derived, Conditional) and derived.forms:
        found = _of_forms(graph, derived, region, data)
        if found is not None:
            return found
    factors = graph.factors_of(array)
    pieces = pieces_of(factors, statement, graph.sizes, binary_arrays(graph, data))
    meetings = meetings_of(pieces, region, data_only(graph.random), graph.sizes, events)
    offsets = offsets_of(meetings, region)
    lengths = [1 if isinstance(p, int) else len(p) for p in region]
    by_steps = None if offsets is None else pattern(offsets, len(region))
    if by_steps is not None and (by_steps.count < prod(lengths) or prod(lengths) == 1):
        return by_steps
    return _charted(graph, statement, meetings, region, data)


def _of_forms(
    graph: Graph, derived: Conditional, region: tuple[Place, ...], data: Values
) -> Colours | None:
    """The colours of elements that are seen together by forms alone; None if other terms do.

    Gates that other terms see, too, have a colour each.
    """
    forms = {f.factor for f in derived.forms}
    pieces = [p for ps in derived.pieces for p in ps if p.factor not in forms]
    array = derived.statement.target.array
    shape, free = _elements(graph, derived.statement, region, data)
    if any(mentions(p.coefficient, (array.name,)) for p in pieces):
        if not derived.statement.support.is_binary:
            return None
        table = np.arange(free.size, dtype=np.intp).reshape(shape)
        factors = dict.fromkeys((*sorted(forms), *(p.factor for p in pieces)))
        return Chart(free.size, table, tuple(factors))
    shown = [shown_by(form, graph, data) for form in derived.forms]
    table, count = charted([s for s in shown if not isinstance(s, NotMultilinear)], shape, free)
    # (also of one element each: the form that they share is kept up to date from call to call)
    return Chart(count, table, tuple(sorted(forms)))


def pattern(offsets: Collection[Offset], axes: int) -> Pattern | None:
    """The pattern with the fewest colours in which elements at these offsets differ.

    Among equals, that with the smallest steps along the last axes, which are read as slices.
    """
    if not offsets:
        return Pattern((0,) * axes, 1)
    along = [axis for axis in range(axes) if any(o[axis] for o in offsets)]
    apart = np.array([[o[axis] for axis in along] for o in sorted(offsets)])
    for count in range(2, MOST_OF_PATTERN + 1):
        if count ** len(along) > 1 << 20:
            return None
        steps = np.array(list(product(range(count), repeat=len(along))))
        differ = ((steps @ apart.T) % count != 0).all(axis=1)
        if differ.any():
            best = min(steps[differ].tolist(), key=lambda s: (max(s), s))
            full = dict(zip(along, best, strict=True))
            return Pattern(tuple(full.get(axis, 0) for axis in range(axes)), count)
    return None


def _charted(
    graph: Graph,
    statement: Statement,
    meetings: tuple[Meeting, ...],
    region: tuple[Place, ...],
    data: Values,
) -> Colours:
    """The colours of the graph of conflicts, which the data make."""
    shape, free = _elements(graph, statement, region, data)
    # (what is not known of an array that is partly observed may be anything)
    known = {n: v for n, v in data.items() if n not in graph.drawn}
    pairs = pairs_of(meetings, DrawnElements(shape, free.ravel()), known, graph.sizes)
    if isinstance(pairs, TooMany):
        return OneByOne(f"there may be more than {pairs.number:,} conflicts")
    table = coloured(pairs, free.ravel())
    count = int(table.max(initial=-1)) + 1
    if count >= free.sum() and not tied_dims(statement):
        return OneByOne()
    factors = tuple(dict.fromkeys(m.factor for m in meetings))
    return Chart(count, table.reshape(shape), factors)


def _elements(
    graph: Graph, statement: Statement, region: tuple[Place, ...], data: Values
) -> tuple[tuple[int, ...], NDArray[np.bool_]]:
    """The shape of an array, and which of its elements, or tied values, a statement draws."""
    dims = graph.variables[statement.target.array.name].dims
    shape = tuple(graph.sizes[d] for d in dims[: len(region)])
    free = np.zeros(shape, dtype=bool)
    free[slices_of(region)] = True
    if statement.mask is not None:
        missing = np.asarray(data[statement.mask]) == 0
        free &= missing.any(axis=tuple(range(len(region), len(dims))))
    return shape, free


def coloured(pairs: scipy.sparse.csr_array, free: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The colour of each free element, -1 for the others; those with most conflicts come first.

    Greedy: the number of colours is at most one more than the largest number of conflicts of an
    element (D. J. A. Welsh and M. B. Powell, 1967, The Computer Journal 10, 85-86).
    """
    conflicts: nx.Graph = nx.Graph()
    conflicts.add_nodes_from(np.flatnonzero(free).tolist())
    first, second = pairs.nonzero()
    conflicts.add_edges_from(zip(first.tolist(), second.tolist(), strict=True))
    table = np.full(free.size, -1, dtype=np.intp)
    for element, colour in nx.greedy_color(conflicts, strategy="largest_first").items():
        table[element] = colour
    return table
