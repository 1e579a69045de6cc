"""A cold start, and the memory of a sweep, beside the same work written by hand.

    python tests/benchmarks/run.py [cold] [memory]

Programs run one after the other, each in a fresh process, taking turns; a ratio is the median over
the turns. Machines differ, the ratios less: quote only them. Sweeps beside those by hand are rows
of ``hand_rows.py``.
"""

# Threads and paths are set before what reads them is imported.
# ruff: noqa: E402

import itertools
import os

# One thread: CPU time is what is compared. (NumPy reads this when it is imported.)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import resource
import statistics
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

import counts_by_hand
import large_models

import gibbsppl as gp
from gibbsppl.initial.search import initial_state


def by_hand(module, constants, *size):
    """One sweep of a hand-written sampler, as a function without arguments."""
    rng = np.random.default_rng(1)
    state = module.start(rng, constants, *size)
    return lambda: module.sweep(rng, state, constants)


def generated(model):
    """One sweep of the generated sampler, as a function without arguments."""
    rng = np.random.default_rng(1)
    sampler = gp.compile(model)
    state, _ = initial_state(rng, model.graph, model.data)
    return lambda: sampler.program.sweep(rng, state, sampler.constants)


IMPORTS = "import numpy, sympy, networkx, scipy"
PROGRAMS = {
    "bare imports": ("-c", IMPORTS),
    "bare NumPy": ("-c", "import numpy"),
    "by hand": (str(HERE / "rats_by_hand.py"),),
    "by gibbsppl": (str(HERE / "rats_by_gibbsppl.py"),),
    "gibbsppl run": (
        *("-m", "gibbsppl", "run", str(ROOT / "models" / "rats.py")),
        *("--draws", "1000", "--warmup", "500", "--chains", "4", "--seed", "1"),
    ),
}
# The same again, with what was derived read from the disk.
KEPT = "by gibbsppl, derived before", "gibbsppl run, derived before"
PROGRAMS |= {name: PROGRAMS[name.partition(",")[0]] for name in KEPT}


def process_time(arguments, kept="off"):
    """CPU seconds, user and system, of a fresh process; ``kept`` is where derivations are."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments], check=True, cwd=ROOT, stdout=subprocess.DEVNULL,
        env={**os.environ, "GIBBSPPL_CACHE": kept},
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cold_start(turns=5):
    """Rats from nothing to a summary of 4 x 1,000 draws: the table's lines."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {name: folder if name in KEPT else "off" for name in PROGRAMS}

        def turn():
            return {name: process_time(a, kept[name]) for name, a in PROGRAMS.items()}

        turn()  # (compiled files and the disk's cache are warm for all)
        times = [turn() for _ in range(turns)]
    median = {name: statistics.median(t[name] for t in times) for name in PROGRAMS}
    yield from (f"{name:44}{seconds:12.2f} s" for name, seconds in median.items())
    for name in ("by gibbsppl", "gibbsppl run", *KEPT):
        ratio = statistics.median((t[name] - t["bare imports"]) / t["by hand"] for t in times)
        yield f"{f'({name} - bare imports) / by hand':56}{ratio:5.2f}"


def peak_of(function):
    """The most bytes held at once while a function runs, above those held before."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def memory(shape=(6000, 4000), factors=(20, 50), cells=(500_000, 1_000_000)):
    """Bytes at the peak of a sweep of sparse counts, for each that is not zero."""
    for number, count in itertools.product(factors, cells):
        found = counts_by_hand.data(*shape, count)
        constants = counts_by_hand.prepare(*found, shape, number)
        model = large_models.sparse_counts(found, number, shape)
        sides = by_hand(counts_by_hand, constants), generated(model)
        for sweep in sides:
            sweep()
        hand, ours = (peak_of(sweep) / count for sweep in sides)
        yield f"{f'{count:,} of 6,000 x 4,000, {number}':44}{hand:12.0f}{ours:12.0f}"


def main(*parts):
    """Print the tables asked for."""
    if not parts or "cold" in parts:
        print("rats from a cold start, 4 x (500 + 1,000) sweeps, CPU seconds")
        for line in cold_start():
            print(line, flush=True)
    if not parts or "memory" in parts:
        print(f"\n{'peak of a sweep, bytes a count':44}{'by hand':>12}{'generated':>12}")
        for line in memory():
            print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
