"""The text on leaves (missing data, predictions, censored values), imputed after all draws."""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.algebra.expressions import mentions
from gibbsppl.schedule.sweeps import Schedule


def leaf_lines(schedule: Schedule) -> list[tuple[str, str]]:
    """Each array with leaves, and why no other draw needs these."""
    return [(name, _why(schedule, name)) for name in schedule.leaves]


def drawn_without(schedule: Schedule, variables: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The section of a derivation on leaves, marginalised in the draws of other variables."""
    told = [f"{name}: {why}." for name, why in leaf_lines(schedule) if name in variables]
    return [("The others are drawn without it", told)] if told else []


def _why(schedule: Schedule, name: str) -> str:
    if any(mentions(p.log_density, (name,)) for p in schedule.graph.potentials):
        return "all others see between which bounds it is, not the values"
    return "no other variable sees what of it is not observed"
