"""Positions of elements, as messages tell them: by the labels of the user's dimensions.

>>> from gibbsppl.algebra.expressions import Dim
>>> place((1, 0), (Range(Dim("year"), 0, 2), Range(Dim("site"), 3, 5)), {"year": (1871, 1872)})
' at position year=1872, site=3'
"""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.graph import Labels


def place(at: Sequence[int], over: Sequence[Range], labels: Labels) -> str:
    """Where an element is: its labels, or positions from 0 along dims that have none."""
    places = (f"{r.dim.name}={_label(r, i, labels)}" for r, i in zip(over, at, strict=False))
    text = ", ".join(places)
    return f" at position {text}" if text else ""


def _label(along: Range, position: int, labels: Labels) -> object:
    own = labels.get(root_of(along.dim).rstrip("'"))
    return along.start + int(position) if own is None else own[along.start + int(position)]
