"""Samplers of rewritten models: exact conditionals, the posterior that they had before."""

from functools import cache

import numpy as np
import pytest
from references.monte_carlo import BATCHES, mean_and_error
from rewrites import (
    examples,
    examples_gates,
    examples_hidden,
    examples_models,
    examples_positive,
    examples_rejected,
    examples_volatility,
)
from scipy import stats
from scipy.special import gammaln
from test_models_joint import CASES, compiled
from test_rewrites import EXAMPLES, NOT_FOUND, REWRITES

import gibbsppl as gp
from gibbsppl.checks.geweke import geweke
from gibbsppl.errors import CompileError

LEVEL = 1e-3
CHAINS, DRAWS = 4, 2000

# What cannot be asked for: the auxiliary variable would have no closed form itself.
REFUSED = {("hidden value", examples_hidden.heavy_tails_that_are_cut)}


MODELS = [
    pytest.param(m, id=m.__name__) for m in dict.fromkeys(m for ms in EXAMPLES.values() for m in ms)
]
ASKED = [
    pytest.param(r.name, m, id=f"{r.name}-{m.__name__}")
    for r in REWRITES
    for m in EXAMPLES.get(r.name, ())
    if (r.name, m.__name__) not in NOT_FOUND and (r.name, m) not in REFUSED
]


@pytest.mark.parametrize("model", MODELS)
def test_every_conditional_passes_the_ratio_check(model):
    assert gp.compile(model()).verify().proved


@pytest.mark.parametrize(("name", "model"), ASKED)
def test_every_conditional_of_a_rewrite_that_is_asked_for_passes(name, model):
    sampler = gp.compile(model(), rewrites={name: True})

    assert name in {r.rule.name for r in sampler.schedule.rewrites}
    assert sampler.verify().proved


@pytest.mark.parametrize(("name", "model"), REFUSED)
def test_a_rewrite_whose_variable_has_no_closed_form_is_refused(name, model):
    message = rf"^rewrites\['{name}'\]: y_hidden, .* to y, has no closed form itself; leave it out"

    with pytest.raises(CompileError, match=message):
        gp.compile(model(), rewrites={name: True})


# ---- models that are often asked for ---------------------------------------------------------

# The rules that each is given, and the family of each step (what kind of step, where it has none).
GIVEN = (
    (
        examples_models.counts_with_structural_zeros,
        ("share out",),
        {"y_split": "Multinomial", "psi": "Beta", "rate": "Gamma"},
    ),
    (
        examples_models.a_count_that_is_thinned,
        ("share out",),
        {"N": "Poisson", "y_split": "Multinomial", "rate": "Gamma", "p": "Beta"},
    ),
    (
        examples_models.a_latent_covariance,
        ("power of a sum",),
        {"cov_weight": "Gamma", "cov": "InverseWishart"},
    ),
    (
        examples_models.admixture,
        ("share out",),
        {"y_split": "finite", "theta": "Dirichlet", "phi": "Dirichlet"},
    ),
    (
        examples_models.parallel_factors,
        ("share out",),
        {"y_split": "Multinomial", **dict.fromkeys(("f_a", "f_b", "f_c"), "Gamma")},
    ),
    (
        examples_models.factors_with_a_core,
        ("share out",) * 3,
        dict.fromkeys(("y_split", "y_split_split", "y_split_split_split"), "Multinomial")
        | dict.fromkeys(("core", "f_a", "f_b", "f_c"), "Gamma"),
    ),
    (
        examples_gates.logits_of_those_who_are_there,
        ("Polya-Gamma",) * 2,
        {**dict.fromkeys(("y_omega", "y_omega_2"), "PolyaGamma"), "z": "finite", "b": "MvNormal"},
    ),
    (
        examples_rejected.failures_between_two_limits,
        ("rejected draws",),
        {"y_rejected": "Geometric", "p": "Beta"},
    ),
    (
        examples_models.orders_of_arrival,
        ("power of a sum",),
        {"chosen_weight": "Exponential", "skill": "Gamma"},
    ),
    (
        examples_positive.degrees_of_freedom,
        ("power of a sum",),
        {"nu": "move", "y_weight": "Gamma", "mu": "Normal"},
    ),
)
# Those that are given a rule where it is asked for: proposals about the mode cost less.
OFFERED = (
    (
        examples_models.ordered_grades,
        ("latent normal between",),
        {"cut": "concave", "y_utility": "Normal", "b": "MvNormal"},
    ),
    (
        examples_models.answers_one_after_the_other,
        ("Polya-Gamma",),
        {"y_omega": "PolyaGamma", "b": "MvNormal"},
    ),
    (
        examples_models.tables_of_answers_one_after_the_other,
        ("Polya-Gamma",),
        {"y_omega": "PolyaGamma", "b": "MvNormal"},
    ),
)


def named(rows):
    """The names of the models of some rows."""
    return [model.__name__ for model, *_ in rows]


def drawn(sampler):
    """The family, else the kind, of each step."""
    steps = sampler.schedule.steps
    return {s.statement.name: s.family.name if s.family else s.kind for s in steps}


@pytest.mark.parametrize(("model", "rules", "steps"), GIVEN, ids=named(GIVEN))
def test_a_model_is_given_what_it_needs(model, rules, steps):
    sampler = gp.compile(model())

    assert tuple(r.rule.name for r in sampler.schedule.rewrites) == rules
    assert drawn(sampler) == steps
    assert sampler.verify().proved


@pytest.mark.parametrize(("model", "rules", "steps"), OFFERED, ids=named(OFFERED))
def test_a_model_is_given_what_is_asked_for(model, rules, steps):
    assert not gp.compile(model()).schedule.rewrites
    sampler = gp.compile(model(), rewrites=dict.fromkeys(rules, True))

    assert drawn(sampler) == steps
    assert sampler.verify().proved


@pytest.mark.parametrize(
    ("model", "rules"),
    [(m, r) for m, r, _ in (*GIVEN, *OFFERED)],
    ids=named((*GIVEN, *OFFERED)),
)
def test_what_a_model_is_given_can_be_asked_for(model, rules):
    sampler = gp.compile(model(), rewrites=dict.fromkeys(rules, True))

    # (what moves all auxiliary variables that there are need not be asked for)
    found = tuple(r.rule.name for r in sampler.schedule.rewrites)
    assert found[: len(rules)] == rules
    assert set(found[len(rules) :]) <= {"working scale"}


def test_labels_that_a_rule_has_added_are_drawn_without_what_they_depend_on():
    sampler = gp.compile(examples_models.admixture(), collapse=("theta", "phi"))

    assert drawn(sampler) == {"y_split": "scan", "theta": "Dirichlet", "phi": "Dirichlet"}
    assert sampler.schedule.step("y_split").conditional.integrated == ("theta", "phi")
    assert sampler.verify().proved


def test_an_auxiliary_variable_is_kept_where_it_is_named():
    """It is there in each sweep anyway: nothing else changes."""
    sampler = gp.compile(examples.logistic_regression(), rewrites={"Polya-Gamma": True})
    settings = {"draws": 20, "warmup": 5, "chains": 2, "seed": 1, "progress": False}
    plain = sampler.sample(**settings)
    alone, both = (sampler.sample(**settings, keep=k) for k in (["y_omega"], ["b", "y_omega"]))
    omega = np.asarray(alone["y_omega"])

    assert set(plain) == {"b"}
    assert set(alone) == {"y_omega"}
    assert omega.shape == (2, 20, 6)
    assert (omega > 0).all()
    assert len(np.unique(omega)) == omega.size
    assert np.array_equal(both["b"], plain["b"])
    assert np.array_equal(both["y_omega"], omega)


# ---- the same posterior with and without -----------------------------------------------------


def moments(sampler, seed, of=lambda x: x):
    """The draws of each element, and their squares, as arrays (chain, draw) by name."""
    draws = sampler.sample(draws=DRAWS, warmup=200, chains=CHAINS, seed=seed, progress=False)
    found = {}
    for name in (s.target.array.name for s in sampler.graph.latent):
        values = of(np.asarray(draws[name])).reshape(CHAINS, DRAWS, -1)
        for j, element in enumerate(np.moveaxis(values, -1, 0)):
            if np.ptp(element) > 0:
                found[name, j] = element
                found[name, j, "square"] = element**2
    return found


def disagreements(first, second, level=LEVEL):
    """What differs by more than its Monte Carlo error, the level shared out among all.

    The errors are themselves estimated, each by the means of some batches: so the distance is
    compared with Student's t of the fewer degrees of freedom.
    """
    assert set(first) == set(second)
    limit = stats.t.isf(level / len(first) / 2, CHAINS * BATCHES - 1)
    (a, b) = ({n: mean_and_error(v) for n, v in d.items()} for d in (first, second))
    gaps = {n: abs(a[n][0] - b[n][0]) / np.hypot(a[n][1], b[n][1]) for n in first}
    return {n: gap for n, gap in gaps.items() if not gap <= limit}


COMPARED = {
    examples.logistic_regression: "Polya-Gamma",
    examples.trials_of_which_some_are_none: "Polya-Gamma",
    examples.probit_regression: "latent normal",
    examples.probits_of_trials: "latent normal",
    examples.readings_to_whole_numbers: "latent normal between",
    examples.a_background: "share out",
    examples.a_background_of_a_region: "share out",
    examples.an_event_for_certain: "at least one",
    examples_positive.robust_regression: "power of a sum",
    examples_positive.comparisons_of_pairs: "power of a sum",
    examples_positive.a_single_half_t: "power of a ratio",
    examples_positive.lasso: "distance",
    examples_positive.scattered_counts: "tables of customers",
    examples_positive.clusters_of_groups: "fraction",
    examples_gates.logits_by_a_hidden_state: "Polya-Gamma",
    examples_gates.logits_of_those_who_are_there: "Polya-Gamma",
    examples_gates.probits_of_those_who_are_there: "latent normal",
    examples_hidden.followed_to_an_end: "hidden value",
    examples_hidden.between_two_detection_limits: "hidden value",
    examples_rejected.counts_of_groups_that_are_not_zero: "rejected draws",
    examples_rejected.times_between_two_ends: "rejected draws",
    examples_volatility.volatility_with_a_mean: "log chi-squared",
    examples_volatility.returns_of_which_some_are_zero: "log chi-squared",
}


def test_every_rule_is_compared():
    assert set(COMPARED.values()) == {r.name for r in REWRITES}


QUICK = (examples.a_background,)


@pytest.mark.parametrize(
    "model",
    [pytest.param(m, marks=() if m in QUICK else pytest.mark.slow) for m in COMPARED],
    ids=lambda f: f.__name__,
)
def test_the_posterior_is_the_same_with_a_rewrite_and_without(model):
    name = COMPARED[model]
    with_it = gp.compile(model(), rewrites={name: True})
    without = gp.compile(model(), rewrites=dict.fromkeys((r.name for r in REWRITES), False))

    assert name in {r.rule.name for r in with_it.schedule.rewrites}
    assert not without.schedule.rewrites
    assert disagreements(moments(with_it, 1), moments(without, 2)) == {}


def test_the_comparison_sees_another_prior():
    def model(rate):
        with gp.Model() as m:
            signal, noise = gp.Gamma("signal", 2, rate=rate), gp.Gamma("noise", 3, rate=1)
            gp.Poisson("y", signal + 2 * noise + 0.5, observed=4)
        return gp.compile(m, rewrites={"share out": True})

    assert disagreements(moments(model(1.0), 1), moments(model(1.2), 2))


def bounded(x):
    """A function that has all its moments, whatever the tails."""
    return x / (1 + np.abs(x))


@cache
def moments_as_compiled(name):
    return moments(compiled(name), 2, bounded)


WAYS = [(name, way) for name, way in CASES if way != "as compiled"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), WAYS)
def test_the_posterior_of_a_model_is_the_same_in_every_way_to_draw_it(name, way):
    found = moments(compiled(name, way), 1, bounded)

    assert disagreements(found, moments_as_compiled(name), LEVEL / len(WAYS)) == {}


# ---- joint-distribution tests ----------------------------------------------------------------


def poisson_factorisation():
    with gp.Model(coords={"d": 3, "w": 3, "k": 2}) as m:
        theta = gp.Gamma("theta", 2, rate=1, dims=("d", "k"))
        phi = gp.Gamma("phi", 2, rate=2, dims=("w", "k"))
        gp.Poisson("y", (theta * phi).sum("k"), dims=("d", "w"), observed=np.ones((3, 3)))
    return m


def student_t_regression():
    with gp.Model() as m:
        tau = gp.Gamma("tau", 4, rate=2)
        mean = examples.line()
        gp.StudentT("y", nu=4, mu=mean, tau=tau, dims="i", observed=examples.MEASURED)
    return m


def bradley_terry():
    with gp.Model(coords={"player": 3}) as m:
        skill = gp.Gamma("skill", 2, rate=1, dims="player")
        first = gp.Index("first", [0, 1, 2, 0, 1], of="player", dims="game")
        second = gp.Index("second", [1, 2, 0, 2, 0], of="player", dims="game")
        p = skill[first] / (skill[first] + skill[second])
        gp.Bernoulli("won", p, dims="game", observed=[1, 0, 1, 1, 0])
    return m


@pytest.mark.parametrize(
    "model",
    [
        bradley_terry,
        *(
            pytest.param(m, marks=pytest.mark.slow)
            for m in (poisson_factorisation, student_t_regression, examples.links_of_a_network)
        ),
    ],
    ids=lambda f: f.__name__,
)
def test_sweeps_leave_the_joint_distribution_as_it_is(model):
    sampler = gp.compile(model(), exact=True)
    rng = np.random.default_rng(11)
    result = geweke(rng, sampler.graph, sampler.data, sampler.program, level=LEVEL)

    assert sampler.schedule.rewrites
    assert result.passed, result


@pytest.mark.slow
def test_sweeps_with_a_scan_of_what_a_rule_has_added_do_so_too():
    """It starts as the sampler without a scan draws it: the scan alone would need many sweeps."""
    sampler = gp.compile(examples_models.admixture(), collapse=("theta", "phi"))
    start = gp.compile(examples_models.admixture()).program
    found, without = (
        geweke(
            np.random.default_rng(12),
            sampler.graph,
            sampler.data,
            sampler.program,
            replicates=500,
            sweeps=1,
            level=LEVEL,
            start=given,
        )
        for given in (start, None)
    )

    assert found.passed, found
    assert not without.passed


@pytest.mark.parametrize(("tables", "shape"), [(1, 0.1), (2, 0.01)])
def test_a_vague_concentration_is_drawn_where_its_fraction_is_no_number(tables, shape):
    """Near 0 the fraction is about ``exp(-1 / a)``, below the smallest number."""
    with gp.Model() as model:
        a = gp.Gamma("a", shape, rate=shape)
        gp.ChineseRestaurantTable("k", 50, a, observed=tables)
    sampler = gp.compile(model)
    draws = sampler.sample(draws=DRAWS, warmup=100, chains=CHAINS, seed=1, progress=False)
    log_a = np.linspace(-400, 7, 200_001)
    at = np.exp(log_a)
    density = (shape + tables) * log_a - shape * at + gammaln(at) - gammaln(at + 50)
    below = np.cumsum(np.exp(density - density.max()))
    wanted = np.interp([0.05, 0.25, 0.5, 0.75, 0.95], below / below[-1], log_a)

    assert [r.rule.name for r in sampler.schedule.rewrites] == ["fraction"]
    for quantile, share in zip(wanted, (0.05, 0.25, 0.5, 0.75, 0.95), strict=True):
        mean, error = mean_and_error((np.log(draws["a"]) < quantile).astype(float))
        assert abs(mean - share) < stats.norm.isf(LEVEL / 20) * error
