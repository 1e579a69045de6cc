"""What monitors have found, of all chains together.

Comes in: the accumulators of a variable, one for each chain. Goes out: `gibbsppl.output.monitored`.
Means and variances are those of all draws. Quantiles are those of the mean of the distribution
functions of chains, each linear between its markers. The error of the mean is that of batches of
one length, whichever chain they are of (batch means: C. J. Geyer, 1992, Statistical Science 7,
473-483), so that chains that disagree make it larger; R-hat compares the halves of chains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gibbsppl.output.arrays import Array
from gibbsppl.output.monitored import Monitored
from gibbsppl.run.accumulators import Accumulator, batch_length
from gibbsppl.run.distributions import AT_ONCE, PROBABILITIES, Counts, Markers
from gibbsppl.runtime.types import Floats

Chains = Sequence[Accumulator]


def pooled(chains: Chains, dims: tuple[str, ...], coords: Mapping[str, Array]) -> Monitored:
    """The statistics of all chains."""
    with np.errstate(all="ignore"):  # (of one draw there is no variance)
        return _pooled(chains, dims, coords)


def _pooled(chains: Chains, dims: tuple[str, ...], coords: Mapping[str, Array]) -> Monitored:
    first, shape = chains[0], chains[0].shape
    counts = np.array([c.count for c in chains])
    variances = np.stack([_variance(c) for c in chains])
    each = np.stack([_quantiles([c]) for c in chains])
    together = _quantiles(chains) if len(chains) > 1 else each[0]
    is_finite = np.all([np.isfinite(c.mean) for c in chains], axis=0)
    each, together = np.where(is_finite, each, np.nan), np.where(is_finite, together, np.nan)
    values, probabilities = None, None
    if isinstance(first.spread, Counts):
        told = np.sum([c.spread.counts for c in chains], axis=0)  # type: ignore[union-attr]
        values = np.arange(told.shape[1]) + first.spread.lower
        probabilities = (told / counts.sum()).reshape(*shape, -1)
    noises = [c.noise.reshape(shape) for c in chains if c.noise is not None]
    return Monitored(
        counts=counts,
        means=np.stack([c.mean.reshape(shape) for c in chains]),
        variances=variances.reshape(-1, *shape),
        chain_quantiles=each.reshape(len(chains), -1, *shape),
        quantiles=dict(zip(PROBABILITIES, together.reshape(-1, *shape), strict=True)),
        r_hat=_r_hat(chains, variances).reshape(shape),
        mcse=_error(chains).reshape(shape),
        dims=dims,
        coords=coords,
        covariance=_covariance(chains),
        probabilities=probabilities,
        values=values,
        noises=np.stack(noises) if noises else None,
    )


def _variance(chain: Accumulator) -> Floats:
    return np.asarray(chain.squares / np.float64(chain.count - 1))


def _covariance(chains: Chains) -> Floats | None:
    """The covariance of each two elements over all draws, with the axes of the variable twice."""
    if chains[0].products is None:
        return None
    count = sum(c.count for c in chains)
    mean = sum(c.count / count * c.mean for c in chains)
    gaps = (c.count * np.outer(c.mean - mean, c.mean - mean) for c in chains)
    total = sum(c.products + gap for c, gap in zip(chains, gaps, strict=True))
    return np.asarray(total / np.float64(count - 1)).reshape(2 * chains[0].shape)


# ---- batches ----------------------------------------------------------------------------------


def _batches(chain: Accumulator, length: int) -> Floats:
    """The means of the complete batches of a chain, of a length that its own divides."""
    own = batch_length(chain.count)
    complete = chain.batches[: chain.count // own]
    times = length // own
    whole = len(complete) // times
    return np.asarray(complete[: whole * times].reshape(whole, times, -1).mean(axis=1))


def _error(chains: Chains) -> Floats:
    """The Monte Carlo error of the mean of all draws; nan of fewer than two batches."""
    length = max(batch_length(c.count) for c in chains)
    means = np.concatenate([_batches(c, length) for c in chains])
    of_all = means.var(axis=0, ddof=1) if len(means) > 1 else np.full(means.shape[1], np.nan)
    return np.sqrt(of_all * length / sum(c.count for c in chains))


def _r_hat(chains: Chains, variances: Floats) -> Floats:
    """How much more halves of chains differ than they would, all of one distribution.

    ``sqrt(between / within + (n - 1) / n)``: the variance between the means of halves of n draws,
    of the complete batches (the middle of an odd number is left out), and the mean of the variances
    of chains.
    """
    halves, length = [], max(batch_length(c.count) for c in chains)
    found = [_batches(c, length) for c in chains]
    half = min(map(len, found)) // 2
    if not half:
        return np.full(variances.shape[1], np.nan)
    for means in found:
        halves += [means[:half].mean(axis=0), means[-half:].mean(axis=0)]
    between, within = np.var(halves, axis=0, ddof=1), variances.mean(axis=0)
    n = half * length
    return np.sqrt(np.where(within > 0, between / within + (n - 1) / n, np.nan))


# ---- quantiles --------------------------------------------------------------------------------


def _quantiles(chains: Chains) -> Floats:
    """The quantiles of all draws of some chains, with axes (probability, element)."""
    spreads = [c.spread for c in chains]
    if isinstance(spreads[0], Counts):
        counts = sum(s.counts for s in spreads if isinstance(s, Counts))
        below = np.cumsum(counts, axis=1)
        # (the least value at or below which so many draws are)
        least = [np.argmax(below >= p * below[:, -1:], axis=1) for p in PROBABILITIES]
        return np.array(least, dtype=float) + spreads[0].lower
    marked = [s.marked(c.count) for s, c in zip(spreads, chains, strict=True)
              if isinstance(s, Markers)]  # fmt: skip
    total = sum(c.count for c in chains)
    weights = [c.count / total for c in chains]
    found = np.empty((len(PROBABILITIES), chains[0].mean.size))
    for start in range(0, found.shape[1], AT_ONCE):
        own = slice(start, start + AT_ONCE)
        parts = [(h[own], np.broadcast_to(s, h.shape)[own]) for h, s in marked]
        found[:, own] = list(_quantiles_of_mixture(parts, weights))
    return found


def _quantiles_of_mixture(
    parts: Sequence[tuple[Floats, Floats]], weights: Sequence[float]
) -> Iterator[Floats]:
    """Quantiles of a mixture of distributions, each linear between heights of known shares."""
    points = np.sort(np.concatenate([heights for heights, _ in parts], axis=1), axis=1)
    before, after = np.zeros(points.shape), np.zeros(points.shape)
    for (heights, shares), weight in zip(parts, weights, strict=True):
        for k in range(heights.shape[1] - 1):
            low, high = heights[:, k : k + 1], heights[:, k + 1 : k + 2]
            mass = weight * (shares[:, k + 1 : k + 2] - shares[:, k : k + 1])
            rise = mass * np.clip((points - low) / np.where(high > low, high - low, 1.0), 0.0, 1.0)
            if (at_once := high <= low).any():  # (several draws at one point)
                before += np.where(at_once, mass * (points > high), rise)
                after += np.where(at_once, mass * (points >= high), rise)
            else:
                before += rise
                after += rise
    rows = np.arange(len(points))
    for p in PROBABILITIES:
        at = np.argmax(after >= p, axis=1)
        last = np.maximum(at - 1, 0)
        low, high = points[rows, last], points[rows, at]
        reached, at_high = after[rows, last], before[rows, at]
        slope = np.clip((p - reached) / np.where(at_high > reached, at_high - reached, 1.0), 0, 1)
        is_between = (at > 0) & (p < at_high)
        yield np.where(is_between, low + slope * (high - low), high)
