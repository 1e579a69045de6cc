"""Simulate the data of programs, find their posteriors by JAGS, and hold gibbsppl against them.

    python tests/bugs_programs/tool.py simulate FIELD [NAME ...]
    python tests/bugs_programs/tool.py references FIELD [NAME ...]
    python tests/bugs_programs/tool.py check FIELD [NAME ...]

``check`` reads a program, compiles and verifies it, runs it with the defaults and prints a line:
CPU seconds of reading with compiling, of verify() and of the run; the greatest distance of a mean
and of an sd from its reference in combined Monte Carlo errors; the largest R-hat.
"""

# Threads and paths are set before what reads them is imported.
# ruff: noqa: E402

import importlib
import json
import os
import sys
import time
import zlib
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent), str(HERE.parent / "benchmarks")]

import jags
import numpy as np
from references.bugs import distance

import gibbsppl as gp
from gibbsppl.output.diagnostics import mcse_mean, r_hat

DRAWS, WARMUP, CHAINS = 10_000, 5_000, 4
RAREST = 0.02  # a value of a label that is in fewer of the draws has no reference
COLUMNS = ("mean", "sd", "mcse", "q2.5", "q50", "q97.5")


def programs_of(field, names):
    found = importlib.import_module(f"bugs_programs.simulate_{field}").PROGRAMS
    return [found[name] for name in names or found]


def simulate(program):
    """Write the data of a program, of a seed that its name gives."""
    rng = np.random.default_rng(zlib.crc32(program.name.encode()))
    rows = (f'"{n}": {json.dumps(_plain(x))}' for n, x in program.simulate(rng).items())
    text = "{\n" + ",\n".join(rows) + "\n}\n"
    json.loads(text)
    program.data_path.write_text(text, encoding="utf-8")
    print(f"{program.name}: {len(text)} characters of data", flush=True)


def _plain(values):
    """Nested lists of numbers; None where masked or NaN; whole numbers as such."""
    x = np.ma.masked_invalid(np.ma.array(values, dtype=float))
    if np.all(x == np.round(x)):
        return x.astype(object).filled(None) if x.ndim == 0 and x.mask else _whole(x.tolist())
    return json.loads(json.dumps(np.ma.array(np.round(x, 6)).tolist()))


def _whole(x):
    if isinstance(x, list):
        return [_whole(e) for e in x]
    return None if x is None else int(x)


def references(program):
    """Write what JAGS finds; say how far its chains agree."""
    start = time.perf_counter()
    data = jags.read(program.data_path)
    inits = program.inits(data) if program.inits else {}
    run = jags.run(
        program.text, data, inits, program.monitors, seed=1001,
        draws=DRAWS, warmup=WARMUP, chains=CHAINS, thin=program.thin, modules=program.modules,
    )  # fmt: skip
    found = {}
    worst = 0.0
    for array, values in run.draws.items():
        labels = np.all(values == np.round(values))
        for element, x in jags.scalars({array: values}).items():
            constant = bool(np.all(x == x[0, 0]))
            if labels and np.sum(np.abs(x - np.median(x)) > 0) < RAREST * x.size:
                continue
            worst = max(worst, 0.0 if constant else float(r_hat(x)))
            numbers = (x.mean(), x.std(ddof=1), mcse_mean(x), *np.quantile(x, (0.025, 0.5, 0.975)))
            rounded = dict(zip(COLUMNS, (float(f"{n:.7g}") for n in numbers), strict=True))
            found[element] = {**rounded, "sd": 0.0, "mcse": None} if constant else rounded
    path = program.data_path.parent / "references.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[program.name] = found
    blocks = (
        f"  {json.dumps(n)}: {{\n"
        + ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in known[n].items())
        + "\n  }"
        for n in sorted(known)
    )
    path.write_text("{\n" + ",\n".join(blocks) + "\n}\n", encoding="utf-8")
    told = "".join(f"\n    {w}" for w in run.warnings)
    seconds = time.perf_counter() - start
    print(f"{program.name}: JAGS {seconds:.0f} s, R-hat {worst:.3f}, {len(found)} scalars{told}",
          flush=True)  # fmt: skip


def check(program):
    """Print how gibbsppl does on a program."""
    clock = [time.process_time()]
    line = f"{program.name:28}"
    try:
        model = gp.read_bugs(
            program.text, data=jags.read(program.data_path), monitor=program.monitors
        )
        sampler = gp.compile(model)
        clock.append(time.process_time())
        line += f" compile {clock[-1] - clock[-2]:5.1f}"
        report = sampler.verify()
        clock.append(time.process_time())
        line += f" verify {clock[-1] - clock[-2]:5.1f}"
        line += "" if report.proved else (" NOT PROVED" if report.passed else " VERIFY FAILED")
        draws = sampler.sample(seed=1, progress=False)
        clock.append(time.process_time())
        line += f" run {clock[-1] - clock[-2]:5.1f}"
        scalars = _scalars(model, draws, program)
        far = {n: distance(scalars[n], known) for n, known in program.references.items()}
        mean = max(far, key=lambda n: far[n].mean)
        sd = max(far, key=lambda n: far[n].sd)
        worst = max(program.references, key=lambda n: np.nan_to_num(float(r_hat(scalars[n]))))
        line += f" mean {far[mean].mean:.1f} ({mean}) sd {far[sd].sd:.1f} ({sd})"
        line += f" R-hat {float(r_hat(scalars[worst])):.3f} ({worst})"
    except Exception as error:  # noqa: BLE001  (the table goes on)
        line += f" {type(error).__name__}: {str(error)[:600]}"
    print(line, flush=True)


def _scalars(model, draws, program):
    """Draws by the names of BUGS."""
    return jags.scalars({n: np.asarray(draws[n], dtype=float) for n in program.monitors})


def main(arguments):
    command, field, *names = arguments
    for program in programs_of(field, names):
        {"simulate": simulate, "references": references, "check": check}[command](program)


if __name__ == "__main__":
    main(sys.argv[1:])
