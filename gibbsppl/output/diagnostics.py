"""How far draws can be trusted: R-hat, effective sample sizes, Monte Carlo standard errors.

Comes in: draws of one variable, an array with axes (chain, draw, ...). Goes out: one number per
element, an array with the axes that are left. The definitions are those of Vehtari, Gelman,
Simpson, Carpenter and Bürkner (2021), "Rank-normalization, folding, and localization: an improved
R-hat for assessing convergence of MCMC", Bayesian Analysis 16(2), as in ArviZ, except that a single
chain has an R-hat too (of its halves) and that draws are constant only if exactly equal (ArviZ: a
range below 1e-15): then R-hat is nan and the effective sample size their number. Fewer than four
draws, or draws that are not finite, give nan.

>>> draws = np.random.default_rng(1).normal(size=(4, 1000, 2))
>>> r_hat(draws).round(2)
array([1., 1.])
>>> ess_bulk(np.cumsum(draws, axis=1)) < 40
array([ True,  True])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, wraps
from statistics import NormalDist
from typing import Any, Concatenate, ParamSpec

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Measure = Callable[[Array], Array]
P = ParamSpec("P")

# The probabilities of quantiles, by default, and the columns after them.
PROBS = (0.025, 0.5, 0.975)
RELIABILITY = ("mcse_mean", "ess_bulk", "ess_tail", "r_hat")

_FEWEST_DRAWS = 4
_NUMBERS_AT_ONCE = 1 << 22  # of one temporary array: 32 MiB


def _per_element(
    measure: Callable[Concatenate[Array, P], Array],
) -> Callable[Concatenate[ArrayLike, P], Array]:
    """The measure, written for axes (element, chain, draw), for axes (chain, draw, ...)."""

    @wraps(measure)
    def measured(draws: ArrayLike, /, *args: P.args, **kwargs: P.kwargs) -> Array:
        x = np.asarray(draws)
        result = np.full(x.shape[2:], np.nan)
        if x.shape[0] == 0 or x.shape[1] < _FEWEST_DRAWS:
            return result
        with np.errstate(all="ignore"):
            for rows, part in _parts(x):
                finite = np.isfinite(part).all(axis=(1, 2))
                if finite.any():
                    result.reshape(-1)[rows][finite] = measure(part[finite], *args, **kwargs)
        return result

    return measured


def _parts(x: Array) -> Iterator[tuple[slice, Array]]:
    """The elements a few at a time, with axes (element, chain, draw), and which they are."""
    by_element = x.reshape(*x.shape[:2], -1).transpose(2, 0, 1)
    step = max(1, _NUMBERS_AT_ONCE // (x.shape[0] * x.shape[1]))
    for start in range(0, len(by_element), step):
        rows = slice(start, min(start + step, len(by_element)))
        yield rows, np.ascontiguousarray(by_element[rows], dtype=float)


@_per_element
def r_hat(x: Array) -> Array:
    """The larger of the split R-hats of the rank-normalised draws and of the folded ones.

    The second compares the chains' spreads, the first their locations; 1.01 is the usual limit.
    """
    halves = _split(x)
    return _larger_scale(_normal_scores(halves), halves)


def _larger_scale(scores: Array, halves: Array) -> Array:
    """The larger of the R-hats of the scores of halved chains and of the scores of them folded."""
    middle = np.median(halves, axis=(1, 2), keepdims=True)
    folded = _normal_scores(np.abs(halves - middle))
    # (where all folded draws are the same, their R-hat is no number, and says nothing)
    return np.fmax(_potential_scale(scores), _potential_scale(folded))


@_per_element
def split_r_hat(x: Array) -> Array:
    """The R-hat of halved chains, from means and variances alone: cheap, no ranks.

    ``sqrt((between / within + n - 1) / n)`` for halves of n draws.
    """
    return _potential_scale(_split(x))


@_per_element
def ess_bulk(x: Array) -> Array:
    """The effective sample size of the rank-normalised draws: how well the centre is known."""
    return _effective_size(_normal_scores(_split(x)))


@_per_element
def ess_tail(x: Array) -> Array:
    """The smaller of the effective sample sizes of the 5 % and the 95 % quantile."""
    return _tail_size(x, _ordered(x))


@_per_element
def ess_mean(x: Array) -> Array:
    """The effective sample size of the mean: ``variance / mcse_mean**2``."""
    return _effective_size(_split(x))


@_per_element
def ess_quantile(x: Array, probability: float) -> Array:
    """The effective sample size of a quantile."""
    return _size_below(x, _quantile(_ordered(x), probability))


@_per_element
def mcse_mean(x: Array) -> Array:
    """The Monte Carlo standard error of the mean."""
    error: Array = _sd(x) / np.sqrt(_effective_size(_split(x)))
    return error


@_per_element
def mcse_sd(x: Array) -> Array:
    """The Monte Carlo standard error of the standard deviation, by the delta method."""
    squares = (x - _mean(x)[:, None, None]) ** 2
    variance = squares.mean(axis=(1, 2))
    of_variance = squares.var(axis=(1, 2)) / _effective_size(_split(squares))
    return np.where(variance > 0, np.sqrt(of_variance / variance / 4), 0.0)


@_per_element
def mcse_quantile(x: Array, probability: float) -> Array:
    """The Monte Carlo standard error of a quantile: half the one-sigma interval of its rank."""
    ordered = _ordered(x)
    size = _size_below(x, _quantile(ordered, probability))
    last = ordered.shape[1] - 1
    shapes = size * probability + 1, size * (1 - probability) + 1
    sigmas = (scipy.special.ndtr(z) for z in (-1.0, 1.0))
    below, above = (scipy.special.betaincinv(*shapes, p) * (last + 1) - 1 for p in sigmas)
    low, high = np.floor(np.maximum(below, 0)), np.ceil(np.minimum(above, last))
    rows, low, high = np.arange(len(x)), low.astype(int), high.astype(int)
    half_width: Array = (ordered[rows, high] - ordered[rows, low]) / 2
    return half_width


def columns_of(probs: Sequence[float] = PROBS) -> tuple[str, ...]:
    """The columns of a summary: mean, sd, quantiles, and how far these can be trusted.

    >>> columns_of([0.05, 0.995])[:4]
    ('mean', 'sd', '5%', '99.5%')
    """
    return ("mean", "sd", *(f"{100 * p:.10g}%" for p in probs), *RELIABILITY)


def measures(draws: ArrayLike, probs: Sequence[float] = PROBS) -> dict[str, Array]:
    """The measures of a variable in a summary, by column, each with the variable's shape.

    >>> measures(np.ones((2, 10, 3)))["ess_bulk"]
    array([20., 20., 20.])
    """
    x = np.asarray(draws)
    columns, last = columns_of(probs), -len(RELIABILITY)
    table = np.full((len(columns), *x.shape[2:]), np.nan)
    by_row = table.reshape(len(columns), -1)
    with np.errstate(all="ignore"):
        for rows, part in _parts(x):
            ordered = _ordered(part)
            by_row[:last, rows] = _location_and_spread(part, ordered, probs)
            finite = np.isfinite(part).all(axis=(1, 2))
            if x.shape[1] >= _FEWEST_DRAWS and finite.any():
                by_row[last:, rows][:, finite] = _reliability(part[finite], ordered[finite])
    return dict(zip(columns, table, strict=True))


def _location_and_spread(x: Array, ordered: Array, probs: Sequence[float]) -> Array:
    """The columns but for the last four."""
    spread = _sd(x) if x[0].size > 1 else np.full(len(x), np.nan)
    quantiles = (_quantile(ordered, p) for p in probs)
    return np.stack([_mean(x), spread, *quantiles])


def _mean(x: Array) -> Array:
    """The mean of draws; of equal draws their value, free of the rounding of a sum."""
    return np.where(_is_constant(x), x[:, 0, 0], x.mean(axis=(1, 2)))


def _sd(x: Array) -> Array:
    """The standard deviation, 0 of equal draws."""
    return np.where(_is_constant(x), 0.0, x.std(axis=(1, 2), ddof=1))


def _is_constant(x: Array) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (x == x[:, :1, :1]).all(axis=(1, 2)) & np.isfinite(x[:, 0, 0])
    return found


def _reliability(x: Array, ordered: Array) -> Array:
    """The last four columns, sharing what several of them need."""
    halves = _split(x)
    scores = _normal_scores(halves)
    error = _sd(x) / np.sqrt(_effective_size(halves))
    sizes = _effective_size(scores), _tail_size(x, ordered)
    return np.stack([error, *sizes, _larger_scale(scores, halves)])


def _split(x: Array) -> Array:
    """The first and the second half of each chain (the middle of an odd number is left out)."""
    half = x.shape[2] // 2
    return np.concatenate([x[..., :half], x[..., -half:]], axis=1)


def _potential_scale(x: Array) -> Array:
    """R-hat, from the variance between the chains' means and the mean of their variances."""
    n = x.shape[2]
    between = n * x.mean(axis=2).var(axis=1, ddof=1)
    # (the variance of equal numbers can come out as the square of a rounding error)
    spread = np.where(np.ptp(x, axis=2) > 0, x.var(axis=2, ddof=1), 0.0)
    within = spread.mean(axis=1)
    return np.asarray(np.sqrt((between / within + n - 1) / n))


def _normal_scores(x: Array) -> Array:
    """The draws replaced by the normal quantiles of their ranks among all chains (Blom's)."""
    ranks = _average_ranks(x.reshape(len(x), -1))
    scores: Array = _quantiles_of_ranks(ranks.shape[1])[np.rint(2 * ranks).astype(int)]
    return scores.reshape(x.shape)


@lru_cache(maxsize=1)
def _quantiles_of_ranks(count: int) -> Array:
    """The normal quantiles of the ranks 0, 1/2, 1, ... up to ``count`` (of 0 it is of no rank)."""
    quantile = NormalDist().inv_cdf
    halves = np.maximum(np.arange(2 * count + 1), 1) / 2
    shares = (halves - 3 / 8) / (count + 1 / 4)
    return np.array([quantile(share) for share in shares.tolist()])


def _average_ranks(rows: Array) -> Array:
    """Ranks from 1 along each row, equal numbers sharing the mean of their ranks."""
    order = np.argsort(rows, axis=1)
    ordered = np.take_along_axis(rows, order, axis=1)
    position = np.arange(rows.shape[1])
    ends = np.ones(rows.shape, bool)
    ends[:, :-1] = ordered[:, 1:] != ordered[:, :-1]
    starts = np.roll(ends, 1, axis=1)
    first = np.maximum.accumulate(np.where(starts, position, 0), axis=1)
    last = np.where(ends, position, position[-1])[:, ::-1]
    last = np.minimum.accumulate(last, axis=1)[:, ::-1]
    ranks = np.empty(rows.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    return ranks


def _tail_size(x: Array, ordered: Array) -> Array:
    sizes = (_size_below(x, _quantile(ordered, p)) for p in (0.05, 0.95))
    return np.minimum(*sizes)


def _size_below(x: Array, limit: Array) -> Array:
    """The effective sample size of the indicator of being at most a limit."""
    return _effective_size(_split((x <= limit[:, None, None]).astype(float)))


def _ordered(x: Array) -> Array:
    """The draws of all chains in increasing order, axes (element, rank)."""
    return np.sort(x.reshape(len(x), -1), axis=1)


def _quantile(ordered: Array, probability: float) -> Array:
    """The quantile, interpolated between the two ordered draws beside it."""
    place = (ordered.shape[1] - 1) * probability
    below = int(place)
    above = min(below + 1, ordered.shape[1] - 1)
    low, high = ordered[:, below], ordered[:, above]
    return np.where(low == high, low, low + (high - low) * (place - below))


def _effective_size(x: Array) -> Array:
    """The number of independent draws that would know the mean as well as these do.

    ``total / tau`` with ``tau = 1 + 2 (rho_1 + rho_2 + ...)``, the autocorrelations pooled over
    chains and truncated by Geyer's initial monotone sequence.
    """
    total = x.shape[1] * x.shape[2]
    time = np.maximum(_autocorrelation_time(_pooled_autocorrelations(x)), 1 / np.log10(total))
    constant = np.ptp(x, axis=(1, 2)) == 0
    return np.where(constant, float(total), total / time)


def _pooled_autocorrelations(x: Array) -> Array:
    """``rho_t = 1 - (within - autocovariance_t) / (within + between)``, axes (element, lag)."""
    chains, n = x.shape[1:]
    means = x.mean(axis=2)
    autocovariance = _mean_autocovariance(x - means[..., None])
    within = autocovariance[:, :1] * n / (n - 1)
    total = autocovariance[:, :1].copy()
    if chains > 1:
        total += means.var(axis=1, ddof=1)[:, None]
    rho: Array = 1 - (within - autocovariance) / total
    rho[:, 0] = 1
    return rho


def _mean_autocovariance(centred: Array) -> Array:
    """The autocovariances at each lag, averaged over chains (before the one inverse transform)."""
    n = centred.shape[2]
    padded = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, n=padded, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)
    return np.asarray(np.fft.irfft(power, n=padded, axis=1)[:, :n] / n)


def _autocorrelation_time(rho: Array) -> Array:
    """``-1 + 2 sum(pairs)``: the pairs ``rho_2k + rho_2k+1`` while positive, made to decrease.

    The even half of the first pair that is not positive is added once: it lessens the bias of the
    truncation for antithetic chains.
    """
    n = rho.shape[1]
    last = max(0, (n - 3) // 2)
    pairs = rho[:, 0 : 2 * last + 2 : 2] + rho[:, 1 : 2 * last + 2 : 2]
    ended = ~(pairs > 0)
    stop = np.where(ended.any(axis=1), ended.argmax(axis=1), last)
    kept = np.arange(last + 1) < stop[:, None]
    total = np.where(kept, np.minimum.accumulate(pairs, axis=1), 0).sum(axis=1)
    rows = np.arange(len(rho))
    even = rho[rows, 2 * stop]
    rest = np.where((even > 0) | (pairs[rows, stop] >= 0), even, 0)
    return np.asarray(-1 + 2 * total + rest)


def worst_r_hat(values: Mapping[str, NDArray[Any]]) -> str:
    """The largest R-hat of the scalars among variables, in words; empty where there is none.

    >>> worst_r_hat({"x": np.random.default_rng(1).normal(size=(4, 200))})
    'R-hat 1.01 of x'
    """
    scalars = {n: a for n, a in values.items() if a.ndim == 2}
    found = {n: float(r_hat(a.astype(float))) for n, a in scalars.items()}
    known = {n: x for n, x in found.items() if np.isfinite(x)}
    worst = max(known, key=lambda n: known[n], default=None)
    return "" if worst is None else f"R-hat {known[worst]:.2f} of {worst}"
