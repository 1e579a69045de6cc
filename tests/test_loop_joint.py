"""Joint draws by kernels of loops, against those of whole arrays from the same generator."""

import itertools

import numpy as np
import pytest
from kernels_called import Called

from gibbsppl.runtime import layouts, loops, patterns
from gibbsppl.runtime.eliminations import elimination_of
from gibbsppl.runtime.factors import sparse_of
from gibbsppl.runtime.joint import Joint, drawn
from gibbsppl.runtime.joint_tables import pencil_tables, tables_of
from gibbsppl.runtime.loops import joint as kernels
from gibbsppl.runtime.loops import pencils as of_pencils
from gibbsppl.runtime.loops import sparse as sparse_kernels
from gibbsppl.runtime.loops import spreads
from gibbsppl.runtime.pencils import Pencil


def whole(*shape):
    return drawn(shape, [tuple((0, n) for n in shape)])


def chain(n):
    t = np.arange(1, n)
    return {"x": whole(n)}, [("x", (t,), "x", (t - 1,))]


def second_order(n):
    """Each element tied to the two before it."""
    t = np.arange(2, n)
    return {"x": whole(n)}, [("x", (t,), "x", (t - 1,)), ("x", (t,), "x", (t - 2,))]


def groups(n, m):
    """m groups of n scalars, each with its own mean, which share one."""
    g, j = np.arange(m)[:, None], np.arange(n)[None, :]
    arrays = {"a": whole(m, n), "b": whole(m), "mu": whole()}
    return arrays, [("a", (g, j), "b", (g,)), ("b", (np.arange(m),), "mu", ())]


def crossed():
    g, h = np.array([0, 1, 2, 0, 1, 2, 2, 2]), np.array([0, 0, 0, 1, 1, 1, 1, 3])
    return {"u": whole(3), "v": whole(5)}, [("u", (g,), "v", (h,))]


def chain_with_means():
    """A chain around two levels, which are a border."""
    t = np.arange(1, 12)
    return {"x": whole(12), "m": whole(2)}, [
        ("x", (t,), "x", (t - 1,)),
        ("x", (t,), "m", (t % 2,)),
        ("m", (0,), "m", (1,)),
    ]


def partly_known():
    """Some elements known; of these, some tied to each other and some to an array in the border."""
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
    "second order": second_order(9),
    "groups": groups(3, 4),
    "crossed": crossed(),
    "chain with means": chain_with_means(),
    "partly known": partly_known(),
    "dense rows": dense_rows(),
    "sizes differ": sizes_differ(),
    "one element": ({"x": whole()}, []),
}


def example(name, rng):
    arrays, pairs = CASES[name]
    shapes = [np.broadcast_shapes(*(np.shape(k) for k in (*p[1], *p[3]))) for p in pairs]
    values = [0.3 * rng.standard_normal(s) for s in shapes]
    own = {
        n: (rng.standard_normal(f.shape), -rng.uniform(2, 3, f.shape)) for n, f in arrays.items()
    }
    state = {n: rng.standard_normal(f.shape) for n, f in arrays.items()}
    return arrays, pairs, state, (own, values)


def joints(arrays, pairs, monkeypatch):
    """A joint draw in each layout: with a border and without, in blocks, a band, and dense."""
    found = [Joint(arrays, pairs)]
    for start, kind in itertools.product((0, 1), ("blocks", "band", "sparse")):

        def chosen(owners, first, second, dense, last, start=start, kind=kind):
            own = every_layout(owners, first, second, bordered=start == 0)
            return next((x for x in own if x.kind == kind), own[0])

        with monkeypatch.context() as patch:
            patch.setattr(patterns, "layout_of", chosen)
            found.append(Joint(arrays, pairs))
    return found


def every_layout(owners, first, second, *, bordered):
    apart = first != second
    border = owners == min(owners)
    if not bordered or border.all():
        border = np.zeros(len(owners), dtype=bool)
    inside = layouts._Inside.of(border, first[apart], second[apart])
    return [inside.in_blocks(), *inside.others(np.inf)]


def filled_by_tables(tables, state, given):
    """The entries and coefficients, added one by one as the docstring of the tables says."""
    filled, linear = np.zeros(tables.stored + 1), np.zeros(tables.size + 1)
    own, values = given
    for a in tables.arrays:
        for m, position in enumerate(a.positions):
            linear[a.start + m] += np.ravel(own[a.name][0])[position]
            filled[tables.squares[a.start + m]] -= 2.0 * np.ravel(own[a.name][1])[position]
    for pair, slots in enumerate(tables.pairs):
        for e, slot in enumerate(slots):
            times = 2.0 if tables.doubled[pair][e] else 1.0
            filled[slot] -= times * np.ravel(values[pair])[e]
    for b in tables.beside:
        for m, e in enumerate(b.entries):
            known = np.ravel(state[b.array])[b.positions[m]]
            linear[b.rows[m]] += np.ravel(values[b.pair])[e] * known
    return filled, linear


def drawn_by(module, tables, rng, filled, linear):
    out = np.empty(tables.size)
    if tables.kernel == "joint_sparse":
        module = Called("sparse") if isinstance(module, Called) else sparse_kernels
    getattr(module, tables.kernel)(rng, filled, linear, *tables.arguments, out)
    return out


@pytest.mark.parametrize("name", CASES)
def test_draws_equal_those_of_whole_arrays_in_every_layout(name, monkeypatch):
    rng = np.random.default_rng(1)
    arrays, pairs, state, given = example(name, rng)
    for joint in joints(arrays, pairs, monkeypatch):
        tables = tables_of(joint)
        filled, linear = filled_by_tables(tables, state, given)
        ours, theirs = np.random.default_rng(2), np.random.default_rng(2)
        found = drawn_by(kernels, tables, ours, filled, linear)
        expected = joint.flat(joint.draw(theirs, state, given))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
        assert ours.random() == theirs.random()


def units(joint, tables, state, given, x, band=spreads.spread_band):
    """A vector, in the order of factorisation, in units of the precision; and what comes back."""
    *layout, border, order = tables.arguments
    kind = tables.kernel.removeprefix("joint_")
    solver = sparse_kernels if kind == "sparse" else kernels
    filled, _ = filled_by_tables(tables, state, given)
    none = np.zeros(len(order))
    assert getattr(solver, f"solve_{kind}")(filled, *layout, border, none.copy(), none)
    own = (layout[:2] if kind == "sparse" else layout), border
    found = x.copy()
    (band if kind == "band" else getattr(spreads, f"spread_{kind}"))(filled, *own[0], border, found)
    back = found.copy()
    getattr(spreads, f"drawn_{kind}")(filled, *own[0], border, back)
    away = np.empty(len(order))
    away[order] = x
    return found @ found, joint.distance(given, away), back


@pytest.mark.parametrize("name", CASES)
def test_units_are_those_of_the_precision_and_go_back_in_every_layout(name, monkeypatch):
    rng = np.random.default_rng(6)
    arrays, pairs, state, given = example(name, rng)
    for joint in joints(arrays, pairs, monkeypatch):
        x = rng.standard_normal(joint.size)
        found, expected, back = units(joint, tables_of(joint), state, given, x)
        np.testing.assert_allclose(found, expected, rtol=1e-10)
        np.testing.assert_allclose(back, x, rtol=1e-9, atol=1e-11)


def test_columns_of_a_band_that_are_not_multiplied_back_are_seen():
    def as_they_are(filled, width, border, x):
        band = filled[: len(x) * (width + 1)].reshape((len(x), width + 1))
        for i in range(len(x)):
            x[i] = sum(band[i, d] * x[i + d] for d in range(min(width, len(x) - 1 - i) + 1))

    arrays, pairs, state, given = example("chain", np.random.default_rng(7))
    joint = Joint(arrays, pairs, dense=0)
    tables, x = tables_of(joint), np.ones(joint.size)
    assert tables.kernel == "joint_band"
    found, expected, _ = units(joint, tables, state, given, x, as_they_are)
    assert abs(found - expected) > 0.01 * expected


def test_deviations_are_draws_less_the_mean(monkeypatch):
    """Those of one column are those of a draw; of several, column by column."""
    for name in CASES:
        arrays, pairs, _, given = example(name, np.random.default_rng(8))
        for joint in joints(arrays, pairs, monkeypatch):
            z = np.random.default_rng(9).standard_normal((3, joint.size)).T
            found = joint.deviations(given, z)
            theirs = np.random.default_rng(9)
            for n in range(3):
                expected = joint.normal(theirs, joint.zeros, given)[1]
                np.testing.assert_allclose(found[:, n], expected, rtol=1e-9, atol=1e-11)


def test_all_kinds_of_layouts_are_drawn_from(monkeypatch):
    kinds = set()
    for arrays, pairs in CASES.values():
        for joint in joints(arrays, pairs, monkeypatch):
            kinds.add((joint.layout.kind, joint.border > 0, joint.in_order))
    expected = set(itertools.product(("blocks", "band", "sparse"), (True, False)))
    assert {k[:2] for k in kinds} == expected
    assert {k[2] for k in kinds} == {True, False}


@pytest.mark.parametrize("case", [chain(300), groups(4, 60), second_order(200)])
def test_draws_of_chosen_layouts_equal_those_of_whole_arrays(case):
    arrays, pairs = case
    joint = Joint(arrays, pairs)
    rng = np.random.default_rng(3)
    given = {n: (rng.standard_normal(f.shape), -3.0) for n, f in arrays.items()}
    given = given, [rng.uniform(0.1, 0.8) for _ in pairs]
    state = {n: np.zeros(f.shape) for n, f in arrays.items()}
    tables = tables_of(joint)
    full = {n: (one, np.full(arrays[n].shape, two)) for n, (one, two) in given[0].items()}
    every = [np.full(len(s), value) for s, value in zip(tables.pairs, given[1], strict=True)]
    filled, linear = filled_by_tables(tables, state, (full, every))
    found = drawn_by(kernels, tables, np.random.default_rng(4), filled, linear)
    expected = joint.flat(joint.draw(np.random.default_rng(4), state, given))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_a_precision_that_is_not_positive_definite_is_an_error(monkeypatch):
    arrays, pairs = chain_with_means()
    given = {"x": (np.zeros(12), np.full(12, -0.4)), "m": (np.zeros(2), np.full(2, -0.4))}
    for joint in joints(arrays, pairs, monkeypatch):
        tables = tables_of(joint)
        filled, linear = filled_by_tables(tables, {}, (given, [np.ones(11), np.ones(11), [1.0]]))
        with pytest.raises(ValueError, match="not positive definite"):
            drawn_by(kernels, tables, np.random.default_rng(1), filled, linear)


def test_planted_errors_of_tables_are_seen():
    """Planted: a place of a pair's entry moved by one."""
    rng = np.random.default_rng(5)
    arrays, pairs, state, given = example("groups", rng)
    joint = Joint(arrays, pairs)
    tables = tables_of(joint)
    tables.pairs[0][3] += 1
    filled, linear = filled_by_tables(tables, state, given)
    found = drawn_by(kernels, tables, np.random.default_rng(2), filled, linear)
    expected = joint.flat(joint.draw(np.random.default_rng(2), state, given))
    assert np.abs(found - expected).max() > 1e-3


def lattice(n):
    """A plane of elements, each tied to its neighbours."""
    i, j = np.arange(n)[:, None], np.arange(n)[None, :]
    return {"x": whole(n, n)}, [
        ("x", (i[1:], j), "x", (i[1:] - 1, j)),
        ("x", (i, j[:, 1:]), "x", (i, j[:, 1:] - 1)),
    ]


@pytest.mark.parametrize("pattern", [lattice(12), chain(900), ({"x": whole(3)}, [])])
def test_an_elimination_has_all_entries_of_the_factor(pattern):
    joint = Joint(*pattern, dense=0)
    _, first, second = joint.entries
    apart = first != second
    storage = sparse_of(joint.size, first[apart], second[apart])
    found = elimination_of(storage)
    matrix = 4.5 * np.eye(joint.size)
    matrix[first[apart], second[apart]] = matrix[second[apart], first[apart]] = -1.0
    order = np.argsort(found.rank)
    factor = np.linalg.cholesky(matrix[np.ix_(order, order)])
    columns = np.repeat(np.arange(joint.size), np.diff(found.starts))
    places = set(zip(found.rows.tolist(), columns.tolist(), strict=True))

    assert {(int(i), int(j)) for i, j in np.argwhere(np.abs(factor) > 1e-300)} <= places
    assert len(places) == found.size
    assert found.size < joint.size * joint.size // 4 or joint.size < 10


def pencils():
    """Pencils of one block, of several, of elements out of order, of one matrix, and far apart."""
    t = np.arange(1, 5)
    line = {"x": whole(5)}, [("x", (t,), "x", (t - 1,))]
    yield "one block", Joint(*line), [({"x": -1.0}, [0.0]), ({"x": -1.0}, [0.8])], (1.0, 3.0)
    yield "one matrix", Joint(*line), [({"x": -1.0}, [0.8])], (2.5,)
    g = np.array([0, 1, 2])
    turned = {"x": whole(6)}, [("x", (g,), "x", (g + 3,))]
    apart = Joint(*turned, dense=0, in_blocks=True)
    yield "blocks", apart, [({"x": -1.0}, [0.0]), ({"x": -2.0}, [1.0])], (0.5, 2.0)
    far = [({"x": -1.0}, [0.5]), ({"x": np.array([-1.0, -1.0, 0.0, 0.0, 0.0])}, [0.0])]
    yield "far apart", Joint(*line), far, (1e-20, 3.0)


@pytest.mark.parametrize("case", list(pencils()), ids=lambda c: c[0])
def test_draws_of_pencils_equal_those_of_whole_arrays(case):
    _, joint, fixed, scales = case
    pencil = Pencil(joint, fixed)
    linear = {n: np.random.default_rng(6).standard_normal(s) for n, s in joint.shapes.items()}
    ours, theirs = np.random.default_rng(7), np.random.default_rng(7)
    out = np.empty(joint.size)
    of_pencils.pencil(ours, joint.flat(linear), np.array(scales), *pencil_tables(pencil), out)
    expected = joint.flat(pencil.draw(theirs, {}, (linear, list(scales))))
    np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-11)
    assert ours.random() == theirs.random()

    mean, noise = np.empty(joint.size), np.empty(joint.size)
    again, given = np.random.default_rng(7), (joint.flat(linear), np.array(scales))
    of_pencils.pencil_apart(again, *given, *pencil_tables(pencil), mean, noise)
    np.testing.assert_allclose(mean + noise, out, rtol=1e-9, atol=1e-11)
    known = pencil.normal(np.random.default_rng(7), {}, (linear, list(scales)))
    np.testing.assert_allclose((mean, noise), known, rtol=1e-9, atol=1e-11)


def test_pencils_use_factors_where_elements_are_far_apart():
    _, joint, fixed, scales = list(pencils())[-1]
    pencil = Pencil(joint, fixed)
    assert pencil._factor(scales, pencil.scaled(scales)) is not None


def test_pencils_without_rows_are_an_error():
    joint = Joint({"x": whole(2)}, [("x", (0,), "x", (1,))])
    pencil = Pencil(joint, [({"x": 0.5}, [0.0]), ({"x": 0.5}, [1.0])])
    with pytest.raises(ValueError, match="not positive definite"):
        of_pencils.pencil(
            np.random.default_rng(1),
            np.zeros(2),
            np.array([1.0, -1.0]),
            *pencil_tables(pencil),
            np.empty(2),
        )


@pytest.mark.slow
def test_compiled_draws_equal_plain_ones(monkeypatch):
    pytest.importorskip("numba")
    compiled = Called("joint")

    assert loops.kernel is not compiled.kernel
    for name in CASES:
        arrays, pairs, state, given = example(name, np.random.default_rng(1))
        for joint in joints(arrays, pairs, monkeypatch):
            tables = tables_of(joint)
            filled, linear = filled_by_tables(tables, state, given)
            plain, other = (
                drawn_by(m, tables, np.random.default_rng(8), filled.copy(), linear.copy())
                for m in (kernels, compiled)
            )
            np.testing.assert_array_equal(plain, other)
    for _, joint, fixed, scales in pencils():
        found = np.empty((2, joint.size))
        for out, m in zip(found, (of_pencils, Called("pencils")), strict=True):
            linear = np.linspace(-1.0, 1.0, joint.size)
            tables = pencil_tables(Pencil(joint, fixed))
            m.pencil(np.random.default_rng(9), linear, np.array(scales), *tables, out)
        np.testing.assert_allclose(*found, rtol=1e-12)


# ---- blocks and bands of all sizes beside a border --------------------------------------------


def of_parts(inside, border, rng):
    """A precision whose inside has a pattern, with its stored parts beside a border."""
    size = len(inside)
    full = np.zeros((size + border, size + border))
    full[:size, :size] = inside
    full[size:, :size] = rng.standard_normal((border, size))
    full[size:, size:] = np.eye(border)
    full += np.tril(full, -1).T
    # (rows that outweigh what is beside the diagonal: such a matrix is positive definite)
    full[np.diag_indices(size + border)] = 1.0 + np.abs(full - np.diag(np.diag(full))).sum(axis=1)
    return full


def exactly(full, x, z):
    lower = np.linalg.cholesky(full)
    return np.linalg.solve(lower.T, np.linalg.solve(lower, x) + z)


def rounding(full):
    """The error that solutions with a matrix may have, as a share: its condition, for each row."""
    return len(full) * np.linalg.cond(full) * np.finfo(float).eps


@pytest.mark.parametrize("border", [0, 1, 2, 3])
@pytest.mark.parametrize(("counts", "orders"), [
    ([5], [1]), ([4], [2]), ([3], [3]), ([3, 2, 2], [1, 2, 3]), ([2, 2], [2, 1]),
])  # fmt: skip
def test_blocks_are_solved_as_the_whole_matrix(counts, orders, border):
    rng = np.random.default_rng(1)
    sizes = np.repeat(orders, counts)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    inside = np.tril(rng.standard_normal((len(owner), len(owner))))
    full = of_parts(np.where(owner[:, None] == owner, inside, 0.0), border, rng)
    size, (x, z) = len(owner), rng.standard_normal((2, len(full)))
    blocks = [full[np.ix_(owner == b, owner == b)].ravel() for b in range(len(sizes))]
    stored = np.concatenate([*blocks, full[:size, size:].ravel(), full[size:, size:].ravel()])
    found = x.copy()

    assert kernels.solve_blocks(stored, np.array(counts), np.array(orders), border, found, z.copy())
    np.testing.assert_allclose(found, exactly(full, x, z), rtol=0, atol=rounding(full))


@pytest.mark.parametrize("border", [0, 1, 2, 3])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_bands_are_solved_as_the_whole_matrix(width, border):
    rng, size = np.random.default_rng(2), 9
    inside = np.tril(rng.standard_normal((size, size)))
    full = of_parts(np.triu(inside, -width), border, rng)
    x, z = rng.standard_normal((2, len(full)))
    band = np.zeros((size, width + 1))
    for d in range(width + 1):
        band[: size - d, d] = np.diag(full[:size, :size], -d)
    parts = band.ravel(), full[:size, size:].ravel(), full[size:, size:].ravel()
    found = x.copy()

    assert kernels.solve_band(np.concatenate(parts), width, border, found, z.copy())
    np.testing.assert_allclose(found, exactly(full, x, z), rtol=0, atol=rounding(full))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_blocks_that_are_not_positive_definite_are_seen(order):
    """Planted: the last entry of the last block is nought."""
    stored = np.tile(np.eye(order).ravel(), 4)
    x, z = np.zeros((2, 4 * order))
    assert kernels.solve_blocks(stored.copy(), np.array([4]), np.array([order]), 0, x, z)
    stored[-1] = 0.0
    assert not kernels.solve_blocks(stored, np.array([4]), np.array([order]), 0, x, z)
