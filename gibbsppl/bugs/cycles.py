"""Errors for cyclic dependence among elements, in the names and lines of the program."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.layouts import Layout, Natural
from gibbsppl.bugs.syntax import BugsError
from gibbsppl.language.cycles import CycleError


def cycle_error(
    error: CycleError, facts: Facts, names: Mapping[str, str], layouts: Mapping[str, Layout]
) -> BugsError:
    """The error at the line of the first element; ``names``: program's name -> model's name.

    Auxiliary variables are left out of the cycle: the program has no names for them.
    """
    own = {model: program for program, model in names.items()} | {n: n for n in facts.computed}
    way, lines = [], []
    for array, at in error.elements:
        if array in own:
            name = own[array]
            # (computed arrays have the program's axes)
            place = at if array in facts.computed else _place(layouts[name], at)
            line = facts.relation(int(facts.defined[name].relation[place])).line
            inside = f"[{', '.join(str(p + 1) for p in place)}]" if place else ""
            way.append(f"{name}{inside} (line {line.target.at.line})")
            lines.append(line)
    through = f"{way[0]} through itself" if len(set(way)) == 1 else " -> ".join(way)
    return facts.program.error(
        lines[0].target.at,
        f"an element depends on itself: {through}; expected each element to read elements that do "
        "not depend on it, such as earlier ones of its array.",
    )


def _place(layout: Layout, at: tuple[int, ...]) -> tuple[int, ...]:
    """The position in the program of an element of the model (of a vector: of its first entry)."""
    if isinstance(layout, Natural):
        return at
    outer = [int(p) for p in np.argwhere(layout.row == at[0])[0]]
    axes = range(len(outer) + len(layout.event))
    return tuple(0 if axis in layout.event else outer.pop(0) for axis in axes)
