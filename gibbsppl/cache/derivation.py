"""Derivations of models: the facts that a run needs at once, the schedule when it is asked for.

Comes in: what a derivation follows from, and how to make it. Goes out: a `Derivation`, made now or
kept from another process. The schedule is kept too, but apart: reading it imports all modules of
its steps, which a run does not need.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gibbsppl.algebra.pickling import pickled, restored
from gibbsppl.cache import folder
from gibbsppl.cache.fingerprint import fingerprint
from gibbsppl.cache.plans import hold, plan_of
from gibbsppl.code.worth import Worth
from gibbsppl.initial.drawn_from import DrawnFrom
from gibbsppl.model.asked import Kept
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Potential
from gibbsppl.run.recording import Types
from gibbsppl.runtime.cache_folder import is_off

if TYPE_CHECKING:
    from gibbsppl.schedule.choices import Choice
    from gibbsppl.schedule.sweeps import Schedule

# So many derivations are kept by one process: a study of a thousand data sets fills no disk.
MOST_KEPT = 32

_kept_by_now: list[bytes] = []


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a derivation that a run needs.

    ``limits`` are the potentials that join the declared graph: limits of parameters. ``source`` is
    the generated module, ``dims`` the names of the dims of each variable and quantity, ``types``
    the integer types of those that are whole; ``looked_at`` is seen before a run; ``choices`` are
    those of the schedule, in words. Once they have
    been asked for: ``worth`` is that of compiled sweeps, ``text`` the schedule as text.
    ``is_within``: sweeps in NumPy hold no more memory than they may by default.
    """

    source: str
    limits: tuple[Potential, ...]
    dims: Mapping[str, tuple[str, ...]]
    types: Types
    looked_at: DrawnFrom
    choices: tuple[str, ...] = ()
    is_within: bool = True
    worth: Worth | None = None
    text: str | None = None


@dataclass(slots=True, eq=False)
class Derivation:
    """The facts of a derivation, the ``graph`` with its limits, and the data that is read.

    ``functions`` are the user's, by step. ``make`` derives the schedule, ``keep`` writes
    facts that are more than there were. ``counted`` are the choices with the operations of all
    candidates, once they have been asked for. ``asked``: what was asked of the data.
    """

    facts: Facts
    graph: Graph
    known: Values
    make: Callable[[], Schedule]
    functions: Mapping[str, Callable[..., Any]]
    made: Schedule | None = None
    counted: tuple[Choice, ...] | None = None
    keep: Callable[[Facts], None] | None = None
    asked: Kept | None = None

    @property
    def looked_at(self) -> DrawnFrom:
        """The facts of the steps that are looked at before a run."""
        return self.facts.looked_at

    @property
    def schedule(self) -> Schedule:
        """The schedule: as it was derived, or kept, or derived once more."""
        if self.made is None:
            self.made = self.make()
        return self.made

    def worth(self, estimate: Callable[[], Worth]) -> Worth:
        """The worth of compiled sweeps: as it was kept, or as ``estimate`` finds it."""
        if self.facts.worth is None:
            self._learn(replace(self.facts, worth=estimate()))
        assert self.facts.worth is not None
        return replace(self.facts.worth, is_needed=not self.facts.is_within)

    def text(self, choices: Callable[[], tuple[Choice, ...]]) -> str:
        """The schedule as text, with all ``choices``: as it was kept, or as it is written now."""
        from gibbsppl.explain import schedule_text  # noqa: PLC0415  (only if asked for)

        if self.facts.text is None:
            told = schedule_text(replace(self.schedule, choices=choices()), self.known)
            self._learn(replace(self.facts, text=told))
        assert self.facts.text is not None
        return self.facts.text

    def without_data(self, data: Values) -> Callable[[Values], Derivation]:
        """What makes the derivation of other data, of which all that was asked is the same."""
        own = {n: None if a is data.get(n) else a for n, a in self.known.items()}
        return partial(_on, replace(self, known={}, counted=None, keep=None), own)

    def _learn(self, facts: Facts) -> None:
        """Facts that are more than there were are kept."""
        self.facts = facts
        if self.keep is not None:
            self.keep(facts)


def derivation_of(
    graph: Graph, data: Values, settings: Mapping[str, Any], derive: Callable[[], Derivation]
) -> Derivation:
    """The derivation that was kept for a graph, its data and settings, or a new one."""
    if is_off():
        return derive()
    shapes = {n: (np.shape(a), np.asarray(a).dtype.str) for n, a in data.items()}
    alike = fingerprint((graph, shapes, dict(settings)))
    if alike is None:
        return derive()
    planned: Derivation | None = plan_of(alike, data)
    if planned is not None:
        return planned
    key = None if folder.folder() is None else fingerprint((alike, dict(data)))
    content = None if key is None else folder.read(key)
    found = None if key is None or content is None else _restored(key, content, graph, data, derive)
    if found is None:
        found = derive()
        hold(alike, found.asked, found.without_data(data))
        if key is not None and len(_kept_by_now) < MOST_KEPT:
            _kept_by_now.append(key)
            found.keep = _keeping(key, found, data)
            found.keep(found.facts)
    return found


def _on(plan: Derivation, own: Mapping[str, Any], data: Values) -> Derivation:
    """A derivation of data, with arrays that are its own."""
    from gibbsppl.run.integer_types import integer_types  # noqa: PLC0415  (only if there is a plan)

    known = {n: data[n] if a is None else a for n, a in own.items()}
    types = integer_types(plan.schedule.whole, known)
    facts = replace(plan.facts, types=types, text=None, worth=None)
    return replace(plan, facts=facts, known=known)


def _keeping(key: bytes, found: Derivation, data: Values) -> Callable[[Facts], None]:
    """A function that keeps facts of a derivation, its arrays that are no data and its schedule."""
    own = {n: None if a is data.get(n) else a for n, a in found.known.items()}
    return partial(_keep, key, own, _packed(found.schedule))


def _keep(
    key: bytes, own: Mapping[str, Any], schedule: bytes | None, facts: Facts
) -> None:
    """Keep a derivation."""
    content = _packed((facts, own, schedule))
    if content is not None:
        folder.write(key, content)


def _restored(
    key: bytes, content: bytes, graph: Graph, data: Values, derive: Callable[[], Derivation]
) -> Derivation | None:
    """The derivation that was kept; None if it cannot be read."""
    try:
        facts, own, schedule = restored(content)
        known = {n: data[n] if a is None else a for n, a in own.items()}
    except Exception:  # noqa: BLE001  (whatever is wrong with a file, a derivation replaces it)
        return None

    def make() -> Schedule:
        try:
            found: Schedule = restored(schedule)
        except Exception:  # noqa: BLE001
            return derive().schedule
        return found

    limited = replace(graph, potentials=(*graph.potentials, *facts.limits))
    keep = partial(_keep, key, own, schedule)
    return Derivation(facts, limited, known, make, {}, keep=keep)


def _packed(value: object) -> bytes | None:
    """The bytes of a value; None if it has none, as functions of the user's."""
    try:
        return pickled(value)
    except (pickle.PicklingError, AttributeError, TypeError, RecursionError):
        return None
