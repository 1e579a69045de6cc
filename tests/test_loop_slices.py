"""Slice moves by kernels that ask for log densities, against those that are passed them.

From the same generator both evaluate at the same points and move to the same numbers.
"""

import numpy as np
import pytest
from kernels_called import Called

from gibbsppl.errors import RunError
from gibbsppl.runtime.loops import slices as plain
from gibbsppl.runtime.moves import Width, slice_batch, slice_elements, slice_integers

INFINITE = (-np.inf, np.inf)
POSITIVE = (0.0, np.inf)

# Log density, start, bounds, width.
REAL = {
    "normal": (lambda x: -((x - 1) ** 2) / 8, 0.5, INFINITE, 1.0),
    "cauchy, wide": (lambda x: -np.log1p(x**2), 0.0, INFINITE, 50.0),
    "two modes": (lambda x: np.logaddexp(-2 * (x - 2) ** 2, -2 * (x + 2) ** 2), 2.0, INFINITE, 1.0),
    "gamma near zero": (lambda x: -0.9 * np.log(x) - x, 1.0, POSITIVE, 1.0),
    "inverse gamma": (lambda x: -1.5 * np.log(x) - 2 / x, 1e200, POSITIVE, 1.0),
    "all positive floats": (lambda x: -np.log(x), 1.0, POSITIVE, 100.0),
    "at zero": (lambda x: -x, 0.0, POSITIVE, 1.0),
    "beta": (lambda x: -0.4 * np.log(x) + 2 * np.log1p(-x), 0.5, (0.0, 1.0), 1.0),
    "uniform": (lambda x: 0 * x, 2.0, (2.0, 5.0), 1.0),
    "tiny": (lambda x: -np.abs(x / 1e-300), 1e-300, INFINITE, 1.0),
    "huge": (lambda x: -np.abs(x / 1e300), 1e300, INFINITE, 1e300),
    "steep at a bound": (lambda x: 1e12 * x, 2.0, (-np.inf, 2.0), 1.0),
    "no number on one side": (lambda x: np.sqrt(x) - x, 1.0, INFINITE, 1.0),
    "infinite on one side": (lambda x: np.inf if x < 0 else -x, 1.0, INFINITE, 1.0),
    "one place": (lambda x: 0.0 if x == 3.0 else -np.inf, 3.0, INFINITE, 1.0),
}
WHOLE = {
    "poisson": (lambda x: 2 * x - np.sum(np.log(np.arange(1, x + 1))), 3, POSITIVE, 1.0),
    "geometric": (lambda x: -1e-4 * x, 0, POSITIVE, 1.0),
    "binomial": (lambda x: x * (50 - x) / 10, 7, (0.0, 50.0), 30.0),
    "negative": (lambda x: -np.abs(x + 4), -1, INFINITE, 1.0),
    "two values": (lambda x: 3.0 * x, 1, (0.0, 1.0), 1.0),
}


def quiet(log_density):
    def of(x):
        with np.errstate(all="ignore"):
            return float(log_density(np.float64(x)))

    return of


def moved(kernels, rng, log_density, start, bounds, width, whole=False):
    """Where a move goes, the width learnt after it, and the places asked for."""
    work, places = kernels.slice_work(), []
    if whole:
        kernels.slice_whole_start(rng, work, start, *bounds, width)
    else:
        kernels.slice_start(work, start, *bounds, width)
    while kernels.slice_next(rng, work):
        places.append(float(work[0]))
        work[1] = log_density(work[0])
    return float(work[0]), places, kernels.slice_distance(work)


def moves(kernels, name):
    """Values, widths and places asked for of a few moves in warm-up."""
    (f, x, bounds, width), whole = (REAL | WHOLE)[name], name in WHOLE
    rng, found = np.random.default_rng(1), []
    for n in range(1, 41):
        x, places, distance = moved(kernels, rng, quiet(f), x, bounds, width, whole)
        width = kernels.width_learnt(width, n, distance)
        x = int(x) if whole else x
        found.append((x, width, places))
    return found, rng.random()


def moves_by_function(name):
    f, x, bounds, width = (REAL | WHOLE)[name]
    move = slice_integers if name in WHOLE else slice_batch
    rng, tuned, found = np.random.default_rng(1), Width(np.asarray(width)), []
    for _ in range(40):
        places = []
        x = move(rng, x, noted(quiet(f), places), tuned, *bounds)
        found.append((x, float(tuned.value), places))
    return found, rng.random()


def noted(log_density, places):
    """The log density, which notes where it is evaluated."""

    def of(x):
        places.append(float(x))
        return log_density(x)

    return of


def compiled():
    pytest.importorskip("numba")
    return Called("slices")


@pytest.mark.parametrize("name", [*REAL, *WHOLE])
def test_numbers_move_as_by_the_function(name):
    assert moves(plain, name) == moves_by_function(name)


def test_elements_in_turn_move_as_in_a_runtime_call():
    start, width = np.array([0.3, 2.0, 5.0]), Width(np.array([1.0, 0.2, 7.0]), 3)
    widths, now = width.value.copy(), start.copy()

    def whole(x):
        return -np.sum(x**2) / 2 - x[0] * x[1] * x[2] / 50

    expected = slice_elements(
        np.random.default_rng(4), start, whole, width, [(0,), (1,), (2,)], 0.0, np.inf
    )
    rng, work = np.random.default_rng(4), plain.slice_work()
    for i in range(3):
        x = now[i]
        plain.slice_start(work, x, 0.0, np.inf, widths[i])
        while plain.slice_next(rng, work):
            now[i] = work[0]
            work[1] = whole(now)
        now[i] = work[0]
        widths[i] = plain.width_learnt(widths[i], 4, plain.slice_distance(work))
    assert (now == expected).all()
    assert (widths == width.value).all()


def test_a_current_value_without_a_finite_log_density_is_an_error():
    for value in (np.nan, np.inf, -np.inf):
        with pytest.raises(RunError, match="slice: the current value has no finite log density"):
            moved(plain, np.random.default_rng(1), lambda _, v=value: v, 1.0, INFINITE, 1.0)


def test_whole_numbers_are_asked_for_within_their_bounds_and_in_64_bits():
    rng = np.random.default_rng(1)
    for bounds, start in (((3.0, 5.0), 5), (POSITIVE, 2**60)):
        for _ in range(50):
            _, places, _ = moved(plain, rng, lambda x: 0 * x, start, bounds, 600.0, whole=True)
            assert all(bounds[0] <= x <= min(bounds[1], 2.0**63 - 1024) for x in places)


@pytest.mark.parametrize("name", ["gamma near zero", "binomial"])
def test_compiled_moves_of_a_real_and_a_whole_number_are_the_plain_ones(name):
    assert moves(compiled(), name) == moves(plain, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*REAL, *WHOLE])
def test_compiled_moves_are_the_plain_ones(name):
    assert moves(compiled(), name) == moves(plain, name)


@pytest.mark.slow
def test_compiled_moves_raise_the_same_error():
    with pytest.raises(RunError, match="slice: the current value has no finite log density"):
        moved(compiled(), np.random.default_rng(1), lambda _: np.nan, 1.0, INFINITE, 1.0)
