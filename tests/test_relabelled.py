"""Components that can be exchanged: numbered alike in all draws, whatever a run has numbered."""

from dataclasses import replace

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.errors import RunError
from gibbsppl.output.relabelling import alike, in_order, renamed

RNG = np.random.default_rng(25)
Y = np.concatenate([RNG.normal(m, 1, 15) for m in (-6, 0, 6)])


def mixture(share=None):
    with gp.Model(coords={"i": len(Y), "k": 3}) as model:
        alpha = 1.0 if share is None else gp.Data("alpha", share, dims="k")
        p = gp.Dirichlet("p", alpha, dims="k")
        mu = gp.Normal("mu", 0, sigma=9, dims="k")
        z = gp.Categorical("z", p, dims="i", event="k")
        gp.Deterministic("double", 2 * mu)
        gp.Normal("y", mu[z], sigma=1, dims="i", observed=Y)
    return model


@pytest.fixture(scope="module")
def drawn():
    sampler = gp.compile(mixture())
    keep = ["p", "mu", "z", "double"]
    starts = [{"mu": m} for m in ([-6, 0, 6], [6, -6, 0])]
    return sampler, sampler.sample(
        100, warmup=20, chains=2, seed=1, init=starts, keep=keep, progress=False
    )


def shuffled(draws):
    """The draws with components in an order of each draw's own."""
    count = draws.chains * draws.draws
    orders = RNG.permuted(np.tile(np.arange(3), (count, 1)), axis=1)
    values = {n: in_order(draws.stacked(n), orders, 1) for n in ("p", "mu", "double")}
    values["z"] = renamed(draws.stacked("z"), orders)
    shape = draws.chains, draws.draws
    return replace(
        draws, values={n: values[n].reshape(*shape, *values[n].shape[1:]) for n in draws}, ends=None
    )


def test_components_are_alike_in_all_draws(drawn):
    sampler, draws = drawn
    mixed = shuffled(draws)
    assert mixed["mu"].std(axis=(0, 1)).min() > 3
    found = sampler.relabelled(mixed, "z")
    order = np.argsort(found["mu"].mean(axis=(0, 1)))
    np.testing.assert_allclose(np.sort(mixed["mu"], axis=-1), found["mu"][..., order], rtol=1e-12)
    np.testing.assert_array_equal(found["double"], 2 * found["mu"])
    assert found["mu"].std(axis=(0, 1)).max() < 1
    # (a label that was not renamed, or a share in another order, would change the density)
    np.testing.assert_allclose(
        sampler.log_density(found), sampler.log_density(mixed), rtol=1e-9
    )
    assert found.attributes["relabelled"].startswith("k, in ")
    np.testing.assert_allclose(
        np.take_along_axis(found["mu"], found["z"].astype(int), axis=-1),
        np.take_along_axis(mixed["mu"], mixed["z"].astype(int), axis=-1),
        rtol=1e-12,
    )


def test_both_sides_of_a_matrix_are_in_order():
    with gp.Model(coords={"t": 40, "k": 2}) as model:
        P = gp.Dirichlet("P", 1, dims=("k", "k'"), event="k'")
        mu = gp.Normal("mu", 0, sigma=5, dims="k")
        z = gp.Array("z", dims="t", event="k")
        z[0] = gp.Categorical(1 / 2)
        z[1:] = gp.Categorical(P[z.lag("t", 1)])
        gp.Normal("y", mu[z], sigma=1, dims="t", observed=np.repeat([-3.0, 3.0], 20))
    sampler = gp.compile(model)
    starts = [{"mu": m} for m in ([-3, 3], [3, -3])]
    draws = sampler.sample(
        50, warmup=20, chains=2, seed=1, init=starts, keep=["P", "mu", "z"], progress=False
    )
    assert draws["mu"].std(axis=(0, 1)).min() > 2
    found = sampler.relabelled(draws, "z")
    assert found["mu"].std(axis=(0, 1)).max() < 1
    np.testing.assert_allclose(sampler.log_density(found), sampler.log_density(draws), rtol=1e-9)


def test_an_order_of_least_divergence_is_found_whatever_the_draws_have():
    one = RNG.dirichlet([0.3] * 4, size=50)
    noise = RNG.dirichlet([5.0] * 4, size=(200, 50))
    whole = 0.9 * one + 0.1 * noise
    orders = RNG.permuted(np.tile(np.arange(4), (200, 1)), axis=1)
    found = alike(in_order(whole, orders, 2))
    back = np.take_along_axis(orders, found, axis=1)
    assert (back == back[0]).all()


def test_what_cannot_be_relabelled_is_told(drawn):
    sampler, draws = drawn
    with pytest.raises(RunError, match="found 'mu', expected a variable whose values are label"):
        sampler.relabelled(draws, "mu")
    with pytest.raises(RunError, match="not among the draws"):
        sampler.relabelled(draws.only(["mu", "z"]), "z")
    other = gp.compile(mixture([1.0, 2.0, 3.0]))
    with pytest.raises(RunError, match="components 0 and 1 of 'k' cannot be exchanged: the log"):
        other.relabelled(draws, "z")
