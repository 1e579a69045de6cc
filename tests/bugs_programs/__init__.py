"""Programs as they are written in the wild: texts, simulated data, and posteriors found by JAGS.

Each field has a folder of texts (``NAME.bug``) and data (``NAME.data.json``; nested lists are
arrays by rows, null is missing), the module that simulated the data (``simulate_FIELD.py``), and
the references of its programs (``references.json``): mean, sd, Monte Carlo error of the mean (null
of a constant) and three quantiles of each monitored scalar, from long runs of JAGS 4.3.1.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Program:
    """A program: its field and name, what is monitored, and how its data are simulated.

    ``inits`` makes starts of the data, for JAGS where it finds none of its own; ``thin`` and
    ``modules`` are for its runs (with glm the sds of effects on counts come out too small).
    """

    field: str
    name: str
    monitors: tuple[str, ...]
    simulate: Callable = None
    inits: Callable = None
    thin: int = 1
    modules: tuple[str, ...] = ("glm",)

    @property
    def text(self):
        return (FOLDER / self.field / f"{self.name}.bug").read_text(encoding="utf-8")

    @property
    def data_path(self):
        return FOLDER / self.field / f"{self.name}.data.json"

    @property
    def references(self):
        """By monitored scalar: mean, sd, mcse, q2.5, q50, q97.5."""
        path = FOLDER / self.field / "references.json"
        return json.loads(path.read_text(encoding="utf-8"))[self.name]


class Field(dict):
    """The programs of a field, by name: simulators register themselves.

    >>> ecology = Field("ecology")
    >>> @ecology.program("lam")
    ... def counts(rng):
    ...     return {"y": rng.poisson(3.0, 10)}
    >>> ecology["counts"].monitors
    ('lam',)
    """

    def __init__(self, name):
        super().__init__()
        self.name = name

    def program(self, monitors, **settings):
        """Register a simulator; ``monitors`` are names with spaces between them."""

        def registered(simulate):
            name = simulate.__name__
            made = Program(self.name, name, tuple(monitors.split()), simulate, **settings)
            self[name] = made
            return simulate

        return registered
