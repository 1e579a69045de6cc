"""Modules that are compiled: their text written to a folder, and imported from there.

Comes in: a text, and what else decides how it is compiled. Goes out: the module. The name of a file
is made of a hash of both, so that Numba finds what it has compiled in an earlier process.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np

from gibbsppl.runtime.cache_folder import cache_folder


def folder() -> Path:
    """The folder that modules are written to; one that goes, where none is the user's own."""
    kept = cache_folder("loops")
    with suppress(OSError):
        if kept is not None:
            kept.mkdir(mode=0o700, parents=True, exist_ok=True)
            if _is_own(kept) and os.access(kept, os.W_OK):
                return kept
    return _passing()


def _is_own(place: Path) -> bool:
    """Whether a folder is the user's: modules and what is compiled are carried out unread."""
    return not hasattr(os, "getuid") or place.stat().st_uid == os.getuid()


@cache
def _passing() -> Path:
    """A folder that goes when the process ends."""
    found = tempfile.mkdtemp(prefix="gibbsppl_")
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    return Path(found)


def imported(text: str, name: str, beside: Iterable[str] = ()) -> ModuleType:
    """The module of a text; ``beside``: versions of what it calls."""
    path = _written(text, name, beside)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = found
    spec.loader.exec_module(found)
    return found


def _written(text: str, name: str, beside: Iterable[str]) -> Path:
    """The file of a text, written under another name first: two processes may write it at once."""
    path = folder() / f"{_plain_name(name)}_{_key(text, beside)}.py"
    if not path.exists():
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    return path


def _key(text: str, beside: Iterable[str]) -> str:
    """A hash of a text and of what compiles it."""
    import numba  # noqa: PLC0415  (only where something is compiled)

    from gibbsppl import __version__  # noqa: PLC0415  (the package's face)

    versions = (numba.__version__, np.__version__, __version__, *beside)
    return hashlib.sha256("\n".join((text, *versions)).encode()).hexdigest()[:16]


def _plain_name(name: str) -> str:
    return "".join(ch if ch.isascii() and ch.isalnum() else "_" for ch in name) or "model"
