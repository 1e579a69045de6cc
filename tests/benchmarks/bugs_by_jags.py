"""The examples of BUGS by JAGS: whether they agree with their references, and what they cost.

    python tests/benchmarks/bugs_by_jags.py [case] ...
    python tests/benchmarks/bugs_by_jags.py --references [case] ...

A line for each case: the greatest distance of a mean and of an sd from its reference, in combined
Monte Carlo errors; CPU seconds of compiling; the smallest bulk effective size of a monitored scalar
per CPU second of sampling (after adaptation and warm-up). The second command writes the references
of examples that have no others, ``models/bugs/more/references.json``, from draws of its own.
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
from references.bugs import distance

from gibbsppl.output.diagnostics import ess_bulk, mcse_mean
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


def row(name, references):
    """What there is to say of an example, as a line of the table."""
    found = sampled(name, seed=1)
    draws = jags.scalars(found.draws)
    far = {n: distance(draws[n], known) for n, known in references.items()}
    sizes = {n: float(ess_bulk(draws[n])) for n, known in references.items() if known["mcse"]}
    of_mean, of_sd = (max(getattr(d, kind) for d in far.values()) for kind in ("mean", "sd"))
    slowest = min(sizes, key=sizes.get)
    return (
        f"{name:12}{of_mean:8.1f}{of_sd:8.1f}{found.compiling:10.3f}{found.sampling:10.2f}"
        f"{sizes[slowest]:10.0f}{sizes[slowest] / found.sampling:12.0f}  {slowest}"
    )


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


def main(arguments):
    """The table of all cases, or of those named; or the references of those of ``MORE``."""
    if not jags.present():
        print(jags.MISSING)
        return
    if arguments[:1] == ["--references"]:
        write_references(arguments[1:])
        return
    print(
        f"{'case':12}{'mean':>8}{'sd':>8}{'compile s':>10}{'sample s':>10}{'min ESS':>10}"
        f"{'ESS / s':>12}  of"
    )
    cases = {**CASES, **MORE}
    for name in arguments or cases:
        print(row(name, cases[name].references), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
