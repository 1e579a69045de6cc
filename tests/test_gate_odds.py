"""Draws of gates whose log odds take few values: their probabilities to the last bit."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from gibbsppl.runtime import FewLogOdds, KnownLogOdds, bernoulli
from gibbsppl.runtime.gate_odds import MOST_VALUES, few_gates

LEVEL = 1e-5
LOG_ODDS = np.array([-40.0, -9.0, -1.3, 0.0, 0.2, 3.0, 11.5, 40.0, -800.0, 800.0])


class Bits:
    """A generator whose bits are given, and whose uniform numbers are all the same."""

    def __init__(self, bits, uniform):
        self.bits, self.uniform, self.asked = bits, uniform, 0

    def bytes(self, count):
        assert count == 2 * self.bits.size
        return self.bits.astype(np.uint16).tobytes()

    def random(self, size):
        self.asked += size
        return np.full(size, self.uniform)


@pytest.mark.parametrize("log_odds", LOG_ODDS)
def test_all_bits_together_have_the_probability_to_the_last_bit(log_odds):
    """The share of bits that open a gate, and of uniform numbers where they do not decide."""
    bits = np.arange(65536)
    few = FewLogOdds(np.array([log_odds]), np.zeros(65536, dtype=np.intp))
    p = expit(log_odds)
    never, always = Bits(bits, 1.0), Bits(bits, -1.0)
    least, most = few_gates(never, few).sum(), few_gates(always, few).sum()
    rest = p * 65536 - least

    assert never.asked == always.asked == 1
    assert most == least + 1
    assert -1e-9 <= rest <= 1 + 1e-9
    for uniform, is_open in ((rest - 1e-7, True), (rest + 1e-7, False)):
        assert (few_gates(Bits(bits, uniform), few).sum() > least) == is_open


def test_draws_are_open_as_often_as_they_should_be():
    rng = np.random.default_rng(1)
    index = rng.integers(0, len(LOG_ODDS), (500, 400))
    drawn = bernoulli(rng, FewLogOdds(LOG_ODDS, index), index.shape)

    assert drawn.shape == index.shape
    assert drawn.dtype == np.int64
    for n, p in enumerate(expit(LOG_ODDS)):
        own = drawn[index == n]
        if 1e-3 < p < 1 - 1e-3:
            assert stats.binomtest(int(own.sum()), own.size, p).pvalue > LEVEL / len(LOG_ODDS)
    assert not drawn[index == 8].any()
    assert drawn[index == 9].all()


@pytest.mark.parametrize("values", [1, 3, MOST_VALUES, MOST_VALUES + 1])
def test_log_odds_are_what_is_known_plus_a_number_times_a_count(values):
    rng = np.random.default_rng(2)
    known = np.linspace(-1, 1, values)[rng.integers(0, values, (30, 40))]
    counts = rng.integers(0, 5, (30, 40))
    few = KnownLogOdds(known, 4)
    total = few.start()
    total += counts
    found = few.log_odds(0.7, total)

    assert isinstance(found, FewLogOdds) == (len(np.unique(known)) <= MOST_VALUES)
    assert np.asarray(found) == pytest.approx(known + 0.7 * counts, rel=1e-14, abs=1e-14)
    assert np.array_equal(few.start(), few.start())
