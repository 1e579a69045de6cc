"""Coordinates without bounds beside differences in many digits, exact posteriors, and extremes.

(Bugs in them, such as a Jacobian left out, are planted in `test_enumerated_paths`, `test_balance`.)
"""

import itertools

import mpmath as mp
import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.errors import CompileError
from gibbsppl.output.diagnostics import mcse_mean
from gibbsppl.runtime.joint import Joint, drawn
from gibbsppl.runtime.unconstrained import Coordinates, Unconstrained

EPSILON = np.finfo(float).eps
# Enough for shares of 1e-300 beside others, and for all else, less differences of differences.
DIGITS = {True: 420, False: 120}


def space_of(kind, size):
    """The coordinates of one value: a simplex of so many shares, a matrix of so many rows."""
    shape = (size,) if kind == "simplex" else (size, size)
    joint = Joint({"x": drawn(shape, [tuple((0, n) for n in shape)])}, [])
    space = Unconstrained(joint, {"x": kind})
    return Coordinates(space, np.full(joint.size, -np.inf), np.full(joint.size, np.inf))


# ---- maps, by themselves ---------------------------------------------------------------------


def shares(u):
    """Shares whose logs have contrasts, of a matrix of orthonormal rows."""
    size = len(u) + 1
    logs = [mp.mpf(0)] * size
    for j, contrast in enumerate(u, 1):
        row = [mp.mpf(1) / j] * j + [mp.mpf(-1)] + [mp.mpf(0)] * (size - j - 1)
        length = mp.sqrt(sum(r * r for r in row))
        logs = [log + contrast * r / length for log, r in zip(logs, row, strict=True)]
    total = sum(map(mp.exp, logs))
    return [mp.exp(log) / total for log in logs]


def matrix(u):
    """A matrix C D C' by its entries, row by row."""
    size = int((np.sqrt(8 * len(u) + 1) - 1) / 2)
    entries = iter(u)
    lower, scales = mp.eye(size), mp.eye(size)
    for i in range(size):
        for j in range(i):
            lower[i, j] = next(entries)
        scales[i, i] = mp.exp(2 * next(entries))
    return list(lower * scales * lower.T)


MAPS = {"simplex": shares, "spd": matrix}


def free(kind, size):
    """The values that say all: all shares but the last, the entries on and below the diagonal."""
    if kind == "simplex":
        return range(size - 1)
    return [i * size + j for i in range(size) for j in range(i + 1)]


def differences(function, u, digits):
    """The derivatives of a list of values, a row for each number; right to twice the digits."""
    found, h = [], mp.mpf(10) ** -digits
    for k in range(len(u)):
        ends = ([*u[:k], u[k] + s * h, *u[k + 1 :]] for s in (1, -1))
        there, back = (function(e) for e in ends)
        found.append([(a - b) / (2 * h) for a, b in zip(there, back, strict=True)])
    return found


def log_jacobian(kind, size, u):
    """The log of the determinant of the derivatives of values that say all."""
    places = free(kind, size)
    if not u:
        return mp.mpf(0)
    rows = differences(lambda v: [MAPS[kind](v)[p] for p in places], u, 30)
    return mp.log(abs(mp.det(mp.matrix(rows))))


CASES = {
    "one share": ("simplex", []),
    "two shares": ("simplex", [0.7]),
    "shares": ("simplex", [0.3, -1.2, 0.8]),
    "shares of which one is near to 1e-300": ("simplex", [1.0, 560.0]),
    "shares of which the first is near to 1e-300": ("simplex", [-487.0, 0.5]),
    "a variance": ("spd", [-0.4]),
    "a variance near to 1e-300": ("spd", [-345.0]),
    "a matrix": ("spd", [0.2, -0.7, 0.5]),
    "a matrix of three rows": ("spd", [0.2, -0.7, 0.5, 1.2, 0.3, -0.9]),
    "a matrix that is next to singular": ("spd", [0.2, -0.7, -14.0]),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_slopes_are_those_in_many_digits(name):
    """To roundings of the terms that are added up, and of the coordinates."""
    kind, u = CASES[name]
    with mp.workdps(DIGITS["1e-300" in name]):
        exact = [mp.mpf(c) for c in u]
        values = MAPS[kind](exact)
        size = len(values) if kind == "simplex" else round(len(values) ** 0.5)
        gradient = np.linspace(-1.0, 2.0, len(values))

        def height(v):
            linear = (mp.mpf(g) * x for g, x in zip(gradient, MAPS[kind](v), strict=True))
            return [sum(linear) + log_jacobian(kind, size, v)]

        slopes = [row[0] for row in differences(height, exact, 10)]
        grown = log_jacobian(kind, size, exact)
    maps, u = space_of(kind, size), np.array(u)
    x, found = maps.values(u), np.empty(len(u))
    told = maps.put_slopes(u, x, gradient, found)
    rounding = 100 * EPSILON * (1 + np.abs(u).max(initial=0))

    assert x == pytest.approx(np.array(values, dtype=float), rel=rounding)
    assert told == pytest.approx(float(grown), rel=rounding, abs=rounding)
    assert found == pytest.approx(np.array(slopes, dtype=float), rel=rounding, abs=rounding * size)


@pytest.mark.parametrize("name", CASES)
def test_coordinates_are_those_of_the_values(name):
    """To the rounding of values, times the condition of the matrix."""
    kind, u = CASES[name]
    size = len(u) + 1 if kind == "simplex" else round((np.sqrt(8 * len(u) + 1) - 1) / 2)
    maps = space_of(kind, size)
    x = maps.values(np.array(u))
    condition = 1.0 if kind == "simplex" else np.linalg.cond(x.reshape(size, size))
    rounding = 100 * EPSILON * (1 + np.abs(u).max(initial=0)) * condition

    assert maps.of(x) == pytest.approx(np.array(u), rel=rounding, abs=rounding)


def test_runs_of_values_of_all_kinds_have_coordinates_of_their_own():
    arrays = {"a": (2,), "p": (2, 3), "m": (2, 2, 2), "b": ()}
    joint = Joint({n: drawn(s, [tuple((0, k) for k in s)]) for n, s in arrays.items()}, [])
    space = Unconstrained(joint, {"p": "simplex", "m": "spd"})
    maps = space.between({"a": (0.0, np.inf)})
    u = np.linspace(-1.0, 1.0, space.size)
    x = joint.placed({}, maps.values(u))

    assert space.size == 2 + 2 * 2 + 2 * 3 + 1
    assert x["a"] == pytest.approx(np.exp(u[:2]))
    for k, own in enumerate((u[2:4], u[4:6])):
        assert x["p"][k] == pytest.approx(space_of("simplex", 3).values(own))
    for k, own in enumerate((u[6:9], u[9:12])):
        assert x["m"][k].ravel() == pytest.approx(space_of("spd", 2).values(own))
    assert x["b"] == u[-1]


def test_a_matrix_that_is_not_definite_has_no_coordinates():
    found = space_of("spd", 2).of(np.array([1.0, 2.0, 2.0, 1.0]))

    assert np.isnan(found[-1])


# ---- posteriors that are known ---------------------------------------------------------------

COUNTS = [[5, 0, 3], [1, 7, 0]]
PRIOR = [0.8, 1.5, 2.0]
SEEN = np.random.default_rng(3).standard_normal((8, 2)) @ [[1.0, 0.9], [0.0, 0.3]]
SCALE = np.array([[1.0, 0.4], [0.4, 1.5]])


def dirichlet():
    """Shares of two rows of counts: the means of a Dirichlet, of shares and of their logs."""
    prior = gp.Data("prior", PRIOR, dims="k")
    p = gp.Dirichlet("x", prior, dims=("g", "k"), event="k")
    gp.Multinomial("y", 8, p, dims=("g", "k"), event="k", observed=COUNTS)


def dirichlet_means():
    a = np.array(COUNTS) + PRIOR
    total = a.sum(axis=1, keepdims=True)
    digamma = np.vectorize(lambda v: float(mp.digamma(v)))
    return {"x": a / total, "logs": digamma(a) - digamma(total)}


def data_and_scale():
    return gp.Data("scale", SCALE, dims=("i", "i'"))


def wishart():
    m = gp.Wishart("x", 4.0, R=data_and_scale(), dims=("i", "i'"))
    gp.MvNormal("y", 0, tau=m, dims=("n", "i"), event="i", observed=SEEN)


def inverse_wishart():
    m = gp.InverseWishart("x", 4.0, S=data_and_scale(), dims=("i", "i'"))
    gp.MvNormal("y", 0, cov=m, dims=("n", "i"), event="i", observed=SEEN)


def mean_log_det(sign):
    """The mean of the log of the determinant of a Wishart matrix, or of its inverse."""
    scatter, nu = SCALE + SEEN.T @ SEEN, 4 + len(SEEN)
    chi = sum(float(mp.digamma((nu - k) / 2)) + np.log(2) for k in range(2))
    return sign * (chi - np.log(np.linalg.det(scatter)))


def wishart_means():
    found = (4 + len(SEEN)) * np.linalg.inv(SCALE + SEEN.T @ SEEN)
    return {"x": found, "log determinant": mean_log_det(1)}


def inverse_wishart_means():
    found = (SCALE + SEEN.T @ SEEN) / (4 + len(SEEN) - 3)
    return {"x": found, "log determinant": mean_log_det(-1)}


FUNCTIONS = {
    "x": lambda x: x,
    "logs": np.log,
    "log determinant": lambda x: np.linalg.slogdet(x)[1],
}
POSTERIORS = {
    "dirichlet": (dirichlet, dirichlet_means),
    "wishart": (wishart, wishart_means),
    "inverse wishart": (inverse_wishart, inverse_wishart_means),
}
KERNELS = {"nuts": gp.NUTS(), "hmc": gp.HMC()}


def distances(name, kernel):
    """How far means of draws are from those of the posterior, in standard errors."""
    declare, means = POSTERIORS[name]
    with gp.Model(coords={"g": 2, "k": 3, "i": 2, "n": len(SEEN)}) as model:
        declare()
    sampler = gp.compile(model, kernels={"x": KERNELS[kernel]})
    settings = {"warmup": 400, "chains": 4, "seed": 1, "progress": False, "backend": "compiled"}
    x = np.asarray(sampler.sample(1500, **settings)["x"], dtype=float)
    found = []
    for function, exact in means().items():
        values = FUNCTIONS[function](x)
        for at in itertools.product(*map(range, np.shape(exact))):
            own = values[(..., *at)]
            found.append(abs(own.mean() - np.asarray(exact)[at]) / mcse_mean(own))
    return np.array(found, dtype=float)


# A distance beyond it is that of one right mean in 30,000; there are 60.
FAR = 4.15


@pytest.mark.slow
@pytest.mark.parametrize("name", POSTERIORS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_draws_have_the_means_of_the_known_posterior(name, kernel):
    assert distances(name, kernel).max() < FAR


# ---- models ----------------------------------------------------------------------------------


def test_one_share_has_nothing_to_move():
    with gp.Model(coords={"k": 1}) as model:
        p = gp.Dirichlet("p", 1.0, dims="k")
        gp.Multinomial("y", 8, p, dims="k", observed=[8])
    sampler = gp.compile(model, kernels={"p": gp.NUTS()})

    draws = sampler.sample(5, warmup=5, chains=1, seed=1, progress=False, backend="numpy")
    assert (draws["p"] == 1).all()


def test_values_along_other_than_the_last_axes_are_refused():
    with gp.Model(coords={"g": 2, "k": 3}) as model:
        p = gp.Dirichlet("p", 1.0, dims=("k", "g"), event="k")
        gp.Multinomial("y", 8, p, dims=("k", "g"), event="k", observed=np.transpose(COUNTS))
    with pytest.raises(CompileError, match=r"p: a value of Dirichlet is along k, found .* k, g"):
        gp.compile(model, kernels={"p": gp.NUTS()})


@pytest.mark.slow
def test_a_matrix_that_is_next_to_singular_is_moved_with_short_paths():
    """Entries are alike to 9 digits; the means are known."""
    near = np.array([[1.0, 1 - 1e-9], [1 - 1e-9, 1.0]])
    seen = np.array([[1.0, 1 + 1e-6], [2.0, 2 - 1e-6], [0.5, 0.5]])
    with gp.Model(coords={"i": 2, "n": 3}) as model:
        scale = gp.Data("scale", near, dims=("i", "i'"))
        m = gp.InverseWishart("x", 5.0, S=scale, dims=("i", "i'"))
        gp.MvNormal("y", 0, cov=m, dims=("n", "i"), event="i", observed=seen)
    sampler = gp.compile(model, kernels={"x": gp.NUTS()})
    settings = {"warmup": 500, "chains": 4, "seed": 1, "progress": False, "backend": "compiled"}
    draws = sampler.sample(2000, **settings)
    logs = np.linalg.slogdet(draws["x"])[1]
    chi = sum(float(mp.digamma((8 - k) / 2)) + np.log(2) for k in range(2))

    exact = np.linalg.slogdet(near + seen.T @ seen)[1] - chi
    assert abs(logs.mean() - exact) < FAR * mcse_mean(logs)
    assert draws.sample_stats["points of x"].mean() < 20
