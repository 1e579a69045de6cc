"""Arrays that are computed from their own elements, in loops: the sweep is the one in NumPy."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from replays import beside
from test_written_recursions import WRITTEN, read

import gibbsppl as gp
from gibbsppl.code.arrays import recursions
from gibbsppl.code.arrays.recursions import NOT_A_NUMBER
from gibbsppl.code.arrays.statements import Let
from gibbsppl.code.arrays.sweeps import every
from gibbsppl.code.lowering import recursions as lowered
from gibbsppl.runtime import freeze

# Recursions within loops, beside reductions over their dims, at outer dims, after other draws.
MORE = {
    "outer dims": """
        for (i in 1:2) { b[i] ~ dnorm(0, 1)  a[i,1] <- b[i]  for (t in 2:5) {
            a[i,t] <- a[i,t-1] * 0.5 + b[i] } }
        for (i in 1:2) { for (t in 1:5) { x[i,t] ~ dpois(exp(a[i,t])) } }
    """,
    "read at indices": """
        u ~ dunif(0, 1)  a[1] <- u  for (t in 2:5) { a[t] <- a[t-1] * u }
        for (t in 1:5) { k[t] ~ dcat(a[])  y[t] ~ dnorm(a[k[t]], 1) }
    """,
    "independent rates that the recursion does not read": """
        u ~ dunif(0, 1)  a[1] <- u  for (t in 2:5) { a[t] <- a[t-1] * u }
        for (t in 1:5) { r[t] ~ dnorm(0, 1)  x[1,t] ~ dpois(exp(r[t]) * a[t]) }
    """,
    "two systems of one dim": """
        u ~ dunif(0, 1)  a[1] <- u  for (t in 2:5) { a[t] <- a[t-1] * u }
        c[5] <- u  for (t in 1:4) { c[t] <- c[t+1] * a[t] + u }
        for (t in 1:5) { y[t] ~ dnorm(c[t], exp(a[t])) }
    """,
}
X = np.array([[1, 0, 2, 1, 3], [0, 1, 1, 2, 0]])
CASES = {
    **WRITTEN,
    **{name: lambda lines=lines: read(lines, x=X) for name, lines in MORE.items()},
}


def started(sampler, seed=7):
    ((chain,), _) = sampler.initial_states(1, seed)
    return chain.state, chain.rng


@pytest.mark.parametrize("name", CASES)
def test_a_sweep_in_loops_is_the_sweep_in_numpy(name):
    sampler = gp.compile(CASES[name]())
    program = sampler.loops()
    state, rng = started(sampler)

    for is_frozen in (False, False, True):
        if is_frozen:
            freeze(state)
        assert beside(sampler, state, rng, program).far == []


def test_compiled_loops_make_the_chain_of_plain_ones():
    pytest.importorskip("numba")
    sampler = gp.compile(CASES["levels of groups"]())
    program = sampler.loops()
    state, rng = started(sampler)
    chains = []
    for runner in (program.plain(), program.compiled()):
        own, stream = copy.deepcopy((state, rng))
        arrays = program.arrays_of(own)
        runner.sweep(program.arguments(stream, arrays))
        chains.append(arrays)
    plain, compiled = chains

    for array, values in plain.items():
        np.testing.assert_allclose(compiled[array], values, rtol=1e-12)


def test_what_does_not_change_is_computed_once():
    sweep = gp.compile(CASES["independent rates that the recursion does not read"]()).loops()
    made = [
        s for s in every(sweep.sweep_value.statements)
        if isinstance(s, Let) and s.value is NOT_A_NUMBER
    ]  # fmt: skip

    assert len(made) == 2  # (for candidates of u, and then for all rates)


def forgets_nothing(known, changed):
    del known, changed




def in_the_other_order(to, steps, start, stop, block=lowered._block):
    found = block(to, steps, start, stop)
    return replace(found, steps=found.steps[::-1])


PLANTED = {
    "what a system reads never changes": (
        recursions, "_forget", forgets_nothing, "BUGS: sticks"
    ),
    "no axis goes backward": (
        recursions, "negative", lambda position: position, "BUGS: from the end"
    ),
    "steps in the other order": (lowered, "_block", in_the_other_order, "compartments"),
    "an outer dim is one of its own": (recursions, "_outer", lambda *_: (), "outer dims"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_planted_bugs_are_caught(name, monkeypatch):
    module, function, wrong, case = PLANTED[name]
    sampler = gp.compile(CASES[case]())
    state, rng = started(sampler)
    monkeypatch.setattr(module, function, wrong)
    try:
        found = beside(sampler, state, rng, sampler.loops()).far
    except (ArithmeticError, IndexError, NameError, ValueError, gp.errors.RunError) as error:
        found = [str(error)]

    assert found != []
