"""Bayesian matrix factorisation: precisions of the factors are learnt, and nobody is a stranger.

    rating[n] ~ Normal(level + U[judge[n], :] @ V[quality[n], :], tau)
    U[j, :] ~ MvNormal(mean_u, precision_u),   V[q, :] ~ MvNormal(mean_v, precision_v)
    mean_u ~ MvNormal(0, strength * precision_u),   precision_u ~ Wishart(nu, R=identity)
    mean_v and precision_v likewise

R. Salakhutdinov and A. Mnih (2008), "Bayesian probabilistic matrix factorization using Markov chain
Monte Carlo", ICML: both sides have Gaussian-Wishart hyperpriors, so that how much factors vary, and
how they go together, is estimated along with them. All factors of one side are drawn together with
their mean, each row being tied to the others by the mean alone.

Factors can be rotated without any change to the density: look at predictions, not at them. The
ratings are those of ``matrix_factorisation``. One more quality is on the list that nobody has rated
(a *cold* item): its factors are drawn from the prior that the others have made, and what is
predicted of it is what can be said of a judge without any knowledge of the quality. Prediction,
``sampler.predict(draws, new={"judge_of": ..., "quality_of": ...})``, has mean and variance.
"""

import numpy as np

import gibbsppl as gp
from models.matrix_factorisation import HELD_OUT, JUDGES, OBSERVED, QUALITIES

COLD = "a quality that nobody has rated"
NAMES = (JUDGES, (*QUALITIES, COLD))

# Posterior mean and Monte Carlo error of predictions and of their squares: a long run of an
# independent sampler (tests/references/bayesian_matrix_factorisation.py), which draws one factor
# after the other.
REFERENCE = {
    "Aaronson, integrity": (8.00611, 0.00247),
    "Alexander, case_flow": (8.13593, 0.000914),
    "Armentano, familiarity": (7.53194, 0.00104),
    "Aaronson, cold, squared": (0.30075, 0.00658),
    "Callahan, cold, squared": (1.29281, 0.0159),
}


def model(
    ratings=OBSERVED,
    names=NAMES,
    factors=2,
    level=7.6,
    tau=10,
    strength=2,
    nu=None,
):
    """The factorisation of ``ratings``: (judge, quality, rating), three arrays of one length."""
    judges, qualities = map(list, names)
    coords = {"judge": judges, "quality": qualities, "factor": range(factors)}
    coords |= {"rating": range(len(ratings[0]))}
    with gp.Model(coords=coords) as factorisation:
        judge = gp.Index("judge_of", ratings[0], of="judge", dims="rating")
        quality = gp.Index("quality_of", ratings[1], of="quality", dims="rating")
        U, V = (
            _side(name, dim, strength, factors if nu is None else nu, factors)
            for name, dim in (("U", "judge"), ("V", "quality"))
        )
        mean = level + (U[judge] * V[quality]).sum("factor")
        gp.Normal("value", mean, tau=tau, dims="rating", observed=ratings[2])
    return factorisation


def _side(name, dim, strength, nu, factors):
    """The factors of one side, with the prior of their mean and precision."""
    square = ("factor", "factor'")
    identity = gp.Data(f"identity_{name}", np.eye(factors), dims=square)
    zero = gp.Data(f"zero_{name}", np.zeros(factors), dims="factor")
    precision = gp.Wishart(f"precision_{name}", nu, R=identity, dims=square)
    mean = gp.MvNormal(f"mean_{name}", zero, tau=strength * precision, dims="factor")
    return gp.MvNormal(name, mean, tau=precision, dims=(dim, "factor"), event="factor")


def quantities(draws, level=7.6):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    pairs = list(zip(*HELD_OUT[:2], strict=True))[:3]
    found = {f"{JUDGES[j]}, {QUALITIES[q]}": _product(draws, j, q) for j, q in pairs}
    cold = {JUDGES[j]: _product(draws, j, len(QUALITIES)) for j in (0, 6)}
    squares = {f"{name}, cold, squared": product**2 for name, product in cold.items()}
    return {name: level + product for name, product in found.items()} | squares


def _product(draws, judge, quality):
    return (draws["U"][..., judge, :] * draws["V"][..., quality, :]).sum(axis=-1)
