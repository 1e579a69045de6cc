"""The log density, normalised, of the distribution that a step draws from, at a state.

Comes in: a step of a schedule, its program, the data and a state. Goes out: its terms, whose sum
counts, or None where the normaliser is out of reach. Natural parameters are read from the generated
``<name>_given_rest``; the normaliser is the log partition of the row, less the log probability
between bounds; of labels it is a sum over all of them; of what has no row it is integrated
numerically, element by element.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from gibbsppl.algebra.copies import primed, root_of
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import UNIT
from gibbsppl.checks.quadrature import log_integrals
from gibbsppl.checks.terms import Given
from gibbsppl.code.program import Constants, Program, State
from gibbsppl.derive.moments import Symbols, log_mass
from gibbsppl.families import FAMILIES
from gibbsppl.model.density import free_elements, log_density, regions, size_of_sum
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.forward import fill
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.runtime.by_rows import jointly_in
from gibbsppl.runtime.types import Flags
from gibbsppl.schedule.densities import (
    axis_along,
    in_array_order,
    log_terms_of,
    log_weights,
    on_new_scale,
    values_in_region,
)
from gibbsppl.schedule.kinds import FamilyDraw, LabelDraw
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

# Elements that are integrated numerically, at most.
MOST_INTEGRALS = 64


def log_conditional(
    schedule: Schedule,
    program: Program,
    data: Values,
    constants: Constants,
    step: Step,
    state: Values,
    names: Collection[str] = (),
) -> Floats | None:
    """The terms of the log density, normalised, that a step draws from, at a state.

    ``constants`` are what the program prepares of the data. ``names``: of these of its arrays
    alone, given the others.
    """
    graph = schedule.graph_of(step)
    is_whole = set(names or step.variables) == set(step.variables)
    if _is_own(graph, step) and is_whole:
        return _of_statements(step, {**data, **state}, graph.sizes)
    if step.is_by_element:
        return None
    normaliser = _normaliser(schedule, program, data, constants, step, state)
    return step.log_normalised(replace(normaliser, names=tuple(names or step.variables)))


def size_of_partition(
    schedule: Schedule,
    program: Program,
    data: Values,
    constants: Constants,
    step: Step,
    state: Values,
) -> float:
    """The size of the terms of the log partition of a row that a step draws from, at a state.

    Natural parameters are rounded: the ``a - 1`` of a Beta keeps no digits of an ``a`` near 0.
    """
    is_of_row = step.family is not None and not (step.is_joint or step.is_by_element)
    if not is_of_row or _is_own(schedule.graph_of(step), step):
        return 0.0
    constant = _normaliser(schedule, program, data, constants, step, state).partition()
    return 0.0 if constant is None else constant.size()


def _normaliser(
    schedule: Schedule,
    program: Program,
    data: Values,
    constants: Constants,
    step: Step,
    state: Values,
) -> Normaliser:
    given = program.given_rest[step.name](dict(state), constants)
    return Normaliser(step, given, {**data, **state}, schedule.graph_of(step), constants)


def _is_own(graph: Graph, step: Step) -> bool:
    """Whether a step draws from rows of families, normalised ones, with no factor beside them."""
    names = {s.name for s in step.statements}
    return all(s.family.name in FAMILIES and not _has_shares(s) for s in step.statements) and all(
        f.name in names for n in step.variables for f in graph.factors_of(n)
    )


def _has_shares(statement: Statement) -> bool:
    """Whether a density is normalised for parameters of sum one alone."""
    rows = statement.family.parameters
    return any(rows[n].event == 1 and rows[n].support == UNIT for n, _ in statement.arguments)


def _of_statements(step: Step, values: Values, sizes: Sizes) -> Floats:
    """The log densities of the drawn elements of statements."""
    return np.concatenate([_of_statement(s, values, sizes) for s in step.statements])


def _of_statement(statement: Statement, values: Values, sizes: Sizes) -> Floats:
    free = free_elements(statement, values, sizes)
    events = free.ndim - len(statement.over)
    drawn = free.any(axis=tuple(range(len(statement.over), free.ndim))) if events else free
    return np.ravel(np.where(drawn, log_density(statement, values, sizes), 0.0))


@dataclass(frozen=True, slots=True)
class _Partition:
    """The log of the integral of a row's density, between bounds: one for each of a batch."""

    log: Expr
    batch: tuple[Range, ...]
    values: Values
    sizes: Sizes

    def each(self) -> Floats:
        """Its values."""
        with np.errstate(all="ignore"):
            return evaluate(self.log, self.batch, self.values, self.sizes)

    def size(self) -> float:
        """The size of the terms that it is the sum of."""
        with np.errstate(all="ignore"):
            return size_of_sum(self.log, self.batch, self.values, self.sizes)


@dataclass(frozen=True, slots=True)
class _Changed:
    """Values after a change of variable, and the log density there."""

    x: Floats
    density: Callable[[Floats], Floats]


def log_normal_of_some(precision: Floats, away: Floats, some: Flags) -> Floats:
    """The terms of the log density of some elements given the others, of a normal vector.

    Their precision is that part ``Q`` of the matrix, and with ``away`` the vector less its mean
    they are off their mean given the others by ``Q^-1 (precision @ away)[some]``.

    >>> two = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> log_normal_of_some(two, np.ones(2), np.array([True, False])).round(6).tolist()
    [-0.572365, -2.25]
    """
    factor = np.linalg.cholesky(precision[np.ix_(some, some)])
    scaled = solve_triangular(factor, (precision @ away)[some], lower=True)
    own = np.log(np.diagonal(factor)) - np.log(2 * np.pi) / 2
    return np.concatenate([own, -(scaled**2) / 2], dtype=np.float64)


def _in_order(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The ends of an interval, the lower one first."""
    return np.minimum(a, b), np.maximum(a, b)


@dataclass(frozen=True, slots=True)
class Normaliser:
    """The ways to normalise the log density of a step, given what its function returned.

    It is that of the arrays named, given all else.
    """

    step: Step
    given: Given
    values: Values
    graph: Graph
    constants: Constants
    names: tuple[str, ...] = ()

    @property
    def sizes(self) -> Sizes:
        """The sizes of the dims of the graph."""
        return self.graph.sizes

    def of_row(self) -> Floats | None:
        """The terms of the row's density less its log partition, and less the mass in bounds."""
        constant = self._log_partition()
        if not np.isfinite(constant).all():
            return None if self.step.dense else self.integrated()
        free = free_elements(self.step.statement, self.values, self.sizes)
        if free.all():
            terms = log_terms_of(self.step, self.given, self.values, self.sizes)
            return np.concatenate([terms, -np.ravel(constant)])
        by_element = self._of_each(self._at_ranges(self.step.statement.target, free.shape))
        if by_element.shape != free.shape:
            return None
        return np.concatenate([by_element[free], -np.ravel(constant)])

    def _log_partition(self) -> Floats:
        """The log of the integral of the row's density, between bounds: one for each draw."""
        constant, statement = self.partition(), self.step.statement
        if constant is None:
            return np.full(1, np.nan)
        # (of what is drawn alone)
        free = free_elements(statement, self.values, self.sizes)
        over = regions(statement, self.sizes)
        axes = [a for a, r in enumerate(over) if r not in constant.batch]
        drawn = free.any(axis=tuple(axes))
        return np.where(drawn, np.broadcast_to(constant.each(), drawn.shape), 0.0)

    def partition(self) -> _Partition | None:
        """The log partition of the row, less the mass in bounds; None if there is no formula."""
        step, statement = self.step, self.step.statement
        assert isinstance(step, FamilyDraw)  # (each normaliser is named by its kind of step)
        conditional, natural = step.conditional, step.conditional.family.natural
        assert natural is not None
        event = conditional.own_event
        known = dict(conditional.known)
        is_known = {*natural.known} <= {*known}  # (bounds stand for what is not known)
        if natural.log_partition is None or not is_known:
            return None
        etas, bounds, values = self._named(step, event)
        along = {"event": event} if event else {}
        constant: Expr = natural.log_partition(*etas, **known, **along)
        if bounds:
            if conditional.family.log_cdf is None:
                return None
            of = Symbols(etas, conditional.event, known, bounds, conditional.change)
            constant += log_mass(conditional.family, of, etas)
        batch = tuple(r for r in statement.over if r.dim not in event)
        sizes = {**self.sizes, **{primed(d): self.sizes[d] for d in event}}
        return _Partition(sp.sympify(constant), batch, values, sizes)

    def _named(
        self, step: FamilyDraw, event: tuple[Dim, ...]
    ) -> tuple[tuple[Leaf, ...], tuple[Leaf, Leaf] | None, State]:
        """Natural parameters and bounds as leaves, and the values with theirs."""
        given = self.given if isinstance(self.given, tuple) else (self.given,)
        target = step.statement.target
        # (of the whole array, read where the statement fills it)
        place = dict(zip(self.graph.variables[target.array.name].dims, target.indices, strict=True))
        bounds = step.bounds
        sizes = {**self.sizes, **{primed(d): self.sizes[d] for d in event}}
        axes = [*(p.axes for p in step.parameters), *(b.axes for b in bounds)]
        values = dict(self.values)
        leaves = []
        for j, (own, value) in enumerate(zip(axes, given, strict=True)):
            dims = tuple(a if a in sizes else primed(Dim(root_of(a))) for a in own)
            values[f"~eta_{j}"] = np.broadcast_to(value, [sizes[a] for a in dims])
            leaves.append(Array(f"~eta_{j}")[tuple(place.get(d, d) for d in dims)])
        if not bounds:
            return tuple(leaves), None, values
        *etas, low, high = leaves
        return tuple(etas), (low, high), values

    def of_joint(self) -> Floats | None:
        """The normal log density of the arrays named; None where it has no precision matrix."""
        joint = jointly_in(self.constants, self.step.name)
        named = {n: np.full(shape, n in self.names) for n, shape in joint.shapes.items()}
        try:
            away = joint.flat(self.values) - joint.flat(joint.mean(self.values, self.given))
            precision = np.asarray(joint.precision(self.given), dtype=np.float64)
            return log_normal_of_some(precision, away, joint.flat(named) > 0)
        except np.linalg.LinAlgError:
            return None

    def of_labels(self) -> Floats:
        """The log weights of the labels less the logs of their sums."""
        step, statement = self.step, self.step.statement
        assert isinstance(step, LabelDraw)  # (as above)
        x = values_in_region(statement, self.values, self.sizes)
        weights = log_weights(step, self.given, x.shape)
        terms: Floats = log_terms_of(step, self.given, self.values, self.sizes)
        free = free_elements(statement, self.values, self.sizes)
        free = in_array_order(free, statement, regions(statement, self.sizes))
        sums = logsumexp(weights, axis=0)
        return np.concatenate([terms.reshape(x.shape)[free], -sums[free]])

    def integrated(self) -> Floats | None:
        """The log density less the logs of its integrals, one for each element."""
        statement = self.step.statement
        free = free_elements(statement, self.values, self.sizes)
        if statement.support.kind != "real" or free.sum() > MOST_INTEGRALS:
            return None
        ends = (statement.support.lower, statement.support.upper)
        x, lower, upper = (self._at_ranges(e, free.shape) for e in (statement.target, *ends))
        now = self._of_each(x)
        if now.shape != free.shape:
            return None
        step = self.step
        if step.change is not None:
            there, *limits = (self._changed(step, at) for at in (x, lower, upper))
            total = log_integrals(there.density, there.x, *_in_order(*(e.x for e in limits)))
        else:
            total = log_integrals(self._of_each, x, lower, upper)
        return np.concatenate([now[free], -total[free]])

    def _changed(self, step: Step, x: Floats) -> _Changed:
        """The draw on the scale of its statistics, at values of the elements.

        (A density that grows without bound at an end has its digits where that end is zero.)
        """
        name = step.statement.target.array.name
        moved = {**self.values, name: np.array(self.values[name], dtype=float)}
        fill(step.statement, x, moved, self.sizes)
        with np.errstate(all="ignore"):
            own, values = on_new_scale(step, moved, self.sizes)
        changed = step.on_new_scale(own)
        return replace(self, step=changed, values=values).as_changed(own.target, x.shape)

    def as_changed(self, target: Leaf, shape: tuple[int, ...]) -> _Changed:
        """The values of an element, and the log density of each as a function of it."""
        return _Changed(self._at_ranges(target, shape), self._of_each)

    def _at_ranges(self, expr: Expr, shape: tuple[int, ...]) -> Floats:
        """An expression at the positions of the statement's ranges, events last."""
        over = regions(self.step.statement, self.sizes)
        return np.broadcast_to(evaluate(sp.sympify(expr), over, self.values, self.sizes), shape)

    def _of_each(self, x: Floats) -> Floats:
        """The log density of each element at a value, up to its constant; axes as of the ranges."""
        statement, name = self.step.statement, self.step.statement.target.array.name
        moved = {**self.values, name: np.array(self.values[name], dtype=float)}
        fill(statement, x, moved, self.sizes)
        terms: Floats = log_terms_of(self.step, self.given, moved, self.sizes)
        if terms.size % max(x.size, 1):
            return terms
        by_element = terms.reshape(-1, x.size).sum(axis=0)
        axes = (axis_along(i, regions(statement, self.sizes)) for i in statement.target.indices)
        order = [a for a in axes if a is not None]
        ordered: Floats = by_element.reshape([x.shape[a] for a in order])
        return np.transpose(ordered, np.argsort(order)) if order else ordered
