"""The dose response, exactly: level and slope by quadrature on a grid along their correlation."""

import numpy as np
from scipy.special import log_expit, log_ndtr

from references.quadrature import expectations

LOG_PROBABILITY = {"logit": log_expit, "probit": log_ndtr}


def means(killed, beetles, log_dose, link, precision=1e-3):
    """The posterior means of alpha, beta and three expected numbers of beetles killed."""
    x, r, n = (np.asarray(a, float) for a in (log_dose, killed, beetles))
    log_p = LOG_PROBABILITY[link]
    level, slope = np.meshgrid(np.linspace(-0.5, 2, 501), np.linspace(10, 55, 501), indexing="ij")
    line = level[..., None] + slope[..., None] * (x - x.mean())
    fit = (r * log_p(line) + (n - r) * log_p(-line)).sum(axis=-1)
    expected = n * np.exp(log_p(line))
    values = {f"killed[{i}]": expected[..., i - 1] for i in (1, 4, 8)}
    values |= {"alpha": level - slope * x.mean(), "beta": slope}
    return expectations(fit - precision * (level**2 + slope**2) / 2, **values)
