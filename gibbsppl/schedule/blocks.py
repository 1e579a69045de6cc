"""The joint draws that a user asks for: ``blocks=`` as a value.

>>> blocks_of({"x": "alone", ("a", "b"): "together"}).alone
frozenset({'x'})
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gibbsppl.errors import CompileError
from gibbsppl.model.graph import Graph

# What is asked of one variable alone, and of several alone.
OF_ONE, OF_SEVERAL = {"elements", "alone"}, {"together"}


@dataclass(frozen=True, slots=True)
class Blocks:
    """Variables to draw by element, alone or together; ``joined``: whether blocks are sought.

    ``proposed`` are groups, all elements of each of which are proposed at once.
    """

    elements: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    together: tuple[frozenset[str], ...] = ()
    joined: bool = True
    proposed: tuple[frozenset[str], ...] = ()

    @property
    def groups(self) -> tuple[frozenset[str], ...]:
        """The variables that are drawn, or proposed, with one another and no others."""
        return (*self.together, *self.proposed)

    @property
    def named(self) -> frozenset[str]:
        """All variables of which something is asked."""
        return self.elements.union(self.alone, *self.groups)


def blocks_of(asked: Mapping[Any, str] | bool | None) -> Blocks:
    """The `Blocks` that ``blocks=`` asks for: a dict from names, or tuples of names, to words.

    >>> blocks_of({"x": "elements", ("a", "b"): "together"}).elements
    frozenset({'x'})
    """
    if not isinstance(asked, Mapping):
        return Blocks(joined=asked is not False)
    found: dict[str, list[Any]] = {"elements": [], "alone": [], "together": [], "proposed": []}
    for key, how in asked.items():
        one = "'elements', 'alone' or 'proposed' (one by one, with no other, all elements at once)"
        several = "'together' or 'proposed' (drawn jointly, proposed about their mode)"
        wanted, wrong = (several, OF_ONE) if isinstance(key, tuple) else (one, OF_SEVERAL)
        if not isinstance(how, str) or how not in found or how in wrong:
            raise CompileError(f"blocks[{key!r}]: found {how!r}, expected {wanted}.")
        is_group = isinstance(key, tuple) or how == "proposed"
        names = frozenset(key if isinstance(key, tuple) else (key,))
        found[how].append(names if is_group else key)
    return Blocks(
        frozenset(found["elements"]),
        frozenset(found["alone"]),
        tuple(found["together"]),
        proposed=tuple(found["proposed"]),
    )


def check_names(graph: Graph, asked: Blocks) -> None:
    """Refuse names of variables that are not latent."""
    latent = set(graph.drawn)
    for name in sorted(asked.named - latent):
        raise CompileError(
            f"blocks: {name!r} is not a latent variable of the model; "
            f"the latent variables are {', '.join(sorted(latent))}."
        )
