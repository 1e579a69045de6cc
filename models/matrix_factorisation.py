"""Matrix factorisation: ratings as products of factors of the rated and of the criterion.

    rating[n] ~ Normal(level + sum over k of U[judge[n], k] * V[quality[n], k], tau)
    U[j, k] ~ Normal(0, tau_u),   V[q, k] ~ Normal(0, tau_v)

All precisions are fixed, as in R. Salakhutdinov and A. Mnih (2008), "Bayesian probabilistic matrix
factorization using Markov chain Monte Carlo", ICML, before their hyperpriors. Factors can be
rotated and their signs flipped without any change to the density: look at predictions, not at them.

Lawyers rated 43 judges of the Superior Court of Connecticut on eleven qualities; the table stood in
the New Haven Register of 14 January 1977 and is the data set USJudgeRatings of R (its column of
contacts, which is no rating, is left out). One rating in eleven is kept aside, to be predicted.
"""

from pathlib import Path

import numpy as np

import gibbsppl as gp

_table = np.loadtxt(
    Path(__file__).parent / "data" / "judges.csv", delimiter=",", skiprows=1, dtype=str
)
JUDGES, QUALITIES = (tuple(dict.fromkeys(_table[:, c].tolist())) for c in (0, 1))
_ratings = (
    np.array([JUDGES.index(j) for j in _table[:, 0]]),
    np.array([QUALITIES.index(q) for q in _table[:, 1]]),
    _table[:, 2].astype(float),
)
# One quality of each judge, another one for the next judge.
_aside = _ratings[1] == 3 * _ratings[0] % len(QUALITIES)
OBSERVED = tuple(column[~_aside] for column in _ratings)
HELD_OUT = tuple(column[_aside] for column in _ratings)

# Posterior mean and Monte Carlo error of the first predictions: a long run of an independent
# sampler (tests/references/matrix_factorisation.py), which draws the factors one by one.
REFERENCE = {
    "Aaronson, integrity": (8.111418, 0.004424),
    "Alexander, case_flow": (8.133779, 0.001357),
    "Armentano, familiarity": (7.524341, 0.0014),
    "Berdon, physical": (8.689742, 0.0044),
    "Bracken, demeanor": (5.549984, 0.00141),
    "Burns, decisions": (8.123976, 0.001137),
}


def model(
    ratings=OBSERVED,
    names=(JUDGES, QUALITIES),
    factors=2,
    level=7.6,
    tau=10,
    tau_u=1,
    tau_v=1,
):
    """The factorisation of ``ratings``: (judge, quality, rating), three arrays of one length."""
    judges, qualities = map(list, names)
    coords = {"judge": judges, "quality": qualities, "factor": range(factors)}
    with gp.Model(coords=coords | {"rating": range(len(ratings[0]))}) as factorisation:
        judge = gp.Index("judge_of", ratings[0], of="judge", dims="rating")
        quality = gp.Index("quality_of", ratings[1], of="quality", dims="rating")
        U = gp.Normal("U", 0, tau=tau_u, dims=("judge", "factor"))
        V = gp.Normal("V", 0, tau=tau_v, dims=("quality", "factor"))
        mean = level + (U[judge] * V[quality]).sum("factor")
        gp.Normal("value", mean, tau=tau, dims="rating", observed=ratings[2])
    return factorisation


def quantities(draws, level=7.6):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    pairs = list(zip(*HELD_OUT[:2], strict=True))[:6]
    return {
        f"{JUDGES[j]}, {QUALITIES[q]}": level
        + (draws["U"][..., j, :] * draws["V"][..., q, :]).sum(axis=-1)
        for j, q in pairs
    }
