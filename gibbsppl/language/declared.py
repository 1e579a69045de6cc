"""Declared so far in a model: statements, values, and what else a `Model` collects, in order."""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from gibbsppl.model.graph import Constant, Deterministic, Potential, Statement, Variable


@dataclass(slots=True)
class Observed:
    """The values of an observed array, and a mask of the known ones."""

    values: np.ndarray
    known: np.ndarray


@dataclass(slots=True)
class Declared:
    """What has been declared so far, in order."""

    variables: dict[str, Variable] = field(default_factory=dict)
    values: dict[str, np.ndarray] = field(default_factory=dict)
    observed: dict[str, Observed] = field(default_factory=dict)
    sparse: set[str] = field(default_factory=set)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    numbers: dict[str, np.ndarray] = field(default_factory=dict)
    seen: dict[str, tuple[str, list[Hashable]]] = field(default_factory=dict)
    statements: list[Statement] = field(default_factory=list)
    potentials: list[Potential] = field(default_factory=list)
    constants: list[Constant] = field(default_factory=list)
    computed: dict[str, list[Constant]] = field(default_factory=dict)
    deterministics: list[Deterministic] = field(default_factory=list)
    # Observed arrays that were given as data of the model, with the names of these.
    sources: dict[str, str] = field(default_factory=dict)
    # Dims whose numbers of positions expressions have been made of (means are sums over these).
    counted: set[str] = field(default_factory=set)

    def copied(self) -> Declared:
        """The same, to be changed on its own."""
        own = {n: copy(getattr(self, n)) for n in self.__dataclass_fields__}
        own["observed"] = {
            n: Observed(o.values.copy(), o.known.copy()) for n, o in self.observed.items()
        }
        own["values"] |= {n: o.values for n, o in own["observed"].items()}
        return Declared(**own)
