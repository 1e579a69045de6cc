"""A hidden Markov model of counts, the sweep written by hand: states drawn forwards and back.

    python tests/benchmarks/markov_by_hand.py [sweeps] [positions] [states]

The model of ``models/hidden_markov.py``. The filter is a loop over positions, as one writes it; it
runs beside the generated sweep on made-up counts, and both print effective draws per CPU second
(the smallest bulk effective sample size of the rates and the probabilities of staying).
"""

# Paths are set before what reads them is imported.
# ruff: noqa: E402

import sys
import time
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2])]

import gibbsppl as gp
from gibbsppl.initial.search import initial_state
from gibbsppl.output.diagnostics import ess_bulk
from models import hidden_markov


def prepare(counts, states, shape=2, rate=0.1):
    """What depends on the data alone."""
    return {"counts": np.asarray(counts, float), "states": states, "shape": shape, "rate": rate}


def start(rng, c):
    """Rates spread over the counts, and states that stay."""
    size = c["states"]
    rates = np.quantile(c["counts"], (np.arange(size) + 0.5) / size) + rng.uniform(0, 1, size)
    return {"rate": rates, "P": np.full((size, size), 0.1 / size) + 0.9 * np.eye(size)}


def sweep(rng, s, c):
    """States together, then each row of probabilities and each rate."""
    y, size = c["counts"], c["states"]
    s["z"] = z = states(rng, s["rate"], s["P"], y)
    moves = np.zeros((size, size))
    np.add.at(moves, (z[:-1], z[1:]), 1)
    rows = rng.standard_gamma(1 + moves)
    s["P"] = rows / rows.sum(axis=1, keepdims=True)
    total, years = np.bincount(z, y, size), np.bincount(z, minlength=size)
    s["rate"] = rng.standard_gamma(c["shape"] + total) / (c["rate"] + years)


def states(rng, rates, P, y):
    """Forward filtering, backward sampling."""
    count, size = len(y), len(rates)
    log_weights = y[:, None] * np.log(rates) - rates
    weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
    filtered = np.empty((count, size))
    now = weights[0] / weights[0].sum()
    filtered[0] = now
    for t in range(1, count):
        now = (now @ P) * weights[t]
        now /= now.sum()
        filtered[t] = now
    z = np.empty(count, dtype=int)
    uniform = rng.random(count)
    running = filtered[-1].cumsum()
    z[-1] = running.searchsorted(uniform[-1] * running[-1], side="right")
    for t in range(count - 2, -1, -1):
        running = (filtered[t] * P[:, z[t + 1]]).cumsum()
        z[t] = running.searchsorted(uniform[t] * running[-1], side="right")
    return z


def made_up(count, states, seed=5):
    """Counts of a chain whose states overlap."""
    rng = np.random.default_rng(seed)
    stay = 0.9
    moves = rng.random(count) > stay
    steps = np.where(moves, rng.integers(1, max(states, 2), count), 0)
    z = np.cumsum(steps) % states
    return rng.poisson(3.0 * (1 + z) ** 1.3)


def effective_per_second(one_sweep, read, sweeps, warmup=100):
    """Effective draws per CPU second of the worst of the scalars, and microseconds per sweep."""
    for _ in range(warmup):
        one_sweep()
    kept, begin = [], time.process_time()
    for _ in range(sweeps):
        one_sweep()
        kept.append(read())
    seconds = time.process_time() - begin
    worst = min(float(ess_bulk(np.array(x)[None])) for x in zip(*kept, strict=True))
    return worst / seconds, seconds / sweeps * 1e6


def _read(state):
    order = np.argsort(state["rate"])
    return [*state["rate"][order], *np.diag(state["P"])[order]]


def main(sweeps=1000, positions=5000, states=4):
    """Both samplers on the same counts."""
    counts = made_up(positions, states)
    rng, constants = np.random.default_rng(1), prepare(counts, states)
    hand = start(rng, constants)
    model = hidden_markov.model(counts=counts, states=states)
    sampler = gp.compile(model)
    ours, _ = initial_state(rng, model.graph, model.data)
    ours |= {"rate": hand["rate"].copy(), "P": hand["P"].copy()}
    for name, one_sweep, state in (
        ("by hand", lambda: sweep(rng, hand, constants), hand),
        ("generated", lambda: sampler.program.sweep(rng, ours, sampler.constants), ours),
    ):
        found = effective_per_second(one_sweep, lambda state=state: _read(state), sweeps)
        per_second, microseconds = found
        print(f"{name:12}{per_second:10.1f} effective draws per CPU second", end="")
        print(f"{microseconds:12.0f} us a sweep")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
