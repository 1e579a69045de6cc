"""How good a conditional is, which rewrites are to make better.

>>> CLOSED < NEAR < CONCAVE < CONCAVE_BY_ELEMENT < FALLBACK
True
"""

from __future__ import annotations

from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.conditionals import Derived
from gibbsppl.derive.match_results import Conditional, NotConjugate

# From best to worst: drawn from a closed form, proposed from a normal one, drawn by adaptive
# rejection all at once, the same one by one, by a fallback move.
CLOSED, NEAR, CONCAVE, CONCAVE_BY_ELEMENT, FALLBACK = range(5)


def is_as_good(derived: Derived, before: Derived) -> bool:
    """Whether no closed form is lost, and elements are as independent as they were."""
    is_tied = derived.elements > before.elements or _is_dense(derived) > _is_dense(before)
    return not is_tied and (quality_of(derived) == CLOSED or quality_of(before) > CLOSED)


def _is_dense(derived: Derived) -> bool:
    """Whether elements are drawn jointly by a matrix of all pairs."""
    return isinstance(derived, Conditional) and bool(derived.dense)


def quality_of(derived: Derived) -> int:
    """How good a conditional is, from `CLOSED` to `FALLBACK`."""
    if isinstance(derived, NotConjugate):
        return FALLBACK
    if isinstance(derived, LogConcave):
        return CONCAVE_BY_ELEMENT if derived.elements else CONCAVE
    return CLOSED
