"""Groups of draws in ArviZ's layout: what a file or a tree of data sets holds, as plain arrays.

Comes in: a ``Draws``. Goes out: groups ``posterior``, ``sample_stats``, ``observed_data`` and
``constant_data``, each with its arrays and the labels along its dims, those of other draws that
belong to these, and within ``monitored`` one for each monitor. Variables that have one draw in 10,
say, are in a group of their own, ``posterior_every_10``: the arrays of a group have their draws
together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

import gibbsppl
from gibbsppl.errors import RunError, did_you_mean
from gibbsppl.output.arrays import Array, Attributes, Named
from gibbsppl.output.ends import Ends
from gibbsppl.output.shares import dims_of
from gibbsppl.output.thinning import Every

LIBRARY = "gibbsppl"
OURS = ("inference_library", "inference_library_version")

# The first dims of what is recorded at each draw, and the groups that have them.
SAMPLED = ("chain", "draw")
SAMPLED_GROUPS = ("posterior", "sample_stats")
# The first part of the name of a group with one draw in so many.
RARER = "posterior_every_"
# The group that has one for each monitor.
MONITORED = "monitored"


class Statistics(Protocol):
    """The statistics of one monitor, as they are written."""

    @property
    def arrays(self) -> Mapping[str, Named]:
        """The statistics by name, with their dims."""

    @property
    def labels(self) -> Mapping[str, Array]:
        """The labels along dims."""

# Groups of other draws that belong to those of the posterior, each with all of its own.
EACH_DRAW = ("log_likelihood", "posterior_predictive", "predictions")
# Draws of the warm-up, where a run keeps them, and the numbers recorded with these.
WARMUP, WARMUP_STATS = "warmup_posterior", "warmup_sample_stats"
OTHERS = (*EACH_DRAW, "prior", "prior_predictive", WARMUP, WARMUP_STATS)
WARMUP_RARER = f"{WARMUP}_every_"


def is_other(name: str) -> bool:
    """Whether a group may belong to draws of the posterior.

    >>> [is_other(n) for n in ("prior", "warmup_posterior_every_10", "posterior_every_10")]
    [True, True, False]
    """
    rarer = name.removeprefix(WARMUP_RARER)
    return name in OTHERS or (rarer != name and rarer.isdecimal())


# The group of a file, and its array, that says where the chains have ended.
ENDS = "ends"


class Draws(Protocol):
    """The attributes of `gibbsppl.Draws` that are written."""

    @property
    def values(self) -> Mapping[str, Array]:
        """The draws of each variable."""

    @property
    def coords(self) -> Mapping[str, Array]:
        """The labels along dims."""

    @property
    def sample_stats(self) -> Mapping[str, Array]:
        """The facts known of each draw."""

    @property
    def observed_data(self) -> Mapping[str, Named]:
        """The observations."""

    @property
    def constant_data(self) -> Mapping[str, Named]:
        """All other data."""

    @property
    def monitored(self) -> Mapping[str, Statistics]:
        """The statistics of what was monitored."""

    @property
    def every(self) -> Every:
        """Of how many draws one is kept, of variables that have not all."""

    @property
    def groups(self) -> Mapping[str, Draws]:
        """The draws that belong to these, by the name of their group."""

    @property
    def attributes(self) -> Attributes:
        """How the draws were made."""

    @property
    def ends(self) -> Ends | None:
        """Where the chains have ended."""

    @property
    def chains(self) -> int:
        """The number of chains."""

    @property
    def draws(self) -> int:
        """The number of draws of each chain."""

    def dims_of(self, name: str) -> tuple[str, ...]:
        """The dims of a variable."""


@dataclass(frozen=True, slots=True)
class Group:
    """The arrays of one group, by name in a model, and the labels along each of their dims.

    ``attributes`` are its own, where they are not those of the file.
    """

    arrays: Mapping[str, Named]
    labels: Mapping[str, Array]
    attributes: Attributes | None = None

    def key(self, name: str) -> str:
        """The name of an array in a file: like a dim's it gets a ``_``, as labels have that name.

        >>> Group({}, {"day": np.arange(3)}).key("day")
        'day_'
        """
        return name + "_" * (name in self.labels)


def groups_of(draws: Draws) -> dict[str, Group]:
    """The groups of draws and their data, by name; empty ones are left out."""
    chains, numbers = np.arange(draws.chains), np.arange(draws.draws)
    coords = {"chain": chains, "draw": numbers, **draws.coords}
    by_rate: dict[int, dict[str, Named]] = {}
    for name, value in draws.values.items():
        own = by_rate.setdefault(draws.every.get(name, 1), {})
        own[name] = SAMPLED + draws.dims_of(name), value
    groups: dict[str, dict[str, Named]] = {
        "posterior": by_rate.pop(1),
        "sample_stats": {n: (SAMPLED, v) for n, v in draws.sample_stats.items()},
        "observed_data": dict(draws.observed_data),
        "constant_data": dict(draws.constant_data),
    }
    found = {name: _group(arrays, coords) for name, arrays in groups.items() if arrays}
    # (of labels the names are kept, whatever arrays have their dim)
    pointed = {d: _saved(draws.coords[d]) for d in dims_of(draws.attributes) if d in draws.coords}
    drawn = found["posterior"]
    found["posterior"] = replace(drawn, labels={**pointed, **drawn.labels})
    for every, arrays in sorted(by_rate.items()):
        kept = {**coords, "draw": numbers[every - 1 :: every]}
        found[f"{RARER}{every}"] = _group(arrays, kept)
    # (of predictions, dims have sizes of their own)
    found |= {name: _other(own) for name, own in draws.groups.items()}
    return found | {
        f"{MONITORED}/{n}": _group(one.arrays, {"chain": chains, **one.labels})
        for n, one in draws.monitored.items()
    }


def _other(draws: Draws) -> Group:
    """The group of draws that belong to others."""
    positions = {"chain": np.arange(draws.chains), "draw": np.arange(draws.draws)}
    arrays = {n: (SAMPLED + draws.dims_of(n), v) for n, v in draws.values.items()}
    return _group(arrays, {**positions, **draws.coords}, attributes_of(draws))


def check_groups(draws: Draws) -> None:
    """Raise unless the groups of draws are such as belong to these."""
    for name in draws.groups:
        if not is_other(name):
            raise RunError(
                f"groups: found {name!r}, expected names among {', '.join(OTHERS)}."
                f"{did_you_mean(name, OTHERS)}"
            )


def groups_of_file(draws: Draws) -> dict[str, Group]:
    """The groups of a file: also where the chains have ended, for whoever goes on from there."""
    found = groups_of(draws)
    if draws.ends is not None:
        content = np.frombuffer(draws.ends.as_bytes(), np.uint8)
        found[ENDS] = Group({ENDS: (("byte",), content)}, {})
    return found


def _group(
    arrays: Mapping[str, Named], coords: Mapping[str, Array], own: Attributes | None = None
) -> Group:
    sizes = {d: n for dims, v in arrays.values() for d, n in zip(dims, v.shape, strict=True)}
    return Group(arrays, {d: _saved(coords.get(d, np.arange(n))) for d, n in sizes.items()}, own)


def attributes_of(draws: Draws) -> dict[str, float | str | np.integer | np.floating]:
    """The attributes of a file and of each of its groups."""
    told = {name: _plain(value) for name, value in draws.attributes.items() if value is not None}
    return {**dict(zip(OURS, (LIBRARY, gibbsppl.__version__), strict=True)), **told}


def _saved(labels: Array) -> Array:
    """Labels as a file can hold them: as text if of several types, of others' types, or far times.

    >>> _saved(np.array(["2020-01-01", "9999-01-01"], "datetime64[D]"))
    array(['2020-01-01', '9999-01-01'], dtype='<U10')
    """
    is_lost = labels.dtype.kind == "O" or (labels.dtype.kind in "mM" and _are_lost(labels))
    return np.array([str(label) for label in labels]) if is_lost else labels


def _are_lost(times: Array) -> bool:
    """Whether times would be others when read back, as 64 bits of nanoseconds."""
    kind, (unit, count) = times.dtype.kind, np.datetime_data(times.dtype)
    if count != 1 or (kind == "m" and unit in ("Y", "M")):  # (no unit of a file; of no one length)
        return True
    try:
        read_back = times.astype(f"{kind}8[ns]").astype(times.dtype)
    except OverflowError:
        return True
    return bool((read_back != times).any())


def _plain(value: object) -> float | str | np.integer | np.floating:
    """An attribute as a file can hold it: a number of at most 64 bits, or text."""
    match value:
        case bool():
            return int(value)
        case int() if abs(value) >= 1 << 63:
            return str(value)
        case int() | float() | np.integer() | np.floating():
            return value
        case _:
            return str(value)
