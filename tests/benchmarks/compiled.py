"""Compiled sweeps beside other programs and beside loops written by hand.

    python tests/benchmarks/compiled.py [workload] ...     # all of them without a name
    python tests/benchmarks/compiled.py --list
    python tests/benchmarks/compiled.py netflix            # 100 million ratings: 6 GB, ten minutes

A row of a Markdown table for each measurement: what ours takes and what the peer takes (medians of
CPU seconds of a sweep, or of effective draws per CPU second), the ratio, the target, the verdict.
Both take turns in one run; the ratio is the median over the turns. The peers are programs of their
own (JAGS on the PATH; ``pip install smurff myfm poismf tomotopy``): where one is missing the row
says so. ``worth`` prints what loops save beside the estimate by which ``backend="auto"`` chooses,
as lines of numbers.
"""

# Threads and paths are set before what reads them is imported.
# ruff: noqa: E402

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

import effective_draws
import gates_by_hand
import ising_by_hand
import jags
import large_models
import loops_by_hand
import markov_by_hand
import netflix as netflix_shape
import peers
import startup
from side_by_side import (
    HEADER,
    TURNS,
    Row,
    beside,
    by_hand,
    in_loops,
    in_numpy,
    missing,
    warmed,
)

import gibbsppl as gp
from gibbsppl.code.costs import worth_of
from gibbsppl.code.lowering import scans
from gibbsppl.code.lowering.buckets import are_worth_it
from gibbsppl.errors import NotLoweredError
from models import spike_and_slab

# ---- small models beside JAGS --------------------------------------------------------------------

LEAST = {"asia": 1, "one-way normal, 10,000 groups": 1, "seeds": 1}


def small(name):
    """Effective draws per CPU second, without start-up."""
    if not jags.present():
        yield missing(name, "JAGS", jags.MISSING)
        return
    settings = effective_draws.SMALL[name]().settings
    told = ", ".join(f"{n}={x}" for n, x in settings.items())
    title = f"{name} ({told})" if told else name
    found = tuple(effective_draws.turns(name, 3))
    yield Row(title, "JAGS, ESS", found, least=LEAST.get(name, 15), is_rate=True)


def seeds():
    """A sweep beside one in NumPy."""
    yield from small("seeds")
    model = effective_draws.SMALL["seeds"]().model
    parts = in_loops(model), in_numpy(model)
    yield beside("seeds", "NumPy, sweep", *parts, counts=(2000, 40), least=20)


# ---- large models beside their peers -------------------------------------------------------------


def factorisation():
    """Bayesian matrix factorisation of 900,000 ratings."""
    found = large_models.ratings()
    for factors in (10, 32):
        name, model = f"BPMF, K = {factors}", large_models.factorisation(found, factors)
        try:
            theirs = warmed(peers.smurff(found, (6040, 3706), factors), 2)
        except ImportError as error:
            yield missing(name, "smurff", error)
            continue
        for settings, told in (({"blocks": False}, "blocks=False"), ({}, "by default")):
            ours = in_loops(model, **settings)
            yield beside(f"{name}, {told}", "smurff", ours, theirs, counts=(3, 3), least=3)
        ours, title = in_numpy(model, blocks=False), f"{name}, in NumPy, blocks=False"
        yield beside(title, "smurff", ours, theirs, counts=(2, 3), least=1.2)


def machine():
    """A factorisation machine of two ids."""
    found = large_models.features()
    for factors in (10, 32):
        name, model = f"factorisation machine, K = {factors}", large_models.ids(found, factors)
        ours = in_loops(model)
        try:
            theirs = peers.myfm(found, factors)
            yield beside(name, "myfm", ours, theirs, counts=(20, 8), least=3)
        except ImportError as error:
            yield missing(name, "myfm", error)


def poisson():
    """Poisson factorisation of a million counts."""
    found = large_models.counts()
    for factors in (20, 50):
        name = f"Poisson factorisation, K = {factors}"
        ours = in_loops(large_models.sparse_counts(found, factors))
        try:
            theirs = peers.poismf(found, large_models.COUNTS, factors)
            yield beside(name, "poismf", ours, theirs, counts=(2, 4), turns=3, least=6)
        except ImportError as error:
            yield missing(name, "poismf", error)


def labels_of_topics():
    """Topics, nothing integrated out: all labels at once."""
    model = large_models.topics(20)
    parts = in_loops(model), in_numpy(model)
    yield beside("topics, K = 20, by labels", "NumPy, sweep", *parts, counts=(10, 10), least=1)


def topics(sweeps=60):
    """Topics, all but labels integrated out, both after as many sweeps."""
    for number, least in ((20, 1.2), (100, 1.0)):
        name, model = f"topics, K = {number}", large_models.topics(number)
        settings = {"collapse": ("theta", "phi"), "warmup": sweeps}
        try:
            ours = in_loops(model, **settings)
        except NotLoweredError:
            ours, name = in_numpy(model, **settings), f"{name}, scan compiled alone"
        try:
            theirs = warmed(peers.tomotopy(large_models.lda.reuters(), number), sweeps)
            yield beside(name, "tomotopy", ours, theirs, counts=(10, 10), least=least)
        except ImportError as error:
            yield missing(name, "tomotopy", error)


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
        if number == 100:  # (which `topics` has)
            continue
        try:
            theirs = warmed(peers.tomotopy(large_models.lda.reuters(), number), sweeps)
            yield beside(name, "tomotopy", ours, theirs, counts=(5, 5), least=1)
        except ImportError as error:
            yield missing(name, "tomotopy", error)


def is_other_way(buckets, size):
    """Whether labels are drawn by buckets: where they would not be."""
    return not are_worth_it(buckets, size)


# ---- beside loops written by hand ----------------------------------------------------------------


def mixtures():
    """Mixtures of 100,000 points."""
    rng = np.random.default_rng(1)
    for labels in (5, 10):
        y = large_models.numbers(components=labels)
        start = np.full(labels, 1 / labels), 5.0 * np.arange(labels) + 0.1, np.ones(labels)
        hand = by_hand(loops_by_hand.mixture, rng, y, *start, np.zeros(len(y), np.int64))
        ours = in_loops(large_models.mixture(y, labels), warmup=20)
        yield beside(f"mixture of numbers, K = {labels}", "by hand", ours, hand, most=1.5)
    y, centres = large_models.pairs()
    start = np.full(10, 0.1), centres.copy(), np.tile(np.eye(2), (10, 1, 1))
    parts = rng, np.ascontiguousarray(y.T), (10.0, 0.1, 10.0, 0.5), start
    hand = by_hand(loops_by_hand.mixture_of_pairs, *parts, np.zeros(len(y), np.int64))
    ours = in_loops(large_models.mixture_of_pairs(y, 10), warmup=20)
    yield beside("mixture of pairs, K = 10", "by hand", ours, hand, most=1.5)


def markov(states=5):
    """A hidden Markov chain of 100,000 positions."""
    counts, rng = large_models.chain(states=states), np.random.default_rng(1)
    start = markov_by_hand.start(rng, markov_by_hand.prepare(counts, states))
    labels = np.zeros(len(counts), np.int64)
    parts = rng, counts.astype(float), start["rate"], start["P"], labels
    hand = by_hand(loops_by_hand.markov, *parts)
    ours = in_loops(large_models.markov(counts, states), warmup=10)
    yield beside(f"hidden Markov, K = {states}", "by hand", ours, hand, most=1.5)


def ising(size=512, coupling=0.3):
    """Spins on a square: beside a uniform number for each, and 16 bits of a hash."""
    rng = np.random.default_rng(1)
    ours = in_loops(large_models.spins(size, coupling))
    up = rng.integers(0, 2, (size, size)).astype(np.uint8)
    chances = 1 / (1 + np.exp(-2 * coupling * (2 * np.arange(5) - 4)))
    hand = by_hand(loops_by_hand.spins, rng, up, chances)
    yield beside("Ising", "by hand, uniform numbers", ours, hand, most=1.5)
    quarters = rng.integers(0, 2, (2, 2, size // 2, size // 2)).astype(np.uint8)
    parts = rng.integers(0, 2**63, 1).astype(np.uint64), quarters
    hand = by_hand(loops_by_hand.spins_of_bits, *parts, ising_by_hand.thresholds(coupling))
    yield beside("Ising", "by hand, 16 bits", ours, hand, counts=(5, 50), most=1.5)


def gates():
    """Spike and slab regressions: more columns than rows, and fewer."""
    for rows, columns in ((200, 500), (442, 10), (2000, 50)):
        x, y = gates_by_hand.data(rows, columns)
        state = np.zeros(columns + 1), np.zeros(columns), np.ones(1)
        parts = gates_by_hand.prepare(x, y), (0.05, 4.0, 0.01, 0.01), state
        hand = by_hand(gates_by_hand.sweep, np.random.default_rng(1), *parts)
        names = [f"x{j}" for j in range(columns)]
        model = spike_and_slab.model(x=x, y=y, columns=names, inclusion=0.05)
        title, ours = f"gates, {rows} x {columns}", in_loops(model, warmup=200)
        yield beside(title, "by hand", ours, hand, counts=(200, 200), most=1.5)
        array = in_numpy(model, warmup=20)
        yield beside(title, "NumPy, sweep", ours, array, counts=(200, 20), least=1)


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


def rats_5000():
    """5,000 rats on 20 days."""
    yield from small("rats 5000 x 20")


# ---- what loops are worth ------------------------------------------------------------------------

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
    small_ones = {n: make() for n, make in effective_draws.SMALL.items() if "000" not in n}
    models = {n: (x.model, x.settings) for n, x in small_ones.items()}
    models |= {n: (make(), {}) for n, make in LARGE.items()}
    for name, (model, settings) in models.items():
        sides = in_numpy(model, **settings), in_loops(model, **settings)
        array, loops = (min(side(20) for _ in range(TURNS)) * 1e6 for side in sides)
        program = gp.compile(model, **settings).loops()
        found = worth_of(program.sweep_value, program.known_sizes).saved * 1e6
        saved = array - loops
        yield f'"{name}",{array:.1f},{loops:.2f},{saved:.1f},{found:.1f},{found / saved:.2f}'


WORKLOADS = {
    **{name: partial(small, name) for name in effective_draws.SMALL if name != "rats 5000 x 20"},
    "seeds": seeds,
    "start-up": startup.rows,
    "factorisation": factorisation,
    "machine": machine,
    "poisson": poisson,
    "topics": topics,
    "many topics": many_topics,
    "labels of topics": labels_of_topics,
    "mixtures": mixtures,
    "markov": markov,
    "ising": ising,
    "gates": gates,
    "mixed": mixed,
    "rats 5000 x 20": rats_5000,
    "netflix": netflix,
    "worth": worth,
}
# What is measured where it is asked for by name alone; and what prints lines of numbers.
ASKED_FOR, IN_LINES = ("netflix", "worth"), ("worth",)


def main(*names):
    """Print a table of the workloads asked for."""
    if names == ("--list",):
        print("\n".join(WORKLOADS))
        return
    if not names or names[0] not in IN_LINES:
        print(HEADER)
    for name in names or (n for n in WORKLOADS if n not in ASKED_FOR):
        for row in WORKLOADS[name]():
            print(row, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
