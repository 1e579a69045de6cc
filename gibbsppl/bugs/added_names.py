"""Names that the model adds to the program's: of dims, and of arrays in another form."""

from __future__ import annotations

from collections.abc import Collection

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import fresh
from gibbsppl.bugs.facts import Facts
from gibbsppl.language.coordinates import GivenLabels
from gibbsppl.language.model import Model


class OwnNames:
    """Makes names that neither the program nor the model has; a dim for each length of vectors."""

    def __init__(self, facts: Facts, model: Model) -> None:
        self.facts, self.model = facts, model
        self.reserved: set[str] = set()
        self.made: dict[tuple[int, int], Dim] = {}
        self.others: dict[tuple[str, str], str] = {}

    def fresh(self, name: str) -> str:
        """A name like this one, unique in program and model."""
        taken = {*self.facts.numbers, *self.model._names, *self.reserved}  # noqa: SLF001
        found = fresh(name, taken)
        self.reserved.add(found)
        return found

    def beside(self, array: str, what: str) -> str:
        """The name of an auxiliary variable beside an array."""
        if (array, what) not in self.others:
            self.others[array, what] = self.fresh(f"{array}.{what}")
        return self.others[array, what]

    def dim(self, name: str, labels: GivenLabels) -> Dim:
        """A new dim, with the labels of its positions, or as many as that."""
        found = Dim(self.fresh(name))
        self.model.add_dim(found.name, labels)
        return found

    def entries(self, count: int, besides: Collection[Dim] = ()) -> Dim:
        """The dim for vectors of a length; a further dim where some of ``besides`` are taken."""
        key = (count, sum(d in besides for d in self.made.values()))
        if key not in self.made:
            self.made[key] = self.dim(f"entry_{count}", count)
        return self.made[key]
