"""Types of recorded draws: arrays, their dims, and the settings of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# The names of dims, and an array along them.
Named = tuple[tuple[str, ...], Array]

# Numbers and texts that say how draws were made.
Attributes = Mapping[str, Any]


def for_arithmetic(array: Array) -> Array:
    """The array, whole numbers in 64 bits: sums and products of smaller types wrap around.

    >>> counts = np.array([100], np.int8)
    >>> counts + counts, for_arithmetic(counts) + for_arithmetic(counts)
    (array([-56], dtype=int8), array([200]))
    """
    return array.astype(np.int64, copy=False) if array.dtype.kind == "i" else array
