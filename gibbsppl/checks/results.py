"""Results of the exact checks: one row for each comparison, printed as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gibbsppl.checks.table import table, verdict

RELATIVE_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Row:
    """The worst comparison of one step, or of one change of the model.

    ``discrepancy`` is None where there is nothing to compare with, or where rounding hides what a
    comparison would tell (``is_hidden``).
    """

    step: str
    kind: str
    family: str
    discrepancy: float | None
    tolerance: float
    is_hidden: bool = False

    @property
    def proved(self) -> bool:
        """Whether both sides have been compared and agree."""
        return self.discrepancy is not None and self.passed

    @property
    def passed(self) -> bool:
        """Whether no comparison has failed (a discrepancy that is not a number has)."""
        return self.discrepancy is None or self.discrepancy <= self.tolerance < np.inf


@dataclass(frozen=True, slots=True)
class Verification:
    """One row per step and per change of the model; printed, it is an aligned table."""

    rows: tuple[Row, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing disagrees with the joint density."""
        return all(row.passed for row in self.rows)

    @property
    def proved(self) -> bool:
        """Whether everything agrees with the joint density, and nothing is left open."""
        return all(row.proved for row in self.rows)

    def __str__(self) -> str:
        return ratio_table(self.rows)


def ratio_table(rows: Sequence[Row]) -> str:
    """The results as aligned text, one line per step."""
    cells = [
        (r.step, r.kind, r.family, _number(r.discrepancy), f"{r.tolerance:.1e}", _verdict(r))
        for r in rows
    ]
    return table(("step", "kind", "family", "discrepancy", "tolerance", "verdict"), cells)


def _number(discrepancy: float | None) -> str:
    return "-" if discrepancy is None else f"{discrepancy:.1e}"


def _verdict(row: Row) -> str:
    return verdict(row.passed) if row.proved or not row.passed else "not proved"


def worst(rows: Sequence[Row]) -> Row:
    """The decisive row of one comparison made at several states.

    A failed row comes before one without anything to compare with, this one before rows that have
    passed, and these before rows hidden by rounding.
    """
    return max(rows, key=_rank)


def _rank(row: Row) -> tuple[int, float]:
    if row.discrepancy is None:
        return (0 if row.is_hidden else 2), row.tolerance
    return (1 if row.passed else 3), badness((row.discrepancy, row.tolerance))


def badness(found: tuple[float, float]) -> float:
    """The ratio of a discrepancy to its tolerance: infinite if either is no number."""
    discrepancy, tolerance = found
    if not np.isfinite(tolerance):
        return np.inf
    ratio = discrepancy / tolerance if tolerance else (np.inf if discrepancy else 0.0)
    return float(np.nan_to_num(ratio, nan=np.inf))
