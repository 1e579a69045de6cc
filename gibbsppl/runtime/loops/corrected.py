"""Decisions about joint draws that are proposals, as in `gibbsppl.runtime.corrected`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gibbsppl.runtime.corrected import POWER, RIGHT
from gibbsppl.runtime.types import Generator

from . import kernel

APART: Mapping[str, str] = {}


@kernel
def turned_by(rng: Generator) -> float:
    """The angle by which a vector is turned towards a draw."""
    return math.pi / 2 * min(1.0, (1.0 - rng.random()) / (1.0 - RIGHT)) ** POWER


@kernel
def is_taken(rng: Generator, log_ratio: float) -> int:
    """1 if a proposal of this log ratio is accepted, else 0."""
    return 1 if -rng.standard_exponential() < log_ratio else 0
