"""The cost of derivation, which depends on the statements of a model and never on its data.

    python tests/benchmarks/derivation.py

Every conditional is derived with SymPy's cache emptied first, as for a model of its own: CPU
seconds, on one thread.
"""

# Paths are set before what reads them is imported.
# ruff: noqa: E402

import statistics
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT)]

from sympy.core.cache import clear_cache

import gibbsppl as gp
from gibbsppl.derive.conditionals import conditional_of
from gibbsppl.pieces.split import split
from models import ALL

COEFFICIENTS = 30
SIZES = (100, 100_000)


def seconds(function):
    """CPU seconds of one call, with nothing remembered from calls before."""
    clear_cache()
    start = time.process_time()
    function()
    return time.process_time() - start


def of_models():
    """Seconds for each latent statement of each model of the repository."""
    found = {}
    for module in ALL:
        model = module.model()
        graph, data = model.graph, model.data
        for s in graph.latent:
            found[f"{module.__name__}: {s.name}"] = seconds(
                lambda g=graph, s=s, d=data: conditional_of(g, s, d)
            )
    return found


def linear_mean(count, size):
    """A normal with a mean of many terms, each coefficient a variable of its own."""
    rng = np.random.default_rng(1)
    with gp.Model(coords={"n": size}) as model:
        tau = gp.Gamma("tau", 1, rate=1)
        terms = [
            gp.Normal(f"b{j}", 0, tau=1) * gp.Data(f"x{j}", rng.normal(size=size), dims="n")
            for j in range(count)
        ]
        gp.Normal("y", sum(terms), tau=tau, dims="n", observed=rng.normal(size=size))
    return model


def fifty_variables():
    """Means and standard deviations of 25 groups of observations, each a variable of its own."""
    rng = np.random.default_rng(2)
    with gp.Model(coords={"n": 5}) as model:
        for j in range(25):
            mu, sd = gp.Normal(f"mu{j}", 0, tau=1), gp.Uniform(f"sd{j}", 0, 10)
            gp.Normal(f"y{j}", mu, sigma=sd, dims="n", observed=rng.normal(size=5))
    return model


def main():
    """All measurements, as a table."""
    times = of_models()
    worst = max(times, key=times.get)
    print(f"{'derivation of one conditional, CPU milliseconds':60}{'found':>8}{'limit':>8}")

    def row(name, found, limit):
        print(f"{name:60}{found * 1e3:8.0f}{limit:>8}")

    row(f"median of the {len(times)} of the models", statistics.median(times.values()), 50)
    row(f"worst ({worst})", times[worst], 300)
    model = linear_mean(COEFFICIENTS, 20)
    graph, data = model.graph, model.data
    one = graph.statement("b3")
    row("one coefficient of 30", seconds(lambda: conditional_of(graph, one, data)), 50)
    y = graph.statement("y")
    names = {f"b{j}" for j in range(COEFFICIENTS)}
    row(
        "split with all 30 as targets",
        seconds(lambda: split("y", y.log_density, y.over, names, graph.sizes)),
        300,
    )
    for size in SIZES:
        model = linear_mean(3, size)
        graph, data, one = model.graph, model.data, model.graph.statement("b0")
        found = seconds(lambda g=graph, s=one, d=data: conditional_of(g, s, d))
        row(f"one coefficient of 3, {size:,} observations", found, "")
    model = fifty_variables()
    row("compile, 50 variables", seconds(lambda: gp.compile(model)), 3000)


if __name__ == "__main__":
    main()
