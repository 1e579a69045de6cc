"""Gradients through recursions, matrices and their inverses, products and extremes.

Each by differences, and NumPy beside loops. (Those of functions, by their rows, are in
`test_function_rows`.)
"""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim, Over
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive import adjoints
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.shared import shared_parts
from gibbsppl.errors import CompileError
from tests.slopes_by_differences import moved_step, worst_slope

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


def by_series():
    """A recursion for each series, of which each has parameters of its own."""
    a = gp.Beta("a", 2, 3, dims="series")
    x = gp.Normal("x", 0, sigma=1, dims="series")
    m = gp.Array("m", dims=("series", "t"))
    m[:, 0] = x
    m[:, 1:] = a * m.lag("t") + gp.exp(-x)
    y = np.array([Y, 1 - Y])
    gp.Normal("y", m.max("t") - m, sigma=1, dims=("series", "t"), observed=y)
    return "a", "x"


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


def curves():
    """Several curves of one process, and a process for each series: matrices by group."""
    apart = gp.Data("apart", APART, dims=("t", "t'"))
    same = gp.Data("same", np.eye(T), dims=("t", "t'"))
    zero = gp.Data("zero", np.zeros(T), dims="t")
    rho, noise = gp.Gamma("rho", 4, rate=4, dims="series"), gp.Gamma("noise", 4, rate=4)
    own = gp.exp(-apart / (2 * rho**2)) + noise * same
    both = gp.exp(-apart * noise / 2) + 0.1 * same
    y = np.array([Y, 1 - Y])
    gp.MvNormal("y", zero, cov=own, dims=("series", "t"), event="t", observed=y)
    gp.MvNormal("z", zero, cov=both, dims=("series", "t"), event="t", observed=y)
    return "rho", "noise"


def products():
    """Products, of which one has terms of any sign, sums so far, extremes and pieces of a stick."""
    u = gp.Normal("u", 0, sigma=1, dims="t")
    p = gp.Beta("p", 2, 3, dims="t")
    gp.Normal("y", (1 + u).prod("t") + gp.cumsum(u, "t"), sigma=1, dims="t", observed=Y)
    odds = p.prod("t") / (1 - p.prod("t"))
    gp.Normal("z", gp.cumprod(p, "t") + u.max("t"), var=1 + odds, dims="t", observed=Y)
    gp.Normal("w", gp.maximum(u, p) * p.min("t") + gp.abs(u), sigma=1, dims="t", observed=Y)
    return "u", "p"


FORWARD = """
model {
  for (k in 1:3) { for (l in 1:3) { u[k, l] ~ dnorm(0, 1) } }
  for (k in 1:3) { p[1, k] <- 1 / 3 }
  for (t in 2:6) {
    for (k in 1:3) { p[t, k] <- 0.1 + inprod(p[t - 1, ], exp(u[, k])) / 10 }
  }
  for (t in 1:6) { y[t] ~ dnorm(p[t, 1] - p[t, 3], 1) }
}
"""

ENTRIES = """
model {
  for (k in 1:3) { b[k] ~ dnorm(0, 4) }
  for (k in 1:3) {
    for (l in 1:3) { m[k, l] <- equals(k, l) * (1 + exp(b[k])) + 0.2 * b[k] * b[l] }
  }
  i[1:3, 1:3] <- inverse(m[1:3, 1:3])
  for (k in 1:3) { for (l in 1:3) { z[k, l] ~ dnorm(exp(i[k, l]), 1) } }
  y ~ dnorm(logdet(m[1:3, 1:3]), 1)
}
"""

PROGRAMS = {
    "forward": (FORWARD, {"y": Y}, ("u",)),
    "entries": (ENTRIES, {"y": 0.5, "z": np.ones((3, 3))}, ("b",)),
}
MODELS = {
    f.__name__: f
    for f in (
        garch, two_lags, two_arrays, by_series, nested, curve, latent_curve, curves, products
    )
}
COORDS = {"t": T, "series": 2}


def compiled(name):
    if name in PROGRAMS:
        text, data, names = PROGRAMS[name]
        model = gp.read_bugs(text, data=data)
    else:
        with gp.Model(coords=COORDS) as model:
            names = MODELS[name]()
    return gp.compile(model, kernels={names: gp.NUTS(max_depth=5)}, rewrites=False)


EVERY_DAY = ("two_lags", "by_series", "curve", "products", "forward", "entries")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=() if n in EVERY_DAY else pytest.mark.slow)
        for n in (*MODELS, *PROGRAMS)
    ],
)
def test_gradients_are_those_of_the_log_density(name):
    assert worst_slope(compiled(name)) <= 1


@pytest.mark.parametrize(
    ("name", "part"),
    [("curve", "_by_vectors"), ("curves", "_by_products"), ("garch", "_direct")],
)
def test_a_wrong_adjoint_is_noticed(monkeypatch, name, part):
    found = getattr(adjoints._Reverse, part)

    def wrong(*args):
        own, spoilt = found(*args), 1 + sp.Rational(1, 10**6)
        if isinstance(own, Contribution):
            return replace(own, value=own.value * spoilt)
        return own and own * spoilt

    monkeypatch.setattr(adjoints._Reverse, part, wrong)

    assert worst_slope(compiled(name)) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MODELS, *PROGRAMS])
def test_log_densities_and_calls_are_proved(name):
    assert compiled(name).verify().proved


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MODELS, *PROGRAMS])
def test_loops_make_the_same_moves(name):
    """One move: rounding of two programs, which paths of many steps let grow."""
    sampler = compiled(name)
    settings = {"warmup": 1, "chains": 1, "seed": 4, "progress": False}
    ours, theirs = (sampler.sample(1, backend=b, **settings) for b in ("numpy", "compiled"))
    for n in moved_step(sampler).variables:
        assert ours[n] == pytest.approx(theirs[n], rel=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["garch", "curve"])
def test_moves_leave_the_joint_distribution_as_it_is(name):
    sampler = compiled(name)

    assert sampler.check_kernel(moved_step(sampler).name, seed=1, replicates=500).passed


def compiled_text(model, names):
    """The source without its first lines, which show the model."""
    source = gp.compile(model, kernels={names: gp.NUTS()}, rewrites=False).source
    return source[source.index("from numpy") :]


def test_a_source_serves_other_sizes():
    """No size is a number of the generated text, in the way back either."""
    with gp.Model(coords=COORDS) as model:
        names = MODELS["garch"]()
    source = compiled_text(model, names)
    with gp.Model(coords={**COORDS, "t": 2 * T}) as model:
        before = gp.Data("before", np.append(BEFORE, BEFORE), dims="t")
        a, b = gp.Beta("a", 2, 3), gp.Beta("b", 2, 3)
        mu = gp.Normal("mu", 0, sigma=1)
        v = gp.Array("v", dims="t")
        v[0] = 0.5
        v[1:] = 0.2 + a * (before - mu) ** 2 + b * v.lag("t")
        gp.Normal("y", mu, var=v, dims="t", observed=np.append(Y, Y))

    assert compiled_text(model, names) == source


def test_what_has_no_gradient_is_told():
    """A shape of an incomplete gamma function, by which no derivative is known."""
    with gp.Model() as model:
        a = gp.Gamma("a", 2, rate=1)
        gp.Gamma("y", a, rate=1, lower=0.5, observed=2.0)
    with pytest.raises(CompileError, match="LogGammaQ has no derivative"):
        gp.compile(model, kernels={"a": gp.NUTS()})


# ---- parts that are shared ---------------------------------------------------------------------


def test_no_part_that_is_shared_holds_a_step():
    b, h, i, j = Array("b"), Array("h"), Dim("i"), Dim("j")
    step = Over(h[i] * sp.exp(b[i]), i)
    terms = [("y", step * sp.exp(b[j]), (Range(j, 0, 3),)), ("y", step * b[j], (Range(j, 0, 3),))]

    def held(steps):
        found = shared_parts(terms, {"b"}, {i: 3, j: 3}, {"b"}, steps=steps)
        return {str(p.value) for p in found.parts}

    assert "sum(exp(b[i])*h[i], i)" in held(())
    assert held({"h"}) == {"exp(b[i])"}
