"""Which elements a step draws, and where values are put, against loops."""

import itertools

import numpy as np
import pytest

from gibbsppl.runtime.places import element_positions, missing_positions, placed, plus_diagonal


def test_elements_of_a_place_in_order():
    assert element_positions(None, [(1, 3), (0, 2)]) == [(1, 0), (1, 1), (2, 0), (2, 1)]


def test_known_elements_are_left_out():
    known = np.array([[1, 0, 0], [0, 1, 0]])

    assert element_positions(known, [(0, 2), (1, 3)]) == [(0, 1), (0, 2), (1, 2)]


def test_missing_positions_index_the_whole_array():
    known = np.array([[1, 0, 0], [0, 1, 0]])
    values = np.arange(6).reshape(2, 3)

    assert values[missing_positions(known, [(0, 2), (0, 3)])].tolist() == [1, 2, 3, 5]
    assert values[missing_positions(known, [(1, 2), (1, 3)])].tolist() == [5]


def test_nothing_missing_is_no_position():
    (found,) = missing_positions(np.ones(3), [(0, 3)])

    assert found.size == 0


@pytest.mark.parametrize("place", [[(0, 2), (0, 3)], [(1, 2), (0, 3)], [(0, 1), (2, 3)]])
def test_placed_values_are_zero_elsewhere(place):
    shape = tuple(b - a for a, b in place)
    values = 1.0 + np.arange(np.prod(shape)).reshape(shape)
    found = placed(values, place, (2, 3))
    for at in itertools.product(range(2), range(3)):
        inside = all(a <= i < b for i, (a, b) in zip(at, place, strict=True))
        local = tuple(i - a for i, (a, _) in zip(at, place, strict=True))

        assert found[at] == (values[local] if inside else 0)


def test_a_number_is_placed_everywhere_in_the_place():
    assert placed(2.0, [(0, 1), (1, 3)], (2, 3)).tolist() == [[0, 2, 2], [0, 0, 0]]


def test_a_value_for_a_constant_index_fills_its_position():
    assert placed(np.array([3.0, 4.0]), [(1, 2), (0, 2)], (2, 2)).tolist() == [[0, 0], [3, 4]]


@pytest.mark.parametrize("batch", [(), (4,), (2, 3)])
@pytest.mark.parametrize("dense", [(3,), (2, 2)])
def test_squares_are_added_to_the_diagonal(batch, dense):
    rng = np.random.default_rng(1)
    pairs = rng.standard_normal((*batch, *dense, *dense))
    squares = rng.standard_normal((*batch, *dense))
    expected = pairs.copy()
    for b in np.ndindex(batch):
        for d in np.ndindex(dense):
            expected[b + d + d] += squares[b + d]
    found = plus_diagonal(pairs, squares, len(dense))

    np.testing.assert_array_equal(expected, found)


def test_a_number_is_added_to_the_whole_diagonal():
    found = plus_diagonal(np.zeros((2, 3, 3)), 2.0, 1)

    np.testing.assert_array_equal(found, np.broadcast_to(2 * np.eye(3), (2, 3, 3)))


def test_an_array_that_repeats_itself_in_memory_is_not_changed():
    one = np.ones((2, 2))
    found = plus_diagonal(np.broadcast_to(one, (4, 2, 2)), -0.5, 1)

    np.testing.assert_array_equal(found, np.broadcast_to(one - np.eye(2) / 2, (4, 2, 2)))
    np.testing.assert_array_equal(one, np.ones((2, 2)))
