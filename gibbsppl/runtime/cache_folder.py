"""The folders of what is kept between processes, one for each kind of files.

Comes in: the name of a kind. Goes out: its folder, which may not exist yet, or None where nothing
is to be kept. docs/sampling.md says what is kept.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

VARIABLE, OFF = "GIBBSPPL_CACHE", "off"


def is_off() -> bool:
    """Whether nothing that was made is to be used again."""
    return os.environ.get(VARIABLE, "") == OFF


def cache_folder(kind: str) -> Path | None:
    """The folder of a kind of files, inside of the one that the environment names."""
    asked = os.environ.get(VARIABLE, "")
    if is_off():
        return None
    if asked:
        return Path(asked) / kind
    home = os.environ.get("XDG_CACHE_HOME", "")
    with suppress(RuntimeError):  # (some users have no home)
        return (Path(home) if home else Path.home() / ".cache") / "gibbsppl" / kind
    return None
