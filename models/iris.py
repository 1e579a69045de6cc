"""Mixture of normal vectors: the flowers of 150 irises, in three kinds that are not told.

    z[i] ~ Categorical(weight),   y[i, :] ~ MvNormal(mu[z[i], :], tau[z[i], :, :])
    mu[k, :] ~ MvNormal(prior_mean, strength * tau[k, :, :]),   tau[k, :, :] ~ Wishart(nu, R=scale)

The prior of the precision ``tau`` makes the covariance inverse Wishart, with ``scale``; together
with the prior of the mean it is the normal-inverse-Wishart, which is conjugate to both (A. Gelman
and others, 2013, "Bayesian Data Analysis", section 3.6): a component can go altogether.

Length and width of sepals and petals, in centimetres, of 50 flowers of each of three species. From
R. A. Fisher (1936), "The use of multiple measurements in taxonomic problems", Annals of Eugenics 7,
179-188, who had them from E. Anderson (1935), "The irises of the Gaspé Peninsula", Bulletin of the
American Iris Society 59, 2-5; the file is scikit-learn's copy, which has Fisher's own numbers. The
species are not used: one of them is apart from the others, and these are hard to tell.

Components can be renamed without any change to the density: look at which pairs of flowers share
one, at the sorted means and at the likelihood with the labels summed out.
"""

from pathlib import Path

import numpy as np

import gibbsppl as gp

MEASUREMENTS = ("sepal length", "sepal width", "petal length", "petal width")
_file = Path(__file__).parent / "data" / "iris.csv"
_table = np.loadtxt(_file, delimiter=",", skiprows=1, dtype=str)
FLOWERS, SPECIES = _table[:, :4].astype(float), _table[:, 4]

# Two versicolor that may be apart, and versicolor with virginica, counted from the first flower.
PAIRS = ((77, 83), (50, 133), (70, 100), (100, 106))

# What the matrix of a component is declared as: its name in each form of the model.
MATRICES = {"precision": "tau", "covariance": "cov"}


def ways(form="precision"):
    """Names of samplers of the same posterior, and what makes them: arguments of gp.compile."""
    matrix = MATRICES[form]
    return {
        "nothing integrated out": {},
        "means integrated out": {"collapse": ("mu",)},
        f"means and {form}s integrated out": {"collapse": ("mu", matrix)},
        f"weights, means and {form}s integrated out": {"collapse": ("weight", "mu", matrix)},
    }


WAYS = ways()

# Posterior mean and Monte Carlo error: a long run of an independent sampler
# (tests/references/iris.py), of the labels alone. One draw in two hundred is of another mode, with
# longer petals in the second component, which one of its 16 chains was in for most of these draws:
# the errors have that in them, those of a shorter run may not.
REFERENCE = {
    "77 with 83": (0.374500, 0.002803),
    "50 with 133": (0.345525, 0.003711),
    "70 with 100": (0.750225, 0.002807),
    "100 with 106": (0.962100, 0.001399),
    "petal length 1": (1.467541, 0.000152),
    "petal length 2": (4.236964, 0.001759),
    "petal length 3": (5.503857, 0.000826),
    "log likelihood": (-211.444241, 0.040452),
}


def model(  # noqa: PLR0913  (data, size and prior constants)
    flowers=FLOWERS,
    *,
    form="precision",
    measurements=MEASUREMENTS,
    components=3,
    concentration=10,
    prior_mean=(6, 3, 4, 1),
    strength=0.1,
    nu=10,
    scale=0.5,
):
    """The mixture; ``form`` is ``"precision"`` or ``"covariance"``, two names of one prior.

    ``strength`` is what the prior of a mean counts for, in flowers; the matrix ``scale`` of the
    covariance's prior is that number times the identity.
    """
    coords = {"flower": range(len(flowers)), "component": range(components)}
    square = ("measurement", "measurement'")
    with gp.Model(coords=coords | {"measurement": list(measurements)}) as mixture:
        first = gp.Data("prior_mean", np.asarray(prior_mean, dtype=float), dims="measurement")
        spread = gp.Data("scale", scale * np.eye(len(measurements)), dims=square)
        weight = gp.Dirichlet("weight", concentration, dims="component", event="component")
        z = gp.Categorical("z", weight, dims="flower", event="component")
        vectors = {"dims": ("component", "measurement"), "event": "measurement"}
        seen = {"dims": ("flower", "measurement"), "event": "measurement", "observed": flowers}
        if form == "precision":
            tau = gp.Wishart("tau", nu, R=spread, dims=("component", *square))
            mu = gp.MvNormal("mu", first, tau=strength * tau, **vectors)
            gp.MvNormal("y", mu[z], tau=tau[z], **seen)
        else:
            cov = gp.InverseWishart("cov", nu, spread, dims=("component", *square))
            mu = gp.MvNormal("mu", first, cov=cov / strength, **vectors)
            gp.MvNormal("y", mu[z], cov=cov[z], **seen)
    return mixture


def log_likelihood(weight, mu, tau, flowers=FLOWERS):
    """The log density of the flowers, labels summed out; a component is the last axis of weight."""
    root = np.linalg.cholesky(tau)
    half_log_det = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
    gaps = flowers[:, None] - mu[..., None, :, :]
    scaled = np.einsum("...ikp,...kpq->...ikq", gaps, root)
    constant = half_log_det - flowers.shape[1] * np.log(2 * np.pi) / 2 + np.log(weight)
    log_density = constant[..., None, :] - (scaled**2).sum(axis=-1) / 2
    return np.logaddexp.reduce(log_density, axis=-1).sum(axis=-1)


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    z, mu = draws["z"], draws["mu"]
    pairs = {f"{i} with {j}": (z[..., i] == z[..., j]).astype(float) for i, j in PAIRS}
    lengths = np.sort(mu[..., MEASUREMENTS.index("petal length")], axis=-1)
    means = {f"petal length {k + 1}": lengths[..., k] for k in range(lengths.shape[-1])}
    tau = draws["tau"] if "tau" in draws else np.linalg.inv(draws["cov"])
    return pairs | means | {"log likelihood": log_likelihood(draws["weight"], mu, tau)}
