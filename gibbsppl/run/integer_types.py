"""The integer types that whole numbers are recorded in: known of the model, not of what is drawn.

Comes in: a graph with its data. Goes out: for each random array and each named quantity of whole
numbers, the smallest integer type of NumPy that holds its support.

>>> import gibbsppl as gp
>>> with gp.Model(coords={"k": 3, "i": 4}) as model:
...     z = gp.Categorical("z", 1 / 3, dims="i", event="k")
...     trials = gp.Data("trials", [9, 10, 11, 200], dims="i")
...     heads = gp.Binomial("heads", trials, 0.5, dims="i")
...     cases = gp.Poisson("cases", 2)
...     first = gp.Deterministic("first", z + 1)
>>> {name: str(kind) for name, kind in integer_types(model.graph, model.data).items()}
{'z': 'int8', 'heads': 'int16', 'cases': 'int64', 'first': 'int8'}
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf
from gibbsppl.algebra.intervals import INF, ZERO, End, Interval
from gibbsppl.algebra.ranges import counted
from gibbsppl.analysis.bounds import Bounds, interval_of, known_bounds
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.limits import is_whole

IntegerType = np.dtype[np.signedinteger[Any]]

# The types, the smallest first, with their largest numbers.
TYPES: dict[IntegerType, int] = {np.dtype(f"int{n}"): 2 ** (n - 1) - 1 for n in (8, 16, 32, 64)}


def integer_types(graph: Graph, data: Values) -> dict[str, IntegerType]:
    """The integer type of each random array and each quantity of whole numbers, by name.

    Counts without a bound have 64 bits. What no type is certain to hold is left out: quantities
    without a bound, and arrays whose bounds are beyond 64 bits.
    """
    arrays, quantities = _ends(graph, data)
    found = {n: _holding(*between) or _of_counts(*between) for n, between in arrays.items()}
    found |= {n: _holding(*between) for n, between in quantities.items()}
    return {name: kind for name, kind in found.items() if kind is not None}


def values_of(graph: Graph, data: Values) -> dict[str, range]:
    """All values that each array and each quantity of whole numbers with bounds can have, by name.

    >>> import gibbsppl as gp
    >>> with gp.Model() as model:
    ...     heads, cases = gp.Binomial("heads", 4, 0.5), gp.Poisson("cases", 2)
    ...     tails = gp.Deterministic("tails", 4 - heads)
    >>> values_of(model.graph, model.data)
    {'heads': range(0, 5), 'tails': range(0, 5)}
    """
    arrays, quantities = _ends(graph, data)
    known = {n: b for n, b in (arrays | quantities).items() if _holding(*b) is not None}
    return {n: range(int(lower), int(upper) + 1) for n, (lower, upper) in known.items()}


def _ends(graph: Graph, data: Values) -> tuple[dict[str, Interval], dict[str, Interval]]:
    """The ends of random arrays of whole numbers, and of quantities of whole numbers."""
    known = known_bounds(graph, data)
    wholes = (n for n in graph.drawn if graph.variables[n].integer)
    ends = {name: _ends_of(graph, name, known) for name in wholes}

    def of(leaf: Leaf) -> Any:
        return ends.get(leaf.array.name) or known(leaf)

    quantities = (d for d in graph.deterministics if is_whole(d.value, graph))
    return ends, {d.name: interval_of(counted(d.value, graph.sizes), of) for d in quantities}


def _ends_of(graph: Graph, name: str, known: Bounds) -> Interval:
    """The least and the greatest value of a random array, in all of its regions."""
    ends = [_ends_of_support(s, graph, known) for s in graph.statements_of(name)]
    constants = (c for c in graph.constants if c.target.array.name == name)
    ends += [interval_of(c.value, known) for c in constants]
    lowers, uppers = zip(*ends, strict=True)
    return min(lowers), max(uppers)


def _ends_of_support(statement: Statement, graph: Graph, known: Bounds) -> Interval:
    """The ends of the support of a statement, inside of that of its family."""
    full = statement.family.support(statement.event, **dict(statement.arguments))
    supports = (full, statement.support)
    if full.kind == "counts":  # (each of several counts is at most their sum)
        return ZERO, max(ZERO, _interval(full.upper, graph, known)[1])
    lowers = (_interval(s.lower, graph, known)[0] for s in supports)
    uppers = (_interval(s.upper, graph, known)[1] for s in supports)
    return max(lowers), min(uppers)


def _interval(end: Expr, graph: Graph, known: Bounds) -> Interval:
    return interval_of(counted(sp.sympify(end), graph.sizes), known)


def _holding(lower: End, upper: End) -> IntegerType | None:
    """The smallest type that holds the whole numbers between two ends, and their differences.

    >>> [str(_holding(*ends)) for ends in ((0, 127), (0, 128), (-100, 100))]
    ['int8', 'int16', 'int16']
    """
    if INF in (-lower, upper):
        return None
    needed = (-1 - lower, upper, upper - lower)
    return next((kind for kind, most in TYPES.items() if all(n <= most for n in needed)), None)


def _of_counts(lower: End, upper: End) -> IntegerType | None:
    """The type of counts without a bound; none where a bound says that no type holds them."""
    kind, most = list(TYPES.items())[-1]
    is_held = all(INF in (end, -end) or -most <= end <= most for end in (lower, upper))
    return kind if is_held else None
