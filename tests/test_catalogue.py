"""The catalogue of conjugate forms: every conditional has the stated parameters, in every spelling.

The stated formulas stand beside the models in `forms.catalogue_*`, and are compared with what the
generated functions return at random states. Draws of single variables are compared with the
integral of the joint density; formulas that are known to be wrong are shown to fail.
"""

import functools

import numpy as np
import pytest
from forms import (
    catalogue_counts,
    catalogue_entering,
    catalogue_extremes,
    catalogue_locations,
    catalogue_probabilities,
    catalogue_rates,
    catalogue_scales,
    compiled,
)
from forms.catalogue_row import POSITIVE, WEIGHT, A, B, N
from scipy import stats
from scipy.special import expit, softmax

import gibbsppl as gp
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import log_joint
from gibbsppl.model.evaluation import evaluate

MODULES = (
    catalogue_locations,
    catalogue_rates,
    catalogue_scales,
    catalogue_probabilities,
    catalogue_counts,
    catalogue_entering,
)
ROWS = tuple(row for module in MODULES for row in module.ROWS)
SPELLED = [(row, name) for row in ROWS for name in row.forms]

# Parameters of a family from the coefficients of its statistics.
READ = {
    "Normal": lambda e: (-e[0] / (2 * e[1]), -2 * e[1]),
    "LogNormal": lambda e: (-(e[0] + 1) / (2 * e[1]), -2 * e[1]),
    "Gamma": lambda e: (e[0] + 1, -e[1]),
    "InverseGamma": lambda e: (-e[0] - 1, -e[1]),
    "Exponential": lambda e: (-e[0],),
    "Beta": lambda e: (e[0] + 1, e[1] + 1),
    "BetaExponential": lambda e: (-e[0], e[1] + 1),
    "BetaPrime": lambda e: (e[0] + 1, -e[0] - e[1] - 1),
    "Pareto": lambda e: (-e[0] - 1,),
    "Uniform": lambda _: (),
    "HalfNormal": lambda e: (-2 * e[0],),
    "GeneralizedInverseGaussian": lambda e: (e[0] + 1, -2 * e[1], -2 * e[2]),
    "ModifiedHalfNormal": lambda e: (e[0] + 1, -e[2], e[1]),
    "VonMises": lambda e: (np.arctan2(e[1], e[0]), np.hypot(*e)),
    "VonMisesFisher": lambda e: (e[0],),
    "Poisson": lambda e: (np.exp(e[0]),),
    "Binomial": lambda e: (expit(e[0]),),
    "NegativeBinomial": lambda e: (-np.expm1(e[0]),),
    "Dirichlet": lambda e: (e[0] + 1,),
    "Multinomial": lambda e: (softmax(e[0], axis=-1),),
    "Wishart": lambda e: (2 * e[0] + e[1].shape[-1] + 1, -2 * e[1]),
    "InverseWishart": lambda e: (-2 * e[0] - e[1].shape[-1] - 1, -2 * e[1]),
    "MvNormal": lambda e: (np.linalg.solve(-2 * e[1], e[0][..., None])[..., 0], -2 * e[1]),
}


def values_of(sampler, seed):
    """All values of a model at a random state."""
    state, _ = initial_state(np.random.default_rng(seed), sampler.graph, sampler.data)
    return {**sampler.data, **state}


def parameters_of(sampler, name, values):
    """The parameters that a generated function stands for: the family's, known ones, bounds."""
    step = sampler.schedule.step(name)
    conditional, program = step.conditional, sampler.program
    eta = program.given_rest[name](dict(values), program.prepare(sampler.data))
    count = len(conditional.statistics)
    known = tuple(
        np.squeeze(evaluate(value, step.statement.over, values, sampler.graph.sizes))
        for _, value in conditional.known
    )
    return (*READ[step.family.name](eta[:count]), *known, *eta[count:])


def compare(found, expected):
    """Asserts that parameters agree to rounding."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize(("row", "name"), SPELLED, ids=[name for _, name in SPELLED])
def test_a_conditional_has_the_stated_parameters(row, name):
    sampler = compiled(name)
    (step,) = sampler.schedule.steps

    assert step.owner == row.shown
    for seed in range(3):
        values = values_of(sampler, seed)
        compare(parameters_of(sampler, "x", values), row.parameters(values))


# ---- arrays ---------------------------------------------------------------------------------

PRECISION, DESIGN = catalogue_locations.PRECISION, catalogue_locations.DESIGN
M, P0 = catalogue_locations.M, catalogue_locations.P0


def vector_mean(v):
    """``Q = P0 + n A' T A``, and the mean ``Q^-1 (P0 m + A' T sum(y - c))``."""
    residuals = (v["y"] - v["c"]).sum(0)
    Q = v["prior"] + N * DESIGN.T @ PRECISION @ DESIGN
    return np.linalg.solve(Q, v["prior"] @ np.full(3, 0.3) + DESIGN.T @ PRECISION @ residuals), Q


def first_of_two_means(v):
    residuals = (v["y"] - v["b"] * v["q"]).sum(0)
    precision = P0 + N * v["p"] @ PRECISION @ v["p"]
    return (P0 * M + v["p"] @ PRECISION @ residuals) / precision, precision


def second_of_two_means(v):
    residuals = (v["y"] - v["a"] * v["p"]).sum(0)
    precision = 0.25 + N * v["q"] @ PRECISION @ v["q"]
    return (v["q"] @ PRECISION @ residuals) / precision, precision


def direction_in_space(v):
    return (P0 * v["pole"] + (v["w"][:, None] * v["y"]).sum(0),)


def scatter(v):
    """The weighted sum of squares of the vectors about 0.5."""
    return np.einsum("n,ni,nj->ij", v["c"], v["y"] - 0.5, v["y"] - 0.5)


def breaks(v):
    """How many labels are at each break, and how many beyond it."""
    at = np.bincount(v["y"], minlength=4) if v["y"].ndim == 1 else v["y"].sum(0)
    size = len(at) - 1 if v["y"].ndim > 1 else np.size(v["x"])
    beyond = np.array([at[k + 1 :].sum() for k in range(size)])
    return v.get("a", A) + at[:size], v.get("b", B) + beyond


def shares(v):
    """Concentrations with the counts of the labels, in each group if there are groups."""
    a = np.broadcast_to(v["a"], np.shape(v["x"]))
    if v["x"].ndim == 1:
        table = v["y"].sum(0) if v["y"].ndim == 2 else np.bincount(v["y"], minlength=a.size)
        return (a + table,)
    group = np.asarray(v["group"] if "group" in v else v["z"], int)
    counts = np.zeros(a.shape)
    np.add.at(counts, (group, v["y"]), 1)
    return (a + counts,)


def by_group(weights, group, size):
    """Sums of weights within each group."""
    return np.bincount(np.asarray(group, int), weights=weights, minlength=size)


def label_of(v):
    return v["group"] if "group" in v else v["z"]


def gathered_mean(v):
    mu, tau, group = v["mu"], v["tau"], label_of(v)
    sizes = by_group(np.ones(len(v["y"])), group, mu.size)
    precision = P0 + tau * sizes
    return (P0 * M + tau * by_group(v["y"], group, mu.size)) / precision, precision


def gathered_precision(v):
    mu, group = v["mu"], np.asarray(label_of(v), int)
    sizes = by_group(np.ones(len(v["y"])), group, mu.size)
    squares = by_group((v["y"] - mu[group]) ** 2, group, mu.size)
    return A + sizes / 2, B + squares / 2


def coefficients(v):
    X = v["X"]
    Q = P0 * np.eye(3) + v["tau"] * X.T @ X
    return np.linalg.solve(Q, P0 * M + v["tau"] * X.T @ (v["y"] - 1)), Q


def bilinear_rows(v):
    precision = P0 + 2 * (v["b"] ** 2).sum()
    return (P0 * M + 2 * v["y"] @ v["b"]) / precision, np.full(4, precision)


def detection(v):
    seen = v["y"].sum(1)
    return B + (v["z"] * seen).sum(), A + (v["z"] * (3 - seen)).sum()


def inflated_rate(v):
    return A + (v["z"] * v["y"]).sum(), B + v["z"].sum()


def early_rate(v):
    early = np.arange(6) < v["change"]
    return A + v["y"][early].sum(), B + early.sum()


def late_rate(v):
    late = np.arange(6) >= v["change"]
    return A + v["y"][late].sum(), B + late.sum()


def unseen_cells(v):
    p = catalogue_counts.SHARES * (1 - catalogue_counts.DETECTED)
    return p / p.sum(), catalogue_counts.POPULATION - catalogue_counts.VISITED.sum()


ARRAYS = [
    ("direction_in_space", "x", direction_in_space),
    ("vector_mean", "x", vector_mean),
    ("scalar_means_of_a_vector", "a", first_of_two_means),
    ("scalar_means_of_a_vector", "b", second_of_two_means),
    ("wishart_of_multiples", "x", lambda v: (4 + 8, v["R"] + scatter(v))),
    (
        "wishart_of_multiples_by_covariance",
        "x",
        lambda v: (4 + 8, np.linalg.inv(v["V"]) + scatter(v)),
    ),
    ("inverse_wishart_of_multiples", "x", lambda v: (5 + 8, v["R"] + scatter(v))),
    ("probability_and_complement", "x", breaks),
    ("stick", "x", breaks),
    ("generalised_dirichlet", "x", breaks),
    ("shares_of_labels", "x", shares),
    ("shares_of_a_table", "x", shares),
    ("shares_by_row", "x", shares),
    ("shares_by_latent_row", "x", shares),
    ("shares_with_zeros", "x", shares),
    ("marked_of_a_total_in_data", "x", lambda _: (catalogue_counts.PRIOR, 20 - 7)),
    ("cells_of_a_total", "x", unseen_cells),
    ("numbers_by_site", "x", lambda v: (v["rate"] * (1 - v["p"]),)),
    ("numbers_by_site", "rate", lambda v: (2 + v["x"].sum(), 1 + 4)),
    ("gathered", "mu", gathered_mean),
    ("gathered", "tau", gathered_precision),
    ("gathered_by_labels", "mu", gathered_mean),
    ("gathered_by_labels", "tau", gathered_precision),
    ("coefficients", "beta", coefficients),
    ("bilinear", "a", bilinear_rows),
    ("product_of_rates", "a", lambda v: (A + v["y"].sum(1), np.full(4, B + v["b"].sum()))),
    ("product_of_rates", "b", lambda v: (A + v["y"].sum(0), np.full(3, B + v["a"].sum()))),
    ("occupancy", "p", detection),
    ("occupancy", "psi", lambda v: (A + v["z"].sum(), B + (1 - v["z"]).sum())),
    ("zero_inflation", "rate", inflated_rate),
    ("step_of_a_rate", "early", early_rate),
    ("step_of_a_rate", "late", late_rate),
    ("step_of_a_rate_by_gates", "early", early_rate),
    ("step_of_a_rate_by_gates", "late", late_rate),
]


@pytest.mark.parametrize(("name", "step", "stated"), ARRAYS, ids=[f"{n}-{s}" for n, s, _ in ARRAYS])
def test_arrays_have_the_stated_parameters(name, step, stated):
    sampler = compiled(name)
    for seed in range(3):
        values = values_of(sampler, seed)
        found = parameters_of(sampler, step, values)
        expected = stated({n: np.asarray(v) for n, v in values.items()})
        compare([f + np.zeros_like(e) for f, e in zip(found, expected, strict=True)], expected)


# ---- draws against the integral of the joint density ----------------------------------------

DRAWS = 6000
GRID = 801
# For each form with a change of variable, where to integrate: on a log scale or as it is.
CHANGED = {
    "uniform_prior_of_sd_sd": np.geomspace(1e-3, 4, GRID),
    "uniform_prior_of_sd_above_zero_variance": np.geomspace(0.5, 4, GRID),
    "flat_prior_of_sd_precision": np.geomspace(1e-3, 1e3, GRID),
    "half_normal_prior_of_sd_sd": np.geomspace(1e-3, 1e2, GRID),
    "root_of_gamma_in_mean_root": np.geomspace(1e-9, 1e2, GRID),
    "mean_and_sd_sd": np.geomspace(1e-3, 1e3, GRID),
    "root_mean_and_variance_variance": np.geomspace(1e-3, 1e4, GRID),
    "log_of_a_precision_precision": np.linspace(-15, 10, GRID),
    "flat_prior_of_gumbel_location": np.linspace(-15, 15, GRID),
    "power_of_a_rate_power": np.geomspace(1e-4, 1e2, GRID),
}
AS_IT_IS = {
    "gamma_prior_of_variance_sd": np.geomspace(1e-4, 1e3, GRID),
    "odds_of_negative_binomial_probability": np.geomspace(1e-4, 1e4, GRID),
    "truncated_prior_of_mean_sd": np.linspace(-1, 0.9, GRID),
    "truncated_beta_prior_bernoulli": np.linspace(0.3, 0.8, GRID),
    "rayleigh_prior_of_scale_in_mean_sd": np.geomspace(1e-6, 1e2, GRID),
    "direction_of_von_mises_identity": np.linspace(-np.pi, np.pi, GRID),
}
SHIFTED = tuple(name for row in catalogue_counts.UNSEEN for name in row.forms)
LEVEL = 1e-4 / (len(CHANGED) + len(AS_IT_IS) + len(SHIFTED))


def inside(grid):
    """The grid without its ends, which may be the bounds of the support."""
    return grid[1:-1]


@functools.cache
def draws_of(name):
    """Independent draws: nothing is latent but one variable."""
    found = compiled(name).sample(DRAWS, warmup=1, chains=1, seed=4, progress=False)
    return np.ravel(found["x"])


def log_densities(name, grid):
    """The log joint density at each value of the one latent variable."""
    sampler = compiled(name)
    return np.array(
        [log_joint(sampler.graph, {**sampler.data, "x": np.array(x)}) for x in grid]
    )


def distribution_function(grid, log_density):
    """The integral of a density by the trapezoid rule, as a function."""
    density = np.exp(log_density - log_density.max())
    steps = np.diff(grid) * (density[1:] + density[:-1]) / 2
    total = np.r_[0, np.cumsum(steps)]
    return lambda x: np.interp(x, grid, total / total[-1])


def fit(name, grid, log_density):
    """The p-value of the draws against an integrated density."""
    assert np.isfinite(log_density).all()
    return stats.kstest(draws_of(name), distribution_function(grid, log_density)).pvalue


@pytest.mark.parametrize("name", [*CHANGED, *AS_IT_IS])
def test_draws_have_the_distribution_that_the_joint_density_says(name):
    grid = inside((CHANGED | AS_IT_IS)[name])

    assert fit(name, grid, log_densities(name, grid)) > LEVEL


@pytest.mark.parametrize("name", CHANGED)
def test_draws_without_the_jacobian_would_be_told(name):
    sampler, grid = compiled(name), inside(CHANGED[name])
    conditional = sampler.schedule.step("x").conditional
    image = conditional.change.forward(conditional.statement.target)
    mapped = [evaluate(image, (), {"x": np.array(x)}, {}) for x in grid]
    log_jacobian = np.log(np.abs(np.gradient(np.ravel(mapped), grid)))

    assert fit(name, grid, log_densities(name, grid) + log_jacobian) < LEVEL


def chi_square(name, log_weights):
    """The p-value of whole numbers against log probabilities of 0, 1, ..., rare ones pooled."""
    probability = np.exp(log_weights - log_weights.max())
    expected = DRAWS * probability / probability.sum()
    found = np.bincount(draws_of(name).astype(int), minlength=len(expected))
    rare = expected < 5
    cells = np.r_[found[~rare], found[rare].sum()], np.r_[expected[~rare], expected[rare].sum()]
    return stats.chi2.sf(((cells[0] - cells[1]) ** 2 / cells[1]).sum(), len(cells[0]) - 1)


@pytest.mark.parametrize("name", SHIFTED)
def test_counts_have_the_probabilities_that_the_joint_density_says(name):
    log_weights = log_densities(name, np.arange(80))

    assert chi_square(name, log_weights) > LEVEL
    assert chi_square(name, np.roll(log_weights, 1)) < LEVEL


# ---- extreme data ---------------------------------------------------------------------------


@pytest.mark.parametrize("declare", catalogue_extremes.MEASURED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("unit", catalogue_extremes.UNITS)
def test_a_unit_of_measurement_changes_nothing_but_the_unit(declare, unit):
    _, power = catalogue_extremes.MEASURED[declare]
    one, other = (
        catalogue_extremes.declared(declare, u)
        .compiled()
        .sample(50, warmup=1, chains=1, seed=6, progress=False)["x"]
        for u in (1.0, unit)
    )

    np.testing.assert_allclose(other / unit**power, one, rtol=1e-9)


# ---- formulas found wrong in the field ------------------------------------------------------


def test_unseen_of_a_negative_binomial_are_drawn_with_more_successes_not_fewer():
    """NB(r, p) thinned by pi: what was not seen is NB(r + y, p + pi (1 - p)), not NB(r - y, .)."""
    r, p, pi, y = 4, 0.3, 0.6, 3
    with gp.Model() as m:
        x = gp.NegativeBinomial("x", n=r, p=p)
        gp.Binomial("y", x, pi, observed=y)
    sampler = gp.compile(m)
    n = np.arange(y, 400)
    weights = stats.nbinom.pmf(n, r, p) * stats.binom.pmf(y, n, pi)
    exact = ((n - y) * weights).sum() / weights.sum()
    success, size = parameters_of(sampler, "x", {"x": np.array(5), "y": np.array(y)})
    draws = np.ravel(sampler.sample(20000, warmup=1, chains=1, seed=2, progress=False)["x"]) - y
    error = draws.std() / np.sqrt(draws.size)

    assert round(exact, 3) == 2.722
    np.testing.assert_allclose(size * (1 - success) / success, exact, rtol=1e-10)
    assert 2 * stats.norm.sf(abs(draws.mean() - exact) / error) > 1e-4
    wrong = (r - y) * (1 - success) / success
    assert round(wrong, 3) == 0.389
    assert 2 * stats.norm.sf(abs(draws.mean() - wrong) / error) < 1e-4


def test_a_negative_binomial_counts_failures():
    """After 3 successes and 7 failures p is Beta(a + 3, b + 7), not Beta(a + 7, b + 3)."""
    with gp.Model() as m:
        p = gp.Beta("p", 2, 5)
        gp.NegativeBinomial("y", n=3, p=p, observed=7)
    a, b = parameters_of(gp.compile(m), "p", {"p": np.array(0.5), "y": np.array(7)})
    p = np.linspace(0, 1, 20001)[1:-1]
    weights = stats.beta.pdf(p, 2, 5) * stats.nbinom.pmf(7, 3, p)
    exact = (p * weights).sum() / weights.sum()

    assert round(exact, 4) == 0.2941
    np.testing.assert_allclose(a / (a + b), exact, rtol=1e-9)
    assert round((2 + 7) / (2 + 7 + 5 + 3), 4) == 0.5294


def test_the_density_of_chi_squared_has_an_exponential_once():
    """At 2.3 with 5 degrees of freedom: -1.918, not -0.452 with exp(-x / 2) for -x / 2."""
    with gp.Model() as m:
        gp.ChiSquared("x", 5)
    found = log_joint(m.graph, {"x": np.array(2.3)})

    np.testing.assert_allclose(found, stats.chi2.logpdf(2.3, 5), rtol=1e-12)
    assert round(found, 3) == -1.918
    assert round(found + 2.3 / 2 + np.exp(-2.3 / 2), 3) == -0.452


@pytest.mark.parametrize(
    ("name", "mistake"), [("uniform_prior_of_sd_sd", 2), ("uniform_variance_variance", 1 / 2)]
)
def test_a_standard_deviation_is_the_root_of_a_variance(name, mistake):
    """What is drawn of one is not drawn of the other: a root too few or too many is told."""
    grid = inside(np.geomspace(1e-3, 4, GRID))
    distribution = distribution_function(grid, log_densities(name, grid))

    assert stats.kstest(draws_of(name), distribution).pvalue > LEVEL
    assert stats.kstest(draws_of(name) ** mistake, distribution).pvalue < LEVEL


def test_a_truncated_rate_reads_each_of_its_children():
    """The exposures of all children are summed, not n times that of the first."""
    with gp.Model() as m:
        x = gp.Gamma("x", A, rate=B, lower=0.2, upper=1.7)
        w = gp.Data("w", WEIGHT, dims="n")
        gp.Exponential("y", rate=w * x, dims="n", observed=POSITIVE)
    sampler = gp.compile(m)
    found = parameters_of(sampler, "x", values_of(sampler, 1))

    compare(found, (A + N, B + (WEIGHT * POSITIVE).sum(), 0.2, 1.7))
    assert abs(found[1] - (B + N * WEIGHT[0] * POSITIVE[0])) > 0.1


def test_a_sweep_reads_what_it_has_just_drawn():
    """Each variable is drawn once, given the new values of those before it in the order."""
    with gp.Model() as m:
        a = gp.Normal("a", 0, tau=1)
        b = gp.Normal("b", a, tau=3)
        gp.Normal("y", b, tau=2, observed=0.7)
    sampler = gp.compile(m, blocks=False)
    program, rng = sampler.program, np.random.default_rng(8)
    constants = program.prepare(sampler.data)
    state = {"a": np.array(5.0), "b": np.array(-5.0)}
    before = dict(state)
    program.sweep(rng, state, constants)
    again = np.random.default_rng(8)
    known, stale = dict(before), {}
    for name in program.steps:
        noise = again.standard_normal()
        for given, found in ((known, known), (before, stale)):
            mean, precision = READ["Normal"](program.given_rest[name](dict(given), constants))
            found[name] = mean + noise / np.sqrt(precision)

    assert sorted(program.steps) == ["a", "b"]
    np.testing.assert_allclose([state[n] for n in "ab"], [known[n] for n in "ab"], rtol=1e-12)
    assert abs(state[program.steps[1]] - stale[program.steps[1]]) > 0.1
