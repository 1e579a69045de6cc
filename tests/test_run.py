"""Running: streams, storage, failures found and explained, Ctrl-C, memory."""

import copy
import pickle
import re
import signal
import sys
import time

import numpy as np
import pytest

from gibbsppl.code.program import load
from gibbsppl.errors import RunError
from gibbsppl.run.sampling import Chain, advance, bytes_needed, run, seed_sequence, streams

WALK = load("""
from gibbsppl import runtime

def prepare(data):
    return dict(data)

def mu_given_rest(s, c):
    return 0.5 * s["theta"].mean(), 1.0

def theta_given_rest(s, c):
    return 0.5 * s["mu"], c["scale"]

def z_given_rest(s, c):
    return 0.5

def sweep(rng, s, c):
    s["mu"] = rng.normal(*mu_given_rest(s, c))
    s["theta"] = rng.normal(*theta_given_rest(s, c), size=3)
    s["z"] = (rng.random(2) < z_given_rest(s, c)).astype(int)

def deterministics(s, c):
    return {"total": s["theta"].sum()}

STEPS = (
    runtime.Step("mu", ("mu",), mu_given_rest),
    runtime.Step("theta", ("theta",), theta_given_rest),
    runtime.Step("z", ("z",), z_given_rest),
)
""")
CONSTANTS = WALK.prepare({"scale": 1.0})


def program_with(body, steps=("a", "b")):
    """A program whose sweep is the body given; its steps draw the arrays of their names."""
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    return load(
        "import numpy as np\nfrom gibbsppl import runtime\n"
        "def prepare(data): return dict(data)\n"
        f"def sweep(rng, s, c):\n{lines}\n"
        "def deterministics(s, c): return {}\n"
        f"STEPS = tuple(runtime.Step(s, (s,), None) for s in {steps!r})\n"
    )


def starts(chains, seed=1):
    return [
        Chain({"mu": 0, "theta": np.zeros(3), "z": np.zeros(2, int)}, r)
        for r in streams(seed, chains)
    ]


def sent(value):
    """A copy that went through a pickle, as to another process."""
    return pickle.loads(pickle.dumps(value))


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)


def test_values_have_chain_draw_and_variable_axes_and_the_kind_that_is_drawn():
    values = run(WALK, CONSTANTS, starts(2), draws=7, warmup=3).values

    assert {n: (a.shape, a.dtype.kind) for n, a in values.items()} == {
        "mu": ((2, 7), "f"),  # although it starts at the whole number 0
        "theta": ((2, 7, 3), "f"),
        "z": ((2, 7, 2), "i"),
        "total": ((2, 7), "f"),
    }
    np.testing.assert_allclose(values["total"], values["theta"].sum(axis=-1))


def test_the_same_seed_gives_the_same_draws_and_another_seed_others():
    first, again, other = (
        run(WALK, CONSTANTS, starts(2, seed), draws=5, warmup=2).values for seed in (1, 1, 2)
    )

    assert same(first, again)
    assert not same(first, other)


def test_chains_differ_and_their_number_does_not_alter_the_first():
    many = run(WALK, CONSTANTS, starts(3), draws=5, warmup=2).values
    one = run(WALK, CONSTANTS, starts(1), draws=5, warmup=2).values

    assert same(one, {n: a[:1] for n, a in many.items()})
    assert len(np.unique(many["mu"][:, 0])) == 3


@pytest.mark.parametrize("stop", [0, 1, 57, 100, 101, 205])
def test_a_chain_pickled_at_any_sweep_and_resumed_equals_one_that_never_stopped(stop):
    whole, stopped = starts(1)[0], starts(1)[0]
    advance(WALK, CONSTANTS, whole, 210)
    advance(WALK, CONSTANTS, stopped, stop)
    resumed = sent(stopped)
    advance(sent(WALK), CONSTANTS, resumed, 210 - stop)

    assert same(whole.state, resumed.state)
    assert whole.sweep == resumed.sweep == 210
    assert whole.rng.bit_generator.state == resumed.rng.bit_generator.state


def test_two_runs_after_one_another_equal_one_long_run():
    whole = run(WALK, CONSTANTS, starts(2), draws=150, warmup=20)
    first = run(WALK, CONSTANTS, starts(2), draws=70, warmup=20)
    second = run(WALK, CONSTANTS, sent(first.chains), draws=80, warmup=0)

    joined = {n: np.concatenate([a, second.values[n]], axis=1) for n, a in first.values.items()}
    assert same(whole.values, joined)
    assert [c.sweep for c in second.chains] == [170, 170]


def test_thinning_keeps_every_nth_sweep_after_warm_up():
    every = run(WALK, CONSTANTS, starts(2), draws=12, warmup=4).values
    third = run(WALK, CONSTANTS, starts(2), draws=4, warmup=4, thin=3).values

    assert same(third, {n: a[:, 2::3] for n, a in every.items()})


def test_the_chains_given_are_left_as_they_were():
    given = starts(2)
    before = copy.deepcopy(given)
    run(WALK, CONSTANTS, given, draws=3, warmup=3)

    assert all(same(a.state, b.state) and a.sweep == 0 for a, b in zip(given, before, strict=True))


def test_draws_do_not_alias_a_state_that_is_changed_in_place():
    counting = program_with('s["a"] += 1.0', steps=("a",))
    values = run(
        counting, {}, [Chain({"a": np.zeros(2)}, streams(0, 1)[0])], draws=3, warmup=1
    ).values

    np.testing.assert_array_equal(values["a"][0, :, 0], [2, 3, 4])


def test_keep_chooses_variables_and_deterministics_in_the_order_given():
    assert list(
        run(WALK, CONSTANTS, starts(1), draws=2, warmup=0, keep=["total", "mu"]).values
    ) == [
        "total",
        "mu",
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep": ["thet"]}, "keep: found 'thet'.*Did you mean 'theta'"),
        ({"draws": 0}, "draws: found 0, expected a whole number from 1"),
        ({"warmup": -1}, "warmup: found -1, expected a whole number from 0"),
        ({"thin": 1.5}, "thin: found 1.5"),
        ({"limit_bytes": 512}, "theta: its .* take 4.69 KiB of the 10.9 KiB .* limit of 512 bytes"),
    ],
)
def test_settings_that_cannot_be_run_are_refused_by_name(settings, message):
    with pytest.raises(RunError, match=message):
        run(WALK, CONSTANTS, starts(2), **({"draws": 100, "warmup": 1} | settings))


def test_the_bytes_estimated_are_the_bytes_stored():
    values = run(WALK, CONSTANTS, starts(2), draws=9, warmup=0).values
    example = {n: a[0, 0] for n, a in values.items()}

    assert bytes_needed(example, 2, 9) == {n: a.nbytes for n, a in values.items()}


def test_warm_up_ends_adaptation():
    adapting = program_with(
        's["a"] = s["~a"].width\nif s["~a"].adapting: s["~a"].width += 1.0', steps=("a",)
    )
    widths = [Chain({"a": 0.0, "~a": Width()}, r) for r in streams(0, 2)]
    result = run(adapting, {}, widths, draws=3, warmup=5)

    np.testing.assert_array_equal(result.values["a"], np.full((2, 3), 6.0))
    assert not any(c.state["~a"].adapting for c in result.chains)


class Width:
    def __init__(self):
        self.width, self.adapting = 1.0, True


FAULT = 's["n"] += 1\nif s["n"] == 157: s["b"] = np.array([0.0, 0.0, np.nan])'
FAILING = {
    "a fails one sweep after b": 's["a"] = rng.normal() + s["b"].sum()\n' + FAULT,
    "a raises one sweep after b": (
        'if not np.isfinite(s["b"]).all(): raise ValueError("scale < 0")\n' + FAULT
    ),
}
FIRST = r"b: found nan \(at \(2,\)\) in sweep 157 of chain 0.* step 'b' \(2 of 2\)"


@pytest.mark.parametrize("body", FAILING.values(), ids=FAILING)
@pytest.mark.parametrize(("warmup", "thin"), [(0, 1), (200, 1), (156, 1), (157, 3), (10, 7)])
def test_a_state_that_is_not_finite_is_traced_to_its_first_variable_and_sweep(body, warmup, thin):
    chains = [Chain({"a": 0.0, "b": np.zeros(3), "n": 0}, r) for r in streams(0, 1)]

    with pytest.raises(RunError, match=FIRST):
        run(program_with(body), {}, chains, draws=400, warmup=warmup, thin=thin)


def test_a_stored_draw_that_is_not_finite_is_found_although_the_state_recovers():
    recovering = FAULT + '\nelse: s["b"] = np.zeros(3)'
    chains = [Chain({"a": 0.0, "b": np.zeros(3), "n": 0}, r) for r in streams(0, 1)]

    with pytest.raises(RunError, match=FIRST):
        run(program_with(recovering), {}, chains, draws=400, warmup=0)


def test_a_step_that_raises_is_reported_with_its_line():
    body = 's["a"] = rng.normal()\ns["b"] = rng.poisson(s["a"] * 0 - 1)'
    chains = [Chain({"a": 0.0, "b": 1}, r) for r in streams(0, 1)]

    where = r"b: step 'b' \(2 of 2\) failed in sweep 1 of chain 0 at the line `s\[.b"
    with pytest.raises(RunError, match=where):
        run(program_with(body), {}, chains, draws=4, warmup=0)


def test_what_a_step_says_ends_with_one_full_stop():
    body = 's["a"] = 1.0\nraise ValueError("no density.")'
    chains = [Chain({"a": 0.0, "b": 1}, r) for r in streams(0, 1)]

    with pytest.raises(RunError, match=r": no density\.($| )"):
        run(program_with(body), {}, chains, draws=4, warmup=0)


def test_a_bug_in_a_program_is_not_hidden():
    with pytest.raises(KeyError, match="absent"):
        run(
            program_with('s["absent"]'),
            {},
            [Chain({"a": 0.0, "b": 0.0}, streams(0, 1)[0])],
            draws=1,
            warmup=0,
        )


def test_an_initial_value_that_is_not_finite_is_refused():
    bad = starts(2)
    bad[1].state["theta"] = np.array([0.0, np.inf, 0.0])

    with pytest.raises(RunError, match="theta: the initial value in chain 1 is not finite"):
        run(WALK, CONSTANTS, bad, draws=1, warmup=0)


def interrupted_after(sweeps, chains, *, stops="signal.raise_signal(signal.SIGINT)", warmup=10):
    """A run of a long walk in which Ctrl-C is pressed in a sweep, counted through all chains."""
    body = f'import signal\ns["a"] = rng.normal()\nc["n"] += 1\nif c["n"] in {sweeps}: {stops}'
    given = [Chain({"a": 0.0}, r) for r in streams(3, chains)]
    program = program_with(body, steps=("a",))
    return run(program, {"n": 0}, given, draws=300_000, warmup=warmup)


def test_ctrl_c_keeps_what_every_chain_has_drawn_and_says_so(capsys):
    # (however long the turns of the chains are: one alone has 300,000 draws at most)
    result = interrupted_after([400_000], chains=2)

    (chains, draws), wanted = result.values["a"].shape, 300_000
    assert (chains, 0 < draws < wanted) == (2, True)
    told = f"stopped by the user; the first {draws} of {wanted} draws of each chain are kept"
    assert result.interrupted == told
    assert capsys.readouterr().err == f"gibbsppl: {told}\n"
    walk = program_with('s["a"] = rng.normal()', steps=("a",))
    expected = run(walk, {}, [Chain({"a": 0.0}, r) for r in streams(3, 2)], draws=draws, warmup=10)
    assert same(result.values, expected.values)


def test_a_chain_that_ctrl_c_has_stopped_goes_on_as_if_it_had_not():
    stopped = interrupted_after([20_000], chains=1)
    draws = stopped.values["a"].shape[1]
    walk = program_with('s["a"] = rng.normal()', steps=("a",))
    more = run(walk, {}, stopped.chains, draws=50, warmup=0)
    (start,) = [Chain({"a": 0.0}, r) for r in streams(3, 1)]
    whole = run(walk, {}, [start], draws=draws + 50, warmup=10)

    np.testing.assert_array_equal(more.values["a"][0], whole.values["a"][0, draws:])


def test_a_second_ctrl_c_stops_in_the_midst_of_a_sweep():
    result = interrupted_after([20_000, 20_001], chains=4)

    assert result.interrupted.startswith("stopped by the user; the first ")
    assert np.isfinite(result.values["a"]).all()
    assert {c.sweep > 0 for c in result.chains} == {True}


@pytest.mark.parametrize("stops", ["signal.raise_signal(signal.SIGINT)", "raise KeyboardInterrupt"])
def test_ctrl_c_before_the_first_draw_stops_the_program(stops):
    said = "after .* of 300000 sweeps of the warm-up of 2 chains; no draw is kept"
    with pytest.raises(KeyboardInterrupt, match=said):
        interrupted_after([5], chains=2, stops=stops, warmup=300_000)


def test_the_handler_of_signals_is_as_it_was_after_a_run():
    before = signal.getsignal(signal.SIGINT)
    interrupted_after([20_000], chains=1)
    assert signal.getsignal(signal.SIGINT) is before


def test_seeds_of_all_kinds_are_accepted_and_their_use_is_plain():
    sequence, generator = np.random.SeedSequence(5), np.random.default_rng(5)
    numbers = [r.random() for r in streams(5, 2)]

    assert [r.random() for r in streams(sequence, 2)] == numbers
    assert [r.random() for r in streams(sequence, 2)] == numbers, (
        "using a sequence does not change it"
    )
    assert [r.random() for r in streams(generator, 2)] != [
        r.random() for r in streams(generator, 2)
    ]
    assert seed_sequence(None).entropy != seed_sequence(None).entropy
    with pytest.raises(RunError, match="seed: found -1"):
        streams(-1, 2)
    with pytest.raises(RunError, match="chains: found 0"):
        streams(1, 0)


# (NumPy takes lists of numbers and texts of digits for seeds; of matrices, it ends the process.)
@pytest.mark.parametrize("seed", [True, 1.0, [1, 2], "12", np.array([[1.0]])], ids=repr)
def test_other_seeds_are_refused(seed):
    with pytest.raises(RunError, match=re.escape(f"seed: found {seed!r}, expected a whole number")):
        seed_sequence(seed)


def test_progress_is_shown_on_a_terminal_only(capsys, monkeypatch):
    run(WALK, CONSTANTS, starts(2), draws=50, warmup=50)
    assert capsys.readouterr().err == ""

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    run(WALK, CONSTANTS, starts(2), draws=50, warmup=50, progress=False)
    assert capsys.readouterr().err == ""
    run(WALK, CONSTANTS, starts(2), draws=50, warmup=50)
    assert "2 chains, sampling" in capsys.readouterr().err


def test_a_sweep_costs_little_more_than_in_a_loop_written_by_hand():
    """Less than 5 microseconds where the loop by hand takes 1: a small sweep takes 70."""
    idle = program_with("pass", steps=tuple("abcde"))
    state = {name: np.zeros(30) if name > "b" else 0.0 for name in "abcde"}

    def by_hand():
        arrays = {name: np.empty((2000, *np.shape(value))) for name, value in state.items()}
        for _ in range(2000):
            idle.sweep(None, state, {})
        for draw in range(2000):
            idle.sweep(None, state, {})
            for name, array in arrays.items():
                array[draw] = state[name]

    def by_run():
        run(idle, {}, [Chain(state, streams(0, 1)[0])], draws=2000, warmup=2000)

    def seconds(work):
        started = time.process_time()
        work()
        return time.process_time() - started

    # (in turn, so that what else the machine does slows both)
    both = [(seconds(by_run), seconds(by_hand)) for _ in range(15)]
    ours, theirs = map(min, zip(*both, strict=True))
    assert ours < 6 * theirs
