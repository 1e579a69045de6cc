"""The examples of BUGS, read and run with default settings: are they right, and what do they cost.

    python tests/benchmarks/bugs_examples.py [case] ...
    python tests/benchmarks/bugs_examples.py --table > table.md

A line for each case: how its variables are drawn; seconds of reading and compiling; the smallest
bulk effective size of a monitored scalar per CPU second of sampling, warm-up left out; the greatest
distance of a mean and of an sd from the reference, in combined Monte Carlo errors. ``--table``
prints a table of Markdown; with JAGS installed its own numbers stand in it, from the run that
``bugs_by_jags.py`` makes.
"""

# Threads and paths are set before what reads them is imported.
# ruff: noqa: E402

import os
import sys
from collections import Counter
from pathlib import Path
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent), str(HERE)]

import bugs_by_jags
import jags
from references.bugs import distance

import gibbsppl as gp
from gibbsppl.output.diagnostics import ess_bulk
from models.bugs import CASES, MORE

DEVIANCE = "deviance"
SETTINGS = {"draws": 2000, "warmup": 500, "chains": 4, "seed": 1}


def compiled(case):
    """The sampler of an example, and CPU seconds of reading and compiling."""
    started = process_time()
    monitors = [m for m in case.monitors if m != DEVIANCE]
    sampler = gp.compile(gp.read_bugs(case.model, case.data, monitor=monitors))
    return sampler, process_time() - started


def kinds_of(schedule):
    """How many steps are exact (alone or jointly), concave or slices; auxiliary variables."""
    steps = [s for s in schedule.steps if s.name not in schedule.interwoven]
    named = [{"concave": "concave", "move": "slice"}.get(s.kind, "exact") for s in steps]
    found = dict(sorted(Counter(named).items()))
    if schedule.rewrites:
        found["augmented"] = len(schedule.rewrites)
    return found


def drawn(sampler, monitors, **settings):
    """Draws of what an example monitors, by scalar as BUGS writes them; CPU seconds of a draw."""
    wanted = {**SETTINGS, **settings}
    started = process_time()
    sampler.sample(progress=False, **{**wanted, "draws": 1})
    first = process_time() - started
    started = process_time()
    draws = sampler.sample(progress=False, **wanted)
    seconds = process_time() - started - first
    if DEVIANCE in monitors:
        draws = sampler.deviance(draws)
    return jags.scalars({m: draws[m] for m in monitors}), seconds


def row(name):
    """What there is to say of an example."""
    case = CASES.get(name) or MORE[name]
    sampler, compiling = compiled(case)
    scalars, seconds = drawn(sampler, case.monitors)
    references = case.references
    missing = set(references) - set(scalars)
    assert not missing, missing
    far = {n: distance(scalars[n], known) for n, known in references.items()}
    sizes = {n: float(ess_bulk(scalars[n])) for n, known in references.items() if known["mcse"]}
    slowest = min(sizes, key=sizes.get)
    worst = {kind: max(far, key=lambda n, k=kind: getattr(far[n], k)) for kind in ("mean", "sd")}
    return {
        "case": name,
        "drawn": ", ".join(f"{n} {kind}" for kind, n in kinds_of(sampler.schedule).items()),
        "compile": compiling,
        "ess": sizes[slowest],
        "rate": sizes[slowest] / seconds,
        "slowest": slowest,
        "mean": far[worst["mean"]].mean,
        "sd": far[worst["sd"]].sd,
        "worst": f"{worst['mean']}, {worst['sd']}",
    }


def of_jags(name):
    """Its seconds of compiling, and effective draws per second."""
    case = CASES.get(name) or MORE[name]
    found = bugs_by_jags.sampled(name, seed=1)
    draws = jags.scalars(found.draws)
    sizes = [float(ess_bulk(draws[n])) for n, known in case.references.items() if known["mcse"]]
    return found.compiling, min(sizes) / found.sampling


def main(arguments):
    """The table of all cases, or of those named."""
    as_markdown = arguments[:1] == ["--table"]
    names = arguments[1:] if as_markdown else arguments
    if as_markdown:
        print("| case | drawn | ESS/s | JAGS | compiled in s | JAGS |")
        print("|---|---|---:|---:|---:|---:|")
    elif not jags.present():
        print(jags.MISSING)
    for name in names or (*CASES, *MORE):
        found = row(name)
        theirs = of_jags(name) if jags.present() and as_markdown else None
        if as_markdown:
            compiling, rate = theirs or (float("nan"), float("nan"))
            print(
                f"| {name} | {found['drawn']} | {found['rate']:.3g} | {rate:.3g} | "
                f"{found['compile']:.2f} | {compiling:.2f} |",
                flush=True,
            )
        else:
            print(
                f"{name:12}{found['compile']:7.2f}{found['ess']:8.0f}{found['rate']:10.3g}"
                f"{found['mean']:7.1f}{found['sd']:7.1f}  {found['slowest']}; {found['worst']}; "
                f"{found['drawn']}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
