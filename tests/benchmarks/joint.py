"""Effective draws per sweep and per CPU second, drawn one after the other and jointly.

    python tests/benchmarks/joint.py [eight_schools] [rats] ...

Both samplers take turns in one process; the size is the smallest bulk effective size of any of the
model's quantities. Nothing is interwoven, so that what differs is the joint draw alone. Quote
ratios alone: machines differ.
"""

# Threads and paths are set before what reads them is imported.

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import gibbsppl as gp
import models
from gibbsppl.output.diagnostics import ess_bulk

NAMES = ("eight_schools", "rats", "dyes", "local_level", "linear_mixed", "factor_analysis")
SWEEPS, TURNS = 4000, 3


def measured(module, blocks, seed):
    """Effective draws in a hundred sweeps, and in a CPU second, of one chain."""
    sampler = gp.compile(module.model(), blocks=blocks, interweave=False)
    (chain,), _ = sampler.initial_states(1, seed)
    begun = time.process_time()
    for _ in range(SWEEPS):
        sampler.program.sweep(chain.rng, chain.state, sampler.constants)
    spent = time.process_time() - begun
    draws = sampler.sample(draws=SWEEPS, warmup=500, chains=1, seed=seed, progress=False)
    least = min(ess_bulk(v) for v in module.quantities(draws).values())
    return 100 * least / SWEEPS, least / spent


def main(names):
    """The table."""
    print("                    ESS in 100 sweeps           ESS a CPU second")
    print("                 apart  jointly  ratio      apart  jointly  ratio")
    for name in names:
        module = getattr(models, name)
        runs = [[measured(module, b, s) for b in (False, None)] for s in range(TURNS)]
        cells = []
        for k, form in ((0, "8.1f"), (1, "9.0f")):
            apart, jointly = (statistics.median(run[b][k] for run in runs) for b in (0, 1))
            cells.append(f"{apart:{form}}{jointly:{form}}{jointly / apart:7.1f}")
        print(f"{name:14s}{cells[0]}  {cells[1]}")


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
