"""Sweeps beside those written by hand for the same back end: rows of workloads."""

from functools import partial
from types import MappingProxyType

import counts_by_hand
import factorisation_by_hand
import gates_by_hand
import ising_by_hand
import large_models
import lda_by_hand
import loops_by_hand
import markov_by_hand
import metropolis_by_hand
import numpy as np
import rats_by_hand
import regression_by_hand
import vectors_by_hand
from large_rows import COLLAPSED
from model_rows import regression_on
from workload import HAND, OF_HAND, Workload

from models import lda, linear_regression, matrix_factorisation, rats, spike_and_slab

NO_PEERS = MappingProxyType({})


def _row(key, model, hand, data=dict, peers=NO_PEERS, **how):
    """A row beside hand-written code, and peers; ``hand`` makes sweeps of the data."""
    beside = {"by hand": OF_HAND, **peers}
    return Workload(key, HAND, key, model, beside, data, hand=hand, **how)


def _generator():
    return np.random.default_rng(1)


# ---- loops ---------------------------------------------------------------------------------------


def _of_numbers(labels, data):
    start = np.full(labels, 1 / labels), 5.0 * np.arange(labels) + 0.1, np.ones(labels)
    y = data["y"]
    return partial(loops_by_hand.mixture, _generator(), y, *start, np.zeros(len(y), np.int64))


def _pairs():
    y, centres = large_models.pairs()
    return {"y": y, "centres": centres}


def _of_pairs(data):
    y, start = data["y"], (np.full(10, 0.1), data["centres"].copy(), np.tile(np.eye(2), (10, 1, 1)))
    parts = np.ascontiguousarray(y.T), (10.0, 0.1, 10.0, 0.5), start, np.zeros(len(y), np.int64)
    return partial(loops_by_hand.mixture_of_pairs, _generator(), *parts)


def _vectors():
    y, centres = large_models.vectors()
    return {"y": y, "centres": centres}


def _of_vectors(data):
    y, centres = data["y"], data["centres"].copy()
    labels, size = centres.shape
    start = np.full(labels, 1 / labels), centres, np.tile(np.eye(size), (labels, 1, 1))
    parts = y, np.ascontiguousarray(y.T), (10.0, 0.1, 10.0, 0.5), start, np.zeros(len(y), np.int64)
    return partial(vectors_by_hand.mixture_of_vectors, _generator(), *parts)


def _chain(states):
    return {"counts": large_models.chain(states=states), "states": np.array(states)}


def _of_chain(data):
    counts, states = data["counts"], int(data["states"])
    start = markov_by_hand.start(_generator(), markov_by_hand.prepare(counts, states))
    parts = counts.astype(float), start["rate"], start["P"], np.zeros(len(counts), np.int64)
    return partial(loops_by_hand.markov, _generator(), *parts)


def _stories():
    document, word, _ = lda.reuters()
    return {"document": np.asarray(document), "word": np.asarray(word)}


def _of_stories(data, topics=100):
    tokens, state = metropolis_by_hand.prepared(data["document"], data["word"], topics)
    prior = lda.ALPHA, lda.ETA
    return partial(metropolis_by_hand.topics, _generator(), tokens, state, prior)


SPINS, COUPLING = 512, 0.3


def _of_spins(_):
    up = _generator().integers(0, 2, (SPINS, SPINS)).astype(np.uint8)
    chances = 1 / (1 + np.exp(-2 * COUPLING * (2 * np.arange(5) - 4)))
    return partial(loops_by_hand.spins, _generator(), up, chances)


def _of_bits(_):
    rng = _generator()
    quarters = rng.integers(0, 2, (2, 2, SPINS // 2, SPINS // 2)).astype(np.uint8)
    parts = rng.integers(0, 2**63, 1).astype(np.uint64), quarters
    return partial(loops_by_hand.spins_of_bits, *parts, ising_by_hand.thresholds(COUPLING))


def _gates(rows, columns):
    x, y = gates_by_hand.data(rows, columns)
    return {"x": x, "y": y}


def _of_gates(data):
    columns = data["x"].shape[1]
    state = np.zeros(columns + 1), np.zeros(columns), np.ones(1)
    parts = gates_by_hand.prepare(data["x"], data["y"]), (0.05, 4.0, 0.01, 0.01), state
    return partial(gates_by_hand.sweep, _generator(), *parts)


def _with_gates(data):
    names = [f"x{j}" for j in range(data["x"].shape[1])]
    return spike_and_slab.model(x=data["x"], y=data["y"], columns=names, inclusion=0.05)


LOOPS = (
    *(
        _row(
            f"mixture of numbers, K = {k}",
            lambda d, k=k: large_models.mixture(d["y"], k), partial(_of_numbers, k),
            lambda k=k: {"y": large_models.numbers(components=k)}, burn=20,
        )
        for k in (5, 10)
    ),
    _row(
        "mixture of pairs, K = 10", lambda d: large_models.mixture_of_pairs(d["y"], 10),
        _of_pairs, _pairs, burn=20,
    ),
    _row(
        "mixture of vectors, D = 10, K = 20",
        lambda d: large_models.mixture_of_vectors(d["y"], len(d["centres"])), _of_vectors, _vectors,
        burn=20,
    ),
    *(
        _row(
            f"hidden Markov, 100000 x {k}",
            lambda d: large_models.markov(d["counts"], int(d["states"])), _of_chain,
            lambda k=k: _chain(k), {"hmmlearn": 1}, burn=10,
        )
        for k in (5, 30)
    ),
    _row(
        "topics by Metropolis, K = 100", lambda _: large_models.topics(100), _of_stories, _stories,
        settings=COLLAPSED, burn=60,
    ),
    _row("Ising, uniform numbers", lambda _: large_models.spins(SPINS, COUPLING), _of_spins),
    _row("Ising, 16 bits", lambda _: large_models.spins(SPINS, COUPLING), _of_bits),
    *(
        _row(
            f"gates, {n} x {p}", _with_gates, _of_gates, lambda n=n, p=p: _gates(n, p), burn=200
        )
        for n, p in ((200, 500), (442, 10), (2000, 50))
    ),
)  # fmt: skip

# ---- NumPy ---------------------------------------------------------------------------------------


def _sweeps(module, constants, *size):
    """So many sweeps of a module that has ``start`` and ``sweep``."""
    rng = _generator()
    state = module.start(rng, constants, *size)

    def sweeps(count):
        for _ in range(count):
            module.sweep(rng, state, constants)

    return sweeps


def _columns(rows, columns):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((rows, columns))
    x -= x.mean(axis=0)
    return {"x": x, "y": x @ rng.standard_normal(columns) + rng.standard_normal(rows)}


def _cells(shape, ratings):
    """Random ratings; each row and each column has one at least."""
    rng = np.random.default_rng(3)
    cells = rng.choice(shape[0] * shape[1], size=ratings, replace=False)
    left, right = np.divmod(cells, shape[1])
    left[: shape[0]], right[-shape[1] :] = np.arange(shape[0]), np.arange(shape[1])
    value = 7.6 + rng.standard_normal(ratings)
    return {"left": left, "right": right, "value": value, "shape": shape}


def _factorised(data, factors):
    cells, names = (data["left"], data["right"], data["value"]), map(range, data["shape"])
    return matrix_factorisation.model(ratings=cells, names=tuple(names), factors=factors)


def _of_cells(data, factors):
    cells = data["left"], data["right"], data["value"]
    constants = factorisation_by_hand.prepare(*cells, data["shape"], 7.6)
    return _sweeps(factorisation_by_hand, constants, factors)


def _ising(_):
    rng = _generator()
    spins, bounds = ising_by_hand.start(rng, SPINS), ising_by_hand.thresholds(COUPLING)

    def sweeps(count):
        for _ in range(count):
            ising_by_hand.sweep(rng, spins, bounds)

    return sweeps


def _counts_by_hand(_):
    found = large_models.counts()
    return _sweeps(counts_by_hand, counts_by_hand.prepare(*found, large_models.COUNTS, 20))


def _weights(_):
    return _sweeps(rats_by_hand, rats_by_hand.prepare(rats.RATS["weights"], rats.RATS["days"]))


ARRAYS = (
    _row("NumPy: rats, 30 x 5", lambda _: rats.model(), _weights, backend="numpy"),
    *(
        _row(
            f"NumPy: regression, {n} x {p}", lambda d: regression_on(linear_regression, d),
            lambda d: _sweeps(regression_by_hand, regression_by_hand.prepare(d["x"], d["y"])),
            lambda n=n, p=p: _columns(n, p), backend="numpy",
        )
        for n, p in ((442, 10), (10_000, 50))
    ),
    *(
        _row(
            f"NumPy: factorisation, {n} x {m}, K = {k}", lambda d, k=k: _factorised(d, k),
            lambda d, k=k: _of_cells(d, k), lambda n=n, m=m, c=c: _cells((n, m), c),
            backend="numpy",
        )
        for n, m, c, k in ((43, 11, 430, 2), (2000, 1000, 60_000, 10))
    ),
    _row(
        "NumPy: topics, K = 20", lambda _: large_models.topics(20),
        lambda _: _sweeps(lda_by_hand, lda_by_hand.prepare(*lda.reuters(), 20)), backend="numpy",
    ),
    _row(
        "NumPy: Poisson factorisation, K = 20",
        lambda _: large_models.sparse_counts(large_models.counts(), 20), _counts_by_hand,
        backend="numpy",
    ),
    _row("NumPy: Ising", lambda _: large_models.spins(SPINS, COUPLING), _ising, backend="numpy"),
    *(
        _row(
            f"NumPy: hidden Markov, {n} x {k}",
            lambda d, k=k: large_models.markov(d["counts"], k),
            lambda d, k=k: _sweeps(markov_by_hand, markov_by_hand.prepare(d["counts"], k)),
            lambda n=n, k=k: {"counts": markov_by_hand.made_up(n, k)}, backend="numpy",
        )
        for n, k in ((5000, 4), (100, 2))
    ),
)  # fmt: skip
ROWS = (*LOOPS, *ARRAYS)
