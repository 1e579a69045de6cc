"""Draws of vectors and matrices from natural parameters, batched over the leading axes.

A matrix of natural parameters need not be symmetric: only its symmetric part is in the density.
One that is not positive definite raises ``numpy.linalg.LinAlgError``.

>>> import numpy as np
>>> rng = np.random.default_rng(1)
>>> mvnormal_information(rng, np.array([2e8, 3e8]), 1e8 * np.eye(2)).round(2)
array([2., 3.])
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from gibbsppl.runtime.draws import gamma_of
from gibbsppl.runtime.in_parts import InParts
from gibbsppl.runtime.types import Floats, Generator, Numbers, Size

# From this many systems on, substitution over the batch beats LAPACK's LU of each system.
MANY_SYSTEMS = 200


def mvnormal(rng: Generator, eta_1: Floats, eta_2: Floats | InParts, size: Size) -> Floats:
    """Draws with log density ``sum of eta_1[k] x[k] + sum of eta_2[k, l] x[k] x[l]``."""
    h = eta_1 if np.shape(eta_1) == size else np.broadcast_to(eta_1, size)
    if isinstance(eta_2, InParts) and len(h) == len(eta_2):
        return _in_parts(rng, h, eta_2)
    return mvnormal_information(rng, h, symmetric(-2.0 * np.asarray(eta_2)))


def _in_parts(rng: Generator, h: Floats, eta_2: InParts) -> Floats:
    """Draws by matrices that are not all there at one time."""
    x = np.empty(h.shape)
    for first, stop in eta_2.parts():
        Q = symmetric(-2.0 * eta_2.rows(first, stop))
        x[first:stop] = mvnormal_information(rng, h[first:stop], Q)
    return x


def mvnormal_information(rng: Generator, h: Floats, Q: Floats) -> Floats:
    """Draws from ``N(Q^-1 h, Q^-1)``; leading axes of ``h`` and ``Q`` broadcast."""
    if Q.ndim == 2:
        return _one_precision(rng, h, Q)
    batch = np.broadcast_shapes(h.shape[:-1], Q.shape[:-2])
    if Q.size == Q.shape[-1] ** 2:
        own = np.broadcast_to(h, (*batch, Q.shape[-1]))
        return _one_precision(rng, own, Q.reshape(Q.shape[-2:]))
    z = rng.standard_normal((*batch, Q.shape[-1]))
    L = np.linalg.cholesky(Q)
    if Q.size < MANY_SYSTEMS * Q.shape[-1] ** 2 or L.shape[:-2] != batch:
        # Q^-1 (h + L z) has mean Q^-1 h and covariance Q^-1 L L' Q^-1 = Q^-1
        return np.linalg.solve(Q, (h[..., None] + L @ z[..., None]))[..., 0]
    return _substitute(L, np.broadcast_to(h, z.shape), z)


def _one_precision(rng: Generator, h: Floats, Q: Floats) -> Floats:
    """``L'^-1 (L^-1 h + z)`` with one ``Q = L L'`` for all h, straight from LAPACK."""
    if h.size == 0:
        return np.empty(h.shape)
    dpotrf, dtrtrs = _lapack()
    L, failed = dpotrf(Q, lower=1)
    if failed:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    columns = h.reshape(-1, h.shape[-1]).T
    whitened = dtrtrs(L, columns, lower=1)[0] + rng.standard_normal(h.shape).reshape(-1, len(Q)).T
    return dtrtrs(L, whitened, lower=1, trans=1)[0].T.reshape(h.shape)


@cache
def _lapack() -> tuple[Callable[..., tuple[Floats, int]], Callable[..., tuple[Floats, int]]]:
    """Cholesky factor and triangular solution; scipy.linalg takes long to import, so only here."""
    from scipy.linalg import lapack  # noqa: PLC0415

    return lapack.dpotrf, lapack.dtrtrs


def _substitute(L: Floats, h: Floats, z: Floats) -> Floats:
    """``L'^-1 (L^-1 h + z)``, entry by entry for all systems at once."""
    size = L.shape[-1]
    x = np.empty(h.shape)
    for k in range(size):
        known = np.einsum("...l,...l->...", L[..., k, :k], x[..., :k])
        x[..., k] = (h[..., k] - known) / L[..., k, k]
    x += z
    for k in reversed(range(size)):
        known = np.einsum("...l,...l->...", L[..., k + 1 :, k], x[..., k + 1 :])
        x[..., k] = (x[..., k] - known) / L[..., k, k]
    return x


def wishart(rng: Generator, eta_1: Numbers, eta_2: Floats, size: Size) -> Floats:
    """Draws with log density ``eta_1 log|X| + sum of eta_2[k, l] X[k, l]``."""
    factor = np.linalg.cholesky(symmetric(-2.0 * np.asarray(eta_2)))  # of V^-1
    A = _bartlett(rng, 2.0 * np.asarray(eta_1) + size[-1] + 1.0, size)
    return _gram(np.linalg.solve(np.broadcast_to(_transposed(factor), size), A))


def wishart_of(rng: Generator, nu: Numbers, V: Floats, size: Size) -> Floats:
    """``L A A' L'`` with ``V = L L'`` and A Bartlett's factor."""
    return _gram(np.linalg.cholesky(V) @ _bartlett(rng, nu, size))


def inverse_wishart(rng: Generator, eta_1: Numbers, eta_2: Floats, size: Size) -> Floats:
    """Draws with log density ``eta_1 log|X| + sum of eta_2[k, l] (X^-1)[k, l]``."""
    nu = -2.0 * np.asarray(eta_1) - size[-1] - 1.0
    return inverse_wishart_of(rng, nu, symmetric(-2.0 * np.asarray(eta_2)), size)


def inverse_wishart_of(rng: Generator, nu: Numbers, S: Floats, size: Size) -> Floats:
    """``L A'^-1 A^-1 L'`` with ``S = L L'`` and A Bartlett's factor."""
    factor = np.broadcast_to(np.linalg.cholesky(S), size)
    return _gram(_transposed(np.linalg.solve(_bartlett(rng, nu, size), _transposed(factor))))


def _bartlett(rng: Generator, nu: Numbers, size: Size) -> Floats:
    """Lower triangular A with ``A A' ~ Wishart(nu, 1)``: chi on the diagonal, normal below it."""
    p = size[-1]
    A = np.tril(rng.standard_normal(size), -1)
    shapes = np.broadcast_to((np.asarray(nu)[..., None] - np.arange(p)) / 2, size[:-1])
    diagonal = np.arange(p)
    A[..., diagonal, diagonal] = np.sqrt(gamma_of(rng, shapes, 0.5, size[:-1]))
    return A


def _gram(factor: Floats) -> Floats:
    """``B B'``, symmetric to the last bit."""
    return symmetric(factor @ _transposed(factor))


def symmetric(matrices: Floats) -> Floats:
    """The symmetric part of matrices over the last two axes."""
    return (matrices + _transposed(matrices)) / 2


def _transposed(matrices: Floats) -> Floats:
    return np.swapaxes(matrices, -1, -2)
