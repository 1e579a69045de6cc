"""The results of matching: a closed form with its family, or the reason for none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

from gibbsppl.algebra.expressions import Dim, Expr, Leaf
from gibbsppl.algebra.supports import Support
from gibbsppl.derive.changes import Change
from gibbsppl.derive.multilinear_forms import LinearForm
from gibbsppl.families import Family
from gibbsppl.model.graph import PLAIN, Statement
from gibbsppl.pieces.dependence import Role
from gibbsppl.pieces.limits import Limit
from gibbsppl.pieces.split import Piece


@dataclass(frozen=True, slots=True)
class Conditional:
    """A closed form (conditional conjugacy): the family, and the pieces of each natural parameter.

    ``place`` is the leaf that the statistics are written in: the target; for a block the target
    with its ``dense`` axes replaced by one dim, the event of the block; after a ``change`` of
    variable the new variable, whose support is ``support``. ``truncated``: the family is drawn
    between that support's bounds and the ``limits`` that other factors put on the target.
    ``forms`` are the multilinear forms of factors that are read by element.
    """

    statement: Statement
    family: Family
    known: tuple[tuple[str, Expr], ...]
    place: Leaf
    event: tuple[Dim, ...]
    statistics: tuple[Expr, ...]
    pieces: tuple[tuple[Piece, ...], ...]
    roles: tuple[Role, ...]
    support: Support
    elements: bool = False
    change: Change | None = None
    truncated: bool = False
    limits: tuple[Limit, ...] = ()
    forms: tuple[LinearForm, ...] = ()

    @property
    def dense(self) -> tuple[int, ...]:
        """The axes of the array that are drawn jointly."""
        return tuple(a for a, role in enumerate(self.roles) if role == "dense")

    @property
    def batch(self) -> tuple[int, ...]:
        """The axes of the array along which elements are independent."""
        return tuple(a for a, role in enumerate(self.roles) if role != "dense")

    @property
    def own_event(self) -> tuple[Dim, ...]:
        """The event dims in the statement's own names: of a block its axes."""
        indices = self.statement.target.indices
        return tuple(i for a in self.dense if isinstance(i := indices[a], Dim)) or (
            self.statement.event
        )

    def mapped(self, function: Callable[[Piece], Iterable[Piece]]) -> Self:
        """The closed form of other pieces of the same statistics."""
        found = (tuple(chain.from_iterable(map(function, ps))) for ps in self.pieces)
        return replace(self, pieces=tuple(found))

    @property
    def how_drawn(self) -> str:
        """The default draw of the variable, in words."""
        return f"exactly, its conditional being {self.family.name}"


@dataclass(frozen=True, slots=True)
class NotConjugate:
    """No family owns the conditional: the reason, the terms in the way, the nearest family.

    ``statistics`` are those found, where no family has them; ``besides`` tells of other attempts.
    They become text where the reason is read: most refusals of a search never are.
    """

    statement: Statement
    why: str
    offending: tuple[Piece, ...]
    nearest: str | None
    pieces: tuple[Piece, ...]
    elements: bool = False
    statistics: frozenset[Expr] = frozenset()
    besides: str = ""

    def mapped(self, function: Callable[[Piece], Iterable[Piece]]) -> Self:
        """A copy for other pieces of the log density."""
        return replace(self, pieces=tuple(chain.from_iterable(map(function, self.pieces))))

    @property
    def reason(self) -> str:
        """Why no family owns the conditional, in words."""
        names = ", ".join(sorted(map(PLAIN.text, self.statistics)))
        text = f"{self.why} has the statistics {{{names}}}" if names else self.why
        return f"{text} ({self.besides})" if self.besides else text

    @property
    def how_drawn(self) -> str:
        """The default draw of the variable, in words."""
        return f"by slice sampling, for {self.reason}"
