"""Processes that start fresh: the program that is being run is not run again in them.

Python's own ``spawn`` imports the main program in each new process, so that one without
``if __name__ == "__main__":`` starts itself again and again. Nothing of it is needed here.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any


class _Process(SpawnProcess):
    """A process that knows nothing of the main program."""

    @staticmethod
    def _Popen(process_obj: BaseProcess) -> Any:  # noqa: N802  (its name in Python's library)
        main = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            with _without_ctrl_c():
                return SpawnProcess._Popen(process_obj)  # noqa: SLF001
        finally:
            sys.modules["__main__"] = main


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """With Ctrl-C held back: a process that starts holds it back for good."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _Context(SpawnContext):
    """Makes such processes."""

    Process = _Process


def fresh() -> SpawnContext:
    """A context of fresh processes."""
    return _Context()


def ignoring_ctrl_c() -> None:
    """Leave Ctrl-C to the process of the run, which all in a terminal are told of."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
