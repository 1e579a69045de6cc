"""A Dirichlet process mixture of the galaxies: how many clusters there are is unknown.

    z[g] ~ Categorical(weight),    velocity[g] ~ Normal(mu[z[g]], tau[z[g]])
    weight[k] = v[k] * product over j < k of (1 - v[j]),    v[k] ~ Beta(1, concentration)

Sticks are broken as in J. Sethuraman (1994), "A constructive definition of Dirichlet priors",
Statistica Sinica 4, 639-650; that they are cut off after ``components`` pieces, and the sampler of
this form, are of H. Ishwaran and L. F. James (2001), "Gibbs sampling methods for stick-breaking
priors", Journal of the American Statistical Association 96, 161-173. The concentration has a Gamma
prior as in M. D. Escobar and M. West (1995), "Bayesian density estimation and inference using
mixtures", in the same journal, 90, 577-588. Data and priors of a component are those of
``gaussian_mixture``.

The pieces are in no order that the data know: look at how many of them have galaxies, and at
whether two galaxies share one.
"""

import numpy as np

import gibbsppl as gp
from models.gaussian_mixture import VELOCITIES

COMPONENTS = 30

# Names of samplers of the same posterior, and what makes them: keyword arguments of gp.compile. The
# concentration stays: no label depends on it but through the sticks, and without these its density
# is one of gamma functions, which has no closed form. The first way is the fastest by far: the
# others gain little by sweep, and weigh 30 labels of each galaxy one by one.
WAYS = {
    "nothing integrated out": {},
    "sticks integrated out": {"collapse": ("v",)},
    "means integrated out": {"collapse": ("mu",)},
    "precisions integrated out": {"collapse": ("tau",)},
    "sticks and means integrated out": {"collapse": ("v", "mu")},
    "sticks and precisions integrated out": {"collapse": ("v", "tau")},
}

# Neighbours in velocity (counted from the slowest galaxy) on both sides of what may be gaps.
PAIRS = ((6, 7), (8, 9), (40, 70), (77, 78), (78, 79))

# Posterior mean and Monte Carlo error: a long run of an independent sampler of the process itself
# (tests/references/dirichlet_process.py), which has neither sticks nor a last component. How little
# is lost by the last: four times the galaxies times exp(-(components - 1) / concentration) bounds
# the distance between the densities (Ishwaran and James 2001, theorem 2), 8e-11 at a concentration
# of one.
REFERENCE = {
    "clusters": (4.171050, 0.026865),
    "concentration": (0.628461, 0.004495),
    "6 with 7": (0.053600, 0.001934),
    "8 with 9": (0.798700, 0.005548),
    "40 with 70": (0.877200, 0.005556),
    "77 with 78": (0.671350, 0.004300),
    "78 with 79": (0.175200, 0.003906),
}


def model(  # noqa: PLR0913  (data, size and prior constants)
    velocities=VELOCITIES,
    *,
    components=COMPONENTS,
    concentration_shape=2,
    concentration_rate=4,
    prior_mean=20,
    prior_precision=0.01,
    shape=3,
    rate=20,
):
    """The mixture, of as many components as the data ask for, up to ``components``."""
    coords = {"galaxy": range(len(velocities)), "component": range(components)}
    with gp.Model(coords=coords | {"break": range(components - 1)}) as mixture:
        concentration = gp.Gamma("concentration", concentration_shape, rate=concentration_rate)
        v = gp.Beta("v", 1, concentration, dims="break")
        weight = gp.stick_breaking(v, "break", into="component")
        mu = gp.Normal("mu", prior_mean, tau=prior_precision, dims="component")
        tau = gp.Gamma("tau", shape, rate=rate, dims="component")
        z = gp.Categorical("z", weight, dims="galaxy", event="component")
        gp.Normal("velocity", mu[z], tau=tau[z], dims="galaxy", observed=velocities)
    return mixture


def clusters(z):
    """How many components have galaxies; galaxies are the last axis."""
    ordered = np.sort(z, axis=-1)
    return 1 + (np.diff(ordered, axis=-1) != 0).sum(axis=-1)


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    z = draws["z"]
    together = {f"{i} with {j}": (z[..., i] == z[..., j]).astype(float) for i, j in PAIRS}
    count = {"clusters": clusters(z).astype(float), "concentration": draws["concentration"]}
    return count | together
