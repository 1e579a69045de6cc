"""How long programs in the idioms of textbooks take to be read and compiled.

    python tests/benchmarks/bugs_compile.py [field ...]

CPU seconds of each program of `tests/bugs_programs`, slowest first, and their median; imports are
not counted. Each program is to stay below `MOST`, their median below `MOST_OF_HALF`.
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

import gibbsppl as gp

FIELDS = (
    *("ecology", "epidemiology", "psychometrics"),
    *("cognition", "econometrics", "biostatistics"),
)
MOST, MOST_OF_HALF = 5.0, 0.5
WARM = "model { x ~ dnorm(0, 1)  y ~ dbern(ilogit(x)) }"


def programs_of(field):
    """The programs of a field, by name."""
    return importlib.import_module(f"bugs_programs.simulate_{field}").PROGRAMS


def seconds(at):
    """The name of a program, and CPU seconds until it is read, and until it is compiled."""
    field, name = at
    program = programs_of(field)[name]
    data = jags.read(program.data_path)
    gp.compile(gp.read_bugs(WARM, {"y": 1}))
    started = process_time()
    model = gp.read_bugs(program.text, data)
    read = process_time()
    gp.compile(model)
    return f"{field}/{name}", read - started, process_time() - read


def main(fields):
    """Print the table."""
    jobs = [(field, name) for field in fields for name in programs_of(field)]
    # (a process for each, so that none finds what another has worked out)
    with get_context("fork").Pool(os.cpu_count(), maxtasksperchild=1) as pool:
        rows = pool.map(seconds, jobs, chunksize=1)
    rows.sort(key=lambda row: -row[1] - row[2])
    print(f"{'program':40} {'reading':>8} {'compiling':>10}")
    for name, reading, compiling in rows:
        print(f"{name:40} {reading:8.2f} {compiling:10.2f}")
    total = np.array([reading + compiling for _, reading, compiling in rows])
    print(
        f"{len(total)} programs: median {np.median(total):.2f} s (at most {MOST_OF_HALF} s), "
        f"{(total > MOST).sum()} above {MOST:.0f} s"
    )


if __name__ == "__main__":
    main(sys.argv[1:] or FIELDS)
