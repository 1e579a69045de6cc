"""A factorisation machine: a regression on all pairs of features, with coefficients of low rank.

    y[n] ~ Normal(f[n], alpha),   x[n, .] the values of the features that row n has
    f[n] = w0 + sum_j w[j] x[n, j] + sum_{i < j} (v[i] . v[j]) x[n, i] x[n, j]
    w[j] ~ Normal(mu_w[g], tau_w[g]),   v[j, k] ~ Normal(mu_v[g, k], tau_v[g, k]),   j of group g

The sum over pairs is half of the square of the sums over features, less the squares: f is computed
in time linear in the entries (S. Rendle, 2010, "Factorization machines", ICDM). Means and
precisions of groups are drawn too, with priors as those of C. Freudenthaler, L. Schmidt-Thieme and
S. Rendle (2011), "Bayesian factorization machines", NIPS workshop on sparse representation: the
precision of a mean is that of its group. The log density is quartic in all of v, but f is linear in
each single element: these are drawn from normal distributions, by colours.

The ratings of judges are those of `matrix_factorisation`; features are the judge and the quality
that is rated. One rating in eleven is kept aside, to be predicted.
"""

import numpy as np

import gibbsppl as gp
from models.matrix_factorisation import HELD_OUT, JUDGES, OBSERVED, QUALITIES

# Which features each rating has, a column for each: judges first, then qualities.
FEATURES = np.stack([OBSERVED[0], len(JUDGES) + OBSERVED[1]], axis=1)
GROUPS = np.repeat([0, 1], [len(JUDGES), len(QUALITIES)])
RATINGS = OBSERVED[2]
PREDICTED = [(int(j), len(JUDGES) + int(q)) for j, q in zip(*HELD_OUT[:2], strict=True)][:6]

# Posterior mean and Monte Carlo error of the first predictions: a long run of an independent
# sampler (tests/references/factorisation_machine.py), which computes f anew for each element.
REFERENCE = {
    "Aaronson, integrity": (8.084181, 0.001711),
    "Alexander, case_flow": (7.988916, 0.0006978),
    "Armentano, familiarity": (7.538110, 0.0004604),
    "Berdon, physical": (8.619152, 0.004268),
    "Bracken, demeanor": (4.971005, 0.005988),
    "Burns, decisions": (8.085635, 0.001076),
}


def model(  # noqa: PLR0913, PLR0917  (data and prior constants, all named)
    features=FEATURES,
    y=RATINGS,
    groups=GROUPS,
    values=None,
    factors=2,
    level=7.6,
    level_precision=1,
    shape=1,
    rate=1,
):
    """The machine for rows with ``features`` of certain ``values`` (default: all are 1).

    Rows with fewer features are filled up with values of 0. ``groups`` has the group of each
    feature; all precisions have the same Gamma prior.
    """
    rows, slots = np.shape(features)
    coords = {"row": range(rows), "slot": range(slots), "feature": range(len(groups))}
    coords |= {"group": range(max(groups) + 1), "factor": range(factors)}
    with gp.Model(coords=coords, name="factorisation machine") as machine:
        feature = gp.Index("feature_of", features, of="feature", dims=("row", "slot"))
        group = gp.Index("group_of", groups, of="group", dims="feature")
        x = 1 if values is None else gp.Data("x", values, dims=("row", "slot"))
        tau_w = gp.Gamma("tau_w", shape, rate=rate, dims="group")
        mu_w = gp.Normal("mu_w", 0, tau=tau_w, dims="group")
        tau_v = gp.Gamma("tau_v", shape, rate=rate, dims=("group", "factor"))
        mu_v = gp.Normal("mu_v", 0, tau=tau_v, dims=("group", "factor"))
        alpha = gp.Gamma("alpha", shape, rate=rate)
        w0 = gp.Normal("w0", level, tau=level_precision)
        w = gp.Normal("w", mu_w[group], tau=tau_w[group], dims="feature")
        v = gp.Normal("v", mu_v[group], tau=tau_v[group], dims=("feature", "factor"))
        sums, squares = (v[feature] * x).sum("slot"), ((v[feature] * x) ** 2).sum("slot")
        pairs = 0.5 * (sums**2 - squares).sum("factor")
        gp.Normal("y", w0 + (w[feature] * x).sum("slot") + pairs, tau=alpha, dims="row", observed=y)
    return machine


def starts(chains, seed, groups=GROUPS, factors=2):
    """Small factors for each chain to start from, for ``sample(init=)``.

    From large ones a chain may stay for long where one factor is nearly constant (a mean ``mu_v``
    of about 5, a precision ``alpha`` of half of what it should be): of chains that start from the
    prior some one in ten.
    """
    rng = np.random.default_rng(seed)
    return [{"v": rng.normal(0, 0.1, (len(groups), factors))} for _ in range(chains)]


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    found = {}
    for j, q in PREDICTED:
        name = f"{JUDGES[j]}, {QUALITIES[q - len(JUDGES)]}"
        product = (draws["v"][..., j, :] * draws["v"][..., q, :]).sum(axis=-1)
        found[name] = draws["w0"] + draws["w"][..., j] + draws["w"][..., q] + product
    return found
