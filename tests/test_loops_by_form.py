"""Draws of single elements by a residual, in loops: columns, slopes kept, sums kept up to date."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from replays import beside
from test_loops_of_models import started

import gibbsppl as gp
from gibbsppl.code.arrays.accesses import writes
from gibbsppl.code.arrays.statements import Let, Loop, Store
from gibbsppl.code.arrays.sweeps import names_in
from gibbsppl.code.lowering.sweeps import lowered
from gibbsppl.model import memory
from gibbsppl.runtime import position_tables
from gibbsppl.schedule.element_loops import element_loop
from models import factorisation_machine

RNG = np.random.default_rng(4)
ROWS, EACH = 40, 5


def features(slots):
    """Features of rows: those of each slot are its own."""
    return RNG.integers(EACH, size=(ROWS, slots)) + EACH * np.arange(slots)


def machine(slots, values=None, found=None):
    """A machine of rows of so many slots."""
    groups = np.repeat([0, 1], [EACH, EACH * (slots - 1)])
    found = features(slots) if found is None else found
    return factorisation_machine.model(
        found, RNG.normal(size=ROWS), groups, values=values, factors=3, level=0
    )


def by_slot(slots):
    """A factorisation whose slots have weights of their own, whatever the row."""
    rows, found = features(slots), RNG.normal(size=slots)
    coords = {"row": ROWS, "slot": slots, "feature": EACH * slots, "factor": 2}
    with gp.Model(coords=coords, name="by slot") as model:
        feature = gp.Index("feature_of", rows, of="feature", dims=("row", "slot"))
        x = gp.Data("x", found, dims="slot")
        v = gp.Normal("v", 0, tau=1, dims=("feature", "factor"))
        sums, squares = (v[feature] * x).sum("slot"), ((v[feature] * x) ** 2).sum("slot")
        pairs = 0.5 * (sums**2 - squares).sum("factor")
        gp.Normal("y", pairs, tau=2, dims="row", observed=RNG.normal(size=ROWS))
    return model


def padded(slots):
    """Rows of fewer features, filled up with the first one and values of 0."""
    there = RNG.random((ROWS, slots)) > 0.25
    return machine(slots, RNG.normal(size=(ROWS, slots)) * there, features(slots) * there)


# The forms, and whether sums without an element's own position are written out.
MACHINES = {
    "two slots": (lambda: machine(2), True),
    "three slots with values": (lambda: machine(3, RNG.normal(size=(ROWS, 3))), True),
    "three slots, some of 0": (lambda: padded(3), True),
    "five slots": (lambda: machine(5), False),
    "five slots with values": (lambda: machine(5, RNG.normal(size=(ROWS, 5))), False),
    "five slots, some of 0": (lambda: padded(5), False),
    "weights by slot": (lambda: by_slot(2), False),
}


@cache
def sampled(name):
    """The sampler of a form by elements."""
    settings = {} if "slot" in name and "by" in name else {"w": "elements", "w0": "alone"}
    return gp.compile(MACHINES[name][0](), blocks=settings, interweave=False)


@pytest.mark.parametrize("name", MACHINES)
def test_draws_by_a_residual_in_loops_are_those_in_numpy(name):
    sampler = sampled(name)
    state, rng = started(sampler)

    for _ in range(2):
        assert beside(sampler, state, rng).far == []


@pytest.mark.parametrize("name", MACHINES)
def test_sums_are_written_out_where_rows_are_short(name):
    sampler = sampled(name)
    sweep = lowered(sampler.schedule, sampler.data, sampler.constants)

    assert ("v_sum" not in names_in(sweep.statements)) == MACHINES[name][1]
    assert "v_column" in names_in(sweep.statements)


def without(statements, array):
    """Statements without those in loops that change an array."""
    kept = (s for s in statements if array not in writes([s]) or isinstance(s, Loop | Let))
    return tuple(
        replace(s, body=without(s.body, array)) if isinstance(s, Loop) else s for s in kept
    )


@pytest.mark.parametrize(
    ("name", "array"), [("two slots", "v_column"), ("five slots", "v_sum"), ("two slots", "y_form")]
)
def test_what_is_not_kept_up_to_date_is_seen(name, array):
    sampler = sampled(name)
    program = sampler.loops()
    sweep = program.sweep_value
    wrong = replace(sweep, statements=without(sweep.statements, array))
    state, rng = started(sampler)

    assert beside(sampler, state, rng, replace(program, sweep_value=wrong)).far


def test_a_sum_with_the_own_position_is_seen(monkeypatch):
    sampler = sampled("three slots with values")
    state, rng = started(sampler)
    with monkeypatch.context() as patch:
        patch.setattr(position_tables, "others_in_order", lambda x, *at: (x[at], x[at]))

        assert beside(sampler, state, rng).far


# ---- what is drawn so, and around it -------------------------------------------------------------


def test_what_is_too_large_for_a_block_is_drawn_by_a_residual(monkeypatch):
    model = machine(3)
    blocked = gp.compile(model)
    with monkeypatch.context() as patch:
        patch.setattr(memory, "LEAST_BYTES", 0)
        patch.setattr(memory, "TIMES", 0)
        alone = gp.compile(model)

    assert blocked.schedule.step("w").is_joint
    assert blocked.schedule.step("w").variables != ("w",)
    assert [f.factor for f in alone.schedule.step("w").conditional.forms] == ["y"]
    assert element_loop(alone.schedule, alone.schedule.step("w")) is not None


def test_residuals_are_computed_anew_where_stand_ins_have_changed_them():
    settings = {"blocks": {"w": "elements", "w0": "alone"}, "interweave": ("mu_v",)}
    sampler = gp.compile(machine(2), **settings)
    *first, last = range(len(sampler.schedule.steps))
    orders = {"last": [*first, last], "first": [last, *first]}
    schedules = {n: sampler.schedule.only(order) for n, order in orders.items()}
    found = {}
    for name, schedule in schedules.items():
        sweep = lowered(schedule, sampler.data, sampler.constants)
        stores = (s for s in sweep.statements if isinstance(s, Store))
        found[name] = sum(s.target.array == "y_form" for s in stores)

    assert sampler.schedule.interwoven.keys() == {sampler.schedule.steps[last].name}
    assert found == {"last": 0, "first": 1}
