"""Sums of products with gates: nothing is added of shut ones, and data are read side by side."""

import numpy as np
import pytest
from replays import beside

import gibbsppl as gp
from gibbsppl.code.arrays import gates
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Number,
    Position,
    Reduce,
    Span,
)
from gibbsppl.code.arrays.gates import with_gates_first
from gibbsppl.code.arrays.statements import Add, Choice, Let, Loop
from gibbsppl.code.arrays.sweeps import Array, Sweep, Table, every
from models import spike_and_slab

RNG = np.random.default_rng(4)
I, J, K = map(Position, "ijk")
SPANS = {d: Span.whole(d) for d in "ijk"}
GATE, B = Element("gate", (K,)), Element("b", (K,))
X, PAIR = Element("x", (I, K)), Element("pair", (K, I))
ARRAYS = {
    "gate": Array(("k",), "state", "int", limits=(0, 1)),
    "label": Array(("k",), "state", "int", limits=(0, 2)),
    "seen": Array(("k",), "data", "int", limits=(0, 1)),
    "pair": Array(("k", "i"), "state", "int", limits=(0, 1)),
    "of": Array(("i",), "data", "int"),
    "x": Array(("i", "k"), "data"),
    "x_by_i": Array(("k", "i"), "table"),
    "u": Array(("k", "j", "i"), "data"),
    "b": Array(("k",), "state"),
}
SIZES = {"i": gates.FEWEST, "j": 2, "k": 5}
TABLE = Table(("x_by_i",), "axis_last", ("@x", 0))


def sweep_of(value, indices=(I,), dims="ik", tables=(TABLE,), lanes=frozenset()):
    zeros = Let("s", tuple(SPANS[i.dim] for i in indices), ZERO)
    added = Add("s", indices, value, tuple(SPANS[d] for d in dims))
    return Sweep("m", ARRAYS, (zeros, added), tables=tables, lanes=lanes)


def times(*factors):
    return Apply("*", factors)


MOVED = {
    "a product": (times(B, GATE, X), {}, "s[i] += b[k] * x_by_i[k, i]  for i"),
    "a quotient": (Apply("/", (times(GATE, X), B)), {}, "s[i] += x_by_i[k, i] / b[k]  for i"),
    "minus": (Apply("neg", (times(GATE, X),)), {}, "s[i] += -x_by_i[k, i]  for i"),
    "stored so": (times(GATE, PAIR), {"tables": ()}, "s[i] += pair[k, i]  for i"),
    "by gate": (times(GATE, X), {"indices": (K,)}, "s[k] += x_by_i[k, i]  for i"),
    "of all": (times(GATE, X), {"indices": ()}, "s += x_by_i[k, i]  for i"),
    "a power": (times(Apply("**", (GATE, Number(2))), X), {}, "s[i] += x_by_i[k, i]  for i"),
    "two dims": (
        times(GATE, Element("u", (K, J, I))),
        {"indices": (J,), "dims": "jik"},
        "s[j] += u[k, j, i]  for j, i",
    ),
}


@pytest.mark.parametrize("case", MOVED)
def test_open_gates_alone_are_added(case):
    value, more, expected = MOVED[case]
    done = with_gates_first(sweep_of(value, **more), SIZES).statements[1]
    assert str(done).splitlines() == [
        "for k:",
        "    choose [gate[k] == 0]:",
        "        0:",
        f"            add {expected}",
        "        1:",
    ]


LEFT = {
    "a label": (times(Element("label", (K,)), X), {}),
    "data": (times(Element("seen", (K,)), X), {}),
    "a gate that is looked up": (times(Element("gate", (Element("of", (I,)),)), X), {}),
    "a gate for each number": (times(PAIR, X), {}),
    "gates alone": (times(GATE, B), {"indices": (), "dims": "k"}),
    "a sum with a gate": (Apply("+", (GATE, X)), {}),
    "data in another order": (times(GATE, X), {"tables": ()}),
    "a table of another axis": (
        times(GATE, X), {"tables": (Table(("x_by_k",), "axis_last", ("@x", 1)),)}
    ),
    "sums inside": (times(GATE, Reduce(Element("u", (K, J, I)), (SPANS["j"],))), {}),
    "a power that may be none": (times(Apply("**", (GATE, B)), X), {}),
    "lanes": (times(GATE, X), {"lanes": frozenset("i")}),
}  # fmt: skip


@pytest.mark.parametrize("case", LEFT)
def test_other_sums_are_left_alone(case):
    value, more = LEFT[case]
    sweep = sweep_of(value, **more)
    assert with_gates_first(sweep, SIZES) == sweep


@pytest.mark.parametrize("sizes", [{"i": gates.FEWEST - 1, "k": 99}, {"k": 99}], ids=["few", "any"])
def test_gates_that_let_in_few_numbers_are_left_alone(sizes):
    sweep = sweep_of(times(GATE, X))
    assert with_gates_first(sweep, sizes) == sweep


def regression(rows, columns, share=0.3):
    """A regression with a gate for each weight, which is open with some probability."""
    x = RNG.normal(size=(rows, columns))
    with gp.Model(coords={"row": rows, "column": columns}) as model:
        shown = gp.Data("x", x, dims=("row", "column"))
        gate = gp.Bernoulli("gate", share, dims="column")
        weight = gp.Normal("weight", 0, sigma=2, dims="column")
        noise = gp.Gamma("tau", shape=1, rate=1)
        mean = gp.sum(shown * weight * gate, "column")
        gp.Normal("y", mean, tau=noise, dims="row", observed=x[:, 0] + RNG.normal(size=rows))
    return model


def skips(sampler):
    statements = every(sampler.loops().sweep_value.statements)
    return [s for s in statements if isinstance(s, Loop) and _is_choice_of_gate(s.body[-1])]


def _is_choice_of_gate(s):
    return isinstance(s, Choice) and s.bodies[1] == () and "gate" in s.number.arrays


def state_of(sampler):
    (chain,), _ = sampler.initial_states(1, 5)
    return chain.state, chain.rng


@pytest.mark.parametrize(
    ("share", "opened"), [(1e-12, {0}), (1 - 1e-12, {1}), (0.3, {0, 1})], ids=str
)
def test_sweeps_are_those_in_numpy(share, opened):
    sampler = gp.compile(regression(20, 7, share))
    assert skips(sampler)
    state, rng = state_of(sampler)
    assert {*state["gate"].tolist()} == opened
    assert beside(sampler, state, rng).far == []


def test_the_model_of_spikes_and_slabs_skips_shut_gates():
    sampler = gp.compile(spike_and_slab.model())
    assert skips(sampler)
    assert beside(sampler, *state_of(sampler)).far == []


def swapped(right):
    """Planted: what shut gates have is added."""

    def added(self, s):
        done = right(self, s)
        if done is s:
            return s
        (chosen,) = done.body
        turned = Apply("+", (ONE, Apply("neg", (chosen.number,))))
        return Loop(done.over, (Choice(turned, chosen.bodies),))

    return added


def in_order(right):
    """Planted: the table of another order is read at the positions of the data."""

    def side_by_side(self, e, rest):
        found = right(self, e, rest)
        return found and gates.mapped(found, _turned)

    return side_by_side


def _turned(e):
    is_table = isinstance(e, Element) and e.array.startswith("x_by")
    return Element(e.array, e.indices[::-1]) if is_table else None


@pytest.mark.parametrize(("name", "bug"), [("added", swapped), ("side_by_side", in_order)])
def test_bugs_are_seen(name, bug, monkeypatch):
    monkeypatch.setattr(gates._Gates, name, bug(getattr(gates._Gates, name)))
    sampler = gp.compile(regression(gates.FEWEST, gates.FEWEST))
    assert beside(sampler, *state_of(sampler)).far


def test_fewer_operations_are_counted(monkeypatch):
    model = regression(40, 50)
    now = gp.compile(model).costs().operations
    monkeypatch.setattr("gibbsppl.code.loop_program.with_gates_first", lambda s, _: s)
    assert now < gp.compile(model).costs().operations
