"""Whole runs of small models from a cold start beside JAGS: a process that reads, compiles, draws.

CPU seconds of our process are those of all it does, imports included, by default settings and with
what earlier processes have left in the folders of compiled files; those of JAGS are of reading,
adaptation, warm-up and draws. A run of JAGS of ten thousand draws is scaled to longer ones.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import jags
import numpy as np
from measuring import Turn, judged
from sides import Compiled
from workloads import WORKLOADS

NAMES = ("rats_1", "pump_1", "dyes_1", "line_1", "seeds_1")
WARMUP, OF_JAGS, EACH = 500, 10_000, 20_000
FEW, MANY = 2000, 100_000
# CPU seconds that a run of a few draws may take longer.
LONGER = 1.0
PROGRAM = """
import sys
from pathlib import Path
sys.path[:0] = [{root!r}]
import gibbsppl as gp
folder = Path({folder!r})
model = gp.read_bugs(folder / "model.bug", folder / "data.json", monitor={monitors!r})
gp.compile(model, **{settings!r}).sample(
    {draws}, warmup={warmup}, chains=4, seed=1, keep={monitors!r}, progress=False)
"""
ROOT = Path(__file__).parents[2]


def seconds_of(workload, draws):
    """CPU seconds of a process that makes so many draws in each of four chains."""
    kept = {n: x for n, x in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
    text, data, _ = workload.program()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "model.bug").write_text(text, encoding="utf-8")
        plain = {n: _plain(x) for n, x in data.items()}
        (Path(folder) / "data.json").write_text(json.dumps(plain), encoding="utf-8")
        program = PROGRAM.format(
            root=str(ROOT), folder=folder, monitors=list(workload.monitors), draws=draws,
            settings={}, warmup=WARMUP,
        )  # fmt: skip
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], check=True, env=kept)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _plain(values):
    """Nested lists, null where a value is missing."""
    return np.ma.array(values).tolist()


def turn(workload, per_draw, seed):
    """CPU seconds of few and of many draws, and effective draws a second of many: both sides."""
    run = {"draws": OF_JAGS, "warmup": WARMUP, "adapt": WARMUP, "seed": seed, "modules": ("glm",)}
    found = jags.run(*workload.program(), workload.monitors, **run)
    first, each = found.compiling + found.warming, found.sampling / OF_JAGS
    theirs = [first + each * draws for draws in (FEW, MANY)]
    size = judged(Turn(OF_JAGS, found.sampling, 0.0, found.draws), workload.watched).amount
    ours = [seconds_of(workload, draws) for draws in (FEW, MANY)]
    return (ours[0], theirs[0]), (per_draw * MANY / ours[1], size / OF_JAGS * MANY / theirs[1])


def effective(workload):
    """The effective size for each draw of a chain, all four together."""
    return judged(Compiled(workload).turn(1, EACH), workload.watched).amount / EACH


def rows(turns=3):
    """Rows of the table: seconds of few draws, effective draws a second of many."""
    if not jags.present():
        yield f"| start-up | JAGS | | | | | not measured: {jags.MISSING} |"
        return
    for name in NAMES:
        small = WORKLOADS[name]
        per_draw = effective(small)
        for draws in (FEW, MANY):  # (what is compiled is left for the next process)
            seconds_of(small, draws)
        few, many = zip(*(turn(small, per_draw, s) for s in range(1, turns + 1)), strict=True)
        ours, theirs = (statistics.median(side) for side in zip(*few, strict=True))
        longer = statistics.median(o - t for o, t in few)
        verdict = "reached" if longer <= LONGER else "**missed**"
        cells = f"{ours:.2f} s | {theirs:.2f} s | {longer:+.2f} s | ≤ +{LONGER:g} s | {verdict}"
        yield f"| {name}, 4 x {FEW:,} in all | JAGS, process | {cells} |"
        ours, theirs = (statistics.median(side) for side in zip(*many, strict=True))
        ratio = statistics.median(o / t for o, t in many)
        verdict = "reached" if ratio >= 1 else "**missed**"
        cells = f"{ours:,.0f}/s | {theirs:,.0f}/s | {ratio:.2f} | ≥ 1 | {verdict}"
        yield f"| {name}, 4 x {MANY:,} in all | JAGS, ESS, process | {cells} |"
