"""Every model of the library: derived, proved, and in agreement with an independent answer."""

import re
import warnings

import numpy as np
import pytest
import sympy as sp
from references import bayesian_lasso as lasso_by_hand
from references import bayesian_matrix_factorisation as rows_by_hand
from references import beetles as beetles_by_quadrature
from references import capture_recapture as recapture_by_summation
from references import car_disease_mapping as map_by_hand
from references import dirichlet_process as process_by_hand
from references import dyes as dyes_by_quadrature
from references import eight_schools as schools_by_quadrature
from references import factor_analysis as factors_by_hand
from references import gaussian as gaussian_by_quadrature
from references import hidden_markov as markov_by_quadrature
from references import horseshoe as horseshoe_by_hand
from references import iris as iris_by_hand
from references import ising as ising_by_summation
from references import lda as lda_by_hand
from references import linear_mixed as mixed_by_quadrature
from references import linear_regression as regression_by_quadrature
from references import local_level as level_by_quadrature
from references import matrix_factorisation as factorisation_by_hand
from references import negative_binomial as counts_by_hand
from references import neural_network as network_by_hand
from references import ordered_probit as ordered_by_hand
from references import poisson_factorisation as words_by_hand
from references import poisson_tensor as tensor_by_hand
from references import pumps as pumps_by_quadrature
from references import random_walk
from references import rats as rats_by_hand
from references import robust_regression as robust_by_hand
from references import spike_and_slab as selection_by_summation
from references import trend_seasonal as trend_by_quadrature
from references.monte_carlo import disagreements, effective_draws, mean_and_error
from references.second_differences import normal_of
from scipy import stats

import gibbsppl as gp
import models
from gibbsppl.checks.ratio import ratio_check
from gibbsppl.errors import CompileError
from gibbsppl.model.density import log_joint
from gibbsppl.model.graph import Potential
from gibbsppl.rewrites import integrals
from models import (
    bayesian_lasso,
    bayesian_matrix_factorisation,
    beetles,
    bivariate_gaussian,
    capture_recapture,
    car_disease_mapping,
    dice,
    dirichlet_process,
    dyes,
    eight_schools,
    factor_analysis,
    factorisation_machine,
    gaussian,
    gaussian_mixture,
    hidden_markov,
    horseshoe,
    iris,
    lda,
    linear_mixed,
    linear_regression,
    local_level,
    matrix_factorisation,
    negative_binomial,
    neural_network,
    ordered_probit,
    poisson_factorisation,
    poisson_tensor,
    pumps,
    rats,
    reuters,
    robust_regression,
    salm,
    seeds,
    spike_and_slab,
    trend_seasonal,
)

SETTINGS = {"draws": 2500, "warmup": 500, "chains": 4, "seed": 20}

# What the derivation finds in the model as it is written: for each latent variable the kind of its
# step and its family.
NORMAL, GAMMA = ("exact", "Normal"), ("exact", "Gamma")
BLOCK, JOINT = ("block", "MvNormal"), ("joint", "MvNormal")
DIRICHLET, LABELS, CONCAVE = ("exact", "Dirichlet"), ("finite", None), ("concave", None)
BETA, MOVE = ("exact", "Beta"), ("move", None)
HALF_NORMAL = ("exact", "ModifiedHalfNormal")
STEPS = {
    "coin": {"p": ("exact", "Beta")},
    "dice": {"p": DIRICHLET},
    "gaussian_mean": {"mu": NORMAL},
    "gaussian_variance": {"tau": GAMMA},
    "gaussian": {"mu": NORMAL, "tau": GAMMA},
    "bivariate_gaussian": {"x1": NORMAL, "x2": NORMAL},
    "linear_regression": {"tau": GAMMA, "tau_beta": GAMMA, "intercept": NORMAL, "beta": BLOCK},
    "rats": dict.fromkeys(("mu_a", "mu_b", "a", "b"), NORMAL)
    | dict.fromkeys(("tau_a", "tau_b", "tau"), GAMMA),
    "pumps": {"alpha": CONCAVE, "beta": GAMMA, "theta": GAMMA},
    "eight_schools": {"mu": NORMAL, "tau": GAMMA, "theta": NORMAL},
    "dyes": dict.fromkeys(("theta", "mu"), NORMAL)
    | dict.fromkeys(("tau_between", "tau_within"), GAMMA),
    "matrix_factorisation": {"U": BLOCK, "V": BLOCK},
    "factorisation_machine": dict.fromkeys(("v", "mu_v"), NORMAL)
    | dict.fromkeys(("w", "mu_w", "w0"), NORMAL)
    | dict.fromkeys(("tau_w", "tau_v", "alpha"), GAMMA),
    "gaussian_mixture": {"weight": DIRICHLET, "mu": NORMAL, "tau": GAMMA, "z": LABELS},
    "lda": {"theta": DIRICHLET, "phi": DIRICHLET, "z": LABELS},
    "seeds": {"tau": GAMMA, "alpha": CONCAVE, "effect": CONCAVE},
    "beetles": {"level": CONCAVE, "slope": CONCAVE},
    "salm": dict.fromkeys(("level", "beta", "toxicity", "effect"), CONCAVE) | {"tau": GAMMA},
    "robust_regression": {"tau": CONCAVE, "intercept": MOVE, "beta": MOVE},
    "bayesian_lasso": dict.fromkeys(("tau", "penalty"), HALF_NORMAL)
    | {"intercept": NORMAL, "beta": CONCAVE},
    "horseshoe": dict.fromkeys(("overall", "local"), CONCAVE)
    | {"tau": GAMMA, "intercept": NORMAL, "beta": BLOCK},
    "spike_and_slab": {"beta": BLOCK}
    | {"tau": GAMMA, "intercept": NORMAL, "gate": ("exact", "Bernoulli")},
    "ordered_probit": {"cut": CONCAVE, "effect": CONCAVE},
    "negative_binomial": {"alpha": MOVE, "beta": CONCAVE},
    "capture_recapture": {"fish": LABELS, "p": BETA},
    "poisson_factorisation": {},
    "poisson_tensor": {"country": MOVE, "month": MOVE, "word": MOVE},
    "dirichlet_process": {"z": LABELS, "mu": NORMAL, "tau": GAMMA, "v": BETA}
    | {"concentration": GAMMA},
    "iris": {"weight": DIRICHLET, "mu": BLOCK, "tau": ("exact", "Wishart"), "z": LABELS},
    "ising": {"up": ("exact", "Bernoulli")},
    "potts_segmentation": {"mean": NORMAL, "tau": GAMMA, "label": LABELS},
    "hidden_markov": {"P": DIRICHLET, "rate": GAMMA, "z": LABELS},
    "local_level": {"level": NORMAL, "tau_flow": GAMMA, "tau_level": GAMMA},
    "trend_seasonal": dict.fromkeys(("level", "slope", "season"), NORMAL)
    | dict.fromkeys(("tau", "tau_level", "tau_slope", "tau_season"), GAMMA),
    "linear_mixed": dict.fromkeys(("level", "growth", "a", "b", "c"), NORMAL)
    | dict.fromkeys(("tau", "tau_a", "tau_b", "tau_c"), GAMMA),
    "factor_analysis": {"score": BLOCK, "mean": NORMAL, "loading": BLOCK, "tau": GAMMA},
    "bayesian_matrix_factorisation": dict.fromkeys(("U", "mean_U", "V", "mean_V"), BLOCK)
    | dict.fromkeys(("precision_U", "precision_V"), ("exact", "Wishart")),
    "car_disease_mapping": {"risk": CONCAVE, "beta": CONCAVE, "tau": GAMMA},
    "neural_network": dict.fromkeys(("tau_weight", "tau_bias", "tau_out", "tau"), GAMMA)
    | {"weight": MOVE, "bias": MOVE, "out_weight": BLOCK, "out_bias": NORMAL},
}

# What augmentation makes of some of these steps.
AUGMENTED = {
    "seeds": {"alpha": BLOCK, "effect": NORMAL},
    "robust_regression": {"tau": GAMMA, "intercept": NORMAL, "beta": BLOCK},
    "bayesian_lasso": {"intercept": NORMAL, "beta": BLOCK},
    "ordered_probit": {"effect": BLOCK},
    "negative_binomial": {"beta": BLOCK},
    "poisson_factorisation": {"theta": GAMMA, "phi": DIRICHLET},
    "poisson_tensor": {"country": GAMMA, "month": GAMMA, "word": GAMMA},
}

# Without augmentation one of them is moved share by share, which is slow: a small one is tested
# among the joint distributions.
MOVED_BY_SHARE = (poisson_factorisation,)

# Draws one by one, or by adaptive rejection, take more than ten seconds: the slow tests.
SLOW = (
    seeds, salm, horseshoe, spike_and_slab, ordered_probit, negative_binomial,
    poisson_factorisation, poisson_tensor, car_disease_mapping, trend_seasonal, linear_mixed,
    factorisation_machine, bayesian_lasso, bayesian_matrix_factorisation, iris, neural_network,
)  # fmt: skip


def name_of(module):
    return module.__name__.removeprefix("models.")


def small_lda():
    return lda.model(corpus=lda.bars(), topics=6)


def model_of(module):
    """The model with its own data; of the topic model, the made-up corpus."""
    return small_lda() if module is lda else module.model()


def steps_of(sampler):
    """For each variable the kind of its step and the name of its family."""
    return {
        name: (step.kind, step.family.name if step.family else None)
        for step in sampler.schedule.steps
        if step.name not in sampler.schedule.interwoven
        for name in step.variables
    }


def independent_means(name, **form):
    """The exact posterior means, computed by quadrature."""
    match name:
        case "gaussian":
            return gaussian_by_quadrature.means(gaussian.DEVIATIONS)
        case "eight_schools":
            schools = eight_schools
            return schools_by_quadrature.means(
                schools.EFFECTS, schools.STANDARD_ERRORS, schools.SCHOOLS
            )
        case "linear_regression":
            regression = linear_regression
            return regression_by_quadrature.means(regression.X, regression.Y, regression.COLUMNS)
        case "pumps":
            return pumps_by_quadrature.means(*reversed(pumps.PUMPS.values()))
        case "dyes":
            return dyes_by_quadrature.means(dyes.YIELDS)
        case "ising":
            return ising_by_summation.means(4, 4, coupling=0.4)
        case "capture_recapture":
            return recapture_by_summation.means(**capture_recapture.SUNFISH)
        case "spike_and_slab":
            data = spike_and_slab.X, spike_and_slab.Y, spike_and_slab.COLUMNS
            means = selection_by_summation.means(*data, **form)
            assert min(means.pop(f"gate[{c}]") for c in spike_and_slab.SURE) > 0.9999
            return means
        case "hidden_markov":
            first, counts = hidden_markov.EARTHQUAKES.values()
            return markov_by_quadrature.means(counts, hidden_markov.YEAR - first, shape=2, rate=0.1)
        case "local_level":
            places = {year: year - local_level.FIRST for year in local_level.YEARS}
            means = level_by_quadrature.means(local_level.FLOW, places.values())
            levels = {f"level[{year}]": means.pop(f"level[{t}]") for year, t in places.items()}
            return means | levels
        case "linear_mixed":
            grid = mixed_by_quadrature.grid((6.3, 3.5, 3.2, 6.48), (3.2, 3.0, 3.8, 0.9), 25)
            return mixed_by_quadrature.means(linear_mixed.REACTION, linear_mixed.PRIORS, grid)
        case "trend_seasonal":
            priors = (3, 0.005), (3, 0.002), (3, 0.0002), (3, 0.005)
            grid = (-6.7, -7.6, -10.2, -5.75), (3.1, 2.8, 2.8, 1.9), 17
            return trend_by_quadrature.means(trend_seasonal.CONSUMPTION, priors, *grid)
        case "beetles":
            return beetles_by_quadrature.means(**beetles.BEETLES, link="logit")


def walk_by_hand(name, draws=100, **form):
    """A short run of the random walk that a reference is a long run of."""
    rng = np.random.default_rng(42)
    match name:
        case "robust_regression":
            data = robust_regression.X, robust_regression.LOSS, robust_regression.COLUMNS
            return robust_by_hand.run(rng, *data, draws)
        case "bayesian_lasso":
            data = bayesian_lasso.X, bayesian_lasso.Y, bayesian_lasso.COLUMNS
            return lasso_by_hand.run(rng, *data, draws)
        case "horseshoe":
            return horseshoe_by_hand.run(rng, horseshoe.X, horseshoe.Y, horseshoe.COLUMNS, draws)
        case "ordered_probit":
            return ordered_by_hand.run(rng, ordered_probit.CHEESES, draws)
        case "neural_network":
            network = neural_network
            return network_by_hand.run(
                rng, network.AGES, network.LENGTHS, network.AT, draws, **form
            )
        case "negative_binomial":
            data = negative_binomial.X, negative_binomial.BREAKS, negative_binomial.TERMS
            return counts_by_hand.run(rng, *data, draws, **form)


def test_the_table_of_steps_has_every_model():
    assert [name_of(m) for m in models.ALL] == list(STEPS)


def test_every_model_has_a_reference_but_the_topics_which_are_compared_run_by_run():
    assert [m for m in models.ALL if not m.REFERENCE] == [lda]


def test_data_have_the_published_sizes_and_moments():
    newcomb, galaxies = gaussian.DEVIATIONS, gaussian_mixture.VELOCITIES
    assert (newcomb.size, newcomb.mean().round(1), newcomb.std(ddof=1).round(1)) == (66, 26.2, 10.7)
    assert (galaxies.size, galaxies.mean().round(3), np.median(galaxies)) == (82, 20.828, 20.8335)
    assert (linear_regression.X.shape, linear_regression.Y.shape) == ((442, 10), (442,))
    assert [sum(counts) for counts in dice.COUNTS.values()] == [20_000, 20_000]
    observed, held_out = matrix_factorisation.OBSERVED, matrix_factorisation.HELD_OUT
    ratings = np.concatenate([observed[2], held_out[2]])
    qualities = np.concatenate([observed[1], held_out[1]])
    published = (8.021, 7.516, 7.693, 7.479, 7.565, 7.467, 7.488, 7.293, 7.384, 7.935, 7.602)
    means = [ratings[qualities == q].mean().round(3) for q in range(len(published))]
    assert tuple(means) == published
    assert negative_binomial.BREAKS.reshape(6, 9).mean(axis=1).round(2).tolist() == [
        44.56, 24.0, 24.56, 28.22, 28.78, 18.78,
    ]  # fmt: skip
    kinds = [iris.FLOWERS[s == iris.SPECIES].mean(axis=0) for s in dict.fromkeys(iris.SPECIES)]
    assert np.round(kinds, 3).tolist() == [
        [5.006, 3.428, 1.462, 0.246], [5.936, 2.77, 4.26, 1.326], [6.588, 2.974, 5.552, 2.026],
    ]  # fmt: skip
    earthquakes = np.array(hidden_markov.EARTHQUAKES["counts"])
    assert (earthquakes.mean().round(2), earthquakes.var(ddof=1).round(2)) == (19.36, 51.57)
    assert {sum(counts) for counts in ordered_probit.CHEESES.values()} == {52}
    assert [sum(counts) for counts in capture_recapture.SUNFISH.values()] == [162, 24]


EXACT = (
    "gaussian", "eight_schools", "linear_regression", "capture_recapture", "spike_and_slab",
    "ising", "hidden_markov", "local_level", "linear_mixed",
    pytest.param("trend_seasonal", marks=pytest.mark.slow),
)  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_exact_references_are_what_quadrature_gives(name):
    means = independent_means(name)
    reference = {m: value for m, (value, _) in getattr(models, name).REFERENCE.items()}
    assert reference == pytest.approx(means, rel=1e-6, abs=1e-8)


def test_the_exact_reference_of_tied_weights_is_what_quadrature_gives():
    means = independent_means("spike_and_slab", tied=True)
    reference = {m: value for m, (value, _) in spike_and_slab.TIED_REFERENCE.items()}
    assert reference == pytest.approx(means, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", ["pumps", "dyes", "beetles"])
def test_references_of_the_other_sampler_are_within_its_errors_of_quadrature(name):
    means = independent_means(name)
    reference = getattr(models, name).REFERENCE
    far = {m: abs(means[m] - value) / error for m, (value, error) in reference.items()}
    assert max(far.values()) < 4, far


WALKS = (
    "robust_regression", "bayesian_lasso", "horseshoe", "ordered_probit", "negative_binomial",
    "neural_network",
)  # fmt: skip


@pytest.mark.parametrize("name", WALKS)
def test_references_of_random_walks_are_what_a_short_one_gives(name):
    assert disagreements(walk_by_hand(name), getattr(models, name).REFERENCE) == {}


def test_a_random_walk_on_another_posterior_is_noticed():
    odds = walk_by_hand("negative_binomial", form="odds")
    assert disagreements(odds, negative_binomial.REFERENCES["odds"]) == {}
    assert "intercept" in disagreements(odds, negative_binomial.REFERENCES["mean"])


def test_a_random_walk_finds_the_moments_of_a_normal():
    covariance = np.array([[4.0, 1.5], [1.5, 1.0]])
    precision = np.linalg.inv(covariance)
    start = np.random.default_rng(1).uniform(-5, 5, size=(50, 2))
    points = random_walk.run(
        np.random.default_rng(2),
        lambda p: -np.einsum("ci,ij,cj->c", p, precision, p) / 2,
        start,
        draws=200,
    )
    x, y = np.moveaxis(points, -1, 0)
    exact = {"x": 0, "y": 0, "x x": 4, "x y": 1.5, "y y": 1}
    found = {"x": x, "y": y, "x x": x * x, "x y": x * y, "y y": y * y}
    assert disagreements(found, {name: (value, 0.0) for name, value in exact.items()}) == {}


# Each statement by itself, as its own conditional is derived.
APART = {"blocks": False, "interweave": False}

PLAIN = [module for module in models.ALL if module not in MOVED_BY_SHARE]


@pytest.mark.parametrize("module", PLAIN, ids=name_of)
def test_each_conditional_is_derived(module):
    sampler = gp.compile(model_of(module), rewrites=False, **APART)
    assert steps_of(sampler) == STEPS[name_of(module)]
    assert sampler.verify().proved


@pytest.mark.parametrize("module", models.ALL, ids=name_of)
def test_augmentations_give_closed_forms_to_what_has_none(module):
    found = steps_of(gp.compile(model_of(module), **APART))
    expected = STEPS[name_of(module)] | AUGMENTED.get(name_of(module), {})
    assert {n: found[n] for n in expected} == expected


# What is drawn jointly, in models that are about joint draws or that gain by them. (Growth lines of
# rats are about independent given their scales, groups and locations by interweaving.)
JOINTLY = {
    "rats": set(),
    "eight_schools": set(),
    "dyes": set(),
    "linear_regression": {"beta, intercept"},
    "matrix_factorisation": set(),
    "local_level": {"level"},
    "trend_seasonal": {"level", "slope", "season"},
    "linear_mixed": {"a, b, c, level, growth"},
    "factor_analysis": {"score, mean"},
    "bayesian_matrix_factorisation": {"U, mean_U", "V, mean_V"},
}


@pytest.mark.parametrize("name", JOINTLY)
def test_what_is_quadratic_together_is_drawn_together(name):
    steps = gp.compile(getattr(models, name).model()).schedule.steps
    assert {s.name for s in steps if s.kind == "joint"} == JOINTLY[name]


@pytest.mark.parametrize("module", models.ALL, ids=name_of)
def test_each_conditional_is_the_ratio_of_joint_densities(module):
    assert gp.compile(model_of(module)).verify().proved


COMPARED = [
    pytest.param(module, marks=pytest.mark.slow if module in SLOW else ())
    for module in models.ALL
    if module.REFERENCE
]


@pytest.mark.parametrize("module", COMPARED, ids=name_of)
def test_posterior_means_agree_with_the_reference(module):
    compare(module, gp.compile(module.model()), module.REFERENCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in AUGMENTED if not n.startswith("poisson")])
def test_posterior_means_agree_with_the_reference_without_augmentation(name):
    # (those of the Poisson factorisations are very slow ones of slice moves)
    module = getattr(models, name)
    compare(module, gp.compile(module.model(), rewrites=False), module.REFERENCE)


def test_beetles_with_a_probit_link():
    sampler = gp.compile(beetles.model(link="probit"))
    assert sampler.verify().proved
    exact = beetles_by_quadrature.means(**beetles.BEETLES, link="probit")
    reference = beetles.REFERENCES["probit"]
    assert max(abs(exact[m] - value) / error for m, (value, error) in reference.items()) < 4
    compare(beetles, sampler, reference)


def test_counts_with_a_logit_of_a_probability_have_other_conditionals():
    sampler = gp.compile(negative_binomial.model(form="odds"), rewrites=False)
    assert steps_of(sampler) == {"alpha": CONCAVE, "beta": CONCAVE}
    assert sampler.verify().proved


@pytest.mark.slow
def test_counts_with_a_logit_of_a_probability():
    sampler = gp.compile(negative_binomial.model(form="odds"))
    assert sampler.verify().proved
    compare(negative_binomial, sampler, negative_binomial.REFERENCES["odds"])


def ways_of(module, ways, reference, **form):
    """For each way of a model its settings, and what it is compared with."""
    return {
        ", ".join((name_of(module), *form, way)): (module, form, settings, reference)
        for way, settings in ways.items()
    }


WAYS = {
    **ways_of(gaussian_mixture, gaussian_mixture.WAYS, gaussian_mixture.REFERENCE),
    **ways_of(
        gaussian_mixture, gaussian_mixture.TIED_WAYS, gaussian_mixture.TIED_REFERENCE, tied=True
    ),
    **ways_of(spike_and_slab, spike_and_slab.WAYS, spike_and_slab.REFERENCE),
    **ways_of(spike_and_slab, spike_and_slab.TIED_WAYS, spike_and_slab.TIED_REFERENCE, tied=True),
    **ways_of(dirichlet_process, dirichlet_process.WAYS, dirichlet_process.REFERENCE),
    **ways_of(neural_network, neural_network.WAYS, neural_network.REFERENCE),
    **ways_of(iris, iris.WAYS, iris.REFERENCE),
    **ways_of(iris, iris.ways("covariance"), iris.REFERENCE, form="covariance"),
}


def sampler_of(way):
    """The sampler that a way is."""
    module, form, settings, _ = WAYS[way]
    return gp.compile(module.model(**form), **settings)


@pytest.mark.parametrize("way", WAYS)
def test_each_way_is_proved(way):
    sampler = sampler_of(way)
    assert sampler.verify().proved
    scans = [s for s in sampler.schedule.steps if s.kind == "scan"]
    integrated = [n for s in scans for n in s.conditional.integrated]
    assert sorted(integrated) == sorted(WAYS[way][2].get("collapse", ()))


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_each_way_agrees_with_the_reference(way):
    module, _, _, reference = WAYS[way]
    compare(module, sampler_of(way), reference)


def without_what_the_prior_has_besides(_graph, statement, *_):
    """A bug: the normaliser of a prior is lost with the variable that is integrated out."""
    return Potential(f"{statement.name}_prior", sp.S.Zero, statement.over)


@pytest.mark.parametrize(
    "way",
    [
        "gaussian_mixture, tied, weights, means and precisions integrated out",
        pytest.param(
            "spike_and_slab, tied, weights and noise integrated out", marks=pytest.mark.slow
        ),
    ],
)
def test_a_prior_whose_normaliser_is_lost_is_noticed(way, monkeypatch):
    monkeypatch.setattr(integrals, "_prior", without_what_the_prior_has_besides)
    module, _, _, reference = WAYS[way]
    quantities = module.quantities(sampler_of(way).sample(**SETTINGS))
    assert disagreements(quantities, reference) != {}


REFUSED = {
    "concentration": "no label depends on concentration",
    "v, concentration": "concentration has no closed form whose integral is known, with v integr",
    "mu, tau": "tau has no closed form whose integral is known, with mu integrated out",
}


@pytest.mark.parametrize("names", REFUSED)
def test_what_a_dirichlet_process_keeps(names):
    with pytest.raises(CompileError, match=REFUSED[names]):
        gp.compile(dirichlet_process.model(), collapse=names.split(", "))


def test_forms_of_the_irises_have_the_same_density():
    forms = {form: iris.model(form=form) for form in iris.MATRICES}
    rng = np.random.default_rng(6)
    points = []
    for _ in range(2):
        root = rng.standard_normal((3, 4, 9))
        tau = root @ root.transpose(0, 2, 1)
        state = {"weight": rng.dirichlet(np.ones(3)), "mu": rng.standard_normal((3, 4))}
        z = rng.integers(3, size=len(iris.FLOWERS))
        points.append(state | {"z": z, "tau": tau, "cov": np.linalg.inv(tau)})
    found = {
        form: [log_joint(m.graph, {**m.data, **point}) for point in points]
        for form, m in forms.items()
    }
    # From one set of variables to the other by the Jacobian of the inverse, |tau|^(p + 1).
    slope = [5 * np.linalg.slogdet(point["tau"])[1].sum() for point in points]
    assert found["covariance"] == pytest.approx(np.add(found["precision"], slope), rel=1e-9)


def test_the_irises_agree_with_a_sampler_written_by_hand():
    rng = np.random.default_rng(43)
    found = iris_by_hand.run(rng, iris.FLOWERS, iris.PAIRS, 200, warmup=50)
    assert disagreements(found, iris.REFERENCE) == {}


def test_the_variances_of_the_nile_are_those_of_the_book():
    found = level_by_quadrature.likeliest(local_level.FLOW)
    assert np.round(found).astype(int).tolist() == [15099, 1469]


def test_the_level_of_missing_years_is_the_smoothed_one():
    flow = np.array(local_level.FLOW[:30], float)
    mask = np.arange(30) % 5 == 3
    sampler = gp.compile(local_level.model(flow=np.ma.masked_array(flow, mask)))
    assert steps_of(sampler)["level"] == JOINT
    assert sampler.schedule.leaves == ("flow",)
    assert sampler.verify().proved
    draws = sampler.sample(**SETTINGS)
    seen = np.where(mask, np.nan, flow)
    exact = level_by_quadrature.means(seen, range(30))
    found = {f"level[{t}]": draws["level"][..., t] for t in range(30)}
    assert disagreements(found, {name: (exact[name], 0.0) for name in found}) == {}
    filled = {f"level[{t}]": draws["flow"][..., t] for t in np.flatnonzero(mask)}
    assert disagreements(filled, {name: (exact[name], 0.0) for name in filled}) == {}


def test_the_algebra_of_people_and_days_is_that_of_the_dense_model():
    """One point of the grid, against all effects and the data as one normal vector."""
    y = np.asarray(linear_mixed.REACTION)
    people, days = y.shape
    variances = np.array([600.0, 30.0, 20.0, 650.0])
    fixed = mixed_by_quadrature.FIXED
    _, found = mixed_by_quadrature.conditional_means(y, variances[:, None], fixed)
    day = np.tile(np.arange(days), people)
    person = np.repeat(np.eye(people), days, axis=0)
    X = np.hstack([
        np.ones((day.size, 1)), day[:, None], person, person * day[:, None],
        np.tile(np.eye(days), (people, 1)),
    ])  # fmt: skip
    spread = [1 / p for _, p in fixed] + np.repeat(variances[:3], (people, people, days)).tolist()
    centre = np.array([m for m, _ in fixed] + [0.0] * (2 * people + days))
    Q = X.T @ X / variances[3] + np.diag(1 / np.array(spread))
    dense = centre + np.linalg.solve(Q, X.T @ (y.ravel() - X @ centre) / variances[3])
    places = {"level": 0, "growth": 1, "a[308]": 2, "b[308]": 2 + people, "c[0]": 2 + 2 * people}
    assert {n: float(v[0]) for n, v in found.items()} == pytest.approx(
        {n: dense[k] for n, k in places.items()}, rel=1e-9
    )


def test_the_likelihood_of_a_structural_model_is_that_of_the_dense_one():
    """The filter of five states, against the normal density of a short series."""
    y = trend_seasonal.CONSUMPTION[:9]
    variances = np.array([[0.002], [0.001], [0.0005], [0.004]])
    start = (5, 1, 0, 100, 4)
    _, found = trend_by_quadrature.filtered(y, variances, start)
    rng = np.random.default_rng(51)
    model = trend_seasonal.model(y)
    # By Bayes' formula at any states: the joint density over that of the states given the data.
    precisions = ("tau", "tau_level", "tau_slope", "tau_season")
    tau = dict(zip(precisions, 1 / variances[:, 0], strict=True))
    sampler = gp.compile(model)
    states = {n: rng.standard_normal(9) for n in ("level", "slope", "season")}
    joint = log_joint(model.graph, {**model.data, **states, **tau})
    (block,) = (s for s in sampler.schedule.steps if s.kind == "joint")
    names = ("level", "slope", "season")

    def log_density(x):
        moved = dict(zip(names, np.split(x, 3), strict=True))
        return log_joint(model.graph, {**model.data, **moved, **tau})

    start = np.concatenate([states[n] for n in names])
    dense = normal_of(log_density, start)
    gap, Q = start - dense.mean, dense.precision
    given = np.linalg.slogdet(Q)[1] / 2 - gap @ Q @ gap / 2 - gap.size / 2 * np.log(2 * np.pi)
    priors = zip((3, 3, 3, 3), (0.005, 0.002, 0.0002, 0.005), tau.values(), strict=True)
    prior = sum(stats.gamma(a, scale=1 / b).logpdf(t) for a, b, t in priors)
    evidence = joint - given - prior + y.size / 2 * np.log(2 * np.pi)
    assert block.variables == names
    widest = np.linalg.norm(dense.covariance, 2)
    rounding = dense.off / widest * (1 + gap @ gap / widest)
    assert found[0] == pytest.approx(evidence, rel=0, abs=rounding)


@pytest.mark.slow
def test_factors_of_flowers_are_those_of_a_random_walk():
    rng = np.random.default_rng(52)
    # (a walk of these takes long to forget: of twenty batches each is two thousand steps)
    found = factors_by_hand.run(rng, factor_analysis.STANDARDISED, 2, 400, chains=50, thin=100)
    assert disagreements(factor_analysis.quantities(found), factor_analysis.REFERENCE) == {}
    other = factors_by_hand.run(rng, factor_analysis.STANDARDISED, 1, 100, chains=50)
    assert disagreements(factor_analysis.quantities(other), factor_analysis.REFERENCE) != {}


@pytest.mark.slow
def test_a_triangle_of_loadings_has_the_posterior_of_a_random_walk():
    sampler = gp.compile(factor_analysis.model(factors=2, triangular=True))
    assert sampler.verify().proved
    draws = sampler.sample(**SETTINGS)
    assert (draws["loading"][..., 0, 1] == 0).all()
    rng, y = np.random.default_rng(55), factor_analysis.STANDARDISED
    walk = factors_by_hand.run(rng, y, 2, 400, chains=50, thin=100, triangular=True)
    by_hand = factor_analysis.quantities(walk)
    reference = {n: mean_and_error(v) for n, v in by_hand.items()}
    assert disagreements(factor_analysis.quantities(draws), reference) == {}


MAP = [car_disease_mapping.SCOTLAND[n] for n in ("observed", "expected", "outdoors", "neighbours")]


def test_risks_by_hand_are_those_of_the_map():
    found = map_by_hand.run(np.random.default_rng(53), *MAP, 100, thin=2)
    assert disagreements(car_disease_mapping.quantities(found), car_disease_mapping.REFERENCE) == {}


def test_a_map_with_a_normal_response_is_drawn_jointly():
    sampler = gp.compile(car_disease_mapping.model(response="normal"))
    assert steps_of(sampler) == {"risk": JOINT, "beta": JOINT, "tau": GAMMA}
    assert sampler.verify().proved
    means = map_by_hand.normal_means(*MAP, car_disease_mapping.DISTRICTS)
    reference = {n: value for n, (value, _) in car_disease_mapping.NORMAL_REFERENCE.items()}
    assert reference == pytest.approx(means, rel=1e-6)
    compare(car_disease_mapping, sampler, car_disease_mapping.NORMAL_REFERENCE)


@pytest.mark.parametrize("response", ["normal", pytest.param("poisson", marks=pytest.mark.slow)])
def test_risks_that_sum_to_zero_beside_an_intercept_are_the_same(response):
    sampler = gp.compile(car_disease_mapping.model(response=response, intercept=True))
    normal = response == "normal"
    reference = car_disease_mapping.NORMAL_REFERENCE if normal else car_disease_mapping.REFERENCE
    assert sampler.verify().proved
    compare(car_disease_mapping, sampler, reference)


def test_a_map_in_two_parts_has_a_level_for_each():
    """The mean of each part, with its differences heavily tied, is that of its data."""
    model = car_disease_mapping.model(
        observed=[3, 5, 2, 40], expected=[2, 4, 2, 10], outdoors=[0] * 4,
        neighbours=[[1], [0], [3], [2]], shape=1e6, rate=1, response="normal",
    )  # fmt: skip
    assert car_disease_mapping.components([[1], [0], [3], [2]]) == 2
    draws = gp.compile(model).sample(**SETTINGS)
    ratio = np.log(np.array([3.5, 5.5, 2.5, 40.5]) / [2, 4, 2, 10])
    levels = [np.average(ratio[a:b], weights=w) for a, b, w in ((0, 2, [2, 4]), (2, 4, [2, 10]))]
    exact = {"0": (levels[0], 0.0), "3": (levels[1], 0.0)}
    found = {name: draws["risk"][..., int(name)] for name in exact}
    # (what the ties leave of the differences is a millionth)
    assert disagreements(found, {n: (v, 1e-5) for n, (v, _) in exact.items()}) == {}


def test_a_map_without_its_normaliser_is_noticed():
    model = car_disease_mapping.model(response="normal")
    with gp.Model(coords={"district": len(MAP[0])}) as wrong:
        tau = gp.Gamma("tau", 1, rate=1)
        risk = gp.Flat("risk", dims="district")
        i, j = gp.Neighbours("border", MAP[3], of="district")
        gp.Potential("smooth", -tau / 2 * (risk[i] - risk[j]) ** 2)
        gp.Normal("ratio", risk, tau=1, dims="district", observed=model.data["ratio"])
    draws = gp.compile(wrong).sample(**SETTINGS)
    assert "sd" in disagreements(
        {"sd": draws["tau"] ** -0.5},
        {"sd": car_disease_mapping.NORMAL_REFERENCE["sd"]},
    )


@pytest.mark.slow
def test_rows_drawn_jointly_agree_with_factors_drawn_one_by_one():
    model = bayesian_matrix_factorisation
    sizes = tuple(map(len, model.NAMES))
    runs = [
        rows_by_hand.run(np.random.default_rng([54, i]), model.OBSERVED, sizes, 600)
        for i in range(2)
    ]
    found = dict(zip(("U", "V"), map(np.stack, zip(*runs, strict=True)), strict=True))
    assert disagreements(model.quantities(found), model.REFERENCE) == {}


def test_what_is_predicted_of_a_cold_item_is_as_wide_as_its_prior():
    model = bayesian_matrix_factorisation
    sampler = gp.compile(model.model())
    draws = sampler.sample(**SETTINGS)
    cold = len(model.QUALITIES)
    prediction = sampler.predict(draws, new={"judge_of": [0, 0], "quality_of": [0, cold]})
    product = np.einsum("...k,...qk->...q", draws["U"][..., 0, :], draws["V"])
    rated = product[..., [0, cold]]
    assert prediction.mean == pytest.approx(7.6 + rated.mean(axis=(0, 1)), rel=1e-9)
    assert prediction.variance == pytest.approx(rated.var(axis=(0, 1)) + 1 / 10, rel=1e-9)
    assert prediction.variance[1] > 2 * prediction.variance[0]
    # Given its mean and precision, the cold row is a draw from the prior.
    gap = draws["V"][..., cold, :] - draws["mean_V"]
    root = np.linalg.cholesky(draws["precision_V"])
    standard = np.einsum("...k,...kl->...l", gap, root)
    moments = {"mean": standard[..., 0], "one": standard[..., 0] ** 2, "two": standard[..., 1] ** 2}
    assert disagreements(moments, {"mean": (0, 0.0), "one": (1, 0.0), "two": (1, 0.0)}) == {}


# Adaptive rejection of 56 districts, colour by colour, takes milliseconds a sweep.
OTHERS = {
    car_disease_mapping: {"draws": 1000},
    factorisation_machine: {
        "init": factorisation_machine.starts(SETTINGS["chains"], seed=1),
        "warmup": 3000,
        "thin": 4,
    },  # (mu_v, v and w move slowly together)
}


def compare(module, sampler, reference):
    """The sampler's means are those of the reference, as far as Monte Carlo errors tell."""
    quantities = module.quantities(sampler.sample(**SETTINGS | OTHERS.get(module, {})))
    # Chains that have not met have errors so large that they agree with anything.
    assert min(map(effective_draws, quantities.values())) > 50
    assert disagreements(quantities, reference) == {}


def test_a_wrong_reference_is_noticed():
    draws = gp.compile(rats.model()).sample(**SETTINGS)
    wrong = {name: (value * 1.01, error) for name, (value, error) in rats.REFERENCE.items()}
    assert disagreements(rats.quantities(draws), wrong).keys() == wrong.keys()


def test_rats_with_a_uniform_sd_draw_a_truncated_precision():
    sampler = gp.compile(rats.model(sd_prior="uniform"))
    assert steps_of(sampler)["sd"] == GAMMA
    assert sampler.verify().proved
    draws = sampler.sample(**SETTINGS)
    data = rats.RATS["weights"], rats.RATS["days"]
    streams = (np.random.default_rng([8, i]) for i in range(2))
    chains = [rats_by_hand.run(rng, *data, 1000, "uniform") for rng in streams]
    reference = {n: mean_and_error([c[n] for c in chains]) for n in ("alpha0", "mu_b", "sd")}
    found = {**rats.quantities(draws), "sd": draws["sd"]}
    assert disagreements(found, reference) == {}


def test_schools_with_a_uniform_sd():
    model = eight_schools.model(sd_prior="uniform")
    draws = gp.compile(model).sample(**SETTINGS | {"draws": 5000})
    means = schools_by_quadrature.means(
        eight_schools.EFFECTS, eight_schools.STANDARD_ERRORS, eight_schools.SCHOOLS, "uniform"
    )
    exact = {name: (value, 0.0) for name, value in means.items()}
    assert disagreements(eight_schools.quantities(draws), exact) == {}


def test_bivariate_gaussian_as_one_vector_drawn_by_element():
    model = bivariate_gaussian.model(form="joint")
    sampler = gp.compile(model, blocks={"x": "elements"})
    assert sampler.verify().proved
    draws = sampler.sample(**SETTINGS)
    assert disagreements(bivariate_gaussian.quantities(draws), bivariate_gaussian.REFERENCE) == {}
    x1 = draws["x"][..., 0]
    # The walk along the axes: successive values have correlation rho squared, one joint draw none.
    steps = x1[:, 1:] * x1[:, :-1]
    assert disagreements({"lag": steps}, {"lag": (bivariate_gaussian.RHO**2, 0.0)}) == {}


def test_predictions_of_ratings_have_mean_and_variance():
    factorisation = matrix_factorisation
    left, right, _ = factorisation.HELD_OUT
    sampler = gp.compile(factorisation.model())
    draws = sampler.sample(**SETTINGS)
    new = {"judge_of": left, "quality_of": right}
    prediction = sampler.predict(draws, new=new)
    # Half as long as the reference's run; its errors are part of the comparison.
    by_hand = [
        factorisation_by_hand.run(
            np.random.default_rng([9, i]),
            factorisation.OBSERVED,
            (len(factorisation.JUDGES), len(factorisation.QUALITIES)),
            list(zip(left, right, strict=True)),
            500,
        )
        for i in range(2)
    ]
    products = draws_of_products(draws, left, right)
    for n, hand in enumerate(np.stack(by_hand, axis=1)):
        ours, centre = products[..., n], hand.mean()
        moments = {"mean": hand, "variance": (hand - centre) ** 2}
        reference = {m: mean_and_error(values) for m, values in moments.items()}
        found = {"mean": ours, "variance": (ours - centre) ** 2}
        assert disagreements(found, reference) == {}
        noise = 1 / 10
        assert prediction.mean[n] == pytest.approx(ours.mean(), rel=1e-9)
        assert prediction.variance[n] == pytest.approx(ours.var() + noise, rel=1e-9)


def draws_of_products(draws, left, right):
    """The mean of each rating held out, in every draw: (chain, draw, rating)."""
    product = (draws["U"][..., left, :] * draws["V"][..., right, :]).sum(axis=-1)
    return 7.6 + product


SMALL = {"topics": 4, "alpha": 1, "eta": 1}


def test_topics_fit_as_well_as_those_of_a_sampler_written_by_hand():
    corpus = lda.bars(documents=8, length=30, side=2)
    ours = fits(corpus, SMALL, chains=8, warmup=100, draws=900)
    assert distance(ours, fits_by_hand(corpus, SMALL, chains=8, warmup=100, draws=900)) < 4
    wrong = fits_by_hand(corpus, {**SMALL, "alpha": 1.5}, chains=8, warmup=100, draws=900)
    assert distance(ours, wrong) > 4


def test_reuters_has_the_counts_of_the_package_that_they_are_from():
    datasets = pytest.importorskip("lda.datasets")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the package leaves its files open
        theirs, vocabulary = datasets.load_reuters(), list(datasets.load_reuters_vocab())
    ours, words = reuters.table()

    assert np.array_equal(ours, theirs)
    assert words == vocabulary


def test_a_part_of_reuters_has_the_most_frequent_words_of_its_stories():
    whole, vocabulary = reuters.table()
    part, words = reuters.table(documents=40, words=60)
    columns = [vocabulary.index(w) for w in words]
    totals = whole[:40].sum(axis=0)

    assert np.array_equal(part, whole[:40, columns])
    assert columns == sorted(columns)
    assert totals[columns].min() >= np.delete(totals, columns).max()


def test_poisson_factorisation_has_the_density_that_its_docstring_states():
    counts, _ = reuters.table(documents=6, words=8)
    model = poisson_factorisation.model(documents=6, words=8, topics=3, eta=0.05)
    rng = np.random.default_rng(7)
    phi = rng.dirichlet(np.ones(8), size=3)
    gammas = [rng.gamma(2.0, 5.0, size=(6, 3)) for _ in range(2)]
    states = [{"theta": theta, "phi": phi, "counts": counts} for theta in gammas]
    joint = [log_joint(model.graph, state) for state in states]
    prior = [((0.3 - 1) * np.log(t) - 0.03 * t).sum() for t in gammas]
    draws = {"theta": np.stack(gammas)[None], "phi": np.stack([phi, phi])[None]}
    fit = poisson_factorisation.log_likelihood(draws, counts)[0]

    assert np.diff(joint) == pytest.approx(np.diff(prior) + np.diff(fit), rel=1e-9)


FACTORS = {"topics": 3, "shape": 0.3, "rate": 0.03, "eta": 0.5}


def factored_by_hand(counts, quantities, draws=150, chains=2, **prior):
    """Quantities of short runs of the sampler that goes word by word."""
    streams = [np.random.default_rng([46, i]) for i in range(chains)]
    runs = [words_by_hand.run(rng, counts, draws, **{**FACTORS, **prior}) for rng in streams]
    names = dict(zip(("theta", "phi"), map(np.stack, zip(*runs, strict=True)), strict=True))
    return quantities(names)


@pytest.mark.slow
def test_the_reference_of_factors_is_what_a_short_run_gives():
    counts, _ = reuters.table(poisson_factorisation.DOCUMENTS, poisson_factorisation.WORDS)
    found = factored_by_hand(counts, poisson_factorisation.quantities)
    other = factored_by_hand(counts, poisson_factorisation.quantities, eta=0.05)

    assert disagreements(found, poisson_factorisation.REFERENCE) == {}
    assert "log likelihood" in disagreements(other, poisson_factorisation.REFERENCE)


def cells(draws):
    """The rate of every cell of a small table."""
    rate = np.moveaxis(draws["theta"] @ draws["phi"], (0, 1), (-2, -1))
    return {str(at): rate[at] for at in np.ndindex(rate.shape[:2])}


def test_rates_of_a_small_table_are_those_of_the_sampler_that_goes_word_by_word():
    counts, _ = reuters.table(documents=4, words=5)
    sampler = gp.compile(poisson_factorisation.model(counts=counts, **FACTORS))
    found = cells(sampler.sample(**SETTINGS))
    by_hand = factored_by_hand(counts, cells, draws=1000, chains=4)
    wrong = factored_by_hand(counts, cells, draws=400, rate=0.3)

    assert disagreements(found, {n: mean_and_error(v) for n, v in by_hand.items()}) == {}
    assert disagreements(found, {n: mean_and_error(v) for n, v in wrong.items()}) != {}


def test_what_is_recommended_is_unseen_and_does_not_depend_on_names_of_topics():
    rng = np.random.default_rng(9)
    theta, phi = rng.gamma(1.0, size=(2, 5, 4, 3)), rng.dirichlet(np.ones(7), size=(2, 5, 3))
    counts = rng.integers(2, size=(4, 7))
    counts[3] = (1, 1, 1, 1, 1, 1, 0)
    best = poisson_factorisation.recommended({"theta": theta, "phi": phi}, counts, many=2)
    order = rng.permuted(np.tile(np.arange(3), (2, 5, 1)), axis=-1)
    renamed = {
        "theta": np.take_along_axis(theta, order[:, :, None, :], axis=-1),
        "phi": np.take_along_axis(phi, order[..., None], axis=-2),
    }
    rate = (theta @ phi).mean(axis=(0, 1))

    assert np.array_equal(poisson_factorisation.recommended(renamed, counts, many=2), best)
    for d in range(3):
        unseen = sorted((w for w in range(7) if counts[d, w] == 0), key=lambda w: -rate[d, w])
        assert best[d].tolist() == [*unseen, -1, -1][:2]
    assert best[3].tolist() == [6, -1]


def test_places_of_stories_are_those_of_their_titles():
    datasets = pytest.importorskip("lda.datasets")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # the package leaves its files open
        titles = datasets.load_reuters_titles()
    dates = [re.search(r"(\d{4}-\d\d)-\d\d$", title) for title in titles]
    expected = [
        (title.split(" ", 1)[1].split(":")[0].upper(), date[1] if date else "")
        for title, date in zip(titles, dates, strict=True)
    ]
    assert poisson_tensor.places() == expected
    # What is left out for its date, as the docstring has it.
    months = [month for _, month in expected]
    assert months.count("") == 5
    assert sum("" < month < poisson_tensor.MONTHS[0] for month in months) == 4
    assert max(months) == poisson_tensor.MONTHS[-1]


def test_a_tensor_has_the_words_of_the_stories_of_its_places():
    counts, names, vocabulary = poisson_tensor.tensor(countries=5, words=20)
    table, words = reuters.table(words=20)
    stories = [p == ("UK", "1996-08") for p in poisson_tensor.places()]
    at = names.index("UK"), poisson_tensor.MONTHS.index("1996-08")

    assert names == ["FRANCE", "INDIA", "RUSSIA", "UK", "USA"]
    assert vocabulary == words
    assert sum(stories) > 1
    assert np.array_equal(counts[at], table[stories].sum(axis=0))


TENSOR = ("country", "month", "word")


def tensor_of_walks(counts, draws, chains=2, **prior):
    """Draws of short runs of the random walk."""
    streams = [np.random.default_rng([47, i]) for i in range(chains)]
    runs = [tensor_by_hand.run(rng, counts, draws, warmup=500, **prior) for rng in streams]
    return dict(zip(TENSOR, map(np.stack, zip(*runs, strict=True)), strict=True))


@pytest.mark.slow
def test_the_reference_of_the_tensor_is_what_a_short_walk_gives():
    counts, _, _ = poisson_tensor.tensor()
    found = poisson_tensor.quantities(tensor_of_walks(counts, 500))
    wrong = poisson_tensor.quantities(tensor_of_walks(counts, 500, shape=5))
    assert disagreements(found, poisson_tensor.REFERENCE) == {}
    assert disagreements(wrong, poisson_tensor.REFERENCE) != {}


def test_rates_of_a_small_tensor_are_those_of_the_random_walk():
    counts = poisson_tensor.tensor()[0][:3, :2, :4]
    prior = {"topics": 2, "shape": 1.0, "rate": 1.0}
    sampler = gp.compile(poisson_tensor.model(counts=counts, **prior))
    assert sampler.verify().proved
    found = rates_of_cells(sampler.sample(**SETTINGS))
    walks = rates_of_cells(tensor_of_walks(counts, 350, **prior))
    wrong = rates_of_cells(tensor_of_walks(counts, 200, **{**prior, "rate": 3.0}))

    assert disagreements(found, {n: mean_and_error(v) for n, v in walks.items()}) == {}
    assert disagreements(found, {n: mean_and_error(v) for n, v in wrong.items()}) != {}


def rates_of_cells(draws):
    """The rate of every cell of a small tensor."""
    rate = np.moveaxis(poisson_tensor.rates(draws), (0, 1), (-2, -1))
    return {str(at): rate[at] for at in np.ndindex(rate.shape[:3])}


def test_clusters_are_components_that_have_galaxies():
    z = np.array([[0, 0, 5, 29], [3, 3, 3, 3]])
    assert dirichlet_process.clusters(z).tolist() == [3, 1]
    assert (np.diff(dirichlet_process.VELOCITIES) >= 0).all()  # pairs are counted by velocity


def test_the_reference_of_the_process_is_what_a_short_run_gives():
    galaxies = dirichlet_process.VELOCITIES, 200, dirichlet_process.PAIRS
    found = process_by_hand.run(np.random.default_rng(48), *galaxies)
    assert disagreements(found, dirichlet_process.REFERENCE) == {}


def probability_that_two_share(y, shape=2, rate=4):
    """The probability that two galaxies are of one cluster, by quadrature.

    The urn says 1 : concentration before the velocities are seen.
    """
    nodes, weights = np.polynomial.laguerre.laggauss(60)
    precision = nodes / 20
    prior = weights * nodes**2 / 2  # Gamma(3, rate 20) after the change of variable

    def evidence(*values):
        values = np.array(values) - 20
        covariance = 100 + np.eye(len(values)) / precision[:, None, None]
        squares = np.einsum("i,tij,j->t", values, np.linalg.inv(covariance), values)
        spread = np.linalg.det(2 * np.pi * covariance)
        return (prior * np.exp(-squares / 2) / np.sqrt(spread)).sum()

    a = np.random.default_rng(50).gamma(shape, 1 / rate, size=1_000_000)
    same = (1 / (1 + a)).mean()
    odds = same * evidence(*y) / ((1 - same) * evidence(y[0]) * evidence(y[1]))
    return odds / (1 + odds)


def test_two_galaxies_share_a_cluster_as_often_as_quadrature_says():
    y, pair = np.array([12.0, 25.0]), ((0, 1),)
    exact = {"0 with 1": (probability_that_two_share(y), 0.0)}
    streams = [np.random.default_rng([49, i]) for i in range(2)]
    by_hand = [process_by_hand.run(rng, y, 4000, pair)["0 with 1"] for rng in streams]
    z = gp.compile(dirichlet_process.model(velocities=y)).sample(**SETTINGS)["z"]
    ours = (z[..., 0] == z[..., 1]).astype(float)

    assert disagreements({"0 with 1": np.stack(by_hand)}, exact) == {}
    assert disagreements({"0 with 1": ours}, exact) == {}
    other = {"0 with 1": (probability_that_two_share(y, rate=2), 0.0)}
    assert disagreements({"0 with 1": ours}, other) != {}


def test_topics_of_reuters_have_three_derived_conditionals_that_hold():
    corpus = lda.reuters()
    sampler = gp.compile(lda.model())
    graph, data, steps = sampler.graph, sampler.data, sampler.schedule.steps
    (chain,), _ = sampler.initial_states(1, 5)
    start = {name: np.array(value) for name, value in chain.state.items()}
    rng = np.random.default_rng(6)
    rows = ratio_check(rng, graph, sampler.program, steps, data, start, rounds=1)
    for _ in range(30):
        sampler.program.sweep(chain.rng, chain.state, sampler.constants)
    before, after = (
        lda.log_likelihood(s["theta"], s["phi"], *corpus[:2]) for s in (start, chain.state)
    )
    words = np.bincount(corpus[1])
    one_topic = (words * np.log(words / words.sum())).sum()

    assert sorted(step.kind for step in steps) == ["exact", "exact", "finite"]
    assert all(row.passed for row in rows)
    assert after > before
    assert after > one_topic


@pytest.mark.slow
def test_topics_of_reuters_fit_as_well_as_those_of_a_sampler_written_by_hand():
    corpus, prior = lda.reuters(), {"topics": 20, "alpha": lda.ALPHA, "eta": lda.ETA}
    run = {"chains": 4, "warmup": 150, "draws": 20}
    assert distance(fits(corpus, prior, **run), fits_by_hand(corpus, prior, **run)) < 4


def fits(corpus, prior, *, chains, warmup, draws):
    """The average log likelihood of each chain."""
    sampler = gp.compile(lda.model(corpus=corpus, **prior))
    found = sampler.sample(draws=draws, warmup=warmup, chains=chains, seed=21)
    return lda.quantities(found, corpus)["log likelihood"].mean(axis=1)


def fits_by_hand(corpus, prior, *, chains, warmup, draws):
    """The same, of the sampler written by hand."""
    streams = [np.random.default_rng([22, i]) for i in range(chains)]
    runs = [lda_by_hand.run(rng, corpus, warmup + draws, **prior) for rng in streams]
    return np.array(runs)[:, warmup:].mean(axis=1)


def distance(ours, theirs):
    """Standard errors between the means of two sets of chains; chains are independent."""
    error = np.sqrt(ours.var(ddof=1) / ours.size + theirs.var(ddof=1) / theirs.size)
    return abs(ours.mean() - theirs.mean()) / error
