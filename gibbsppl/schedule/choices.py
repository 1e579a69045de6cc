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


def with_decided(decided: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings, with all that has been decided beside them, but of the variables they are about.

    With the settings alone that would be decided anew, and maybe otherwise.

    >>> proposed = {"blocks": {("a", "b"): "proposed"}, "rewrites": {"unseen": False}}
    >>> with_decided(proposed, {"blocks": {"a": "elements"}})
    {'blocks': {'a': 'elements'}, 'rewrites': {'unseen': False}}
    """
    about = {n for name in ("blocks", "kernels") for n in _names_in(settings.get(name))}
    found = dict(settings)
    for name, value in decided.items():
        own = found.get(name)
        if isinstance(value, Mapping) and isinstance(own, Mapping | None):
            kept = {k: v for k, v in value.items() if not about & {*_names_in({k: v})}}
            found |= {name: {**kept, **(own or {})}} if kept else {}
        elif own is None:
            found[name] = value
    return found


def _names_in(asked: Mapping[Any, Any] | bool | None) -> list[str]:
    """The names of which something is asked: of keys, the several names of one included."""
    keys = asked if isinstance(asked, Mapping) else ()
    return [n for k in keys for n in (k if isinstance(k, tuple) else (k,))]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A way to draw some variables: its words, and the settings of `compile` that ask for it.

    ``operations`` are those of a sweep, ``share`` the effective draws of a sweep by theory; NaN
    where they have not been counted, or where theory says nothing. ``of_model``: the words name the
    sampler as they are, without variables; ``known_as`` are other words of the field for it.
    """

    what: str
    settings: Mapping[str, Any]
    operations: float = nan
    share: float = nan
    of_model: bool = False
    known_as: str = ""

    @property
    def told(self) -> str:
        """The words, and other words of the field for it."""
        return f"{self.what} ({self.known_as})" if self.known_as else self.what

    def with_decided(self, decided: Mapping[str, Any]) -> Candidate:
        """The candidate whose settings ask for what has been decided besides, too."""
        return replace(self, settings=with_decided(decided, self.settings))

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
        return ", ".join((self.told, *self.words_beside(other)))

    def words_beside(self, other: Candidate) -> list[str]:
        """What it costs and how it mixes beside another one; nothing if there is no difference."""
        dearer = self.operations / other.operations
        if _is_even(dearer) and _is_even(self._faster_than(other)):
            return []
        cost = _times(dearer, "sweeps", "dearer", "cheaper")
        return [told for told in (cost, self.mixing_beside(other)) if told]

    def mixing_beside(self, other: Candidate) -> str:
        """How it mixes beside another one by theory, in words."""
        return _times(self._faster_than(other), "mixing", "faster", "slower")

    def _faster_than(self, other: Candidate) -> float:
        """How many times faster than another one it mixes by theory."""
        return self.share / other.share if other.share else nan


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

    def with_decided(self, decided: Mapping[str, Any]) -> Choice:
        """The choice whose candidates ask for what has been decided besides, too."""
        made, *others = (c.with_decided(decided) for c in (self.made, *self.others))
        return replace(self, made=made, others=tuple(others))

    def beside_a_sweep_of(self, operations: float) -> Choice:
        """The choice without counts of others if it was made beside another sweep."""
        if isnan(self.made.operations) or self.made.operations == operations:
            return self
        others = tuple(replace(c, operations=nan) for c in self.others)
        return replace(self, made=replace(self.made, operations=nan), others=others)

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

    @property
    def uncounted(self) -> tuple[Candidate, ...]:
        """The others of which neither operations nor mixing are known."""
        return tuple(c for c in self.others if isnan(c.operations) and not c.is_known)

    def __str__(self) -> str:
        return next(iter(_lines([self])), f"{', '.join(self.variables)} {self.made.what}")


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


def _nearest_first(candidate: Candidate) -> tuple[int, float]:
    """By effective draws per operation, where theory does not say by operations."""
    if not isnan(candidate.by_theory):
        return 0, -candidate.by_theory
    if not isnan(candidate.operations):
        return 1, candidate.operations
    return 2, -candidate.share if candidate.is_known else 0.0


def choices_told(choices: Sequence[Choice], why: str = "") -> list[str]:
    """The choices, line by line, and where theory was asked; others that are not counted by name.

    ``why`` says for what reason these are not counted; without it they are not named.
    """
    lines = _lines(choices)
    known = [c for c in choices if any(o.is_known for o in c.others)]
    lines += [f"({AT_STATES})"] if known and lines else []
    if why:
        left = [told for choice in choices if (told := _named(choice))]
        lines += [f"not counted: {'; '.join(left)}"] if left else []
        is_open = any(isnan(o.operations) for choice in choices for o in choice.others)
        lines += [why] if is_open else []
    return lines


def _lines(choices: Sequence[Choice]) -> list[str]:
    """The choices that have something to tell: all about the same variables in a line."""
    about: dict[frozenset[str], list[Choice]] = {}
    for choice in choices:
        about.setdefault(frozenset(choice.variables), []).append(choice)
    lines = list[str]()
    for own in about.values():
        told = [(c, o) for c in own for o in c.others if o.words_beside(c.made)]
        nearest = sorted(told, key=lambda pair: _nearest_first(pair[1]))[:MOST_PRINTED]
        if nearest:
            made = ", ".join(dict.fromkeys(c.made.what for c, _ in told))
            word = "alternative" if len(nearest) == 1 else "alternatives"
            others = "; ".join(o.beside(c.made) for c, o in nearest)
            lines.append(f"{', '.join(own[0].variables)} {made} ({word}: {others})")
    return lines


def _named(choice: Choice) -> str:
    """The other samplers of a choice that are not counted, by name."""
    left = choice.uncounted
    *first, last = [c.what for c in left if not c.of_model] or [""]
    own = f"{', '.join(first)} or {last}" if first else last
    names = [f"{', '.join(choice.variables)} {own}"] if own else []
    return "; ".join((*names, *(c.told for c in left if c.of_model)))


def _is_even(ratio: float) -> bool:
    """Whether a ratio is 1, as it is told."""
    return f"{max(ratio, 1 / ratio):.2g}" == "1" if ratio else False


def _times(ratio: float, what: str, more: str, less: str) -> str:
    """A ratio in words; nothing where it is not known."""
    if isnan(ratio):
        return ""
    if not ratio:
        return f"not {what} at all"
    large, word = (ratio, more) if ratio >= 1 else (1 / ratio, less)
    told = f"{large:.2g}" if large < LARGE else f"more than {LARGE}"
    return f"{what} {told} times {word}" if told != "1" else f"{what} equally {more[:-2]}"
