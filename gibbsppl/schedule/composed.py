"""How steps of one conditional follow one another, by a kernel that is made of others.

Parts that leave a distribution invariant, carried out one after the other or one of them at random
(with probabilities that do not depend on the state), leave it invariant together (L. Tierney, 1994,
"Markov chains for exploring posterior distributions", Annals of Statistics 22). A cycle forwards
and then backwards, and a mixture, are reversible if their parts are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Composed:
    """Several steps of one conditional: all in order, or by ``weights`` one at random.

    ``parts`` are names of steps, or more of these.

    >>> moves = Composed(("x by slice", Composed(("x by exact draw", "x by walk"), (3.0, 1.0))))
    >>> moves.names
    ('x by slice', 'x by exact draw', 'x by walk')
    >>> moves.parts[1].shares
    (0.75, 0.25)
    """

    parts: tuple[Turn, ...]
    weights: tuple[float, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all steps, each once."""
        return tuple(dict.fromkeys(n for p in self.parts for n in names_of(p)))

    @property
    def shares(self) -> tuple[float, ...]:
        """The probability of each part; none where all are carried out in order."""
        total = sum(self.weights)
        return tuple(w / total for w in self.weights)

    @property
    def backwards(self) -> Composed:
        """The steps in the reverse order."""
        parts = tuple(p if isinstance(p, str) else p.backwards for p in self.parts)
        return replace(self, parts=parts if self.weights else parts[::-1])

    def told(self, name: Callable[[str], str]) -> str:
        """The steps carried out, in words, each by a ``name``."""
        inner = [name(p) if isinstance(p, str) else f"({p.told(name)})" for p in self.parts]
        if not self.weights:
            return ", then ".join(inner)
        shares = zip(inner, self.shares, strict=True)
        return "one of " + ", ".join(f"{told} ({100 * share:.3g} %)" for told, share in shares)

    def mixtures(self) -> tuple[Composed, ...]:
        """All parts of it that choose, itself among them."""
        inner = (m for p in self.parts if isinstance(p, Composed) for m in p.mixtures())
        return (*([self] if self.weights else []), *inner)


# What a sweep carries out in one go: a step, by its name, or several of one conditional.
Turn: TypeAlias = str | Composed


def names_of(turn: Turn) -> tuple[str, ...]:
    """The names of the steps of a turn."""
    return (turn,) if isinstance(turn, str) else turn.names
