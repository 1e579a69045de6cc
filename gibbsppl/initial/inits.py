"""Initial values of the user's: one mapping for all chains, or one for each chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gibbsppl.errors import RunError
from gibbsppl.model.evaluation import Values

Init = Values | Sequence[Values] | None


def inits_of(init: Init, chains: int) -> Sequence[Values | None]:
    """The initial values of each chain.

    >>> inits_of([{"mu": 0.0}, {"mu": 1.0}], 2)
    [{'mu': 0.0}, {'mu': 1.0}]
    """
    if init is None or isinstance(init, Mapping):
        return [init] * chains
    if len(init) != chains:
        raise RunError(
            f"init: found {len(init)} sets of initial values, expected one mapping for all chains, "
            f"or one for each of the {chains}; pass chains={len(init)}."
        )
    return list(init)
