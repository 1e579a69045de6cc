"""Sweeps written by hand as loops that Numba compiles: mixtures, a hidden Markov chain, spins.

What a person writes who looks for speed: labels are drawn in blocks of points, for which all
log weights, exponentials and running sums are loops without branches; the exponential is a
polynomial that such loops vectorise; sums by label are added up where labels are drawn. The models
are those of ``models/``: ``gaussian_mixture``, ``iris`` (of pairs), ``hidden_markov``, ``ising``.
Comes in: a generator of NumPy and arrays, which are changed in place. Goes out: nothing.
"""

from math import inf, log, sqrt

import numpy as np
from numba import njit

BLOCK = 128
LOG_2_E = 1.4426950408889634
# The number whose last bits are those of what is added to it, rounded to a whole number.
WHOLE = 6755399441055744.0
LN_2_HIGH, LN_2_LOW = 0.6931471803691238, 1.9082149292705877e-10
LEAST = -700.0
# One over factorials, of 11 downwards: 14 digits on half of log(2) to both sides.
SERIES = tuple(1.0 / np.prod(np.arange(1.0, k + 1)) for k in range(11, -1, -1))

loops = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})


@loops
def exp_below(x):
    """The exponential of what is not above 0, and of `LEAST` if that is larger."""
    x = max(x, LEAST)
    shifted = x * LOG_2_E + WHOLE
    whole = shifted - WHOLE
    rest = (x - whole * LN_2_HIGH) - whole * LN_2_LOW
    found = SERIES[0]
    for k in range(1, len(SERIES)):
        found = found * rest + SERIES[k]
    scaled = np.float64(found).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
    return np.int64(scaled).view(np.float64)


@loops
def draw_labels(rng, weights, size, top, total, label):
    """The labels of a block from ``weights[k, point]``, logs, of which ``top`` are the largest."""
    labels = len(weights)
    for b in range(size):
        total[b] = 0.0
        label[b] = 0
    for k in range(labels):
        for b in range(size):
            total[b] += exp_below(weights[k, b] - top[b])
            weights[k, b] = total[b]
    for b in range(size):
        total[b] *= rng.random()
    for k in range(labels - 1):
        for b in range(size):
            label[b] += weights[k, b] <= total[b]


@loops
def draw_shares(rng, shapes, out):
    """Probabilities from a Dirichlet."""
    total = 0.0
    for k in range(len(out)):
        out[k] = rng.standard_gamma(shapes[k])
        total += out[k]
    for k in range(len(out)):
        out[k] /= total


@loops
def mixture(rng, y, weight, mu, tau, z, sweeps):
    """Sweeps of the mixture of normal numbers, with the priors of its model's defaults."""
    labels = len(mu)
    weights, top, total = np.empty((labels, BLOCK)), np.empty(BLOCK), np.empty(BLOCK)
    label = np.empty(BLOCK, np.int64)
    count, sums, squares = np.empty(labels), np.empty(labels), np.empty(labels)
    for _ in range(sweeps):
        count[:] = sums[:] = squares[:] = 0.0
        for first in range(0, len(y), BLOCK):
            size = min(BLOCK, len(y) - first)
            top[:] = -inf
            for k in range(labels):
                constant, half, centre = log(weight[k]) + log(tau[k]) / 2, tau[k] / 2, mu[k]
                for b in range(size):
                    gap = y[first + b] - centre
                    weights[k, b] = constant - half * gap * gap
                    top[b] = max(top[b], weights[k, b])
            draw_labels(rng, weights, size, top, total, label)
            for b in range(size):
                k = label[b]
                z[first + b] = k
                count[k] += 1.0
                sums[k] += y[first + b]
                squares[k] += (y[first + b] - mu[k]) ** 2
        draw_shares(rng, 1.0 + count, weight)
        for k in range(labels):
            tau[k] = rng.standard_gamma(3 + count[k] / 2) / (20 + squares[k] / 2)
            precision = 0.01 + tau[k] * count[k]
            mean = (0.2 + tau[k] * sums[k]) / precision
            mu[k] = mean + rng.standard_normal() / sqrt(precision)


@loops
def mixture_of_pairs(rng, y, prior, state, z, sweeps):
    """Sweeps of the mixture of pairs ``y[0, :], y[1, :]``; the prior of means is about 0.

    ``prior``: concentration, the mean's strength, degrees of freedom, scale. ``state``: weights,
    means and precisions.
    """
    concentration, strength, nu, scale = prior
    weight, mu, tau = state
    labels = len(mu)
    weights, top, total = np.empty((labels, BLOCK)), np.empty(BLOCK), np.empty(BLOCK)
    label = np.empty(BLOCK, np.int64)
    count, sums, squares = np.empty(labels), np.empty((labels, 2)), np.empty((labels, 3))
    for _ in range(sweeps):
        count[:] = 0.0
        sums[:] = 0.0
        squares[:] = 0.0
        for first in range(0, len(z), BLOCK):
            size = min(BLOCK, len(z) - first)
            top[:] = -inf
            for k in range(labels):
                a, b, c = tau[k, 0, 0], tau[k, 0, 1], tau[k, 1, 1]
                constant = log(weight[k]) + log(a * c - b * b) / 2
                left, right = mu[k]
                for i in range(size):
                    x, v = y[0, first + i] - left, y[1, first + i] - right
                    weights[k, i] = constant - (a * x * x + 2 * b * x * v + c * v * v) / 2
                    top[i] = max(top[i], weights[k, i])
            draw_labels(rng, weights, size, top, total, label)
            for i in range(size):
                k = label[i]
                z[first + i] = k
                x, v = y[0, first + i], y[1, first + i]
                count[k] += 1.0
                sums[k, 0] += x
                sums[k, 1] += v
                x, v = x - mu[k, 0], v - mu[k, 1]
                squares[k, 0] += x * x
                squares[k, 1] += x * v
                squares[k, 2] += v * v
        draw_shares(rng, concentration + count, weight)
        for k in range(labels):
            left, right = mu[k]
            a = scale + strength * left * left + squares[k, 0]
            b = strength * left * right + squares[k, 1]
            c = scale + strength * right * right + squares[k, 2]
            _draw_precision(rng, nu + 1 + count[k], a, b, c, tau[k])
            size = strength + count[k]
            _draw_pair(rng, sums[k] / size, size, tau[k], mu[k])


@loops
def _draw_precision(rng, degrees, a, b, c, out):
    """A Wishart matrix of two rows whose inverse scale is ((a, b), (b, c))."""
    determinant = a * c - b * b
    first = sqrt(c / determinant)
    below = -b / determinant / first
    second = sqrt(a / determinant - below * below)
    left = sqrt(2 * rng.standard_gamma(degrees / 2))
    right = sqrt(2 * rng.standard_gamma((degrees - 1) / 2))
    under = rng.standard_normal()
    p, q, r = first * left, below * left + second * under, second * right
    out[0, 0], out[0, 1], out[1, 0], out[1, 1] = p * p, p * q, p * q, q * q + r * r


@loops
def _draw_pair(rng, mean, size, tau, out):
    """A normal pair with precision ``size * tau``."""
    first = sqrt(size * tau[0, 0])
    below = size * tau[0, 1] / first
    second = sqrt(size * tau[1, 1] - below * below)
    right = rng.standard_normal() / second
    out[0] = mean[0] + (rng.standard_normal() - below * right) / first
    out[1] = mean[1] + right


@loops
def markov(rng, counts, rate, moves, z, sweeps):
    """Sweeps of the hidden Markov model: filtered forwards, drawn backwards."""
    length, states = len(counts), len(rate)
    filtered = np.empty((length, states))
    weights, top = np.empty((states, BLOCK)), np.empty(BLOCK)
    now, passed = np.empty(states), np.empty(states)
    pairs, sums, years = np.empty((states, states)), np.empty(states), np.empty(states)
    for _ in range(sweeps):
        now[:] = 1.0 / states
        for first in range(0, length, BLOCK):
            size = min(BLOCK, length - first)
            top[:] = -inf
            for k in range(states):
                log_rate = log(rate[k])
                for b in range(size):
                    weights[k, b] = counts[first + b] * log_rate - rate[k]
                    top[b] = max(top[b], weights[k, b])
            for k in range(states):
                for b in range(size):
                    weights[k, b] = exp_below(weights[k, b] - top[b])
            for b in range(size):
                if first + b > 0:
                    passed[:] = 0.0
                    for j in range(states):
                        for k in range(states):
                            passed[k] += now[j] * moves[j, k]
                else:
                    passed[:] = now
                total = 0.0
                for k in range(states):
                    passed[k] *= weights[k, b]
                    total += passed[k]
                total = 1.0 / total
                for k in range(states):
                    now[k] = passed[k] * total
                    filtered[first + b, k] = now[k]
        pairs[:] = 0.0
        sums[:] = years[:] = 0.0
        after = 0
        for t in range(length - 1, -1, -1):
            total = 0.0
            for k in range(states):
                total += filtered[t, k] if t == length - 1 else filtered[t, k] * moves[k, after]
                passed[k] = total
            threshold = rng.random() * total
            label = 0
            for k in range(states - 1):
                label += passed[k] <= threshold
            if t < length - 1:
                pairs[label, after] += 1.0
            after = label
            z[t] = label
            sums[label] += counts[t]
            years[label] += 1.0
        for k in range(states):
            draw_shares(rng, 1.0 + pairs[k], moves[k])
            rate[k] = rng.standard_gamma(2 + sums[k]) / (0.1 + years[k])


@loops
def spins(rng, up, chances, sweeps):
    """Sweeps of spins 0 or 1 on a square whose ends meet, of one colour after the other.

    ``chances[n]`` is the probability of 1 with n neighbours of 1; a uniform number for each spin.
    """
    size = len(up)
    for _ in range(sweeps):
        for colour in range(2):
            for i in range(size):
                above, below = up[i - 1], up[i + 1 if i + 1 < size else 0]
                row = up[i]
                for j in range((i + colour) % 2, size, 2):
                    right = j + 1 if j + 1 < size else 0
                    found = above[j] + below[j] + row[j - 1] + row[right]
                    row[j] = rng.random() < chances[found]


@loops
def spins_of_bits(state, quarters, bounds, sweeps):
    """The same on four arrays, by parity of row and column, with 16 bits of a hash for each spin.

    ``bounds[n]`` is the chance of 1 with n neighbours of 1, in parts of 2**16; ``state`` is the
    counter of the hash (G. L. Steele, D. Lea and C. H. Flood 2014, "Fast splittable pseudorandom
    number generators"), an array of one number.
    """
    half = quarters.shape[2]
    words = np.empty(half // 4, np.uint64)
    bits = words.view(np.uint16)
    found = np.empty(half, np.uint8)
    for _ in range(sweeps):
        for r, c in ((0, 0), (1, 1), (0, 1), (1, 0)):
            own, over, beside = quarters[r, c], quarters[1 - r, c], quarters[r, 1 - c]
            for i in range(half):
                _fill(state, words)
                other = (i + 1 if i + 1 < half else 0) if r else i - 1
                near, far, row = over[i], over[other], beside[i]
                for j in range(half):
                    found[j] = near[j] + far[j] + row[j]
                if c:
                    for j in range(half - 1):
                        found[j] += row[j + 1]
                    found[half - 1] += row[0]
                else:
                    for j in range(1, half):
                        found[j] += row[j - 1]
                    found[0] += row[half - 1]
                for j in range(half):
                    own[i, j] = bits[j] < bounds[found[j]]


@loops
def _fill(state, words):
    """Hashes of a counter."""
    at = state[0]
    for w in range(len(words)):
        at += np.uint64(0x9E3779B97F4A7C15)
        x = at
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        words[w] = x ^ (x >> np.uint64(31))
    state[0] = at
