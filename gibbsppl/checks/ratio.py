"""The exact ratio check: every generated conditional against the joint density.

For a step that draws ``x`` from ``q(x | rest)``, and two values that differ in ``x`` alone,

    log_joint(x1) - log_joint(x0) == log q(x1) - log q(x0)

to rounding, whatever the model. ``q`` is read from the generated ``*_given_rest``; the joint from
`gibbsppl.model.density`. Once all elements that one call draws are changed, and once a single one:
a chain misread as independent elements, or two elements of one colour that see each other, pass the
second and fail the first. Joint draws are looked at about their mean as well (`checks.joint`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Expr, mentions
from gibbsppl.algebra.functions import INDICATORS
from gibbsppl.algebra.supports import POSITIVE
from gibbsppl.checks.edges import are_edges
from gibbsppl.checks.elements_by_call import calls_of, draws_each_once, gap_of_calls, of_statement
from gibbsppl.checks.joint import gap_of_joint, gap_of_normal, gap_of_pencil
from gibbsppl.checks.perturb import Which, perturbed
from gibbsppl.checks.results import RELATIVE_TOLERANCE, Row, badness
from gibbsppl.checks.terms import Given, Terms, keeps_digits, size_of
from gibbsppl.code.program import Constants, Program, State
from gibbsppl.errors import RunError
from gibbsppl.model.density import (
    free_elements,
    has_overflowed,
    has_parameters_outside,
    log_terms,
    regions,
)
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.forward import fill
from gibbsppl.model.graph import Factor, Graph, Statement
from gibbsppl.model.operations import Bools
from gibbsppl.model.stand_ins import with_stand_ins
from gibbsppl.runtime.by_rows import jointly_in
from gibbsppl.runtime.pencils import pencil_in
from gibbsppl.schedule.densities import has_no_digits, log_terms_of
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

# At most so many calls of a step drawn colour by colour are checked, each so often: where few
# elements are changed, two labels that meet may both stay as they are.
MOST_CALLS = 64
FEW, ROUNDS_OF_FEW, ROUNDS_OF_MANY = 1000, 12, 2
# A change of this size, on the scale of the support, leaves bounds that other variables set; one of
# that size goes where the sign of a difference is another.
WIDE, FAR = 8.0, 4.0
# Powers of two at which a positive value is checked, far from all numbers with digits beside it.
FAR_OUT = (*(s * p for p in (50, 60, 80, 150, 400, 1000) for s in (1, -1)),)
# Values less likely by this log ratio are never drawn, however far a change goes.
LEAST = math.log(np.finfo(float).tiny)


def ratio_check(  # noqa: PLR0913  (settings, all named at the call)
    rng: np.random.Generator,
    graph: Graph,
    program: Program,
    steps: Sequence[Step],
    data: Values,
    state: Values,
    *,
    rounds: int = 2,
    graphs: Sequence[Graph] | None = None,
    schedule: Schedule | None = None,
) -> list[Row]:
    """For each step, the gap between its conditional and the joint density, at random values.

    ``steps`` are a schedule's, ``graphs`` those in which they draw (all in ``graph`` by default);
    ``state`` has positive density. ``schedule`` has the stand-ins of some graphs.
    """
    terms = log_terms(graph, {**data, **state})
    if zero := [name for name, term in terms.items() if not np.isfinite(term)]:
        raise RunError(
            f"{zero[0]}: the state to check at has zero density; pass one inside the support, such "
            "as gibbsppl.initial.search.initial_state makes."
        )
    constants = program.prepare(data)
    found = []
    for step, own in zip(steps, graphs or [graph] * len(steps), strict=True):
        changes = () if schedule is None else schedule.stand_ins(step)
        values = with_stand_ins(changes, {**data, **state}, own.sizes)
        names = frozenset((*state, *(r.name for r in changes)))
        found.append(_check_of(step, own, program, constants, values, names).row(rng, rounds))
    return found


def _check_of(
    step: Step,
    graph: Graph,
    program: Program,
    constants: Constants,
    values: Values,
    in_state: frozenset[str],
) -> _Check:
    """The check of a step at a state, with all values common to its comparisons."""
    check = _Check(step, graph, program, constants, values, in_state)
    with np.errstate(all="ignore"):
        given = program.given_rest[step.name](check.state(), constants)
    return replace(check, before=check.entered.at(values), given=given)


@dataclass(frozen=True, slots=True)
class _Check:
    """The check of a step at a state, with the log density before and the step's parameters."""

    step: Step
    graph: Graph
    program: Program
    constants: Constants
    values: Values
    in_state: frozenset[str]
    before: Any = None
    given: Given = None

    def row(self, rng: np.random.Generator, rounds: int) -> Row:
        """The worst comparison of the step."""
        step = self.step
        name, family = step.name, step.family.name if step.family else "-"
        if not np.isfinite(self.before).all():  # (in the graph of the step alone)
            return Row(name, step.kind, family, np.inf, 0.0)
        by_element: tuple[Which | None, ...] = ("any", "first", "last")
        at_once: tuple[Which | None, ...] = (None, "any")
        found = [
            self._compared(rng, single)
            for _ in range(rounds)
            for single in (by_element if step.is_by_element else at_once)
        ]
        found += [self._compared(rng, "any", first=FAR) for _ in range(2 * rounds)]
        is_told = any(tolerance < 1.0 for _, tolerance in found)  # (a gap of one would be seen)
        found += self._by_colour(rng)
        if step.is_joint:
            found += self._about_the_mean(rng, step)
        if step.reference is not None and step.of_reference is not None:
            terms = Terms(step.of_reference.factors, self.graph.sizes)
            own = step.reference, self.constants, self.given[-1], self.values, terms
            gap, size = gap_of_normal(rng, *own)
            found.append((gap, RELATIVE_TOLERANCE * size))
        if step.bounds:
            found.append((0.0 if self._has_its_edges(rng, step) else np.inf, 0.0))
        if step.is_move and step.statement.support == POSITIVE:
            found.append((np.inf if self._runs_away(rng, step) else 0.0, 0.0))
        row = Row(name, step.kind, family, *max(found, key=badness))
        if has_no_digits(step, self.values, self.graph.sizes):
            return replace(row, discrepancy=None, is_hidden=True)
        return row if is_told or not row.passed else replace(row, discrepancy=None, is_hidden=True)

    def _about_the_mean(
        self, rng: np.random.Generator, step: Step
    ) -> list[tuple[float, float]]:
        """The comparisons of a joint draw on both sides of its mean."""
        joint = jointly_in(self.constants, step.name)
        terms = self.entered
        found = [gap_of_joint(rng, step, joint, self.given, self.values, self.graph.sizes, terms)]
        if step.name in self.program.scaled:
            pencil = pencil_in(self.constants, step.name)
            scaled = self.program.scaled[step.name](self.state(), self.constants)
            found.append(gap_of_pencil(rng, pencil, scaled, self.values, terms))
        return [(gap, RELATIVE_TOLERANCE * size) for gap, size in found]

    def _has_its_edges(self, rng: np.random.Generator, step: Step) -> bool:
        """Whether the bounds of a draw are the bounds of the model."""
        sizes = self.graph.sizes

        def possible(values: Values) -> bool:
            return bool(np.isfinite(log_terms_of(step, self.given, values, sizes)).all())

        return are_edges(rng, step, self.given, self.values, sizes, self.entered, possible)

    def _runs_away(self, rng: np.random.Generator, step: Step) -> bool:
        """Whether rounding makes far values probable against the model.

        Positive values are moved by their logs: where terms cancel that are larger than all else, a
        log density that has lost the rest is level there, and that of the log rises without end.
        """
        statement, sizes = step.statement, self.graph.sizes
        name = statement.target.array.name
        free = free_elements(statement, self.values, sizes)
        if not free.any():
            return False
        over = regions(statement, sizes)
        found = evaluate(statement.target, over, self.values, sizes)
        x = np.array(np.broadcast_to(found, free.shape))
        place = tuple(rng.choice(np.argwhere(free)))
        for power in FAR_OUT:
            there = x.copy()
            there[place] = 2.0**power
            changed = {**self.values, name: np.array(self.values[name], dtype=float)}
            fill(statement, there, changed, sizes)
            by_log = power * np.log(2.0) - np.log(x[place])
            drawn = np.asarray(changed[name]) != np.asarray(self.values[name])
            own = drawn if step.name in self.program.colours else None
            with np.errstate(all="ignore"):
                model = _total(self.entered.at(changed)) - _total(self.before) + by_log
                log_q = [
                    _total(log_terms_of(step, self.given, v, sizes, own))
                    for v in (changed, self.values)
                ]
            # (what is no number is where moves do not go)
            if model < -1.0 and 0 <= log_q[0] - log_q[1] + by_log < np.inf:
                return True
        return False

    def _by_colour(self, rng: np.random.Generator) -> list[tuple[float, float]]:
        """The comparisons of a step that is drawn colour by colour: all of one call changed."""
        step = self.step
        calls = calls_of(step, self.program, self.constants, self.values)
        if not calls:
            return []
        sizes = self.graph.sizes
        free = free_elements(step.statement, self.values, sizes)
        found = [(0.0 if draws_each_once(calls, step.statement, free, sizes) else np.inf, 0.0)]
        gap, size = gap_of_calls(rng, step, self.program, self.constants, self.state())
        found.append((gap, RELATIVE_TOLERANCE * size))
        some = rng.choice(len(calls), min(len(calls), MOST_CALLS), replace=False)
        for drawn in (calls[n] for n in some):
            rounds = ROUNDS_OF_FEW if drawn.sum() < FEW else ROUNDS_OF_MANY
            found += [self._compared(rng, None, drawn) for _ in range(rounds)]
        return found

    def _compared(
        self,
        rng: np.random.Generator,
        single: Which | None,
        drawn: Bools | None = None,
        first: float = 1.0,
    ) -> tuple[float, float]:
        """Discrepancy and tolerance for one random change, of finite density if one is found.

        ``drawn`` marks the elements that one call draws, if not all; ``first`` is the size of the
        change that is tried first.
        """
        step, before, given = self.step, self.before, self.given
        changed, after = self._changed(rng, single, drawn, first)
        if step.name in self.program.colours:
            # Of a log density of each element, those that have moved count.
            name = step.variables[0]
            drawn = np.asarray(changed[name]) != np.asarray(self.values[name])
        sizes = self.graph.sizes
        log_q = [log_terms_of(step, given, v, sizes, drawn) for v in (self.values, changed)]
        joint = _total(after) - _total(before)
        conditional = _total(log_q[1]) - _total(log_q[0])
        outside = 0.0 if first == FAR else self._outside(rng)
        discrepancy = max(_distance(joint, conditional), outside)
        size = size_of(before, after, *log_q)
        size = self.entered.size_behind(discrepancy, size, (self.values, changed))
        # (the log of what is near one is rounded as one is)
        rounded = np.finfo(float).eps * sum(t.size for t in (before, after, *log_q))
        return discrepancy, RELATIVE_TOLERANCE * size + rounded

    def _outside(self, rng: np.random.Generator) -> float:
        """Discrepancy for a change large enough to leave the bounds set by other variables.

        The conditional must exclude all values that the joint density excludes: bounds that are
        too wide show in no other way.
        """
        step, sizes = self.step, self.graph.sizes
        is_within = bool(step.bounds) or step.labels is not None or step.may_leave
        for beyond in (False, True) if is_within else (False,):
            there = self._moved(rng, WIDE, "any", beyond=beyond)
            if self._overflows(there):
                continue
            if np.isneginf(self._excluding(beyond).at(there)).any() or self._undefined(there):
                log_q = _total(log_terms_of(step, self.given, there, sizes))
                if not (log_q == -np.inf or np.isnan(log_q)):
                    return np.inf
        return 0.0

    def _changed(
        self, rng: np.random.Generator, single: Which | None, drawn: Bools | None, first: float
    ) -> tuple[State, Floats]:
        """Values with a change of the drawn elements, halved until possible.

        And until the log density there keeps its digits.
        """
        after = self.before
        changed = dict(self.values)
        for scale in first * 0.5 ** np.arange(12):
            changed = self._moved(rng, scale, single, drawn=drawn)
            after = self.entered.at(changed)
            is_near = scale <= 1.0 or _total(after) > _total(self.before) + LEAST
            has_digits = not has_no_digits(self.step, changed, self.graph.sizes)
            if has_digits and keeps_digits(np.abs(after).sum()) and is_near:
                break
        return changed, after

    def _moved(
        self,
        rng: np.random.Generator,
        scale: float,
        single: Which | None,
        *,
        beyond: bool = False,
        drawn: Bools | None = None,
    ) -> State:
        """Values with random changes of all drawn elements, of a part, or of a single element."""
        step, moved, sizes = self.step, dict(self.values), self.graph.sizes
        free = {s.name: free_elements(s, self.values, sizes) for s in step.statements}
        if drawn is not None:
            free = {s.name: free[s.name] & of_statement(drawn, s, sizes) for s in step.statements}
        some = [s for s in step.statements if free[s.name].any()] or list(step.statements)
        for s in [some[rng.integers(len(some))]] if single else step.statements:
            moved[s.target.array.name] = perturbed(
                rng, s, moved, sizes, free[s.name], scale=scale, single=single, beyond=beyond
            )
        return moved

    @property
    def entered(self) -> Terms:
        """The log densities of all factors that mention the variables."""
        names = {f.name for n in self.step.variables for f in self.graph.factors_of(n)}
        return Terms([f for f in self.graph.factors if f.name in names], self.graph.sizes)

    def _overflows(self, values: Values) -> bool:
        """Whether a parameter of a factor that mentions the variables is too large for a number."""
        seen = (f for n in self.step.variables for f in self.graph.factors_of(n))
        return any(
            has_overflowed(f, values, self.graph.sizes) for f in seen if isinstance(f, Statement)
        )

    def _undefined(self, values: Values) -> bool:
        """Whether a parameter of a factor that mentions the variables is outside of its support."""
        seen = (f for n in self.step.variables for f in self.graph.factors_of(n))
        return any(
            has_parameters_outside(f, values, self.graph.sizes)
            for f in seen
            if isinstance(f, Statement)
        )

    def _excluding(self, beyond: bool) -> Terms:
        """The log densities of factors that restrict a variable by bounds or logs of indicators.

        (Elsewhere a log density of minus infinity is an overflow.)
        """
        step = self.step
        own = step.statements if beyond else ()
        seen = ((f, n) for n in step.variables for f in self.graph.factors_of(n))
        return Terms([*own, *(f for f, n in seen if _has_bounds(f, n))], self.graph.sizes)

    def state(self) -> State:
        """The state of a chain, as a copy."""
        return {n: np.array(v) for n, v in self.values.items() if n in self.in_state}


def _has_bounds(factor: Factor, name: str) -> bool:
    """Whether a factor is impossible for some values of a variable: logs of indicators of it."""
    logs = (e.args[0] for e in factor.log_density.atoms(sp.log))
    told: list[Expr] = [i for e in logs for i in e.atoms(*INDICATORS)]
    if isinstance(factor, Statement) and factor.target.array.name != name:
        told += [sp.sympify(b) for b in (factor.support.lower, factor.support.upper)]
    return any(mentions(e, (name,)) for e in told)


def _total(terms: Floats) -> float:
    """The sum, ``-inf`` where any term is."""
    return -np.inf if np.isneginf(terms).any() else float(np.sum(terms))


def _distance(a: float, b: float) -> float:
    """The distance of two numbers: 0 for the same infinity, infinite for NaN."""
    if a == b:
        return 0.0
    return float(np.nan_to_num(abs(a - b), nan=np.inf, posinf=np.inf))


