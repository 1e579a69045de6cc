"""What holds of sweeps, looked at when they are made: each rule finds the bug that it is for."""

import pytest

from gibbsppl.code.arrays.checking import check
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Number,
    Position,
    Reduce,
    Size,
    Span,
    product,
)
from gibbsppl.code.arrays.statements import Add, Argument, Choice, Density, Draw, Let, Loop, Store
from gibbsppl.code.arrays.sweeps import Array, Sweep
from gibbsppl.errors import CompileError

N, K = Span.whole("n"), Span.whole("k")
HERE, GROUP = Position("n"), Element("z", (Position("n"),))
SIZES = {"n": 4, "k": 2}
ARRAYS = {
    "x": Array(("n",), "data"),
    "g": Array(("n",), "data", "int", of="k"),
    "z": Array(("n",), "state", "int", of="k"),
    "mu": Array(("k",), "state"),
    "tau": Array((), "state"),
}
X, MU, TAU = Element("x", (HERE,)), Element("mu", (GROUP,)), Element("tau")
COUNT = Let("count", (K,), ZERO)
FROM = Span("n", ONE, Size("n"))
BEFORE = Element("x", (Position("n", -1),))


def sweep(*statements, prepare=()):
    return Sweep("model", ARRAYS, tuple(statements), prepare=tuple(prepare))


RIGHT = {
    "counts by label": sweep(COUNT, Add("count", (GROUP,), ONE, (N,))),
    "positions beside those of an index": sweep(
        Let("moved", (N,), Element("mu", (Apply("+", (GROUP, Number(-1))),)))
    ),
    "lags": sweep(Let("moved", (FROM,), product([X, BEFORE]))),
    "a choice between ends": sweep(
        Let("left", (N,), Apply("where", (Apply("at_most", (ONE, HERE)), BEFORE, ZERO)))
    ),
    "a draw of a vector": sweep(
        Draw((Element("mu", (Position("k"),)),), "vector", (Argument(TAU, (K,)),))
    ),
    "a density of its own argument": sweep(
        Draw((TAU,), "slice", (Argument(TAU),), density=Density("t", product([Element("t"), TAU])))
    ),
    "a sum beside what it is of": sweep(
        Let("away", (N,), Apply("+", (X, Apply("neg", (Reduce(X, (N,)),)))))
    ),
    "branches with arrays of one name": sweep(
        Choice(ZERO, ((Let("a", (), ONE),), (Let("a", (), ZERO),)))
    ),
    "sums inside of a loop": sweep(
        Loop((K,), (Let("total", (), Reduce(X, (N,))), Store(TAU, Element("total"))))
    ),
}
WRONG = {
    "read before it is made": (
        sweep(Store(TAU, Element("count", (ZERO,))), COUNT), "count is read before it is made"),
    "made twice": (sweep(COUNT, COUNT), "count is made twice"),
    "made in a loop, read outside": (
        sweep(Loop((K,), (Let("a", (), ONE),)), Store(TAU, Element("a"))), "a is read before"),
    "an axis too few": (sweep(Store(TAU, Element("x"))), "x has 1 axes, found 0 indices"),
    "a dim of nothing": (sweep(Store(TAU, X)), "nothing says at which positions of n"),
    "a dim of another argument": (
        sweep(Draw((TAU,), "two", (Argument(X, (N,)), Argument(X)))),
        "nothing says at which positions of n"),
    "a dim bound in itself": (
        sweep(Loop((N,), (Let("total", (), Reduce(X, (N,))),))),
        "n is bound inside of a loop over it"),
    "a density that sums over the dim of its draws": (
        sweep(Draw((Element("mu", (Position("k"),)),), "slice", (Argument(TAU),), (K,),
                   density=Density("m", Reduce(Element("mu", (Position("k"),)), (K,))))),
        "k is bound inside of a loop over it"),
    "beyond the end": (
        sweep(Let("late", (N,), Element("x", (Position("n", 1),)))),
        r"x is read at positions 1\.\.4 of 4"),
    "before the first": (
        sweep(Let("early", (N,), BEFORE)), r"x is read at positions -1\.\.2 of 4"),
    "positions of another dim": (
        sweep(Let("far", (K,), Element("mu", (Element("x", (Position("k"),)),)))),
        "mu is read at x.k., which is no whole number"),
    "labels of a longer dim": (
        sweep(Let("short", (Span("k", ZERO, Number(1)),), ZERO), Add("short", (GROUP,), ONE, (N,))),
        r"short is read at positions 0\.\.1 of 1"),
    "data that are changed": (sweep(Store(X, ONE, (N,))), "x, which is no state, is changed"),
    "data that are drawn": (
        sweep(Draw((X,), "normal", (Argument(TAU),), (N,))), "x, which is no state, is changed"),
    "one element for all": (
        sweep(Store(TAU, X, (N,))), "tau is replaced at each position of n"),
    "one draw kept of many": (
        sweep(Draw((TAU,), "normal", (Argument(X),), (N,))),
        "tau is replaced at each position of n"),
    "an argument of a density outside of it": (
        sweep(Draw((TAU,), "slice", (Argument(TAU),), density=Density("t", TAU)),
              Store(TAU, Element("t"))),
        "t is read before it is made"),
    "beforehand, what a sweep makes": (
        sweep(COUNT, prepare=(Let("a", (K,), Element("count", (Position("k"),))),)),
        "count is read before it is made"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_a_sweep_in_which_all_holds_is_left_as_it_is(name):
    assert check(RIGHT[name], SIZES) is RIGHT[name]


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_hold_is_told(name):
    wrong, told = WRONG[name]
    with pytest.raises(CompileError, match=told):
        check(wrong, SIZES)


def test_bounds_are_looked_at_where_sizes_are_known():
    late = sweep(Let("late", (N,), Element("x", (Position("n", 1),))))
    assert check(late, {}) is late
