"""The joint draws that a user asks for: ``blocks=`` as a value.

>>> blocks_of({"x": "alone", ("a", "b"): "together"}).alone
frozenset({'x'})
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from gibbsppl.errors import CompileError, did_you_mean
from gibbsppl.model.graph import Graph

# What is asked of one variable alone, and of several alone.
OF_ONE, OF_SEVERAL = {"elements", "alone"}, {"together"}
# The matrix that a joint draw factorises: that of the rows of data, or that of the elements.
ROWS, MATRIX = "rows", "matrix"
# All that may be asked, in words.
HOW = {
    "elements": "one by one",
    "alone": "with no other",
    "together": "drawn jointly",
    "proposed": "all elements at once, about their mode",
    ROWS: "jointly, by a matrix of the order of the rows of data",
    MATRIX: "jointly, by their precision matrix",
}


@dataclass(frozen=True, slots=True)
class Blocks:
    """Variables to draw by element, alone or together; ``joined``: whether blocks are sought.

    ``proposed`` are groups, all elements of each of which are proposed at once; ``layouts`` say of
    groups which matrix their joint draw factorises: `ROWS` or `MATRIX`.
    """

    elements: frozenset[str] = frozenset()
    alone: frozenset[str] = frozenset()
    together: tuple[frozenset[str], ...] = ()
    joined: bool = True
    proposed: tuple[frozenset[str], ...] = ()
    layouts: tuple[tuple[frozenset[str], str], ...] = ()

    def layout_of(self, arrays: Collection[str]) -> str | None:
        """The layout that is asked for of a joint draw of all of some arrays."""
        return next((how for names, how in self.layouts if names == {*arrays}), None)

    @property
    def groups(self) -> tuple[frozenset[str], ...]:
        """The variables that are drawn, or proposed, with one another and no others."""
        return (*self.together, *self.proposed)

    @property
    def named(self) -> frozenset[str]:
        """All variables of which something is asked."""
        return self.elements.union(self.alone, *self.groups, *(names for names, _ in self.layouts))


def blocks_of(asked: Mapping[Any, str] | bool | None) -> Blocks:
    """The `Blocks` that ``blocks=`` asks for: a dict from names, or tuples of names, to words.

    >>> blocks_of({"x": "elements", ("a", "b"): "together"}).elements
    frozenset({'x'})
    """
    if not isinstance(asked, Mapping):
        return Blocks(joined=asked is not False)
    found: dict[str, list[Any]] = {how: [] for how in HOW}
    for key, how in asked.items():
        one = ", ".join(f"{h!r} ({told})" for h, told in HOW.items() if h not in OF_SEVERAL)
        several = ", ".join(f"{h!r} ({told})" for h, told in HOW.items() if h not in OF_ONE)
        wanted, wrong = (several, OF_ONE) if isinstance(key, tuple) else (one, OF_SEVERAL)
        if not isinstance(how, str) or how not in found or how in wrong:
            meant = did_you_mean(str(how), [h for h in HOW if h not in wrong])
            raise CompileError(f"blocks[{key!r}]: found {how!r}, expected one of {wanted}.{meant}")
        names = frozenset(key if isinstance(key, tuple) else (key,))
        found[how].append(key if how in OF_ONE else names)
    layouts = tuple((names, how) for how in (ROWS, MATRIX) for names in found[how])
    return Blocks(
        frozenset(found["elements"]),
        frozenset(found["alone"]),
        (*found["together"], *(names for names, _ in layouts if len(names) > 1)),
        proposed=tuple(found["proposed"]),
        layouts=layouts,
    )


def check_names(graph: Graph, asked: Blocks) -> None:
    """Refuse names of variables that are not latent."""
    latent = set(graph.drawn)
    for name in sorted(asked.named - latent, key=str):
        raise CompileError(
            f"blocks: {name!r} is not a latent variable of the model; "
            f"the latent variables are {', '.join(sorted(latent))}."
            + did_you_mean(str(name), sorted(latent))
        )
