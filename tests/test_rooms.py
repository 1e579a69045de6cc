"""Precision matrices of many blocks are looked at in loops: what they see is never too much."""

from dataclasses import replace
from functools import cached_property

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.code.numbers_program import NumbersProgram
from gibbsppl.errors import RunError, StartError
from gibbsppl.initial import propriety
from gibbsppl.initial import rooms as looked_at
from gibbsppl.initial.propriety import check_proper
from gibbsppl.initial.rooms import Rooms
from gibbsppl.run.engines import Compiled
from gibbsppl.runtime.loops.matrices import certain_room
from models import bayesian_matrix_factorisation


def ratio_of(eta_2):
    """The least eigenvalue over the largest, of the precision in its own units."""
    precision = -(eta_2 + eta_2.T)
    units = 1 / np.sqrt(np.diagonal(precision))
    values = np.linalg.eigvalsh(precision * units[:, None] * units)
    return values[0] / values[-1]


@pytest.mark.parametrize("size", [1, 2, 5, 20])
def test_the_bound_is_below_the_ratio_of_eigenvalues(size):
    rng = np.random.default_rng(size)
    for spread in (0.0, 1.0, 4.0):
        root = rng.normal(size=(size, size + 2)) * np.exp(spread * rng.normal(size=(size, 1)))
        eta_2 = -(root @ root.T) / 2
        exact = ratio_of(eta_2)
        found = certain_room(eta_2.copy())
        assert 0 < found <= exact * (1 + 1e-9)
        assert found >= exact / size**2 * (1 - 1e-9)


def test_no_room_is_seen_where_there_is_none():
    """Indefinite and singular matrices, and what is no number."""
    for precision in ([[1.0, 2.0], [2.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 1.0]]):
        assert certain_room(-np.array(precision) / 2) < 1e-15
    for bad in (np.nan, np.inf, -np.inf):
        for place in ((0, 0), (1, 0)):
            eta_2 = -np.eye(2)
            eta_2[place] = eta_2[place[::-1]] = bad
            assert certain_room(eta_2) == 0


class Plain(NumbersProgram):
    """A program whose loops Python carries out."""

    @cached_property
    def runner(self):
        return self.loops.plain()


@pytest.fixture
def regressions(monkeypatch):
    """Regressions of groups, whose coefficients are looked at in loops whatever their number."""
    monkeypatch.setattr(NumbersProgram, "runner", Plain.runner)
    monkeypatch.setattr(looked_at, "LARGE", 0)
    rng = np.random.default_rng(0)
    with gp.Model(coords={"g": 3, "k": 2, "n": 12}, name="regressions") as model:
        x = gp.Data("x", rng.normal(size=(12, 2)), dims=("n", "k"))
        group = gp.Index("group", np.arange(12) % 3, of="g", dims="n")
        zero = gp.Data("zero", np.zeros(2), dims="k")
        eye = gp.Data("eye", np.eye(2), dims=("k", "k'"))
        spread = gp.Wishart("spread", 3, R=eye, dims=("k", "k'"))
        b = gp.MvNormal("b", zero, tau=spread, dims=("g", "k"), event="k")
        gp.Normal("y", (x * b[group]).sum("k"), tau=1.0, dims="n", observed=rng.normal(size=12))
    return gp.compile(model, blocks={"b": "alone"})


def checked(sampler, spread, by_loops=True):
    """Look at a state, by loops or without; the steps whose functions in NumPy were called."""
    state = {"b": np.ones((3, 2)), "spread": np.array(spread)}
    calls = []
    program = sampler.program

    def counted(name, function):
        def of(s, c):
            calls.append(name)
            return function(s, c)

        return of

    rows = program.given_rest.items()
    program.__dict__["given_rest"] = {n: counted(n, f) for n, f in rows}
    rooms = Rooms(Compiled(sampler.loops()), sampler.prepared) if by_loops else None
    try:
        check_proper(sampler.derivation, program, sampler.prepared, state, rooms=rooms)
    finally:
        del program.__dict__["given_rest"]
    return calls


def test_blocks_with_room_are_looked_at_in_loops_alone(regressions):
    assert "b" in checked(regressions, np.eye(2), by_loops=False)
    assert "b" not in checked(regressions, np.eye(2))


@pytest.mark.parametrize("spread", [-1e6 * np.eye(2), np.full((2, 2), np.nan)])
def test_blocks_without_room_are_told_as_ever(regressions, spread):
    """The error is that of the arrays."""
    with pytest.raises((RunError, StartError)) as plain:
        checked(regressions, spread, by_loops=False)
    with pytest.raises(plain.type) as by_loops:
        checked(regressions, spread)
    assert str(by_loops.value) == str(plain.value)


def test_a_bound_that_sees_too_much_is_found(regressions, monkeypatch):
    """Planted: every matrix has room."""
    monkeypatch.setattr(Rooms, "in_all", lambda self, derived, step, values: step.name == "b")
    calls = checked(regressions, np.eye(2))
    assert "b" not in calls
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        test_blocks_without_room_are_told_as_ever(regressions, -1e6 * np.eye(2))


def test_tables_of_the_sweep_are_shared(monkeypatch):
    """Data are not sorted again."""
    monkeypatch.setattr(NumbersProgram, "runner", Plain.runner)
    monkeypatch.setattr(looked_at, "LARGE", 0)
    sampler = gp.compile(bayesian_matrix_factorisation.model(), blocks=False)
    loops = sampler.loops()
    rooms = Rooms(Compiled(loops), sampler.prepared)
    step = next(s for s in sampler.derivation.looked_at.steps if s.name == "U")
    values = {**sampler.data, **sampler.initial_states(1, seed=1)[0][0].state}
    assert rooms.in_all(sampler.derivation, step, values)
    own = rooms.made["U"].loops
    every = {n for t in own.sweep_value.tables for n in t.names if n in own.known}
    assert every
    assert all(own.known[n] is loops.known[n] for n in every)
    alone = replace(own, others=None)
    for name in every:
        np.testing.assert_array_equal(alone.known[name], own.known[name])


@pytest.mark.parametrize("count", [0, 1, 7])
def test_eigenvalues_are_the_same_part_after_part(count, monkeypatch):
    rng = np.random.default_rng(count)
    root = rng.normal(size=(count, 3, 4))
    eta_2 = -(root @ np.swapaxes(root, -2, -1))
    whole = propriety._least_eigenvalues(eta_2)
    monkeypatch.setattr(propriety, "PART", 20)
    assert whole.shape == (count,)
    np.testing.assert_array_equal(propriety._least_eigenvalues(eta_2), whole)
