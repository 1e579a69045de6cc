"""A tournament among variants: pilots, of which the better half goes on, and then combinations.

Comes in: how to compile settings, and candidates by name, the first of which is the sampler as it
is. Goes out: a `Comparison`, whose best is the winner. In each round pilots are twice as long
(successive halving: K. Jamieson and A. Talwalkar, 2016, AISTATS). No clock is read.

>>> merged({}, {"interweave": False}, {"rewrites": {"parts": False}})
{'interweave': False, 'rewrites': {'parts': False}}
>>> merged({}, {"interweave": False}, {"interweave": ("tau",)}) is None
True
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, log10
from typing import Any

from gibbsppl.comparing.comparison import (
    LEVEL,
    Comparison,
    Compiled,
    Variant,
    best_of,
    measured,
    operations_by,
    ordered,
    reason_of,
)
from gibbsppl.errors import RunError
from gibbsppl.settings import Settings

# As many candidates as are compared in the last round, the sampler as it is among them.
LAST = 2
HOPELESS = (
    "its sweep takes {times:,.0f} times the operations of {first}, more than can be made up for by "
    "draws that do not depend on one another"
)
UNKNOWN = "its operations are not known, since compiled loops do not have all of its steps"


def tournament(
    compile_: Callable[[Settings], Compiled],
    candidates: Mapping[str, Settings],
    settings: Settings,
    of: Sequence[str] | None,
    sweeps: int,
    how: Mapping[str, Any],
) -> Comparison:
    """The comparison of all candidates, and of combinations; ``settings`` are those of the first.

    Each variant is told by its longest pilot.
    """
    first, rounds = next(iter(candidates)), 0
    pilots = _Pilots(compile_, of, sweeps, how)
    found = pilots.all_of(candidates, first, rounds)
    while len(found) > LAST:
        rounds += 1
        left = _better_half(found, first)
        found = pilots.all_of({n: candidates[n] for n in left}, first, rounds)
    known = dict(pilots.longest)
    more = [v for v in ordered(tuple(known.values())) if _is_better(v, known[first])]
    level = LEVEL / max(1, len(candidates) + len(more) - 1)
    best = best_of(tuple(found.values()), first, level)
    for other in more if best.settings else ():
        both = merged(settings, best.settings, other.settings)
        if other.name != best.name and both is not None and both != best.settings:
            name = f"{best.name}, {other.name}"
            own = pilots.all_of({name: both}, first, rounds).get(name)
            best = own if own is not None and own.beats(best, level) else best
    every = ordered(tuple(pilots.longest.values()))
    return Comparison(every, tuple(pilots.failed), best, level)


def _is_better(v: Variant, first: Variant) -> bool:
    return v.ess_per_operation > first.ess_per_operation


def _better_half(found: Mapping[str, Variant], first: str) -> list[str]:
    """The names of the better half, of at least two, with the first."""
    others = [v.name for v in ordered(tuple(found.values())) if v.name != first]
    return [first, *others[: max(LAST - 1, (len(found) + 1) // 2 - 1)]]


def merged(now: Settings, one: Settings, other: Settings) -> Settings | None:
    """Both changes of settings together; None where they change the same in two ways.

    Settings by name, such as rewrites and kernels, are changed name by name, and what is collapsed
    is added up; ``now`` are the settings that both change.
    """
    made = dict(one)
    for key, value in other.items():
        if key not in made or made[key] == value:
            made[key] = value
            continue
        own, before = made[key], now.get(key)
        if isinstance(own, Mapping) and isinstance(value, Mapping):
            known = before if isinstance(before, Mapping) else {}
            changed = {n: v for n, v in value.items() if n not in known or known[n] != v}
            if any(n in own and own[n] != v and own[n] != known.get(n) for n, v in changed.items()):
                return None
            made[key] = {**own, **changed}
        elif key == "collapse":
            made[key] = tuple(dict.fromkeys((*own, *value)))
        else:
            return None
    return made


@dataclass(slots=True)
class _Pilots:
    """Pilot runs: the longest of each variant, and what has failed, with the reason."""

    compile_: Callable[[Settings], Compiled]
    of: Sequence[str] | None
    sweeps: int
    how: Mapping[str, Any]
    longest: dict[str, Variant] = field(default_factory=dict)
    failed: list[tuple[str, str]] = field(default_factory=list)
    made: dict[str, Compiled] = field(default_factory=dict)

    def all_of(
        self, candidates: Mapping[str, Settings], first: str, rounds: int
    ) -> dict[str, Variant]:
        """The pilots of candidates after so many rounds, of twice as many sweeps in each.

        An error if that of the ``first``, beside which all others are seen, fails.
        """
        found = {}
        for name, settings in candidates.items():
            one = self.one(name, settings, self.sweeps << rounds, self.longest.get(first))
            if one is not None:
                found[name] = self.longest[name] = one
            elif name == first:
                why = dict(self.failed)[first].rstrip(".")
                raise RunError(
                    f"tuned: {first} cannot be compared: {why}. Compile it "
                    "with other settings, or let compare() measure seconds."
                )
        return found

    def one(
        self, name: str, settings: Settings, sweeps: int, first: Variant | None
    ) -> Variant | None:
        """The pilot of a candidate, a third of it warm-up; None where it fails.

        It is not run where it cannot be as good as the ``first``: an effective size is at most so
        many times the draws as these have digits.
        """
        warmup = sweeps // 3
        run = {**self.how, "warmup": warmup, "draws": sweeps - warmup}
        try:
            if name not in self.made:
                self.made[name] = self.compile_(settings)
            if first is not None:
                times = operations_by(self.made[name]) / first.operations
                most = log10(run["chains"] * run["draws"])
                if most < times * first.mixing.share:
                    self.failed.append((name, HOPELESS.format(times=times, first=first.name)))
                    return None
            found = measured(name, settings, self.made[name], self.of, run)
        except Exception as error:  # noqa: BLE001  (whatever fails, others go on)
            self.failed.append((name, reason_of(error)))
            return None
        if isnan(found.operations):
            self.failed.append((name, UNKNOWN))
            return None
        return found
