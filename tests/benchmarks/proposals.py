"""Proposals about the mode in batches, as compiled, beside batches by hand.

    python tests/benchmarks/proposals.py

A logit of n rows and p columns: CPU microseconds of a sweep, medians of turns, and how many times
as fast batches by hand are as gibbsppl's sweep (the median over the turns).
"""

import statistics
import sys
from pathlib import Path
from time import process_time

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

import proposals_by_hand as by_hand  # noqa: E402
from side_by_side import started  # noqa: E402

import gibbsppl as gp  # noqa: E402
from gibbsppl.runtime.moves import freeze  # noqa: E402

TURNS = 7
SIZES = ((1000, 10, 20_000), (50_000, 50, 320))
WAYS = {
    "8, loops": (8, False),
    "32, loops": (32, False),
    "32, product": (32, True),
    "128, product": (128, True),
}


def data_of(n, p):
    """A design, and outcomes of a truth."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, p))
    truth = rng.normal(size=p) / np.sqrt(p)
    return x, (rng.random(n) < 1 / (1 + np.exp(-(x @ truth)))).astype(float)


def compiled(x, y):
    """gibbsppl's compiled sweeps: a function of how many, CPU seconds of one."""
    with gp.Model(coords={"i": x.shape[0], "k": x.shape[1]}) as model:
        design = gp.Data("design", x, dims=("i", "k"))
        beta = gp.Normal("beta", 0, tau=1, dims="k")
        gp.Bernoulli("y", gp.expit(design @ beta), dims="i", observed=y.astype(int))
    sampler, rng, state = started(model, blocks={"beta": "proposed"})
    freeze(state)
    loops = sampler.loops(keep=())
    arguments = loops.arguments(rng, loops.arrays_of(state), ())
    runner = loops.compiled()
    runner.sweep(arguments, 100)

    def seconds(count):
        start = process_time()
        runner.sweep(arguments, count)
        return (process_time() - start) / count

    return seconds


def main():
    """Print a row for each size."""
    print(f"| logit | gibbsppl | {' | '.join(WAYS)} | {' | '.join(WAYS)} |")
    print(f"|---|{'---:|' * (1 + 2 * len(WAYS))}")
    for n, p, sweeps in SIZES:
        x, y = data_of(n, p)
        ours, prepared = compiled(x, y), by_hand.prepare(x, y)
        turns = []
        for turn in range(-1, TURNS):
            rng = np.random.default_rng(turn + 1)
            found = [ours(sweeps)]
            for batch, by_product in WAYS.values():
                run = by_hand.run(rng, prepared, sweeps, batch, by_product=by_product)
                found.append(run[-1])
            turns += [found] if turn >= 0 else []  # (the first one compiles)
        times = [1e6 * statistics.median(side) for side in zip(*turns, strict=True)]
        ratios = [statistics.median(t[0] / t[j] for t in turns) for j in range(1, len(times))]
        told = [*(f"{t:,.1f}" for t in times), *(f"{r:.2f}" for r in ratios)]
        print(f"| {n:,} x {p} | {' | '.join(told)} |", flush=True)


if __name__ == "__main__":
    main()
