"""A derivation as text, and the schedule that is printed."""

from gibbsppl.explain.schedule_text import schedule_text

__all__ = ["explained", "schedule_text"]


def explained(schedule, source, name=None):
    return source
