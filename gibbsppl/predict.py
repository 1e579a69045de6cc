"""The posterior predictive mean and variance of an observed variable, noise included.

Comes in: a graph with its data, draws of its posterior, new values of some data. Goes out: a
``Prediction``. By the law of total variance, over the draws ``s`` of the posterior,

    mean = average of E[y | s],   variance = average of Var[y | s] + variance of E[y | s]

with the moments of the family of ``y`` where they have a closed form, else with one simulated
value per draw. All draws are evaluated together: they are one more dimension of the expressions.

>>> import gibbsppl as gp
>>> with gp.Model(coords={"toss": 10}) as coin:
...     p = gp.Beta("p", 1, 1)
...     heads = gp.Bernoulli("heads", p, dims="toss", observed=[1] * 7 + [0] * 3)
>>> sampler = gp.compile(coin)
>>> draws = sampler.sample(draws=2000, seed=1, progress=False)
>>> prediction = sampler.predict(draws, new={"toss": 2})
>>> prediction.mean.round(1), prediction.variance.round(1)
(array([0.7, 0.7]), array([0.2, 0.2]))
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gibbsppl.density import Values, evaluate, regions
from gibbsppl.draws import Draws
from gibbsppl.errors import RunError
from gibbsppl.expressions import Array, Dim, Expr, Leaf, Over, leaves_of
from gibbsppl.forward import drawn, fill, walk
from gibbsppl.graph import Constant, Graph, Range, Statement
from gibbsppl.questions import Question, question_of

Floats = NDArray[np.float64]

DRAW = Dim("posterior draw~")
# The largest number of values of one expression that are held at a time: 32 MB.
LARGEST = 4_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prediction:
    """The predictive mean and variance of one variable, arrays along ``dims``.

    ``redrawn`` names the variables that have no draws at the new positions: they were drawn from
    the model, given each draw of the others. ``simulated`` says that the moments are those of
    simulated values, for want of a closed form; they then carry more Monte Carlo error.
    """

    name: str
    mean: Floats
    variance: Floats
    dims: tuple[str, ...]
    coords: Mapping[str, NDArray[Any]]
    draws: int
    redrawn: tuple[str, ...] = ()
    simulated: bool = False

    @property
    def sd(self) -> Floats:
        """The predictive standard deviation."""
        return np.sqrt(self.variance)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{d}: {n}" for d, n in zip(self.dims, self.mean.shape, strict=True))
        title = f"{self.name} ({sizes})" if sizes else self.name
        return "\n".join([f"{title}, predicted from {self.draws} draws", *self._notes(), *_rows(self)])

    def _notes(self) -> list[str]:
        notes = [f"drawn from the model at the new positions: {', '.join(self.redrawn)}"]
        if not self.redrawn:
            notes.clear()
        return [*notes, "moments of simulated values"] if self.simulated else notes

    def label(self, index: tuple[int, ...]) -> str:
        """The name of one element, with its coordinates: ``weight[rat 3, 36]``."""
        coords = [self.coords.get(dim) for dim in self.dims]
        texts = (str(i if c is None else c[i]) for i, c in zip(index, coords, strict=True))
        return f"{self.name}[{', '.join(texts)}]" if index else self.name


SHOWN = 10


def _rows(prediction: Prediction) -> Iterator[str]:
    """The table: the first elements with their mean and sd."""
    first = list(np.ndindex(prediction.mean.shape))[:SHOWN] if prediction.mean.size else []
    labels = [prediction.label(index) for index in first]
    width = max(map(len, labels), default=0)
    yield f"{'':{width}}  {'mean':>10}  {'sd':>10}"
    for text, index in zip(labels, first, strict=True):
        yield f"{text:{width}}  {prediction.mean[index]:>10.4g}  {prediction.sd[index]:>10.4g}"
    if prediction.mean.size > SHOWN:
        yield f"... {prediction.mean.size - SHOWN} more"


def predicted(
    graph: Graph,
    data: Values,
    draws: Draws,
    new: Mapping[str, Any],
    name: str | None = None,
    *,
    seed: int | None = None,
) -> Prediction:
    """The posterior predictive mean and variance of an observed variable at new data.

    ``new`` maps the names of data and indices to new arrays. A dimension of the variable along
    which they have another size has new positions; all data along it must then be given. The name
    of a dimension with a number says so as well: ``{"galaxy": 5}``; 0 says that it has none.
    Variables along new positions have no draws there: they are drawn from the model, given each
    draw of the others. ``name`` chooses among several observed variables. ``seed`` is for what is
    drawn or simulated; without it, it follows from the seed of the draws.
    """
    question = question_of(graph, data, new, name)
    _check_draws(question, draws)
    templates = _Templates.of(graph, question)
    count = draws.chains * draws.draws
    kept = {n: draws.stacked(n) for n in question.kept}
    rng = np.random.default_rng([_seed_of(draws) if seed is None else seed, 1])
    total = _Moments.none()
    step = templates.draws_at_once()
    for start in range(0, count, step):
        given = {n: values[start : start + step] for n, values in kept.items()}
        size = min(step, count - start)
        total = total.merged(_Moments.of(*templates.moments(rng, given, size)))
    dims = tuple(d.name for d in graph.variables[question.name].dims)
    return Prediction(
        name=question.name,
        mean=total.mean,
        variance=total.variance,
        dims=dims,
        coords={d: draws.coords[d] for d in dims if d in draws.coords and Dim(d) not in question.new_dims},
        draws=count,
        redrawn=question.redrawn,
        simulated=templates.simulated,
    )


def _seed_of(draws: Draws) -> int:
    """A seed that follows from that of the draws."""
    return int(np.random.SeedSequence(draws.attributes.get("seed", 0)).generate_state(1)[0])


def _check_draws(question: Question, draws: Draws) -> None:
    for name in question.kept:
        if name not in draws:
            raise RunError(
                f"{name}: {question.name} depends on it, but it is not among the draws "
                f"({', '.join(draws)}); name it in keep= when sampling."
            )
        shape = tuple(question.graph_sizes[d] for d in question.dims_of[name])
        if draws[name].shape[2:] != shape:
            raise RunError(
                f"{name}: the draws have shape {draws[name].shape[2:]}, the model {shape}; pass "
                "draws of this model."
            )
