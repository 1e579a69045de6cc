"""What a runner adds to the time of sweeps: little in one process, and two take half as long."""

from concurrent.futures import ProcessPoolExecutor
from time import perf_counter, process_time

import numpy as np
import pytest

from gibbsppl.checkpoints.arrays import OnDisk
from gibbsppl.checkpoints.folders import Checkpoints, new_folder
from gibbsppl.checkpoints.identity import Identity
from gibbsppl.code.program import load
from gibbsppl.run.beginning import Size, beginning, start_of
from gibbsppl.run.chains import Chain, streams
from gibbsppl.run.engines import Interpreted
from gibbsppl.run.pools import Given
from gibbsppl.run.ready import Ready, Records
from gibbsppl.run.sampling import carried_out
from gibbsppl.run.shown import Shown
from gibbsppl.run.stores import InMemory

# A sweep of one millisecond, of as many variables as the model of rats has.
SWEEP = """
import time
from gibbsppl import runtime
def prepare(data): return dict(data)
def x_given_rest(s, c): return 0.9 * s["x"], 1.0
def sweep(rng, s, c):
    WAIT
    s["x"] = rng.normal(size=30)
def deterministics(s, c): return {}
STEPS = tuple(runtime.Step(n, (n,), x_given_rest) for n in ("x", "a", "b", "c", "d", "e"))
"""
BUSY = "ends = time.process_time() + 0.001\n    while time.process_time() < ends: pass"
STATE = {"x": np.zeros(30), "a": np.zeros(30), **dict.fromkeys("bcde", 0.0)}


def ready(wait, chains):
    program = load(SWEEP.replace("WAIT", wait))
    own = [Chain(dict(STATE), rng) for rng in streams(1, chains)]
    return Ready(program, {}, own, Interpreted(program, {}), {}, Records())


@pytest.mark.slow
def test_a_sweep_of_a_millisecond_is_twenty_times_what_the_runner_takes(tmp_path):
    """With random streams, draws on the disk, progress, checkpoints each 10 s; in CPU time."""
    begun, size = beginning(ready(BUSY, 2), Size(11_000, 1_000), None), (2, 11_000)
    with new_folder(tmp_path / "run", Identity("", "", {}, "", {}), None, None) as folder:
        store = OnDisk(folder, size)
        keeper = Checkpoints(folder, store, 10.0)
        began = process_time()
        carried_out(begun, start_of(ready(BUSY, 2).chains), store, shown=Shown(), keeper=keeper)
        taken = process_time() - began
        store.close()
    assert taken < 1.05 * 2 * 12_000 * 0.001


@pytest.mark.slow
def test_two_processes_take_little_more_than_half_as_long_as_one():
    """Sweeps that wait: what is measured is how chains are shared out, whatever else runs here."""
    begun = beginning(ready("time.sleep(0.001)", 4), Size(900, 100), None)

    def seconds(pool):
        began = perf_counter()
        store, chains = InMemory((4, 900)), ready("pass", 4).chains
        carried_out(begun, start_of(chains), store, pool=pool, shown=Shown(progress=False))
        return perf_counter() - began

    with ProcessPoolExecutor(2) as executor:
        list(executor.map(abs, range(4)))  # (processes are there)
        two = seconds(Given(executor))
    assert two < 0.6 * seconds(None)
