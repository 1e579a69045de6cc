"""Ctrl-C in a run: noticed at once, obeyed where all is whole; a second one stops at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType


@dataclass(slots=True)
class Stop:
    """Whether the user has asked a run to stop."""

    asked: bool = False

    def __bool__(self) -> bool:
        return self.asked


@contextmanager
def ctrl_c() -> Iterator[Stop]:
    """A value that says, from the first Ctrl-C on, that the run is to stop.

    The second Ctrl-C raises `KeyboardInterrupt`, and so does the first one where no handler of
    signals can be set: outside of the main thread.

    >>> with ctrl_c() as stop:
    ...     signal.raise_signal(signal.SIGINT)
    ...     print(bool(stop))
    True
    """
    stop = Stop()
    usual = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or usual is not signal.default_int_handler:
        yield stop  # (whoever has set a handler of their own is obeyed)
        return

    def asked(number: int, frame: FrameType | None) -> None:
        if stop.asked:
            signal.default_int_handler(number, frame)
        stop.asked = True

    signal.signal(signal.SIGINT, asked)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, usual)


@contextmanager
def held_back() -> Iterator[None]:
    """Ctrl-C is obeyed afterwards: what is done in between is done wholly.

    >>> with ctrl_c() as stop, held_back():
    ...     signal.raise_signal(signal.SIGINT)
    ...     print(bool(stop))
    False
    >>> bool(stop)
    True
    """
    usual = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or usual is None:  # (a handler from outside of Python cannot be put back)
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if came:
        signal.raise_signal(signal.SIGINT)
