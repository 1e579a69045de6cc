"""Moments of the conditional of one step along draws: mean, sd, probabilities of labels.

Comes in: a step, and draws as states. Goes out: arrays whose first axis is the draws. The formulas
of `gibbsppl.derive.moments` are evaluated once for many draws; the step's generated function alone
is called draw by draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod
from typing import Any, Literal, NoReturn, TypeAlias

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike, NDArray

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf
from gibbsppl.algebra.ranges import Range, size_of
from gibbsppl.code.program import Constants, Program
from gibbsppl.derive.moments import Moments, NoFormula, Symbols, moments
from gibbsppl.errors import RunError
from gibbsppl.model.along_draws import DRAW
from gibbsppl.model.density import event_dims, regions
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.forward import fill
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import region_of, slices_of
from gibbsppl.runtime.by_rows import jointly_in
from gibbsppl.runtime.label_chains import known_labels, smoothed
from gibbsppl.runtime.labels import LogWeights
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.steps import Step

What = Literal["mean", "sd", "probabilities"]
# The moments of variables that are drawn jointly, by name, for each draw.
Jointly: TypeAlias = Sequence[Mapping[str, Any]]


def refusal(step: Step, what: What) -> str | None:
    """The reason why a step's conditional has no such moment, with advice; else None."""
    if step.labels is not None:
        return None
    if step.family is None:
        return (
            f"it is drawn by {step.kernel}, not from a closed form, so that the moments of its "
            "conditional have no formula; take those of its draws."
        )
    if what == "probabilities" and values_of(step) is not None:
        what = "mean"
    if what == "probabilities":
        return "found real values or counts, expected labels; ask for conditional_mean."
    # (formulas are those of rows of the family table)
    found = formulas_of(step) if isinstance(step, FamilyDraw) else None
    if isinstance(found, NoFormula):
        return f"{found.reason}; take the moments of its draws."
    if found is not None and what == "sd" and found.variance is None:
        return "its conditional has a formula for the mean, but none for the sd."
    return None


def labels_of(step: Step) -> range:
    """The values that a step draws labels from."""
    assert step.labels is not None
    return step.labels


def values_of(step: Step) -> range | None:
    """The values whose probabilities are known: labels, or 0 and 1; else None."""
    if step.labels is None and isinstance(step, FamilyDraw):
        return range(2) if step.statement.support.is_binary else None
    return step.labels


# Formulas: of arrays with one value for each draw, whose names no model can have.


@lru_cache(maxsize=256)
def formulas_of(step: FamilyDraw) -> Moments | NoFormula:
    """The moments of a closed form."""
    conditional, statement = step.conditional, step.statement
    bounds, change = None, conditional.change
    if step.bounds:
        low, high = (_leaf(b.side, statement.target.indices) for b in step.bounds)
        bounds = (low, high)
    if change is not None:
        signs = {name: bool(e.is_positive) or None for name, e in change.given.items()}
        given = {name: _given(name, statement, positive=sign) for name, sign in signs.items()}
        constant, origin = (given.get(n, getattr(change, n)) for n in ("constant", "origin"))
        change = replace(change, constant=constant, origin=origin)
    symbols = Symbols(
        etas=tuple(_eta(step, j) for j in range(len(step.parameters))),
        event=conditional.event if step.dense else event_dims(statement),
        known={n: _given(n, statement) for n, _ in conditional.known},
        bounds=bounds,
        change=change,
    )
    return moments(conditional.family, symbols)


def _leaf(name: str, indices: Sequence[Expr], *, positive: bool | None = None) -> Leaf:
    return Array(f"·{name}", positive=positive)[(DRAW, *indices)]


def _given(name: str, statement: Statement, *, positive: bool | None = None) -> Leaf:
    """What is given along the ranges of a statement: a known parameter, say."""
    return _leaf(name, [r.dim - r.start for r in statement.over], positive=positive)


def _eta(step: FamilyDraw, j: int) -> Leaf:
    """The natural parameter of a statistic, at an element of the variable."""
    name, axes = f"eta_{j + 1}", step.parameters[j].axes
    if step.dense:
        entry = step.conditional.event[0]
        return _leaf(name, (*_batch_dims(step), *(entry, primed(entry))[: 1 + j]))
    indices, event = step.statement.target.indices, event_dims(step.statement)
    partners = [primed(e) for e in event[: max(0, len(axes) - len(indices))]]
    own = indices if len(axes) >= len(indices) else [i for i in indices if i not in event]
    return _leaf(name, (*own, *partners))


def _batch_dims(step: FamilyDraw) -> tuple[Dim, ...]:
    return tuple(Dim(f"axis {a} of a block~") for a in step.batch)


# Values


class State(dict[str, NDArray[Any]]):
    """The variables of one draw; reading a missing variable is an error with advice."""

    __slots__ = ("reader", "stale")

    def __init__(self, values: Values, reader: str, stale: frozenset[str]) -> None:
        super().__init__((n, value) for n, value in values.items() if n not in stale)
        self.reader, self.stale = reader, stale

    def __missing__(self, name: str) -> NoReturn:
        if name in self.stale:
            raise RunError(
                f"{self.reader}: its conditional depends on {name}, which is integrated out again "
                "before the end of a sweep, so that no draw has it; take the moments of the draws."
            )
        raise RunError(
            f"{name}: the conditional of {self.reader} depends on it, but it is not among the "
            f"draws ({', '.join(self)}); name it in keep= when sampling, beside the others."
        )

    def __or__(self, other: Any) -> Any:
        return State({**self, **other}, self.reader, self.stale)


@dataclass(frozen=True, slots=True, eq=False)
class Along:
    """The conditional of a step in its graph, along some draws.

    ``kept`` is what all of its statements share, computed when the first one asks for it.
    """

    step: Step
    graph: Graph
    program: Program
    constants: Constants
    data: Values
    states: Sequence[State]
    of: Statement
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def statement(self) -> Statement:
        """The statement, its target in arrays whose first axis is the draws."""
        own, along = self.of, Range(DRAW, 0, len(self.states))
        target = Leaf(own.target.array, DRAW, *own.target.indices)
        return replace(own, target=target, over=(along, *own.over))

    @property
    def sizes(self) -> dict[Dim, int]:
        """The sizes of dims, the draws being one."""
        return {**self.graph.sizes, DRAW: len(self.states)}

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the whole array."""
        dims = self.graph.variables[self.step.statement.target.array.name].dims
        return tuple(self.graph.sizes[d] for d in dims)

    def put(self, values: Floats, into: Floats) -> None:
        """Write values over the region of the statement, where it is not known."""
        statement, sizes = self.statement, self.sizes
        where: NDArray[np.bool_] | bool = True
        if statement.known != 0:
            where = evaluate(statement.known, regions(statement, sizes), self.data, sizes) == 0
        fill(statement, values, {statement.target.array.name: into}, sizes, where=where)

    def put_probabilities(self, into: Floats, labels: range) -> None:
        """Write the probability of each of the labels, the last axis."""
        if self.step.labels is None:  # (of 0 and 1 the mean says it)
            mean = self.moment("mean")
            for j, p in enumerate((1 - mean, mean), -labels.start):
                self.put(p, into[..., j])
            return
        own, found = labels_of(self.step), self._probabilities()
        for j, label in enumerate(labels):
            p = found[..., label - own.start] if label in own else np.zeros(found.shape[:-1])
            self.put(self._read(p), into[..., j])

    def jointly(self, what: What) -> Jointly:
        """The means or the sds of all that is drawn jointly."""
        joint = jointly_in(self.constants, self.step.name)
        moments = joint.mean if what == "mean" else joint.sd
        return [moments(s, given) for s, given in zip(self.states, self._given(), strict=True)]

    def put_joint(self, found: Jointly, name: str, into: Floats) -> None:
        """Write the moments of an array that is drawn jointly with others, where it is drawn."""
        drawn = jointly_in(self.constants, self.step.name).drawn[name]
        for n, of_draw in enumerate(found):
            into[n] = np.where(drawn, of_draw[name], into[n])

    def moment(self, what: What) -> Floats:
        """The mean or the sd over the region of the statement."""
        step = self.step
        if isinstance(step, FamilyDraw):
            formulas = formulas_of(step)
            assert isinstance(formulas, Moments)
            variance = formulas.variance
            assert what == "mean" or variance is not None
            formula = formulas.mean if variance is None or what == "mean" else sp.sqrt(variance)
            values = {**self.data, **self._arrays(step)}
            if step.dense:
                return self._of_block(step, formula, values)
            over = regions(self.statement, self.sizes)
            return _full(evaluate(formula, over, values, self.sizes), over)
        label, p = np.asarray(labels_of(step)), self._probabilities()
        mean = p @ label
        if what == "mean":
            return self._read(mean)
        return self._read(np.sqrt((p * (label - mean[..., None]) ** 2).sum(axis=-1)))

    def _given(self) -> Iterator[Any]:
        """What the step's generated function returns, draw by draw."""
        given_rest = self.program.given_rest[self.step.name]
        return (given_rest(state, self.constants) for state in self.states)

    def _read(self, whole: Floats) -> Floats:
        """The region of the statement out of whole arrays."""
        statement, sizes = self.statement, self.sizes
        values = {statement.target.array.name: whole}
        return evaluate(statement.target, regions(statement, sizes), values, sizes)

    def _probabilities(self) -> Floats:
        """Those of a step's labels, the last axis."""
        if "probabilities" not in self.kept:
            axis = self.step.axis  # (along it: given the rest, but not the chain's other labels)
            found = self._of_weights() if axis is None else self._smoothed(axis)
            self.kept["probabilities"] = found
        probabilities: Floats = self.kept["probabilities"]
        return probabilities

    def _of_weights(self) -> Floats:
        """The probabilities of labels from their log weights."""
        shape = self.shape
        # (as one array at first: entries of tables of log weights are read all at a time)
        given = (np.asarray(g) if isinstance(g, LogWeights) else g for g in self._given())
        logs = np.array(
            [[np.broadcast_to(np.asarray(w, dtype=float), shape) for w in g] for g in given]
        )
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.moveaxis(weights / weights.sum(axis=1, keepdims=True), 1, -1)

    def _smoothed(self, axis: int) -> Floats:
        """The probabilities of labels along chains, given all else: one chain for each draw."""
        step = self.step
        drawn = [
            (
                [(p.start, p.stop) for p in slices_of(region_of(self.graph, s))],
                None if s.mask is None else self.data[s.mask],
            )
            for s in step.statements
        ]
        known = known_labels(self.shape, *drawn)
        now = np.zeros((len(self.states), *self.shape))
        if known.any():
            now[:] = [state[step.name] for state in self.states]
        given = [tuple(map(np.asarray, g)) for g in self._given()]
        idle = (np.newaxis,) * len(self.shape)
        weights = np.stack([w for w, _ in given], axis=1)
        transitions = np.stack([t[..., *idle] if t.ndim == 2 else t for _, t in given], axis=2)
        found = smoothed(
            weights, transitions, name=step.name, axis=axis + 1, lower=labels_of(step).start,
            now=now, known=np.broadcast_to(known, now.shape),
        )  # fmt: skip
        return np.asarray(np.moveaxis(found, 0, -1), dtype=np.float64)

    def _of_block(self, step: FamilyDraw, formula: Expr, values: Values) -> Floats:
        """A formula over batches and the entries of a block, put back in the array's order."""
        entry, batch = step.conditional.event[0], _batch_dims(step)
        lengths = [s.stop - s.start for s in step.drawn]
        dense = [self.shape[a] for a in step.dense]
        sizes = {**self.sizes, **dict(zip(batch, lengths, strict=True))}
        sizes |= {entry: prod(dense), primed(entry): prod(dense)}
        over = tuple(Range(d, 0, sizes[d]) for d in (DRAW, *batch, entry))
        found = _full(evaluate(formula, over, values, sizes), over)
        order = (*step.batch, *step.dense)
        axes = (0, *(1 + order.index(a) for a in range(len(order))))
        whole = np.empty((len(found), *self.shape))
        whole[:, *slices_of(step.region)] = found.reshape(-1, *lengths, *dense).transpose(axes)
        return self._read(whole)

    def _arrays(self, step: FamilyDraw) -> dict[str, Floats]:
        """The arrays that formulas are written in, the draws along their first axis."""
        if "arrays" not in self.kept:
            self.kept["arrays"] = self._arrays_made(step)
        arrays: dict[str, Floats] = self.kept["arrays"]
        return arrays

    def _arrays_made(self, step: FamilyDraw) -> dict[str, Floats]:
        found: dict[str, list[Floats]] = {}
        over, sizes = step.statement.over, self.sizes
        for state, given in zip(self.states, self._given(), strict=True):
            named = dict(self._named(step, given))
            for name, formula in _others(step).items():
                value = evaluate(formula, over, {**self.data, **state}, sizes)
                named[name] = _full(value, over)
            for name, value in named.items():
                found.setdefault(f"·{name}", []).append(value)
        return {name: np.array(values) for name, values in found.items()}

    def _named(self, step: FamilyDraw, given: Sequence[ArrayLike]) -> Iterator[tuple[str, Floats]]:
        """What a generated function has returned, by name, at full length along its axes."""
        if step.dense:
            batch = tuple(self.shape[a] for a in step.batch)
            size = prod(self.shape[a] for a in step.dense)
            for j, eta in enumerate(map(np.asarray, given)):
                entries = (size,) * (1 + j)
                flat = eta.reshape(*eta.shape[: len(batch)], *entries)
                yield f"eta_{j + 1}", np.broadcast_to(flat, (*batch, *entries))[step.drawn]
            return
        names = [f"eta_{j + 1}" for j in range(len(step.parameters))]
        names += [b.side for b in step.bounds]
        axes = [*(p.axes for p in step.parameters), *(b.axes for b in step.bounds)]
        for name, own, value in zip(names, axes, given, strict=True):
            full = tuple(size_of(d, self.graph.sizes) for d in own)
            yield name, np.broadcast_to(np.asarray(value, dtype=float), full)


def _others(step: FamilyDraw) -> dict[str, Expr]:
    """The parameters of formulas beside natural parameters: of the family, and of a change."""
    change = step.conditional.change
    return dict(step.conditional.known) | ({} if change is None else change.given)


def _full(value: Floats, over: Sequence[Range]) -> Floats:
    return np.broadcast_to(value, tuple(map(len, over)))


def numbers_of(step: Step, graph: Graph) -> int:
    """How many numbers a step's conditional takes, for one draw."""
    arrays = (graph.variables[name].dims for name in step.variables)
    size = sum(prod(graph.sizes[d] for d in dims) for dims in arrays)
    if step.labels is not None:
        # (along a chain: for each label also those before it)
        return max(1, size * len(step.labels) ** (1 if step.axis is None else 2))
    axes = [p.axes for p in step.parameters] if isinstance(step, FamilyDraw) else []
    return max(1, size, *(prod(size_of(d, graph.sizes) for d in own) for own in axes))
