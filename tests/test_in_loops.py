"""What `verify()` says of sweeps in loops: planted bugs are told of, and rounding is not one."""

from dataclasses import replace

import numpy as np
import pytest
from test_loops_of_models import slightly_off

import gibbsppl as gp
from gibbsppl import runtime
from gibbsppl.checks import in_loops, recorded_sweeps
from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.checks.tapes import Call, Difference, Tape
from gibbsppl.code import loop_program
from gibbsppl.code.arrays import additions
from gibbsppl.code.arrays.statements import Add, Draw, Let, replaced
from models import factorisation_machine


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


def schools_of_one():
    """Effects of which nothing is left to tell besides their normal prior and data."""
    with gp.Model(coords={"s": 3}) as m:
        mu = gp.Normal("mu", 0, sigma=10)
        theta = gp.Normal("theta", mu, sigma=1, dims="s")
        gp.Normal("y", theta, sigma=1, dims="s", observed=[28, 8, -3])
    return m


def dice():
    """Whole numbers that are equally likely."""
    with gp.Model(coords={"n": 3}) as m:
        gp.DiscreteUniform("d", 0, 5, dims="n")
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
    (row,) = (row for row in found.rows if row.kind == "compiled")
    assert row.proved
    assert RELATIVE_TOLERANCE < row.tolerance < 1

    after(monkeypatch, without_sums)
    assert not sampler.verify().passed


def test_the_runtime_is_as_it_was_while_draws_are_compared():
    modules = (runtime, *recorded_sweeps.MOVES)
    before = [dict(vars(m)) for m in modules]
    seen = []
    usual = recorded_sweeps.Recorder._noting

    def noting(recorder, step, function):
        noted = usual(recorder, step, function)

        def looked_at(s, c):
            seen.append([dict(vars(m)) for m in modules] == before)
            return noted(s, c)

        return looked_at

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(recorded_sweeps.Recorder, "_noting", noting)
        gp.compile(labelled()).verify()
    assert set(seen) == {True}
    assert [vars(m) for m in modules] == before


CONSTANT = {
    "ellipses": (schools_of_one, {"theta": gp.EllipticalSlice()}),
    "walks of whole numbers": (dice, {"d": gp.RandomWalk()}),
}


@pytest.mark.parametrize("name", CONSTANT)
def test_elements_whose_log_density_is_a_constant_move_on_their_own(name):
    model, kernels = CONSTANT[name]
    assert gp.compile(model(), kernels=kernels).verify().proved


def test_a_sum_over_members_of_a_group_stays_inside_of_the_loop_over_groups():
    with gp.Model(coords={"i": 4, "j": 4, "k": 3}) as m:
        group = gp.Index("group", [0, 2, 0, 2], of="i", dims="j")
        a = gp.Gamma("a", 2, rate=1, dims=("i", "k"))
        y = np.arange(1, 13).reshape(4, 3) / 5
        gp.HalfCauchy("y", scale=a[group], dims=("j", "k"), observed=y)
    assert gp.compile(m, kernels={"a": gp.HMC()}).verify().proved


def test_a_random_scan_that_has_not_made_a_sum_yet_is_compared():
    sampler = gp.compile(
        labelled(), collapse=("weight", "rate"), scan=gp.RandomScan({"weight": 50})
    )
    assert sampler.verify().passed


def test_the_worst_of_two_sweeps_is_told(monkeypatch):
    usual, hidden = in_loops.beside, [False] * in_loops.TRIED + [True] * in_loops.TRIED

    def wrong(*given):
        tape = usual(*given)
        tape.differences.append(Difference("rate", "planted", 1e-3))
        return tape

    monkeypatch.setattr(in_loops, "beside", wrong)
    monkeypatch.setattr(in_loops, "_changed", lambda *_: {"rate": 1e-4} if hidden.pop(0) else {})
    (row,) = in_loops_of(gp.compile(labelled()))
    assert not row.passed


def test_what_is_infinite_in_one_text_alone_is_told():
    call = Call("slice", "x", [], np.zeros(1), (1,), {}, heights=(*np.ones((3, 1)),))
    tape = Tape()
    tape.compare_heights(call, 0, [1.0, np.inf, 1.0])
    assert tape.far


def test_a_pass_that_raises_is_a_row_that_failed(monkeypatch):
    sampler = gp.compile(labelled())

    def broken(*_):
        raise KeyError("a pass")

    monkeypatch.setattr(loop_program, "for_loops", broken)
    (row,) = in_loops_of(sampler)
    assert not row.passed
    assert "KeyError" in row.step


def test_an_array_of_data_that_is_read_with_its_axes_in_two_orders_has_both():
    with gp.Model(coords={"i": 1, "j": 2, "k": 4}) as m:
        of = gp.Index("of", [0, 2], of="k", dims="j")
        c = gp.Maxwell("c", tau=1.0, dims=("i", "k"))
        seen = {"dims": ("i", "j"), "observed": [[1.2, 0.7]]}
        gp.InverseGaussian("y", mu=2 * c[of], lam=2.25, **seen)
        gp.Gompertz("z", shape=c[of], rate=c.sum("k"), **seen)
    assert gp.compile(m, kernels={"c": gp.NUTS()}).verify().proved


def test_elements_drawn_in_turn_do_not_read_what_is_kept_up_to_date_after_all_of_them():
    features, y = factorisation_machine.FEATURES[:40], factorisation_machine.RATINGS[:40]
    model = factorisation_machine.model(features=features, y=y)
    sampler = gp.compile(model, blocks=False, interweave=False)
    assert sampler.schedule.step("w").is_coloured
    assert sampler.verify().proved
