"""Long sums in log densities, block by block: all terms once, however many there are."""

from dataclasses import replace

import numpy as np
import pytest
from replays import beside

import gibbsppl as gp
from gibbsppl.code.arrays import partial_sums
from gibbsppl.code.arrays.expressions import ZERO, Number, Span, negative, total
from gibbsppl.code.arrays.partial_sums import FEWEST, SIZE


def slope_of(count, dims="i"):
    """Counts by one slope, whose log density has a sum of exponentials."""
    x = np.linspace(-1, 1, count)
    with gp.Model(coords={"i": count}) as model:
        shown = gp.Data("x", x, dims=dims)
        slope = gp.Normal("slope", 0, sigma=1)
        seen = np.arange(count) % 4
        gp.Poisson("y", gp.exp(slope * shown), dims=dims, observed=seen)
    return model


def rise_of(count):
    """A rate by a scale that is read from the second of some times on."""
    with gp.Model(coords={"t": count}) as model:
        times = gp.Data("times", np.linspace(0.1, 2, count), dims="t")
        rise = gp.HalfNormal("rise", sigma=1)
        values = np.sin(np.arange(0.0, count))
        seen = gp.Array("seen", dims="t", observed=values)
        seen[0] = gp.Normal(0, sigma=1)
        seen[1:] = gp.Logistic(gp.exp(rise * times), scale=1)
    return model


def state_of(sampler):
    """A state and its generator, which have been moved on."""
    (chain,), _ = sampler.initial_states(1, 5)
    for _ in range(2):
        sampler.program.sweep(chain.rng, chain.state, sampler.constants)
    return chain.state, chain.rng


def is_in_blocks(sampler):
    return "_in_block in range" in sampler.loops().module.text


@pytest.mark.parametrize("count", [FEWEST, FEWEST + 1, 3 * SIZE - 1, 3 * SIZE])
def test_all_terms_are_added_up_once(count):
    sampler = gp.compile(slope_of(count), blocks={"slope": "elements"})
    assert is_in_blocks(sampler)
    assert beside(sampler, *state_of(sampler)).far == []


def test_a_sum_from_another_position_on_has_its_terms():
    sampler = gp.compile(rise_of(FEWEST + 5))
    assert is_in_blocks(sampler)
    assert beside(sampler, *state_of(sampler)).far == []


def test_a_sum_that_begins_elsewhere_is_seen(monkeypatch):
    """Planted: blocks begin at the first position, whatever the sum does."""
    right = partial_sums._PartialSums.parts

    def from_the_first(self, s):
        (span,) = s.over
        length = total([span.stop, negative(span.start)])
        return right(self, replace(s, over=(Span(span.dim, ZERO, length),)))

    monkeypatch.setattr(partial_sums._PartialSums, "parts", from_the_first)
    sampler = gp.compile(rise_of(FEWEST + 5))
    assert beside(sampler, *state_of(sampler)).far


def test_short_sums_stay_as_they_are():
    assert not is_in_blocks(gp.compile(slope_of(FEWEST - 1), blocks={"slope": "elements"}))


def test_exponentials_of_a_block_are_computed_side_by_side():
    assert "exp_in_lane(" in gp.compile(slope_of(FEWEST)).loops().module.text


def test_terms_that_are_left_out_are_seen(monkeypatch):
    """Planted: of the last block, which is shorter."""
    monkeypatch.setattr(partial_sums, "ONE", Number(SIZE))
    sampler = gp.compile(slope_of(FEWEST + 5), blocks={"slope": "elements"})
    assert beside(sampler, *state_of(sampler)).far
