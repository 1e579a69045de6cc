"""Positions in programs: loops from anywhere, lags, ranges of different lengths, shapes.

Each program is read and its log density compared with one that is written out here in loops.
"""

import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special, stats

import gibbsppl as gp
from gibbsppl.errors import ModelError
from gibbsppl.model.density import log_joint


def normal(x, mu, tau):
    return float(stats.norm.logpdf(x, mu, 1 / np.sqrt(tau)))


def category(k, weights):
    weights = np.asarray(weights, float)
    return float(np.log(weights[k - 1] / weights.sum()))


def priors(*arrays):
    """The log density of standard normal priors."""
    return sum(float(stats.norm.logpdf(a).sum()) for a in map(np.asarray, arrays))


@dataclass(frozen=True)
class Case:
    """A program, its data, the shapes of what is drawn, its log density.

    ``drawn``: which elements of an array are, if not all.
    """

    text: str
    data: dict[str, Any]
    shapes: dict[str, tuple[int, ...]]
    log_density: Any
    drawn: dict[str, Any] = field(default_factory=dict)


D = [1.0, 2.0, 4.0, 8.0, 16.0, -3.0]
Y = [0.5, -1.0, 2.0, 3.0, -4.0, 1.5]
M = np.arange(1.0, 31.0).reshape(5, 6) ** 1.5 - 20
X = M[:2].T
CUT = np.ma.masked_array(M / 7, np.add.outer(np.arange(5) < 1, np.arange(6) < 2))
N = 6
HOW = [3, 1, 2, 2, 3, 1]


def case(text, data, shapes, log_density, **drawn):
    return Case(f"model {{ {text} }}", data, shapes, log_density, drawn)


def simple(mean, data, b=(), first=2, last=N):
    """One normal observation at each position of a loop, with ``mean(t, b)`` as its mean."""

    def log_density(b):
        return priors(b) + sum(normal(Y[t - 1], mean(t, b), 1) for t in range(first, last + 1))

    return log_density


def regression(expression, mean, data=None, *, size=None, first=2, last=N):
    """A loop ``t`` of observations with a mean in ``b``, a number or a vector of one size."""
    prior = "b ~ dnorm(0, 1)" if size is None else f"for (k in 1:{size}) {{ b[k] ~ dnorm(0, 1) }}"
    y = [None if not first <= t <= last else Y[t - 1] for t in range(1, N + 1)]
    text = f"for (t in {first}:{last}) {{ y[t] ~ dnorm({expression}, 1) }} {prior}"
    shapes = {"b": () if size is None else (size,)}
    return case(text, {"y": y, **(data or {})}, shapes, simple(mean, data, first=first, last=last))


def whole(lines, mean):
    """Lines with ``<-`` that give all of ``mu``, the means of six observations, from ``b``."""
    seen = "for (t in 1:6) { y[t] ~ dnorm(mu[t], 1) }"
    text = f"{seen} {lines} for (k in 1:2) {{ b[k] ~ dnorm(0, 1) }}"
    data = {"y": Y, "d": D, "X": X, "Q": [[1, 2], [3, 5]]}

    def log_density(b):
        return priors(b) + sum(map(normal, Y, mean(b), [1] * 6))

    return case(text, data, {"b": (2,)}, log_density)


def lagged(b):
    return priors(b) + sum(normal(Y[t], b * Y[t - 1], 1) for t in range(1, N))


CASES = {
    # ---- loops that do not start at 1 ----
    "data of a loop from 2": regression("b * d[t]", lambda t, b: b * D[t - 1], {"d": D}),
    "data before": regression("b * d[t - 1]", lambda t, b: b * D[t - 2], {"d": D}),
    "data after": regression("b * d[t + 1]", lambda t, b: b * D[t], {"d": D}, last=5),
    "data from 3 to 5": regression(
        "b * d[t]", lambda t, b: b * D[t - 1], {"d": D}, first=3, last=5
    ),
    "functions of data": regression(
        "b * exp(d[t] / 10) + pow(d[t], 2)",
        lambda t, b: b * np.exp(D[t - 1] / 10) + D[t - 1] ** 2, {"d": D},
    ),
    "the loop variable": regression("b * t + log(t)", lambda t, b: b * t + np.log(t)),
    "a power of the loop variable": regression("b * (t - 3)^2", lambda t, b: b * (t - 3) ** 2),
    "data in the other direction": regression("b * d[7 - t]", lambda t, b: b * D[6 - t], {"d": D}),
    "an element at a position in data": regression(
        "b[g[t]]", lambda t, b: b[[1, 3, 2, 1, 3, 3][t - 1] - 1], {"g": [1, 3, 2, 1, 3, 3]}, size=3
    ),
    "data at a position in data": regression(
        "b * d[g[t]]", lambda t, b: b * D[[6, 1, 4, 2, 2, 5][t - 1] - 1],
        {"d": D, "g": [6, 1, 4, 2, 2, 5]},
    ),
    "elements of the same loop": regression("b[t]", lambda t, b: b[t - 1], size=6),
    "elements of a shorter array": regression("b[t - 1]", lambda t, b: b[t - 2], size=5),
    "elements of another array from 4": regression(
        "b[t - 3]", lambda t, b: b[t - 4], size=3, first=4
    ),
    "computed data": case(
        "for (t in 2:6) { y[t] ~ dnorm(b * z[t], 1); z[t] <- d[t] - d[t - 1] } b ~ dnorm(0, 1)",
        {"y": [None, *Y[1:]], "d": D}, {"b": ()},
        simple(lambda t, b: b * (D[t - 1] - D[t - 2]), None),
    ),
    "a computed mean from 2": case(
        "for (t in 2:6) { y[t] ~ dnorm(m[t], 1); m[t] <- b * d[t] + d[t - 1] } b ~ dnorm(0, 1)",
        {"y": [None, *Y[1:]], "d": D}, {"b": ()},
        simple(lambda t, b: b * D[t - 1] + D[t - 2], None),
    ),
    "a table of data from 2 and 3": case(
        "for (i in 2:5) { for (j in 3:6) { z[i, j] ~ dnorm(b[i] * m[i, j] + m[j - 1, i], 1) } }"
        " for (i in 1:5) { b[i] ~ dnorm(0, 1) }",
        {"z": CUT, "m": M}, {"b": (5,)},
        lambda b: priors(b) + sum(
            normal(M[i - 1, j - 1] / 7, b[i - 1] * M[i - 1, j - 1] + M[j - 2, i - 1], 1)
            for i in range(2, 6) for j in range(3, 7)
        ),
    ),
    "loops in the other order": case(
        "for (j in 3:6) { for (i in 2:5) { z[i, j] ~ dnorm(b[j] * m[i, j], 1) } }"
        " for (j in 1:6) { b[j] ~ dnorm(0, 1) }",
        {"z": CUT, "m": M},
        {"b": (6,)},
        lambda b: priors(b) + sum(
            normal(M[i - 1, j - 1] / 7, b[j - 1] * M[i - 1, j - 1], 1)
            for i in range(2, 6) for j in range(3, 7)
        ),
    ),
    "an upper triangle": case(
        "for (i in 1:4) { for (j in (i + 1):5) { z[i, j] ~ dnorm(b[i] * m[i, j] + b[j], 1) } }"
        " for (i in 1:5) { b[i] ~ dnorm(0, 1) }",
        {"z": np.ma.masked_array(M[:4, :5] / 7, ~np.triu(np.ones((4, 5), bool), 1)), "m": M},
        {"b": (5,)},
        lambda b: priors(b) + sum(
            normal(M[i - 1, j - 1] / 7, b[i - 1] * M[i - 1, j - 1] + b[j - 1], 1)
            for i in range(1, 5) for j in range(i + 1, 6)
        ),
    ),
    # ---- series ----
    "an observed series": case(
        "for (t in 2:6) { y[t] ~ dnorm(b * y[t - 1], 1) } b ~ dnorm(0, 1)", {"y": Y}, {"b": ()},
        lagged,
    ),
    "an observed series with its start": case(
        "y[1] ~ dnorm(0, 1) for (t in 2:6) { y[t] ~ dnorm(b * y[t - 1], 1) } b ~ dnorm(0, 1)",
        {"y": Y}, {"b": ()}, lambda b: lagged(b) + normal(Y[0], 0, 1),
    ),
    "an observed series of order two": case(
        "for (k in 1:2) { y[k] ~ dnorm(0, 1) }"
        " for (t in 3:6) { y[t] ~ dnorm(b[1] * y[t - 1] + b[2] * y[t - 2], 1) }"
        " for (k in 1:2) { b[k] ~ dnorm(0, 1) }",
        {"y": Y}, {"b": (2,)},
        lambda b: priors(b, Y[:2]) + sum(
            normal(Y[t], b[0] * Y[t - 1] + b[1] * Y[t - 2], 1) for t in range(2, N)
        ),
    ),
    "a series with gaps": case(
        "y[1] ~ dnorm(0, 1) for (t in 2:6) { y[t] ~ dnorm(b * y[t - 1], 1) } b ~ dnorm(0, 1)",
        {"y": [0.5, None, 2.0, 3.0, None, 1.5]}, {"b": (), "y": (6,)},
        lambda b, y: priors(b, y[0]) + sum(normal(y[t], b * y[t - 1], 1) for t in range(1, N)),
    ),
    "an observed chain of labels": case(
        "z[1] ~ dcat(w[1, 1:2]) for (t in 2:6) { z[t] ~ dcat(w[z[t - 1], 1:2]) }"
        " for (k in 1:2) { for (l in 1:2) { w[k, l] <- exp(b[k, l]); b[k, l] ~ dnorm(0, 1) } }",
        {"z": [1, 2, 2, 1, 1, 2]}, {"b": (2, 2)},
        lambda b: priors(b) + category(1, np.exp(b[0])) + sum(
            category(k, np.exp(b[j - 1]))
            for j, k in zip([1, 2, 2, 1, 1], [2, 2, 1, 1, 2], strict=True)
        ),
    ),
    "each reads the mean of those before": case(
        "x[1] ~ dnorm(0, 1) for (t in 2:6) { x[t] ~ dnorm(mean(x[1:(t - 1)]), 1) }"
        " y ~ dnorm(x[6], 1)",
        {"y": 1.0}, {"x": (6,)},
        lambda x: priors(x[0]) + normal(1.0, x[5], 1)
        + sum(normal(x[t], np.mean(x[:t]), 1) for t in range(1, N)),
    ),
    "each reads a sum through another array": case(
        "x[1] ~ dnorm(0, 1) for (t in 2:6) { x[t] ~ dnorm(m[t], 1); m[t] <- sum(s[1:(t - 1)]) / 9 }"
        " for (t in 1:6) { s[t] <- x[t] * d[t] } y ~ dnorm(x[6], 1)",
        {"y": 1.0, "d": D}, {"x": (6,)},
        lambda x: priors(x[0]) + normal(1.0, x[5], 1)
        + sum(normal(x[t], np.dot(x[:t], D[:t]) / 9, 1) for t in range(1, N)),
    ),
    "a series against its own sums": case(
        "for (t in 2:6) { y[t] ~ dnorm(b * sum(y[1:(t - 1)]), 1) } b ~ dnorm(0, 1)",
        {"y": Y}, {"b": ()}, simple(lambda t, b: b * sum(Y[: t - 1]), None),
    ),
    # ---- ranges of different lengths, of random variables ----
    "sums of what is before": regression("sum(b[1:t])", lambda t, b: sum(b[:t]), size=6),
    "sums of what is after": regression("sum(b[t:6])", lambda t, b: sum(b[t - 1 :]), size=6),
    "sums from a position in data": regression(
        "sum(b[l[t]:u[t]])",
        lambda t, b: sum(b[[1, 2, 1, 3, 6, 1][t - 1] - 1 : [1, 4, 6, 3, 6, 2][t - 1]]),
        {"l": [1, 2, 1, 3, 6, 1], "u": [1, 4, 6, 3, 6, 2]}, size=6,
    ),
    "means": regression("mean(b[1:t])", lambda t, b: np.mean(b[:t]), size=6),
    "products": regression("prod(b[1:t])", lambda t, b: np.prod(b[:t]), size=6),
    "the largest": regression("max(b[1:t])", lambda t, b: np.max(b[:t]), size=6),
    "the smallest": regression("min(b[t:6])", lambda t, b: np.min(b[t - 1 :]), size=6),
    "the largest of ranges and a number": regression(
        "max(b[1:t], 0.3)", lambda t, b: max(*b[:t], 0.3), size=6
    ),
    "standard deviations": regression("sd(b[1:t])", lambda t, b: np.std(b[:t], ddof=1), size=6),
    "inner products": regression(
        "inprod(b[1:t], d[1:t])", lambda t, b: np.dot(b[:t], D[:t]), {"d": D}, size=6
    ),
    "inner products backwards": regression(
        "inprod(b[1:t], d[(7 - t):6])", lambda t, b: np.dot(b[:t], D[6 - t :]), {"d": D}, size=6
    ),
    "matrix products": regression(
        "b[1:t] %*% d[1:t]", lambda t, b: np.dot(b[:t], D[:t]), {"d": D}, size=6
    ),
    "sums of functions": regression(
        "sum(exp(b[1:t]) * d[1:t])", lambda t, b: np.dot(np.exp(b[:t]), D[:t]), {"d": D}, size=6
    ),
    "sums of what is not defined elsewhere": regression(
        "b * sum(log(t + 1 - i[1:t]))",
        lambda t, b: b * sum(np.log(t + 1 - k) for k in range(1, t + 1)),
        {"i": [1, 2, 3, 4, 5, 6]},
    ),
    "sums of logs of random numbers": regression(
        "sum(log(t + 5 - i[1:t] + step(b[1:t])))",
        lambda t, b: sum(np.log(t + 5 - k + (b[k - 1] >= 0)) for k in range(1, t + 1)),
        {"i": [1, 2, 3, 4, 5, 6]}, size=6,
    ),
    "numbers of entries": regression("b * length(d[1:t])", lambda t, b: b * t, {"d": D}),
    "numbers of entries of random vectors": regression(
        "b[1] * length(b[1:t])", lambda t, b: b[0] * t, size=6
    ),
    "windows": regression(
        "mean(b[(t - 2):t])", lambda t, b: np.mean(b[t - 3 : t]), size=6, first=3
    ),
    "windows that are cut off": regression(
        "sum(b[max(1, t - 2):t])", lambda t, b: sum(b[max(0, t - 3) : t]), size=6, first=1
    ),
    "sums of a table's columns": regression(
        "sum(m[1:4, t] * b[1:4])", lambda t, b: np.dot(M[:4, t - 1], b[:4]), {"m": M}, size=5
    ),
    "sums of blocks": regression(
        "b * sum(m[1:(t - 1), t:6])", lambda t, b: b * M[: t - 1, t - 1 :].sum(), {"m": M}
    ),
    "sums of random blocks": case(
        "for (t in 2:6) { y[t] ~ dnorm(sum(x[1:(t - 1), t:6]), 1) }"
        " for (i in 1:5) { for (j in 1:6) { x[i, j] ~ dnorm(0, 1) } }",
        {"y": [None, *Y[1:]]}, {"x": (5, 6)},
        lambda x: priors(x) + sum(
            normal(Y[t - 1], x[: t - 1, t - 1 :].sum(), 1) for t in range(2, 7)
        ),
    ),
    "means of random blocks": case(
        "for (t in 2:6) { y[t] ~ dnorm(mean(x[1:(t - 1), t:6]), 1) }"
        " for (i in 1:5) { for (j in 1:6) { x[i, j] ~ dnorm(0, 1) } }",
        {"y": [None, *Y[1:]]}, {"x": (5, 6)},
        lambda x: priors(x) + sum(
            normal(Y[t - 1], x[: t - 1, t - 1 :].mean(), 1) for t in range(2, 7)
        ),
    ),
    "sums at positions in data": regression(
        "sum(b[a[t, 1:n[t]]])",
        lambda t, b: sum(b[k - 1] for k in [[1], [2, 3], [1, 5, 6], [4], [2, 4], [6]][t - 1]),
        {"n": [1, 2, 3, 1, 2, 1],
         "a": [[1, 0, 0], [2, 3, 0], [1, 5, 6], [4, 0, 0], [2, 4, 0], [6, 0, 0]]}, size=6,
    ),
    "ragged groups by offsets": case(
        "for (g in 1:3) { y[g] ~ dnorm(mean(x[(o[g] + 1):o[g + 1]]), 1) }"
        " for (k in 1:6) { x[k] ~ dnorm(0, 1) }",
        {"y": Y[:3], "o": [0, 1, 4, 6]}, {"x": (6,)},
        lambda x: priors(x) + sum(
            normal(Y[g], np.mean(x[[0, 1, 4][g] : [1, 4, 6][g]]), 1) for g in range(3)
        ),
    ),
    "sums of sums": case(
        "for (t in 2:6) { y[t] ~ dnorm(sum(s[1:t]), 1) } for (t in 1:6) { s[t] <- sum(b[1:t]) }"
        " for (k in 1:6) { b[k] ~ dnorm(0, 1) }",
        {"y": [None, *Y[1:]]}, {"b": (6,)},
        simple(lambda t, b: sum(sum(b[:j]) for j in range(1, t + 1)), None),
    ),
    "sums of rows within a sum": case(
        "y ~ dnorm(sum(s[1:5]), 1) for (j in 1:6) { s[j] <- sum(x[j, 1:5])"
        " for (k in 1:6) { x[j, k] ~ dnorm(0, 1) } }",
        {"y": 1.0}, {"x": (6, 6)}, lambda x: priors(x) + normal(1.0, x[:5, :5].sum(), 1),
    ),
    # ---- ranges of different lengths, of data ----
    "sums of data": case(
        "for (t in 2:6) { y[t] ~ dnorm(b * s[t], 1) } for (t in 1:6) { s[t] <- sum(d[1:t]) }"
        " b ~ dnorm(0, 1)",
        {"y": [None, *Y[1:]], "d": D}, {"b": ()}, simple(lambda t, b: b * sum(D[:t]), None),
    ),
    "all functions of data": regression(
        "b * (mean(d[1:t]) + prod(d[1:t]) + max(d[1:t]) + min(d[1:t]) + sd(d[1:t])"
        " + inprod(d[1:t], d[1:t]))",
        lambda t, b: b * (np.mean(D[:t]) + np.prod(D[:t]) + max(D[:t]) + min(D[:t])
                          + np.std(D[:t], ddof=1) + np.dot(D[:t], D[:t])), {"d": D},
    ),
    "sorted data": regression(
        "b * ranked(d[1:t], 2)", lambda t, b: b * sorted(D[:t])[1], {"d": D}
    ),
    "the ends of sorted data": regression(
        "b * (ranked(d[1:t], 1) + ranked(d[1:t], t))",
        lambda t, b: b * (min(D[:t]) + max(D[:t])), {"d": D},
    ),
    "vectors made of vectors of data": regression(
        "b * (inprod(sort(d[1:t]), d[1:t]) + sum(rep(d[1:t], 2)) + max(c(d[1:t], t))"
        " + sum(rank(d[1:t]) * d[1:t]))",
        lambda t, b: b * (np.dot(sorted(D[:t]), D[:t]) + 2 * sum(D[:t]) + max(*D[:t], t)
                          + np.dot(stats.rankdata(D[:t]), D[:t])), {"d": D},
    ),
    "in a data block": Case(
        "data { for (j in 1:3) { s[j] <- sum(x[1:j])"
        " for (k in 1:j) { v[j, k] <- x[k] * j } w[j, 1:j] <- v[j, 1:j] * 2 } }"
        " model { for (j in 1:3) { y[j] ~ dnorm(b * s[j] + sum(w[j, 1:j]), 1) } b ~ dnorm(0, 1) }",
        {"x": D[:3], "y": Y[:3]}, {"b": ()},
        lambda b: priors(b) + sum(
            normal(Y[j - 1], b * sum(D[:j]) + 2 * j * sum(D[:j]), 1) for j in (1, 2, 3)
        ),
    ),
    "computed data of data that are cut off": case(
        "for (t in 2:6) { y[t] ~ dnorm(b * s[t], 1) }"
        " for (t in 1:6) { s[t] <- mean(z[1:t]); z[t] <- d[t] * d[t] } b ~ dnorm(0, 1)",
        {"y": [None, *Y[1:]], "d": D}, {"b": ()},
        simple(lambda t, b: b * np.mean(np.square(D[:t])), None),
    ),
    "ends of loops that are sums": case(
        "for (g in 1:3) { for (k in (sum(n[1:g]) - n[g] + 1):sum(n[1:g])) {"
        " y[k] ~ dnorm(b[g], 1) } b[g] ~ dnorm(0, 1) }",
        {"y": Y, "n": [1, 3, 2]}, {"b": (3,)},
        lambda b: priors(b) + sum(normal(Y[k], b[[0, 1, 1, 1, 2, 2][k]], 1) for k in range(N)),
    ),
    # ---- parameters that are vectors of different lengths ----
    "labels of which there are fewer": case(
        "for (i in 1:4) { z[i] ~ dcat(w[1:n[i]]) }"
        " for (k in 1:4) { w[k] <- exp(b[k]); b[k] ~ dnorm(0, 1) }",
        {"z": [1, 2, 3, 4], "n": [2, 3, 3, 4]}, {"b": (4,)},
        lambda b: priors(b) + sum(
            category(k, np.exp(b[:n])) for k, n in zip([1, 2, 3, 4], [2, 3, 3, 4], strict=True)
        ),
    ),
    "labels of which there are fewer, of data": case(
        "for (i in 1:4) { z[i] ~ dcat(w[1:n[i]]); y[i] ~ dnorm(b[z[i]], 1) }"
        " for (k in 1:4) { b[k] ~ dnorm(0, 1) }",
        {"z": [1, 2, 3, 4], "n": [2, 3, 3, 4], "w": [1, 2, 4, 8], "y": Y[:4]}, {"b": (4,)},
        lambda b: priors(b) + sum(
            category(k, [1, 2, 4, 8][:n]) + normal(Y[k - 1], b[k - 1], 1)
            for k, n in zip([1, 2, 3, 4], [2, 3, 3, 4], strict=True)
        ),
    ),
    "labels by lines of different lengths": case(
        "z[1] ~ dcat(u[1:2]) z[2] ~ dcat(w[1:4]) z[3] ~ dcat(w[2:4])"
        " for (k in 1:4) { w[k] <- exp(b[k]); u[k] <- exp(-b[k]); b[k] ~ dnorm(0, 1) }",
        {"z": [2, 4, 1]}, {"b": (4,)},
        lambda b: priors(b) + category(2, np.exp(-b[:2])) + category(4, np.exp(b))
        + category(1, np.exp(b[1:])),
    ),
    "normal vectors of different lengths": case(
        "for (i in 2:3) { x[i, 1:i] ~ dmnorm(m[1:i], q[1:i, 1:i]) } y ~ dnorm(sum(x[3, 1:3]), 1)",
        {"y": 1.0, "m": D[:3], "q": np.diag([1.0, 2.0, 3.0]) + 0.5}, {"x": (3, 3)},
        lambda x: normal(1.0, x[2].sum(), 1) + sum(
            stats.multivariate_normal.logpdf(
                x[i - 1, :i], D[:i], np.linalg.inv((np.diag([1.0, 2.0, 3.0]) + 0.5)[:i, :i])
            ) for i in (2, 3)
        ),
        x=np.tri(3, dtype=bool) & (np.arange(3) > 0)[:, None],
    ),
    # ---- other lines in loops that do not start at 1 ----
    "truncated observations": case(
        "for (t in 2:6) { y[t] ~ dnorm(b, 1) T(l[t], u[t]) } b ~ dnorm(0, 1)",
        {"y": [None, *Y[1:]], "l": np.subtract(Y, 1.5), "u": np.add(Y, D) + 4}, {"b": ()},
        lambda b: priors(b) + sum(
            normal(Y[t], b, 1) - np.log(stats.norm.cdf(Y[t] + D[t] + 4 - b)
                                        - stats.norm.cdf(Y[t] - 1.5 - b)) for t in range(1, N)
        ),
    ),
    "bounds of what is not seen": case(
        "for (t in 2:6) { x[t] ~ dnorm(b, 1) I(l[t], ); y[t] ~ dnorm(x[t], 1) } b ~ dnorm(0, 1)",
        {"y": [None, *Y[1:]], "l": [0.0, -9, -8, -7, -6, -5]}, {"b": (), "x": (6,)},
        lambda b, x: priors(b) + sum(
            normal(x[t], b, 1) + normal(Y[t], x[t], 1) for t in range(1, N)
        ),
        x=np.arange(6) > 0,
    ),
    "intervals": case(
        "for (t in 2:6) { z[t] ~ dinterval(x[t], c[t, 1:2]); x[t] ~ dnorm(b * d[t], 1) }"
        " b ~ dnorm(0, 1)",
        {"z": [None, 1, 1, 1, 1, 1], "c": [[0.0, 0.0], *[[-30 - t, 30 + t] for t in range(5)]],
         "d": np.divide(D, 9)},
        {"b": (), "x": (6,)},
        lambda b, x: priors(b) + sum(normal(x[t], b * D[t] / 9, 1) for t in range(1, N)),
        x=np.arange(6) > 0,
    ),
    "log densities": case(
        "for (t in 2:6) { z[t] ~ dloglik(b * d[t] + log(t)) } b ~ dnorm(0, 1)",
        {"z": [None, 0, 0, 0, 0, 0], "d": D}, {"b": ()},
        lambda b: priors(b) + sum(b * D[t - 1] + np.log(t) for t in range(2, 7)),
    ),
    "binomial observations": case(
        "for (t in 3:6) { y[t] ~ dbin(p[t], n[t]); logit(p[t]) <- b * d[t - 1] } b ~ dnorm(0, 1)",
        {"y": [None, None, 1, 2, 0, 3], "n": [9, 8, 7, 6, 5, 4], "d": np.divide(D, 9)}, {"b": ()},
        lambda b: priors(b) + sum(
            stats.binom.logpmf([1, 2, 0, 3][t - 3], 10 - t, special.expit(b * D[t - 2] / 9))
            for t in range(3, 7)
        ),
    ),
    "vectors of a loop": case(
        "for (t in 2:3) { x[t, 1:2] ~ dmnorm(m[t, 3:4], q[,]) } y ~ dnorm(x[2, 2] * x[3, 1], 1)",
        {"y": 1.0, "m": M, "q": [[2.0, 0.5], [0.5, 1.0]]}, {"x": (3, 2)},
        lambda x: normal(1.0, x[1, 1] * x[2, 0], 1) + sum(
            stats.multivariate_normal.logpdf(
                x[t - 1], M[t - 1, 2:4], np.linalg.inv([[2.0, 0.5], [0.5, 1.0]])
            ) for t in (2, 3)
        ),
        x=np.array([[False], [True], [True]]) & np.ones(2, bool),
    ),
    "counts of a loop": case(
        "for (t in 2:3) { c[t, 1:3] ~ dmulti(p[t - 1, 1:3], n[t]) }"
        " for (i in 1:2) { for (k in 1:3) { p[i, k] <- exp(b[i] * d[k]) } b[i] ~ dnorm(0, 1) }",
        {"c": np.ma.masked_array([[0, 0, 0], [2, 3, 1], [1, 1, 3]], [[1] * 3, [0] * 3, [0] * 3]),
         "n": [9, 6, 5], "d": np.divide(D, 9)}, {"b": (2,)},
        lambda b: priors(b) + sum(
            stats.multinomial.logpmf(c, sum(c), special.softmax(b[i] * np.divide(D[:3], 9)))
            for i, c in enumerate([[2, 3, 1], [1, 1, 3]])
        ),
    ),
    "rows of a ragged loop from 2": case(
        "for (i in 2:4) { for (j in 2:n[i]) { z[i, j] ~ dnorm(b[i] * m[i, j] + b[j], 1) } }"
        " for (i in 1:4) { b[i] ~ dnorm(0, 1) }",
        {"z": np.ma.masked_array(M[:4, :4] / 7, ~np.array(
            [[k >= 1 and i >= 1 and k < [1, 2, 4, 3][i] for k in range(4)] for i in range(4)])),
         "n": [1, 2, 4, 3], "m": M}, {"b": (4,)},
        lambda b: priors(b) + sum(
            normal(M[i - 1, j - 1] / 7, b[i - 1] * M[i - 1, j - 1] + b[j - 1], 1)
            for i in range(2, 5) for j in range(2, [1, 2, 4, 3][i - 1] + 1)
        ),
    ),
    "loops through data": case(
        "for (k in v) { y[k] ~ dnorm(b * d[k] + d[k - 1], 1) } b ~ dnorm(0, 1)",
        {"y": [None, -1.0, None, 3.0, None, 1.5], "v": [4, 2, 6], "d": D}, {"b": ()},
        lambda b: priors(b) + sum(normal(Y[k - 1], b * D[k - 1] + D[k - 2], 1) for k in (4, 2, 6)),
    ),
    "two steps of a loop": case(
        "for (k in 1:3) { y[2 * k] ~ dnorm(b * d[2 * k] + d[k], 1) } b ~ dnorm(0, 1)",
        {"y": [None, -1.0, None, 3.0, None, 1.5], "d": D}, {"b": ()},
        lambda b: priors(b) + sum(normal(Y[2 * k - 1], b * D[2 * k - 1] + D[k - 1], 1)
                                  for k in (1, 2, 3)),
    ),
    "positions of positions": regression(
        "b[g[h[t]]] * d[h[t]]", lambda t, b: b[[2, 1, 3][HOW[t - 1] - 1] - 1] * D[HOW[t - 1] - 1],
        {"g": [2, 1, 3], "h": [3, 1, 2, 2, 3, 1], "d": D}, size=3,
    ),
    "cut points by group": case(
        "for (t in 2:6) { z[t] ~ dordered.logit(b * d[t], c[g[t], 1:2]) } b ~ dnorm(0, 1)"
        " for (i in 1:2) {"
        " c[i, 1] ~ dnorm(0, 1); c[i, 2] <- c[i, 1] + exp(s[i]); s[i] ~ dnorm(0, 1) }",
        {"z": [None, 1, 2, 3, 1, 3], "g": [1, 2, 1, 2, 2, 1], "d": np.divide(D, 9)},
        {"b": (), "c": (2, 2), "s": (2,)},
        lambda b, c, s: priors(b, c[:, 0], s) + sum(
            np.log(np.diff([0, *special.expit(
                [c[g, 0] - b * D[t] / 9, c[g, 0] + np.exp(s[g]) - b * D[t] / 9]), 1])[k - 1])
            for t, k, g in zip(range(1, 6), [1, 2, 3, 1, 3], [1, 0, 1, 1, 0], strict=True)
        ),
        c=np.array([[True, False], [True, False]]),
    ),
    # ---- arrays on the left without indices ----
    "a matrix product": whole("mu <- X %*% b", lambda b: X @ b),
    "a line of vectors": whole("mu <- b[1] + b[2] * d", lambda b: b[0] + b[1] * np.array(D)),
    "lines in any order": whole(
        "mu <- m + d[1:n]  m <- X %*% b  n <- length(d)", lambda b: X @ b + np.array(D)
    ),
    "a vector repeated": whole("mu <- rep(b, n)  n <- length(d) / 2", lambda b: np.tile(b, 3)),
    "a link": whole("log(mu) <- X %*% b / 30", lambda b: np.exp(X @ b / 30)),
    "a matrix turned over": whole(
        "V <- t(W) %*% W  W <- Q * b[1]  mu <- V[1, 2] * d",
        lambda b: (np.array([[1.0, 2.0], [3.0, 5.0]]).T @ [[1.0, 2.0], [3.0, 5.0]])[0, 1]
        * b[0] ** 2 * np.array(D),
    ),
    "an inverse": whole(
        "mu <- R[1, 2] * b[1] * d  R <- inverse(Q)",
        lambda b: np.linalg.inv([[1.0, 2.0], [3.0, 5.0]])[0, 1] * b[0] * np.array(D),
    ),
    "columns of all of an array": whole(
        "mu <- z[, 2]  z <- X * b[1]", lambda b: X[:, 1] * b[0]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_log_density_is_that_of_the_program(name):
    case = CASES[name]
    model = gp.read_bugs(case.text, case.data)
    rng = np.random.default_rng(1)
    for _ in range(2):
        values, inits = {}, {}
        for n, shape in case.shapes.items():
            seen = np.array(case.data.get(n, np.full(shape, None)), float)
            values[n] = np.where(np.isnan(seen), rng.normal(size=shape), seen)
            drawn = np.isnan(seen) & case.drawn.get(n, np.True_)
            inits[n] = np.ma.masked_array(values[n], ~drawn)
        own = gp.read_inits(inits, model)
        data = {n: np.where(np.isnan(own.get(n, np.nan)), v, own.get(n)) for n, v in
                model.data.items()}  # fmt: skip
        found = log_joint(model.graph, {**own, **data})
        np.testing.assert_allclose(found, case.log_density(**values), rtol=1e-9, atol=1e-9)


def test_entries_of_two_vectors_that_sum_to_one_do_not():
    """Each entry is one of a vector that sums to one; they are divided by their own sum."""
    text = """model {
      for (i in 1:3) { z[i] ~ dcat(p[1:3]) }
      for (k in 1:1) { p[k] <- a[k] }
      for (k in 2:3) { p[k] <- q[k] }
      a[1:3] ~ ddirch(o[]); q[1:3] ~ ddirch(o[])
    }"""
    model = gp.read_bugs(text, {"z": [1, 2, 2], "o": [1.0, 2.0, 3.0]})
    a, q = np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.3, 0.1])
    expected = sum(category(k, [a[0], q[1], q[2]]) for k in (1, 2, 2))
    expected += sum(stats.dirichlet.logpdf(v, [1.0, 2.0, 3.0]) for v in (a, q))

    found = log_joint(model.graph, {**model.data, "a": a, "q": q})
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "line",
    [
        "for (i in 1:0) { x[i] ~ dnorm(b, 2) }",
        "for (i in 1:0) { x[i] <- b }",
        "for (i in 1:3) { for (j in 1:0) { x[i, j] ~ dnorm(b, 2) } }",
        "for (i in 1:3) { for (j in 1:n[i]) { x[i, j] ~ dnorm(b, 2) } }",
        "for (i in 1:n[1]) { x[i, 1:2] ~ dmnorm(m[], q[,]) }",
    ],
)
def test_lines_in_loops_through_nothing_give_nothing(line):
    data = {"y": 1.5, "n": [0, 0, 0], "m": [1.0, 2.0], "q": np.eye(2)}
    model = gp.read_bugs(
        f"model {{ {line} y ~ dnorm(b, 1) b ~ dnorm(0, 1) }}",
        {n: v for n, v in data.items() if re.search(rf"\b{n}\b", line) or n == "y"},
    )

    assert model.graph.drawn == ("b",)
    found = log_joint(model.graph, {**model.data, "b": 0.3})
    np.testing.assert_allclose(found, priors(0.3) + normal(1.5, 0.3, 1), rtol=1e-12)


# ---- zero times what is infinite ---------------------------------------------------------------

SATURATED = """
model {
  for (i in 1:4) {
    RLINE
    s[i] <- r[i] * log(r[i] / n[i]) + (n[i] - r[i]) * log(1 - r[i] / n[i])
    y[i] ~ dnorm(b * (r[i] * log(r[i] / n[i]) + log(1 - r[i] / n[i]) * (n[i] - r[i])), 1)
  }
  b ~ dnorm(0, 1)
  D <- b + sum(s[]) + inprod(r[], l[])
  for (i in 1:4) { l[i] <- log(r[i]) }
}
"""


@pytest.mark.parametrize("line", ["", "r[i] ~ dbin(0.5, n[i])"])
def test_zero_times_the_log_of_zero_is_zero(line):
    """Deviances of counts have such terms; in JAGS too a product is zero where a factor is."""
    r, n = np.array([0, 2, 3, 5]), np.array([4, 2, 6, 5])
    model = gp.read_bugs(SATURATED.replace("RLINE", line), {"r": r, "n": n, "y": Y[:4]})
    terms = special.xlogy(r, r / n) + special.xlogy(n - r, 1 - r / n)

    draws = gp.compile(model).sample(10, warmup=20, chains=1, seed=1, progress=False)
    np.testing.assert_allclose(draws["D"] - draws["b"], (terms + special.xlogy(r, r)).sum())
    expected = priors(0.3) + sum(normal(y, 0.3 * t, 1) for y, t in zip(Y, terms, strict=False))
    if line:
        expected += stats.binom.logpmf(r, n, 0.5).sum()
    np.testing.assert_allclose(log_joint(model.graph, {**model.data, "b": 0.3}), expected)


# ---- names -------------------------------------------------------------------------------------

NAMED = """
model {
  for (I in 1:4) { Z[I] ~ dcat(P[G[I], 1:2]); Y[I] ~ dnorm(M[Z[I]] + sum(B[1:I]), TAU) }
  for (k in 1:2) { P[k, 1:2] ~ ddirch(A[]); M[k] ~ dnorm(0, 0.1) }
  for (I in 1:4) { B[I] ~ dnorm(0, 1); for (J in 1:n[I]) { R[I, J] ~ dnorm(B[I] * d[I], TAU) } }
  TAU ~ dgamma(2, 1)
  SD <- 1 / sqrt(TAU)
}
"""
SLOTS = ("I", "Z", "P", "G", "Y", "M", "B", "TAU", "A", "R", "J", "SD")


def renamed(names):
    """The program with other names, its data, and values of what is drawn."""
    text = re.sub(rf"\b({'|'.join(SLOTS)})\b", lambda m: names.get(m[1], m[1]), NAMED)
    cut = np.arange(3)[None] >= np.array([1, 2, 3, 1])[:, None]
    data = {"G": [1, 2, 1, 2], "Y": Y[:4], "n": [1, 2, 3, 1], "d": D[:4], "A": [1.0, 2.0],
            "R": np.ma.masked_array(M[:4, :3] / 9, cut)}  # fmt: skip
    values = {"Z": [1, 2, 2, 1], "P": [[0.2, 0.8], [0.7, 0.3]], "M": [0.3, -1.0], "TAU": 1.7,
              "B": [0.1, 0.5, -0.4, 2.0]}  # fmt: skip
    return text, *({names.get(k, k): v for k, v in given.items()} for given in (data, values))


def of_named(names):
    text, data, values = renamed(names)
    model = gp.read_bugs(text, data)
    return model, log_joint(model.graph, {**gp.read_inits(values, model), **model.data})


@pytest.mark.parametrize(
    "names",
    [
        {"I": "s", "Z": "c", "P": "rng", "G": "np", "Y": "data", "M": "lambda", "B": "runtime"},
        {"I": "within", "Y": "Z.label", "B": "R.table", "G": "P_at", "SD": "B_at"},
        {"I": "entry_4", "J": "Z.label", "G": "entry_3", "M": "R_row", "TAU": "Z_value"},
        {"Z": "eta.1", "M": "eta_1", "B": "import", "TAU": "None", "P": "a.b", "R": "a_b"},
        {"J": "R_row", "SD": "is_P", "B": "count", "TAU": "Y.known", "M": "log_density"},
        {"R": "for_", "B": "sweep", "M": "STEPS", "TAU": "tau_given_rest", "P": "chain"},
    ],
    ids=lambda names: next(iter(names.values())),
)
def test_names_of_programs_are_free(names):
    """Words of Python, of generated code, and those that the model has for its own arrays."""
    _, expected = of_named({})
    model, found = of_named(names)
    assert found == pytest.approx(expected, rel=1e-12)

    draws = gp.compile(model).sample(3, warmup=3, chains=1, seed=1, progress=False)
    assert {names.get(n, n) for n in ("P", "M", "B", "TAU", "SD", "Z")} <= set(draws.values)


@pytest.mark.parametrize("name", ['x"', "x\ny", "x'+1", "1x", "a b", "", "x;y"])
def test_names_of_data_that_no_program_can_have_are_refused(name):
    with pytest.raises(gp.BugsError, match="expected the name of a variable"):
        gp.read_bugs("model { y ~ dnorm(0, 1) }", {name: 1.0})


@pytest.mark.parametrize(
    "loops",
    [
        "for (i in 5:2) { y[i] ~ dnorm(0, 1); for (j in i:3) { w[i, j] ~ dnorm(y[i], 1) } }",
        "for (i in 3:2) { for (j in 1:i) { y[i, j] ~ dnorm(i, 1) } }",
        "for (i in 1E20:2) { y[i] ~ dnorm(sum(v[i:3]), 1); q[i] <- y[i] }",
    ],
)
def test_loops_that_are_not_entered_give_nothing(loops):
    model = gp.read_bugs(f"model {{ {loops}\nz ~ dnorm(0, 1) }}", {"v": [1.0, 2.0]})

    assert str(model.graph) == "z ~ Normal(mu=0, tau=1)"


def test_several_lines_may_say_between_what_an_array_is():
    model = gp.read_bugs(
        "model { x[1] ~ dnorm(b, 1) I(l[1],)\nfor (i in 2:3) { x[i] ~ dnorm(2 * b, 1) I(l[i],) }\n"
        "for (i in 1:3) { l[i] ~ dnorm(0, 1) }\nb ~ dnorm(0, 1) }"
    )

    assert len(model.graph.potentials) == 2
    x, low, b = np.array([0.5, 2.0, 1.0]), np.array([0.0, 1.5, -1.0]), 0.3
    normals = [stats.norm.logpdf(x, [b, 2 * b, 2 * b]).sum(), *stats.norm.logpdf([*low, b])]
    assert np.isclose(log_joint(model.graph, {"x": x, "l": low, "b": b}), sum(normals))
    assert log_joint(model.graph, {"x": x, "l": np.add(low, [0, 0, 3]), "b": b}) == -np.inf


def test_the_data_block_computes_whole_arrays():
    program = """data {
      n <- length(d)
      centred <- d - mean(d)
      R <- inverse(Q)
    }
    model {
      for (t in 1:n) { y[t] ~ dnorm(b * centred[t] * R[1, 2], 1) }
      b ~ dnorm(0, 1)
    }"""
    model = gp.read_bugs(program, {"d": D, "y": Y, "Q": [[1, 2], [3, 5]]})
    slopes = (np.array(D) - np.mean(D)) * np.linalg.inv([[1, 2], [3, 5]])[0, 1]
    found = [log_joint(model.graph, {"b": b, **model.data}) for b in (0.0, 0.7)]
    known = [priors(b) + sum(map(normal, Y, b * slopes, [1] * N)) for b in (0.0, 0.7)]

    np.testing.assert_allclose(found, known, rtol=1e-12)
    assert gp.compile(model).verify().proved


def test_whole_arrays_depend_on_one_another_in_no_order():
    """Of lines that depend on one another the first is taken for a number."""
    program = "model { u <- v * 2  v <- u + d  y ~ dnorm(u, 1) }"
    with pytest.raises(gp.BugsError, match="line 1"):
        gp.read_bugs(program, {"d": D, "y": 1.0})


OUTSIDE = """
model {
  a ~ dnorm(0, 1)
  for (j in 1:3) { p[j] <- exp(a) * d[j] }
  n <- step(a) + step(a - 1) + step(a - 2)
  READ
}
"""
LEVELS = {"d": [1.0, 2.0, 4.0]}


def test_an_element_outside_of_an_array_is_no_number():
    text = OUTSIDE.replace("READ", "read <- p[n]")
    sampler = gp.compile(gp.read_bugs(text, LEVELS))
    assert sampler.verify().proved
    draws = sampler.sample(500, chains=1, seed=1, progress=False)
    n, read = draws["n"], draws["read"]
    assert set(np.unique(n)) == {0, 1, 2, 3}
    expected = np.exp(draws["a"]) * np.array([np.nan, 1, 2, 4])[n.astype(int)]
    assert_allclose(read, expected, rtol=1e-12)
    assert "not finite: read" in str(draws.summary())


def test_a_density_of_an_element_outside_of_an_array_is_refused():
    text = OUTSIDE.replace("READ", "y ~ dnorm(p[n], 1)")
    with pytest.raises(ModelError, match=r"y: .*index is outside of its array.*max\(1, min"):
        gp.compile(gp.read_bugs(text, {**LEVELS, "y": 0.3}))


@pytest.mark.parametrize("index", ["1 + step(a) + step(a - 1)", "max(1, n)", "z + 1", "4 - z"])
def test_an_index_that_is_certain_to_be_inside_is_one_that_is_read(index):
    text = OUTSIDE.replace("READ", f"z ~ dcat(w[]) \n k <- {index} \n y ~ dnorm(p[k], 1)")
    text = text.replace("1:3", "1:K")
    levels = {"d": [1.0, 2.0, 4.0, 5.0], "K": 4, "w": [0.2, 0.3, 0.5], "y": 0.3}
    assert gp.compile(gp.read_bugs(text, levels)).verify().proved


def test_labels_at_which_no_urn_is_possible_weigh_nothing():
    text = """
    model {
      for (i in 1:2) { seen[i] ~ dhyper(marked, t - marked, drawn[i], 1) }
      t ~ dcat(w[1:size])
      for (j in 1:size) { w[j] <- 1 / j }
    }
    """
    data = {"marked": 4, "drawn": [3, 5], "seen": [1, 2], "size": 20}
    sampler = gp.compile(gp.read_bugs(text, data))
    assert sampler.verify().proved
    t = np.arange(1, 21)
    weights = np.where(t < 6, 0, 1 / t)
    for drawn, seen in zip(data["drawn"], data["seen"], strict=True):
        weights = weights * stats.hypergeom(np.maximum(t, 6), 4, drawn).pmf(seen)
    found = sampler.sample(5000, chains=1, seed=1, progress=False)["t"].astype(int)
    counts = np.bincount(found.ravel(), minlength=21)[1:]
    possible = weights > 0
    assert counts[~possible].sum() == 0
    expected = counts.sum() * weights[possible] / weights.sum()
    assert stats.chisquare(counts[possible], expected).pvalue > 1e-3


TRIANGLE = """
model {
  for (t in 1:3) { phi[t] ~ dunif(0, 1) }
  p ~ dunif(0, 1)
  for (t in 1:3) {
    seen[t, 1:4] ~ dmulti(pr[t, ], released[t])
    pr[t, t] <- phi[t] * p
    for (j in (t + 1):3) { pr[t, j] <- prod(phi[t:j]) * pow(1 - p, j - t) * p }
    for (j in 1:(t - 1)) { pr[t, j] <- 0 }
    pr[t, 4] <- 1 - sum(pr[t, 1:3])
  }
}
"""


def test_rows_that_lines_give_in_turn_are_one_statement():
    """Cells of an m-array: a choice between the lines of a cell, whichever row it is in."""
    seen = np.array([[3, 2, 1, 4], [0, 4, 2, 4], [0, 0, 5, 5]])
    model = gp.read_bugs(TRIANGLE, {"seen": seen, "released": [10, 10, 10]})

    assert [s.name for s in model.graph.statements] == ["phi", "p", "seen"]
    # (what a cell of a row reads is read for the row, not once more for each of its cells)
    assert max(np.ndim(v) for v in model.data.values()) == 3
    assert gp.compile(model).verify().proved


def test_rows_that_other_lines_give_are_other_statements():
    text = """
    model {
      for (i in 1:3) { y[i] ~ dcat(p[i, ]) }
      p[1, 1] <- a; p[1, 2] <- 1 - a
      for (i in 2:3) { p[i, 1:2] <- c(0.3, 0.7) * b / b }
      a ~ dbeta(1, 1)
      b ~ dgamma(1, 1)
    }
    """
    model = gp.read_bugs(text, {"y": [1, 2, 2]})
    assert {s.name for s in model.graph.statements} == {"a", "b", "y.label[0]", "y.label[1:]"}
    assert gp.compile(model).verify().proved


@pytest.mark.parametrize(
    "prior",
    ["Q[1:1, 1:1] ~ dwish(R[1:1, 1:1], 3)", "Q[1, 1] ~ dgamma(2, 1)", "Q[1, 1] <- R[1, 1]"],
)
def test_vectors_of_one_entry_have_matrices_of_one(prior):
    text = f"""
    model {{
      for (i in 1:3) {{ y[i, 1:1] ~ dmnorm(mu[1:1], Q[1:1, 1:1]) }}
      mu[1:1] ~ dmnorm(zero[1:1], R[1:1, 1:1])
      {prior}
    }}
    """
    data = {"y": [[1.0], [2.0], [4.0]], "zero": [0.5], "R": [[2.0]]}
    sampler = gp.compile(gp.read_bugs(text, data))
    assert sampler.verify().proved
    assert {s.kind for s in sampler.schedule.steps} == {"exact"}


@pytest.mark.parametrize(
    ("line", "family"),
    [
        ("dmnorm(m[1:1], Q[1:1, 1:1])", "Normal"),
        ("dmnorm.vcov(m[1:1], Q[1:1, 1:1])", "Normal"),
        ("dmt(m[1:1], Q[1:1, 1:1], 3)", "StudentT"),
    ],
)
def test_distributions_of_vectors_are_those_of_numbers_where_they_have_one_entry(line, family):
    text = f"""
    model {{
      for (i in 1:3) {{ x[i, 1:1] ~ {line}\n y[i] ~ dnorm(x[i, 1], 1) }}
      m[1:1] ~ dmnorm(zero[], R[,])
      Q[1:1, 1:1] ~ dwish(R[, ], 3)
      sd <- 1 / sqrt(Q[1, 1])
    }}
    """
    model = gp.read_bugs(text, {"y": [1.0, 2.0, 4.0], "zero": [0.5], "R": [[2.0]]})
    families = {s.target.array.name: s.family.name for s in model.graph.statements}
    assert families == {"x": family, "y": "Normal", "m": "Normal", "Q": "Gamma"}
    sampler = gp.compile(model)
    assert sampler.verify().proved
    draws = sampler.sample(10, warmup=20, seed=1, progress=False)
    assert draws["x"].shape[2:] == (3, 1)
    assert draws["Q"].shape[2:] == (1, 1)


def test_vectors_of_one_entry_beside_longer_ones_are_numbers():
    text = """
    model {
      for (k in 1:3) { e[k, 1:k] ~ dmnorm(zero[1:k], one[1:k, 1:k]) }
      y ~ dnorm(e[1, 1] + e[3, 2], 1)
    }
    """
    model = gp.read_bugs(text, {"y": 1.0, "zero": np.zeros(3), "one": np.eye(3)})
    families = sorted(s.family.name for s in model.graph.statements)
    assert families == ["MvNormal", "MvNormal", "Normal", "Normal"]
    assert gp.compile(model).verify().proved


def test_matrices_of_one_entry_have_parameters_of_one():
    text = "model { Q[1:1, 1:1] ~ dwish(R[1:2, 1:2], 3)\n y ~ dnorm(0, Q[1, 1]) }"
    with pytest.raises(gp.BugsError, match="R of dwish has 2 x 2 entries, expected 1 x 1"):
        gp.read_bugs(text, {"y": 1.0, "R": np.eye(2)})


ONE = "y ~ dnorm(mu[z], 1); z ~ dcat(p[]); "
WITHOUT_AN_ELEMENT = {
    "one element": ONE + "mu[1] ~ dnorm(0, 1)",
    "one datum": "y ~ dnorm(one[z], 1); z ~ dcat(p[])",
    "one column": "y ~ dnorm(mu[1, z], 1); z ~ dcat(p[]); mu[1, 1] ~ dnorm(0, 1)",
    "elements that are all alike": ONE + "for (k in 1:2) { mu[k] <- b }; b ~ dnorm(0, 1)",
    "data that go on": ONE + "for (k in 1:2) { mu[k] <- b * x[k] }; b ~ dnorm(0, 1)",
    "a label that starts known": """
        y ~ dnorm(mu[z[2]], 1); z[1] <- 1; z[2] ~ dcat(q[z[1], ]); mu[1] ~ dnorm(0, 1)""",
    "counts": "y ~ dnorm(mu[z + 1], 1); z ~ dpois(1); for (k in 1:3) { mu[k] ~ dnorm(0, 1) }",
}
READ = {"y": 1.0, "p": [0.3, 0.3, 0.4], "q": np.full((3, 3), 1 / 3), "x": [1.0, 2.0, 3.0]}


def program_of(said):
    given = {**READ, "one": [7.0]}
    return gp.read_bugs(f"model {{ {said} }}", {n: v for n, v in given.items() if n in said})


@pytest.mark.parametrize("said", WITHOUT_AN_ELEMENT.values(), ids=WITHOUT_AN_ELEMENT)
def test_labels_beyond_the_elements_of_an_array_are_refused(said):
    """(Where elements do not differ, nothing was left that had an axis to be beyond.)"""
    with pytest.raises(ModelError, match="outside of its array"):
        gp.compile(program_of(said))


def test_recorded_elements_at_labels_that_none_has_are_no_numbers():
    said = "y ~ dnorm(b, 1); b ~ dnorm(0, 1); m <- mu[z]; z ~ dcat(p[]); mu[1] ~ dnorm(0, 1)"
    sampler = gp.compile(program_of(said))

    assert sampler.verify().proved
    draws = sampler.sample(50, chains=1, warmup=0, seed=1, progress=False)
    assert (np.isnan(draws["m"]) == (draws["z"] > 1)).all()


@pytest.mark.parametrize("lines", [("z ~ dcat(p[])", "y ~ dnorm(mu[4 - z], 1)")])
def test_an_index_is_inside_wherever_its_line_stands(lines):
    """The line of the label after the one that reads at it: its values were not known yet."""
    for ordered in (lines, lines[::-1]):
        said = "; ".join((*ordered, "for (k in 1:3) { mu[k] ~ dnorm(0, 1) }"))
        assert gp.compile(program_of(said)).verify().proved


def test_an_index_by_a_label_that_starts_known_is_inside():
    said = """z[1] <- 1; z[2] ~ dcat(q[z[1], ]); y ~ dnorm(mu[4 - z[2]], 1)
        for (k in 1:3) { mu[k] ~ dnorm(0, 1) }"""

    assert gp.compile(program_of(said)).verify().proved


@pytest.mark.parametrize(("counts", "inside"), [("dcat(pr[])", True), ("dpois(2)", False)])
def test_a_label_whose_end_is_drawn_ends_where_that_does(counts, inside):
    text = f"""model {{
        for (k in 1:6) {{ mu[k] ~ dnorm(0, 1) }}
        n ~ {counts}; z ~ dbin(0.5, n); y ~ dnorm(mu[z + 1], 1) }}"""
    data = {"y": 0.5, "pr": [0.25] * 4} if inside else {"y": 0.5}
    if inside:
        assert gp.compile(gp.read_bugs(text, data)).verify().passed
    else:
        with pytest.raises(ModelError, match="outside of its array"):
            gp.compile(gp.read_bugs(text, data))
