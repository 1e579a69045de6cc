"""How well draws explain the observations: the deviance, and the deviance information criterion.

Comes in: a graph with its data, draws of its posterior. Goes out: the deviance of each draw,
``-2 log p(y | s)``, the densities of all observed values with their constants; and its mean with a
penalty, the effective number of parameters,

    pD = average of log p(y* | s) - log p(y* | s'),   y* drawn from p(. | s),

over pairs of draws ``s`` and ``s'`` of different chains (M. Plummer, 2002, discussion of
Spiegelhalter, Best, Carlin and van der Linde, Journal of the Royal Statistical Society B 64;
2008, Biostatistics 9). It needs no estimate of the parameters, so that labels and counts may be
among them, and does not change with how they are written.

>>> import gibbsppl as gp
>>> with gp.Model(coords={"i": 20}) as model:
...     mu = gp.Flat("mu")
...     y = gp.Normal("y", mu, sigma=1, dims="i", observed=[1.0, -1.0] * 10)
>>> sampler = gp.compile(model)
>>> found = sampler.dic(sampler.sample(draws=2000, seed=1, progress=False))
>>> round(found.penalty, 1), round(found.mean, 1), round(float(20 * np.log(2 * np.pi) + 21), 1)
(1.0, 57.8, 57.8)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, Leaf, leaves_of
from gibbsppl.code.log_densities import LogDensities, compiled_where_it_pays
from gibbsppl.errors import ModelError, RunError
from gibbsppl.html import Printed
from gibbsppl.model.along_draws import along_draws, draws_at_once
from gibbsppl.model.density import free_elements, log_density
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.forward import drawn, fill
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.operations import Bools
from gibbsppl.output.arrays import for_arithmetic
from gibbsppl.output.diagnostics import mcse_mean
from gibbsppl.output.draws import Draws
from gibbsppl.output.thinning import all_at_once
from gibbsppl.run.choice import is_installed
from gibbsppl.runtime.types import Ints

DEVIANCE = "deviance"
_REPLICATE = Array("replicate~")


@dataclass(frozen=True, slots=True)
class Dic(Printed):
    """The deviance information criterion: the mean deviance and a penalty, pD.

    ``error`` is the Monte Carlo standard error of the penalty. ``half_variance`` is half the
    variance of the deviance, another estimate of the penalty for models with vague priors (Gelman,
    Carlin, Stern and Rubin, 2003, Bayesian Data Analysis).
    """

    mean: float
    penalty: float
    error: float
    half_variance: float

    @property
    def dic(self) -> float:
        """The penalised deviance; differences between models of the same data have a meaning."""
        return self.mean + self.penalty

    def __str__(self) -> str:
        return "\n".join(
            (
                f"mean deviance       {self.mean:.4g}",
                f"penalty (pD)        {self.penalty:.3g}, with Monte Carlo error {self.error:.2g}",
                f"penalised deviance  {self.dic:.4g}",
            )
        )


def needed(graph: Graph) -> tuple[str, ...]:
    """The latent arrays that the observations read."""
    latent = set(graph.drawn)
    read = {x.array.name for f in seen_statements(graph) for x in leaves_of(f.log_density)}
    return tuple(n for n in graph.variables if n in latent & read)


def deviance(graph: Graph, data: Values, draws: Draws) -> Floats:
    """The deviance of each draw, with axes (chain, draw)."""
    draws = draws.together(names_needed(graph, draws) or None)
    seen, count = seen_statements(graph), draws.chains * draws.draws
    in_loops = _in_loops(graph, [s for s in seen if s.known == 1], data, draws)
    found = np.zeros(count)
    if in_loops.in_loops:
        found += _one_by_one(in_loops, data, draws)
    left = {s.name for s in seen} - in_loops.in_loops.keys()
    for chunk, rows, given, _ in chunks(graph, draws) if left else ():
        rest = (f for f in seen_statements(chunk) if f.name in left)
        values = {**data, **given}
        found[rows] += sum(_total(chunk, f, seen_density(chunk, f, values), values) for f in rest)
    return -2 * found.reshape(draws.chains, draws.draws)


def _in_loops(graph: Graph, seen: Sequence[Statement], data: Values, draws: Draws) -> LogDensities:
    """The log densities, in loops where these pay; none are compiled of draws made in NumPy."""
    if draws.attributes.get("backend") != "compiled" or not is_installed():
        return LogDensities(graph)
    return compiled_where_it_pays(graph, seen, data, draws.chains * draws.draws)


def _one_by_one(densities: LogDensities, data: Values, draws: Draws) -> Floats:
    """The log density of the factors that are in loops, draw by draw."""
    factors = [f for f in densities.graph.factors if f.name in densities.in_loops]
    arrays = {n: draws.stacked(n) for n in names_needed(densities.graph, draws)}
    found = np.empty(draws.chains * draws.draws)
    for row in range(len(found)):
        values = {**data, **{n: for_arithmetic(a[row]) for n, a in arrays.items()}}
        found[row] = sum(t.total for t in densities.of(factors, values).values())
    return found


def with_deviance(graph: Graph, data: Values, draws: Draws) -> Draws:
    """The draws with one more variable, the deviance."""
    if DEVIANCE in draws:
        raise RunError(f"{DEVIANCE}: found a variable of this name; give it another one.")
    found = {**draws.values, DEVIANCE: deviance(graph, data, draws)}
    rate = all_at_once(draws.every, names_needed(graph, draws))
    every = draws.every if rate == 1 else {**draws.every, DEVIANCE: rate}
    # (a longer run would not have it)
    return replace(draws, values=found, every=every, ends=None)


def dic(graph: Graph, data: Values, draws: Draws, *, seed: int = 0) -> Dic:
    """The deviance information criterion of draws of at least two chains."""
    if draws.chains < 2:
        raise RunError("dic: found one chain, expected at least two: the penalty compares them.")
    draws = draws.together(names_needed(graph, draws) or None)
    deviances = deviance(graph, data, draws)
    rng = np.random.default_rng(seed)
    gaps = []
    for chunk, _, given, others in chunks(graph, draws):
        here, there = {**data, **given}, {**data, **others}
        gaps.append(sum(_gap(rng, chunk, f, here, there) for f in seen_statements(chunk)))
    penalties = np.concatenate(gaps).reshape(draws.chains, draws.draws)
    return Dic(
        mean=float(deviances.mean()),
        penalty=float(penalties.mean()),
        error=float(mcse_mean(penalties)),
        half_variance=float(deviances.var() / 2),
    )


def seen_statements(graph: Graph) -> list[Statement]:
    """The statements of what is observed."""
    seen = [s for s in graph.statements if s.known != 0]
    if not seen:
        raise RunError(f"{graph.name}: found no observations, so that there is no deviance.")
    for sparse in (p.of for p in graph.potentials if p.of is not None):
        raise RunError(
            f"{sparse}: observed as a sparse array, whose cells are not made, so that its deviance "
            "is not known; declare the model with a dense array."
        )
    return seen


def names_needed(graph: Graph, draws: Draws) -> tuple[str, ...]:
    """The latent arrays that the observations read; an error for one that draws do not have."""
    names = needed(graph)
    for name in names:
        if name not in draws:
            raise RunError(
                f"{name}: the observations depend on it, but it is not among the draws "
                f"({', '.join(draws)}); name it in keep= when sampling."
            )
    return names


def chunks(
    graph: Graph, draws: Draws
) -> Iterator[tuple[Graph, Ints, Mapping[str, Floats], Mapping[str, Floats]]]:
    """Some draws at a time: a graph with one more dim, their rows, and those of the next chain."""
    names = names_needed(graph, draws)
    count, step = draws.chains * draws.draws, draws_at_once(graph)
    for start in range(0, count, step):
        size = min(step, count - start)
        rows = np.arange(start, start + size)
        others = (rows + draws.draws) % count
        # (statements along draws are not marked as observed)
        along = along_draws(graph, names, size)
        pairs = zip(along.statements, graph.statements, strict=True)
        marked = tuple(replace(a, known=s.known) for a, s in pairs)
        yield (
            replace(along, statements=marked),
            rows,
            {n: np.moveaxis(draws.at(n, rows), 0, -1) for n in names},
            {n: np.moveaxis(draws.at(n, others), 0, -1) for n in names},
        )


def seen_density(graph: Graph, statement: Statement, values: Values) -> Floats:
    """The log density at each position of a statement, for each draw, the last axis."""
    return log_density(replace(statement, known=sp.S.One), values, graph.sizes)


def is_seen(graph: Graph, statement: Statement, values: Values) -> Bools:
    """Where a statement's values are observed; `RunError` if a vector is observed in part."""
    free = free_elements(statement, values, graph.sizes)
    entries = tuple(range(len(statement.over), free.ndim))
    if not (free.all(axis=entries) == free.any(axis=entries)).all():
        raise RunError(
            f"{statement.name}: found vectors of which some entries are missing, whose density is "
            "an integral over these; leave it out, or declare its entries as variables of one "
            "number each."
        )
    return np.asarray(~free.any(axis=entries))


def _total(graph: Graph, statement: Statement, found: Floats, values: Values) -> Floats:
    """The sum over all that is observed; draws are the last axis of a statement."""
    if statement.known != 1:
        found = np.where(is_seen(graph, statement, values), found, 0.0)
    return np.asarray(found.sum(axis=tuple(range(found.ndim - 1))))


def _gap(
    rng: np.random.Generator,
    graph: Graph,
    statement: Statement,
    here: Values,
    there: Values,
) -> Floats:
    """By draw, the excess fit of new observations to the draw that they come from over another."""
    replicated = _replicated(statement)
    try:
        drawn_values = drawn(rng, replicated, here, graph.sizes)
    except ModelError as error:
        raise RunError(
            f"dic: the penalty compares simulated observations, but {error} The deviance itself "
            "needs none of them."
        ) from error
    densities = []
    for values in (here, there):
        blank = np.zeros(_sizes(graph, statement))
        filled = {**values, _REPLICATE.name: blank}
        fill(replicated, drawn_values, filled, graph.sizes)
        found = log_density(replicated, filled, graph.sizes)
        densities.append(_total(graph, statement, found, here))
    return np.asarray(densities[0] - densities[1])


def _replicated(statement: Statement) -> Statement:
    """The statement of new values, given what was observed before them."""
    target, along = statement.target, _draw_of(statement)
    others = (i for i in target.indices if i != along)
    own = Leaf(_REPLICATE, *others, along)
    seen = tuple(replace(c, where=c.where.xreplace({target: own})) for c in statement.censored)
    return replace(statement, target=own, known=sp.S.One, censored=seen)


def _sizes(graph: Graph, statement: Statement) -> list[int]:
    """The shape of the array of new values."""
    along = _draw_of(statement)
    dims = graph.variables[statement.target.array.name].dims
    return [graph.sizes[d] for d in (*(d for d in dims if d != along), along)]


def _draw_of(statement: Statement) -> Dim:
    """The dim of the draws."""
    return statement.over[-1].dim
