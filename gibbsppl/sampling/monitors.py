"""What is to be monitored, as users say it: names, functions of the state, predictions.

Comes in: the argument ``monitor`` of a run. Goes out: what the run watches, by name, and the names
of dims with their labels, by which its statistics are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from gibbsppl.arguments import shown
from gibbsppl.errors import RunError
from gibbsppl.language.coordinates import as_array
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.output.arrays import Array
from gibbsppl.output.monitored import AllMonitored
from gibbsppl.predict.predictive import Predictive
from gibbsppl.run.integer_types import values_of
from gibbsppl.run.monitoring import Plain, Watched
from gibbsppl.run.ready import RunResult
from gibbsppl.sampling.pooling import pooled

One = str | Predictive | Callable[[Mapping[str, Array]], Any]
ToMonitor = One | Sequence[One] | Mapping[str, One]
Labels = Mapping[str, Array]


@dataclass(frozen=True, slots=True, eq=False)
class Watching:
    """All that a run watches, by name; the ``dims`` and ``coords`` of what has some.

    ``digests`` tell of each what it is: those that are equal watch the same.
    """

    watched: Mapping[str, Watched] = field(default_factory=dict)
    dims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    coords: Mapping[str, Labels] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)

    def told(self, result: RunResult) -> AllMonitored:
        """The statistics of a run, with the names of dims and labels."""
        found = {}
        for name, chains in result.monitored.items():
            shape = chains[0].shape
            dims = self.dims.get(name, tuple(f"{name}_dim_{k}" for k in range(len(shape))))
            found[name] = pooled(chains, dims, self.coords.get(name, {}))
        return AllMonitored(found)


def watching(
    asked: ToMonitor,
    graph: Graph,
    data: Values,
    dims: Mapping[str, tuple[str, ...]],
    coords: Mapping[str, Array | range],
    entropy: int,
) -> Watching:
    """What a run watches; ``dims`` are those of variables and deterministics, by name."""
    watched, of_dims, of_coords = {}, {}, {}
    few = values_of(graph, data)
    for name, one in _named(asked):
        if name in watched:
            raise RunError(f"monitor: found {name!r} twice; name both, as in monitor={{...}}.")
        if not isinstance(name, str) or not is_name_of_group(name):
            raise RunError(f"monitor: found the name {name!r}, expected a text without '/'.")
        if isinstance(one, str):
            watched[name] = Watched(one, values=few.get(one))
            if one in dims:
                of_dims[name], of_coords[name] = dims[one], _labels(coords, dims[one])
        elif isinstance(one, Predictive):
            found = one.of(graph, data, entropy)
            watched[name] = Watched(found, found.reads)
            of_dims[name] = found.dims
            of_coords[name] = _labels(coords, set(found.dims) - found.new_dims)
        else:
            watched[name] = Watched(Plain(one))
    digests = {name: _digest(one) for name, one in _named(asked)}
    return Watching(watched, of_dims, of_coords, digests)


def _digest(one: One) -> str:
    """What a monitor is: a name, data to predict at, the code of a function."""
    if isinstance(one, str):
        return one
    if isinstance(one, Predictive):
        arrays = [(n, np.asarray(a)) for n, a in sorted(one.new.items())]
        content = repr((one.name, [(n, a.shape, a.tolist()) for n, a in arrays])).encode()
    else:
        code = getattr(one, "__code__", None)
        told = None if code is None else (code.co_code, code.co_consts, code.co_names)
        content = repr((type(one), getattr(one, "__qualname__", ""), told)).encode()
    return sha256(content).hexdigest()


def is_name_of_group(name: str) -> bool:
    """Whether a name can be that of a group of a file."""
    return "/" not in name and name not in ("", ".", "..")


def _labels(coords: Mapping[str, Array | range], dims: Sequence[str] | set[str]) -> Labels:
    return {d: as_array(coords[d]) for d in dims if d in coords}


def _named(asked: ToMonitor) -> Iterator[tuple[str, One]]:
    """Each monitor with its name: that of the variable or of the function, unless it is given."""
    if isinstance(asked, Mapping):
        for name, one in asked.items():
            yield name, _checked(one)
        return
    for one in asked if isinstance(asked, list | tuple) else (asked,):
        yield _name_of(_checked(one)), one


def _checked(one: object) -> Any:
    if isinstance(one, str | Predictive) or callable(one):
        return one
    raise RunError(
        f"monitor: found {shown(one)}, expected names of variables, functions of the state, or "
        "gp.predictive(...)."
    )


def _name_of(one: One) -> str:
    if isinstance(one, str):
        return one
    name = one.name if isinstance(one, Predictive) else getattr(one, "__name__", "<lambda>")
    if name is None or name.startswith("<"):
        raise RunError(
            f"monitor: found {shown(one)}, which has no name, expected one, as in "
            "monitor={'top': ...}."
        )
    return str(name)
