"""Spike and slab regression, compiled loops written by hand: a residual, and open gates alone.

    y[i] ~ Normal(intercept + sum over j of x[i, j] * gate[j] * beta[j], tau)
    gate[j] ~ Bernoulli(inclusion),   beta[j] ~ Normal(0, slab),   tau ~ Gamma(0.01, 0.01)

The weights of open gates and the intercept are drawn together, from a matrix of these; those of
shut gates from their prior. Each gate is drawn from its log odds given the residual, columns of
``x`` being rows of ``columns``. The model is that of ``models/spike_and_slab.py``.
"""

from math import exp, log, sqrt

import numpy as np
from loops_by_hand import loops


def data(rows, columns, seed=1):
    """A regression of which ten columns are needed, or half of them."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, columns))
    weights = np.where(np.arange(columns) < min(10, columns // 2), 1.5, 0.0)
    return x, x @ weights + rng.standard_normal(rows)


def prepare(x, y):
    """The columns, their products and those with the outcome; of the intercept, the last."""
    whole = np.column_stack([x, np.ones(len(y))])
    return np.ascontiguousarray(x.T), y, whole.T @ whole, whole.T @ y


@loops
def sweep(rng, prepared, priors, state, count):
    """So many sweeps; the state is weights with the intercept, gates, the precision."""
    columns, y, gram, moments = prepared
    inclusion, slab, shape, rate = priors
    beta, gate, tau = state
    p, n = columns.shape
    residual, odds = np.empty(n), log(inclusion / (1 - inclusion))
    for _ in range(count):
        draw_weights(rng, gram, moments, beta, gate, tau[0], slab)
        for i in range(n):
            residual[i] = y[i] - beta[p]
        for j in range(p):
            if gate[j]:
                for i in range(n):
                    residual[i] -= columns[j, i] * beta[j]
        for j in range(p):
            column, moved = columns[j], 0.0
            for i in range(n):
                moved += column[i] * residual[i]
            square = beta[j] * beta[j] * gram[j, j]
            gain = beta[j] * moved + (gate[j] - 0.5) * square
            drawn = rng.random() * (1.0 + exp(-odds - tau[0] * gain)) < 1.0
            if drawn != gate[j]:
                change = -beta[j] if drawn else beta[j]
                for i in range(n):
                    residual[i] += change * column[i]
                gate[j] = drawn
        total = 0.0
        for i in range(n):
            total += residual[i] * residual[i]
        tau[0] = rng.standard_gamma(shape + n / 2) / (rate + total / 2)


@loops
def draw_weights(rng, gram, moments, beta, gate, tau, slab):
    """The weights of open gates with the intercept, by a Cholesky factor; others from the prior."""
    p = len(gate)
    chosen = np.empty(p + 1, np.int64)
    size = 0
    for j in range(p):
        if gate[j]:
            chosen[size] = j
            size += 1
        else:
            beta[j] = rng.standard_normal() / sqrt(slab)
    chosen[size] = p
    size += 1
    lower, x = np.empty((size, size)), np.empty(size)
    for a in range(size):
        for b in range(a + 1):
            lower[a, b] = tau * gram[chosen[a], chosen[b]]
        lower[a, a] += 0.01 if a == size - 1 else slab
        x[a] = tau * moments[chosen[a]]
    for a in range(size):
        for b in range(a + 1):
            total = lower[a, b]
            for k in range(b):
                total -= lower[a, k] * lower[b, k]
            lower[a, b] = sqrt(total) if a == b else total / lower[b, b]
        total = x[a]
        for k in range(a):
            total -= lower[a, k] * x[k]
        x[a] = total / lower[a, a]
    for a in range(size):
        x[a] += rng.standard_normal()
    for a in range(size - 1, -1, -1):
        total = x[a]
        for k in range(a + 1, size):
            total -= lower[k, a] * x[k]
        x[a] = total / lower[a, a]
        beta[chosen[a]] = x[a]
