"""The network by hand: a random walk on hidden weights and log precisions.

Given these the output weights are normal. They are integrated out; the curve is their mean.
"""

import numpy as np
from scipy.special import expit

from references import random_walk

NAMES = "tau_weight", "tau_bias", "tau_out", "tau"


def run(rng, x, y, at, draws, *, units=3, chains=100):
    """The curve at some inputs, the sd of the noise, and precisions: arrays over (chain, draw)."""
    level, scale = y.mean(), y.std()
    inputs, rows = ((v - x.mean()) / x.std() for v in (x, np.array(at)))
    known = inputs, (y - level) / scale, units
    start = 0.5 * rng.standard_normal((chains, 2 * units + len(NAMES)))
    points = random_walk.run(rng, lambda p: log_density(p, *known), start, draws)
    flat = points.reshape(-1, points.shape[-1])
    centre = output(flat, *known)[0]
    curve = np.einsum("ckr,cr->ck", hidden(flat, rows, units), centre)
    curve = (level + scale * curve).reshape(*points.shape[:2], -1)
    taus = dict(zip(NAMES, np.moveaxis(np.exp(points[..., 2 * units :]), -1, 0), strict=True))
    sigma = scale * taus.pop("tau") ** -0.5
    return {"sigma": sigma, **taus} | {f"curve[{a:g}]": curve[..., n] for n, a in enumerate(at)}


def hidden(point, inputs, units):
    """Hidden units at all inputs, and a column of ones: (chain, input, unit)."""
    weight, bias = point[:, None, :units], point[:, None, units : 2 * units]
    found = expit(inputs[:, None] * weight + bias)
    return np.concatenate([found, np.ones((*found.shape[:2], 1))], axis=-1)


def output(point, inputs, y, units, precision=1.0):
    """The mean of the output weights given all else, and the log of the marginal density of y."""
    tau_out, tau = np.exp(point[:, -2:].T)
    design = hidden(point, inputs, units)
    prior = np.concatenate([np.repeat(tau_out[:, None], units, axis=1), 0 * tau[:, None]], axis=1)
    prior[:, -1] = precision
    own = tau[:, None, None] * np.einsum("cnj,cnk->cjk", design, design)
    own += prior[:, :, None] * np.eye(units + 1)
    linear = tau[:, None] * np.einsum("cnj,n->cj", design, y)
    centre = np.linalg.solve(own, linear[..., None])[..., 0]
    determinants = np.log(prior).sum(axis=1) - np.linalg.slogdet(own)[1]
    square = tau * (y @ y) - (linear * centre).sum(axis=1)
    return centre, (len(y) * np.log(tau) + determinants - square) / 2


def log_density(point, inputs, y, units, prior=(3.0, 3.0), noise_prior=(3.0, 0.3)):
    """The log posterior density, up to a constant; Jacobians of the logs included."""
    logs = point[:, 2 * units :]
    taus = np.exp(logs)
    found = output(point, inputs, y, units)[1]
    for k, (shape, rate) in enumerate([prior, prior, prior, noise_prior]):
        found += shape * logs[:, k] - rate * taus[:, k]
    for k in range(2):
        own = point[:, k * units : (k + 1) * units]
        found += units * logs[:, k] / 2 - taus[:, k] * (own**2).sum(axis=1) / 2
    return found
