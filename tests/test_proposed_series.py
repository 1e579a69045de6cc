"""Series of counts are proposed at once where theory of their weights tells that it pays."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.output.diagnostics import ess_bulk
from gibbsppl.planning import proposals
from gibbsppl.planning.proposals import share_by_weights


def series(size=80, rate=5.0, precision=9.0, *, is_known=True):
    """Counts whose log rates walk."""
    rng = np.random.default_rng(0)
    level = np.cumsum(rng.normal(size=size)) / np.sqrt(precision)
    counts = rng.poisson(rate * np.exp(level - level[0]))
    with gp.Model(coords={"t": size}, name="series") as model:
        tau = precision if is_known else gp.Gamma("tau", 2, rate=0.2)
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(np.log(rate), tau=1.0)
        x[1:] = gp.Normal(x.lag("t"), tau=tau)
        gp.Poisson("y", gp.exp(x), dims="t", observed=counts)
    return model


def told(sampler, what):
    """The effective draws of a sweep of the series, by theory, if it is drawn in a way."""
    (choice,) = (c for c in sampler.schedule.choices if {*c.variables} == {"x"})
    (found,) = (c.share for c in (choice.made, *choice.others) if c.what == what)
    return found


def chain_of(log_weight, rng, sweeps):
    """The numbers of the proposals at which an independence sampler is."""
    now, found = 0, np.empty(sweeps, dtype=int)
    ways = rng.integers(len(log_weight), size=sweeps)
    log_uniform = np.log(rng.random(sweeps))
    for n, way in enumerate(ways):
        now = way if log_uniform[n] < log_weight[way] - log_weight[now] else now
        found[n] = now
    return found


@pytest.mark.parametrize("spread", [0.5, 1.0])
def test_the_share_that_weights_tell_is_that_of_an_independence_sampler(spread):
    """Effective draws of what is unrelated to the weights are ``a / (2 - a)`` a sweep."""
    rng = np.random.default_rng(1)
    log_weight, value = spread * rng.normal(size=500), rng.normal(size=500)
    share = share_by_weights(log_weight)
    chains = [chain_of(log_weight, rng, 5000) for _ in range(4)]
    found = float(ess_bulk(np.stack([value[c] for c in chains]))) / 20_000

    assert found == pytest.approx(share / (2 - share), rel=0.2)


def test_large_weights_lower_the_share_more_than_that_of_accepted_proposals():
    log_weight = np.r_[np.zeros(63), np.log(30.0)]
    weight = np.exp(log_weight - np.log(np.exp(log_weight).sum()))
    moves = np.r_[np.ones(63), 1 / 30]

    assert share_by_weights(log_weight) == pytest.approx(1 / (weight / moves).sum(), rel=0.05)
    assert share_by_weights(log_weight) < 0.2
    assert (weight * moves).sum() > 0.6
    assert share_by_weights(np.full(64, -np.inf)) == 0.0


def test_a_series_of_counts_is_proposed_at_once():
    sampler = gp.compile(series(30))
    (step,) = sampler.schedule.steps

    assert step.learns_acceptance
    assert "x proposed (alternative: one by one" in " ".join(str(sampler).split())
    assert told(sampler, "one by one") < told(sampler, "proposed") < 1
    assert sampler.verify().passed


def test_a_series_is_drawn_one_by_one_where_weights_are_large(monkeypatch):
    """As where a short chain has accepted more than a long one would."""
    heavy = np.r_[np.zeros(63), 50.0]
    monkeypatch.setattr(proposals, "log_weights", lambda *_, **__: heavy)
    monkeypatch.setenv("GIBBSPPL_CACHE", "off")
    assert not gp.compile(series(30)).schedule.proposed


@pytest.mark.slow
def test_a_series_of_large_counts_has_the_effective_draws_that_are_told():
    """By the worst element, to a factor; and more an operation than one by one."""
    model = series(rate=50.0)
    whole, apart = gp.compile(model), gp.compile(model, blocks={"x": "elements"})
    assert whole.schedule.proposed
    least = []
    for sampler, what in ((whole, "proposed"), (apart, "one by one")):
        draws = sampler.sample(1500, warmup=200, chains=4, seed=1, progress=False)
        least.append(min(map(float, np.ravel(ess_bulk(draws["x"])))) / 6000)
        assert 0.3 < least[-1] / told(whole, what) < 3
    assert least[0] / whole.costs().operations > least[1] / apart.costs().operations
