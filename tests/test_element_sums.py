"""Elements one by one, by sums over all of them that each draw keeps up to date."""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from replays import beside
from test_loops_by_form import without
from test_loops_of_models import started

import gibbsppl as gp
from gibbsppl.code import element_sums as written
from gibbsppl.code.element_sums import _Work
from gibbsppl.schedule import element_sums, kept_sums
from gibbsppl.schedule.element_loops import element_loop
from gibbsppl.schedule.element_sums import sum_loop
from gibbsppl.schedule.kept_sums import KeptSum

RNG = np.random.default_rng(11)
ROWS, COLUMNS = 9, 4
X = RNG.normal(size=(ROWS, COLUMNS))
Y = RNG.normal(size=ROWS)
COUNTS = RNG.poisson(1.5, ROWS)
GROUPS = np.array([0, 0, 1, 1])
VALUES = np.array([0.0, 0.5, 2.0])


def coords():
    return {"i": ROWS, "j": COLUMNS, "k": 3, "group": 2}


def of_weights(line, prior=0.4):
    """A count whose rate is the exponential of a sum over gates."""
    with gp.Model(coords=coords(), name="counts") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        gate = gp.Bernoulli("label", prior, dims="j")
        beta = gp.Normal("beta", 0, tau=1, dims="j")
        gp.Poisson("y", gp.exp(0.2 + line(design, gate, beta)), dims="i", observed=COUNTS)
    return model


def counts():
    return of_weights(lambda design, gate, beta: design @ (gate * beta))


def counts_by_choice():
    return of_weights(lambda design, gate, beta: design @ gp.where(gate, beta, 0))


def values_of_labels():
    """A label that chooses what a weight is multiplied by: the residual is quadratic in it."""
    with gp.Model(coords=coords(), name="values") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        value = gp.Data("value", VALUES, dims="k")
        label = gp.Categorical("label", p=gp.Data("shares", [0.5, 0.3, 0.2], dims="k"), dims="j")
        beta = gp.Normal("beta", 0, tau=1, dims="j")
        gp.Normal("y", design @ (value[label] * beta), tau=2, dims="i", observed=Y)
    return model


def groups_of_counts():
    """Gates that an index of data shows, of counts."""
    with gp.Model(coords=coords(), name="groups of counts") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        of = gp.Index("of", GROUPS, of="group", dims="j")
        gate = gp.Bernoulli("label", 0.4, dims="group")
        beta = gp.Normal("beta", 0, tau=1, dims="j")
        gp.Poisson("y", gp.exp(design @ (gate[of] * beta)), dims="i", observed=COUNTS)
    return model


def two_axes():
    """Gates along two dims, both of which a row sums over."""
    z = RNG.normal(size=(ROWS, 2))
    with gp.Model(coords=coords(), name="two axes") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        second = gp.Data("second", z, dims=("i", "group"))
        gate = gp.Bernoulli("label", 0.4, dims=("j", "group"))
        line = (design * second * gate).sum("j").sum("group")
        gp.Poisson("y", gp.exp(line), dims="i", observed=COUNTS)
    return model


def more_than_elements(prior=0.4):
    """Sums in which other terms stand beside those of elements, within the sum and around it."""
    with gp.Model(coords=coords(), name="more than elements") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        of = gp.Index("of", GROUPS, of="group", dims="j")
        gate = gp.Bernoulli("label", prior, dims="group")
        beta = gp.Normal("beta", 0, tau=1, dims="j")
        line = gp.sum(design * gate[of] + beta, "j") + gp.sum(0.1 * (design * gate[of] - beta), "j")
        gp.Poisson("y", gp.exp(0.5 * line), dims="i", observed=COUNTS)
    return model


def partly_known():
    known = np.ma.masked_array([1, 0, 0, 0], [0, 1, 1, 1])
    with gp.Model(coords=coords(), name="partly known") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        gate = gp.Bernoulli("label", 0.4, dims="j", observed=known)
        gp.Poisson("y", gp.exp(design @ gate), dims="i", observed=COUNTS)
    return model


def by_group(prior, more=lambda _: None):
    """Elements of a row that an index of data shows: those of other rows add nothing."""

    def declared():
        with gp.Model(coords=coords(), name="by group") as model:
            design = gp.Data("design", X, dims=("i", "j"))
            row = gp.Index("row", np.arange(ROWS) % 2, of="group", dims="i")
            label = prior()
            more(label)
            gp.Poisson("y", gp.exp(0.5 * gp.sum(design * label[row], "j")), dims="i",
                       observed=COUNTS)  # fmt: skip
        return model

    return declared


def gates_by_group():
    return by_group(lambda: gp.Bernoulli("label", 0.4, dims=("group", "j")))()


def counts_by_group():
    return by_group(lambda: gp.Binomial("label", 2, 0.4, dims=("group", "j")))()


def tied_gates_by_group():
    """Drawn one after the other: another term sees all elements."""
    return by_group(
        lambda: gp.Bernoulli("label", 0.4, dims=("group", "j")),
        lambda label: gp.Potential("all", -0.2 * label.sum("j").sum("group") ** 2),
    )()


PARTLY_SEEN = """
model {
  for (i in 1:9) {
    y[i] ~ dpois(exp(0.1 + inprod(X[i, 1:3], label[1:3]) + 0.3 * inprod(Z[i, ], label[])))
  }
  for (j in 1:4) { label[j] ~ dbern(0.4) }
}
"""


def partly_seen():
    """A sum over a part of the elements beside a sum over all."""
    return gp.read_bugs(PARTLY_SEEN, {"X": X, "Z": X[::-1], "y": COUNTS})


def two_indices(prior=lambda: gp.Binomial("label", 2, 0.4, dims=("k", "group"))):
    """Elements that a row sees by two indices of data: its own, and one of each term."""
    with gp.Model(coords=coords(), name="two indices") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        row = gp.Index("row", np.arange(ROWS) % 3, of="k", dims="i")
        of = gp.Index("of", GROUPS, of="group", dims="j")
        line = gp.sum(design * prior()[row, of], "j")
        gp.Poisson("y", gp.exp(0.3 * line), dims="i", observed=COUNTS)
    return model


def of_two_groups():
    """Rows that see gates of two groups, in sums of their own."""
    with gp.Model(coords=coords(), name="of two groups") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        one = gp.Index("one", np.arange(ROWS) % 3, of="k", dims="i")
        other = gp.Index("other", np.arange(ROWS) % 2, of="k", dims="i")
        gate = gp.Bernoulli("label", 0.4, dims=("k", "j"))
        first, second = gp.sum(design * gate[one], "j"), gp.sum((design + 1) * gate[other], "j")
        gp.Poisson("y", gp.exp(0.3 * (first - second)), dims="i", observed=COUNTS)
    return model


def rows_of_an_axis(prior=lambda: gp.Binomial("label", 2, 0.4, dims=("k", "j"))):
    """An axis of the elements that is an axis of the data as well: each position has its rows."""
    with gp.Model(coords=coords(), name="rows of an axis") as model:
        design = gp.Data("design", np.stack([X, -X, X[::-1]]), dims=("k", "i", "j"))
        line = gp.sum(design * prior(), "j")
        gp.Poisson("y", gp.exp(0.3 * line), dims=("k", "i"), observed=COUNTS * [[1], [0], [2]])
    return model


MODELS = (
    counts, counts_by_choice, values_of_labels, groups_of_counts, two_axes, partly_known,
    more_than_elements,
)  # fmt: skip
SEEN_BY_SOME = (
    gates_by_group, counts_by_group, tied_gates_by_group, partly_seen, two_indices, of_two_groups,
    rows_of_an_axis,
)  # fmt: skip


@pytest.mark.parametrize("model", SEEN_BY_SOME, ids=lambda m: m.__name__)
def test_elements_change_the_sums_of_the_rows_that_see_them_alone(model):
    sampler = gp.compile(model(), interweave=False)
    assert sum_loop(step_of(sampler), sampler.schedule.whole) is not None
    assert sampler.verify().proved
    state, rng = started(sampler)

    for _ in range(6):
        assert beside(sampler, state, rng).far == []


def infinite_terms():
    """Zeros among the values whose logs are added."""
    with gp.Model(coords=coords(), name="zeros") as model:
        design = gp.Data("design", np.abs(X), dims=("i", "j"))
        value = gp.Data("value", VALUES, dims="k")
        label = gp.Categorical("label", p=gp.Data("shares", [0.5, 0.3, 0.2], dims="k"), dims="j")
        gp.Poisson("y", gp.exp(gp.sum(design * gp.log(value[label]), "j")), dims="i",
                   observed=np.zeros(ROWS))  # fmt: skip
    return model


def huge_terms():
    """When a value of 1e20 leaves a sum, the digits of the others would be lost."""
    with gp.Model(coords=coords(), name="huge") as model:
        value = gp.Data("value", [1.0, 1e20, 1e-300], dims="k")
        label = gp.Categorical("label", p=gp.Data("shares", [0.3, 0.3, 0.4], dims="k"), dims="j")
        gp.Poisson("y", gp.sum(value[label], "j"), observed=3)
    return model


@pytest.mark.parametrize("model", [infinite_terms, huge_terms])
def test_sums_that_lose_digits_are_not_kept(model):
    sampler = gp.compile(model())
    step = sampler.schedule.step("label")

    assert sum_loop(step, sampler.schedule.whole) is None
    assert sampler.verify().proved



@cache
def sampled(model):
    return gp.compile(model(), interweave=False)


def step_of(sampler, name="label"):
    return next(s for s in sampler.schedule.steps if s.variables == (name,))


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
def test_labels_by_sums_are_proved(model):
    sampler = sampled(model)

    assert sum_loop(step_of(sampler), sampler.schedule.whole) is not None
    assert "by_sums" in sampler.source
    assert sampler.verify().proved


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
def test_labels_by_sums_in_loops_are_those_in_numpy(model):
    sampler = sampled(model)
    state, rng = started(sampler)

    for _ in range(3):
        assert beside(sampler, state, rng).far == []


@pytest.mark.parametrize("kernel", [gp.Slice(), gp.RandomWalk()], ids=str)
def test_moves_by_sums_in_loops_are_those_in_numpy(kernel):
    sampler = gp.compile(counts(), kernels={"beta": kernel}, interweave=False)
    state, rng = started(sampler)

    assert sum_loop(step_of(sampler, "beta"), sampler.schedule.whole) is not None
    for _ in range(3):
        assert beside(sampler, state, rng).far == []


@pytest.mark.parametrize("model", [two_indices, rows_of_an_axis], ids=lambda m: m.__name__)
def test_moves_change_the_sums_of_the_rows_that_see_them_alone(model):
    dims = {two_indices: ("k", "group"), rows_of_an_axis: ("k", "j")}[model]
    declared = model(lambda: gp.Normal("label", 0, tau=1, dims=dims))
    sampler = gp.compile(declared, kernels={"label": gp.Slice()}, interweave=False)
    state, rng = started(sampler)

    assert sum_loop(step_of(sampler), sampler.schedule.whole) is not None
    for _ in range(3):
        assert beside(sampler, state, rng).far == []


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
def test_draws_are_the_same_without_sums_that_are_kept(model, monkeypatch):
    declared = model()
    by_sums = gp.compile(declared, interweave=False)
    monkeypatch.setattr(written, "sum_loop", lambda *_: None)
    plain = gp.compile(declared, interweave=False)
    state, rng = started(by_sums)
    anew, stream = copy.deepcopy((state, rng))

    assert "by_sums" in by_sums.source
    assert "by_sums" not in plain.source
    for _ in range(10):
        by_sums.program.sweep(rng, state, by_sums.constants)
        plain.program.sweep(stream, anew, plain.constants)
        assert (state["label"] == anew["label"]).all()


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
def test_a_sum_that_is_not_kept_up_to_date_in_loops_is_seen(model):
    sampler = sampled(model)
    program = sampler.loops()
    sweep = program.sweep_value
    statements = without(sweep.statements, "label_sum")
    wrong = replace(program, sweep_value=replace(sweep, statements=statements))
    state, rng = started(sampler)

    assert any(beside(sampler, state, rng, wrong).far for _ in range(200))


def test_a_sum_that_is_not_kept_up_to_date_in_numpy_is_seen(monkeypatch):
    monkeypatch.setattr(_Work, "moved", lambda work, s: s.kept.leaf * 0)

    assert not gp.compile(of_weights(lambda d, g, b: d @ (g * b), prior=0.41)).verify().passed


def test_weights_in_rows_that_do_not_see_an_element_are_found(monkeypatch):
    monkeypatch.setattr(KeptSum, "weight_by_row", property(lambda s: s.weight))
    sampler = gp.compile(of_two_groups(), interweave=False)
    state, rng = started(sampler)

    assert any(beside(sampler, state, rng).far for _ in range(20))


@pytest.mark.parametrize(
    ("wrong", "model"),
    [
        (lambda rows: replace(rows, matches=()), of_two_groups),
        (lambda rows: replace(rows, here=()), rows_of_an_axis),
    ],
    ids=["of any group", "of any position"],
)
def test_rows_that_do_not_see_an_element_are_found(wrong, model, monkeypatch):
    right = kept_sums.rows_that_see
    monkeypatch.setattr(kept_sums, "rows_that_see", lambda *given: wrong(right(*given)))
    sampler = gp.compile(model(), interweave=False)
    state, rng = started(sampler)
    is_found = not sampler.verify().passed

    assert is_found or any(beside(sampler, state, rng).far for _ in range(20))


def test_a_square_that_is_left_out_is_seen(monkeypatch):
    monkeypatch.setattr(element_sums, "MOST_POWERS", 4)
    by_powers = element_sums._by_powers

    def halved(body, whole, changes):
        return by_powers(body, whole, changes).xreplace({m: m / 2 for m in changes})

    monkeypatch.setattr(element_sums, "_by_powers", halved)

    assert not gp.compile(values_of_labels(), interweave=False).verify().passed


def test_a_row_is_looked_at_once_for_each_label():
    """The operations of a sweep of labels are of the order of the design, however written."""
    for model in (counts, counts_by_choice, values_of_labels, groups_of_counts):
        sampler = sampled(model)
        cost = sampler.costs()[step_of(sampler).name]

        assert "**2" not in cost.plates


def test_what_neighbours_say_alone_is_no_sum_over_rows():
    with gp.Model(coords={"j": 6}, name="chain") as model:
        label = gp.Bernoulli("label", 0.3, dims="j")
        gp.Potential("near", 0.7 * label * label.lag("j"))
        gp.Poisson("y", gp.exp(label), dims="j", observed=np.arange(6))
    sampler = gp.compile(model)

    for step in sampler.schedule.steps:
        if step.is_by_element:
            assert sum_loop(step, sampler.schedule.whole) is None


def groups():
    """Gates that an index of data shows several times in a row."""
    with gp.Model(coords=coords(), name="groups") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        of = gp.Index("of", GROUPS, of="group", dims="j")
        gate = gp.Bernoulli("label", 0.4, dims="group")
        beta = gp.Normal("beta", 0, tau=1, dims="j")
        tau = gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", design @ (gate[of] * beta), tau=tau, dims="i", observed=Y)
    return model


def test_gates_of_groups_are_drawn_by_a_residual():
    sampler = sampled(groups)
    step = step_of(sampler)
    state, rng = started(sampler)

    assert step.family.name == "Bernoulli"
    assert element_loop(sampler.schedule, step) is not None
    assert sampler.verify().proved
    assert all(beside(sampler, state, rng).far == [] for _ in range(3))


def test_gates_are_the_same_however_they_are_written():
    def gaussian(weight):
        with gp.Model(coords=coords(), name="written") as model:
            design = gp.Data("design", X, dims=("i", "j"))
            gate = gp.Bernoulli("label", 0.4, dims="j")
            beta = gp.Normal("beta", 0, tau=1, dims="j")
            gp.Normal("y", design @ weight(gate, beta), tau=2, dims="i", observed=Y)
        return gp.compile(model)

    by_product, by_choice = gaussian(lambda g, b: g * b), gaussian(lambda g, b: gp.where(g, b, 0))
    first, second = (
        s.sample(20, chains=1, seed=3, progress=False, backend="numpy")
        for s in (by_product, by_choice)
    )

    assert by_choice.verify().proved
    assert by_product.costs().operations == by_choice.costs().operations
    assert (first["label"] == second["label"]).all()
