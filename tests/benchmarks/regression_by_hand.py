"""Linear regression, the sweep written by hand: the weights in one draw, ``X.T @ X`` once."""

import numpy as np


def prepare(x, y):
    """What depends on the data alone."""
    design = np.column_stack([np.ones(len(y)), x])
    gram = design.T @ design
    best = np.linalg.solve(gram, design.T @ y)
    return {
        "rows": len(y),
        "gram": gram,
        "moments": design.T @ y,
        "best": best,
        "residual": ((y - design @ best) ** 2).sum(),
        "diagonal": np.arange(len(gram)),
    }


def start(rng, c):
    """A dispersed state."""
    return {"beta": c["best"] + rng.normal(size=len(c["best"])), "tau": 1.0, "tau_beta": 1.0}


def sweep(rng, s, c, intercept_precision=1e-2, shape=1e-2, rate=1e-2):
    """Both precisions, then intercept and weights together."""
    beta = s["beta"]
    gap = beta - c["best"]
    squares = c["residual"] + gap @ c["gram"] @ gap
    s["tau"] = tau = rng.standard_gamma(shape + c["rows"] / 2) / (rate + squares / 2)
    weights = beta[1:]
    s["tau_beta"] = tau_beta = rng.standard_gamma(shape + len(weights) / 2) / (
        rate + weights @ weights / 2
    )
    precision = tau * c["gram"]
    precision[c["diagonal"], c["diagonal"]] += tau_beta
    precision[0, 0] += intercept_precision - tau_beta
    lower = np.linalg.cholesky(precision)
    forward = np.linalg.solve(lower, tau * c["moments"])
    s["beta"] = np.linalg.solve(lower.T, forward + rng.standard_normal(len(beta)))
