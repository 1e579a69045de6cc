"""Monitors: statistics without draws are those of draws, whoever makes them, and where it stops."""

import copy
import pickle
import signal
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.code.program import load
from gibbsppl.errors import RunError
from gibbsppl.run import segments, workers
from gibbsppl.run.accumulators import BATCHES, Accumulator, batch_length
from gibbsppl.run.beginning import Size, beginning, start_of
from gibbsppl.run.chains import Chain, streams
from gibbsppl.run.distributions import PROBABILITIES, SHARES, Markers
from gibbsppl.run.engines import Interpreted
from gibbsppl.run.monitoring import Plain, Watched
from gibbsppl.run.ready import Ready, Records
from gibbsppl.run.sampling import carried_out
from gibbsppl.run.shown import Shown
from gibbsppl.run.stores import InMemory
from gibbsppl.runtime.loops import markers
from gibbsppl.sampling.pooling import pooled

SILENT = Shown(progress=False)
RNG = partial(np.random.default_rng, 1)

# A walk in some dimensions, with a label, a step that is carried out when it is recorded alone, and
# quantities of them.
WALK = """
import os, signal
import numpy as np
from gibbsppl import runtime
def prepare(data): return dict(data)
def x_given_rest(s, c): return 0.9 * s["x"], 1.0
def z_given_rest(s, c): return 0.5
def later_given_rest(s, c): return s["x"], 1.0
def sweep(rng, s, c, deferred=("later",)):
    s["x"] = rng.normal(*x_given_rest(s, c))
    s["z"] = rng.integers(1, 4, size=2)
    MORE
    if "later" in deferred: s["later"] = rng.normal(*later_given_rest(s, c))
def deterministics(s, c):
    return {"square": s["x"] ** 2, "odd": np.where(s["x"] > -5, s["x"], np.nan), "one": np.ones(2)}
STEPS = (
    runtime.Step("x", ("x",), x_given_rest),
    runtime.Step("z", ("z",), z_given_rest),
    runtime.Step("later", ("later",), later_given_rest, deferred=("later",)),
)
"""


def first(state):
    return state["later"][:2] * state["z"]


WATCHED = {
    "x": Watched("x"),
    "z": Watched("z", values=range(1, 4)),
    "later": Watched("later"),
    "square": Watched("square"),
    "first": Watched(Plain(first)),
}


def begun(watched=None, more="pass", chains=3, size=5, keep=("x",), data=None, draws=150):
    """The beginning of a run, and its chains at their starts."""
    program = load(WALK.replace("MORE", more))
    constants = program.prepare(data or {})
    state = {"x": np.zeros(size), "z": np.ones(2, int), "later": np.zeros(size), "n": 0}
    starts = [Chain(dict(state), rng) for rng in streams(1, chains)]
    for number, chain in enumerate(starts):
        chain.state["which"] = number
    engine = Interpreted(program, constants)
    records = Records.of(keep, WATCHED if watched is None else watched)
    ready = Ready(program, constants, starts, engine, {"z": np.int8}, records)
    found = beginning(ready, Size(draws, 30, 2), None)
    return found, start_of(starts)


def ran(*args, pool=None, **settings):
    """The result of a run."""
    run, so_far = begun(*args, **settings)
    store = InMemory((len(so_far.positions), run.job.recording.draws))
    return carried_out(run, so_far, store, pool=pool, shown=SILENT)


def told(accumulator):
    """All numbers of an accumulator."""
    return pickle.dumps(accumulator)


def same(one, other):
    """Whether two results have the same statistics, bit by bit."""
    return one.keys() == other.keys() and all(
        [told(a) for a in one[n]] == [told(a) for a in other[n]] for n in one
    )


def statistics(result):
    """What monitors have found, of all chains."""
    return {n: pooled(chains, (), {}) for n, chains in result.monitored.items()}


@pytest.fixture(scope="module")
def whole():
    """A run that keeps what it monitors, too."""
    return ran(keep=("x", "z", "later", "square"))


# ---- the statistics of the draws --------------------------------------------------------------


def drawn(result):
    """The draws of what is monitored, with axes (chain, draw, ...)."""
    found = {n: np.asarray(a, dtype=float) for n, a in result.values.items()}
    return found | {"first": found["later"][..., :2] * found["z"]}


@pytest.mark.parametrize("name", WATCHED)
def test_means_variances_and_covariances_are_those_of_the_draws(whole, name):
    found, x = statistics(whole)[name], drawn(whole)[name]
    rows = x.reshape(-1, *x.shape[2:])

    np.testing.assert_allclose(found.mean, rows.mean(axis=0), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.var, rows.var(axis=0, ddof=1), rtol=1e-12)
    np.testing.assert_allclose(found.covariance, np.cov(rows.T), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.by_chain["mean"], x.mean(axis=1), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.by_chain["var"], x.var(axis=1, ddof=1), rtol=1e-12)
    assert found.counts.tolist() == [150, 150, 150]


def by_hand(x):
    """R-hat and the error of the mean, from draws: 150 of each chain are 4 batches of 32."""
    batches = x[:, :128].reshape(x.shape[0], 4, 32, -1).mean(axis=2)
    of_all = batches.reshape(-1, batches.shape[2]).var(axis=0, ddof=1)
    error = np.sqrt(of_all * 32 / x[:, :, 0].size)
    halves = np.concatenate([batches[:, :2].mean(axis=1), batches[:, 2:].mean(axis=1)])
    within = x.var(axis=1, ddof=1).mean(axis=0)
    return np.sqrt(halves.var(axis=0, ddof=1) / within + 63 / 64), error


def test_r_hat_and_the_error_of_the_mean_are_those_of_batches_and_halves(whole):
    found, x = statistics(whole)["x"], drawn(whole)["x"]
    r_hat, error = by_hand(x)

    np.testing.assert_allclose(found.r_hat, r_hat, rtol=1e-12)
    np.testing.assert_allclose(found.mcse, error, rtol=1e-10)


def expected_of_batches(length, complete, chains):
    """The mean of the variance of batch means of such walks: of each two, less what they share."""
    lag = np.abs(np.subtract.outer(*2 * [np.arange(length * complete)]))
    covariance = 0.81**lag / (1 - 0.9**2)
    blocks = covariance.reshape(complete, length, complete, length).mean(axis=(1, 3))
    many = chains * complete
    shared = chains * (blocks.sum() - np.trace(blocks)) / (many * (many - 1))
    return np.trace(blocks) / complete - shared


def test_the_error_of_the_mean_is_that_of_batches_of_a_walk_on_average():
    """Of 100 elements, each of which has 3 times 6 batches of 128 draws, 2 sweeps apart."""
    one = statistics(ran({"x": Watched("x")}, size=100, draws=800))["x"]
    length = batch_length(800)
    complete = 800 // length
    found = np.mean(one.mcse**2) * one.draws / length

    freedom = 100 * (3 * complete - 1)
    assert abs(found / expected_of_batches(length, complete, 3) - 1) < 4 * np.sqrt(2 / freedom)


def test_chains_that_disagree_have_a_large_r_hat_and_a_large_error():
    x = RNG().normal(size=(4, 1000, 1)) + 3 * np.arange(4)[:, None, None]
    chains = [Accumulator.of((1,), None, noisy=False) for _ in x]
    for own, chain in zip(chains, x, strict=True):
        own.add(chain)
    found = pooled(chains, ("i",), {})

    assert found.r_hat > 2
    assert found.mcse > 10 * x.std() / np.sqrt(x.size)


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 100, 1000, 1023, 1024])
def test_batches_are_means_of_consecutive_draws(count):
    x = RNG().normal(size=(count, 2)) + 1e8
    one = Accumulator.of((2,), None, noisy=False)
    one.add(x)
    length = batch_length(count)
    complete = count // length

    assert min(count, BATCHES // 2) <= complete < BATCHES
    expected = x[: complete * length].reshape(complete, length, 2).mean(axis=1)
    np.testing.assert_allclose(one.batches[:complete], expected, rtol=1e-14)


# ---- quantiles --------------------------------------------------------------------------------


def quantiles_of(x, *, compiled=False):
    """The quantiles of draws with axes (draw, element), told in blocks of different lengths."""
    one, start = Accumulator.of(x.shape[1:], None, noisy=False), 0
    for length in np.resize([1, 7, 50], len(x)):
        if start >= len(x):
            break
        with np.errstate(all="ignore"):  # (squares of large numbers are none)
            one.add(x[start : start + length], compiled=compiled)
        start += length
    return np.stack(list(pooled([one], ("i",), {}).quantiles.values()))


@pytest.mark.parametrize("count", range(1, len(SHARES) + 1))
def test_quantiles_of_few_draws_are_exact(count):
    x = RNG().normal(size=(count, 3))

    np.testing.assert_allclose(quantiles_of(x), np.quantile(x, PROBABILITIES, axis=0), rtol=1e-12)


def correlated(x, share=0.9):
    for k in range(1, len(x)):
        x[k] = share * x[k - 1] + np.sqrt(1 - share**2) * x[k]
    return x


KINDS = {
    "normal": lambda rng, size: rng.normal(size=size),
    "correlated": lambda rng, size: correlated(rng.normal(size=size)),
    "at 1e8": lambda rng, size: rng.normal(size=size) + 1e8,
    "large": lambda rng, size: 1e300 * rng.normal(size=size),
    "small": lambda rng, size: 1e-300 * rng.normal(size=size),
    "skew": lambda rng, size: rng.gamma(0.5, size=size),
    "whole numbers": lambda rng, size: rng.poisson(50, size=size).astype(float),
}


@pytest.mark.parametrize("kind", KINDS)
def test_quantiles_are_as_good_as_those_of_a_quarter_of_the_draws(kind):
    """Errors are those of 400 elements of one distribution, whose quantiles all draws tell."""
    x = KINDS[kind](RNG(), (1500, 400))
    true = np.quantile(x, PROBABILITIES, axis=None)[:, None]
    scale = np.ptp(true)
    found = np.sqrt(np.mean(((quantiles_of(x) - true) / scale) ** 2, axis=1))
    exact = np.sqrt(np.mean(((np.quantile(x, PROBABILITIES, axis=0) - true) / scale) ** 2, axis=1))

    assert (found <= 2 * exact + 1e-12).all()


def test_a_marker_that_moves_the_wrong_way_would_be_found(monkeypatch):
    right = markers.stepped
    monkeypatch.setattr(markers, "stepped", lambda b, o, a, w: right(b, o, a, 2 * o[1] - w))

    with pytest.raises(AssertionError):
        test_quantiles_are_as_good_as_those_of_a_quarter_of_the_draws("normal")


def test_compiled_markers_are_those_of_numpy_bit_by_bit():
    x = RNG().normal(size=(200, 30))
    x[:, :10] = np.round(x[:, :10])

    np.testing.assert_array_equal(quantiles_of(x, compiled=True), quantiles_of(x))


@pytest.mark.parametrize("watched", WATCHED)
def test_the_bytes_of_accumulators_are_known_beforehand(watched):
    run, _ = begun({watched: WATCHED[watched]}, size=60)
    (monitor,) = run.job.monitors.monitors

    assert monitor.nbytes == monitor.empty.nbytes


def test_draws_in_order_leave_markers_where_they_should_be():
    one = Markers.of(1)
    one.add(np.arange(2001.0)[:, None], 0)

    # (a marker moves when it is a whole place off)
    assert (np.abs(one.heights[0] - 2000 * SHARES) <= 1).all()
    assert one.places[0, [0, -1]].tolist() == [1, 2001]


def test_constants_have_themselves_as_quantiles_and_no_r_hat():
    found = statistics(ran({"one": Watched("one")}))["one"]

    for x in (found.mean, *found.quantiles.values()):
        assert x.tolist() == [1.0, 1.0]
    assert found.sd.tolist() == found.mcse.tolist() == [0.0, 0.0]
    assert np.isnan(found.r_hat).all()


def test_chains_of_one_value_each_have_quantiles_among_these():
    chains = [Accumulator.of((), None, noisy=False) for _ in range(3)]
    for value, own in enumerate(chains):
        own.add(np.full(50, float(value)))

    assert pooled(chains, (), {}).quantiles == {0.05: 0.0, 0.5: 1.0, 0.95: 2.0}


def test_labels_are_counted(whole):
    found, z = statistics(whole)["z"], drawn(whole)["z"]

    assert found.values.tolist() == [1, 2, 3]
    shares = np.stack([(z == v).mean(axis=(0, 1)) for v in (1, 2, 3)], axis=-1)
    np.testing.assert_allclose(found.probabilities, shares, rtol=1e-12)
    exact = np.quantile(z, PROBABILITIES, axis=(0, 1), method="inverted_cdf")
    np.testing.assert_array_equal(np.stack(list(found.quantiles.values())), exact)


def test_a_label_that_the_model_does_not_have_is_told():
    with pytest.raises(RunError, match="found the value 3, expected whole numbers from 1 to 2"):
        ran({"z": Watched("z", values=range(1, 3))})


def test_what_is_no_number_somewhere_has_no_statistics_there():
    result = ran({"odd": Watched("odd")}, size=30, draws=20)
    found, bad = statistics(result)["odd"], (result.values["x"] <= -5).any(axis=(0, 1))

    assert bad.any()
    assert not bad.all()
    for x in (found.mean, found.sd, found.r_hat, found.mcse, *found.quantiles.values()):
        np.testing.assert_array_equal(np.isnan(x), bad)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_numbers_far_from_one_keep_their_digits(scale):
    x = scale * RNG().normal(size=(100, 2))
    one = Accumulator.of((2,), None, noisy=False)
    one.add(x)

    np.testing.assert_allclose(pooled([one], ("i",), {}).sd, x.std(axis=0, ddof=1), rtol=1e-12)


# ---- the same whoever makes them --------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [(1, 10.0), (2000, 10.0), (1 << 24, 0.0)],
    ids=["one draw at a time", "some", "segments of a sweep"],
)
def test_statistics_do_not_depend_on_where_segments_end(monkeypatch, whole, limit, seconds):
    monkeypatch.setattr(segments, "BYTES_AT_MOST", limit)
    monkeypatch.setattr(workers, "SECONDS_HERE", seconds)
    found = ran()

    assert same(found.monitored, whole.monitored)
    assert list(found.values) == ["x"]
    np.testing.assert_array_equal(found.values["x"], whole.values["x"])


def test_a_draw_that_is_left_out_would_be_found(monkeypatch, whole):
    right = Accumulator.add
    monkeypatch.setattr(segments, "BYTES_AT_MOST", 2000)

    def less(self, draws, noise=None, *, compiled=False):
        right(self, draws[: max(1, len(draws) - 1)], noise, compiled=compiled)

    monkeypatch.setattr(Accumulator, "add", less)
    with pytest.raises(AssertionError):
        test_statistics_do_not_depend_on_where_segments_end(monkeypatch, whole, 2000, 10.0)


def test_threads_find_the_same_statistics(monkeypatch, whole):
    monkeypatch.setattr(workers, "SECONDS_ELSEWHERE", 0.0)
    found = ran(pool=workers.Given(ThreadPoolExecutor(2)))

    assert same(found.monitored, whole.monitored)


def test_monitors_change_no_draw(whole):
    """Those of what is carried out for records do, as if they were kept."""
    found = ran({"x": WATCHED["x"], "first": WATCHED["first"]})

    np.testing.assert_array_equal(found.values["x"], whole.values["x"])
    np.testing.assert_array_equal(
        ran({"x": WATCHED["x"]}).values["x"], ran({}).values["x"]
    )


# ---- runs that stop ---------------------------------------------------------------------------


STOPS = """s['n'] += 1
    if s['n'] == c['at'] and s['which'] == 1 and c['left'].pop():
        signal.raise_signal(signal.SIGINT)"""
# (two at once: it stops in the midst of a sweep)
CUTS = STOPS.replace("  signal.raise", "  signal.raise_signal(signal.SIGINT); signal.raise")


@pytest.mark.parametrize("more", [STOPS, CUTS], ids=["asked", "cut"])
@pytest.mark.parametrize("at", [150, 251])
def test_a_run_that_stops_goes_on_with_the_statistics_it_had(monkeypatch, whole, more, at):
    goes_on(monkeypatch, whole, more, at, seconds=0.0)  # (so that no chain is done by then)


def goes_on(monkeypatch, whole, more, at, seconds):
    monkeypatch.setattr(workers, "SECONDS_HERE", seconds)
    run, so_far = begun(more=more, data={"at": at, "left": [False, True]})
    kept = []

    class Keeper:
        def is_due(self):
            return False

        def keep(self, so_far):
            kept.append(copy.deepcopy(so_far))

    store = InMemory((3, 150))
    cut = carried_out(run, so_far, store, shown=SILENT, keeper=Keeper())
    drawn = {p.drawn for p in kept[-1].positions}
    assert cut.interrupted
    assert all(c.count in drawn for chains in cut.monitored.values() for c in chains)
    found = carried_out(run, kept[-1].at(run.job), store, shown=SILENT)

    assert same(found.monitored, whole.monitored)
    np.testing.assert_array_equal(found.values["x"], whole.values["x"])


@pytest.mark.parametrize(
    ("limit", "seconds"), [(1000, 10.0), (1 << 24, 0.0)], ids=["within a segment", "at its end"]
)
def test_ctrl_c_while_draws_are_added_up_loses_none(monkeypatch, whole, limit, seconds):
    monkeypatch.setattr(segments, "BYTES_AT_MOST", limit)
    monkeypatch.setattr(workers, "SECONDS_HERE", seconds)
    right, left = Accumulator.add, [True]

    def interrupted(self, draws, noise=None, *, compiled=False):
        right(self, draws, noise, compiled=compiled)
        if self.count > 30 and left:
            left.clear()
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Accumulator, "add", interrupted)
    cut = ran(chains=1)

    draws = cut.values["x"].shape[1]
    assert cut.interrupted
    np.testing.assert_array_equal(cut.values["x"], whole.values["x"][:1, :draws])
    assert {c.count for of in cut.monitored.values() for c in of} == {draws}


def test_draws_lost_by_ctrl_c_would_be_found(monkeypatch, whole):
    monkeypatch.setattr(segments, "held_back", nullcontext)
    with pytest.raises(AssertionError):
        test_ctrl_c_while_draws_are_added_up_loses_none(monkeypatch, whole, 1000, 10.0)


def test_draws_counted_twice_after_a_cut_would_be_found(monkeypatch, whole):
    def forgetful(self, job):
        own = (self.chain, self.before, self.draws_at_chain(job), self.is_warm)
        return segments.Position(*own, None, self.monitored)

    monkeypatch.setattr(segments.Position, "at_its_chain", forgetful)
    with pytest.raises(AssertionError):
        goes_on(monkeypatch, whole, CUTS, 251, seconds=0.01)


class Failing(ThreadPoolExecutor):
    """An executor that carries out nothing for one chain, after a while."""

    def submit(self, function, /, key, payload, number, position, *args):
        if number == 1 and position.drawn > 50:
            raise RuntimeError("no more")
        return super().submit(function, key, payload, number, position, *args)


def test_statistics_are_those_of_the_chains_that_are_kept(monkeypatch, whole):
    monkeypatch.setattr(workers, "SECONDS_ELSEWHERE", 0.0)
    found = ran(pool=workers.Given(Failing(2)))

    assert "chain 1 is lost" in found.interrupted
    expected = {n: (chains[0], chains[2]) for n, chains in whole.monitored.items()}
    chains, draws = found.values["x"].shape[:2]
    assert (chains, draws) == (2, 150)
    assert same(found.monitored, expected)


def test_ctrl_c_waits_for_what_is_added_up():
    done = []

    def adding():
        with segments.held_back():
            signal.raise_signal(signal.SIGINT)
            done.append(1)

    with pytest.raises(KeyboardInterrupt):
        adding()
    assert done == [1]


# ---- what is asked for ------------------------------------------------------------------------


def model(n=4):
    """Counts of groups with labels, whose levels are what is looked for."""
    with gp.Model(coords={"i": ["a", "b", "c", "d"][:n], "k": 2}, name="small") as found:
        share = gp.Dirichlet("share", 1, dims="k")
        level = gp.Normal("level", 0, sigma=10, dims="k")
        z = gp.Categorical("z", share, dims="i")
        gp.Normal("y", level[z], sigma=1, dims="i", observed=[9.0, 0.2, 1.0, 8.5][:n])
        gp.Deterministic("gap", level[0] - level[1])
    return found


SETTINGS = {"draws": 60, "warmup": 20, "chains": 2, "seed": 1, "progress": False}


def shifted(state):
    return state["level"] + 1


@pytest.fixture(scope="module")
def sampler():
    return gp.compile(model())


@pytest.mark.parametrize("backend", ["numpy", "compiled"])
def test_names_functions_and_predictions_are_monitored(sampler, backend):
    asked = {"z": "z", "gap": "gap", "more": shifted, "y": gp.predictive("y", new={})}
    settings = {**SETTINGS, "backend": backend}
    draws, full = sampler.sample(**settings, monitor=asked), sampler.sample(**settings)
    found = draws.monitored

    assert list(draws) == ["share", "level"]
    np.testing.assert_array_equal(draws["level"], full["level"])
    assert found["z"].probabilities.shape == (4, 2)
    np.testing.assert_allclose(found["more"].mean, full["level"].mean((0, 1)) + 1, rtol=1e-12)
    np.testing.assert_allclose(found["gap"].mean, full["gap"].mean(), rtol=1e-10)
    expected = sampler.predict(full, new={}, name="y")
    np.testing.assert_allclose(found["y"].mean, expected.mean, rtol=1e-10)
    np.testing.assert_allclose(found["y"].predictive_variance, expected.variance, rtol=1e-10)
    assert (found["z"].dims, found["more"].dims, found["y"].dims) == (
        ("i",), ("more_dim_0",), ("i",)
    )  # fmt: skip
    assert "z (i: 4), monitored" in repr(draws)
    assert [name in repr(found) for name in ("z[a]", "y[d]", "level")] == [True, True, False]


def test_both_back_ends_find_the_same(sampler):
    found = [
        sampler.sample(**SETTINGS, backend=b, monitor=["level", "z"]).monitored
        for b in ("numpy", "compiled")
    ]
    for name in ("level", "z"):
        one, other = (f[name].arrays for f in found)
        for key, (_, array) in one.items():
            np.testing.assert_allclose(array, other[key][1], rtol=1e-9, err_msg=key)


def test_processes_find_the_same_statistics(sampler):
    """With effects at new positions, which are drawn anew for each draw."""
    asked = ["z", "gap", gp.predictive("y", new={"i": 3})]
    here = sampler.sample(**SETTINGS, backend="numpy", monitor=asked, cores=1)
    there = sampler.sample(**SETTINGS, backend="numpy", monitor=asked, cores=2)

    for name in here.monitored:
        for key, (_, array) in here.monitored[name].arrays.items():
            np.testing.assert_array_equal(array, there.monitored[name].arrays[key][1])


def test_what_keep_names_is_kept_as_well(sampler):
    draws = sampler.sample(**SETTINGS, monitor="level", keep=["level"])

    np.testing.assert_allclose(draws.monitored["level"].mean, draws["level"].mean((0, 1)))


ASKED = {"z": "z", "more": shifted, "y": gp.predictive("y", new={"i": 3})}


def have_the_same(one, other):
    """Whether two draws have the same statistics, bit by bit."""
    assert list(one.monitored) == list(other.monitored)
    for name in one.monitored:
        for key, (_, array) in one.monitored[name].arrays.items():
            np.testing.assert_array_equal(array, other.monitored[name].arrays[key][1])


@pytest.mark.parametrize("is_saved", [False, True], ids=["in memory", "saved"])
def test_a_run_that_is_extended_has_the_statistics_of_a_longer_one(sampler, tmp_path, is_saved):
    settings = {**SETTINGS, "backend": "numpy", "monitor": ASKED}
    draws = sampler.sample(**{**settings, "draws": 40})
    if is_saved:
        draws.save(tmp_path / "draws.nc")
        draws = gp.load_draws(tmp_path / "draws.nc")
    longer = sampler.extend(draws, more=20, monitor=ASKED, progress=False)

    have_the_same(longer, sampler.sample(**settings))
    have_the_same(sampler.extend(draws, more=20, monitor=ASKED, progress=False), longer)
    with pytest.raises(RunError, match="found nothing, expected z, more, y"):
        sampler.extend(draws, more=20)


def test_a_run_in_a_folder_has_the_same_statistics(sampler, tmp_path):
    settings = {**SETTINGS, "backend": "numpy", "monitor": ASKED}
    draws = sampler.sample(**settings, checkpoint=tmp_path / "run")

    have_the_same(draws, sampler.sample(**settings))
    have_the_same(gp.load_draws(tmp_path / "run"), draws)
    have_the_same(gp.resume(tmp_path / "run", progress=False), draws)


def test_a_tempered_run_monitors_the_state_at_power_one(sampler):
    settings = {**SETTINGS, "temper": 3, "backend": "numpy"}
    draws, full = sampler.sample(**settings, monitor="level"), sampler.sample(**settings)

    np.testing.assert_allclose(draws.monitored["level"].mean, full["level"].mean((0, 1)))
    assert "level" not in draws


@pytest.mark.parametrize("way", ["h5netcdf", "xarray"])
def test_a_file_has_what_was_monitored(sampler, tmp_path, monkeypatch, way):
    asked = {"z": "z", "level": "level", "y": gp.predictive("y", new={"i": 7})}
    draws = sampler.sample(**SETTINGS, monitor=asked)
    if way == "xarray":
        monkeypatch.setattr("gibbsppl.output.netcdf.written", lambda _: None)
    draws.save(tmp_path / "draws.nc")
    found = gp.load_draws(tmp_path / "draws.nc").monitored

    assert repr(found) == repr(draws.monitored)
    assert list(found) == ["z", "level", "y"]
    for name, one in draws.monitored.items():
        assert {n: dims for n, (dims, _) in one.arrays.items()} == {
            n: dims for n, (dims, _) in found[name].arrays.items()
        }
        for key, (_, array) in one.arrays.items():
            np.testing.assert_allclose(found[name].arrays[key][1], array, rtol=1e-14)
    assert found["y"].predictive_sd.shape == (7,)


WRONG = {
    "expected names among": "levels",
    "Did you mean 'level'": "levels",
    "found 3, expected names of variables, functions": [3],
    "which has no name": [lambda state: state["level"]],
    "found 'nothing' asked of the state, expected names, among": {"f": lambda s: s["nothing"]},
    "reads nothing of the state": {"f": lambda s: 1.0},
    "found 'high' at the start, expected a number": {"f": lambda s: [s["level"], "high"][1]},
    "it failed at the start \\(ZeroDivisionError": {"f": lambda s: 1 // len(s["level"][:0])},
    "expected finite numbers": {"f": lambda s: np.log(s["level"] * 0 - 1)},
    "found an array of shape \\(1,\\)": {"f": lambda s: s["level"][: 1 + (s["level"][0] == 1.5)]},
    "read-only": {"f": lambda s: s["level"].sort()},
    "expected a text without '/'": {"a/b": "level"},
    "found all variables monitored": ["share", "level", "z", "gap"],
    "found 'z' twice": ["z", "z"],
    "it is what is predicted": [gp.predictive("y", new={"y": [1.0]})],
}


@pytest.mark.parametrize("message", WRONG)
def test_what_cannot_be_monitored_is_told(sampler, message):
    init = {"level": [1.5, 0.0]} if "shape" in message else None
    with pytest.raises(RunError, match=message):
        sampler.sample(**SETTINGS, init=init, monitor=WRONG[message], backend="numpy")


def test_what_is_read_at_some_draws_alone_is_told(sampler):
    def fickle(state):
        return state["level"] if (state["level"] == 1.5).any() else state["share"]

    with pytest.raises(RunError, match=r"fickle.*found 'share'.*read at the start"):
        sampler.sample(**SETTINGS, init={"level": [1.5, 0.0]}, monitor=fickle)


def test_small_whole_numbers_do_not_wrap_around_in_functions(sampler):
    draws = sampler.sample(**SETTINGS, monitor={"f": lambda s: s["z"] + 1000 * (s["z"] >= 0)})

    assert (draws.monitored["f"].mean >= 1000).all()


def test_statistics_that_take_too_much_memory_are_refused(sampler):
    with pytest.raises(RunError, match=r"^level: its statistics would take .* above"):
        sampler.sample(2, monitor="level", keep=["gap"], limit_bytes=1000, chains=2)


# ---- memory -----------------------------------------------------------------------------------


def most_memory(size, draws):
    """The most memory of a run that monitors so many elements, for the size of an accumulator."""
    run, so_far = begun({"x": Watched("x")}, chains=1, size=size, keep=("z",), draws=draws)
    tracemalloc.start()
    found = carried_out(run, so_far, InMemory((1, draws)), shown=SILENT)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.monitored["x"][0].count == draws
    return most / found.monitored["x"][0].nbytes


def test_a_run_holds_little_more_than_its_accumulators():
    assert most_memory(200_000, 40) < 3


@pytest.mark.slow
def test_a_run_of_a_million_elements_holds_little_more_than_its_accumulators():
    """Its draws would take 16 GB."""
    assert most_memory(1_000_000, 2000) < 3
