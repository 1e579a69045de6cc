"""Trend and season exactly: a Kalman filter of five states on a grid of the four variances."""

import numpy as np

from references.quadrature import expectations

# The states are level, slope and the last three seasons.
TRANSITION = np.array(
    [[1, 1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, -1, -1, -1], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0]], float
)
SEEN = np.array([1.0, 0, 1, 0, 0])
NAMES = ("noise", "level", "slope", "season")


def means(y, priors, centre, width, points, start=(5, 1, 0, 100, 4)):
    """Posterior means of the sds and of the last states, on a grid of log variances."""
    axes = [np.linspace(c - w, c + w, points) for c, w in zip(centre, width, strict=True)]
    logs = np.stack(np.meshgrid(*axes, indexing="ij"))
    last, log_density = filtered(y, np.exp(logs).reshape(4, -1), start)
    for log_variance, (shape, rate) in zip(logs, priors, strict=True):
        log_density = log_density - (shape * log_variance + rate * np.exp(-log_variance)).ravel()
    sds = {f"sd_{n}": np.exp(v / 2) for n, v in zip(NAMES, logs, strict=True)}
    states = {f"{n} at the end": last[:, k].reshape(logs[0].shape) for k, n in enumerate(NAMES[1:])}
    return expectations(log_density.reshape(logs[0].shape), **sds, **states)


def filtered(y, variances, start):
    """Means of the last states (point, state) and the log likelihoods, for points of variances."""
    noise, *moves = variances
    points = len(noise)
    mean = np.zeros((points, 5))
    covariance = np.zeros((points, 5, 5))
    # Before the fourth quarter the seasons are independent, as the model declares them.
    mean[:, 0], mean[:, 1] = start[0], start[2]
    covariance[:, 0, 0], covariance[:, 1, 1] = 1 / start[1], 1 / start[3]
    covariance[:, 2, 2] = 1 / start[4]
    first = TRANSITION.copy()
    first[2] = 0
    log_likelihood = np.zeros(points)
    for t, value in enumerate(y):
        if t:
            step = first if t < 3 else TRANSITION
            mean = mean @ step.T
            covariance = step @ covariance @ step.T
            covariance[:, 0, 0] += moves[0]
            covariance[:, 1, 1] += moves[1]
            covariance[:, 2, 2] += 1 / start[4] if t < 3 else moves[2]
        shared = covariance @ SEEN
        total = shared @ SEEN + noise
        error = value - mean @ SEEN
        log_likelihood -= 0.5 * (np.log(total) + error**2 / total)
        gain = shared / total[:, None]
        mean = mean + gain * error[:, None]
        covariance = covariance - gain[:, :, None] * shared[:, None, :]
    return mean, log_likelihood
