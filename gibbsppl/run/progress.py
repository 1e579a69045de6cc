"""Progress of long work on a terminal or in a notebook, silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from time import monotonic
from typing import Any

Report = Callable[[int, str], None]

# The seconds between two pictures of a bar in a notebook, which each travel to a browser.
SECONDS_BETWEEN_PICTURES = 0.5


def say(line: str) -> None:
    """Tell something in a line of its own, on stderr."""
    print(line, file=sys.stderr)  # noqa: T201  (it is for whoever waits for the run)


@contextmanager
def reporting(total: int, unit: str, *, wanted: bool = True) -> Iterator[Report | None]:
    """A function ``report(done, doing)`` that moves a bar; ``None`` where nobody sees one.

    >>> with reporting(10, "sweeps", wanted=False) as report:
    ...     print(report)
    None
    """
    if not wanted:
        yield None
    elif (display := _display()) is not None:
        bar = _Picture(total, unit, display)
        bar.report(0, "")
        try:
            yield bar.report
        finally:
            bar.close()
    elif sys.stderr.isatty():
        yield from _on_terminal(total, unit)
    else:
        yield None


def _on_terminal(total: int, unit: str) -> Iterator[Report]:
    from tqdm import tqdm  # noqa: PLC0415  (costs as much as a thousand small sweeps)

    with tqdm(total=total, unit=" " + unit, mininterval=0, leave=False) as bar:

        def report(done: int, doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.update(done - bar.n)

        yield report


def _display() -> Any:
    """A place in the notebook that this process serves, if it serves one."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(shell, "kernel"):  # (a shell in a terminal has none)
        return None
    from IPython.display import display  # noqa: PLC0415  (there where it is needed)

    return display(_Html(""), display_id=True)


@dataclass(frozen=True, slots=True)
class _Html:
    """A text that a notebook shows."""

    content: str

    def _repr_html_(self) -> str:
        return self.content

    def __repr__(self) -> str:
        return ""


@dataclass(slots=True)
class _Picture:
    """A bar in a notebook, with the rate and the time that is left."""

    total: int
    unit: str
    display: Any
    began: float = field(default_factory=monotonic)
    shown: float = -1e9

    def report(self, done: int, doing: str) -> None:
        """Move the bar, if it was not moved just now."""
        now = monotonic()
        if now - self.shown < SECONDS_BETWEEN_PICTURES:
            return
        self.shown = now
        self.display.update(_Html(picture(done, self.total, self.unit, now - self.began, doing)))

    def close(self) -> None:
        """Take the bar away."""
        self.display.update(_Html(""))


def picture(done: int, total: int, unit: str, seconds: float, doing: str) -> str:
    """A bar in HTML, with what is being done, the rate, and the time that is left.

    >>> print(picture(300, 1200, "sweeps", 2.0, "sampling"))  # doctest: +NORMALIZE_WHITESPACE
    <progress value="300" max="1200" style="vertical-align: middle; width: 16em"></progress>
    <span style="font-family: monospace">300 of 1200 sweeps, sampling, 150 a second, 6 s left</span>
    """
    told = [f"{done} of {total} {unit}", doing]
    if done and seconds > 0:
        rate = done / seconds
        told += [f"{rate:.3g} a second", f"{_duration((total - done) / rate)} left"]
    text = escape(", ".join(filter(None, told)))
    return (
        f'<progress value="{done}" max="{total}" style="vertical-align: middle; width: 16em">'
        f'</progress> <span style="font-family: monospace">{text}</span>'
    )


def _duration(seconds: float) -> str:
    """A time as people say it.

    >>> _duration(7.2), _duration(75), _duration(8000)
    ('7 s', '1 min 15 s', '2 h 13 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
