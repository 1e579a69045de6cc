"""Arrays taken apart: each part given the others, with an auxiliary variable of its own."""

from dataclasses import replace

import numpy as np
import pytest
from test_rewrites_driver import ordered
from test_rewrites_sampling import disagreements, moments

import gibbsppl as gp
from gibbsppl.code.program import load
from gibbsppl.code.source import write_numpy
from gibbsppl.derive.conditionals import conditional_of
from gibbsppl.errors import CompileError, RunError
from gibbsppl.model.density import log_joint
from gibbsppl.rewrites import search
from gibbsppl.rewrites.parts import MOST_PARTS, taken_apart
from gibbsppl.schedule.staleness import check_fresh

N, J, K = 30, 2, 3
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, J))
Y = (X @ RNG.normal(size=(J, K)) + RNG.gumbel(size=(N, K))).argmax(axis=1)


def probabilities(eta, dim):
    return gp.exp(eta) / gp.sum(gp.exp(eta), dim)


def multinomial_logit(precision=0.5, first=None, size=K, y=Y):
    """Coefficients of each category; those of the first may be known."""
    with gp.Model(coords={"i": N, "j": J, "k": size}) as m:
        x = gp.Data("x", X, dims=("i", "j"))
        precision = precision() if callable(precision) else precision
        if first is None:
            b = gp.Normal("b", 0, tau=precision, dims=("j", "k"))
        else:
            b = gp.Array("b", dims=("j", "k"))
            b[:, 0] = first
            b[:, 1:] = gp.Normal(0, tau=precision)
        gp.Categorical("y", probabilities(x @ b, "k"), dims="i", event="k", observed=y)
    return m


def of_an_unknown_precision():
    return multinomial_logit(lambda: gp.Gamma("tau", 2, rate=1))


def of_a_known_category():
    return multinomial_logit(first=0)


def in_columns():
    """The same with a variable for each category: nothing has to be taken apart."""
    with gp.Model(coords={"i": N, "j": J}) as m:
        x = gp.Data("x", X, dims=("i", "j"))
        one, two = (x @ gp.Normal(n, 0, tau=0.5, dims="j") for n in ("one", "two"))
        is_one, is_two = (gp.Data(f"is_{n}", n == Y, dims="i") for n in (1, 2))
        total = gp.log(1 + gp.exp(one) + gp.exp(two))
        gp.Potential("y", is_one * one + is_two * two - total)
    return m


MODELS = (multinomial_logit, of_an_unknown_precision, of_a_known_category, in_columns)


def logits(sampler):
    """The steps with a Polya-Gamma variable for each block."""
    kinds = [(s.kind, s.family.name) for s in sampler.schedule.steps if s.kind == "block"]
    rules = {r.rule.name for r in sampler.schedule.rewrites}
    return kinds, rules


@pytest.mark.parametrize("model", MODELS, ids=lambda f: f.__name__)
def test_each_category_is_drawn_against_the_rest(model):
    sampler = gp.compile(model(), exact=True)
    kinds, rules = logits(sampler)

    assert kinds == [("block", "MvNormal")] * (
        2 if model in (of_a_known_category, in_columns) else 3
    )
    assert rules == {"Polya-Gamma"}
    assert sampler.verify().proved


LONG = (multinomial_logit, of_an_unknown_precision, in_columns)


@pytest.mark.slow
@pytest.mark.parametrize("model", [of_a_known_category, *LONG])
def test_the_posterior_is_the_same_as_without(model):
    with_parts, plain = gp.compile(model(), exact=True), gp.compile(model(), rewrites=False)

    assert disagreements(moments(with_parts, 1), moments(plain, 2)) == {}


def test_the_comparison_sees_a_variable_that_is_not_drawn_anew(monkeypatch):
    sampler = gp.compile(of_a_known_category(), exact=True)
    source = sampler.source
    line = next(x for x in source.splitlines() if 's["y_omega_2"] = runtime' in x)
    planted = source.replace(line, line.replace("s[", 'if "y_omega_2" not in s: s[', 1))
    wrong = replace(sampler, program=type(sampler.program).__reduce__(sampler.program)[0](planted))

    assert disagreements(
        moments(wrong, 1), moments(gp.compile(of_a_known_category(), rewrites=False), 2)
    )


def test_draws_and_starts_are_of_the_array_as_declared():
    sampler = gp.compile(of_a_known_category(), exact=True)
    draws = sampler.sample(draws=20, warmup=20, chains=2, seed=1, progress=False)

    assert list(draws) == ["b"]
    assert draws["b"].shape == (2, 20, J, K)
    assert (draws["b"][..., 0] == 0).all()
    assert np.unique(draws["b"][..., 1:]).size == 2 * 20 * J * 2

    start = np.arange(J * K).reshape(J, K) * [0.0, 1.0, 1.0]
    kept = sampler.sample(draws=1, warmup=0, chains=1, init={"b": start}, seed=1, progress=False)
    again = sampler.sample(draws=1, warmup=0, chains=1, init={"b": start}, seed=1, progress=False)
    assert np.array_equal(kept["b"], again["b"])


def test_the_mean_of_a_conditional_reads_the_array_as_declared():
    sampler = gp.compile(of_an_unknown_precision(), exact=True)
    draws = sampler.sample(draws=20, warmup=20, chains=2, seed=1, progress=False)
    shape, rate = 2 + J * K / 2, 1 + (draws["b"] ** 2).sum((-1, -2)) / 2
    means = sampler.conditional_mean(draws)

    assert list(means) == ["tau"]
    np.testing.assert_allclose(means["tau"], shape / rate, rtol=1e-12)
    with pytest.raises(RunError, match=r"^b: it is taken apart, and drawn as b_0, b_1, b_2"):
        sampler.conditional_mean(draws, "b")


def test_what_holds_for_one_draw_alone_is_not_kept():
    sampler = gp.compile(of_a_known_category(), exact=True)

    with pytest.raises(RunError, match=r"^keep: 'y_omega' holds for one draw of each sweep alone"):
        sampler.sample(draws=2, warmup=20, chains=1, keep=["b", "y_omega"], progress=False)
    with pytest.raises(RunError, match=r"^keep: 'b_1' is a part of 'b'; name that"):
        sampler.sample(draws=2, warmup=20, chains=1, keep=["b_1"], progress=False)


def test_parts_can_be_forbidden_and_asked_for():
    plain = gp.compile(multinomial_logit(), rewrites={"parts": False})

    assert [s.variables[0] for s in plain.schedule.steps] == ["b"]
    assert gp.compile(multinomial_logit(), rewrites={"parts": True}).schedule.parts
    with pytest.raises(CompileError, match=r"'parts'.* no array whose parts"):
        gp.compile(in_columns(), rewrites={"parts": True})


def test_an_axis_that_is_long_is_not_taken_apart():
    rng = np.random.default_rng(1)
    y = rng.integers(0, MOST_PARTS + 1, N)
    model = multinomial_logit(size=MOST_PARTS + 1, y=y)

    assert gp.compile(model).schedule.parts == ()


def test_the_order_of_the_draws_matters():
    """Each auxiliary variable is read by the next draw alone, and must be drawn right before it."""
    schedule = gp.compile(of_a_known_category(), exact=True).schedule
    names = [s.statement.name for s in schedule.steps]
    assert names == ["y_omega", "b_1", "y_omega_2", "b_2"]

    check_fresh(ordered(schedule, (2, 3, 0, 1)))
    for order in ((0, 2, 1, 3), (2, 0, 3, 1), (1, 0, 2, 3), (0, 3, 2, 1)):
        with pytest.raises(CompileError, match="is stale"):
            check_fresh(ordered(schedule, order))


def test_what_is_read_at_positions_of_no_part_stays_whole():
    """A factor of each position reads the position itself."""
    with gp.Model(coords={"j": J, "k": K}) as m:
        b = gp.Normal("b", 0, tau=1, dims=("j", "k"))
        gp.Poisson("y", gp.exp(b), dims=("j", "k"), observed=np.ones((J, K)))

    assert taken_apart(m.graph, "b", 1, ()) is None
    graph, parts = taken_apart(multinomial_logit().graph, "b", 1, ())
    assert [p.name for p in parts] == ["b_0", "b_1", "b_2"]
    assert "b_1[j] ~ Normal" in str(graph)


def test_the_joint_density_is_the_same():
    """Of the parts, whatever they are."""

    for model in (multinomial_logit, of_an_unknown_precision, of_a_known_category):
        m = model()
        graph, parts = taken_apart(m.graph, "b", 1, ())
        b = np.random.default_rng(2).normal(size=(J, K))
        b[:, 0] *= model is not of_a_known_category
        values = {**m.data, "b": b, "tau": 0.7}
        apart = values | {p.name: b[p.at] for p in parts}

        assert log_joint(graph, apart) == pytest.approx(log_joint(m.graph, values), rel=1e-12)


def test_large_logits_do_not_overflow():
    sampler = gp.compile(of_a_known_category(), exact=True)
    b = np.array([[0.0, 3000.0, -3000.0], [0.0, -2000.0, 5000.0]])
    state = {"b": b, "b_1": b[:, 1], "b_2": b[:, 2], "y_omega": np.ones(N), "y_omega_2": np.ones(N)}
    given = [f(state, sampler.constants) for f in sampler.program.given_rest.values()]

    assert all(np.isfinite(eta).all() for etas in given for eta in etas)


def derived_when_taken_apart(monkeypatch, model):
    """The arrays of which conditionals are looked for, where no part has a closed form."""
    found = []

    def derived(graph, statement, *arguments, **how):
        found.append(statement.target.array.name)
        return conditional_of(graph, statement, *arguments, **how)

    monkeypatch.setattr(search, "conditional_of", derived)
    assert not gp.compile(model).schedule.parts
    return found


def of_no_closed_form():
    with gp.Model(coords={"k": 3}) as m:
        x = gp.Normal("x", 0, tau=1, dims="k")
        gp.Normal("y", gp.sum(gp.exp(x) - x, "k"), tau=1, observed=1.0)
        gp.Normal("z", gp.Gamma("tau", 2, rate=1), tau=1, observed=1.0)
    return m


def test_the_first_part_without_a_closed_form_ends_the_search(monkeypatch):
    found = derived_when_taken_apart(monkeypatch, of_no_closed_form())

    assert {n for n in found if n.startswith("x_")} == {"x_0"}


def test_arrays_taken_apart_leave_the_other_conditionals_as_they_are(monkeypatch):
    assert derived_when_taken_apart(monkeypatch, of_no_closed_form()).count("tau") == 1


def test_auxiliary_variables_that_come_first_are_drawn_of_the_array_as_declared():
    with gp.Model(coords={"j": 2}) as model:
        phi = gp.Gamma("phi", 1, rate=1, dims="j")
        gp.Poisson("y", phi.at("j", 0) * phi.at("j", 1) + gp.sum(phi, "j"), observed=3)
    sampler = gp.compile(model)
    program = load(write_numpy(ordered(sampler.schedule, (0, 2, 1, 3))))
    state = {"phi": np.array([0.5, 2.0])}
    program.augment(np.random.default_rng(1), state, program.prepare(sampler.data))

    assert set(state) > set(program.auxiliary)
    assert len(program.auxiliary) == 2


def test_values_that_nothing_sees_read_the_parts():
    """A missing value between bounds that are sums over the parts, drawn after them."""
    slopes = np.array([[1.84, 1.99], [1.01, 0.29]])
    seen = np.ma.masked_values([[-1.3, 2.2], [99.0, -0.6], [5.1, -2.1]], 99.0)
    with gp.Model(coords={"i": 2, "j": 3, "k": 2}) as m:
        a = gp.Data("a", slopes, dims=("k", "i"))
        rate = gp.Gamma("rate", 2, rate=1, dims=("i", "j"))
        end = gp.sum(a * rate, "i")
        gp.Deterministic("total", rate.sum("i"))
        gp.Uniform("y", -end, end, dims=("j", "k"), observed=seen)
    sampler = gp.compile(m)
    draws = sampler.sample(draws=400, chains=2, seed=1, progress=False)
    ends = np.einsum("ki,cdij->cdjk", slopes, draws["rate"])

    assert [p.of for p in sampler.schedule.parts] == ["rate", "rate"]
    assert sampler.schedule.leaves == ("y",)
    assert sampler.verify().proved
    assert np.all(np.abs(draws["y"][:, :, 1, 0]) < ends[:, :, 1, 0])
    assert np.ptp(draws["y"][:, :, 1, 0] / ends[:, :, 1, 0]) > 1.5
    np.testing.assert_allclose(draws["total"], draws["rate"].sum(axis=2), rtol=1e-12)


def walks_from_known_ends(step, known=0.7, last=None):
    """A walk for each category from a known start; the last category may be known all along."""
    with gp.Model(coords={"t": 4, "k": 3}) as m:
        free = slice(0, 3) if last is None else slice(0, 2)
        x = gp.Array("x", dims=("t", "k"))
        x[0, free] = known
        if last is not None:
            x[:, 2] = last
        x[1:4, free] = step(x.lag("t", 1))
        gp.Categorical("y", probabilities(x, "k"), dims="t", event="k", observed=[0, 2, 1, 1])
    return m


STEPS = {
    "normal": lambda before: gp.Normal(before, sigma=1.0),
    "from below": lambda before: gp.Normal(before, sigma=1.0, lower=before - 1.5),
}


@pytest.mark.parametrize("last", [None, -0.4])
@pytest.mark.parametrize("step", STEPS)
def test_known_regions_of_the_array_are_known_regions_of_its_parts(step, last):
    sampler = gp.compile(walks_from_known_ends(STEPS[step], last=last), rewrites={"parts": True})

    assert {p.name for p in sampler.schedule.parts} == {f"x_{k}" for k in range(2 + (last is None))}
    assert sampler.verify().proved
    draws = sampler.sample(30, warmup=5, chains=1, seed=1, progress=False)
    assert (draws["x"][:, :, 0, :2] == 0.7).all()


def test_a_position_that_several_regions_tell_is_not_taken_apart():
    with gp.Model(coords={"t": 2, "k": 3}) as m:
        x = gp.Array("x", dims=("t", "k"))
        x[:, 1:3] = gp.Normal(0, sigma=1.0)
        x[0, 0], x[1, 0] = 0.2, 0.4
        gp.Categorical("y", probabilities(x, "k"), dims="t", event="k", observed=[0, 2])

    assert taken_apart(m.graph, "x", 1, ()) is None
    assert gp.compile(m).verify().proved
