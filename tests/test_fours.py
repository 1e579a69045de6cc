"""Sums of vectors over members of groups, four at a time: groups of every size, what is left."""

from dataclasses import replace

import numpy as np
import pytest
from replays import beside
from test_loops_of_models import started

import gibbsppl as gp
from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Number,
    Position,
    Span,
    product,
)
from gibbsppl.code.arrays.fours import in_fours
from gibbsppl.code.arrays.statements import Add, Let, Loop
from gibbsppl.code.arrays.sweeps import Sweep
from gibbsppl.code.loop_program import PASSES, for_loops
from gibbsppl.code.lowering.sweeps import lowered
from models import bayesian_matrix_factorisation

K, N = Span.whole("k"), Position("n")
START, STOP = (Element("starts", (i,)) for i in (Position("g"), Position("g", 1)))
MEMBERS = Span("n", START, STOP)


def row(index):
    """An element of a table, looked up by member."""
    return Element("x", (Element("look", (index,)), Position("k")))


def factorisation(counts=(0, 1, 3, 4, 5, 8, 9)):
    """Ratings of which judges have given so many."""
    rng = np.random.default_rng(2)
    judge = np.repeat(np.arange(len(counts)), counts)
    quality = np.concatenate([rng.permutation(max(counts))[:n] for n in counts])
    ratings = judge, quality, rng.normal(size=len(judge))
    names = range(len(counts)), range(max(counts))
    return bayesian_matrix_factorisation.model(ratings, names, factors=3, level=0)


def sweep_of(*statements):
    """A sweep of some statements."""
    return Sweep("test", {}, statements)


def test_members_are_added_four_at_a_time_and_the_rest_one_by_one():
    total = Add("sum", (Position("k"),), row(N), (K,))
    given = sweep_of(Let("sum", (K,), ZERO), Loop((MEMBERS,), (total,)))

    _, first, rest = in_fours(given).statements

    assert str(first) == (
        "add sum[k] += x[look[starts[g] + 4 * n_fours], k]"
        " + x[look[starts[g] + 4 * n_fours + 1], k]"
        " + x[look[starts[g] + 4 * n_fours + 2], k]"
        " + x[look[starts[g] + 4 * n_fours + 3], k]"
        "  for n_fours in 0..(starts[g + 1] - starts[g]) // 4, k"
    )
    assert str(rest) == (
        "add sum[k] += x[look[n], k]  for n in "
        "starts[g] + (starts[g + 1] - starts[g]) // 4 * 4..starts[g + 1], k"
    )


@pytest.mark.parametrize(
    "added",
    [
        Add("sum", (), row(N), (MEMBERS,)),
        Add("sum", (N, Position("k")), row(N), (MEMBERS, K)),
        Add("sum", (Position("k"),), row(N), (Span.whole("n"), K)),
        Add("sum", (Position("k"),), row(N), (MEMBERS, K), by="max"),
        Add("sum", (Position("k"),), product([row(N), Element("sum", (N,))]), (MEMBERS, K)),
        Loop((MEMBERS,), (Let("y", (K,), row(N)), Add("sum", (Position("k"),), row(N), (K,)))),
    ],
    ids=["a number", "by member", "no group", "the largest", "of itself", "more"],
)
def test_other_sums_stay(added):
    assert in_fours(sweep_of(added)).statements == (added,)


def test_groups_of_every_size_are_added_up():
    sampler = gp.compile(factorisation(), blocks=False)
    program = sampler.loops()
    state, rng = started(sampler)

    assert "_fours" in str(program.sweep_value)
    for _ in range(2):
        assert beside(sampler, state, rng, program).far == []


def test_members_that_are_left_out_are_seen():
    sampler = gp.compile(factorisation(), blocks=False)
    state, rng = started(sampler)
    sweep = for_loops(lowered(sampler.schedule, sampler.data, sampler.constants), {}, {})
    rest = [
        s
        for s in sweep.statements
        if isinstance(s, Add) and any(isinstance(x.start, Apply) for x in s.over)
    ]
    wrong = replace(sweep, statements=tuple(s for s in sweep.statements if s not in rest))

    assert in_fours is PASSES[-1]
    assert len(rest) == 4
    assert beside(sampler, state, rng, replace(sampler.loops(), sweep_value=wrong)).far


def test_four_is_no_number_of_the_data():
    total = Add("sum", (Position("k"),), row(N), (MEMBERS, K))
    first, _ = in_fours(sweep_of(total)).statements

    assert first.over[0].stop.parts[1] == Number(4, stays=True)
