"""Sealed files: a header that people can read, and bytes, written whole and known to be whole.

The first line names the kind of file, the second is the header, as JSON, with the digest of the
bytes that follow.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from gibbsppl.errors import RunError
from gibbsppl.output.whole_files import reason

DIGEST = "sha256"


def write_sealed(path: Path, kind: str, header: Mapping[str, Any], content: bytes) -> None:
    """Write a file whole or not at all, so that it outlives the process and the machine."""
    told = json.dumps({**header, DIGEST: _digest(header, content)})
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with unfinished.open("wb") as file:
            file.write(f"{kind}\n{told}\n".encode() + content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            unfinished.unlink()
        raise RunError(
            f"{path}: cannot be written ({reason(error)}); the last checkpoint is left as it was: "
            "make room, and go on from there with gibbsppl.resume."
        ) from error


def read_sealed(path: Path, kind: str) -> tuple[dict[str, Any], bytes]:
    """The header and the bytes of a file; an error if it is another kind of file, or not whole."""
    try:
        first, header, content = (*path.read_bytes().split(b"\n", 2), b"", b"")[:3]
    except OSError as error:
        raise RunError(f"{path}: cannot be read ({reason(error)}).") from error
    if first.decode(errors="replace") != kind:
        raise RunError(
            f"{path}: found another file than sample(checkpoint=...) writes, whose first line is "
            f"{kind!r}; name the folder of a run."
        )
    try:
        told: dict[str, Any] = json.loads(header)
        is_whole = told.pop(DIGEST) == _digest(told, content)
    except (ValueError, KeyError, AttributeError, TypeError):
        is_whole = False
    if not is_whole:
        raise RunError(
            f"{path}: the file is not as it was written: something has changed it, or the disk "
            "has; the draws are in .npy files beside it, but the run cannot go on."
        )
    return told, content


def sync_folder(folder: Path) -> None:
    """Have the names of the files of a folder written to the disk, where the system can do it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _digest(header: Mapping[str, Any], content: bytes) -> str:
    """The digest of a file but for the digest."""
    found = hashlib.sha256(json.dumps(header).encode())
    found.update(content)
    return found.hexdigest()
