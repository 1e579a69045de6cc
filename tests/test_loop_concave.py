"""Adaptive rejection by kernels that ask for log densities, against a function that has these.

From the same generator both evaluate at the same points and draw the same numbers.
"""

import numpy as np
import pytest
from kernels_called import Called

from gibbsppl.errors import RunError
from gibbsppl.runtime import log_concave
from gibbsppl.runtime.chords import ROUNDS
from gibbsppl.runtime.concave import _of_one, log_concave_one
from gibbsppl.runtime.loops import concave as plain
from gibbsppl.runtime.loops.concave_hull import make_hull
from gibbsppl.runtime.loops.concave_points import (
    BEHIND,
    CHORDS,
    DONE,
    MASS,
    NUMBER,
    OF_PIECE,
    PIECE,
    ROOM,
    F,
    X,
    take_in,
)

INFINITE = (-np.inf, np.inf)
POSITIVE = (0.0, np.inf)
RNG = np.random.default_rng(5)
DESIGN = RNG.standard_normal(30)
OUTCOMES = RNG.random(30) < 0.4


def normal(mean, sd):
    return lambda x: -(((x - mean) / sd) ** 2) / 2


def logistic(x):
    """The likelihood of a coefficient, with a normal prior."""
    odds = DESIGN * x - 0.3
    return float(np.sum(np.where(OUTCOMES, 0, -odds) - np.logaddexp(0, -odds)) - x**2 / 200)


def gamma(shape, rate):
    return lambda x: (shape - 1) * np.log(x) - rate * x


def only_inside(lower, upper):
    return lambda x: 0.0 if lower < x < upper else -np.inf


# Log density, start, bounds.
CASES = {
    "normal": (normal(1.0, 2.0), 0.3, INFINITE),
    "normal, far start": (normal(1.0, 2.0), 1e8, INFINITE),
    "normal, start beyond all floats": (lambda x: -np.exp(x) + x, 1e6, INFINITE),
    "tiny": (normal(0.0, 1e-150), 1e-150, INFINITE),
    "smaller still": (lambda x: -np.abs(x) / 1e-300, 1e-300, INFINITE),
    "huge": (normal(0.0, 1e140), 3.0, INFINITE),
    "far from zero": (normal(1e4, 1e-6), 1e4, INFINITE),
    "large heights": (lambda x: normal(3.0, 1.0)(x) + 1e15, 0.0, INFINITE),
    "gamma": (gamma(5.0, 1.0), 300.0, POSITIVE),
    "gamma, start at zero": (gamma(5.0, 1.0), 0.0, POSITIVE),
    "gamma, large shape": (gamma(1e9, 3.0), 1.0, POSITIVE),
    "exponential": (lambda x: -x, 0.0, POSITIVE),
    "steep at a bound": (lambda x: -1e12 * x, 0.7, (0.0, 1.0)),
    "rising to a bound": (lambda x: 1e5 * x, 0.1, (-np.inf, 2.0)),
    "logarithm of a gamma": (lambda x: 0.1 * x - np.exp(x), -10.0, INFINITE),
    "poisson, log-normal": (lambda x: 1000 * x - np.exp(x) - x**2 / 8, 0.0, INFINITE),
    "logistic": (logistic, 0.0, INFINITE),
    "logistic, far start": (logistic, -1e8, INFINITE),
    "beta": (lambda x: 4 * np.log(x) + np.log1p(-x), 0.5, (0.0, 1.0)),
    "uniform": (lambda _: 0.0, 2.1, (2.0, 5.0)),
    "uniform, unknown ends": (only_inside(2.0, 5.0), 2.1, INFINITE),
    "few floats": (lambda x: x, 1.0, (1.0, np.nextafter(np.nextafter(1.0, 2.0), 2.0))),
    "one float": (lambda x: x, 1.0, (1.0, 1.0)),
    "tail of a normal": (normal(0.0, 1.0), 80.0, (40.0, np.inf)),
    "sharp tip": (lambda x: -1e9 * np.abs(x - 0.1), 7.0, INFINITE),
    "no number on one side": (lambda x: np.sqrt(x) * 0 - x, 1.0, INFINITE),
}

WRONG = {
    "start": (lambda x: -x, -1.0, POSITIVE),
    "nowhere finite": (lambda _: np.nan, 1.0, POSITIVE),
    "infinite": (lambda x: np.inf if x > 1 else x, 0.9, INFINITE),
    "two modes": (lambda x: np.logaddexp(-((x - 2) ** 2), -((x + 2) ** 2)), 0.0, INFINITE),
    "hole": (lambda x: -50 * x**2 if abs(x) > 1 else -np.inf, -9.0, INFINITE),
    "improper": (lambda _: 0.0, 1.0, INFINITE),
}


def quiet(log_density):
    def of(x):
        with np.errstate(all="ignore"):
            return float(log_density(np.float64(x)))

    return of


def drawn(kernels, rng, log_density, start, bounds, work=None, width=0.0):
    """A draw by kernels, and the points at which the log density was asked for."""
    work, places = kernels.concave_work() if work is None else work, []
    kernels.concave_start(work, start, *bounds, width)
    while kernels.concave_next(rng, work):
        places.append(float(work[0]))
        work[1] = log_density(work[0])
    return float(work[0]), places


def drawn_by_function(rng, log_density, start, bounds):
    places = []

    def evaluated(x):
        places.append(float(x))
        return log_density(x)

    with np.errstate(all="ignore"):
        return log_concave_one(rng, _of_one(evaluated), start, *bounds), places


def drawn_plainly(*arguments):
    return drawn(plain, *arguments)


def outcome(draw, log_density, start, bounds, seed):
    """What is drawn, or how the message of the error begins."""
    try:
        return draw(np.random.default_rng(seed), log_density, start, bounds)
    except RunError as error:
        return str(error)[:24]


def compiled():
    pytest.importorskip("numba")
    return Called("concave")


@pytest.mark.parametrize("name", CASES)
def test_draws_and_points_are_those_of_the_function(name):
    f, start, bounds = CASES[name]
    f = quiet(f)
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    work = plain.concave_work()
    for _ in range(20):
        expected = drawn_by_function(one, f, start, bounds)
        assert drawn(plain, other, f, start, bounds, work) == expected
    assert one.random() == other.random()


def test_loops_draw_what_a_runtime_call_with_one_element_draws():
    f, start, bounds = CASES["gamma"]
    one, other = np.random.default_rng(2), np.random.default_rng(2)
    for _ in range(20):
        expected = log_concave(one, f, start, *bounds)
        assert drawn(plain, other, quiet(f), start, bounds)[0] == expected


def test_random_log_densities_are_drawn_from_alike():
    choice = np.random.default_rng(3)
    for seed in range(100):
        a, b, m = 10 ** choice.uniform(-3, 3, 3)
        start = choice.choice([m, -m, 1e3 * m, 1e8])
        f = quiet(lambda x, a=a, b=b, m=m: -a * np.logaddexp(0, m - x) - b * np.logaddexp(0, x))
        expected = drawn_by_function(np.random.default_rng(seed), f, start, INFINITE)
        assert drawn(plain, np.random.default_rng(seed), f, start, INFINITE) == expected


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_raised_where_the_function_raises_them(name):
    f, start, bounds = WRONG[name]
    outcomes = [
        (outcome(draw, quiet(f), start, bounds, seed), seed)
        for draw in (drawn_by_function, drawn_plainly)
        for seed in range(20)
    ]
    assert outcomes[:20] == outcomes[20:]
    assert any(isinstance(found, str) for found, _ in outcomes)


def test_candidates_that_are_never_accepted_end_in_an_error():
    work, rng = plain.concave_work(), np.random.default_rng(1)
    plain.concave_start(work, 0.0, *INFINITE, 0.0)
    assert plain.concave_next(rng, work)
    work[1], work[DONE] = 0.0, ROUNDS
    with pytest.raises(RunError, match="none of 500 candidates was accepted"):
        plain.concave_next(rng, work)


def test_there_is_room_for_a_point_and_two_pieces_of_a_hull_in_each_round():
    work = plain.concave_work()
    plain.concave_start(work, 0.0, *INFINITE, 0.0)
    places = np.random.default_rng(1).permutation(np.linspace(-1, 1, ROUNDS + 1))
    for x in places:
        take_in(work, x, -(x**2))
    make_hull(work, F)
    n = int(work[NUMBER])
    assert n == ROUNDS + 1
    assert (work[X : X + n] == np.sort(places)).all()
    assert (work[F : F + n] == -(np.sort(places) ** 2)).all()
    assert ROUNDS < (work[BEHIND] - PIECE) / OF_PIECE <= 2 * ROOM
    assert work[CHORDS] == pytest.approx(1.49365, rel=1e-4)  # the integral of exp(-x**2)
    assert work[MASS] > work[CHORDS]


def test_an_array_serves_draw_after_draw_even_after_an_error():
    work = plain.concave_work()
    f, start, bounds = WRONG["improper"]
    with pytest.raises(RunError):
        drawn(plain, np.random.default_rng(1), quiet(f), start, bounds, work)
    f, start, bounds = CASES["logistic"]
    again = drawn(plain, np.random.default_rng(1), quiet(f), start, bounds, work)
    assert again == drawn(plain, np.random.default_rng(1), quiet(f), start, bounds)


def test_one_compiled_draw_is_the_plain_one():
    f, start, bounds = CASES["gamma"]
    found, expected = (
        drawn(kernels, np.random.default_rng(1), quiet(f), start, bounds, width=1.0)
        for kernels in (compiled(), plain)
    )
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_compiled_draws_are_the_plain_ones(name):
    kernels, (f, start, bounds) = compiled(), CASES[name]
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    for width in [0.0] * 50 + [1e-9, 1e-3, 0.1, 1.0, 3.0, 30.0, 1e9] * 20:
        expected = drawn(plain, one, quiet(f), start, bounds, width=width)
        assert drawn(kernels, other, quiet(f), start, bounds, width=width) == expected
    assert one.random() == other.random()


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_compiled_kernels_raise_the_same_errors(name):
    kernels, (f, start, bounds) = compiled(), WRONG[name]

    def drawn_compiled(*arguments):
        return drawn(kernels, *arguments)

    for seed in range(20):
        expected = outcome(drawn_plainly, quiet(f), start, bounds, seed)
        assert outcome(drawn_compiled, quiet(f), start, bounds, seed) == expected
