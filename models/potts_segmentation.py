"""Segmentation: where the areas of one brightness are, of which a noisy picture is made.

    label[r, c] of a pixel tends to be that of its four neighbours:
        p(label) is in proportion to exp(coupling * number of neighbours that are alike)
    brightness[r, c] ~ Normal(mean[label[r, c]], tau[label[r, c]])

A hidden Potts field (R. B. Potts, 1952, Proceedings of the Cambridge Philosophical Society 48,
106-109) with Gaussian noise, as in J. Besag (1986), "On the statistical analysis of dirty
pictures", Journal of the Royal Statistical Society B 48, 259-302, all of whose means and variances
are unknown. The coupling is given: were it unknown, its normalising constant would have to be.

The picture is of a flower, in grey and on a coarse grid: each number is the mean of 14 x 14 pixels
of ``flower.jpg`` as scikit-learn ships it (rows 0 to 419, columns 60 to 619), a photograph from
https://www.flickr.com/photos/vultilion/6056698931 under the licence CC BY 2.0
(https://creativecommons.org/licenses/by/2.0/), with the attribution that scikit-learn gives: some
rights reserved by danielbuechele.

Two classes are the flower and what is behind it. With three there are two answers, with means of
about 20, 45, 142 and of about 29, 51, 142, between which chains hardly ever go.

Classes can change their names without any change to the density: look at the sorted means.
"""

from pathlib import Path

import numpy as np

import gibbsppl as gp

PICTURE = np.loadtxt(Path(__file__).parent / "data" / "flower.csv", delimiter=",")

# Posterior mean and Monte Carlo error: a long run of an independent sampler
# (tests/references/potts_segmentation.py), which draws one pixel after the other.
REFERENCE = {
    "mean 1": (38.349807, 0.002145),
    "mean 2": (142.220185, 0.006868),
    "sd 1": (14.494732, 0.001145),
    "sd 2": (32.566827, 0.005096),
    "borders": (107.449937, 0.012122),
}


def model(
    picture=PICTURE,
    classes=2,
    coupling=1.0,
    prior_mean=100,
    prior_precision=1e-4,
    shape=2,
    rate=200,
):
    """The picture, each class with its own mean and precision."""
    rows, cols = np.shape(picture)
    with gp.Model(coords={"row": rows, "col": cols, "class": classes}) as segmentation:
        mean = gp.Normal("mean", prior_mean, tau=prior_precision, dims="class")
        tau = gp.Gamma("tau", shape, rate=rate, dims="class")
        alike = gp.Data("alike", np.full(classes, 1 / classes), dims="class")
        label = gp.Categorical("label", alike, dims=("row", "col"), event="class")
        gp.Potential("down", coupling * gp.equals(label, label.lag("row", 1)))
        gp.Potential("right", coupling * gp.equals(label, label.lag("col", 1)))
        pixels = {"dims": ("row", "col"), "observed": picture}
        gp.Normal("brightness", mean[label], tau=tau[label], **pixels)
    return segmentation


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    order = np.argsort(draws["mean"], axis=-1)
    means = np.take_along_axis(draws["mean"], order, axis=-1)
    spread = np.take_along_axis(draws["tau"], order, axis=-1) ** -0.5
    found = {f"mean {k + 1}": means[..., k] for k in range(means.shape[-1])}
    found |= {f"sd {k + 1}": spread[..., k] for k in range(means.shape[-1])}
    label = draws["label"]
    borders = (label[..., 1:, :] != label[..., :-1, :]).sum(axis=(-2, -1))
    borders = borders + (label[..., 1:] != label[..., :-1]).sum(axis=(-2, -1))
    return found | {"borders": borders.astype(float)}
