"""Slice moves and draws of labels against exact distributions, at a family-wise level.

A move is judged twice. Invariance: many independent elements start in the distribution, take one
move, and must still follow it; with starts independent this is an exact test. Reach: from a bad
start, draws far enough apart must follow the distribution.
"""

import numpy as np
import pytest
from scipy import special, stats

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.runtime.labels import FEW, LogWeights, Table, labels
from gibbsppl.runtime.moves import (
    Width,
    freeze,
    slice_batch,
    slice_elements,
    slice_integers,
    width_of,
)
from gibbsppl.runtime.tied import exchanged, shared_out, sheared, slice_matrices, slice_tied, turned

N = 4000
# More comparisons than this file makes.
COMPARISONS = 200
LEVEL = 1e-4 / COMPARISONS

INFINITE = (-np.inf, np.inf)

# Distribution, log density up to a constant, support.
CONTINUOUS = {
    "normal": (stats.norm(1, 2), lambda x: -((x - 1) ** 2) / 8, INFINITE),
    "two modes": (None, lambda x: np.logaddexp(-2 * (x - 2) ** 2, -2 * (x + 2) ** 2), INFINITE),
    "cauchy": (stats.cauchy(), lambda x: -np.log1p(x**2), INFINITE),
    "exponential": (stats.expon(), lambda x: -x, (0, np.inf)),
    "gamma near zero": (stats.gamma(0.4), lambda x: -0.6 * np.log(x) - x, (0, np.inf)),
    "beta": (stats.beta(0.6, 3), lambda x: -0.4 * np.log(x) + 2 * np.log1p(-x), (0, 1)),
    "uniform": (stats.uniform(2, 3), lambda x: np.zeros(np.shape(x)), (2, 5)),
    "tiny": (stats.norm(0, 1e-8), lambda x: -((x / 1e-8) ** 2) / 2, INFINITE),
    "huge": (stats.norm(0, 1e8), lambda x: -((x / 1e8) ** 2) / 2, INFINITE),
    "tiny and positive": (stats.expon(scale=1e-8), lambda x: -x / 1e-8, (0, np.inf)),
    "without a mean": (
        stats.invgamma(0.5, scale=2),
        lambda x: -1.5 * np.log(x) - 2 / x,
        (0, np.inf),
    ),
    "tiny and far from zero": (
        stats.norm(1e4, 1e-6),
        lambda x: -(((x - 1e4) / 1e-6) ** 2) / 2,
        INFINITE,
    ),
}


class TwoModes:
    """An even mixture of normals with means 2 and -2 and standard deviation a half."""

    def rvs(self, size, random_state):
        sign = random_state.choice([-2.0, 2.0], size)
        return sign + random_state.standard_normal(size) / 2

    def cdf(self, x):
        return (stats.norm.cdf(x, 2, 0.5) + stats.norm.cdf(x, -2, 0.5)) / 2


def distribution(name):
    return CONTINUOUS[name][0] or TwoModes()


def log_density_of(name):
    """The log density, which must never be asked about points outside of the bounds."""
    _, log_density, (lower, upper) = CONTINUOUS[name]

    def checked(x):
        assert np.all((x >= lower) & (x <= upper))
        with np.errstate(divide="ignore"):
            return log_density(x)

    return checked


def fixed_width(value, shape):
    return Width(np.full(shape, float(value)), moves=100, adapting=False)


def follows(values, exact):
    return stats.kstest(np.ravel(values), exact.cdf).pvalue > LEVEL


# ---- continuous ------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_slice_move_leaves_the_distribution_invariant(name, width):
    rng = np.random.default_rng(5)
    lower, upper = CONTINUOUS[name][2]
    exact = distribution(name)
    start = exact.rvs(size=N, random_state=rng)
    scale = stats.iqr(start)
    tuned = fixed_width(width * scale, N)
    moved = slice_batch(rng, start, log_density_of(name), tuned, lower, upper)

    assert follows(moved, exact)
    assert np.mean(moved != start) > 0.99
    # The start itself is judged too: otherwise a bad simulation would pass for a bad move.
    assert follows(start, exact)


@pytest.mark.parametrize("name", ["exponential", "gamma near zero", "beta", "uniform"])
def test_the_change_of_one_slice_move_has_no_direction(name):
    """Reversibility: in the stationary distribution (old, new) and (new, old) are alike."""
    rng = np.random.default_rng(8)
    lower, upper = CONTINUOUS[name][2]
    exact = distribution(name)
    start = exact.rvs(size=4 * N, random_state=rng)
    width = fixed_width(stats.iqr(start), start.shape)
    moved = slice_batch(rng, start, log_density_of(name), width, lower, upper)
    u, v = exact.cdf(start), exact.cdf(moved)
    change = u * v**2 - u**2 * v  # odd under exchange, bounded

    z = change.mean() / (change.std() / np.sqrt(change.size))
    assert stats.norm.sf(abs(z)) * 2 > LEVEL


@pytest.mark.parametrize("name", CONTINUOUS)
def test_slice_moves_find_the_distribution_from_a_bad_start(name):
    rng = np.random.default_rng(6)
    lower, upper = CONTINUOUS[name][2]
    exact = distribution(name)
    # All elements in one far tail.
    x = np.full(400, exact.rvs(size=N, random_state=rng).max())
    s = {"x": x}
    width = width_of(s, "x", np.shape(s["x"]))
    for _ in range(150):
        x = slice_batch(rng, x, log_density_of(name), width, lower, upper)
    freeze(s)
    for _ in range(10):
        x = slice_batch(rng, x, log_density_of(name), width, lower, upper)

    assert follows(x, exact)


def test_one_positive_value_is_moved_as_many_are():
    rng = np.random.default_rng(9)
    exact, log_density, bounds = CONTINUOUS["without a mean"]
    x, width = float(exact.rvs(random_state=rng)), fixed_width(2.0, ())
    found = []
    for n in range(20 * 500):
        x = slice_batch(rng, x, log_density, width, *bounds)
        if n % 20 == 19:
            found.append(x)
    assert follows(found, exact)


@pytest.mark.parametrize("start", [1e-3, 1e12])
def test_positive_values_come_back_from_far_away(start):
    exact, log_density, bounds = CONTINUOUS["without a mean"]
    rng, x, width = np.random.default_rng(10), np.full(N, start), fixed_width(1.0, N)
    for _ in range(60):
        x = slice_batch(rng, x, log_density, width, *bounds)
    assert follows(x, exact)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_adaptation_finds_the_scale(scale):
    """In units of the scale, widths settle where those of a unit scale do."""

    def settled(scale, seed):
        rng = np.random.default_rng(seed)
        s = {"x": np.zeros(200)}
        width = width_of(s, "x", np.shape(s["x"]))
        for _ in range(1000):
            s["x"] = slice_batch(rng, s["x"], lambda x: -((x / scale) ** 2) / 2, width)
        return width.value / scale

    assert stats.mannwhitneyu(settled(scale, 1), settled(1.0, 2)).pvalue > LEVEL


def test_adaptation_stops_when_frozen():
    rng = np.random.default_rng(1)
    s = {"x": np.zeros(3)}
    width = width_of(s, "x", np.shape(s["x"]))
    before = width.value.copy()
    slice_batch(rng, s["x"], lambda x: -(x**2) / 2, width)

    assert not np.array_equal(before, width.value)

    freeze(s)
    frozen = width.value.copy()
    slice_batch(rng, s["x"], lambda x: -(x**2) / 2, width)

    np.testing.assert_array_equal(frozen, width.value)


def test_the_width_of_a_variable_is_kept_in_the_state():
    s = {"x": np.zeros((2, 3))}

    assert width_of(s, "x", np.shape(s["x"])) is width_of(s, "x", np.shape(s["x"]))
    assert width_of(s, "x", np.shape(s["x"])).value.shape == (2, 3)


def test_a_slice_move_leaves_its_argument_alone():
    x = np.ones(5)
    slice_batch(np.random.default_rng(1), x, lambda v: -(v**2), fixed_width(1, 5))

    np.testing.assert_array_equal(x, np.ones(5))


def test_a_scalar_stays_a_scalar():
    found = slice_batch(np.random.default_rng(1), 0.3, lambda v: -(v**2), fixed_width(1, ()))

    assert np.shape(found) == ()


def test_moving_nothing_is_fine():
    found = slice_batch(np.random.default_rng(1), np.zeros(0), lambda v: -(v**2), fixed_width(1, 0))

    assert found.shape == (0,)


def test_bounds_may_differ_by_element():
    rng = np.random.default_rng(2)
    lower = np.array([0.0, 5.0, -3.0])
    x = lower + 0.5
    for _ in range(200):
        x = slice_batch(rng, x, lambda v: -np.abs(v), fixed_width(2, 3), lower, lower + 1)
        assert ((x >= lower) & (x <= lower + 1)).all()


def test_elements_of_one_call_are_independent():
    rng = np.random.default_rng(9)
    start = rng.standard_normal((2, N))
    moved = slice_batch(rng, start, lambda v: -(v**2) / 2, fixed_width(2, (2, N)))

    assert stats.pearsonr(moved[0], moved[1]).pvalue > LEVEL
    assert stats.pearsonr(moved[0] - start[0], moved[1] - start[1]).pvalue > LEVEL


@pytest.mark.parametrize("value", [-np.inf, np.inf, np.nan])
def test_a_current_value_without_density_is_an_error(value):
    with pytest.raises(RunError, match="slice"):
        slice_batch(
            np.random.default_rng(1),
            np.zeros(2),
            lambda v: np.array([0.0, value]),
            fixed_width(1, 2),
        )


def test_a_density_that_is_a_spike_keeps_the_value():
    found = slice_batch(
        np.random.default_rng(1),
        np.array([2.0]),
        lambda v: np.where(v == 2.0, 0.0, -np.inf),
        fixed_width(1, 1),
    )

    assert found == 2.0


def test_points_where_the_density_overflows_are_passed_over_in_silence():
    """Warnings are errors here, as an overflow far out in the tail is none."""
    rng = np.random.default_rng(1)
    start = -np.log(rng.standard_exponential(N))
    moved = slice_batch(rng, start, lambda v: -np.exp(-v) - v, fixed_width(1e4, N))

    assert follows(moved, stats.gumbel_r)


@pytest.mark.parametrize("size", [0, 1])
def test_points_where_the_log_density_is_infinite_are_outside_of_the_slice(size):
    def log_density(v):
        return np.where(np.abs(v) < 3, -(v**2) / 2, np.inf)

    rng, shape = np.random.default_rng(1), (N,) * size
    found = [
        slice_batch(rng, np.zeros(shape), log_density, fixed_width(1.0, shape)) for _ in range(200)
    ]

    assert np.abs(found).max() < 3


# ---- whole numbers ---------------------------------------------------------------------------

WHOLE = {
    "poisson": (stats.poisson(2.5), (0, np.inf)),
    "large poisson": (stats.poisson(400), (0, np.inf)),
    "binomial": (stats.binom(6, 0.3), (0, 6)),
    "one value": (stats.randint(4, 5), (4, 4)),
    "both signs": (stats.randint(-2, 3), (-2, 2)),
}


def agrees(values, exact):
    """A chi-square test of counts, labels of small expectation lumped together."""
    low, high = int(exact.ppf(0.005)), int(exact.ppf(0.995))
    cells = np.arange(low, high + 1)
    edges = np.unique(cells[:: max(1, len(cells) // 12)])
    probability = np.diff(np.r_[0, exact.cdf(edges), 1])
    found = np.bincount(np.searchsorted(edges, np.ravel(values)), minlength=len(edges) + 1)
    kept = probability > 0
    assert found[~kept].sum() == 0
    if kept.sum() == 1:
        return True
    expected = probability[kept] * np.size(values)
    return stats.chisquare(found[kept], expected * found.sum() / expected.sum()).pvalue > LEVEL


@pytest.mark.parametrize("width", [0.5, 3.0])
@pytest.mark.parametrize("name", WHOLE)
def test_a_move_of_whole_numbers_leaves_the_distribution_invariant(name, width):
    rng = np.random.default_rng(3)
    exact, (lower, upper) = WHOLE[name]
    start = exact.rvs(size=N, random_state=rng)
    tuned = fixed_width(width * (1 + start.std()), N)
    moved = slice_integers(rng, start, exact.logpmf, tuned, lower, upper)

    assert moved.dtype == np.intp
    assert ((moved >= lower) & (moved <= upper)).all()
    assert agrees(start, exact)
    assert agrees(moved, exact)


def test_moves_of_whole_numbers_find_the_distribution():
    rng = np.random.default_rng(4)
    exact = stats.poisson(40)
    x = np.zeros(600, dtype=int)
    s = {"x": x}
    for _ in range(100):
        x = slice_integers(rng, x, exact.logpmf, width_of(s, "x", np.shape(s["x"])), 0)

    assert agrees(x, exact)


# ---- one element after the other -------------------------------------------------------------


def test_elements_moved_in_turn_leave_a_joint_distribution_invariant():
    rng = np.random.default_rng(12)
    precision = np.linalg.inv([[1.0, 0.8], [0.8, 1.0]])
    factor = np.linalg.cholesky([[1.0, 0.8], [0.8, 1.0]])
    width = fixed_width(2, 2)
    start = rng.standard_normal((1500, 2)) @ factor.T
    moved = np.array(
        [
            slice_elements(rng, x, lambda v: -v @ precision @ v / 2, width, [(0,), (1,)])
            for x in start
        ]
    )

    for values in (moved[:, 0], moved[:, 1], (moved[:, 0] - moved[:, 1]) / np.sqrt(0.4)):
        assert follows(values, stats.norm())


def test_only_the_positions_given_are_moved():
    x = np.arange(6.0).reshape(2, 3)
    width = fixed_width(1, (2, 3))
    found = slice_elements(
        np.random.default_rng(1), x, lambda v: -(v**2).sum() / 2, width, [(0, 1), (1, 2)]
    )
    changed = found != x

    assert changed.tolist() == [[False, True, False], [False, False, True]]
    np.testing.assert_array_equal(x, np.arange(6.0).reshape(2, 3))


def test_elements_that_are_whole_numbers_stay_whole():
    rng = np.random.default_rng(2)
    x = np.array([1, 2, 3])
    width = fixed_width(2, 3)
    for _ in range(50):
        x = slice_elements(
            rng, x, lambda v: stats.poisson.logpmf(v, 2).sum(), width, [(0,), (2,)], lower=0
        )
        assert x.dtype.kind == "i"
        assert (x >= 0).all()
        assert x[1] == 2


def test_bounds_of_single_elements_are_kept():
    rng = np.random.default_rng(2)
    x = np.array([0.5, 5.5])
    for _ in range(100):
        x = slice_elements(
            rng, x, lambda v: 0.0 * v.sum(), fixed_width(1, 2), [(0,), (1,)],
            lower=np.array([0.0, 5.0]), upper=np.array([1.0, 6.0]),
        )  # fmt: skip
        assert 0 <= x[0] <= 1
        assert 5 <= x[1] <= 6


def test_the_widths_of_elements_adapt_apart():
    rng = np.random.default_rng(3)
    scale = np.tile([1e-4, 1e4], 15)
    s = {"x": scale * rng.standard_normal(30)}
    positions = [(i,) for i in range(30)]
    for _ in range(100):
        width = width_of(s, "x", np.shape(s["x"]))
        s["x"] = slice_elements(
            rng, s["x"], lambda v: -((v / scale) ** 2).sum() / 2, width, positions
        )
    ratio = width_of(s, "x", np.shape(s["x"])).value / scale

    assert width_of(s, "x", np.shape(s["x"])).moves == 100
    assert stats.mannwhitneyu(ratio[::2], ratio[1::2]).pvalue > LEVEL


@pytest.mark.parametrize("moves", ["one", "several"])
def test_whole_numbers_at_a_bound_stay_within(moves):
    """Planted: a generator whose numbers are as near to 1 as can be."""
    weights = np.arange(1.0, 6.0)

    class Nearly(np.random.Generator):
        def random(self, size=None):
            return np.full(size or (), np.nextafter(1.0, 0.0))[()]

    rng = Nearly(np.random.PCG64(1))
    shape = () if moves == "one" else (3,)
    x = slice_integers(
        rng, np.full(shape, 4), lambda k: np.log(weights[k]), fixed_width(9.0, shape), 0, 4
    )
    assert ((x >= 0) & (x <= 4)).all()


@pytest.mark.parametrize("at", [2.0**52 + 1, 2.0**53, 2.0**60])
def test_large_whole_numbers_keep_the_density_of_the_current_value(at):
    """Where a sum with a number below 1 would be rounded up to another whole number."""
    seen = []

    def log_density(k):
        seen.append(float(k))
        return 0.0 if k == at else -np.inf

    for seed in range(5):
        x = slice_integers(
            np.random.default_rng(seed), at, log_density, fixed_width(3.0, ()), 0.0, 2.0**62
        )
        assert (seen[0], x) == (at, at)
        seen.clear()


# ---- entries that are tied to one another ----------------------------------------------------

SHARES = np.array([0.3, 1.0, 4.0])
CHANCES = np.array([0.2, 0.3, 0.5])
SCALE = np.array([[1.0, 0.5], [0.5, 2.0]])
ALONE = [()]


def of_direction(rng, size):
    return stats.vonmises_fisher([0, 0, 1], 2.0).rvs(size, random_state=rng)


# For each kind of value: how it is drawn, its log density up to a constant, a move, and a number
# that is made of it with its distribution.
TIED = {
    "shares": (
        lambda rng, size: rng.dirichlet(SHARES, size),
        lambda w: ((SHARES - 1) * np.log(w)).sum(),
        lambda *args: slice_tied(*args, ALONE, shared_out),
        lambda w: w[0],
        stats.beta(SHARES[0], SHARES[1:].sum()),
    ),
    "counts": (
        lambda rng, size: rng.multinomial(9, CHANCES, size),
        lambda n: n @ np.log(CHANCES) - special.gammaln(n + 1).sum(),
        lambda *args: slice_tied(*args, ALONE, exchanged),
        lambda n: n[2],
        stats.binom(9, CHANCES[2]),
    ),
    "directions": (
        of_direction,
        lambda v: 2.0 * v[2],
        lambda *args: slice_tied(*args, ALONE, turned),
        lambda v: 1 - v[2],
        stats.truncexpon(4, scale=0.5),
    ),
    "matrices": (
        lambda rng, size: stats.wishart(4, SCALE).rvs(size, random_state=rng),
        lambda m: 0.5 * np.linalg.slogdet(m)[1] - np.trace(np.linalg.solve(SCALE, m)) / 2,
        lambda *args: slice_matrices(*args, ALONE, sheared),
        lambda m: m[1, 1] / SCALE[1, 1],
        stats.chi2(4),
    ),
}


@pytest.mark.parametrize("kind", TIED)
def test_a_move_of_tied_entries_leaves_the_distribution_invariant(kind):
    rng, size = np.random.default_rng(6), 400
    drawn, log_density, move, number, exact = TIED[kind]
    start = drawn(rng, size)
    width = fixed_width(1.5, start.shape[1:])
    moved = [move(rng, x, log_density, width) for x in start]
    found = [number(x) for x in moved]

    assert agrees(np.array(found), exact) if kind == "counts" else follows(found, exact)
    assert np.mean([np.any(x != y) for x, y in zip(moved, start, strict=True)]) > 0.9


@pytest.mark.parametrize("kind", TIED)
def test_moves_of_tied_entries_stay_in_the_support(kind):
    rng = np.random.default_rng(7)
    drawn, log_density, move, *_ = TIED[kind]
    x = drawn(rng, 1)[0] if kind != "matrices" else np.eye(2)
    for _ in range(50):
        x = move(rng, x, log_density, fixed_width(30.0, x.shape))

    held = {
        "shares": lambda: np.isclose(x.sum(), 1, atol=1e-12) and (x > 0).all(),
        "counts": lambda: x.sum() == 9 and (x >= 0).all() and x.dtype.kind == "i",
        "directions": lambda: np.isclose((x**2).sum(), 1, atol=1e-12),
        "matrices": lambda: np.array_equal(x, x.T) and (np.linalg.eigvalsh(x) > 0).all(),
    }
    assert held[kind]()


def test_slices_of_matrices_end_where_rounding_leaves_no_inverse():
    """A density that no stretched matrix is too large for, but for its digits."""
    with gp.Model(coords={"t": 3}) as model:
        gp.HuangWand("S", nu=2.0, scale=1.0, dims=("t", "t'"), event=("t", "t'"))
    sampler = gp.compile(model, rewrites=False)
    state = {"S": np.eye(3)}
    given = sampler.program.given_rest["S"](state, sampler.constants)
    width, rng = fixed_width(1e9, (3, 3)), np.random.default_rng(1)
    x = state["S"]
    for _ in range(50):
        x = slice_matrices(rng, x, given, width, ALONE, sheared)

    assert (np.linalg.eigvalsh(x) > 0).all()


@pytest.mark.parametrize("at_once", [True, False])
def test_shares_of_zero_stay_so_and_the_others_move(at_once):
    rng = np.random.default_rng(8)
    x = np.array([[0.0, 0.4, 0.6], [0.0, 1.0, 0.0]])
    colours = [(slice(0, 2),)] if at_once else [(0,), (1,)]
    found = slice_tied(rng, x, lambda _: np.zeros(2), fixed_width(1, x.shape), colours, shared_out)

    assert (found[:, 0] == 0).all()
    assert found[1].tolist() == [0, 1, 0]
    assert not np.isclose(found[0], x[0])[1:].any()


def test_a_share_that_is_alone_stays():
    found = slice_tied(
        np.random.default_rng(1), np.ones(1), lambda _: 0.0, fixed_width(1, 1), ALONE, shared_out
    )
    assert found == [1.0]


# ---- labels ----------------------------------------------------------------------------------


def drawn_evenly(values, weights):
    """A chi-square test of drawn labels against their probabilities."""
    weights = np.asarray(weights, float)
    found = np.bincount(np.ravel(values), minlength=len(weights))
    assert found[weights == 0].sum() == 0
    kept = weights > 0
    expected = weights[kept] / weights.sum() * found.sum()
    return kept.sum() == 1 or stats.chisquare(found[kept], expected).pvalue > LEVEL


@pytest.mark.parametrize("shift", [0.0, -1e5, 1e5])
@pytest.mark.parametrize("weights", [[1, 2, 3], [0, 1, 1], [1, 0, 2], [5, 1, 0], [0, 0, 4], [2]])
def test_labels_are_drawn_in_proportion_to_their_weights(weights, shift):
    with np.errstate(divide="ignore"):
        log_weights = np.log(np.array(weights, float)) + shift
    found = labels(
        np.random.default_rng(1), np.broadcast_to(log_weights[:, None], (len(weights), N))
    )

    assert found.shape == (N,)
    assert found.dtype == np.intp
    assert drawn_evenly(found, weights)


def test_each_element_has_weights_of_its_own():
    rng = np.random.default_rng(2)
    weights = rng.dirichlet(np.ones(4), size=3).T
    found = labels(rng, np.log(np.repeat(weights[:, :, None], N, axis=2)))

    assert found.shape == (3, N)
    for row, w in zip(found, weights.T, strict=True):
        assert drawn_evenly(row, w)
    assert stats.pearsonr(found[0], found[1]).pvalue > LEVEL


def test_one_element_gives_one_number():
    found = labels(np.random.default_rng(1), np.log([0.2, 0.8]))

    assert np.shape(found) == ()
    assert found in (0, 1)


def test_weights_far_apart_choose_the_largest():
    log_weights = np.array([[-1e5, 1e5], [1e5, -1e5], [0.0, 0.0]])

    assert labels(np.random.default_rng(1), log_weights).tolist() == [1, 0]


def test_no_elements_give_no_labels():
    assert labels(np.random.default_rng(1), np.zeros((3, 0))).shape == (0,)


@pytest.mark.parametrize("bad", [-np.inf, np.nan])
def test_labels_without_probability_are_an_error(bad):
    log_weights = np.zeros((2, 3))
    log_weights[:, 1] = bad

    with pytest.raises(RunError, match="labels"):
        labels(np.random.default_rng(1), log_weights)


@pytest.mark.parametrize("count", [1, 2, 7, 300])
def test_few_elements_are_drawn_as_among_many(count):
    rng = np.random.default_rng(5)
    log_weights = 3.0 * rng.standard_normal((count, FEW + 1))
    log_weights[1:][rng.random((count - 1, FEW + 1)) < 0.5] = -np.inf
    many = labels(np.random.default_rng(6), log_weights)

    for elements in (1, 2, 20, FEW):
        few = log_weights[:, :elements]
        table = LogWeights(few.shape, 0.0, Table(log_weights, np.arange(elements)))
        for given in (few, table):
            found = labels(np.random.default_rng(6), given)
            assert found.dtype == np.intp
            np.testing.assert_array_equal(found, many[:elements])
    rng = np.random.default_rng(6)
    one_by_one = [labels(rng, log_weights[:, n]) for n in range(FEW)]
    np.testing.assert_array_equal(one_by_one, many[:FEW])


def test_few_elements_of_more_labels_than_a_short_integer_can_count():
    found = labels(np.random.default_rng(6), np.zeros((40_000, 20)))

    # (whole numbers add up exactly)
    expected = np.floor(40_000 * np.random.default_rng(6).random(20))
    np.testing.assert_array_equal(found, expected)
    assert found.max() >= 1 << 15


def test_one_element_drawn_again_and_again_follows_its_weights():
    weights = [1, 0, 2, 5, 0]
    rng = np.random.default_rng(7)
    with np.errstate(divide="ignore"):
        log_weights = np.log(np.array(weights, float))

    assert drawn_evenly([labels(rng, log_weights) for _ in range(N)], weights)


@pytest.mark.parametrize("bad", [-np.inf, np.nan])
def test_one_element_without_probability_is_an_error(bad):
    with pytest.raises(RunError, match="labels"):
        labels(np.random.default_rng(1), np.full(3, bad))


def test_labels_do_not_change_the_weights():
    log_weights = np.log(np.array([[0.2, 0.5], [0.8, 0.5]]))
    before = log_weights.copy()
    labels(np.random.default_rng(1), log_weights)

    np.testing.assert_array_equal(before, log_weights)


# ---- labels from tables ----------------------------------------------------------------------


def tables(rng, count=4, elements=50, spread=1.0):
    """Two tables, an array of weights of its own, and the same weights written out."""
    first = spread * rng.standard_normal((count, 6))
    second = spread * rng.standard_normal((count, 3))
    dense = spread * rng.standard_normal((count, elements))
    i, j = rng.integers(0, 6, elements), rng.integers(0, 3, elements)
    given = LogWeights((count, elements), dense, Table(first, i), Table(second, j))
    return given, dense + first[:, i] + second[:, j]


def test_tables_read_as_an_array_are_summed():
    given, expected = tables(np.random.default_rng(1))

    np.testing.assert_allclose(np.asarray(given), expected, rtol=1e-12)
    np.testing.assert_allclose(given[:, 3], expected[:, 3], rtol=1e-12)
    np.testing.assert_allclose(given[(slice(None), 4)], expected[:, 4], rtol=1e-12)
    np.testing.assert_allclose(list(given), expected, rtol=1e-12)


def test_tables_are_summed_once_for_all_labels(monkeypatch):
    given, _ = tables(np.random.default_rng(1), count=40)
    calls = []
    summed = LogWeights.__array__
    monkeypatch.setattr(
        LogWeights, "__array__", lambda self, *given: calls.append(1) or summed(self, *given)
    )

    assert len(list(given)) == 40
    assert len(calls) == 1


@pytest.mark.parametrize("spread", [1.0, 30.0, 400.0, 1e4])
def test_tables_give_the_labels_of_the_array_written_out(spread):
    given, expected = tables(np.random.default_rng(2), elements=3000, spread=spread)
    found = labels(np.random.default_rng(3), given)

    np.testing.assert_array_equal(found, labels(np.random.default_rng(3), expected))


def test_labels_from_many_elements_are_drawn_in_pieces():
    given, expected = tables(np.random.default_rng(2), count=3, elements=70_000)

    np.testing.assert_array_equal(
        labels(np.random.default_rng(3), given), labels(np.random.default_rng(3), expected)
    )


def test_tables_without_an_array_of_their_own():
    rng = np.random.default_rng(4)
    weights = rng.dirichlet(np.ones(3), size=2)
    index = np.repeat([0, 1], N)
    found = labels(rng, LogWeights((3, 2 * N), 0.0, Table(np.log(weights.T), index)))

    assert drawn_evenly(found[:N], weights[0])
    assert drawn_evenly(found[N:], weights[1])


def test_tables_that_exclude_each_other_are_an_error():
    with np.errstate(divide="ignore"):
        first, second = np.log(np.array([[1.0], [0.0]])), np.log(np.array([[0.0], [1.0]]))
    index = np.zeros(5, dtype=int)

    with pytest.raises(RunError, match="labels"):
        labels(
            np.random.default_rng(1),
            LogWeights((2, 5), 0.0, Table(first, index), Table(second, index)),
        )


def test_tables_with_impossible_labels_never_draw_them():
    with np.errstate(divide="ignore"):
        first = np.log(np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]))
        second = np.log(np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
    i, j = np.repeat([0, 0, 1, 1], 500), np.repeat([0, 1, 0, 1], 500)
    found = labels(
        np.random.default_rng(1), LogWeights((3, 2000), 0.0, Table(first, i), Table(second, j))
    ).reshape(4, 500)

    assert set(found[0]) == {1, 2}
    assert set(found[1]) == {2}
    assert set(found[2]) == {0, 1}
    assert set(found[3]) == {0}
