"""Posterior predictive draws: observations simulated anew given each draw of the posterior.

Comes in: a graph with its data, draws of its posterior, new values of some data. Goes out: draws
of observed variables, with dims and coords, one for each draw of the posterior. All of them are
simulated together: they are one more dimension of the expressions.

>>> import gibbsppl as gp
>>> with gp.Model(coords={"toss": 10}) as coin:
...     p = gp.Beta("p", 1, 1)
...     heads = gp.Bernoulli("heads", p, dims="toss", observed=[1] * 7 + [0] * 3)
>>> sampler = gp.compile(coin)
>>> draws = sampler.sample(draws=1000, chains=2, seed=1, progress=False)
>>> later = sampler.simulate(draws, new={"toss": 100})
>>> later
2 chains, 1000 draws each
heads (toss: 100)
>>> totals = later["heads"].sum(axis=-1)  # of the beta-binomial, whose mean is 100 * 8 / 12
>>> abs(totals.mean() - 100 * 8 / 12) < 4 * totals.std() / 2000**0.5
np.True_
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gibbsppl.arguments import GivenArray
from gibbsppl.errors import ModelError, RunError, did_you_mean
from gibbsppl.model.along_draws import along_draws, computed_along, draws_at_once
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.forward import State, as_declared, drawn, walk
from gibbsppl.model.graph import Graph, Statement, Variable
from gibbsppl.output.arrays import Array
from gibbsppl.output.draws import Draws
from gibbsppl.predict.new_data import observed_arrays, question_about, uncensored
from gibbsppl.predict.prediction import check_draws, seed_of
from gibbsppl.predict.question import Question
from gibbsppl.run.recording import check_memory


def simulated(  # noqa: PLR0913  (what `Sampler.simulate` takes)
    graph: Graph,
    data: Values,
    draws: Draws,
    names: str | Sequence[str] | None = None,
    new: Mapping[str, GivenArray] | None = None,
    *,
    seed: int | None = None,
    censored: bool = True,
    limit_bytes: int = 4 << 30,
) -> Draws:
    """Draws of observed variables given each draw of the posterior, as `Sampler.simulate` says."""
    chosen = _asked(graph, names)
    own = _with_computed(graph if censored else uncensored(graph), chosen)
    question = question_about(own, data, new or {}, chosen)
    check_draws(question, draws)
    draws = draws.together(question.read or None)
    count, shapes = draws.chains * draws.draws, _shapes(question)
    needed = {n: 8 * count * math.prod(s) for n, s in shapes.items()}
    check_memory(needed, limit_bytes, "simulations")
    rng = np.random.default_rng([seed_of(draws) if seed is None else seed, 3])
    step = draws_at_once(question.graph)
    parts = []
    for start in range(0, count, step):
        rows = np.arange(start, min(start + step, count))
        parts.append(_some(rng, question, {n: draws.at(n, rows) for n in question.read}, len(rows)))
    shape = draws.chains, draws.draws
    stacked = {n: np.concatenate([p[n] for p in parts]) for n in question.names}
    dims = {n: tuple(d.name for d in own.variables[n].dims) for n in question.names}
    used = {d for along in dims.values() for d in along}
    told = {"model": graph.name, "seed": draws.attributes.get("seed") if seed is None else seed}
    return Draws(
        values={n: a.reshape(*shape, *shapes[n]) for n, a in stacked.items()},
        dims=dims,
        coords=question.new_coords(draws.coords, used),
        attributes={k: v for k, v in told.items() if v is not None},
    )


def _asked(graph: Graph, names: str | Sequence[str] | None) -> tuple[str, ...]:
    """The variables to simulate, by default all that are observed."""
    observed, computed = observed_arrays(graph), [d.name for d in graph.deterministics]
    sparse = tuple(p.of for p in graph.potentials if p.of is not None)
    found = (names,) if isinstance(names, str) else (*observed, *sparse) if names is None else names
    for name in found:
        if name in sparse:
            raise RunError(
                f"{name}: observed as a sparse array, whose cells are not made, so that it is not "
                "simulated; name others, or compile the model with a dense array."
            )
        if name not in (*observed, *computed):
            told = f" or of computed ones: {', '.join(computed)}" if computed else ""
            raise RunError(
                f"simulate: found {name!r}, expected names of observed variables: "
                f"{', '.join(observed) or 'there is none'}{told}."
                f"{did_you_mean(name, (*observed, *computed))}"
            )
    if not found:
        raise RunError("simulate: found no observed variable, expected at least one to simulate.")
    return tuple(dict.fromkeys(found))


def _with_computed(graph: Graph, names: tuple[str, ...]) -> Graph:
    """The graph in which computed quantities, of those named, are arrays as others are."""
    own = (d for d in graph.deterministics if d.name in names)
    arrays = {d.name: Variable(d.name, d.dims, "random") for d in own}
    return replace(graph, variables={**graph.variables, **arrays})


def _shapes(question: Question) -> dict[str, tuple[int, ...]]:
    return {n: question.new_shape(n) for n in question.names}


def _some(
    rng: np.random.Generator, question: Question, given: Mapping[str, Array], count: int
) -> dict[str, Array]:
    """So many simulations, all at once: they are the last axis of a graph with one more dim."""
    along = along_draws(question.graph, question.random, count)

    def draw(statement: Statement, values: State) -> Floats:
        return drawn(rng, statement, values, along.sizes)

    last = {n: np.moveaxis(a, 0, -1) for n, a in given.items()}
    data = {**question.data, **question.begun(last, count)}
    try:
        values = walk(along, data, draw, rng, given={n: last[n] for n in question.kept})
    except ModelError as error:
        is_censored = any(s.censored for s in question.graph.statements)
        more = is_censored * " Or pass censored=False, for the values whatever is seen of them."
        raise RunError(f"simulate: {error}{more}") from error
    found = {n: question.at_new(n, values[n]) for n in question.names if n in values}
    for one in computed_along(question.graph, question.random):
        over = tuple(question.range_of(d, along.sizes) for d in one.dims)
        value = evaluate(one.value, over, values, along.sizes)
        found[one.name] = np.broadcast_to(value, tuple(map(len, over)))
    whole = {n: as_declared(question.graph, n, a) for n, a in found.items()}
    return {n: np.moveaxis(np.asarray(a), -1, 0) for n, a in whole.items()}
