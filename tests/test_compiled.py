"""Compiled sweeps: the same draws as in NumPy where numbers come in the same order; the choice."""

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.code.arrays.sweeps import numbers_of
from gibbsppl.errors import RunError
from gibbsppl.run.engines import Compiled, Interpreted
from models import linear_mixed, pumps, rats


def sampled(model, backend, **settings):
    return gp.compile(model).sample(
        200, warmup=1, chains=2, seed=3, progress=False, backend=backend, **settings
    )


@pytest.mark.parametrize("module", [rats, pumps])
def test_a_run_compiled_is_the_run_in_numpy(module):
    pytest.importorskip("numba")
    ours, theirs = (sampled(module.model(), b) for b in ("compiled", "numpy"))

    assert ours.attributes["backend"] == "compiled"
    for name in theirs:
        assert ours[name].dtype == theirs[name].dtype
        # (digits differ in the last places, and more the longer a chain is)
        np.testing.assert_allclose(ours[name][:, 0], theirs[name][:, 0], rtol=1e-9)


def test_what_kernels_draw_from_has_the_methods_that_they_call():
    pytest.importorskip("numba")
    from gibbsppl.runtime import compiled

    files = (p.read_text("utf-8") for p in Path(compiled.__path__[0]).glob("*.py"))
    called = {m for text in files for m in re.findall(r"\brng\.(\w+)\(", text)}

    assert called == set(compiled.METHODS)


def test_numbers_computed_beforehand_are_no_arrays_in_a_sweep():
    """A number with the type of an array is computed with as an array: new memory each time."""
    with gp.Model(coords={"i": 3}) as model:
        mu = gp.Normal("mu", 0, tau=1)
        known = gp.Data("known", [0.1, 2.0, 0.7], dims="i")
        gp.Normal("y", mu, tau=known, dims="i", observed=[1.0, 0.5, 2.0])
    program = gp.compile(model).loops()
    prepared = numbers_of(program.with_numbers) & set(program.module.constants)

    assert prepared
    for name in prepared:
        assert re.search(rf"^    {name} = {name}_at\[\(\)\]$", program.module.text, re.MULTILINE)


@pytest.mark.parametrize("module", [rats, pumps, linear_mixed])
def test_what_loops_read_has_the_axes_that_the_sweep_says(module):
    """A number as an array of one would be an index of many, which takes seconds to compile."""
    program = gp.compile(module.model()).loops()
    known = program.with_numbers.arrays

    for name, array in program.known.items():
        if name in known:
            assert array.ndim == len(known[name].dims), name


def test_pilot_sweeps_are_those_of_the_run(monkeypatch):
    """In the loops of a compiled run, which leave the starts of NumPy where both draw alike."""
    pytest.importorskip("numba")
    sampler = gp.compile(rats.model())
    made = []
    for engine in (Compiled(sampler.loops()), Interpreted(sampler.program, sampler.constants)):
        with monkeypatch.context() as patch:
            if engine.name == "compiled":
                patch.setattr("gibbsppl.run.engines.advance", None)
            made.append(sampler._started(2, 1, None, engine=engine).chains)

    for ours, theirs in zip(*made, strict=True):
        assert ours.rng.bit_generator.state == theirs.rng.bit_generator.state
        for name, values in theirs.state.items():
            if not name.startswith("~"):
                np.testing.assert_allclose(ours.state[name], values, rtol=1e-9)


def test_the_same_seed_makes_the_same_draws_however_many_sweeps_a_call_makes():
    pytest.importorskip("numba")
    first, second = (sampled(rats.model(), "compiled", thin=2) for _ in range(2))

    assert all((first[n] == second[n]).all() for n in first)


def test_few_sweeps_are_made_in_numpy_and_many_compiled():
    pytest.importorskip("numba")
    few, many = (
        gp.compile(pumps.model()).sample(n, chains=1, seed=1, progress=False, backend="auto")
        for n in (10, 100_000)
    )

    assert (few.attributes["backend"], many.attributes["backend"]) == ("numpy", "compiled")


def test_a_back_end_that_is_none_is_refused():
    with pytest.raises(RunError, match="expected one of 'auto', 'numpy', 'compiled'"):
        sampled(rats.model(), "numba")


def test_without_numba_compiled_sweeps_are_refused_and_auto_says_so(monkeypatch, capsys):
    monkeypatch.setattr("gibbsppl.run.choice.is_installed", lambda: False)
    with pytest.raises(RunError, match=r"gibbsppl\[fast\]"):
        sampled(rats.model(), "compiled")
    draws = gp.compile(pumps.model()).sample(
        30_000, chains=1, seed=1, progress=False, backend="auto", keep=["alpha"]
    )

    assert draws.attributes["backend"] == "numpy"
    assert 'pip install "gibbsppl[fast]"' in capsys.readouterr().err


def test_partly_observed_arrays_are_state():
    pytest.importorskip("numba")
    with gp.Model() as model:
        mu = gp.Normal("mu", 0, sigma=10)
        gp.Normal("y", mu, sigma=1, dims="i", observed=[1.0, np.nan, 3.0, np.nan], missing=np.nan)
    ours, theirs = (sampled(model, b) for b in ("compiled", "numpy"))

    np.testing.assert_allclose(ours["y"], theirs["y"], rtol=1e-9)


def test_the_text_of_loops_serves_other_data_of_the_same_model():
    texts = set()
    for rows, days in ((30, 5), (40, 7)):
        rng = np.random.default_rng(rows)
        weight = 200 + rng.normal(size=(rows, days))
        model = rats.model(weights=weight.tolist(), days=(8 + 7 * np.arange(days)).tolist())
        texts.add(gp.compile(model).loops().module.text)

    assert len(texts) == 1


def test_sums_of_many_groups_are_made_without_a_table_of_rows_by_groups():
    groups, rows = 4_000, 8_000
    rng = np.random.default_rng(1)
    with gp.Model(coords={"group": groups, "row": rows}) as model:
        group_of = gp.Index("group_of", rng.integers(groups, size=rows), of="group", dims="row")
        tau = gp.Gamma("tau", 1, rate=1)
        mu = gp.Normal("mu", 0, tau=gp.Gamma("phi", 1, rate=1), dims="group")
        gp.Normal("y", mu[group_of], tau=tau, dims="row", observed=rng.normal(size=rows))
    program = gp.compile(model, blocks=False, interweave=False).loops()
    assert any(t.function == "as_computed" for t in program.sweep_value.tables)

    tracemalloc.start()
    assert program.constants
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert most < groups * rows
