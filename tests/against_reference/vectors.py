"""Distributions of vectors and matrices: densities and draws, states along the first axis."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import special

SIMPLEX, VECTOR, COUNTS, SPHERE, SPD = "simplex", "vector", "counts", "sphere", "spd"


@dataclass(frozen=True, slots=True)
class VectorRow:
    """One distribution: ``log_density(x, **parameters)`` and ``draw(rng, states, **parameters)``.

    ``parameters`` has for each its kind and its number of event axes; ``axes`` are those of a
    value.
    """

    name: str
    kind: str
    axes: int
    parameters: Mapping
    log_density: Callable
    draw: Callable
    spellings: Mapping = field(default_factory=dict)


def states_of(*arrays):
    return max(len(a) for a in arrays)


def log_dirichlet(x, a):
    kept = a > 0
    with np.errstate(all="ignore"):
        terms = special.xlogy(a - 1, x) - special.gammaln(a)
    inside = np.where(kept, terms, 0.0).sum(-1) + special.gammaln(np.where(kept, a, 0).sum(-1))
    return np.where((kept | (x == 0)).all(-1), inside, -np.inf)


def draw_dirichlet(rng, n, a):
    g = np.where(a > 0, rng.gamma(np.broadcast_to(np.where(a > 0, a, 1), (n, a.shape[-1]))), 0.0)
    g = np.where(a > 0, np.maximum(g, 1e-300), 0.0)
    return g / g.sum(-1, keepdims=True)


def with_digits(p):
    """Probabilities, nan where they are so small that a number has few digits."""
    return np.where((p > 0) & (p < np.finfo(float).tiny), np.nan, p)


def log_multinomial(x, n, p):
    found = special.gammaln(n + 1) + (
        special.xlogy(x, with_digits(p)) - special.gammaln(x + 1)
    ).sum(-1)
    return np.where(x.sum(-1) == n, found, -np.inf)


def draw_multinomial(rng, states, n, p):
    p = np.broadcast_to(p, (states, p.shape[-1]))
    p = p / p.sum(-1, keepdims=True)
    return rng.multinomial(np.broadcast_to(n, states).astype(int), p).astype(float)


def quadratic(z, tau):
    return np.einsum("ni,nij,nj->n", *(np.broadcast_to(v, (states_of(z, tau), *v.shape[1:]))
                                       for v in (z, tau, z)))


def where_regular(function, a):
    """A factor or an inverse of matrices; nan where one is singular, or no number."""
    try:
        return function(a)
    except np.linalg.LinAlgError:
        return each_regular(function, a)


def each_regular(function, a):
    if a.ndim > 2:
        return np.stack([each_regular(function, one) for one in a])
    try:
        return function(a)
    except np.linalg.LinAlgError:
        return np.full(a.shape, np.nan)


def inverted(a):
    return where_regular(np.linalg.inv, a)


def factor(a):
    return where_regular(np.linalg.cholesky, a)


def log_det(a):
    return np.linalg.slogdet(a)[1]


def log_normal(x, mu, tau):
    return (log_det(tau) - x.shape[-1] * math.log(2 * math.pi) - quadratic(x - mu, tau)) / 2


def standard(rng, states, tau):
    """Normal vectors of mean 0 and precision tau."""
    root = factor(inverted(tau))
    z = rng.normal(size=(states, tau.shape[-1]))
    return np.einsum("nij,nj->ni", np.broadcast_to(root, (states, *root.shape[1:])), z)


def draw_normal(rng, states, mu, tau):
    return mu + standard(rng, states, tau)


def log_student(x, nu, mu, tau):
    p = x.shape[-1]
    return (
        special.gammaln((nu + p) / 2) - special.gammaln(nu / 2) - p / 2 * np.log(np.pi * nu)
        + log_det(tau) / 2 - (nu + p) / 2 * np.log1p(quadratic(x - mu, tau) / nu)
    )


def draw_student(rng, states, nu, mu, tau):
    weight = rng.chisquare(np.broadcast_to(nu, states)) / nu
    return mu + standard(rng, states, tau) / np.sqrt(weight)[:, None]


def log_wishart(x, nu, V):
    p = x.shape[-1]
    trace = np.trace(np.linalg.solve(*np.broadcast_arrays(V, x)), axis1=-2, axis2=-1)
    return ((nu - p - 1) * log_det(x) - trace - nu * p * math.log(2) - nu * log_det(V)) / 2 - (
        multi_gamma(nu / 2, p)
    )


def multi_gamma(a, p):
    """The log of the multivariate gamma function."""
    a = np.asarray(a, float)
    return p * (p - 1) / 4 * math.log(math.pi) + sum(special.gammaln(a - j / 2) for j in range(p))


def draw_wishart(rng, states, nu, V):
    p = V.shape[-1]
    nu = np.broadcast_to(nu, states)
    a = np.zeros((states, p, p))
    for i in range(p):
        a[:, i, i] = np.sqrt(rng.chisquare(nu - i))
        for j in range(i):
            a[:, i, j] = rng.normal(size=states)
    b = factor(V) @ a
    return b @ np.swapaxes(b, -2, -1)


def log_inverse_wishart(x, nu, S):
    p = x.shape[-1]
    trace = np.trace(np.linalg.solve(*np.broadcast_arrays(x, S)), axis1=-2, axis2=-1)
    return (nu * log_det(S) - (nu + p + 1) * log_det(x) - trace - nu * p * math.log(2)) / 2 - (
        multi_gamma(nu / 2, p)
    )


def draw_inverse_wishart(rng, states, nu, S):
    x = inverted(draw_wishart(rng, states, nu, inverted(S)))
    return (x + np.swapaxes(x, -2, -1)) / 2


def log_huang_wand(x, nu, scale):
    """The inverse Wishart density with its mixing variables ``a_k`` integrated out one by one."""
    p = x.shape[-1]
    df = nu + p - 1
    diagonal = np.diagonal(inverted(x), axis1=-2, axis2=-1)
    inverse = (
        df * p / 2 * np.log(2 * nu) - df * p / 2 * math.log(2) - multi_gamma(df / 2, p)
        - (df + p + 1) / 2 * log_det(x)
    )
    c = (df + 1) / 2
    rate = np.reshape(nu, (-1, 1)) * diagonal + scale**-2.0
    mixed = special.gammaln(np.reshape(c, (-1, 1))) - np.reshape(c, (-1, 1)) * np.log(rate)
    return inverse + (mixed - math.log(math.pi) / 2 - np.log(scale)).sum(-1)


def draw_huang_wand(rng, states, nu, scale):
    p = scale.shape[-1]
    rate = np.broadcast_to(scale**-2.0, (states, p))
    a = rate / rng.gamma(0.5, size=(states, p))
    nu = np.broadcast_to(nu, states)
    S = (2 * nu[:, None] / a)[:, :, None] * np.eye(p)
    return draw_inverse_wishart(rng, states, nu + p - 1, S)


def log_von_mises_fisher(x, mu, kappa):
    half = x.shape[-1] / 2
    log_bessel = np.log(special.ive(half - 1, kappa)) + kappa
    return kappa * (mu * x).sum(-1) - half * math.log(2 * math.pi) - log_bessel + (
        half - 1) * np.log(kappa)


def draw_von_mises_fisher(rng, states, mu, kappa):
    p = mu.shape[-1]
    mu, kappa = np.broadcast_to(mu, (states, p)), np.broadcast_to(kappa, states)
    drawn, left = np.empty((states, p)), np.arange(states)
    while len(left):
        x = rng.normal(size=(len(left), p))
        x /= np.linalg.norm(x, axis=-1, keepdims=True)
        yes = np.log(rng.random(len(left))) < kappa[left] * ((mu[left] * x).sum(-1) - 1)
        drawn[left[yes]] = x[yes]
        left = left[~yes]
    return drawn


def precision_of(name):
    """The precision matrix of the matrix that it is the inverse of."""
    return lambda **p: {**{k: v for k, v in p.items() if k != name},
                        "tau": np.linalg.inv(p[name])}


REALS, POSITIVES = ("real", 1), ("positive", 1)
MATRIX = (SPD, 2)

VECTOR_ROWS = {r.name: r for r in (
    VectorRow("Dirichlet", SIMPLEX, 1, {"a": POSITIVES}, log_dirichlet, draw_dirichlet),
    VectorRow("Multinomial", COUNTS, 1, {"n": ("count", 0), "p": (SIMPLEX, 1)}, log_multinomial,
              draw_multinomial),
    VectorRow("MvNormal", VECTOR, 1, {"mu": REALS, "tau": MATRIX}, log_normal, draw_normal,
              {("mu", "tau"): None, ("mu", "cov"): precision_of("cov")}),
    VectorRow("MvStudentT", VECTOR, 1, {"nu": ("positive", 0), "mu": REALS, "tau": MATRIX},
              log_student, draw_student,
              {("nu", "mu", "tau"): None, ("nu", "mu", "scale"): precision_of("scale")}),
    VectorRow("Wishart", SPD, 2, {"nu": ("freedom", 0), "V": MATRIX}, log_wishart, draw_wishart,
              {("nu", "V"): None, ("nu", "R"): lambda nu, R: {"nu": nu, "V": np.linalg.inv(R)}}),
    VectorRow("InverseWishart", SPD, 2, {"nu": ("freedom", 0), "S": MATRIX}, log_inverse_wishart,
              draw_inverse_wishart),
    VectorRow("HuangWand", SPD, 2, {"nu": ("positive", 0), "scale": POSITIVES}, log_huang_wand,
              draw_huang_wand),
    VectorRow("VonMisesFisher", SPHERE, 1, {"mu": (SPHERE, 1), "kappa": ("positive", 0)},
              log_von_mises_fisher, draw_von_mises_fisher),
)}


def log_categorical(x, p):
    """The log probability of a label; p has one entry per label along its last axis."""
    states = max(len(x), len(p))
    p, x = np.broadcast_to(p, (states, p.shape[-1])), np.broadcast_to(x, states)
    with np.errstate(divide="ignore"):
        return np.log(with_digits(p[np.arange(states), x.astype(int)]))


def draw_categorical(rng, states, p):
    total = np.cumsum(np.broadcast_to(p, (states, p.shape[-1])), -1)
    u = rng.random(states) * total[:, -1]
    return np.minimum((total <= u[:, None]).sum(-1), p.shape[-1] - 1).astype(float)
