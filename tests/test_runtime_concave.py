"""Draws from log-concave densities against distribution functions, at a family-wise level.

Draws are independent and follow the distribution exactly, wherever they start. Many elements are
drawn together in columns, single ones and the last few of a batch on plain numbers.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import special, stats

from gibbsppl.errors import RunError
from gibbsppl.runtime import (
    chords,
    concave,
    log_concave,
    log_concave_elements,
    log_concave_part,
)
from gibbsppl.runtime.loops import concave as kernels
from gibbsppl.runtime.loops import concave_four, concave_hull, concave_points
from gibbsppl.runtime.moves import Width

N = 4000
ONES = 800  # draws of one element each
# More comparisons than this file makes.
COMPARISONS = 600
LEVEL = 1e-4 / COMPARISONS

INFINITE = (-np.inf, np.inf)
POSITIVE = (0.0, np.inf)


def normal(mean, sd):
    return lambda x: -(((x - mean) / sd) ** 2) / 2


def laplace(mean, scale):
    return lambda x: -np.abs(x - mean) / scale


def log_gamma(shape):
    return lambda x: shape * x - np.exp(x)


def inside(lower, upper, log_density):
    return lambda x: np.where((x < lower) | (x > upper), -np.inf, log_density(x))


def tail_cdf(x):
    """Of a normal above 40: ratios of its tails, which are no numbers of their own."""
    return -np.expm1(special.log_ndtr(-x) - special.log_ndtr(-40.0))


def logit_beta(a, b):
    return lambda x: -a * np.logaddexp(0, -x) - b * np.logaddexp(0, x)


def logit_beta_cdf(a, b):
    return lambda x: np.where(
        x < 0,
        special.betainc(a, b, special.expit(x)),
        special.betaincc(b, a, special.expit(-x)),
    )


def poisson_log_normal(count):
    return lambda x: count * x - np.exp(x) - x**2 / 8


def by_quadrature(log_density, lower, upper):
    """The distribution function by the trapezoid rule on a fine grid, exact to 1e-8 or so."""
    grid = np.linspace(lower, upper, 200_001)
    f = log_density(grid)
    weight = np.exp(f - f.max())
    mass = np.concatenate([[0], np.cumsum(weight[1:] + weight[:-1])])
    return lambda x: np.interp(x, grid, mass / mass[-1])


def cases():
    """Name, distribution function, log density, start, bounds."""
    for sd in (1e-8, 1.0, 1e8):
        for mean in (0.0, 1e3 * sd):
            for start in (mean + sd, mean + 1e3 * sd):
                name = f"normal, mean {mean:g}, sd {sd:g}, start {start:g}"
                yield name, stats.norm(mean, sd).cdf, normal(mean, sd), start, INFINITE
        for start in (0.3 * sd, 1e3 * sd):
            name = f"laplace, scale {sd:g}, start {start:g}"
            yield name, stats.laplace(0, sd).cdf, laplace(0, sd), start, INFINITE
    yield "normal far from 0", stats.norm(1e4, 1e-6).cdf, normal(1e4, 1e-6), 1e4, INFINITE
    offset = lambda x: normal(3, 1)(x) + 1e10  # noqa: E731
    yield "offset", stats.norm(3, 1).cdf, offset, 0.0, INFINITE
    logistic = lambda x: -x - 2 * np.logaddexp(0, -x)  # noqa: E731
    gumbel = lambda x: -x - np.exp(-x)  # noqa: E731
    for start in (-5.0, 1.0, 1e3):
        yield f"logistic, start {start:g}", stats.logistic.cdf, logistic, start, INFINITE
        yield f"gumbel, start {start:g}", stats.gumbel_r.cdf, gumbel, start, INFINITE
    for shape in (1e-3, 0.1, 1.0, 100.0, 1e6):
        for start in (np.log(shape), -10.0):
            name = f"log-gamma {shape:g}, start {start:.3g}"
            yield name, stats.loggamma(shape).cdf, log_gamma(shape), start, INFINITE
    for start in (40.0, 41.0, 80.0):
        bounds = (40.0, np.inf)
        yield f"normal above 40, start {start:g}", tail_cdf, normal(0, 1), start, bounds
    jump = inside(40, np.inf, normal(0, 1))
    yield "normal with a jump at 40", tail_cdf, jump, 41.0, INFINITE
    uniform = stats.uniform(2, 3).cdf
    yield "uniform", uniform, np.zeros_like, 2.1, (2.0, 5.0)
    yield "uniform, start at the end", uniform, np.zeros_like, 5.0, (2.0, 5.0)
    yield "uniform, unknown ends", uniform, inside(2, 5, np.zeros_like), 2.1, INFINITE
    rising = inside(-np.inf, 1e3, lambda x: x)
    yield "rising to a jump", lambda x: np.exp(x - 1e3), rising, 2.1, INFINITE
    for start in (0.0, 1.0, 1e6):
        yield f"exponential, start {start:g}", stats.expon.cdf, np.negative, start, POSITIVE
    yield "falling to the left", np.exp, np.positive, 0.0, (-np.inf, 0.0)
    for a, b in ((0.01, 0.01), (1.0, 1.0), (50.0, 0.5), (1e4, 1e5)):
        yield f"logit beta {a:g} {b:g}", logit_beta_cdf(a, b), logit_beta(a, b), 0.5, INFINITE
    beta = lambda x: 4 * np.log(x) + np.log1p(-x)  # noqa: E731
    yield "beta", stats.beta(5, 2).cdf, beta, 0.5, (0.0, 1.0)
    gamma = lambda x: 4 * np.log(x) - x  # noqa: E731
    yield "gamma", stats.gamma(5).cdf, gamma, 300.0, POSITIVE
    for count, ends in ((0, (-25, 5)), (3, (-8, 6)), (1000, (6, 8))):
        f = poisson_log_normal(count)
        yield f"poisson log-normal {count}", by_quadrature(f, *ends), f, 0.0, INFINITE


CASES = {name: case for name, *case in cases()}


def quiet(log_density):
    """A log density that may overflow or be no number outside of the support."""

    def of(x):
        with np.errstate(all="ignore"):
            return log_density(x)

    return of


def p_value(x, cdf):
    return stats.kstest(x, cdf).pvalue


def together(rng, log_density, start, *bounds):
    return log_concave(rng, log_density, np.full(N, start), *bounds)


def one_at_a_time(rng, log_density, start, *bounds):
    return np.array([log_concave(rng, log_density, start, *bounds) for _ in range(ONES)])


def a_few_at_a_time(rng, log_density, start, *bounds):
    start = np.full(concave.FEW, start)
    return np.ravel([log_concave(rng, log_density, start, *bounds) for _ in range(ONES // 10)])


def together_with_widths(rng, log_density, start, *bounds):
    """From a draw before, with the widths that it has told."""
    width = Width(np.zeros(N))
    x = np.full(N, start)
    for _ in range(2):
        x = log_concave(rng, log_density, x, *bounds, width=width)
    return x


def one_after_another(rng, log_density, start, *bounds, count=None):
    """Each from the one before, with the width that all before have told."""
    width, x, found = Width(np.zeros(())), np.float64(start), []
    for _ in range(count or ONES):
        x = log_concave(rng, log_density, x, *bounds, width=width)
        found.append(x)
    return np.array(found)


def with_wrong_widths(rng, log_density, start, *bounds, size=concave.FEW):
    """Widths from far too small to far too large."""
    x, found = np.full(size, start), []
    width = Width(10.0 ** np.linspace(-9, 9, size), adapting=False)
    for _ in range(ONES // size):
        x = log_concave(rng, log_density, x, *bounds, width=width)
        found.append(x)
    return np.ravel(found)


def many_with_wrong_widths(*arguments):
    return with_wrong_widths(*arguments, size=ONES // 2)


WAYS = (
    together,
    one_at_a_time,
    a_few_at_a_time,
    *(
        pytest.param(way, marks=pytest.mark.slow)
        for way in (
            one_after_another,
            together_with_widths,
            with_wrong_widths,
            many_with_wrong_widths,
        )
    ),
)


@pytest.mark.parametrize("way", [*WAYS[:3], one_after_another, *WAYS[4:]])
@pytest.mark.parametrize("name", CASES)
def test_draws_follow_the_distribution(name, way):
    cdf, log_density, start, (lower, upper) = CASES[name]
    x = way(np.random.default_rng(31), quiet(log_density), start, lower, upper)
    assert np.isfinite(x).all()
    assert np.all((x >= lower) & (x <= upper))
    assert p_value(x, cdf) > LEVEL
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < stats.norm.isf(LEVEL / 2) / np.sqrt(len(x) - 1)


def test_elements_have_their_own_densities_starts_and_bounds():
    """A normal, a half-normal far out, an exponential and a Laplace by turns, on all scales."""
    rng = np.random.default_rng(32)
    kind, scale = np.arange(N) % 4, 10.0 ** rng.uniform(-8, 8, N)
    lower = np.select([kind == 0, kind == 1, kind == 2], [-np.inf, 40.0, 0.0], -np.inf) * scale
    start = np.select([kind == 0, kind == 1], [rng.normal(0, 100, N), 41.0], 5.0) * scale

    def log_density(x):
        z = x / scale
        return np.where(kind < 2, -(z**2) / 2, -np.abs(z))

    z = log_concave(rng, log_density, start, lower) / scale
    for k, cdf in enumerate((stats.norm.cdf, tail_cdf, stats.expon.cdf, stats.laplace.cdf)):
        assert p_value(z[kind == k], cdf) > LEVEL


def test_draws_do_not_depend_on_the_start():
    rng = np.random.default_rng(33)
    start = rng.standard_normal(N)
    x = log_concave(rng, normal(0, 1), start)
    assert stats.pearsonr(start, x).pvalue > LEVEL
    assert stats.pearsonr(start**2, x**2).pvalue > LEVEL


def test_single_values_and_shapes():
    rng = np.random.default_rng(34)
    one = log_concave(rng, lambda x: -(x**2), 0.5)
    assert isinstance(one, float)
    assert log_concave(rng, lambda x: -(x**2), np.zeros((1, 1))).shape == (1, 1)
    assert log_concave(rng, lambda x: -(x**2), np.zeros((2, 3))).shape == (2, 3)
    assert log_concave(rng, lambda x: -(x**2), np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("size", [2, 12, 13, 40])
def test_batches_of_all_sizes(size):
    """Elements that differ: the last few must not be taken for others."""
    rng, mean = np.random.default_rng(45), 10.0 * np.arange(size)
    z = [log_concave(rng, lambda x: -((x - mean) ** 2) / 2, mean) - mean for _ in range(100)]
    assert p_value(np.ravel(z), stats.norm.cdf) > LEVEL


def test_starts_do_not_change_draws_of_single_elements():
    rng = np.random.default_rng(46)
    start = rng.standard_normal(2000)
    x = np.array([log_concave(rng, lambda x: -(x**2) / 2, s) for s in start])
    assert p_value(x, stats.norm.cdf) > LEVEL
    assert stats.pearsonr(start, x).pvalue > LEVEL
    assert stats.pearsonr(start**2, x**2).pvalue > LEVEL


def test_a_part_is_drawn_and_the_rest_stays():
    rng = np.random.default_rng(35)
    x, scale = rng.standard_normal((N, 3)), np.array([1.0, 2.0, 3.0])
    x[:, 2] = np.abs(x[:, 2])
    at, lower = (slice(None), slice(1, None)), np.array([0.0, -np.inf, 0.0])
    new = log_concave_part(rng, x, at, lambda v: -np.abs(v) / scale, lower)
    np.testing.assert_array_equal(new[:, 0], x[:, 0])
    assert p_value(new[:, 1], stats.laplace(0, 2).cdf) > LEVEL
    assert p_value(new[:, 2], stats.expon(0, 3).cdf) > LEVEL


def test_a_part_starts_within_its_bounds():
    with pytest.raises(RunError, match="no finite log density at the start, -1"):
        log_concave_part(
            np.random.default_rng(35), -np.ones(3), slice(1), lambda v: -v, lower=0.0
        )


def test_elements_are_drawn_one_after_the_other():
    """A random walk of three steps: every element is drawn given what the others are by then."""
    rng = np.random.default_rng(36)
    positions = [(0,), (1,), (2,)]
    precision = np.array([[2.0, -1, 0], [-1, 2, -1], [0, -1, 1]])
    root = np.linalg.cholesky(np.linalg.inv(precision))
    starts = rng.standard_normal((1000, 3)) @ root.T
    log_density = lambda v: -v @ precision @ v / 2  # noqa: E731
    x = np.array([log_concave_elements(rng, s, log_density, positions) for s in starts])
    for z in np.linalg.solve(root, x.T):
        assert p_value(z, stats.norm.cdf) > LEVEL
    assert p_value(np.einsum("ni,ij,nj->n", x, precision, x), stats.chi2(3).cdf) > LEVEL


# What is no log-concave density gets an error.

NOT_CONCAVE = {
    "cauchy": (lambda x: -np.log1p(x**2), 0.5, INFINITE),
    "two modes": (lambda x: np.logaddexp(-2 * (x - 2) ** 2, -2 * (x + 2) ** 2), 0.1, INFINITE),
    "gamma near zero": (lambda x: -0.6 * np.log(x) - x, 0.5, POSITIVE),
    "convex": (lambda x: x**2, 0.5, (0.0, 2.0)),
    "a hole": (lambda x: np.where(np.abs(x - 1.25) < 0.2, -np.inf, -(x**2)), 1.0, INFINITE),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NOT_CONCAVE)
def test_a_log_density_that_is_not_concave_raises(name, way):
    log_density, start, bounds = NOT_CONCAVE[name]
    with pytest.raises(RunError, match="not concave at"):
        way(np.random.default_rng(37), quiet(log_density), start, *bounds)


IMPROPER = {
    "flat": (np.zeros_like, INFINITE),
    "rising": (np.positive, INFINITE),
    "rising to the left": (np.negative, (-np.inf, 3.0)),
    "flat in one tail": (lambda x: -np.exp(-x), INFINITE),
    "flat above a bound": (np.zeros_like, POSITIVE),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", IMPROPER)
def test_a_tail_that_does_not_fall_raises(name, way):
    log_density, bounds = IMPROPER[name]
    with pytest.raises(RunError, match="no finite integral"):
        way(np.random.default_rng(38), quiet(log_density), 1.0, *bounds)


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_an_empty_support_raises(bad):
    start = np.array([0.5, -1.0])
    nowhere = lambda x: np.where(start < 0, bad, -(x**2))  # noqa: E731  (of the second element)
    with pytest.raises(RunError, match="no finite log density at the start, -1"):
        log_concave(np.random.default_rng(39), nowhere, start)
    with pytest.raises(RunError, match="no finite log density at the start, -1"):
        log_concave(np.random.default_rng(39), lambda x: np.full(np.shape(x), bad), start[1])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bad", [np.nan, -np.inf])
@pytest.mark.parametrize(("start", "upper"), [(-1.0, np.inf), (-1e9, np.inf), (-1.0, 1.25)])
def test_a_start_outside_of_the_support_is_moved_inside(start, upper, bad, way):
    log_density = lambda x: np.where(x < 1, bad, -x)  # noqa: E731
    x = way(np.random.default_rng(39), log_density, start, -np.inf, upper)
    assert p_value(x, stats.truncexpon(upper - 1, loc=1).cdf) > LEVEL


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("start", [-0.35, -0.85, -1.35, -1e6])
def test_a_start_where_the_log_density_overflows(start, way):
    """Values that nothing else sees start where they were drawn for another scale."""
    z = lambda x: (x - 0.001) / 0.001  # noqa: E731
    x = way(np.random.default_rng(40), quiet(lambda x: -z(x) - np.exp(-z(x))), start)
    assert p_value(z(x), stats.gumbel_r.cdf) > LEVEL


@pytest.mark.parametrize("start", [1.0, np.ones(1), np.ones(3)])
def test_an_infinite_log_density_raises(start):
    with pytest.raises(RunError, match="infinite at 1"):
        log_concave(np.random.default_rng(39), lambda x: np.full(np.shape(x), np.inf), start)


# How often the log density is evaluated, and what is above it.


@pytest.mark.parametrize(("width", "most"), [(None, 7.0), (Width(np.array(3.0)), 6.0)])
def test_few_evaluations_are_enough(width, most):
    """Mean evaluations of one element from a start in the distribution, its width known or not."""
    rng, calls = np.random.default_rng(40), []
    count = rng.poisson(np.exp(rng.standard_normal(200)))

    for y in count:
        log_density = lambda x, y=y: (calls.append(1), y * x - np.exp(x) - x**2 / 2)[1]  # noqa: E731
        log_concave(rng, log_density, rng.standard_normal(), width=width)
    assert len(calls) < most * len(count)


def rising_then_falling(x):
    return 2 * x - np.exp(x)


def some_points():
    """Seven points of many elements, and which of them have a hull with a finite integral."""
    x = np.sort(np.random.default_rng(41).normal(0, 3, (7, N)), 0)
    ends = np.full((1, N), np.inf)
    points = chords.Points(
        np.concatenate([-ends, x, ends]),
        np.concatenate([-ends, rising_then_falling(x), -ends]),
        np.full(N, len(x)),
    )
    proper = np.flatnonzero(chords.falling_tails(points).all(0))
    assert len(proper) > N / 2
    return points.only(proper)


def works(points):
    """The points of each element as the kernels of loops have them, with their hull."""
    found = []
    for x, f, n in zip(points.x.T, points.log_density.T, points.number, strict=True):
        work = {}
        kernels.concave_start(work, float(x[1]), float(x[0]), float(x[-1]), 0.0)
        for x_of_one, f_of_one in zip(x[1 : n + 1].tolist(), f[1 : n + 1].tolist(), strict=True):
            concave_four.put_in(work, x_of_one, f_of_one)
        concave_hull.make_hull(work, concave_points.F)
        found.append(work)
    return found


def test_the_hull_is_above_the_log_density_and_the_chords_are_below():
    points = some_points()
    with np.errstate(all="ignore"):
        hull = chords.hull_of(points)
        x, height = chords.drawn_from(np.random.default_rng(41), points, hull)
    low = [concave_points.chord_at(w, v) for w, v in zip(works(points), x, strict=True)]
    f = rising_then_falling(x)
    rounding = 1e-9 * (1 + np.abs(f))
    assert np.all(height + points.log_density.max(0) >= f - rounding)
    assert np.all(low <= f + rounding)


def test_hulls_are_the_same_on_plain_numbers():
    points = some_points()
    with np.errstate(all="ignore"):
        mass = np.sort(chords.hull_of(points).mass.reshape(-1, points.number.size), 0)
    for work, expected in zip(works(points), mass.T, strict=True):
        pieces = range(concave_points.PIECE, work[concave_points.BEHIND], concave_points.OF_PIECE)
        found = sorted(work[k + concave_hull.WEIGHT] for k in pieces)
        assert sum(found) == pytest.approx(work[concave_points.MASS])
        found = np.array([*[0.0] * (len(expected) - len(found)), *found])
        # (a fall of 1e-5 is divided by what it loses: digits to 1e-11)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * expected.max())


def test_hulls_of_four_points_are_above_and_their_chords_below():
    """Of candidates that were asked for, and of those that were drawn at once."""
    rng, seen = np.random.default_rng(43), {concave_four.IS_ASKED: 0, concave_four.IS_DRAWN: 0}
    for _ in range(2000):
        work = {}
        kernels.concave_start(work, 0.0, *(rng.choice([-np.inf, -9.0]), np.inf), 0.0)
        for x in np.sort(rng.normal(0.7, 1.0, 4)).tolist():
            concave_four.put_in(work, x, float(rising_then_falling(x)))
        if (found := concave_four.below_four(rng, work)) == concave_four.NO_HULL:
            continue
        seen[found] += 1
        f = rising_then_falling(work[concave_points.ASKED])
        assert work[concave_points.HEIGHT] >= f - 1e-12
        if found == concave_four.IS_DRAWN:
            assert work[concave_points.LEVEL] <= f + 1e-12
    assert min(seen.values()) > 100


# Planted bugs: the comparisons above must see them.

# (hulls of four points are good ones: it takes more draws to see what is wrong)
CHECKED = (
    together,
    one_at_a_time,
    a_few_at_a_time,
    partial(one_after_another, count=6000),
)


def is_caught(way):
    x = way(np.random.default_rng(42), lambda x: -(x**2) / 2, 1.0)
    return p_value(x, stats.norm.cdf) < LEVEL


def changed(function, change):
    """A function with another result."""
    return lambda *arguments: change(function(*arguments))


def everything_is_below(drawn):
    return drawn[0], np.full_like(drawn[1], -np.inf), *drawn[2:]


def everything_is_drawn(found):
    return concave_four.IS_DRAWN if found == concave_four.IS_ASKED else found


def without_tails(hull):
    return replace(hull, mass=np.where(np.isinf(hull.width), 0.0, hull.mass))


def without_infinite(function):
    """Masses of lines, those of lines that go on for ever left out."""

    def of(*arguments):
        if isinstance(arguments[0], dict):
            work, k = arguments[:2]
            width = work[k + concave_hull.WIDTH]
        else:
            width = arguments[-1]
        return 0.0 if np.isinf(width) else function(*arguments)

    return of


def fourth_power(mass):
    return mass**4


def with_result(change):
    return lambda function: changed(function, change)


BUGS = {
    "draws from the hull alone": (
        (concave, "_drawn", with_result(everything_is_below)),
        (kernels, "drawn_from", with_result(everything_is_below)),
        (kernels, "below_four", with_result(everything_is_drawn)),
    ),
    "wrong masses of pieces": (
        (chords, "_masses", with_result(fourth_power)),
        (concave_hull, "_mass_of", with_result(fourth_power)),
        (concave_four, "_mass", with_result(fourth_power)),
    ),
    "a tail that is cut off": (
        (concave, "hull_of", with_result(without_tails)),
        (concave_hull, "_mass_of", without_infinite),
        (concave_four, "_mass", without_infinite),
    ),
}


@pytest.mark.parametrize("way", CHECKED)
@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs_are_caught(name, way, monkeypatch):
    assert not is_caught(way)
    for module, function, change in BUGS[name]:
        monkeypatch.setattr(module, function, change(getattr(module, function)))
    assert is_caught(way)


def test_chords_above_the_log_density_are_caught(monkeypatch):
    monkeypatch.setattr(kernels, "chord_at", lambda *_: np.inf)
    assert is_caught(one_at_a_time)


def test_a_draw_that_depends_on_the_start_is_caught(monkeypatch):
    """Each draw goes a little way from the start alone: with a width, or without."""
    right = log_concave

    def half_way(rng, f, x, *bounds, **named):
        return (x + right(rng, f, x, *bounds, **named)) / 2

    monkeypatch.setitem(globals(), "log_concave", half_way)
    assert is_caught(one_after_another)
    assert is_caught(together_with_widths)


def test_elements_taken_for_others_are_caught(monkeypatch):
    right = concave._in_lockstep
    monkeypatch.setattr(concave, "_in_lockstep", lambda *a: right(*a)[::-1])
    mean = 10.0 * np.arange(5)
    x = log_concave(np.random.default_rng(47), lambda x: -((x - mean) ** 2) / 2, mean)
    assert np.abs(x - mean).max() > stats.norm.isf(LEVEL / len(x))


# Densities that are very steep, or known to few digits only.


def steep(mode, drop):
    """Falls by so much, and a third of it on the other side, within a millionth of 1."""
    return lambda x: -drop * np.where(x > mode, x - mode, (mode - x) / 3) * 1e6


def steep_cdf(mode, drop):
    def cdf(x):
        z = (x - mode) * drop * 1e6
        return np.where(z < 0, 0.75 * np.exp(np.minimum(z, 0) / 3), 1 - 0.25 * np.exp(-np.abs(z)))

    return cdf


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("start", [1.0, -1.0, 1e3])
@pytest.mark.parametrize("drop", [1e3, 1e30])
def test_densities_that_fall_very_steeply(drop, start, way, monkeypatch):
    # (a hundred halvings on the way to the mode: fewer draws)
    monkeypatch.setitem(globals(), "ONES", 40)
    monkeypatch.setitem(globals(), "N", 400)
    x = way(np.random.default_rng(50), steep(0.0, drop), start)
    assert p_value(x, steep_cdf(0.0, drop)) > LEVEL


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("start", [1.0, -1.0, 1e3])
def test_exponential_falls_beyond_a_flat_side(start, way):
    """Like the shape of a Weibull with large rates: one side falls by a power of the distance."""
    log_density = quiet(lambda x: x - np.exp(70 * x))
    x = way(np.random.default_rng(51), log_density, min(start, 9.0))
    assert p_value(70 * x, stats.loggamma(1 / 70).cdf) > LEVEL


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sd", [1e-18, 1e-25, 1e-100])
def test_a_mode_narrower_than_floats_gives_the_floats_beside_it(sd, way, monkeypatch):
    monkeypatch.setitem(globals(), "ONES", 40)
    mode = 1 / 3
    for log_density in (normal(mode, sd), laplace(mode, sd), steep(mode, 1e-6 / sd)):
        x = way(np.random.default_rng(52), quiet(log_density), 0.5)
        assert np.all(np.abs(x - mode) <= 2 * np.spacing(mode))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("noise", [1e-17, 1e-16])
def test_places_that_are_rounded_are_not_taken_for_a_lack_of_concavity(noise, way):
    """A sum with a term that cancels: the log density goes up and down from float to float."""
    log_density = quiet(lambda x: -(((7 * x + 0.1) - 3.1) ** 2) / noise**2)
    x = way(np.random.default_rng(53), log_density, 1.0)
    assert np.all(np.abs(x - 3 / 7) < 8 * np.spacing(3.0))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("floats", [1, 2, 3, 10, 100, 200])
@pytest.mark.parametrize("slope", [0.0, 1e3, 1e17, -1e25])
def test_bounds_a_few_floats_apart(slope, floats, way, monkeypatch):
    monkeypatch.setitem(globals(), "ONES", 40)
    lower, upper = 1.0, 1.0 + floats * np.spacing(1.0)
    for start in (lower, upper):
        x = way(np.random.default_rng(54), lambda x: slope * (x - lower), start, lower, upper)
        assert np.all((lower <= x) & (x <= upper))
        if abs(slope) > 1e20:
            nearest = upper if slope > 0 else lower
            assert np.all(np.abs(x - nearest) <= 2 * np.spacing(1.0))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [1e13, 1e14, 1e15])
def test_large_heights_with_differences_that_are_known(size, way):
    """The noise is at most a fifth of what matters: it blurs the draws by less than is seen."""
    x = way(np.random.default_rng(55), lambda x: normal(0, 1)(x) - size, 5.0)
    assert p_value(x, stats.norm.cdf) > LEVEL


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [1e17, 1e20, 1e30])
def test_noise_as_large_as_the_last_digits(size, way):
    """Draws are from where the log density is as high as it can be told."""
    width = np.sqrt(size * np.finfo(float).eps)

    def log_density(x):
        noise = np.finfo(float).eps * size * np.sin(1e9 * x / width)
        return -size - x**2 / 2 + noise

    x = way(np.random.default_rng(56), log_density, 300 * width) / width
    assert np.all(np.abs(x) < 100)
    assert stats.ttest_1samp(x, 0).pvalue > LEVEL


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("start", [1.0, pytest.param(8.0, marks=pytest.mark.slow), 30.0])
def test_a_shape_of_times_with_enormous_rates(start, way):
    rng = np.random.default_rng(57)
    rate, log_time = np.exp(20 + 10 * rng.standard_normal(100)), np.log(rng.exponential(size=100))

    def log_density(x):
        hazard = np.exp(np.multiply.outer(x, log_time)) @ rate
        return 100 * np.log(x) + x * log_time.sum() - hazard - 0.1 * x

    x = way(np.random.default_rng(58), quiet(log_density), start, *POSITIVE)
    highest = log_density(x).max()
    assert np.all(highest - log_density(x) < 1e3 * np.finfo(float).eps * np.abs(highest))


@pytest.mark.parametrize("way", WAYS)
def test_large_heights_do_not_hide_a_lack_of_concavity(way):
    with pytest.raises(RunError, match="not concave at"):
        way(np.random.default_rng(59), lambda x: 1e30 * x**2, 0.5, 0.0, 2.0)


@pytest.mark.parametrize("count", [1, 3, 50])
@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1e250])
def test_draws_at_extreme_scales_are_numbers_of_that_scale(count, scale):
    """Squares of such scales are no numbers, nor are slopes to where a search begins."""
    mean, start = 2.5 * scale, np.full(count, -32.0 * scale)[() if count == 1 else ...]

    def log_density(x):
        return -(((x - mean) / scale) ** 2) / 2

    rng = np.random.default_rng(1)
    with np.errstate(all="ignore"):
        lower = np.min(start)
        found = [log_concave(rng, log_density, start, lower) for _ in range(200 // count)]
    z = (np.concatenate([np.ravel(x) for x in found]) - mean) / scale
    assert stats.kstest(z, stats.norm.cdf).pvalue > 1e-6


@pytest.mark.parametrize("count", [1, 3, 50])
def test_a_scale_that_no_search_comes_down_to_is_an_error_and_no_draw(count):
    start = np.full(count, -1e-272)[() if count == 1 else ...]
    told = "none of 500 candidates"
    with np.errstate(all="ignore"), pytest.raises(RunError, match=told):
        log_concave(
            np.random.default_rng(1), lambda x: -((x / 3e-274) ** 2) / 2, start, np.min(start)
        )
