"""Fits on distinct positions: positions of a dim that are alike are swept as one."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gibbsppl as gp
import models
from gibbsppl.errors import RunError
from gibbsppl.expectation import of_families
from gibbsppl.fits import turning
from gibbsppl.fits.distinct import same_rows
from gibbsppl.planning import readings

NEVER = 10**18


def topics():
    return models.lda.model(corpus=models.lda.bars(documents=10), topics=4, alpha=1.1, eta=1.1)


def mixture():
    rng = np.random.default_rng(0)
    y = np.round(np.concatenate([rng.normal(-2, 1, 60), rng.normal(3, 1, 60)]))
    with gp.Model(coords={"k": 2, "i": len(y)}, name="rounded") as rounded:
        w = gp.Dirichlet("w", 2, dims="k", event="k")
        mu, tau = gp.Normal("mu", 0, tau=0.01, dims="k"), gp.Gamma("tau", 2, rate=1, dims="k")
        z = gp.Categorical("z", w, dims="i", event="k")
        gp.Normal("y", mu[z], tau=tau[z], dims="i", observed=y)
    return rounded


def deaths():
    """Counts with equal trials and doses: a Polya-Gamma variable for each."""
    rng = np.random.default_rng(0)
    dose, trials = rng.integers(-2, 3, 80).astype(float), rng.integers(1, 4, 80)
    with gp.Model(coords={"i": 80}, name="deaths") as counted:
        a, b = gp.Normal("a", 0, tau=0.1), gp.Normal("b", 0, tau=0.1)
        x, n = gp.Data("x", dose, dims="i"), gp.Data("n", trials, dims="i")
        seen = rng.binomial(trials, 1 / (1 + np.exp(-dose)))
        gp.Binomial("y", n, gp.expit(a + b * x), dims="i", observed=seen)
    return counted


def rows(robust=False):
    """A regression with repeated rows."""
    rng = np.random.default_rng(0)
    dose = rng.integers(-2, 3, 80).astype(float)
    seen = np.round(1 + dose + rng.standard_t(3, 80))
    with gp.Model(coords={"i": 80}, name="rows") as repeated:
        a, b = gp.Normal("a", 0, tau=0.1), gp.Normal("b", 0, tau=0.1)
        tau = gp.Gamma("tau", 2, rate=1)
        mu = a + b * gp.Data("x", dose, dims="i")
        if robust:
            gp.StudentT("y", nu=4, mu=mu, tau=tau, dims="i", observed=seen)
        else:
            gp.Normal("y", mu, tau=tau, dims="i", observed=seen)
    return repeated


def table():
    """Rows and columns of a table that are alike: both dims have distinct positions."""
    rng = np.random.default_rng(0)
    seen = rng.integers(0, 2, (3, 4))[rng.integers(0, 3, 12)][:, rng.integers(0, 4, 9)]
    with gp.Model(coords={"row": 12, "column": 9, "k": 2}, name="table") as of_two:
        w = gp.Dirichlet("w", 2, dims="k", event="k")
        mu = gp.Normal("mu", 0, tau=1, dims="k")
        z = gp.Categorical("z", w, dims="row", event="k")
        gp.Normal("y", mu[z], tau=1, dims=("row", "column"), observed=seen)
    return of_two


MODELS = {
    "topics": (topics, {"token"}),
    "mixture": (mixture, {"i"}),
    "deaths": (deaths, {"i"}),
    "rows": (rows, {"i"}),
    "robust": (lambda: rows(robust=True), {"i"}),
    "table": (table, {"row", "column"}),
}


@pytest.fixture
def turned(monkeypatch):
    """Fits turn as soon as they can; the distinct positions of each are listed."""
    found, turn = [], turning.Turning._turn

    def noted(self, chain):
        turn(self, chain)
        if self.before is not None:
            found.append({d.name for d in self.distinct.alike})

    monkeypatch.setattr(turning.Turning, "_turn", noted)
    monkeypatch.setattr(turning, "DERIVING", 0)
    return found


def both(monkeypatch, model, how="variational", **settings):
    """A fit on all positions, and one that turns."""
    sampler = gp.compile(model)
    settings = {"seed": 1, "progress": False, "sweeps": 60, **settings}
    with monkeypatch.context() as never:
        never.setattr(turning, "DERIVING", NEVER)
        whole = getattr(sampler, how)(**settings | {"backend": "numpy"})
    return whole, getattr(sampler, how)(**settings)


def assert_the_same(whole, few):
    assert len(whole.trace) == len(few.trace)
    assert_allclose(few.trace, whole.trace, rtol=1e-10)
    assert np.diff(few.trace).min(initial=0.0) > -1e-10 * abs(few.elbo)
    assert whole.state.keys() == few.state.keys()
    for name, value in whole.state.items():
        if name.startswith("~"):  # (how moves of a warm-up were tuned)
            continue
        assert np.shape(few.state[name]) == np.shape(value)
        assert_allclose(few.state[name], value, rtol=1e-10, atol=1e-10, err_msg=name)


LONGER = pytest.mark.slow
SOME = [pytest.param(n, marks=LONGER if n in {"robust", "rows", "table"} else ()) for n in MODELS]


@pytest.mark.parametrize("name", SOME)
def test_fits_are_those_on_all_positions(name, turned, monkeypatch):
    model, dims = MODELS[name]
    whole, few = both(monkeypatch, model())
    assert turned == [dims]
    assert_the_same(whole, few)


@pytest.mark.parametrize(
    "name", ["rows", *(pytest.param(n, marks=LONGER) for n in ("topics", "mixture", "robust"))]
)
def test_optima_are_those_on_all_positions(name, turned, monkeypatch):
    model, dims = MODELS[name]
    whole, few = both(monkeypatch, model(), "maximise")
    assert turned == [dims]
    assert_the_same(whole, few)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["topics", "mixture", "table"])
def test_compiled_fits_are_those_on_all_positions(name, turned, monkeypatch):
    model, dims = MODELS[name]
    # (loops make some sweeps more after a fit has come to its end: there are few of them)
    whole, few = both(monkeypatch, model(), tolerance=0.0, sweeps=12, backend="compiled")
    assert turned == [dims]
    assert_the_same(whole, few)


def test_results_are_of_all_positions(turned, monkeypatch):
    whole, few = both(monkeypatch, mixture(), init={"z": np.arange(120) % 2})
    assert_the_same(whole, few)
    gp.compile(mixture()).variational(seed=1, progress=False, sweeps=20, starts=2)
    assert turned == [{"i"}] * 3
    assert few.probabilities("z").shape == (120, 2)
    assert few.sample(10, chains=1, seed=1)["mu"].shape == (1, 10, 2)
    assert_array_equal(few.state["z"], whole.state["z"])


def with_position():
    with gp.Model(coords={"i": 30}, name="trend") as trend:
        slope = gp.Normal("slope", 0, tau=1)
        at = gp.Data("at", np.arange(30), dims="i")
        gp.Normal("y", slope * at, tau=1, dims="i", observed=np.zeros(30))
    return trend


def with_lag():
    with gp.Model(coords={"t": 30}, name="walk") as walk:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, tau=1)
        x[1:] = gp.Normal(x.lag("t", 1), tau=1)
        gp.Normal("y", x, tau=1, dims="t", observed=np.zeros(30))
    return walk


def with_total():
    with gp.Model(coords={"i": 30}, name="total") as total:
        x = gp.Normal("x", 0, tau=1, dims="i")
        gp.Normal("y", x.sum("i"), tau=1, observed=2.0)
    return total


def with_reads():
    """Positions of ``i`` alike, but another array reads some of them."""
    with gp.Model(coords={"i": 30, "j": 5}, name="read") as read:
        x = gp.Normal("x", 0, tau=1, dims="i")
        at = gp.Index("at", [0, 1, 2, 3, 4], of="i", dims="j")
        gp.Normal("y", x[at], tau=1, dims="j", observed=np.arange(5.0))
    return read


@pytest.mark.parametrize("model", [with_position, with_lag, with_total, with_reads])
def test_positions_that_something_tells_apart_are_left(model, turned, monkeypatch):
    whole, few = both(monkeypatch, model())
    assert turned == []
    assert_the_same(whole, few)


def test_chains_turn_once_their_positions_are_equal(turned, monkeypatch):
    """Moments of equal positions that start apart, and come together in some sweeps."""
    made = gp.compile(mixture())
    monkeypatch.setattr(turning, "DERIVING", 0)
    read = made.read_by(dict.fromkeys(made.graph.drawn, "mean"))
    found = turning.Turning.of(read, turning.Asked("numpy"))
    (chain,), _ = made.read_by({}).initial_states(1, 1, start="prior")
    chain.state |= turning_start(read, chain)
    found.distinct = turning.Distinct.of(read.graph, read.data, found.dims)
    assert not found._are_equal(chain)
    found.bounds(chain, 1)
    assert found._are_equal(chain)


def turning_start(read, chain):
    from gibbsppl.fits.points import moments_at

    return moments_at(read.schedule, {**read.derivation.known, **chain.state})


def test_small_models_never_turn(monkeypatch):
    looked = []
    monkeypatch.setattr(turning.Distinct, "of", lambda *_: looked.append(1))
    gp.compile(mixture()).variational(seed=1, progress=False, sweeps=40)
    assert looked == []


@pytest.mark.parametrize("model", [mixture, pytest.param(deaths, marks=LONGER)])
def test_positions_that_are_not_counted_are_seen(model, turned, monkeypatch):
    """A planted bug: conditionals and the bound count each position once."""
    del turned
    model = model()
    monkeypatch.setattr(readings, "times_of", lambda *_: 1)
    with pytest.raises(RunError, match="distinct positions of i is off by"):
        gp.compile(model).variational(seed=1, progress=False, sweeps=10)


def test_entropies_that_are_not_counted_are_seen(turned, monkeypatch):
    """A planted bug: one entropy of all distinct positions, each counted once."""
    monkeypatch.setattr(of_families, "times_of", lambda *_: 1)
    gp.compile(deaths()).variational(seed=1, progress=False, sweeps=10)
    assert turned == []


def test_a_local_conditional_that_counts_is_seen(turned, monkeypatch):
    """A planted bug: what belongs to a position is given it as often as it is in the data."""
    del turned
    times = readings.times_of
    every = readings._Reading._pieces

    def counted(self, step, q, piece):
        for p in every(self, step, q, piece):
            own = [r.dim for s in step.statements for r in s.over]
            yield readings.replace(p, coefficient=times(self.graph, own) * p.coefficient)

    monkeypatch.setattr(readings._Reading, "_pieces", counted)
    with pytest.raises(RunError, match="distinct positions of i is off by"):
        gp.compile(mixture()).variational(seed=1, progress=False, sweeps=10)


def test_rows_are_the_same_where_all_their_numbers_are():
    rng = np.random.default_rng(1)
    one, wide = rng.integers(0, 3, 200), rng.integers(0, 2, (200, 2, 2)) / 2
    first, kind = same_rows([one, wide])
    every = np.column_stack([one, wide.reshape(200, -1)])
    assert_array_equal(every[first][kind], every)
    assert len(first) == len(np.unique(every, axis=0))
    assert_array_equal(first, np.sort(first))
