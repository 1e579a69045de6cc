"""Generated sweeps and a cold start, beside the same work written by hand: ratios of CPU time.

    python tests/benchmarks/run.py [sweeps] [cold] [memory] [peers]

Both sides run in one process (cold start: one after the other, each in a fresh process), taking
turns; a ratio is the median over the turns. Machines differ, the ratios less: quote only them.
Peers are other programs, if they are installed (``pip install poismf``); only on request.
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
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT), str(HERE)]

import counts_by_hand
import factorisation_by_hand
import ising_by_hand
import lda_by_hand
import markov_by_hand
import rats_by_hand
import regression_by_hand

import gibbsppl as gp
from gibbsppl.initial.search import initial_state
from models import hidden_markov, ising, lda, linear_regression, matrix_factorisation, rats

TURNS = 9
TURN_SECONDS = 0.15


@dataclass(frozen=True, slots=True)
class Result:
    """CPU seconds of both sides, turn by turn."""

    name: str
    hand: tuple[float, ...]
    ours: tuple[float, ...]

    @property
    def ratio(self):
        """Ours over the one by hand."""
        return statistics.median(o / h for o, h in zip(self.ours, self.hand, strict=True))

    def __str__(self):
        hand, ours = (statistics.median(side) * 1e6 for side in (self.hand, self.ours))
        return f"{self.name:44}{hand:12.1f}{ours:12.1f}{self.ratio:8.2f}"


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


def rats_pair():
    """The 30 rats."""
    constants = rats_by_hand.prepare(rats.RATS["weights"], rats.RATS["days"])
    return by_hand(rats_by_hand, constants), generated(rats.model())


def lda_pair():
    """The topics of Reuters."""
    corpus = lda.reuters()
    constants = lda_by_hand.prepare(*corpus, 20)
    return by_hand(lda_by_hand, constants), generated(lda.model(corpus=corpus, topics=20))


def regression_pair(rows=442, columns=10):
    """A regression on standardised columns."""
    rng = np.random.default_rng(2)
    x = rng.standard_normal((rows, columns))
    x -= x.mean(axis=0)
    y = x @ rng.standard_normal(columns) + rng.standard_normal(rows)
    model = linear_regression.model(x=x, y=y, columns=[f"x{j}" for j in range(columns)])
    return by_hand(regression_by_hand, regression_by_hand.prepare(x, y)), generated(model)


def factorisation_pair(shape=(43, 11), ratings=430, factors=2):
    """A factorisation of random ratings; each row and each column has one at least."""
    rng = np.random.default_rng(3)
    cells = rng.choice(shape[0] * shape[1], size=ratings, replace=False)
    left, right = np.divmod(cells, shape[1])
    left[: shape[0]], right[-shape[1] :] = np.arange(shape[0]), np.arange(shape[1])
    value = 7.6 + rng.standard_normal(ratings)
    model = matrix_factorisation.model(
        ratings=(left, right, value), names=tuple(map(range, shape)), factors=factors
    )
    constants = factorisation_by_hand.prepare(left, right, value, shape, 7.6)
    return by_hand(factorisation_by_hand, constants, factors), generated(model)


def counts_model(cells, shape, factors):
    """A factorisation of counts of which most are zero, observed as a sparse array."""
    user, item, count = cells
    table = coo_array((count, (user, item)), shape=shape)
    coords = {"user": range(shape[0]), "item": range(shape[1]), "factor": range(factors)}
    with gp.Model(coords=coords, name="counts") as model:
        theta = gp.Gamma("theta", 0.3, rate=1.0, dims=("user", "factor"))
        phi = gp.Gamma("phi", 0.3, rate=1.0, dims=("item", "factor"))
        rate = gp.sum(theta * phi, "factor")
        gp.Poisson("y", rate, dims=("user", "item"), observed=table)
    return model


def counts_pair(shape=(6000, 4000), cells=1_000_000, factors=20):
    """Poisson factorisation of random sparse counts."""
    found = counts_by_hand.data(*shape, cells)
    constants = counts_by_hand.prepare(*found, shape, factors)
    return by_hand(counts_by_hand, constants), generated(counts_model(found, shape, factors))


def ising_pair(size=512, coupling=0.4):
    """The Ising model on a square lattice whose ends meet."""
    rng = np.random.default_rng(1)
    spins, bounds = ising_by_hand.start(rng, size), ising_by_hand.thresholds(coupling)
    model = ising.model(size, size, coupling)
    return lambda: ising_by_hand.sweep(rng, spins, bounds), generated(model)


def markov_pair(positions=5000, states=4):
    """A hidden Markov model of made-up counts."""
    counts = markov_by_hand.made_up(positions, states)
    model = hidden_markov.model(counts=counts, states=states)
    return by_hand(markov_by_hand, markov_by_hand.prepare(counts, states)), generated(model)


SWEEPS = {
    "rats, 30 x 5": rats_pair,
    "regression, 442 x 10": regression_pair,
    "regression, 10,000 x 50": lambda: regression_pair(10_000, 50),
    "factorisation, 43 x 11, 2 factors": factorisation_pair,
    "factorisation, 2,000 x 1,000, 60,000, 10": lambda: factorisation_pair(
        (2000, 1000), 60_000, 10
    ),
    "LDA, Reuters, 20 topics": lda_pair,
    "poisson factorisation 1M": counts_pair,
    "Ising, 512 x 512": ising_pair,
    "hidden Markov, 5,000 x 4": markov_pair,
    "hidden Markov, 100 x 2": lambda: markov_pair(100, 2),
}


def cpu_time(sweep, repeats):
    """CPU seconds of one sweep."""
    start = time.process_time()
    for _ in range(repeats):
        sweep()
    return (time.process_time() - start) / repeats


def compare(name, pair, turns=TURNS, turn_seconds=TURN_SECONDS):
    """Both sides, turn about."""
    sides = pair()
    repeats = [max(1, round(turn_seconds / max(cpu_time(s, 3), 1e-6))) for s in sides]
    times = [[cpu_time(s, n) for s, n in zip(sides, repeats, strict=True)] for _ in range(turns)]
    return Result(name, *zip(*times, strict=True))


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
        sides = by_hand(counts_by_hand, constants), generated(counts_model(found, shape, number))
        for sweep in sides:
            sweep()
        hand, ours = (peak_of(sweep) / count for sweep in sides)
        yield f"{f'{count:,} of 6,000 x 4,000, {number}':44}{hand:12.0f}{ours:12.0f}"


def poismf_against_ours(shape=(6000, 4000), cells=1_000_000, factors=20, turns=5):
    """CPU seconds of one iteration of each method of poismf, and of one sweep."""
    from poismf import PoisMF
    from scipy.sparse import coo_matrix

    user, item, count = counts_by_hand.data(*shape, cells)
    table = coo_matrix((count.astype(float), (user, item)), shape=shape)

    def fitted(method, iterations):
        start = time.process_time()
        settings = {"niter": iterations, "nthreads": 1, "early_stop": False, "reindex": False}
        PoisMF(k=factors, method=method, **settings).fit(table)
        return time.process_time() - start

    sweep = generated(counts_model((user, item, count), shape, factors))
    cpu_time(sweep, 1)
    for method in ("pg", "tncg", "cg"):
        # (the difference leaves out what poismf does once)
        pairs = [
            ((fitted(method, 5) - fitted(method, 2)) / 3, cpu_time(sweep, 3)) for _ in range(turns)
        ]
        theirs, ours = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = statistics.median(t / o for t, o in pairs)
        yield f"{f'poismf, {method}':44}{theirs:12.3f}{ours:12.3f}{ratio:8.2f}"


def main(*parts):
    """Print the tables asked for; all but the peers unless named."""
    if not parts or "sweeps" in parts:
        print(f"{'one sweep, CPU microseconds':44}{'by hand':>12}{'generated':>12}{'ratio':>8}")
        for name, pair in SWEEPS.items():
            print(compare(name, pair), flush=True)
    if not parts or "cold" in parts:
        print("\nrats from a cold start, 4 x (500 + 1,000) sweeps, CPU seconds")
        for line in cold_start():
            print(line, flush=True)
    if not parts or "memory" in parts:
        print(f"\n{'peak of a sweep, bytes a count':44}{'by hand':>12}{'generated':>12}")
        for line in memory():
            print(line, flush=True)
    if "peers" in parts:
        print("\npoisson factorisation 1M: CPU seconds of an iteration, of a sweep, ratio")
        for line in poismf_against_ours():
            print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
