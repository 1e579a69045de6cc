"""Large loops in chunks: the same sweep, and the same draws whatever the number of threads.

Chunks that have one stream in common, one after the other, are the loops that they are cut from.
"""

import copy
import pickle

import numpy as np
import pytest
from test_loops_of_models import sampler_of, started

import gibbsppl as gp
import models
from gibbsppl.code import parted_program
from gibbsppl.code.arrays import chunks
from gibbsppl.code.parted_program import PartedProgram, chunk_ends, in_order
from gibbsppl.errors import NotLoweredError, RunError

EVERY_DAY = (
    *("gaussian_mixture", "bayesian_matrix_factorisation", "rats", "iris", "lda", "beetles"),
    *("poisson_factorisation", "hidden_markov", "seeds", "horseshoe"),
)


@pytest.fixture
def small_chunks(monkeypatch):
    """Any loop is worth cutting."""
    monkeypatch.setattr(chunks, "OPERATIONS", 1)
    monkeypatch.setattr(chunks, "SHARE", 0)


def backwards(calls):
    """Carry out calls, the last one first."""
    in_order(reversed(calls))


def swept(parts, state, rng, each, *, apart):
    """The state after a sweep in chunks, each with a stream of its own or with the same one."""
    stream = copy.deepcopy(rng)
    streams = stream.spawn(parts.streams) if apart else [stream] * parts.streams
    arrays = {n: np.array(a) for n, a in parts.loops.arrays_of(copy.deepcopy(state)).items()}
    outputs = parts.loops.outputs()
    with np.errstate(all="ignore"):
        sweeping = parts.sweeping(parts.plain(), stream, streams, arrays, outputs)
        sweeping.sweep(each, parts.loops.sweep_value.deferred)
    return arrays


def far(sampler, state, rng):
    """What a sweep in chunks makes otherwise than one without, or backwards than forwards."""
    loops = sampler.loops()
    parts = PartedProgram(loops)
    whole = {n: np.array(a) for n, a in loops.arrays_of(copy.deepcopy(state)).items()}
    with np.errstate(all="ignore"):
        loops.plain().sweep(loops.arguments(copy.deepcopy(rng), whole))
    cut = swept(parts, state, rng, in_order, apart=False)
    one, other = (swept(parts, state, rng, each, apart=True) for each in (in_order, backwards))
    return [
        n
        for n in whole
        if not np.allclose(whole[n], cut[n], rtol=1e-9, atol=1e-12)
        or not np.array_equal(one[n], other[n])
    ]


@pytest.mark.parametrize(
    "name",
    [n if n in EVERY_DAY else pytest.param(n, marks=pytest.mark.slow) for n in models.NAMES],
)
@pytest.mark.usefixtures("small_chunks")
def test_chunks_one_after_the_other_are_the_loop(name):
    sampler = sampler_of(name)
    try:
        assert sampler.loops().module
    except NotLoweredError as error:
        pytest.skip(str(error))

    assert far(sampler, *started(sampler, 1)) == []


def mixture(n=40):
    """Numbers about two means."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=n) + 4 * rng.integers(2, size=n)
    return models.gaussian_mixture.model(y, 2)


PLANTED = {
    "sums that all chunks add to": (chunks, "_is_apart", lambda *_: True),
    "sums of chunks are left out": (
        parted_program.Step, "carry_out", lambda step, each: each(step.calls),
    ),
    "a position in two chunks": (
        parted_program,
        "chunk_ends",
        lambda start, stop, count: [
            (max(start, a - 1), b) for a, b in chunk_ends(start, stop, count)
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("bug", PLANTED)
@pytest.mark.usefixtures("small_chunks")
def test_chunks_that_are_wrong_are_found(bug, monkeypatch):
    sampler = gp.compile(mixture(300))
    start = started(sampler, 3)
    assert far(sampler, *start) == []

    monkeypatch.setattr(*PLANTED[bug])
    assert far(sampler, *start)


def drawn(model, threads, **settings):
    return gp.compile(model).sample(
        6, warmup=2, chains=2, seed=5, thin=2, threads=threads, progress=False, **settings
    )


@pytest.mark.usefixtures("small_chunks")
def test_draws_do_not_depend_on_the_number_of_threads():
    pytest.importorskip("numba")
    first, *others = (drawn(mixture(400), n) for n in (1, 2, 4))

    assert first.attributes["backend"] == "compiled"
    assert first.attributes["streams"] > 2
    for other in others:
        assert all((other[n] == first[n]).all() for n in first)
        assert {n: x for n, x in other.attributes.items() if "seconds" not in n} == {
            n: x for n, x in first.attributes.items() if "seconds" not in n
        }


@pytest.mark.usefixtures("small_chunks")
def test_chunks_compiled_are_the_chunks_as_python_carries_them_out():
    pytest.importorskip("numba")
    sampler = gp.compile(mixture(300))
    parts = PartedProgram(sampler.loops())
    state, rng = started(sampler, 1)
    found = []
    for functions in (parts.plain(), parts.compiled()):
        own = copy.deepcopy(rng)
        arrays = {n: np.array(a) for n, a in parts.loops.arrays_of(state).items()}
        sweeping = parts.sweeping(functions, own, own.spawn(parts.streams), arrays, {})
        for _ in range(3):
            sweeping.sweep(in_order)
        found.append(arrays)

    assert (found[0]["z"] == found[1]["z"]).all()
    for name, array in found[0].items():
        np.testing.assert_allclose(found[1][name], array, rtol=1e-12)


def test_small_loops_have_no_chunks_and_draws_are_those_of_one_stream():
    sampler = gp.compile(mixture())
    state, rng = started(sampler, 1)

    assert PartedProgram(sampler.loops()).streams == 0
    assert far(sampler, state, rng) == []


def test_the_number_of_chunks_follows_from_the_sizes_of_a_model():
    large, larger = (PartedProgram(gp.compile(mixture(n)).loops()) for n in (100_000, 400_000))
    cut = next(f.span for f in large.module.functions if f.span is not None)

    assert 2 <= large.streams < larger.streams <= chunks.MOST
    assert cut.dim.endswith("block")


@pytest.mark.usefixtures("small_chunks")
def test_a_chain_with_streams_goes_on_as_if_it_had_never_stopped():
    pytest.importorskip("numba")
    from gibbsppl.run.chains import Chain
    from gibbsppl.run.engines import Threaded

    sampler = gp.compile(mixture(300))
    (chain,), _ = sampler.initial_states(1, 3)
    engine = Threaded(sampler.loops(), threads=2)
    engine.sweeps(chain, 1)
    other: Chain = pickle.loads(pickle.dumps(chain))
    engine.sweeps(chain, 1)
    Threaded(sampler.loops(), threads=1).sweeps(other, 1)

    assert all((np.asarray(chain.state[n]) == other.state[n]).all() for n in chain.state)


def test_threads_are_those_of_compiled_loops(monkeypatch):
    with pytest.raises(RunError, match="threads: found 2 with backend='numpy', expected compiled"):
        drawn(mixture(), 2, backend="numpy")
    with pytest.raises(RunError, match="threads: found 0, expected a whole number from 1 on"):
        drawn(mixture(), 0)
    monkeypatch.setattr("gibbsppl.run.choice.is_installed", lambda: False)
    with pytest.raises(RunError, match=r"threads=2 needs: pip install \"gibbsppl\[fast\]\""):
        drawn(mixture(), 2)


@pytest.mark.usefixtures("small_chunks")
def test_what_is_computed_of_the_state_is_recorded_with_the_draws():
    pytest.importorskip("numba")
    with gp.Model(coords={"i": 6}) as model:
        mu = gp.Normal("mu", 0, sigma=1, dims="i")
        gp.Normal("y", mu, sigma=1, dims="i", observed=np.arange(6.0))
        gp.Deterministic("twice", 2 * mu)
        gp.Deterministic("all", gp.sum(mu, "i"))
    draws = drawn(model, 2)

    assert draws.attributes["streams"] == 6
    np.testing.assert_allclose(draws["twice"], 2 * draws["mu"], rtol=1e-15)
    np.testing.assert_allclose(draws["all"], draws["mu"].sum(axis=-1), rtol=1e-12)
    assert len(np.unique(draws["mu"])) == draws["mu"].size
