"""Joint draws as compiled: against dense algebra from the model's own log density.

The log density is quadratic in what is drawn, so that its second differences are exact: they give
the precision matrix and the mean, with which the generated coefficients and where they go are
compared. Bugs that are planted in the source must be seen by `verify`.
"""

import re

import numpy as np
import pytest
from references.second_differences import normal_of
from scipy import stats

import gibbsppl as gp
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.derive import row_forms
from gibbsppl.errors import CompileError, RunError
from gibbsppl.model import memory
from gibbsppl.model.density import log_joint
from gibbsppl.planning import weak_ties
from gibbsppl.runtime.joint import Joint, joint_in
from gibbsppl.runtime.pencils import Pencil, pencil_in
from gibbsppl.schedule import precisions

Y = np.array([0.3, -1.2, 0.8, 2.0, 1.1, -0.4, 0.9])
GAPS = np.ma.masked_array(Y, mask=[0, 1, 0, 0, 1, 1, 0])


def chain():
    with gp.Model(coords={"t": 7}) as m:
        tau = gp.Gamma("tau", 2, rate=1)
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(1, tau=0.5)
        x[1:] = gp.Normal(0.9 * x.lag("t", 1), tau=tau)
        gp.Normal("y", x, tau=2, dims="t", observed=Y)
    return m


def trend():
    with gp.Model(coords={"t": 7}) as m:
        level, slope = gp.Array("level", dims="t"), gp.Array("slope", dims="t")
        level[0], slope[0] = gp.Normal(0, tau=0.1), gp.Normal(0, tau=1)
        level[1:] = gp.Normal(level.lag("t", 1) + slope.lag("t", 1), tau=3)
        slope[1:] = gp.Normal(slope.lag("t", 1), tau=5)
        gp.Normal("y", level, tau=2, dims="t", observed=GAPS)
    return m


def second_order():
    """AR(2): its coefficients are no part of the draw of the states, nor these of theirs."""
    with gp.Model(coords={"t": 7, "k": 2}) as m:
        phi = gp.Normal("phi", 0, tau=4, dims="k")
        x = gp.Array("x", dims="t")
        x[:2] = gp.Normal(0, tau=1)
        mean = phi.at("k", 0) * x.lag("t", 1) + phi.at("k", 1) * x.lag("t", 2)
        x[2:] = gp.Normal(mean, tau=3)
        gp.Normal("y", x, tau=2, dims="t", observed=Y)
    return m


def crossed():
    """Two groupings of a long table, with a mean and a covariate; a group that nobody is in."""
    with gp.Model(coords={"g": 4, "h": 3}) as m:
        g = gp.Index("g_of", [0, 0, 1, 1, 2, 2, 2], of="g", dims="n")
        h = gp.Index("h_of", [0, 1, 2, 0, 1, 2, 2], of="h", dims="n")
        age = gp.Data("age", Y[::-1].copy(), dims="n")
        mu, beta = gp.Normal("mu", 1, tau=0.1), gp.Normal("beta", 0, tau=1)
        tau_u = gp.Gamma("tau_u", 2, rate=1)
        u = gp.Normal("u", 0, tau=tau_u, dims="g")
        v = gp.Normal("v", 0, tau=2, dims="h")
        gp.Normal("y", mu + beta * age + u[g] + v[h], tau=3, dims="n", observed=Y)
    return m


def vectors_with_gaps():
    """Rows of multivariate normals, some of whose entries are known, in several patterns."""
    rows = np.ma.masked_array(np.arange(12.0).reshape(4, 3), mask=np.zeros((4, 3), bool))
    rows[0, 1] = rows[1, 1] = rows[2, :2] = rows[3, :] = np.ma.masked
    tau = [[2.0, 0.5, 0.3], [0.5, 1.5, -0.4], [0.3, -0.4, 1.0]]
    with gp.Model(coords={"row": 4, "k": 3}) as m:
        precision = gp.Data("precision", tau, dims=("k", "k'"))
        first = gp.Data("first", np.zeros(3), dims="k")
        prior = gp.Data("prior", 0.1 * np.eye(3), dims=("k", "k'"))
        mu = gp.MvNormal("mu", first, tau=prior, dims="k")
        gp.MvNormal("z", mu, tau=precision, dims=("row", "k"), event="k", observed=rows)
    return m


def constants():
    """A chain two elements of which are numbers, one of them in the middle."""
    with gp.Model(coords={"t": 7}) as m:
        x = gp.Array("x", dims="t")
        x[0] = 2.0
        x[1:3] = gp.Normal(x.lag("t", 1), tau=2)
        x[3] = -1.0
        x[4:] = gp.Normal(x.lag("t", 1), tau=3)
        gp.Normal("y", x, tau=0.5, dims="t", observed=Y)
    return m


def constants_beside_a_potential():
    """Numbers where there is no order in which to draw: each is tied to elements on both sides."""
    with gp.Model(coords={"t": 7}) as m:
        x = gp.Array("x", dims="t")
        x[0] = 2.0
        x[1:5] = gp.Normal(0, tau=2)
        x[5] = -1.0
        x[6] = gp.Normal(0, tau=2)
        gp.Potential("smooth", -0.5 * (x - x.lag("t", 2)) ** 2)
        gp.Normal("y", x.sum("t"), tau=0.5, observed=1.0)
    return m


def several_statements():
    """One array filled by three statements, with lags of another one."""
    with gp.Model(coords={"t": 7}) as m:
        a = gp.Normal("a", 0, tau=1, dims="t")
        x = gp.Array("x", dims="t")
        x[:2] = gp.Normal(a, tau=1)
        x[2:4] = gp.Normal(a.lag("t", 2) + x.lag("t", 1), tau=2)
        x[4:] = gp.Normal(x.lag("t", 3), tau=3)
        gp.Normal("y", 2 * x - a, tau=0.5, dims="t", observed=GAPS)
    return m


def lattice():
    with gp.Model(coords={"row": 3, "col": 4}) as m:
        tau = gp.Gamma("tau", 2, rate=1)
        x = gp.Normal("x", 0, tau=0.3, dims=("row", "col"))
        gp.Potential("down", -tau / 2 * (x - x.lag("row", 1)) ** 2)
        gp.Potential("right", -tau / 2 * (x - x.lag("col", 1)) ** 2)
    return m


def regions():
    """A map: pairs from a table, with a coefficient that is drawn in another step."""
    with gp.Model(coords={"site": 6}) as m:
        tau = gp.Gamma("tau", 2, rate=1)
        x = gp.Flat("x", dims="site")
        i, j = gp.Neighbours("border", [[1, 2], [0, 2], [0, 1, 3], [2], [5], [4]], of="site")
        gp.Potential("smooth", -tau / 2 * (x[i] - x[j]) ** 2)
        beta = gp.Normal("beta", 0, tau=1)
        size = gp.Data("size", [1.0, 2, 3, 4, 5, 6], dims="site")
        gp.Normal("y", x + beta * size, tau=size, dims="site", observed=Y[:6])
    return m


def hierarchy():
    """Three levels, in a long table."""
    with gp.Model(coords={"school": 3, "town": 2}) as m:
        town = gp.Index("town_of", [0, 0, 1], of="town", dims="school")
        school = gp.Index("school_of", [0, 0, 1, 1, 2, 2, 2], of="school", dims="n")
        tau = gp.Gamma("tau", 2, rate=1)
        mu = gp.Normal("mu", 0, tau=0.2)
        t = gp.Normal("t", mu, tau=1, dims="town")
        s = gp.Normal("s", t[town], tau=tau, dims="school")
        gp.Normal("y", s[school], tau=3, dims="n", observed=GAPS)
    return m


def ridge():
    """A regression on more columns than there are rows: one of two matrices is singular."""
    rows = np.random.default_rng(0).standard_normal((7, 18))
    with gp.Model(coords={"k": 18}) as m:
        design = gp.Data("design", rows, dims=("row", "k"))
        tau, tau_beta = gp.Gamma("tau", 2, rate=1), gp.Gamma("tau_beta", 2, rate=1)
        beta = gp.Normal("beta", 0, tau=tau_beta, dims="k")
        gp.Normal("y", design @ beta, tau=tau, dims="row", observed=Y)
    return m


def proper_map():
    """A proper autoregression of neighbours, ``tau * (D - rho * W)``: singular where rho is 1."""
    lists = [[1, 2], [0, 2], [0, 1, 3], [2]]
    with gp.Model(coords={"site": 4}) as m:
        tau, rho = gp.Gamma("tau", 2, rate=1), gp.Uniform("rho", 0, 1)
        x = gp.Flat("x", dims="site")
        degree = gp.Data("degree", [float(len(n)) for n in lists], dims="site")
        i, j = gp.Neighbours("border", lists, of="site")
        gp.Potential("own", -tau / 2 * degree * x**2)
        gp.Potential("alike", tau * rho * x[i] * x[j])
    return m


def plates():
    """Regressions on one table for each of three groups, and a scale for all of them."""
    rows = np.random.default_rng(1).standard_normal((7, 17))
    with gp.Model(coords={"g": 3, "k": 17}) as m:
        design = gp.Data("design", rows, dims=("row", "k"))
        tau = gp.Gamma("tau", 2, rate=1)
        beta = gp.Normal("beta", 0, tau=tau, dims=("g", "k"))
        gp.Normal("y", design @ beta, tau=2, dims=("g", "row"), observed=np.outer([1, 2, -1], Y))
    return m


def map_with_a_number():
    """A map on which one site, that has no neighbours, is a number."""
    with gp.Model(coords={"site": 4}) as m:
        tau = gp.Gamma("tau", 2, rate=1)
        x = gp.Array("x", dims="site")
        x[0] = 0.5
        x[1:] = gp.Flat()
        i, j = gp.Neighbours("border", [[], [2], [1, 3], [2]], of="site")
        gp.Potential("smooth", -tau / 2 * (x[i] - x[j]) ** 2)
        gp.Normal("y", x, tau=2, dims="site", observed=Y[:4])
    return m


# What is drawn together.
CASES = {
    chain: ["x"],
    trend: ["y, level, slope"],
    second_order: ["x", "phi"],
    crossed: ["u, v, mu, beta"],
    vectors_with_gaps: ["z, mu"],
    constants: ["x"],
    constants_beside_a_potential: ["x"],
    several_statements: ["a, y, x"],
    lattice: ["x"],
    regions: ["x, beta"],
    hierarchy: ["y, s, t, mu"],
    ridge: ["beta"],
    proper_map: ["x"],
    plates: ["beta"],
    map_with_a_number: ["x"],
}
every_case = pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)


def with_gaps(model, **settings):
    """A sampler that draws missing values with all else, not after it."""
    return gp.compile(model, rewrites={"unseen": False}, **settings)


def together(case, **settings):
    """A sampler that draws what is tied jointly, whatever that costs."""
    blocks = {tuple(names.split(", ")): "together" for names in CASES[case]}
    return with_gaps(case(), blocks=blocks, **settings)


def joint_of(sampler):
    return [s for s in sampler.schedule.steps if s.kind == "joint"]


def some_state(sampler, seed=3):
    (chain_,), _ = sampler.initial_states(1, seed)
    rng = np.random.default_rng(seed)
    state = dict(chain_.state)
    for step in joint_of(sampler):
        free = joint_in(sampler.constants, step.name).drawn
        for name in step.variables:
            noise = rng.standard_normal(np.shape(state[name]))
            state[name] = np.where(free[name], state[name] + noise, state[name])
    return state


def drawn_of(joint, values):
    """The elements that are drawn, as one vector."""
    return np.concatenate([np.ravel(values[n])[joint.drawn[n].ravel()] for n in joint.arrays])


def dense_of(sampler, joint, state):
    """The normal density of what is drawn, from second differences of the log joint density."""
    ends = np.cumsum([joint.drawn[n].sum() for n in joint.arrays])[:-1]

    def at(x):
        values = {**sampler.data, **state}
        for name, part in zip(joint.arrays, np.split(x, ends), strict=True):
            values[name] = np.array(values[name], dtype=float)
            values[name][joint.drawn[name]] = part
        return log_joint(sampler.graph, values)

    return normal_of(at, drawn_of(joint, state))


class Units:
    """A generator of one unit of noise."""

    def __init__(self, at, size):
        self.z = np.eye(size)[at]

    def standard_normal(self, _size):
        return self.z.copy()


def as_generated(sampler, program, step, state):
    """Mean, sds and covariance of the draw that a program makes."""
    constants = program.prepare(sampler.data)
    joint = joint_in(constants, step.name)
    given = program.given_rest[step.name](state, constants)
    made, its = joint, given
    if step.pencil is not None:
        made, its = (
            pencil_in(constants, step.name),
            program.scaled[step.name](state, constants),
        )
    mean = drawn_of(joint, made.mean(state, its))
    noise = (Units(k, mean.size) for k in range(mean.size))
    columns = [drawn_of(joint, made.draw(z, state, its)) - mean for z in noise]
    return mean, drawn_of(joint, joint.sd(state, given)), np.array(columns).T @ np.array(columns)


@every_case
def test_draws_are_those_of_dense_algebra(case):
    sampler = together(case)
    assert [s.name for s in joint_of(sampler)] == CASES[case]
    state = some_state(sampler)
    for step in joint_of(sampler):
        joint = joint_in(sampler.constants, step.name)
        exact = dense_of(sampler, joint, state)
        mean, sd, covariance = as_generated(sampler, sampler.program, step, state)
        np.testing.assert_allclose(mean, exact.mean, rtol=0, atol=exact.far)
        np.testing.assert_allclose(sd**2, np.diag(exact.covariance), rtol=0, atol=exact.off)
        np.testing.assert_allclose(covariance, exact.covariance, rtol=0, atol=exact.off)


@every_case
def test_each_is_proved(case):
    assert together(case).verify().proved
    assert with_gaps(case()).verify().proved


def test_known_elements_stay():
    sampler = gp.compile(constants())
    draws = sampler.sample(draws=20, warmup=5, seed=1, progress=False)
    assert (draws["x"][..., 0] == 2).all()
    assert (draws["x"][..., 3] == -1).all()
    assert (draws["x"][..., [1, 2, 4, 5, 6]].std(axis=(0, 1)) > 0).all()


# ---- planted bugs ----------------------------------------------------------------------------

BUGS = {
    "a dropped pair": (chain, r"x_x\[1:\] \+= 0\.9", "x_x[1:] += 0"),
    "a fixed matrix of the wrong size": (ridge, r"beta_squares_2 = -0\.5", "beta_squares_2 = -0.6"),
    "the wrong one scaled": (ridge, r"\(tau_beta, tau,\)", "(tau, tau_beta,)"),
    "what is linear scaled twice": (ridge, r"beta_linear_2 = tau", "beta_linear_2 = 2 * tau"),
    "a wrong sign of a pair": (crossed, r"u_v = -3", "u_v = 3"),
    "a wrong sign of what is linear": (crossed, r"beta_linear = ", "beta_linear = -"),
    "a square that counts for more": (hierarchy, r"mu_squares = -0\.1", "mu_squares = -0.6"),
    "an index shifted by one": (chain, r"arange\(1, n_t\) - 1", "arange(1, n_t)"),
    "a group taken for another": (crossed, r"\(g_of,\)", "((g_of + 1) % 4,)"),
    "two ends of a lag in the wrong place": (
        second_order,
        r'"x", \(arange\(0, n_t - 2\),\)',
        '"x", (arange(1, n_t - 1),)',
    ),
    "an element left out": (second_order, r"\(\(2, n_t\),\)", "((3, n_t),)"),
    "a constant that is drawn": (constants, r"\(\(1, 3\),\)", "((0, 3),)"),
}


@pytest.mark.parametrize("name", BUGS)
def test_planted_bugs_are_seen(name):
    case, pattern, wrong = BUGS[name]
    sampler = together(case, interweave=False)
    source, count = re.subn(pattern, wrong, sampler.source)
    assert count >= 1, sampler.source
    found = verify(sampler.graph, load(source), sampler.schedule.steps, sampler.data)
    # (a matrix that is not positive definite any more stops the sweeps)
    assert {r.step for r in found.rows if not r.passed} & {*CASES[case], "(sweeps)"}


# ---- fixed matrices, diagonalised once -------------------------------------------------------


def test_two_fixed_matrices_are_diagonalised_once(monkeypatch):
    assert not any(s.pencil for s in joint_of(gp.compile(proper_map())))  # (a factor is as fast)
    monkeypatch.setattr(precisions, "LEAST_DIAGONALISED", 1)
    # (one array of itself is drawn jointly though theory may find that it need not be)
    asked = {"map_with_a_number": {"blocks": {"x": "alone"}}}
    named = ("ridge", "proper_map", "plates", "map_with_a_number", "second_order", "constants")
    cases = [c for c in CASES if c.__name__ in named]
    steps = {c.__name__: joint_of(gp.compile(c(), **asked.get(c.__name__, {}))) for c in cases}
    told = {name: found[0].pencil and found[0].pencil.told for name, found in steps.items()}
    assert told["ridge"] == "tau_beta and tau"
    assert told["proper_map"] == "tau and rho*tau"
    assert told["plates"] == "tau and 1"
    assert told["map_with_a_number"] in ("1 and tau", "tau and 1")
    # (what ties a variable of another step to each element is no matrix of data)
    assert told["second_order"] is None
    assert told["constants"] is None
    told = " ".join(gp.compile(ridge()).explain("beta").split())
    assert "matrices of data, diagonalised once: tau_beta times one and tau times one" in told


@pytest.mark.parametrize("step", [1e-31, 1e-20, 1e-10, 1.0, 1e8])
def test_a_chain_of_steps_of_any_size_beside_its_start(step):
    """The elements far from the start are as wide as the steps, and the start keeps its digits.

    Rows of all of them keep half of the digits at the ratio up to which they are used.
    """
    half = 8 * np.finfo(float).eps ** 0.5
    pairs = [("x", (np.arange(2),), "x", (np.arange(1, 3),))]
    joint = Joint({"x": np.ones(3, bool)}, pairs)
    start, steps = ({"x": np.array([-1.0, 0, 0])}, [np.zeros(2)]), ({"x": [-0.5, -1, -0.5]}, [1.0])
    pencil = Pencil(joint, [start, steps])
    exact = np.array([[2 + step, -step, 0], [-step, 2 * step, -step], [0, -step, step]])
    units = np.sqrt(np.diagonal(exact))
    error = (pencil.precision((1.0, step))[0] - exact) / np.outer(units, units)
    np.testing.assert_allclose(error, 0, atol=half)

    given = {"x": np.array([4.6, 0.0, 0.0])}, (1.0, step)
    variances = 0.5 + np.arange(3) / step
    np.testing.assert_allclose((pencil.mean({}, given)["x"] - 2.3) / variances**0.5, 0, atol=half)
    rng = np.random.default_rng(1)
    draws = np.array([pencil.draw(rng, {}, given)["x"] for _ in range(4000)]) - 2.3
    # (the variance of n normal draws is chi-squared; a level of 1e-6 for each)
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], 4000) / 4000
    assert ((draws**2).mean(0) / variances > low).all()
    assert ((draws**2).mean(0) / variances < high).all()


@pytest.mark.parametrize("ratio", [1e-12, 1e-6, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("size", [1e-280, 1.0, 1e280])
def test_scales_far_apart(ratio, size):
    """As near to exact arithmetic as the condition of the precision matrix allows."""
    X = np.random.default_rng(0).standard_normal((7, 12))
    joint = Joint(
        {"x": np.ones(12, bool)}, [("x", (np.arange(12)[:, None],), "x", (np.arange(12),))]
    )
    pencil = Pencil(joint, [({"x": -0.5}, [0.0]), ({"x": 0.0}, [-X.T @ X / 2])])
    Q = pencil.precision((size, size * ratio))[0]
    exact = np.eye(12) + ratio * X.T @ X
    np.testing.assert_allclose(Q / size, exact, rtol=0, atol=1e-12 * np.abs(exact).max())
    # in the null space of X, where only the prior says how wide it is
    null = np.linalg.svd(X)[2][-1]
    variance = (pencil.rows[0] @ null) ** 2 / pencil.scaled((size, size * ratio))[0]
    error = 12 * np.finfo(float).eps * ratio * np.linalg.norm(X, 2) ** 2
    if error < 0.5:
        np.testing.assert_allclose(variance.sum() * size, 1, rtol=max(2 * error, 1e-12))


@pytest.mark.parametrize("plain", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("is_first", [True, False])
def test_either_matrix_of_a_pencil_may_be_the_better_conditioned_one(plain, is_first):
    squares, product = np.array([2.0, 3.0]), 2.4
    joint = Joint({"x": np.ones(2, bool)}, [("x", (0,), "x", (1,))])
    tied = ({"x": -squares / 2}, [-product]), np.array([[2.0, 2.4], [2.4, 3.0]])
    apart = ({"x": -plain / 2}, [0.0]), plain * np.eye(2)
    both = (tied, apart) if is_first else (apart, tied)
    pencil = Pencil(joint, [part for part, _ in both])

    for scales in ((1.0, 1.0), (1e-3, 7.0), (50.0, 0.1)):
        expected = sum(s * matrix for s, (_, matrix) in zip(scales, both, strict=True))
        rounding = 64 * np.finfo(float).eps * np.abs(expected).max()
        np.testing.assert_allclose(pencil.precision(scales)[0], expected, rtol=0, atol=rounding)


def test_matrices_that_are_not_positive_definite_together():
    joint = Joint({"x": np.ones(2, bool)}, [("x", (0,), "x", (1,))])
    pencil = Pencil(joint, [({"x": -0.5}, [1.0]), ({"x": -1.0}, [2.0])])
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        pencil.mean({}, ({"x": 0.0}, (1.0, 1.0)))


# ---- what the user asks for ------------------------------------------------------------------


def compiled(blocks):
    return gp.compile(crossed(), blocks=blocks, interweave=False)


def drawn_how(blocks=None):
    return {s.name: s.kind for s in compiled(blocks).schedule.steps}


def test_blocks_are_split_and_merged():
    assert set(drawn_how()) == {"u, v, mu, beta", "tau_u"}
    assert set(drawn_how(blocks=False)) == {"u", "v", "mu", "beta", "tau_u"}
    assert set(drawn_how({"v": "alone"})) == {"u, mu, beta", "v", "tau_u"}
    assert set(drawn_how({"v": "elements"})) == {"u, mu, beta", "v", "tau_u"}
    assert set(drawn_how({("u", "v"): "together"})) == {"u, v", "mu, beta", "tau_u"}
    two = {("u", "mu"): "together", ("v", "beta"): "together"}
    assert set(drawn_how(two)) == {"u, mu", "v, beta", "tau_u"}
    for blocks in (None, False, {"v": "alone"}, {("u", "v"): "together"}, two):
        assert compiled(blocks).verify().proved


def test_a_chain_drawn_by_element_is_coloured():
    sampler = gp.compile(chain(), blocks={"x": "elements"})
    (x,) = (s for s in sampler.schedule.steps if s.colours)
    assert (x.kind, x.variables) == ("exact", ("x",))


REFUSED = {
    "an unknown name": ({"w": "alone"}, r"'w' is not a latent variable of the model; the latent"),
    "an unknown name in a group": ({("u", "w"): "together"}, r"'w' is not a latent variable"),
    "what is no block": ({("u", "tau_u"): "together"}, r"\(tau_u, u\) cannot be drawn together"),
    "an unknown word": ({"u": "apart"}, r"found 'apart', expected one of 'elements'"),
    "a group apart": ({("u", "v"): "alone"}, r"found 'alone', expected one of 'together'"),
    "a name together": ({"u": "together"}, r"found 'together', expected one of 'elements'"),
    "what is not concave": ({"tau_u": "proposed"}, r"\(tau_u\) cannot be proposed"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_blocks_that_cannot_be_are_refused(name):
    blocks, message = REFUSED[name]
    with pytest.raises(CompileError, match=message):
        gp.compile(crossed(), blocks=blocks)


def test_a_block_that_is_too_large_is_split_or_refused_with_the_number(monkeypatch):
    monkeypatch.setattr(memory, "TIMES", 0)
    monkeypatch.setattr(memory, "LEAST_BYTES", 19)
    monkeypatch.setattr(precisions, "MOST_ASKED", 12)
    assert len(drawn_how()) > 2
    with pytest.raises(CompileError, match=r"drawn together would take a factor of 49 numb"):
        gp.compile(crossed(), blocks={("u", "v"): "together"})
    monkeypatch.setattr(precisions, "MOST_ASKED", 5)
    with pytest.raises(CompileError, match=r"\(u, v\) drawn together would take 7 coefficients"):
        gp.compile(crossed(), blocks={("u", "v"): "together"})


def test_the_schedule_says_what_takes_too_much_memory_to_be_drawn_jointly(monkeypatch):
    """256 MB, or ten times the data and the state, whichever is more; asked for, it is drawn so."""
    assert gp.compile(crossed()).schedule.apart == ()
    monkeypatch.setattr(memory, "LEAST_BYTES", 150)
    monkeypatch.setattr(memory, "TIMES", 0)
    smaller = gp.compile(crossed())
    assert smaller.schedule.apart
    told = " ".join(str(smaller).split())
    assert "u, v not drawn jointly, which would take 448 bytes; at most 150 bytes are taken" in told
    assert "are taken (ten times data and state: 0 bytes)" in told
    assert all(str(large) in str(smaller.costs()) for large in smaller.schedule.apart)
    asked = gp.compile(crossed(), blocks={("u", "v"): "together"})
    assert "u, v" in {s.name for s in asked.schedule.steps}


def two_walks(size=8, rows=12):
    rng = np.random.default_rng(1)
    with gp.Model(coords={"part": 2, "t": size, "row": rows}) as m:
        tau = gp.Gamma("tau", 2, rate=1)
        b = gp.Array("b", dims=("part", "t"))
        for p in (0, 1):
            b[p, 0] = gp.Normal(p, tau=1)
            b[p, 1:] = gp.Normal(b.at("part", p).lag("t"), tau=p + 1)
            x = gp.Data(f"x{p}", rng.standard_normal((rows, size)), dims=("row", "t"))
            seen = rng.standard_normal(rows)
            gp.Normal(f"y{p}", x @ b.at("part", p), tau=tau, dims="row", observed=seen)
    return m


def test_an_array_too_large_for_one_joint_draw_is_drawn_by_several(monkeypatch):
    whole = gp.compile(two_walks())
    assert [s.variables for s in joint_of(whole)] == [("b",)]
    monkeypatch.setattr(precisions, "MOST_WORK", 600)
    parts = gp.compile(two_walks())

    assert [s.name for s in joint_of(parts)] == ["b[0, 1:], b[0, 0]", "b[1, 1:], b[1, 0]"]
    assert parts.verify().passed
    draws = [s.sample(4000, chains=1, seed=1, progress=False)["b"][0] for s in (whole, parts)]
    assert np.allclose(*(d.mean(axis=0) for d in draws), atol=0.1)
    assert np.allclose(*(d.std(axis=0) for d in draws), rtol=0.1)


def test_what_is_dense_and_far_too_large_is_not_even_laid_out(monkeypatch):
    """A factor of n columns takes n**3 multiplications: the number of coefficients tells it."""
    rows = np.random.default_rng(0).standard_normal((60, 60))
    with gp.Model(coords={"k": 60}) as m:
        design = gp.Data("design", rows, dims=("row", "k"))
        tau = gp.Gamma("tau", 2, rate=1, dims="row")
        level, beta = gp.Normal("level", 0, tau=1), gp.Normal("beta", 0, tau=1, dims="k")
        gp.Normal("y", level + design @ beta, tau=tau, dims="row", observed=rows[0])
    assert [s.name for s in joint_of(gp.compile(m))] == ["beta, level"]

    for module in (precisions, row_forms):
        monkeypatch.setattr(module, "MOST_WORK", 60**3 / 8)
    monkeypatch.setattr(precisions, "_pattern", None)  # (nobody looks where entries would be)
    assert joint_of(gp.compile(m)) == []


def flat_map(**more):
    with gp.Model(coords={"site": 4}) as m:
        x = gp.Flat("x", dims="site")
        i, j = gp.Neighbours("border", [[1], [0], [3], [2]], of="site")
        gp.Potential("smooth", -0.5 * (x[i] - x[j]) ** 2)
        level = gp.Flat("level") if more.get("level") else 0
        if more:
            gp.Normal("y", x + level, tau=1, dims="site", observed=more["y"])
    return m


IMPROPER = {
    "a map without data": (flat_map(), r"^x: the posterior is improper: .*along x\[0\] \+ x\[1\]"),
    "a map with a level besides": (
        flat_map(level=True, y=Y[:4]),
        r"^x(, level)?: the posterior is improper: .*no term of .* changes along .* level",
    ),
}


@pytest.mark.parametrize("name", IMPROPER)
def test_a_flat_direction_is_named(name):
    model, message = IMPROPER[name]
    with pytest.raises(RunError, match=message):
        gp.compile(model).sample(draws=5, warmup=5, seed=1, progress=False)


def test_a_map_of_few_neighbours_is_sparse():
    """Pairs of a table are read as they are, not as a table of all pairs of districts."""
    n = 400
    near = [[k for k in (i - 1, i + 1) if 0 <= k < n] for i in range(n)]
    with gp.Model(coords={"site": n}) as m:
        x = gp.Flat("x", dims="site")
        i, j = gp.Neighbours("border", near, of="site")
        gp.Potential("smooth", -0.5 * (x[i] - x[j]) ** 2)
        gp.Normal("y", x, tau=1, dims="site", observed=np.zeros(n))
    (step,) = gp.compile(m).schedule.steps
    assert step.layout == "banded of width 1"


@pytest.mark.parametrize("stop", [4, 7])
def test_products_at_the_first_positions_of_an_axis(stop):
    """Elements looked up at fewer positions than the axis has, beside others at the rest."""
    rng = np.random.default_rng(0)
    with gp.Model(coords={"g": 6, "h": 6, "i": 7}) as m:
        a = gp.Normal("a", 0, sigma=1, dims="g")
        b = gp.Normal("b", 0, sigma=1, dims=("g", "h"))
        g, h = (gp.Index(f"{d}_at", rng.integers(0, 6, 7), of=d, dims="i") for d in "gh")
        sd = gp.HalfNormal("sd", sigma=1)
        y = gp.Array("y", dims="i", observed=rng.standard_normal(7))
        y[:stop] = gp.Normal(a[g] + b.at("g", g).at("h", h), sigma=sd)
        if stop < 7:
            y[stop:] = gp.Normal(b.at("g", 0).at("h", 1) + a[2], sigma=sd)
    sampler = gp.compile(m)
    assert any(step.kind == "joint" for step in sampler.schedule.steps)
    assert sampler.verify().proved


def regression(rows=30, columns=6, **settings):
    """A regression whose columns nothing but the data ties."""
    rng = np.random.default_rng(3)
    with gp.Model(coords={"i": rows, "k": columns}, name="regression") as model:
        w = gp.Data("w", rng.normal(size=(rows, columns)), dims=("i", "k"))
        lam = gp.Gamma("lam", 2, rate=1)
        x = gp.Normal("x", mu=0, tau=lam, dims="k")
        gp.Normal("y", mu=gp.sum(w * x, "k"), tau=1, dims="i", observed=rng.normal(size=rows))
    return gp.compile(model, **settings)


def test_a_vector_whose_matrix_takes_too_much_memory_is_drawn_element_by_element(monkeypatch):
    whole = regression(2)
    assert whole.schedule.apart == ()
    assert not whole.schedule.step("x").is_by_element
    monkeypatch.setattr(memory, "LEAST_BYTES", 2 * 8 * 6 * 6 - 1)
    monkeypatch.setattr(memory, "TIMES", 0)
    sampler = regression(2)
    assert [large.arrays for large in sampler.schedule.apart] == [("x",)]
    assert "x not drawn jointly, which would take 576 bytes; at most 575 bytes" in str(sampler)
    assert sampler.schedule.step("x").is_by_element
    assert sampler.verify().passed
    asked = regression(2, blocks={"x": "alone"})
    assert not asked.schedule.step("x").is_by_element
    monkeypatch.setattr(memory, "LEAST_BYTES", 2 * 8 * 6 * 6)
    assert not regression(2).schedule.step("x").is_by_element


def test_large_data_raise_the_limit_of_memory(monkeypatch):
    """A matrix of 40 columns and what is made of it take 26 kB; 40 numbers in each row are data."""
    monkeypatch.setattr(memory, "LEAST_BYTES", 20e3)
    few, many = (regression(rows, 40) for rows in (6, 9))
    assert memory.memory_limit(few.schedule.graph).own == 8 * (6 * 40 + 6 + 40 + 1)
    told = "x not drawn jointly, which would take 25.6 kB; at most 23 kB are taken (ten times data"
    assert [str(large) for large in few.schedule.apart] == [f"{told} and state)"]
    assert few.schedule.step("x").is_by_element
    assert many.schedule.apart == ()
    assert not many.schedule.step("x").is_by_element


def test_a_matrix_of_more_than_256_megabytes_is_not_made():
    sampler = regression(700, 4100)
    told = "269 MB; at most 256 MB are taken (ten times data and state: 230 MB)"
    assert [large.told for large in sampler.schedule.apart] == [told]
    assert told in str(sampler.costs())
    assert sampler.schedule.step("x").is_by_element


# ---- ties that are weak --------------------------------------------------------------------------


def read_often(times, groups=410):
    """Groups of which others read each element so often, and their level."""
    index = np.repeat(np.arange(groups), times)
    with gp.Model(coords={"g": groups, "i": len(index)}, name="often") as model:
        of = gp.Index("of", index, dims="i", of="g")
        level = gp.Normal("level", 0, tau=0.01)
        tau = gp.Gamma("tau", 2, rate=1)
        effect = gp.Normal("effect", level, tau=tau, dims="g")
        gp.Normal("y", effect[of], tau=1, dims="i", observed=np.zeros(len(index)))
    return model


@pytest.mark.parametrize(("times", "is_joint"), [(99, True), (100, False)])
def test_a_large_group_that_is_read_often_is_drawn_apart_from_its_level(times, is_joint):
    model = read_often(times)
    drawn = [set(s.variables) for s in gp.compile(model, interweave=False).schedule.steps]
    assert ({"effect", "level"} in drawn) == is_joint
    asked = gp.compile(model, interweave=False, blocks={("effect", "level"): "together"})
    assert {"effect", "level"} in [set(s.variables) for s in asked.schedule.steps]


def test_coefficients_that_data_tie_to_a_group_are_drawn_with_it(monkeypatch):
    """Others than the group itself read both: the tie is as strong as the data make it."""
    monkeypatch.setattr(weak_ties, "OFTEN", 1)
    with gp.Model(coords={"g": 401}, name="tied") as model:
        level = gp.Normal("level", 0, tau=0.01)
        effect = gp.Normal("effect", level, tau=1, dims="g")
        gp.Normal("y", effect + level, tau=100, dims="g", observed=np.zeros(401))
    drawn = [set(s.variables) for s in gp.compile(model, interweave=False).schedule.steps]
    assert {"effect", "level"} in drawn
