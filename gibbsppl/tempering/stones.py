"""Marginal likelihoods from log likelihoods at a ladder of powers from 0 to 1, with errors.

Comes in: powers and the log likelihood of each rung after each sweep. Goes out: an `Estimate`. With
``Z(b)`` the integral of the prior times the likelihood to the power ``b``,

    Z(c) / Z(b) = E_b[L^(c - b)]         stepping stones: W. Xie, P. O. Lewis, Y. Fan, L. Kuo and
                                         M.-H. Chen (2011), Systematic Biology 60
    d log Z(b) / d b = E_b[log L]        thermodynamic integration: N. Friel and A. N. Pettitt
                                         (2008), Journal of the Royal Statistical Society B 70

Rungs swap states, so that their errors are not independent: to first order an estimate is the mean
over sweeps of a sum of what each rung adds, and the error is that of this one series.

>>> rng = np.random.default_rng(1)
>>> powers = np.linspace(0, 1, 6)
>>> told = np.stack([rng.normal(b - 3, 1, 4000) for b in powers], axis=1)
>>> found = stepping_stones(powers, told)
>>> abs(found.value - -2.5) < 4 * found.error
True
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from gibbsppl.output.diagnostics import mcse_mean
from gibbsppl.runtime.types import Floats

# A rule whose error falls at least as the square of its steps loses a third of what it changes by
# where steps are halved.
REST_OF_HALVING = 1 / 3


@dataclass(frozen=True, slots=True)
class Estimate:
    """The log of a marginal likelihood, and its standard error."""

    value: float
    error: float


def stepping_stones(powers: Floats, log_likelihoods: Floats) -> Estimate:
    """The sum of the logs of the ratios between neighbouring powers.

    ``log_likelihoods`` has a row for each sweep; what is no number is a likelihood of zero.
    """
    logs = np.diff(powers) * _told(log_likelihoods)[:, :-1]
    ratios = logsumexp(logs, axis=0) - np.log(len(logs))
    return Estimate(float(ratios.sum()), error_of_mean(np.exp(logs - ratios).sum(axis=1)))


def thermodynamic(powers: Floats, log_likelihoods: Floats) -> Estimate:
    """The integral of the mean log likelihood, by trapezia with the slopes at their ends.

    The slopes are the variances (N. Friel, M. Hurn and J. Wyse, 2014, Statistics and Computing 24).
    The error has that of the rule, from the change where every second power is left out.
    """
    told = _told(log_likelihoods)
    means, variances = told.mean(axis=0), told.var(axis=0)
    value = _integral(powers, means, variances)
    half = np.unique([*range(0, len(powers), 2), len(powers) - 1])
    rule = abs(value - _integral(powers[half], means[half], variances[half])) * REST_OF_HALVING
    of_means, of_variances = _weights(powers)
    away = told - means
    series = away @ of_means + (away**2) @ of_variances
    return Estimate(value, float(np.hypot(error_of_mean(series), rule)))


def _weights(powers: Floats) -> tuple[Floats, Floats]:
    """The weights of the mean and the variance at each power in the integral."""
    steps = np.diff(powers)
    means, variances = np.zeros((2, len(powers)))
    means[:-1] += steps / 2
    means[1:] += steps / 2
    variances[:-1] += steps**2 / 12
    variances[1:] -= steps**2 / 12
    return means, variances


def _integral(powers: Floats, means: Floats, variances: Floats) -> float:
    of_means, of_variances = _weights(powers)
    return float(of_means @ means + of_variances @ variances)


def combined(found: list[Estimate]) -> Estimate:
    """The mean of the estimates of independent chains.

    Its error is the larger one of what their own errors say and of what they differ by.
    """
    values, errors = np.array([(e.value, e.error) for e in found]).T
    within = float(np.sqrt((errors**2).sum())) / len(found)
    between = float(values.std(ddof=1)) / len(found) ** 0.5 if len(found) > 1 else 0.0
    return Estimate(float(values.mean()), max(within, between))


def _told(log_likelihoods: Floats) -> Floats:
    return np.where(np.isnan(log_likelihoods), -np.inf, log_likelihoods)


def error_of_mean(series: Floats) -> float:
    """The standard error of the mean of a series in proportion to the mean, its own scale."""
    return 0.0 if np.ptp(series) == 0 else float(mcse_mean(series[None]))
