"""A logit drawn by proposals about its mode, by hand: their log densities many at a time.

The proposal does not depend on the state where nothing else is drawn: so proposals of many sweeps,
``batch`` of them, may be drawn and evaluated together, as one product of matrices, and are then
accepted or not one after the other. ``by_product``: by BLAS; else a row of the design is read once
for all proposals.
"""

import math
from time import process_time

import numpy as np
from gibbsppl.runtime.compiled.functions import softplus
from numba import njit

from gibbsppl.runtime.modal import FREEDOM, FREEDOM_BY_ELEMENT


def prepare(x, y, tau=1.0):
    """The mode, the Cholesky factor of the precision there, and what the data add up to."""
    beta = np.zeros(x.shape[1])
    while True:
        p = 1 / (1 + np.exp(-(x @ beta)))
        precision = (x.T * (p * (1 - p))) @ x + tau * np.eye(len(beta))
        step = np.linalg.solve(precision, x.T @ (y - p) - tau * beta)
        beta += step
        if np.abs(step).max() < 1e-12:
            break
    inverse = np.linalg.inv(np.linalg.cholesky(precision)).T
    inverse = np.ascontiguousarray(inverse)
    return {"x": x, "xy": x.T @ y, "mode": beta, "inverse": inverse, "tau": tau}


@njit
def _run(  # noqa: PLR0917
    rng, x, xy, mode, inverse, tau, sweeps, batch, by_product, into
):
    """Draws of so many sweeps; how many proposals were accepted."""
    n, p = x.shape
    freedom = FREEDOM + FREEDOM_BY_ELEMENT * p
    now, here, weight = mode.copy(), -np.inf, 0.0
    z, tried = np.empty((p, batch)), np.empty((p, batch))
    heights, weights, row = np.empty(batch), np.empty(batch), np.empty(batch)
    accepted = 0
    for first in range(0, sweeps, batch):
        for j in range(batch):
            stretch = math.sqrt(freedom / (2.0 * rng.standard_gamma(freedom / 2.0)))
            length = 0.0
            for k in range(p):
                z[k, j] = stretch * rng.standard_normal()
                length += z[k, j] * z[k, j]
            weights[j] = (freedom + p) / 2.0 * math.log1p(length / freedom)
        tried[:] = np.dot(inverse, z)
        for k in range(p):
            for j in range(batch):
                tried[k, j] += mode[k]
        heights[:] = 0.0
        for k in range(p):
            for j in range(batch):
                b = tried[k, j]
                heights[j] += xy[k] * b - 0.5 * tau * b * b
        if by_product:
            eta = np.dot(x, tried)
            for i in range(n):
                for j in range(batch):
                    heights[j] -= softplus(eta[i, j])
        else:
            for i in range(n):
                row[:] = 0.0
                for k in range(p):
                    for j in range(batch):
                        row[j] += x[i, k] * tried[k, j]
                for j in range(batch):
                    heights[j] -= softplus(row[j])
        for j in range(min(batch, sweeps - first)):
            if -rng.standard_exponential() < heights[j] + weights[j] - here - weight:
                for k in range(p):
                    now[k] = tried[k, j]
                here, weight = heights[j], weights[j]
                accepted += 1
            into[first + j] = now
    return accepted


def run(rng, prepared, sweeps, batch, *, by_product):
    """Draws of so many sweeps, the share accepted, CPU seconds of a sweep."""
    into = np.empty((sweeps, len(prepared["mode"])))
    start = process_time()
    accepted = _run(rng, *prepared.values(), sweeps, batch, by_product, into)
    return into, accepted / sweeps, (process_time() - start) / sweeps
