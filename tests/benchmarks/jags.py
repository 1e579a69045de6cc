"""Runs a model text by JAGS: draws by name, and CPU seconds of compiling and of sampling.

    found = jags.run(text, data, inits, ["beta", "sigma"], draws=1000, chains=4, seed=1)
    found.draws["beta"]     # (chain, draw, ...)
    found.compiling, found.warming, found.sampling

JAGS (Debian's package ``jags``) is a program of its own, which may be missing: ask ``present()``
first, and say ``MISSING``. It is spoken to at a terminal, command by command, so that its CPU clock
can be read in between. Data and initial values are dicts of arrays; masked elements, NaN and None
are missing values. Draws are as JAGS writes them: six digits.
"""

import json
import math
import os
import pty
import re
import shutil
import subprocess
import tempfile
import time
import tty
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import environments
import numpy as np

MISSING = "skipped: jags is not on the PATH (Debian has it as the package jags)"
PROMPT = b". "
NO_LIMIT = math.inf
WARNING = re.compile(r"^WARNING.*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
WELCOME = re.compile(r"Welcome to JAGS ([0-9.]+[0-9])")
# What JAGS says of a command that failed: it goes on all the same.
FAILED = re.compile(
    r"error|fail|unable|cannot|can't|no model|not found|undefined|unknown|invalid", re.IGNORECASE
)


class JagsError(RuntimeError):
    """JAGS refused a command: the command, and what it said."""


@dataclass(frozen=True, slots=True)
class Run:
    """Draws by the names asked for, with axes (chain, draw, ...), and CPU seconds of all chains."""

    draws: Mapping[str, np.ndarray]
    compiling: float  # all that comes before the first sweep: reading, the graph, initial values
    warming: float  # adaptation and what else is thrown away
    sampling: float
    warnings: tuple[str, ...]


def present():
    """Whether there is a JAGS to run."""
    return shutil.which("jags") is not None


def version():
    """What JAGS says of its version: that of Debian's package, as "4.3.1"."""
    with tempfile.TemporaryDirectory() as folder, _Dialogue(Path(folder)) as jags:
        return WELCOME.search(jags.greeting).group(1)


def run(
    text, data, inits, monitors, *,
    draws=1000, warmup=1000, adapt=1000, chains=4, thin=1, seed=1, modules=("glm",), most=NO_LIMIT,
):  # fmt: skip
    """The draws that JAGS makes of what is monitored: arrays, or single elements (``y[2,1]``).

    ``inits`` are of all chains, or a list with one dict for each. Chain k has the seed
    ``seed + k``. Adaptation comes before the warm-up, and draws after it; ``thin`` of them are made
    for each that is kept. The deviance can be monitored. After ``most`` CPU seconds JAGS is ended,
    an error.
    """
    if not present():
        raise JagsError(MISSING)
    inits = [inits] * chains if isinstance(inits, Mapping) else list(inits)
    modules = (*modules, "dic") if "deviance" in monitors else modules
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        (scratch / "model.bug").write_text(text, encoding="utf-8")
        (scratch / "data.R").write_text(r_dump(data), encoding="utf-8")
        for k, values in zip(range(chains), inits, strict=True):
            generator = {".RNG.name": "base::Mersenne-Twister", ".RNG.seed": seed + k}
            (scratch / f"inits{k}.R").write_text(r_dump({**values, **generator}), encoding="utf-8")
        with _Dialogue(scratch, most) as jags:
            jags.say(*(f"load {name}" for name in modules))
            jags.say('model in "model.bug"', *['data in "data.R"'] * bool(data))
            jags.say(f"compile, nchains({chains})")
            jags.say(*(f'parameters in "inits{k}.R", chain({k + 1})' for k in range(chains)))
            jags.say("initialize")
            times = [jags.seconds()]
            jags.say(f"adapt {adapt}", *[f"update {warmup}"] * (warmup > 0))
            times.append(jags.seconds())
            jags.say(*(f"monitor {name}, thin({thin})" for name in monitors))
            jags.say(f"update {draws * thin}")
            times.append(jags.seconds())
            jags.say('coda *, stem("draws")')
        kept = {name: _read_draws(scratch, name, chains, draws) for name in monitors}
    return Run(kept, times[0], times[1] - times[0], times[2] - times[1], tuple(jags.warnings))


def scalars(draws):
    """Each element by its name in BUGS, ``x[2,1]``, with axes (chain, draw)."""
    found = {}
    for name, values in draws.items():
        for place in np.ndindex(values.shape[2:]):
            index = f"[{','.join(str(i + 1) for i in place)}]" if place else ""
            found[f"{name}{index}"] = values[:, :, *place]
    return found


def read(path):
    """Data or initial values from JSON: nested lists are arrays by rows, null is missing."""
    values = json.loads(Path(path).read_text(encoding="utf-8"))
    return {name: np.ma.masked_invalid(np.array(x, dtype=float)) for name, x in values.items()}


def r_dump(values):
    """A dict of arrays as text that R and JAGS read: column-major, NA where missing.

    >>> print(r_dump({"x": [[1, 2.5], [3, None]]}), end="")
    "x" <- structure(c(1, 3, 2.5, NA), .Dim = c(2L, 2L))
    """
    return "".join(f'"{name}" <- {_r_value(x)}\n' for name, x in values.items())


def _r_value(x):
    if isinstance(x, str):
        return f'"{x}"'
    values = np.ma.array(x, dtype=float).filled(np.nan)
    numbers = [_r_number(v) for v in values.ravel(order="F")]
    if values.ndim == 0:
        return numbers[0]
    vector = f"c({', '.join(numbers)})"
    if values.ndim == 1:
        return vector
    sizes = ", ".join(f"{n}L" for n in values.shape)
    return f"structure({vector}, .Dim = c({sizes}))"


def _r_number(x):
    return "NA" if np.isnan(x) else repr(float(x)).removesuffix(".0")


def _read_draws(folder, name, chains, draws):
    """The draws of an array from CODA files: those of the elements lie one after the other."""
    kept = {}
    for line in (folder / "drawsindex.txt").read_text(encoding="utf-8").splitlines():
        element, first, last = line.split()
        base, _, index = element.removesuffix("]").partition("[")
        if name in (element, base):
            place = tuple(int(i) - 1 for i in index.split(",")) if base == name and index else ()
            kept[place] = slice(int(first) - 1, int(last))
    if not kept:
        raise JagsError(f"{name}: not among what JAGS has monitored")
    shape = tuple(max(sizes) + 1 for sizes in zip(*kept, strict=True))
    found = np.full((chains, draws, *shape), np.nan)
    for k in range(chains):
        values = _columns(folder / f"drawschain{k + 1}.txt")[:, 1]
        for place, rows in kept.items():
            found[k, :, *place] = values[rows]
    return found


def _columns(path):
    return np.array(path.read_text(encoding="utf-8").split(), dtype=float).reshape(-1, 2)


class _Dialogue:
    """A JAGS that is told one command after the other, each once it has answered the one before.

    It prompts only where it is typed to: its input is a terminal, its output a pipe.
    """

    def __init__(self, folder, most=NO_LIMIT):
        self.warnings, self._most = [], most
        self._input, terminal = pty.openpty()
        tty.setraw(terminal)
        self._process = subprocess.Popen(
            ["jags"], cwd=folder, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        os.close(terminal)
        self._clock = environments.clock_of(self._process.pid)
        if most < NO_LIMIT:
            environments.allow(self._process, most)

    def __enter__(self):
        self.greeting = self._answer()
        return self

    def __exit__(self, *exception):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        os.close(self._input)

    def say(self, *commands):
        """Each command in turn; an error if JAGS cannot do as it is told."""
        for command in commands:
            os.write(self._input, f"{command}\n".encode())
            answer = self._answer()
            self.warnings += (found.group().strip() for found in WARNING.finditer(answer))
            if FAILED.search(WARNING.sub("", answer)):
                raise JagsError(f"{command}: {answer.strip()}")

    def seconds(self):
        """CPU seconds since the process began."""
        return time.clock_gettime(self._clock)

    def _answer(self):
        """All that is said up to the next prompt."""
        heard = b""
        while heard != PROMPT and not heard.endswith(b"\n" + PROMPT):
            more = os.read(self._process.stdout.fileno(), 1 << 16)
            if not more:
                said = heard.decode(errors="replace")
                raise JagsError(environments.why_ended(self._process, self._most, said))
            heard += more
        return heard.removesuffix(PROMPT).decode(errors="replace")
