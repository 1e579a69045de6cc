"""Gradients through recursions, matrices and their inverses, products and extremes.

Each by differences, and NumPy beside loops. (Those of functions, by their rows, are in
`test_function_rows`.)
"""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.derive import adjoints
from gibbsppl.errors import CompileError
from tests.slopes_by_differences import worst_slope

T = 6
Y = np.array([0.3, -1.1, 0.4, 2.0, -0.6, 0.2])
BEFORE = np.append(0.0, Y[:-1])
POINTS = np.array([0.0, 0.3, 1.1, 1.5, 2.6, 3.0])
APART = (POINTS[:, None] - POINTS) ** 2


def garch():
    """Variances from earlier ones."""
    before = gp.Data("before", BEFORE, dims="t")
    a, b = gp.Beta("a", 2, 3), gp.Beta("b", 2, 3)
    mu = gp.Normal("mu", 0, sigma=1)
    v = gp.Array("v", dims="t")
    v[0] = 0.5
    v[1:] = 0.2 + a * (before - mu) ** 2 + b * v.lag("t")
    gp.Normal("y", mu, var=v, dims="t", observed=Y)
    return "a", "b", "mu"


def two_lags():
    """Lags of one and two, a moving parameter for each position, read at some positions alone."""
    phi = gp.Normal("phi", 0, sigma=0.5, dims="t")
    psi = gp.Normal("psi", 0, sigma=0.5)
    m = gp.Array("m", dims="t")
    m[0] = psi
    m[1] = 0.3 * psi**2
    m[2:] = gp.exp(phi) * m.lag("t") + psi * m.lag("t", 2) ** 2
    y = gp.Array("y", dims="t", observed=Y)
    y[:2] = gp.Normal(0, sigma=1)
    y[2:] = gp.Normal(m, sigma=1)
    return "phi", "psi"


def two_arrays():
    """A level with its trend: two arrays of one recursion."""
    a, b = gp.Beta("a", 2, 3), gp.Beta("b", 2, 3)
    before = gp.Data("before", BEFORE, dims="t")
    level, trend = gp.Array("level", dims="t"), gp.Array("trend", dims="t")
    level[0] = 0.1 * a
    trend[0] = b
    level[1:] = a * before + (1 - a) * (level.lag("t") + trend.lag("t"))
    trend[1:] = b * gp.exp(-level) + (1 - b) * trend.lag("t")
    gp.Normal("y", level + 0.1 * trend, sigma=1, dims="t", observed=Y)
    return "a", "b"


def states():
    """Probabilities of states given the past, each a sum over earlier ones, by series."""
    u = gp.Normal("u", 0, sigma=1, dims=("k", "k'"))
    p = gp.Array("p", dims=("series", "t", "k"))
    p[:, 0] = 0.5
    w = gp.exp(u)
    earlier = gp.sum(p.lag("t", 1).rename(k="k'") * w.rename({"k": "k'", "k'": "k"}), "k'")
    p[:, 1:] = 0.1 + earlier / 10
    y = np.abs(np.column_stack([Y, 1 - Y])) / 2
    gp.Normal("y", gp.sum(p, "k"), sigma=1, dims=("series", "t"), observed=y.T)
    return ("u",)


def nested():
    """A recursion of another recursion, whose parameters come from a third array."""
    a = gp.Normal("a", 0, sigma=0.5)
    before = gp.Data("before", BEFORE, dims="t")
    m, v = gp.Array("m", dims="t"), gp.Array("v", dims="t")
    m[0] = a
    m[1:] = gp.exp(a) * m.lag("t") / 2 + before
    v[0] = 1.0
    v[1:] = 0.1 + gp.exp(-(m**2)) + 0.5 * v.lag("t")
    gp.Normal("y", m, var=v, dims="t", observed=Y)
    return ("a",)


def curve():
    """A Gaussian process with its noise: a log determinant and an inverse."""
    apart = gp.Data("apart", APART, dims=("t", "t'"))
    same = gp.Data("same", np.eye(T), dims=("t", "t'"))
    rho, alpha = gp.Gamma("rho", 4, rate=4), gp.HalfNormal("alpha", sigma=2)
    sigma, mu = gp.HalfNormal("sigma", sigma=1), gp.Normal("mu", 0, sigma=1)
    level = gp.Data("one", np.ones(T), dims="t") * mu
    covariance = alpha**2 * gp.exp(-apart / (2 * rho**2)) + (0.1 + sigma) * same
    gp.MvNormal("y", level, cov=covariance, dims="t", event="t", observed=Y)
    return "rho", "alpha", "sigma", "mu"


def latent_curve():
    """Values of a Gaussian process that move with its parameters."""
    apart = gp.Data("apart", APART, dims=("t", "t'"))
    same = gp.Data("same", np.eye(T), dims=("t", "t'"))
    rho = gp.Gamma("rho", 4, rate=4)
    covariance = gp.exp(-apart / (2 * rho**2)) + 0.1 * same
    zero = gp.Data("zero", np.zeros(T), dims="t")
    f = gp.MvNormal("f", zero, cov=covariance, dims="t", event="t")
    gp.Poisson("y", gp.exp(f), dims="t", observed=[0, 1, 0, 3, 1, 2])
    return "rho", "f"


def entries():
    """Entries of an inverse as they are, and a log determinant with a matrix for each group."""
    same = gp.Data("same", np.eye(3), dims=("k", "k'"))
    b = gp.Normal("b", 0, sigma=0.3, dims=("series", "k"))
    near = gp.Data("near", np.full((3, 3), 0.2), dims=("k", "k'"))
    matrix = (1 + gp.exp(b)) * same + near * gp.sum(b**2, "k")
    inside = gp.inverse(matrix, ("k", "k'"))
    gp.Normal("y", gp.exp(inside), sigma=0.5, dims=("series", "k", "k'"), observed=np.ones((2, 3, 3)))
    gp.Potential("more", gp.logdet(matrix, ("k", "k'")), dims="series")
    return ("b",)


MODELS = {
    f.__name__: f
    for f in (garch, two_lags, two_arrays, nested, curve, latent_curve)
}
COORDS = {"t": T, "k": 3, "series": 2}


def compiled(name):
    with gp.Model(coords=COORDS) as model:
        names = MODELS[name]()
    return gp.compile(model, kernels={names: gp.NUTS(max_depth=5)}, rewrites=False)


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_the_log_density(name):
    sampler = compiled(name)

    assert sampler.verify().proved
    assert worst_slope(sampler) <= 1
