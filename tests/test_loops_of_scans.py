"""Scans of labels in plain loops: the labels and the state are those of the sweep in NumPy."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import test_collapsing as declared
import test_scans as odd
from replays import beside
from test_collapsing import IDS, NAMED, compiled

import gibbsppl as gp
from gibbsppl.code.arrays.statements import Add, Choice, Draw, Loop, Store
from gibbsppl.code.loop_program import LoopProgram
from gibbsppl.errors import CompileError, RunError
from gibbsppl.run.chains import Chain
from gibbsppl.run.engines import Compiled, Interpreted
from models import lda

SWEEPS, MANY = 4, 60


def started(sampler, seed=7):
    """A state and a stream to sweep on from."""
    (chain,), _ = sampler.initial_states(1, seed)
    return chain.state, chain.rng


def far_apart(sampler, program=None, sweeps=SWEEPS):
    """What differs first between sweeps in loops and in NumPy, from one state and one stream."""
    program = sampler.loops() if program is None else program
    state, rng = started(sampler)
    differences = (beside(sampler, state, rng, program).far for _ in range(sweeps))
    return next(filter(None, differences), [])


@pytest.mark.parametrize("case", IDS)
def test_a_scan_in_loops_is_the_one_in_numpy(case):
    assert far_apart(compiled(*NAMED[case])) == []


@pytest.mark.parametrize("case", IDS)
def test_an_approximate_scan_in_loops_is_the_one_in_numpy(case):
    model, names = NAMED[case]
    scans = (s.conditional for s in compiled(model, names).schedule.steps if s.kind == "scan")
    if not any(s.recomputed for s in scans):
        assert far_apart(gp.compile(model(), collapse=names, approximate=True)) == []


@pytest.mark.parametrize("name", odd.DECLARED)
def test_odd_scans_in_loops_are_those_in_numpy(name):
    with declared.two(j=2, i=odd.LONG if "long" in name else 3) as m:
        odd.DECLARED[name]()
    try:
        sampler = gp.compile(m, collapse=("mu",))
    except CompileError:
        return
    assert far_apart(sampler) == []


def test_a_bound_that_is_infinite_is_one_in_loops():
    with declared.two(j=2, i=3) as m:
        odd.a_bound_that_is_infinite()

    assert far_apart(gp.compile(m, collapse=("mu",))) == []


@pytest.mark.parametrize("way", lda.WAYS)
def test_topics_in_loops_are_those_in_numpy(way):
    corpus = lda.bars(documents=6, length=20, side=2)
    sampler = gp.compile(lda.model(corpus=corpus, topics=7), **lda.WAYS[way])

    assert far_apart(sampler) == []


@pytest.mark.parametrize("topics", range(1, 10))
def test_any_number_of_labels_is_drawn_alike(topics):
    corpus = lda.bars(documents=2, length=10, side=2)
    sampler = gp.compile(lda.model(corpus=corpus, topics=topics), **lda.WAYS["collapsed"])

    assert far_apart(sampler) == []


def labels_from(lowest):
    """Labels that begin far from zero."""
    with gp.Model(coords={"n": 4}) as m:
        rate = gp.Gamma("rate", 2, rate=0.5, dims="n")
        z = gp.DiscreteUniform("z", lowest, lowest + 4, dims="n")
        gp.Poisson("y", rate * z, dims="n", observed=declared.COUNTED)
    return m


@pytest.mark.parametrize("lowest", [2, 9])
def test_labels_may_begin_far_from_zero(lowest):
    assert far_apart(gp.compile(labels_from(lowest), collapse=("rate",))) == []


@pytest.mark.parametrize(
    "case",
    [
        "topics-theta-phi",
        pytest.param("vectors_and_covariances-mu-cov", marks=pytest.mark.slow),
        pytest.param("gates_of_weights-b", marks=pytest.mark.slow),
    ],
)
def test_compiled_scans_draw_what_plain_ones_draw(case):
    pytest.importorskip("numba")
    program = compiled(*NAMED[case]).loops()
    chains = []
    for runner in (program.plain(), program.compiled()):
        state, stream = started(compiled(*NAMED[case]))
        arrays = program.arrays_of(copy.deepcopy(state))
        with np.errstate(all="ignore"):
            for _ in range(SWEEPS):
                runner.sweep(program.arguments(stream, arrays))
        chains.append((arrays, stream.bit_generator.state))
    (plain, stream), (other, other_stream) = chains

    assert stream == other_stream
    for array, values in plain.items():
        np.testing.assert_allclose(other[array], values, rtol=1e-9)


def test_sums_that_numpy_keeps_are_forgotten_where_loops_draw():
    sampler = compiled(*NAMED["topics-theta-phi"])
    chain = Chain(*started(sampler))
    Interpreted(sampler.program, sampler.constants).sweeps(chain, 1)
    engine = Compiled(sampler.loops())
    engine._runner = engine.loops.plain()
    assert "theta_eta_1" in chain.state

    engine.sweeps(chain, 1)

    assert "theta_eta_1" not in chain.state


# ---- planted bugs ----------------------------------------------------------------------------

PLANTED_IN = ("topics-theta-phi", "normals-w-mu", "answers-w-p", "either_of_two-low-high")


def mutants(statements, change):
    """Statements with the change made at one place inside of a scan, for each such place."""
    for n, s in enumerate(statements):
        before, after = statements[:n], statements[n + 1 :]
        if (found := change(s)) is not None:
            yield (*before, *found, *after)
        if isinstance(s, Loop):
            for body in mutants(s.body, change):
                yield (*before, replace(s, body=body), *after)
        if isinstance(s, Choice):
            for k, own in enumerate(s.bodies):
                for body in mutants(own, change):
                    bodies = (*s.bodies[:k], body, *s.bodies[k + 1 :])
                    yield (*before, replace(s, bodies=bodies), *after)


def without_a_change(s):
    return () if isinstance(s, Add) else None


def with_a_change_twice(s):
    return (s, s) if isinstance(s, Add) else None


def without_a_value_put_back(s):
    return () if isinstance(s, Store) else None


def with_the_other_kernel(s):
    other = {"labels": "label_of_weights", "label_of_weights": "labels"}
    is_drawn = isinstance(s, Draw) and s.kernel in other
    return (replace(s, kernel=other[s.kernel]),) if is_drawn else None


WRONG = (
    without_a_change,
    with_a_change_twice,
    without_a_value_put_back,
    with_the_other_kernel,
)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda f: f.__name__)
def test_planted_bugs_are_caught(wrong):
    tried, missed = 0, []
    for name in PLANTED_IN:
        sampler = compiled(*NAMED[name])
        right = sampler.loops().sweep_value
        (place,) = (n for n, s in enumerate(right.statements) if is_scan(s))
        before, after = right.statements[:place], right.statements[place + 1 :]
        for n, scan in enumerate(mutants((right.statements[place],), wrong)):
            program = LoopProgram.of(
                replace(right, statements=(*before, *scan, *after)),
                sampler.data,
                sampler.schedule.whole.sizes,
            )
            tried += 1
            if is_missed(sampler, program):
                missed.append((name, n))

    assert missed == []
    assert tried >= len(PLANTED_IN)


def is_scan(s):
    """Whether a statement is the loop of a scan."""
    drawn = (b for b in getattr(s, "body", ()) if isinstance(b, Draw))
    return any(b.kernel in {"labels", "label_of_weights"} for b in drawn)


def is_missed(sampler, program):
    """Whether sweeps are as in NumPy."""
    try:
        with np.errstate(all="ignore"):
            return far_apart(sampler, program, MANY) == []
    except (ArithmeticError, AssertionError, NameError, RunError, ValueError):
        return False
