"""Thinning by variable: what is kept are the draws that a run of all of them has."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.output.draws import Draws
from gibbsppl.run import segments
from gibbsppl.sampling import extending

KEEP = {"mu": 1, "z": 10, "p": 7, "missing": 3}
HOW = {"warmup": 20, "chains": 2, "seed": 3, "progress": False}


@cache
def sampler():
    """A mixture, with labels, and a prediction that is drawn where it is kept alone."""
    rng = np.random.default_rng(1)
    y = np.concatenate([rng.normal(-2, 1, 12), rng.normal(2, 1, 12)])
    with gp.Model(name="two groups", coords={"k": 2, "n": len(y), "m": 3}) as model:
        p = gp.Dirichlet("p", 1.0, dims="k")
        mu = gp.Normal("mu", 0, sigma=5, dims="k")
        z = gp.Categorical("z", p, dims="n")
        gp.Normal("y", mu[z], sigma=1, observed=y, dims="n")
        gp.Normal("missing", mu[0], sigma=1, dims="m")
    return gp.compile(model)


def drawn(draws=150, keep=KEEP, backend="numpy", **how):
    return sampler().sample(draws, keep=keep, backend=backend, **HOW, **how)


@cache
def whole(backend="numpy", missing=True):
    """All draws of a run that makes as many predictions."""
    keep = {"mu": 1, "z": 1, "p": 1}
    return drawn(keep=keep | ({"missing": 3} if missing else {}), backend=backend)


def assert_kept(some, every, thin=1):
    """Each variable has one draw in so many of a run that keeps more."""
    for name, array in some.values.items():
        step = thin * some.every.get(name, 1) // every.every.get(name, 1)
        expected = every[name][:, step - 1 :: step]
        assert array.dtype == expected.dtype
        assert (array == expected).all()


@pytest.mark.parametrize("backend", ["numpy", "compiled"])
def test_one_draw_in_so_many_is_kept(backend):
    found = drawn(backend=backend)
    assert found.every == {"z": 10, "p": 7, "missing": 3}
    assert (found.draws, found["z"].shape, found["p"].shape) == (150, (2, 15, 24), (2, 21, 2))
    assert_kept(found, whole(backend))


def test_steps_that_are_read_by_nothing_are_made_where_they_are_kept():
    program, names = sampler().program, ["missing", "mu"]
    assert program.needed_for(names) == ("missing",)
    found = segments.Recording(program, {}, tuple(names), 9, {}, {"missing": 3})
    made = [draw for draw in range(1, 10) if found.deferred_in(draw)]
    assert made == [3, 6, 9]
    # (draws 1 and 2 are made by one call, and so on; all steps by that of the last)
    assert [found.alike_from(draw) for draw in (1, 2, 3, 4, 8, 9)] == [2, 1, 1, 2, 1, 1]
    # (each draw that is kept is a new one)
    kept = drawn()["missing"]
    assert np.unique(kept).size == kept.size


def test_kept_draws_do_not_depend_on_segments(monkeypatch):
    expected = drawn()
    monkeypatch.setattr(segments, "BYTES_AT_MOST", 400)
    in_parts = drawn(executor=ThreadPoolExecutor(1), monitor={"z": "z"})
    for name in expected:
        assert (in_parts[name] == expected[name]).all()


def test_runs_in_folders_go_on_and_are_extended(tmp_path, monkeypatch):
    monkeypatch.setattr(extending, "AT_A_TIME", 25 * 24)  # (draws before are put by parts of 26)
    expected = drawn(150)
    saved = drawn(150, checkpoint=tmp_path / "run")
    at_once = gp.load_draws(tmp_path / "run")
    first = drawn(95)
    longer = sampler().extend(first, more=55, progress=False)
    first.save(tmp_path / "first.nc")
    again = sampler().extend(gp.load_draws(tmp_path / "first.nc"), more=55, progress=False)
    own = sampler().extend(first, more=55, progress=False, checkpoint=tmp_path / "longer")
    assert longer.every == again.every == own.every == expected.every
    for name in expected:
        assert (saved[name] == expected[name]).all()
        assert (at_once[name] == expected[name]).all()
        assert longer[name].shape == expected[name].shape
        assert (longer[name][:, : first[name].shape[1]] == first[name]).all()
        assert (again[name] == longer[name]).all()
        assert (own[name] == longer[name]).all()


@pytest.mark.parametrize("seconds", [0.0, 0.02])
def test_interrupted_runs_go_on(tmp_path, seconds):
    expected = drawn(150)

    def stop(view):
        if view.sweep >= 20 + 100 * seconds / 0.02 + 37:
            raise KeyboardInterrupt

    cut = drawn(150, checkpoint=tmp_path / "run", callback=stop, callback_every=1)
    assert cut.draws < 150
    assert cut["z"].shape[1] == cut.draws // 10
    for name in ("mu", "z", "p"):
        assert (cut[name] == expected[name][:, : cut[name].shape[1]]).all()
    found = gp.resume(tmp_path / "run", progress=False)
    for name in expected:
        assert (found[name] == expected[name]).all()


def test_draws_of_several_variables_belong_together():
    some = drawn()
    both = some.together(["mu", "z"])
    assert list(both) == ["mu", "z"]
    assert (both.draws, both.every, both.attributes["thin"]) == (15, {}, 10)
    assert_kept(both, whole(), thin=10)
    assert some.together(["mu"]).draws == 150
    rare = some.only(["z"])
    assert (rare.draws, rare.every) == (15, {})
    assert (rare["z"] == some["z"]).all()


def test_together_tells_of_too_few_draws():
    with pytest.raises(RunError, match=r"every: found 210, expected 1 to 150"):
        drawn().together()


def test_thinned_draws_stay_multiples():
    found = drawn().thinned(4)
    assert found.every == {"z": 5, "p": 7, "missing": 3}
    assert_kept(found, whole(), thin=4)
    assert drawn().thinned(5).every == {"z": 2, "p": 7, "missing": 3}


def test_functions_of_several_variables_take_the_draws_that_have_all():
    some, every = drawn(keep={"mu": 1, "z": 10, "p": 5}), whole(missing=False)
    with_missing = drawn(keep={"mu": 1, "z": 1, "p": 1, "missing": 1})
    one_in_ten = replace(with_missing.thinned(10), ends=None)
    few = {**with_missing.values, "z": one_in_ten["z"]}
    found = sampler().log_density(replace(with_missing, values=few, every={"z": 10}))
    assert (found == sampler().log_density(one_in_ten)).all()
    deviance = sampler().deviance(some)
    assert deviance.every["deviance"] == 10
    assert (deviance["deviance"] == sampler().deviance(every)["deviance"][:, 9::10]).all()
    assert sampler().dic(some) == sampler().dic(every.thinned(10))
    at_some = sampler().predict(some, new={"n": 2}, name="y")
    assert at_some.draws == 2 * 30  # (labels of new positions are drawn anew, of p)
    assert sampler().conditional_mean(some, "mu")["mu"].shape == (2, 15, 2)
    chosen = some.starts(2)
    assert all(set(one) == {"mu", "z", "p"} for one in chosen)


def test_summary_files_and_text(tmp_path):
    some = drawn()
    assert repr(some).splitlines()[0] == "2 chains, 150 draws each"
    assert "z (n: 24), one draw in 10" in repr(some)
    table = some.summary(["mu", "z"])
    most = np.bincount(np.ravel(some["z"][..., 0])).argmax()
    assert table[f"z[0] = {most}"]["mean"] == (some["z"][..., 0] == most).mean()
    some.save(tmp_path / "draws.nc")
    again = gp.load_draws(tmp_path / "draws.nc")
    assert again.every == some.every
    assert all((again[name] == some[name]).all() for name in some)
    tree = some.to_datatree()
    assert set(tree["posterior"].data_vars) == {"mu"}
    assert tree["posterior_every_10"]["draw"].values.tolist() == [9 + 10 * k for k in range(15)]
    assert (tree["posterior_every_10"]["z"].values == some["z"]).all()


def test_arviz_reads_groups_with_fewer_draws():
    arviz = pytest.importorskip("arviz")
    found = drawn().to_arviz()
    table = arviz.summary(found, group="posterior", kind="stats")
    assert list(table.index) == ["mu[0]", "mu[1]"]
    assert arviz.ess(found["posterior_every_10"])["z"].shape == (24,)


def test_coda_files_have_the_iterations_of_each_variable(tmp_path):
    some = drawn(keep={"mu": 1, "z": 50})
    index, first, _ = some.save_coda(tmp_path / "run_")
    lines = index.read_text().splitlines()
    assert lines[1:3] == ["mu[1] 151 300", "z[0] 301 303"]
    rows = first.read_text().splitlines()[300:303]
    assert [int(row.split()[0]) for row in rows] == [20 + 50, 20 + 100, 20 + 150]


def test_rules_and_callbacks_see_what_is_kept():
    seen = {}

    def look(view):
        seen[view.sweep] = {n: len(a) for n, a in view.draws.items()}

    rule = gp.until(ess=20, of=["mu", "p"])
    found = drawn(1000, keep={"mu": 1, "p": 5}, until=rule, callback=look, callback_every=10)
    assert found["p"].shape[1] == found.draws // 5
    assert all(kept["p"] == kept["mu"] // 5 for kept in seen.values() if kept)


def test_memory_is_that_of_what_is_kept():
    with pytest.raises(RunError, match="keep="):
        drawn(10_000, limit_bytes=500_000)
    drawn(10, keep={"mu": 1, "z": 10}, limit_bytes=2 * (10 * 16 + 24))


def test_tempered_runs_are_thinned():
    found = sampler().sample(20, keep={"mu": 1, "z": 5}, temper=2, **HOW)
    assert (found["z"].shape, found.every) == ((2, 4, 24), {"z": 5})


@pytest.mark.parametrize(
    ("keep", "told"),
    [
        ({"mu": 1, "z": 200}, "keep: z: found one draw in 200, expected at most 150"),
        ({"mu": 4, "z": 10}, r"draws=75, thin=2, keep=\{'mu': 2, 'z': 5\}"),
        ({"mu": 0}, "expected names, or a dict from names to of how many draws one is kept"),
        ({"mu": 1, "zz": 3}, "found 'zz'.*Did you mean 'z'"),
        ({}, "keep= at least one name"),
    ],
)
def test_what_cannot_be_kept_is_told(keep, told):
    with pytest.raises(RunError, match=told):
        drawn(keep=keep)


def test_draws_say_what_does_not_fit():
    values = {"x": np.zeros((2, 10)), "z": np.zeros((2, 4))}
    with pytest.raises(RunError, match=r"z: found \(chain, draw\) \(2, 4\), not \(2, 5\)"):
        Draws(values, every={"z": 2})
    with pytest.raises(RunError, match="expected a variable with all draws"):
        Draws(values, every={"z": 2, "x": 4})
    found = Draws({"x": np.zeros((2, 10)), "z": np.zeros((2, 5))}, every={"z": 2})
    with pytest.raises(RunError, match=r"z has one draw in 2; .*together"):
        found.at("z", 3)
