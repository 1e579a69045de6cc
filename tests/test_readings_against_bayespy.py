"""Fits beside BayesPy's, on models of its documentation: bounds and moments at convergence.

The models are those of its quick start, of linear regression, and of a Gaussian mixture
(J. Luttinen, 2016, "BayesPy: Variational Bayesian Inference in Python", JMLR 17). Both programs
factorise the approximation in the same way, and have the same bound, constants included.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gibbsppl as gp

pytest.importorskip("bayespy")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def converged(*nodes):
    from bayespy.inference import VB

    found = VB(*nodes)
    found.update(repeat=5000, tol=1e-15, verbose=False)
    return found.compute_lowerbound()


def fitted(model, **init):
    return gp.compile(model).variational(
        seed=1, tolerance=1e-15, init=init or None, progress=False
    )


def test_an_unknown_mean_and_precision():
    from bayespy.nodes import Gamma, GaussianARD

    data = np.random.default_rng(1).normal(5, 10, size=10)
    mu, tau = GaussianARD(0, 1e-6), Gamma(1e-6, 1e-6)
    y = GaussianARD(mu, tau, plates=(10,))
    y.observe(data)
    bound = converged(mu, tau, y)
    with gp.Model(name="start") as model:
        own_mu, own_tau = gp.Normal("mu", 0, tau=1e-6), gp.Gamma("tau", 1e-6, rate=1e-6)
        gp.Normal("y", own_mu, tau=own_tau, dims="i", observed=data)
    fit = fitted(model)

    assert_allclose(fit.elbo, bound, rtol=1e-10)
    assert_allclose(fit.mean("mu"), mu.u[0], rtol=1e-7)
    assert_allclose(fit.mean("tau"), tau.u[0], rtol=1e-7)


def test_linear_regression():
    from bayespy.nodes import Gamma, GaussianARD, SumMultiply

    x = np.arange(10.0)
    data = 2 * x + 5 + 2 * np.random.default_rng(2).standard_normal(10)
    design = np.stack([x, np.ones(10)], axis=1)
    b, tau = GaussianARD(0, 1e-6, shape=(2,)), Gamma(1e-3, 1e-3)
    y = GaussianARD(SumMultiply("i,i", b, design), tau)
    y.observe(data)
    bound = converged(y, b, tau)
    with gp.Model(name="line", coords={"k": 2, "i": 10}) as model:
        own_design = gp.Data("design", design, dims=("i", "k"))
        own_b, own_tau = gp.Normal("b", 0, tau=1e-6, dims="k"), gp.Gamma("tau", 1e-3, rate=1e-3)
        gp.Normal("y", (own_design * own_b).sum("k"), tau=own_tau, dims="i", observed=data)
    fit = fitted(model)

    assert_allclose(fit.elbo, bound, rtol=1e-10)
    assert_allclose(fit.mean("b"), b.u[0], rtol=1e-7)
    assert_allclose(fit.sd("b") ** 2, np.diag(b.u[1]) - b.u[0] ** 2, rtol=1e-6)
    assert_allclose(fit.mean("tau"), tau.u[0], rtol=1e-7)


def test_a_mixture_of_normal_vectors():
    from bayespy.nodes import Categorical, Dirichlet, Gaussian, Mixture, Wishart

    rng = np.random.default_rng(3)
    centres, labels = np.array([[0, 0], [9, 0], [0, 9]]), np.repeat(range(3), 20)
    data = rng.standard_normal((60, 2)) + centres[labels]
    shares = Dirichlet(0.5 * np.ones(3))
    z = Categorical(shares, plates=(60,))
    mu = Gaussian(np.zeros(2), 0.01 * np.eye(2), plates=(3,))
    precision = Wishart(3, 2 * np.eye(2), plates=(3,))
    y = Mixture(z, Gaussian, mu, precision)
    z.initialize_from_value(labels)
    y.observe(data)
    bound = converged(y, mu, precision, z, shares)
    square = ("d", "d'")
    with gp.Model(name="mixture", coords={"k": 3, "i": 60, "d": 2}) as model:
        weak, scale = (
            gp.Data(n, a * np.eye(2), dims=square) for n, a in (("weak", 0.01), ("scale", 2))
        )
        own_shares = gp.Dirichlet("shares", 0.5, dims="k", event="k")
        own_z = gp.Categorical("z", own_shares, dims="i")
        own_mu = gp.MvNormal("mu", gp.Data("zero", np.zeros(2), dims="d"), tau=weak,
                             dims=("k", "d"), event="d")  # fmt: skip
        own_precision = gp.Wishart("precision", 3, R=scale, dims=("k", *square), event=square)
        gp.MvNormal("y", own_mu[own_z], tau=own_precision[own_z], dims=("i", "d"), event="d",
                    observed=data)  # fmt: skip
    fit = fitted(model, z=labels, mu=centres, precision=[np.eye(2)] * 3)

    assert_allclose(fit.elbo, bound, rtol=1e-8)
    assert_allclose(fit.mean("mu"), mu.u[0], rtol=1e-5, atol=1e-6)
    assert_allclose(fit.mean("precision"), precision.u[0], rtol=1e-5, atol=1e-6)
    assert_allclose(fit.probabilities("z"), z.u[0], atol=1e-6)
