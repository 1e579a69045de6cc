"""Every model of the library passes a joint-distribution test, in every way in which it is drawn.

J. Geweke (2004), "Getting it right", Journal of the American Statistical Association 99, 799-804,
with independent replicates: parameters and data are drawn together, and sweeps given these data
must leave every distribution as it is (`gibbsppl.checks.geweke`). Models are at a small size, with
moderate priors, both by their own arguments. The level is shared out among all models and ways, and
within each of them among all functions and tests: nothing else decides what is too far.
"""

import ast
import re
from contextlib import suppress
from functools import cache, partial

import numpy as np
import pytest
from remaking import remade
from scipy import stats

import gibbsppl as gp
import models
from gibbsppl.checks import geweke as checks_geweke
from gibbsppl.checks.geweke import drawn_together, geweke
from gibbsppl.code.program import load
from gibbsppl.comparing.variants import variants_of
from gibbsppl.errors import CompileError, RunError
from gibbsppl.rewrites.driver import RULES
from models import (
    bayesian_lasso,
    bayesian_matrix_factorisation,
    beetles,
    bivariate_gaussian,
    capture_recapture,
    coin,
    dice,
    dirichlet_process,
    dyes,
    eight_schools,
    factor_analysis,
    factorisation_machine,
    gaussian,
    gaussian_mean,
    gaussian_mixture,
    gaussian_variance,
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
    robust_regression,
    salm,
    seeds,
    spike_and_slab,
    trend_seasonal,
)

# The probability that any of the tests fails though all samplers are right.
LEVEL = 1e-3
REPLICATES, FEW_REPLICATES = 1500, 300
SWEEPS = 3

X = np.array([[0.5, -1.0], [-1.2, 0.3], [0.8, 0.9], [0.1, -0.4]])
Y = np.array([0.3, -1.1, 0.7, 1.9])
SCALE = {"shape": 3, "rate": 2}
REGRESSION = {"x": X, "y": Y, "columns": "ab", "intercept_precision": 1}
GROWTH = {"weights": np.ones((3, 3)), "days": (1, 2, 4), "mean_precision": 1}
SCHOOLS = {"effects": (1, 0, 3), "standard_errors": (1.5, 0.5, 1), "mean_precision": 0.5}
CLUSTERS = {"velocities": Y, "prior_mean": 1, "prior_precision": 0.5}
BREAKS = {"breaks": (0, 1, 3, 2), "x": X, "terms": "ab", "precision": 1, "shape": 3, "rate": 1}
RATINGS = (0, 0, 1, 2, 1), (0, 1, 1, 0, 0), (1.0, 2.0, 0.0, 1.0, 1.0)

# Potentials tie their variables in no order in which they could be drawn from the prior: sweeps of
# these are compared with all of their states (tests/test_lattices.py).
UNDIRECTED = {"ising", "potts_segmentation", "car_disease_mapping"}

# What is observed gives the shapes alone: every replicate draws its own.
MACHINE = {
    "features": [[0, 2], [0, 3], [1, 2], [4, 0], [1, 0]],
    "y": (0.5, -1, 2, 1, 0.3),
    "groups": (0, 0, 1, 1, 1),
    "values": ((1, 0.5), (1, -1), (2, 1), (0.7, 0), (1, 0)),
}

SMALL = {
    "coin": partial(coin.model, heads=3, tails=2, a=2, b=3),
    "dice": partial(dice.model, counts={"white": (3, 2, 1), "red": (1, 0, 2)}, a=1.5),
    "gaussian_mean": partial(gaussian_mean.model, y=Y, tau=2, prior_mean=1, prior_precision=1),
    "gaussian_variance": partial(gaussian_variance.model, y=Y, mu=1, **SCALE),
    "gaussian": partial(gaussian.model, y=Y, prior_mean=1, prior_precision=0.5, **SCALE),
    "bivariate_gaussian": bivariate_gaussian.model,
    "bivariate_gaussian, joint": partial(bivariate_gaussian.model, form="joint"),
    "linear_regression": partial(linear_regression.model, **REGRESSION, **SCALE),
    "rats": partial(rats.model, **GROWTH, **SCALE),
    "rats, uniform sd": partial(
        rats.model, **GROWTH, **SCALE, sd_prior="uniform", sd_upper=3
    ),
    "pumps": partial(
        pumps.model, (1, 0, 3), (1.5, 0.5, 2), alpha_rate=0.3, beta_shape=3, beta_rate=2
    ),
    "eight_schools": partial(eight_schools.model, **SCHOOLS, **SCALE),
    "eight_schools, uniform sd": partial(
        eight_schools.model, **SCHOOLS, sd_prior="uniform", sd_upper=3
    ),
    "dyes": partial(dyes.model, np.ones((3, 2)), mean_precision=0.5, **SCALE),
    "matrix_factorisation": partial(
        matrix_factorisation.model, RATINGS, names=("abc", "pq"), level=1, tau=2
    ),
    "factorisation_machine": partial(
        factorisation_machine.model, **MACHINE, factors=2, level=0, shape=3, rate=2
    ),
    "gaussian_mixture": partial(
        gaussian_mixture.model, **CLUSTERS, components=2, concentration=1.5, **SCALE
    ),
    "gaussian_mixture, tied": partial(
        gaussian_mixture.model,
        **CLUSTERS,
        components=2,
        concentration=1.5,
        **SCALE,
        tied=True,
        strength=0.5,
    ),
    "lda": partial(
        lda.model, ((0, 0, 0, 1, 1), (0, 1, 0, 2, 1), ["a", "b", "c"]), topics=2, alpha=0.8, eta=0.7
    ),
    "seeds": partial(
        seeds.model, (1, 0, 2, 3), (2, 3, 2, 4), (0, 0, 1, 1), (0, 1, 0, 1), precision=1, **SCALE
    ),
    "beetles": partial(beetles.model, (1, 2, 2), (2, 3, 2), (1, 2, 4), precision=0.5),
    "beetles, probit": partial(
        beetles.model, (1, 2), (2, 2), (1, 2), precision=0.5, link="probit"
    ),
    "salm": partial(
        salm.model, ((1, 0), (3, 1)), (0, 10), precision=1, toxicity_precision=1, **SCALE
    ),
    "robust_regression": partial(
        robust_regression.model, x=X, loss=Y, columns="ab", precision=1, **SCALE
    ),
    "bayesian_lasso": partial(
        bayesian_lasso.model, **REGRESSION, penalty_prior=(3, 2), noise_prior=(3, 2)
    ),
    "horseshoe": partial(horseshoe.model, **REGRESSION, **SCALE),
    "spike_and_slab": partial(spike_and_slab.model, **REGRESSION, slab=1, noise_prior=(3, 2)),
    "spike_and_slab, tied": partial(
        spike_and_slab.model, **REGRESSION, slab=1, noise_prior=(3, 2), tied=True
    ),
    "ordered_probit": partial(
        ordered_probit.model,
        counts={"A": (0, 1, 0), "B": (3, 3, 3)},
        cut_precision=0.2,
        effect_precision=0.2,
    ),
    "negative_binomial": partial(negative_binomial.model, **BREAKS),
    "negative_binomial, odds": partial(negative_binomial.model, **BREAKS, form="odds"),
    "capture_recapture": partial(
        capture_recapture.model, (3, 2, 2), (0, 1, 1), most=12, a=2, b=3
    ),
    "poisson_factorisation": partial(
        poisson_factorisation.model, [[1, 0, 2], [0, 3, 1]], topics=2, shape=2, rate=1, eta=1.2
    ),
    "poisson_tensor": partial(
        poisson_tensor.model, [[[1, 0], [2, 0]], [[0, 3], [1, 1]]], topics=2, shape=2, rate=2
    ),
    "dirichlet_process": partial(
        dirichlet_process.model,
        **CLUSTERS,
        components=3,
        concentration_shape=2,
        concentration_rate=1,
        **SCALE,
    ),
    "iris": partial(
        iris.model,
        X,
        measurements="ab",
        components=2,
        concentration=1.5,
        prior_mean=(1, 0),
        strength=0.5,
        nu=6,
        scale=2,
    ),
    "hidden_markov": partial(
        hidden_markov.model, (1, 0, 4, 2), states=2, shape=3, rate=2, concentration=1.5
    ),
    "local_level": partial(
        local_level.model, Y, 0, start=(1, 0.5), noise_prior=(3, 2), level_prior=(3, 1)
    ),
    "trend_seasonal": partial(
        trend_seasonal.model,
        (1.0, 2.0, 1.5, 0.5, 1.2),
        start=(1, 0.5, 0, 2, 1),
        **{f"{n}_prior": (3, 2) for n in ("noise", "level", "slope", "season")},
    ),
    "linear_mixed": partial(
        linear_mixed.model,
        ((1.0, 2.0, 0.0), (0.5, 1.0, 1.0)),
        "ab",
        fixed=((1, 0.5), (0, 1)),
        priors={"a": (3, 2), "b": (4, 1), "c": (3, 1), "": (3, 2)},
    ),
    "factor_analysis": partial(factor_analysis.model, X, "ab", factors=1, rate=2),
    "factor_analysis, triangular": partial(
        factor_analysis.model, X, "ab", factors=2, rate=2, triangular=True
    ),
    "bayesian_matrix_factorisation": partial(
        bayesian_matrix_factorisation.model,
        RATINGS,
        names=("abc", "pqr"),
        level=1,
        tau=2,
        nu=9,
    ),
    "neural_network": partial(
        neural_network.model, X, Y, X[:1], units=2, prior=(3, 2), noise_prior=(3, 2)
    ),
}  # fmt: skip


def without(*rules):
    return {"rewrites": dict.fromkeys(rules, False)}


def with_(*rules, but=()):
    return {"rewrites": dict.fromkeys(rules, True) | dict.fromkeys(but, False)}


POLYA_GAMMA, POWER, TABLES = "Polya-Gamma", "power of a sum", "tables of customers"
NETWORK = ("tau_weight", "tau_bias", "tau_out")
BY_ELEMENT = {"blocks": dict.fromkeys(("level", "slope"), "elements")}

# The ways to draw a model besides the one that it is given: keyword arguments of gp.compile.
WAYS = {
    "bivariate_gaussian, joint": {"by element": {"blocks": {"x": "elements"}}},
    "matrix_factorisation": {"random walks": {"kernels": {"U": gp.RandomWalk()}}},
    "gaussian_mixture": {w: s for w, s in gaussian_mixture.WAYS.items() if s}
    | {"weights integrated out, random scan": {"collapse": ("weight",), "scan": "random"}},
    "gaussian_mixture, tied": {w: s for w, s in gaussian_mixture.TIED_WAYS.items() if s}
    | {
        "weights integrated out": {"collapse": ("weight",)},
        "precisions integrated out": {"collapse": ("tau",)},
    },
    "lda": {w: s for w, s in lda.WAYS.items() if s and "approximate" not in s}
    | {"words integrated out": {"collapse": ("phi",)}},
    "pumps": {
        "rates integrated out": {"collapse": ("theta",)},
        "their scale integrated out": {"collapse": ("beta",)},
        "a shape by slice": {"kernels": {"alpha": gp.Slice()}},
        "a shape given the scale": without("marginal moves"),
    },
    "seeds": {
        "Polya-Gamma": with_(POLYA_GAMMA),
        "plain": without(POLYA_GAMMA),
        "without proposals": {"exact": True},
        "one after the other": {"blocks": dict.fromkeys(("alpha", "effect"), "alone")},
        "one after the other, without updates of locations": {
            "blocks": dict.fromkeys(("alpha", "effect"), "alone"),
            "interweave": ("tau",),
        },
    },
    "salm": {"without proposals": {"exact": True}},
    "beetles": {
        "Polya-Gamma": with_(POLYA_GAMMA),
        "without proposals": {"exact": True},
        "one by one": {**without(POLYA_GAMMA), **BY_ELEMENT},
    },
    "beetles, probit": {
        "latent normal": with_("latent normal"),
        "one by one": {**without("latent normal"), **BY_ELEMENT},
        "without proposals": {"exact": True},
    },
    "robust_regression": {"plain": without(POWER), "random scan": {"scan": "random"}},
    "bayesian_lasso": {"plain": without("distance")},
    "horseshoe": {
        "power of a sum": with_(POWER),
        "power of a ratio": with_("power of a ratio"),
        "coefficients given the noise": without("locations"),
        "noise integrated out": {"collapse": ("tau",)},
        "coefficients integrated out": {"collapse": ("beta",)},
        "scales by slice": {"kernels": {"local": gp.Slice(), "overall": gp.Slice()}},
        "scales along paths": {"kernels": {("local", "overall"): gp.NUTS()}},
    },
    "spike_and_slab": {
        "weights integrated out": {"collapse": ("beta",)},
        "intercept integrated out": {"collapse": ("intercept",)},
        "noise integrated out": {"collapse": ("tau",)},
    },
    "spike_and_slab, tied": {w: s for w, s in spike_and_slab.TIED_WAYS.items() if s}
    | {
        "intercept integrated out": {"collapse": ("intercept",)},
        "noise integrated out": {"collapse": ("tau",)},
        "coefficients given the noise": without("locations"),
    },
    "ordered_probit": {
        "latent normal between": with_("latent normal between"),
        "plain": without("latent normal between"),
        "symmetric scan": {"scan": "symmetric"},
        "one by one": {
            **without("latent normal between"),
            "blocks": dict.fromkeys(("cut", "effect"), "elements"),
        },
    },
    "negative_binomial": {
        "a size by random walk": {"kernels": {"alpha": gp.RandomWalk()}},
        "a size by slice": {"kernels": {"alpha": gp.Slice()}},
        "plain": without(POLYA_GAMMA),
        "power of a sum": with_(POWER),
        "power of a ratio": with_("power of a ratio"),
        "tables": with_(TABLES),
        "tables alone": with_(TABLES, but=[POLYA_GAMMA]),
        "power of a sum and tables": with_(POWER, TABLES),
        "coefficients integrated out": {"collapse": ("beta",)},
    },
    "negative_binomial, odds": {
        "a size by random walk": {"kernels": {"alpha": gp.RandomWalk()}},
        "a size by slice": {"kernels": {"alpha": gp.Slice()}},
        "plain": without(POLYA_GAMMA),
        "tables": with_(TABLES),
        "tables alone": with_(TABLES, but=[POLYA_GAMMA]),
        "coefficients integrated out": {"collapse": ("beta",)},
    },
    "capture_recapture": {
        "tables": with_(TABLES),
        "fraction": with_("fraction"),
        "both": with_(TABLES, "fraction"),
        "chances integrated out": {"collapse": ("p",)},
    },
    "poisson_factorisation": {"plain": without("share out")},
    "poisson_tensor": {"plain": without("share out")},
    "dirichlet_process": {
        "tables": with_(TABLES),
        "sticks integrated out": {"collapse": ("v",)},
        "means integrated out": {"collapse": ("mu",)},
        "precisions integrated out": {"collapse": ("tau",)},
        "sticks and means integrated out": {"collapse": ("v", "mu")},
    },
    "hidden_markov": {
        "one by one": {"blocks": {"z": "elements"}},
        "rates integrated out": {"collapse": ("rate",)},
        "transitions integrated out": {"collapse": ("P",)},
    },
    "neural_network": {w: s for w, s in neural_network.WAYS.items() if s}
    | {"moves given all": {"rewrites": {"marginal moves": False}}}
    | {
        f"{name} integrated out": {"collapse": (name,)}
        for name in ("tau", "tau_weight", "tau_bias", "out_weight", "out_bias")
    }
    | {
        f"{name} not interwoven": {"interweave": tuple(n for n in NETWORK if n != name)}
        for name in NETWORK
    }
    | {
        f"{name} not interwoven, moves without": {
            "interweave": tuple(n for n in NETWORK if n != name),
            "rewrites": {"marginal moves": True},
        }
        for name in NETWORK
    }
    | {
        "one after the other": {"blocks": dict.fromkeys(("out_weight", "out_bias"), "alone")},
        "one by one": {"blocks": dict.fromkeys(("weight", "bias"), "elements")},
    },
    "iris": {w: s for w, s in iris.WAYS.items() if s}
    | {
        "weights integrated out": {"collapse": ("weight",)},
        "precisions integrated out": {"collapse": ("tau",)},
    },
}
# Ways whose tables have rows for what is observed: a program for each outcome.
WRITTEN_FOR_ITS_DATA = (
    ("beetles, probit", "latent normal"),
    ("beetles, probit", "without proposals"),
)


def no_more_than_there_must_be(values):
    """Whether all that were caught could be of as many fish as there are at least."""
    return values["caught"].max() <= 5


# Ways that fit some data only: a rule asks for what is certain to be positive.
# Where variables are drawn jointly, or interwoven, also each by a step of its own, once.
JOINED = (
    "bivariate_gaussian", "linear_regression", "rats", "eight_schools", "dyes", "seeds",
    "factorisation_machine", "salm", "robust_regression", "bayesian_lasso", "horseshoe",
    "spike_and_slab", "local_level",
    "trend_seasonal", "linear_mixed", "factor_analysis", "bayesian_matrix_factorisation",
    "neural_network",
)  # fmt: skip
APART = {"blocks": False, "interweave": False}
for joined in JOINED:
    WAYS[joined] = {**WAYS.get(joined, {}), "apart": APART}
FITS = {("capture_recapture", way): no_more_than_there_must_be for way in ("tables", "both")}
CASES = [(name, way) for name in SMALL for way in ("as compiled", *WAYS.get(name, ()))]


def settings_of(name, way):
    return WAYS.get(name, {}).get(way, {})


@cache
def compiled(name, way="as compiled"):
    return gp.compile(SMALL[name](), **settings_of(name, way))


# ---- nothing is left out ---------------------------------------------------------------------


def test_every_model_is_in_the_table():
    assert {name.split(",")[0] for name in SMALL} | UNDIRECTED == {
        m.__name__.removeprefix("models.") for m in models.ALL
    }


# The models whose ways take seconds to compile.
MANY_RULES = ("negative_binomial",)


def drawn_how(sampler):
    """What tells ways apart: the rewrites that were made, what was integrated out, the steps."""
    made = frozenset(r.rule.name for r in sampler.schedule.rewrites)
    kinds = tuple(sorted((s.name, s.kind) for s in sampler.schedule.steps))
    return made, frozenset(sampler.settings["collapse"]), kinds


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if n in MANY_RULES else ()) for n in SMALL],
)
def test_every_way_that_a_model_offers_is_in_the_table(name):
    ways = {drawn_how(compiled(n, way)) for n, way in CASES if n == name}
    s = compiled(name)
    of = s.graph, s.data, s.schedule
    for settings in variants_of(*of, s.settings).values():
        what = (*settings.get("rewrites", {}), *settings.get("collapse", ()))
        if settings and not what and not {"exact", "kernels"} & {*settings}:
            assert "apart" in WAYS[name.split(",")[0]], settings
            continue
        with suppress(CompileError):  # (what is refused is no way to draw it)
            other = gp.compile(SMALL[name](), **settings)
            assert drawn_how(other) in ways, settings


# No model of the library has hidden or truncated values, events that are seen to happen at all, or
# log variances.
IN_NO_MODEL = {"hidden value", "rejected draws", "at least one", "log chi-squared"}


def test_every_rule_that_a_model_could_be_given_is_in_the_table():
    made = {r.rule.name for case in CASES for r in compiled(*case).schedule.rewrites}

    assert made == {r.name for r in RULES} - IN_NO_MODEL


# ---- the test --------------------------------------------------------------------------------


def result(name, way, *, replicates, program=None, again=None):
    sampler = compiled(name, way)
    return geweke(
        np.random.default_rng(list(f"{name}: {way}".encode())),
        sampler.graph,
        sampler.data,
        program or sampler.program,
        replicates=replicates,
        sweeps=SWEEPS,
        level=LEVEL / len(CASES),
        remade=again,
        where=FITS.get((name, way)),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), CASES)
def test_sweeps_leave_the_joint_distribution_as_it_is(name, way):
    again = None
    if (name, way) in WRITTEN_FOR_ITS_DATA:
        again = remade(compiled(name, way), SMALL[name]().data)
    found = result(name, way, replicates=REPLICATES, again=again)

    assert found.passed, f"\n{found}"


QUICK = (
    ("gaussian", "as compiled"),
    ("matrix_factorisation", "as compiled"),
    ("gaussian_mixture", "weights and means integrated out"),
    ("seeds", "as compiled"),
    ("robust_regression", "as compiled"),
    ("ordered_probit", "as compiled"),
    ("capture_recapture", "both"),
    ("poisson_factorisation", "as compiled"),
)


@pytest.mark.parametrize(("name", "way"), QUICK)
def test_few_replicates_are_as_they_were(name, way):
    found = result(name, way, replicates=FEW_REPLICATES)

    assert found.passed, f"\n{found}"


@pytest.mark.parametrize(("name", "way"), CASES)
def test_each_conditional_is_the_ratio_of_joint_densities(name, way):
    assert compiled(name, way).verify().proved


# ---- what is drawn together ------------------------------------------------------------------


def test_constraints_hold_for_what_is_drawn_together():
    sampler = compiled("ordered_probit")
    rng = np.random.default_rng(5)
    cuts = [drawn_together(rng, sampler.graph, sampler.data)["cut"] for _ in range(200)]

    assert (np.diff(cuts) > 0).all()
    # Two normals in order: without regard to which is which, two independent ones.
    assert stats.kstest(np.ravel(cuts), stats.norm(0, 0.2**-0.5).cdf).pvalue > LEVEL


def test_constraints_that_hardly_ever_hold_are_refused(monkeypatch):
    monkeypatch.setattr(checks_geweke, "MOST_REFUSED", 50)
    with gp.Model(coords={"t": 40}) as m:
        x = gp.Normal("x", 0, tau=1, dims="t")
        gp.Constraint("order", x.lag("t", 1) < x)
    with pytest.raises(RunError, match=r"^order: broken by 50 draws in a row; make"):
        drawn_together(np.random.default_rng(1), m.graph, m.data)


# ---- planted bugs ----------------------------------------------------------------------------


def instead(pattern, wrong):
    """Something else in the draws of a source, all of whose conditionals are right."""

    def planted(source):
        start = source.index("def augment(" if "def augment(" in source else "def sweep(")
        assert re.search(pattern, source[start:]), source[start:]
        return source[:start] + re.sub(pattern, wrong, source[start:])

    return planted


def drawn_before(name, other):
    """A variable drawn before another one, not after it."""

    def planted(source):
        module = ast.parse(source)
        (sweep,) = (f for f in module.body if isinstance(f, ast.FunctionDef) and f.name == "sweep")
        late, early = (
            next(s for s in sweep.body if f"s['{n}'] = " in ast.unparse(s))
            for n in (name, other)
        )
        assert sweep.body.index(early) < sweep.body.index(late)
        sweep.body.remove(late)
        sweep.body.insert(sweep.body.index(early), late)
        return ast.unparse(module)

    return planted


BUGS = {
    "a wrong shape: the number of data for half of it": (
        ("gaussian", "as compiled"),
        instead(
            r"\*tau_given_rest\(s, c\)", "tau_given_rest(s, c)[0] + 2, tau_given_rest(s, c)[1]"
        ),
    ),
    "an auxiliary variable that is not drawn": (
        ("robust_regression", "as compiled"),
        instead(r'(s\["loss_weight"\]) = .*', r'\1 = 1 + 0 * c["loss"]'),
    ),
    "an auxiliary variable of another distribution": (
        ("seeds", "as compiled"),
        instead(r'b=c\["seeds"\]', 'b=1 + c["seeds"]'),
    ),
    "an auxiliary variable that is stale": (
        ("ordered_probit", "latent normal between"),
        drawn_before("taste_utility", "cut"),
    ),
    "a variable that is drawn before the labels that it was integrated out of": (
        ("lda", "collapsed"),
        drawn_before("theta", "z"),
    ),
    "a variable that is stale after the labels": (
        ("gaussian_mixture", "weights and means integrated out"),
        drawn_before("tau", "mu"),
    ),
}
# Those that are seen in few replicates.
PLAIN_BUGS = (
    "a wrong shape: the number of data for half of it",
    "a variable that is drawn before the labels that it was integrated out of",
)


@pytest.mark.parametrize(
    ("name", "replicates"),
    [(n, FEW_REPLICATES) for n in PLAIN_BUGS]
    + [pytest.param(n, REPLICATES, marks=pytest.mark.slow) for n in BUGS if n not in PLAIN_BUGS],
)
def test_planted_bugs_of_whole_sweeps_are_seen(name, replicates):
    case, planted = BUGS[name]
    program = load(planted(compiled(*case).source))

    assert not result(*case, replicates=replicates, program=program).passed


def test_tables_of_other_data_are_seen():
    case, *_ = WRITTEN_FOR_ITS_DATA

    assert not result(*case, replicates=FEW_REPLICATES).passed


def test_a_sweep_that_leaves_the_support_is_refused():
    case = "capture_recapture", "as compiled"
    program = load(instead(r"\+ 5\n", "+ 50\n")(compiled(*case).source))

    with pytest.raises(RunError, match=r"^log density of fish: not finite after a sweep; if"):
        result(*case, replicates=2, program=program)


# ---- what is never drawn ---------------------------------------------------------------------


def stuck(case, source=None, sweeps=100):
    """The arrays none of whose elements moves: invariance alone does not say that they do."""
    sampler = compiled(*case)
    program = load(source or sampler.source)
    (chain,), _ = sampler.initial_states(1, 3)
    state, schedule = chain.state, sampler.schedule
    left = {n for s in schedule.steps for n in schedule.changed_by(s)}
    for _ in range(sweeps):
        before = {n: np.array(state[n]) for n in left}
        program.sweep(chain.rng, state, sampler.constants)
        left = {n for n in left if np.array_equal(before[n], state[n])}
        if not left:
            break
    return left


# The rule of tables where the count is 1: one customer sits at one table.
CERTAIN = {("dirichlet_process", "tables"): {"v_tables"}}


@pytest.mark.parametrize("case", CASES, ids=", ".join)
def test_every_variable_is_drawn(case):
    assert stuck(case) == CERTAIN.get(case, set())


def test_a_variable_that_is_never_drawn_is_seen():
    case = "robust_regression", "as compiled"
    source = compiled(*case).source.replace("    augment(rng, s, c)\n", "")

    assert stuck(case, source) == {"loss_weight"}
