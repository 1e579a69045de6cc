"""Expectations under an unnormalised density on a grid."""

import numpy as np


def weights(log_density):
    """Probabilities proportional to the exponentials; the edges of the grid must hold none."""
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    for axis in range(weight.ndim):
        ends = weight.take([0, -1], axis=axis)
        assert ends.sum() < 1e-7, f"the grid cuts off {ends.sum()} at the ends of axis {axis}"
    return weight


def expectations(log_density, **values):
    """The means of ``values``, arrays on the same evenly spaced grid as the log density."""
    weight = weights(log_density)
    return {name: float((weight * value).sum()) for name, value in values.items()}
