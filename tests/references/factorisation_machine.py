"""Predictions of the factorisation machine of models/factorisation_machine.py.

    python tests/references/factorisation_machine.py

An independent sampler: f is linear in each element, so that f with the element at 0 and at 1 tells
its slope and the rest. All pairs of features are gone through; many chains side by side.
"""

import numpy as np

from models.factorisation_machine import FEATURES, GROUPS, JUDGES, PREDICTED, QUALITIES, RATINGS

CHAINS, WARMUP, DRAWS = 48, 300, 2500


def normal(rng, linear, precision):
    """Draws from densities in proportion to exp(linear * x - precision * x**2 / 2)."""
    return linear / precision + rng.standard_normal(np.shape(linear)) / np.sqrt(precision)


def element(rng, x, at, prior, alpha, rows, f):
    """One element of every chain, by the rows that see it; ``f`` is a function of the rows."""
    mean, precision = prior
    x[at] = 0.0
    rest = f(rows)
    x[at] = 1.0
    slope = f(rows) - rest
    linear = precision * mean + alpha * ((RATINGS[rows] - rest) * slope).sum(axis=1)
    x[at] = normal(rng, linear, precision + alpha * (slope**2).sum(axis=1))


def hyper(rng, x):
    """The precision and the mean of a group's elements (chain, element), given these."""
    n = x.shape[1]
    mean = x.sum(axis=1) / (n + 1)
    spread = ((x - mean[:, None]) ** 2).sum(axis=1) + mean**2
    # (with the mean integrated out; its prior precision is one group precision)
    tau = rng.gamma(1 + n / 2, size=len(x)) / (1 + spread / 2)
    return normal(rng, tau * x.sum(axis=1), tau * (n + 1)), tau


def run(seed=1, factors=2, level=7.6):
    """The predictions, chain by draw by pair."""
    rng = np.random.default_rng(seed)
    count = len(GROUPS)
    w0, alpha = np.full(CHAINS, level), np.ones(CHAINS)
    w, v = rng.normal(size=(CHAINS, count)) / 2, rng.normal(size=(CHAINS, count, factors)) / 2
    mu, tau = np.zeros((CHAINS, 2, factors + 1)), np.ones((CHAINS, 2, factors + 1))
    seen = [np.flatnonzero((j == FEATURES).any(axis=1)) for j in range(count)]
    everything = np.arange(len(RATINGS))

    def f(rows):
        a, b = FEATURES[rows].T
        return w0[:, None] + w[:, a] + w[:, b] + (v[:, a] * v[:, b]).sum(axis=2)

    kept = []
    for sweep in range(WARMUP + DRAWS):
        for g in (0, 1):
            own = np.flatnonzero(g == GROUPS)
            for k in range(factors):
                mu[:, g, k], tau[:, g, k] = hyper(rng, v[:, own, k])
            mu[:, g, -1], tau[:, g, -1] = hyper(rng, w[:, own])
        element(rng, w0, slice(None), (level, 1.0), alpha, everything, f)
        for j in range(count):
            g = GROUPS[j]
            prior = mu[:, g, -1], tau[:, g, -1]
            element(rng, w, (slice(None), j), prior, alpha, seen[j], f)
            for k in range(factors):
                prior = mu[:, g, k], tau[:, g, k]
                element(rng, v, (slice(None), j, k), prior, alpha, seen[j], f)
        errors = ((RATINGS - f(everything)) ** 2).sum(axis=1)
        alpha = rng.gamma(1 + len(RATINGS) / 2, size=CHAINS) / (1 + errors / 2)
        if sweep >= WARMUP:
            pairs = [(v[:, a] * v[:, b]).sum(axis=1) + w[:, a] + w[:, b] for a, b in PREDICTED]
            kept.append([w0 + p for p in pairs])
    return np.array(kept).transpose(2, 0, 1)


if __name__ == "__main__":
    means = run().mean(axis=1)
    for n, (judge, quality) in enumerate(PREDICTED):
        error = means[:, n].std(ddof=1) / np.sqrt(CHAINS)
        name = f"{JUDGES[judge]}, {QUALITIES[quality - len(JUDGES)]}"
        print(f'    "{name}": ({means[:, n].mean():.6f}, {error:.4g}),')
