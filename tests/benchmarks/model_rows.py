"""General models beside other programs, by effective draws: rows of workloads.

JAGS is given the program that `gibbsppl.write_bugs` makes of the model, and finds its own starts.
"""

import declared
import large_models
import numpy as np
from workload import MODELS, Workload

import gibbsppl as gp
from models import eight_schools, horseshoe, linear_regression, local_level, pumps
from models.bugs import CASES

REGRESSION = ("intercept", "beta", "tau", "tau_beta")


def _row(key, model, data, monitors, peers, **how):
    """A row whose program for JAGS is written from the model; targets by peer."""

    def program():
        made = gp.write_bugs(model(data()))
        return made.text, made.data, {}

    return Workload(
        key, MODELS, key, model, peers, data, tuple(monitors.split()), program=program, **how
    )


def _schools():
    errors = np.array(eight_schools.STANDARD_ERRORS, dtype=float)
    return {"effect": np.array(eight_schools.EFFECTS, dtype=float), "standard_error": errors}


def regression_on(module, data):
    """A model of ``models/`` whose columns have numbers for names."""
    x, y = data["x"], data["y"]
    return module.model(x=x, y=y, columns=[f"x{j}" for j in range(x.shape[1])])


def _many_rats():
    """The program and the data of the rats, for 5,000 on 20 days."""
    weights, day = large_models.many_weights()
    return {"N": np.array(len(weights)), "T": np.array(len(day)), "Y": weights, "x": day}


RATS = CASES["rats_1"].model.read_text(encoding="utf-8")
STARTS = {"tau.c": 1, "tau.alpha": 1, "tau.beta": 1, "alpha.c": 243, "beta.c": 6}
OF_RATS = ("alpha0", "beta.c", "sigma")
ROWS = (
    _row(
        "eight schools",
        lambda d: eight_schools.model(d["effect"], d["standard_error"]),
        _schools, "mu tau theta", {"JAGS": 1, "NumPyro": 10, "PyMC": 10},
    ),
    _row(
        "logit 1000 x 10", declared.logit, declared.outcomes, "beta",
        {"JAGS": 1, "NumPyro": 2, "PyMC": 2},
    ),
    _row(
        "logit 50000 x 50", declared.logit, lambda: declared.outcomes(50_000, 50), "beta",
        {"NumPyro": 4}, fewest=100,
    ),
    _row(
        "probit 1000 x 10", declared.probit, declared.outcomes, "beta", {"JAGS": 1, "NumPyro": 2}
    ),
    _row(
        "binomial logit, 50 groups", declared.grouped_logit, declared.grouped_outcomes,
        "beta tau", {"JAGS": 1, "NumPyro": 1},
    ),
    _row(
        "Poisson, log-normal effects", declared.log_normal_rates, declared.counts_of_units,
        "alpha tau", {"JAGS": 1, "NumPyro": 1},
    ),
    _row(
        "stochastic volatility, T = 500", declared.volatility, declared.returns, "mu phi tau",
        {"JAGS": 1, "NumPyro": 1},
    ),
    _row(
        "regression 442 x 10", lambda d: regression_on(linear_regression, d),
        lambda: {"x": linear_regression.X, "y": np.asarray(linear_regression.Y)},
        " ".join(REGRESSION), {"JAGS": 15, "NumPyro": 1, "PyMC": 1},
    ),
    _row(
        "regression 10000 x 50", lambda d: regression_on(linear_regression, d),
        declared.dense_regression, " ".join(REGRESSION),
        {"JAGS": 1, "NumPyro": 150, "PyMC": 1}, fewest=200, warmup=100,
    ),
    _row(
        "horseshoe 200 x 500", lambda d: regression_on(horseshoe, d),
        declared.sparse_regression, "tau intercept beta", {"NumPyro": 8}, fewest=200,
    ),
    _row(
        "horseshoe 1000 x 200", lambda d: regression_on(horseshoe, d),
        lambda: declared.sparse_regression(1000, 200), "tau intercept beta",
        {"JAGS": 1, "NumPyro": 8}, fewest=100, warmup=300,
    ),
    _row(
        "spike and slab 200 x 500", declared.gates, declared.sparse_regression,
        "tau intercept open", {"JAGS": 1}, fewest=20, warmup=20,
    ),
    _row(
        "mixture of 2000", declared.mixture, declared.values, " ".join(declared.MIXTURE),
        {"JAGS": 60, "NumPyro": 5}, fewest=300,
    ),
    _row(
        "mixture of 200000", declared.mixture, lambda: declared.values(200_000),
        " ".join(declared.MIXTURE), {"JAGS": 60, "NumPyro": 5}, fewest=30, warmup=30,
    ),
    _row(
        "hidden Markov, T = 5000", declared.markov,
        lambda: {"y": large_models.chain(5000, 4), "states": np.array(4)},
        " ".join(declared.MARKOV), {"JAGS": 80, "NumPyro": 1}, fewest=100, warmup=100,
    ),
    _row(
        "one-way normal, 10000 groups", declared.one_way, declared.groups, "mu tau tau_theta",
        {"JAGS": 40, "NumPyro": 1}, fewest=200, warmup=200,
    ),
    _row(
        "one-way normal, 100000 groups", declared.one_way, lambda: declared.groups(100_000),
        "mu tau tau_theta", {"JAGS": 40, "NumPyro": 1}, fewest=100, warmup=200,
    ),
    _row(
        "pumps, 100000", lambda d: pumps.model(d["x"], d["t"]), declared.failures, "alpha beta",
        {"JAGS": 100, "PyMC": 1}, fewest=50, warmup=50,
    ),
    _row(
        "topics of 50 x 100 words", declared.small_topics, declared.words, "theta2 phi2",
        {"JAGS": 30, "NumPyro": 1}, fewest=300,
    ),
    _row(
        "local level, T = 1000", lambda d: local_level.model(flow=d["y"], first=1),
        declared.levels, "tau_flow tau_level", {"JAGS": 5, "NumPyro": 1}, fewest=300,
    ),
    Workload(
        "rats 5000 x 20", MODELS, "rats",
        lambda d: gp.read_bugs(RATS, d, monitor=list(OF_RATS)), {"JAGS": 150, "PyMC": 40},
        _many_rats, OF_RATS, program=lambda: (RATS, _many_rats(), STARTS), fewest=100, warmup=200,
    ),
)  # fmt: skip
