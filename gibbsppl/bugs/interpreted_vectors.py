"""The log densities of vectors and matrices, and of fields on maps as GeoBUGS has them.

>>> round(float(intrinsic([1.0, -1.0], [2, 1], [1, 1], [1, 1], 3.0)), 4)
-5.4507
"""

# The results of NumPy's and SciPy's functions are untyped.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from math import log, pi

import numpy as np

from gibbsppl.bugs.interpreted_scalars import Floats, shares
from gibbsppl.bugs.interpreted_special import special

# Functions of SciPy, which is loaded when one is called.
gammaln = special.gammaln
xlogy = special.xlogy

# The largest deviation from one of sums of shares.
ROUNDING = 1e-8


def log_det(m: Floats) -> float:
    """The log determinant of a positive definite matrix; none of others."""
    m = np.asarray(m, float)
    if not np.allclose(m, m.T, rtol=1e-8, atol=0):
        return np.nan
    try:
        return 2 * np.log(np.diagonal(np.linalg.cholesky(m))).sum()
    except np.linalg.LinAlgError:
        return np.nan


def dirichlet(x: Floats, alpha: Floats) -> float:
    """Entries whose parameter is zero are zero, and no part of the rest."""
    if (alpha < 0).any():
        return np.nan
    x, alpha = x[alpha > 0], alpha[alpha > 0]
    return gammaln(alpha.sum()) - gammaln(alpha).sum() + xlogy(alpha - 1, x).sum()


def is_simplex(x: Floats, alpha: Floats) -> bool | np.bool_:
    """Whether entries are shares, zero where their parameter is."""
    return (x >= 0).all() and (x[alpha == 0] == 0).all() and abs(x.sum() - 1) <= ROUNDING


def multinomial(x: Floats, p: Floats, n: float) -> float:
    """The log probability of counts of n trials."""
    return gammaln(n + 1) - gammaln(x + 1).sum() + xlogy(x, shares(p)).sum()


def are_counts(x: Floats, _p: Floats, n: float) -> bool | np.bool_:
    """Whether entries are counts of n trials."""
    return x.sum() == n and (x >= 0).all() and (x == np.rint(x)).all()


def mv_normal(x: Floats, mu: Floats, omega: Floats) -> float:
    """The log density of a normal vector of a precision matrix."""
    d = np.asarray(x, float) - mu
    return (log_det(omega) - len(d) * log(2 * pi) - float(d @ np.asarray(omega) @ d)) / 2


def mv_normal_of_covariance(x: Floats, mu: Floats, sigma: Floats) -> float:
    """The log density of a normal vector of a covariance matrix."""
    d = np.asarray(x, float) - mu
    return -(log_det(sigma) + len(d) * log(2 * pi) + float(d @ np.linalg.solve(sigma, d))) / 2


def mv_student(x: Floats, mu: Floats, omega: Floats, k: float) -> float:
    """The log density of a t vector of a precision matrix."""
    if not k > 0:
        return np.nan
    d = np.asarray(x, float) - mu
    n = len(d)
    front = gammaln((k + n) / 2) - gammaln(k / 2) - n / 2 * np.log(k * pi) + log_det(omega) / 2
    return front - (k + n) / 2 * np.log1p(d @ np.asarray(omega) @ d / k)


def wishart(x: Floats, scale: Floats, k: float) -> float:
    """The log density of a precision matrix, with the scale matrix of BUGS."""
    n = len(x)
    if not k > n - 1:
        return np.nan
    front = k * log_det(scale) - k * n * log(2)
    body = (k - n - 1) * log_det(x) - np.trace(np.asarray(scale) @ np.asarray(x))
    return (front + body) / 2 - special.multigammaln(k / 2, n)


def scaled_wishart(x: Floats, s: Floats, df: float) -> float:
    """A Wishart matrix whose diagonal scale matrix has Gamma entries, these integrated out."""
    x, s = np.asarray(x, float), np.asarray(s, float)
    n = len(x)
    k = df + n - 1
    front = k * n / 2 * np.log(df) + (df - 2) / 2 * log_det(x) - special.multigammaln(k / 2, n)
    each = gammaln((k + 1) / 2) - gammaln(0.5) - np.log(s)
    return front + (each - (k + 1) / 2 * np.log(df * np.diagonal(x) + s**-2.0)).sum()


def wishart_of_weights(x: Floats, weight: Floats, _s: Floats, df: float) -> float:
    """The log density of a Wishart matrix given the weights of its scale matrix."""
    return wishart(x, 2 * df * np.diag(np.asarray(weight, float)), df + len(x) - 1)


# ---- fields on maps ------------------------------------------------------------------------------


def _matrix(adj: Floats, weights: Floats, num: Floats) -> Floats:
    """The matrix of the weights between neighbouring sites."""
    found, at = np.zeros((len(num), len(num))), 0
    for site, count in enumerate(np.asarray(num, int)):
        for _ in range(count):
            found[site, int(np.asarray(adj)[at]) - 1] = np.asarray(weights)[at]
            at += 1
    return found


def _parts(tied: Floats) -> int:
    """The number of connected components of a map."""
    left, count = set(range(len(tied))), 0
    while left:
        waiting, count = [left.pop()], count + 1
        while waiting:
            near = {int(n) for n in np.flatnonzero(tied[waiting.pop()])} & left
            left -= near
            waiting += near
    return count


def is_centred(x: Floats) -> bool:
    """Whether values sum to zero."""
    return bool(abs(np.sum(x)) <= 1e-8 * max(1.0, np.abs(x).sum()))


def intrinsic(x: Floats, adj: Floats, weights: Floats, num: Floats, tau: float) -> float:
    """Squared differences of neighbours, and the power of tau of values that sum to zero."""
    w, x = _matrix(adj, weights, num), np.asarray(x, float)
    squares = sum(w[i, j] * (x[i] - x[j]) ** 2 for i, j in np.argwhere(w) if i < j)
    return (len(x) - _parts(w)) / 2 * np.log(tau) - tau / 2 * squares


def proper(
    x: Floats, *given: *tuple[Floats, Floats, Floats, Floats, Floats, float, float]
) -> float:
    """A normal vector of precision ``tau (I - gamma C) / M``."""
    mu, c, adj, num, m, tau, gamma = given
    x, m = np.asarray(x, float), np.asarray(m, float)
    precision = tau * (np.eye(len(x)) - gamma * _matrix(adj, c, num)) / m[:, None]
    values = np.linalg.eigvalsh((precision + precision.T) / 2)
    if (values <= 0).any():
        return np.nan
    d = x - np.asarray(mu, float)
    return (np.log(values).sum() - len(x) * log(2 * pi) - d @ precision @ d) / 2
