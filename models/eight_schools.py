"""Eight schools: the effect of coaching in eight schools, each with its own standard error.

    y[j] ~ Normal(theta[j], standard_error[j]),   theta[j] ~ Normal(mu, tau)

From D. B. Rubin (1981), "Estimation in parallel randomized experiments", Journal of Educational
Statistics 6, 377-400; worked in A. Gelman and others, "Bayesian Data Analysis", section 5.5. The
spread between schools has the prior sd**2 ~ scaled inverse chi-squared(1, 5**2), which is a Gamma
on the precision; with ``sd_prior="uniform"`` the sd is uniform, as in the book.
"""

import gibbsppl as gp

SCHOOLS = "ABCDEFGH"
EFFECTS = (28, 8, -3, 7, -1, 1, 18, 12)
STANDARD_ERRORS = (15, 10, 16, 11, 9, 11, 10, 18)

# Exact to the digits given: quadrature over the sd, all else integrated out
# (tests/references/eight_schools.py computes it again).
REFERENCE = {
    "mu": (7.8622489, 0.0),
    "sd": (5.4841104, 0.0),
    "theta[A]": (10.404807, 0.0),
    "theta[B]": (7.8699034, 0.0),
    "theta[C]": (6.5986032, 0.0),
    "theta[D]": (7.6681126, 0.0),
    "theta[E]": (5.5370539, 0.0),
    "theta[F]": (6.4702872, 0.0),
    "theta[G]": (10.138213, 0.0),
    "theta[H]": (8.2428885, 0.0),
}


def model(
    effects=EFFECTS,
    standard_errors=STANDARD_ERRORS,
    mean_precision=1e-4,
    shape=0.5,
    rate=12.5,
    sd_prior="gamma",
    sd_upper=100,
):
    """The schools; ``sd_prior`` is ``"gamma"`` (on the precision) or ``"uniform"``."""
    with gp.Model(coords={"school": range(1, len(effects) + 1)}) as schools:
        standard_error = gp.Data("standard_error", standard_errors, dims="school")
        mu = gp.Normal("mu", 0, tau=mean_precision)
        if sd_prior == "uniform":
            sd = gp.Uniform("sd", 0, sd_upper)
            theta = gp.Normal("theta", mu, sigma=sd, dims="school")
        else:
            tau = gp.Gamma("tau", shape, rate=rate)
            theta = gp.Normal("theta", mu, tau=tau, dims="school")
            gp.Deterministic("sd", 1 / gp.sqrt(tau))
        gp.Normal("effect", theta, sigma=standard_error, dims="school", observed=effects)
    return schools


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    effects = {f"theta[{s}]": draws["theta"][..., j] for j, s in enumerate(SCHOOLS)}
    return {"mu": draws["mu"], "sd": draws["sd"]} | effects
