"""A derivation as text, step by step, and the schedule that ``print(sampler)`` shows."""

from gibbsppl.explain.derivation import explained
from gibbsppl.explain.schedule_text import parts_told, schedule_text
from gibbsppl.explain.unseen import unseen_told

__all__ = ["explained", "parts_told", "schedule_text", "unseen_told"]
