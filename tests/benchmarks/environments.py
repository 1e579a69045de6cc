"""Environments of peers: a folder for each outside of the tree, made when it is first asked for.

Packages come by pip from where pip is set up to look. The folder is ``gibbsppl-benchmarks`` in the
user's cache (``XDG_CACHE_HOME``); removing it makes all anew.
"""

import ctypes
import math
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

# One thread: CPU time is what is compared.
LIMITS = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}
READY = "ready"
LAST_LINES = 3


def folder():
    """Where environments are kept."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "gibbsppl-benchmarks"


def python_of(name, packages):
    """The interpreter of an environment with packages; ImportError, if they do not install."""
    place = folder() / name.lower().replace(" ", "-")
    interpreter, ready = place / "bin" / "python", place / READY
    if not ready.exists() or ready.read_text(encoding="utf-8") != " ".join(packages):
        print(f"{name}: installing {', '.join(packages)} in {place}", file=sys.stderr, flush=True)
        _run(sys.executable, "-m", "venv", "--clear", str(place))
        _run(str(interpreter), "-m", "pip", "install", "-q", *packages)
        ready.write_text(" ".join(packages), encoding="utf-8")
    return str(interpreter)


def allow(process, seconds):
    """Let a process take so many CPU seconds from now on, after which the system ends it."""
    used = time.clock_gettime(clock_of(process.pid))
    most = math.ceil(used + seconds), resource.RLIM_INFINITY
    resource.prlimit(process.pid, resource.RLIMIT_CPU, most)


def why_ended(process, seconds, said=""):
    """The reason for which a process that may take so many seconds has ended, in words."""
    code = process.wait()
    if code == -signal.SIGXCPU:
        return f"a turn, with its warm-up, takes more than {seconds:g} CPU seconds"
    return f"the process has ended with {code}: {said.strip()}".removesuffix(": ")


def clock_of(process):
    """The CPU clock of another process, as POSIX has it."""
    clock = ctypes.c_int()
    if ctypes.CDLL(None).clock_getcpuclockid(process, ctypes.byref(clock)):
        raise RuntimeError(f"no CPU clock of process {process}")
    return clock.value


def _run(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        said = [x for x in done.stderr.splitlines() if x.startswith(("ERROR", "error"))]
        told = " ".join(said[-LAST_LINES:]) or f"ended with {done.returncode}"
        raise ImportError(f"does not install: {told}")
