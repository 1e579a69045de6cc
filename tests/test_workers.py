"""Chains in other processes: the same draws whoever makes them, deaths of workers, what is sent."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.code.program import load
from gibbsppl.errors import RunError
from gibbsppl.run import pools, segments, workers
from gibbsppl.run.pools import Processes, Wanted
from gibbsppl.run.sampling import Chain, run, streams
from models import rats

# A walk that adapts in its warm-up, renews sums that it keeps up to date, and defers a step.
WALK = """
import os, signal
from gibbsppl import runtime
def prepare(data): return dict(data)
def x_given_rest(s, c): return 0.9 * s["x"], 1.0
def later_given_rest(s, c): return s["x"], 1.0
def x_kept(s, c): return {"total": s["x"] * 1.0}
def sweep(rng, s, c, deferred=("later",)):
    s["x"] = rng.normal(*x_given_rest(s, c))
    s["total"] = s["total"] + s["x"]
    MORE
    if "later" in deferred: s["later"] = rng.normal(*later_given_rest(s, c))
def deterministics(s, c): return {"square": s["x"] ** 2}
STEPS = (
    runtime.Step("x", ("x", "total"), x_given_rest, kept=x_kept),
    runtime.Step("later", ("later",), later_given_rest, deferred=("later",)),
)
"""


def walk(more="pass"):
    return load(WALK.replace("MORE", more))


def starts(chains):
    state = {"x": 0.0, "total": 0.0, "later": 0.0, "n": 0}
    return [Chain(dict(state), rng) for rng in streams(1, chains)]


def ran(program, chains=3, data=None, **settings):
    settings = {"draws": 300, "warmup": 30, "progress": False, **settings}
    return run(program, program.prepare(data or {}), starts(chains), **settings)


def same(one, other):
    return one.keys() == other.keys() and all(np.array_equal(one[n], other[n]) for n in one)


class Backwards(Executor):
    """An executor that carries out the last of what is submitted first, a few at a time."""

    def __init__(self):
        self.waiting = []

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        self.waiting.append((future, lambda: function(*args, **kwargs)))
        if len(self.waiting) >= 3:
            for done, call in reversed(self.waiting):
                done.set_result(call())
            self.waiting = []
        return future


@pytest.fixture
def short_segments(monkeypatch):
    """Segments of one call, so that a run has many."""
    monkeypatch.setattr(workers, "SECONDS_HERE", 0.0)
    monkeypatch.setattr(workers, "SECONDS_ELSEWHERE", 0.0)


@pytest.mark.parametrize("limit", [1, 1 << 20], ids=["a draw", "many draws"])
@pytest.mark.parametrize("keep", [None, ["x"]], ids=["all", "x"])
def test_draws_do_not_depend_on_where_segments_end(short_segments, monkeypatch, limit, keep):
    whole = ran(walk(), keep=keep)
    monkeypatch.setattr(segments, "BYTES_AT_MOST", limit)
    monkeypatch.setattr(workers, "SECONDS_HERE", 10.0)
    other = ran(walk(), keep=keep)

    assert same(whole.values, other.values)
    assert [c.state for c in whole.chains] == [c.state for c in other.chains]
    assert whole.values["x"].shape == (3, 300)


def test_draws_do_not_depend_on_the_order_of_chains_nor_on_who_draws_them(short_segments):
    here = ran(walk())
    for executor in (Backwards(), ThreadPoolExecutor(2)):
        found = ran(walk(), pool=workers.Given(executor))
        assert same(found.values, here.values)
        assert same(found.rates, here.rates)


@pytest.mark.parametrize("cores", [1, 2])
def test_processes_draw_as_this_one_does(cores):
    sampler = gp.compile(rats.model())
    settings = {"draws": 30, "warmup": 20, "seed": 1, "progress": False, "backend": "numpy"}
    here = sampler.sample(**settings, cores=1)
    with ProcessPoolExecutor(cores, mp_context=pools.fresh()) as executor:
        there = sampler.sample(**settings, executor=executor)

    assert all(np.array_equal(here[n], there[n]) for n in here)


def of_dask():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    client = distributed.Client(cluster)
    yield client.get_executor()
    client.close()
    cluster.close()


def of_loky():
    loky = pytest.importorskip("loky")
    executor = loky.ProcessPoolExecutor(2)
    yield executor
    executor.shutdown(kill_workers=True)


@pytest.mark.parametrize("made", [of_dask, of_loky])
def test_executors_of_other_packages_draw_as_this_process_does(made):
    given = made()
    executor = next(given)
    sampler = gp.compile(rats.model())
    settings = {"draws": 20, "warmup": 10, "chains": 5, "seed": 1, "progress": False}
    there = sampler.sample(**settings, executor=executor)
    next(given, None)
    here = sampler.sample(**settings)

    assert all(np.array_equal(here[n], there[n]) for n in here)


FILES = Path("/proc/self/fd")


def left():
    """The files that are open, and the processes that are alive."""
    return {p.name for p in FILES.iterdir()}, {p.pid for p in multiprocessing.active_children()}


@pytest.mark.slow
@pytest.mark.skipif(not FILES.is_dir(), reason="looks at open files there")
def test_many_chains_over_few_workers_leave_nothing_behind():
    """100 chains of a small model in 8 processes: no file, process or semaphore stays."""
    with gp.Model() as model:
        x = gp.Normal("x", 0, sigma=1)
        gp.Normal("y", x, sigma=1, observed=1.0)
    sampler = gp.compile(model)
    settings = {"draws": 50, "warmup": 10, "chains": 100, "seed": 1, "progress": False}
    here = sampler.sample(**settings)
    sampler.sample(5, warmup=1, cores=2, seed=1, progress=False)  # (the tracker of resources stays)
    before = left()
    there = sampler.sample(**settings, cores=8)

    assert np.array_equal(here["x"], there["x"])
    assert left() == before


def failing(how, times=1):
    """A program whose process dies in the 50th sweep of chain 1, the first so many times."""
    once = "s['n'] += 1; tell = os.path.join(c['folder'], str(s['n']))"
    dies = f"os.open(tell + str(len(os.listdir(c['folder']))), os.O_CREAT); {how}"
    at = f"s['n'] == 50 and s['which'] == 1 and len(os.listdir(c['folder'])) < {times}"
    return walk(f"{once}\n    if {at}: {dies}")


KILLED = "os.kill(os.getpid(), signal.SIGKILL)"


def with_deaths(tmp_path, times):
    chains = starts(3)
    for number, chain in enumerate(chains):
        chain.state["which"] = number
    program, pool = failing(KILLED, times), Processes(2)
    try:
        return run(
            program, program.prepare({"folder": str(tmp_path)}), chains, draws=300, warmup=30,
            progress=False, pool=pool, keep=["x"],
        )  # fmt: skip
    finally:
        pool.executor.shutdown()


def test_a_worker_that_dies_once_changes_nothing(tmp_path):
    result = with_deaths(tmp_path, times=1)

    assert len([*tmp_path.iterdir()]) == 1
    assert result.interrupted is None
    assert same(result.values, ran(walk(), keep=["x"]).values)


def test_a_chain_whose_workers_die_is_named_and_the_others_are_kept(tmp_path, capsys):
    result = with_deaths(tmp_path, times=100)

    assert re_told(result.interrupted) == (
        "chain 1 is lost after 0 draws, because its worker has died", "chains 0, 2 are kept"
    )
    assert capsys.readouterr().err == f"gibbsppl: {result.interrupted}\n"
    expected = ran(walk(), keep=["x"]).values["x"]
    np.testing.assert_array_equal(result.values["x"], expected[[0, 2]])


def re_told(text):
    """The beginning and the end of what is told."""
    return text[: len("chain 1 is lost after 0 draws, because its worker has died")], text[-20:]


def died_at(sweeps):
    """A program whose process dies at some sweeps of chain 1, once at each."""
    once = "s['n'] += 1; mark = os.path.join(c['folder'], str(s['n']))"
    at = f"s['n'] in {sweeps} and s['which'] == 1 and not os.path.exists(mark)"
    return walk(f"{once}\n    if {at}: os.open(mark, os.O_CREAT); {KILLED}")


def test_deaths_are_counted_in_one_place(tmp_path, short_segments):
    chains = starts(2)
    for number, chain in enumerate(chains):
        chain.state["which"] = number
    program, pool = died_at((50, 120, 190, 260)), Processes(2)
    try:
        result = run(
            program, program.prepare({"folder": str(tmp_path)}), chains, draws=300, warmup=30,
            progress=False, pool=pool, keep=["x"],
        )  # fmt: skip
    finally:
        pool.close()

    assert result.interrupted is None
    assert same(result.values, ran(walk(), chains=2, keep=["x"]).values)


def test_threads_share_no_arrays_that_loops_work_in():
    """Elements that are drawn by their log densities, which loops keep hulls of in such arrays."""
    with gp.Model(coords={"i": 200}) as model:
        level = gp.Normal("level", 1, tau=gp.Gamma("tau", 1, rate=1), dims="i")
        gp.Poisson("y", gp.exp(level), dims="i", observed=np.arange(200) % 9)
    sampler = gp.compile(model)
    settings = {"draws": 200, "warmup": 50, "seed": 1, "progress": False, "backend": "compiled"}
    here = sampler.sample(**settings, cores=1)
    with ThreadPoolExecutor(4) as executor:
        there = sampler.sample(**settings, executor=executor)

    assert all(np.array_equal(here[n], there[n]) for n in here)


def test_processes_start_no_others_by_default(monkeypatch):
    monkeypatch.setattr(pools, "available", lambda: 4)
    monkeypatch.setattr(pools.multiprocessing, "parent_process", object)

    assert Wanted().processes(4, lambda: 1e6) == 1
    assert Wanted(cores=2).processes(4, lambda: 0.0) == 2


def test_an_executor_that_is_broken_ends_the_run_with_what_is_there():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()

    with pytest.raises(RunError, match=r"chain 0 is lost after 0 draws.*no draw is kept"):
        ran(walk(), pool=workers.Given(executor))


def test_what_fails_in_a_worker_is_told_as_it_is_here():
    bad = walk("s['n'] += 1; s['x'] = s['x'] if s['n'] < 50 else float('nan')")
    told = r"x: found nan in sweep 50 of chain 0, expected finite numbers"
    for pool in (None, workers.Given(ThreadPoolExecutor(1))):
        with pytest.raises(RunError, match=told):
            ran(bad, chains=1, pool=pool)


def test_a_bug_in_a_worker_is_not_hidden():
    with pytest.raises(KeyError, match="absent"):
        ran(walk("s['absent']"), pool=workers.Given(ThreadPoolExecutor(1)))


def moved(value, state, rng):
    """A kernel that moves nothing."""
    return value


def test_functions_of_the_main_program_are_refused_by_name(monkeypatch):
    with gp.Model() as model:
        gp.Normal("x", 0, sigma=1)
    sampler = gp.compile(model, kernels={"x": moved})
    monkeypatch.setattr(moved, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "moved", moved, raising=False)

    with pytest.raises(RunError, match=r"moved: found it defined in the program.*cores=1"):
        sampler.sample(5, warmup=1, chains=2, cores=2, seed=1, progress=False)


def test_processes_are_used_by_default_where_there_is_work_for_them(monkeypatch, capsys):
    monkeypatch.setattr(pools, "available", lambda: 4)

    every = (0.1, pools.STARTING, 100.0, float("nan"))
    found = [Wanted().processes(4, lambda s=s: s) for s in every]
    assert found == [1, 1, 4, 1]
    assert Wanted().processes(1, lambda: 1e6) == 1
    assert Wanted(cores=3).processes(2, lambda: 0.0) == 2
    with pools.pool_of(Wanted(), 2, lambda: 100.0) as pool:
        assert pool.executor._max_workers == 2
    assert capsys.readouterr().err == (
        "gibbsppl: 2 chains in 2 processes, for about 1.0e+11 operations (cores=1 for none).\n"
    )


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"cores": 0}, "cores: found 0, expected a whole number from 1"),
        ({"cores": 2, "executor": ThreadPoolExecutor(1)}, "cores: found 2 with executor="),
        ({"executor": 3}, "found executor=3, expected an executor of concurrent.futures"),
    ],
)
def test_settings_that_make_no_workers_are_refused(settings, told):
    with gp.Model() as model:
        gp.Normal("x", 0, sigma=1)
    with pytest.raises(RunError, match=told):
        gp.compile(model).sample(5, **settings)


PROGRAM = """
import sys, threading, time, os, signal
import gibbsppl as gp
print("main program")
with gp.Model() as model:
    x = gp.Normal("x", 0, sigma=1)
    gp.Normal("y", x, sigma=1, observed=1.0)
sampler = gp.compile(model)
if "stop" in sys.argv:
    threading.Timer(6.0, os.kill, (os.getpid(), signal.SIGINT)).start()
draws = sampler.sample(int(sys.argv[1]), cores=2, seed=1, chains=2, backend="numpy", keep=["x"])
print(draws["x"].shape[0], 0 < draws["x"].shape[1], draws.interrupted)
"""


def test_a_program_without_a_guard_is_run_once(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py", "50"], cwd=tmp_path, capture_output=True, text=True,
        check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip

    assert done.stdout.splitlines() == ["main program", "2 True None"]


@pytest.mark.slow
def test_ctrl_c_stops_all_processes_and_keeps_what_each_has_drawn(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py", "100000000", "stop"], cwd=tmp_path, capture_output=True,
        text=True, check=True, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )  # fmt: skip

    last = done.stdout.splitlines()[-1]
    assert last.startswith("2 True stopped by the user; the first ")
    assert "Traceback" not in done.stderr
