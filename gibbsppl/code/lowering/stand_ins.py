"""Arrays that stand for others while something is drawn: computed before, undone afterwards."""

from __future__ import annotations

from gibbsppl.code.arrays.expressions import Element
from gibbsppl.code.arrays.statements import Let, Store
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.model.stand_ins import StandIn


def computed(w: Workshop, change: StandIn) -> None:
    """The array that stands for elements of another, of the values that these have now."""
    w.add(Let(change.name, tuple(map(w.span, change.dims)), w.expr(change.forward)))


def put_back(w: Workshop, change: StandIn) -> None:
    """The elements that an array stood for, of the values that it has now."""
    target = w.expr(change.replaced)
    assert isinstance(target, Element)
    w.add(Store(target, w.expr(change.backward), tuple(map(w.span, change.dims))))
