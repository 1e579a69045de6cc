"""Random walks and elliptical slices by kernels that ask for log densities, against functions.

Vector code of NumPy differs from the C library in the last digit of exponentials, sines and
cosines: places agree to rounding.
"""

import numpy as np
import pytest
from kernels_called import Called
from scipy import stats

from gibbsppl.errors import RunError
from gibbsppl.runtime.elliptical import elliptical_slice
from gibbsppl.runtime.joint import Joint, drawn
from gibbsppl.runtime.loops import elliptical as plain_ellipse
from gibbsppl.runtime.loops import walks as plain
from gibbsppl.runtime.walks import ONE, Walk, from_line, log_slope, reflected, to_line, walk_batch

INFINITE = (-np.inf, np.inf)
POSITIVE = (0.0, np.inf)

# Log density, start, bounds.
CASES = {
    "normal": (lambda x: -((x - 1) ** 2) / 8, 0.5, INFINITE),
    "gamma near zero": (lambda x: -0.9 * np.log(x) - x, 1.0, POSITIVE),
    "below": (lambda x: 3 * x, 1.0, (-np.inf, 2.0)),
    "beta": (lambda x: -0.4 * np.log(x) + 2 * np.log1p(-x), 0.5, (0.0, 1.0)),
    "no number on one side": (lambda x: np.sqrt(x) - x, 1.0, INFINITE),
    "infinite on one side": (lambda x: np.inf if x < 0 else -x, 1.0, INFINITE),
    "counts": (lambda x: 2 * x - np.sum(np.log(np.arange(1, x + 1))), 3, POSITIVE),
    "whole numbers between bounds": (lambda x: x * (9 - x) / 10, 7, (0.0, 9.0)),
    "whole numbers up to a bound": (lambda x: 0.1 * x, 7, (-np.inf, 9.0)),
    "whole numbers": (lambda x: -np.abs(x + 4), -1, INFINITE),
}


def quiet(log_density):
    def of(x):
        with np.errstate(all="ignore"):
            return float(log_density(np.float64(x)))

    return of


def steps(kernels, name):
    """Values, log scales and acceptances of a few steps in warm-up."""
    f, x, bounds = CASES[name]
    whole, log_scale, rng = isinstance(x, int), 0.5, np.random.default_rng(1)
    work, found = kernels.walk_work(), []
    start = kernels.walk_whole_start if whole else kernels.walk_start
    for n in range(1, 61):
        start(work, x, *bounds, log_scale)
        while kernels.walk_next(rng, work):
            work[1] = quiet(f)(work[0])
        x = int(work[0]) if whole else float(work[0])
        log_scale = kernels.scale_learnt(log_scale, n, kernels.walk_probability(work), ONE)
        found.append((x, log_scale, kernels.walk_taken(work)))
    return np.array(found), rng.random()


def steps_by_function(name):
    f, x, bounds = CASES[name]
    walk, rng, found = Walk(np.array(0.5), ONE), np.random.default_rng(1), []
    for _ in range(60):
        taken = walk.accepted
        x = walk_batch(rng, x, quiet(f), walk, *bounds)
        found.append((x, float(walk.log_scale), walk.accepted > taken))
    return np.array(found), rng.random()


def compiled():
    pytest.importorskip("numba")
    return Called("walks"), Called("elliptical")


@pytest.mark.parametrize("name", CASES)
def test_steps_are_those_of_the_function(name):
    (found, after), (expected, after_expected) = steps(plain, name), steps_by_function(name)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-300)
    assert after == after_expected
    assert 0 < found[:, 2].mean() < 1


@pytest.mark.parametrize("bounds", [INFINITE, POSITIVE, (-np.inf, 2.0), (-1.0, 3.0)])
def test_the_line_without_bounds_is_that_of_arrays(bounds):
    for u in (-1e4, -700.0, -1.0, 0.0, 1e-8, 3.0, 800.0):
        x = plain.from_line(u, *bounds)
        with np.errstate(all="ignore"):
            assert x == pytest.approx(float(from_line(np.float64(u), *bounds)), rel=1e-14)
            assert plain.to_line(x, *bounds) == pytest.approx(float(to_line(x, *bounds)), rel=1e-14)
            slope = float(log_slope(np.float64(u), *bounds))
        assert plain.log_slope(u, *bounds) == pytest.approx(slope, rel=1e-14)


@pytest.mark.parametrize("bounds", [INFINITE, (0.0, np.inf), (-np.inf, 2.0), (-1.0, 3.0)])
def test_whole_numbers_are_reflected_as_in_arrays(bounds):
    for x in (-1e18, -17.0, -2.0, -1.0, 0.0, 3.0, 4.0, 99.0):
        assert plain.reflected(x, *bounds) == reflected(x, *bounds)


def test_a_current_value_without_a_finite_log_density_is_an_error():
    work = plain.walk_work()
    plain.walk_start(work, 1.0, *INFINITE, 0.0)
    assert plain.walk_next(np.random.default_rng(1), work)
    work[1] = np.nan
    with pytest.raises(RunError, match="random walk: the current value has no finite"):
        plain.walk_next(np.random.default_rng(1), work)


def test_steps_too_large_for_integers_are_not_taken():
    work, rng = plain.walk_work(), np.random.default_rng(1)
    for log_scale in (50.0, 800.0):
        plain.walk_whole_start(work, 3, *INFINITE, log_scale)
        while plain.walk_next(rng, work):
            work[1] = 0.0
        assert (work[0], plain.walk_taken(work), plain.walk_probability(work)) == (3, False, 0)


TARGET = stats.norm(1.0, 0.6)


def moved(kernels, rng, now, mean, noise, rest):
    work, tried = kernels.elliptical_work(), np.empty(now.size)
    kernels.elliptical_start(work)
    while kernels.elliptical_next(rng, work, now, mean, noise, tried):
        work[1] = rest(tried)
    return tried


def ellipses(kernels, count=40):
    """Moves by kernels, and by the function, of two elements together."""
    model = Joint({"x": drawn((2,), [((0, 2),)])}, [])
    given = {"x": (np.full(2, 0.5), np.full(2, -0.25))}, []
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    x = np.array([0.3, 1.7])
    rest = lambda v: (TARGET.logpdf(v) - stats.norm(1.0, 2**0.5).logpdf(v)).sum()  # noqa: E731
    for _ in range(count):
        mean, noise = model.normal(one, {"x": x}, given)
        found = moved(kernels, one, x, mean, noise, rest)
        x = elliptical_slice(other, {"x": x}, "x", (rest, given), model)
        yield found, x


def test_ellipses_are_those_of_the_function():
    for found, expected in ellipses(plain_ellipse):
        assert found == pytest.approx(expected, rel=1e-12)


def test_an_arc_that_holds_nothing_else_leaves_the_vector_as_it_is():
    now = np.array([1.0, 2.0])
    rest = lambda v: 0.0 if (v == now).all() else np.nan  # noqa: E731
    found = moved(plain_ellipse, np.random.default_rng(1), now, 0 * now, now[::-1].copy(), rest)
    assert (found == now).all()


def test_a_current_vector_without_a_finite_log_density_is_an_error():
    now = np.zeros(2)
    with pytest.raises(RunError, match="elliptical slice: the current value has no finite"):
        moved(plain_ellipse, np.random.default_rng(1), now, now, now, lambda _: np.nan)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_compiled_steps_are_the_plain_ones(name):
    (found, after), (expected, after_expected) = steps(compiled()[0], name), steps(plain, name)
    assert (found == expected).all()
    assert after == after_expected


@pytest.mark.slow
def test_compiled_ellipses_are_the_plain_ones():
    pairs = zip(ellipses(compiled()[1]), ellipses(plain_ellipse), strict=True)
    assert all((found == expected).all() for (found, _), (expected, _) in pairs)
