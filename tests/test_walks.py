"""Random walks, over-relaxed draws and kernels of one's own: they leave distributions as they are.

Invariance: many independent elements start in the distribution, take one fixed step, and must still
follow it: an exact test. Reach: after warm-up from a bad start they must follow it too.
"""

import pickle
from functools import cache

import numpy as np
import pytest
from scipy import optimize, stats
from test_moves import CONTINUOUS as SLICED
from test_moves import INFINITE, LEVEL, N

import gibbsppl as gp
from gibbsppl import runtime
from gibbsppl.checks.one_step import program_of
from gibbsppl.code.program import load
from gibbsppl.errors import CompileError, RunError
from gibbsppl.kernels import Own
from gibbsppl.output.diagnostics import mcse_mean
from gibbsppl.output.summary import LOWEST_ACCEPTANCE
from gibbsppl.run.chains import Chain, advance
from gibbsppl.run.sampling import run
from gibbsppl.runtime import moves, mvnormal, normal, walks
from gibbsppl.runtime.over_relaxed import over_relaxed_mvnormal, over_relaxed_normal
from gibbsppl.runtime.user_kernels import own_move
from gibbsppl.runtime.walks import (
    Walk,
    from_line,
    log_slope,
    to_line,
    vector_walk_of,
    walk_batch,
    walk_elements,
    walk_integers,
    walk_of,
    walk_part,
    walk_vectors,
)

SHARED = ("normal", "exponential", "gamma near zero", "beta", "uniform", "tiny")
CONTINUOUS = {name: SLICED[name] for name in SHARED}
# (the law of -x)
CONTINUOUS["below a bound"] = (stats.expon(loc=-3), lambda x: x - 3, (-np.inf, 3))


def fixed(scale, shape):
    return Walk(np.full(shape, np.log(scale)), 0.44, adapting=False)


def follows(values, exact):
    return stats.kstest(np.ravel(values), exact.cdf).pvalue > LEVEL


def moved(name, scale, rng, count=N):
    exact, log_density, bounds = CONTINUOUS[name]
    sign = -1 if name == "below a bound" else 1
    start = sign * exact.rvs(size=count, random_state=rng)
    size = exact.std() if name == "tiny" else 1.0
    return sign * walk_batch(rng, start, log_density, fixed(scale * size, count), *bounds)


@pytest.mark.parametrize("scale", [0.3, 3.0])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_random_walk_leaves_the_distribution_invariant(name, scale):
    assert follows(moved(name, scale, np.random.default_rng(5)), CONTINUOUS[name][0])


@pytest.mark.parametrize("name", ["exponential", "gamma near zero", "beta", "uniform"])
def test_steps_accepted_without_the_slope_of_the_map_would_be_found(name, monkeypatch):
    monkeypatch.setattr(walks, "log_slope", lambda u, _lower, _upper: np.zeros(np.shape(u)))

    assert not follows(moved(name, 3.0, np.random.default_rng(5)), CONTINUOUS[name][0])


@pytest.mark.parametrize("bounds", [(0, np.inf), (-np.inf, 2), (-1, 4), INFINITE])
def test_the_map_to_the_line_has_the_slope_that_is_said(bounds):
    u = np.linspace(-6, 6, 41)
    x = from_line(u, *bounds)
    slope = (from_line(u + 1e-6, *bounds) - from_line(u - 1e-6, *bounds)) / 2e-6

    np.testing.assert_allclose(to_line(x, *bounds), u, rtol=1e-9, atol=1e-12)
    # (a central difference errs by rounding over its width)
    np.testing.assert_allclose(np.exp(log_slope(u, *bounds)), slope, atol=1e-8, rtol=1e-7)
    assert ((x > bounds[0]) & (x < bounds[1])).all()


def test_bounds_may_differ_by_element():
    lower, upper = np.array([0.0, -np.inf, 1.0]), np.array([np.inf, 0.0, 2.0])
    x = np.array([2.0, -3.0, 1.25])
    u = to_line(x, lower, upper)

    np.testing.assert_allclose(u, [np.log(2), -np.log(3), np.log(1 / 3)])
    np.testing.assert_allclose(from_line(u, lower, upper), x)


@pytest.mark.parametrize("mean", [0.4, 30.0])
@pytest.mark.parametrize("scale", [0.5, 4.0])
def test_a_random_walk_of_counts_leaves_the_distribution_invariant(mean, scale):
    rng = np.random.default_rng(3)
    exact = stats.poisson(mean)
    start = exact.rvs(size=N, random_state=rng)
    after = walk_integers(rng, start, exact.logpmf, fixed(scale, N), 0)
    edges = np.unique(exact.ppf(np.linspace(0.1, 0.9, 9)))
    expected = np.diff(np.r_[0, exact.cdf(edges), 1]) * N
    seen = np.bincount(np.searchsorted(edges, after), minlength=len(edges) + 1)

    assert after.dtype == np.intp
    assert stats.chisquare(seen, expected).pvalue > LEVEL


COVARIANCE = np.array([[1.0, 0.95, 0], [0.95, 1.0, 0], [0, 0, 100.0]])
PRECISION = np.linalg.inv(COVARIANCE)


def of_vector(x):
    return -(x @ PRECISION @ x) / 2


def vectors(walk, rng, count, sweeps, lower=-np.inf):
    """Ends of independent chains that start in the distribution."""
    root = np.linalg.cholesky(COVARIANCE)
    found = []
    for _ in range(count):
        x = root @ rng.standard_normal(3)
        for _ in range(sweeps):
            x = walk_vectors(rng, x, of_vector, walk, [...], lower)
        found.append(x)
    return np.array(found)


def test_a_walk_of_vectors_leaves_the_distribution_invariant():
    rng, s = np.random.default_rng(4), {}
    walk = vector_walk_of(s, "x", 1, 3)
    x = np.array([5.0, -5.0, 80.0])
    for _ in range(2000):
        x = walk_vectors(rng, x, of_vector, walk, [...])
    moves.freeze(s)
    found = vectors(walk, rng, 1500, 2)

    for direction in ([1, 0, 0], [1, -1, 0], [1, 1, 0], [0, 0, 1]):
        sd = np.sqrt(np.array(direction) @ COVARIANCE @ direction)
        assert follows(found @ direction / sd, stats.norm())


def test_the_steps_of_a_vector_learn_the_covariance_and_the_share_accepted():
    rng, s = np.random.default_rng(4), {}
    walk = vector_walk_of(s, "x", 1, 3)
    x = np.zeros(3)
    for _ in range(4000):
        x = walk_vectors(rng, x, of_vector, walk, [...])
    steps = walk.factor[0] @ walk.factor[0].T
    moves.freeze(s)
    walk.taken_rate()
    accepted = []
    for _ in range(4000):
        x = walk_vectors(rng, x, of_vector, walk, [...])
        accepted.append(walk.taken_rate())

    # A step of unit covariance in one direction would be 10 times too long in another.
    found = np.linalg.eigvals(np.linalg.solve(COVARIANCE, steps)).real
    assert found.max() / found.min() < 3
    # The adapted scale fluctuates; its share of steps accepted is far from 0 and 1.
    assert 0.1 < np.mean(accepted) < 0.4


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_scales_of_single_elements_adapt_to_their_share(size):
    rng, s = np.random.default_rng(4), {}
    walk, x = walk_of(s, "x", (200,)), np.zeros(200)
    for _ in range(4000):  # (from a scale of 1 it is a million times to go)
        x = walk_batch(rng, x, lambda v: -((v / size) ** 2) / 2, walk)
    moves.freeze(s)
    walk.taken_rate()
    rates = []
    for _ in range(200):
        x = walk_batch(rng, x, lambda v: -((v / size) ** 2) / 2, walk)
        rates.append(walk.taken_rate())

    error = float(mcse_mean(np.array([rates])))
    assert abs(np.mean(rates) - walk.target) < stats.norm.isf(LEVEL / 2) * error
    assert follows(x / size, stats.norm())


def test_no_scale_changes_after_warm_up():
    rng, s = np.random.default_rng(4), {}
    walk = vector_walk_of(s, "x", 1, 3)
    x = np.zeros(3)
    for _ in range(50):
        x = walk_vectors(rng, x, of_vector, walk, [...])
    before = (walk.log_scale.copy(), walk.factor.copy(), walk.mean.copy(), walk.moves)
    moves.freeze(s)
    for _ in range(50):
        x = walk_vectors(rng, x, of_vector, walk, [...])

    for old, new in zip(before, (walk.log_scale, walk.factor, walk.mean, walk.moves), strict=True):
        np.testing.assert_array_equal(old, new)


def test_elements_in_turn_leave_a_joint_distribution_invariant():
    rng = np.random.default_rng(12)
    root = np.linalg.cholesky(COVARIANCE)
    start = rng.standard_normal((1500, 3)) @ root.T
    walk = fixed(1.0, 3)
    after = np.array([walk_elements(rng, x, of_vector, walk, [(0,), (1,), (2,)]) for x in start])

    assert follows(after[:, 0], stats.norm())
    assert follows((after[:, 0] - after[:, 1]) / np.sqrt(0.1), stats.norm())


def test_a_part_of_an_array_is_moved_alone():
    rng = np.random.default_rng(1)
    x = np.arange(6.0)
    after = walk_part(rng, x, np.array([1, 4]), lambda v: -(v**2) / 200, fixed(1.0, 2))

    assert set(np.flatnonzero(after != x)) <= {1, 4}
    np.testing.assert_array_equal(x, np.arange(6.0))


def test_a_walk_from_a_value_without_density_is_an_error():
    with pytest.raises(
        RunError, match=r"^random walk: the current value has no finite log density"
    ):
        walk_batch(np.random.default_rng(1), np.zeros(2), lambda v: v - np.inf, fixed(1.0, 2))


# ---- over-relaxation -------------------------------------------------------------------------


def log_normal_density(x, mean, covariance):
    return stats.multivariate_normal(np.atleast_1d(mean), np.atleast_2d(covariance)).logpdf(x)


class Given:
    """In place of a stream: the normal numbers that are asked for."""

    def __init__(self, z):
        self.z = np.asarray(z, dtype=float)

    def standard_normal(self, size=None):
        return self.z if size is None else self.z.reshape(size)


def moments_of_move(move, size):
    """A move is affine in its normal numbers: its mean and its factor, read off exactly."""
    mean = np.array(move(Given(np.zeros(size))), dtype=float)
    columns = [np.array(move(Given(row)), dtype=float) - mean for row in np.eye(size)]
    return mean, np.array(columns).T


@pytest.mark.parametrize("alpha", [-0.98, -0.5, 0.0, 0.7])
def test_an_over_relaxed_draw_is_in_detailed_balance(alpha):
    """``p(x) q(x -> y) = p(y) q(y -> x)``, q read off the move itself: no randomness."""
    precision = np.array([[2.0, 0.7], [0.7, 1.5]])
    h = np.array([1.0, -2.0])
    covariance = np.linalg.inv(precision)
    mean = covariance @ h
    rng = np.random.default_rng(3)
    flows = []
    points = rng.standard_normal((2, 2))
    for x, y in (points, points[::-1]):
        at, factor = moments_of_move(
            lambda g, x=x: over_relaxed_mvnormal(g, h, -precision / 2, (2,), x, alpha), 2
        )
        q = log_normal_density(y, at, factor @ factor.T)
        flows.append(log_normal_density(x, mean, covariance) + q)

    np.testing.assert_allclose(flows[0], flows[1], rtol=1e-10)


@pytest.mark.parametrize("alpha", [-0.98, 0.3])
def test_an_over_relaxed_number_is_in_detailed_balance(alpha):
    flows = []
    for x, y in ((0.4, -1.3), (-1.3, 0.4)):
        at, factor = moments_of_move(
            lambda g, x=x: np.atleast_1d(over_relaxed_normal(g, 3.0, -0.9, (1,), x, alpha)), 1
        )
        q = stats.norm(at[0], abs(factor[0, 0])).logpdf(y)
        flows.append(q + stats.norm(3 / 1.8, 1.8**-0.5).logpdf(x))

    np.testing.assert_allclose(flows[0], flows[1], rtol=1e-10)


def test_a_wrong_sd_would_break_the_balance():
    flows = []
    for x, y in ((0.4, -1.3), (-1.3, 0.4)):
        at, factor = moments_of_move(
            lambda g, x=x: np.atleast_1d(over_relaxed_normal(g, 3.0, -0.9, (1,), x, -0.9)), 1
        )
        q = stats.norm(at[0], 1.1 * abs(factor[0, 0])).logpdf(y)
        flows.append(q + stats.norm(3 / 1.8, 1.8**-0.5).logpdf(x))

    assert abs(flows[0] - flows[1]) > 1e-3


def test_over_relaxed_draws_have_the_moments_of_the_conditional():
    rng = np.random.default_rng(4)
    exact = stats.norm(2.0, 0.5)
    x = exact.rvs(size=N, random_state=rng)
    y = over_relaxed_normal(rng, 8.0, -2.0, (N,), x, -0.9)

    assert follows(y, exact)
    # the correlation of N pairs has the error (1 - rho**2) / sqrt(N)
    found = np.corrcoef(x, y)[0, 1]
    assert abs(found + 0.9) < stats.norm.isf(LEVEL / 2) * (1 - 0.9**2) / np.sqrt(N)


def test_alpha_of_zero_is_the_ordinary_draw():
    eta_1, eta_2 = np.arange(3.0), -np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        over_relaxed_normal(np.random.default_rng(1), eta_1, eta_2, (3,), np.ones(3), 0.0),
        normal(np.random.default_rng(1), eta_1, eta_2, (3,)),
    )
    np.testing.assert_allclose(
        over_relaxed_mvnormal(np.random.default_rng(1), eta_1, -PRECISION, (3,), np.ones(3), 0.0),
        mvnormal(np.random.default_rng(1), eta_1, -PRECISION, (3,)),
    )


# ---- kernels of one's own --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (np.zeros(3), r"^x: kernel, the kernel given for it, ret.* shape \(3,\), ex.* \(2,\)"),
        (None, r"^x: kernel, .* returned None, expected an array of numbers of shape \(2,\); end"),
        (np.array([1.0, -1.0]), r"^x: kernel, .* returned -1\.0 at \(1,\), outside of the sup"),
        (np.array([np.nan, 1.0]), r"^x: kernel, .* returned nan at \(0,\), expected finite"),
        (np.array([1.0, 9.0]), r"^x: kernel, .* returned a value of zero density; reject such a v"),
    ],
)  # fmt: skip
def test_what_a_kernel_of_ones_own_returns_is_checked(returned, message):
    def kernel(rng, value, log_density):
        del rng, value, log_density
        return returned

    def log_density(x):
        return np.where(x < 5, 0.0, -np.inf)

    with pytest.raises(RunError, match=message):
        own_move(np.random.default_rng(1), np.ones(2), ..., log_density, kernel, "x", lower=0)


@pytest.mark.parametrize(
    ("log_density", "expected"),
    [(lambda x: -x, [-np.inf, -0.5, -np.inf]), (lambda x: -x.sum(), -np.inf)],
)
def test_the_log_density_is_that_of_the_support(log_density, expected):
    def kernel(rng, value, log_density):
        del rng
        np.testing.assert_array_equal(log_density(np.array([-1.0, 0.5, 3.0])), expected)
        return value

    own_move(np.random.default_rng(1), np.ones(3), ..., log_density, kernel, "x", 0, 2)


def test_labels_beyond_their_bounds_are_not_read():
    table = np.log([0.2, 0.5, 0.3])

    def kernel(rng, value, log_density):
        del rng
        np.testing.assert_array_equal(log_density(value + 1), [table[1], -np.inf])
        np.testing.assert_array_equal(log_density(value - 1), [-np.inf, table[1]])
        return value

    x = np.array([0, 2])
    own_move(np.random.default_rng(1), x, ..., lambda z: table[z], kernel, "z", 0, 2)


def test_whole_numbers_stay_whole():
    def kernel(rng, value, log_density):
        del rng, log_density
        return value + 0.5

    with pytest.raises(RunError, match=r"^x: kernel, .* returned 1\.5 at \(0,\), expected whole"):
        own_move(np.random.default_rng(1), np.array([1, 2]), ..., np.zeros_like, kernel, "x")


def test_a_kernel_gets_what_its_step_draws_and_changes_nothing_else():
    seen = []

    def kernel(rng, value, log_density):
        seen.append((value.copy(), log_density(value)))
        value += 1  # (an array of its own: in place is allowed)
        return value

    x = np.arange(5.0)
    after = own_move(np.random.default_rng(1), x, np.array([1, 3]), lambda v: -v, kernel, "x")

    np.testing.assert_array_equal(after, [0, 2, 2, 4, 4])
    np.testing.assert_array_equal(x, np.arange(5.0))
    np.testing.assert_array_equal(seen[0], [[1, 3], [-1, -3]])


# ---- in models -------------------------------------------------------------------------------


def walking(rng, value, log_density):
    """A kernel that leaves the density as it is, all elements together."""
    new = value + 0.7 * rng.standard_normal(np.shape(value))
    with np.errstate(all="ignore"):
        ratio = np.sum(log_density(new)) - np.sum(log_density(value))
    return new if np.log(rng.random()) < ratio else value


def unrefusing(rng, value, log_density):
    """A kernel that does not: it refuses hardly any step."""
    new = value + 0.7 * rng.standard_normal(np.shape(value))
    ratio = np.sum(log_density(new)) - np.sum(log_density(value))
    return new if np.log(rng.random()) < ratio / 10 else value


@cache
def groups(**_):
    with gp.Model(coords={"g": 3, "n": 6}, name="groups") as m:
        of = gp.Index("of", [0, 0, 1, 1, 2, 2], of="g", dims="n")
        mu = gp.Normal("mu", 0, sigma=1)
        tau = gp.Gamma("tau", 3, rate=2)
        p = gp.Beta("p", 2, 3)
        count = gp.Poisson("count", 3, dims="g")
        a = gp.Normal("a", mu, tau=tau, dims="g")
        gp.Normal("y", a[of] + count[of] / 4, sigma=1, dims="n", observed=np.zeros(6))
        gp.Bernoulli("hit", p, dims="n", observed=[0, 1, 1, 0, 1, 0])
    return m


@cache
def small():
    with gp.Model(coords={"n": 2}, name="small") as m:
        mu = gp.Normal("mu", 0, sigma=1)
        tau = gp.Gamma("tau", 2, rate=2)
        gp.Normal("y", mu, tau=tau, dims="n", observed=np.zeros(2))
    return m


@cache
def chain_with_a_gap():
    with gp.Model(coords={"t": 4}, name="chain") as m:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, tau=1)
        x[1:] = gp.Normal(x.lag("t", 1), tau=2)
        gp.Normal("y", x, sigma=1, dims="t", observed=[0.0, 1.0, np.nan, 2.0], missing=np.nan)
    return m


@cache
def line():
    with gp.Model(coords={"n": 4, "k": 2}, name="line") as m:
        X = gp.Data("X", [[1.0, 0.2], [1, -1], [1, 0.5], [1, 0.1]], dims=("n", "k"))
        beta = gp.Normal("beta", 0, sigma=1, dims="k")
        gp.Normal("y", X @ beta, sigma=1, dims="n", observed=np.zeros(4))
    return m


@cache
def regression():
    with gp.Model(coords={"n": 8, "k": 3}, name="regression") as m:
        X = gp.Data("X", np.random.default_rng(2).standard_normal((8, 3)), dims=("n", "k"))
        beta = gp.Normal("beta", 0, sigma=1, dims="k")
        gp.Bernoulli("y", logit_p=X @ beta, dims="n", observed=[0, 1, 0, 1, 1, 0, 0, 1])
    return m


GROUPS = {
    "mu": (gp.RandomWalk(), gp.Slice(), gp.OverRelaxed(), walking, gp.AdaptiveRejection()),
    "tau": (gp.RandomWalk(), gp.Slice(), gp.AdaptiveRejection()),
    "p": (gp.RandomWalk(), gp.Slice(), walking),
    "a": (gp.RandomWalk(), gp.OverRelaxed(-0.5), walking),
    "count": (gp.RandomWalk(), gp.RandomWalk(scale=2)),
}
CASES = [(groups, n, k) for n, ks in GROUPS.items() for k in ks]
CASES += [(regression, "beta", k) for k in (gp.RandomWalk(), walking)]
CASES += [(chain_with_a_gap, n, gp.RandomWalk()) for n in "xy"]
CASES += [(line, "beta", gp.OverRelaxed(-0.5))]


def told(kernel):
    return str(kernel) if not callable(kernel) else kernel.__name__


@pytest.mark.slow
@pytest.mark.parametrize(("make", "name", "kernel"), CASES, ids=told)
def test_kernels_leave_the_joint_distribution_as_it_is(make, name, kernel):
    sampler = gp.compile(make(), kernels={name: kernel})
    found = sampler.check_kernel(name, replicates=1500, seed=3, level=1e-3 / len(CASES))

    assert found.passed, f"\n{found}"


QUICK = [(small, "tau", gp.RandomWalk()), (small, "mu", walking)]
FEW = {
    "replicates": 250,
    "sweeps": 8,
    "seed": 3,
    "level": 1e-4,
    "functions": {n: lambda values, n=n: float(values[n]) for n in ("mu", "tau")},
}


@pytest.mark.parametrize(("make", "name", "kernel"), QUICK, ids=told)
def test_few_replicates_are_as_they_were(make, name, kernel):
    sampler = gp.compile(make(), kernels={name: kernel})
    found = sampler.check_kernel(name, **FEW)

    assert found.passed, f"\n{found}"


def test_a_kernel_that_is_not_invariant_is_found():
    sampler = gp.compile(small(), kernels={"mu": unrefusing})
    found = sampler.check_kernel("mu", **FEW)

    assert sampler.verify().proved  # (the log density that it is given is right)
    assert not found.passed


def test_a_walk_without_the_slope_is_found_in_a_model(monkeypatch):
    monkeypatch.setattr(walks, "log_slope", lambda u, _lower, _upper: np.zeros(np.shape(u)))
    sampler = gp.compile(small(), kernels={"tau": gp.RandomWalk()})

    assert not sampler.check_kernel("tau", **FEW).passed


def test_the_check_of_a_kernel_makes_that_step_alone():
    sampler = gp.compile(groups(), kernels={"tau": gp.RandomWalk()}, scan="random")
    with pytest.raises(CompileError, match=r"^check_kernel: found 'y', expected the name"):
        sampler.check_kernel("y")
    (chain,), _ = sampler.initial_states(1, 1)
    program, before = program_of(sampler.schedule, "tau"), dict(chain.state)
    for _ in range(20):
        program.sweep(chain.rng, chain.state, sampler.constants)

    assert {n for n in before if not np.array_equal(chain.state[n], before[n])} == {"tau"}


def test_no_case_is_missing_a_way_of_moving():
    """Batches, vectors, whole numbers, parts, one by one: each generated call is in some case."""
    chosen = [CASES[0], *(c for c in CASES if c[1] in ("count", "beta", *"xy")), *CASES[2:4]]
    sources = "".join(gp.compile(m(), kernels={n: k}).source for m, n, k in chosen)
    called = {w for w in dir(runtime) if f"runtime.{w}(" in sources}
    wanted = {w for w in dir(runtime) if w.startswith("walk_") and w != "walk_of"}

    assert wanted | {"own_move", "over_relaxed_normal", "over_relaxed_mvnormal"} <= called


# ---- runs ------------------------------------------------------------------------------------


def test_the_share_of_accepted_steps_is_in_the_draws_and_in_the_summary():
    sampler = gp.compile(groups(), kernels={"tau": gp.RandomWalk(), "a": gp.RandomWalk()})
    draws = sampler.sample(200, warmup=300, chains=2, seed=1, progress=False)
    rates = draws.sample_stats["acceptance of tau"]

    assert rates.shape == (2, 200)
    assert set(np.unique(rates)) == {0.0, 1.0}  # (one element, one step a draw)
    assert set(np.unique(draws.sample_stats["acceptance of a"])) <= {0, 1 / 3, 2 / 3, 1}
    assert "Proposals accepted (in the worst chain): " in str(draws.summary())
    assert draws.summary().acceptance["tau"] == rates.mean(axis=1).min()
    assert "Proposals accepted" not in str(draws.summary("mu"))


def test_too_few_accepted_steps_are_flagged():
    sampler = gp.compile(groups(), kernels={"mu": gp.RandomWalk(scale=1000)})
    draws = sampler.sample(100, warmup=5, chains=1, seed=1, progress=False)

    assert "Too few proposals are accepted of mu (below 3.9 %)" in str(draws.summary())


def test_nothing_adapts_after_warm_up_in_a_run(monkeypatch):
    """Scales at the first draw are those at the last: were freezing left out, they would differ."""

    def scale_after(draws):
        sampler = gp.compile(groups(), kernels={"tau": gp.RandomWalk()})
        starts, _ = sampler.initial_states(1, 1)
        result = run(
            sampler.program, sampler.constants, starts, draws=draws, warmup=20, progress=False
        )
        return result.chains[0].state["~tau"].log_scale.copy()

    np.testing.assert_array_equal(scale_after(1), scale_after(50))
    monkeypatch.setattr(moves, "freeze", lambda state: state)
    assert (scale_after(1) != scale_after(50)).any()


@pytest.mark.parametrize("scan", ["systematic", "random", "symmetric"])
def test_a_chain_taken_up_again_goes_on_as_if_it_had_never_stopped(scan):
    kernels = {"tau": gp.RandomWalk(), "a": walking, "mu": gp.OverRelaxed(), "count": gp.Slice()}
    sampler = gp.compile(groups(), kernels=kernels, scan=scan)
    (chain,), _ = sampler.initial_states(1, 5)
    advance(sampler.program, sampler.constants, chain, 20)
    program, other = pickle.loads(pickle.dumps((sampler.program, chain)))
    advance(sampler.program, sampler.constants, chain, 30)
    advance(program, sampler.constants, other, 30)

    for name in ("mu", "tau", "p", "count", "a"):
        np.testing.assert_array_equal(chain.state[name], other.state[name])
    assert load(program.source, program.kernels).source == sampler.source


def test_a_kernel_that_fails_is_named_with_its_step():
    def falling(rng, value, log_density):
        del rng, log_density
        return value - 100

    sampler = gp.compile(groups(), kernels={"tau": falling})
    with pytest.raises(RunError, match=r"tau: .*falling, the kernel given for it, returned .* out"):
        sampler.sample(5, warmup=0, chains=1, seed=1, init={"tau": 1.0}, progress=False)
    assert isinstance(sampler.schedule.step("tau").asked, Own)


def test_variants_without_what_is_set_are_compared():
    sampler = gp.compile(groups(), kernels={"tau": gp.RandomWalk()}, scan="random", order=("tau",))
    found = sampler.compare(draws=20, warmup=5, chains=1)

    assert {v.name for v in found.variants} >= {
        "as compiled", "in the default order", "with the default kernels", "systematic scan",
    }  # fmt: skip


def test_the_geweke_test_of_random_walks_is_of_fixed_ones():
    walk = walk_of({}, "x", (2,))
    assert walk.adapting
    assert not walk_of({}, "x", (2,), scale=0.5).adapting
    assert walk_of({}, "x", (2,), scale=0.5, target=0.3).target == 0.3


@pytest.mark.parametrize("kernel", [gp.RandomWalk(), gp.Slice()])
def test_what_is_first_moved_after_warm_up_does_not_adapt(kernel):
    """Without a warm-up, or where a random scan has left a step out of it."""
    sampler = gp.compile(small(), kernels={"tau": kernel})
    chain = Chain({"mu": np.array(0.0), "tau": np.array(1.0)}, np.random.default_rng(1))
    result = run(sampler.program, sampler.constants, [chain], draws=20, warmup=0, progress=False)
    tuning = result.chains[0].state["~tau"]

    assert not tuning.adapting
    assert tuning.moves == 0


def test_rates_are_saved_and_read_again(tmp_path):
    sampler = gp.compile(groups(), kernels={"a": gp.RandomWalk()})
    draws = sampler.sample(10, warmup=5, chains=2, seed=1, progress=False)
    draws.save(tmp_path / "draws.nc")
    again = gp.load_draws(tmp_path / "draws.nc")

    np.testing.assert_array_equal(
        again.sample_stats["acceptance of a"], draws.sample_stats["acceptance of a"]
    )


def test_an_over_relaxed_scalar_is_one_of_an_array():
    one = over_relaxed_normal(np.random.default_rng(1), 2.0, -0.7, (), 0.3, -0.9)
    (many,) = over_relaxed_normal(np.random.default_rng(1), 2.0, -0.7, (1,), 0.3, -0.9)

    np.testing.assert_allclose(one, many, rtol=1e-12)


def test_the_share_that_is_too_low_is_half_as_good_as_the_best():
    def speed(a):
        return a * stats.norm.ppf(a / 2) ** 2

    best = optimize.minimize_scalar(lambda a: -speed(a), bounds=(0.01, 0.99), method="bounded").x
    half = optimize.brentq(lambda a: speed(a) - speed(best) / 2, 1e-6, best)

    assert round(best, 3) == walks.MANY
    assert round(half, 3) == LOWEST_ACCEPTANCE
