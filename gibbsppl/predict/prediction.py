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
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from gibbsppl.algebra.expressions import mentions
from gibbsppl.arguments import GivenArray
from gibbsppl.code.log_densities import pays
from gibbsppl.errors import NotLoweredError, RunError, counted
from gibbsppl.html import Printed
from gibbsppl.model.along_draws import along_draws, draws_at_once
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.forward import drawn, fill, walk
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.output.arrays import Array
from gibbsppl.output.draws import Draws
from gibbsppl.output.labels import labelled
from gibbsppl.predict.new_data import question_of
from gibbsppl.predict.question import Question
from gibbsppl.run.choice import is_installed

if TYPE_CHECKING:
    from gibbsppl.code.moments_program import MomentsProgram


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prediction(Printed):
    """The predictive mean and variance of one variable, arrays along ``dims``.

    ``redrawn`` names the variables that have no draws at the new positions: they were drawn from
    the model, given each draw of the others. ``simulated`` says that the moments are those of
    simulated values, for want of a closed form; they then carry more Monte Carlo error.
    """

    name: str
    mean: Floats
    variance: Floats
    dims: tuple[str, ...]
    coords: Mapping[str, Array]
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
        title += f", predicted from {counted(self.draws, 'draw')}"
        return "\n".join([title, *self._notes(), *_rows(self)])

    def _notes(self) -> list[str]:
        notes = []
        if self.redrawn:
            notes.append(f"drawn from the model at the new positions: {', '.join(self.redrawn)}")
        if self.simulated:
            notes.append("moments of simulated values: no closed form")
        return notes

    def label(self, index: tuple[int, ...]) -> str:
        """The name of one element, with its coordinates: ``weight[rat 3, 36]``."""
        return labelled(self.name, self.dims, self.coords)(index)


SHOWN = 10


def _rows(prediction: Prediction) -> Iterator[str]:
    """The table: the first elements with their mean and sd."""
    first = list(islice(np.ndindex(prediction.mean.shape), SHOWN))
    labels = [prediction.label(index) for index in first]
    width = max(map(len, labels), default=0)
    smallest = min((sd for i in first if (sd := prediction.sd[i]) > 0), default=1.0)
    # Three digits of the smallest standard deviation, as far as that leaves readable numbers.
    digits = min(max(2 - math.floor(math.log10(smallest)), 0), 6) if smallest < math.inf else 3
    yield f"{'':{width}}  {'mean':>10}  {'sd':>10}"
    for text, i in zip(labels, first, strict=True):
        numbers = (f"{v[i]:>10.{digits}f}" for v in (prediction.mean, prediction.sd))
        yield "  ".join((f"{text:{width}}", *numbers))
    if prediction.mean.size > SHOWN:
        yield f"... {prediction.mean.size - SHOWN} more"


def predicted(
    graph: Graph,
    data: Values,
    draws: Draws,
    new: Mapping[str, GivenArray],
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
    check_draws(question, draws)
    draws = draws.together(question.read or None)
    count = draws.chains * draws.draws
    rng = np.random.default_rng([seed_of(draws) if seed is None else seed, 1])
    total, step = _Moments.none(), draws_at_once(question.graph)
    programs = _programs(question, draws)
    for start in range(0, count, step):
        size = min(step, count - start)
        rows = np.arange(start, start + size)
        given = {n: np.moveaxis(draws.at(n, rows), 0, -1) for n in question.read}
        found = AtDraws.of(question, size).moments(rng, given, programs)
        total = total.merged(_Moments.of(*found))
    variable = graph.variables[question.name]
    dims = tuple(d.name for d in variable.dims)
    return Prediction(
        name=question.name,
        mean=total.mean,
        variance=total.noise + total.squares / count,
        dims=dims,
        coords=question.new_coords(draws.coords, dims),
        draws=count,
        redrawn=question.redrawn,
        simulated=not _has_moments(question),
    )


def seed_of(draws: Draws) -> int:
    """A seed made of the seed of the draws, a text in some files."""
    text = str(draws.attributes.get("seed", 0))
    return int(np.random.SeedSequence([*text.encode()]).generate_state(1)[0])


def check_draws(question: Question, draws: Draws) -> None:
    """Raise unless all that is predicted from is among the draws, in the model's shapes."""
    told = ", ".join(question.names)
    for name in question.read:
        if name not in draws:
            raise RunError(
                f"{name}: {told} depends on it, but it is not among the draws "
                f"({', '.join(draws)}); name it in keep= when sampling."
            )
        shape = question.shape(name)
        if draws[name].shape[2:] != shape:
            raise RunError(
                f"{name}: the draws have shape {draws[name].shape[2:]}, the model {shape}; pass "
                "draws of this model."
            )


@dataclass(frozen=True, slots=True)
class _Moments:
    """Sums over draws: the mean and squared deviations of E[y | s], the mean of Var[y | s]."""

    count: int
    mean: Floats
    squares: Floats
    noise: Floats

    @classmethod
    def none(cls) -> _Moments:
        zero = np.zeros(())
        return cls(0, zero, zero, zero)

    @classmethod
    def of(cls, means: Floats, variances: Floats) -> _Moments:
        """Those of some draws, the last axis."""
        centre = np.asarray(means.mean(axis=-1))
        squares = ((means - centre[..., None]) ** 2).sum(axis=-1)
        return cls(means.shape[-1], centre, squares, variances.mean(axis=-1))

    def merged(self, other: _Moments) -> _Moments:
        """Those of two sets of draws together, without the loss of digits of a raw square."""
        count = self.count + other.count
        weight, gap = other.count / count, other.mean - self.mean
        return _Moments(
            count,
            np.asarray(self.mean + weight * gap),
            np.asarray(self.squares + other.squares + self.count * weight * gap**2),
            np.asarray(self.noise + weight * (other.noise - self.noise)),
        )


@dataclass(frozen=True, slots=True, eq=False)
class AtDraws:
    """A question about so many draws at once, the last axis of all arrays.

    ``graph`` is what is drawn or computed first, ``own`` the statements of what is predicted.
    """

    question: Question
    size: int
    graph: Graph
    own: tuple[Statement, ...]

    @classmethod
    def of(cls, question: Question, size: int) -> AtDraws:
        """The question about so many draws."""
        graph = along_draws(question.graph, question.random, size)
        own = graph.statements_of(question.name)
        if _has_moments(question) and not any(_reads(s, question.name) for s in own):
            graph = replace(graph, statements=tuple(s for s in graph.statements if s not in own))
        return cls(question, size, graph, tuple(own))

    def moments(
        self, rng: np.random.Generator, given: Values, programs: Mapping[int, MomentsProgram]
    ) -> tuple[Floats, Floats]:
        """E[y | s] and Var[y | s] of each draw, maybe simulated."""
        question, target, sizes = self.question, self.question.name, self.graph.sizes

        def draw(statement: Statement, values: Values) -> Floats:
            return drawn(rng, statement, values, sizes)

        data = {**question.data, **question.begun(given, self.size)}
        kept = {n: given[n] for n in question.kept}
        values = walk(self.graph, data, draw, rng, given=kept)
        if not _has_moments(question):
            simulated = question.at_new(target, values[target])
            return simulated, np.zeros(simulated.shape)
        means, variances = (np.full(_shape(self.graph, target), np.nan) for _ in range(2))
        for n, s in enumerate(self.own):
            found = None
            if n in programs:
                found = programs[n].along(values, question.random, self.size)
            if found is None:
                found = _interpreted(s, values, sizes)
            for moment, into in zip(found, (means, variances), strict=True):
                fill(s, moment, {**values, target: into}, sizes)
        return question.at_new(target, means), question.at_new(target, variances)


def _shape(graph: Graph, name: str) -> tuple[int, ...]:
    return tuple(graph.sizes[d] for d in graph.variables[name].dims)


def _interpreted(statement: Statement, values: Values, sizes: Sizes) -> tuple[Floats, ...]:
    """The mean and the variance of a statement, by the plain interpreter."""
    family, found = statement.family, []
    for formula in (family.mean, family.variance):
        assert formula is not None
        moment = formula(statement.event, **dict(statement.arguments))
        found.append(evaluate(moment, statement.over, values, sizes))
    return tuple(found)


def _programs(question: Question, draws: Draws) -> dict[int, MomentsProgram]:
    """The moments of statements of the target, by their places, in loops where these pay.

    None are compiled of draws made in NumPy.
    """
    if draws.attributes.get("backend") != "compiled" or not is_installed():
        return {}
    graph, found = question.graph, {}
    for n, s in enumerate(graph.statements_of(question.name) if _has_moments(question) else ()):
        evaluations = draws.chains * draws.draws
        if s.event or _reads(s, question.name) or not pays(s, graph.sizes, evaluations):
            continue
        from gibbsppl.code.moments_program import MomentsProgram  # noqa: PLC0415  (seldom)

        with suppress(NotLoweredError):
            found[n] = MomentsProgram.of(graph, s, question.data)
    return found


def _has_moments(question: Question) -> bool:
    """Whether the target's mean and variance are formulas, everywhere."""
    own = question.graph.statements_of(question.name)
    return not any(c.target.array.name == question.name for c in question.graph.constants) and all(
        s.family.mean is not None
        and s.family.variance is not None
        and s.lower is None
        and s.upper is None
        for s in own
    )


def _reads(statement: Statement, name: str) -> bool:
    return any(mentions(a, (name,)) for _, a in statement.arguments)
