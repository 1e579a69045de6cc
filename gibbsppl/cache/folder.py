"""Files of a cache by digest: whole or not there, bounded in number and size, never in the way.

Comes in: digests and bytes. Goes out: the bytes that were kept for a digest, or None. What cannot
be read is not there, and what cannot be written is not kept: no error is raised.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from time import time_ns

from gibbsppl.runtime.cache_folder import cache_folder

# How many files and bytes are kept: the ones that were not read for longest are removed first.
MOST_FILES, MOST_BYTES = 512, 256 << 20
# A derivation that takes more is not kept: it has tables as large as the data.
LARGEST = 16 << 20

_HEAD = b"gibbsppl"
_SUFFIX, _UNFINISHED = ".derivation", ".unfinished"


def folder() -> Path | None:
    """The folder of the cache, which may not exist yet; None where the cache is off."""
    return cache_folder("derivations")


def read(key: bytes) -> bytes | None:
    """The content kept for a digest; None if there is nothing, or nothing whole, or of others."""
    if (place := _place(key)) is None:
        return None
    try:
        content = place.read_bytes()
        if hasattr(os, "getuid") and place.stat().st_uid != os.getuid():
            return None
        os.utime(place)
    except OSError:
        return None
    head = _HEAD + key
    payload = content[len(head) + 32 :]
    is_whole = content.startswith(head + hashlib.sha256(payload).digest())
    return payload if is_whole else None


def write(key: bytes, payload: bytes) -> None:
    """Keep bytes for a digest, beside their place first and then moved there."""
    if (place := _place(key)) is None or len(payload) > LARGEST:
        return
    unfinished = place.with_suffix(f".{os.getpid()}-{time_ns()}{_UNFINISHED}")
    with suppress(OSError):
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            unfinished.write_bytes(_HEAD + key + hashlib.sha256(payload).digest() + payload)
            unfinished.replace(place)
        finally:
            unfinished.unlink(missing_ok=True)
        _bound(place.parent)


def _place(key: bytes) -> Path | None:
    found = folder()
    return None if found is None else found / f"{key.hex()}{_SUFFIX}"


def _bound(place: Path) -> None:
    """Remove the files that were not read for longest, down to three quarters of the bounds."""
    ours = (e for e in os.scandir(place) if e.name.endswith((_SUFFIX, _UNFINISHED)))
    found = sorted((e.stat().st_mtime_ns, e.stat().st_size, e.path) for e in ours)
    total = sum(size for _, size, _ in found)
    if len(found) <= MOST_FILES and total <= MOST_BYTES:
        return
    count = len(found)
    for _, size, path in found:
        if count <= MOST_FILES * 3 // 4 and total <= MOST_BYTES * 3 // 4:
            return
        Path(path).unlink(missing_ok=True)
        count, total = count - 1, total - size
