"""What Numba's compiling adds to a short run, for each model of ``models/``: CPU seconds.

    python tests/benchmarks/first_compile.py [model] ...

Each figure is of a process of its own: a run of two compiled sweeps, less the same run in NumPy.

- cold: nothing is compiled, neither the sweep nor the kernels that it calls
- kernels: the kernels are kept from an earlier process, the sweep is new
- cached: all is kept

A line for each model, a row of Markdown; then the median and the largest of each column.
"""

# Paths are set before what reads them is imported.
# ruff: noqa: E402

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT)]

import models

LIMITS = "median below 10, none above 30; cached below 0.5"
CHILD = """
import sys
from importlib import import_module
from time import process_time
sys.path[:0] = [{root!r}]
import gibbsppl as gp
sampler = gp.compile(import_module("models.{name}").model())
run = dict(draws=1, warmup=1, chains=1, seed=1, progress=False)
seconds = []
for backend in ("numpy", "numpy", "compiled"):
    began = process_time()
    sampler.sample(backend=backend, **run)
    seconds.append(process_time() - began)
print(seconds[2] - seconds[1])
"""


def added(name, kernels, modules):
    """CPU seconds that compiling adds, with the folders of what is compiled already."""
    own = {"NUMBA_CACHE_DIR": kernels, "GIBBSPPL_CACHE": modules, "OPENBLAS_NUM_THREADS": "1"}
    kept = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", CHILD.format(root=str(ROOT), name=name)]
    done = subprocess.run(command, env=kept | own, check=True, capture_output=True, text=True)
    return float(done.stdout)


def row(name):
    """Cold, with kernels, cached."""
    with tempfile.TemporaryDirectory() as scratch:
        kernels, first, second = (str(Path(scratch) / n) for n in ("kernels", "first", "second"))
        return tuple(added(name, kernels, modules) for modules in (first, second, second))


def main(*names):
    """The table of all models, or of those named."""
    print(f"CPU seconds added to a run ({LIMITS})\n")
    print("| model | cold | kernels | cached |\n|---|---:|---:|---:|")
    found = []
    for name in names or models.NAMES:
        found.append(row(name))
        print(f"| {name} | " + " | ".join(f"{x:.2f}" for x in found[-1]) + " |", flush=True)
    for what, function in (("median", statistics.median), ("largest", max)):
        columns = (function(column) for column in zip(*found, strict=True))
        print(f"| **{what}** | " + " | ".join(f"{x:.2f}" for x in columns) + " |")


if __name__ == "__main__":
    main(*sys.argv[1:])
