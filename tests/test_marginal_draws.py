"""Variables drawn with others integrated out, which no label sees and which are drawn next."""

from functools import cache

import numpy as np
import pytest
from replays import beside
from test_collapsing import gaps_of_the_product

import gibbsppl as gp
from gibbsppl.checks.geweke import geweke
from gibbsppl.code.program import load
from gibbsppl.code.source import write_numpy
from gibbsppl.errors import CompileError
from gibbsppl.rewrites import marginal_draws

TIMES, FAILED = [94.3, 15.7, 1.05, 10.5, 5.2], [5, 1, 1, 22, 3]
MEASURED = [-1.0, 0.3, 0.9, 2.0]
OF = [0, 1, 1, 2]


def failures(beta=lambda: gp.Gamma("beta", 3, rate=1)):
    """Rates with a shape and a rate that are both unknown."""
    with gp.Model(coords={"i": 5}) as model:
        alpha = gp.Gamma("alpha", 3, rate=1)
        beta = beta()
        theta = gp.Gamma("theta", alpha, rate=beta, dims="i")
        times = gp.Data("times", TIMES, dims="i")
        gp.Poisson("x", theta * times, dims="i", observed=FAILED)
    return model


def failures_by_group():
    """The same, a shape and a rate for each group."""
    with gp.Model(coords={"g": 3, "i": 4}) as model:
        alpha = gp.Exponential("alpha", rate=1, dims="g")
        beta = gp.Gamma("beta", 0.5, rate=1, dims="g")
        theta = gp.Gamma("theta", alpha, rate=beta, dims=("g", "i"))
        gp.Poisson("x", theta, dims=("g", "i"), observed=np.arange(12).reshape(3, 4))
    return model


def samples():
    """Means of groups, and one precision."""
    with gp.Model(coords={"g": 3, "n": 4}) as model:
        tau = gp.Gamma("tau", 2, rate=1)
        mu = gp.Normal("mu", 0, tau=0.1 * tau, dims="g")
        of = gp.Index("of", OF, of="g", dims="n")
        gp.Normal("y", mu[of], tau=tau, dims="n", observed=MEASURED)
    return model


def one_sample():
    """A mean and the precision of the same observations."""
    with gp.Model(coords={"n": 4}) as model:
        tau = gp.Gamma("tau", 2, rate=1)
        mu = gp.Normal("mu", 0, tau=0.1 * tau)
        gp.Normal("y", mu, tau=tau, dims="n", observed=MEASURED)
    return model


def one_sample_of_a_shape():
    """The precision has a shape that is unknown: it is drawn with both integrated out."""
    with gp.Model(coords={"n": 4}) as model:
        shape = gp.Exponential("shape", rate=1)
        tau = gp.Gamma("tau", shape, rate=1)
        mu = gp.Normal("mu", 0, tau=0.1 * tau)
        gp.Normal("y", mu, tau=tau, dims="n", observed=MEASURED)
    return model


def shares():
    """The concentration of shares."""
    with gp.Model(coords={"doc": 3, "k": 2}) as model:
        a = gp.Gamma("a", 2, rate=1)
        p = gp.Dirichlet("p", a, dims=("doc", "k"), event="k")
        gp.Multinomial("y", 9, p, dims=("doc", "k"), event="k", observed=[[4, 5], [9, 0], [2, 7]])
    return model


# The names integrated out, and the steps in their order, with their kinds.
CASES = {
    failures: (("beta",), {"theta": "exact", "alpha": "concave", "beta": "exact"}),
    failures_by_group: (("beta",), {"theta": "exact", "alpha": "concave", "beta": "exact"}),
    samples: (("mu",), {"tau": "exact", "mu": "exact"}),
    one_sample: (("mu",), {"tau": "exact", "mu": "exact"}),
    one_sample_of_a_shape: (
        ("mu", "tau"), {"shape": "concave", "tau": "exact", "mu": "exact"},
    ),
    shares: (("p",), {"a": "move", "p": "exact"}),
}  # fmt: skip
EVERY = range(len(CASES))


@cache
def compiled(case):
    model, (names, _) = list(CASES.items())[case]
    return gp.compile(model(), collapse=names)


@pytest.mark.parametrize("case", EVERY)
def test_variables_are_drawn_before_those_integrated_out(case):
    _, expected = list(CASES.values())[case]

    assert {s.name: s.kind for s in compiled(case).schedule.steps} == expected


@pytest.mark.parametrize("case", EVERY)
def test_what_is_left_times_what_is_drawn_after_is_the_joint_density(case):
    assert gaps_of_the_product(compiled(case)) <= 1
    assert compiled(case).verify().passed


@pytest.mark.parametrize("case", EVERY)
def test_loops_draw_what_numpy_draws(case):
    sampler = compiled(case)
    (chain,), _ = sampler.initial_states(1, 7)
    for _ in range(4):
        assert beside(sampler, chain.state, chain.rng, sampler.loops()).far == []


def test_a_mean_is_integrated_out_of_the_draw_of_its_precision():
    """As in the books: half an observation less, and squares about the mean."""
    sampler = gp.compile(one_sample(), collapse=("mu",))
    (step, _), y = sampler.schedule.steps, np.array(MEASURED)
    eta = sampler.program.given_rest["tau"]({}, sampler.constants)
    shape, rate = 2 + len(y) / 2, 1 + (y @ y - y.sum() ** 2 / (len(y) + 0.1)) / 2

    assert step.name == "tau"
    assert eta == pytest.approx((shape - 1, -rate))


def test_sums_that_see_a_part_are_seen(monkeypatch):
    """A factor that adds nothing to what is integrated out is no longer the joint density."""
    true = marginal_draws._pulled
    monkeypatch.setattr(
        marginal_draws, "_pulled", lambda g, a, s, v: 0 if s.factor == "theta" else true(g, a, s, v)
    )

    assert gaps_of_the_product(gp.compile(failures(), collapse=("beta",))) > 1


def joint(sampler, program=None):
    """The joint-distribution test of sweeps, by a shape and a rate that are tied to one another."""
    functions = {
        "alpha / beta": lambda v: float(np.log(v["alpha"] / v["beta"])),
        "theta": lambda v: float(np.log(v["theta"] * v["beta"] / v["alpha"]).mean()),
    }
    settings = {"replicates": 400, "functions": functions, "level": 1e-4}
    rng = np.random.default_rng(2)
    return geweke(rng, sampler.graph, sampler.data, program or sampler.program, **settings)


def test_sweeps_keep_the_joint_distribution():
    assert joint(compiled(0)).passed


def test_a_rate_that_is_drawn_before_its_shape_would_be_found():
    sampler = compiled(0)
    theta, alpha, beta = range(3)
    with pytest.raises(CompileError, match="beta: it is stale at the end of a sweep: alpha was"):
        gp.compile(failures(), collapse=("beta",), order=("theta", "beta", "alpha"))
    broken = load(write_numpy(sampler.schedule.only((theta, beta, alpha))))

    assert not joint(sampler, broken).passed


def groups_of_a_mean():
    """Drawn without their mean, elements of a group would depend on one another."""
    with gp.Model(coords={"i": 5}) as model:
        mu = gp.Normal("mu", 0, tau=0.1)
        gp.Normal("theta", gp.Normal("a", mu, tau=1, dims="i"), tau=1, dims="i", observed=TIMES)
    return model


def test_draws_that_would_be_worse_are_refused():
    with pytest.raises(CompileError, match="no label depends on mu, and no other variable has as"):
        gp.compile(groups_of_a_mean(), collapse=("mu",), blocks=False)
    with pytest.raises(CompileError, match="beta has no closed form whose integral is known"):
        gp.compile(failures(lambda: gp.Uniform("beta", 0, 5)), collapse=("beta",))
    with pytest.raises(CompileError, match="approximate: no label depends on beta"):
        gp.compile(failures(), collapse=("beta",), approximate=True)


def test_what_can_be_drawn_so_is_told():
    told = gp.compile(failures()).explain()

    assert 'possible: collapse=("beta",) would draw alpha with beta integrated out' in told
