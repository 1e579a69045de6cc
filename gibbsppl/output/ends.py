"""The ends of the chains of a run, which `sampler.extend` goes on from.

They are a value, or its bytes as a file has them: these are read where somebody goes on.
"""

from __future__ import annotations

from dataclasses import dataclass

from gibbsppl.algebra.pickling import pickled


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Where the chains of a run have ended: a value, or the bytes of one."""

    value: object = None
    content: bytes = b""

    def as_bytes(self) -> bytes:
        """The bytes, for a file."""
        return self.content or pickled(self.value)
