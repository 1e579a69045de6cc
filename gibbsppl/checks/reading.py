"""The check of what a text was read as: the model against the program, which is read twice.

At random values the log density of the model is that of the program, evaluated line by line and
element by element (`gibbsppl.bugs.interpreter`), constants included (but where ``I(,)`` and
``C(,)`` leave them open); and what the model records is what the program computes. The program is
evaluated as it stands, so that a probability close to one has few digits left in ``1 - p``: a
difference that comes and goes with the last digits of what functions give is rounding, and tells
nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from gibbsppl.bugs.interpreted_values import Unrolled, Values
from gibbsppl.bugs.interpreter import log_densities, values_at
from gibbsppl.bugs.reading import Reading, value_of
from gibbsppl.checks.perturb import perturbed
from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.checks.terms import Terms, size_of
from gibbsppl.model.density import free_elements
from gibbsppl.model.evaluation import Floats
from gibbsppl.model.evaluation import Values as Arrays
from gibbsppl.model.graph import Graph
from gibbsppl.model.operations import Bools

Gap = tuple[float, float]

# How far states are moved; how far, and how often, where nothing is told so far; how often it is
# looked whether a difference stays, and how far from where it was.
SCALES, FAR, ATTEMPTS, LOOKS, NEARBY = (1.0, 0.1), 4.0, 20, 20, 1e-3
NOTHING_TOLD: Gap = (np.inf, 1.0)
# What has a square.
LARGEST = math.sqrt(float(np.finfo(float).max))


def gaps_of_reading(
    rng: np.random.Generator,
    reading: Reading,
    graph: Graph,
    data: Arrays,
    states: Sequence[Arrays],
) -> dict[str, Gap]:
    """How far model and program are apart, with the size of what is compared: the worst.

    Of the log density, and of quantities that are recorded. ``states`` have positive density; they
    are looked at as they are, and moved inside of the support.
    """
    program = reading.unrolled(reading.values(graph, {**data, **states[0]}))
    check = _Check(rng, reading, graph, program)
    found: dict[str, list[Gap]] = {"density": []}
    moved = _around(rng, graph, data, states)
    around = (values for state in moved for values in (state, *reading.orders(state)))
    seen = [(values, *check.difference(values)) for values in around]
    if reading.is_up_to_a_constant:
        finite = [(size, d) for *_, d, size in seen if np.isfinite(d)]
        _, check.constant = min(finite, default=(1.0, 0.0))
    for values, own, difference, size in seen:
        found["density"] += check.told(values, difference, size)
        found.setdefault("quantities", []).extend(check.quantities(own, values))
    for _ in range(ATTEMPTS):
        if not found["density"]:
            values = _moved(rng, graph, {**data, **states[0]}, FAR)
            found["density"] += check.told(values, *check.difference(values)[1:])
    found["density"] = found["density"] or [NOTHING_TOLD]
    return {what: max(gaps, key=_badness) for what, gaps in found.items() if gaps}


def _around(
    rng: np.random.Generator, graph: Graph, data: Arrays, states: Sequence[Arrays]
) -> Iterator[Arrays]:
    """Values of all arrays: states, and these with everything moved."""
    for state in states:
        yield {**data, **state}
        for scale in SCALES:
            yield _moved(rng, graph, {**data, **state}, scale)


def _moved(
    rng: np.random.Generator, graph: Graph, values: Arrays, scale: float, *, labels: bool = True
) -> Arrays:
    """Values with all that is drawn moved inside of its support."""
    moved = dict(values)
    for s in graph.latent:
        if labels or not s.support.is_discrete:
            free = free_elements(s, moved, graph.sizes)
            moved[s.target.array.name] = perturbed(rng, s, moved, graph.sizes, free, scale=scale)
    return moved


class _Check:
    """Compares a graph with a program at values of the graph's arrays."""

    def __init__(
        self, rng: np.random.Generator, reading: Reading, graph: Graph, program: Unrolled
    ) -> None:
        self.rng, self.reading, self.graph, self.program = rng, reading, graph, program
        self.terms = Terms(graph.factors, graph.sizes)
        self.constant = 0.0

    def told(self, values: Arrays, difference: float, size: float) -> list[Gap]:
        """The gap of the log densities at values; none where nothing is told."""
        difference -= self.constant
        if np.isnan(difference):
            return []
        size = self.terms.size_behind(abs(difference), size, (values,))
        if np.isfinite(difference) and abs(difference) > RELATIVE_TOLERANCE * size:
            others = (other - self.constant for other in self._nearby(values))
            if not all(0.5 < other / difference < 2 for other in others):
                return []
        return [(abs(difference), size)]

    def _nearby(self, values: Arrays) -> Iterator[float]:
        """Differences near to values, as they are with noise."""
        for _ in range(LOOKS):
            moved = _moved(self.rng, self.graph, values, NEARBY, labels=False)
            yield self.difference(moved, self.rng)[1]

    def difference(
        self, values: Arrays, noise: np.random.Generator | None = None
    ) -> tuple[Values, float, float]:
        """The program's values; log density of the model less its own; the size of the terms."""
        own = values_at(self.program, self.reading.values(self.graph, values), noise)
        given = self.terms.at(values)
        wanted = np.array(list(log_densities(own).values()))
        if not self.reading.is_in_order(values):
            wanted = np.append(wanted, -np.inf)
        return own, _apart(given, wanted), max(size_of(given, wanted), 1.0)

    def quantities(self, own: Values, values: Arrays) -> Iterator[Gap]:
        """The gaps of quantities that the program computes, at values in its order."""
        if not self.reading.is_in_order(values):
            return
        for quantity in self.graph.deterministics:
            if quantity.name in self.program.shapes:
                alone = values_at(self.program, own.given)
                there = alone.array(quantity.name)
                here = value_of(self.graph, quantity.name, values)
                # (in another order of operations what is infinite, none or 0 is another number)
                if _leaves_numbers(alone):
                    here = np.where(_has_digits(here) & _has_digits(there), here, there)
                gap, size = _gap(here, there)
                if RELATIVE_TOLERANCE * size < gap < np.inf:
                    noisy = values_at(self.program, own.given, self.rng).array(quantity.name)
                    if gap < LOOKS * _gap(noisy, there)[0]:
                        continue
                yield gap, size


def _apart(given: Floats, wanted: Floats) -> float:
    """The difference of the sums of terms; NaN where it tells nothing.

    That is where both densities are zero, or where the program is not defined in plain numbers.
    """
    is_possible = np.isfinite(given).all()
    if np.isneginf(wanted).any():
        return np.inf if is_possible else np.nan
    if not np.isfinite(wanted).all():
        return np.nan
    return float(given.sum() - wanted.sum()) if is_possible else -np.inf


def _gap(given: ArrayLike, wanted: ArrayLike) -> Gap:
    """The distance of two arrays, and the size of their entries."""
    finite = [np.abs(a[np.isfinite(a)]).max(initial=1.0) for a in map(np.asarray, (given, wanted))]
    same = np.isclose(given, wanted, rtol=0, atol=0, equal_nan=True)
    with np.errstate(invalid="ignore"):
        distance = np.where(same, 0.0, np.asarray(given) - wanted)
    return float(np.abs(distance).max(initial=0.0)), float(max(finite))


def _leaves_numbers(own: Values) -> bool:
    """Whether any value has no square that is a number, or one of 0.

    Of those that are computed for what was asked, data and constants left out.
    """
    known = own.unrolled.known
    sizes = (abs(v) for element, v in own.found.items() if element not in known and v != 0)
    return any(size > LARGEST or size < 1 / LARGEST for size in sizes)


def _has_digits(values: ArrayLike) -> Bools:
    return np.asarray(np.isfinite(values) & (np.asarray(values) != 0))


def _badness(gap: Gap) -> float:
    """How many times the size; what is no number is worst."""
    ratio = gap[0] / gap[1]
    return np.inf if np.isnan(ratio) else ratio
