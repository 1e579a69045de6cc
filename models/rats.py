"""Rats: a growth line for each of 30 young rats, intercepts and slopes drawn from two normals.

Thirty rats were weighed on days 8, 15, 22, 29 and 36. Each has its own line; the lines share a
population, so that a rat's estimate borrows from the others.

    weight[r, d] ~ Normal(a[r] + b[r] * (day[d] - 22), tau)
    a[r] ~ Normal(mu_a, tau_a),   b[r] ~ Normal(mu_b, tau_b)

``alpha0`` is the population's weight at birth. The data are from A. E. Gelfand, S. E. Hills, A.
Racine-Poon and A. F. M. Smith (1990), "Illustration of Bayesian inference in normal data models
using Gibbs sampling", Journal of the American Statistical Association 85, 972-985, section 6; the
model is the first of the BUGS examples, volume 1. With ``sd_prior="uniform"`` the standard
deviation of the noise is uniform instead of the precision being Gamma.
"""

import json
from pathlib import Path

import gibbsppl as gp

RATS = json.loads((Path(__file__).parent / "data" / "rats.json").read_text())

# Posterior mean and Monte Carlo error: a long run of an independent sampler (JAGS 4.3.1).
REFERENCE = {"alpha0": (106.3735, 0.02883837), "mu_b": (6.185914, 0.0009269856)}


def model(
    weights=RATS["weights"],
    days=RATS["days"],
    mean_precision=1e-4,
    shape=1e-3,
    rate=1e-3,
    sd_prior="gamma",
    sd_upper=100,
):
    """The growth curves; ``sd_prior`` is ``"gamma"`` (on the precision) or ``"uniform"``."""
    rats = [f"rat {r + 1}" for r in range(len(weights))]
    centre = sum(days) / len(days)
    with gp.Model(coords={"rat": rats, "day": list(days)}) as growth:
        age = gp.Data("age", days, dims="day")
        mu_a = gp.Normal("mu_a", 0, tau=mean_precision)
        mu_b = gp.Normal("mu_b", 0, tau=mean_precision)
        tau_a = gp.Gamma("tau_a", shape, rate=rate)
        tau_b = gp.Gamma("tau_b", shape, rate=rate)
        a = gp.Normal("a", mu_a, tau=tau_a, dims="rat")
        b = gp.Normal("b", mu_b, tau=tau_b, dims="rat")
        line = a + b * (age - centre)
        if sd_prior == "uniform":
            sd = gp.Uniform("sd", 0, sd_upper)
            gp.Normal("weight", line, sigma=sd, dims=("rat", "day"), observed=weights)
        else:
            tau = gp.Gamma("tau", shape, rate=rate)
            gp.Normal("weight", line, tau=tau, dims=("rat", "day"), observed=weights)
        gp.Deterministic("alpha0", mu_a - centre * mu_b)
    return growth


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    return {"alpha0": draws["alpha0"], "mu_b": draws["mu_b"]}
