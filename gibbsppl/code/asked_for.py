"""Parts of a log density that are carried out where a kernel asks for one of its kinds."""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.code.arrays.statements import Choice, Statement

# What a kernel may ask for: a log density, the same to second order, those of a batch.
ALONE, TO_SECOND_ORDER, OF_BATCH = range(3)


def asked_for(body: Sequence[Statement], kind: int) -> list[Statement]:
    """The statements of a log density that are carried out where a kind of it is asked for.

    A choice has nothing, and what is more to second order; or a number, and those of a batch.
    """
    found = list[Statement]()
    for s in body:
        if not isinstance(s, Choice):
            found.append(s)
        elif not s.bodies[0]:
            found += s.bodies[-1] if kind == TO_SECOND_ORDER else ()
        else:
            found += s.bodies[-1] if kind == OF_BATCH else asked_for(s.bodies[0], kind)
    return found


def has_batches(body: Sequence[Statement]) -> bool:
    """Whether a log density may be asked for those of a batch."""
    return any(isinstance(s, Choice) and bool(s.bodies[0]) for s in body)
