"""Types of recorded draws: arrays, their dims, and the settings of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

# The names of dims, and an array along them.
Named = tuple[tuple[str, ...], Array]

# Numbers and texts that say how draws were made.
Attributes = Mapping[str, Any]
