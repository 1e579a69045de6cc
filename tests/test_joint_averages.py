"""Means, covariances and entropies of joint normal distributions, by entries of the inverse."""

import itertools

import numpy as np
import pytest
from kernels_called import Called
from numpy.testing import assert_allclose, assert_array_equal
from test_loop_joint import CASES, chain, example, joints, lattice

from gibbsppl.errors import NotLoweredError
from gibbsppl.runtime import JointMoments, averages
from gibbsppl.runtime import loops as plain
from gibbsppl.runtime.averages import by_entries, by_inverse
from gibbsppl.runtime.joint import Joint
from gibbsppl.runtime.joint_tables import asked_of, tables_of
from gibbsppl.runtime.loops import averages as kernels


def tied(joint):
    """The numbers of two elements that a coefficient ties; of each and itself; of a known one."""
    _, i, j = joint.entries
    return np.append(i, -1), np.append(j, 0)


def wanted_of(joint):
    means = {f"E_{n}": n for n in joint.arrays}
    return {**means, "C": tied(joint)}


def tables_for(joint, first, second):
    tables = tables_of(joint)
    return tables, asked_of(joint, tables, first, second)


def compared(joint, state, given):
    """What is found by entries, and by the whole inverse."""
    found = []
    for seconds in (np.inf, 0.0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(averages, "A_PRODUCT", seconds)
            found.append(JointMoments(joint, wanted_of(joint)).of(state, given, "H"))
    return found


@pytest.mark.parametrize("name", CASES)
def test_entries_are_those_of_the_whole_inverse_in_every_layout(name, monkeypatch):
    arrays, pairs, state, given = example(name, np.random.default_rng(1))
    for joint in joints(arrays, pairs, monkeypatch):
        found, expected = compared(joint, state, given)
        assert found.keys() == expected.keys()
        for n, value in expected.items():
            assert_allclose(found[n], value, rtol=1e-10, atol=1e-12, err_msg=n)


def test_a_lattice_has_entries_of_its_sparse_factor(monkeypatch):
    rng, used = np.random.default_rng(2), set()
    given = {"x": (rng.standard_normal((9, 9)), -2.5)}, [np.full((8, 9), 0.9), np.full((9, 8), 0.9)]
    for joint in joints(*lattice(9), monkeypatch):
        found, expected = compared(joint, {"x": np.zeros((9, 9))}, given)
        used.add(tables_of(joint).kernel)
        for n, value in expected.items():
            assert_allclose(found[n], value, rtol=1e-10, atol=1e-12)
    assert "joint_sparse" in used


def test_a_long_chain_has_the_variances_of_its_recursion():
    # x[t] given x[t - 1] is N(0.9 x[t - 1], 1), and x[0] is N(0, 1)
    n = 5000
    joint = Joint(*chain(n))
    squares = np.full(n, -(1 + 0.81) / 2)
    squares[-1] = -0.5
    wanted = {"V": (np.arange(n), np.arange(n)), "C": (np.arange(1, n), np.arange(n - 1))}
    given = {"x": (0.0, squares)}, [np.full(n - 1, 0.9)]
    asked = JointMoments(joint, wanted)
    found = asked.of({"x": np.zeros(n)}, given, "H")
    assert asked.tables is not None
    variances = np.empty(n)
    variances[0] = 1.0
    for t in range(1, n):
        variances[t] = 1.0 + 0.81 * variances[t - 1]

    assert_allclose(found["V"], variances, rtol=1e-12)
    assert_allclose(found["C"], 0.9 * variances[:-1], rtol=1e-12)
    assert_allclose(found["H"], n * (1 + np.log(2 * np.pi)) / 2, rtol=1e-12)


def test_means_alone_need_no_entries_of_the_inverse(monkeypatch):
    none = np.zeros(0, dtype=int)
    for name in ("chain with means", "groups", "crossed"):
        arrays, pairs, state, given = example(name, np.random.default_rng(3))
        for joint in joints(arrays, pairs, monkeypatch):
            mean, _, entropy = by_entries(joint, state, given, *tables_for(joint, none, none))
            expected, _, other = by_inverse(joint, state, given, none, none)
            assert_allclose(mean, expected, rtol=1e-10, atol=1e-12)
            assert_allclose(entropy, other, rtol=1e-12)


def test_elements_that_the_factor_does_not_tie_are_of_the_whole_inverse(monkeypatch):
    joint = Joint(*chain(100), dense=0)
    with pytest.raises(NotLoweredError, match="x: a covariance of elements"):
        asked_of(joint, tables_of(joint), np.array([3]), np.array([50]))
    given = {"x": (0.0, np.full(100, -1.0))}, [np.full(99, 0.5)]
    wanted = {"C": (np.array([3, 4]), np.array([50, 4]))}
    monkeypatch.setattr(averages, "A_PRODUCT", np.inf)
    found = JointMoments(joint, wanted).of({"x": np.zeros(100)}, given, "H")
    inverse = np.linalg.inv(2 * np.eye(100) - 0.5 * (np.eye(100, k=1) + np.eye(100, k=-1)))
    assert_allclose(found["C"], inverse[[3, 4], [50, 4]], rtol=1e-9)


PLANTED = {
    "a border that is forgotten": ("backward_rows", lambda lower, rows: None),
    "an entropy of other units": ("OF_STANDARD", 1.0),
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_are_seen(name, monkeypatch):
    what, instead = PLANTED[name]
    arrays, pairs, state, given = example("groups", np.random.default_rng(4))
    monkeypatch.setattr(kernels, what, instead)
    differ = []
    for joint in joints(arrays, pairs, monkeypatch):
        found, expected = compared(joint, state, given)
        differ += [np.abs(np.asarray(found[n]) - v).max() > 1e-6 for n, v in expected.items()]
    assert any(differ)


@pytest.mark.slow
def test_compiled_averages_equal_plain_ones(monkeypatch):
    pytest.importorskip("numba")
    for name, first in itertools.product(("groups", "chain with means", "crossed"), (True, False)):
        arrays, pairs, state, given = example(name, np.random.default_rng(1))
        for joint in joints(arrays, pairs, monkeypatch):
            ends = tied(joint) if first else (np.zeros(0, dtype=int),) * 2
            expected = by_entries(joint, state, given, *tables_for(joint, *ends))
            with monkeypatch.context() as patch:
                patch.setattr(averages, "averages", Called("averages"))
                found = by_entries(joint, state, given, *tables_for(joint, *ends))
            for one, other in zip(found, expected, strict=True):
                assert_array_equal(one, other)
    assert plain.kernel(1) == 1
