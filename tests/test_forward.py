"""Ancestral draws against known moments and distribution functions, and initial values."""

import numpy as np
import pytest
import sympy as sp
from scipy import special, stats

import gibbsppl as gp
from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, Over
from gibbsppl.algebra.functions import Expit, LogPhi
from gibbsppl.algebra.ranges import Range
from gibbsppl.errors import ModelError, RunError
from gibbsppl.families import CATEGORICAL, DIRICHLET, GAMMA, MVNORMAL, NORMAL
from gibbsppl.initial import search as initial
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import log_joint
from gibbsppl.model.forward import bisection, drawn, prior_predictive, simulate, whole_bisection
from gibbsppl.model.graph import Constant, Graph, Potential, Statement, Variable

I, K, T, R = (Dim(n) for n in "iktr")
SIZES = {I: 4, K: 3, primed(K): 3, T: 6, R: 5}
MU, TAU, X, Y, Z, P, M = (Array(n) for n in ("mu", "tau", "x", "y", "z", "p", "M"))
LEVEL = 1e-6


def over(*dims):
    return tuple(Range(d, 0, SIZES[d]) for d in dims)


def statement(target, over_, family, event=(), *, name=None, known=0, lower=None, upper=None, **a):
    arguments = tuple((k, sp.sympify(v)) for k, v in a.items())
    bounds = [None if b is None else sp.sympify(b) for b in (lower, upper)]
    name = name or target.array.name
    return Statement(name, target, over_, event, family, arguments, *bounds, sp.sympify(known))


def graph(*statements, integer=(), constants=(), potentials=(), data=(), **dims):
    variables = {n: Variable(n, d, "random", n in integer) for n, d in dims.items()}
    variables |= {n: Variable(n, d, "data") for n, d in dict(data).items()}
    return Graph("test", SIZES, variables, statements, potentials, constants)


def draws_of(model, data=None, count=400, seed=1):
    return prior_predictive(np.random.default_rng(seed), model, data or {}, draws=count)


def test_draws_follow_the_model_in_order():
    model = graph(
        statement(Y[I], over(I), NORMAL, mu=MU[()], tau=TAU[()], known=1),
        statement(MU[()], (), NORMAL, mu=1, tau=4),
        statement(TAU[()], (), GAMMA, shape=3, rate=2),
        mu=(),
        tau=(),
        y=(I,),
    )
    found = draws_of(model)
    z = (found["y"] - found["mu"][:, None]) * np.sqrt(found["tau"])[:, None]

    assert stats.kstest(found["mu"], stats.norm(1, 0.5).cdf).pvalue > LEVEL
    assert stats.kstest(found["tau"], stats.gamma(3, scale=0.5).cdf).pvalue > LEVEL
    assert stats.kstest(z.ravel(), stats.norm.cdf).pvalue > LEVEL


def test_observed_data_are_kept_when_asked_and_missing_entries_are_drawn():
    known = Array("known")
    model = graph(
        statement(MU[()], (), NORMAL, mu=0, tau=1),
        statement(Y[I], over(I), NORMAL, mu=MU[()], tau=1, known=known[I]),
        mu=(),
        y=(I,),
        data=(("known", (I,)),),
    )
    data = {"y": np.array([5.0, np.nan, 7.0, np.nan]), "known": np.array([1, 0, 1, 0])}
    kept = simulate(np.random.default_rng(1), model, data, observed=False)
    fresh = simulate(np.random.default_rng(1), model, data)

    np.testing.assert_array_equal(kept["y"][[0, 2]], [5.0, 7.0])
    assert np.isfinite(kept["y"]).all()
    assert (fresh["y"][[0, 2]] != [5.0, 7.0]).all()
    assert np.isnan(data["y"][1])


def test_given_values_are_not_drawn():
    model = graph(
        statement(MU[()], (), NORMAL, mu=0, tau=1),
        statement(X[I], over(I), NORMAL, mu=MU[()], tau=1e8),
        mu=(),
        x=(I,),
    )
    found = simulate(np.random.default_rng(1), model, {}, given={"mu": np.array(50.0)})

    assert found["mu"] == 50.0
    assert (np.abs(found["x"] - 50.0) < 1e-2).all()


def autoregression():
    return graph(
        statement(X[T], (Range(T, 1, 6),), NORMAL, mu=X[T - 1] / 2 + Y[T - 1], tau=4, name="x"),
        statement(Y[T], over(T), NORMAL, mu=X[T], tau=1, name="y"),
        statement(X[0], (), NORMAL, mu=0, tau=1, name="start"),
        x=(T,),
        y=(T,),
    )


def test_statements_with_lags_are_interleaved():
    found = draws_of(autoregression(), count=150)
    x, y = found["x"], found["y"]
    z = np.concatenate([(x[:, 1:] - x[:, :-1] / 2 - y[:, :-1]) * 2, y - x, x[:, :1]], axis=1)

    assert stats.kstest(z.ravel(), stats.norm.cdf).pvalue > LEVEL


def test_two_lagged_axes_and_a_backward_chain():
    grid = Array("grid")
    rows = (Range(T, 1, 6), Range(R, 1, 5))
    model = graph(
        statement(grid[T, R], rows, NORMAL, mu=grid[T - 1, R] + grid[T, R - 1], tau=1),
        statement(X[T], (Range(T, 0, 5),), NORMAL, mu=X[T + 1], tau=1),
        constants=(
            Constant(grid[0, R], over(R), sp.Integer(2)),
            Constant(grid[T, 0], (Range(T, 1, 6),), sp.Integer(3)),
            Constant(X[5], (), sp.Integer(7)),
        ),
        grid=(T, R),
        x=(T,),
    )
    found = draws_of(model, count=40)
    g, x = found["grid"], found["x"]

    assert (g[:, 0] == 2).all()
    assert (g[:, 1:, 0] == 3).all()
    assert (x[:, 5] == 7).all()
    z = (g[:, 1:, 1:] - g[:, :-1, 1:] - g[:, 1:, :-1]).ravel()
    assert stats.kstest(z, stats.norm.cdf).pvalue > LEVEL
    assert stats.kstest((x[:, :-1] - x[:, 1:]).ravel(), stats.norm.cdf).pvalue > LEVEL


def test_what_is_known_may_stand_behind_what_reads_it():
    """Rows of a table, each after the one that it follows; what the first follow is at its end."""
    follows = np.array([4, 0, 5, 2, 0, 0])
    model = graph(
        statement(X[T], (Range(T, 0, 4),), NORMAL, mu=X[Array("follows")[T]], tau=1),
        constants=(
            Constant(X[4], (), sp.Integer(10)),
            Constant(X[5], (), sp.Integer(-10)),
        ),
        x=(T,),
        data=(("follows", (T,)),),
    )
    x = draws_of(model, {"follows": follows}, count=200)["x"]

    assert stats.kstest((x[:, :4] - x[:, follows[:4]]).ravel(), stats.norm.cdf).pvalue > LEVEL


def test_events_and_labels():
    model = graph(
        statement(P[K], (), DIRICHLET, (K,), a=sp.Integer(2)),
        statement(Z[I], over(I), CATEGORICAL, (K,), p=P[K]),
        statement(X[I, K], over(I), MVNORMAL, (K,), mu=Z[I], tau=M[K, primed(K)]),
        integer=("z",),
        data=(("M", (K, primed(K))),),
        p=(K,),
        z=(I,),
        x=(I, K),
    )
    precision = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 1.5]])
    found = draws_of(model, {"M": precision})
    z = (found["x"] - found["z"][..., None]) @ np.linalg.cholesky(precision)
    flat = stats.beta(2, 4)

    assert stats.kstest(found["p"][:, 0], flat.cdf).pvalue > LEVEL
    assert stats.kstest(z.ravel(), stats.norm.cdf).pvalue > LEVEL
    counts = np.bincount(found["z"][:, 0].astype(int), minlength=3)
    assert stats.chisquare(counts).pvalue > LEVEL


NORMAL_WITH_CDF = type(NORMAL)(
    name="Normal", parameters=NORMAL.parameters, support=NORMAL.support,
    log_density=NORMAL.log_density, simulate=NORMAL.simulate,
    log_cdf=lambda x, mu, tau: LogPhi((x - mu) * sp.sqrt(tau)),
    log_sf=lambda x, mu, tau: LogPhi((mu - x) * sp.sqrt(tau)),
)  # fmt: skip


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(0.5, None), (None, -1.0), (-0.3, 2.0), (9.0, None), (None, -20.0), (8, 8.1)],
)
def test_truncated_draws_follow_the_truncated_distribution(lower, upper):
    part = statement(X[R], over(R), NORMAL_WITH_CDF, mu=MU[()], tau=4, lower=lower, upper=upper)
    x = drawn(np.random.default_rng(3), part, {"mu": np.array(0.2)}, SIZES, draws=200)
    a, b = ((np.inf * s if v is None else (v - 0.2) * 2) for v, s in ((lower, -1), (upper, 1)))
    p = stats.truncnorm((a), (b), loc=0.2, scale=0.5).cdf(x.ravel())

    assert x.shape == (200, 5)
    assert stats.kstest(p, "uniform").pvalue > LEVEL


def test_bisection_finds_points_far_out():
    found = bisection(lambda x: special.log_ndtr(x) < -1e4, np.array([-np.inf]), np.array([np.inf]))

    assert special.log_ndtr(found[0]) == pytest.approx(-1e4, rel=1e-12)


def test_a_potential_cannot_be_drawn():
    model = graph(
        statement(X[T], over(T), NORMAL, mu=0, tau=1),
        potentials=(Potential("coupling", X[T] * X[T - 1], (Range(T, 1, 6),)),),
        x=(T,),
    )
    with pytest.raises(ModelError, match="coupling: a model with potentials"):
        simulate(np.random.default_rng(1), model, {})
    state, notes = initial_state(np.random.default_rng(1), model, {})
    assert np.isfinite(log_joint(model, state))
    assert notes == {"x": "rule"}


def test_a_cycle_between_elements_is_named():
    model = graph(
        statement(X[T], over(T), NORMAL, mu=Y[T], tau=1),
        statement(Y[T], over(T), NORMAL, mu=X[T], tau=1),
        x=(T,),
        y=(T,),
    )
    with pytest.raises(ModelError, match="x, y: each reads an element of another"):
        simulate(np.random.default_rng(1), model, {})


def test_a_draw_that_is_not_finite_is_told_in_one_error():
    """No warning of NumPy's comes before it (here, warnings are errors)."""
    with gp.Model() as m:
        gp.AsymmetricLaplace("x", mu=0, scale=1, q=1e-320)
    told = "x: a draw from AsymmetricLaplace is -?(inf|nan), expected a finite number"
    with pytest.raises(ModelError, match=told):
        gp.simulate(m, seed=1)


def test_a_count_beyond_whole_numbers_is_told():
    with gp.Model() as m:
        gp.Geometric("x", p=1e-30)
    with pytest.raises(ModelError, match=r"Geometric is .*, expected a whole number"):
        gp.simulate(m, seed=1)


def test_a_parameter_outside_its_support_is_named():
    model = graph(statement(X[T], over(T), NORMAL, mu=0, tau=Y[T]), x=(T,), data=(("y", (T,)),))
    with pytest.raises(ModelError, match=r"x: parameter 'tau' of Normal is -1, .* y\[t\]"):
        simulate(np.random.default_rng(1), model, {"y": np.array([1, 1, -1, 1, 1, 1.0])})


# Initial values


def vague():
    return graph(
        statement(MU[()], (), NORMAL, mu=0, tau=sp.Rational(1, 10**12)),
        statement(TAU[()], (), GAMMA, shape=sp.Rational(1, 1000), rate=sp.Rational(1, 1000)),
        statement(X[I], over(I), NORMAL, mu=MU[()], tau=TAU[()]),
        statement(Y[I, R], over(I, R), NORMAL, mu=X[I], tau=4, known=1),
        mu=(), tau=(), x=(I,), y=(I, R),
    )  # fmt: skip


def ratings():
    return {"y": 100 + 10 * np.random.default_rng(5).standard_normal((4, 5))}


@pytest.mark.parametrize("seed", range(20))
def test_vague_priors_start_at_the_scale_of_the_data(seed):
    model, data = vague(), ratings()
    state, notes = initial_state(np.random.default_rng(seed), model, data)

    assert set(state) == {"mu", "tau", "x"}
    assert (notes["mu"], notes["tau"], notes["x"]) == ("rule", "rule", "prior")
    assert np.isfinite(log_joint(model, {**data, **state}))
    assert np.abs(state["mu"]) < 6 * initial.data_scale(model, data)
    assert np.exp(-6) < state["tau"] < np.exp(6)


def test_chains_start_apart():
    starts = [initial_state(np.random.default_rng(s), vague(), ratings())[0] for s in range(4)]

    assert len({float(s["mu"]) for s in starts}) == 4
    assert np.std([s["mu"] for s in starts]) > 10


def test_informative_priors_are_drawn_from():
    model = graph(
        statement(MU[()], (), NORMAL, mu=10**6, tau=1),
        statement(TAU[()], (), GAMMA, shape=10**4, rate=1),
        mu=(),
        tau=(),
    )
    state, notes = initial_state(np.random.default_rng(1), model, {})

    assert notes == {"mu": "prior", "tau": "prior"}
    assert abs(state["mu"] - 1e6) < 6
    assert abs(state["tau"] - 1e4) < 600


def test_init_is_kept_and_checked():
    rng, model, data = np.random.default_rng(1), vague(), ratings()
    state, notes = initial_state(rng, model, data, {"mu": 3.0, "x": [1.0, 2.0, 3.0, 4.0]})

    assert (float(state["mu"]), notes["mu"]) == (3.0, "given")
    np.testing.assert_array_equal(state["x"], [1, 2, 3, 4])
    with pytest.raises(RunError, match=r"init: x has shape \(\), expected \(4,\)"):
        initial_state(rng, model, data, {"x": 0.0})
    with pytest.raises(RunError, match="init: 'nu' is not a variable to be drawn"):
        initial_state(rng, model, data, {"nu": 0.0})
    with pytest.raises(RunError, match="init: 'y' is not a variable to be drawn"):
        initial_state(rng, model, data, {"y": data["y"]})
    with pytest.raises(RunError, match=r"tau, x: no start .*change the init of tau"):
        initial_state(rng, model, data, {"tau": -1.0})


def test_init_of_a_partly_observed_array_keeps_the_data():
    known = Array("known")
    model = graph(
        statement(Y[I], over(I), NORMAL, mu=0, tau=1, known=known[I]),
        y=(I,),
        data=(("known", (I,)),),
    )
    data = {"y": np.array([5.0, np.nan, 7.0, np.nan]), "known": np.array([1, 0, 1, 0])}
    rng = np.random.default_rng(1)
    state, _ = initial_state(rng, model, data)
    given, _ = initial_state(rng, model, data, {"y": [np.nan, 1.0, 7.0, 2.0]})

    np.testing.assert_array_equal(state["y"][[0, 2]], [5.0, 7.0])
    np.testing.assert_array_equal(given["y"], [5.0, 1.0, 7.0, 2.0])
    with pytest.raises(RunError, match="y differs from the data where it is observed"):
        initial_state(rng, model, data, {"y": [4.0, 1.0, 7.0, 2.0]})


def test_an_impossible_model_names_the_statement():
    model = graph(
        statement(MU[()], (), NORMAL, mu=0, tau=1),
        statement(Y[I], over(I), GAMMA, shape=1, rate=Expit(MU[()]), known=1),
        mu=(),
        y=(I,),
    )
    with pytest.raises(RunError, match=r"^y: no start of positive density"):
        initial_state(np.random.default_rng(1), model, {"y": np.array([1.0, 2.0, -3.0, 1.0])})


def test_labels_simplexes_and_vectors_start_inside():
    model = graph(
        statement(P[K], (), DIRICHLET, (K,), a=sp.Rational(1, 10**5)),
        statement(Z[I], over(I), CATEGORICAL, (K,), p=P[K]),
        statement(X[I, K], over(I), MVNORMAL, (K,), mu=Over(P[K], K), tau=M[K, primed(K)]),
        integer=("z",),
        data=(("M", (K, primed(K))),),
        p=(K,),
        z=(I,),
        x=(I, K),
    )
    data = {"M": 1e-9 * np.eye(3)}
    state, notes = initial_state(np.random.default_rng(1), model, data)

    assert (state["p"] > 0).all()
    assert notes == {"p": "rule", "z": "prior", "x": "rule"}
    assert np.isfinite(log_joint(model, {**data, **state}))


def test_elements_that_are_known_are_not_put_in_order():
    with gp.Model(coords={"i": 3}) as m:
        low = gp.Array("low", dims="i")
        low[0] = 1.0
        low[1] = 2.0
        low[2] = gp.Normal(0, sigma=1)
        x = gp.Normal("x", 0, sigma=1, dims="i")
        gp.Potential("order", gp.log(low < x))
    sampler = gp.compile(m)
    mend = sampler.program.mended_by(np.random.default_rng(1), sampler.constants)
    for seed in range(5):
        state, _ = initial_state(np.random.default_rng(seed), m.graph, m.data, mend=mend)
        assert state["low"][:2].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("potential", [False, True])
def test_what_is_seen_is_there_from_the_start(potential):
    """Thirty sites at which something was seen, half of which are thought to be empty."""
    with gp.Model() as m:
        p = gp.Beta("p", 1, 1)
        there = gp.Bernoulli("there", gp.Data("half", np.full(30, 0.5), dims="i"), dims="i")
        gp.Bernoulli("y", there * p, dims="i", observed=np.ones(30, int))
        if potential:
            gp.Potential("more", -p)
    state, _ = initial_state(np.random.default_rng(1), m.graph, m.data)
    assert state["there"].all()


def test_bounds_that_constants_alone_fill_are_read():
    with gp.Model(coords={"i": 3}) as m:
        low = gp.Array("low", dims="i")
        low[:2] = 1.0
        low[2] = 2.0
        x = gp.Normal("x", 0, sigma=1, dims="i")
        gp.Normal("y", 0, sigma=1, observed=0.5)
        gp.Potential("above", gp.log(low < x))
    state, _ = initial_state(np.random.default_rng(1), m.graph, m.data)
    assert (state["x"] > [1, 1, 2]).all()


@pytest.mark.parametrize("upper", [1e308, np.inf])
def test_truncated_draws_find_their_place_far_from_a_bound(upper):
    part = statement(X[R], over(R), NORMAL_WITH_CDF, mu=MU[()], tau=4, upper=upper)
    x = drawn(np.random.default_rng(3), part, {"mu": np.array(0.2)}, SIZES, draws=200)

    assert stats.kstest(stats.norm(0.2, 0.5).cdf(x.ravel()), "uniform").pvalue > LEVEL


@pytest.mark.parametrize("shape", [(), (1,), (2, 1)])
def test_whole_numbers_are_found_at_any_size(shape):
    ends = np.broadcast_to(-1.0, shape), np.broadcast_to(np.inf, shape)
    found = whole_bisection(lambda x: x < 1e300, *ends)

    assert found.shape == shape
    assert (found == 1e300).all()
