"""Stochastic variational inference: fits by some positions of a dim at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gibbsppl as gp
import models
from gibbsppl.errors import RunError
from gibbsppl.fits import stochastic
from gibbsppl.fits.minibatches import Members, Minibatches
from gibbsppl.fits.starting import Search
from gibbsppl.run.choice import asked_for

DOCUMENTS = 60


def topics(documents=DOCUMENTS):
    corpus = models.lda.bars(documents=documents)
    return gp.compile(models.lda.model(corpus=corpus, topics=6))


def shuffled():
    """The same corpus with its words in another order: documents are in pieces."""
    doc, word, words = models.lda.bars(documents=DOCUMENTS)
    order = np.random.default_rng(1).permutation(len(doc))
    corpus = (np.asarray(doc)[order], np.asarray(word)[order], words)
    return gp.compile(models.lda.model(corpus=corpus, topics=6))


def readings(sampler):
    return sampler.read_by(dict.fromkeys(sampler.graph.drawn, "mean")), sampler.read_by({})


def begun(sampler, dim, size, seed=1):
    """A fit at its start, the data by positions, and what comes first."""
    read, start = readings(sampler)
    data = Minibatches.of(read.graph, read.data, dim)
    parts = stochastic.minibatches(read.graph.sizes[data.dim], size, np.random.default_rng(seed))
    first = next(parts)
    search = Search(
        starts=1, sweeps=1, tolerance=1e-10, warmup=None, anneal=False, seed=seed, init=None,
        progress=False, asked=asked_for(None),
    )  # fmt: skip
    chain = stochastic.start_of(read, start, data, first, search)
    fit = stochastic.Stochastic.of(read, data, size, chain)
    fit.begin(first)
    return read, fit, parts


def bound_of_all(fit, count):
    """The bound of all data at the global factors of a fit, the local ones at their best."""
    state = dict(fit.state)
    constants = fit._begun(np.arange(count), state)
    for _ in range(300):
        fit.programs.local.sweep(None, state, constants.local)
    return float(fit.programs.whole.bound(state, constants.whole))


def test_members_are_those_of_their_owners():
    owner = np.array([2, 0, 2, 1, 0, 2])
    members = Members.of(owner, 4)
    assert members.order is not None
    for owners in ([0], [1, 2], [3], [0, 3], [0, 1, 2, 3], []):
        found = members.at(np.array(owners, dtype=int))
        assert found.tolist() == np.flatnonzero(np.isin(owner, owners)).tolist()


def test_whole_passes_are_coordinate_ascent():
    """All documents at a time, by steps of one: the bound rises, to where each update is still."""
    read, fit, parts = begun(topics(), "doc", DOCUMENTS)
    trace = [fit.step(next(parts), 1.0) for _ in range(60)]

    # (local factors are fitted until they hardly change, so that it may fall by as little)
    assert np.diff(trace).min() > -stochastic.STILL * abs(trace[-1])
    state = dict(fit.state)
    constants = read.program.prepare(read.data)
    for _ in range(20):
        read.program.sweep(None, state, constants)
    assert_allclose(read.program.bound(state, constants), trace[-1], rtol=stochastic.STILL)


def test_natural_parameters_are_estimated_without_bias():
    """The mean over all minibatches of a pass is what all data say, at the same moments."""
    _, fit, _ = begun(topics(), "doc", 12)
    part_of, shared = fit.parts["phi"], dict(fit.state)

    def at(chosen, scale):
        state = dict(shared)
        constants = fit._begun(chosen, state)
        fit.programs.local.sweep(None, state, constants.local)
        own = stochastic.FromPart(part_of.of, scale, part_of.nothing)
        return own(state, constants.shared)[0]

    parts = np.arange(DOCUMENTS).reshape(5, 12)
    found = np.mean([at(p, 5.0) for p in parts], axis=0)
    assert_allclose(found, at(np.arange(DOCUMENTS), 1.0), rtol=1e-12)


@pytest.mark.parametrize("make", [topics, shuffled])
def test_a_fit_of_all_data_at_once_is_where_minibatches_stay(make):
    """The steps become small: the natural parameters come to be those of coordinate ascent."""
    sampler = make()
    _, whole, parts = begun(sampler, "doc", DOCUMENTS)
    for _ in range(60):
        whole.step(next(parts), 1.0)
    best = bound_of_all(whole, DOCUMENTS)
    _, fit, parts = begun(sampler, "doc", 12)
    fit.state |= {n: x for n, x in whole.state.items() if "phi" in n}
    fit.starts = whole.starts
    fit.averaged["phi"].now = whole.averaged["phi"].now
    estimates = np.array([fit.step(next(parts), (t + 100.0) ** -0.9) for t in range(200)])
    found = bound_of_all(fit, DOCUMENTS)

    assert abs(found - best) < estimates.std() / 5**0.5
    assert abs(estimates.mean() - best) < 4 * estimates.std() / 200**0.5 + 0.01 * abs(best)


def test_the_fit_is_that_of_global_variables():
    fit = topics().variational(batch={"doc": 12}, seed=2, sweeps=8, progress=False)
    draws = fit.sample(200, chains=2, seed=1)

    assert list(draws) == ["phi"]
    assert fit.mean("phi").shape == (6, 9)
    assert_allclose(fit.mean("phi").sum(axis=-1), 1.0, rtol=1e-12)
    (eta,) = fit.natural["phi"]
    assert_allclose(fit.mean("phi"), (eta + 1) / (eta + 1).sum(axis=-1, keepdims=True), rtol=1e-12)
    gap = draws["phi"].mean(axis=(0, 1)) - fit.mean("phi")
    assert (np.abs(gap) < 5 * fit.sd("phi") / 400**0.5 + 1e-12).all()
    assert fit.elbo == fit.trace[-fit.of_last :].mean()
    assert "phi" in str(fit)
    with pytest.raises(RunError, match="'theta' is no latent variable"):
        fit.mean("theta")


def test_a_seed_gives_one_fit():
    sampler = topics()
    one, other = (
        sampler.variational(batch={"doc": 12}, seed=5, sweeps=4, progress=False).trace
        for _ in range(2)
    )
    assert one.tolist() == other.tolist()


def regression(n=400):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, 3))
    y = x @ [1.0, -2.0, 0.5] + 0.3 * rng.standard_normal(n)
    with gp.Model(name="regression", coords={"i": n, "k": 3}) as model:
        design = gp.Data("design", x, dims=("i", "k"))
        b, tau = gp.Normal("b", 0, tau=0.01, dims="k"), gp.Gamma("tau", 1, rate=1)
        gp.Normal("y", (design * b).sum("k"), tau=tau, dims="i", observed=y)
    return gp.compile(model)


def test_normal_blocks_are_averaged_by_their_natural_parameters():
    """Without local variables: the coefficients are drawn jointly, from a precision matrix."""
    sampler = regression()
    whole = sampler.variational(seed=1, progress=False)
    fit = sampler.variational(batch={"i": 40}, seed=1, sweeps=64, progress=False)

    assert_allclose(fit.mean("b"), whole.mean("b"), atol=4 * whole.sd("b").max())
    assert_allclose(fit.sd("b"), whole.sd("b"), rtol=0.1)
    assert_allclose(fit.mean("tau"), whole.mean("tau"), rtol=0.15)


def test_local_weights_of_a_robust_regression_are_fitted_for_each_minibatch():
    """All positions at a time, by steps of one: the fit of all data at once."""
    sampler = gp.compile(models.robust_regression.model())
    whole = sampler.variational(seed=1, progress=False)
    ((dim, count),) = ((d.name, n) for d, n in sampler.graph.sizes.items() if n > 10)
    _, fit, parts = begun(sampler, dim, count)
    for _ in range(60):
        bound = fit.step(next(parts), 1.0)

    assert_allclose(bound, whole.elbo, rtol=stochastic.STILL)


def tied(n=12):
    with gp.Model(name="walk", coords={"t": n}) as model:
        tau = gp.Gamma("tau", 2, rate=1)
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, tau=1)
        x[1:] = gp.Normal(x.lag("t", 1), tau=tau)
        gp.Normal("y", x, tau=1, dims="t", observed=np.arange(float(n)))
    return model


def squared(n=12):
    with gp.Model(name="sum of squares", coords={"i": n}) as model:
        tau = gp.Gamma("tau", 2, rate=1)
        x = gp.Normal("x", 0, tau=tau, dims="i")
        gp.Normal("total", x.sum("i"), tau=1, observed=3.0)
    return model


@pytest.mark.parametrize(
    ("model", "batch", "told"),
    [
        (tied(), {"t": 4}, "is declared for"),
        (squared(), {"i": 4}, "batch: the factor of x is not that of each position alone"),
        (squared(), {"j": 4}, "expected a dim of sum of squares: i"),
        (squared(), {"i": 13}, "expected 2 to 12"),
        (squared(), {"i": 4, "j": 2}, "expected one dim"),
        (models.rats.model(), {"rat": 5}, "are one factor of q"),
    ],
)
def test_what_cannot_be_taken_some_at_a_time_is_refused(model, batch, told):
    sampler = gp.compile(model)
    with pytest.raises(RunError, match=told):
        sampler.variational(batch=batch, seed=1, progress=False)


@pytest.mark.parametrize("how", [{"starts": 2}, {"backend": "compiled"}])
def test_settings_that_minibatches_do_not_know_are_refused(how):
    with pytest.raises(RunError, match="one start, and sweeps in NumPy"):
        regression().variational(batch={"i": 40}, progress=False, **how)


def test_a_wrong_scale_is_seen(monkeypatch):
    """The prior is counted once, however many minibatches there are."""

    def spoilt(self, state, constants):
        seen = self.of(state, constants)
        return stochastic.combined(lambda b: self.scale * b, seen)

    monkeypatch.setattr(stochastic.FromPart, "__call__", spoilt)
    with pytest.raises(AssertionError):
        test_natural_parameters_are_estimated_without_bias()
