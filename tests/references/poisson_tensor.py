"""The tensor factorisation by hand: a random walk on the logs of the factors.

Only the Poisson likelihood of the counts is ever computed, none is split between topics, so that
nothing is shared with a sampler that splits them. The elements of one column of a factor touch
different counts: they move together, and each is accepted or refused by itself. Where one factor
grows and another shrinks the likelihood stays, so that such moves are proposed too.
"""

import numpy as np


def run(rng, counts, draws, *, topics=2, shape=0.5, rate=0.5, warmup=2_000, thin=5):
    """The factors (draw, position, topic) of one chain, by mode of the tensor."""
    factors = [rng.gamma(1.0, 1.0, size=(n, topics)) for n in counts.shape]
    widths = [np.full(f.shape, 0.5) for f in factors]
    kept = [np.empty((draws, *f.shape)) for f in factors]
    for step in range(-warmup, draws * thin):
        gain = 1 / (warmup + step + 1) ** 0.6 if step < 0 else 0.0
        for mode in range(3):
            for k in range(topics):
                accepted = _move(rng, counts, factors, mode, k, widths[mode][:, k], (shape, rate))
                widths[mode][:, k] *= np.exp((accepted - 0.44) * gain)
        for k in range(topics):
            for pair in ((0, 1), (1, 2), (2, 0)):
                _exchange(rng, factors, k, pair, (shape, rate))
        if step >= 0 and step % thin == 0:
            for store, factor in zip(kept, factors, strict=True):
                store[step // thin] = factor
    return kept


def _move(rng, counts, factors, mode, k, widths, prior):
    """Which elements of column ``k`` of a factor have moved."""
    shape, rate = prior
    column = factors[mode][:, k]
    proposal = column * np.exp(widths * rng.standard_normal(column.size))
    full = np.einsum("ak,bk,ck->abc", *factors)
    others = np.multiply.outer(*(f[:, k] for m, f in enumerate(factors) if m != mode))
    step = (proposal - column)[:, None, None] * others
    before, y = np.moveaxis(full, mode, 0), np.moveaxis(counts, mode, 0)
    ratio = (y * np.log1p(np.maximum(step / before, -1 + 1e-15)) - step).sum(axis=(1, 2))
    ratio += shape * np.log(proposal / column) - rate * (proposal - column)
    accepted = np.log(rng.random(column.size)) < ratio
    factors[mode][accepted, k] = proposal[accepted]
    return accepted


def _exchange(rng, factors, k, pair, prior):
    """One column grows as another shrinks; with the Jacobian of the logs the priors decide."""
    shape, rate = prior
    grown, shrunk = (factors[m] for m in pair)
    step = 0.3 * rng.standard_normal()
    ratio = shape * step * (len(grown) - len(shrunk))
    ratio -= rate * (grown[:, k].sum() * np.expm1(step) + shrunk[:, k].sum() * np.expm1(-step))
    if np.log(rng.random()) < ratio:
        grown[:, k] *= np.exp(step)
        shrunk[:, k] *= np.exp(-step)
