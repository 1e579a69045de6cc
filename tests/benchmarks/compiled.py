"""Compiled sweeps beside those in NumPy, one scan beside another, a whole start, and large sizes.

    python tests/benchmarks/compiled.py [part] ...         # all of them without a name
    python tests/benchmarks/compiled.py --list
    python tests/benchmarks/compiled.py netflix            # 100 million ratings: 6 GB, ten minutes

A row of a Markdown table for each measurement: what ours takes and what the peer takes (medians of
CPU seconds of a sweep, or of effective draws per CPU second), the ratio, the target, the verdict.
Both take turns in one run; the ratio is the median over the turns. Other programs, and sweeps that
are written by hand, are compared by ``python -m tests.benchmarks``. ``worth`` prints what loops
save beside the estimate by which ``backend="auto"`` chooses, as lines of numbers.
"""

# Threads and paths are set before what reads them is imported.
# ruff: noqa: E402

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
from pathlib import Path
from unittest import mock

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent), str(HERE)]

import gates_by_hand
import large_models
import netflix as netflix_shape
import startup
from side_by_side import (
    HEADER,
    TURNS,
    Row,
    beside,
    in_loops,
    in_numpy,
    missing,
)
from workloads import WORKLOADS

import gibbsppl as gp
from gibbsppl.code.costs import worth_of
from gibbsppl.code.lowering import scans
from gibbsppl.code.lowering.buckets import are_worth_it
from models import spike_and_slab

# ---- one way beside another ----------------------------------------------------------------------


def labels_of_topics():
    """Topics, nothing integrated out: all labels at once."""
    model = large_models.topics(20)
    parts = in_loops(model), in_numpy(model)
    yield beside("topics, K = 20, by labels", "NumPy, sweep", *parts, counts=(10, 10), least=1)


def many_topics(sweeps=60):
    """The scan that is chosen for so many topics, beside the other one and another program."""
    settings = {"collapse": ("theta", "phi"), "warmup": sweeps}
    for number in (100, 200, 500, 1000, 2000):
        name, model = f"topics, K = {number}", large_models.topics(number)
        ours = in_loops(model, **settings)
        with mock.patch.object(scans, "are_worth_it", is_other_way):
            other = in_loops(model, **settings)
        # (where both take as long, neither is a wrong choice)
        yield beside(name, "the other scan", ours, other, counts=(5, 5), least=0.9)


def is_other_way(buckets, size):
    """Whether labels are drawn by buckets: where they would not be."""
    return not are_worth_it(buckets, size)


def seeds():
    """A sweep with Polya-Gamma variables beside one in NumPy."""
    model = of_case("seeds_1")
    parts = in_loops(model), in_numpy(model)
    yield beside("seeds", "NumPy, sweep", *parts, counts=(2000, 40), least=20)


def gates():
    """Spike and slab regressions beside NumPy: more columns than rows, and fewer."""
    for rows, columns in ((200, 500), (442, 10), (2000, 50)):
        x, y = gates_by_hand.data(rows, columns)
        names = [f"x{j}" for j in range(columns)]
        model = spike_and_slab.model(x=x, y=y, columns=names, inclusion=0.05)
        parts = in_loops(model, warmup=200), in_numpy(model, warmup=20)
        title = f"gates, {rows} x {columns}"
        yield beside(title, "NumPy, sweep", *parts, counts=(200, 20), least=1)


def of_case(name):
    """An example of BUGS, as it is measured."""
    row = WORKLOADS[name]
    return row.model(row.data())


# ---- large hierarchies ---------------------------------------------------------------------------


def mixed(sweeps=200, due=15_000):
    """425,112 observations of 20,426 groups: 15,000 sweeps, of 200."""
    try:
        seconds = in_loops(large_models.mixed())(sweeps) * due
    except MemoryError as error:
        yield missing("mixed model, 425,112 observations", "15,000 sweeps", str(error))
        return
    yield Row("mixed model, 425,112 observations", "a minute", ((seconds, 60.0),), most=1)


def netflix():
    """Ratings in the shape of Netflix's, and what it takes; when asked for, as it takes long."""
    seconds, peak, errors = netflix_shape.measured()
    title = "BPMF of Netflix's shape, K = 30, dtype=float32, blocks=False"
    yield Row(title, "20 CPU s a sweep", tuple((s, 20.0) for s in seconds), most=1)
    yield f"| peak of the same | 6 GB | {peak:.2f} GB | | {peak / 6:.2f} | ≤ 1 | |"
    told = ", ".join(f"{e:.4f}" for e in errors)
    yield f"| errors of the same, sweep by sweep | falling | {told} | | | | |"


# ---- what loops are worth ------------------------------------------------------------------------

SMALL = ("rats_1", "pump_1", "dyes_1", "line_1", "asia_1", "seeds_1")
LARGE = {
    "mixture of pairs, K = 10": lambda: large_models.mixture_of_pairs(
        large_models.pairs(20_000)[0], 10
    ),
    "hidden Markov, K = 5": lambda: large_models.markov(large_models.chain(20_000), 5),
    "Ising, 128 x 128": lambda: large_models.spins(128),
}


def worth():
    """Microseconds of a sweep: what loops save, as it is estimated and as it is measured."""
    yield "model,NumPy,loops,saved,estimated,ratio"
    models = {name: (of_case(name), {}) for name in SMALL}
    models |= {n: (make(), {}) for n, make in LARGE.items()}
    for name, (model, settings) in models.items():
        sides = in_numpy(model, **settings), in_loops(model, **settings)
        array, loops = (min(side(20) for _ in range(TURNS)) * 1e6 for side in sides)
        program = gp.compile(model, **settings).loops()
        found = worth_of(program.sweep_value, program.known_sizes).saved * 1e6
        saved = array - loops
        yield f'"{name}",{array:.1f},{loops:.2f},{saved:.1f},{found:.1f},{found / saved:.2f}'


PARTS = {
    "seeds": seeds,
    "start-up": startup.rows,
    "many topics": many_topics,
    "labels of topics": labels_of_topics,
    "gates": gates,
    "mixed": mixed,
    "netflix": netflix,
    "worth": worth,
}
# What is measured where it is asked for by name alone; and what prints lines of numbers.
ASKED_FOR, IN_LINES = ("netflix", "worth"), ("worth",)


def main(*names):
    """Print a table of the workloads asked for."""
    if names == ("--list",):
        print("\n".join(PARTS))
        return
    if not names or names[0] not in IN_LINES:
        print(HEADER)
    for name in names or (n for n in PARTS if n not in ASKED_FOR):
        for row in PARTS[name]():
            print(row, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
