"""The section of a derivation on a non-centred update: its coordinates and the Jacobian."""

from __future__ import annotations

import sympy as sp

from gibbsppl.algebra.columns import columns
from gibbsppl.algebra.expressions import Array
from gibbsppl.algebra.notation import Notation
from gibbsppl.model.stand_ins import StandIn
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

SOURCE = "Y. Yu and X.-L. Meng (2011), Journal of Computational and Graphical Statistics 20"


def interwoven_told(
    step: Step, schedule: Schedule, notation: Notation
) -> list[tuple[str, list[str]]]:
    """The section on the stand-ins in the graph of a step, if there are any."""
    changes = schedule.stand_ins(step)
    if not changes:
        return []
    names = schedule.drawn_by(step)
    drawn, one = ", ".join(names), len(names) == 1
    rows = [row for r in changes for row in _change_told(r, notation)]
    moved = ", ".join(n for n in schedule.changed_by(step) if n not in names)
    are, they_are = ("is", "it is") if one else ("are", "they are")
    told = [
        f"{drawn} {are} drawn given {moved} too, which is good where the data say much of {moved}.",
        f"Here {they_are} drawn once more, and {moved} moves along: good where they say little.",
        *columns(rows),
        "The density of what is new is that of what it stands for times the Jacobian.",
        f"source: {SOURCE}",
    ]
    return [("The coordinates in which it is drawn", told)]


def _change_told(change: StandIn, notation: Notation) -> list[tuple[str, str]]:
    read = change.backward.free_symbols
    arrays = [a for a in read if isinstance(a, Array) and a.name == change.name]
    (leaf,) = (a[change.dims] for a in arrays)
    of = f"{change.of}[{', '.join(d.name for d in change.dims)}]" if change.dims else change.of
    x = sp.Dummy("x")
    slope = sp.diff(change.backward.xreplace({leaf: x}), x).xreplace({x: leaf})
    return [
        ("before the draw", f"{leaf} = {notation.text(change.forward)}"),
        ("after it", f"{of} = {notation.text(change.backward)}"),
        ("Jacobian", notation.text(sp.Abs(slope))),
    ]
