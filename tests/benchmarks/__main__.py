"""All benchmarks by one command: measured beside every peer that installs, and written down.

    python -m tests.benchmarks                       # all workloads; takes hours
    python -m tests.benchmarks rats_1 "logit 1000 x 10" --peers JAGS NumPyro --repeats 5
    python -m tests.benchmarks --list
    python -m tests.benchmarks --page                # the page anew, from what has been measured
    python -m tests.benchmarks --tuned rats_1        # defaults beside what `tuned` finds

Each workload is measured in a process of its own, and what was found is kept in ``measured/`` as a
file of JSON, so that one can be measured again and the page (``docs/benchmarks.md``, or ``--out``)
made of all. Without ``--peers`` all that can run a workload are asked; those asked for replace what
was kept of them, and of gibbsppl, which is measured beside them.
"""

# Paths are set before what reads them is imported.
# ruff: noqa: E402

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent), str(HERE)]

import environments

os.environ.update({n: os.environ.get(n, x) for n, x in environments.LIMITS.items()})

import defaults
import kept
import page
import runner
from workloads import WORKLOADS

PAGE = HERE.parents[1] / "docs" / "benchmarks.md"
REPEATS = 3


def asked(arguments):
    """The options of the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="workloads; all of them without a name")
    parser.add_argument("--peers", nargs="+", help="other programs; all that can run it without")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="turns of each side")
    parser.add_argument(
        "--seconds", type=float, default=runner.MOST, help="a turn that has not settled ends then"
    )
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page is written")
    parser.add_argument("--measured", type=Path, default=kept.FOLDER, help="where records are")
    parser.add_argument("--list", action="store_true", help="print the names of workloads")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--tuned", action="store_true", help="defaults beside `sampler.tuned`")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    found = parser.parse_args(arguments)
    unknown = sorted(set(found.names) - set(WORKLOADS))
    if unknown:
        parser.error(f"{', '.join(unknown)}: no such workload; --list prints their names")
    return found


def in_a_process(name, options):
    """One workload in a process of its own, its caches empty but for compiled kernels."""
    command = [sys.executable, "-m", "tests.benchmarks", name, "--alone"]
    command += ["--repeats", str(options.repeats), "--measured", str(options.measured)]
    command += ["--seconds", str(options.seconds)]
    command += ["--peers", *options.peers] if options.peers else []
    command += ["--tuned"] * options.tuned
    with tempfile.TemporaryDirectory() as scratch:
        own = {**os.environ, "GIBBSPPL_CACHE": scratch}
        done = subprocess.run(command, cwd=HERE.parents[1], env=own, check=False)
    if done.returncode:
        print(f"{name}: ended with {done.returncode}", file=sys.stderr, flush=True)


def alone(workload, options):
    """One workload in this process: measured, kept and told."""
    if options.tuned:
        record = defaults.measured(workload)
        kept.replace(options.measured / defaults.FOLDER, record)
        print(defaults.line_of(record), flush=True)
        return
    record = runner.measured(workload, options.peers, options.repeats, options.seconds)
    kept.write(options.measured, record)
    print("\n".join(page.lines_of(workload, record)), flush=True)


def main(arguments):
    """Measure what is asked for, and write the page."""
    options = asked(arguments)
    if options.list:
        print("\n".join(WORKLOADS))
        return
    if options.alone:
        for name in options.names:
            alone(WORKLOADS[name], options)
        return
    if not options.page:
        own = (n for n, w in WORKLOADS.items() if not options.tuned or defaults.is_tuned(w))
        for name in options.names or own:
            in_a_process(name, options)
    try:
        text = page.of_records(WORKLOADS, options.measured)
    except ValueError as error:
        sys.exit(f"no page is written: {error}")
    options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
