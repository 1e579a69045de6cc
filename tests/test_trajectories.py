"""Moves along paths, by gradients: joint distributions, the integrator, gradients.

(What moves leave as it is, to the last digits, is in `test_enumerated_paths`.)
"""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.errors import CompileError
from gibbsppl.runtime import trajectories
from gibbsppl.runtime.joint import Joint, drawn
from gibbsppl.runtime.loops import hamiltonian
from gibbsppl.runtime.loops import trajectories as paths
from gibbsppl.runtime.moves import freeze
from gibbsppl.runtime.trajectories import trajectory_of
from gibbsppl.runtime.unconstrained import Unconstrained
from tests.slopes_by_differences import moved_step, worst_slope

COUNTS = [1, 0, 3, 4]


def bounded():
    """Values above a bound, between bounds, below a bound."""
    a = gp.Gamma("a", 2, rate=1)
    p = gp.Beta("p", 2, 3)
    u = gp.Normal("u", 0, sigma=1, upper=0.5)
    gp.Poisson("y", a * p * gp.exp(u), dims="t", observed=COUNTS)
    return "a", "p", "u"


def chain():
    """Two statements of one array."""
    tau = gp.Gamma("tau", 3, rate=1)
    x = gp.Array("x", dims="t")
    x[0] = gp.Normal(0, sigma=1)
    x[1:] = gp.Normal(x.lag("t"), tau=tau)
    gp.Poisson("y", gp.exp(x), dims="t", observed=COUNTS)
    return ("x",)


def partly_known():
    """An array of which some elements are data."""
    known = np.ma.masked_array([0.3, 0.0, 0.0, -0.2], [0, 1, 1, 0])
    mu = gp.Normal("mu", 0, sigma=1)
    x = gp.Normal("x", mu, sigma=1, dims="t", observed=known)
    gp.Poisson("y", gp.exp(x), dims="t", observed=COUNTS)
    return "mu", "x"


def tied():
    """Two simplexes and a matrix, with a number that all of them are read with."""
    a = gp.Gamma("a", 3, rate=1)
    p = gp.Dirichlet("p", gp.Data("prior", [1.0, 2.0, 0.5, 3.0], dims="t"), dims=("g", "t"))
    scale = gp.Data("scale", [[1.0, 0.4], [0.4, 1.5]], dims=("g", "g'"))
    m = gp.Wishart("m", 4.0, V=a * scale, dims=("g", "g'"))
    mean = a * p.sum("g") * gp.exp(-m.at("g", 0).at("g'", 1) / 4)
    gp.Poisson("y", mean, dims="t", observed=COUNTS)
    return "a", "p", "m"


MODELS = {f.__name__: f for f in (bounded, chain, partly_known, tied)}
KERNELS = {"nuts": gp.NUTS(max_depth=5), "hmc": gp.HMC()}


def compiled(name, kernel):
    with gp.Model(coords={"g": 2, "t": 4}) as model:
        names = MODELS[name]()
    return gp.compile(model, kernels={names: KERNELS[kernel]}, rewrites=False)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_conditionals_and_calls_are_proved(name, kernel):
    sampler = compiled(name, kernel)

    assert sampler.verify().proved


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_moves_leave_the_joint_distribution_as_it_is(name, kernel):
    sampler = compiled(name, kernel)
    step = moved_step(sampler).name

    assert sampler.check_kernel(step, seed=1, replicates=500).passed


@pytest.mark.parametrize("name", MODELS)
def test_gradients_are_those_of_the_log_density(name):
    assert worst_slope(compiled(name, "nuts")) <= 1


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        pytest.param(n, k, marks=() if (n, k) == ("bounded", "nuts") else pytest.mark.slow)
        for n in MODELS
        for k in KERNELS
    ],
)
def test_loops_make_the_same_moves(name, kernel):
    """One move: rounding of two programs, which paths of many steps let grow."""
    sampler = compiled(name, kernel)
    settings = {"warmup": 1, "chains": 1, "seed": 4, "progress": False}
    ours, theirs = (sampler.sample(1, backend=b, **settings) for b in ("numpy", "compiled"))
    for n in moved_step(sampler).variables:
        assert ours[n] == pytest.approx(theirs[n], rel=1e-7)


# Of known densities


BOUNDS = {"x": (np.array([0.0, 0.0, -np.inf, -np.inf]), np.array([np.inf, 1.0, 5.0, np.inf]))}


def surface(arrays):
    x, p, u, z = arrays["x"]
    v = 5 - u
    height = 2 * np.log(x) - x + np.log(p) + 2 * np.log1p(-p) + np.log(v) - v - 2 * (z - 1) ** 2
    slopes = [2 / x - 1, 1 / p - 2 / (1 - p), 1 - 1 / v, -4 * (z - 1)]
    return height, {"x": np.array(slopes)}


def test_steps_can_be_gone_back():
    """To rounding: forwards, then with time reversed, whatever the slopes are."""
    rng = np.random.default_rng(3)
    size, count = 3, 20
    rows, work = np.zeros((hamiltonian.ROWS, size)), np.zeros(paths.SIZE)
    scale, tried = np.array([0.5, 1.0, 2.0]), np.zeros(size)
    rows[:3] = rng.standard_normal((3, size))
    slopes = lambda x: np.sin(3 * x) - x**3  # noqa: E731
    rows[hamiltonian.G] = slopes(rows[hamiltonian.Q])
    first = rows[:2].copy()
    work[hamiltonian.SIZE_OF_STEP] = 0.1
    for way in (1.0, -1.0):
        work[hamiltonian.WAY] = way
        for _ in range(count):
            hamiltonian.gone(work, scale, rows, tried)
            hamiltonian.arrived(work, scale, slopes(tried), rows)

    assert np.abs(rows[:2] - first).max() < 2 * count * 1e3 * np.finfo(float).eps


def test_adaptation_ends_with_warm_up():
    sampler = compiled("chain", "nuts")
    settings = {"chains": 1, "seed": 1, "progress": False, "backend": "numpy"}
    draws = sampler.sample(20, warmup=30, **settings)
    again = sampler.sample(20, warmup=30, **settings)

    assert np.array_equal(draws["x"], again["x"])
    rng, state = np.random.default_rng(0), {}
    freeze(state)
    space = Unconstrained(Joint({"x": drawn((4,), [((0, 4),)])}, []), {})
    tuning = trajectory_of(state, "x", space, 0.8)
    before = tuning.learnt.copy()
    trajectories.nuts(rng, {"x": np.array([1.0, 0.5, 3.0, 1.0])}, space, surface, tuning, 3, BOUNDS)

    assert np.array_equal(tuning.learnt, before)


@pytest.mark.parametrize("kernel", ["nuts", pytest.param("hmc", marks=pytest.mark.slow)])
def test_a_summary_tells_of_paths(kernel):
    sampler = compiled("chain", kernel)
    settings = {"chains": 2, "warmup": 100, "seed": 1, "progress": False}
    for backend in ("numpy", "compiled"):
        draws = sampler.sample(20, thin=2, backend=backend, **settings)
        found = {n: a.mean(axis=1) for n, a in draws.sample_stats.items()}
        summary = draws.summary()

        assert list(found) == ["acceptance of x", "points of x", "divergence of x"]
        assert summary.acceptance["x"] == found["acceptance of x"].min()
        assert summary.paths["x"] == (found["points of x"].max(), found["divergence of x"].max())
        assert (found["points of x"] >= 1).all()
        assert (found["divergence of x"] == 0).all()
        assert "Points of a path (in the longest chain): x " in str(summary)
        assert "diverged" not in str(summary)


@pytest.mark.slow
def test_paths_that_diverge_are_told():
    """In the neck of a funnel steps that were right elsewhere are too long."""
    with gp.Model(coords={"i": 9}) as funnel:
        v = gp.Normal("v", 0, sigma=10)
        gp.Normal("x", 0, tau=gp.exp(-v), dims="i")
    sampler = gp.compile(funnel, kernels={("v", "x"): gp.NUTS()}, rewrites=False)
    settings = {"chains": 2, "seed": 1, "progress": False, "backend": "compiled"}
    draws = sampler.sample(500, warmup=200, **settings)

    shares = draws.sample_stats["divergence of v, x"].mean(axis=1)
    assert shares.max() > 0
    assert draws.summary().paths["v, x"][1] == shares.max()
    assert "Paths diverged (in the worst chain): v, x " in str(draws.summary())


COMPOSED = {
    "cycle": lambda: gp.Cycle(gp.NUTS(max_depth=3), gp.Slice(), gp.HMC()),
    "mixture": lambda: gp.Mix(gp.NUTS(max_depth=3), gp.NUTS(max_depth=2), weights=(0.7, 0.3)),
}


def composed(name):
    with gp.Model(coords={"t": 4}) as model:
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Gamma("a", 2, rate=gp.exp(mu), dims="t")
        gp.Poisson("y", gp.exp(mu), dims="t", observed=COUNTS)
    return gp.compile(model, kernels={"mu": COMPOSED[name]()}, rewrites=False)


@pytest.mark.parametrize("name", ["cycle", pytest.param("mixture", marks=pytest.mark.slow)])
def test_paths_are_parts_of_cycles_and_mixtures(name):
    """Each part learns by itself, and is the same in loops."""
    sampler = composed(name)
    settings = {"warmup": 1, "chains": 1, "seed": 4, "progress": False}
    ours, theirs = (sampler.sample(1, backend=b, **settings) for b in ("numpy", "compiled"))

    assert sampler.verify().proved
    assert ours["mu"] == pytest.approx(theirs["mu"], rel=1e-7)
    assert ours.sample_stats.keys() == theirs.sample_stats.keys()


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPOSED)
def test_parts_leave_the_joint_distribution_as_it_is(name):
    sampler = composed(name)
    for step in sampler.schedule.steps:
        if step.asked is not None:
            assert sampler.check_kernel(step.name, seed=1, replicates=500).passed


def refused(kernels, declare):
    with gp.Model(coords={"t": 4}) as model:
        declare()
    with pytest.raises(CompileError) as error:
        gp.compile(model, kernels=kernels)
    return str(error.value)


def test_means_of_what_paths_move_are_refused():
    with gp.Model(coords={"t": 4}) as model:
        MODELS["partly_known"]()
    with pytest.raises(CompileError, match=r"kernels: NUTS moves x by the gradient.* leave x out"):
        gp.compile(model, kernels={"x": gp.NUTS()}, by={"mu": "mean"}, rewrites=False)


def test_what_no_path_goes_through_is_refused():
    def labels():
        z = gp.Bernoulli("z", 0.3, dims="t")
        gp.Normal("y", z, sigma=1, dims="t", observed=COUNTS)

    def directions():
        north = gp.Data("north", [1.0, 0.0, 0.0, 0.0], dims="t")
        v = gp.VonMisesFisher("v", mu=north, kappa=1.0, dims="t")
        gp.Normal("y", v, sigma=1, dims="t", observed=COUNTS)

    assert "moves real values" in refused({"z": gp.NUTS()}, labels)
    assert "not values in unit vectors" in refused({"v": gp.HMC()}, directions)
    both = {("mu", "x"): gp.NUTS(), "x": gp.Slice()}
    assert "has a kernel already" in refused(both, MODELS["partly_known"])
    slices = {("mu", "x"): gp.Slice()}
    assert "one variable at a time" in refused(slices, MODELS["partly_known"])
    several = {("mu", "x"): gp.Cycle(gp.NUTS(), gp.Slice())}
    assert "one variable at a time" in refused(several, MODELS["partly_known"])
    for wrong in (0, 21, 1.5, True):
        with pytest.raises(CompileError, match="max_depth"):
            gp.NUTS(max_depth=wrong)
