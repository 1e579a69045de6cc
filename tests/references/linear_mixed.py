"""The linear mixed model exactly: normal algebra of people's and days' averages on a grid.

The design is balanced. Rows of an orthogonal matrix split the people into their average, which has
the fixed effects and the days, and contrasts, which are all alike and have neither.
"""

import numpy as np

from references.quadrature import expectations

FIXED = ((250, 1e-4), (0, 1e-2))


def grid(centre, width, points):
    """Log variances of levels, growths, days and noise: four arrays of one shape."""
    axes = [np.linspace(c - w, c + w, points) for c, w in zip(centre, width, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"))


def means(reaction, priors, logs, fixed=FIXED):
    """The posterior means of the fixed effects, the sds, and the first effects of each kind."""
    y = np.asarray(reaction, float)
    flat = np.exp(logs).reshape(4, -1)
    log_density, found = conditional_means(y, flat, fixed)
    for log_variance, (shape, rate) in zip(logs.reshape(4, -1), priors.values(), strict=True):
        log_density = log_density - shape * log_variance - rate * np.exp(-log_variance)
    sds = zip(("sd_a", "sd_b", "sd_c", "sd_noise"), np.sqrt(flat), strict=True)
    values = {n: v.reshape(logs[0].shape) for n, v in (*found.items(), *sds)}
    return expectations(log_density.reshape(logs[0].shape), **values)


def conditional_means(y, variances, fixed):
    """For points of variances the log likelihood, and the means of effects given the variances."""
    people, days = y.shape
    X = np.stack([np.ones(days), np.arange(days)], axis=1)
    a, b, c, noise = variances
    own = np.stack([a, b])
    # The average of people, times the root of their number: fixed effects, days, its own a and b.
    centre = np.array([m for m, _ in fixed], float)
    wide = np.array([1 / p for _, p in fixed])[:, None]
    shared = people * wide + own
    average = np.sqrt(people) * (y.mean(axis=0) - X @ centre)
    log_likelihood, effects = _regression(average[None], X, shared, noise + people * c)
    # (of what the average says of the line, the fixed effects have a share; so do a and b)
    line, rest = effects[:, :, 0], average - np.einsum("dk,pk->pd", X, effects[:, :, 0])
    beta = np.sqrt(people) * wide.T / shared.T * line
    days_off = np.sqrt(people) * c[:, None] / (noise + people * c)[:, None] * rest
    # Contrasts between people.
    contrasts = y - y.mean(axis=0)
    basis = np.linalg.svd(np.eye(people) - 1 / people)[0][:, : people - 1]
    log_contrasts, lines = _regression(basis.T @ contrasts, X, own, noise)
    first = lines @ basis[0] + own.T / shared.T * line / np.sqrt(people)
    found = {
        "level": centre[0] + beta[:, 0],
        "growth": centre[1] + beta[:, 1],
        "a[308]": first[:, 0],
        "b[308]": first[:, 1],
        "c[0]": days_off[:, 0],
    }
    return log_likelihood + log_contrasts, found


def _regression(rows, X, prior, noise):
    """Independent rows ``X beta + noise``: log likelihood, means (point, effect, row)."""
    points, (count, size) = len(noise), rows.shape
    inner, right = X.T @ X, X.T @ rows.T
    Q = inner / noise[:, None, None] + np.einsum("kp,kl->pkl", 1 / prior, np.eye(2))
    h = right / noise[:, None, None]
    means = np.linalg.solve(Q, h)
    squares = (rows**2).sum() / noise - np.einsum("pkr,pkr->p", h, means)
    logdet = size * np.log(noise) + np.log(prior).sum(axis=0) + np.linalg.slogdet(Q)[1]
    assert means.shape == (points, 2, count)
    return -0.5 * (count * logdet + squares), means
