"""Rows of the table in whole models: conjugate hazards, directions, improper priors, counts."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Dim
from gibbsppl.initial.search import initial_state
from gibbsppl.kernels.adaptive_rejection import ConcaveDraw
from gibbsppl.kernels.exact import ExactDraw
from gibbsppl.model.density import log_terms

N = 12
LIFETIMES = np.linspace(0.1, 3.0, N)

# The statistic of the data that a Gamma(2, rate=1) prior of the rate is to be updated with.
HAZARDS = {
    "Gompertz": ({"shape": 0.3}, "rate", 1.0, np.expm1(0.3 * LIFETIMES) / 0.3),
    "Lomax": ({"scale": 2.0}, "shape", 1.0, np.log1p(LIFETIMES / 2)),
    "BurrXII": ({"c": 2.0}, "k", 1.0, np.log1p(LIFETIMES**2)),
    "Frechet": ({"shape": 2.0}, "rate", 1.0, LIFETIMES**-2.0),
    "GeneralizedGamma": ({"shape": 2.5, "power": 1.5}, "rate", 2.5, LIFETIMES**1.5),
    "Rayleigh": ({}, "tau", 1.0, LIFETIMES**2 / 2),
    "Maxwell": ({}, "tau", 1.5, LIFETIMES**2 / 2),
    "InverseGaussian": ({"mu": 2.0}, "lam", 0.5, (LIFETIMES - 2) ** 2 / (8 * LIFETIMES)),
    "Kumaraswamy": ({"a": 2.0}, "b", 1.0, -np.log1p(-((LIFETIMES / 4) ** 2))),
    "AsymmetricLaplace": (
        {"mu": 1.0, "q": 0.3},
        "rate",
        1.0,
        np.where(LIFETIMES < 1, 0.7 * (1 - LIFETIMES), 0.3 * (LIFETIMES - 1)),
    ),
}


def only_step(model):
    sampler = gp.compile(model, rewrites=False)
    assert sampler.verify().proved
    (step,) = sampler.schedule.steps
    return sampler, step


@pytest.mark.parametrize("name", HAZARDS)
def test_the_rate_of_a_hazard_has_a_gamma_conditional(name):
    known, rate, count, hazard = HAZARDS[name]
    seen = LIFETIMES / 4 if name == "Kumaraswamy" else LIFETIMES
    with gp.Model(coords={"i": N}) as model:
        unknown = gp.Gamma("unknown", 2, rate=1)
        getattr(gp, name)("y", **known, **{rate: unknown}, dims="i", observed=seen)
    sampler, step = only_step(model)
    draws = np.ravel(sampler.sample(500, chains=1, seed=1)["unknown"])
    posterior = stats.gamma(2 + count * N, scale=1 / (1 + hazard.sum()))

    assert isinstance(step, ExactDraw)
    assert step.conditional.family.name == "Gamma"
    assert stats.kstest(draws, posterior.cdf).pvalue > 1e-4 / len(HAZARDS)


def directions():
    rng = np.random.default_rng(2)
    found = rng.standard_normal((N, 3)) + np.array([2.0, 0.0, 1.0])
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def direction_model(observed):
    with gp.Model(coords={"i": N, "k": 3}) as model:
        north = gp.Data("north", np.array([0.0, 0.0, 1.0]), dims="k")
        mu = gp.VonMisesFisher("mu", north, 0.5, dims="k")
        gp.VonMisesFisher("y", mu, 3.0, dims=("i", "k"), event="k", observed=observed)
    return model


def test_the_mean_direction_of_unit_vectors_is_conjugate():
    sampler, step = only_step(direction_model(directions()))
    draws = sampler.sample(500, chains=1, seed=1)["mu"]
    draws = np.asarray(draws).reshape(-1, 3)
    eta = 3 * directions().sum(0) + [0, 0, 0.5]
    kappa = np.linalg.norm(eta)

    assert step.conditional.family.name == "VonMisesFisher"
    np.testing.assert_allclose((draws**2).sum(1), 1, rtol=1e-12)
    # in 3 dimensions the cosine of the angle to the mean is a truncated exponential variable
    assert stats.kstest(kappa - draws @ eta, stats.truncexpon(2 * kappa).cdf).pvalue > 1e-4


def test_missing_directions_are_drawn_whole():
    masked = np.ma.masked_array(directions(), mask=np.zeros((N, 3), dtype=bool))
    masked.mask[4] = True
    sampler = gp.compile(direction_model(masked))
    draws = np.asarray(sampler.sample(20, warmup=20, chains=1, seed=1)["y"]).reshape(-1, N, 3)

    assert sampler.verify().proved
    np.testing.assert_allclose((draws**2).sum(-1), 1, rtol=1e-12)
    assert np.unique(draws[:, 4, 0]).size == 20
    masked.mask[5, 1] = True
    with pytest.raises(gp.ModelError, match=r"at position .5,. is partly missing"):
        direction_model(masked)


def test_values_that_are_no_directions_are_refused():
    wrong = directions()
    wrong[3] *= 1.5
    with pytest.raises(gp.ModelError, match=r"y: found .* expected vectors of length one"):
        direction_model(wrong)


def test_angles_and_concentration():
    angles = np.random.default_rng(3).vonmises(2.0, 3.0, N)
    with gp.Model(coords={"i": N}) as model:
        mu = gp.VonMises("mu", 0, 0.1)
        gp.VonMises("y", mu, 3.0, dims="i", observed=angles)
    _, step = only_step(model)

    assert step.conditional.family.name == "VonMises"


def test_improper_priors_have_conditionals_and_start_by_the_rule():
    with gp.Model(coords={"i": N}) as model:
        mu = gp.Flat("mu")
        s = gp.HalfFlat("s")
        gp.Normal("y", mu, sigma=s, dims="i", observed=LIFETIMES)
    sampler = gp.compile(model)
    _, notes = initial_state(np.random.default_rng(1), model.graph, {"y": LIFETIMES})

    assert sampler.verify().proved
    assert notes == {"mu": "rule", "s": "rule"}
    with pytest.raises(gp.ModelError, match=r"mu: Flat cannot be simulated: an improper prior"):
        gp.simulate(model, seed=1)


def test_marked_items_given_a_sample_of_them_are_a_shifted_binomial():
    with gp.Model() as model:
        marked = gp.Binomial("marked", 30, 0.5)
        gp.Hypergeometric("y", 30, marked, 10, observed=4)
    sampler, _ = only_step(model)
    draws = np.ravel(sampler.sample(2000, chains=1, seed=1)["marked"])
    found = np.bincount((draws - 4).astype(int), minlength=21)
    expected = stats.binom(20, 0.5).pmf(np.arange(21)) * draws.size
    kept = expected > 5

    statistic = ((found[kept] - expected[kept]) ** 2 / expected[kept]).sum()
    assert found.size == 21
    assert stats.chi2.sf(statistic, kept.sum() - 1) > 1e-4


def test_truncated_counts_keep_their_rate_right():
    counts = np.array([1, 2, 1, 4, 3, 1])
    with gp.Model(coords={"i": 6}) as model:
        rate = gp.Gamma("rate", 2, rate=1)
        gp.Poisson("y", rate, lower=1, dims="i", observed=counts)
    only_step(model)
    rates = np.array([0.5, 1.0, 2.5])
    logs = [float(log_likelihood(model, r)) for r in rates]
    expected = [
        (stats.poisson(r).logpmf(counts) - stats.poisson(r).logsf(0)).sum() for r in rates
    ]
    np.testing.assert_allclose(logs, expected, rtol=1e-12)


def chi_squared(draws, masses):
    """The p-value of draws of whole numbers with these masses, rare ones pooled."""
    expected = np.asarray(masses) * draws.size
    found = np.bincount(draws.astype(int), minlength=expected.size)
    common = expected >= 5
    f, e = (np.append(v[common], v[~common].sum()) for v in (found, expected))
    kept = e > 1e-9
    assert f[~kept].sum() == 0
    return stats.chi2.sf(((f[kept] - e[kept]) ** 2 / e[kept]).sum(), kept.sum() - 1)


def test_tables_are_drawn_whole_and_weigh_as_the_customers_that_open_them():
    """With a child: the weights are those of the coins of the customers, times the child's."""
    with gp.Model(coords={"i": 2}) as model:
        n = gp.Data("n", [6, 0], dims="i")
        gp.ChineseRestaurantTable("t", n, 1.5, dims="i")
        seen = gp.ChineseRestaurantTable("seen", 6, 1.5)
        gp.Poisson("y", 0.5 + seen, observed=4)
    sampler = gp.compile(model)
    kinds = {s.statement.name: type(s) for s in sampler.schedule.steps}
    draws = sampler.sample(3000, warmup=10, chains=1, seed=1)
    masses = np.array([1.0])
    for opens in 1.5 / (1.5 + np.arange(6)):
        masses = np.append(masses * (1 - opens), 0) + np.append(0, masses * opens)
    weighted = masses * stats.poisson(0.5 + np.arange(7)).pmf(4)
    t = np.asarray(draws["t"]).reshape(-1, 2)

    assert sampler.verify().proved
    assert kinds["t"] is ExactDraw
    assert np.all(t[:, 1] == 0)
    assert chi_squared(t[:, 0], masses) > 1e-4
    assert chi_squared(np.ravel(draws["seen"]), weighted / weighted.sum()) > 1e-4


def test_a_latent_number_of_successes_is_a_label():
    with gp.Model() as model:
        n = gp.BetaBinomial("n", 10, alpha=2, beta=3)
        gp.Poisson("y", n + 0.1, observed=4)
    sampler, _ = only_step(model)
    x = np.arange(11)
    weights = stats.betabinom(10, 2, 3).pmf(x) * stats.poisson(x + 0.1).pmf(4)
    draws = np.ravel(sampler.sample(3000, chains=1, seed=1)["n"])

    assert chi_squared(draws, weights / weights.sum()) > 1e-4


COUNTS = np.array([0, 0, 3, 0, 2, 1, 0, 0])
INFLATED = {
    "ZeroInflatedPoisson": ({"rate": 2.5}, stats.poisson(2.5)),
    "ZeroInflatedBinomial": ({"n": 5, "p": 0.4}, stats.binom(5, 0.4)),
    "ZeroInflatedNegativeBinomial": ({"mu": 2.5, "alpha": 2.0}, stats.nbinom(2, 2 / 4.5)),
}


@pytest.mark.parametrize("name", INFLATED)
def test_the_share_of_structural_zeros_follows_its_posterior(name):
    known, base = INFLATED[name]
    with gp.Model(coords={"i": 8}) as model:
        psi = gp.Beta("psi", 2, 2)
        getattr(gp, name)("y", psi=psi, **known, dims="i", observed=COUNTS)
    sampler, step = only_step(model)
    draws = np.ravel(sampler.sample(500, warmup=10, chains=1, seed=1)["psi"])
    at = (np.arange(20_000) + 0.5) / 20_000
    zeros = (COUNTS == 0).sum()
    density = stats.beta(2, 2).pdf(at) * at ** (COUNTS.size - zeros)
    density *= (1 - at + at * base.pmf(0)) ** zeros
    mass = np.cumsum(density) / density.sum()

    assert isinstance(step, ConcaveDraw)
    assert stats.kstest(draws, lambda x: np.interp(x, at, mass)).pvalue > 1e-4 / len(INFLATED)


def test_a_covariance_with_half_t_sds_is_a_prior_that_can_be_observed():
    """The scales of the sds given the matrix; simulated matrices have the density declared."""
    with gp.Model(coords={"k": 2}) as model:
        scale = gp.Gamma("scale", 2, rate=1, dims="k")
        gp.HuangWand("S", 2, scale, dims=("k", "k'"), observed=[[2.0, 0.3], [0.3, 1.0]])
    only_step(model)
    with gp.Model(coords={"k": 2}) as prior:
        gp.HuangWand("S", 3, 1.5, dims=("k", "k'"))
    S = np.asarray(gp.simulate(prior, draws=2000, seed=1)["S"])
    sds = np.sqrt(np.einsum("nkk->nk", S))

    for k in range(2):
        assert stats.kstest(sds[:, k] ** 2 / 1.5**2, stats.f(1, 3).cdf).pvalue > 1e-4


def vectors_of_heavy_tails(matrix):
    """A location with vectors about it, one of them far out."""
    values = np.array([[0.3, -0.2], [1.1, 0.9], [0.2, 1.4], [9.0, -7.0]])
    with gp.Model(coords={"i": 4, "k": 2}) as model:
        mu = gp.Normal("mu", 0, tau=0.1, dims="k")
        if matrix is None:
            identity = gp.Data("identity", np.eye(2), dims=("k", "k'"))
            tau = gp.Wishart("tau", 4, R=identity, dims=("k", "k'"))
        else:
            tau = gp.Data("tau", matrix, dims=("k", "k'"))
        gp.MvStudentT("y", 3, mu, tau=tau, dims=("i", "k"), event="k", observed=values)
    return model, values


def test_the_location_and_the_precision_of_multivariate_t_vectors_are_exact():
    """Each vector has a weight: that a quadratic form is positive is known of its matrix."""
    sampler = gp.compile(vectors_of_heavy_tails(None)[0])
    families = {s.conditional.family.name for s in sampler.schedule.steps}

    assert sampler.verify().proved
    assert families == {"Gamma", "Wishart", "MvNormal"}


def test_the_location_of_multivariate_t_vectors_follows_its_posterior():
    matrix = np.array([[2.0, 0.5], [0.5, 1.0]])
    model, values = vectors_of_heavy_tails(matrix)
    sampler = gp.compile(model)
    draws = np.asarray(sampler.sample(4000, warmup=100, chains=2, seed=1)["mu"])
    at = np.linspace(-6, 8, 401)
    grid = np.stack(np.meshgrid(at, at, indexing="ij"), axis=-1)
    logs = stats.norm(0, 10**0.5).logpdf(grid).sum(-1)
    for row in values:
        logs += stats.multivariate_t(row, np.linalg.inv(matrix), 3).logpdf(grid)
    mass = np.exp(logs - logs.max())

    for k in range(2):
        marginal = mass.sum(axis=1 - k) / mass.sum()
        means = draws[..., k].reshape(80, -1).mean(axis=1)  # of parts that are nearly independent
        error = means.std(ddof=1) / 80**0.5
        assert abs(means.mean() - marginal @ at) < stats.norm.isf(1e-4 / 4) * error


def test_a_variance_that_is_a_ratio_of_chi_squared_variables_has_a_half_t_root():
    with gp.Model(coords={"i": N}) as model:
        variance = gp.FisherSnedecor("variance", 1, 4)
        gp.Normal("y", 0, var=variance, dims="i", observed=LIFETIMES)
    _, step = only_step(model)
    with gp.Model() as prior:
        gp.FisherSnedecor("variance", 1, 4)
    roots = np.sqrt(np.ravel(gp.simulate(prior, draws=2000, seed=1)["variance"]))

    assert isinstance(step, ConcaveDraw)
    assert stats.kstest(roots, lambda x: 2 * stats.t(4).cdf(x) - 1).pvalue > 1e-4


def test_scales_on_the_diagonal_of_a_wishart_matrix_have_gamma_conditionals():
    """The determinant of a diagonal matrix is the product of its entries."""
    with gp.Model(coords={"k": 2}) as model:
        k, scale = gp.Tensor(Dim("k"), model), gp.Gamma("scale", 2, rate=1, dims="k")
        diagonal = scale * gp.equals(k, gp.Tensor(primed(Dim("k")), model))
        values = [[2.0, 0.3], [0.3, 1.0]]
        gp.Wishart("omega", 5, R=diagonal, dims=("k", "k'"), observed=values)
    sampler, step = only_step(model)
    draws = np.asarray(sampler.sample(2000, chains=1, seed=1)["scale"]).reshape(-1, 2)

    assert step.conditional.family.name == "Gamma"
    for k, entry in enumerate((2.0, 1.0)):
        posterior = stats.gamma(2 + 5 / 2, scale=1 / (1 + entry / 2))
        assert stats.kstest(draws[:, k], posterior.cdf).pvalue > 1e-4 / 2


def log_likelihood(model, rate):
    values = {"rate": np.array(rate), "y": np.array([1, 2, 1, 4, 3, 1])}
    return log_terms(model.graph, values)["y"]


def test_bounds_of_counts_are_whole_numbers():
    message = r"n: a bound: found 2.5; expected a whole number"
    with gp.Model(), pytest.raises(gp.ModelError, match=message):
        gp.Poisson("n", 10.0, lower=2.5)


def test_a_tilted_polya_gamma_variable_is_one():
    """The conditional of the augmentation: ``exp(-omega psi**2 / 2)`` moves c alone."""
    psi = np.linspace(-3, 3, N)
    with gp.Model(coords={"i": N}) as model:
        predictor = gp.Data("psi", psi, dims="i")
        omega = gp.PolyaGamma("omega", b=2.5, c=1.5, dims="i")
        gp.Potential("seen", -omega * predictor**2 / 2)
    sampler, step = only_step(model)
    draws = np.asarray(sampler.sample(2000, chains=1, seed=1)["omega"]).reshape(-1, N)
    c = np.hypot(1.5, psi)
    mean = 2.5 / (2 * c) * np.tanh(c / 2)
    variance = 2.5 / (4 * c**3) * (np.sinh(c) - c) / np.cosh(c / 2) ** 2

    assert isinstance(step, ExactDraw)
    assert step.conditional.family.name == "PolyaGamma"
    z = (draws.mean(0) - mean) / np.sqrt(variance / len(draws))
    assert np.abs(z).max() < stats.norm.isf(1e-4 / N / 2)


def test_the_logistic_identity_gives_two_exact_steps():
    with gp.Model(coords={"i": N}) as model:
        psi = gp.Normal("psi", 0, tau=1, dims="i")
        omega = gp.PolyaGamma("omega", b=1, c=0, dims="i")
        gp.Potential("seen", 0.5 * psi - omega * psi**2 / 2)
    sampler = gp.compile(model)
    names = {s.conditional.family.name for s in sampler.schedule.steps}

    assert sampler.verify().proved
    assert names == {"Normal", "PolyaGamma"}
