"""Chains of labels with weights as far apart as can be, in both back ends, against all paths."""

from itertools import product

import numpy as np
import pytest

from gibbsppl.errors import RunError
from gibbsppl.runtime import chain, chain_probabilities, filters, label_chains, likeliest_chain
from gibbsppl.runtime.label_chains import log_probabilities
from gibbsppl.runtime.loops import chains as kernels
from gibbsppl.runtime.loops import filters as kernel_filters

NEVER = -np.inf
# Logs about where numbers end: those of the smallest normal number, and of the smallest of all.
GAPS = np.array([0, 0, 0, -1, -30, -300, -340, -500, -660, -667, -667.5, -668.3, -690.8, -700,
                 -708.5, -720, -740, -743.5, -744.3, -745, -800, -1e3, -1e4,
                 NEVER, NEVER])  # fmt: skip
TRANSITIONS = (GAPS, np.array([0, NEVER, -1, -5]), np.array([0, NEVER, -90]))


def anything(rng):
    """Log weights by position and label, log transitions of each step or of all."""
    size, count = rng.integers(1, 5), rng.integers(1, 6)
    weights = rng.choice(rng.choice(GAPS, rng.integers(1, 20)), (count, size))
    weights[rng.integers(count)] -= rng.choice([0.0, 1e4])
    tables = (count - 1 if rng.random() < 0.5 else 1, size, size)
    pool = TRANSITIONS[rng.integers(3)]
    moves = rng.choice(rng.choice(pool, rng.integers(1, 20)), tables)
    return weights + rng.normal(size=weights.shape), moves + rng.normal(size=tables)


# Label 0 is likeliest by far, and leads nowhere.
DEAD_END = np.array([[[0, 0, 0.0]] * 3, [[NEVER] * 3, [0, 0, 0], [0, 0, 0]]])
AT_THE_END = np.array([[0, 0, 0], [1e3, 1e3 - 667.5, 1e3 - 668.2], [0.0, 0, 0]])
CHAINS = {
    "next to the smallest numbers": (
        np.array([[0, NEVER, NEVER], [0, -743.6, -744.3], [0.0, 0, 0]]),
        np.array([[NEVER, 0, 0], [NEVER, 0, 0], [NEVER, 0, 0]])[None],
    ),
    "next to what is kept": (AT_THE_END, DEAD_END),
    "all of them hopeless": (np.full((4, 2), -1e5), np.log([[[0.5, 0.5], [0.1, 0.9]]])),
    "a probability of 1e-320": (np.zeros((4, 2)), np.log([[[1, 1e-320], [1e-300, 1]]])),
    "known by the last alone": (
        np.array([[0, -800, -801], [0, -800, -801], [NEVER, 0, 0.5]]),
        np.array([[0, NEVER, NEVER], [NEVER, 0, -1], [NEVER, -2, 0.0]])[None],
    ),
    "one label": (np.full((3, 1), -1e5), np.full((1, 1, 1), -800.0)),
    "one position": (np.array([[-1e5, -1e5 - 800, NEVER]]), np.zeros((0, 3, 3))),
}  # fmt: skip


def of_paths(weights, moves):
    """All paths, those possible, and their probabilities; None if no path is possible."""
    count, size = weights.shape
    paths = np.array(list(product(range(size), repeat=count)))
    weights = weights - np.maximum(weights.max(axis=1, keepdims=True), -1e9)
    total = weights[np.arange(count), paths].sum(axis=1)
    for t in range(count - 1):
        total = total + moves[t % len(moves)][paths[:, t], paths[:, t + 1]]
    possible = total > NEVER
    if not possible.any():
        return paths, possible, None
    found = np.exp(total - total.max())
    return paths, possible, found / found.sum()


def whole(weights, moves):
    """As whole arrays have them: the probabilities of labels and pairs."""
    steps = moves[0] if len(moves) == 1 else np.moveaxis(moves, 0, -1)
    return chain_probabilities(weights.T, steps, name="z")[:2]


def loops(weights, moves):
    """The same of loops."""
    labels, entropy = np.zeros(weights.shape), np.empty(1)
    pairs = np.zeros((*weights.shape, weights.shape[1]))
    known = np.zeros(len(weights), dtype=bool)
    kernels.chain_probabilities(weights.copy(), moves, labels, known, labels, pairs, entropy)
    return labels, pairs


def check(way, weights, moves):
    """The probabilities of paths as the way back multiplies them, against enumeration."""
    paths, possible, expected = of_paths(weights, moves)
    if expected is None:
        with pytest.raises((RunError, ValueError), match=r"no labels are possible|all labels"):
            way(weights, moves)
        return
    labels, pairs = way(weights, moves)
    found = labels[-1][paths[:, -1]]
    for t in range(len(weights) - 1):
        share = pairs[t + 1] / np.where(labels[t + 1] > 0, labels[t + 1], 1)
        found = found * share[paths[:, t], paths[:, t + 1]]
    # Logs lose the digits that they have before the point.
    largest = np.abs(weights[np.isfinite(weights)]).max(initial=1.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * largest)
    assert not found[~possible].any()


@pytest.fixture(params=["whole", "in blocks", "as logs", "in loops"])
def way(request, monkeypatch):
    if request.param == "in blocks":
        monkeypatch.setattr(filters, "SHORTEST_IN_BLOCKS", 2)
    if request.param == "as logs":
        monkeypatch.setattr(label_chains, "products", lambda logs: None)
    return loops if request.param == "in loops" else whole


@pytest.mark.parametrize("name", CHAINS)
def test_paths_have_their_probabilities(name, way):
    check(way, *CHAINS[name])


def test_paths_of_anything_have_their_probabilities(way):
    rng = np.random.default_rng(7)
    for _ in range(150):
        check(way, *anything(rng))


@pytest.mark.parametrize("name", CHAINS)
def test_draws_are_the_same_of_loops(name):
    weights, moves = CHAINS[name]
    steps = moves[0] if len(moves) == 1 else np.moveaxis(moves, 0, -1)
    known, out = np.zeros(len(weights), dtype=bool), np.zeros(len(weights), dtype=int)
    paths, possible, probabilities = of_paths(weights, moves)
    likeliest = tuple(paths[probabilities.argmax()])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        kernels.chain_by_step(rng, weights.copy(), moves, 0, out, known, out)
        drawn = chain(np.random.default_rng(seed), weights.T, steps, name="z")
        assert out.tolist() == drawn.tolist()
        assert possible[(paths == drawn).all(axis=1)].all()
    best = likeliest_chain(weights.T, steps, name="z")
    kernels.likeliest_chain(weights.copy(), moves, 0, out, known, out)
    if np.sum(probabilities == probabilities.max()) == 1:
        assert tuple(best) == tuple(out) == likeliest


def test_the_check_sees_products_of_few_digits(monkeypatch):
    case = CHAINS["next to the smallest numbers"]
    check(whole, *case)
    monkeypatch.setattr(filters, "SMALLEST_KEPT", 0.0)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check(whole, *case)


def test_the_check_sees_logs_that_are_not_those_of_the_filter(monkeypatch):
    case = CHAINS["next to what is kept"]
    check(loops, *case)
    monkeypatch.setattr(kernel_filters, "IN_LOGS", kernel_filters.KEPT)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check(loops, *case)


def test_products_of_blocks_that_do_not_meet_are_given_up(monkeypatch):
    """From a label that cannot come before it a block has one, from those that do few digits."""
    monkeypatch.setattr(filters, "SHORTEST_IN_BLOCKS", 2)
    weights = np.zeros((9, 3))
    weights[:, :2] = -248.0
    moves = np.where(np.eye(3) > 0, 0.0, NEVER)[None]
    moves[0, 0, 1] = moves[0, 1, 0] = -0.7
    weights[0] = [0.0, -1.0, NEVER]
    check(whole, weights, moves)
    monkeypatch.setattr(filters, "rounding", lambda *_: 1e12)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check(whole, weights, moves)


def test_labels_that_are_next_to_impossible_have_a_log_probability():
    weights, moves = np.array([[0.0, -400.0], [0.0, -900.0]]), np.zeros((2, 2))
    for labels in product((0, 1), repeat=2):
        at = log_probabilities(np.array(labels), weights.T, moves, name="z")
        np.testing.assert_allclose(np.ravel(at), weights[[0, 1], labels], atol=1e-12)
    barred = np.array([[0.0, NEVER], [0.0, 0.0]])
    at = log_probabilities(np.array([0, 1]), weights.T, barred, name="z")
    assert at.sum() == NEVER


def test_the_likeliest_labels_must_be_possible():
    never, known = np.where(np.eye(2) > 0, 0.0, NEVER), np.zeros(3, dtype=bool)
    out, lost = np.zeros(3, dtype=int), np.array([[0.0, 0], [0, np.nan], [0, 0]])
    led = np.array([[0.0, NEVER], [0, NEVER], [NEVER, 0]])
    with pytest.raises(RunError, match=r"z: no labels are possible: up to z\[2\]"):
        likeliest_chain(led.T, never, name="z")
    with pytest.raises(RunError, match=r"z\[1\]: .* or a weight is not a number"):
        likeliest_chain(lost.T, never, name="z")
    for weights, moves, told in (
        (led, never, "no labels are possible"),
        (lost, never, "a weight of labels is not a number"),
        (led, lost[:2], "a transition of labels is not a number"),
    ):
        with pytest.raises(ValueError, match=told):
            kernels.likeliest_chain(weights.copy(), moves, 0, out, known, out)


def test_what_is_given_stays_as_it_is():
    weights, moves = CHAINS["next to what is kept"]
    held = weights.copy()
    whole(held, moves)
    assert (held == weights).all()
