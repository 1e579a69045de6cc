"""Segmentation by hand: one pixel after the other, then the means and precisions of the classes.

    python tests/references/potts_segmentation.py
"""

import sys
from pathlib import Path

import numpy as np
from numba import njit

sys.path.insert(0, str(Path(__file__).parents[2]))

from models import potts_segmentation
from references.monte_carlo import mean_and_error


@njit
def _drawn(label, picture, mean, tau, coupling, uniform):
    """New labels, row by row, in place."""
    rows, cols = picture.shape
    classes = mean.size
    weight = np.empty(classes)
    for r in range(rows):
        for c in range(cols):
            top = -np.inf
            for k in range(classes):
                alike = 0
                alike += r > 0 and label[r - 1, c] == k
                alike += r + 1 < rows and label[r + 1, c] == k
                alike += c > 0 and label[r, c - 1] == k
                alike += c + 1 < cols and label[r, c + 1] == k
                gap = picture[r, c] - mean[k]
                weight[k] = coupling * alike + 0.5 * np.log(tau[k]) - 0.5 * tau[k] * gap * gap
                top = max(top, weight[k])
            total = 0.0
            for k in range(classes):
                weight[k] = np.exp(weight[k] - top)
                total += weight[k]
            left = uniform[r, c] * total
            chosen = 0
            while chosen + 1 < classes and left >= weight[chosen]:
                left -= weight[chosen]
                chosen += 1
            label[r, c] = chosen


def run(rng, picture, draws, *, classes=2, coupling=1.0, prior=(100, 1e-4, 2, 200), warmup=1000):
    """Draws of means, precisions and labels, each with a first axis of draws."""
    prior_mean, prior_precision, shape, rate = prior
    mean = np.quantile(picture, (np.arange(classes) + 0.5) / classes)
    tau = np.full(classes, 1 / 400.0)
    label = np.abs(picture[..., None] - mean).argmin(axis=-1)
    kept = {"mean": [], "tau": [], "label": []}
    for sweep in range(warmup + draws):
        _drawn(label, picture, mean, tau, coupling, rng.random(picture.shape))
        for k in range(classes):
            own = picture[label == k]
            precision = prior_precision + tau[k] * own.size
            centre = (prior_precision * prior_mean + tau[k] * own.sum()) / precision
            mean[k] = centre + rng.standard_normal() / np.sqrt(precision)
            squares = ((own - mean[k]) ** 2).sum()
            tau[k] = rng.gamma(shape + own.size / 2) / (rate + squares / 2)
        if sweep >= warmup:
            for name, value in (("mean", mean), ("tau", tau), ("label", label)):
                kept[name].append(value.copy())
    return {name: np.array(values)[None] for name, values in kept.items()}


def main():
    """Print the reference."""
    rng = np.random.default_rng(1)
    chains = [run(rng, potts_segmentation.PICTURE, 20_000) for _ in range(4)]
    draws = {n: np.concatenate([c[n] for c in chains]) for n in chains[0]}
    for name, values in potts_segmentation.quantities(draws).items():
        print(name, mean_and_error(values))


if __name__ == "__main__":
    main()
