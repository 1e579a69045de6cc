"""How a sweep is scanned: in order, at random, or forwards and backwards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gibbsppl.arguments import is_finite_number, methods_told, shown
from gibbsppl.errors import CompileError, did_you_mean

SCANS = ("systematic", "random", "symmetric")


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class RandomScan:
    """A random scan: each sweep picks units at random, by weight (1 unless given).

    >>> RandomScan({"theta": 3.0})
    RandomScan(weights={'theta': 3.0})
    """

    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping):
            raise CompileError(
                f"RandomScan(weights): found {self.weights!r}, expected a dict from names of "
                "variables to positive numbers."
            )
        for name, weight in self.weights.items():
            if not is_finite_number(weight) or not 0 < weight < math.inf:
                raise CompileError(
                    f"RandomScan(weights[{name!r}]): found {weight!r}, expected a positive number: "
                    f"every latent variable must be updated. To hold {name} fixed, declare it as "
                    "data."
                )


def checked_scan(scan: Any) -> str | RandomScan:
    """How a sweep is scanned."""
    if isinstance(scan, RandomScan) or (isinstance(scan, str) and scan in SCANS):
        return scan
    names = ", ".join(map(repr, SCANS))
    expected = f"{names} or gp.RandomScan(weights={{...}})"
    meant = did_you_mean(str(scan), SCANS)
    raise CompileError(f"scan: found {shown(scan)}, expected {expected}.{meant}")
