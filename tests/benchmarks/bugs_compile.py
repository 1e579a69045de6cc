"""How long programs in the idioms of textbooks take to be read and compiled.

    python tests/benchmarks/bugs_compile.py [--verify] [field ...]

CPU seconds of each program of `tests/bugs_programs`, of each example of `models/bugs` (the field
``examples``) and of some that tables of numbers would make slow (``tricks``), slowest first, and
their median; imports are not counted. Each program is to stay below `MOST`, their median below
`MOST_OF_HALF`. ``--verify`` adds those of `verify()`, to stay below `MOST` too.
"""

# Threads and paths are set before what reads them is imported.
# ruff: noqa: E402

import importlib
import os
import sys
from multiprocessing import get_context
from pathlib import Path
from time import process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent), str(HERE)]

import jags
import numpy as np
from bugs_tricks import TRICKS

import gibbsppl as gp
from models.bugs import CASES, MORE

FIELDS = (
    *("ecology", "epidemiology", "psychometrics"),
    *("cognition", "econometrics", "biostatistics"),
)
MOST, MOST_OF_HALF = 5.0, 0.5
WARM = "model { x ~ dnorm(0, 1)  y ~ dbern(ilogit(x)) }"
EXAMPLES = {
    name: (case.model.read_text(encoding="utf-8"), case.data)
    for name, case in (CASES | MORE).items()
}
OTHERS = {"examples": EXAMPLES, "tricks": TRICKS}


def programs_of(field):
    """The texts and the data of a field, by name."""
    if field in OTHERS:
        return OTHERS[field]
    programs = importlib.import_module(f"bugs_programs.simulate_{field}").PROGRAMS
    return {name: (program.text, program.data_path) for name, program in programs.items()}


def seconds(job):
    """The name of a program, and CPU seconds of reading it, of compiling, and of verify()."""
    field, name, is_verified = job
    text, data = programs_of(field)[name]
    data = jags.read(data) if isinstance(data, Path) else data
    gp.compile(gp.read_bugs(WARM, {"y": 1}))
    clock = [process_time()]
    model = gp.read_bugs(text, data)
    clock.append(process_time())
    sampler = gp.compile(model)
    clock.append(process_time())
    if is_verified:
        sampler.verify()
    clock.append(process_time())
    return f"{field}/{name}", *np.diff(clock)


def main(fields, *, is_verified):
    """Print the table."""
    jobs = [(field, name, is_verified) for field in fields for name in programs_of(field)]
    # (a process for each, so that none finds what another has worked out)
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        rows = pool.map(seconds, jobs, chunksize=1)
    rows.sort(key=lambda row: -row[1] - row[2])
    print(f"{'program':40} {'reading':>8} {'compiling':>10}" + f"{'verify':>8}" * is_verified)
    for name, reading, compiling, verified in rows:
        print(f"{name:40} {reading:8.2f} {compiling:10.2f}" + f"{verified:8.2f}" * is_verified)
    table = np.array([row[1:] for row in rows])
    for what, total in (("compiled", table[:, :2].sum(1)), ("verified", table[:, 2])):
        if what == "compiled" or is_verified:
            print(
                f"{len(total)} programs {what}: median {np.median(total):.2f} s, "
                f"{(total > MOST).sum()} above {MOST:.0f} s (compiled: at most {MOST_OF_HALF} s)"
            )


if __name__ == "__main__":
    given = [a for a in sys.argv[1:] if a != "--verify"]
    main(given or (*FIELDS, *OTHERS), is_verified="--verify" in sys.argv)
