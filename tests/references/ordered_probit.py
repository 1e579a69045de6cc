"""The ordered probit by hand: a random walk on the cut points and the effects of the cheeses."""

import numpy as np
from scipy.special import ndtr

from references import random_walk


def run(rng, counts, draws, chains=100):
    """Cut points and effects: arrays over (chain, draw)."""
    table = np.array(list(counts.values()), float)
    gaps, others = table.shape[1] - 1, list(counts)[1:]
    start = np.concatenate([np.linspace(-3, 2, gaps), np.zeros(len(others))])
    start = start + 0.05 * rng.standard_normal((chains, start.size))
    points = random_walk.run(rng, lambda p: log_density(p, table), start, draws, thin=30)
    cuts = {f"cut[{c + 1}]": points[..., c] for c in range(gaps)}
    return cuts | {f"effect[{c}]": points[..., gaps + j] for j, c in enumerate(others)}


def log_density(point, table, precision=0.1):
    """The log posterior density, up to a constant; minus infinity where cuts are out of order."""
    gaps = table.shape[1] - 1
    cut, effect = point[:, :gaps], np.insert(point[:, gaps:], 0, 0, axis=1)
    ordered = (np.diff(cut, axis=1) > 0).all(axis=1)
    below = ndtr(np.where(ordered[:, None], cut, np.arange(gaps))[:, None, :] - effect[..., None])
    p = np.diff(below, axis=2, prepend=0.0, append=1.0)
    logs = np.where(table > 0, np.log(np.maximum(p, 1e-300)), 0)
    fit = (table * logs).sum(axis=(1, 2))
    return np.where(ordered, fit - precision * (point**2).sum(axis=1) / 2, -np.inf)
