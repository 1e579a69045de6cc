"""Pumps: failure rates of ten pumps of a nuclear power plant, shrunk towards one another.

Pump ``i`` failed ``failures[i]`` times in ``hours[i]`` thousand hours of operation.

    failures[i] ~ Poisson(theta[i] * hours[i]),   theta[i] ~ Gamma(alpha, beta)

Nothing is conjugate to the shape ``alpha`` of a Gamma; its log density is concave, so that adaptive
rejection draws it exactly.
The data are from D. P. Gaver and I. G. O'Muircheartaigh (1987), "Robust empirical Bayes analyses of
event rates", Technometrics 29, 1-15; the model is from E. I. George, U. E. Makov and A. F. M. Smith
(1993), "Conjugate likelihood distributions", Scandinavian Journal of Statistics 20, 147-156, and is
one of the BUGS examples, volume 1.
"""

import json
from pathlib import Path

import gibbsppl as gp

PUMPS = json.loads((Path(__file__).parent / "data" / "pumps.json").read_text())

# Posterior mean and Monte Carlo error: a long run of an independent sampler (JAGS 4.3.1).
REFERENCE = {
    "alpha": (0.695658, 0.004251744),
    "beta": (0.9227976, 0.008115919),
    "theta[0]": (0.05946172, 0.0001750863),
    "theta[1]": (0.1017059, 0.0005703751),
    "theta[2]": (0.08966847, 0.0002622107),
    "theta[3]": (0.1159893, 0.0002048369),
    "theta[4]": (0.6032536, 0.002195846),
    "theta[5]": (0.6094558, 0.0009347103),
    "theta[6]": (0.8953557, 0.005130578),
    "theta[7]": (0.8941999, 0.005156949),
    "theta[8]": (1.587047, 0.00589406),
    "theta[9]": (1.993037, 0.003095653),
}


def model(
    failures=PUMPS["failures"],
    thousand_hours=PUMPS["thousand_hours"],
    alpha_rate=1,
    beta_shape=0.1,
    beta_rate=1,
):
    """The failure rates of the pumps, per thousand hours."""
    with gp.Model(coords={"pump": range(1, len(failures) + 1)}) as pumps:
        hours = gp.Data("hours", thousand_hours, dims="pump")
        alpha = gp.Exponential("alpha", rate=alpha_rate)
        beta = gp.Gamma("beta", beta_shape, rate=beta_rate)
        theta = gp.Gamma("theta", alpha, rate=beta, dims="pump")
        gp.Poisson("failures", theta * hours, dims="pump", observed=failures)
    return pumps


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    rates = {f"theta[{i}]": draws["theta"][..., i] for i in range(draws["theta"].shape[-1])}
    return {"alpha": draws["alpha"], "beta": draws["beta"], **rates}
