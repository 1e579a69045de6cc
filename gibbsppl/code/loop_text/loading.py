"""Modules of loops: their text written to a folder, imported, compiled there or run as it is.

The name of a file is made of a hash of the text and of versions, so that Numba finds what it has
compiled in an earlier process.
"""

from __future__ import annotations

import atexit
import hashlib
import importlib
import importlib.util
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gibbsppl.code.cache_folder import cache_folder
from gibbsppl.code.loop_text.module import Text, whole_text

PLAIN, COMPILED = "gibbsppl.runtime.loops", "gibbsppl.runtime.compiled"


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


def loaded(module: Text, name: str) -> ModuleType:
    """The compiled module of a text: functions are compiled when they are first called."""
    text = whole_text(module, COMPILED)
    path = _written(text, name)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = found
    spec.loader.exec_module(found)
    return found


def plain(module: Text) -> dict[str, Any]:
    """The functions of a text as they are, without compiling."""
    scope: dict[str, Any] = {"__name__": "gibbsppl_loops"}
    exec(compile(whole_text(module, PLAIN), "<gibbsppl loops>", "exec"), scope)  # noqa: S102
    return scope


def _written(text: str, name: str) -> Path:
    """The file of a text, written under another name first: two processes may write it at once."""
    path = folder() / f"{_plain_name(name)}_{_key(text)}.py"
    if not path.exists():
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    return path


def _key(text: str) -> str:
    """A hash of a text and of what compiles it."""
    import numba  # noqa: PLC0415  (only where something is compiled)

    from gibbsppl import __version__  # noqa: PLC0415  (the package's face)

    versions = (numba.__version__, np.__version__, __version__, _kernels_key())
    return hashlib.sha256("\n".join((text, *versions)).encode()).hexdigest()[:16]


@cache
def _kernels_key() -> str:
    """A hash of the kernels' files: Numba looks at the date of the calling file alone."""
    found = hashlib.sha256()
    folder = Path(importlib.import_module(PLAIN).__path__[0])
    for path in (*sorted(folder.glob("*.py")), folder.parent / "compiled" / "__init__.py"):
        found.update(path.read_bytes())
    return found.hexdigest()


def _plain_name(name: str) -> str:
    return "".join(ch if ch.isascii() and ch.isalnum() else "_" for ch in name) or "model"
