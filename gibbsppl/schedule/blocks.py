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


@dataclass(frozen=True, slots=True)
class Blocks:
    """Variables to draw by element, alone or together; ``joined``: whether blocks are sought."""

    elements: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    together: tuple[frozenset[str], ...] = ()
    joined: bool = True


def blocks_of(asked: Mapping[Any, str] | bool | None) -> Blocks:
    """The `Blocks` that ``blocks=`` asks for: a dict from names, or tuples of names, to words.

    >>> blocks_of({"x": "elements", ("a", "b"): "together"}).elements
    frozenset({'x'})
    """
    if not isinstance(asked, Mapping):
        return Blocks(joined=asked is not False)
    found: dict[str, list[Any]] = {"elements": [], "alone": [], "together": []}
    for key, how in asked.items():
        wanted = "'together'" if isinstance(key, tuple) else "'elements' or 'alone'"
        known = isinstance(how, str) and how in found
        if not known or (how == "together") != isinstance(key, tuple):
            meant = "drawn jointly" if isinstance(key, tuple) else "one by one, or with no other"
            raise CompileError(f"blocks[{key!r}]: found {how!r}, expected {wanted} ({meant}).")
        found[how].append(frozenset(key) if isinstance(key, tuple) else key)
    groups = tuple(found["together"])
    return Blocks(frozenset(found["elements"]), frozenset(found["alone"]), groups)


def check_names(graph: Graph, asked: Blocks) -> None:
    """Refuse names of variables that are not latent."""
    latent = set(graph.drawn)
    named = {*asked.elements, *asked.alone, *(n for group in asked.together for n in group)}
    for name in sorted(named - latent):
        raise CompileError(
            f"blocks: {name!r} is not a latent variable of the model; "
            f"the latent variables are {', '.join(sorted(latent))}."
        )
