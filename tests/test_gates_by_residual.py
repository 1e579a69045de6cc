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


# The models, and whether a residual is kept.
MODELS = {
    **dict.fromkeys((regression, logit, loadings, members, tied_before, pairs_before), True),
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

    for _ in range(3):
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

    assert any(beside(sampler, state, rng, wrong).far for _ in range(20))


def test_a_residual_that_is_not_kept_up_to_date_in_numpy_is_seen(monkeypatch):
    monkeypatch.setattr(Entries, "put", lambda self, values, changed: values.fill(0.5))

    assert not gp.compile(regression(), interweave=False).verify().passed


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
