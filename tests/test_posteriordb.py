"""Posteriors of posteriordb: draws of the default sampler agree with the published moments."""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from references.bugs import disagreements
from scipy import stats

import gibbsppl as gp
from models.posteriordb import POSTERIORS, tables
from models.posteriordb.programs import Regression, schools

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

import posteriordb
import posteriordb_by_nuts

# A mean and an sd of each scalar: how many errors apart they may be, if one set of draws in a
# hundred is to be called wrong where all are right.
COMPARISONS = 2 * sum(len(p.references) for p in POSTERIORS.values())
LIMIT = stats.norm.isf(0.01 / (2 * COMPARISONS))
EVERY_DAY = ("mesquite-logmesquite_logvolume", "Rate_2_data-Rate_2_model")
# A prior four times as wide; a prior of the noise that is not that of the published program.
PLANTED = {
    "eight_schools-eight_schools_noncentered": partial(schools, scale=20),
    "mesquite-logmesquite_logvolume": Regression(
        tables.mesquite, "log_weight", "1 log_volume", noise=("HalfNormal", {"sigma": 0.2})
    ).model,
}


def far(posterior, model=None, draws=5000, backend="compiled", seed=1):
    """The scalars of which the default sampler finds another mean or sd than published."""
    names = posteriordb.kept(posterior)
    sampler = gp.compile(model or posterior.model())
    found = sampler.sample(
        draws, warmup=1000, chains=4, seed=seed, keep=names, backend=backend, progress=False
    )
    scalars = posteriordb.scalars({n: found[n] for n in names})
    return disagreements(scalars, posterior.references, LIMIT)


# ---- draws -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", POSTERIORS)
def test_draws_agree_with_what_is_published(name):
    assert far(POSTERIORS[name]) == {}


@pytest.mark.parametrize("name", EVERY_DAY)
def test_draws_in_numpy_agree_with_what_is_published(name):
    assert far(POSTERIORS[name], draws=1000, backend="numpy") == {}


@pytest.mark.parametrize("name", PLANTED)
def test_another_prior_is_noticed(name):
    assert far(POSTERIORS[name], PLANTED[name](), draws=1000, backend="numpy") != {}


# ---- what is published -------------------------------------------------------------------------


@pytest.mark.parametrize("name", POSTERIORS)
def test_errors_are_of_about_10_000_independent_draws(name):
    # (a digit that is wrong in a mean or in a square is seen here)
    for known in POSTERIORS[name].references.values():
        assert 0 <= known["rounding"] < known["sd"] / 10
        assert 7000 < (known["sd"] / known["mcse"]) ** 2 < 13_000


def test_a_square_is_as_exact_as_its_digits():
    known = POSTERIORS["sblri-blr"].references["beta[1]"]

    # 0.9989335 less the square of 0.999466136237714, up to half of 1e-7
    sd = np.sqrt(0.9989335 - 0.999466136237714**2)
    assert known["sd"] == pytest.approx(sd, rel=1e-6)
    assert known["rounding"] == pytest.approx(5e-8 / (2 * sd))


def test_least_squares_have_the_published_means():
    # (flat priors: the means of coefficients are known, but for the Monte Carlo error)
    for posterior in POSTERIORS.values():
        row = posterior.row
        if isinstance(row, Regression) and row.sd is None and row.noise == ("HalfFlat", {}):
            x, y = row.design()
            best = np.linalg.lstsq(x, y, rcond=None)[0]
            for k, value in enumerate(best):
                known = posterior.references[f"beta[{k + 1}]"]
                assert abs(value - known["mean"]) <= LIMIT * known["mcse"], posterior.name


# ---- the page ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_page_is_what_is_measured():
    assert posteriordb.PAGE.read_text(encoding="utf-8") == posteriordb.page()


@pytest.mark.slow
@pytest.mark.skipif(not posteriordb_by_nuts.present(), reason=posteriordb_by_nuts.MISSING)
@pytest.mark.parametrize("name", POSTERIORS)
def test_programs_for_nuts_have_the_published_posterior(name):
    found, _ = posteriordb_by_nuts.scalars(name, draws=1000, warmup=1000, seed=1)

    assert disagreements(found, POSTERIORS[name].references, LIMIT) == {}
