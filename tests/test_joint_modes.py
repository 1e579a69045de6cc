"""Joint modes of variables whose log density is concave in all together, by Newton steps."""

import importlib
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, special, stats

import gibbsppl as gp
from gibbsppl.algebra.expansions import expanded
from gibbsppl.algebra.expressions import Array, Dim, Over
from gibbsppl.algebra.functions import FUNCTIONS, Expit, LogPhi, Phi, Softplus, Where
from gibbsppl.code.loop_program import loops_of
from gibbsppl.code.program import load
from gibbsppl.errors import NotLoweredError, RunError
from gibbsppl.fits.differences import derivative_of
from gibbsppl.kernels.ascent import Ascent
from gibbsppl.model.evaluation import evaluate
from gibbsppl.runtime import Joint, climb_jointly, drawn
from models import bugs

RNG = np.random.default_rng(7)
X = RNG.normal(size=(80, 3)) * [1.0, 3.0, 0.3]
G = RNG.integers(0, 6, size=80)
ETA = 0.3 + X @ [0.5, -0.2, 0.4]
COUNTS = RNG.poisson(np.exp(ETA))
BITS = RNG.binomial(1, special.expit(ETA))


def regression(outcome, y, prior=0.5, intercept=None, name="regression"):
    """A regression without groups: a linear predictor, and what is observed of it."""
    with gp.Model(name=name, coords={"i": len(y), "k": X.shape[1]}) as model:
        x = gp.Data("x", X[: len(y)], dims=("i", "k"))
        level = gp.Flat("level") if intercept is None else gp.Normal("level", 0, tau=intercept)
        b = gp.Normal("b", 0, tau=prior, dims="k")
        outcome(level + x @ b, y)
    return model


def counts(eta, y):
    return gp.Poisson("y", gp.exp(eta), dims="i", observed=y)


def logit(eta, y):
    return gp.Bernoulli("y", gp.expit(eta), dims="i", observed=y)


def probit(eta, y):
    return gp.Bernoulli("y", gp.Phi(eta), dims="i", observed=y)


def cloglog(eta, y):
    return gp.Binomial("y", 3, p=1 - gp.exp(-gp.exp(eta)), dims="i", observed=y)


def polya(eta, y):
    return gp.NegativeBinomial("y", n=2.5, p=gp.expit(-eta), dims="i", observed=y)


OUTCOMES = {
    "counts": (counts, COUNTS), "logit": (logit, BITS), "probit": (probit, BITS),
    "cloglog": (cloglog, BITS), "polya": (polya, COUNTS),
}  # fmt: skip


def climbed(model, **settings):
    """The optimum, all of it found by Newton steps."""
    best = gp.compile(model).maximise(seed=1, progress=False, **settings)
    assert [type(s) for s in best.schedule.steps] == [Ascent]
    assert best.converged
    return best


# ---- against others --------------------------------------------------------------------------


def test_the_mode_of_a_logit_is_that_of_scikit_learn():
    linear_model = pytest.importorskip("sklearn.linear_model")
    peer = linear_model.LogisticRegression(C=2.0, tol=1e-14, solver="newton-cholesky")
    peer.fit(X, BITS)
    best = climbed(regression(logit, BITS))

    assert_allclose(best.values["b"], peer.coef_[0], rtol=1e-8)
    assert_allclose(best.values["level"], peer.intercept_[0], rtol=1e-8)


def test_the_mode_of_counts_is_that_of_scikit_learn():
    """The penalty there is of the mean deviance."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    peer = linear_model.PoissonRegressor(
        alpha=0.5 / len(COUNTS), tol=1e-13, max_iter=1000, solver="newton-cholesky"
    )
    peer.fit(X, COUNTS)
    best = climbed(regression(counts, COUNTS))

    assert_allclose(best.values["b"], peer.coef_, rtol=1e-8)
    assert_allclose(best.values["level"], peer.intercept_, rtol=1e-8)


# The derivative of a log density by the linear predictor.
SLOPES = {
    "counts": lambda y, eta: y - np.exp(eta),
    "logit": lambda y, eta: y - special.expit(eta),
    "probit": lambda y, eta: (
        y * np.exp(stats.norm.logpdf(eta) - special.log_ndtr(eta))
        - (1 - y) * np.exp(stats.norm.logpdf(eta) - special.log_ndtr(-eta))
    ),
    "cloglog": lambda y, eta: y * np.exp(eta) / np.expm1(np.exp(eta)) - (3 - y) * np.exp(eta),
    "polya": lambda y, eta: y * special.expit(-eta) - 2.5 * special.expit(eta),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTCOMES)
def test_the_mode_is_the_root_that_scipy_finds(name):
    outcome, y = OUTCOMES[name]
    design, prior = np.column_stack([np.ones(80), X]), np.array([0.01, 0.5, 0.5, 0.5])
    best = climbed(regression(outcome, y, intercept=0.01))
    mode = np.concatenate([[best.values["level"]], best.values["b"]])
    found = optimize.root(
        lambda b: design.T @ SLOPES[name](y, design @ b) - prior * b, mode + 0.1, tol=1e-15
    )

    assert_allclose(mode, found.x, rtol=1e-8)
    assert best.verify().proved


def test_groups_of_effects_have_the_mode_of_a_dense_search():
    """A border beside blocks; partly known effects; a scale that is not part of the climb."""
    known = np.ma.masked_invalid([np.nan, 0.3, np.nan, np.nan, -0.2, np.nan])
    with gp.Model(name="groups", coords={"i": 80, "k": 3, "g": 6}) as model:
        x, g = gp.Data("x", X, dims=("i", "k")), gp.Index("g_of", G, of="g", dims="i")
        level = gp.Normal("level", 0, tau=0.01)
        tau = gp.Gamma("tau", 3, rate=1)
        b = gp.Normal("b", 0, tau=0.1, dims="k")
        u = gp.Normal("u", level, tau=tau, dims="g", observed=known)
        gp.Poisson("y", gp.exp(x @ b + u[g]), dims="i", observed=COUNTS)
    best = gp.compile(model).maximise(seed=1, tolerance=1e-15, progress=False)
    free = np.ma.getmaskarray(known)

    def at(flat):
        u = np.array(known.filled(0.0))
        u[free] = flat[4:8]
        return {"level": flat[0], "b": flat[1:4], "u": u, "tau": flat[8]}

    def density(flat):
        now = at(flat)
        eta = X @ now["b"] + now["u"][G]
        logs = stats.poisson.logpmf(COUNTS, np.exp(eta)).sum()
        logs += stats.norm.logpdf(now["u"], now["level"], now["tau"] ** -0.5).sum()
        logs += stats.norm.logpdf(now["level"], 0, 10) + stats.gamma.logpdf(now["tau"], 3)
        return -logs - stats.norm.logpdf(now["b"], 0, 10**0.5).sum()

    found = best.values
    mode = np.concatenate(
        [[found["level"]], found["b"], np.asarray(found["u"])[free], [found["tau"]]]
    )
    slope = [derivative_of(lambda t, e=e: density(mode + t * e), 1) for e in np.eye(9)]

    assert [s.name for s in best.schedule.steps] == ["u, b, level", "tau"]
    assert_allclose(np.asarray(found["u"])[~free], known.compressed())
    assert max(abs(value) - error for value, error in slope) <= 1e-6
    assert_allclose(best.value, -density(mode), rtol=1e-12)


def test_a_positive_number_whose_log_is_in_the_density_climbs_inside():
    """A Weibull shape, that starts far off on both sides."""
    y = RNG.weibull(1.7, size=80) * np.exp(-ETA / 1.7)
    with gp.Model(name="shape", coords={"i": 80, "k": 3}) as model:
        b, r = gp.Normal("b", 0, tau=0.5, dims="k"), gp.Exponential("r", rate=0.1)
        rate = gp.exp(gp.Data("x", X, dims=("i", "k")) @ b)
        gp.Weibull("y", shape=r, rate=rate, dims="i", observed=y)

    def slope(at):
        hazard = np.exp(X @ at[:3]) * y ** at[3]
        own = 80 / at[3] + (np.log(y) * (1 - hazard)).sum() - 0.1
        return np.concatenate([X.T @ (1 - hazard) - 0.5 * at[:3], [own]])

    for start in (1e-6, 1.0, 30.0):
        best = climbed(model, init={"r": start, "b": np.zeros(3)})
        mode = np.concatenate([best.values["b"], [best.values["r"]]])
        found = optimize.root(slope, mode * 1.01, tol=1e-15)
        assert_allclose(mode, found.x, rtol=1e-8)
    assert best.verify().proved


def test_labels_by_their_means_are_weights():
    """EM of a mixture of regressions: each climb is of the expected log density."""
    y = np.concatenate([COUNTS[:40], RNG.poisson(np.exp(2.0 - ETA[:40]))])
    x = np.concatenate([X[:40, 0], X[:40, 0]])
    with gp.Model(name="classes", coords={"i": 80, "c": 2}) as model:
        x, p = gp.Data("x", x, dims="i"), gp.Data("p", [0.5, 0.5], dims="c")
        z = gp.Categorical("z", p=p, dims="i")
        level = gp.Normal("level", gp.Data("levels", [0.0, 2.0], dims="c"), tau=1, dims="c")
        b = gp.Normal("b", gp.Data("slopes", [1.0, -1.0], dims="c"), tau=1, dims="c")
        gp.Poisson("y", gp.exp(level[z] + b[z] * x), dims="i", observed=y)
    best = gp.compile(model).maximise(seed=1, progress=False)
    own = [s for s in best.schedule.steps if isinstance(s, Ascent)]

    assert [set(s.variables) for s in own] == [{"level", "b"}]
    assert np.all(np.diff(best.trace) >= -1e-10 * np.abs(best.trace[1:]))
    assert best.verify().proved


# ---- the objective never falls ---------------------------------------------------------------


@pytest.mark.parametrize("start", [-30.0, -3.0, 0.0, 5.0, 40.0])
def test_no_step_lowers_the_objective_however_far_it_starts(start):
    model = regression(counts, COUNTS, intercept=0.01)
    read = gp.compile(model).read_by({"b": "mode", "level": "mode"})
    state = {"level": np.float64(start), "b": np.zeros(3)}
    heights = [read.program.bound(state, read.constants)]
    sweep = read.program.sweep.__globals__
    height = sweep["b_level_log_density"]

    def seen(s, c):
        heights.append(float(height(s, c)))
        return heights[-1]

    joint, local = read.constants["b_level_joint"], sweep["b_level_given_rest"]
    state |= climb_jointly(state, read.constants, joint, local, seen)
    far = climbed(model).values

    assert_allclose(state["b"], far["b"], rtol=1e-9)
    assert_allclose(state["level"], far["level"], rtol=1e-9)
    assert read.program.bound(state, read.constants) >= heights[0]


def test_a_step_that_goes_too_far_is_halved():
    """Of a count of a million from zero on the first step would be to exp(1e6)."""
    model = regression(counts, np.array([1_000_000]), intercept=1.0)
    trace = climbed(model, init={"level": 0.0, "b": np.zeros(3)}).trace

    assert np.all(np.diff(trace) >= 0)


def test_where_the_density_is_straight_steps_go_uphill():
    """So far out that no second derivative is left, only slopes."""
    model = regression(logit, BITS, prior=1e-12, intercept=1e-12)
    best = climbed(model, init={"level": 900.0, "b": np.zeros(3)})

    assert_allclose(best.value, climbed(model).value, rtol=1e-12)


# ---- a mode at infinity ----------------------------------------------------------------------


def test_a_mode_at_infinity_is_an_error_that_names_the_variable():
    """A source of data with a mode, that meets data that are separated."""
    x, y = np.linspace(-1, 1, 30), np.tile([0, 1, 1], 10)
    with gp.Model(name="separated", coords={"i": 30}) as model:
        b = gp.Flat("b")
        gp.Bernoulli("y", gp.expit(b * gp.Data("x", x, dims="i")), dims="i", observed=y)
    read = gp.compile(model).read_by({"b": "mode"})
    constants = read.program.prepare({**read.data, "y": (x < 0).astype(int)})

    with pytest.raises(RunError, match=r"b: the log density rises without end .* minus inf"):
        read.program.sweep(np.random.default_rng(0), {"b": np.float64(0.1)}, constants)


def test_a_mode_far_out_is_none_at_infinity():
    x = np.linspace(-1, 1, 30)
    with gp.Model(name="nearly separated", coords={"i": 30}) as model:
        b = gp.Normal("b", 0, tau=1e-10)
        x_of = gp.Data("x", x, dims="i")
        gp.Bernoulli("y", gp.expit(b * x_of), dims="i", observed=(x > 0).astype(int))
    best = climbed(model).values["b"]
    slope = (np.abs(x) * special.expit(-np.abs(x) * best)).sum() - 1e-10 * best

    assert best > 100
    assert abs(slope) <= 1e-10 * best


# ---- what is derived -------------------------------------------------------------------------

x, b, i, k = Array("x"), Array("b"), Dim("i"), Dim("k")
U = Over(x[k] * b[k], k) + b[0]
EXPANDED = {
    "linear": 3 * U, "square": -(x[0] - U) ** 2, "cube": U**3, "power": (2 + U**2) ** -1.5,
    "raised": 2**U, "product": U * FUNCTIONS[Softplus].of(U), "softplus": Softplus(U),
    "expit": Expit(U), "probit": LogPhi(U), "Phi": Phi(U), "double": FUNCTIONS[Softplus].of(-U) * 2,
    "choice": Where(Array("w")[()], Softplus(U), U**2),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPANDED)
def test_an_expansion_agrees_to_second_order(name):
    """Beside differences along a direction, extrapolated."""
    rng, h = np.random.default_rng(3), Array("h")
    found = expanded(EXPANDED[name], {"b": "h"})
    values = {"x": rng.normal(size=3), "b": rng.normal(size=3), "w": 1.0}
    step, sizes = rng.normal(size=3), {k: 3}

    def at(t):
        moved = {**values, "b": values["b"] + t * step}
        return float(evaluate(EXPANDED[name], (), moved, sizes))

    def ours(t):
        return float(evaluate(found, (), {**values, "h": t * step}, sizes))

    assert h.name == "h"
    both = (ours(1) - ours(-1)) / 2, ours(1) + ours(-1)
    for order, own in zip((1, 2), both, strict=True):
        theirs, error = derivative_of(at, order)
        assert abs(theirs - own) <= error + 1e-12 * abs(own)


def test_weights_of_a_predictor_are_computed_once():
    source = gp.compile(regression(counts, COUNTS)).read_by({"b": "mode", "level": "mode"}).source

    assert source.count("def y_weights_anew(s, c):") == 1
    assert "value = y - exp(level + (x @ b))" in source
    assert "y_weights @ x" in source


def test_a_climb_is_explained():
    told = climbed(regression(counts, COUNTS)).explain("b")

    assert "b[k], level | rest: Newton steps, drawn by mode, jointly, dense of order 4" in told
    assert "to second order, of steps of b, level from where they are:" in told
    assert "The certificate: the log density is concave" in told
    assert "-x[i, k₁]*x[i, k₂]*exp(level + sum(b[k]*x[i, k], k))/2" in told
    assert "def b_level_given_rest(s, c):" in told


def test_many_effects_have_no_dense_matrix():
    rng = np.random.default_rng(2)
    g = rng.integers(0, 3000, size=6000)
    y = rng.poisson(np.exp(rng.normal(size=3000)[g]))
    with gp.Model(name="many", coords={"i": 6000, "g": 3000}) as model:
        level, g_of = gp.Normal("level", 0, tau=0.01), gp.Index("g_of", g, of="g", dims="i")
        u = gp.Normal("u", level, tau=1, dims="g")
        gp.Poisson("y", gp.exp(u[g_of]), dims="i", observed=y)
    best = climbed(model)
    u, level = best.values["u"], best.values["level"]
    rise = np.bincount(g, y, 3000) - np.bincount(g, minlength=3000) * np.exp(u) - (u - level)

    assert best.schedule.steps[0].layout == "3000 blocks of 1 and a border of 1"
    assert np.abs(rise).max() <= 1e-9


@pytest.mark.parametrize("how", ["elements", "alone"])
def test_blocks_are_those_asked_for(how):
    model = regression(counts, COUNTS, intercept=0.01)
    apart = gp.compile(model, blocks={"b": how}).maximise(seed=1, tolerance=1e-14, progress=False)
    together = climbed(model)

    assert len(apart.schedule.steps) == 2
    assert_allclose(apart.values["b"], together.values["b"], rtol=1e-5)
    assert apart.value <= together.value + 1e-9


def test_what_has_bounds_or_no_slope_is_searched_for_by_element():
    """A mode at a bound, or where the density has an edge, is no place of slope zero."""
    with gp.Model(name="edges", coords={"i": 80, "k": 3}) as model:
        rate = gp.HalfNormal("rate", tau=1)
        edge = gp.Laplace("edge", 0, scale=1, dims="k")
        eta = gp.Data("x", X, dims=("i", "k")) @ edge
        gp.Poisson("y", gp.exp(eta + rate), dims="i", observed=COUNTS)
    sampler = gp.compile(model, rewrites=False)
    steps = sampler.read_by({"rate": "mode", "edge": "mode"}).schedule.steps

    assert not any(isinstance(s, Ascent) for s in steps)


def test_a_climb_is_left_to_numpy():
    sampler = gp.compile(regression(counts, COUNTS))
    read = sampler.read_by({"b": "mode", "level": "mode"})
    with pytest.raises(NotLoweredError, match="b, level: a search for the mode"):
        loops_of(read.schedule, read.data, read.prepared, is_fit=True)
    with pytest.raises(NotLoweredError, match="leave backend= out, or ask for backend='numpy'"):
        sampler.maximise(backend="compiled", progress=False)


def test_a_scale_that_falls_to_zero_is_told():
    """The joint density of effects and their scale is infinite where all effects are alike."""
    with gp.Model(name="alike", coords={"j": 5}) as model:
        sigma = gp.Uniform("sigma", 0, upper=10)
        gp.Normal("b", 0, sigma=sigma, dims="j")
    with pytest.raises(RunError, match=r"sigma: step 'sigma' .* a scale that fell to 0"):
        gp.compile(model).maximise(seed=1, progress=False)


# ---- the checks ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("+ y_weights.sum()", "+ 1.01 * y_weights.sum()", "to second order"),
        ("- y_weights_2.sum() / 2", "- y_weights_2.sum()", "to second order"),
        ("- 0.25 * runtime.sum_of_squares(b)  # from b\n        - exp",
         "- exp", "the bound"),
    ],
)  # fmt: skip
def test_wrong_climbs_are_seen(right, wrong, told):
    model = regression(counts, COUNTS, intercept=0.01)
    read = gp.compile(model).read_by({"b": "mode", "level": "mode"})
    assert read.source.count(right) >= 1
    spoilt = replace(read, program=load(read.source.replace(right, wrong, 1)))

    failed = [row.kind for row in spoilt.verify().rows if not row.passed]
    assert any(told in kind for kind in failed)


# ---- examples that were searched for element by element --------------------------------------

# Sweeps of the search by element, and its objective.
BEFORE = {
    "salm": (322, -57.97576061390737), "car_disease_mapping": (127, -107.37554629313604),
    "leuk_1": (50, -198.12588473216877), "endo_2": (3, -120.26344472749501),
    "beetles_1": (6, -28.043356284391947), "beetles_3": (6, -23.8100013065198),
    "seeds_1": (45, -34.91879902185506), "salm_1": (3000, -188.13422130610334),
    "epil": (1312, 360.5148388070098), "mice_1": (657, -276.1118473058041),
    "kidney": (211, -253.8738247678578),
}  # fmt: skip


def model_of(name):
    case = {**bugs.CASES, **bugs.MORE}.get(name)
    return importlib.import_module(f"models.{name}").model() if case is None else (
        gp.read_bugs(case.model, data=case.data)
    )  # fmt: skip


@pytest.mark.parametrize("name", BEFORE)
def test_modes_are_no_lower_than_those_of_a_search_by_element(name):
    sweeps, value = BEFORE[name]
    best = gp.compile(model_of(name)).maximise(seed=1, progress=False)

    assert best.converged
    assert any(isinstance(s, Ascent) for s in best.schedule.steps)
    assert best.value >= value - 1e-9 * abs(value)
    assert len(best.trace) <= sweeps
    assert np.all(np.diff(best.trace) >= -1e-10 * np.abs(best.trace[1:]))


def test_a_climb_by_hand():
    joint = Joint({"x": drawn((3,), [((0, 3),)])}, [])

    def local(s, c):
        del c
        return {"x": (3.0 - np.exp(s["x"]), -np.exp(s["x"]) / 2)}, []

    found = climb_jointly({"x": np.array([-9.0, 0.0, 9.0])}, {}, joint, local,
                          lambda s, _: (3.0 * s["x"] - np.exp(s["x"])).sum())  # fmt: skip
    assert_allclose(found["x"], np.log(3.0), rtol=1e-15)


def test_a_search_that_starts_where_there_is_no_slope_says_so():
    joint = Joint({"x": drawn((2,), [((0, 2),)])}, [])
    with pytest.raises(RunError, match=r"x\[0\]: the log density has no finite slope"):
        climb_jointly({"x": np.zeros(2)}, {}, joint,
                      lambda *_: ({"x": (np.full(2, np.nan), -1.0)}, []),
                      lambda *_: 0.0)  # fmt: skip


def test_a_logit_of_several_categories_climbs_as_one():
    y = RNG.integers(0, 3, size=80)
    with gp.Model(name="categories", coords={"i": 80, "k": 3, "c": 3}) as model:
        w = gp.Normal("w", 0, tau=1, dims=("k", "c"))
        odds = gp.exp(gp.Data("x", X, dims=("i", "k")) @ w)
        gp.Categorical("y", p=odds / gp.sum(odds, "c"), dims="i", observed=y)
    w = climbed(model).values["w"]

    assert_allclose(X.T @ (np.eye(3)[y] - special.softmax(X @ w, axis=1)), w, atol=1e-11)


def test_a_chain_of_counts_has_a_band():
    y = RNG.poisson(np.exp(np.cumsum(RNG.normal(size=60)) / 3))
    with gp.Model(name="chain", coords={"t": 60}) as model:
        h = gp.Array("h", dims="t")
        h[0] = gp.Normal(0, tau=0.1)
        h[1:] = gp.Normal(h.lag("t", 1), tau=9)
        gp.Poisson("y", gp.exp(h), dims="t", observed=y)
    best = climbed(model)
    h, layout = best.values["h"], best.schedule.steps[0].layout
    moved = 9 * np.diff(h)
    slope = y - np.exp(h) + np.append(moved, 0.0) - np.append(0.1 * h[0], moved)

    assert layout == "banded of width 1"
    assert_allclose(slope, 0, atol=1e-10)


def test_some_are_put_to_their_modes_beside_draws():
    """Each climb is given the draw of a scale."""
    with gp.Model(name="beside", coords={"i": 80, "k": 3}) as model:
        tau = gp.Gamma("tau", 2, rate=1)
        b = gp.Normal("b", 0, tau=tau, dims="k")
        eta = gp.Data("x", X, dims=("i", "k")) @ b
        gp.Poisson("y", gp.exp(eta), dims="i", observed=COUNTS)
    sampler = gp.compile(model, by={"b": "mode"})
    draws = sampler.sample(5, chains=1, warmup=2, seed=1, progress=False)
    (b,) = draws["b"][0, -1:]
    slope = X.T @ (COUNTS - np.exp(X @ b))

    assert "b[k]  Newton steps  by mode, jointly, dense of order 3" in str(sampler)
    assert len(np.unique(draws["tau"])) == 5
    assert_allclose(slope / b, np.mean(slope / b), rtol=1e-6)
