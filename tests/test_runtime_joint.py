"""Joint draws from quadratic log densities, against dense linear algebra."""

import numpy as np
import pytest
from scipy import stats

from gibbsppl.runtime import layouts, patterns
from gibbsppl.runtime.factors import storage_of
from gibbsppl.runtime.joint import Joint, drawn
from gibbsppl.runtime.layouts import MOST_WORK, layout_of

LEVEL = 1e-6


def whole(*shape):
    return drawn(shape, [tuple((0, n) for n in shape)])


def chain(n):
    t = np.arange(1, n)
    return {"x": whole(n)}, [("x", (t,), "x", (t - 1,))]


def groups(n, m):
    """m groups of n scalars, each with its own mean, which share one."""
    g, j = np.arange(m)[:, None], np.arange(n)[None, :]
    arrays = {"a": whole(m, n), "b": whole(m), "mu": whole()}
    return arrays, [("a", (g, j), "b", (g,)), ("b", (np.arange(m),), "mu", ())]


def lattice(n):
    i, j = np.indices((n, n))
    pairs = [
        ("x", (i[1:], j[1:]), "x", (i[:-1], j[1:])),
        ("x", (i[1:], j[1:]), "x", (i[1:], j[:-1])),
    ]
    return {"x": whole(n, n)}, pairs


def crossed():
    g, h = np.array([0, 1, 2, 0, 1, 2, 2, 2]), np.array([0, 0, 0, 1, 1, 1, 1, 3])
    return {"u": whole(3), "v": whole(5)}, [("u", (g,), "v", (h,))]


def partly_known():
    """Some elements known; an array of which nothing is drawn in one place."""
    t = np.arange(1, 9)
    x = drawn((9,), [((2, 9),)], np.array([0, 0, 0, 1, 0, 0, 0, 1, 0]))
    return {"x": x, "m": whole(2)}, [("x", (t,), "x", (t - 1,)), ("x", (t,), "m", (t % 2,))]


def dense_rows():
    """Vectors that are dense in themselves: all pairs of entries, the diagonal too."""
    r, k, other = np.ix_(np.arange(4), np.arange(3), np.arange(3))
    return {"w": whole(4, 3), "c": whole(3)}, [
        ("w", (r, k), "w", (r, other)),
        ("w", (r[..., 0], k[..., 0]), "c", (k[..., 0],)),
    ]


def sizes_differ():
    """Components of one, two and three elements."""
    first, second = np.array([0, 2, 3]), np.array([1, 3, 4])
    return {"x": whole(7)}, [("x", (first,), "x", (second,))]


CASES = {
    "chain": chain(6),
    "groups": groups(3, 4),
    "lattice": lattice(4),
    "crossed": crossed(),
    "partly known": partly_known(),
    "dense rows": dense_rows(),
    "sizes differ": sizes_differ(),
    "one element": ({"x": whole()}, []),
}


def dense_of(arrays, pairs, state, given):
    """The log density as ``h x - x Q x / 2`` over all elements, known ones put in."""
    names = list(arrays)
    sizes = [arrays[n].size for n in names]
    start = dict(zip(names, np.cumsum([0, *sizes]), strict=False))
    n = sum(sizes)
    h, Q = np.zeros(n), np.zeros((n, n))
    own, values = given
    for name in names:
        at = start[name] + np.arange(arrays[name].size)
        h[at] = np.broadcast_to(own[name][0], arrays[name].shape).ravel()
        Q[at, at] = -2 * np.broadcast_to(own[name][1], arrays[name].shape).ravel()
    for (a, i, b, j), value in zip(pairs, values, strict=True):
        for at in np.ndindex(np.shape(value)):
            index = [tuple(np.broadcast_to(k, np.shape(value))[at] for k in ix) for ix in (i, j)]
            p = start[a] + int(np.ravel_multi_index(index[0], arrays[a].shape)) if i else start[a]
            q = start[b] + int(np.ravel_multi_index(index[1], arrays[b].shape)) if j else start[b]
            Q[p, q] -= value[at]
            Q[q, p] -= value[at]
    free = np.concatenate([arrays[name].ravel() for name in names])
    x = np.concatenate([np.ravel(state[name]) for name in names]).astype(float)
    h = h[free] - Q[np.ix_(free, ~free)] @ x[~free]
    return h, Q[np.ix_(free, free)], free


def example(name, rng):
    arrays, pairs = CASES[name]
    shapes = [np.broadcast_shapes(*(np.shape(k) for k in (*p[1], *p[3]))) for p in pairs]
    values = [0.3 * rng.standard_normal(s) for s in shapes]
    own = {
        n: (rng.standard_normal(f.shape), -rng.uniform(2, 3, f.shape)) for n, f in arrays.items()
    }
    state = {n: rng.standard_normal(f.shape) for n, f in arrays.items()}
    return arrays, pairs, state, (own, values)


def rounding(h, Q):
    """What a Cholesky factor may lose of a mean and of a covariance (N. J. Higham, 2002, 10.1)."""
    lost = len(Q) ** 2 * np.finfo(float).eps * np.linalg.cond(Q)
    return lost * np.linalg.norm(np.linalg.solve(Q, h)), lost * np.linalg.norm(np.linalg.inv(Q))


def flat(arrays, values):
    return np.concatenate([np.ravel(values[n])[f.ravel()] for n, f in arrays.items()])


@pytest.mark.parametrize("kind", ["blocks", "band", "sparse", "dense"])
@pytest.mark.parametrize("name", CASES)
def test_mean_and_covariance_are_those_of_dense_algebra(name, kind, monkeypatch):
    """Each way to factorise, forced: the mean to rounding, and the map from noise to draws."""
    rng = np.random.default_rng(1)
    arrays, pairs, state, given = example(name, rng)
    joint = made(arrays, pairs, kind, monkeypatch)
    h, Q, _free = dense_of(arrays, pairs, state, given)
    mean = np.linalg.solve(Q, h)
    far, off = rounding(h, Q)
    np.testing.assert_allclose(flat(arrays, joint.mean(state, given)), mean, rtol=0, atol=far)
    # A draw is mean + M z: the columns of M are found by units of noise, and M M' is Q^-1.
    columns = []
    for k in range(len(h)):
        noise = Units(k, len(h))
        columns.append(flat(arrays, joint.draw(noise, state, given)) - mean)
    M = np.stack(columns, axis=1)
    np.testing.assert_allclose(M @ M.T, np.linalg.inv(Q), rtol=0, atol=off)
    for n, f in arrays.items():
        drawn_once = joint.draw(rng, state, given)[n]
        assert np.array_equal(np.asarray(drawn_once)[~f], np.asarray(state[n])[~f])


class Units:
    """A generator of one unit of noise."""

    def __init__(self, at, size):
        self.z = np.eye(size)[at]

    def standard_normal(self, size):
        assert size == len(self.z)
        return self.z.copy()


def made(arrays, pairs, kind, monkeypatch):
    """A joint draw whose inside is factorised in one way."""
    if kind == "dense":
        return Joint(arrays, pairs)

    def chosen(owners, first, second, dense, last):
        del dense, last
        found = every_layout(owners, first, second)
        return next((x for x in found if x.kind == kind), found[0])

    monkeypatch.setattr(patterns, "layout_of", chosen)
    return Joint(arrays, pairs)


def every_layout(owners, first, second):
    """All layouts, those with a border first."""
    apart = first != second
    first, second = first[apart], second[apart]
    found = []
    for border in (owners == min(owners), np.zeros(len(owners), dtype=bool)):
        if not border.all():
            inside = layouts._Inside.of(border, first, second)
            found += [inside.in_blocks(), *inside.others(np.inf)]
    return found


def test_known_elements_of_turned_arrays_stay():
    """What is drawn is put into a state whose axes are in another order in memory."""
    free = np.array([[True, False, True], [False, True, True]])
    joint = Joint({"x": free}, [])
    state = {"x": np.asfortranarray(np.zeros(free.shape))}
    drawn = np.arange(1.0, 5.0)

    np.testing.assert_array_equal(joint.placed(state, drawn)["x"], [[1, 0, 2], [0, 3, 4]])


@pytest.mark.parametrize("spoilt", [0, 3, -1])
def test_planted_errors_are_seen(spoilt, monkeypatch):
    """Planted: one coefficient counted half, on the diagonal, beside the border, in its corner."""
    rng = np.random.default_rng(2)
    arrays, pairs, state, given = example("groups", rng)
    h, Q, _ = dense_of(arrays, pairs, state, given)
    joint = made(arrays, pairs, "blocks", monkeypatch)
    weights = joint.weights.copy()
    weights[spoilt] /= 2
    monkeypatch.setattr(joint, "weights", weights)
    mean = np.linalg.solve(Q, h)
    assert np.abs(flat(arrays, joint.mean(state, given)) - mean).max() > rounding(h, Q)[0]


def test_draws_have_the_distribution():
    rng = np.random.default_rng(3)
    arrays, pairs, state, given = example("groups", rng)
    h, Q, _ = dense_of(arrays, pairs, state, given)
    joint = Joint(arrays, pairs)
    x = np.stack([flat(arrays, joint.draw(rng, state, given)) for _ in range(4000)])
    standardised = (x - np.linalg.solve(Q, h)) @ np.linalg.cholesky(Q)
    assert stats.kstest(standardised.ravel(), "norm").pvalue > LEVEL


@pytest.mark.parametrize("kind", ["blocks", "band", "sparse", "dense"])
def test_a_precision_that_is_not_positive_definite_is_an_error(kind, monkeypatch):
    arrays, pairs = chain(4)
    joint = made(arrays, pairs, kind, monkeypatch)
    with pytest.raises(np.linalg.LinAlgError):
        joint.draw(np.random.default_rng(1), {}, ({"x": (0.0, -0.4)}, [np.ones(3)]))


def test_layouts_of_least_work():
    """Chains are bands, groups are blocks, hubs are borders, and what is small is dense."""
    t = np.arange(1, 1000)
    assert layout_of(np.zeros(1000, int), t, t - 1).told == "banded of width 1"
    hub = layout_of(
        np.repeat([0, 1], [2, 500]), np.tile([0, 1], 500), np.repeat(np.arange(2, 502), 2)
    )
    assert hub.told == "500 blocks of 1 and a border of 2"
    assert layout_of(np.zeros(9, int), np.arange(8), np.arange(1, 9)).told == "dense of order 9"
    shuffled = np.random.default_rng(1).permutation(1000)
    assert layout_of(np.zeros(1000, int), shuffled[1:], shuffled[:-1]).told == "banded of width 1"
    first = np.concatenate([t, np.repeat(np.arange(1000), 3)])
    second = np.concatenate([t - 1, np.tile([1000, 1001, 1002], 1000)])
    both = layout_of(np.repeat([0, 1], [1000, 3]), first, second)
    assert both.told == "banded of width 1 and a border of 3"


def at_random(count, edges):
    """Two groupings of equal size, crossed at random."""
    rng = np.random.default_rng(4)
    return rng.integers(0, count, edges), count + rng.integers(0, count, edges)


def nested(count, own):
    """A group of groups, and so on: a tree."""
    every = np.arange(1, count * own + 1)
    return every, (every - 1) // own


def square(n):
    """The neighbours on a lattice."""
    i = np.arange(n * n).reshape(n, n)
    down, right = (i[1:].ravel(), i[:-1].ravel()), (i[:, 1:].ravel(), i[:, :-1].ravel())
    return tuple(map(np.concatenate, zip(down, right, strict=True)))


GRAPHS = {
    "crossed": at_random(1000, 5000),
    "crossed, few edges": at_random(300, 600),
    "lattice": square(20),
    "nested": nested(20, 20),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_a_sparse_factor_has_no_more_entries_than_were_counted(name):
    n = 1 + int(np.max(GRAPHS[name]))
    first, second = layouts._edges(n, *GRAPHS[name])
    layout = layouts._sparse(
        np.arange(n), np.zeros(0, int), len(first), layouts._front(n, first, second)
    )
    storage = storage_of(layout, first, second)
    diagonal = storage.slots(np.arange(n), np.arange(n))[0]
    stored = -np.ones(storage.size)
    stored[diagonal] = n
    found = storage.factor(stored).lu.L.nnz
    assert found <= layout.entries


def is_affordable(layout):
    return layout.work <= MOST_WORK


def test_large_groupings_that_are_crossed_are_no_cheap_matrix():
    """Their factor fills up, however few entries the matrix has."""
    owners = np.repeat([0, 1], 6000)
    assert not is_affordable(layout_of(owners, *at_random(6000, 30_000)))
    assert is_affordable(layout_of(np.zeros(6001, int), *nested(75, 80)))


def test_pairs_that_several_terms_tie_count_once():
    t = np.arange(1, 1000)
    once, often = layout_of(np.zeros(1000, int), t, t - 1), np.tile(t, 40)
    again = layout_of(np.zeros(1000, int), often, often - 1)
    assert (again.told, again.work) == (once.told, once.work)


def test_what_is_too_large_says_so():
    n = 1200
    i, j = np.triu_indices(n, 1)
    layout = layout_of(np.zeros(n, int), i, j)
    assert not is_affordable(layout)


@pytest.mark.parametrize("seed", range(40))
def test_few_elements_have_the_order_and_the_components_that_scipy_finds(seed, monkeypatch):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    a, b = layouts._edges(n, *rng.integers(n, size=(2, int(rng.integers(0, 3 * n)))))
    few = layouts._reordered(n, a, b)
    monkeypatch.setattr(layouts, "FEW", 0)

    np.testing.assert_array_equal(few, layouts._reordered(n, a, b))
    graph = coo_array((np.ones(len(a)), (a, b)), shape=(n, n))
    expected = connected_components(graph, directed=False)[1]
    np.testing.assert_array_equal(layouts._components(n, a, b), expected)


def test_a_long_chain_in_any_order_is_one_component():
    order = np.random.default_rng(1).permutation(20_000)

    assert not layouts._components(len(order), order[:-1], order[1:]).any()
