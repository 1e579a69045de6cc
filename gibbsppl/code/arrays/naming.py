"""Names that nothing else in a sweep has."""

from __future__ import annotations

from collections.abc import Collection

from gibbsppl.algebra.ranges import fresh


class Names:
    """Names that are taken, and new ones."""

    def __init__(self, taken: Collection[str]) -> None:
        self.taken = set(taken)

    def fresh(self, stem: str) -> str:
        """A name that nothing has yet."""
        name = fresh(stem, self.taken)
        self.taken.add(name)
        return name
