"""Costs of samplers, comparisons in operations, and tournaments that no clock decides."""

import math
from dataclasses import replace

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.comparing import comparison as comparing
from gibbsppl.comparing import tournament as tournament_module
from gibbsppl.comparing.comparison import Variant, best_of
from gibbsppl.comparing.mixing import Mixing, mixing
from gibbsppl.comparing.tournament import merged
from gibbsppl.comparing.variants import variants_of
from gibbsppl.errors import RunError


def pumps():
    """Rates with a Gamma prior, whose shape is in no family."""
    with gp.Model(name="pumps", coords={"pump": 5}) as model:
        alpha, beta = gp.Exponential("alpha", rate=1), gp.Gamma("beta", 0.1, rate=1)
        theta = gp.Gamma("theta", alpha, rate=beta, dims="pump")
        time = gp.Data("time", [94.3, 15.7, 62.9, 126.0, 5.2], dims="pump")
        gp.Poisson("failures", theta * time, dims="pump", observed=[5, 1, 5, 14, 3])
    return gp.compile(model)


def kept(rng, value, log_density):
    """A kernel of the user's that stays where it is."""
    del rng, log_density
    return value


# ---- costs ---------------------------------------------------------------------------------


def test_costs_are_those_of_the_steps_and_print_as_a_table():
    costs = pumps().costs()

    assert costs.operations == sum(s.operations for s in costs.steps)
    assert costs["theta"].plates == costs.plates == "pump"
    assert costs.memory.total >= 8 * (2 + 3 * 5)
    assert str(costs).splitlines()[0].split() == [
        *("step", "drawn", "by", "operations", "in", "the", "plates", "bytes"),
        *("held", "in", "NumPy"),
    ]
    assert costs.memory.in_numpy == max(s.held for s in costs.steps) > 0


def test_costs_are_the_same_each_time():
    assert pumps().costs() == pumps().costs()


def test_alternatives_are_counted_the_cheapest_first_and_told_beside():
    sampler = pumps()
    costs = sampler.costs(alternatives=True)
    counted = [a.operations for a in costs.alternatives if not math.isnan(a.operations)]
    (collapsed,) = (a for a in costs.alternatives if a.name == "theta collapsed")
    other = sampler._with(collapse=("theta",)).costs()

    assert counted == sorted(counted)
    assert collapsed.operations == other.operations
    times = f"{collapsed.operations / costs.operations:.3g} times dearer"
    assert f"theta collapsed: {other.operations:,.0f} operations, {times}" in str(costs)
    assert sampler.costs().alternatives == ()


def lasso():
    """Coefficients that have a closed form with the intercept integrated out, or with variances."""
    with gp.Model(name="lasso", coords={"i": 3, "j": 2}) as model:
        x = gp.Data("x", [[1.0, 0.5], [0.2, -1.0], [0.3, 2.0]], dims=("i", "j"))
        a, tau = gp.Normal("a", 0, tau=0.1), gp.Gamma("tau", 2, rate=1)
        b = gp.Laplace("b", 0, rate=gp.sqrt(tau), dims="j")
        gp.Normal("y", a + x @ b, tau=tau, dims="i", observed=[0.3, -1.0, 2.0])
    return gp.compile(model)


@pytest.mark.parametrize(("compiled", "offered"), [(pumps, [("theta",)]), (lasso, [])])
def test_what_is_offered_to_be_collapsed_is_not_refused(compiled, offered):
    """Of a lasso nothing is: the variances that are added give coefficients a closed form."""
    sampler = compiled()
    of = (sampler.graph, sampler.data, sampler.schedule, sampler.settings)
    found = [s for s in variants_of(*of).values() if "collapse" in s]

    assert sorted(s["collapse"] for s in found) == offered
    assert all(sampler._with(**s).schedule.steps for s in found)


def test_a_step_that_loops_do_not_have_is_not_counted_and_says_why():
    sampler = pumps()
    own = sampler._with(kernels={"alpha": kept}).costs()

    assert math.isnan(own["alpha"].operations)
    assert math.isnan(own.operations)
    assert "a function in Python" in own["alpha"].reason
    assert own["theta"] == sampler.costs()["theta"]
    assert "alpha: not counted: " in str(own)


# ---- mixing ---------------------------------------------------------------------------------


def correlated(seed, rho, draws=4000):
    """Chains of an autoregression, whose effective share is (1 - rho)/(1 + rho)."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(4, draws))
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + math.sqrt(1 - rho**2) * x[:, t]
    return x


def test_the_error_of_an_effective_size_is_that_over_repeated_runs():
    found = [mixing({"x": correlated(seed, 0.6)}, ("x",)) for seed in range(40)]
    spread = np.std(np.log([m.share for m in found]), ddof=1)
    told = math.sqrt(np.mean([m.error**2 for m in found]))

    # (each of the two is known to one part in the root of twice its degrees of freedom)
    error = math.hypot(1 / math.sqrt(2 * 39), 1 / math.sqrt(2 * 40 * 7))
    assert abs(math.log(told / spread)) < 4 * error


def test_what_mixes_worst_is_told():
    draws = {"x": correlated(1, 0.1), "y": np.stack([correlated(2, 0.0), correlated(3, 0.9)], -1)}
    assert mixing(draws, ("x", "y")).worst == "y[1]"


def test_what_never_varies_cannot_be_compared():
    with pytest.raises(RunError, match="nothing that was drawn varies"):
        mixing({"x": np.ones((4, 100))}, ("x",))


def variant(name, share, operations, error=0.1, halves=8):
    """A variant with a mixing as if measured."""
    return Variant(name, {}, 1e-3, operations, Mixing("x", share, 1.0, error, halves), 4000)


def test_the_first_stays_unless_another_is_better_by_more_than_the_error():
    first, near, far = variant("a", 0.2, 100), variant("b", 0.2, 90), variant("c", 0.2, 20)

    assert best_of((near, first), "a", 0.05) is first
    assert best_of((near, far, first), "a", 0.05) is far
    assert best_of((replace(far, mixing=replace(far.mixing, error=3.0)), first), "a", 0.05) is first


def test_a_variant_of_unknown_operations_or_error_never_wins():
    first = variant("a", 0.2, 100)

    assert best_of((variant("b", 0.9, math.nan), first), "a", 0.05) is first
    assert best_of((variant("b", 0.9, 10, error=math.nan), first), "a", 0.05) is first


# ---- comparisons and tournaments -----------------------------------------------------------


def test_a_comparison_tells_effective_draws_per_operation():
    found = pumps().compare({"now": {}, "slice": {"kernels": {"alpha": gp.Slice()}}})

    for v in found.variants:
        assert v.ess_per_operation == pytest.approx(1e3 * v.ess / v.operations)
    assert found.best.name in str(found)
    ranks = [v.ess_per_operation for v in found.variants]
    assert ranks == sorted(ranks, reverse=True)


def refused(rng, value, log_density):
    """A kernel of the user's that fails."""
    raise ZeroDivisionError("found a scale of 0")


def test_a_variant_whose_kernel_fails_is_told_and_the_others_are_compared():
    bad, good = {"kernels": {"alpha": refused}}, {"interweave": False}
    every = {"own": {}, "bad": bad, "good": good}
    found = pumps().compare(every, draws=10, warmup=5)
    assert [name for name, _ in found.failed] == ["bad"]
    assert {v.name for v in found.variants} == {"own", "good"}


@pytest.mark.parametrize("error", [AssertionError(), KeyError("x")])
def test_whatever_fails_in_compiling_a_tournament_goes_on(error, monkeypatch):
    compile_ = gp.Sampler._with

    def failing(sampler, **changes):
        if "collapse" in changes:
            raise error
        return compile_(sampler, **changes)

    monkeypatch.setattr(gp.Sampler, "_with", failing)
    variants = {"bad": {"collapse": ("theta",)}, "good": {"interweave": False}}
    found = pumps().tuned(variants=variants, sweeps=30).tuned_from
    kind = type(error).__name__
    assert found.failed == (("bad", kind if not error.args else f"{kind}: 'x'"),)
    assert "good" in {v.name for v in found.variants}


def test_who_stops_a_tournament_stops_it(monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(gp.Sampler, "_with", stopped)
    for method in (gp.Sampler.compare, gp.Sampler.tuned):
        with pytest.raises(KeyboardInterrupt):
            method(pumps(), variants={"other": {"interweave": False}})


@pytest.mark.parametrize("method", ["compare", "tuned"])
@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"variants": {"a": {"kernel": {}}}}, r"variants\['a'\]: found 'kernel', .*'kernels'\?"),
        ({"of": ("alpah",)}, r"of: found 'alpah', .* Did you mean 'alpha'\?"),
    ],
)
def test_misspelt_settings_and_names_are_told_before_anything_runs(method, asked, told):
    with pytest.raises(RunError, match=f"{method}: {told}"):
        getattr(pumps(), method)(**asked)


def test_no_variant_takes_the_name_of_the_sampler_itself():
    variants = {"as compiled": {"interweave": False}}
    with pytest.raises(RunError, match=r"tuned: variants\['as compiled'\]: .*'interweave': False"):
        pumps().tuned(variants=variants)


def test_one_name_may_be_compared_by():
    found = pumps().compare({"own": {}}, of="beta", draws=10, warmup=5)
    assert found["own"].worst == "beta"


def test_a_variant_that_fails_in_a_sweep_is_told_and_the_others_are_compared(monkeypatch):
    right = comparing.measured

    def failing(name, *more):
        if name == wrong:
            raise RunError("b: no finite log density")
        return right(name, *more)

    monkeypatch.setattr(comparing, "measured", failing)
    with gp.Model(name="level", coords={"i": 3}) as model:
        mu, tau = gp.Normal("mu", 0, tau=0.1), gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=[0.3, 1.2, 0.8])
    sampler, every = gp.compile(model), {"now": {}, "other": {"order": ("tau", "mu")}}
    wrong = "other"
    found = sampler.compare(every, draws=50, warmup=10)

    assert found.failed == (("other", "b: no finite log density"),)
    assert [v.name for v in found.variants] == ["now"]
    wrong = "now"
    with pytest.raises(RunError, match="no finite"):
        sampler.compare(every, draws=50, warmup=10)


def test_settings_are_changed_together_unless_they_change_the_same():
    rules = {"rewrites": {"a": True}}

    assert merged(rules, {"rewrites": {"a": True, "b": False}}, {"rewrites": {"a": False}}) == {
        "rewrites": {"a": False, "b": False}
    }
    assert merged({}, {"collapse": ("x",)}, {"collapse": ("y",)}) == {"collapse": ("x", "y")}
    assert merged({}, {"kernels": {"x": 1}}, {"kernels": {"x": 2}}) is None
    assert merged({}, {"order": ("x",)}, {"order": ("y",)}) is None


def told(comparison):
    """All that a comparison says but seconds."""
    found = [replace(v, seconds=0.0, mixing=replace(v.mixing)) for v in comparison.variants]
    return [(v.name, v.operations, v.mixing.share, v.sweeps) for v in found]


def test_equal_seeds_choose_equal_samplers_and_draws_record_the_choice(tmp_path):
    first, second = (
        pumps().tuned(seed=3, sweeps=150, chains=2, backend="numpy") for _ in range(2)
    )
    assert told(first.tuned_from) == told(second.tuned_from)
    assert first.settings == second.settings
    assert str(first).startswith("chosen among ")

    draws = first.sample(20, warmup=5, chains=2, seed=1, progress=False)
    draws.save(tmp_path / "draws.nc")
    again = gp.load_draws(tmp_path / "draws.nc")
    assert again.attributes["tuned"] == first.tuned_from.best.name
    assert again.attributes["tuned_from"] == str(first.tuned_from)


@pytest.mark.parametrize("times", [1.0, 1000.0])
def test_variants_that_cannot_win_are_not_run(monkeypatch, times):
    """An effective size has a bound, which so many more operations are beyond."""
    plain = tournament_module.operations_by
    monkeypatch.setattr(tournament_module, "operations_by", lambda s: times * plain(s))
    slow = {"slow": {"kernels": {"alpha": gp.Slice()}}}
    found = pumps().tuned(1, variants=slow, sweeps=60, chains=2, backend="numpy").tuned_from

    assert ("slow" in {v.name for v in found.variants}) == (times == 1.0)
    assert [name for name, why in found.failed if "times the operations of as compiled" in why] == (
        [] if times == 1.0 else ["slow"]
    )


def test_what_cannot_be_counted_cannot_be_tuned():
    own = pumps()._with(kernels={"alpha": kept})
    with pytest.raises(RunError, match="operations are not known"):
        own.tuned(seed=1, sweeps=60, chains=2, backend="numpy")
