"""What `verify()` says of sweeps in loops: planted bugs are told of, and rounding is not one."""

from dataclasses import replace

import numpy as np
import pytest
from test_loops_of_models import slightly_off

import gibbsppl as gp
from gibbsppl import runtime
from gibbsppl.checks import in_loops
from gibbsppl.code import loop_program
from gibbsppl.code.arrays import additions
from gibbsppl.code.arrays.statements import Add, Draw, Let, replaced


def in_loops_of(sampler):
    """The rows about loops in the table of checks of a sampler."""
    return [row for row in sampler.verify().rows if row.kind == "compiled"]


def labelled():
    """Labels, and counts of each, which are independent given a weight."""
    with gp.Model(coords={"n": 6, "k": 2}) as m:
        weight = gp.Dirichlet("weight", 1, dims="k")
        rate = gp.Gamma("rate", 2, rate=1, dims="k")
        z = gp.Categorical("z", weight, dims="n")
        gp.Poisson("y", rate[z], dims="n", observed=[1, 0, 7, 9, 2, 8])
    return m


def shared_out():
    """Counts that auxiliary variables share out, which nothing but sums reads."""
    with gp.Model(coords={"n": 4, "m": 3, "k": 2}) as m:
        a = gp.Gamma("a", 2, rate=1, dims=("n", "k"))
        b = gp.Gamma("b", 2, rate=1, dims=("k", "m"))
        gp.Poisson("y", a @ b, dims=("n", "m"), observed=np.arange(12).reshape(4, 3))
    return m


def far_away(level=1e8):
    """A regression whose level is so large that slopes lose half of their digits."""
    rng = np.random.default_rng(1)
    with gp.Model(coords={"n": 30, "k": 3}) as m:
        x = gp.Data("x", rng.standard_normal((30, 3)), dims=("n", "k"))
        s, b0 = gp.HalfCauchy("s", scale=1), gp.Normal("b0", level, sigma=10)
        b = gp.Normal("b", 0, sigma=10, dims="k")
        y = level + rng.standard_normal(30)
        gp.StudentT("y", nu=4, mu=b0 + x @ b, sigma=s, dims="n", observed=y)
    return m


def after(monkeypatch, change):
    """From here on, sweeps in loops are changed after all passes."""
    usual = loop_program.for_loops

    def wrong(*given):
        sweep = usual(*given)
        return replace(sweep, statements=replaced(sweep.statements, change))

    monkeypatch.setattr(loop_program, "for_loops", wrong)


def without_sums(s):
    """A statement; nothing in place of a sum."""
    return () if isinstance(s, Add) else (s,)


def with_other_weights(s):
    """A statement; log weights of labels that are slightly off."""
    is_of_labels = isinstance(s, Let) and s.name.startswith("z_in_block_")
    return (replace(s, value=slightly_off(s.value)) if is_of_labels else s,)


def test_a_sweep_in_loops_is_one_row():
    for model in (labelled(), shared_out()):
        (row,) = in_loops_of(gp.compile(model))
        assert row.proved
        assert row.step == "(compiled sweep)"


def test_a_lost_term_is_told_of_by_its_step(monkeypatch):
    sampler = gp.compile(labelled())
    after(monkeypatch, without_sums)
    rows = in_loops_of(sampler)

    assert not any(row.passed for row in rows)
    told = " ".join(row.step for row in rows)
    assert "(compiled sweep, rate:" in told
    assert "(compiled sweep, weight:" in told
    assert "FAILED" in str(sampler.verify())


def test_weights_of_labels_are_compared_and_not_labels_alone(monkeypatch):
    sampler = gp.compile(labelled())
    after(monkeypatch, with_other_weights)

    assert {row.step.split(":")[0] for row in in_loops_of(sampler)} == {"(compiled sweep, z"}


def test_what_holds_only_without_auxiliary_variables_in_the_state_is_compared(monkeypatch):
    sampler = gp.compile(shared_out())
    assert sampler.loops(keep=()).module.text != sampler.loops().module.text
    usual = additions.added_where_drawn

    def wrong(sweep):
        """What is added where it is drawn is lost."""
        found = usual(sweep)
        if found.statements == sweep.statements:
            return found
        return replace(found, statements=replaced(found.statements, without_sums))

    passes = [wrong if one is usual else one for one in loop_program.PASSES]
    monkeypatch.setattr(loop_program, "PASSES", tuple(passes))
    rows = in_loops_of(sampler)

    assert rows
    assert all("without auxiliary variables in the state" in row.step for row in rows)
    assert not any(row.passed for row in rows)


def test_what_raises_is_told(monkeypatch):
    sampler = gp.compile(labelled())
    after(monkeypatch, lambda s: () if isinstance(s, Draw) else (s,))
    (row,) = in_loops_of(sampler)

    assert not row.passed
    assert "draws that loops do not make" in row.step or "Error" in row.step


def test_large_sweeps_are_not_compared_and_that_is_told(monkeypatch):
    monkeypatch.setattr(in_loops, "MOST_OPERATIONS", 10.0)
    found = gp.compile(labelled()).verify()

    assert found.passed
    assert not found.proved
    assert [row.step for row in found.rows if not row.proved] == ["(compiled sweep)"]


def test_what_has_no_loops_has_no_row():
    def kernel(rng, value, log_density):
        del rng, log_density
        return value

    with gp.Model() as model:
        x = gp.Normal("x", 0, sigma=1)
        gp.Poisson("y", gp.exp(x), observed=3)
    assert in_loops_of(gp.compile(model, kernels={"x": kernel})) == []


def test_rounding_is_no_bug_and_hides_none(monkeypatch):
    sampler = gp.compile(far_away())
    found = sampler.verify()
    assert found.passed
    assert any(row.kind == "compiled" and row.is_hidden for row in found.rows)

    after(monkeypatch, without_sums)
    assert not sampler.verify().passed


def test_the_runtime_is_as_it_was_while_draws_are_compared():
    before = dict(vars(runtime))
    seen = []
    usual = in_loops.beside

    def looked_at(*given):
        seen.append(dict(vars(runtime)) == before)
        return usual(*given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(in_loops, "beside", looked_at)
        gp.compile(labelled()).verify()
    assert seen == [True, True]
    assert vars(runtime) == before
