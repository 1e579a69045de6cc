"""Predictions as functions of the state: monitored, they need no draws of what they depend on.

Comes in: an observed variable, new values of data. Goes out: a `Predictive`, which a sampler makes
a function of its state: the mean of the variable given a state, with its variance. Both are those
of `gibbsppl.predict.prediction`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gibbsppl.arguments import BY_NAME, NAME, GivenArray, calls_told
from gibbsppl.errors import RunError
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Graph
from gibbsppl.output.arrays import Array
from gibbsppl.predict.new_data import question_of
from gibbsppl.predict.prediction import AtDraws
from gibbsppl.predict.question import Question


@dataclass(frozen=True, slots=True, eq=False)
class Predictive:
    """A prediction to be monitored; `predictive` makes one."""

    name: str | None
    new: Mapping[str, GivenArray]

    def of(self, graph: Graph, data: Values, entropy: int) -> Predicted:
        """The prediction as a function of the state of a model, seeded by the run's ``entropy``."""
        return Predicted(AtDraws.of(question_of(graph, data, self.new, self.name), 1), entropy)


@dataclass(frozen=True, slots=True, eq=False)
class Predicted:
    """The mean and the variance of a variable at new data, given a state.

    What is drawn at new positions, or simulated, follows from the ``entropy`` and the number of a
    draw: draws of the run do not depend on it.
    """

    at_draw: AtDraws
    entropy: int
    is_noisy: bool = True

    def __call__(self, state: Mapping[str, Array], draw: tuple[int, int]) -> tuple[Floats, Floats]:
        """The mean and the variance."""
        rng = np.random.default_rng([self.entropy, 2, *draw])
        given = {n: state[n][..., None] for n in self.question.read}
        mean, variance = self.at_draw.moments(rng, given, {})
        return mean[..., 0], variance[..., 0]

    @property
    def question(self) -> Question:
        """The question that it answers."""
        return self.at_draw.question

    @property
    def reads(self) -> tuple[str, ...]:
        """The variables that it depends on."""
        if not self.question.read:
            raise RunError(
                f"{self.question.name}: its prediction depends on no variable that has draws, "
                "expected one to monitor; gp.simulate has draws of the model."
            )
        return self.question.read

    @property
    def dims(self) -> tuple[str, ...]:
        """The names of its dims."""
        return tuple(d.name for d in self.question.graph.variables[self.question.name].dims)

    @property
    def new_dims(self) -> frozenset[str]:
        """The dims along which positions are new, and have no labels."""
        return frozenset(d.name for d in self.question.new_dims)


@calls_told(RunError, name=NAME.or_none(), new=BY_NAME)
def predictive(name: str | None = None, *, new: Mapping[str, GivenArray]) -> Predictive:
    """The prediction of an observed variable at ``new`` data, for ``sample(monitor=...)``.

    ``name`` and ``new`` are those of ``sampler.predict``, which needs draws of all that the
    variable depends on. Monitored, none of these has to be kept: its ``mean`` is the posterior
    predictive mean, its ``predictive_sd`` the standard deviation, noise included.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"toss": 10}) as coin:
    ...     p = gp.Beta("p", 1, 1)
    ...     heads = gp.Bernoulli("heads", p, dims="toss", observed=[1] * 7 + [0] * 3)
    >>> later = gp.predictive("heads", new={"toss": 2})
    >>> draws = gp.compile(coin).sample(2000, seed=1, monitor={"later": later}, progress=False)
    >>> draws.monitored["later"].mean.round(1), draws.monitored["later"].predictive_sd.round(1)
    (array([0.7, 0.7]), array([0.5, 0.5]))
    """
    return Predictive(name, dict(new))
