"""Rules that end a run: effective draws, R-hat, minutes; the same end whoever makes the draws."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.output.diagnostics import ess_bulk, ess_tail, r_hat
from gibbsppl.output.until import Until
from models import rats

SETTINGS = {"warmup": 50, "seed": 1, "progress": False, "backend": "numpy"}


@pytest.fixture(scope="module")
def sampler():
    return gp.compile(rats.model())


def test_a_run_ends_at_the_first_look_at_which_all_is_reached(sampler):
    rule = gp.until(ess=300, r_hat=1.05, of=["alpha0", "tau"])
    draws = sampler.sample(2000, until=rule, **SETTINGS)

    looks = [100, 150, 225, 338, 507, 761, 1142, 1713, 2000]
    assert draws.draws in looks[:-1]

    def enough(at):
        x = {n: draws[n][:, :at] for n in ("alpha0", "tau")}
        sizes = [min(ess_bulk(v), ess_tail(v)) for v in x.values()]
        return min(sizes) >= 300 and max(r_hat(v) for v in x.values()) <= 1.05

    reached = [at for at in looks if at <= draws.draws and enough(at)]
    assert reached == [draws.draws]
    assert draws.until.startswith(f"{draws.draws} draws of each chain: ess ")
    assert draws.until in repr(draws)
    assert draws.interrupted is None


def test_draws_are_the_first_of_a_run_without_the_rule(sampler):
    ended = sampler.sample(2000, until=gp.until(ess=300, of="alpha0"), **SETTINGS)
    whole = sampler.sample(ended.draws + 20, **SETTINGS)

    assert all(np.array_equal(ended[n], whole[n][:, : ended.draws]) for n in ended)


def test_the_end_is_the_same_whoever_makes_the_draws(sampler):
    rule = gp.until(ess=300, of="alpha0")
    here = sampler.sample(2000, until=rule, **SETTINGS)
    with ThreadPoolExecutor(3) as executor:
        there = sampler.sample(2000, until=rule, executor=executor, **SETTINGS)

    assert here.until == there.until
    assert all(np.array_equal(here[n], there[n]) for n in here)


def test_what_is_not_reached_is_told(sampler):
    draws = sampler.sample(120, until=gp.until(ess=1e6), **SETTINGS)

    assert draws.draws == 120
    assert "(1e+06 asked)" in draws.until


def test_minutes_end_a_run_with_equally_many_draws_of_each_chain(sampler):
    rule = gp.until(minutes=0.02)
    draws = sampler.sample(10**6, keep=["alpha0"], until=rule, **SETTINGS)

    assert 1 <= draws.chains <= 4
    assert 0 < draws.draws < 10**6
    assert draws.until == f"after 0.02 minutes, {draws.draws} draws of each chain"


def test_minutes_that_are_over_in_the_warm_up_are_an_error(sampler):
    with pytest.raises(RunError, match="until: the minutes were over before the first draw"):
        sampler.sample(10, until=gp.until(minutes=1e-9), **{**SETTINGS, "warmup": 10**6})


def test_what_is_the_same_in_all_draws_is_left_out_and_what_is_not_known_is_not_enough():
    draws = np.random.default_rng(1).normal(size=(4, 100, 2))
    constant = np.concatenate([draws[..., :1], np.ones((4, 100, 1))], axis=2)
    rule = Until(ess=10, r_hat=1.1)

    assert rule.found({"x": constant})[0]
    assert rule.found({"x": np.ones((4, 100))}) == (True, "nothing that differs from draw to draw")
    assert not rule.found({"x": np.where(draws > 1, np.nan, draws)})[0]
    assert not replace(rule, ess=1e4).found({"x": draws})[0]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, "until: found nothing to reach"),
        ({"r_hat": 0.99}, "until: found r_hat=0.99, expected a number above 1"),
        ({"ess": -1}, "found ess=-1, expected a number above 0"),
        ({"minutes": "ten"}, "found minutes='ten', expected a number above 0"),
    ],
)
def test_rules_that_say_nothing_are_refused(asked, told):
    with pytest.raises(RunError, match=told):
        gp.until(**asked)


def test_a_rule_of_what_is_not_kept_is_refused(sampler):
    with pytest.raises(RunError, match=r"until\(of=\): found 'tua'.*Did you mean 'tau'"):
        sampler.sample(10, until=gp.until(ess=10, of="tua"), **SETTINGS)
    with pytest.raises(RunError, match=r"found until=400, expected a rule, such as gp\.until"):
        sampler.sample(10, until=400, **SETTINGS)


def test_many_elements_are_looked_at_by_parts(monkeypatch):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(2, 300, 3, 5)) + np.linspace(0, 1, 15).reshape(3, 5) * rng.normal(
        size=(2, 1, 1, 1)
    )
    rule = Until(ess=1e9, r_hat=1.001)
    whole = rule.found({"x": x})
    monkeypatch.setattr("gibbsppl.output.until.NUMBERS_AT_A_TIME", 4 * 600)

    assert rule.found({"x": x}) == whole
    assert "of x[" in whole[1]
