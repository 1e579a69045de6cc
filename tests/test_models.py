"""Every model of the library: derived, proved, and in agreement with an independent answer."""

import numpy as np
import pytest
from references import dyes as dyes_by_quadrature
from references import eight_schools as schools_by_quadrature
from references import gaussian as gaussian_by_quadrature
from references import lda as lda_by_hand
from references import linear_regression as regression_by_quadrature
from references import matrix_factorisation as factorisation_by_hand
from references import pumps as pumps_by_quadrature
from references import rats as rats_by_hand
from references.monte_carlo import disagreements, effective_draws, mean_and_error

import gibbsppl as gp
import models
from gibbsppl.checks.ratio import ratio_check
from models import (
    bivariate_gaussian,
    dice,
    dyes,
    eight_schools,
    gaussian,
    gaussian_mixture,
    lda,
    linear_regression,
    matrix_factorisation,
    pumps,
    rats,
)

SETTINGS = {"draws": 2500, "warmup": 500, "chains": 4, "seed": 20}

# What the derivation finds: for each latent variable the kind of its step and its family.
NORMAL, GAMMA = ("exact", "Normal"), ("exact", "Gamma")
BLOCK = ("block", "MvNormal")
DIRICHLET, LABELS, CONCAVE = ("exact", "Dirichlet"), ("finite", None), ("concave", None)
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
    "gaussian_mixture": {"weight": DIRICHLET, "mu": NORMAL, "tau": GAMMA, "z": LABELS},
    "lda": {"theta": DIRICHLET, "phi": DIRICHLET, "z": LABELS},
}


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
        for name in step.variables
    }


def independent_means(name):
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


@pytest.mark.parametrize("name", ["gaussian", "eight_schools", "linear_regression"])
def test_exact_references_are_what_quadrature_gives(name):
    means = independent_means(name)
    reference = {m: value for m, (value, _) in getattr(models, name).REFERENCE.items()}
    assert reference == pytest.approx(means, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", ["pumps", "dyes"])
def test_references_of_the_other_sampler_are_within_its_errors_of_quadrature(name):
    means = independent_means(name)
    reference = getattr(models, name).REFERENCE
    far = {m: abs(means[m] - value) / error for m, (value, error) in reference.items()}
    assert max(far.values()) < 4, far


@pytest.mark.parametrize("module", models.ALL, ids=name_of)
def test_each_conditional_is_derived(module):
    sampler = gp.compile(model_of(module))
    assert steps_of(sampler) == STEPS[name_of(module)]


@pytest.mark.parametrize("module", models.ALL, ids=name_of)
def test_each_conditional_is_the_ratio_of_joint_densities(module):
    assert gp.compile(model_of(module)).verify().passed


@pytest.mark.parametrize("module", [m for m in models.ALL if m.REFERENCE], ids=name_of)
def test_posterior_means_agree_with_the_reference(module):
    draws = gp.compile(module.model()).sample(**SETTINGS)
    quantities = module.quantities(draws)
    # Chains that have not met have errors so large that they agree with anything.
    assert min(map(effective_draws, quantities.values())) > 50
    assert disagreements(quantities, module.REFERENCE) == {}


def test_a_wrong_reference_is_noticed():
    draws = gp.compile(rats.model()).sample(**SETTINGS)
    wrong = {name: (value * 1.01, error) for name, (value, error) in rats.REFERENCE.items()}
    assert disagreements(rats.quantities(draws), wrong).keys() == wrong.keys()


def test_rats_with_a_uniform_sd_draw_a_truncated_precision():
    sampler = gp.compile(rats.model(sd_prior="uniform"))
    assert steps_of(sampler)["sd"] == GAMMA
    assert sampler.verify().passed
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
    assert sampler.verify().passed
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
