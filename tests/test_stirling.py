"""Stirling numbers of the first kind and numbers of tables, against exact integers."""

import itertools

import mpmath
import numpy as np
import pytest
from kernels_called import Called
from scipy import stats

from gibbsppl.runtime import log_stirling, stirling, tables
from gibbsppl.runtime.loops import stirling as loops

N = 3000
COMPARISONS = 40
LEVEL = 1e-4 / COMPARISONS
UNIT_ROUNDING = np.finfo(float).eps / 2


@pytest.fixture(autouse=True)
def table(monkeypatch):
    """A table of its own for each test, with nothing in it."""
    fresh = stirling._Table()
    monkeypatch.setattr(stirling, "_TABLE", fresh)
    return fresh


def exact_rows():
    """``|s(n, 1)|, .., |s(n, n)|`` for n = 1, 2, ..: Python's integers never round."""
    row = [1]
    for n in itertools.count(1):
        yield row
        row = [n * row[0], *(n * b + a for a, b in itertools.pairwise(row)), 1]


def exact_logs(n):
    row = next(itertools.islice(exact_rows(), n - 1, None))
    return np.array([float(mpmath.log(v)) for v in row])


def rounding(n, logs):
    """The worst case: n roundings of each sum of logs, and 3 n of each ratio under a log."""
    return UNIT_ROUNDING * (n * (np.abs(logs) + 1) + 3 * n**2)


def compare(n):
    expected = exact_logs(n)
    found = log_stirling(float(n), np.arange(1.0, n + 1))
    assert found.shape == expected.shape
    assert np.all(np.abs(found - expected) <= rounding(n, expected))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 15, 16, 17, 63, 64, 65, 400, 1500])
def test_rows_are_those_of_the_recurrence_in_integers(n):
    compare(n)


def test_rows_may_be_asked_for_in_any_order_and_at_once():
    rows = list(itertools.islice(exact_rows(), 80))
    rng = np.random.default_rng(1)
    n = rng.permutation(np.repeat(np.arange(1, 81), 3)).reshape(40, 6)
    l = rng.integers(1, n, endpoint=True)
    found = log_stirling(n.astype(float), l.astype(float))
    expected = np.vectorize(lambda n, l: float(mpmath.log(rows[n - 1][l - 1])))(n, l)

    assert np.all(np.abs(found - expected) <= rounding(n, expected))


def test_outside_of_a_row_there_are_no_numbers():
    n = np.array([[0.0], [1.0], [3.0], [-1.0]])
    found = log_stirling(n, np.array([-1.0, 0.0, 1.0, 3.0, 4.0]))
    no = -np.inf

    np.testing.assert_allclose(
        found,
        [
            [no, 0, no, no, no],
            [no, no, 0, no, no],
            [no, no, np.log(2), 0, no],
            [no, no, no, no, no],
        ],
        rtol=1e-15,
    )
    assert np.isnan(log_stirling([2.5, 2.0, np.nan, np.inf], [1.0, 1.5, 1.0, 1.0])).all()
    assert isinstance(log_stirling(5.0, 2.0), float)
    assert log_stirling(np.ones(0), 1.0).shape == (0,)
    assert log_stirling(np.ones((2, 1), int), np.ones(3, int)).tolist() == [[0.0] * 3] * 2


def test_a_row_does_not_hang_on_what_was_asked_for_before(table, monkeypatch):
    l = np.arange(1.0, N + 1)
    alone = log_stirling(float(N), l)
    for before in ([50.0], [2999.0], [5000.0], [700.0, 3.0, 5000.0]):
        monkeypatch.setattr(stirling, "_TABLE", stirling._Table())
        for n in before:
            log_stirling(n, 1.0)
        np.testing.assert_array_equal(log_stirling(float(N), l), alone)


def test_only_rows_asked_for_are_kept_and_no_more_than_fit(table, monkeypatch):
    log_stirling(np.array([100.0, 7.0, 100.0]), 2.0)
    assert sorted(table._logs) == [7, 100]
    assert sum(map(len, table._logs.values())) == table._kept == 107

    monkeypatch.setattr(stirling, "MOST_KEPT", 300)
    n = np.array([90.0, 100.0, 80.0, 70.0, 95.0])
    found = log_stirling(n, 3.0)
    assert table._kept == sum(map(len, table._logs.values())) <= 300
    np.testing.assert_array_equal(found, [log_stirling(m, 3.0) for m in n])


def test_passes_start_at_few_rows(table):
    log_stirling(4000.0, 1.0)
    started = sum(map(len, table._starts.values()))

    assert started <= 4000**1.5 / (3 * stirling.START**0.5) + 2 * 4000
    assert max(table._starts) >= 4000 - 2 * (stirling.START * 4000) ** 0.5


def test_a_wrong_ratio_is_caught(monkeypatch):
    class Wrong(stirling._Table):
        def _ratios(self, n):
            ratios = super()._ratios(n).copy()
            ratios[n // 2] *= 1 + 1e-9
            return ratios

    monkeypatch.setattr(stirling, "_TABLE", Wrong())
    with pytest.raises(AssertionError):
        compare(400)


# ---- tables ----------------------------------------------------------------------------------


def masses_of(n, alpha):
    """``|s(n, l)| alpha**l`` over their sum, for l = 0..n."""
    with mpmath.workdps(30):
        row = [0, *next(itertools.islice(exact_rows(), n - 1, None))] if n else [1]
        weights = [v * mpmath.mpf(alpha) ** l for l, v in enumerate(row)]
        return np.array([float(w / mpmath.fsum(weights)) for w in weights])


def p_value(draws, masses):
    """Chi-square over values, those with an expectation below 5 pooled."""
    expected = masses * draws.size
    found = np.bincount(draws, minlength=masses.size)
    common = expected >= 5
    f, e = np.append(found[common], found[~common].sum()), np.append(expected[common], 0.0)
    e[-1] = draws.size - e.sum()
    if e[-1] < 1e-6:
        assert f[-1] == 0
        f, e = f[:-1], e[:-1]
    return float(stats.chi2.sf(((f - e) ** 2 / e).sum(), max(f.size - 1, 1)))


CUSTOMERS = [(1, 3.0), (2, 0.4), (7, 1.0), (60, 0.05), (60, 8.0), (60, 900.0), (500, 2.5)]


@pytest.mark.parametrize(("n", "alpha"), CUSTOMERS)
def test_tables_have_their_masses(n, alpha):
    draws = tables(np.random.default_rng(2), np.log(alpha), (4000,), n=n)

    assert draws.dtype == np.int64
    assert p_value(draws, masses_of(n, alpha)) > LEVEL


def uneven(monkeypatch, at_once):
    """Draws for elements of very different sizes, in mixed order; the masses of each size."""
    monkeypatch.setattr(stirling, "AT_ONCE", at_once)
    sizes = np.array([0, 1, 2, 9, 150])
    n = np.random.default_rng(3).permutation(np.repeat(sizes, 2000))
    alpha = np.where(n == 9, 0.3, 4.0)
    draws = tables(np.random.default_rng(4), np.log(alpha), (n.size,), n=n)
    return {s: p_value(draws[n == s], masses_of(int(s), 0.3 if s == 9 else 4.0)) for s in sizes}


@pytest.mark.parametrize("at_once", [1, 5000, 2**16])
def test_elements_have_their_own_customers(at_once, monkeypatch):
    assert min(uneven(monkeypatch, at_once).values()) > LEVEL


def test_tables_of_a_crowd_are_as_many_as_expected():
    """Of a million customers: the mean and variance are sums over customers."""
    n, alpha, count = 10**6, 3.0, 40
    draws = tables(np.random.default_rng(5), np.log(alpha), (count,), n=n)
    opens = alpha / (alpha + np.arange(n))
    z = (draws.sum() - count * opens.sum()) / np.sqrt(count * (opens * (1 - opens)).sum())

    assert 2 * stats.norm.sf(abs(z)) > LEVEL


def test_extreme_weights_of_a_new_table():
    n = np.array([0, 1, 2, 3, 1000])
    rng = np.random.default_rng(6)
    for eta in (-1e5, np.log(1e-300)):
        assert tables(rng, eta, (5,), n=n).tolist() == [0, 1, 1, 1, 1]
    for eta in (np.log(1e300), 1e5):
        assert tables(rng, eta, (5,), n=n).tolist() == n.tolist()


def test_shapes_of_tables():
    rng = np.random.default_rng(7)
    one = tables(rng, 0.0, (), n=5)

    assert isinstance(one, np.int64)
    assert tables(rng, np.zeros(3), (2, 3), n=np.array([[4.0], [0.0]])).shape == (2, 3)
    assert tables(rng, 0.0, (0,), n=5).shape == (0,)
    for eta, n in ((np.nan, 5), (0.0, -1), (0.0, np.nan)):
        with pytest.raises(ValueError, match="no numbers of tables"):
            tables(rng, eta, (2,), n=n)


def test_a_customer_too_many_is_caught(monkeypatch):
    """Planted: alpha / (alpha + i + 1) for alpha / (alpha + i)."""
    arange = np.arange
    monkeypatch.setattr(stirling.np, "arange", lambda start, stop: arange(start, stop) + 1)
    draws = tables(np.random.default_rng(2), 0.0, (4000,), n=7)
    monkeypatch.setattr(stirling.np, "arange", arange)

    assert p_value(draws, masses_of(7, 1.0)) < LEVEL


# ---- one number at a time ----------------------------------------------------------------------


def one_by_one(n, alpha, count=4000, draw=loops.tables):
    rng = np.random.default_rng(2)
    return np.array([draw(rng, np.log(alpha), float(n)) for _ in range(count)])


@pytest.mark.parametrize(("n", "alpha"), [*CUSTOMERS, (150, 0.3)])
def test_one_number_of_tables_has_its_masses(n, alpha):
    assert p_value(one_by_one(n, alpha), masses_of(n, alpha)) > LEVEL


@pytest.mark.parametrize("alpha", [1e-8, 3.0])
def test_one_number_of_tables_of_a_crowd_is_as_many_as_expected(alpha):
    n, count = 10**6, 400
    draws = one_by_one(n, alpha, count)
    opens = alpha / (alpha + np.arange(n))
    z = (draws.sum() - count * opens.sum()) / np.sqrt(count * (opens * (1 - opens)).sum() + 1e-12)

    assert 2 * stats.norm.sf(abs(z)) > LEVEL


def test_extreme_weights_of_one_new_table():
    rng = np.random.default_rng(6)
    for n in (0, 1, 2, 3, 1000):
        for eta in (-np.inf, -1e5, np.log(1e-300)):
            assert loops.tables(rng, eta, n) == min(n, 1)
        for eta in (np.log(1e300), 1e5, np.inf):
            assert loops.tables(rng, eta, n) == n
    for eta, n in ((np.nan, 5), (0.0, -1), (0.0, np.nan), (0.0, 2.5), (0.0, 1e300)):
        with pytest.raises(ValueError, match="customers"):
            loops.tables(rng, eta, n)


def test_compiled_numbers_of_tables_are_those_of_plain_python():
    for n, alpha in CUSTOMERS:
        found = one_by_one(n, alpha, 50, Called("stirling").tables)
        np.testing.assert_array_equal(found, one_by_one(n, alpha, 50))


def test_customers_may_all_be_candidates(monkeypatch):
    monkeypatch.setattr(loops, "TOSSED", 0.0)

    assert p_value(one_by_one(60, 8.0), masses_of(60, 8.0)) > LEVEL


def test_candidates_all_taken_are_caught(monkeypatch):
    """Planted: each candidate for a table opens one."""
    monkeypatch.setattr(loops, "TOSSED", 0.0)
    monkeypatch.setattr(loops.math, "expm1", lambda _: -1e-300)

    assert p_value(one_by_one(60, 8.0), masses_of(60, 8.0)) < LEVEL
