"""The memory that defaults may take, by the sizes of the data and of the state.

Comes in: a graph. Goes out: its `Limit`, which every choice that allocates asks: joint draws,
matrices of rows, tables of positions, temporary arrays of steps.

>>> Limit(own=3.1e6).against(1.2e9)
'1.2 GB; at most 256 MB are taken (ten times data and state: 31 MB)'
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from gibbsppl.algebra.ranges import size_of
from gibbsppl.model.graph import Graph

# No default takes more than so many bytes, or so many times the data and the state.
LEAST_BYTES, TIMES = 256e6, 10
BYTES = 8  # (of each number)


@dataclass(frozen=True, slots=True)
class Limit:
    """The most bytes that a default may take, by those of the data and the state (``own``)."""

    own: float

    @property
    def bytes(self) -> float:
        """The limit in bytes."""
        return max(LEAST_BYTES, TIMES * self.own)

    def against(self, needed: float) -> str | None:
        """The bytes that are needed and the limit, in words; None if they are within it."""
        if needed <= self.bytes:
            return None
        most = f"at most {size_told(self.bytes)} are taken"
        ten_times = "" if self.bytes > LEAST_BYTES else f": {size_told(TIMES * self.own)}"
        return f"{size_told(needed)}; {most} (ten times data and state{ten_times})"


def memory_limit(graph: Graph) -> Limit:
    """The limit of memory of a graph: of all its arrays, in numbers of 8 bytes."""
    arrays = (prod(size_of(d, graph.sizes) for d in v.dims) for v in graph.variables.values())
    return Limit(float(BYTES * sum(arrays)))


def size_told(size: float) -> str:
    """Bytes in words: three digits.

    >>> size_told(1.23456e9), size_told(999.9e6), size_told(4200), size_told(12)
    ('1.23 GB', '1 GB', '4.2 kB', '12 bytes')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit * 0.9995:
            return f"{size / unit:.3g} {name}"
    return f"{size:.3g} bytes"
