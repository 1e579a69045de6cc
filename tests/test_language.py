"""The Python notation: each style of model, declared, and printed as mathematics."""

import contextvars
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sympy as sp
from scipy import special, stats

import gibbsppl.language as gp
from gibbsppl import compile as compile_model
from gibbsppl.algebra import expressions as ex
from gibbsppl.algebra import functions as fn
from gibbsppl.algebra.ranges import Range
from gibbsppl.checks.perturb import perturbed
from gibbsppl.errors import ModelError, RunError
from gibbsppl.families import FAMILIES
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import free_elements, log_density, log_joint, log_terms
from gibbsppl.model.evaluation import evaluate as density_evaluate
from gibbsppl.output.draws import Draws
from gibbsppl.runtime.draws import dirichlet_of


def lines(model):
    return str(model.graph).splitlines()


def rats():
    with gp.Model(coords={"rat": 3, "day": [8, 15]}) as model:
        age = gp.Data("age", [8, 15], dims="day")
        mu, tau = gp.Normal("mu", 0, tau=1e-6), gp.Gamma("tau", 1e-3, rate=1e-3)
        a = gp.Normal("a", mu, tau=tau, dims="rat")
        b = gp.Normal("b", 0, var=4, dims="rat")
        sd = gp.Uniform("sd", 0, 100)
        mean = a + b * (age - 22)
        gp.Normal("weight", mean, sigma=sd, dims=("rat", "day"), observed=np.ones((3, 2)))
        gp.Deterministic("start", mean.at("day", 0))
    return model


def pumps():
    with gp.Model() as model:
        time = gp.Data("time", [94.3, 15.7], dims="pump")
        alpha, beta = gp.Exponential("alpha", rate=1), gp.Gamma("beta", 0.1, rate=1)
        theta = gp.Gamma("theta", alpha, rate=beta, dims="pump")
        gp.Poisson("x", theta * time, dims="pump", observed=[5, 1])
    return model


def coin():
    with gp.Model() as model:
        p = gp.Beta("p", 1, 1)
        gp.Bernoulli("toss", p, dims="toss_number", observed=[0, 1, 1])
    return model


def dice():
    with gp.Model(coords={"face": 6}) as model:
        p = gp.Dirichlet("p", 1, dims="face")
        gp.Multinomial("count", 10, p, dims="face", observed=[1, 2, 3, 4, 0, 0])
    return model


def gaussian():
    with gp.Model() as model:
        mu, var = gp.Normal("mu", 0, sigma=10), gp.InverseGamma("var", 2, 3)
        gp.Normal("x", mu, var=var, dims="i", observed=[1.5, 2.5])
    return model


def bivariate():
    with gp.Model(coords={"axis": 2}) as model:
        cov = gp.Data("cov", [[1, 0.5], [0.5, 1]], dims=("axis", "axis'"))
        gp.MvNormal("x", 0, cov=cov, dims="axis")
    return model


def regression():
    with gp.Model() as model:
        X = gp.Data("X", np.arange(6.0).reshape(3, 2), dims=("i", "feature"))
        alpha = gp.Gamma("alpha", 1, rate=1)
        beta = gp.Normal("beta", 0, tau=alpha, dims="feature")
        gp.Normal("y", X @ beta, sigma=1, dims="i", observed=[1.0, 2.0, 3.0])
    return model


def schools():
    with gp.Model(coords={"school": ["a", "b"]}) as model:
        group = gp.Index("group", [0, 1, 1], of="school", dims="student")
        mu, tau = gp.Normal("mu", 0, sigma=10), gp.HalfCauchy("tau", 5)
        theta = gp.Normal("theta", mu, sigma=tau, dims="school")
        gp.Normal("y", theta[group], sigma=1, dims="student", observed=[1.0, 2.0, 0.5])
    return model


def factorisation():
    with gp.Model(coords={"user": 3, "item": 4, "factor": 2}) as model:
        user = gp.Index("user_of", [0, 2], of="user", dims="rating")
        item = gp.Index("item_of", [3, 1], of="item", dims="rating")
        U = gp.Normal("U", 0, tau=1, dims=("user", "factor"))
        V = gp.Normal("V", 0, tau=1, dims=("item", "factor"))
        mean = (U[user] * V[item]).sum("factor")
        gp.Normal("r", mean, tau=2, dims="rating", observed=[4.0, 5.0])
    return model


def mixture():
    with gp.Model(coords={"cluster": 2}) as model:
        weight = gp.Dirichlet("weight", 1, dims="cluster")
        mu = gp.Normal("mu", 0, sigma=5, dims="cluster")
        y = gp.Data("values", [1.0, 2.0, 9.0], dims="i")
        z = gp.Categorical("z", weight, dims="i")
        gp.Normal("y", mu[z], sigma=1, dims="i", observed=y)
    return model


def lda():
    with gp.Model(coords={"doc": 2, "topic": 3, "word": 4}) as model:
        doc = gp.Index("doc_of", [0, 0, 1], of="doc", dims="token")
        theta = gp.Dirichlet("theta", 0.1, dims=("doc", "topic"), event="topic")
        phi = gp.Dirichlet("phi", 0.1, dims=("topic", "word"), event="word")
        z = gp.Categorical("z", theta[doc], dims="token", event="topic")
        gp.Categorical("w", phi[z], dims="token", event="word", observed=[0, 3, 3])
    return model


def hidden_markov():
    with gp.Model(coords={"state": 2, "time": 4}) as model:
        P = gp.Dirichlet("P", 1, dims=("state", "state'"), event="state'")
        mu = gp.Normal("mu", 0, sigma=3, dims="state")
        z = gp.Array("z", dims="time", event="state")
        z[0] = gp.Categorical(0.5)
        z[1:] = gp.Categorical(P[z.lag("time", 1)])
        gp.Normal("y", mu[z], sigma=1, dims="time", observed=[0.0, 1.0, 2.0, 3.0])
    return model


def autoregression():
    with gp.Model(coords={"time": 5}) as model:
        rho = gp.Uniform("rho", -1, 1)
        x = gp.Array("x", dims="time", observed=[1.0, 2.0, 0.0, 1.0, 3.0])
        x[0] = gp.Normal(0, sigma=1)
        x[1:] = gp.Normal(rho * x.lag("time", 1), sigma=1)
    return model


def random_walk():
    with gp.Model(coords={"time": 5}) as model:
        tau = gp.Gamma("tau", 1, rate=1)
        x = gp.Array("x", dims="time")
        x[0] = 3.0
        x[1:] = gp.Normal(x.lag("time"), tau=tau)
        gp.Normal("y", x, sigma=1, dims="time", observed=np.ma.masked_equal([1, 2, -9, 4, 5], -9))
    return model


def precision_matrix():
    with gp.Model(coords={"factor": 2}) as model:
        R = gp.Data("R", np.eye(2), dims=("factor", "factor'"))
        tau = gp.Wishart("tau", 3, V=R, dims=("factor", "factor'"))
        mu = gp.MvNormal("mu", 0, tau=R, dims="factor")
        gp.MvNormal("y", mu, tau=tau, dims=("i", "factor"), observed=np.ones((4, 2)))
    return model


def ising():
    with gp.Model(coords={"row": 3, "column": 4}) as model:
        s = gp.Bernoulli("s", 0.5, dims=("row", "column"))
        gp.Potential("down", 0.3 * s * s.lag("row"))
    return model


NOTATION = {
    rats: [
        "mu ~ Normal(mu=0, tau=1e-6)",
        "tau ~ Gamma(shape=0.001, rate=0.001)",
        "a[rat] ~ Normal(mu=mu, tau=tau)",
        "b[rat] ~ Normal(mu=0, tau=0.25)",
        "sd ~ Uniform(lower=0, upper=100)",
        "weight[rat, day] ~ Normal(mu=a[rat] + b[rat]*(age[day] - 22), tau=1/sd**2), observed",
        "start[rat] := a[rat] + b[rat]*(age[0] - 22)",
    ],
    pumps: [
        "alpha ~ Exponential(rate=1)",
        "beta ~ Gamma(shape=0.1, rate=1)",
        "theta[pump] ~ Gamma(shape=alpha, rate=beta)",
        "x[pump] ~ Poisson(rate=theta[pump]*time[pump]), observed",
    ],
    coin: ["p ~ Beta(a=1, b=1)", "toss[toss_number] ~ Bernoulli(p=p), observed"],
    dice: [
        "p[face] ~ Dirichlet(a=1) over face",
        "count[face] ~ Multinomial(n=10, p=p[face]) over face, observed",
    ],
    gaussian: [
        "mu ~ Normal(mu=0, tau=0.01)",
        "var ~ InverseGamma(shape=2, scale=3)",
        "x[i] ~ Normal(mu=mu, tau=1/var), observed",
    ],
    bivariate: [
        (
            "x[axis] ~ MvNormal(mu=0, tau=inverse(cov)[axis, axis'])"
            " over axis"
        )
    ],
    regression: [
        "alpha ~ Gamma(shape=1, rate=1)",
        "beta[feature] ~ Normal(mu=0, tau=alpha)",
        "y[i] ~ Normal(mu=sum(X[i, feature]*beta[feature], feature), tau=1), observed",
    ],
    schools: [
        "mu ~ Normal(mu=0, tau=0.01)",
        "tau ~ HalfCauchy(scale=5)",
        "theta[school] ~ Normal(mu=mu, tau=1/tau**2)",
        "y[student] ~ Normal(mu=theta[group[student]], tau=1), observed",
    ],
    factorisation: [
        "U[user, factor] ~ Normal(mu=0, tau=1)",
        "V[item, factor] ~ Normal(mu=0, tau=1)",
        (
            "r[rating] ~ Normal(mu=sum(U[user_of[rating], factor]*V[item_of[rating], factor], "
            "factor), tau=2), observed"
        ),
    ],
    mixture: [
        "weight[cluster] ~ Dirichlet(a=1) over cluster",
        "mu[cluster] ~ Normal(mu=0, tau=0.04)",
        "z[i] ~ Categorical(p=weight[cluster])",
        "y[i] ~ Normal(mu=mu[z[i]], tau=1), observed",
    ],
    lda: [
        "theta[doc, topic] ~ Dirichlet(a=0.1) over topic",
        "phi[topic, word] ~ Dirichlet(a=0.1) over word",
        "z[token] ~ Categorical(p=theta[doc_of[token], topic])",
        "w[token] ~ Categorical(p=phi[z[token], word]), observed",
    ],
    hidden_markov: [
        "P[state, state'] ~ Dirichlet(a=1) over state'",
        "mu[state] ~ Normal(mu=0, tau=1/9)",
        "z[0] ~ Categorical(p=0.5)",
        "z[time] ~ Categorical(p=P[z[time - 1], state']), time = 1..3",
        "y[time] ~ Normal(mu=mu[z[time]], tau=1), observed",
    ],
    autoregression: [
        "rho ~ Uniform(lower=-1, upper=1)",
        "x[0] ~ Normal(mu=0, tau=1), observed",
        "x[time] ~ Normal(mu=rho*x[time - 1], tau=1), observed, time = 1..4",
    ],
    random_walk: [
        "tau ~ Gamma(shape=1, rate=1)",
        "x[time] ~ Normal(mu=x[time - 1], tau=tau), time = 1..4",
        "y[time] ~ Normal(mu=x[time], tau=1), observed where y.known[time] = 1",
        "x[0] = 3",
    ],
    precision_matrix: [
        "tau[factor, factor'] ~ Wishart(nu=3, V=R[factor, factor']) over factor, factor'",
        "mu[factor] ~ MvNormal(mu=0, tau=R[factor, factor']) over factor",
        "y[i, factor] ~ MvNormal(mu=mu[factor], tau=tau[factor, factor']) over factor, observed",
    ],
    ising: [
        "s[row, column] ~ Bernoulli(p=0.5)",
        "log density += sum(0.3*s[row - 1, column]*s[row, column], row, column), row = 1..2",
    ],
}


@pytest.mark.parametrize("model", NOTATION, ids=lambda m: m.__name__)
def test_a_model_prints_as_mathematics(model):
    assert lines(model()) == NOTATION[model]


@pytest.mark.parametrize("model", NOTATION, ids=lambda m: m.__name__)
def test_a_graph_is_complete_in_itself(model):
    """Every array that is read is declared, every dim has a size, all data have their shape."""
    declared = model()
    graph, data = declared.graph, declared.data
    expressions = [f.log_density for f in graph.factors] + [d.value for d in graph.deterministics]
    arrays = {leaf.array.name for e in expressions for leaf in ex.leaves_of(e)}

    assert arrays <= set(graph.variables)
    for name, variable in graph.variables.items():
        shape = tuple(graph.sizes[d] for d in variable.dims)
        if variable.kind != "random":
            assert data[name].shape == shape
        assert data.get(name, np.empty(shape)).shape == shape
    assert set(declared.coords) == {d.name for d in graph.sizes}
    assert all(len(declared.coords[d.name]) == n for d, n in graph.sizes.items())


def test_every_family_has_a_constructor():
    assert set(FAMILIES) <= set(dir(gp))
    assert gp.Normal is gp.Normal
    with pytest.raises(AttributeError, match="Normall"):
        _ = gp.Normall


# Labels and indices.


def test_a_label_points_into_its_event_dim():
    graph = lda().graph

    assert graph.variables["z"].of == ex.Dim("topic")
    assert graph.variables["z"].integer
    assert graph.statement("w").event == (ex.Dim("word"),)
    assert graph.statement("theta").event == (ex.Dim("topic"),)
    assert graph.statement("theta").over == (Range(ex.Dim("doc"), 0, 2),)


def test_the_columns_of_a_transition_matrix_point_into_its_rows():
    graph = hidden_markov().graph

    assert graph.variables["z"].of == ex.Dim("state")
    assert graph.statement("z[1:]").event == (ex.Dim("state'"),)
    time, P = ex.Dim("time"), ex.Array("P", (0, 1), positive=True)
    z = ex.Array("z")
    assert graph.statement("z[1:]").log_density == sp.log(P[z[time - 1], z[time]])


def test_several_indices_each_find_their_dim():
    with gp.Model(coords={"a": 2, "b": 3, "n": 4}):
        i = gp.Index("i", [0, 1, 0, 1], of="a", dims="n")
        j = gp.Index("j", [2, 1, 0, 1], of="b", dims="n")
        x = gp.Normal("x", 0, sigma=1, dims=("a", "b"))

    assert str(x[i, j].expr) == str(x[j, i].expr) == str(x[i][j].expr) == "x[i[n], j[n]]"


def test_an_index_into_a_square_matrix_takes_rows_then_columns():
    with gp.Model(coords={"s": 2, "n": 2}):
        i = gp.Index("i", [0, 1], of="s", dims="n")
        m = gp.Data("m", np.eye(2), dims=("s", "s'"))

    assert str(m[i, i].expr) == "m[i[n], i[n]]"


def test_a_whole_number_points_where_of_says():
    with gp.Model(coords={"state": 2}) as model:
        mu = gp.Normal("mu", 0, sigma=1, dims="state")
        z = gp.Bernoulli("z", 0.3, of="state")
        gp.Normal("y", mu[z], sigma=1)

    assert model.graph.variables["z"].of == ex.Dim("state")


def test_gathering_never_captures_a_bound_dim():
    with gp.Model(coords={"k": 2}):
        x = gp.Data("x", np.ones((2, 3)), dims=("k", "l"))
        back = gp.Index("back", [1, 0, 1], of="k", dims="l")
        total = x.sum("l")[back]

    assert total.dims == ("l",)
    assert str(total.expr) == "sum(x[back[l], l₁], l₁)"


# Tensors.


def values_of(tensor, model):
    """The tensor evaluated by loops over all positions (bound dims too)."""
    sizes = {d: model.size(d) for d in map(ex.Dim, tensor.dims)}
    at = np.ndindex(*sizes.values())
    found = [number_at(tensor.expr, dict(zip(sizes, p, strict=True)), model) for p in at]
    return np.reshape(found, tuple(sizes.values()))


def number_at(e, at, model):
    if isinstance(e, ex.Dim):
        return at[e]
    if isinstance(e, ex.Leaf):
        position = tuple(int(number_at(i, at, model)) for i in e.indices)
        return float(model.data[e.array.name][position])
    if isinstance(e, (ex.Over, ex.Times)):
        n = model.size(e.bound[0])
        inner = [number_at(e.body, {**at, e.bound[0]: k}, model) for k in range(n)]
        return sum(inner) if isinstance(e, ex.Over) else np.prod(inner)
    if e.is_number:
        return float(e)
    return NUMBERS[type(e)](*(number_at(a, at, model) for a in e.args))


NUMBERS = {
    sp.Add: lambda *a: sum(a),
    sp.Mul: lambda *a: np.prod(a),
    sp.Pow: lambda a, b: a**b,
    sp.exp: np.exp,
    sp.log: np.log,
    sp.Abs: abs,
    fn.Expit: lambda x: 1 / (1 + np.exp(-x)),
    fn.Where: lambda c, a, b: a if c else b,
    fn.Minimum: min,
    fn.Maximum: max,
    fn.AtMost: lambda a, b: a <= b,
    fn.Below: lambda a, b: a < b,
    fn.Equals: lambda a, b: a == b,
}

A, B = np.array([0.5, -1.25, 2.0]), np.array([0.25, 0.5])
OPERATIONS = {
    "sum of two dims": (lambda a, b: a + b, A[:, None] + B),
    "number first": (lambda a, b: 1 - a / 2, 1 - A / 2),
    "powers": (lambda a, b: 2**a - a**2, 2**A - A**2),
    "reverse quotient": (lambda a, b: 1 / b, 1 / B),
    "negation": (lambda a, b: -a + +b, -A[:, None] + B),
    "absolute": (lambda a, b: abs(a) + gp.abs(a), 2 * np.abs(A)),
    "exp and log": (lambda a, b: gp.log(gp.exp(a) + 1), np.log(np.exp(A) + 1)),
    "sqrt": (lambda a, b: gp.sqrt(b), np.sqrt(B)),
    "logit": (lambda a, b: gp.logit(b), np.log(B / (1 - B))),
    "expit": (lambda a, b: gp.expit(a), 1 / (1 + np.exp(-A))),
    "where": (lambda a, b: gp.where(a > 0, a, 7), np.where(A > 0, A, 7)),
    "minimum": (lambda a, b: gp.minimum(a, 0.1), np.minimum(A, 0.1)),
    "minimum of two dims": (gp.min, np.minimum(A[:, None], B)),
    "maximum": (lambda a, b: gp.maximum(a, 0.1), np.maximum(A, 0.1)),
    "maximum of two dims": (gp.max, np.maximum(A[:, None], B)),
    "step": (lambda a, b: gp.step(a), 1.0 * (A >= 0)),
    "at most": (lambda a, b: (a <= 0.5) + (a >= 0.5), 1.0 * (A <= 0.5) + (A >= 0.5)),
    "below": (lambda a, b: (a < 0.5) + 2 * (a > 0.5), 1.0 * (A < 0.5) + 2 * (A > 0.5)),
    "equals": (lambda a, b: gp.equals(a, 2), 1.0 * (A == 2)),
    "sum": (lambda a, b: (a * b).sum(["i", "j"]) + gp.sum(a, "i"), A.sum() * B.sum() + A.sum()),
    "prod": (lambda a, b: (a * b).prod("j") + gp.prod(a, "i"), A**2 * B.prod() + A.prod()),
    "cumsum": (lambda a, b: a.cumsum("i") * b, np.cumsum(A)[:, None] * B),
    "cumprod": (lambda a, b: gp.cumprod(a * b, "i"), np.cumprod(A[:, None] * B, axis=0)),
    "cumsum of a cumsum": (lambda a, b: gp.cumsum(a.cumsum("i"), "i"), np.cumsum(np.cumsum(A))),
    "sum inside a sum over its dim": (lambda a, b: (a.sum("i") * a).sum("i"), A.sum() ** 2),
    "contraction": (lambda a, b: (a + b) @ a, A @ (A[:, None] + B)),
    "position": (lambda a, b: a[-1] + b.at("j", 0), A[-1] + B[0]),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_mean_what_numpy_means(name):
    operation, expected = OPERATIONS[name]
    with gp.Model() as model:
        a, b = gp.Data("a", A, dims="i"), gp.Data("b", B, dims="j")
    found = values_of(operation(a, b), model)

    # Sums and products of at most six terms, differently ordered: a few roundings.
    np.testing.assert_allclose(found, expected, rtol=20 * np.finfo(float).eps, atol=1e-15)


def test_a_lag_reads_earlier_positions():
    with gp.Model() as model:
        x = gp.Data("x", A, dims="i")
        y = gp.Array("y", dims="i")
        y[0] = gp.Normal(0, sigma=1)
        y[1:] = gp.Normal(x.lag("i", 1) - x, sigma=1)

    leaf, i = ex.Array("x"), ex.Dim("i")
    assert dict(model.graph.statement("y[1:]").arguments)["mu"] == leaf[i - 1] - leaf[i]


def test_numbers_are_exactly_what_was_written():
    with gp.Model():
        x = gp.Normal("x", 0, sigma=1)

    assert (0.1 * x + np.float64(0.2) * x - 0.3 * x).expr == 0


def test_numpy_arrays_leave_operators_to_tensors():
    with gp.Model():
        x = gp.Normal("x", 0, sigma=1)

    assert (np.float64(2) * x).expr == (x * np.int64(2)).expr == (np.array(2) * x).expr
    with pytest.raises(ModelError, match=r"gp\.Data"):
        np.ones(3) * x


def test_a_deterministic_is_its_expression():
    with gp.Model(coords={"k": 3}) as model:
        tau = gp.Gamma("tau", 1, rate=1, dims="k")
        sigma = gp.Deterministic("sigma", 1 / gp.sqrt(tau))
        gp.Normal("x", 0, sigma=sigma[0])

    assert dict(model.graph.statement("x").arguments)["tau"] == ex.Array("tau", positive=True)[0]


# Parameterisations.


SPELLINGS = [
    (lambda: gp.Normal("x", mu=0, sigma=2), "x ~ Normal(mu=0, tau=0.25)"),
    (lambda: gp.Normal("x", 0, var=2), "x ~ Normal(mu=0, tau=0.5)"),
    (lambda: gp.Gamma("x", 2, scale=4), "x ~ Gamma(shape=2, rate=0.25)"),
    (lambda: gp.Uniform("x", lower=0, upper=3), "x ~ Uniform(lower=0, upper=3)"),
    (lambda: gp.Beta("x", 2, 3), "x ~ Beta(a=2, b=3)"),
    (lambda: gp.Binomial("x", 5, 0.5), "x ~ Binomial(n=5, p=0.5)"),
    (lambda: gp.Bernoulli("x", logit_p=0), "x ~ Bernoulli(p=expit(0))"),
    (lambda: gp.Normal("x", 0, sigma=1, lower=0), "x ~ Normal(mu=0, tau=1) truncated to (0, )"),
    (lambda: gp.Normal("x", 0, sigma=1, upper=float("inf")), "x ~ Normal(mu=0, tau=1)"),
]


@pytest.mark.parametrize(("declare", "printed"), SPELLINGS, ids=[p for _, p in SPELLINGS])
def test_spellings_become_canonical_parameters(declare, printed):
    with gp.Model() as model:
        declare()

    assert lines(model) == [printed]


def test_the_sign_of_the_support_is_that_of_the_symbol():
    with gp.Model(coords={"k": 2}) as model:
        tau = gp.Gamma("tau", 1, rate=1)
        count = gp.Poisson("count", 3)
        below = gp.Normal("below", 0, sigma=1, upper=0)
    graph = model.graph

    assert graph.statement("tau").target.is_positive
    assert graph.statement("count").target.is_nonnegative
    assert graph.variables["count"].integer
    assert graph.statement("below").target.is_positive is None
    assert (tau.expr, count.expr, below.expr) == tuple(s.target for s in graph.statements)


# Observed values.


Y = [1.0, 2.0, 3.0]
MASKED = {
    "numpy mask": (np.ma.masked_array(Y, [False, True, False]), None),
    "pandas NA": (pd.array([1.0, None, 3.0], dtype="Float64"), None),
    "pandas series": (pd.Series([1, None, 3], dtype="Int64"), None),
    "objects": (np.array([1.0, None, 3.0], dtype=object), None),
    "value": ([1.0, -9.0, 3.0], -9),
    "not a number": ([1.0, np.nan, 3.0], np.nan),
    "mask": (Y, [False, True, False]),
}


@pytest.mark.parametrize("how", MASKED)
def test_missing_entries_are_latent(how):
    values, missing = MASKED[how]
    with gp.Model() as model:
        gp.Normal("y", 0, sigma=1, dims="i", observed=values, missing=missing)
    graph = model.graph

    assert graph.statement("y").known == ex.Array("y.known")[ex.Dim("i")]
    assert graph.variables["y"].kind == "random"
    assert graph.variables["y.known"].kind == "data"
    assert model.data["y.known"].tolist() == [1, 0, 1]
    assert model.data["y"][[0, 2]].tolist() == [1, 3]
    assert np.isfinite(model.data["y"]).all()


def test_fully_observed_and_fully_missing_arrays_need_no_mask():
    with gp.Model() as model:
        gp.Normal("y", 0, sigma=1, dims="i", observed=np.ma.masked_array(Y, [0, 0, 0]))
        gp.Normal("z", 0, sigma=1, dims="i", observed=np.ma.masked_array(Y, [1, 1, 1]))
    graph = model.graph

    assert (graph.statement("y").known, graph.statement("z").known) == (1, 0)
    assert (graph.variables["y"].kind, graph.variables["z"].kind) == ("data", "random")
    assert set(model.data) == {"y"}


PLACEHOLDERS = {
    "positive": lambda y: gp.Gamma("y", 2, rate=1, dims="i", observed=y([1.0, 2.0])),
    "unit": lambda y: gp.Beta("y", 2, 1, dims="i", observed=y([0.1, 0.2])),
    "count": lambda y: gp.Binomial("y", 3, 0.5, dims="i", observed=y([3, 2])),
    "truncated": lambda y: gp.Normal("y", 0, sigma=1, lower=5, dims="i", observed=y([6.0, 7.0])),
    "label": lambda y: gp.Categorical(
        "y", gp.Data("p", [0.5, 0.5], dims="k"), dims="i", observed=y([1, 0])
    ),
}


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_a_gap_holds_a_value_of_the_support(name):
    with gp.Model() as model:
        PLACEHOLDERS[name](lambda v: np.ma.masked_array(v, [False, True]))
    support = model.graph.statement("y").support
    (placeholder,) = model.data["y"][1:]
    upper = 1 if name == "label" else float(support.upper)

    assert float(support.lower) <= placeholder <= upper
    if support.kind == "real":
        assert float(support.lower) < placeholder < upper


def test_gaps_of_vectors():
    with gp.Model(coords={"k": 2}) as model:
        eye = gp.Data("eye", np.eye(2), dims=("k", "k'"))
        y = np.ma.masked_invalid([[1.0, np.nan], [2.0, 3.0]])
        gp.MvNormal("y", 0, tau=eye, dims=("i", "k"), observed=y)
        p = np.ma.masked_array([[0.5, 0.5], [0, 0]], [[False] * 2, [True] * 2])
        gp.Dirichlet("p", 1, dims=("i", "k"), event="k", observed=p)
        c = np.ma.masked_array([[1, 2], [0, 0]], [[False] * 2, [True] * 2])
        gp.Multinomial("c", 3, gp.Data("q", [0.5, 0.5], dims="k"), dims=("i", "k"), observed=c)

    assert str(model.graph.statement("y").known) == "y.known[i, k]"
    assert model.data["p"][1].tolist() == [0.5, 0.5]
    assert model.data["c"][1].tolist() == [3, 0]


def test_observed_may_be_data_in_any_order_of_axes():
    with gp.Model() as model:
        values = gp.Data("values", np.arange(6.0).reshape(2, 3), dims=("a", "b"))
        gp.Normal("y", 0, sigma=1, dims=("b", "a"), observed=values)

    assert model.data["y"].tolist() == model.data["values"].T.tolist()


def test_observing_part_of_an_array_by_regions():
    with gp.Model(coords={"t": 4}) as model:
        x = gp.Array("x", dims="t", observed=np.ma.masked_equal([5.0, 0, 0, 7.0], 0))
        x[0] = gp.Normal(0, sigma=1)
        x[1:3] = gp.Normal(x.lag("t"), sigma=1)
        x[-1] = gp.Normal(x.lag("t").at("t", 3), sigma=1)
    graph = model.graph

    known = {s.name: s.known for s in graph.statements}
    assert known == {"x[0]": 1, "x[1:3]": 0, "x[3]": 1}
    assert graph.variables["x"].kind == "random"


def test_partly_known_arrays_are_not_taken_for_data():
    """A placeholder must not be checked as a parameter: 0 would be no precision."""
    with gp.Model() as model:
        n = gp.Gamma("n", 1, rate=1, dims="i", observed=np.ma.masked_array([0.0, 1.0], [1, 0]))
        gp.Normal("y", 0, tau=n, dims="i")

    assert model.graph.statement("y").is_latent


def test_values_on_a_bound_are_judged_by_the_density():
    with gp.Model():
        gp.Exponential("e", rate=1, dims="i", observed=[0.0, 1.0])
        gp.HalfNormal("h", sigma=1, dims="i", observed=[0.0, 1.0])
        gp.Gamma("g1", 1, rate=1, dims="i", observed=[0.0, 1.0])
    with gp.Model(), pytest.raises(ModelError, match=r"^g: found 0 at position i=0;"):
        gp.Gamma("g", 2, rate=1, dims="i", observed=[0.0, 1.0])


# Regions and cycles.


def test_regions_of_two_dims():
    with gp.Model(coords={"t": 4, "u": 3}) as model:
        x = gp.Array("x", dims=("t", "u"))
        x[0, :] = gp.Normal(0, sigma=1)
        x[1:, 0] = gp.Normal(x.at("u", 0).lag("t"), sigma=1)
        x[1:, 1:] = gp.Normal(x.lag("u") + x.lag("t"), sigma=1)

    assert lines(model) == [
        "x[0, u] ~ Normal(mu=0, tau=1)",
        "x[t, 0] ~ Normal(mu=x[t - 1, 0], tau=1), t = 1..3",
        "x[t, u] ~ Normal(mu=x[t - 1, u] + x[t, u - 1], tau=1), t = 1..3, u = 1..2",
    ]


def test_vectors_may_follow_one_another():
    with gp.Model(coords={"t": 4, "k": 2}) as model:
        eye = gp.Data("eye", np.eye(2), dims=("k", "k'"))
        x = gp.Array("x", dims=("t", "k"), event="k")
        x[0, :] = gp.MvNormal(0, tau=eye)
        x[1:, :] = gp.MvNormal(x.lag("t"), tau=eye)
    statement = model.graph.statement("x[1:, :]")

    assert statement.event == (ex.Dim("k"),)
    assert statement.over == (Range(ex.Dim("t"), 1, 4),)


def test_a_tree_given_by_data_has_no_cycle():
    with gp.Model(coords={"node": 4}) as model:
        parent = gp.Index("parent", [3, 0, 0, 3], of="node", dims="node")
        x = gp.Array("x", dims="node")
        x[3] = gp.Normal(0, sigma=1)
        x[:3] = gp.Normal(x[parent], sigma=1)

    assert [s.name for s in model.graph.statements] == ["x[3]", "x[:3]"]


def test_two_arrays_may_feed_each_other_with_a_lag():
    with gp.Model(coords={"t": 3}) as model:
        x, y = gp.Array("x", dims="t"), gp.Array("y", dims="t")
        x[0] = gp.Normal(0, sigma=1)
        x[1:] = gp.Normal(y.lag("t"), sigma=1)
        y[:] = gp.Normal(x, sigma=1)

    assert len(model.graph.statements) == 3


def written_with(numbers, labels):
    """Groups whose offsets and labels are known; these come from two functions of a name."""
    with gp.Model(coords={"i": 4, "k": 2}) as model:
        offset, label = numbers("offset"), labels("label")
        mu = gp.Normal("mu", 0, sigma=1, dims="k")
        gp.Normal("y", mu[label] + offset, sigma=1, dims="i", observed=[1.0, 2.0, 3.0, 5.0])
    return model


def test_an_array_of_known_numbers_alone_is_data():
    def numbers(name):
        x = gp.Array(name, dims="i")
        x[0] = 0
        x[1:3] = 1.5
        x[3] = gp.Data("last", 2.0)
        return x

    def labels(name):
        z = gp.Array(name, dims="i", event="k")
        z[:2] = 0
        z[2:] = 1
        return z

    filled = written_with(numbers, labels)
    told = written_with(
        lambda name: gp.Data(name, [0.0, 1.5, 1.5, 2.0], dims="i"),
        lambda name: gp.Index(name, [0, 0, 1, 1], of="k", dims="i"),
    )

    assert lines(filled) == lines(told)
    values = {n: v for n, v in filled.data.items() if n != "last"}
    assert {n: v.tolist() for n, v in values.items()} == {
        n: v.tolist() for n, v in told.data.items()
    }
    assert {n: filled.graph.variables[n].kind for n in told.graph.variables} == {
        n: v.kind for n, v in told.graph.variables.items()
    }
    assert str(compile_model(filled)) == str(compile_model(told))


# Models do not leak.


def test_models_may_be_nested_and_interleaved():
    first, second = gp.Model(), gp.Model()
    with first:
        gp.Normal("x", 0, sigma=1)
        with second:
            gp.Normal("x", 1, sigma=1)
        gp.Normal("y", 0, sigma=1)
    opened, other = gp.Model(), gp.Model()
    opened.__enter__()
    other.__enter__()
    opened.__exit__(None, None, None)
    gp.Normal("z", 0, sigma=1)
    other.__exit__(None, None, None)

    assert [s.name for s in first.graph.statements] == ["x", "y"]
    assert lines(second) == ["x ~ Normal(mu=1, tau=1)"]
    assert [s.name for s in other.graph.statements] == ["z"]


def test_an_open_model_is_not_seen_from_another_context():
    outside = contextvars.copy_context()
    with gp.Model(), pytest.raises(ModelError, match="outside a model"):
        outside.run(gp.Normal, "x", 0, sigma=1)


def test_an_error_leaves_the_name_free():
    with gp.Model() as model:
        with pytest.raises(ModelError):
            gp.Normal("x", 0, tau=-1)
        gp.Normal("x", 0, tau=1)

    assert lines(model) == ["x ~ Normal(mu=0, tau=1)"]


def test_graphs_are_equal_whenever_they_are_built():
    model = hidden_markov()

    assert all(a == b for a, b in pairwise([model.graph, model.graph, hidden_markov().graph]))


# ---- entries of a simplex that are known to be zero ------------------------------------------

FACE_DRAWS = 2000
# An upper bound of the statistical comparisons of this part.
FACE_LEVEL = 1e-4 / 12
# Rows with one, no and two entries that are impossible.
PATTERN = np.array([[1.0, 2.0, 0.0], [0.5, 0.5, 0.3], [0.0, 3.0, 0.0]])


def transitions(observed=(0, 1, 1, 0, 1), scale=1.0):
    with gp.Model(coords={"state": 3}) as model:
        a = gp.Data("a", scale * PATTERN, dims=("state", "state'"))
        start = gp.Index("start", [0, 0, 1, 1, 2], of="state", dims="step")
        P = gp.Dirichlet("P", a, dims=("state", "state'"), event="state'")
        gp.Categorical("next", P[start], dims="step", observed=observed)
    return model


def test_an_impossible_entry_is_left_out_of_the_density():
    P = np.array([[0.3, 0.7, 0.0], [0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])
    model = transitions()

    found = log_density(model.graph.statement("P"), {**model.data, "P": P}, model.graph.sizes)

    beta = stats.beta(1, 2).logpdf(0.3)
    whole = stats.dirichlet(PATTERN[1]).logpdf(P[1])
    np.testing.assert_allclose(found, [beta, whole, 0.0], rtol=1e-12, atol=1e-12)


def test_an_impossible_entry_has_no_share():
    P = np.array([[0.3, 0.6, 0.1], [0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])
    model = transitions()

    found = log_density(model.graph.statement("P"), {**model.data, "P": P}, model.graph.sizes)

    assert np.isneginf(found[0])
    assert np.isfinite(found[1:]).all()


@pytest.mark.parametrize("scale", [1.0, 0.1, 10.0])
def test_draws_on_a_face_of_the_simplex(scale):
    a = scale * PATTERN
    x = dirichlet_of(np.random.default_rng(2), a, size=(FACE_DRAWS, 3, 3))

    assert ((x == 0) == (a == 0)).all()
    np.testing.assert_allclose(x.sum(axis=-1), 1, rtol=1e-12)
    # (near one, shares of small shapes cannot be told apart)
    law, low = stats.beta(a[0, 0], a[0, 1]), x[x[:, 0, 0] < 0.5, 0, 0]
    assert stats.binomtest(len(low), FACE_DRAWS, law.cdf(0.5)).pvalue > FACE_LEVEL
    assert stats.kstest(low, lambda v: law.cdf(v) / law.cdf(0.5)).pvalue > FACE_LEVEL
    whole = x[x[:, 1, 2] < 0.5, 1, 2]
    law = stats.beta(a[1, 2], a[1, :2].sum())
    assert stats.kstest(whole, lambda v: law.cdf(v) / law.cdf(0.5)).pvalue > FACE_LEVEL


@pytest.mark.parametrize("a", [[[1.0, 1.0], [0.0, 0.0]], [[1.0, -1.0], [0.0, 1.0]]])
def test_a_draw_without_possible_entries_or_with_negative_shapes_is_refused(a):
    with pytest.raises(ValueError, match=r"zero|positive|shape < 0"):
        dirichlet_of(np.random.default_rng(2), np.array(a), size=(2, 2))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("scale", "note"), [(10.0, "prior"), (1e-6, "prior and rule")])
def test_a_start_keeps_impossible_entries_at_zero(seed, scale, note):
    model = transitions(scale=scale)
    state, notes = initial_state(np.random.default_rng(seed), model.graph, model.data)

    assert notes["P"] == note
    assert ((state["P"] == 0) == (PATTERN == 0)).all()
    assert np.isfinite(log_joint(model.graph, {**model.data, **state}))


def test_perturbed_shares_keep_impossible_entries_at_zero():
    model = transitions()
    values = {**model.data, **initial_state(np.random.default_rng(0), model.graph, model.data)[0]}
    sizes, statement = model.graph.sizes, model.graph.statement("P")
    free = free_elements(statement, values, sizes)
    moved = perturbed(np.random.default_rng(1), statement, values, sizes, free)

    assert ((moved == 0) == (PATTERN == 0)).all()
    assert (moved[:2] != values["P"][:2])[PATTERN[:2] > 0].all()


def test_the_conditional_of_shares_adds_counts_to_the_possible_entries():
    model = transitions()
    sampler = compile_model(model)
    values = {**model.data, **initial_state(np.random.default_rng(0), model.graph, model.data)[0]}
    (eta,) = sampler.program.given_rest["P"](values, sampler.program.prepare(model.data))
    statement, sizes = model.graph.statement("P"), model.graph.sizes
    free = free_elements(statement, values, sizes)
    other = perturbed(np.random.default_rng(1), statement, values, sizes, free)

    kept = PATTERN > 0
    joint = log_joint(model.graph, {**values, "P": other}) - log_joint(model.graph, values)
    conditional = (eta[kept] * np.log(other[kept] / values["P"][kept])).sum()
    np.testing.assert_allclose(conditional, joint, rtol=1e-9)


def test_sampled_shares_have_the_posterior():
    draws = compile_model(transitions()).sample(
        draws=2000, warmup=10, chains=1, seed=4, progress=False
    )["P"][0]

    assert ((draws == 0) == (PATTERN == 0)).all()
    # Two steps from state 0: one to 0, one to 1; the third entry has no part in it.
    assert stats.kstest(draws[:, 0, 0], stats.beta(2, 3).cdf).pvalue > FACE_LEVEL


def test_a_count_where_none_can_be_has_density_zero():
    model = transitions(observed=[2, 1, 1, 0, 0])

    with pytest.raises(RunError, match="next: no start of positive density"):
        initial_state(np.random.default_rng(0), model.graph, model.data)


def test_multinomial_counts_may_be_zero_where_none_can_be():
    with gp.Model(coords={"k": 3}) as model:
        p = gp.Dirichlet("p", gp.Data("a", [1.0, 2.0, 0.0], dims="k"), dims="k")
        gp.Multinomial("x", 5, p, dims="k", observed=[2, 3, 0])
    values = {**model.data, "p": np.array([0.4, 0.6, 0.0])}

    found = log_density(model.graph.statement("x"), values, model.graph.sizes)
    np.testing.assert_allclose(found, stats.binom(5, 0.4).logpmf(2), rtol=1e-12)


# ---- sticks ----------------------------------------------------------------------------------


def sticks(*, into=None, labels=None):
    rest = {} if into is None else {into: 5}
    with gp.Model(coords={"k": 4, **rest, "i": 6}) as model:
        v = gp.Beta("v", 1, 2, dims="k")
        w = gp.stick_breaking(v, "k", into=into)
        gp.Deterministic("w", w)
        z = gp.Categorical("z", w, dims="i", event=into or "k", observed=labels)
        if labels is None:
            mu = gp.Normal("mu", 0, sigma=3, dims=into or "k")
            gp.Normal("y", mu[z], sigma=1, dims="i", observed=np.arange(6.0))
    return model


V = np.array([0.2, 0.5, 0.1, 0.6])


@pytest.mark.parametrize("into", [None, "part"])
def test_stick_breaking_weights(into):
    model = sticks(into=into)
    (w,) = model.graph.deterministics
    size = 4 if into is None else 5
    found = density_evaluate(w.value, (Range(*w.dims, 0, size),), {"v": V}, model.graph.sizes)

    left = np.concatenate([[1.0], np.cumprod(1 - V)])
    expected = left * np.append(V, 1.0)
    np.testing.assert_allclose(found, expected[:size], rtol=1e-12)
    assert (into is None) == (found.sum() < 1 - 1e-12)


@pytest.mark.parametrize("labels", [None, [0, 0, 1, 3, 2, 0]])
@pytest.mark.parametrize("into", [None, "part"])
def test_shares_of_a_stick_are_beta_draws(into, labels):
    sampler = compile_model(sticks(into=into, labels=labels))
    step = next(s for s in sampler.schedule.steps if s.statement.name == "v")

    assert step.family.name == "Beta"
    assert sampler.verify().proved


def test_shares_of_a_stick_count_their_labels_and_later_ones():
    labels = np.array([0, 0, 1, 4, 2, 0])
    sampler = compile_model(sticks(into="part", labels=labels))
    prepared = sampler.program.prepare(sampler.data)
    eta_1, eta_2 = sampler.program.given_rest["v"]({"v": V}, prepared)

    here = [(labels == k).sum() for k in range(4)]
    later = [(labels > k).sum() for k in range(4)]
    np.testing.assert_allclose(eta_1, here)
    np.testing.assert_allclose(eta_2, np.add(later, 1))


# ---- constraints -----------------------------------------------------------------------------


def ordered(size=8):
    with gp.Model(coords={"k": size, "row": 3}) as model:
        x = gp.Normal("x", 0, sigma=1, dims=("row", "k"))
        a, b, c = (gp.Normal(n, 0, sigma=1) for n in "abc")
        gp.Constraint("order", x.lag("k", 1) < x)
        gp.Constraint("bounds", (b > a) * (b <= c))
    return model


def test_a_constraint_is_the_log_of_an_indicator():
    assert lines(ordered())[-2:] == [
        "log density += sum(log([x[row, k - 1] < x[row, k]]), k, row), k = 1..7",
        "log density += log([a < b]*[b <= c])",
    ]


def test_the_density_is_zero_where_a_constraint_does_not_hold():
    model = ordered(2)
    values = {"x": np.array([[0.0, 1.0]] * 3), "a": 0.0, "b": 1.0, "c": 2.0}

    assert np.isfinite(log_joint(model.graph, values))
    for broken in ({"x": np.array([[0.0, 1.0], [1.0, 0.0], [0, 1]])}, {"a": 1.5}, {"c": 0.5}):
        assert np.isneginf(log_joint(model.graph, {**values, **broken}))


@pytest.mark.parametrize("seed", range(5))
def test_a_start_satisfies_the_constraints(seed):
    model = ordered()
    state, _ = initial_state(np.random.default_rng(seed), model.graph, {})

    assert (np.diff(state["x"]) > 0).all()
    assert state["a"] < state["b"] <= state["c"]


@pytest.mark.parametrize("seed", range(5))
def test_a_start_satisfies_a_chain_of_constraints(seed):
    with gp.Model() as model:
        chain = [gp.Normal(f"x_{i}", 0, sigma=1) for i in range(8)]
        for i, (low, high) in enumerate(pairwise(chain)):
            gp.Constraint(f"order_{i}", low < high)
    state, _ = initial_state(np.random.default_rng(seed), model.graph, {})

    assert (np.diff([state[f"x_{i}"] for i in range(8)]) > 0).all()


def test_a_constraint_truncates_both_sides():
    with gp.Model() as model:
        a, b = (gp.Normal(n, 0, sigma=1) for n in "ab")
        gp.Constraint("order", a < b)
    sampler = compile_model(model)
    draws = sampler.sample(draws=500, warmup=50, chains=1, seed=1, progress=False)

    assert sampler.verify().proved
    assert (draws["a"] < draws["b"]).all()


@pytest.mark.parametrize(
    "indicator",
    [
        lambda a, b: gp.step(a - b),
        lambda a, b: 1 - (a < b),
        lambda a, b: (a < b) ** 2,
        lambda a, b: gp.minimum(a < 1, b < 2),
        lambda a, b: gp.where(a < b, a < 1, b < 2),
        lambda a, b: (a + b < 1) * gp.equals(gp.step(a), gp.step(b)),
    ],
)
def test_indicators_of_other_forms_are_constraints(indicator):
    with gp.Model() as model:
        a, b = (gp.Normal(n, 0, sigma=1) for n in "ab")
        gp.Constraint("c", indicator(a, b))

    assert len(model.graph.potentials) == 1


@pytest.mark.parametrize(
    "expression",
    [
        lambda a, b: a * (b < 1),
        lambda a, b: (a < 1) + (b < 1),
        lambda a, b: 2 - (a < b),
        lambda a, b: gp.where(a < b, 1, 2),
        lambda a, b: gp.exp(a),
    ],
)
def test_what_is_no_indicator_is_no_constraint(expression):
    with gp.Model():
        a, b = (gp.Normal(n, 0, sigma=1) for n in "ab")
        with pytest.raises(ModelError, match="expected a comparison"):
            gp.Constraint("c", expression(a, b))


# ---- NumPy's functions -----------------------------------------------------------------------


@pytest.mark.parametrize("two", [np.float64(2), np.int64(2), np.array(2.0), np.float32(2)])
def test_numbers_of_numpy_are_numbers(two):
    with gp.Model():
        x = gp.Normal("x", 0, sigma=1)
        found = (two + x, two - x, two * x, two / x, two**x, two < x, x < two, two >= x)

        assert [str(t.expr) for t in found] == [
            str(t.expr) for t in (2 + x, 2 - x, 2 * x, 2 / x, 2**x, x > 2, x < 2, x <= 2)
        ]


def test_operators_of_numpy_are_those_of_tensors():
    with gp.Model():
        x = gp.Normal("x", 0, sigma=1)

        assert str(np.multiply(2, x)) == "2*x"
        assert str(np.negative(x)) == "-x"
        assert str(np.abs(x)) == "Abs(x)"


@pytest.mark.parametrize(
    ("function", "instead"),
    [
        (np.exp, r"gp\.exp\(x\)"),
        (np.log, r"gp\.log\(x\)"),
        (np.sqrt, r"gp\.sqrt\(x\)"),
        (np.square, r"x\*\*2"),
        (special.expit, r"gp\.expit\(x\)"),
        (special.ndtr, r"gp\.Phi\(x\)"),
        (special.gammaln, r"gp\.loggamma\(x\)"),
    ],
)
def test_a_function_of_numpy_is_refused_with_that_of_the_language(function, instead):
    with gp.Model():
        x = gp.Normal("x", 0, sigma=1)
        with pytest.raises(ModelError, match=f"write {instead}"):
            function(x)


# ---- labels of summaries ---------------------------------------------------------------------


def test_labels_that_repeat_get_positions():
    draws = np.arange(40.0).reshape(1, 10, 2, 2)
    names = (["a, b", "a"], ["c", "b, c"])
    coords = {"row": np.array(names[0]), "column": np.array(names[1])}
    found = Draws(
        {"x": draws, "y": draws[..., 0], "y[a]": draws[..., 0, 0]},
        {"x": ("row", "column"), "y": ("row",), "y[a]": ()},
        coords,
    ).summary()

    assert list(found.rows) == [
        "x[a, b, c] at 0, 0",
        "x[a, b, b, c]",
        "x[a, c]",
        "x[a, b, c] at 1, 1",
        "y[a, b]",
        "y[a] at 1",
        "y[a]",
    ]
    assert found["y[a] at 1"]["mean"] == draws[..., 1, 0].mean()
    assert found["y[a]"]["mean"] == draws[..., 0, 0].mean()
    assert "x[a, b, c] at 1, 1" in repr(found)


def test_what_has_cancelled_out_has_dims_all_the_same():
    with gp.Model(coords={"i": 3, "j": 2}) as model:
        flag = gp.Data("flag", [0, 1, 0], dims="i")
        place = gp.Index("place", [0, 2], of="i", dims="j")
        x = gp.Normal("x", 0, sigma=1)
        half = flag * 0.5 + (1 - flag) * 0.5
        gp.Potential("each", -half * x**2)
        gp.Potential("together", -half.sum("i") * x**2)
        gp.Potential("lagged", -half.lag("i", 1) * x**2)
        gp.Potential("one", -half.at("i", 1) * x**2)
        gp.Potential("read", -half[place] * x**2)
        gp.Deterministic("named", half * x)

    values = {"flag": np.array([0, 1, 0]), "place": np.array([0, 2]), "x": np.array(2.0)}
    found = log_terms(model.graph, values)
    assert half.dims == ("i",)
    assert half[place].dims == ("j",)
    expected = {"each": -6, "together": -6, "lagged": -4, "one": -2, "read": -4}
    assert {n: found[n] for n in expected} == expected
    sampler = compile_model(model)
    assert sampler.verify().passed
    assert sampler.sample(2, chains=1, warmup=0, seed=1, progress=False)["named"].shape == (1, 2, 3)
