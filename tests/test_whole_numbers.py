"""Whole numbers of any type: counts in arithmetic are floats, labels and counts are integers."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array
from scipy.stats import norm, poisson

import gibbsppl as gp

RNG = np.random.default_rng(1)
POPULATION = RNG.integers(10**9, 4 * 10**9, 30)
NANOSECONDS = np.int64(1_700_000_000 * 10**9) + np.arange(30) * 86_400 * 10**9
Y = RNG.normal(1.0, 1.0, 30)


def regression(population, time):
    """Squares and cubes of whole numbers that 64 bits do not hold, in sums with and without y."""
    with gp.Model() as model:
        p = gp.Data("p", population, dims="i")
        t = gp.Data("t", time, dims="i")
        group = gp.Index("group", np.arange(30) % 3, of="g", dims="i", size=3)
        a = gp.Normal("a", 0, sigma=10, dims="g")
        b, c = gp.Normal("b", 0, sigma=10), gp.Normal("c", 0, sigma=10)
        z = gp.Bernoulli("z", 0.5, dims="i")
        mu = a[group] + b * p * p * 1e-19 + c * t * t * t * 1e-55 + z * p * p * t * 1e-37
        gp.Normal("y", mu, sigma=1, dims="i", observed=Y)
        gp.Deterministic("total", b * (p * p).sum("i"))
        count = gp.Poisson("count", p.sum("i") * p.sum("i") * 1e-20)
        gp.Normal("w", count * p * p * 1e-19, sigma=1, dims="i", observed=Y)
    return gp.compile(model)


def test_products_of_data_do_not_overflow():
    whole = regression(POPULATION, NANOSECONDS)
    floats = regression(POPULATION.astype(float), NANOSECONDS.astype(float))

    assert whole.verify().proved
    draws, expected = (
        s.sample(20, warmup=5, chains=2, seed=1, progress=False) for s in (whole, floats)
    )
    for name in expected:
        np.testing.assert_array_equal(draws[name], expected[name])


def test_sums_of_data_do_not_overflow():
    """Of a thousand numbers, each of which fits."""
    incomes = np.full(1000, 2**55)
    with gp.Model() as model:
        x = gp.Data("x", incomes, dims="i")
        b = gp.Normal("b", 0, sigma=1)
        gp.Normal("y", b * x.sum("i") * 2.0**-65, sigma=1, observed=1.0)
    slope = 1000 * 2.0**-10
    sampler = gp.compile(model)
    draws = sampler.sample(4000, warmup=10, chains=1, seed=1, progress=False)["b"]

    assert sampler.verify().proved
    sd = (1 + slope**2) ** -0.5
    assert abs(draws.mean() - slope * sd**2) < 5 * sd / 4000**0.5


def test_powers_of_drawn_counts_do_not_overflow():
    with gp.Model() as model:
        n = gp.Poisson("n", 1e10)
        b = gp.Normal("b", 0, sigma=1)
        gp.Normal("y", b * n**2 * 1e-20, sigma=1, observed=1.0)
    sampler = gp.compile(model)
    whole, floats = (
        sampler.program.given_rest["b"]({"n": n, "b": 0.0}, sampler.constants)
        for n in (np.int64(10**10), 1e10)
    )

    np.testing.assert_allclose(whole, floats)
    # (rounding of the log mass of 10 billions hides a gap of one between two counts)
    assert sampler.verify().passed


@pytest.mark.parametrize("numbers", [np.array([2**63, 2**64 - 1], np.uint64), [2.0**70, 1.0]])
def test_whole_numbers_that_are_too_large_are_floats(numbers):
    with gp.Model() as model:
        gp.Data("x", numbers, dims="i")
        gp.Poisson("y", 1e19, dims="i", observed=numbers)

    for name in ("x", "y"):
        assert model.data[name].tolist() == [float(n) for n in numbers]


def test_bounds_of_data_do_not_overflow():
    with gp.Model() as model:
        p = gp.Data("p", POPULATION, dims="i")
        gp.Uniform("u", -p * p * p, p * p * p, dims="i")
        gp.Uniform("v", 0, (p * p).sum("i"), dims="i", observed=POPULATION)

    assert float(gp.simulate(model, seed=1)["v"].max()) > 2**63


OF_BUGS = {
    "inprod(p[], p[])": 5.045e19,
    "p[1] * p[2] * p[3]": 4.0e9 * 4.1e9 * 4.2e9,
    "sum(q[])": 1.2e19,
    "prod(p[])": 4.0e9 * 4.1e9 * 4.2e9,
    "p[1]^2 - q[1] * 3": 1.6e19 - 1.2e19,
    "p[1] * 4000000000": 1.6e19,
    "max(p[1] * p[1], 1)": 1.6e19,
    "abs(q[1] * 4)": 1.6e19,
    "-q[1] * 4": -1.6e19,
    "q[1] + q[2] + q[3]": 1.2e19,
    "sum(p[] * p[])": 5.045e19,
    "3000000000 * 4000000000": 1.2e19,
}


@pytest.mark.parametrize("written", OF_BUGS)
def test_numbers_of_programs_do_not_overflow(written):
    data = {"p": [4000000000, 4100000000, 4200000000], "q": [4 * 10**18] * 3}
    model = gp.read_bugs(f"model {{ z <- {written}\n y ~ dnorm(z, 1) }}", data)
    ((_, mu), _) = model.graph.statement("y").arguments

    assert float(mu) == pytest.approx(OF_BUGS[written], rel=1e-14)


MASK = [False, False, True, False]
WHOLE = {
    "floats": np.array([1.0, 0.0, 7.0, 1.0]),
    "short floats": np.array([1.0, 0.0, 7.0, 1.0], np.float32),
    "objects": np.array([1.0, 0, 7, True], object),
    "bytes": np.array([1, 0, 7, 1], np.uint8),
    "integers": np.array([1, 0, 7, 1]),
}
OBSERVED = {name: np.ma.masked_array(values, MASK) for name, values in WHOLE.items()}
OBSERVED["NaN"] = np.ma.masked_invalid([1, 0, np.nan, 1.0])
OBSERVED["nullable"] = pd.Series([1.0, 0.0, None, 1.0], dtype="Float64")
OBSERVED["a list"] = [1.0, 0, None, True]

FAMILIES = {
    "Categorical": lambda **k: gp.Categorical("y", gp.Dirichlet("p", 1, dims="k"), **k),
    "Bernoulli": lambda **k: gp.Bernoulli("y", gp.Beta("p", 1, 1), **k),
    "Binomial": lambda **k: gp.Binomial("y", 3, gp.Beta("p", 1, 1), **k),
    "Poisson": lambda **k: gp.Poisson("y", gp.Gamma("p", 1, rate=1), **k),
    "Geometric": lambda **k: gp.Geometric("y", gp.Beta("p", 1, 1), **k),
}


def seen(family, observed):
    with gp.Model(coords={"k": 3}) as model:
        FAMILIES[family](dims="i", observed=observed)
    return model


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("observed", OBSERVED.values(), ids=OBSERVED)
def test_whole_numbers_of_any_type_are_integers(family, observed):
    model = seen(family, observed)

    assert model.data["y"].dtype == np.intp
    assert model.data["y"][[0, 1, 3]].tolist() == [1, 0, 1]
    assert model.data["y.known"].tolist() == [1, 1, 0, 1]


@pytest.mark.parametrize("family", FAMILIES)
def test_masked_floats_are_drawn_as_integers(family):
    sampler = gp.compile(seen(family, OBSERVED["NaN"]))

    assert sampler.verify().proved
    drawn = sampler.sample(5, warmup=2, chains=1, seed=1, keep=["y"], progress=False)["y"]
    assert drawn.dtype.kind == "i"
    assert drawn[..., [0, 1, 3]].reshape(-1, 3).tolist() == [[1, 0, 1]] * 5


def test_labels_given_as_floats_are_read_at():
    with gp.Model(coords={"k": 3, "i": 4}) as model:
        mu = gp.Normal("mu", 0, sigma=1, dims="k")
        z = gp.Categorical("z", gp.Dirichlet("p", 1, dims="k"), dims="i", observed=OBSERVED["NaN"])
        gp.Normal("y", mu[z], sigma=1, dims="i", observed=[1.0, 2.0, 3.0, 4.0])
    sampler = gp.compile(model)

    assert sampler.verify().proved
    assert sampler.sample(5, warmup=2, chains=1, seed=1, progress=False)["z"].dtype.kind == "i"


def test_regions_of_one_array_are_whole_only_together():
    with gp.Model(coords={"i": 3}) as model:
        x = gp.Array("x", dims="i", observed=np.ma.masked_invalid([np.nan, np.nan, 2.0]))
        x[0] = 0.5
        x[1:] = gp.Poisson(3)
    sampler = gp.compile(model)

    assert model.data["x"][0] == 0.5
    assert sampler.sample(5, warmup=2, chains=1, seed=1, progress=False)["x"][0, 0, 0] == 0.5


def counts_beside_a_number():
    """Counts whose conditional is no family's: the first element of their array is 1.5."""
    with gp.Model(coords={"t": 4}) as model:
        x = gp.Array("x", dims="t")
        x[0] = 1.5
        x[1:] = gp.Poisson(3)
        gp.Normal("y", x, sigma=1, dims="t", observed=[1.0, 2.0, 3.0, 4.0])
    return model


def counts_along_a_chain():
    """A population whose first size is a real number."""
    with gp.Model(coords={"t": 5}) as model:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(10, sigma=1, lower=0)
        x[1:] = gp.Poisson(1.1 * x.lag("t"))
        gp.Normal("y", x, sigma=1, dims="t", observed=[9.0, 11.0, 12.0, 13.0, 13.0])
    return model


def unmoved(rng, x, log_density):
    assert np.ndim(x) == 0 or x.dtype.kind == "i"  # (the first size is a number by itself)
    return x


@pytest.mark.parametrize("declare", [counts_beside_a_number, counts_along_a_chain])
@pytest.mark.parametrize("kernel", [gp.Slice(), gp.RandomWalk(), unmoved])
def test_counts_are_moved_as_whole_numbers_whatever_else_is_in_their_array(declare, kernel):
    sampler = gp.compile(declare(), kernels={"x": kernel})
    assert sampler.verify().passed

    x = sampler.sample(20, warmup=20, chains=1, seed=1, progress=False)["x"]

    assert (x[..., 1:] == np.rint(x[..., 1:])).all()
    assert (x[..., 0] != np.rint(x[..., 0])).all()


def test_counts_beside_a_number_have_their_posterior():
    x = gp.compile(counts_beside_a_number()).sample(
        2000, warmup=200, chains=1, seed=2, progress=False
    )["x"]
    k = np.arange(40)
    weights = poisson(3).pmf(k)[:, None] * norm(k[:, None]).pdf([2.0, 3.0, 4.0])
    weights /= weights.sum(axis=0)
    found = (x[0, :, 1:] == k[:, None, None]).mean(axis=1)

    # (a draw in four is counted: they are not independent)
    assert (abs(found - weights) <= 4.5 * np.sqrt(weights * (1 - weights) / 500) + 1e-3).all()


def test_numbers_of_continuous_distributions_are_floats():
    with gp.Model() as model:
        gp.Normal("y", gp.Normal("mu", 0, sigma=1), sigma=1, dims="i", observed=[1, 2, 3])

    assert model.data["y"].dtype == np.float64


def test_stored_entries_given_as_floats_are_integers():
    with gp.Model() as model:
        rate = gp.Gamma("rate", 1, rate=1)
        gp.Poisson("y", rate, dims=("i", "j"), observed=coo_array([[0.0, 3.0], [2.0, 0.0]]))
    sampler = gp.compile(model)

    assert model.data["y"].dtype == np.intp
    assert sampler.verify().proved
