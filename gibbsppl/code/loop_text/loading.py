"""Modules of loops: their text written to a folder, imported, compiled there or run as it is."""

from __future__ import annotations

import hashlib
import importlib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from gibbsppl.code.loop_text.module import Text, whole_text
from gibbsppl.runtime.kept_modules import imported

PLAIN, COMPILED = "gibbsppl.runtime.loops", "gibbsppl.runtime.compiled"


def loaded(module: Text, name: str) -> ModuleType:
    """The compiled module of a text: functions are compiled when they are first called."""
    return imported(whole_text(module, COMPILED), name, (_kernels_key(),))


def plain(module: Text) -> dict[str, Any]:
    """The functions of a text as they are, without compiling."""
    scope: dict[str, Any] = {"__name__": "gibbsppl_loops"}
    exec(compile(whole_text(module, PLAIN), "<gibbsppl loops>", "exec"), scope)  # noqa: S102
    return scope


@cache
def _kernels_key() -> str:
    """A hash of the kernels' files: Numba looks at the date of the calling file alone."""
    found = hashlib.sha256()
    folder = Path(importlib.import_module(PLAIN).__path__[0])
    for path in (*sorted(folder.glob("*.py")), folder.parent / "compiled" / "__init__.py"):
        found.update(path.read_bytes())
    return found.hexdigest()
