"""Polya-Gamma and truncated normal draws beside a C library and SciPy, in NumPy and compiled.

    python tests/benchmarks/draws.py

All take turns; nanoseconds of CPU a draw are medians of the turns, a ratio is the median over the
turns of the other one's time over ours: above 1 ours is faster. Parameters are arrays. polyagamma
runs in an environment of its own (`environments`). Truncated normals have a mean of 0 and a
standard deviation of 1; beside SciPy's `truncnorm` is what its distribution function gives in two
lines, which has no digits in tails.
"""

import statistics
import sys
from pathlib import Path
from time import process_time
from types import SimpleNamespace

import numpy as np
from numba import njit
from scipy import special, stats

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

from environments import python_of  # noqa: E402
from sides import Elsewhere  # noqa: E402

from gibbsppl import runtime  # noqa: E402
from gibbsppl.runtime import libraries  # noqa: E402
from gibbsppl.runtime.compiled import polya_gamma as compiled_polya_gamma  # noqa: E402
from gibbsppl.runtime.compiled import truncated as compiled_truncated  # noqa: E402

SIZE, TURNS = 100_000, 9
SHAPES, TILTS = (1.0, 5.0, 50.0), (0.0, 1.0, 10.0)
INTERVALS = {
    "(0, oo)": (0.0, np.inf),
    "(-1, 2)": (-1.0, 2.0),
    "(0.5, 0.6)": (0.5, 0.6),
    "(2, oo)": (2.0, np.inf),
    "(5, 6)": (5.0, 6.0),
    "(40, oo)": (40.0, np.inf),
}

polya_gamma_one = compiled_polya_gamma.polya_gamma
truncated_one = compiled_truncated.truncated_normal


@njit
def polya_gammas(rng, eta, b, into):
    """Fill an array with draws, one after the other."""
    for i in range(len(into)):
        into[i] = polya_gamma_one(rng, eta[i], b[i])


@njit
def truncated_normals(rng, lower, upper, into):
    """Fill an array with draws, one after the other."""
    for i in range(len(into)):
        into[i] = truncated_one(rng, 0.0, -0.5, lower[i], upper[i])


def timed(draw):
    """A function of a seed: CPU seconds of a call of a draw."""

    def turn(seed):
        rng = np.random.default_rng(seed)
        start = process_time()
        draw(rng)
        return process_time() - start

    return turn


def compared(case, sides, ours):
    """Print a row for a case: what each side takes, and the ratios of those that are not ours."""
    for turn in sides.values():
        turn(0)
    turns = [{name: turn(1 + k) for name, turn in sides.items()} for k in range(TURNS)]
    each = [f"{1e9 * statistics.median(t[n] for t in turns) / SIZE:.0f}" for n in sides]
    ratios = [
        f"{statistics.median(t[other] / t[own] for t in turns):.2f}"
        for other in sides if other not in ours for own in ours
    ]  # fmt: skip
    print(f"| {case} | {' | '.join((*each, *ratios))} |", flush=True)


def heading(first, sides, ours):
    """Print the head of a table."""
    ratios = [f"{other} / {own}" for other in sides if other not in ours for own in ours]
    print(f"| {first} | {' | '.join((*sides, *ratios))} |")
    print(f"|---|{'---:|' * (len(sides) + len(ratios))}")


def polya_gamma_rows(python):
    """PG(b, c) beside polyagamma."""
    ours = ("NumPy", "compiled")
    heading("PG(b, c)", (*ours, "polyagamma"), ours)
    into = np.empty(SIZE)
    for b in SHAPES:
        for c in TILTS:
            shape, tilt = np.full(SIZE, b), np.full(SIZE, c)
            eta = -tilt * tilt / 2
            data = {"b": shape, "c": tilt}
            workload = SimpleNamespace(key="draws", data=lambda data=data: data)
            peer = SimpleNamespace(python=lambda: python, program="in_polyagamma")
            with Elsewhere(workload, peer) as other:
                sides = {
                    "NumPy": timed(
                        lambda rng, e=eta, s=shape: runtime.polya_gamma(rng, e, (SIZE,), b=s)
                    ),
                    "compiled": timed(
                        lambda rng, e=eta, s=shape: polya_gammas(rng, e, s, into)
                    ),
                    "polyagamma": lambda seed, other=other: other.turn(seed, SIZE).sampling,
                }
                compared(f"b = {b:g}, c = {c:g}", sides, ours)


def truncated_rows():
    """Standard normal draws between bounds beside SciPy."""
    ours = ("NumPy", "compiled")
    names = (*ours, "truncnorm", "ndtri")
    heading("bounds", names, ours)
    zero, half, into = np.zeros(SIZE), np.full(SIZE, -0.5), np.empty(SIZE)
    for case, (low, high) in INTERVALS.items():
        lower, upper = np.full(SIZE, low), np.full(SIZE, high)
        given = (lower, upper)
        draws = (
            lambda rng, g=given: runtime.truncated_normal(rng, zero, half, *g, (SIZE,)),
            lambda rng, g=given: truncated_normals(rng, *g, into),
            lambda rng, g=given: stats.truncnorm.rvs(*g, random_state=rng),
            lambda rng, g=given: by_quantiles(rng, *g),
        )
        compared(case, dict(zip(names, map(timed, draws), strict=True)), ours)


def by_quantiles(rng, lower, upper):
    """Quantiles of uniform numbers: a shift to the lower tail is all that is done for digits."""
    first, last = special.ndtr(-upper), special.ndtr(-lower)
    return -special.ndtri(first + rng.random(len(lower)) * (last - first))


def main():
    """Print both tables."""
    libraries.LIBRARIES["polya_gamma"] = libraries.Library("no such package", "")
    polya_gamma_rows(python_of("polyagamma", ("polyagamma", "numpy", "scipy")))
    print()
    truncated_rows()


if __name__ == "__main__":
    main()
