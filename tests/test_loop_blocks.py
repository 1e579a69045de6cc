"""Labels by blocks of elements are those of one by one."""


import numpy as np
import pytest
from kernels_called import Called

from gibbsppl.runtime.loops import blocks
from gibbsppl.runtime.loops.labels import labels


def compiled():
    pytest.importorskip("numba")
    return Called("blocks")


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
