"""Gaussian mixture: the velocities of 82 galaxies, in three clusters.

    z[g] ~ Categorical(weight),   velocity[g] ~ Normal(mu[z[g]], tau[z[g]])

Velocities, in thousands of kilometres a second, of galaxies in six separated conic sections of
space around Corona Borealis: clusters of velocities are clusters of galaxies, with voids between
them. From M. Postman, J. P. Huchra and M. J. Geller (1986), "Probes of large-scale structure in the
Corona Borealis region", Astronomical Journal 92, 1238-1247, brought to statistics by K. Roeder
(1990), Journal of the American Statistical Association 85, 617-624. (The 78th value is 26,690 as in
the first; many copies have a slip of the second, 26,960.) The priors are those of S. Chib (1995),
"Marginal likelihood from the Gibbs output", in the same journal, 90, 1313-1321.

With ``tied`` the prior precision of a mean is in proportion to its component's, ``strength *
tau[k]``: the normal-gamma prior, conjugate to both (A. Gelman and others, 2013, "Bayesian Data
Analysis", section 3.3), under which a component can go altogether.

Components can be renamed without any change to the density: look at the sorted means and at the
likelihood with the labels summed out.
"""

from pathlib import Path

import numpy as np

import gibbsppl as gp

# Names of samplers of the same posterior, and what makes them: keyword arguments of gp.compile.
# Means and precisions are in each other's conditionals, so that only one of them is integrated out,
# unless they are tied.
WAYS = {
    "nothing integrated out": {},
    "means integrated out": {"collapse": ("mu",)},
    "precisions integrated out": {"collapse": ("tau",)},
    "weights integrated out": {"collapse": ("weight",)},
    "weights and means integrated out": {"collapse": ("weight", "mu")},
    "weights and precisions integrated out": {"collapse": ("weight", "tau")},
}

# The same of `model(tied=True)`: in the last of them only labels are left.
TIED_WAYS = {
    "nothing integrated out": {},
    "means integrated out": {"collapse": ("mu",)},
    "means and precisions integrated out": {"collapse": ("mu", "tau")},
    "weights, means and precisions integrated out": {"collapse": ("weight", "mu", "tau")},
}

VELOCITIES = np.loadtxt(Path(__file__).parent / "data" / "galaxies.csv", skiprows=1) / 1000

# Posterior mean and Monte Carlo error: a long run of an independent sampler
# (tests/references/gaussian_mixture.py), a random walk that has no labels at all.
REFERENCE = {
    "mean 1": (9.906681, 0.006480),
    "mean 2": (21.344652, 0.001775),
    "mean 3": (31.016463, 0.034389),
    "log likelihood": (-215.638336, 0.017724),
}
TIED_REFERENCE = {
    "mean 1": (9.901607, 0.005561),
    "mean 2": (21.354292, 0.001721),
    "mean 3": (31.436561, 0.020159),
    "log likelihood": (-215.630942, 0.013648),
}


def model(  # noqa: PLR0913  (data, size and prior constants)
    velocities=VELOCITIES,
    components=3,
    concentration=1,
    prior_mean=20,
    prior_precision=0.01,
    shape=3,
    rate=20,
    *,
    tied=False,
    strength=0.05,
):
    """The mixture, every component with its own mean and precision.

    The prior of a mean has ``prior_precision``, or if ``tied`` counts for ``strength`` galaxies.
    """
    coords = {"galaxy": range(len(velocities)), "component": range(components)}
    with gp.Model(coords=coords) as mixture:
        weight = gp.Dirichlet("weight", concentration, dims="component", event="component")
        tau = gp.Gamma("tau", shape, rate=rate, dims="component")
        precision = strength * tau if tied else prior_precision
        mu = gp.Normal("mu", prior_mean, tau=precision, dims="component")
        z = gp.Categorical("z", weight, dims="galaxy", event="component")
        gp.Normal("velocity", mu[z], tau=tau[z], dims="galaxy", observed=velocities)
    return mixture


def log_likelihood(weight, mu, tau, velocities=VELOCITIES):
    """The log density of the velocities, labels summed out; components are the last axis."""
    gaps = velocities[:, None] - mu[..., None, :]
    density = np.sqrt(tau / (2 * np.pi))[..., None, :] * np.exp(-tau[..., None, :] * gaps**2 / 2)
    return np.log((weight[..., None, :] * density).sum(axis=-1)).sum(axis=-1)


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    means = np.sort(draws["mu"], axis=-1)
    sorted_means = {f"mean {k + 1}": means[..., k] for k in range(means.shape[-1])}
    fit = log_likelihood(draws["weight"], draws["mu"], draws["tau"])
    return sorted_means | {"log likelihood": fit}
