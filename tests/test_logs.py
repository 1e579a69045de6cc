"""Logs of products and powers are taken apart where signs are known, by the bounds of arrays."""

import pickle

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, Times
from gibbsppl.pieces.logs import expand_logs

K = Dim("k")
P = Array("p", (0, 1), positive=True)[K]
Q = Array("q", (0, 1), positive=True)[primed(K)]
PHI = Array("phi", (-1, 1))[()]
RATE = Array("rate", positive=True)[()]
X, Y = Array("x")[()], Array("y")[()]
TARGETS = {"p", "q", "phi", "rate", "x", "y"}

log = sp.log
EXPANDED = {
    "shares": (log(P * (1 - P) * (1 - Q)), log(P) + log(1 - P) + log(1 - Q)),
    "an even power of a share": (log((P - 1) ** 2), 2 * log(1 - P)),
    "an autocorrelation": (log(1 - PHI**2), log(1 - PHI) + log(1 + PHI)),
    "a quotient": (log(P / (1 - P)), log(P) - log(1 - P)),
    "an even power of either sign": (log((X + Y) ** 2), 2 * log(sp.Abs(X + Y))),
    "a rate may be above 1": (log((1 - RATE) ** 2), 2 * log(sp.Abs(RATE - 1))),
    "two of either sign": (log((1 - RATE) * (2 - RATE) * P),
                           log((1 - RATE) * (2 - RATE)) + log(P)),
    "one of either sign": (log(P * (1 - RATE)), log(P) + log(1 - RATE)),
    "one of factors of either sign": (log(Times(X * P, K)), log(Times(X * P, K))),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPANDED)
def test_logs_are_taken_apart_where_signs_are_known(name):
    found, expected = EXPANDED[name]
    assert sp.expand(expand_logs(found, TARGETS) - expected) == 0


def test_a_product_over_a_dim_of_shares_is_taken_apart():
    assert not expand_logs(log(Times(1 - P, K)), TARGETS).has(Times)


def test_arrays_of_other_bounds_are_others():
    share = Array("p", (0, 1), positive=True)
    assert share != Array("p", positive=True)
    assert Array("tau", (0, sp.oo), positive=True) == Array("tau", positive=True)
    assert pickle.loads(pickle.dumps(share)) == share
    assert share.renamed("q") == Array("q", (0, 1), positive=True)


def standard_deviations():
    """Those that are of either sign, but for the squares that are variances."""
    a, b = gp.Normal("a", 0, sigma=1), gp.Normal("b", 0.5, sigma=1)
    yield a + b
    yield a - b - 1
    yield b * (2 - a)
    rate = gp.Gamma("rate", 2, rate=1)
    yield 1 - rate
    yield (1 - rate) * (3 - rate)
    yield gp.log(rate) + b
    yield gp.sum(gp.Normal("c", 0, sigma=1, dims="i"), "i") - rate


@pytest.mark.parametrize("number", range(7))
def test_variances_are_squares_of_what_may_have_either_sign(number):
    with gp.Model(coords={"i": 3}) as m:
        sd = next(sd for n, sd in enumerate(standard_deviations()) if n == number)
        gp.Deterministic("sd", sd)
        gp.Normal("y", 0, var=sd**2, dims="i", observed=[1.0, 2.0, -1.0])
    sampler = gp.compile(m)
    draws = sampler.sample(1000, seed=3)["sd"]

    assert all(sampler.verify(seed=seed).proved for seed in range(3))
    assert {-1, 1} == set(np.sign(draws).ravel().astype(int))


def test_variances_are_products_of_two_of_either_sign():
    """Positive below 1 and above 3, where the logs of both factors have no value."""
    with gp.Model() as m:
        rate = gp.Gamma("rate", 2, rate=0.5)
        gp.Normal("y", 0, var=(1 - rate) * (3 - rate), observed=1.0)
    sampler = gp.compile(m)

    assert all(sampler.verify(seed=seed).proved for seed in range(3))
    assert np.isfinite(sampler.program.given_rest["rate"]({}, sampler.constants)(np.array(4.0)))


def test_exponentials_are_left_where_they_cannot_overflow():
    """The mass below a bound 1,300 scales away is ``1 - exp(-1300) / 2``, and no quotient."""
    with gp.Model() as m:
        scale = gp.Uniform("scale", 0, 1)
        gp.Laplace("y", 0.0, scale=scale, upper=1.3, observed=0.001)
    sampler = gp.compile(m)
    log_density = sampler.program.given_rest["scale"]({}, sampler.constants)

    found = log_density(np.array(0.001)) - log_density(np.array(0.002))
    assert found == pytest.approx(np.log(2) - 0.5, rel=1e-12)


def test_the_log_of_an_event_far_below_the_smallest_number_is_its_own():
    """Events of a rate with a heavy tail near 0, which is drawn on the scale of its log."""
    program = """model {
      for (i in 1:2) {
        rate[i] ~ dt(0, pow(2, -2), 0.5) T(0, )
        y[i] ~ dbern(1 - exp(-rate[i]))
      }
    }"""
    sampler = gp.compile(gp.read_bugs(program, data={"y": [1, 0]}))
    (step,) = sampler.schedule.steps
    log_density = sampler.program.given_rest["rate"]({}, sampler.constants)
    u = np.array([-1000.0, -744.7, -40.0, -1.0])
    found = np.array([log_density(np.array([x, x]))[0] for x in u])

    assert step.kind == "concave"
    x = np.exp(u[-1])
    far = 2 * u  # (of the event, and of the measure of the log)
    near = -0.75 * np.log1p(x**2 / 2) + u[-1] + np.log(-np.expm1(-x))
    np.testing.assert_allclose(found - found[0], [*far[:-1], near] - far[0], rtol=1e-14)


def test_a_quotient_by_what_a_share_leaves_is_the_odds():
    with gp.Model() as model:
        a = gp.InverseGaussian("a", mu=1, lam=1)
        share = a / (1 + a)
        gp.Gompertz("b", shape=share / (1 - share), rate=2.0)
        gp.Gamma("y", shape=a, rate=1, observed=0.3)
    kinds = {s.statement.name: s.kind for s in gp.compile(model).schedule.steps}

    assert kinds["b"] == "exact"
    assert str((1 - share) / share) == "1/a"
