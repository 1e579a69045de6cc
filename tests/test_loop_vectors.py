"""Kernels of vectors, matrices, labels and chains of labels, against draws of whole arrays."""

import numpy as np
import pytest
from kernels_called import Called
from scipy import stats

from gibbsppl import runtime
from gibbsppl.runtime.draws import dirichlet_of
from gibbsppl.runtime.loops import chains as chains_module
from gibbsppl.runtime.loops import labels as labels_module
from gibbsppl.runtime.loops import matrices, vectors
from gibbsppl.runtime.loops.chains import chain, chain_by_step
from gibbsppl.runtime.loops.filters import lead
from gibbsppl.runtime.loops.labels import labels
from gibbsppl.runtime.multinomials import SMALL_TOTAL
from gibbsppl.runtime.special import von_mises_fisher

LEVEL = 1e-4


def generators(seed):
    return np.random.default_rng(seed), np.random.default_rng(seed)


def positive_definite(rng, size):
    A = rng.standard_normal((size, 2 * size))
    return A @ A.T / size


@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_labels_equal_those_of_whole_arrays(size):
    logs = 5.0 * np.random.default_rng(1).standard_normal((size, 50))
    logs[1:, ::7] = -np.inf
    logs[:, ::5] += 1e5
    ours, theirs = generators(2)
    found = [labels(ours, logs[:, n].copy()) for n in range(50)]
    np.testing.assert_array_equal(found, runtime.labels(theirs, logs))


@pytest.mark.parametrize("spoilt", [[-np.inf, -np.inf], [0.0, np.nan], [np.inf, 0.0]])
def test_labels_need_weights_that_are_numbers(spoilt):
    with pytest.raises(ValueError, match="probability zero"):
        labels(np.random.default_rng(1), np.array(spoilt))


def chains(count, size, rng):
    """Log weights and transitions, with data of any strength, and labels that are known."""
    weights = 3.0 * rng.standard_normal((count, size))
    transitions = np.log(rng.dirichlet(np.ones(size), (count - 1, size)))
    known = rng.random(count) < 0.3
    return weights, transitions, known


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("count", [1, 2, 30, 200])
def test_chains_equal_those_of_whole_arrays(size, count):
    rng = np.random.default_rng(3)
    weights, transitions, known = chains(count, size, rng)
    one = transitions[0] if count > 1 else np.zeros((size, size))
    now = rng.integers(1, 1 + size, count)
    settings = {"name": "z", "lower": 1, "now": now, "known": known}
    by_step = np.moveaxis(transitions, 0, -1) if count > 1 else one
    for kernel, given, whole in ((chain, one, one), (chain_by_step, transitions, by_step)):
        ours, theirs = generators(4)
        out = np.zeros(count, dtype=int)
        kernel(ours, weights.copy(), given, 1, now, known, out)
        expected = runtime.chain(theirs, weights.T, whole, **settings)
        np.testing.assert_array_equal(out, expected)
        assert ours.random() == theirs.random()


def path_probabilities(weights, transitions):
    """The probability of each sequence of labels, by enumeration."""
    count, size = weights.shape
    paths = np.indices([size] * count).reshape(count, -1)
    logs = weights[np.arange(count)[:, None], paths].sum(axis=0)
    steps = np.arange(count - 1)[:, None]
    logs = logs + transitions[steps, paths[:-1], paths[1:]].sum(axis=0)
    weights = np.exp(logs - logs.max())
    return paths, weights / weights.sum()


SMALL = ["led by what is small", "small of its own data", "small of what led there"]


@pytest.mark.parametrize("size", [1, 4, 5, 6, 30])
def test_a_filter_is_led_by_all_labels(size):
    rng = np.random.default_rng(size)
    now, transitions, found = rng.random(size), rng.random((size, size)), np.empty(size)
    lead(now, transitions, found)
    np.testing.assert_allclose(found, now @ transitions, rtol=1e-14)


@pytest.mark.parametrize("kind", ["ordinary", "impossible", "far apart", *SMALL])
def test_chains_have_the_distribution_of_all_paths(kind):
    """Also where products of weights underflow, and only logs of what is small lead on."""
    rng = np.random.default_rng(5)
    weights, transitions, _ = chains(5, 3, rng)
    if kind == "impossible":
        transitions[:, 0, 1] = transitions[1, 2, 2] = -np.inf
    if kind == "far apart":
        transitions[...] *= 300.0
        weights *= 100.0
    if kind == "led by what is small":
        # The first data make label 0 all but certain, the last are impossible for it.
        weights[0] = [0.0, -800.0, -801.0]
        weights[4] = [-np.inf, 0.0, 0.5]
        transitions[:, 0, 1:] = -np.inf
    if kind in SMALL[1:]:
        # At position 2 label 0 is all but certain, whose labels after are not those of the last.
        weights[2] = [7.0, -793.0, -794.0] if kind == SMALL[1] else 7.0
        if kind == SMALL[2]:
            transitions[1, :, 1:] -= 800.0
        weights[4] = [-np.inf, 0.0, 0.5]
        transitions[2:, 0, 1:] = -np.inf
    paths, expected = path_probabilities(weights, transitions)
    draws = np.empty((2000, 5), dtype=int)
    known = np.zeros(5, dtype=bool)
    for out in draws:
        chain_by_step(rng, weights.copy(), transitions, 0, out, known, out)
    code = np.ravel_multi_index(tuple(draws.T), (3,) * 5)
    counts = np.bincount(code, minlength=paths.shape[1])
    assert counts[expected == 0.0].sum() == 0
    often = expected * 2000 > 5
    seen = [*counts[often], counts[~often].sum()]
    hoped = np.array([*expected[often], expected[~often].sum()])
    seen, hoped = np.array(seen)[hoped > 0], hoped[hoped > 0]
    if len(seen) > 1:
        assert stats.chisquare(seen, 2000 * hoped).pvalue > LEVEL


def test_data_that_nothing_can_have_led_to_are_an_error():
    stay = np.where(np.eye(2) > 0, 0.0, -np.inf)
    weights = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    known, out = np.zeros(2, dtype=bool), np.zeros(2, dtype=int)
    for kernel, transitions in ((chain, stay), (chain_by_step, stay[None])):
        with pytest.raises(ValueError, match="no labels are possible"):
            kernel(np.random.default_rng(1), weights.copy(), transitions, 0, out, known, out)
        lost = np.full(transitions.shape, np.nan)
        with pytest.raises(ValueError, match="a transition"):
            kernel(np.random.default_rng(1), np.zeros((2, 2)), lost, 0, out, known, out)


@pytest.mark.parametrize("size", [1, 2, 3, 8, 16, 17, 22])
def test_matrices_are_those_of_dense_algebra(size):
    rng = np.random.default_rng(size)
    Q = positive_definite(rng, size)
    spoilt = np.tril(Q) + np.triu(np.full(Q.shape, np.nan), 1)
    matrices.cholesky(spoilt)
    lower = np.linalg.cholesky(Q)
    np.testing.assert_allclose(np.tril(spoilt), lower, rtol=1e-9, atol=1e-12)
    rows = rng.standard_normal((size, 3))
    for column in (rows[:, 0].copy(), rows[:, 1].copy()):
        half, whole = column.copy(), column.copy()
        matrices.forward(lower, half)
        matrices.backward(lower, whole)
        np.testing.assert_allclose(lower @ half, column, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(lower.T @ whole, column, rtol=1e-9, atol=1e-12)
    both = rows.copy()
    matrices.forward_rows(lower, both)
    matrices.backward_rows(lower, both)
    np.testing.assert_allclose(Q @ both, rows, rtol=1e-8, atol=1e-11)
    found = np.empty(Q.shape)
    matrices.inverse_of_factor(lower, found)
    np.testing.assert_allclose(found, np.linalg.inv(Q), rtol=1e-8, atol=1e-11)
    A = rng.standard_normal((size, size))
    matrices.inverse(A.copy(), found)
    np.testing.assert_allclose(found, np.linalg.inv(A), rtol=1e-8, atol=1e-11)
    assert np.isclose(matrices.logdet(Q.copy()), runtime.logdet(Q), rtol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 8, 22])
def test_equations_are_solved(size):
    """Also where the matrix is not symmetric, though its lower half is that of a definite one."""
    rng = np.random.default_rng(size)
    Q, right, found = positive_definite(rng, size), rng.standard_normal(size), np.empty(size)
    other = np.tril(Q) + np.triu(rng.standard_normal((size, size)), 1)
    for matrix in ((Q + Q.T) / 2, other, -Q):
        matrices.solution(matrix.copy(), right, found)
        np.testing.assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-7)
    matrices.solution(np.zeros((size, size)), right, found)
    assert np.isnan(found).all()


def test_equations_of_unequal_scales_are_solved():
    """A corner that is small beside both diagonals is large beside what its pair may be."""
    matrix, right, found = np.array([[1e8, 0.0], [1e-5, 1e-8]]), np.array([1.0, 1.0]), np.empty(2)
    matrices.solution(matrix.copy(), right, found)

    np.testing.assert_allclose(found, [1e-8, (1 - 1e-13) / 1e-8], rtol=1e-12)


def test_matrices_without_an_inverse_or_a_factor():
    ones = np.ones((2, 2))
    found = np.empty((2, 2))
    matrices.inverse(ones.copy(), found)
    assert np.isnan(found).all()
    matrices.inverse(ones[::-1] - np.eye(2), found)  # (a pivot of 0 at first)
    np.testing.assert_array_equal(found, ones - np.eye(2))
    large = np.eye(matrices.LEAST_COLUMNS)
    for matrix in (ones, -ones, np.nan * ones, large - 0.5, -large, np.nan * large):
        assert np.isnan(matrices.logdet(matrix.copy()))
        assert not matrices.factorised(matrix.copy())
        with pytest.raises(ValueError, match="a precision matrix is not positive definite"):
            matrices.cholesky(matrix.copy())


def test_shares_equal_those_of_whole_arrays():
    """Of shapes that sum to 1 or more, all rows; of others, one row."""
    rng = np.random.default_rng(6)
    eta = rng.gamma(1.0, size=(50, 4)) * 3 - 0.7
    eta[:, 0] += 1.0
    ours, theirs = generators(7)
    found = np.empty(eta.shape)
    for row, out in zip(eta, found, strict=True):
        vectors.dirichlet(ours, row.copy(), out)
    np.testing.assert_allclose(found, runtime.dirichlet(theirs, eta, eta.shape), rtol=1e-14)
    for shapes in ([1e-3, 0.2, 0.3], [2**-50, 2**-52], [0.0, 2.0, 0.0], [0.5, 0.0, 1e-3], [3.0]):
        ours, theirs = generators(8)
        out = np.empty(len(shapes))
        vectors.dirichlet(ours, np.array(shapes) - 1.0, out)
        expected = dirichlet_of(theirs, np.array(shapes) - 1.0 + 1.0, out.shape)
        np.testing.assert_allclose(out, expected, rtol=1e-13)


@pytest.mark.parametrize("eta", [[-1.0, -1.0], [-1.5, 3.0], [np.nan, 1.0]])
def test_shares_of_shapes_that_are_not_positive_are_an_error(eta):
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(ValueError, match=r"not positive|shapes of a draw of shares"),
    ):
        vectors.dirichlet(np.random.default_rng(1), np.array(eta), np.empty(2))


def test_shares_of_tiny_shapes_have_their_distribution():
    """Of shapes next to 0, one share takes all, in proportion to the shapes."""
    rng = np.random.default_rng(9)
    found = np.empty((2000, 2))
    for out in found:
        vectors.dirichlet(rng, np.array([0.3, 0.6]) - 1.0, out)
    assert stats.kstest(found[:, 0], stats.beta(0.3, 0.6).cdf).pvalue > LEVEL


@pytest.mark.parametrize("n", [0, 1, 3, SMALL_TOTAL, SMALL_TOTAL + 1, 1000])
def test_counts_have_the_distribution_of_multinomials(n):
    rng = np.random.default_rng(10)
    p = np.array([0.1, 0.0, 0.25, 0.6499, 1e-4])
    with np.errstate(divide="ignore"):
        eta = np.log(p) + 1000.0
    found = np.empty((2000, 5), dtype=int)
    for out in found:
        vectors.multinomial(rng, eta.copy(), n, out)
    assert (found.sum(axis=1) == n).all()
    assert (found[:, 1] == 0).all()
    if n:
        for k in (0, 2, 3, 4):
            sd = np.sqrt(n * p[k] * (1 - p[k]) / 2000)
            assert abs(found[:, k].mean() - n * p[k]) < 4.5 * sd
        ratio = found[:, 2].var() / (n * 0.25 * 0.75)
        assert 0.85 < ratio < 1.15
        product = np.cov(found[:, 2], found[:, 3])[0, 1]
        assert 0.8 < product / (-n * p[2] * p[3]) < 1.2


def test_large_counts_of_one_row_equal_those_of_whole_arrays():
    """One row of more labels than NumPy's own draws are used for, label by label."""
    eta = np.random.default_rng(11).standard_normal(1001)
    ours, theirs = generators(12)
    out = np.empty(1001, dtype=int)
    vectors.multinomial(ours, eta.copy(), 5000, out)
    expected = np.asarray(runtime.multinomial(theirs, eta, (1001,), n=5000))
    np.testing.assert_array_equal(out, expected.ravel())


def test_counts_that_cannot_be_are_an_error():
    rng, out = np.random.default_rng(1), np.empty(2, dtype=int)
    for eta, n, message in (
        ([0.0, 0.0], -1, "negative"),
        ([0.0, 0.0], 0.5, "whole"),
        ([-np.inf, -np.inf], 3, "probability zero"),
        ([0.0, np.nan], 3, "no number"),
    ):
        with pytest.raises(ValueError, match=message):
            vectors.multinomial(rng, np.array(eta), n, out)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_normal_vectors_equal_those_of_whole_arrays(size):
    rng = np.random.default_rng(13)
    h = rng.standard_normal((50, size))
    eta_2 = np.stack([-positive_definite(rng, size) for _ in range(50)])
    skew = rng.standard_normal(eta_2.shape)
    eta_2 += skew - np.swapaxes(skew, 1, 2)  # (only the symmetric part counts)
    ours, theirs = generators(14)
    found = np.empty(h.shape)
    for eta, square, out in zip(h, eta_2, found, strict=True):
        vectors.mvnormal(ours, eta.copy(), square.copy(), out)
    # (for few systems whole arrays solve in another way, with the same numbers)
    expected = runtime.mvnormal(theirs, h, eta_2, h.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    ours, theirs = generators(15)
    out = np.empty(size)
    vectors.mvnormal(ours, h[0].copy(), eta_2[0].copy(), out)
    expected = runtime.mvnormal(theirs, h[0], eta_2[0], (size,))
    np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["wishart", "inverse_wishart"])
@pytest.mark.parametrize("size", [1, 2, 5])
@pytest.mark.parametrize("more", [0.05, 0.3, 7.0, 1e6])
def test_wishart_matrices_equal_those_of_whole_arrays(name, size, more):
    """One at a time; of degrees of freedom just above the least, too."""
    rng = np.random.default_rng(16)
    eta_2 = -positive_definite(rng, size) + np.triu(np.ones((size, size)), 1)
    eta_2 -= np.tril(np.ones((size, size)), -1)
    nu = size - 1 + more
    eta_1 = (nu - size - 1) / 2 if name == "wishart" else -(nu + size + 1) / 2
    ours, theirs = generators(17)
    for _ in range(10):
        out = np.empty((size, size))
        getattr(vectors, name)(ours, eta_1, eta_2.copy(), out)
        expected = getattr(runtime, name)(theirs, eta_1, eta_2, (size, size))
        np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-9 * np.abs(expected).max())
        np.testing.assert_array_equal(out, out.T)
    assert ours.random() == theirs.random()


def test_matrices_out_of_the_domain_are_an_error():
    rng, out, minus = np.random.default_rng(1), np.empty((2, 2)), -np.eye(2)
    with pytest.raises(ValueError, match="not positive definite"):
        vectors.mvnormal(rng, np.zeros(2), np.eye(2), out[0])
    with pytest.raises(ValueError, match="not positive definite"):
        vectors.wishart(rng, 1.0, np.eye(2), out)
    with pytest.raises(ValueError, match="shape"):
        vectors.wishart(rng, -1.0, minus.copy(), out)
    with pytest.raises(ValueError, match="shape"):
        vectors.inverse_wishart(rng, -2.0, minus.copy(), out)
    with pytest.raises(ValueError, match="shape"):
        vectors.inverse_wishart(rng, np.nan, minus.copy(), out)


@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("concentration", [0.0, 1e-300, 0.5, 30.0, 1e12, 1e300])
def test_directions_equal_those_of_whole_arrays(size, concentration):
    eta = concentration * np.linspace(-1.0, 2.0, size)
    ours, theirs = generators(18)
    for _ in range(10):
        out = np.empty(size)
        vectors.von_mises_fisher(ours, eta.copy(), out)
        np.testing.assert_allclose(out, von_mises_fisher(theirs, eta, (size,)), atol=1e-12)
    assert ours.random() == theirs.random()


def test_directions_need_a_finite_vector_of_two_entries():
    rng = np.random.default_rng(1)
    with pytest.raises(ValueError, match="finite"):
        vectors.von_mises_fisher(rng, np.array([np.inf, 1.0]), np.empty(2))
    with pytest.raises(ValueError, match="two entries"):
        vectors.von_mises_fisher(rng, np.array([1.0]), np.empty(1))


def test_compiled_labels_equal_plain_ones():
    pytest.importorskip("numba")
    compiled = Called("labels").labels

    logs = 5.0 * np.random.default_rng(19).standard_normal((50, 4))
    ours, theirs = generators(20)
    found = [labels(ours, row.copy()) for row in logs]
    assert found == [compiled(theirs, row.copy()) for row in logs]


def calls(rng):
    """Arguments of each kernel that draws, without the generator."""
    known = np.array([False, True, False, False])
    now = np.array([1, 2, 0, 1])
    weights, transitions, _ = chains(4, 3, rng)
    Q = -positive_definite(rng, 4)
    small = np.log([0.2, 0.3, 0.5])
    return {
        "chain": (weights, transitions[0], 0, now, known, now.copy()),
        "chain_by_step": (weights, transitions, 0, now, known, now.copy()),
        "dirichlet": (np.array([-0.9, -0.7, -0.8]), np.empty(3)),
        "multinomial": (small, 100, np.empty(3, dtype=int)),
        "mvnormal": (np.ones(4), Q, np.empty(4)),
        "wishart": (3.0, Q, np.empty((4, 4))),
        "inverse_wishart": (-6.0, Q, np.empty((4, 4))),
        "von_mises_fisher": (np.ones(3), np.empty(3)),
    }


def copies(arguments):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(calls(np.random.default_rng(1))))
def test_compiled_draws_equal_plain_ones(name):
    pytest.importorskip("numba")

    given = calls(np.random.default_rng(21))[name]
    ours, theirs = generators(22)
    for _ in range(20):
        found = []
        for kernels, rng in (
            ((chains_module, labels_module, vectors), ours),
            (map(Called, ("chains", "labels", "vectors")), theirs),
        ):
            kernel = next(getattr(k, name) for k in kernels if hasattr(k, name))
            arguments = copies(given)
            kernel(rng, *arguments)
            found.append(arguments[-1])
        # (logarithms and exponentials may differ in the last bit)
        np.testing.assert_allclose(*found, rtol=1e-12)
    assert ours.random() == theirs.random()


@pytest.mark.slow
@pytest.mark.parametrize("size", [7, 22])
def test_compiled_matrices_equal_plain_ones(size):
    pytest.importorskip("numba")
    compiled = Called("matrices")

    Q = positive_definite(np.random.default_rng(23), size)
    found = np.zeros((2, 3, size, size))
    for (own, out, other), kernels in zip(found, (matrices, compiled), strict=True):
        own[:] = Q
        kernels.cholesky(own)
        kernels.inverse(Q.copy(), out)
        kernels.inverse_of_factor(own, other)
    np.testing.assert_array_equal(*found)
    assert np.isclose(compiled.logdet(Q.copy()), matrices.logdet(Q.copy()), rtol=1e-14)
    with pytest.raises(ValueError, match="not positive definite"):
        compiled.cholesky(-Q)


@pytest.mark.parametrize("tied", [[], [0, 19], [1, 2, 5], range(3, 19), range(1, 20), range(20)])
def test_elements_tied_to_no_others_are_left_out_of_a_factor(tied):
    rng = np.random.default_rng(len(tied))
    Q = np.diag(rng.uniform(1, 2, 20))
    at = np.ix_(list(tied), list(tied))
    Q[at] = positive_definite(rng, len(tied)) if len(tied) else 0.0
    found = Q.copy()

    assert matrices.factorised(found)
    np.testing.assert_allclose(np.tril(found), np.linalg.cholesky(Q), rtol=1e-9, atol=1e-12)
    for place in {0, 7, 19, *list(tied)[:1]}:
        wrong = Q.copy()
        wrong[place, place] = -1.0
        assert not matrices.factorised(wrong)
        wrong[place, place] = np.nan
        assert not matrices.factorised(wrong)
