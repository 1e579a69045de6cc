"""A derivation as text."""

from typing import Any


def explained(schedule: Any, source: str, name: str | None = None) -> str:
    """The derivation."""
    return source


def schedule_text(schedule: Any) -> str:
    """The schedule."""
    return str([(s.kind, s.conditional.statement.name, s.family and s.family.name) for s in schedule.steps])
