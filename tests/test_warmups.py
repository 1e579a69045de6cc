"""Draws of the warm-up that a run keeps: the states of its sweeps, and nothing else changes."""

import numpy as np
import pytest

import gibbsppl as gp

GROUPS = ["warmup_posterior", "warmup_sample_stats"]


@pytest.fixture(scope="module")
def sampler():
    """A normal sample with a random walk, whose prediction is drawn where it is recorded."""
    with gp.Model(coords={"i": 4}) as model:
        mu = gp.Normal("mu", 0, sigma=2)
        tau = gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=[0.5, 1.0, None, 2.0])
        gp.Normal("new", mu, tau=tau, dims="i")
        gp.Deterministic("double", 2 * mu)
    return gp.compile(model, kernels={"mu": gp.RandomWalk()})


def drawn(sampler, **more):
    given = {"draws": 12, "warmup": 30, "chains": 2, "seed": 4, "progress": False,
             "backend": "numpy", **more}  # fmt: skip
    return sampler.sample(**given)


def same(one, other):
    assert list(one) == list(other)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
    for name, own in one.sample_stats.items():
        np.testing.assert_array_equal(own, other.sample_stats[name], err_msg=name)
    assert one.groups.keys() == other.groups.keys()
    for name, own in one.groups.items():
        same(own, other.groups[name])


@pytest.mark.parametrize("backend", ["numpy", "compiled"])
@pytest.mark.parametrize("thin", [1, 3])
def test_draws_are_those_of_a_run_that_keeps_none(sampler, backend, thin):
    plain = drawn(sampler, backend=backend, thin=thin)
    kept = drawn(sampler, backend=backend, thin=thin, keep_warmup=True)

    assert list(kept.groups) == GROUPS
    assert not plain.groups
    for name in plain:
        np.testing.assert_array_equal(plain[name], kept[name])
    for name, own in plain.sample_stats.items():
        np.testing.assert_array_equal(own, kept.sample_stats[name])
    warm = kept.groups["warmup_posterior"]
    assert warm["mu"].shape == (2, 30 // thin)
    assert warm.groups == {}
    assert kept.groups["warmup_sample_stats"].draws == 30 // thin


def test_the_warm_up_is_the_states_of_its_sweeps(sampler):
    seen = {}

    def see(view):
        if view.sweep <= 30:
            seen[view.chain, view.sweep] = float(view.state["mu"])

    kept = drawn(sampler, keep_warmup=True, callback=see, callback_every=1)

    warm = kept.groups["warmup_posterior"]["mu"]
    assert len(seen) == 60
    assert all(warm[chain, sweep - 1] == mu for (chain, sweep), mu in seen.items())


def test_what_no_sweep_of_the_warm_up_draws_is_left_out(sampler):
    kept = drawn(sampler, keep_warmup=True)

    assert "new" in kept
    assert "new" not in kept.groups["warmup_posterior"]
    assert list(kept.groups["warmup_posterior"]) == ["mu", "tau", "double"]
    warm = kept.groups["warmup_posterior"]
    np.testing.assert_array_equal(warm["double"], 2 * warm["mu"])


def test_variables_keep_one_draw_in_so_many(sampler):
    every = drawn(sampler, keep_warmup=True).groups["warmup_posterior"]
    kept = drawn(sampler, keep_warmup=True, keep={"mu": 1, "tau": 4})

    assert list(kept.groups) == ["warmup_posterior", "warmup_posterior_every_4", GROUPS[1]]
    rarer = kept.groups["warmup_posterior_every_4"]
    np.testing.assert_array_equal(rarer["tau"], every["tau"][:, 3::4])
    np.testing.assert_array_equal(kept.groups["warmup_posterior"]["mu"], every["mu"])


def test_workers_and_folders_and_files_have_the_same(sampler, tmp_path):
    whole = drawn(sampler, keep_warmup=True)

    same(whole, drawn(sampler, keep_warmup=True, cores=2))
    same(whole, drawn(sampler, keep_warmup=True, checkpoint=tmp_path / "run"))
    same(whole, gp.load_draws(tmp_path / "run"))
    same(whole, gp.resume(tmp_path / "run", progress=False))
    whole.save(tmp_path / "draws.nc")
    same(whole, gp.load_draws(tmp_path / "draws.nc"))
    tree = whole.to_datatree()
    assert tree["warmup_posterior"]["mu"].dims == ("chain", "draw")
    assert {*GROUPS} < {*tree.children}


def test_a_run_that_was_stopped_in_its_warm_up_goes_on(sampler, tmp_path):
    whole = drawn(sampler, keep_warmup=True)

    def stop(view):
        if view.sweep == 20:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        drawn(sampler, keep_warmup=True, checkpoint=tmp_path / "run", every=1e-9, callback=stop,
              callback_every=10)  # fmt: skip

    same(whole, gp.resume(tmp_path / "run", progress=False))


def test_longer_runs_have_the_warm_up_of_the_first_draws(sampler, tmp_path):
    whole = drawn(sampler, keep_warmup=True)
    first = drawn(sampler, keep_warmup=True, draws=5)

    same(whole, sampler.extend(first, more=7, progress=False))
    sampler.extend(first, more=7, progress=False, checkpoint=tmp_path / "longer")
    same(whole, gp.load_draws(tmp_path / "longer"))


REFUSED = {
    "tempering": ({"temper": True}, r"keep_warmup: found True beside temper=True"),
    "none": ({"warmup": 0}, r"keep_warmup: found 0 sweeps of warm-up"),
    "no truth": ({"keep_warmup": 3}, r"found keep_warmup=3"),
    "memory": ({"limit_bytes": 1000}, r"would be stored, above the limit"),
}


@pytest.mark.parametrize(("settings", "told"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_kept_is_refused(sampler, settings, told):
    with pytest.raises(gp.errors.RunError, match=told):
        drawn(sampler, **{"keep_warmup": True, **settings})
