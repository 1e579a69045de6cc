"""A model at a power of its likelihood: the graph in which what is observed counts so many times.

Comes in: a declared graph and its data. Goes out: the graph with the log density of its *data
factors* times a power, and the log likelihood as a quantity. The power is an array of the state
that no statement fills: no step draws it, no proof reads it, nothing of data alone contains it, so
that one program serves all powers, and chains at several powers share all constants.

What is no statement of a latent variable is a data factor: observed values, and potentials. At
power 0 the graph is the prior, at 1 the model. Logs of indicators (limits, constraints) are 0 or
minus infinity, and hold at each power. Of an array that is observed in part the observed elements
count; its statement is left for the others. For annealing powers go on beyond 1, and there latent
variables count as often, too: the whole density is to the power, which leads to its mode.

>>> from gibbsppl.families import FAMILIES
>>> mu, y = Array("mu")[()], Array("y")[()]
>>> normal = lambda at: (("mu", at), ("tau", sp.S.One))
>>> statements = (
...     Statement("mu", mu, (), (), FAMILIES["Normal"], normal(sp.S.Zero)),
...     Statement("y", y, (), (), FAMILIES["Normal"], normal(mu), known=sp.S.One),
... )
>>> graph = Graph("g", {}, {"mu": Variable("mu", (), "random")}, statements)
>>> print(tempered(graph, {"y": np.array(1.0)}).graph)
mu ~ Normal(mu=0, tau=1)
log density += power*(-(y - mu)**2/2 - log(2*pi)/2), for y observed
log_likelihood := -(y - mu)**2/2 - log(2*pi)/2
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Array, Expr, Leaf, Over, dims_of
from gibbsppl.algebra.functions import INDICATORS, Maximum
from gibbsppl.algebra.ranges import Range, fresh
from gibbsppl.errors import RunError
from gibbsppl.model.evaluation import Sizes, Values
from gibbsppl.model.graph import (
    Censoring,
    Deterministic,
    Graph,
    Potential,
    Statement,
    Variable,
)
from gibbsppl.pieces.outcomes import with_outcomes


@dataclass(frozen=True, slots=True, eq=False)
class Tempered:
    """A tempered graph with its data, and the names of the power and of the log likelihood.

    ``observations`` is the number of terms that are to the power. ``is_beyond``: above 1 it is the
    power of the whole density.
    """

    graph: Graph
    data: Values
    power: str
    log_likelihood: str
    observations: int
    is_beyond: bool = False


def tempered(graph: Graph, data: Values, *, beyond: bool = False) -> Tempered:
    """The graph with its data factors to a power; raises `RunError` where there are none.

    ``beyond``: powers above 1 are those of the whole density.
    """
    graph = with_outcomes(graph, data)
    taken = {*graph.variables, *(d.name for d in graph.deterministics)}
    power, told = fresh("power", taken), fresh("log_likelihood", taken)
    parts = [_parted(s, graph, data) for s in graph.statements if s.known != 0]
    seen = [p for part in parts for p in part.seen]
    every = (*seen, *graph.potentials)
    if not any(_parts(p.log_density)[1] != 0 for p in every):
        raise RunError(
            f"{graph.name}: nothing is observed and there is no potential, so that the model is "
            "its prior; there is nothing that a power could change."
        )
    left = {s.name: s for part in parts for s in part.left}
    beta = Array(power, positive=True)[()]
    total = sp.Add(*(_total(p.log_density, p.over, graph.sizes) for p in every))
    made = {v.name: v for part in parts for v in part.variables}
    latent = [left.get(s.name, s) for s in graph.statements if s.known == 0 or s.name in left]
    more = [_more_of(s, beta, taken) for s in latent] if beyond else []
    found = replace(
        graph,
        variables={**graph.variables, **made, power: Variable(power, (), "random")},
        statements=tuple(latent),
        potentials=(*(_to_power(p, beta) for p in every), *more),
        deterministics=(*graph.deterministics, Deterministic(told, (), total)),
    )
    values = {n: a for part in parts for n, a in part.data.items()}
    counted = (p for p in every if _parts(p.log_density)[1] != 0)
    return Tempered(found, {**data, **values}, power, told, sum(map(_size, counted)), beyond)


@dataclass(frozen=True, slots=True, eq=False)
class _Parted:
    """A statement of observed values as a potential; what is left of it, and arrays of data."""

    seen: tuple[Potential, ...]
    left: tuple[Statement, ...] = ()
    variables: tuple[Variable, ...] = ()
    data: Values = field(default_factory=dict)


def _parted(statement: Statement, graph: Graph, data: Values) -> _Parted:
    """The observed values of a statement as a potential, and the statement of the others."""
    s, name = statement, statement.target.array.name
    if s.known == 1:
        return _Parted((Potential(s.name, s.log_density, s.over, of=name),))
    if dims_of(s.target) & set(s.event):
        raise RunError(
            f"{s.name}: some values of {s.family.name} are missing; the density of the others to a "
            "power is known for single numbers alone. Leave incomplete values out of the data."
        )
    own = fresh(f"{name}.observed", graph.variables)
    before = graph.variables[name]
    variable = replace(before, name=own, kind="data" if before.of is None else "index")
    known = Leaf(s.target.array.renamed(own), *s.target.indices)
    density = s.known * s.log_density.xreplace({s.target: known})
    potential = Potential(fresh(f"{s.name}.observed", {f.name for f in graph.factors}), density,
                          s.over, of=name)  # fmt: skip
    missing = replace(s, censored=(*s.censored, Censoring(s.known)))
    return _Parted((potential,), (missing,), (variable,), {own: np.array(data[name])})


def _size(potential: Potential) -> int:
    return math.prod(map(len, potential.over))


def _more_of(statement: Statement, power: Expr, taken: set[str]) -> Potential:
    """The density of latent values to what a power is above 1."""
    own = statement.log_density * (1 - statement.known)
    name = fresh(f"{statement.name}.more", taken)
    return _to_power(Potential(name, own, statement.over), Maximum(power, 1) - 1)


def _to_power(potential: Potential, power: Expr) -> Potential:
    """The potential with all but its logs of indicators times a power."""
    limits, rest = _parts(potential.log_density)
    return replace(potential, log_density=limits + power * rest) if rest != 0 else potential


def _parts(density: Expr) -> tuple[Expr, Expr]:
    """The terms of a log density that are logs of indicators, and the sum of all others."""
    terms = sp.Add.make_args(density)
    limits = [t for t in terms if _is_limit(t)]
    return sp.Add(*limits), sp.Add(*(t for t in terms if t not in limits))


def _is_limit(term: Expr) -> bool:
    """Whether a term is 0 or minus infinity: a log of a product of indicators, or a sum of such."""
    if isinstance(term, Over):
        return all(map(_is_limit, sp.Add.make_args(term.body)))
    factors = sp.Mul.make_args(term.args[0]) if isinstance(term, sp.log) else ()
    return bool(factors) and all(isinstance(f, INDICATORS) for f in factors)


def _total(density: Expr, over: Sequence[Range], sizes: Sizes) -> Expr:
    """The sum of a log density at all positions."""
    for r in reversed(over):
        ends = () if len(r) == sizes[r.dim] else (r.start, r.stop)
        density = Over(density, r.dim, *ends)
    return density
