"""A factorisation machine on ids alone, one sweep beside one of myfm (``pip install myfm``).

    python tests/benchmarks/machine.py [factors]

Made-up ratings: 6,040 users, 3,706 items, 900,000 rows; CPU seconds, one thread.
"""

# Threads are set before what reads them is imported.

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import statistics
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parents[2]))

import gibbsppl as gp
from gibbsppl.initial.search import initial_state
from models import factorisation_machine

ALONE = {"w": "elements", "w0": "alone", "mu_w": "alone"}


def ratings(users=6040, items=3706, rows=900_000, seed=0):
    """Who rated what: some users and items far more often than others."""
    rng = np.random.default_rng(seed)
    of_user, of_item = rng.pareto(1.2, users) + 0.2, rng.pareto(1.0, items) + 0.1
    user = np.sort(rng.choice(users, rows, p=of_user / of_user.sum()))
    item = rng.choice(items, rows, p=of_item / of_item.sum())
    y = rng.normal(size=rows) + rng.normal(size=users)[user] + rng.normal(size=items)[item]
    return np.stack([user, users + item], axis=1), y, np.repeat([0, 1], [users, items])


def ours(features, y, groups, factors, sweeps=6):
    """CPU seconds of a generated sweep, the median."""
    model = factorisation_machine.model(features, y, groups, factors=factors, level=0)
    sampler = gp.compile(model, blocks=ALONE, interweave=False)
    rng, seconds = np.random.default_rng(1), []
    state, _ = initial_state(rng, sampler.graph, sampler.data)
    state = {n: np.array(x, dtype=float) for n, x in state.items()}
    for _ in range(sweeps + 1):
        start = time.process_time()
        sampler.program.sweep(rng, state, sampler.constants)
        seconds.append(time.process_time() - start)
    return statistics.median(seconds[1:])


def peers(features, y, groups, factors, few=2, many=8):
    """CPU seconds of an iteration of myfm: many less a few, so that its start is left out."""
    import myfm

    rows, slots = features.shape
    places = (np.repeat(np.arange(rows), slots), features.ravel())
    design = sparse.csr_matrix((np.ones(rows * slots), places), shape=(rows, len(groups)))
    seconds = []
    for iterations in (few, many):
        machine = myfm.MyFMRegressor(rank=factors, random_seed=1)
        start = time.process_time()
        machine.fit(design, y, n_iter=iterations, n_kept_samples=1, grouping=groups.tolist())
        seconds.append(time.process_time() - start)
    return (seconds[1] - seconds[0]) / (many - few)


if __name__ == "__main__":
    rank = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    made = ratings()
    generated, peer = ours(*made, rank), peers(*made, rank)
    ratio = peer / generated
    print(f"K = {rank}: generated {generated:.2f} s, myfm {peer:.2f} s, ratio {ratio:.2f}")
