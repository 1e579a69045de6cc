"""The choices made for a sweep: candidates with their costs, and how they mix by theory.

Comes in: what planning has found of each way to draw some variables. Goes out: a `Choice`, which a
schedule holds: it is printed, and its other candidates are what `costs` counts, and what `compare`
and `tuned` run.

>>> jointly = Candidate("jointly", {"blocks": True}, 300.0, 1.0)
>>> apart = Candidate("each alone", {"blocks": False}, 200.0, 0.5)
>>> print(Choice(("a", "b"), jointly, (apart,)))
a, b jointly (alternative: each alone, sweeps 1.5 times cheaper, mixing 2 times slower)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

# The states at which theory is asked: of one chain with this seed, after so many sweeps, so many
# sweeps apart, and how many there are.
SEED, BEFORE, BETWEEN, STATES = 0, 20, 5, 4
AT_STATES = f"mixing by theory, on average over {STATES} states of a chain with seed {SEED}"
# Alternatives that are printed: the nearest ones.
MOST_PRINTED = 2
# The operations of a sweep by other settings; None where these are refused, or change nothing.
Counting = Callable[[Mapping[str, Any]], float | None]
# What settings are where a user leaves choices open.
_OPEN: Mapping[str, tuple[object, ...]] = {
    **dict.fromkeys(("blocks", "rewrites", "kernels", "interweave"), (None, True)),
    "collapse": ((),),
    "exact": (False,),
}
# Larger ratios are not told in numbers.
LARGE = 100


def asking(settings: Mapping[str, Any], name: str, more: Mapping[Any, Any]) -> dict[str, Any]:
    """The settings that ask for more besides those that are asked for by a name.

    >>> asking({"blocks": {"x": "alone"}}, "blocks", {"y": "alone"})
    {'blocks': {'x': 'alone', 'y': 'alone'}}
    """
    now = settings[name]
    return {name: {**(now if isinstance(now, Mapping) else {}), **more}}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to draw some variables: its words, and the settings of `compile` that ask for it.

    ``operations`` are those of a sweep, ``share`` the effective draws of a sweep by theory; NaN
    where they have not been counted, or where theory says nothing. ``of_model``: the words name the
    sampler as they are, without variables.
    """

    what: str
    settings: Mapping[str, Any]
    operations: float = nan
    share: float = nan
    of_model: bool = False

    @property
    def is_known(self) -> bool:
        """Whether theory says how it mixes."""
        return not isnan(self.share)

    @property
    def by_theory(self) -> float:
        """The effective draws per operation."""
        return self.share / self.operations

    def beside(self, other: Candidate) -> str:
        """The candidate in words, beside another one."""
        cost = _times(self.operations / other.operations, "sweeps", "dearer", "cheaper")
        return ", ".join(filter(None, (self.what, cost, self.mixing_beside(other))))

    def mixing_beside(self, other: Candidate) -> str:
        """How it mixes beside another one by theory, in words."""
        share = self.share / other.share if other.share else nan
        return _times(share, "mixing", "faster", "slower")


@dataclass(frozen=True, slots=True)
class Choice:
    """The way in which some variables are drawn, and the others that there are, nearest first."""

    variables: tuple[str, ...]
    made: Candidate
    others: tuple[Candidate, ...]

    def named(self, candidate: Candidate) -> str:
        """The name of another sampler: the variables, and how these are drawn."""
        if candidate.of_model:
            return candidate.what
        return f"{', '.join(self.variables)} {candidate.what}"

    def is_open(self, settings: Mapping[str, Any]) -> bool:
        """Whether some settings leave the choice to the compiler."""
        return not any(_overrules(settings, c.settings) for c in self.others)

    def counted(self, own: float, count: Counting) -> Choice | None:
        """The choice with the operations of all candidates, ``own`` those of the one that is made.

        Others that are refused are left out, and so are those by whose settings nothing changes;
        None where none is left.
        """
        found = list[Candidate]()
        for other in self.others:
            known = other.operations if not isnan(other.operations) else count(other.settings)
            if known is not None:
                found.append(replace(other, operations=known))
        if not found:
            return None
        found.sort(key=_nearest_first)
        return replace(self, made=replace(self.made, operations=own), others=tuple(found))

    def __str__(self) -> str:
        nearest = [c.beside(self.made) for c in self.others[:MOST_PRINTED]]
        word = "alternative" if len(nearest) == 1 else "alternatives"
        return f"{', '.join(self.variables)} {self.made.what} ({word}: {'; '.join(nearest)})"


def _overrules(asked: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    """Whether settings change what a user has asked for."""
    for name, value in settings.items():
        now = asked[name]
        if isinstance(now, Mapping) and isinstance(value, Mapping):
            if any(key in now and now[key] != value[key] for key in value):
                return True
        elif now not in _OPEN[name] and now != value:
            return True
    return False


def _nearest_first(candidate: Candidate) -> tuple[bool, float]:
    """By effective draws per operation, where theory does not say by operations."""
    if candidate.is_known:
        return False, -candidate.by_theory
    return True, candidate.operations


def choices_told(choices: Sequence[Choice]) -> list[str]:
    """The choices, line by line, and where theory was asked."""
    known = [c for c in choices if any(o.is_known for o in c.others)]
    return [*map(str, choices), *([f"({AT_STATES})"] if known else [])]


def _times(ratio: float, what: str, more: str, less: str) -> str:
    """A ratio in words; nothing where it is not known."""
    if isnan(ratio):
        return ""
    if not ratio:
        return f"not {what} at all"
    large, word = (ratio, more) if ratio >= 1 else (1 / ratio, less)
    told = f"{large:.2g}" if large < LARGE else f"more than {LARGE}"
    return f"{what} {told} times {word}" if told != "1" else f"{what} equally {more[:-2]}"
