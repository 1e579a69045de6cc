"""Progress of long work on a terminal, silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[int, str], None]


def say(line: str) -> None:
    """Tell something in a line of its own, on stderr."""
    print(line, file=sys.stderr)  # noqa: T201  (it is for whoever waits for the run)


@contextmanager
def reporting(total: int, unit: str, *, wanted: bool = True) -> Iterator[Report | None]:
    """A function ``report(done, doing)`` that moves a bar, or ``None`` without a terminal.

    >>> with reporting(10, "sweeps", wanted=False) as report:
    ...     print(report)
    None
    """
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm  # noqa: PLC0415  (costs as much as a thousand small sweeps)

    with tqdm(total=total, unit=" " + unit, mininterval=0, leave=False) as bar:

        def report(done: int, doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.update(done - bar.n)

        yield report
