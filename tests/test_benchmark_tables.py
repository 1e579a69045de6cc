"""The runner of benchmarks counts what it should, and its page says what was measured."""

# The folder of benchmarks is on the path before its modules are imported.

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from time import process_time, sleep

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

import defaults
import environments
import kept
import page
import runner
import sides
from measuring import ENOUGH, Found, Turn, judged, longer, ratios, spread
from peers import BY_HAND, NAMED, Peer
from reasons import REASONS
from workload import BUGS, HAND, LARGE, MODELS, Workload
from workloads import ROWS, WORKLOADS

import gibbsppl as gp
from gibbsppl.run import engines

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


# ---- what is counted -----------------------------------------------------------------------------


def of_lag(rho, size, seed=1, elements=2):
    """Draws of an autoregression in each element, of four chains; the first does not depend."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((4, size, elements))
    x = noise.copy()
    for t in range(1, size):
        x[:, t, 1:] = rho * x[:, t - 1, 1:] + np.sqrt(1 - rho**2) * noise[:, t, 1:]
    return x


def test_the_worst_element_is_what_counts():
    """Of an autoregression with rho the effective size is (1 - rho) / (1 + rho) of the draws."""
    rho, size, repeats = 0.8, 4000, 20
    found = [
        judged(Turn(size, 2.0, 1.0, {"x": of_lag(rho, size, seed)})) for seed in range(repeats)
    ]
    amounts = np.array([f.amount for f in found])
    exact = 4 * size * (1 - rho) / (1 + rho)
    error = amounts.std(ddof=1) / np.sqrt(repeats)

    assert {f.element for f in found} == {"x[2]"}
    # (estimates are cut off at a lag, so that there is a bias of the order of their spread)
    assert abs(amounts.mean() - exact) < 4 * error + amounts.std(ddof=1)
    assert found[0].rate == found[0].amount / 2.0
    assert all(f.is_settled for f in found)


def test_only_watched_elements_count_and_constants_are_told():
    draws = of_lag(0.9, 1000, elements=3)
    draws[..., 2] = 1
    found = judged(Turn(1000, 1.0, 0.0, {"x": draws}), ("x[1]", "x[3]"))

    assert (found.element, found.constant) == ("x[1]", 1)
    with pytest.raises(AssertionError, match="not among the draws"):
        judged(Turn(1000, 1.0, 0.0, {"x": draws}), ("y",))
    with pytest.raises(AssertionError, match="nothing has moved"):
        judged(Turn(1000, 1.0, 0.0, {"x": draws}), ("x[3]",))


def test_sweeps_are_counted_where_there_are_no_draws():
    found = judged(Turn(30, 1.5))
    assert (found.amount, found.rate, found.is_settled) == (30, 20, True)


def test_a_ratio_is_above_one_where_gibbsppl_is_ahead():
    ours = [Found(10, 2.0, 0.0, amount) for amount in (40, 20, 60)]
    theirs = [Found(99, 1.0, 9.0, 10)] * 3

    assert ratios(ours, theirs) == [2, 1, 3]
    assert spread(ratios(ours, theirs)) == (1.5, 2, 2.5)
    assert spread([7.0]) == (7, 7, 7)


def test_runs_are_as_long_as_it_takes_to_settle_but_no_longer():
    mixes, sticks = Found(100, 1.0, 0, ENOUGH, "x"), Found(100, 1.0, 0, ENOUGH / 50, "x")
    assert longer(mixes, 3.0, 15.0) == 300
    assert longer(sticks, 0.5, 1000.0) == 100 * 2 * 50
    assert longer(sticks, 0.5, 15.0) == 1500


SLEPT = 0.002


def of_a_model(**how):
    def model(_):
        with gp.Model(name="level") as found:
            mu = gp.Normal("mu", 0, tau=0.01)
            gp.Normal("y", mu, tau=1, observed=1.5)
        return found

    return Workload("level", MODELS, "a level", model, {"a peer": 2.0}, monitors=("mu",),
                    backend="numpy", **how)  # fmt: skip


@pytest.fixture
def side():
    return sides.Compiled(of_a_model(warmup=100))


def is_sampling_alone(monkeypatch, side, size=20):
    """Whether the seconds of a turn are CPU seconds of its draws: a sweep also sleeps.

    Of draws and warm-up (five times as many sweeps) less is counted than half of all the CPU time.
    """
    plain = engines.advance

    def slow(*arguments, **named):
        sleep(SLEPT)
        return plain(*arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(engines, "advance", slow)
        began = process_time()
        turn = side.turn(1, size)
        took = process_time() - began
    return 0 < turn.sampling < min(took / 2, size * SLEPT)


def test_cpu_seconds_of_sampling_are_counted_alone(monkeypatch, side):
    assert side._run["warmup"] == 100
    assert is_sampling_alone(monkeypatch, side)


def test_seconds_on_the_wall_would_be_noticed(monkeypatch, side):
    """Planted: the clock of the wall, which sleeps are on."""
    monkeypatch.setattr(sides, "by_cpu_clock", contextlib.nullcontext)
    assert not is_sampling_alone(monkeypatch, side)


def test_warm_up_would_be_noticed(monkeypatch, side):
    """Planted: the seconds of warm-up among those of sampling."""
    plain = side.turn

    def turn(seed, size):
        found = plain(seed, size)
        return Turn(found.size, found.sampling + found.warming, 0.0, found.draws)

    monkeypatch.setattr(side, "turn", turn)
    assert not is_sampling_alone(monkeypatch, side)


class HalfAsFast(sides.Compiled):
    """A peer that makes the same draws in twice the time."""

    def turn(self, seed, size):
        found = super().turn(seed, size)
        return Turn(found.size, 2 * found.sampling, found.warming, found.draws)


def test_sides_that_differ_by_two_have_a_ratio_near_two(monkeypatch):
    """What other work does to the clock is in it: the turns say how much."""
    workload = of_a_model()
    monkeypatch.setattr(runner, "LEAST", 0.05)
    monkeypatch.setitem(NAMED, "a peer", Peer("a peer", "the same", HalfAsFast))
    record = runner.measured(workload, None, 5)
    (row,) = page.rows_of(workload, record)
    found = np.array(ratios(row.ours, row.theirs))

    assert abs(np.log(row.ratio[1] / 2)) < 4 * np.log(found).std(ddof=1)
    assert row.peer == "a peer"
    assert row.told == ("mu Normal eta = (y, -0.505)",)


def test_notes_of_a_schedule_are_no_steps():
    notes = "  fallback: mu is moved by slice\n  added z\n"
    steps = "  mu  Normal\n      eta = (mu, 1)\n"
    found = [x for x in (notes + steps).splitlines() if sides.STEP.match(x)]
    assert found == ["  mu  Normal"]


def test_a_process_that_takes_too_long_is_ended():
    forever = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    environments.allow(forever, 0.5)
    assert "more than 0.5 CPU seconds" in environments.why_ended(forever, 0.5)
    fails = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    assert environments.why_ended(fails, 0.5) == "the process has ended with 3"


# ---- what is on the page -------------------------------------------------------------------------


def turns(rate, amount=1000.0, r_hat=1.0):
    one = Found(500, amount / rate, 0.1, amount, "x[1]", r_hat)
    return kept.as_turns([one] * 3)


def record_of(key, **peers):
    sides_found = {name: {"version": "1.0", "compiling": 0.01, **x} for name, x in peers.items()}
    own = {"version": "0.1", "compiling": 2.0, "told": ["x  Normal"]}
    machine = "2 cores of a machine, load 1.0"
    return {"key": key, "measured": "2026-01-01", "machine": machine,
            "sides": {"gibbsppl": own, **sides_found}}  # fmt: skip


def row_of(key, group, **peers):
    return Workload(key, group, key, None, peers)


def page_of(*pairs):
    reasons = {(w.key, peer): "it is said why" for w, _ in pairs for peer in w.peers}
    return page.written({w.key: w for w, _ in pairs}, {w.key: r for w, r in pairs}, reasons)


def test_the_page_is_made_of_rows():
    ahead = row_of("fast", BUGS, JAGS=1.0), record_of(
        "fast", JAGS={"ours": turns(300), "turns": turns(20)}
    )
    behind = row_of("slow", BUGS, JAGS=1.0), record_of(
        "slow", JAGS={"ours": turns(10), "turns": turns(20)}
    )
    stuck = row_of("stuck", BUGS, JAGS=1.0), record_of(
        "stuck", JAGS={"ours": turns(10, r_hat=1.5), "turns": turns(20)}
    )
    slower = row_of("slower", BUGS, JAGS=1.0), record_of(
        "slower", JAGS={"ours": turns(900), "turns": turns(20, amount=90.0)}
    )
    absent = row_of("absent", LARGE, smurff=3.0), record_of("absent", smurff={"missing": "no such"})
    found = page_of(ahead, behind, stuck, slower, absent)

    rates = "300 | 20 | 15 (15 to 15) | 1 | 1,667 | 25,000 | 0.5 | 0.5"
    assert f"| fast | JAGS | {rates} | 2.00 s | 0.01 s | `x[1]` |" in found
    told = "(`x[1]`: x  Normal): it is said why."
    assert f"In 1 of 3 comparisons:\n\n- slow, JAGS: 0.5 (0.5 to 0.5) {told}" in found
    assert "Of 3 that settle: median 15.0 times" in found
    assert "1 below 1, 1 below 10; from 0.50 to 45." in found
    assert "| 900 | 20 (90 effective draws, R-hat 1.000) | 45 (45 to 45) | 1 |" in found
    assert "- stuck, JAGS: 0.5 (0.5 to 0.5); gibbsppl 1,000 effective draws, R-hat 1.500" in found
    assert "- smurff (absent): no such" in found


def test_what_is_wrong_is_told_but_not_counted():
    row = Workload("few", BUGS, "few", None, {"JAGS": 1.0}, wrong={"JAGS": "too small"})
    found = page_of((row, record_of("few", JAGS={"ours": turns(10), "turns": turns(20)})))
    assert "Nowhere, in 0 comparisons." in found
    assert "Ahead, but not counted:\n\n- few, JAGS: 0.5 (0.5 to 0.5): too small" in found
    assert "| few | JAGS (not counted: too small) |" in found


@pytest.mark.parametrize(("target", "rate"), [(1.0, 10), (3.0, 40)])
def test_a_page_is_not_written_where_a_reason_is_missing(target, rate):
    """Behind, and ahead by less than is asked for."""
    row = row_of("slow", BUGS, JAGS=target)
    record = record_of("slow", JAGS={"ours": turns(rate), "turns": turns(20)})
    with pytest.raises(ValueError, match="without a reason: slow, JAGS"):
        page.written({"slow": row}, {"slow": record}, {})
    found = page.written({"slow": row}, {"slow": record}, {("slow", "JAGS"): "one sweep is long"})
    assert "one sweep is long." in found


def test_reasons_are_of_rows_that_there_are():
    for key, peer in REASONS:
        assert peer in WORKLOADS[key].peers, (key, peer)


def test_hand_written_code_may_take_two_thirds():
    for rate, is_behind in ((70, False), (60, True)):
        row = Workload("sweep", HAND, "sweep", None, {BY_HAND: 1 / 1.5})
        record = record_of("sweep", **{BY_HAND: {"ours": turns(rate), "turns": turns(100)}})
        assert ("- sweep, by hand:" in page_of((row, record))) == is_behind


def test_a_record_keeps_what_was_not_measured_again(tmp_path):
    first = {"ours": turns(300), "turns": turns(20)}
    again = {"ours": turns(400), "turns": turns(20)}
    kept.write(tmp_path, record_of("a, b = 1", JAGS=first, NumPyro=first))
    kept.write(tmp_path, record_of("a, b = 1", JAGS=again))
    found = kept.read(tmp_path)["a, b = 1"]["sides"]

    assert found["JAGS"]["ours"] == again["ours"]
    assert found["NumPyro"]["ours"] == first["ours"]
    assert kept.turns_of(found["JAGS"], "ours")[0].rate == pytest.approx(400)


def test_the_page_says_what_the_records_do():
    assert PAGE.read_text(encoding="utf-8") == page.of_records(WORKLOADS, kept.FOLDER)


# ---- defaults beside what is tuned ---------------------------------------------------------------


def test_a_default_that_is_not_best_is_found():
    """Planted: a slice where the draw is exact, of which `tuned` finds that it is not needed."""
    slow = of_a_model(settings={"kernels": {"mu": gp.Slice()}})
    found = defaults.measured(slow)
    assert found["chosen"] == "with the default kernels"
    assert found["share"] < defaults.ENOUGH
    assert found["operations"][0] > found["operations"][1]

    found = defaults.measured(of_a_model())
    assert (found["chosen"], found["share"]) == (defaults.DEFAULT, 1)


def test_the_page_tells_which_defaults_are_not_best():
    every = {"variants": 3, "failed": 0, "error": 0.1, "ess": [100.0, 400.0], "sweeps": 4000,
             "operations": [1000.0, 2000.0], "r_hat": [1.0, 1.0], "worst": ["x", "y"]}  # fmt: skip
    shares = {"good": 1.0, "near": 0.9, "far": 0.5}
    workloads = {key: row_of(key, MODELS) for key in (*shares, "absent", "not")}
    records = {
        key: {"key": key, "share": x, "chosen": defaults.DEFAULT if x == 1 else "other", **every}
        for key, x in shares.items()
    }
    records["not"] = {"key": "not", "missing": "its operations are not known"}
    found = "\n\n".join(defaults.section(workloads, records))

    assert "Of 3 models 2 reach it. The default stays in 1: good." in found
    assert "| far | 0.50 ± 10 % | other | 100 | 400 | 1,000 | 2,000 | `x` |" in found
    assert found.index("| far |") < found.index("| near |")
    assert "- not: its operations are not known" in found
    assert not list(defaults.section(workloads, {}))


# ---- rows ----------------------------------------------------------------------------------------


def test_rows_name_peers_that_there_are():
    for row in ROWS:
        assert set(row.peers) <= set(NAMED), row.key
        assert set(row.wrong) <= set(row.peers), row.key
        assert (row.hand is None) == (BY_HAND not in row.peers), row.key
        assert not any(name.startswith("JAGS") for name in row.peers) or row.program, row.key
    assert len({str(kept.path_of("", row.key)) for row in ROWS}) == len(ROWS)


def test_programs_of_peers_have_the_workloads_that_rows_say():
    """By the text: their packages are not installed here."""
    written = Path(sides.HERE) / "written"
    for peer in NAMED.values():
        if not peer.program:
            continue
        text = (written / f"{peer.program}.py").read_text(encoding="utf-8")
        for row in ROWS:
            numbered = row.key.rpartition(" ")[0] + " {k}"
            assert (peer.name in row.peers) <= (f'"{row.key}"' in text or numbered in text), row.key


@pytest.mark.parametrize("key", [row.key for row in ROWS if row.group == MODELS])
def test_models_compile_and_have_what_is_monitored(key):
    row = WORKLOADS[key]
    graph = gp.compile(row.model(row.data()), **row.settings).graph
    names = {*graph.variables, *(d.name for d in graph.deterministics)}
    assert set(row.monitors) <= names


@pytest.mark.parametrize("key", [row.key for row in ROWS if row.group == BUGS])
def test_examples_have_elements_to_watch(key):
    row = WORKLOADS[key]
    text, data, inits = row.program()
    assert row.watched
    assert {name.partition("[")[0] for name in row.watched} <= set(row.monitors)
    assert "model" in text
    json.dumps({n: np.ma.array(x).tolist() for n, x in {**data, **inits}.items()})


@pytest.mark.slow
@pytest.mark.parametrize("key", [row.key for row in ROWS if row.group in (LARGE, HAND)])
def test_large_models_are_swept(key):
    side = sides.Swept(WORKLOADS[key])
    assert side.turn(1, 1).sampling > 0
