"""The methods of a sampler that ask draws: predictions, deviance, moments of conditionals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, overload

from gibbsppl.arguments import GivenArray
from gibbsppl.code.program import Constants, Program
from gibbsppl.language.coordinates import as_array
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.output.arrays import Array, Attributes
from gibbsppl.output.draws import Draws
from gibbsppl.run.beginning import Size
from gibbsppl.run.chains import Seed, seed_sequence
from gibbsppl.run.choice import Asked, Backend, asked_for
from gibbsppl.run.ready import Ready, Records, RunResult
from gibbsppl.run.recording import Types

if TYPE_CHECKING:
    from numpy.random import SeedSequence

    from gibbsppl.initial.inits import Init
    from gibbsppl.predict.conditional_means import Conditionals
    from gibbsppl.predict.deviance import Dic
    from gibbsppl.predict.prediction import Prediction
    from gibbsppl.schedule.sweeps import Schedule


Names = str | Sequence[str] | None


class Predicting:
    """Functions of draws, those of a sampler or others of the model."""

    __slots__ = ()
    graph: Graph
    data: Values
    coords: Mapping[str, Array | range]
    program: Program

    @property
    def schedule(self) -> Schedule:
        """The steps of a sweep."""
        raise NotImplementedError

    @property
    def constants(self) -> Constants:
        """The constants that sweeps read beside the state."""
        raise NotImplementedError

    @property
    def types(self) -> Types:
        """The types that draws are kept as."""
        raise NotImplementedError

    def _ready(
        self,
        asked: Asked,
        size: Size,
        records: Records,
        chains: int,
        sequence: SeedSequence,
        init: Init,
    ) -> Ready:
        """Chains at their starts, and an engine for the sweeps of a run of this size."""
        raise NotImplementedError

    def as_draws(self, result: RunResult, started: Attributes) -> Draws:
        """The draws of a run, with names and labels."""
        raise NotImplementedError

    @overload
    def log_density(self, values: Mapping[str, GivenArray]) -> float: ...
    @overload
    def log_density(self, values: Draws) -> Array: ...
    def log_density(self, values: Mapping[str, GivenArray] | Draws) -> float | Array:
        """The log joint density of the declared model at values of its latent variables.

        The sum of the log densities of all statements and potentials, the observations among them,
        with all constants: the log posterior density up to the log evidence. Auxiliary variables
        have no part in it. ``values`` has an array for each latent variable, by name, of the
        variable's shape (NaN where it is observed); of `Draws` the result is one number for each
        draw, with axes (chain, draw). It is ``-inf`` outside of the support. Flat priors count as
        densities of one. Raises `RunError` for a name that is no latent variable, a variable or an
        element without a value, and another shape than the variable's.

        >>> import gibbsppl as gp
        >>> with gp.Model(name="coin") as coin:
        ...     p = gp.Beta("p", 2, 1)
        ...     heads = gp.Binomial("heads", 3, p, observed=2)
        >>> sampler = gp.compile(coin)
        >>> print(round(sampler.log_density({"p": 0.5}), 6))  # log(2 p) + log(3 p^2 (1 - p))
        -0.980829
        >>> sampler.log_density({"p": 1.5})
        -inf
        >>> draws = sampler.sample(100, warmup=10, chains=2, seed=1, progress=False)
        >>> sampler.log_density(draws).shape
        (2, 100)
        """
        from gibbsppl.predict.joint_density import log_density_of  # noqa: PLC0415  (when asked for)

        return log_density_of(self.graph, self.data, values)

    def predict(
        self, draws: Draws, new: Mapping[str, GivenArray], name: str | None = None
    ) -> Prediction:
        """Posterior predictive mean and variance, noise included, at ``new`` data, by name.

        Along a dim whose positions have an order, as elements read others at a lag, new positions
        follow the last one: ``new={"time": 12}``. `simulate` has draws in place of moments.
        """
        from gibbsppl.predict.prediction import predicted  # noqa: PLC0415  (only prediction needs it)

        return predicted(self.graph, self.data, draws, new, name)

    def simulate(
        self,
        draws: Draws,
        names: Names = None,
        *,
        new: Mapping[str, GivenArray] | None = None,
        seed: int | None = None,
        censored: bool = True,
        limit_bytes: int = 4 << 30,
    ) -> Draws:
        """Posterior predictive draws: observed variables simulated anew, given each draw.

        ``names`` chooses among the observed variables, by default all, and computed quantities
        (`gp.Deterministic`), to have these at new data. They are simulated together:
        one that depends on another is given what was simulated of it; those that are not named
        stay as they were observed. ``new`` is data at new positions, as in `predict`, which has the
        exact mean and variance. The draws have the shapes, dims and labels of the variables;
        ``simulate(...).quantiles("y", [0.05, 0.95])`` are predictive intervals. Censored values are
        simulated as they would be seen, or, with ``censored=False``, as they are. ``seed``: without
        one, it follows from that of the draws. Above ``limit_bytes`` it is refused. Raises
        `RunError` where draws lack what the variables depend on, and for ``new`` that does not fit.

        >>> import gibbsppl as gp
        >>> with gp.Model(coords={"day": 3}) as model:
        ...     rate = gp.Gamma("rate", 2, rate=1)
        ...     calls = gp.Poisson("calls", rate, dims="day", observed=[3, 1, 2])
        >>> sampler = gp.compile(model)
        >>> draws = sampler.sample(100, chains=2, seed=1, progress=False)
        >>> sampler.simulate(draws, new={"day": 7})
        2 chains, 100 draws each
        calls (day: 7)
        """
        from gibbsppl.predict.simulated import simulated  # noqa: PLC0415  (only when asked for)

        own = self.graph, self.data, draws, names, new
        return simulated(*own, seed=seed, censored=censored, limit_bytes=limit_bytes)

    def log_likelihood(
        self, draws: Draws, names: Names = None, *, limit_bytes: int = 4 << 30
    ) -> Draws:
        """The draws with the log likelihood of each observation, for ``loo`` and ``waic``.

        ``draws.groups["log_likelihood"]`` has it, with axes (chain, draw) and the dims of the
        observed variables, by default of all: the log density of each observation given all else
        of a draw, constants included. A vector that is drawn as one is one observation; of a
        variable that is observed in part there are those that are, along a dim
        ``<name>_observed``. Above ``limit_bytes`` it is refused. Raises `RunError` for names of
        other variables, and for draws without what the observations depend on.

        >>> import gibbsppl as gp
        >>> with gp.Model(name="coin") as coin:
        ...     p = gp.Beta("p", 1, 1)
        ...     heads = gp.Binomial("heads", 10, p, observed=7)
        >>> sampler = gp.compile(coin)
        >>> draws = sampler.sample(100, chains=2, seed=1, progress=False)
        >>> sampler.log_likelihood(draws).groups["log_likelihood"]["heads"].shape
        (2, 100)
        """
        from gibbsppl.predict.pointwise import (  # noqa: PLC0415  (only when asked for)
            log_likelihoods,
            with_log_likelihoods,
        )

        own = self.graph, self.data, draws, names
        return with_log_likelihoods(draws, log_likelihoods(*own, limit_bytes=limit_bytes))

    def with_groups(
        self,
        draws: Draws,
        *,
        log_likelihood: bool | str | Sequence[str] = False,
        posterior_predictive: bool | str | Sequence[str] = False,
        prior: bool | int = False,
        seed: int | None = None,
    ) -> Draws:
        """The draws with groups of other draws, for ``to_datatree``, plots of ArviZ, and files.

        ``log_likelihood`` and ``posterior_predictive`` are those of `log_likelihood` and
        `simulate`, of all observed variables, or of those that are named. ``prior`` is a number of
        draws from the prior, 500 if it is True: ``prior`` has the parameters, ``prior_predictive``
        the observed variables. ``seed`` is for what is simulated. Raises `RunError` as these do,
        and `ModelError` for a prior that cannot be simulated, such as a flat one.

        >>> import gibbsppl as gp
        >>> with gp.Model(name="coin") as coin:
        ...     p = gp.Beta("p", 1, 1)
        ...     heads = gp.Binomial("heads", 10, p, observed=7)
        >>> sampler = gp.compile(coin)
        >>> draws = sampler.sample(100, chains=2, seed=1, progress=False)
        >>> list(sampler.with_groups(draws, log_likelihood=True, prior=100).groups)
        ['log_likelihood', 'prior', 'prior_predictive']
        """
        from gibbsppl.predict.groups import groups_for  # noqa: PLC0415  (only when asked for)

        asked = (log_likelihood, posterior_predictive, prior)
        return draws.with_groups(**groups_for(self.graph, self.data, draws, *asked, seed))

    def deviance(self, draws: Draws) -> Draws:
        """The draws with one more variable, ``deviance``: ``-2 log p(y | draw)`` of each draw.

        ``p`` is the density of all observations, constants included.
        """
        from gibbsppl.predict.deviance import with_deviance  # noqa: PLC0415  (only when asked for)

        return with_deviance(self.graph, self.data, draws)

    def dic(self, draws: Draws, *, seed: int = 0) -> Dic:
        """The deviance information criterion of draws of several chains, printed as a table.

        The penalty pD is Plummer's: how much better new observations, simulated by ``seed``, fit
        their own draw than one of another chain.
        """
        from gibbsppl.predict.deviance import dic  # noqa: PLC0415  (only when asked for)

        return dic(self.graph, self.data, draws, seed=seed)

    def conditional_mean(self, draws: Draws, names: str | Sequence[str] | None = None) -> Draws:
        """For each draw, the mean of a variable's exact conditional given all other variables.

        Their average is the Rao-Blackwell estimate of the posterior mean. ``names`` are variables
        drawn from a closed form (default: all); the draws have all that these depend on.
        """
        return self._conditionals.of(draws, names, "mean")

    def conditional_sd(self, draws: Draws, names: str | Sequence[str] | None = None) -> Draws:
        """For each draw, the standard deviation of a variable's exact conditional."""
        return self._conditionals.of(draws, names, "sd")

    def conditional_probabilities(
        self, draws: Draws, names: str | Sequence[str] | None = None
    ) -> Draws:
        """For each draw, the probabilities of labels given all other variables, along a new dim."""
        return self._conditionals.of(draws, names, "probabilities")

    def relabelled(self, draws: Draws, labels: str) -> Draws:
        """The draws with components that can be exchanged numbered alike in all of them.

        A posterior of exchangeable components, of a mixture say, is the same whatever their
        numbers are, which draws change now and then: means of one number say nothing. Here the
        components of each draw are put in the order by which the probabilities of the ``labels``
        differ least from their means over all draws (Stephens, 2000): all arrays along the
        components, and the labels themselves. Draws have all latent variables (``keep=``).
        ``attributes["relabelled"]`` tells in how many draws the order was changed. Raises
        `RunError` where components cannot be exchanged, as the log density shows at some draws,
        and for draws without a variable.

        >>> import gibbsppl as gp
        >>> import numpy as np
        >>> with gp.Model(coords={"i": 6, "k": 2}) as mixture:
        ...     mu = gp.Normal("mu", 0, sigma=9, dims="k")
        ...     z = gp.Categorical("z", 1 / 2, dims="i", event="k")
        ...     y = gp.Normal("y", mu[z], sigma=1, dims="i", observed=[-3, -2, -3, 2, 3, 2])
        >>> sampler = gp.compile(mixture)
        >>> draws = sampler.sample(200, seed=1, keep=["mu", "z"], progress=False)
        >>> means = sampler.relabelled(draws, "z")["mu"].mean(axis=(0, 1))
        >>> print(np.sort(means).round())
        [-3.  2.]
        """
        from gibbsppl.predict.relabelled import (  # noqa: PLC0415  (only when asked for)
            components_of,
            relabelled,
        )

        components_of(self.graph, labels)
        probabilities = self.conditional_probabilities(draws, labels)[labels]
        return relabelled(self.graph, self.data, draws, labels, probabilities)

    @property
    def _conditionals(self) -> Conditionals:
        from gibbsppl.predict.conditional_means import Conditionals  # noqa: PLC0415  (seldom needed)

        return Conditionals(self.schedule, self.program, self.constants, self.data)

    def conditional_averages(  # noqa: PLR0913  (settings, all named at the call)
        self,
        names: str | Sequence[str],
        draws: int = 1000,
        *,
        batches: int = 20,
        warmup: int = 500,
        chains: int = 4,
        seed: Seed = None,
        thin: int = 1,
        init: Init = None,
        backend: Backend | None = None,
    ) -> Draws:
        """Averages, over a run, of the means of variables' exact conditionals given all others.

        As the averages of `conditional_mean`, where neither means nor what they depend on could be
        kept for each draw (topics, and labels of words): only sums are. Each of the draws that are
        returned is the average over one of ``batches`` of equal length: their mean is the
        Rao-Blackwell estimate of the posterior mean, and ``summary`` has its Monte Carlo error.
        ``names``: variables drawn from a closed form; other arguments are those of `sample`.

        >>> import gibbsppl as gp
        >>> with gp.Model(name="coin") as coin:
        ...     p = gp.Beta("p", 1, 1)
        ...     heads = gp.Binomial("heads", 10, p, observed=7)
        >>> sampler = gp.compile(coin)
        >>> sampler.conditional_averages("p", draws=40, batches=2, chains=1)["p"].round(4)
        array([[0.6667, 0.6667]])
        """
        from gibbsppl.predict.averages import Averages, averaged  # noqa: PLC0415  (seldom needed)

        size, labels = (chains, draws, batches), {d: as_array(c) for d, c in self.coords.items()}
        sums = Averages.of(self._conditionals, names, labels, size)
        whole = Size(draws, warmup, thin)
        own = (whole, Records.of(sums.needed), chains, seed_sequence(seed), init)
        ready = self._ready(asked_for(backend), *own)
        draws_of = partial(self.as_draws, started=ready.attributes)
        how = {"warmup": warmup, "thin": thin}
        return averaged(sums, ready.chains, ready.engine, self.types, draws_of, **how)
