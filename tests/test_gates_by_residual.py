"""Gates that enter a sum: from their log odds, by a residual or by sums over pairs of columns."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from replays import beside
from test_loops_by_form import without
from test_loops_of_models import started

import gibbsppl as gp
from gibbsppl.code import element_loops as written_loops
from gibbsppl.code.lowering import by_form, kept_sums
from gibbsppl.derive import conditionals
from gibbsppl.derive.colours import Chart, OneByOne
from gibbsppl.runtime.entries import Entries
from gibbsppl.schedule.element_loops import element_loop, kept_forms
from models import spike_and_slab

RNG = np.random.default_rng(7)
ROWS, COLUMNS = 9, 4
X = RNG.normal(size=(ROWS, COLUMNS))
Y = RNG.normal(size=ROWS)


def regression():
    return spike_and_slab.model(x=X, y=Y, columns="abcd")


def logit():
    """Weights by row that are drawn: no sum over rows is of data alone."""
    with gp.Model(coords={"i": ROWS, "j": COLUMNS}, name="logit") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        gate = gp.Bernoulli("gate", 0.3, dims="j")
        beta = gp.Normal("beta", 0, tau=0.5, dims="j")
        line = gp.Normal("a", 0, tau=0.1) + design @ (gate * beta)
        gp.Bernoulli("y", logit_p=line, dims="i", observed=Y > 0)
    return model


def loadings():
    """Slopes that differ by row and are drawn; gates of one factor are drawn in one call."""
    with gp.Model(coords={"i": ROWS, "d": 3, "k": 2}, name="loadings") as model:
        f = gp.Normal("f", 0, tau=1, dims=("i", "k"))
        gate = gp.Bernoulli("gate", 0.5, dims=("d", "k"))
        w = gp.Normal("w", 0, tau=1, dims=("d", "k"))
        mean = (f * gate * w).sum("k")
        gp.Normal("y", mean, tau=2, dims=("i", "d"), observed=RNG.normal(size=(ROWS, 3)))
    return model


def members():
    """Elements that an index of data shows, two by row."""
    found = RNG.integers(3, size=(ROWS, 2)) + np.array([0, 3])
    with gp.Model(coords={"i": ROWS, "slot": 2, "member": 6}, name="members") as model:
        of = gp.Index("of", found, of="member", dims=("i", "slot"))
        gate = gp.Bernoulli("gate", 0.4, dims="member")
        w = gp.Normal("w", 0, tau=1, dims="member")
        tau = gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", (gate[of] * w[of]).sum("slot"), tau=tau, dims="i", observed=Y)
    return model


def two_outputs():
    """Two residuals: the log odds are sums over pairs of columns."""
    with gp.Model(coords={"i": ROWS, "j": COLUMNS}, name="two outputs") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        gate = gp.Bernoulli("gate", 0.3, dims="j")
        for name in "ab":
            beta = gp.Normal(f"beta_{name}", 0, tau=0.5, dims="j")
            gp.Normal(f"y_{name}", design @ (gate * beta), tau=2, dims="i", observed=Y)
    return model


def tied_before():
    """A prior that ties gates beside the residual."""
    with gp.Model(coords={"i": ROWS, "j": COLUMNS}, name="tied before") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        gate = gp.Bernoulli("gate", 0.7, dims="j")
        gp.Potential("few", -0.1 * gate.sum("j") ** 2)
        beta = gp.Normal("beta", 0, tau=0.5, dims="j")
        gp.Normal("y", design @ (gate * beta), tau=2, dims="i", observed=Y)
    return model


def pairs_before():
    """A prior that ties neighbours beside the residual."""
    with gp.Model(coords={"i": ROWS, "j": COLUMNS}, name="pairs before") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        gate = gp.Bernoulli("gate", 0.3, dims="j")
        gp.Potential("near", 0.7 * gate * gate.lag("j"))
        beta = gp.Normal("beta", 0, tau=0.5, dims="j")
        gp.Normal("y", design @ (gate * beta), tau=2, dims="i", observed=Y)
    return model


def partly_known():
    with gp.Model(coords={"i": ROWS, "j": COLUMNS}, name="partly known") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        known = np.ma.masked_array([1, 0, 0, 0], [0, 1, 1, 1])
        gate = gp.Bernoulli("gate", 0.3, dims="j", observed=known)
        beta = gp.Normal("beta", 0, tau=0.5, dims="j")
        gp.Normal("y", design @ (gate * beta), tau=2, dims="i", observed=Y)
    return model


def by_indices(one, other, dims=("i", "j")):
    """Gates that indices of data show, along dims of the rows and of their sums."""

    def declared():
        with gp.Model(coords={"i": ROWS, "j": COLUMNS, "a": 3, "b": 4}, name="by indices") as model:
            design = gp.Data("design", X, dims=("i", "j"))
            first = gp.Index("first", one, of="a", dims=dims[0])
            second = gp.Index("second", other, of="b", dims=dims[1])
            gate = gp.Bernoulli("gate", 0.4, dims=("a", "b"))
            gp.Normal("y", gp.sum(design * gate[first, second], "j"), tau=0.2, dims="i", observed=Y)
        return model

    return declared


def of_row_and_group():
    """Each row has gates of its own, each of which a sum shows twice."""
    return by_indices(np.arange(ROWS) % 3, np.array([0, 0, 1, 1]))()


def of_row_and_term():
    """Each row has gates of its own, one for each term of its sum."""
    return by_indices(np.arange(ROWS) % 3, np.array([2, 0, 3, 1]))()


def of_terms():
    """Two indices along one dim: no group of one of them says which terms show a gate."""
    one, other = np.array([0, 1, 0, 2]), np.array([1, 0, 3, 1])
    return by_indices(one, other, dims=("j", "j"))()


def in_part(rows, terms, columns):
    """Sums over some gates, in rows that see some of them; the others no row sees."""
    text = f"""
model {{
  for (k in {rows}) {{
    for (i in 1:9) {{ y[k, i] ~ dnorm(inprod(x[i, 1:3], gate[k, {terms}]), 0.2) }}
  }}
  for (k in 1:3) {{ for (j in 1:4) {{ gate[k, j] ~ dbern(0.4) }} }}
}}
"""
    seen = np.ma.masked_array(np.stack([Y, -Y, Y[::-1]]), np.zeros((3, ROWS), dtype=bool))
    first, last = map(int, rows.split(":"))
    seen[: first - 1] = seen[last:] = np.ma.masked
    return gp.read_bugs(text, {"x": X[:, :columns], "y": seen})


def some_terms():
    return in_part("1:3", "1:3", 4)


def some_columns():
    """No column of the data is of the gate that no row sees."""
    return in_part("1:3", "2:4", 3)


def some_rows():
    return in_part("2:3", "1:3", 4)


IN_PART = (some_terms, some_columns, some_rows)
BY_INDICES = (of_row_and_group, of_row_and_term, of_terms)
FORMS = (regression, logit, loadings, members, tied_before, pairs_before, *BY_INDICES, *IN_PART)

# The models, and whether a residual is kept.
MODELS = {
    **dict.fromkeys(FORMS, True),
    **dict.fromkeys((two_outputs, partly_known), False),
}


@cache
def sampled(model):
    return gp.compile(model(), interweave=False)


def step_of(sampler):
    return next(s for s in sampler.schedule.steps if s.variables == ("gate",))


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
def test_gates_in_a_sum_are_drawn_from_log_odds_that_are_proved(model):
    sampler = sampled(model)
    step = step_of(sampler)

    assert step.family.name == "Bernoulli"
    assert (element_loop(sampler.schedule, step) is not None) == MODELS[model]
    assert sampler.verify().proved


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.__name__)
def test_gates_in_loops_are_those_in_numpy(model):
    sampler = sampled(model)
    state, rng = started(sampler)

    for _ in range(6):
        assert beside(sampler, state, rng).far == []


def test_of_many_rows_log_odds_are_sums_over_pairs(monkeypatch):
    monkeypatch.setattr(conditionals, "MOST_KEPT", ROWS * COLUMNS - 1)
    sampler = only_gates(prior=0.43)

    assert element_loop(sampler.schedule, step_of(sampler)) is None
    assert sampler.verify().proved
    assert sampler.transition_matrix().passed


def test_gates_that_no_row_shows_together_are_drawn_in_one_call():
    assert step_of(sampled(loadings)).colours.count == 2
    assert isinstance(step_of(sampled(regression)).colours, Chart)
    assert "one by one" in str(sampled(regression))
    assert step_of(sampled(tied_before)).colours.count == COLUMNS
    assert step_of(sampled(two_outputs)).colours == OneByOne()


@pytest.mark.parametrize("model", [m for m, is_kept in MODELS.items() if is_kept])
def test_a_residual_that_is_not_kept_up_to_date_in_loops_is_seen(model):
    sampler = sampled(model)
    program = sampler.loops()
    sweep, (kept,) = program.sweep_value, kept_forms(sampler.schedule)
    statements = without(sweep.statements, kept.name)
    wrong = replace(program, sweep_value=replace(sweep, statements=statements))
    state, rng = started(sampler)

    assert any(beside(sampler, state, rng, wrong).far for _ in range(40))


def test_a_residual_that_is_not_kept_up_to_date_in_numpy_is_seen(monkeypatch):
    monkeypatch.setattr(Entries, "put", lambda self, values, changed: values.fill(0.5))

    assert not gp.compile(regression(), interweave=False).verify().passed


@pytest.mark.parametrize(
    ("of", "wrong", "model"),
    [
        ("matches", lambda *_: (), of_row_and_group),
        ("matches", lambda _, rows: rows.matches[:1], of_terms),
        ("here", lambda _, rows: rows.here[:0], loadings),
    ],
    ids=["rows of other groups", "terms of another gate", "rows of other places"],
)
def test_rows_that_do_not_see_a_gate_are_seen_where_they_are_taken(of, wrong, model, monkeypatch):
    right = by_form.rows_of

    def rows(*given):
        found = right(*given)
        return replace(found, **{of: wrong(given, found)})

    monkeypatch.setattr(by_form, "rows_of", rows)
    sampler = gp.compile(model(), interweave=False)
    state, rng = started(sampler)

    assert any(beside(sampler, state, rng).far for _ in range(20))


def test_gates_that_no_row_sees_are_found_where_rows_are_taken_for_them(monkeypatch):
    monkeypatch.setattr(kept_sums, "_where_seen", lambda w, rows, places, value, other: value)
    sampler = gp.compile(some_terms(), interweave=False)
    state, rng = started(sampler)

    assert any(beside(sampler, state, rng).far for _ in range(20))


def only_gates(kernel=None, prior=0.4):
    """A regression whose weights are known: all states of the gates are enumerated."""
    with gp.Model(coords={"i": ROWS, "j": COLUMNS}, name="only gates") as model:
        design = gp.Data("design", X, dims=("i", "j"))
        gate = gp.Bernoulli("gate", prior, dims="j")
        beta = gp.Data("beta", X[0], dims="j")
        gp.Normal("y", 0.3 + design @ (gate * beta), tau=2, dims="i", observed=Y)
    return gp.compile(model, kernels={} if kernel is None else {"gate": kernel})


def test_a_sweep_of_gates_leaves_their_posterior_as_it_is():
    sampler = only_gates()

    assert element_loop(sampler.schedule, step_of(sampler)) is not None
    assert sampler.transition_matrix().passed


def test_log_odds_without_the_square_are_seen(monkeypatch):
    """Of ``v**2`` that is ``v`` the coefficient belongs to the log odds."""

    def without_squares(form):
        return tuple(p for p in form_pieces(form) if not p.statistic.is_Pow)

    form_pieces = conditionals.form_pieces
    monkeypatch.setattr(conditionals, "form_pieces", without_squares)
    sampler = only_gates(prior=0.41)  # (what is kept on the disk was derived otherwise)

    assert not sampler.transition_matrix().passed
    assert not sampler.verify().passed


def test_a_draw_without_the_square_is_seen(monkeypatch):
    """The generator by element is another text than the parameters of all elements."""

    def lines(*given):
        return [line.replace(" + square / 2", "") for line in call_lines(*given)]

    call_lines = written_loops._call_lines
    monkeypatch.setattr(written_loops, "_call_lines", lines)

    assert not only_gates(prior=0.42).verify().passed
