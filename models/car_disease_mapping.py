"""Disease mapping: the relative risk of lip cancer in the districts of Scotland, neighbours alike.

    observed[i] ~ Poisson(expected[i] * exp(risk[i] + beta * outdoors[i] / 10))
    p(risk | tau) is in proportion to
        tau^((n - components) / 2) * exp(-tau / 2 * sum of (risk[i] - risk[j])^2 over neighbours)

The intrinsic conditional autoregression of J. Besag, J. York and A. Mollie (1991), "Bayesian image
restoration, with two applications in spatial statistics", Annals of the Institute of Statistical
Mathematics 43, 1-59. It says how districts differ from their neighbours and nothing of their level,
so that as a prior it is improper; three things make it a model:

- *The normaliser.* A Gaussian density has the root of the determinant of its precision matrix; here
  that of what the differences span, whose dimension is the number of districts less the number of
  connected components of the map (L. Knorr-Held 2003, "Some remarks on Gaussian Markov random field
  models for disease mapping"). A potential is what is written and no more: without the line
  ``normaliser`` below the power of ``tau`` would be missing, and ``tau`` far too small.
- *The level.* There is no intercept: the level of each component is that of its ``risk``, which is
  as if ``risk`` summed to zero in each component and each had an intercept with a flat prior. An
  intercept besides would be a flat direction, and the posterior improper; with ``intercept=True``
  there is one, and ``risk`` sums to zero: it is ``gp.centred(free, "district")``, where one
  district of ``free`` is 0. Each district then sees all cases, and a sweep of counts takes longer.
- *The data.* Each component must have a case. A district without neighbours is a component by
  itself: it has a flat prior here, and needs a case of its own.

``risk`` is flat but for its neighbours and the data; its conditionals are log-concave and drawn
colour by colour. With ``response="normal"`` the logs of the ratios ``(observed + 1/2) / expected``
are normal instead, with known precisions ``expected``, and all of ``risk`` and ``beta`` is one
joint draw.

Cases of lip cancer among men in 56 districts, 1975 to 1980, those expected from the age of the
people, and how many in a hundred work in agriculture, fishing and forestry: D. Clayton and J.
Kaldor (1987), "Empirical Bayes estimates of age-standardized relative risks for use in disease
mapping", Biometrics 43, 671-681. The list of neighbours is that of the case studies of Stan (M.
Morris, 2018, "Spatial models in Stan: intrinsic auto-regressive models for areal data") and PyMC,
in which no district is an island; positions count from 0.
"""

import json
from pathlib import Path

import networkx as nx
import numpy as np

import gibbsppl as gp

SCOTLAND = json.loads((Path(__file__).parent / "data" / "lip_cancer.json").read_text())

# Posterior mean and Monte Carlo error: a long run of an independent sampler, a random walk of all
# districts side by side (tests/references/car_disease_mapping.py).
REFERENCE = {
    "beta": (0.339974, 0.00061),
    "sd": (0.775648, 0.000442),
    "mean risk": (-0.196852, 0.000529),
    "relative[1]": (4.76185, 0.00422),
    "relative[15]": (1.80089, 0.00126),
    "relative[49]": (0.35451, 0.000173),
    "relative[55]": (0.849713, 0.000893),
    "relative[56]": (0.75854, 0.000773),
}
# Exact to the digits given, for the normal response: quadrature over tau, all else integrated out
# by dense algebra (the same file).
NORMAL_REFERENCE = {
    "beta": (0.26333267, 0.0),
    "sd": (0.89390707, 0.0),
    "mean risk": (-0.12312355, 0.0),
    "relative[1]": (4.0187722, 0.0),
    "relative[15]": (1.7462728, 0.0),
    "relative[49]": (0.33672657, 0.0),
    "relative[55]": (0.49445729, 0.0),
    "relative[56]": (0.65955599, 0.0),
}

DISTRICTS = (0, 14, 48, 54, 55)


def components(neighbours):
    """How many parts a map falls into.

    >>> components([[1], [0], []])
    2
    """
    return nx.number_connected_components(nx.Graph(dict(enumerate(neighbours))))


def model(  # noqa: PLR0913  (data, size and prior constants)
    observed=SCOTLAND["observed"],
    expected=SCOTLAND["expected"],
    outdoors=SCOTLAND["outdoors"],
    neighbours=SCOTLAND["neighbours"],
    *,
    shape=1,
    rate=1,
    beta_precision=1,
    response="poisson",
    intercept=False,
):
    """The map; ``response`` is ``"poisson"`` (of cases) or ``"normal"`` (of log ratios).

    With an ``intercept`` (of a map in one piece) the risks sum to zero.
    """
    rank = len(neighbours) - components(neighbours)
    cases, size = np.asarray(observed), np.asarray(expected, float)
    with gp.Model(coords={"district": range(1, len(neighbours) + 1)}) as scotland:
        outside = gp.Data("outside", np.asarray(outdoors) / 10, dims="district")
        tau = gp.Gamma("tau", shape, rate=rate)
        beta = gp.Normal("beta", 0, tau=beta_precision)
        if intercept:
            level = gp.Flat("level")
            free = gp.Array("free", dims="district")
            free[0], free[1:] = 0.0, gp.Flat()
            risk = gp.Deterministic("risk", gp.centred(free, "district"))
        else:
            level = 0
            risk = gp.Flat("risk", dims="district")
        i, j = gp.Neighbours("border", neighbours, of="district")
        gp.Potential("smooth", -tau / 2 * (risk[i] - risk[j]) ** 2)
        gp.Potential("normaliser", rank / 2 * gp.log(tau))
        at_risk = gp.Data("expected", size, dims="district")
        log_ratio = level + risk + beta * outside
        if response == "normal":
            ratio = np.log((cases + 0.5) / size)
            gp.Normal("ratio", log_ratio, tau=at_risk, dims="district", observed=ratio)
        else:
            cases_expected = at_risk * gp.exp(log_ratio)
            gp.Poisson("observed", cases_expected, dims="district", observed=cases)
        gp.Deterministic("relative", gp.exp(log_ratio))
    return scotland


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    risks = {f"relative[{d + 1}]": draws["relative"][..., d] for d in DISTRICTS}
    level = draws["level"] if "level" in draws else draws["risk"].mean(axis=-1)
    spread = {"sd": draws["tau"] ** -0.5, "mean risk": level}
    return {"beta": draws["beta"], **spread, **risks}
