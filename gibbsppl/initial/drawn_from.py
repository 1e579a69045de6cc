"""Facts of each step, by which its conditional is seen to have a finite integral.

Comes in: a schedule (`gibbsppl.initial.looking`). Goes out: a `DrawnFrom`, a value of few parts,
so that no derivation is needed to look.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from gibbsppl.algebra.expressions import Dim, Expr
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.model.stand_ins import StandIn

if TYPE_CHECKING:
    from gibbsppl.schedule.sweeps import Schedule


@dataclass(frozen=True, slots=True)
class OfFamily:
    """A draw of elements of ``array`` from a family.

    ``domain`` must be positive, as functions of the arrays ``names`` over the ``axes``: natural
    parameters, then two bounds if it ``is_bounded``; ``ends`` are those numbers that the family's
    support ends at. ``region`` is the part of the array, ``drawn`` that of the blocks, which are
    ``dense``; where the array ``mask`` is 1, nothing is drawn.
    """

    name: str
    array: str
    family: str
    stand_ins: tuple[StandIn, ...]
    is_bounded: bool
    dense: tuple[int, ...]
    region: tuple[slice, ...]
    drawn: tuple[slice, ...]
    mask: str | None
    axes: tuple[Dim, ...]
    names: tuple[str, ...]
    domain: tuple[Expr, ...]
    ends: tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class OfSeveral:
    """A joint draw of several arrays."""

    name: str
    variables: tuple[str, ...]
    stand_ins: tuple[StandIn, ...]


@dataclass(frozen=True, slots=True)
class OfDensity:
    """A step of an array by the log density alone; ``is_flat``: the prior has no integral."""

    name: str
    array: str
    region: tuple[slice, ...]
    mask: str | None
    is_flat: bool


@dataclass(frozen=True, slots=True)
class DrawnFrom:
    """The steps of a schedule whose conditionals are looked at, and the sizes of all dims.

    ``is_moved_as_asked``: a kernel of the user's makes moves, beside which the default draws are to
    be looked at.
    """

    steps: tuple[OfFamily | OfSeveral | OfDensity, ...]
    sizes: Mapping[Dim, int]
    is_moved_as_asked: bool


class Derived(Protocol):
    """The questions asked of a derivation: the schedule only where nothing else will do."""

    @property
    def graph(self) -> Graph:
        """The model as declared, with limits of parameters."""

    @property
    def known(self) -> Values:
        """The data."""

    @property
    def looked_at(self) -> DrawnFrom:
        """The facts looked at."""

    @property
    def schedule(self) -> Schedule:
        """All steps."""
