"""Recursions as the plain interpreter computes them: one position after the other."""

from unittest import mock

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim, Over
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.recursions import Earlier, Own, Recursion, step, system_of
from gibbsppl.errors import ModelError
from gibbsppl.model import evaluation
from gibbsppl.model.evaluation import evaluate, largest_power

T, G = 6, 3
t, g, h = Dim("t"), Dim("g"), Dim("h")
A, B, X = Array("a"), Array("b"), Array("x")
ONE, TWO = Own("one"), Own("two")
SIZES = {t: T, g: G, h: G}
VALUES = {
    "a": np.array([0.5, -1.5, 0.25]),
    "b": np.array(0.7),
    "x": np.array([1.0, -2.0, 0.5, 3.0, -1.0, 2.0]),
}
LATER, ALL = Range(t, 1, T), Range(g, 0, G)


def whole(own, steps, *dims):
    over = tuple(Range(d, 0, SIZES[d]) for d in dims)
    return evaluate(Recursion(system_of(steps), own, *dims), over, VALUES, SIZES)


def positions_first():
    first = step(Earlier(ONE, 0, g), A[g], (ALL,))
    rest = step(Earlier(ONE, t, g), A[g] * Earlier(ONE, t - 1, g) + X[t], (LATER, ALL))
    return whole(ONE, [first, rest], t, g)


def positions_first_by_hand():
    found = [VALUES["a"]]
    for n in range(1, T):
        found.append(VALUES["a"] * found[-1] + VALUES["x"][n])
    return np.array(found)


def axes_in_another_order():
    """Of two arrays, one reads the other with its axes the other way round, and its total."""
    first = step(Earlier(ONE, 0, g), A[g], (ALL,))
    one = step(Earlier(ONE, t, g), Earlier(TWO, g, t - 1) + X[t], (LATER, ALL))
    two = step(
        Earlier(TWO, g, t),
        B[()] * Earlier(ONE, t, g) + Over(Earlier(ONE, t, h), h, 0, G),
        (ALL, Range(t, 0, T)),
    )
    return whole(ONE, [first, one, two], t, g)


def axes_in_another_order_by_hand():
    one = VALUES["a"]
    found = [one]
    for n in range(1, T):
        two = VALUES["b"] * one + one.sum()
        one = two + VALUES["x"][n]
        found.append(one)
    return np.array(found)


def elements_that_stay():
    """All but the first read the first one, and that of a certain group."""
    first = step(Earlier(ONE, g, 0), A[g], (ALL,))
    square = Earlier(ONE, g, t - 1) ** 2
    value = sp.exp(-square) + Earlier(ONE, g, 0) * t - Earlier(ONE, 1, t - 1)
    return whole(ONE, [first, step(Earlier(ONE, g, t), value, (ALL, LATER))], g, t)


def elements_that_stay_by_hand():
    found = [VALUES["a"]]
    for n in range(1, T):
        found.append(np.exp(-(found[-1] ** 2)) + n * found[0] - found[-1][1])
    return np.array(found).T


def another_recursion():
    """What is read at each position is an element of a recursion of its own."""
    inner = system_of(
        [
            step(Earlier(TWO, 0), B[()], ()),
            step(Earlier(TWO, t), X[t] - Earlier(TWO, t - 1) / 2, (LATER,)),
        ]
    )
    first = step(Earlier(ONE, 0), B[()], ())
    value = Earlier(ONE, t - 1) * B[()] + Recursion(inner, TWO, t)
    return whole(ONE, [first, step(Earlier(ONE, t), value, (LATER,))], t)


def another_recursion_by_hand():
    one = two = VALUES["b"]
    found = [one]
    for x in VALUES["x"][1:]:
        two = x - two / 2
        one = one * VALUES["b"] + two
        found.append(one)
    return np.array(found)


CASES = {
    positions_first: positions_first_by_hand,
    axes_in_another_order: axes_in_another_order_by_hand,
    elements_that_stay: elements_that_stay_by_hand,
    another_recursion: another_recursion_by_hand,
}


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
def test_a_recursion_is_what_a_loop_computes(case):
    np.testing.assert_allclose(case(), CASES[case](), rtol=1e-13)


AFFINE = A[()] * Earlier(ONE, t - 1) + X[t]


def series(length, value=AFFINE):
    rest = step(Earlier(ONE, t), value, (Range(t, 1, length),))
    return Recursion(system_of([step(Earlier(ONE, 0), A[()], ()), rest]), ONE, t)


def interpreted(length):
    """How often the interpreter is asked for the value of an expression."""
    values, over = {"a": 0.5, "x": np.ones(length)}, (Range(t, 0, length),)
    with mock.patch.object(evaluation, "_value", wraps=evaluation._value) as asked:
        found = evaluate(series(length), over, values, {t: length})
    assert found[-1] == pytest.approx(2 - 1.5 * 0.5 ** (length - 1))
    return asked.call_count


def test_positions_are_gone_through_without_looking_at_expressions():
    assert interpreted(300) == interpreted(30)


def computed_so_often(length, changed=()):
    """How often the positions are gone through for all values of ``a``."""
    one = evaluation._one_after_the_other
    with mock.patch.object(evaluation, "_one_after_the_other", side_effect=one) as gone_through:
        for a in (0.25, *changed):
            values = {"a": a, "x": np.ones(length)}
            for expr in (series(length), sp.exp(series(length)), series(length).xreplace({t: t})):
                evaluate(expr, (Range(t, 0, length),), values, {t: length})
    return gone_through.call_count


def test_a_recursion_is_computed_once_for_the_same_values():
    assert computed_so_often(41) == 1
    assert computed_so_often(42, changed=(0.75, 0.25, 0.125)) == 3


def test_values_that_are_changed_in_place_are_read_anew():
    x = np.ones(4)
    over, values = (Range(t, 0, 4),), {"a": 0.5, "x": x}
    before = evaluate(series(4), over, values, {t: 4})
    x[3] = 2.0

    after = evaluate(series(4), over, values, {t: 4})
    assert (after - before).tolist() == [0, 0, 0, 1]


def test_powers_on_the_way_are_seen_at_all_positions():
    value = sp.exp(Earlier(ONE, t - 1)) / 2
    x = 0.5
    for _ in range(3):
        largest, x = np.exp(x), np.exp(x) / 2

    found = largest_power(series(4, value), (Range(t, 0, 4),), {"a": 0.5}, {t: 4})
    assert found == pytest.approx(largest)


def test_what_is_before_the_first_position_is_refused():
    expr = series(5, Earlier(ONE, t - 1) + Earlier(ONE, t - 2))
    with pytest.raises(ModelError, match="a recursion of 5 positions is read at -1"):
        evaluate(expr, (Range(t, 0, 5),), {"a": 0.5}, {t: 5})


def test_a_product_with_an_exact_zero_is_zero_at_each_position():
    value = A[()] * sp.log(Earlier(ONE, t - 1))
    found = evaluate(series(4, value), (Range(t, 0, 4),), {"a": 0.0}, {t: 4})

    assert found.tolist() == [0.0, 0.0, 0.0, 0.0]


def test_a_recursion_that_another_one_reads_is_computed_once_in_a_sweep():
    with gp.Model(coords={"t": 4}) as m:
        u, w = gp.Uniform("u", 0, 1), gp.Uniform("w", 0, 1)
        one, two = (gp.Array(n, dims="t") for n in ("one", "two"))
        one[0], two[0] = u, w
        one[1:] = u * one.lag("t", 1)
        two[1:] = w * two.lag("t", 1) + one.lag("t", 1) ** 2
        gp.Normal("y", two, tau=1, dims="t", observed=[0.3, 0.1, 0.4, 0.2])

    source = gp.compile(m).source
    body = source[source.index("def two_by_recursion") :]
    assert "one_by_recursion(u, n_t)" in body.partition("    for t")[0]
