"""How well a model predicts: the expected log predictive density of new observations.

Comes in: the log likelihood of each observation at each draw. Goes out: an ``Elpd``, the sum over
observations of the log density of each given all others, with its standard error, by

- leave-one-out: each observation is left out by importance weights ``1 / p(y_i | s)``, smoothed
  (`gibbsppl.output.psis`), whose shape k tells where that fails (A. Vehtari, A. Gelman, J. Gabry,
  2017, "Practical Bayesian model evaluation using leave-one-out cross-validation and WAIC",
  Statistics and Computing 27);
- WAIC: the log of the mean likelihood, less the variance of its log (S. Watanabe, 2010, Journal of
  Machine Learning Research 11).

>>> rng = np.random.default_rng(1)
>>> y, mu = rng.normal(size=50), rng.normal(size=(4, 500, 1)) / 50**0.5
>>> found = leave_one_out(Points({"y": -(y - y.mean() - mu) ** 2 / 2}, {"y": ("i",)}, {}))
>>> found.bad
{}
>>> round(found.penalty, 1)
0.8
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from gibbsppl.arguments import methods_told
from gibbsppl.errors import RunError, counted
from gibbsppl.html import Printed
from gibbsppl.output.arrays import Array, Named
from gibbsppl.output.diagnostics import ess_mean
from gibbsppl.output.labels import labelled
from gibbsppl.output.psis import highest_k, pareto_smoothed
from gibbsppl.runtime.types import Floats

# A tail of fewer draws has no shape.
FEWEST_DRAWS = 25
# Of the log likelihood of an observation, the variance from which WAIC is not trusted (Vehtari,
# Gelman and Gabry, 2017).
HIGHEST_VARIANCE = 0.4
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Points:
    """The log likelihoods of observations, by variable, with axes (chain, draw, ...).

    ``dims`` and ``coords`` are their names and labels, ``observed`` the observations, by which
    models are told apart that are not of the same data.
    """

    values: Mapping[str, Array]
    dims: Mapping[str, tuple[str, ...]]
    coords: Mapping[str, Array]
    observed: Mapping[str, Named] = field(default_factory=dict)

    @property
    def draws(self) -> int:
        """The number of draws."""
        chains, draws = next(iter(self.values.values())).shape[:2]
        return int(chains * draws)

    def elements(self) -> dict[str, Floats]:
        """The log likelihoods of all observations of a variable in a row, draws last."""
        found = {}
        for name, array in self.values.items():
            flat = np.asarray(array, dtype=float).reshape(self.draws, -1)
            found[name] = np.ascontiguousarray(flat.T)
        return found

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a variable."""
        return self.values[name].shape[2:]


@methods_told(RunError)
@dataclass(frozen=True, repr=False, eq=False)
class Elpd(Printed):
    """The expected log predictive density of a model, printed as a table.

    ``pointwise`` has it by variable, an array along ``dims`` with a number for each observation;
    ``penalties`` by how much it is below the log density of the observation by all draws, the
    effective number of parameters. ``doubt``, by which each observation is judged, is the shape k
    of its importance weights (``method`` "loo"), or the variance of its log likelihood ("waic");
    above ``limit`` it is too large. ``errors`` are Monte Carlo standard errors (of "waic": none).

    >>> values = {"y": np.random.default_rng(1).normal(-1, 0.1, size=(4, 500, 10))}
    >>> found = leave_one_out(Points(values, {"y": ("day",)}, {}))
    >>> found.pointwise["y"].shape, found.count, found.label("y", (3,))
    ((10,), 10, 'y[3]')
    """

    method: str
    pointwise: Mapping[str, Floats]
    penalties: Mapping[str, Floats]
    doubt: Mapping[str, Floats]
    errors: Mapping[str, Floats]
    limit: float
    draws: int
    dims: Mapping[str, tuple[str, ...]]
    coords: Mapping[str, Array]
    observed: Mapping[str, Named] = field(default_factory=dict)

    @cached_property
    def all_points(self) -> Floats:
        """The log predictive densities of all observations, in one axis."""
        return np.concatenate([a.ravel() for a in self.pointwise.values()])

    @property
    def count(self) -> int:
        """The number of observations."""
        return len(self.all_points)

    @property
    def elpd(self) -> float:
        """The sum over all observations; the higher, the better."""
        return float(self.all_points.sum())

    @property
    def se(self) -> float:
        """The standard error of the sum, by the spread of its terms; NaN of one observation."""
        return standard_error(self.all_points)

    @property
    def penalty(self) -> float:
        """The effective number of parameters."""
        return float(sum(a.sum() for a in self.penalties.values()))

    @property
    def error(self) -> float:
        """The Monte Carlo standard error of the sum; NaN where it is not known."""
        if self.bad or not self.errors:
            return math.nan
        return math.sqrt(sum(float((e**2).sum()) for e in self.errors.values()))

    @property
    def bad(self) -> dict[str, float]:
        """The observations for which the method fails, by label, with their doubt; worst first."""
        found = [
            (self.label(n, tuple(map(int, at))), float(a[tuple(at)]))
            for n, a in self.doubt.items()
            for at in np.argwhere(~(a <= self.limit))
        ]
        return dict(sorted(found, key=lambda one: -one[1]))

    def label(self, name: str, index: tuple[int, ...]) -> str:
        """The name of an observation, with its coordinates: ``y[Choate]``."""
        return labelled(name, self.dims[name], self.coords)(index)

    def __repr__(self) -> str:
        names = ", ".join(self.pointwise)
        title = f"{self.method} of {counted(self.count, 'observation')} ({names}), "
        lines = [
            title + counted(self.draws, "draw"),
            f"elpd       {self.elpd:10.2f}, with standard error {self.se:.2g}",
            f"penalty    {self.penalty:10.2f}, the effective number of parameters",
        ]
        if not math.isnan(self.error):
            lines.append(f"Monte Carlo standard error of elpd: {self.error:.2g}")
        return "\n".join([*lines, *self._doubts()])

    def _doubts(self) -> list[str]:
        method, bad = METHODS[self.method], self.bad
        if not bad:
            return [f"{method.doubt} is at most {self.limit:.2g} for all observations."]
        worst = ", ".join(f"{label} ({doubt:.2f})" for label, doubt in [*bad.items()][:SHOWN])
        more = f" and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
        many = counted(len(bad), "observation")
        found = f"{method.doubt} is above {self.limit:.2g} for {many}: {worst}{more}."
        return [found, method.advice]


@dataclass(frozen=True, slots=True)
class Method:
    """A method: the measure by which observations are judged, and advice where it fails."""

    doubt: str
    advice: str
    has_errors: bool = True


METHODS = {
    "loo": Method(
        "Pareto k",
        "These are too influential for the draws to tell what is predicted of them without them, "
        "and elpd is too high: compile the model without them and compute their log likelihood, or "
        "choose a likelihood with heavier tails. (Where each has a variable of its own, an effect "
        "or a label, sum it out in the model.)",
    ),
    "waic": Method(
        "The variance of the log likelihood", "There WAIC is too high: use loo().", has_errors=False
    ),
}


def standard_error(terms: Floats) -> float:
    """The standard error of a sum of independent terms; NaN of one.

    >>> round(standard_error(np.array([1.0, 2.0, 3.0])), 3), standard_error(np.array([1.0]))
    (1.732, nan)
    """
    if len(terms) < 2:
        return math.nan
    return math.sqrt(len(terms)) * float(terms.std(ddof=1))


def leave_one_out(points: Points) -> Elpd:
    """The expected log predictive density by Pareto smoothed importance sampling.

    Raises `RunError` for fewer than 25 draws.
    """
    _check_draws(points)
    efficiencies = {n: _efficiency(a) for n, a in points.values.items()}

    def one(name: str, row: int, log_likelihood: Floats) -> tuple[float, float, float]:
        efficiency = float(efficiencies[name][row])
        log_weights, k = pareto_smoothed(-log_likelihood, efficiency)
        elpd = float(logsumexp(log_weights + log_likelihood))
        spread = np.exp(2 * log_weights) * np.expm1(log_likelihood - elpd) ** 2
        return elpd, k, math.sqrt(float(spread.sum()) / efficiency)

    return _made("loo", points, one, highest_k(points.draws))


def widely_applicable(points: Points) -> Elpd:
    """The expected log predictive density by WAIC.

    Raises `RunError` for fewer than 25 draws.
    """
    _check_draws(points)

    def one(_: str, __: int, log_likelihood: Floats) -> tuple[float, float, float]:
        variance = float(log_likelihood.var(ddof=1))
        return _log_mean(log_likelihood) - variance, variance, math.nan

    return _made("waic", points, one, HIGHEST_VARIANCE)


def _made(
    method: str,
    points: Points,
    one: Callable[[str, int, Floats], tuple[float, float, float]],
    limit: float,
) -> Elpd:
    """The value, of what is found of each observation: elpd, doubt and Monte Carlo error."""
    pointwise, penalties, doubt, errors = {}, {}, {}, {}
    for name, rows in points.elements().items():
        table = np.array([one(name, k, row) for k, row in enumerate(rows)]).reshape(-1, 3)
        fit, shape = np.array([_log_mean(row) for row in rows]), points.shape(name)
        pointwise[name] = table[:, 0].reshape(shape)
        penalties[name] = (fit - table[:, 0]).reshape(shape)
        doubt[name], errors[name] = table[:, 1].reshape(shape), table[:, 2].reshape(shape)
    known = errors if METHODS[method].has_errors else {}
    named = (points.draws, points.dims, points.coords, points.observed)
    return Elpd(method, pointwise, penalties, doubt, known, limit, *named)


def _log_mean(log_likelihood: Floats) -> float:
    return float(logsumexp(log_likelihood)) - math.log(len(log_likelihood))


def _efficiency(array: Array) -> Floats:
    """By observation, the effective number of draws of its likelihood, by draw."""
    values = np.asarray(array, dtype=float)
    likelihoods = np.exp(values - values.max(axis=(0, 1)))
    draws = values.shape[0] * values.shape[1]
    found = ess_mean(likelihoods).ravel() / draws
    return np.where(found > 0, found, 1.0)


def _check_draws(points: Points) -> None:
    if points.draws < FEWEST_DRAWS:
        raise RunError(
            f"loo, waic: found {counted(points.draws, 'draw')}, expected at least {FEWEST_DRAWS}."
        )
