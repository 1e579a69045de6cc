"""One small model and what the derivation must find for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import gibbsppl as gp
from gibbsppl.kernels.move import Move


@dataclass(frozen=True, slots=True)
class Form:
    """A function that declares a model, and the words for its steps, by name of the step."""

    build: Callable[[], gp.Model]
    steps: Mapping[str, str]
    blocks: Mapping[str, str] | None = None

    @property
    def name(self):
        return self.build.__name__

    def compiled(self):
        blocks = False if self.blocks is None else self.blocks
        return gp.compile(self.build(), blocks=blocks, interweave=False, rewrites=False)


def word_of(step):
    """What a step does, in the words of the tables."""
    unnamed = {"finite": "labels", "chain": "chain", "concave": "concave"}.get(step.kind, "")
    family = step.family.name if step.family else unnamed
    if isinstance(step, Move):
        family = step.kernel
    before = ["each"] if step.is_by_element else ["block"] if step.kind == "block" else []
    return " ".join([*before, family])


def words_of(schedule):
    """The words for all steps of a schedule, by name of the step."""
    return {s.name: word_of(s) for s in schedule.steps}


def numbers(*shape, seed=1):
    """Standard normal numbers, the same at each call."""
    return np.random.default_rng(seed).standard_normal(shape)


def codes(count, size, seed=2):
    """Positions 0 .. size - 1, each at least once where there are enough, the same at each call."""
    rng = np.random.default_rng(seed)
    each = np.arange(min(size, count))
    return rng.permutation(np.r_[each, rng.integers(0, size, count - len(each))])


def counts(mean, *shape, seed=3):
    """Poisson counts, the same at each call."""
    return np.random.default_rng(seed).poisson(mean, shape)
