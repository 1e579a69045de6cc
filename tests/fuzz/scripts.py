"""A script of made-up input, run line by line: what it shows of ours that should not be seen.

A line that is refused by an error of ours, or by Python before any of our code is called, is left
out, and the rest goes on. A finding is any other exception, more CPU than ``LIMIT`` seconds, or a
call of the *canary*: a function that stands in names, labels and files only, as text.
"""

import builtins
import contextlib
import io
import os
import re
import signal
import sys
import tempfile
import traceback
import warnings
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from scipy import sparse

import gibbsppl as gp
from gibbsppl.cli import main

PACKAGE = str(Path(gp.__file__).parent)
LIMIT = 20.0  # CPU seconds of a case
CANARY = "gibbsppl_canary"
SAID = 20_000  # characters of a message: more is no message

EXITS = (0, 1, 2)
LIBRARIES = {
    "gp": gp, "np": np, "pd": pd, "xr": xr, "sp": sparse,
    "Fraction": Fraction, "Decimal": Decimal,
}


@dataclass(frozen=True)
class Finding:
    """What went wrong, where in the package, in which line of the script."""

    what: str
    where: str
    line: int
    told: str

    @property
    def signature(self):
        """What findings of one cause have in common."""
        return f"{self.what} in {self.where}"


class TooLongError(BaseException):
    """A case that takes more CPU than it may; no part of the package handles it."""


class WrongError(BaseException):
    """What a script's own checks find wrong."""


def checked_run(lines, limit=LIMIT):
    """The finding of a script, or None."""
    calls = []
    setattr(builtins, CANARY, lambda *_: calls.append(1))
    before, temporary = Path.cwd(), tempfile.tempdir
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        tempfile.tempdir = folder
        try:
            with (
                _limited(limit),
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                return _run(lines, calls)
        finally:
            os.chdir(before)
            tempfile.tempdir = temporary
            delattr(builtins, CANARY)


def _run(lines, calls):
    names = {**LIBRARIES, "command": command, "write": write, "same_code": same_code}
    for number, line in enumerate(lines):
        try:
            exec(compile(line, "<case>", "exec"), names)  # noqa: S102  (a script of our own making)
        except gp.GibbspplError as error:
            told = str(error)
            if not told.strip() or len(told) > SAID:
                return Finding("a message of a strange size", type(error).__name__, number, told)
        except (Exception, TooLongError, WrongError) as error:  # noqa: BLE001  (what is looked for)
            frames = traceback.extract_tb(error.__traceback__)
            ours = [f for f in frames if f.filename.startswith(PACKAGE)]
            if ours or not isinstance(error, Exception):
                where = f"{_module(ours[-1])}.{ours[-1].name}:{ours[-1].lineno}" if ours else "-"
                told = str(error)[:300]
                return Finding(type(error).__name__, where, number, told)
        if calls:
            return Finding("text that ran as code", "-", number, line)
    return None


def _module(frame):
    return str(Path(frame.filename).relative_to(PACKAGE).with_suffix(""))


@contextlib.contextmanager
def _limited(seconds):
    def stop(*_):
        raise TooLongError(f"more than {seconds:g} s of CPU")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # (again, where a callback swallowed it)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def reduced(lines, finding, tries=60):
    """The finding's lines, of which those that are not needed for it are left out."""
    kept = list(lines[: finding.line + 1])
    for number in range(len(kept) - 2, -1, -1):
        if tries <= 0 or finding.what == TooLongError.__name__:
            break
        tries -= 1
        fewer = kept[:number] + kept[number + 1 :]
        found = checked_run(fewer)
        if found is not None and found.signature == finding.signature:
            kept = fewer
    return kept


# ---- what scripts call -----------------------------------------------------------------------


def write(name, content):
    """A file in the case's folder."""
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def command(*arguments):
    """A command of the command line: an exit code, and no more than a message."""
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        try:
            code = main(arguments)
        except SystemExit as exit_:  # argparse's
            code = exit_.code
    if code not in EXITS:
        raise WrongError(f"exit code {code}")
    if "Traceback" in told.getvalue():
        raise WrongError("a traceback on stderr")
    if code == EXITS[-1] and not told.getvalue().strip():
        raise WrongError("nothing on stderr")


def same_code(one, other):
    """Whether two samplers of one model have the same code, whatever the names in it."""
    if len(one.graph.factors) != len(other.graph.factors):  # (what was refused is left out)
        return
    if len(one.graph.deterministics) != len(other.graph.deterministics):
        return
    if _parts(one.source) != _parts(other.source):
        raise WrongError("names change the code")


def _parts(source):
    """How often each kind of syntax, and each function of a library, is in a module."""
    import ast
    from collections import Counter

    found = Counter()
    for node in ast.walk(ast.parse(source)):
        found[type(node).__name__] += 1
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            known = node.value.id in ("np", "runtime", "rng", "sp", "special")
            found[f"{node.value.id}.{node.attr}"] += known
    return +found


def identifiers(text):
    """The words of a text."""
    return re.findall(r"[^\W\d]\w*", text)


if __name__ == "__main__":  # a case from stdin
    print(checked_run(sys.stdin.read().splitlines()))
