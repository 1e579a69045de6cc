"""Fits beside scikit-learn's, where the models are the same: to the tolerance of its fits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import special

import gibbsppl as gp
import models

pytest.importorskip("sklearn")
pytestmark = pytest.mark.slow


def test_a_regression_is_that_of_bayesian_ridge():
    from sklearn.linear_model import BayesianRidge

    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 5))
    y = X @ rng.standard_normal(5) + 0.7 * rng.standard_normal(80)
    with gp.Model(name="ridge", coords={"k": 5, "i": 80}) as model:
        D = gp.Data("D", X, dims=("i", "k"))
        noise, weight = (gp.Gamma(n, 1e-6, rate=1e-6) for n in ("noise", "weight"))
        w = gp.Normal("w", 0, tau=weight, dims="k")
        gp.Normal("y", (D * w).sum("k"), tau=noise, dims="i", observed=y)
    fit = gp.compile(model).variational(seed=1, tolerance=1e-15, progress=False)
    ridge = BayesianRidge(tol=1e-14, max_iter=5000, fit_intercept=False).fit(X, y)

    assert_allclose(fit.mean("w"), ridge.coef_, rtol=1e-6)
    assert_allclose(fit.mean("noise"), ridge.alpha_, rtol=1e-6)
    assert_allclose(fit.mean("weight"), ridge.lambda_, rtol=1e-6)


def test_topics_have_the_bound_of_the_peer():
    from sklearn.decomposition import LatentDirichletAllocation

    corpus = models.lda.bars()
    fit = gp.compile(models.lda.model(corpus=corpus, topics=6)).variational(
        seed=3, tolerance=1e-14, progress=False
    )
    doc, word = corpus[:2]
    counts = np.zeros((max(doc) + 1, max(word) + 1))
    np.add.at(counts, (doc, word), 1)
    topics, shares = (_parameters(fit, name) for name in ("phi", "theta"))
    peer = LatentDirichletAllocation(
        6, doc_topic_prior=models.lda.ALPHA, topic_word_prior=models.lda.ETA, max_iter=1,
        max_doc_update_iter=100_000, mean_change_tol=1e-13, random_state=0,
    ).fit(counts)  # fmt: skip
    peer.components_ = topics.copy()

    assert_allclose(fit.elbo, peer._approx_bound(counts, shares, sub_sampling=False), rtol=1e-9)


def _parameters(fit, name):
    """The parameter of each Dirichlet of q: its natural parameters and one."""
    (eta,) = fit.program.given_rest[name](fit.state, fit.constants)
    return np.asarray(eta) + 1


def test_em_of_a_mixture_is_that_of_the_peer():
    from sklearn.mixture import GaussianMixture

    rng = np.random.default_rng(1)
    y = np.concatenate([rng.normal(-2, 1, 150), rng.normal(3, 1.5, 100)])
    with gp.Model(name="mixture", coords={"k": 2, "i": len(y)}) as model:
        w = gp.Dirichlet("w", 1, dims="k", event="k")
        mu, tau = gp.Flat("mu", dims="k"), gp.Gamma("tau", 1, rate=1e-6, dims="k")
        z = gp.Categorical("z", w, dims="i", event="k")
        gp.Normal("y", mu[z], tau=tau[z], dims="i", observed=y)
    init = {"w": [0.5, 0.5], "mu": [-1.0, 1.0], "tau": [1.0, 1.0]}
    best = gp.compile(model).maximise(init=init, tolerance=1e-15, seed=1, progress=False)
    peer = GaussianMixture(
        2, tol=1e-14, max_iter=5000, reg_covar=0, weights_init=[0.5, 0.5],
        means_init=[[-1.0], [1.0]], precisions_init=np.ones((2, 1, 1)),
    ).fit(y[:, None])  # fmt: skip

    assert_allclose(best.values["mu"], peer.means_.ravel(), rtol=1e-4)
    assert_allclose(best.values["w"], peer.weights_, rtol=1e-4)
    assert_allclose(best.values["tau"], peer.precisions_.ravel(), rtol=1e-4)


def test_a_mixture_by_means_is_that_of_the_peer():
    from sklearn.mixture import BayesianGaussianMixture

    rng = np.random.default_rng(2)
    y = np.concatenate([rng.normal(-3, 1, 150), rng.normal(3, 1, 100)])
    peer = BayesianGaussianMixture(
        n_components=2, weight_concentration_prior_type="dirichlet_distribution",
        weight_concentration_prior=1.0, mean_precision_prior=0.1, mean_prior=[0.0],
        degrees_of_freedom_prior=3.0, covariance_prior=[[2.0]], tol=1e-14, max_iter=10_000,
        reg_covar=0, random_state=0,
    ).fit(y[:, None])  # fmt: skip
    # (the means are normal given the precisions: q has both jointly there, apart here)
    with gp.Model(name="normal gamma", coords={"k": 2, "i": len(y)}) as model:
        w = gp.Dirichlet("w", 1, dims="k", event="k")
        tau = gp.Gamma("tau", 1.5, rate=1.0, dims="k")
        mu = gp.Normal("mu", 0, tau=0.1 * tau, dims="k")
        z = gp.Categorical("z", w, dims="i", event="k")
        gp.Normal("y", mu[z], tau=tau[z], dims="i", observed=y)
    init = {"mu": peer.means_.ravel(), "tau": peer.precisions_.ravel(), "w": peer.weights_}
    fit = gp.compile(model).variational(init=init, seed=1, progress=False)

    assert_allclose(fit.mean("mu"), peer.means_.ravel(), rtol=2e-2, atol=1e-2)
    assert_allclose(fit.mean("w"), peer.weights_, rtol=1e-2)


def test_a_count_factorisation_is_that_of_multiplicative_updates():
    from sklearn.decomposition import NMF

    rng = np.random.default_rng(3)
    rows, columns, size = 30, 20, 3
    Y = rng.poisson(rng.gamma(4, 1, size=(rows, size)) @ rng.gamma(4, 1, size=(size, columns)))
    with gp.Model(name="nmf", coords={"d": rows, "w": columns, "k": size}) as model:
        left = gp.Gamma("left", 1, rate=1e-12, dims=("d", "k"))
        right = gp.Gamma("right", 1, rate=1e-12, dims=("k", "w"))
        gp.Poisson("y", (left * right).sum("k"), dims=("d", "w"), observed=Y)
    init = {"left": rng.gamma(1, 1, size=(rows, size)), "right": rng.gamma(1, 1, (size, columns))}
    best = gp.compile(model).maximise(init=init, sweeps=4000, tolerance=0, seed=1, progress=False)
    peer = NMF(size, init="custom", solver="mu", beta_loss="kullback-leibler", tol=0, max_iter=4000)
    W = peer.fit_transform(Y.astype(float), W=init["left"].copy(), H=init["right"].copy())

    ours = best.values["left"] @ best.values["right"]
    theirs = W @ peer.components_
    heights = [(special.xlogy(Y, m) - m).sum() for m in (ours, theirs)]
    assert_allclose(heights[0], heights[1], rtol=1e-8)


def test_a_logit_by_modes_is_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(4)
    X = rng.standard_normal((300, 4))
    y = (rng.random(300) < special.expit(X @ [1, -1, 0.5, 0])).astype(int)
    with gp.Model(name="logit", coords={"k": 4, "i": 300}) as model:
        D = gp.Data("D", X, dims=("i", "k"))
        b = gp.Normal("b", 0, tau=1, dims="k")
        gp.Bernoulli("y", gp.expit((D * b).sum("k")), dims="i", observed=y)
    best = gp.compile(model).maximise(seed=1, tolerance=1e-15, progress=False)
    peer = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12, max_iter=10_000).fit(X, y)

    assert_allclose(best.values["b"], peer.coef_[0], atol=1e-6)


def test_a_logit_by_means_is_the_bound_of_jaakkola_and_jordan():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 3))
    y = (rng.random(200) < special.expit(X @ [1, -1, 0.5])).astype(int)
    with gp.Model(name="bound", coords={"k": 3, "i": 200}) as model:
        D = gp.Data("D", X, dims=("i", "k"))
        b = gp.Normal("b", 0, tau=1, dims="k")
        gp.Bernoulli("y", gp.expit((D * b).sum("k")), dims="i", observed=y)
    fit = gp.compile(model).variational(seed=1, tolerance=1e-15, progress=False)
    mean, C = np.zeros(3), np.eye(3)
    for _ in range(500):
        xi = np.sqrt(np.einsum("ij,jk,ik->i", X, C + np.outer(mean, mean), X))
        C = np.linalg.inv(np.eye(3) + (X * (np.tanh(xi / 2) / (2 * xi))[:, None]).T @ X)
        mean = C @ (X.T @ (y - 0.5))
    bound = np.linalg.slogdet(C)[1] / 2 + mean @ np.linalg.inv(C) @ mean / 2
    bound += (-np.log1p(np.exp(-xi)) - xi / 2 + np.tanh(xi / 2) / 4 * xi).sum()

    assert_allclose(fit.mean("b"), mean, rtol=1e-7)
    assert_allclose(fit.elbo, bound, rtol=1e-10)


def test_a_hidden_markov_model_by_em_is_baum_welch():
    """Flat priors, so that modes are the maximum of the likelihood; states all start alike."""
    hmm = pytest.importorskip("hmmlearn.hmm")

    counts = np.array(models.hidden_markov.EARTHQUAKES["counts"])
    peer = hmm.PoissonHMM(2, init_params="", params="tl", tol=1e-13, n_iter=10_000)
    peer.startprob_ = np.array([0.5, 0.5])
    peer.transmat_ = np.array([[0.9, 0.1], [0.2, 0.8]])
    peer.lambdas_ = np.array([[15.0], [26.0]])
    peer.fit(counts[:, None])
    model = models.hidden_markov.model(shape=1, rate=1e-300)
    best = gp.compile(model).maximise(
        init={"rate": [15.0, 26.0], "P": [[0.9, 0.1], [0.2, 0.8]]},
        tolerance=1e-15, progress=False,
    )  # fmt: skip

    assert_allclose(best.values["rate"], peer.lambdas_[:, 0], rtol=1e-6)
    assert_allclose(best.values["P"], peer.transmat_, rtol=1e-5)
