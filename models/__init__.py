"""The library of models, one file each: tests, docs and benchmarks iterate over ``ALL``.

Each file is also a program's input: ``python -m gibbsppl run models/rats.py``. It has

- ``model(...)``, which returns a ``gp.Model`` with its data; sizes, data and prior constants are
  keyword arguments;
- ``quantities(draws)``, the scalars of interest as arrays over (chain, draw);
- ``REFERENCE``: for each of them the posterior mean and its Monte Carlo error (0 if exact).
"""

from models import (
    bivariate_gaussian,
    coin,
    dice,
    dyes,
    eight_schools,
    gaussian,
    gaussian_mean,
    gaussian_mixture,
    gaussian_variance,
    lda,
    linear_regression,
    matrix_factorisation,
    pumps,
    rats,
)

ALL = (
    coin,
    dice,
    gaussian_mean,
    gaussian_variance,
    gaussian,
    bivariate_gaussian,
    linear_regression,
    rats,
    pumps,
    eight_schools,
    dyes,
    matrix_factorisation,
    gaussian_mixture,
    lda,
)
