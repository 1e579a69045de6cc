"""A local level beside JAGS: effective draws per CPU second, sampling alone.

    python tests/benchmarks/local_level.py [T]

The size is the smallest bulk effective size of both precisions and of ten levels. Quote ratios
alone: machines differ.
"""

# ruff: noqa: E402
# Threads and paths are set before what reads them is imported.

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

import jags
import numpy as np

import gibbsppl as gp
from gibbsppl.output.diagnostics import ess_bulk

TEXT = """
model {
  x[1] ~ dnorm(0, 0.01)
  for (t in 2:T) { x[t] ~ dnorm(x[t - 1], tau_x) }
  for (t in 1:T) { y[t] ~ dnorm(x[t], tau_y) }
  tau_x ~ dgamma(1, 0.1)
  tau_y ~ dgamma(1, 0.1)
}
"""
PRECISIONS = ("tau_x", "tau_y")
CHAINS, TURNS, LEVELS = 4, 3, 10


def observed(length):
    """A walk with steps of sd 0.5, seen with noise of sd 1."""
    rng = np.random.default_rng(1)
    return np.cumsum(0.5 * rng.standard_normal(length)) + rng.standard_normal(length)


def some(length):
    """Ten positions, from the first one to the last."""
    return np.linspace(0, length - 1, LEVELS).astype(int)


def here(model, length, seed):
    """Effective draws per CPU second of the sampler that is compiled by default."""
    sampler, draws = gp.compile(model), 2000
    chains, _ = sampler.initial_states(1, seed)
    begun = time.process_time()
    for _ in range(draws):
        sampler.program.sweep(chains[0].rng, chains[0].state, sampler.constants)
    spent = (time.process_time() - begun) * CHAINS
    kept = sampler.sample(draws, warmup=500, chains=CHAINS, seed=seed, progress=False)
    every = [*(kept[n] for n in PRECISIONS), kept["x"][..., some(length)]]
    return min(float(ess_bulk(v).min()) for v in every) / spent


def there(data, seed):
    """Effective draws per CPU second of JAGS."""
    names = [*PRECISIONS, *(f"x[{k + 1}]" for k in some(data["T"]))]
    found = jags.run(TEXT, data, {"tau_x": 1, "tau_y": 1}, names, draws=4000, seed=seed)
    return min(float(ess_bulk(v).min()) for v in found.draws.values()) / found.sampling


def main(length):
    """Both, in turns."""
    data = {"T": length, "y": observed(length)}
    model = gp.read_bugs(TEXT, data)
    for seed in range(TURNS):
        own = here(model, length, seed)
        other = there(data, seed + 1) if jags.present() else float("nan")
        print(f"T = {length}: {own:.0f} here, {other:.1f} JAGS, ratio {own / other:.2f}")
    if not jags.present():
        print(jags.MISSING)


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 1000)
