"""Ratings in the shape of Netflix's: what a sweep takes, what memory, and whether it learns.

    python tests/benchmarks/netflix.py          # 480,189 x 17,770, 100 million: 6 GB of memory
    python tests/benchmarks/netflix.py 0.01     # a share of the ratings, and fewer of both sides

Ratings are drawn from a made-up truth. The model is that of the model file; large arrays are in
single precision and indices in four bytes. CPU seconds of a sweep, the peak of the whole process
from the drawing of the data on, and the error of the averaged predictions of ratings that are held
out (the noise is 0.5), sweep after sweep. ``compiled.py netflix`` prints the rows of its table.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import resource
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

import gibbsppl as gp
from models import bayesian_matrix_factorisation

USERS, ITEMS, RATINGS = 480_189, 17_770, 100_480_507
FACTORS, LEVEL, NOISE, HELD_OUT = 30, 3.6, 0.5, 1_000_000
# So many ratings are made, or predicted, at a time.
PART = 1 << 20


def sizes(share):
    """How many users, items and ratings: of both sides the root of the share."""
    side = share**0.5
    return int(USERS * side), int(ITEMS * side), int(RATINGS * share)


def made_up(users, items, count, seed=0):
    """User, item and rating; some users and items have far more of them than others."""
    rng = np.random.default_rng(seed)
    ends = [np.cumsum(rng.pareto(a, n) + 0.3) for a, n in ((2.0, users), (1.2, items))]
    left, right = (rng.normal(size=(n, 10), scale=0.5).astype(np.float32) for n in (users, items))
    user, item = np.empty(count, np.int32), np.empty(count, np.int32)
    rating = np.empty(count, np.float32)
    for first in range(0, count, PART):
        own = slice(first, min(first + PART, count))
        size = own.stop - first
        for place, end in zip((user, item), ends, strict=True):
            place[own] = np.searchsorted(end, rng.random(size) * end[-1])
        rating[own] = LEVEL + (left[user[own]] * right[item[own]]).sum(axis=1)
        rating[own] += NOISE * rng.normal(size=size).astype(np.float32)
    return user, item, rating


def predicted(state, user, item):
    """The mean of ratings, given factors."""
    found = np.empty(len(user))
    for first in range(0, len(user), PART):
        own = slice(first, first + PART)
        found[own] = LEVEL + np.einsum("nk,nk->n", state["U"][user[own]], state["V"][item[own]])
    return found


def start(users, items, factors, seed=1):
    """Small factors, whose precisions are one."""
    rng = np.random.default_rng(seed)
    sides = {"U": users, "V": items}
    state = {n: rng.normal(size=(size, factors), scale=0.1) for n, size in sides.items()}
    state |= {f"mean_{n}": np.zeros(factors) for n in sides}
    return state | {f"precision_{n}": np.eye(factors) for n in sides}


def measured(share=1.0, factors=FACTORS, sweeps=8, warmup=3):
    """CPU seconds of each sweep but the first, the peak in GB, and the errors after each."""
    users, items, count = sizes(share)
    held = min(HELD_OUT, count // 20)
    data = made_up(users, items, count + held)
    user, item, rating = (a[count:].copy() for a in data)
    names = range(users), range(items)
    model = bayesian_matrix_factorisation.model(
        [a[:count] for a in data], names, factors, LEVEL, tau=1 / NOISE**2, nu=factors + 1
    )
    del data
    loops = gp.compile(model, blocks=False).loops("float32")
    arrays = loops.arrays_of(start(users, items, factors))
    arguments = loops.arguments(np.random.default_rng(2), arrays)
    run = loops.compiled().run
    seconds, errors, total = [], [], np.zeros(held)
    for sweep in range(sweeps):
        before = time.process_time()
        run(*arguments, 1)
        seconds.append(time.process_time() - before)
        now = predicted(arrays, user, item)
        total += now if sweep >= warmup else 0
        mean = total / max(1, sweep - warmup + 1) if sweep >= warmup else now
        errors.append(float(np.sqrt(np.mean((rating - mean) ** 2))))
        told = f"sweep {sweep + 1}: {seconds[-1]:.1f} CPU s, error {errors[-1]:.4f}"
        print(told, file=sys.stderr, flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return seconds[1:], peak, errors


if __name__ == "__main__":
    seconds, peak, errors = measured(*map(float, sys.argv[1:2]))
    print(f"{np.median(seconds):.1f} CPU s a sweep, {peak:.2f} GB at most,", end=" ")
    print(f"errors {', '.join(f'{e:.4f}' for e in errors)}")
