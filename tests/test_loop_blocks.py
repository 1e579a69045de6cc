"""Labels by blocks of elements: the digits of the exponential, and labels as one by one."""


import mpmath
import numpy as np
import pytest
from kernels_called import Called

from gibbsppl.runtime.loops import blocks
from gibbsppl.runtime.loops.labels import labels

# What rounding does: half a unit in the last place in each of the last three operations, and what
# that of the reduced argument comes to.
UNITS = 2.0

rng = np.random.default_rng(1)
NUMBERS = [0.0, -1e-300, -1e-17, blocks.LEAST]
NUMBERS += [*(-rng.exponential(50.0, 2000)), *(-rng.random(2000))]
NUMBERS += [-(n + s) / blocks.PER_LOG_2 for n in range(0, 1020, 17) for s in (0.4999, 0.5, 0.5001)]


def compiled():
    pytest.importorskip("numba")
    return Called("blocks")


def test_the_exponential_has_all_digits():
    with mpmath.workdps(30):
        for x in (float(x) for x in NUMBERS if x >= blocks.LEAST):
            exact = mpmath.exp(x)
            error = abs(blocks.exp_not_above_1(x) - exact) / float(np.spacing(float(exact)))
            assert error < UNITS, x


def test_the_exponential_far_out_is_that_of_the_least_or_none():
    assert blocks.exp_not_above_1(-np.inf) == 0.0
    assert blocks.exp_not_above_1(-1e9) == blocks.exp_not_above_1(blocks.LEAST) > 0.0


def test_the_compiled_exponential_is_that_of_plain_python():
    ours = compiled().exp_not_above_1
    for x in (*NUMBERS, -np.inf, -1e9):
        assert ours(float(x)) == blocks.exp_not_above_1(float(x))


def made(count, size=7, seed=3):
    """Log weights by label and element, some of them of labels that are not possible."""
    found = 5.0 * np.random.default_rng(seed).standard_normal((size, count))
    found[1:, ::7] = -np.inf
    found[:, ::5] += 1e5
    return found


def drawn(module, weights, count):
    out = np.empty(weights.shape[1], np.int64)
    rng = np.random.default_rng(2)
    module.labels_of_block(rng, weights.copy(), count, out)
    return out[:count], rng.bit_generator.state


@pytest.mark.parametrize("count", [1, 50, 128])
def test_labels_of_a_block_are_those_of_one_element_after_the_other(count):
    weights, rng = made(128), np.random.default_rng(2)
    found, stream = drawn(blocks, weights, count)

    assert found.tolist() == [labels(rng, weights[:, n].copy()) for n in range(count)]
    assert stream == rng.bit_generator.state


def test_compiled_labels_of_a_block_are_those_of_plain_python():
    weights = made(128)
    (found, stream), (ours, other) = drawn(blocks, weights, 100), drawn(compiled(), weights, 100)

    assert (found.tolist(), stream) == (ours.tolist(), other)


SPOILT = [[-np.inf, -np.inf], [0.0, np.nan], [np.nan, 0.0], [np.inf, 0.0]]


@pytest.mark.parametrize("spoilt", SPOILT)
def test_labels_of_a_block_need_weights_that_are_numbers(spoilt):
    weights = made(3, size=2)
    weights[:, 1] = spoilt
    with pytest.raises(ValueError, match="all zero, or one is no number"):
        drawn(blocks, weights, 3)
