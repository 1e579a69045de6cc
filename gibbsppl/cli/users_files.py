"""Mistakes in a user's file: the line of the file, in place of a stack of calls.

Comes in: the path of a file, whose code runs under a context. Goes out: an error of one message.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gibbsppl.errors import GibbspplError, ModelError


@contextmanager
def told_by_line(path: Path) -> Iterator[None]:
    """A context in which errors of a file's code are told with their line."""
    try:
        yield
    except SyntaxError as error:
        where = error.filename or str(path)
        line = (error.text or "").strip()
        raise ModelError(f"{where}, line {error.lineno}: {error.msg}\n    {line}") from error
    except GibbspplError as error:
        if (place := _place(path, error)) is None:
            raise
        is_plain = type(error).__init__ is Exception.__init__
        raise (type(error) if is_plain else ModelError)(f"{error}\n  {place}") from error
    except Exception as error:
        place = _place(path, error) or f"({path})"
        said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise ModelError(f"{said}\n  {place}") from error


def _place(path: Path, error: BaseException) -> str | None:
    """The last line of the file that was carried out, or of a file beside it."""
    folder = str(path.resolve().parent)
    frames = [f for f in traceback.extract_tb(error.__traceback__)
              if str(Path(f.filename).resolve().parent) == folder]  # fmt: skip
    if not frames:
        return None
    last = frames[-1]
    text = linecache.getline(last.filename, last.lineno or 0).strip()
    return f"in {Path(last.filename).name}, line {last.lineno}: {text}"
