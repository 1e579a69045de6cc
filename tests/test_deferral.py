"""Steps that only records need: which they are, that no draw reads them, when they are drawn."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from test_collapsing import IDS, NAMED, compiled

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.run.chains import Chain, advance
from gibbsppl.run.engines import Compiled, Interpreted
from gibbsppl.run.sampling import run
from gibbsppl.schedule import deferral
from models import lda

SWEEPS = 4


def seen(with_more=False):
    """Data with missing values, a prediction, what is predicted from it, quantities of these."""
    y = np.ma.masked_invalid([1.0, np.nan, 0.3, 2.0, np.nan])
    with gp.Model(coords={"i": 5}, name="seen") as m:
        mu = gp.Normal("mu", 0, sigma=10)
        tau = gp.Gamma("tau", 2, rate=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=y)
        new = gp.Normal("new", mu, tau=tau)
        gp.Poisson("count", gp.exp(new / 10))
        gp.Deterministic("twice", 2 * new)
        gp.Deterministic("precise", tau * 2)
        if with_more:
            gp.Normal("again", new, tau=tau, observed=0.3)
    return m


def topics():
    """Collapsed topics of a small corpus; shapes from 0.1 on are drawn in one order everywhere."""
    corpus = lda.bars(documents=4, length=10, side=2)
    model = lda.model(corpus=corpus, topics=3, alpha=0.5, eta=0.2)
    return gp.compile(model, **lda.WAYS["collapsed"])


def started(sampler, seed=3):
    (chain,), _ = sampler.initial_states(1, seed)
    return chain


def changed(state, names):
    """The state with other values of some variables, as far as can be."""
    found = copy.deepcopy(state)
    for name in names:
        found[name] = np.asarray(found[name]) * 0.5 + 1
    return found


def read_from(sampler):
    """What other draws read of deferred steps: the variables that these make differ."""
    program, chain = sampler.program, started(sampler)
    advance(program, sampler.constants, chain)
    own = {n for step in program.deferred for n in program.step_variables[step]}
    states = chain.state, changed(chain.state, own)
    with np.errstate(all="ignore"):
        for state in states:
            rng = np.random.default_rng(5)
            for _ in range(SWEEPS):
                program.advance(rng, state, sampler.constants, ())
    return {
        n for n in set(states[0]) - own if not n.startswith("~")
        and not np.array_equal(np.asarray(states[0][n]), np.asarray(states[1][n]))
    }  # fmt: skip


# ---- which steps they are ------------------------------------------------------------------------


def test_missing_data_and_predictions_are_deferred():
    found = gp.compile(seen()).program.deferred

    assert found == {"y": ("y",), "new": ("count", "new", "twice"), "count": ("count",)}


def test_what_a_draw_reads_is_not_deferred():
    assert "new" not in gp.compile(seen(with_more=True)).program.deferred


def test_collapsed_topics_are_drawn_when_they_are_recorded():
    sampler = topics()

    assert sampler.program.deferred == {"phi": ("phi",), "theta": ("theta",)}
    assert str(sampler).count("when recorded") == 2
    assert "when recorded" in sampler.explain("theta").splitlines()[0]
    assert "when recorded" not in sampler.explain("z")


@pytest.mark.parametrize("scan", ["random", "symmetric"])
def test_nothing_is_deferred_where_what_follows_a_step_is_not_known(scan):
    assert gp.compile(seen(), scan=scan).program.deferred == {}


def test_nothing_is_deferred_where_sweeps_are_independent():
    with gp.Model() as m:
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Normal("y", mu, sigma=1, observed=[1.0, 2.0], dims="i")

    assert gp.compile(m).program.deferred == {}


def test_what_is_moved_from_its_value_is_not_deferred():
    assert "new" in gp.compile(seen()).program.deferred
    assert "new" not in gp.compile(seen(), kernels={"new": gp.Slice()}).program.deferred


# ---- no draw reads them --------------------------------------------------------------------------


@pytest.mark.parametrize("case", IDS[::6])
def test_no_draw_reads_what_a_collapsed_model_defers(case):
    assert read_from(compiled(*NAMED[case])) == set()


@pytest.mark.parametrize("model", [seen, lambda: seen(with_more=True)])
def test_no_draw_reads_missing_data_and_predictions(model):
    assert read_from(gp.compile(model())) == set()


def test_a_draw_that_reads_what_is_deferred_is_noticed(monkeypatch):
    true = deferral.read_by

    def forgetful(schedule, step):
        return true(schedule, step) - {"b"}

    monkeypatch.setattr(deferral, "read_by", forgetful)
    monkeypatch.setenv("GIBBSPPL_CACHE", "off")

    with gp.Model() as m:
        r = gp.Gamma("r", 2, rate=1)
        for name in ("a", "b"):
            gp.Poisson(f"of_{name}", gp.Gamma(name, 2, rate=r), observed=3)
    sampler = gp.compile(m)

    assert set(sampler.program.deferred) == {"b"}
    assert read_from(sampler) == {"r", "a"}


# ---- when they are drawn -------------------------------------------------------------------------


def recorded(sampler, engine=None, **settings):
    """A run of one chain: its draws and the chain at its end."""
    starts = [started(sampler)]
    settings = {"draws": 5, "warmup": 3, **settings}
    own = (sampler.program, sampler.constants)
    return run(*own, starts, engine=engine, progress=False, **settings)


def by_hand(sampler, *, draws, warmup, thin=1, needed):
    """The states of a chain after each draw, sweep by sweep."""
    program, chain = sampler.program, started(sampler)
    found = []
    for sweep in range(1, warmup + draws * thin + 1):
        draw, between = divmod(sweep - warmup, thin)
        named = () if draw <= 0 or between else needed
        named = tuple(program.deferred) if draw == draws else named
        program.advance(chain.rng, chain.state, sampler.constants, named)
        if draw > 0 and not between:
            found.append(copy.deepcopy(chain.state))
    return found, chain


@pytest.mark.parametrize(
    ("keep", "needed"),
    [(None, ("phi", "theta")), (["theta", "z"], ("theta",)), (["z"], ())],
)
@pytest.mark.parametrize("thin", [1, 3])
def test_a_run_draws_what_its_records_need_and_all_at_its_end(keep, needed, thin):
    sampler = topics()
    found = recorded(sampler, keep=keep, thin=thin)
    states, chain = by_hand(sampler, draws=5, warmup=3, thin=thin, needed=needed)

    for name, values in found.values.items():
        assert np.array_equal(values[0], [s[name] for s in states])
    assert set(found.values) == set(keep or ("phi", "theta", "z"))
    end = found.chains[0]
    assert end.rng.bit_generator.state == chain.rng.bit_generator.state
    assert all(np.array_equal(end.state[n], chain.state[n]) for n in ("z", "theta", "phi"))


@pytest.mark.parametrize("keep", [None, ["z"], ["phi"]])
def test_loops_make_the_chain_of_numpy_whatever_is_recorded(keep):
    sampler = topics()
    engine = Compiled(sampler.loops())
    engine._runner = engine.loops.plain()
    ours, theirs = (recorded(sampler, e, keep=keep, thin=2) for e in (engine, None))

    for found, known in zip(ours.chains, theirs.chains, strict=True):
        assert found.rng.bit_generator.state == known.rng.bit_generator.state
        for name in ("z", "theta", "phi"):
            assert np.allclose(found.state[name], known.state[name], rtol=1e-9)
    for name, values in ours.values.items():
        assert np.allclose(values, theirs.values[name], rtol=1e-9)


def test_how_many_sweeps_a_call_makes_changes_no_draw():
    sampler = topics()
    runs = []
    for a_call in (1.0, 100.0):
        engine = Compiled(sampler.loops(), a_call=a_call)
        engine._runner = engine.loops.plain()
        runs.append(recorded(sampler, engine, keep=["z"], thin=2))
    one, other = (r.chains[0].state for r in runs)

    assert np.array_equal(runs[0].values["z"], runs[1].values["z"])
    assert all(np.array_equal(one[n], other[n]) for n in ("z", "theta", "phi"))


def test_a_failure_is_found_by_the_sweeps_that_were_made():
    sampler = topics()
    program = sampler.program
    made = []

    def sweep(rng, state, constants, deferred=()):
        program.sweep(rng, state, constants, deferred)
        made.append((rng.bit_generator.state["state"]["state"], deferred))
        if len(made) in (9, 16):  # (the replay begins after the warm-up)
            state["theta"] = state["theta"] * np.nan
        if len(made) == 10:
            raise ValueError("planted")

    failing = replace(program, sweep=sweep)
    with pytest.raises(RunError, match=r"theta.*in sweep 9"):
        run(failing, sampler.constants, [started(sampler)], draws=8, warmup=3, thin=2,
            keep=["theta"], progress=False)  # fmt: skip

    assert made[10:] == made[3:9]


def test_the_sweep_of_a_program_draws_everything_by_default():
    sampler = topics()
    chain, other = started(sampler), started(sampler)
    sampler.program.sweep(chain.rng, chain.state, sampler.constants)
    advance(sampler.program, sampler.constants, other, deferred=("phi", "theta"))

    assert np.array_equal(chain.state["theta"], other.state["theta"])


def test_an_interpreted_engine_leaves_out_what_is_not_recorded():
    sampler = topics()
    chain = started(sampler)
    before = chain.state["theta"].copy()
    Interpreted(sampler.program, sampler.constants).sweeps(chain, 1)

    assert np.array_equal(chain.state["theta"], before)
    assert isinstance(chain, Chain)
