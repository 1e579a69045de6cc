"""Files that are written whole or not at all: beside their places first, then moved there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from gibbsppl.errors import RunError


@contextmanager
def whole(*paths: str | PathLike[str]) -> Iterator[tuple[Path, ...]]:
    """The paths to write to instead; what is there afterwards goes to the paths themselves.

    `RunError` says what was in the way: then nothing is written, and what was there is left.
    """
    places = tuple(_path(path) for path in paths)
    unfinished = tuple(Path(f"{place}.unfinished") for place in places)
    if not places[0].parent.is_dir():
        folder = places[0].parent
        raise RunError(f"{places[0]}: found no directory {folder}; create it, or name another one.")
    try:
        yield unfinished
        for written, place in zip(unfinished, places, strict=True):
            written.replace(place)
    except OSError as error:
        raise RunError(
            f"{places[0]}: cannot be written ({reason(error)}); what was there is left as it "
            "was: make room, or name another place."
        ) from error
    finally:
        for written in unfinished:
            with suppress(OSError):
                written.unlink(missing_ok=True)


def check_writable(what: str, *paths: str | PathLike[str]) -> None:
    """Refuse files that cannot be written, before there is something to write."""
    for path in map(_path, paths):
        if path.is_dir():
            instead = path / "draws.nc"
            raise RunError(f"{what}: {path} is a directory; name a file, such as {instead}.")
        if not path.parent.is_dir():
            folder = path.parent
            raise RunError(
                f"{what}: found no directory {folder}; create it, or name another file."
            )
        trial = Path(f"{path}.unfinished")
        try:
            if path.exists() and not os.access(path, os.W_OK):
                raise PermissionError(13, "Permission denied")
            trial.write_bytes(b"draws")
            trial.unlink()
        except (OSError, ValueError) as error:  # a name with a null character is a ValueError
            raise RunError(
                f"{what}: {path} cannot be written ({reason(error)}); name another file."
            ) from error


def reason(error: BaseException) -> str:
    """The reason of an error, in one line."""
    told = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(str(told).split())


def _path(path: str | PathLike[str]) -> Path:
    try:
        return Path(path)
    except TypeError:
        raise RunError(f"found {path!r}, expected the path of a file.") from None
