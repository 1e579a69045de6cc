"""Joint draws of many elements that few rows tie, by a matrix of the order of the rows."""

import re

import numpy as np
import pytest
from kernels_called import Called

import gibbsppl as gp
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.initial.search import initial_state
from gibbsppl.runtime.by_rows import ByRows, jointly_in
from gibbsppl.runtime.joint import Joint, drawn
from gibbsppl.runtime.loops import by_rows as kernels

EPSILON = np.finfo(float).eps
ROWS, COLUMNS = 8, 60
RNG = np.random.default_rng(7)
X = RNG.normal(size=(ROWS, COLUMNS))
Y = RNG.normal(size=ROWS)
Z = RNG.normal(size=(3, 2))


class Given:
    """A generator that hands out numbers that are given, in order."""

    def __init__(self, numbers):
        self.left = list(numbers)

    def standard_normal(self, size=None):
        count = 1 if size is None else int(size)
        found, self.left = self.left[:count], self.left[count:]
        return found[0] if size is None else np.array(found)


def example(rng, *, without_weight=False):
    """Two arrays and a number, two factors with rows; designs and weights of fewer axes, too."""
    joint = ByRows({"x": (3, 2), "a": (), "b": (4,)}, [(5,), (2, 3)])
    own = {
        "x": (rng.normal(size=(3, 2)), -rng.uniform(0.5, 2, (3, 2))),
        "a": (0.3, -0.01),
        "b": (0.0, -rng.uniform(0.5, 2, 4)),
    }
    weights = rng.uniform(0.5, 2, 5)
    weights[1] = 0.0 if without_weight else 1.0
    designs = rng.normal(size=(5, 3, 2)), 1.0, rng.normal(size=(5, 4))
    others = rng.normal(size=(2, 3, 3, 2)), rng.normal(size=(2, 3)), 0.0
    rows = [(weights, rng.normal(size=5), designs), (0.7, rng.normal(size=(2, 3)), others)]
    return joint, (own, rows)


def dense(joint, given):
    """The precision and the linear coefficients, written out row by row."""
    own, rows = given
    matrix = np.diag(-2 * joint.flat({n: two for n, (_, two) in own.items()}))
    linear = joint.flat({n: one for n, (one, _) in own.items()})
    for shape, (weight, response, design) in zip(joint.rows, rows, strict=True):
        for at in np.ndindex(shape):
            parts = [
                np.broadcast_to(d, (*shape, *joint.shapes[n]))[at].ravel()
                for n, d in zip(joint.arrays, design, strict=True)
            ]
            row = np.concatenate(parts)
            matrix += np.broadcast_to(weight, shape)[at] * np.outer(row, row)
            linear = linear + np.broadcast_to(response, shape)[at] * row
    return matrix, linear


def rounding(matrix):
    """What rounding may change: its condition number times the size and the last digit."""
    return 16 * len(matrix) * EPSILON * np.linalg.cond(matrix)


@pytest.mark.parametrize("without_weight", [False, True])
def test_the_draw_is_the_normal_of_that_precision(without_weight):
    """A draw is linear in the noise: its mean and covariance are exact."""
    joint, given = example(np.random.default_rng(1), without_weight=without_weight)
    matrix, linear = dense(joint, given)
    count = joint.size + 11

    def at(noise):
        return joint.flat(joint.draw(Given(noise), {}, given))

    mean = at(np.zeros(count))
    changes = np.array([at(unit) - mean for unit in np.eye(count)])
    covariance = np.linalg.inv(matrix)
    most = rounding(matrix)
    np.testing.assert_allclose(mean, covariance @ linear, rtol=0, atol=most * np.abs(mean).max())
    np.testing.assert_allclose(
        changes.T @ changes, covariance, rtol=0, atol=most * np.abs(covariance).max()
    )


def test_moments_and_the_precision_are_those_of_dense_algebra():
    joint, given = example(np.random.default_rng(2))
    matrix, linear = dense(joint, given)
    most = rounding(matrix)
    covariance = np.linalg.inv(matrix)
    np.testing.assert_allclose(joint.precision(given), matrix, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        joint.flat(joint.diagonal(given)), np.diagonal(matrix), rtol=1e-12, atol=0
    )
    np.testing.assert_allclose(
        joint.flat(joint.mean({}, given)), covariance @ linear, rtol=most, atol=most
    )
    np.testing.assert_allclose(
        joint.flat(joint.sd({}, given)), np.sqrt(np.diagonal(covariance)), rtol=most
    )


def test_vague_elements_keep_the_digits_of_their_means():
    """The mean of what the data determine is theirs, however wide the prior is."""
    rng = np.random.default_rng(3)
    design = rng.normal(size=(6, 6))
    x = rng.normal(size=6)
    joint = ByRows({"x": (6,)}, [(6,)])
    for precision in (1e-4, 1e-8, 1e-12):
        given = {"x": (0.0, -precision / 2)}, [(1.0, design @ x, (design,))]
        found = joint.flat(joint.mean({}, given))
        # (the prior takes its share of the mean, rounding of the matrix another)
        most = precision * np.linalg.cond(design) ** 2 + rounding(design @ design.T)
        np.testing.assert_allclose(found, x, rtol=0, atol=most * np.abs(x).max())


def test_an_element_without_precision_is_an_error():
    joint = ByRows({"x": (2,)}, [(1,)])
    given = {"x": (0.0, np.array([-0.5, 0.0]))}, [(1.0, 1.0, (np.ones((1, 2)),))]
    with pytest.raises(np.linalg.LinAlgError):
        joint.draw(np.random.default_rng(1), {}, given)


def called_on(kernel, joint, given, seed):
    """A draw by the kernel of loops."""
    own, rows = given
    linear = joint.flat({n: one for n, (one, _) in own.items()})
    precisions = -2 * joint.flat({n: two for n, (_, two) in own.items()})
    designs, weights, responses = [], [], []
    for shape, (weight, response, design) in zip(joint.rows, rows, strict=True):
        designs.append(joint._design(shape, design))
        weights.append(np.broadcast_to(weight, shape).ravel())
        responses.append(np.broadcast_to(response, shape).ravel())
    out = np.zeros(joint.size)
    kernel(
        np.random.default_rng(seed),
        linear,
        precisions,
        np.ascontiguousarray(np.concatenate(designs).T),
        np.concatenate(weights),
        np.concatenate(responses),
        out,
    )
    return out


@pytest.mark.parametrize("without_weight", [False, True])
@pytest.mark.parametrize("is_compiled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_draws_of_loops_are_those_of_whole_arrays(is_compiled, without_weight):
    joint, given = example(np.random.default_rng(4), without_weight=without_weight)
    given[1][0][2][0][:, 1, 1] = 0.0  # (an element that no row shows)
    given[1][1][2][0][..., 1, 1] = 0.0
    module = Called("by_rows") if is_compiled else kernels
    found = called_on(module.joint_by_rows, joint, given, 5)
    expected = joint.flat(joint.draw(np.random.default_rng(5), {}, given))
    most = rounding(dense(joint, given)[0])
    np.testing.assert_allclose(found, expected, rtol=0, atol=most * np.abs(expected).max())


@pytest.mark.parametrize("shown", [0, 1, 2])
def test_draws_where_rows_show_few_elements_are_those_of_dense_algebra(shown):
    """All gates are shut, or all but few: fewer elements are left than there are rows."""
    joint, (own, rows) = example(np.random.default_rng(4))
    gates = joint.placed(1.0 * (np.arange(joint.size) < shown)).values()
    given = own, [
        (w, r, [g * d for g, d in zip(gates, design, strict=True)]) for w, r, design in rows
    ]
    expected = joint.flat(joint.draw(np.random.default_rng(5), {}, given))
    mean = joint.flat(joint.mean({}, given))
    precision, linear = dense(joint, given)
    most = rounding(precision)

    np.testing.assert_allclose(mean, np.linalg.solve(precision, linear), atol=most, rtol=most)
    found = called_on(kernels.joint_by_rows, joint, given, 5)
    np.testing.assert_allclose(found, expected, rtol=0, atol=most * np.abs(expected).max())


# ---- models --------------------------------------------------------------------------------------


def regression(kind="ridge", rows=ROWS, columns=COLUMNS, *, intercept="normal"):
    x = np.resize(X, (rows, columns)) if (rows, columns) != X.shape else X
    with gp.Model(coords={"row": rows, "column": columns}) as model:
        design = gp.Data("design", x, dims=("row", "column"))
        tau = gp.Gamma("tau", 1, rate=1)
        match kind:
            case "ridge":
                beta = gp.Normal("beta", 0, tau=gp.Gamma("slab", 1, rate=1), dims="column")
            case "ard":
                own = gp.Gamma("own", 2, rate=1, dims="column")
                beta = gp.Normal("beta", 0.1, tau=own, dims="column")
            case "tied":
                own = gp.Gamma("own", 2, rate=1, dims="column")
                beta = gp.Normal("beta", 0.1, tau=own * tau, dims="column")
            case "horseshoe":
                local = gp.HalfCauchy("local", 1, dims="column")
                beta = gp.Normal("beta", 0, tau=1 / local**2, dims="column")
            case "gates":
                gate = gp.Bernoulli("gate", 0.2, dims="column")
                beta = gp.Normal("beta", 0, sigma=1, dims="column")
        line = design @ (gate * beta if kind == "gates" else beta)
        if intercept:
            line += gp.Normal("a", 1, sigma=10) if intercept == "normal" else gp.Flat("a")
        gp.Normal("y", line, tau=tau, dims="row", observed=np.resize(Y, rows))
    return model


def logistic():
    """A logistic regression: each row has an auxiliary weight."""
    with gp.Model(coords={"row": ROWS, "column": COLUMNS}) as model:
        design = gp.Data("design", X, dims=("row", "column"))
        beta = gp.Normal("beta", 0, sigma=1, dims="column")
        chance = gp.expit(design @ beta)
        gp.Bernoulli("y", chance, dims="row", observed=(Y > 0).astype(int))
    return model


def two_outcomes():
    """Two factors of rows, one of them a table, share coefficients."""
    with gp.Model(coords={"row": ROWS, "column": COLUMNS, "u": 3, "v": 2}) as model:
        design = gp.Data("design", X, dims=("row", "column"))
        other = gp.Data("other", RNG.normal(size=(3, 2, COLUMNS)), dims=("u", "v", "column"))
        beta = gp.Normal("beta", 0, sigma=1, dims="column")
        scale = gp.Gamma("scale", 1, rate=1, dims="u")
        gp.Normal("y", design @ beta, sigma=1, dims="row", observed=Y)
        mean = (other * beta).sum("column")
        gp.Normal("z", mean, tau=scale, dims=("u", "v"), observed=Z)
    return model


MODELS = {
    "ridge": lambda: regression("ridge"),
    "ard": lambda: regression("ard"),
    "horseshoe": lambda: regression("horseshoe", intercept=None),
    "tied": lambda: regression("tied", intercept=None),
    "gates": lambda: regression("gates"),
    "logistic": logistic,
    "two outcomes": two_outcomes,
}


def step_of(sampler):
    return next(s for s in sampler.schedule.steps if "beta" in s.variables)


OF_MEANS = {
    "a weight of the rows": (r"value = positions \+ ", "value = 2 * positions + "),
    "a prior mean": (r"value = design / own", "value = design / own**2"),
    "what is left of the responses": (r"value = y - 0\.1", "value = y - 0.2"),
}

PLANTED = {
    "a weight left out": ("y_weight = tau", "y_weight = 1.0"),
    "a response left unweighted": (r"y_response = tau \* y", "y_response = y"),
    "a gate left out of the design": (r"beta_design = design_gate", "beta_design = c['design']"),
    "a prior left out": ("a_squares = -0.005", "a_squares = -0.5"),
    "a design of another sign": ("a_design = 1", "a_design = -1"),
}

EVERY_DAY = {"ridge", "tied", *list(PLANTED)[1:3], *list(OF_MEANS)[:1]}


def some_slow(names):
    """The names, of which those that are not of every day are slow."""
    return [pytest.param(n, marks=() if n in EVERY_DAY else pytest.mark.slow) for n in names]



@pytest.mark.parametrize("name", some_slow(MODELS))
def test_few_rows_are_drawn_by(name):
    sampler = gp.compile(MODELS[name]())
    step = step_of(sampler)
    assert step.rows is not None
    assert "by a matrix of the order of" in str(sampler)
    assert sampler.verify().passed


@pytest.mark.parametrize("name", some_slow(MODELS))
def test_the_precision_is_that_of_the_log_density(name):
    """The second difference of what the exact check compares, along a line."""
    sampler = gp.compile(MODELS[name]())
    step, graph = step_of(sampler), sampler.graph
    program = load(sampler.source)
    constants = program.prepare(sampler.data)
    values, _ = initial_state(np.random.default_rng(3), graph, sampler.data)
    values |= {r.variable: np.ones(ROWS) for r in sampler.schedule.rewrites}
    given = program.given_rest[step.name](values, constants)
    joint = jointly_in(constants, step.name)
    log = []
    for sign in (1, 0, -1):
        x = {n: sign * np.ones(s) for n, s in joint.shapes.items()}
        log.append(step.log_terms(given, {**values, **x}, graph.sizes).sum())
    ones = np.ones(joint.size)
    found = -ones @ joint.precision(given) @ ones
    np.testing.assert_allclose(log[0] + log[2] - 2 * log[1], found, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ridge", "gates"])
def test_loops_make_the_draws_of_the_program(name):
    sampler = gp.compile(MODELS[name]())
    ours, theirs = (
        sampler.sample(3, warmup=2, chains=1, seed=4, progress=False, backend=b)["beta"]
        for b in ("numpy", "compiled")
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)


def test_more_rows_than_pay_are_drawn_by_the_precision_matrix():
    assert step_of(gp.compile(regression(rows=50))).kind == "joint"
    assert step_of(gp.compile(regression(rows=50))).rows is None
    assert getattr(step_of(gp.compile(regression("ard", columns=20))), "rows", None) is None


def test_fixed_matrices_are_diagonalised_where_this_is_less_work():
    step = step_of(gp.compile(regression(rows=24, columns=64, intercept=None)))
    assert step.pencil is not None
    assert step.rows is None
    assert step_of(gp.compile(regression("ard", rows=24, columns=64))).rows is not None


def test_an_element_without_a_prior_is_not_drawn_by_rows():
    assert step_of(gp.compile(regression("ard", intercept="flat"))).rows is None


def test_so_many_columns_that_no_precision_matrix_could_be_made():
    sampler = gp.compile(regression("ard", rows=4, columns=6000))
    assert step_of(sampler).rows is not None
    drawn_ = sampler.sample(2, warmup=1, chains=1, seed=1, progress=False, backend="numpy")
    assert drawn_["beta"].shape == (1, 2, 6000)


def gated():
    """A regression some of whose columns data leave out."""
    with gp.Model(coords={"row": ROWS, "column": COLUMNS}) as model:
        design = gp.Data("design", X, dims=("row", "column"))
        gate = gp.Data("gate", np.arange(COLUMNS) % 2, dims="column")
        tau = gp.Gamma("tau", 1, rate=1)
        beta = gp.Normal("beta", 0, sigma=1, dims="column")
        a = gp.Normal("a", 1, sigma=10)
        gp.Normal("y", a + design @ (gate * beta), tau=tau, dims="row", observed=Y)
    return model


def test_scales_are_drawn_without_what_few_rows_tie():
    """The mean is computed by the rows; the graph is the declared one's."""
    sampler = gp.compile(MODELS["tied"]())
    assert "runtime.inverse(beta_rows)" in sampler.source
    proved = [r for r in sampler.verify().rows if "integrated out" in r.step]
    assert [r.discrepancy is not None and r.passed for r in proved] == [True]


@pytest.mark.parametrize("name", some_slow(OF_MEANS))
def test_planted_bugs_in_means_are_seen(name):
    sampler = gp.compile(MODELS["tied"]())
    pattern, wrong = OF_MEANS[name]
    source, count = re.subn(pattern, wrong, sampler.source)
    assert count >= 1
    report = verify(sampler.graph, load(source), sampler.schedule.steps, sampler.data)
    assert not report.passed


@pytest.mark.parametrize("name", some_slow(PLANTED))
def test_planted_bugs_are_seen(name):
    sampler = gp.compile(gated())
    pattern, wrong = PLANTED[name]
    source, count = re.subn(pattern, wrong, sampler.source)
    assert count == 1
    report = verify(sampler.graph, load(source), sampler.schedule.steps, sampler.data)
    assert {r.step for r in report.rows if not r.passed} & {"beta, a", "(sweeps)"}


def test_a_draw_without_the_noise_of_the_rows_is_seen(monkeypatch):
    """The same check of the covariance, of draws that leave out the noise of the rows."""
    normal = Given.standard_normal

    def lacking(self, size=None):
        found = normal(self, size)
        return 0.0 * found if size == 11 else found

    monkeypatch.setattr(Given, "standard_normal", lacking)
    with pytest.raises(AssertionError):
        test_the_draw_is_the_normal_of_that_precision(without_weight=False)


def test_joint_by_precision_agrees():
    """A block of both kinds: the mean is the same."""
    joint, given = example(np.random.default_rng(9))
    matrix, linear = dense(joint, given)
    k = np.arange(joint.size)
    pairs = [("x", (k[:, None],), "x", (k[None],))]
    other = Joint({"x": drawn((joint.size,), [((0, joint.size),)])}, pairs)
    found = other.mean({}, ({"x": (linear, 0.0)}, [-matrix / 2]))["x"]
    most = rounding(matrix)
    np.testing.assert_allclose(joint.flat(joint.mean({}, given)), found, rtol=most, atol=most)
