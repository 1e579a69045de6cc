"""A workload: a model with its data, what is monitored, and the peers; one row of a table.

``peers`` has for each that can run the workload the least ratio that is asked for: 1 of other
programs, or the target of its row; of hand-written code `OF_HAND`, at most 1.5 times its time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

OF_HAND = 1 / 1.5
BUGS, MODELS, LARGE, HAND = "BUGS examples", "models", "factorisations and topics", "by hand"
GROUPS = (BUGS, MODELS, LARGE, HAND)


@dataclass(frozen=True, slots=True)
class Workload:
    """A row: with ``monitors`` effective draws are compared, without them sweeps.

    ``watched`` are the elements of monitors that count (all without it); ``program`` gives JAGS its
    text, data and initial values; ``inits`` is a file for chains that do not settle from starts of
    their own; ``wrong`` says why a ratio to a peer is told but not counted.
    """

    key: str
    group: str
    about: str
    model: Callable
    peers: Mapping[str, float]
    data: Callable = dict
    monitors: tuple[str, ...] = ()
    watched: tuple[str, ...] | None = None
    program: Callable | None = None
    inits: Path | None = None
    settings: Mapping = field(default_factory=dict)
    backend: str = "compiled"
    hand: Callable | None = None
    burn: int = 3  # sweeps before any is timed
    wrong: Mapping[str, str] = field(default_factory=dict)
    fewest: int = 1000  # draws of the pilot
    warmup: int = 1000  # sweeps of gibbsppl and JAGS before those that count
