"""A derivation as text, step by step, and the schedule that ``print(sampler)`` shows."""

from gibbsppl.explain.derivation import explained
from gibbsppl.explain.leaves import leaf_lines
from gibbsppl.explain.schedule_text import parts_told, schedule_text

__all__ = ["explained", "leaf_lines", "parts_told", "schedule_text"]
