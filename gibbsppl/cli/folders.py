"""Runs in folders, from the command line: begun there, gone on with."""

# Printing is what a command line is for.
# ruff: noqa: T201

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from gibbsppl.cli.questions import print_json
from gibbsppl.errors import RunError

# What a run in a folder has got already, and how it is given where that is not by its name.
OF_THE_RUN = (
    "file", "data", "order", "scan", "kernel", "draws", "warmup", "chains", "thin", "inits", "ess",
    "r_hat", "minutes", "tune", "coda", "seed", "checkpoint",
)  # fmt: skip
TOLD = {"file": "FILE", "r_hat": "--r-hat"}


def add_options(run_options: argparse.ArgumentParser) -> None:
    """The options of `run` for folders."""
    run_options.add_argument(
        "--checkpoint", type=Path, metavar="FOLDER",
        help="write draws to this folder as they come, and where each chain is",
    )  # fmt: skip
    run_options.add_argument(
        "--every", type=float, metavar="SECONDS", help="seconds between checkpoints (default: 30)"
    )
    run_options.add_argument(
        "--resume", type=Path, metavar="FOLDER",
        help="go on with the run in this folder, as it was begun (without FILE)",
    )  # fmt: skip


def check(options: argparse.Namespace) -> None:
    """Refuse options that do not belong together."""
    if options.file is None:
        raise RunError("FILE: found none, expected a model, or a run to go on with (--resume).")
    if options.every is not None and options.checkpoint is None:
        raise RunError("--every: found no folder to write to, expected --checkpoint FOLDER too.")


def out_of(options: argparse.Namespace) -> Path | None:
    """The file for the draws; None where they are in a folder, and no file is asked for."""
    if options.checkpoint is not None:
        found: Path | None = options.out
        return found
    return options.out or Path(options.file.stem + ".nc")


def settings(options: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `sample` that say where draws go."""
    every = {} if options.every is None else {"every": options.every}
    return {"checkpoint": options.checkpoint, **every}


def resumed(
    options: argparse.Namespace, say: Callable[..., None], started: float
) -> int:
    """Go on with the run in a folder, print its summary, save its draws where that is asked for."""
    from gibbsppl.output.whole_files import check_writable  # noqa: PLC0415  (not for --help)
    from gibbsppl.sampling.resuming import resume  # noqa: PLC0415  (only where a run goes on)

    for name in OF_THE_RUN:
        if getattr(options, name) != options.usual(name):
            raise RunError(
                f"--resume: found {TOLD.get(name, '--' + name)} besides, expected the folder "
                "without it: the run has its model and its settings."
            )
    if options.out is not None:
        check_writable("--out", options.out)
    every = {} if options.every is None else {"every": options.every}
    shown = {"cores": options.cores, "progress": not options.quiet}
    draws = resume(options.resume, **shown, **every)
    if options.out is not None:
        draws.save(options.out)
    names = [n for n in options.monitor if n in draws] or None
    say(draws.summary(names), end="\n\n")
    where = options.out or options.resume
    seed = draws.attributes["seed"]
    if options.json:
        print_json({"draws": str(where), "seed": seed, "summary": draws.summary(names).to_dict()})
        return 0
    print(f"draws written to {where} (seed {seed}, {perf_counter() - started:.1f} s in all)")
    return 0
