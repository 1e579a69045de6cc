"""Arrays that read their own earlier elements are drawn at all positions at once."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp
from gibbsppl.model import lagged as module
from gibbsppl.model.forward import simulate
from gibbsppl.model.lagged import lagged

LEVEL = 1e-6
SMALL = 1e-9
TURN = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])


def drawn(model, seed=1):
    return simulate(np.random.default_rng(seed), model.graph, model.data, observed=False)


def at_once(model, name):
    """How the statement that reads its own array is drawn."""
    blank = {v.name: np.zeros([model.graph.sizes[d] for d in v.dims])
             for v in model.graph.variables.values()}
    own = [s for s in model.graph.statements if s.target.array.name == name][-1]
    return lagged(model.graph, own, {**blank, **model.data})


def turning(observed=None, size=10):
    """Labels that follow one another with certainty."""
    given = {} if observed is None else {"observed": observed, "missing": -1}
    with gp.Model(coords={"t": size, "k": 3}) as model:
        P = gp.Data("P", TURN, dims=("k", "k'"))
        z = gp.Array("z", dims="t", event="k", **given)
        z[0] = gp.Categorical(1 / 3)
        z[1:] = gp.Categorical(P[z.lag("t", 1)])
    return model


def second_order(series=2, size=30):
    """Series in which each element is a sum of multiples of the two before it, nearly."""
    with gp.Model(coords={"t": size, "n": series}) as model:
        b = gp.Data("b", np.linspace(0.3, 0.6, series), dims="n")
        x = gp.Array("x", dims=("n", "t"))
        x[:, 0] = gp.Normal(1, sigma=1)
        x[:, 1] = gp.Normal(2, sigma=1)
        x[:, 2:] = gp.Normal(b * x.lag("t", 1) - x.lag("t", 2) / 2 + 3, sigma=SMALL)
    return model


def farthest_from_second_order():
    x = drawn(second_order())["x"]
    b = np.linspace(0.3, 0.6, 2)[:, None]
    return np.abs(x[:, 2:] - b * x[:, 1:-1] + x[:, :-2] / 2 - 3).max()


def test_labels_follow_those_before_them():
    assert at_once(turning(), "z").labels == (0, 1, 2)
    for seed in range(5):
        z = drawn(turning(), seed)["z"]
        np.testing.assert_array_equal(z[1:], (z[:-1] + 1) % 3)


def test_known_labels_stay_and_are_followed():
    known = np.array([-1, -1, 0, -1, -1, 1, 1, -1, -1, 0])
    z = drawn(turning(known))["z"]

    np.testing.assert_array_equal(z[known >= 0], known[known >= 0])
    free = np.flatnonzero(known[1:] < 0) + 1
    np.testing.assert_array_equal(z[free], (z[free - 1] + 1) % 3)


def test_labels_have_the_probabilities_of_what_they_follow():
    P = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.3, 0.4]])
    with gp.Model(coords={"t": 30_000, "k": 3}) as model:
        p = gp.Data("P", P, dims=("k", "k'"))
        z = gp.Array("z", dims="t", event="k")
        z[0] = gp.Categorical(1 / 3)
        z[1:] = gp.Categorical(p[z.lag("t", 1)])
    z = drawn(model)["z"]
    for k in range(3):
        seen = np.bincount(z[1:][z[:-1] == k], minlength=3)
        assert stats.chisquare(seen, P[k] * seen.sum()).pvalue > LEVEL


def test_elements_are_shifted_by_several_before_them_in_each_series():
    found = at_once(second_order(), "x")

    assert len(found.slopes) == len(found.read) == 2
    assert farthest_from_second_order() < 20 * SMALL


def test_noise_about_what_shifts_it_has_its_distribution():
    with gp.Model(coords={"t": 5_000}) as model:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, sigma=1)
        x[1:] = gp.StudentT(3, mu=1 - 0.8 * x.lag("t"), sigma=2)
    x = drawn(model)["x"]

    assert at_once(model, "x") is not None
    assert stats.kstest((x[1:] - 1 + 0.8 * x[:-1]) / 2, stats.t(3).cdf).pvalue > LEVEL


def reading(make):
    with gp.Model(coords={"t": 6}) as model:
        x = gp.Array("x", dims="t")
        x[0] = gp.Gamma(2, rate=1)
        x[1:] = make(x.lag("t"))
    return model


OTHERS = {
    "a curve": lambda before: gp.Normal(gp.exp(-before), sigma=1),
    "a product with itself": lambda before: gp.Normal(before * before, sigma=1),
    "a scale": lambda before: gp.Normal(0, sigma=gp.exp(before)),
    "two parameters": lambda before: gp.Normal(before, sigma=gp.exp(before)),
    "a bound": lambda before: gp.Normal(0, sigma=1, lower=before),
    "no shift": lambda before: gp.Gamma(2, rate=before),
}


@pytest.mark.parametrize("name", OTHERS)
def test_others_are_drawn_one_after_the_other(name):
    model = reading(OTHERS[name])

    assert at_once(model, "x") is None
    assert np.isfinite(drawn(model)["x"]).all()


def test_a_start_of_long_series_calls_no_draw_for_each_position(monkeypatch):
    with gp.Model(coords={"t": 400}) as model:
        tau = gp.Gamma("tau", 2, rate=1)
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, sigma=1)
        x[1:] = gp.Normal(x.lag("t"), tau=tau)
        gp.Normal("y", x, sigma=1, dims="t", observed=np.zeros(400))
    calls = []
    start = module.Lagged.drawn

    def counted(self, graph, rng, values, draw, free):
        return start(self, graph, rng, values, lambda *a: calls.append(1) or draw(*a), free)

    monkeypatch.setattr(module.Lagged, "drawn", counted)
    gp.compile(model).initial_states(1, seed=1)

    assert 0 < len(calls) < 20


def test_values_by_a_rule_are_not_shifted():
    """A vague walk starts at values of the size of the data, not at a sum of these."""
    with gp.Model(coords={"t": 300}) as model:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, sigma=1000)
        x[1:] = gp.Normal(x.lag("t"), sigma=1000)
        gp.Normal("y", x, sigma=1, dims="t", observed=np.random.default_rng(1).normal(size=300))
    from gibbsppl.initial.search import initial_state

    state, _ = initial_state(np.random.default_rng(1), model.graph, model.data)
    assert np.abs(state["x"]).max() < 20


PLANTED = {
    "no slope": ("_slopes", lambda _, leaves: (module.sp.Integer(0),) * len(leaves)),
    "slopes of one another": ("_slopes", lambda s, leaves: module_slopes(s, leaves)[::-1]),
}
module_slopes = module._slopes


@pytest.mark.parametrize("name", PLANTED)
def test_planted_bugs_are_seen(name, monkeypatch):
    monkeypatch.setattr(module, *PLANTED[name])
    assert farthest_from_second_order() > 1e-3
