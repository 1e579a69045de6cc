"""How good a conditional is, which rewrites are to make better.

>>> CLOSED < NEAR < CONCAVE < CONCAVE_BY_ELEMENT < FALLBACK
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.conditionals import Derived
from gibbsppl.derive.match_results import Conditional, NotConjugate
from gibbsppl.derive.quadratic import is_quadratic
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import count_of, size_of_array, times_read
from gibbsppl.rewrites.applied import Rewrite
from gibbsppl.rewrites.rows import Rule

# From best to worst: drawn from a closed form, proposed from a normal one, drawn by adaptive
# rejection all at once, the same one by one, by a fallback move.
CLOSED, NEAR, CONCAVE, CONCAVE_BY_ELEMENT, FALLBACK = range(5)


# Labels for each element of what is proposed. (Against adaptive rejection, effective draws of the
# worst state of 60 and 100 per CPU second: with 1 label each 100 times as many, with 4 nine times,
# with 20 a third, with 100 a thirtieth; of 4 coefficients with 500 labels, an eighth.)
MOST_LABELS = 8


def is_worth_labels(made: Sequence[Rewrite], array: str) -> bool:
    """Whether rewrites by which an array is proposed have few labels for each of its elements.

    (With many, the data say much of each element, and labels hold it where it is.)
    """
    last = made[-1].graph
    labels = sum(count_of(last, r.statement) for r in made if r.rule.proposes)
    return labels <= MOST_LABELS * size_of_array(last, array)


# The time of adaptive rejection of an element, skewed as the density of the log of a scale is, as
# the operations of closed forms that take as long: 1.8 microseconds of theirs at 0.5 nanoseconds.
# It is dear where it takes so many times what all else does, for so many elements: at 2.5 times the
# worst element of a horseshoe had as many effective draws with auxiliary variables; at 29 times, of
# 500 normal means, a sweep takes a fifteenth of the time with them, and draws are worth half as
# much; where a regression of 200 coefficients takes 14 times what rejection does, they do not pay.
REJECTION = 4_000
DEAR = 10
MANY = 50


def served(
    rules: Sequence[Rule], graph: Graph, statement: Statement, is_rejected: bool
) -> tuple[tuple[Rule, ...], bool]:
    """The rules to try: those that spare rejection alone where that is dear, else all others."""
    is_dear = is_rejected and is_rejection_dear(graph, statement)
    return tuple(r for r in rules if r.spares_rejection == is_dear), is_dear


def is_rejection_dear(graph: Graph, statement: Statement) -> bool:
    """Whether adaptive rejection of all elements takes most of a sweep: its share is estimated.

    All else reads each array once; elements that others see in sums are drawn by factorising.
    """
    elements = count_of(graph, statement)
    if elements < MANY:
        return False
    work = sum(times_read(graph, f, n) for f in graph.factors for n in graph.drawn)
    for s in graph.latent:
        name, size = s.target.array.name, count_of(graph, s)
        others = (f for f in graph.factors_of(name) if f.name != s.name)
        if any(times_read(graph, f, name) > prod(map(len, f.over)) for f in others):
            work += size**3 // 3
    return REJECTION * elements > DEAR * work


def is_as_good(derived: Derived, before: Derived) -> bool:
    """Whether no closed form is lost, and elements are as independent as they were."""
    is_tied = derived.elements > before.elements or _is_dense(derived) > _is_dense(before)
    return not is_tied and (quality_of(derived) == CLOSED or quality_of(before) > CLOSED)


def stage_of(closed: Mapping[int, Derived]) -> int:
    """The stage that a variable is drawn in, of those in which it has a closed form.

    The first, without the auxiliary variables that come later (C. Reed and K. Yu, 2009, "A
    partially collapsed Gibbs sampler for Bayesian quantile regression", of scales), unless the draw
    is worse there, or may be joint with others. What reads none of these is drawn in the last.
    """
    last = max(closed)
    if is_quadratic(closed[last]):
        return last
    first = next(d for d in closed.values() if is_as_good(d, closed[last]))
    return max(stage for stage, derived in closed.items() if derived == first)


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
