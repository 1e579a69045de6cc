"""The examples of the BUGS volumes beside JAGS: rows of workloads."""

import jags
import numpy as np
from bugs_by_jags import WITHOUT_GLM
from workload import BUGS, Workload

import gibbsppl as gp
from models.bugs import CASES, MORE

DEVIANCE = "deviance"
# Chains from starts of their own do not meet: both sides begin at the example's initial values.
FROM_INITS = ("otrees", "otreesmvn", "fire", "jama")
TOO_SMALL = "its sd of the effects is 2 to 4 % too small"


def _of_case(name, case):
    """An example of the volumes: the same monitors, but for the deviance, on both sides."""
    monitors = tuple(m for m in case.monitors if m != DEVIANCE)
    known = {n: x for n, x in case.references.items() if x["mcse"] and n != DEVIANCE}
    alone = name in WITHOUT_GLM
    return Workload(
        name, BUGS, case.model.stem,
        lambda _: gp.read_bugs(case.model, case.data, monitor=list(monitors)),
        dict.fromkeys(("JAGS", *(("JAGS without glm",) * alone), *BESIDES.get(name, ())), 1.0)
        | TARGETS.get(name, {}),
        data=lambda: {n: np.asarray(x) for n, x in jags.read(case.data).items()},
        monitors=monitors, watched=tuple(known),
        program=lambda: (
            case.for_jags.read_text(encoding="utf-8"), jags.read(case.data), jags.read(case.inits)
        ),
        inits=case.inits if name in FROM_INITS else None,
        wrong={"JAGS": TOO_SMALL} if alone else {},
    )  # fmt: skip


# What other programs read of the data, where they have the model.
BESIDES = {"rats_1": ("NumPyro", "PyMC"), "pump_1": ("NumPyro", "PyMC")}
# More is asked of the two that were also written by hand (15 times JAGS).
TARGETS = {name: {"JAGS": 15.0} for name in BESIDES}
ROWS = (*(_of_case(*named) for named in {**CASES, **MORE}.items()),)
