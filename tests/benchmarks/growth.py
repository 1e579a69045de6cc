"""The cost of a sweep against the size of the data, in both back ends: slopes, and a plot.

    python tests/benchmarks/growth.py [--plot FILE] [model] ...

CPU seconds of a sweep at n, 4 n and 16 n, the smallest of some turns. A slope is the growth of the
log of the cost with that of n, between the two largest n: 1 is linear, less where a part has the
same cost at all sizes. Lines of numbers for each measurement, then a table of slopes; the plot (of
all models, by default beside this file) has them on scales of logs, beside a line of slope 1.
"""

# Threads and paths are set before what reads them is imported.
# ruff: noqa: E402

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import math
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

import large_models
from side_by_side import in_loops, in_numpy

from models import lda

TURNS = 3
# A measurement takes about this long, or one sweep.
SECONDS = 0.2
SLOPE = 1.1
SIDES = {"compiled": in_loops, "numpy": in_numpy}


def bars(documents):
    """Topics of so many made-up documents of 50 words."""
    return lda.model(lda.bars(documents=documents, length=50, side=5), topics=10)


# The smallest n, the model of a size, and settings.
GROWING = {
    "mixture of numbers, K = 5": (
        5000, lambda n: large_models.mixture(large_models.numbers(n), 5), {},
    ),
    "rats": (1000, lambda n: large_models.many_rats(n, 20), {}),
    "hidden Markov, K = 5": (2000, lambda n: large_models.markov(large_models.chain(n), 5), {}),
    "BPMF, K = 10": (
        50_000,
        lambda n: large_models.factorisation(large_models.ratings(n), 10),
        {"blocks": False},
    ),
    "topics, K = 10": (50, bars, {"collapse": ("theta", "phi")}),
    "groups of 5": (1000, large_models.groups, {"blocks": False}),
    "mixed model": (5000, lambda n: large_models.mixed(n, n // 20), {"blocks": False}),
    "Poisson factorisation, K = 20": (
        50_000, lambda n: large_models.sparse_counts(large_models.counts(n), 20), {},
    ),
}  # fmt: skip


def cost(name, side, n):
    """CPU seconds of a sweep of a model at a size."""
    _, model, settings = GROWING[name]
    seconds = SIDES[side](model(n), warmup=2, **settings)
    count = max(1, round(SECONDS / max(seconds(1), 1e-6)))
    return min(seconds(count) for _ in range(TURNS))


def measured(names):
    """The cost at each size, by model and back end; printed as they come."""
    print("model,back end,n,ns a sweep,ns for each of n")
    found = {}
    for name in names:
        for side in SIDES:
            sizes = [GROWING[name][0] * k for k in (1, 4, 16)]
            costs = []
            for n in sizes:
                costs.append(cost(name, side, n))
                ns = costs[-1] * 1e9
                print(f'"{name}",{side},{n},{ns:.0f},{ns / n:.2f}', flush=True)
            found[name, side] = np.array(sizes), np.array(costs)
    return found


def slope(sizes, costs):
    """The growth of the log of the cost between the two largest sizes."""
    return math.log(costs[-1] / costs[-2]) / math.log(sizes[-1] / sizes[-2])


def table(found):
    """The slopes as a table of Markdown."""
    names = dict.fromkeys(name for name, _ in found)
    yield f"| model | {' | '.join(SIDES)} | at most {SLOPE} |"
    yield f"|---|{'---:|' * len(SIDES)}---|"
    for name in names:
        own = [slope(*found[name, side]) for side in SIDES]
        verdict = "reached" if max(own) <= SLOPE else "**missed**"
        yield f"| {name} | {' | '.join(f'{x:.2f}' for x in own)} | {verdict} |"


def plot(found, path):
    """The costs on scales of logs, those in NumPy dashed, and a line of slope 1."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 6))
    names = list(dict.fromkeys(name for name, _ in found))
    for (name, side), (sizes, costs) in found.items():
        style = {"color": f"C{names.index(name)}", "ls": "-" if side == "compiled" else "--"}
        label = name if side == "compiled" else None
        axes.loglog(sizes / sizes[0], costs * 1e3, marker="o", label=label, **style)
    ends, bottom = np.array([1.0, 16.0]), min(costs[0] for _, costs in found.values()) * 1e3
    axes.loglog(ends, bottom / 2 * ends, color="black", lw=0.8, label="slope 1")
    axes.set(xlabel="size / smallest size", ylabel="CPU milliseconds of a sweep")
    axes.set_title("Cost of a sweep: compiled (lines), in NumPy (dashed)")
    axes.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.tight_layout()
    figure.savefig(path, dpi=80, metadata={"Software": None})


def main():
    """Print costs and slopes of the models asked for, and plot them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="*", help="of these alone, without a plot by default")
    parser.add_argument("--plot", help="the file of the plot")
    told = parser.parse_args()
    found = measured(told.model or GROWING)
    print("", *table(found), sep="\n")
    path = told.plot or (None if told.model else HERE / "growth.png")
    if path is not None:
        plot(found, path)


if __name__ == "__main__":
    main()
