"""Metropolis-Hastings with proposals of the user's: what is left invariant, and what is refused."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.output.diagnostics import mcse_mean
from gibbsppl.runtime.user_kernels import proposal_move
from gibbsppl.runtime.walks import Walk

N, LEVEL = 20_000, 1e-6
TARGET = stats.gamma(2.5)


def to_the_right(rng, value):
    return value * np.exp(0.6 + 0.8 * rng.standard_normal(value.shape))


def of_the_right(new, old):
    return -np.log(new) - (np.log(new / old) - 0.6) ** 2 / (2 * 0.8**2)


def both_ways(rng, value):
    return value + rng.standard_normal(value.shape)


def log_density(x):
    with np.errstate(all="ignore"):
        return np.where(x > 0, TARGET.logpdf(x), -np.inf)


def moved(proposal, count=N):
    rng, share = np.random.default_rng(3), Walk(np.zeros(()), 0.44, adapting=False)
    x = TARGET.rvs(size=count, random_state=rng)
    new = proposal_move(rng, x, ..., log_density, proposal, "x", share, lower=0)
    return x, new, share.accepted / share.proposed


PROPOSALS = {
    "symmetric": gp.Proposal(both_ways, by_element=True),
    "to one side": gp.Proposal(to_the_right, of_the_right, by_element=True),
}


@pytest.mark.parametrize("name", PROPOSALS)
def test_elements_keep_their_distribution(name):
    x, new, share = moved(PROPOSALS[name])

    assert stats.kstest(new, TARGET.cdf).pvalue > LEVEL
    assert share == pytest.approx((new != x).mean())
    assert 0.1 < share < 0.9


def test_a_proposal_that_says_no_density_but_leans_to_one_side_is_seen():
    _, new, _ = moved(gp.Proposal(to_the_right, by_element=True))
    assert stats.kstest(new, TARGET.cdf).pvalue < LEVEL


def counts(**asked):
    with gp.Model(coords={"i": 3}) as model:
        rate = gp.Gamma("rate", 2, rate=0.5, dims="i")
        gp.Poisson("y", rate, dims="i", observed=[1, 4, 9])
    return gp.compile(model, kernels={"rate": gp.Proposal(to_the_right, of_the_right, **asked)})


@pytest.mark.parametrize("by_element", [True, False])
def test_the_posterior_is_the_exact_one(by_element):
    sampler = counts(by_element=by_element)
    draws = sampler.sample(4000, warmup=200, chains=2, seed=1, progress=False)
    gaps = draws["rate"].mean(axis=(0, 1)) - (2 + np.array([1, 4, 9])) / 1.5

    assert sampler.verify().proved
    assert np.abs(gaps / mcse_mean(draws["rate"])).max() < stats.norm.isf(LEVEL / 6)
    assert "your proposal to_the_right" in str(sampler)
    rates = draws.sample_stats["acceptance of rate"]
    assert 0.05 < rates.mean() < 0.95
    assert set(np.unique(rates)) <= ({0, 1 / 3, 2 / 3, 1} if by_element else {0, 1})
    assert "Proposals accepted (in the worst chain): rate" in str(draws.summary())


def test_the_step_leaves_the_joint_distribution_as_it_is():
    assert counts(by_element=True).check_kernel("rate", seed=1).passed

    with gp.Model() as model:
        rate = gp.Gamma("rate", 2, rate=0.5)
        gp.Poisson("y", rate, observed=4)
    wrong = gp.compile(model, kernels={"rate": gp.Proposal(to_the_right)})
    assert not wrong.check_kernel("rate", seed=1).passed


def test_what_is_outside_of_the_support_is_rejected_whatever_its_density():
    def far(rng, value):
        return value + 9 * rng.standard_normal(value.shape)

    def of_far(new, old):  # (no number outside of the support)
        return 0 * np.log(new)

    with gp.Model(coords={"i": 3}) as model:
        gp.Gamma("rate", 2, rate=0.5, dims="i")
    kernel = gp.Proposal(far, of_far, by_element=True)
    sampler = gp.compile(model, kernels={"rate": kernel})
    assert (sampler.sample(50, warmup=0, chains=1, seed=1, progress=False)["rate"] > 0).all()


def test_labels_are_proposed_too():
    def another(rng, value):
        return rng.integers(0, 3, value.shape)

    with gp.Model(coords={"k": 3}) as model:
        z = gp.Categorical("z", gp.Data("p", [0.2, 0.3, 0.5], dims="k"))
        gp.Normal("y", gp.Data("mu", [0.0, 1.0, 3.0], dims="k")[z], sigma=1, observed=1.4)
    sampler = gp.compile(model, kernels={"z": gp.Proposal(another)})
    z = sampler.sample(4000, warmup=10, chains=2, seed=1, progress=False)["z"]
    odds = np.array([0.2, 0.3, 0.5]) * stats.norm.pdf(1.4, [0.0, 1.0, 3.0])
    for k, p in enumerate(odds / odds.sum()):
        is_one = 1.0 * (z == k)
        assert abs((is_one.mean() - p) / mcse_mean(is_one)) < stats.norm.isf(LEVEL / 6)


REFUSED = {
    "another shape": (lambda rng, x: np.zeros(2), None, "returned shape (2,), expected (3,)"),
    "no number": (lambda rng, x: x * np.nan, None, "returned nan at (0,), expected finite numbers"),
    "no density": (
        lambda rng, x: x * 1.1, lambda new, old: -np.inf * new, "has the log density -inf where it"
    ),
    "no way back": (
        lambda rng, x: x * 1.1, lambda new, old: np.log(new - old), "has the log density nan where"
    ),
    "nothing": (
        lambda rng, x: x * 1.1, lambda new, old: None, "has the log density None, expected numbers"
    ),
    "one density": (
        lambda rng, x: x * 1.1, lambda new, old: 0.0, "has a log density of shape (), expected (3,)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_proposal_is_told(name):
    draw, density, said = REFUSED[name]
    with gp.Model(coords={"i": 3}) as model:
        gp.Gamma("rate", 2, rate=0.5, dims="i")
    kernel = gp.Proposal(draw, density, by_element=True)
    sampler = gp.compile(model, kernels={"rate": kernel})
    with pytest.raises(gp.RunError) as caught:
        sampler.sample(1, warmup=0, chains=1, seed=1, progress=False)

    assert "rate: <lambda>, the proposal given for it," in str(caught.value)
    assert said in str(caught.value)


def test_proposals_that_do_not_apply_are_refused():
    with pytest.raises(gp.CompileError, match=r"Proposal\(draw\): found 3, expected a function"):
        gp.Proposal(3)
    with pytest.raises(gp.CompileError, match=r"Proposal\(log_density\): found 'x'"):
        gp.Proposal(both_ways, "x")
    with pytest.raises(gp.CompileError, match=r"Proposal\(draw\): <lambda> cannot be called"):
        gp.Proposal(lambda v: v)
    with pytest.raises(gp.CompileError, match=r"Proposal\(by_element\): found 'yes'"):
        gp.Proposal(both_ways, by_element="yes")
    with gp.Model(coords={"i": 3}) as model:
        b = gp.Normal("b", 0, sigma=1, dims="i")
        x = gp.Data("x", np.arange(9.0).reshape(3, 3), dims=("j", "i"))
        gp.Bernoulli("y", gp.expit(gp.sum(x * b, "i")), dims="j", observed=[1, 0, 1])
    with pytest.raises(gp.CompileError, match="elements of b depend on one another"):
        gp.compile(model, kernels={"b": gp.Proposal(both_ways, by_element=True)}, rewrites=False)
    with gp.Model(coords={"k": 3}) as model:
        gp.Dirichlet("p", 1, dims="k")
    with pytest.raises(gp.CompileError, match="moves real values, counts and labels"):
        gp.compile(model, kernels={"p": gp.Proposal(both_ways)})
