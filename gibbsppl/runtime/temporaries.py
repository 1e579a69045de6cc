"""Arrays that draws and moves in NumPy hold at a time: a row for each that is not as most are.

Comes in: the function of the runtime that draws. Goes out: how many arrays of the shape that is
drawn it holds besides its arguments, and how many times as much as its arguments. The figures were
found by `tracemalloc` for a million numbers.

>>> TEMPORARIES["labels"].bytes(drawn=8.0, given=80.0)
176.0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Temporaries:
    """Arrays of the shape that is drawn, and times the arguments."""

    arrays: float
    times: float = 0.0

    def bytes(self, drawn: float, given: float) -> float:
        """The bytes held, by those of what is drawn and of the arguments."""
        return self.arrays * drawn + self.times * given


# Of draws from a family: the draw, and what is made of parameters.
USUAL = Temporaries(5.0)
TEMPORARIES: Mapping[str, Temporaries] = {
    "labels": Temporaries(2.0, 2.0),
    "labels_at_once": Temporaries(2.0, 2.0),
    "chain": Temporaries(4.0, 5.0),
    "log_concave": Temporaries(55.0),
    "slice_batch": Temporaries(9.0),
    "slice_integers": Temporaries(10.0),
    "polya_gamma": Temporaries(8.0),
    "generalized_inverse_gaussian": Temporaries(92.0),
    "truncated_generalized_inverse_gaussian": Temporaries(92.0),
    "modified_half_normal": Temporaries(87.0),
    "truncated_modified_half_normal": Temporaries(87.0),
    "inverse_gaussian": Temporaries(11.0),
    "von_mises": Temporaries(10.0),
    "tables": Temporaries(6.0),
    "truncated_normal": Temporaries(9.0),
    "truncated_exponential": Temporaries(11.0),
    "truncated_gamma": Temporaries(17.0),
    "truncated_beta": Temporaries(25.0),
    "truncated_inverse_gamma": Temporaries(29.0),
    "truncated_poisson": Temporaries(14.0),
}
