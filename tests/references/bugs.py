"""Whether draws agree with the references of an example of BUGS: its means, and its sds.

An error of a mean is its Monte Carlo standard error; one of an sd comes from the fourth moment, by
the delta method: ``sd * sqrt((kurtosis - 1) / (4 n))``, where n is the number of independent
draws that would do as well. For a reference that is ``(sd / mcse)**2``, and its kurtosis is taken
from the draws. Where a reference has a ``rounding``, its sd may be nearer by so much.
"""

from dataclasses import dataclass

import numpy as np

from gibbsppl.output.diagnostics import mcse_mean, mcse_sd


@dataclass(frozen=True, slots=True)
class Distance:
    """How many combined Monte Carlo errors lie between draws and a reference."""

    mean: float
    sd: float


def distance(values, reference):
    """The distances of draws (chain, draw) of one scalar; of a constant 0, or infinite."""
    mean, sd, mcse = (reference[key] for key in ("mean", "sd", "mcse"))
    if mcse is None:
        far = 0.0 if np.all(values == mean) else np.inf
        return Distance(far, far)
    found = values.std(ddof=1)
    if found == 0:
        return Distance(np.inf, np.inf)
    kurtosis = np.mean((values - values.mean()) ** 4) / values.var() ** 2
    of_sd = sd * np.sqrt((kurtosis - 1) / 4) * (mcse / sd)
    apart = max(abs(found - sd) - reference.get("rounding", 0), 0)
    return Distance(
        float(abs(values.mean() - mean) / np.hypot(mcse_mean(values), mcse)),
        float(apart / np.hypot(mcse_sd(values), of_sd)),
    )


def disagreements(scalars, references, limit=4.0):
    """The scalars that are further than ``limit`` errors from their references, and how far.

    ``scalars`` are draws with axes (chain, draw) by name, as BUGS writes it: ``beta[2,1]``.
    """
    assert set(references) <= set(scalars), set(references) - set(scalars)
    found = {name: distance(scalars[name], known) for name, known in references.items()}
    return {name: far for name, far in found.items() if not (far.mean <= limit and far.sd <= limit)}
