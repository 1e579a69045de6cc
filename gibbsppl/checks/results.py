"""Results of the exact checks: one row for each comparison, printed as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gibbsppl.checks.table import table, verdict
from gibbsppl.html import Printed, code, marked, shown
from gibbsppl.html import table as html_table

RELATIVE_TOLERANCE = 1e-9
HEADER = ("step", "kind", "family", "discrepancy", "tolerance", "verdict")


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
class Verification(Printed):
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

    def _repr_html_(self) -> str:
        verdicts = {True: "good", False: "bad"}
        rows = [
            (code(cells[0]), *cells[1:-1], marked(cells[-1], verdicts[row.passed]))
            for row, cells in zip(self.rows, map(_cells, self.rows), strict=True)
        ]
        told = "proved" if self.proved else "nothing disagrees" if self.passed else "FAILED"
        return shown(f"verification: {told}", html_table(HEADER, rows, numbers={3, 4}))


def ratio_table(rows: Sequence[Row]) -> str:
    """The results as aligned text, one line per step."""
    return table(HEADER, [_cells(row) for row in rows])


def _cells(row: Row) -> tuple[str, ...]:
    found, allowed = _number(row.discrepancy), f"{row.tolerance:.1e}"
    return row.step, row.kind, row.family, found, allowed, _verdict(row)


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
