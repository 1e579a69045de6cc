"""The derivations of this process: for other data of the same model, nothing is derived again.

Comes in: a digest of a graph, its settings and the types and shapes of its data; then data. Goes
out: a derivation of these, if one was made of data that gave the same answers to all that it asked.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gibbsppl.model.asked import Kept
from gibbsppl.model.evaluation import Values

if TYPE_CHECKING:
    from gibbsppl.cache.derivation import Derivation

# So many plans are held, the last ones used; so many of one model.
MOST_HELD, MOST_OF_ONE = 32, 4


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A derivation without its data: arrays that are ``own`` are none of these (else None)."""

    asked: Kept
    derivation: Derivation
    own: dict[str, Any]

    def on(self, data: Values) -> Derivation:
        """The derivation of other data, of which all that was asked is the same."""
        from gibbsppl.run.integer_types import integer_types  # noqa: PLC0415  (only if there is)

        first = self.derivation
        known = {n: data[n] if a is None else a for n, a in self.own.items()}
        types = integer_types(first.schedule.whole, known)
        facts = replace(first.facts, types=types, text=None, worth=None)
        return replace(first, facts=facts, known=known, counted=None, keep=None)


_held: OrderedDict[bytes, list[Plan]] = OrderedDict()


def plan_of(key: bytes, data: Values) -> Derivation | None:
    """The derivation of data by a plan that is held; None if none holds."""
    for plan in _held.get(key, ()):
        if plan.asked.holds(data):
            _held.move_to_end(key)
            return plan.on(data)
    return None


def hold(key: bytes, derivation: Derivation, data: Values) -> None:
    """Hold the plan of a derivation."""
    if derivation.asked is None:
        return
    own = {n: None if a is data.get(n) else a for n, a in derivation.known.items()}
    bare = replace(derivation, known={}, counted=None, keep=None)
    plans = _held.setdefault(key, [])
    plans.insert(0, Plan(derivation.asked, bare, own))
    del plans[MOST_OF_ONE:]
    while len(_held) > MOST_HELD:
        _held.popitem(last=False)
