"""One dispersed state: draws of priors that are not too vague, and a rule for the rest.

Comes in: a graph, its data, the share of the spread. Goes out: values of all latent variables,
whose density is not evaluated yet. With less spread, values are nearer to a centre: draws of a
prior to their median, values of the rule to the rule without noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import mentions
from gibbsppl.algebra.ranges import Range
from gibbsppl.analysis.known_limits import known_limits
from gibbsppl.errors import ModelError
from gibbsppl.initial.feasible import free_in, put_in_order, raise_to_observed
from gibbsppl.initial.nearing import brought_nearer
from gibbsppl.initial.requirements import requirements_of_observed
from gibbsppl.model.density import event_dims, kept_entries, regions
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.forward import State, drawn, fill, unfilled, walk
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.operations import Bools

CANDIDATES = 16
# So many numbers have their candidates at a time.
PART = 1 << 18
EDGE_OF_SIMPLEX = 1e-30
VAGUE_IN_DATA_SCALES = 10.0
VAGUE_IN_LOGS = np.log(1000.0) / 2


def dispersed(start: Start, data: Values, given: Values) -> State:
    """The starting values of an attempt; the values in ``given`` are kept."""
    graph = start.graph
    if any(p.of is None and p.guards is None for p in graph.potentials):
        values = unfilled(graph, data, given)
        for statement in graph.latent:
            if statement.target.array.name not in given:
                values = start.without_order(statement, values)
    else:
        stated = replace(graph, potentials=())
        values = walk(stated, data, start.draw, start.rng, given=given, observed=False)
    free = free_in(graph, values, start.asked)
    raise_to_observed(graph, values, free)
    put_in_order(graph, values, free)
    return brought_nearer(graph, requirements_of_observed(graph, free), values, free)


@dataclass(frozen=True, slots=True)
class Start:
    """One attempt at a starting state: ``shrink`` scales the spread, ``own`` that of single arrays.

    ``asked`` are the user's values, NaN where there is none. ``present``: binary values start at 1,
    since an individual that is present can be seen or not, and an absent individual cannot be seen.
    ``by_rule``: no draws of priors, but of labels and counts. ``unitless``: arrays with a scale of
    their own, whatever the scale of the data.
    """

    rng: np.random.Generator
    graph: Graph
    scale: float
    shrink: float
    asked: Values
    present: bool = False
    by_rule: bool = False
    unitless: Mapping[str, float] = field(default_factory=dict)
    own: Mapping[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def draw(self, statement: Statement, values: State) -> Floats:
        """The prior's draw where the prior is not vague, the rule's value elsewhere.

        Of a large array, part after part: there are many candidates for each element.
        """
        count = math.prod(len(r) for r in regions(statement, self.graph.sizes))
        if count <= PART or not statement.over:
            return self._draw(statement, values)
        first, *others = statement.over
        step = max(1, PART * len(first) // count)
        parts = (
            Range(first.dim, start, min(start + step, first.stop))
            for start in range(first.start, first.stop, step)
        )
        return np.concatenate(
            [self._draw(replace(statement, over=(part, *others)), values) for part in parts]
        )

    def _draw(self, statement: Statement, values: State) -> Floats:
        sizes = self.graph.sizes
        fallback = self._fallback(statement, values)
        try:
            candidates = drawn(self.rng, statement, values, sizes, draws=_draws_of(statement))
        except (ModelError, ValueError, FloatingPointError):
            vague = np.ones(fallback.shape, dtype=bool)
            candidates = fallback[None]
        else:
            vague = self._is_vague(statement, candidates, values)
        if self.by_rule and not statement.support.is_discrete:
            vague = np.ones(fallback.shape, dtype=bool)
        self._note(statement, vague)
        drawn_near = self._near_centre(statement, candidates, values)
        return self._as_asked(statement, np.where(vague, fallback, drawn_near), values)

    def shrink_of(self, statement: Statement) -> float:
        """How much of the spread a statement's values have."""
        return self.own.get(statement.target.array.name, self.shrink)

    def scale_of(self, statement: Statement) -> float:
        """The scale of a statement's values by the rule."""
        return self.unitless.get(statement.target.array.name, self.scale)

    def _near_centre(self, statement: Statement, candidates: Floats, values: Values) -> Floats:
        """The first of the prior's draws, moved towards the median of all; labels stay."""
        shrink, first = self.shrink_of(statement), np.asarray(candidates[0])
        if shrink == 1:
            return first
        match statement.support.kind:
            case "real":
                return _towards_median(candidates, *self._bounds(statement, values), shrink)
            case "vector":
                centre = np.median(candidates, axis=0)
                return np.asarray(centre + shrink * (first - centre))
            case "simplex":
                with np.errstate(divide="ignore"):
                    weights = np.where(first > 0, first**shrink, 0.0)
                return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
            case "spd":
                return np.asarray(shrink * first + (1 - shrink) * candidates.mean(axis=0))
            case _:
                return first

    def _as_asked(self, statement: Statement, found: Floats, values: Values) -> Floats:
        """The values, replaced by the user's values where given."""
        name, support = statement.target.array.name, statement.support
        if self.present and support.is_discrete and support.lower == 0 and support.upper == 1:
            found = np.ones_like(found)
        if name not in self.asked:
            return found
        here = {**values, name: self.asked[name]}
        asked = evaluate(
            statement.target, regions(statement, self.graph.sizes), here, self.graph.sizes
        )
        return np.where(np.isnan(asked), found, asked)

    def _note(self, statement: Statement, vague: Bools) -> None:
        share = "prior" if not vague.any() else "rule" if vague.all() else "prior and rule"
        before = self.notes.get(statement.name, share)
        self.notes[statement.name] = share if share == before else "prior and rule"

    def without_order(self, statement: Statement, values: Values) -> State:
        """The rule's values, for models that cannot be drawn in order (potentials)."""
        name, sizes = statement.target.array.name, self.graph.sizes
        here = {**values, name: np.array(values[name], dtype=np.float64)}
        free = True
        if statement.known != 0:
            free = evaluate(statement.known, regions(statement, sizes), values, sizes) == 0
        found = self._as_asked(statement, self._fallback(statement, values), values)
        fill(statement, found, here, sizes, where=free)
        self.notes[statement.name] = "rule"
        return here

    def _is_vague(self, statement: Statement, candidates: Floats, values: Values) -> Bools:
        """Where the candidates are not a start: too far apart, or on the edge of the support."""
        kind = statement.support.kind
        match kind:
            case "real" | "integer" | "vector":
                lower, upper = self._bounds(statement, values)
                return _is_spread(
                    candidates, lower, upper, self.scale_of(statement), kind == "integer"
                )
            case "simplex":
                kept = kept_entries(statement, values, self.graph.sizes)
                inside = (candidates[0] > EDGE_OF_SIMPLEX) | ~kept
                edge = ~inside.all(axis=-1, keepdims=True)
                return np.broadcast_to(edge, candidates.shape[1:])
            case "sphere":
                return np.zeros(candidates.shape[1:], dtype=bool)
            case "spd":
                edge = np.linalg.eigvalsh(candidates[0]).min(axis=-1)[..., None, None] <= 0
                return np.broadcast_to(edge, candidates.shape[1:])
            case "counts":
                return np.zeros(candidates.shape[1:], dtype=bool)

    def _bounds(self, statement: Statement, values: Values) -> tuple[Floats, Floats]:
        """The bounds of the support, narrowed by potentials unless nothing would be left."""
        if statement.support.kind == "vector":
            return np.asarray(-np.inf), np.asarray(np.inf)
        name, sizes = statement.target.array.name, self.graph.sizes
        lower, upper = (
            evaluate(sp.sympify(b), statement.over, values, sizes)
            for b in (statement.support.lower, statement.support.upper)
        )
        tied = [p for p in self.graph.potentials if mentions(p.log_density, (name,))]
        if not tied:
            return lower, upper
        told = known_limits(self.graph, values, name, tied)
        low, high = (
            evaluate(statement.target, statement.over, {**values, name: limit}, sizes)
            for limit in (told.lower, told.upper)
        )
        low, high = np.maximum(lower, low), np.minimum(upper, high)
        is_empty = low > high
        return np.where(is_empty, lower, low), np.where(is_empty, upper, high)

    def _fallback(self, statement: Statement, values: Values) -> Floats:
        """The rule's values: inside the support, of unit or data scale."""
        over = regions(statement, self.graph.sizes)
        shape = tuple(map(len, over))
        noise = self.shrink_of(statement) * self.rng.standard_normal(shape)
        batch = shape[: len(shape) - len(event_dims(statement))]
        match statement.support.kind:
            case "real" | "integer" | "vector" as kind:
                lower, upper = self._bounds(statement, values)
                inside = _inside(noise, lower, upper, self.scale_of(statement))
                whole = np.clip(np.rint(inside), lower, upper) if kind == "integer" else inside
                return np.asarray(whole)
            case "simplex":
                weights = np.exp(noise) * kept_entries(statement, values, self.graph.sizes)
                return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
            case "sphere":
                direction = self.rng.standard_normal(shape)
                return np.asarray(direction / np.linalg.norm(direction, axis=-1, keepdims=True))
            case "spd":
                return np.broadcast_to(np.eye(shape[-1]), shape).copy()
            case "counts":
                total = evaluate(
                    sp.sympify(statement.support.upper), statement.over, values, self.graph.sizes
                )
                totals = np.broadcast_to(np.rint(total).astype(int), batch)
                flat = np.full(shape[-1], 1 / shape[-1])
                return self.rng.multinomial(totals, flat).astype(np.float64)


def _draws_of(statement: Statement) -> int:
    """How many draws tell whether a prior is vague: one of labels and shares, which never are."""
    kind, is_finite = statement.support.kind, statement.support.is_finite
    return 1 if is_finite or kind in ("simplex", "counts", "sphere") else CANDIDATES


def _is_spread(
    candidates: Floats, lower: Floats, upper: Floats, scale: float, whole: bool
) -> Bools:
    """Whether the prior's candidates cover too wide a range to start from any of them."""
    bounded = np.isfinite(lower) & np.isfinite(upper)
    half = np.isfinite(lower) ^ np.isfinite(upper)
    distance = np.where(np.isfinite(lower), candidates - lower, upper - candidates)
    with np.errstate(all="ignore"):
        logs = _spread(np.log(distance + whole)) > VAGUE_IN_LOGS
        real = _spread(candidates) > VAGUE_IN_DATA_SCALES * scale
    edge = np.where(whole, False, (candidates == lower) | (candidates == upper))[0]  # noqa: FBT003
    # An interval much wider than the data is no better known than a half line.
    wide = ~np.asarray(whole) & (upper - lower > VAGUE_IN_DATA_SCALES * scale)
    half_line = ~np.isfinite(logs * 1.0) | logs | edge
    return np.where(bounded, edge | wide, np.where(half, half_line, real))


def _towards_median(candidates: Floats, lower: Floats, upper: Floats, shrink: float) -> Floats:
    """The first candidate, moved towards the median of all on the scale of the support."""
    bounded, above = np.isfinite(lower) & np.isfinite(upper), np.isfinite(lower)
    with np.errstate(all="ignore"):
        logits = np.log(candidates - lower) - np.log(upper - candidates)
        distance = np.log(np.where(above, candidates - lower, upper - candidates))
        half = above | np.isfinite(upper)
        scaled = np.where(bounded, logits, np.where(half, distance, candidates))
        centre = np.median(scaled, axis=0)
        near = centre + shrink * (scaled[0] - centre)
        between = lower + (upper - lower) / (1 + np.exp(-near))
        one_sided = np.where(above, lower + np.exp(near), upper - np.exp(near))
        found = np.where(bounded, between, np.where(half, one_sided, near))
    return np.asarray(np.where(np.isfinite(found), found, candidates[0]))


def _spread(candidates: Floats) -> Floats:
    """Half the distance between the quartiles; infinite if some candidates are."""
    finite = np.isfinite(candidates).all(axis=0)
    safe = np.where(finite, candidates, 0.0)
    low, high = np.quantile(safe, [0.25, 0.75], axis=0)
    return np.where(finite, (high - low) / 2, np.inf)


def _inside(noise: Floats, lower: Floats, upper: Floats, scale: float) -> Floats:
    """Points of unit or data scale between bounds that may be infinite.

    Bounds that are many scales away on both sides are as good as none.

    >>> one, wide, narrow = (_inside(np.array(0.5), -b, b, 1.0) for b in (np.inf, 100.0, 1.0))
    >>> print(one, wide, narrow.round(2))
    0.5 0.5 0.24
    """
    with np.errstate(all="ignore"):
        above, below = lower + np.exp(noise), upper - np.exp(noise)
        between = lower + (upper - lower) / (1 + np.exp(-np.clip(noise, -30, 30)))
    one_sided = np.where(np.isfinite(lower), above, np.where(np.isfinite(upper), below, 0.0))
    far = VAGUE_IN_DATA_SCALES * scale
    free = (lower < -far) & (upper > far)
    bounded = np.isfinite(lower) & np.isfinite(upper)
    near = np.clip(scale * noise, -far, far)
    return np.where(free, near, np.where(bounded, between, one_sided))
