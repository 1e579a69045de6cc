"""The references of examples of BUGS that have no others, from long runs of JAGS.

    python tests/benchmarks/bugs_by_jags.py [case] ...

Writes ``models/bugs/more/references.json``, by scalar. What JAGS costs beside gibbsppl is measured
by ``python -m tests.benchmarks``.
"""

# Threads and paths are set before what reads them is imported.
# ruff: noqa: E402

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent), str(HERE)]

import jags
import numpy as np

from gibbsppl.output.diagnostics import mcse_mean
from models.bugs import CASES, MORE

SETTINGS = {"draws": 10_000, "warmup": 5_000, "chains": 4}
# Chains that move slowly: of so many draws one is kept.
THIN = {"dyes_1": 50, "seeds_1": 4, "blocker_1": 8, "beetles_1": 4, "mice_1": 20, "oxford_1": 8,
        "dugongs_1": 4, "alli_1": 4, "stacks": 4, "biops": 4, "ice": 20, "stagnant": 50,
        "hearts": 4, "camel": 10, "surgical_2": 4, "magnesium": 20, "leukfr": 10,
        "epil": 2, "litters": 5, "jama": 10, "kidney": 40, "otrees": 40, "otreesmvn": 10, "air": 4,
        "cervix": 2, "schools": 2, "endo_3": 20, "lips": 2, "fire": 4, "ring": 2, "hepatitis_1": 10,
        "hepatitis_2": 20, "eyetracking": 4}  # fmt: skip
# The module glm puts mixtures of normals in the place of other distributions. Of the sd of effects
# on counts the posterior sd comes out 2 to 4 per cent too small, as long runs of salm and of seeds
# show (quadrature agrees with runs without it); ice is of the same kind.
WITHOUT_GLM = {"salm_1", "seeds_1", "ice"}
# A value of a label that is in fewer of the draws has no reference.
RAREST = 0.02
COLUMNS = ("mean", "sd", "mcse", "q2.5", "q50", "q97.5")


def sampled(name, seed):
    """A run of JAGS of an example, long enough for most of them."""
    case = CASES.get(name) or MORE[name]
    data, inits = jags.read(case.data), jags.read(case.inits)
    modules = () if name in WITHOUT_GLM else ("glm",)
    settings = {**SETTINGS, "thin": THIN.get(name, 1), "modules": modules, "seed": seed}
    text = case.for_jags.read_text(encoding="utf-8")
    return jags.run(text, data, inits, case.monitors, **settings)


def references(name):
    """The references of an example, from draws of its own: by scalar, as in the files.

    Labels are left out where one of their values is too rare for errors to be normal.
    """
    found = {}
    for array, values in sampled(name, seed=1001).draws.items():
        labels = np.all(values == np.round(values))
        for element, x in jags.scalars({array: values}).items():
            constant = bool(np.all(x == x[0, 0]))
            if labels and np.sum(np.abs(x - np.median(x)) > 0) < RAREST * x.size:
                continue
            numbers = (x.mean(), x.std(ddof=1), mcse_mean(x), *np.quantile(x, (0.025, 0.5, 0.975)))
            rounded = dict(zip(COLUMNS, (float(f"{n:.7g}") for n in numbers), strict=True))
            found[element] = {**rounded, "sd": 0.0, "mcse": None} if constant else rounded
    return found


def write_references(names):
    """The file of references of examples whose draws are all there is to know of them."""
    path = next(iter(MORE.values())).data.parent / "references.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name in names or MORE:
        known[name] = references(name)
        blocks = (
            f"  {json.dumps(n)}: {{\n"
            + ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in known[n].items())
            + "\n  }"
            for n in MORE
            if n in known
        )
        path.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")
        print(name, flush=True)


def main(names):
    """The references of the cases of ``MORE``, or of those named."""
    if not jags.present():
        print(jags.MISSING)
        return
    write_references(names)


if __name__ == "__main__":
    main(sys.argv[1:])
