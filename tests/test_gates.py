"""Gates taken out of functions: the same differences in the target for every value of a gate."""

from itertools import product

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim, Over, mentions
from gibbsppl.algebra.functions import AtMost, Equals, Softplus, Where
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.model.evaluation import evaluate
from gibbsppl.pieces import gates
from gibbsppl.pieces.gates import binary_arrays, opened

K = Dim("k")
SIZES = {K: 3}
Z, W = (Array(n, nonnegative=True)[()] for n in "zw")
P, Q, A, N = (Array(n, positive=True)[()] for n in "pqan")
X, B = (Array(n)[()] for n in "xb")
ZK, YK, PK = Array("c", nonnegative=True)[K], Array("y")[K], Array("d", positive=True)[K]
TABLE = Array("t", positive=True)
BINARY = dict.fromkeys(("z", "w", "c"), ())

EXPRESSIONS = {
    "a complement": sp.log(1 - Z * P),
    "a mixture": sp.log(Z * P + (1 - Z) * Q),
    "a mixture of numbers": sp.log(Z * P + (1 - Z) / 4),
    "a choice": sp.log(Where(Z, P, Q)),
    "a choice by an inequality": N * sp.log(Where(AtMost(X, B), P, P**2)),
    "a choice inside of a choice": sp.log(Where(Z, Where(W, P, Q), P**2)),
    "a choice by a choice": sp.log(Where(Equals(Z, W), P, Q)),
    "a product of gates": sp.log(1 - Z * W * P),
    "a gate inside of a gate": sp.log(1 - Z * (1 - W * P)),
    "two gates beside each other": sp.log(1 - Z * P / 2 - W * P / 3),
    "an exponential": sp.exp(Z * X + B) * A,
    "a reciprocal": A / (1 + Z * P),
    "a power": (1 + Z * P) ** (-N),
    "a square": (Z * X + B) ** 2,
    "a square of a choice": (Where(Z, X, B) - A) ** 2,
    "logistic": -N * Softplus(Z * X + B),
    "a gamma function": loggamma(1 + Z * P),
    "an indicator": sp.log(1 - Equals(Z, 1) * P / 2),
    "a sum of terms": sp.log(1 - Z * P) + W * sp.log(P) - sp.exp(W * P) * N,
    "a gate under a sum": Over(YK * sp.log(1 - ZK * P), K),
    "a gate of all under a sum": Over(YK * sp.log(1 - Z * PK * P), K),
    "a sum under a log": sp.log(1 + Z * Over(PK * P, K)),
    "a sum of gates under a log": sp.log(1 + Over(ZK * P, K)),
    "a position": sp.log(1 + TABLE[Z] * P),
    "a choice in a sum in a log": sp.log(1 + Over(Where(ZK, P, PK), K)),
}
TARGETS = [
    (name, str(t)) for name, e in EXPRESSIONS.items() for t in (P, Q, X) if mentions(e, {str(t)})
]


def values(seed):
    rng = np.random.default_rng(seed)
    found = {n: 0.9 * rng.random() + 0.05 for n in ("p", "q", "a", "n", "x", "b")}
    arrays = {"d": rng.random(3), "y": rng.normal(size=3), "t": rng.random(2)}
    return found | arrays | {"c": rng.integers(0, 2, 3)}


def largest_gap(name, target):
    """How far differences in the target are apart, before and after, for all values of gates."""
    before = EXPRESSIONS[name]
    after = opened(before, {target}, BINARY)
    gaps = []
    for seed, (z, w) in product(range(4), product((0, 1), repeat=2)):
        v = values(seed) | {"z": z, "w": w}
        other = v | {target: values(seed + 100)[target]}
        one, two = ([float(evaluate(e, (), u, SIZES)) for e in (before, after)] for u in (v, other))
        size = 1 + sum(map(abs, one + two))
        gaps.append(abs((one[0] - two[0]) - (one[1] - two[1])) / size)
    return max(gaps)


ROUNDING = 64 * np.finfo(float).eps


@pytest.mark.parametrize(("name", "target"), TARGETS)
def test_an_opened_expression_has_the_same_differences(name, target):
    assert largest_gap(name, target) <= ROUNDING


OPENED = {
    "a complement": ("p", Z * sp.log(1 - P)),
    "a mixture": ("p", Z * sp.log(P)),
    "a choice": ("q", (1 - Z) * sp.log(Q)),
    "a product of gates": ("p", Z * W * sp.log(1 - P)),
    "a gate inside of a gate": ("p", Z * W * sp.log(P)),
    "a gate under a sum": ("p", Over(YK * ZK * sp.log(1 - P), K)),
    "an exponential": ("x", A * (Z * sp.exp(X + B))),
}


@pytest.mark.parametrize("name", OPENED)
def test_a_gate_is_what_multiplies(name):
    target, expected = OPENED[name]

    assert sp.expand(opened(EXPRESSIONS[name], {target}, BINARY) - expected) == 0


LEFT = {
    "a square": {"x"},
    "a sum of gates under a log": {"p"},
    "a choice in a sum in a log": {"p"},
    "a position": {"p"},
}


@pytest.mark.parametrize("name", LEFT)
def test_what_stays_as_it_is(name):
    """Squares are expanded, gates of bound dims cannot leave, and positions are no gates."""
    assert opened(EXPRESSIONS[name], LEFT[name], BINARY) == EXPRESSIONS[name]


def test_gates_that_depend_on_the_target_stay():
    for expr in (sp.log(Where(AtMost(P, A), P, Q)), sp.log(1 - Equals(P, 1) * P)):
        assert opened(expr, {"p"}, BINARY) == expr


def test_what_is_not_binary_stays():
    expr = sp.log(1 - N * P)

    assert opened(expr, {"p"}, BINARY) == expr
    assert opened(EXPRESSIONS["a complement"], {"p"}, {}) == EXPRESSIONS["a complement"]


def test_swapped_values_are_seen(monkeypatch):
    right = gates._settled
    monkeypatch.setattr(gates, "_settled", lambda e, gate, value: right(e, gate, 1 - value))

    assert largest_gap("a mixture", "p") > ROUNDING
    assert largest_gap("a choice", "q") > ROUNDING


def test_a_dropped_branch_is_seen(monkeypatch):
    right = gates._branches
    monkeypatch.setattr(gates, "_branches", lambda *given: right(*given)[1:])

    assert max(largest_gap("a mixture", target) for target in "pq") > ROUNDING


def choices(count):
    """A noisy-or of many causes: as many cases as there are subsets."""
    z = Array("c", nonnegative=True)
    return sp.log(1 - sp.Mul(*(1 - z[sp.Integer(k)] * P / (k + 2) for k in range(count))))


def test_more_cases_than_a_function_is_worth_stay_closed():
    """Each gate doubles the cases; a chain of choices has only one more case for each."""
    z = Array("c", nonnegative=True)
    chain = P**12
    for k in range(gates.MOST_BRANCHES + 3):
        chain = Where(z[sp.Integer(k)], P ** (k + 1), chain)

    assert opened(choices(10), {"p"}, BINARY) == choices(10)
    assert opened(choices(3), {"p"}, BINARY) != choices(3)
    assert not opened(sp.log(chain), {"p"}, BINARY).has(Where)


def test_factors_of_few_cases_are_opened_where_their_product_has_many():
    """Errors of equations that each choose their own mean, as a quadratic form multiplies them."""
    z = Array("c", nonnegative=True)

    def error(first, last):
        z0, z1, z2 = (z[sp.Integer(k)] for k in range(first, first + 3))
        return P - Where(z0, B, Where(z1, A, Where(z2, N, last)))

    product = error(0, X) * error(3, X**2)

    found = opened(product, {"x"}, BINARY)

    assert not found.has(Where)
    for seed in range(20):
        v = values(seed) | {"c": np.random.default_rng(seed).integers(0, 2, 6)}
        one, two = (float(evaluate(e, (), v, SIZES)) for e in (product, found))
        assert abs(one - two) <= ROUNDING * (1 + abs(one) + abs(two))


def test_a_noisy_or_of_many_causes_is_proved():
    with gp.Model() as m:
        p = gp.Uniform("p", 0, 1)
        causes = [gp.Bernoulli(f"z{k}", 0.5) for k in range(6)]
        clear = 1.0
        for z in causes:
            clear = clear * (1 - z * p / 2)
        gp.Bernoulli("y", 1 - 0.9 * clear, dims="i", observed=[0, 1, 1, 0])

    assert gp.compile(m).verify().proved


# ---- gates that end a support ----------------------------------------------------------------


ENDING = {"z": {"x"}}  # x is from 0 to n + z


def test_a_gate_that_ends_a_support_stays_in_functions_that_may_not_exist_there():
    """Where z is 1, x may be n + 1: the other branch is a log or a factorial of nothing."""
    for function in (sp.log, loggamma, lambda e: e**-2, sp.sqrt):
        expr = function(N + Z + 1 - X) * A
        assert opened(expr, {"x"}, ENDING) == expr
        assert opened(expr, {"n"}, ENDING) == expr
        assert opened(expr, {"x"}, BINARY) != expr


def test_a_gate_that_ends_a_support_leaves_functions_of_all_numbers():
    for expr in (sp.exp(Z * X + B), Where(Z, X, B) ** 2, loggamma(1 + Z * P) + X):
        assert opened(expr, {"x", "p"}, ENDING) == opened(expr, {"x", "p"}, BINARY)


def test_supports_that_end_by_a_gate():
    with gp.Model(coords={"i": 2}) as m:
        z = gp.Bernoulli("z", 0.5, dims="i")
        seen = gp.Data("seen", [1, 0], dims="i")
        b = gp.Binomial("b", n=2 + z, p=0.5, dims="i")
        gp.Uniform("u", 0, 1 + seen, dims="i")
        gp.Poisson("y", b + 1, dims="i", observed=[0, 1])

    assert binary_arrays(m.graph, m.data) == {"z": {"b"}, "seen": {"u"}}


def counts_up_to_a_gate():
    with gp.Model(coords={"i": 3}) as m:
        z = gp.Bernoulli("z", 0.6, dims="i")
        most = gp.Deterministic("most", z + 1)
        b = gp.BetaBinomial("b", n=most, alpha=0.5, beta=2, dims="i")
        gp.Poisson("y", 1 + b, dims="i", observed=[1, 0, 3])
    return m


def counts_up_to_a_count_and_a_gate():
    with gp.Model(coords={"i": 3}) as m:
        z = gp.Bernoulli("z", 0.6, dims="i")
        n = gp.Poisson("n", 3, dims="i")
        most = gp.Deterministic("most", n + z)
        b = gp.Binomial("b", n=most, p=0.3, dims="i")
        gp.Poisson("y", gp.exp(b / 2), dims="i", observed=[1, 0, 3])
    return m


@pytest.mark.parametrize("build", [counts_up_to_a_gate, counts_up_to_a_count_and_a_gate])
def test_counts_reach_the_end_that_a_gate_says(build):
    """All values of the support have the density that the model gives them."""
    m = build()
    sampler = gp.compile(m)
    for seed in range(8):
        assert sampler.verify(seed=seed).proved
    draws = sampler.sample(draws=200, warmup=20, chains=1, seed=1, progress=False)
    assert (draws["b"] <= draws["most"]).all()
    assert ((draws["b"] == draws["most"]) & (draws["z"] == 1)).any()


# ---- which arrays are binary -----------------------------------------------------------------


def test_arrays_are_binary_by_support_or_by_values():
    with gp.Model(coords={"i": 4}) as m:
        p = gp.Beta("p", 1, 1)
        column = gp.Data("column", [0, 1, 1, 0], dims="i")
        count = gp.Data("count", [0, 1, 2, 0], dims="i")
        gp.Bernoulli("z", p, dims="i")
        gp.Bernoulli("seen", p, dims="i", observed=[0, 1, 1, 1])
        gp.DiscreteUniform("either", 0, 1)
        gp.DiscreteUniform("sign", -1, 1)
        mixed = gp.Array("mixed", dims="i")
        mixed[0] = gp.Bernoulli(p)
        mixed[1:] = gp.Poisson(rate=2.0)
        filled = gp.Array("filled", dims="i")
        filled[0] = 2
        filled[1:] = gp.Bernoulli(p)
        started = gp.Array("started", dims="i")
        started[0] = 1
        started[1:] = gp.Bernoulli(p)
        given = gp.Array("given", dims="i")
        given[0] = column.at("i", 1)
        given[1:] = gp.Bernoulli(p)
        gp.Normal("y", count + column, tau=1, dims="i", observed=[0.0, 1.0, 0.0, 1.0])

    assert set(binary_arrays(m.graph, m.data)) == {
        "column", "z", "seen", "either", "started", "given",
    }  # fmt: skip


COLUMNS = {"binary": [0.0, 1.0, 1.0, 0.0, 1.0], "not binary": [0.0, 1.0, 2.0, 0.0, 0.5]}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_data_are_gates_where_they_are_binary(name):
    """With other values the same model must not be read as one with gates."""
    with gp.Model(coords={"i": 5}) as m:
        x = gp.Data("x", COLUMNS[name], dims="i")
        rate = gp.Gamma("rate", 2, rate=1)
        gp.Poisson("y", rate=1 + x * rate, dims="i", observed=[1, 0, 3, 2, 1])
        p = gp.Beta("p", 2, 2)
        gp.Bernoulli("b", x * p / 2, dims="i", observed=[0, 1, 1, 0, 0])
    sampler = gp.compile(m)

    assert sampler.verify().proved


def test_distribution_functions_keep_their_choices():
    """A tail that is chosen by its side does not exist on the other: 0 times it is no number."""
    with gp.Model() as m:
        nu = gp.BetaPrime("nu", a=2, b=3.5)
        seen = [0.1, 0.5, 1.0]
        gp.StudentT("y", nu=nu, mu=2.3, tau=0.5, lower=-1, upper=2, dims="k", observed=seen)

    assert gp.compile(m).verify().proved


def test_a_gate_inside_of_a_sum_is_not_that_beside_it():
    """The shares of a softmax: each numerator has a gate of its own, the denominator all."""
    with gp.Model(coords={"i": 2, "k": 4}) as m:
        b = gp.Normal("b", 0, sigma=1)
        at = gp.Data("at", [1.0, 2.8, -0.9, -0.1], dims="k")
        other = gp.Data("other", [-0.2, 0.5], dims="i")
        score = gp.exp(gp.where(gp.step(at), b, other))
        counts = np.array([[0, 2, 0, 0], [0, 1, 1, 0]])
        gp.Multinomial(
            "y", n=2, p=score / gp.sum(score, "k"), dims=("i", "k"), event="k", observed=counts
        )

    assert gp.compile(m).verify().proved


def test_data_is_binary_if_all_of_it_is():
    values = np.zeros(1000)
    with gp.Model(coords={"i": 1000}) as m:
        gp.Normal("x", gp.Data("z", values, dims="i"), sigma=1, dims="i")
    late = np.where(np.arange(1000) == 999, 2.0, values)

    assert set(binary_arrays(m.graph, {"z": values})) == {"z"}
    assert set(binary_arrays(m.graph, {"z": late})) == set()


@pytest.mark.parametrize(
    "pull",
    [
        lambda p, gate: gp.log(gp.where(gate, p, -2)),
        lambda p, gate: gp.log(1 - gp.where(gate, p, 2)),
        lambda p, gate: -(gp.log(gp.where(gate, p, -2)) ** 2),
    ],
)
def test_the_log_of_a_negative_branch_is_left_where_it_is(pull):
    with gp.Model() as m:
        rate = gp.Gamma("rate", 2, rate=1, lower=2)
        p = gp.Beta("p", 1, 1)
        gp.Potential("pull", pull(p, rate > 1))

    assert gp.compile(m).verify().passed
