"""Values that are missing whole: each one drawn by itself, from its own distribution."""

import numpy as np
import pytest
from scipy import stats

import gibbsppl as gp

ROWS, SIZE, DRAWS = 5, 3, 2000
MISSING = (1, 3, 4)
WEIGHTS = np.array([[1.0, 2.0, 4.0], [4.0, 1.0, 1.0], [2.0, 2.0, 1.0], [1.0, 5.0, 1.0], [1, 1, 6]])


def masked(values):
    mask = np.zeros(np.shape(values), dtype=bool)
    mask[list(MISSING)] = True
    return np.ma.masked_array(values, mask=mask)


def weights():
    return gp.Data("a", WEIGHTS, dims=("i", "k"))


def dirichlet():
    gp.Dirichlet(
        "y", weights(), dims=("i", "k"), event="k", observed=masked(np.full((ROWS, 3), 1 / 3))
    )
    return WEIGHTS / WEIGHTS.sum(axis=1, keepdims=True)


def multinomial():
    shares = WEIGHTS / WEIGHTS.sum(axis=1, keepdims=True)
    p = gp.Data("p", shares, dims=("i", "k"))
    values = masked(np.tile([4, 0, 0], (ROWS, 1)))
    gp.Multinomial("y", n=4, p=p, dims=("i", "k"), event="k", observed=values)
    return 4 * shares


def multivariate_normal():
    unit = gp.Data("unit", np.eye(SIZE), dims=("k", "k'"))
    gp.MvNormal("y", weights(), tau=unit, dims=("i", "k"), observed=masked(np.zeros((ROWS, SIZE))))
    return WEIGHTS


def wishart():
    scales = gp.Data("V", np.eye(SIZE) / np.arange(1, 6)[:, None, None], dims=("i", "k", "k'"))
    values = masked(np.tile(np.eye(SIZE), (ROWS, 1, 1)))
    gp.Wishart("y", 5, V=scales, dims=("i", "k", "k'"), observed=values)
    return 5 * np.eye(SIZE) / np.arange(1, 6)[:, None, None]


LEVEL = 1e-3


@pytest.mark.parametrize("settings", [{}, {"rewrites": False, "blocks": False}], ids=["", "plain"])
@pytest.mark.parametrize("family", [dirichlet, multinomial, multivariate_normal, wishart])
def test_each_missing_value_has_its_own_distribution(family, settings):
    with gp.Model(coords={"i": ROWS, "k": SIZE}) as model:
        mean = family()[list(MISSING)]
    sampler = gp.compile(model, **settings)
    draws = sampler.sample(DRAWS, chains=1, warmup=10, seed=1, progress=False)
    y = draws["y"][0][:, list(MISSING)]
    first, second = (y[:, n].reshape(DRAWS, -1)[:, 0] for n in (0, 1))
    scores = np.append(
        ((y.mean(axis=0) - mean) / (y.std(axis=0) / np.sqrt(DRAWS))).ravel(),
        np.corrcoef(first, second)[0, 1] * np.sqrt(DRAWS),
    )

    assert np.abs(scores).max() < stats.norm.isf(LEVEL / 2 / scores.size)
    assert sampler.verify().proved


def unmoved(_rng, value, _log_density):
    return value


def partly_seen(along):
    """Vectors with entries of their own missing, beside what no family owns."""
    known = np.array([[True, False, False], [True, True, True]])[:, :SIZE]
    dims = ("j", "k")[2 - along :]
    with gp.Model(coords={"j": 2, "k": SIZE}) as model:
        tau = gp.Data("tau", np.eye(SIZE) + 0.2, dims=("k", "k'"))
        values = np.ma.masked_array(np.ones((2, SIZE)), mask=~known)
        seen = values if along == 2 else values[0]
        y = gp.MvNormal("y", 0, tau=tau, dims=dims, event="k", observed=seen)
        gp.Potential("lighter", -(y**4))
    return model, ~(known if along == 2 else known[0])


@pytest.mark.parametrize("kernel", [None, gp.Slice(), gp.RandomWalk(), unmoved])
@pytest.mark.parametrize("along", [1, 2])
def test_entries_of_vectors_are_moved_where_they_are_missing(along, kernel):
    model, missing = partly_seen(along)
    sampler = gp.compile(model, kernels={} if kernel is None else {"y": kernel})
    draws = sampler.sample(20, chains=1, warmup=20, seed=1, progress=False)

    assert sampler.verify().passed
    moved = np.ptp(draws["y"][0], axis=0) > 0
    assert np.array_equal(moved, missing & (kernel is not unmoved))
