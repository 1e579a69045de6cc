"""The units of a scan as statements: as many as there are, drawn, or there and back again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gibbsppl.code.arrays.expressions import Element, Position, Span
from gibbsppl.code.arrays.statements import Argument, Choice, Draw, Statement
from gibbsppl.code.lowering.composed import lower_turn
from gibbsppl.code.lowering.draws import local_for
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.schedule.steps import Step


def lower_units(w: Workshop, lower: Callable[[Workshop, Step], None]) -> None:
    """All units in an order that is drawn, or known; ``lower`` adds the statements of a step."""
    schedule = w.schedule
    bodies: list[tuple[Statement, ...]] = []
    for unit in schedule.units:
        with w.apart() as found:
            for own in schedule.turns(unit):
                lower_turn(w, own, lower)
        bodies.append(tuple(found))
    order, turn = _there_and_back(w) if schedule.scan == "symmetric" else _drawn(w)
    with w.inside(turn):
        w.add(Choice(order, tuple(bodies)))


def _there_and_back(w: Workshop) -> tuple[Element, Span]:
    """Every unit in order, then in the reverse order (the last one once)."""
    units = np.arange(len(w.schedule.units))
    order = np.concatenate([units, units[-2::-1]])
    turn = w.own_dim("turn", len(order))
    return Element(w.given("units", (turn.dim,), order), (Position(turn.dim),)), turn


def _drawn(w: Workshop) -> tuple[Element, Span]:
    """As many units as there are, drawn before the first."""
    weights = w.schedule.weights
    turn = w.own_dim("turn", len(w.schedule.units))
    drawn = local_for(w, "units", (turn,), "int")
    if not weights:
        w.add(Draw((drawn,), "equal_units", (), own=(turn,)))
        return drawn, turn
    ends = np.cumsum([weight / sum(weights) for weight in weights])
    table = Element(w.given("probabilities", (turn.dim,), ends / ends[-1]), drawn.indices)
    w.add(Draw((drawn,), "weighted_units", (Argument(table, (turn,), as_is=True),), own=(turn,)))
    return drawn, turn
