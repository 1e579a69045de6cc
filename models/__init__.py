"""The library of models, one file each: tests, docs and benchmarks iterate over ``ALL``.

Each file is also a program's input: ``python -m gibbsppl run models/rats.py``. It has

- ``model(...)``, which returns a ``gp.Model`` with its data; sizes, data and prior constants are
  keyword arguments;
- ``quantities(draws)``, the scalars of interest as arrays over (chain, draw);
- ``REFERENCE``: for each of them the posterior mean and its Monte Carlo error (0 if exact).

`bugs` and `posteriordb` are collections, with tables of their own. ``reuters`` is no model but the
counts of words that models share. Where a model has ``WAYS``, they are samplers of the same
posterior: keyword arguments of ``gp.compile`` by name; ``TIED_WAYS`` and ``TIED_REFERENCE`` are of
``model(tied=True)``. A file is imported when it is asked for.
"""

from importlib import import_module

NAMES = (
    "coin",
    "dice",
    "gaussian_mean",
    "gaussian_variance",
    "gaussian",
    "bivariate_gaussian",
    "linear_regression",
    "rats",
    "pumps",
    "eight_schools",
    "dyes",
    "matrix_factorisation",
    "factorisation_machine",
    "gaussian_mixture",
    "lda",
    "seeds",
    "beetles",
    "salm",
    "robust_regression",
    "bayesian_lasso",
    "horseshoe",
    "spike_and_slab",
    "ordered_probit",
    "negative_binomial",
    "capture_recapture",
    "poisson_factorisation",
    "poisson_tensor",
    "dirichlet_process",
    "iris",
    "ising",
    "potts_segmentation",
    "hidden_markov",
    "local_level",
    "trend_seasonal",
    "linear_mixed",
    "factor_analysis",
    "bayesian_matrix_factorisation",
    "car_disease_mapping",
    "neural_network",
)


def __getattr__(name):
    if name == "ALL":
        return tuple(import_module(f"models.{n}") for n in NAMES)
    if name in NAMES:
        return import_module(f"models.{name}")
    raise AttributeError(f"module 'models' has no attribute {name!r}")
