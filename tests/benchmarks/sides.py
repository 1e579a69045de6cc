"""The sides of a comparison: each makes ready a workload once, and then takes a turn when asked.

``turn(seed, size)`` gives a `measuring.Turn`. A side knows its ``version``, the CPU seconds of
``compiling`` (what is done once before the first sweep, imports left out), and ``told(element)``,
how a variable is drawn. `Compiled` and `Swept` are gibbsppl, `Jags` a program on the PATH,
`Elsewhere` a process in an environment of its own, `ByHand` a function.
"""

import json
import os
import re
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from time import process_time
from unittest import mock

import jags
import numpy as np
from environments import LIMITS, allow, why_ended
from measuring import Turn

import gibbsppl as gp
import gibbsppl.run.segments as segments_module
from gibbsppl.explain import schedule_text
from gibbsppl.initial.search import initial_state

HERE = Path(__file__).parent
CHAINS = 4
# CPU seconds that another program may take to a turn.
MOST = 1500
# Seeds of turns are so far apart that no two chains have the same one.
APART = 1000
# A line of a schedule that begins a step: those that go on stand further in, and some are notes.
STEP = re.compile(r"  (?!fallback: |added )\S")


def by_cpu_clock():
    """Make runs tell CPU seconds, where they tell those on the wall by themselves."""
    return mock.patch.object(segments_module, "perf_counter", process_time)


class Compiled:
    """Draws by gibbsppl: settings of the workload (none by default), compiled loops."""

    def __init__(self, workload, _peer=None):
        self.version = gp.__version__
        self.monitors = workload.monitors
        began = process_time()
        model = workload.model(workload.data())
        self.sampler = gp.compile(model, **workload.settings)
        self._run = {"warmup": workload.warmup, "chains": CHAINS, "keep": list(self.monitors)}
        self._run |= {"backend": workload.backend, "cores": 1, "progress": False}
        if workload.inits is not None:
            self._run["init"] = gp.read_inits(workload.inits, model)
        made = process_time()
        self.sampler.sample(1, seed=APART, **self._run)
        loaded = process_time()
        self.sampler.sample(1, seed=APART, **self._run)
        again = process_time()
        self.compiling = (made - began) + max(0.0, (loaded - made) - (again - loaded))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def turn(self, seed, size):
        """A run, whose own account of its seconds is by the CPU clock."""
        with by_cpu_clock():
            draws = self.sampler.sample(size, seed=APART * seed, **self._run)
        kept = {m: draws[m] for m in self.monitors}
        sampling, warming = (draws.attributes[f"{n}_seconds"] for n in ("sampling", "warmup"))
        return Turn(size, sampling, warming, kept)

    def told(self, element):
        """The steps of a schedule that name a variable; all, if it is computed of others."""
        name = element.partition("[")[0]
        text = schedule_text(replace(self.sampler.schedule, choices=()), self.sampler.data)
        steps = [x.strip() for x in text.splitlines()[1:] if STEP.match(x)]
        named = re.compile(rf"(?<![\w.]){re.escape(name)}(?![\w.])")
        own = [" ".join(x.split()) for x in steps if named.search(x)]
        return own or [" ".join(x.split()) for x in steps]


class Swept:
    """Sweeps by gibbsppl that keep nothing, in compiled loops or in NumPy."""

    def __init__(self, workload, _peer=None):
        self.version = gp.__version__
        began = process_time()
        self.sampler = gp.compile(workload.model(workload.data()), **workload.settings)
        rng = np.random.default_rng(1)
        state, _ = initial_state(rng, self.sampler.graph, self.sampler.data)
        state = {n: np.array(x) for n, x in state.items()}
        if workload.backend == "compiled":
            loops = self.sampler.loops(keep=())
            runner, arguments = loops.compiled(), loops.arguments(rng, loops.arrays_of(state), ())
            self._sweeps = lambda count: runner.sweep(arguments, count)
        else:
            self._sweeps = lambda count: self._in_numpy(rng, state, count)
        self._sweeps(1)
        self.compiling = process_time() - began
        self._sweeps(workload.burn)

    def _in_numpy(self, rng, state, count):
        for _ in range(count):
            self.sampler.program.sweep(rng, state, self.sampler.constants)

    __enter__, __exit__, told = Compiled.__enter__, Compiled.__exit__, Compiled.told

    def turn(self, seed, size):
        """So many sweeps, from where the last turn has ended."""
        began = process_time()
        self._sweeps(size)
        return Turn(size, process_time() - began)


def ours(workload):
    """The side of gibbsppl: draws where there are monitors, else sweeps."""
    return Compiled(workload) if workload.monitors else Swept(workload)


class Silent:
    """The base of the sides of others: nothing is told of how they draw."""

    compiling = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass

    def told(self, element):
        """Nothing."""
        return []


class ByHand(Silent):
    """Hand-written sweeps for the same back end: a function of their number."""

    version = ""

    def __init__(self, workload, _peer):
        self._sweeps = workload.hand(workload.data())
        began = process_time()
        self._sweeps(1)
        self.compiling = process_time() - began
        self._sweeps(workload.burn)

    turn = Swept.turn


class Jags(Silent):
    """JAGS at a terminal, with its default settings: the workload's program, data and starts."""

    def __init__(self, workload, peer):
        if not jags.present():
            raise ImportError(jags.MISSING)
        self.version = jags.version()
        self._program = workload.program()
        self._monitors, self._peer, self._warmup = workload.monitors, peer, workload.warmup

    def turn(self, seed, size):
        """A process of its own: compiled, adapted, warmed up, and its draws."""
        text, data, inits = self._program
        how = {"draws": size, "warmup": self._warmup, "adapt": self._warmup, "chains": CHAINS}
        how |= {"modules": self._peer.modules, "seed": APART * seed, "most": MOST}
        found = jags.run(text, data, inits, self._monitors, **how)
        self.compiling = found.compiling
        return Turn(size, found.sampling, found.warming, found.draws)


class Elsewhere(Silent):
    """A program in an environment of its own, which `peer_process` runs there."""

    def __init__(self, workload, peer):
        self._scratch = tempfile.TemporaryDirectory()
        data = Path(self._scratch.name) / "data.npz"
        np.savez(data, **workload.data())
        self._process = subprocess.Popen(
            [peer.python(), str(HERE / "peer_process.py"), peer.program, workload.key, str(data)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **LIMITS},
        )  # fmt: skip
        self.version = ", ".join(f"{p} {v}" for p, v in self._answer()["versions"].items())

    def _answer(self):
        line = self._process.stdout.readline()
        if not line:
            raise ImportError(why_ended(self._process, MOST))
        return json.loads(line)

    def __exit__(self, *exception):
        self._process.stdin.close()
        self._process.wait()
        self._scratch.cleanup()

    def turn(self, seed, size):
        """The answer of the process to a seed and a size."""
        allow(self._process, MOST)
        self._process.stdin.write(json.dumps({"seed": seed, "size": size}) + "\n")
        self._process.stdin.flush()
        found = self._answer()
        self.compiling = max(self.compiling, found.pop("compiling", 0.0))
        path = found.pop("draws", None)
        draws = None
        if path is not None:
            with np.load(path) as kept:
                draws = dict(kept)
            Path(path).unlink()
        return Turn(found["size"], found["sampling"], found["warming"], draws)



