"""Effective draws per sweep and per CPU second, with and without interweaving.

    python tests/benchmarks/interweaving.py [eight_schools] [rats] ...

Both samplers take turns in one process; the size is the smallest bulk effective size of any scalar
that is drawn. Quote ratios alone: machines differ.
"""

# Threads and paths are set before what reads them is imported.

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import statistics
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import gibbsppl as gp
from gibbsppl.output.diagnostics import ess_bulk
from models import dyes, eight_schools, pumps, rats, salm, seeds

TURNS = 3
CHAINS = 2

# A model; what is interwoven; sweeps after warm-up in a turn.
CASES = {
    "eight_schools, uniform sd": (lambda: eight_schools.model(sd_prior="uniform"), True, 20_000),
    "eight_schools": (eight_schools.model, True, 20_000),
    "seeds": (seeds.model, True, 1_500),
    "salm": (salm.model, True, 1_000),
    "dyes": (dyes.model, ("tau_between",), 20_000),
    "rats": (rats.model, ("tau_a", "tau_b"), 10_000),
    "pumps": (pumps.model, ("beta",), 3_000),
}


def smallest_size(draws):
    """The smallest bulk effective sample size of what was drawn."""
    found = []
    for name in draws:
        values = np.asarray(draws[name], dtype=float)
        flat = values.reshape(*values.shape[:2], -1)
        found += [float(ess_bulk(flat[..., k])) for k in range(flat.shape[2])]
    return min(found)


def turn(sampler, sweeps, seed):
    """CPU microseconds a sweep, and effective draws per sweep."""
    warm = {"warmup": 500, "chains": CHAINS, "progress": False}
    sampler.sample(draws=1, seed=seed, **warm)  # (what is done once only)
    started = time.process_time()
    sampler.sample(draws=1, seed=seed, **warm)
    setting_up = time.process_time() - started
    started = time.process_time()
    draws = sampler.sample(draws=sweeps, seed=seed, **warm)
    seconds = time.process_time() - started - setting_up
    number = sweeps * CHAINS
    return 1e6 * seconds / number, smallest_size(draws) / number


def compared(name):
    """One line: sweeps without and with, their effective draws, and the gain per second."""
    make, interweave, sweeps = CASES[name]
    samplers = [gp.compile(make(), interweave=i) for i in (False, interweave)]
    turns = [[turn(s, sweeps, seed) for s in samplers] for seed in range(TURNS)]
    plain, with_it = (
        [statistics.median(t[side][n] for t in turns) for n in (0, 1)] for side in (0, 1)
    )
    per_second = [1e6 * size / micro for micro, size in (plain, with_it)]
    return (
        f"{name:26}{plain[0]:9.1f}{with_it[0]:9.1f}{plain[1]:10.4f}{with_it[1]:9.4f}"
        f"{per_second[0]:10.0f}{per_second[1]:9.0f}{per_second[1] / per_second[0]:8.1f}"
    )


def main(names):
    """The table."""
    print(f"{'':26}{'CPU us a sweep':>18}{'ESS per sweep':>19}{'ESS per second':>19}{'gain':>8}")
    print(f"{'':26}" + "".join(f"{'without':>{w}}{'with':>9}" for w in (9, 10, 10)))
    for name in CASES:
        if not names or name.split(",")[0] in names:
            print(compared(name), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
