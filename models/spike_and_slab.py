"""Spike and slab: which of ten covariates a regression needs.

    y[i] ~ Normal(intercept + sum over j of X[i, j] * gate[j] * beta[j], tau)
    gate[j] ~ Bernoulli(inclusion),   beta[j] ~ Normal(0, slab)

A weight whose gate is shut is drawn from its prior. From L. Kuo and B. Mallick (1998), "Variable
selection for regression models", Sankhya B 60, 65-81. With ``tied`` the precision of a weight is
``slab * tau``, so that weights and noise can both be integrated out, as in E. I. George and R. E.
McCulloch (1997), "Approaches for Bayesian variable selection", Statistica Sinica 7, 339-373: a gate
is weighed by what the whole regression gains from it. Without the weights the gates that move least
have about five times as many effective draws a second. The data are those of ``linear_regression``,
all columns standardised.
"""

import gibbsppl as gp
from models.linear_regression import COLUMNS, X, Y

# Covariates that are as good as always chosen: their gates hardly ever move.
SURE = ("bmi", "bp", "s5")

# Names of samplers of the same posterior, and what makes them: keyword arguments of gp.compile.
WAYS = {
    "nothing integrated out": {},
    "weights integrated out": {"collapse": ("beta",)},
}
# The same of `model(tied=True)`.
TIED_WAYS = {**WAYS, "weights and noise integrated out": {"collapse": ("beta", "tau")}}

# Exact to the digits given: a sum over all 1024 selections and a quadrature over the precision,
# the weights integrated out (tests/references/spike_and_slab.py computes it again).
REFERENCE = {
    "tau": (2.0193715, 0.0),
    "gate[age]": (0.068612962, 0.0),
    "gate[sex]": (0.98546097, 0.0),
    "gate[s1]": (0.69095276, 0.0),
    "gate[s2]": (0.48322522, 0.0),
    "gate[s3]": (0.53559681, 0.0),
    "gate[s4]": (0.33376213, 0.0),
    "gate[s6]": (0.12298613, 0.0),
    "weight[age]": (-0.00019736079, 0.0),
    "weight[sex]": (-0.13772011, 0.0),
    "weight[bmi]": (0.32936155, 0.0),
    "weight[bp]": (0.20116007, 0.0),
    "weight[s1]": (-0.19226936, 0.0),
    "weight[s2]": (0.091329198, 0.0),
    "weight[s3]": (-0.079645513, 0.0),
    "weight[s4]": (0.036804803, 0.0),
    "weight[s5]": (0.37194269, 0.0),
    "weight[s6]": (0.0052110127, 0.0),
}
TIED_REFERENCE = {
    "tau": (2.0338281, 0.0),
    "gate[age]": (0.094330673, 0.0),
    "gate[sex]": (0.98951078, 0.0),
    "gate[s1]": (0.6834484, 0.0),
    "gate[s2]": (0.44693436, 0.0),
    "gate[s3]": (0.61182849, 0.0),
    "gate[s4]": (0.40739619, 0.0),
    "gate[s6]": (0.1694592, 0.0),
    "weight[age]": (-0.00021853958, 0.0),
    "weight[sex]": (-0.13728646, 0.0),
    "weight[bmi]": (0.32893919, 0.0),
    "weight[bp]": (0.20075679, 0.0),
    "weight[s1]": (-0.1526402, 0.0),
    "weight[s2]": (0.053341328, 0.0),
    "weight[s3]": (-0.089960452, 0.0),
    "weight[s4]": (0.044151264, 0.0),
    "weight[s5]": (0.35275239, 0.0),
    "weight[s6]": (0.0073069922, 0.0),
}


def model(  # noqa: PLR0913  (data, names and prior constants)
    x=X,
    y=Y,
    columns=COLUMNS,
    inclusion=0.5,
    slab=4,
    intercept_precision=1e-2,
    noise_prior=(1e-2, 1e-2),
    *,
    tied=False,
):
    """The regression of ``y`` on some columns of ``x``; ``slab`` is the precision of weights.

    If they are ``tied``, ``slab`` is that precision in units of the noise's.

    ``noise_prior`` is the shape and the rate of a Gamma.
    """
    coords = {"patient": range(len(y)), "covariate": list(columns)}
    with gp.Model(coords=coords) as selection:
        design = gp.Data("design", x, dims=("patient", "covariate"))
        tau = gp.Gamma("tau", noise_prior[0], rate=noise_prior[1])
        intercept = gp.Normal("intercept", 0, tau=intercept_precision)
        gate = gp.Bernoulli("gate", inclusion, dims="covariate")
        beta = gp.Normal("beta", 0, tau=slab * tau if tied else slab, dims="covariate")
        line = intercept + design @ (gate * beta)
        gp.Normal("y", line, tau=tau, dims="patient", observed=y)
    return selection


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    gate = draws["gate"]
    gates = {f"gate[{c}]": gate[..., j] for j, c in enumerate(COLUMNS) if c not in SURE}
    products = gate * draws["beta"]
    weights = {f"weight[{c}]": products[..., j] for j, c in enumerate(COLUMNS)}
    return {"tau": draws["tau"]} | gates | weights
