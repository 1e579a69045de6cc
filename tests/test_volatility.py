"""Log variances proposed jointly, given labels of a mixture: exact, whatever the mixture is."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from mpmath import mpf
from references.exact_functions import log_chi_ratio as exact_ratio
from replays import beside
from rewrites import examples_volatility
from scipy import special

import gibbsppl as gp
from gibbsppl.errors import CompileError
from gibbsppl.kernels.corrected import CorrectedDraw
from gibbsppl.output.diagnostics import ess_bulk
from gibbsppl.rewrites import volatility
from gibbsppl.runtime import corrected, log_chi

RETURNS = (0.3, -1.7, 0.05)
# Draws of a run, and how many standard errors a mean may be off: once in 10**7 tests.
DRAWS, FAR = 4_000, 5.3
# The digits of the published constants: each is off by half of the last of five at most.
HALF_DIGIT = 0.5e-5


def returns(size=3, y=RETURNS, **settings):
    """A walk of log variances."""
    with gp.Model(coords={"t": size}, name="returns") as model:
        h = gp.Array("h", dims="t")
        h[0] = gp.Normal(0, sigma=1.5)
        h[1:] = gp.Normal(h.lag("t"), sigma=0.8)
        gp.Normal("y", 0, sigma=gp.exp(h / 2), dims="t", observed=y)
    # (so few elements are proposed about their mode otherwise)
    return gp.compile(model, **(settings or {"rewrites": {"log chi-squared": True}}))


def simulated(size):
    rng = np.random.default_rng(4)
    h = np.zeros(size)
    for t in range(1, size):
        h[t] = 0.97 * h[t - 1] + 0.2 * rng.standard_normal()
    return np.exp(h / 2) * rng.standard_normal(size)


def posterior():
    """The posterior of `returns` on a grid that has all of it: points, and their probabilities."""
    points = np.meshgrid(*[np.linspace(-14, 14, 101)] * len(RETURNS))
    log_density = -((points[0] / 1.5) ** 2) / 2
    for before, h in pairwise(points):
        log_density -= ((h - before) / 0.8) ** 2 / 2
    for h, y in zip(points, RETURNS, strict=True):
        log_density -= h / 2 + np.exp(-h) * y**2 / 2
    weight = np.exp(log_density - log_density.max())
    return points, weight / weight.sum()


def worst(draws):
    """The worst mean of states, squares and tails, in standard errors."""
    points, weight = posterior()
    found = []
    for k, h in enumerate(points):
        mean = (weight * h).sum()
        sd = np.sqrt((weight * (h - mean) ** 2).sum())
        own = draws["h"][..., k]
        for test in (lambda x: x, lambda x: x**2, lambda x, c=mean, d=sd: np.tanh((x - c) / d)):
            x, known = test(own), (weight * test(h)).sum()
            found.append(abs(x.mean() - known) / (x.std() / np.sqrt(np.asarray(ess_bulk(x)))))
    return float(max(found))


def sampled(sampler, backend="numpy"):
    run = {"draws": DRAWS, "warmup": 100, "chains": 2, "seed": 1, "progress": False}
    return sampler.sample(**run, backend=backend)


@pytest.fixture
def crude(monkeypatch):
    """A mixture that is not near to the log of a chi-squared number, in the rule and the ratio."""
    means = tuple(m + 0.9 for m in log_chi.MEANS)
    for module in (volatility, log_chi):
        monkeypatch.setattr(module, "MEANS", means)


# ---- the mixture -----------------------------------------------------------------------------


def test_the_mixture_has_the_moments_of_the_log_of_a_chi_squared_number():
    """To the digits of the constants: so a wrong digit of one that matters is seen."""
    p, m, v = map(np.array, (log_chi.SHARES, log_chi.MEANS, log_chi.VARIANCES))
    mean = special.digamma(0.5) + np.log(2)
    off = HALF_DIGIT * (np.abs(m - mean) + p).sum()
    spread = v + (m - mean) ** 2
    wide = HALF_DIGIT * (spread + p + 2 * p * np.abs(m - mean)).sum()

    assert abs(p.sum() - 1) <= HALF_DIGIT * 10
    assert mean == pytest.approx((p * m).sum(), abs=off)
    assert np.pi**2 / 2 == pytest.approx((p * spread).sum(), abs=wide)


def test_the_ratio_is_near_to_one_where_nearly_all_numbers_are():
    u = np.linspace(-10, 2.5, 2001)
    share = np.diff(special.gammainc(0.5, np.exp([-10, 2.5]) / 2))[0]

    assert share > 0.99
    assert np.abs(log_chi.log_chi_ratio(u)).max() < 0.06


@pytest.mark.parametrize("u", np.linspace(-12, 3, 16))
def test_the_ratio_has_the_digits_of_the_logs_that_it_is_a_difference_of(u):
    """It is nearly zero there, and they are not."""
    exact = exact_ratio(mpf(u))
    size = abs(u) + np.exp(u) + max(map(abs, log_chi.LOG_SCALED)) + max(log_chi.HALVES) * u**2

    assert abs(log_chi.log_chi_ratio(u) - float(exact)) <= 8 * np.finfo(float).eps * size


@pytest.mark.parametrize("k", range(10))
def test_a_wrong_digit_of_a_mean_is_seen(k, monkeypatch):
    """In the density, if not in the moments."""
    right = np.abs(log_chi.log_chi_ratio(np.linspace(-10, 2.5, 2001))).max()
    means = list(log_chi.MEANS)
    means[k] += 0.1
    monkeypatch.setattr(log_chi, "MEANS", tuple(means))

    assert np.abs(log_chi.log_chi_ratio(np.linspace(-20, 2.5, 2001))).max() > right


# ---- the draws -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "backend", ["numpy", pytest.param("compiled", marks=pytest.mark.slow)]
)
def test_the_posterior_is_that_of_quadrature(backend):
    sampler = returns()
    (step,) = (s for s in sampler.schedule.steps if isinstance(s, CorrectedDraw))

    assert {s.name for s in step.statements} == {"h[0]", "h[1:]"}
    assert worst(sampled(sampler, backend)) < FAR


@pytest.mark.slow
def test_the_posterior_does_not_depend_on_the_constants(crude):
    draws = sampled(returns())

    assert draws.sample_stats["acceptance of h"].mean() < 0.9
    assert worst(draws) < FAR


def test_a_missing_ratio_is_seen(crude, monkeypatch):
    right = corrected.corrected_draw

    def accepts(rng, s, name, joint, given):
        return right(rng, s, name, joint, (given[0], lambda _: 0.0))

    sampler = returns()
    monkeypatch.setattr("gibbsppl.runtime.corrected_draw", accepts)
    assert worst(sampled(sampler)) > FAR


def test_a_ratio_of_other_constants_than_the_labels_is_seen(monkeypatch):
    monkeypatch.setattr(volatility, "MEANS", tuple(m + 0.05 for m in log_chi.MEANS))

    rows = {r.step: r.passed for r in returns().verify().rows}
    assert rows["y_component added"] is False


@pytest.mark.slow
def test_labels_that_are_not_drawn_afresh_are_seen(monkeypatch):
    kept = {}

    def once(right, rng, *given, **named):
        return kept.setdefault("labels", right(rng, *given, **named))

    monkeypatch.setattr("gibbsppl.runtime.labels", partial(once, gp.runtime.labels))
    assert worst(sampled(returns())) > FAR


def test_a_long_series_is_accepted_nearly_always():
    """One decision for all states; the share falls with the root of their number."""
    draws = returns(400, simulated(400)).sample(
        200, warmup=100, chains=1, seed=1, progress=False, backend="numpy"
    )

    assert draws.sample_stats["acceptance of h"].mean() > 0.8


@pytest.mark.parametrize(
    "model",
    [
        examples_volatility.volatility_with_a_mean,
        examples_volatility.returns_of_which_some_are_zero,
        examples_volatility.returns_with_gaps,
    ],
    ids=lambda f: f.__name__,
)
def test_loops_make_the_same_steps(model):
    rewrites = {"log chi-squared": True}
    sampler = gp.compile(model(), interweave=False, rewrites=rewrites)
    assert "corrected joint draw" in told(sampler).values()
    (chain,), _ = sampler.initial_states(1, 5)

    assert beside(sampler, chain.state, chain.rng).far == []


@pytest.mark.slow
def test_what_is_not_accepted_is_put_back_in_loops():
    """Of a long series, some of whose proposals are not: the same chain as in NumPy."""
    run = {"draws": 100, "warmup": 20, "chains": 1, "seed": 2, "progress": False}
    sampler = returns(400, simulated(400))
    one, other = (sampler.sample(backend=b, **run) for b in ("numpy", "compiled"))

    assert 0 < one.sample_stats["acceptance of h"].mean() < 1
    np.testing.assert_allclose(one["h"], other["h"], rtol=1e-6)


# ---- where it is, and where not --------------------------------------------------------------


def told(sampler):
    return {s.name: s.owner for s in sampler.schedule.steps}


def test_zeros_have_no_label_and_are_no_obstacle():
    sampler = returns(3, (0.0, 0.0, 1.2))

    assert sampler.verify().proved
    assert sampler.graph.sizes != sampler.schedule.whole.sizes
    assert np.isfinite(sampler.sample(20, chains=1, seed=1, progress=False)["h"]).all()


def test_a_return_that_equals_its_mean_has_a_finite_density():
    """The square of a residual is not below the smallest number, and its log no infinity."""
    with gp.Model(coords={"t": 3}) as model:
        mean = gp.Normal("mean", 0, sigma=1)
        h = gp.Array("h", dims="t")
        h[0] = gp.Normal(0, sigma=1)
        h[1:] = gp.Normal(h.lag("t"), sigma=1)
        gp.Normal("y", mean, sigma=gp.exp(h / 2), dims="t", observed=[0.5, 1.5, -0.2])
    sampler = gp.compile(model)
    state = sampler.sample(
        30, warmup=0, chains=1, seed=1, init={"mean": 0.5}, progress=False, backend="numpy"
    )

    assert {"mean": "Normal", "h": "corrected joint draw"}.items() <= told(sampler).items()
    assert sampler.verify().proved
    assert np.isfinite(state["h"]).all()


@pytest.mark.parametrize(
    "settings",
    [{"exact": True}, {"blocks": False}, {"rewrites": {"log chi-squared": False}},
     {"kernels": {"h": gp.Slice()}}, {"blocks": {"h": "elements"}}],
    ids=["exact", "apart", "forbidden", "asked", "elements"],
)  # fmt: skip
def test_it_is_left_out_where_the_user_says_otherwise(settings):
    sampler = returns(**settings)

    assert not sampler.schedule.rewrites
    assert "corrected joint draw" not in told(sampler).values()


def test_what_does_not_go_together_is_refused():
    with pytest.raises(CompileError, match="exact=True does not go with; leave one of them out"):
        returns(rewrites={"log chi-squared": True}, exact=True)


def test_an_exponential_of_a_count_is_none_of_a_chi_squared_number():
    with gp.Model(coords={"t": 4}) as model:
        h = gp.Array("h", dims="t")
        h[0] = gp.Normal(0, sigma=1)
        h[1:] = gp.Normal(h.lag("t"), sigma=1)
        gp.Poisson("y", gp.exp(h), dims="t", observed=[1, 0, 3, 2])

    assert not gp.compile(model).schedule.rewrites
    with pytest.raises(CompileError, match="no term of the model"):
        gp.compile(model, rewrites={"log chi-squared": True})


@pytest.mark.parametrize(("each", "is_made"), [(2, True), (9, False)])
def test_labels_are_few_for_each_element_unless_they_are_asked_for(each, is_made):
    def several(**settings):
        with gp.Model(coords={"t": 10, "k": each}) as model:
            h = gp.Array("h", dims="t")
            h[0] = gp.Normal(0, sigma=1)
            h[1:] = gp.Normal(h.lag("t"), sigma=1)
            y = np.linspace(-1, 1.1, 10 * each).reshape(10, each)
            gp.Normal("y", 0, tau=gp.exp(-h), dims=("t", "k"), observed=y)
        return gp.compile(model, **settings)

    assert bool(several().schedule.rewrites) is is_made
    assert several(rewrites={"log chi-squared": True}).schedule.rewrites
