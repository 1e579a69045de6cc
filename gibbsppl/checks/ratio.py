"""The exact ratio check: every generated conditional against the joint density.

For a step that draws ``x`` from ``q(x | rest)``, and two values that differ in ``x`` alone,

    log_joint(x1) - log_joint(x0) == log q(x1) - log q(x0)

to rounding, whatever the model. ``q`` is read from the generated ``*_given_rest``; the joint from
`gibbsppl.density`. Once all elements that one call draws are changed, and once a single one: a
chain misread as independent elements, or two elements of one colour that see each other, pass the
second and fail the first. Joint draws are looked at about their mean as well (`checks.joint`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.backends.program import Program
from gibbsppl.bugs.reading import Reading
from gibbsppl.checks.calls import calls_of, draws_each_once, gap_of_calls, of_statement
from gibbsppl.checks.integrals import gap_of_integrals
from gibbsppl.checks.interweaving import gap_of_interwoven
from gibbsppl.checks.joint import gap_of_joint, gap_of_pencil
from gibbsppl.checks.perturb import Which, free_elements, perturbed
from gibbsppl.checks.reading import gaps_of_reading
from gibbsppl.checks.steps import log_terms_of
from gibbsppl.checks.table import table, verdict
from gibbsppl.density import log_density, log_joint
from gibbsppl.errors import GibbspplError, RunError
from gibbsppl.evaluation import Values
from gibbsppl.expressions import INDICATORS, Expr, mentions
from gibbsppl.graph import Factor, Graph, Statement
from gibbsppl.initial import initial_state
from gibbsppl.runtime.joint import joint_in
from gibbsppl.runtime.pencils import pencil_in
from gibbsppl.schedule.interwoven import taken_apart
from gibbsppl.schedule.steps import ExactDraw, JointDraw, Schedule, Step

RELATIVE_TOLERANCE = 1e-9
SWEEPS = 10
# So many calls of a step that is drawn colour by colour are looked at, each so often: where few
# elements are changed, two labels that meet may both stay as they are.
MOST_CALLS = 64
FEW, ROUNDS_OF_FEW, ROUNDS_OF_MANY = 1000, 12, 2
# A change of this size, on the scale of the support, leaves bounds that other variables set.
WIDE = 8.0


@dataclass(frozen=True, slots=True)
class Row:
    """The result for one step: the worst of its comparisons."""

    step: str
    kind: str
    family: str
    discrepancy: float
    tolerance: float

    @property
    def passed(self) -> bool:
        """Whether joint and conditional agree (a discrepancy that is not a number does not)."""
        return self.discrepancy <= self.tolerance


@dataclass(frozen=True, slots=True)
class RatioResult:
    """One row per step; printed, it is an aligned table."""

    rows: tuple[Row, ...]

    @property
    def passed(self) -> bool:
        """Whether every step agrees with the joint density."""
        return all(row.passed for row in self.rows)

    def __str__(self) -> str:
        return ratio_table(self.rows)


def verify(  # noqa: PLR0913  (settings, all named at the call)
    graph: Graph,
    program: Program,
    steps: Sequence[Step],
    data: Values,
    seed: int = 0,
    *,
    graphs: Sequence[Graph] | None = None,
    schedule: Schedule | None = None,
    reading: Reading | None = None,
) -> RatioResult:
    """The ratio check of every step, at a dispersed start and again after a few sweeps.

    The tolerance is in proportion to the log densities, which can be huge at a start: the second
    state, near the posterior, is the one at which small mistakes show. Sweeps that raise, or that
    lead out of the support, are a row that failed. What sweeps keep up to date is compared with
    what it should be. ``graphs`` are those in which the steps draw, if
    auxiliary variables are integrated out of some.
    """
    rng = np.random.default_rng(seed)
    mend = program.mended_by(rng, program.prepare(data))
    start, _ = initial_state(rng, graph, data, mend=mend)
    program.augment(rng, start, program.prepare(data))
    swept, sums = _after_sweeps(rng, graph, program, data, start)
    found = []
    for state in (start, *swept):
        own = ratio_check(rng, graph, program, steps, data, state, graphs=graphs, schedule=schedule)
        found.append([*own, *_moving_along(rng, schedule, program, data, state)])
    rows = (*(max(same, key=_row_badness) for same in zip(*found, strict=True)), *sums)
    if schedule is not None and swept:
        other, _ = initial_state(rng, graph, data, mend=mend)
        program.augment(rng, other, program.prepare(data))
        integrals = gap_of_integrals(schedule, program, data, (start, *swept, other))
        if integrals is not None:
            gap, size = integrals
            rows = (*rows, Row("(integrals)", "integral", "-", gap, RELATIVE_TOLERANCE * size))
    if reading is not None and reading.is_of(graph):
        gaps = gaps_of_reading(rng, reading, graph, data, (start, *swept))
        for what, (gap, size) in gaps.items():
            told = f"(program: {what})"
            rows = (*rows, Row(told, "reading", "-", gap, RELATIVE_TOLERANCE * size))
    return RatioResult(rows if swept else (*rows, Row("(sweeps)", "sweep", "-", np.inf, 0.0)))


def _moving_along(
    rng: np.random.Generator,
    schedule: Schedule | None,
    program: Program,
    data: Values,
    state: Values,
) -> list[Row]:
    """For each step that is interwoven, what it draws and moves, against the joint density."""
    if schedule is None:
        return []
    rows = []
    for name, interwoven in schedule.interwoven.items():
        step = schedule.step(name)
        gap, size = gap_of_interwoven(rng, schedule, program, step, data, state)
        told = f"{name}, {interwoven.group} moved"
        rows.append(Row(told, "interwoven", "-", gap, RELATIVE_TOLERANCE * size))
    return rows


def _after_sweeps(
    rng: np.random.Generator, graph: Graph, program: Program, data: Values, start: Values
) -> tuple[tuple[dict[str, Any], ...], tuple[Row, ...]]:
    """The state that sweeps lead to, none if they fail or leave the support; the sums they keep."""
    state: dict[str, Any] = {name: np.array(value) for name, value in start.items()}
    constants = program.prepare(data)
    try:
        with np.errstate(all="ignore"):
            for _ in range(SWEEPS):
                program.sweep(rng, state, constants)
            if program.passing:  # (what holds for some draws alone may belong to none of the rest)
                program.augment(rng, state, constants)
    except (ArithmeticError, ValueError, GibbspplError):
        return (), ()
    sums = tuple(_kept_up(step, state, f(state, constants)) for step, f in program.kept.items())
    kept = {name: np.asarray(state[name]) for name in start}
    possible = all(np.isfinite(v).all() for v in kept.values())
    is_good = possible and np.isfinite(log_joint(graph, {**data, **kept}))
    return ((kept,) if is_good else ()), sums


def _kept_up(step: str, state: Values, anew: Values) -> Row:
    """How far what a scan keeps up to date is from what it should be."""
    gap = np.max([np.abs(state[name] - value).max(initial=0.0) for name, value in anew.items()])
    size = np.max([np.abs(value).max(initial=1.0) for value in anew.values()])
    return Row(f"{step} keeps", "sums", "-", float(gap), RELATIVE_TOLERANCE * float(size))


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
    """For each step, how far its conditional is from the joint density's, at random values.

    ``steps`` are a schedule's, ``graphs`` those in which they draw (all in ``graph`` by default);
    ``state`` has positive density. ``schedule`` says what stands for other arrays in some graphs.
    """
    constants = program.prepare(data)
    found = []
    for step, own in zip(steps, graphs or [graph] * len(steps), strict=True):
        changes = () if schedule is None else schedule.recentred(step)
        values = taken_apart(changes, {**data, **state}, own.sizes)
        names = frozenset((*state, *(r.name for r in changes)))
        found.append(_Check(own, program, constants, values, names).row(rng, step, rounds))
    return found


def ratio_table(rows: Sequence[Row]) -> str:
    """The results as aligned text, one line per step."""
    cells = [
        (r.step, r.kind, r.family, f"{r.discrepancy:.1e}", f"{r.tolerance:.1e}", verdict(r.passed))
        for r in rows
    ]
    return table(("step", "kind", "family", "discrepancy", "tolerance", "verdict"), cells)


@dataclass(frozen=True, slots=True)
class _Check:
    graph: Graph
    program: Program
    constants: Any
    values: Values
    in_state: frozenset[str]

    def row(self, rng: np.random.Generator, step: Step, rounds: int) -> Row:
        """The worst comparison of a step."""
        by_element: tuple[Which | None, ...] = ("any", "first", "last")
        at_once: tuple[Which | None, ...] = (None, "any")
        found = [
            self._compared(rng, step, single)
            for _ in range(rounds)
            for single in (by_element if step.is_by_element else at_once)
        ]
        found += self._by_colour(rng, step)
        if isinstance(step, JointDraw):
            found += self._about_the_mean(rng, step)
        discrepancy, tolerance = max(found, key=_badness)
        name, family = step.name, step.family.name if step.family else "-"
        return Row(name, step.kind, family, discrepancy, tolerance)

    def _about_the_mean(
        self, rng: np.random.Generator, step: JointDraw
    ) -> list[tuple[float, float]]:
        """The comparisons of a joint draw on both sides of its mean."""
        given = self.program.given_rest[step.name](self._state(), self.constants)
        joint = joint_in(self.constants, step.variables)
        terms = partial(self._joint_terms, step)
        found = [gap_of_joint(rng, step, joint, given, self.values, self.graph.sizes, terms)]
        if step.name in self.program.scaled:
            pencil = pencil_in(self.constants, step.variables)
            scaled = self.program.scaled[step.name](self._state(), self.constants)
            found.append(gap_of_pencil(rng, pencil, scaled, self.values, terms))
        return [(gap, RELATIVE_TOLERANCE * size) for gap, size in found]

    def _by_colour(self, rng: np.random.Generator, step: Step) -> list[tuple[float, float]]:
        """The comparisons of a step that is drawn colour by colour: all of one call changed."""
        calls = calls_of(step, self.program, self.constants, self.values)
        if not calls:
            return []
        sizes = self.graph.sizes
        free = free_elements(step.statement, self.values, sizes)
        found = [(0.0 if draws_each_once(calls, step.statement, free, sizes) else np.inf, 0.0)]
        gap, size = gap_of_calls(rng, step, self.program, self.constants, self._state())
        found.append((gap, RELATIVE_TOLERANCE * size))
        some = rng.choice(len(calls), min(len(calls), MOST_CALLS), replace=False)
        for drawn in (calls[n] for n in some):
            rounds = ROUNDS_OF_FEW if drawn.sum() < FEW else ROUNDS_OF_MANY
            found += [self._compared(rng, step, None, drawn) for _ in range(rounds)]
        return found

    def _compared(
        self, rng: np.random.Generator, step: Step, single: Which | None, drawn: Any = None
    ) -> tuple[float, float]:
        """Discrepancy and tolerance for one random change, of finite density if one is found.

        ``drawn`` are the elements that one call draws, if it is a part of them.
        """
        before = self._joint_terms(step, self.values)
        if not np.isfinite(before).all():
            raise RunError(
                f"{step.name}: the state to check at has zero density; pass one inside the "
                "support, such as gibbsppl.initial.initial_state makes."
            )
        changed, after = self._changed(rng, step, before, single, drawn)
        if step.name in self.program.colours:
            # Of a log density of each element, those that have moved count.
            name = step.variables[0]
            drawn = np.asarray(changed[name]) != np.asarray(self.values[name])
        with np.errstate(all="ignore"):
            given = self.program.given_rest[step.name](self._state(), self.constants)
        sizes = self.graph.sizes
        log_q = [log_terms_of(step, given, v, sizes, drawn) for v in (self.values, changed)]
        joint = _total(after) - _total(before)
        conditional = _total(log_q[1]) - _total(log_q[0])
        size = sum(np.abs(t[np.isfinite(t)]).sum() for t in (before, after, *log_q))
        discrepancy = max(_distance(joint, conditional), self._outside(rng, step, given))
        return discrepancy, RELATIVE_TOLERANCE * float(size)

    def _outside(self, rng: np.random.Generator, step: Step, given: Any) -> float:
        """Discrepancy for a change so large that it may leave what others allow.

        What the joint density excludes, the conditional must exclude: bounds that are too wide
        show in no other way.
        """
        sizes = self.graph.sizes
        truncated = isinstance(step, ExactDraw) and step.conditional.truncated
        for beyond in (False, True) if truncated else (False,):
            there = self._moved(rng, step, WIDE, "any", beyond=beyond)
            if np.isneginf(self._terms(self._excluding(step, beyond), there)).any():
                log_q = _total(log_terms_of(step, given, there, sizes))
                if not (log_q == -np.inf or np.isnan(log_q)):
                    return np.inf
        return 0.0

    def _changed(
        self, rng: np.random.Generator, step: Step, before: Any, single: Which | None, drawn: Any
    ) -> tuple[dict[str, Any], Any]:
        """Values that differ in what the step draws, smaller and smaller until possible."""
        after = before
        changed = dict(self.values)
        for scale in 0.5 ** np.arange(12):
            changed = self._moved(rng, step, scale, single, drawn=drawn)
            after = self._joint_terms(step, changed)
            if np.isfinite(after).all():
                break
        return changed, after

    def _moved(
        self,
        rng: np.random.Generator,
        step: Step,
        scale: float,
        single: Which | None,
        *,
        beyond: bool = False,
        drawn: Any = None,
    ) -> dict[str, Any]:
        """Values that differ in all that the step draws, in a part of it, or in one element."""
        moved, sizes = dict(self.values), self.graph.sizes
        free = {s.name: free_elements(s, self.values, sizes) for s in step.statements}
        if drawn is not None:
            free = {s.name: free[s.name] & of_statement(drawn, s, sizes) for s in step.statements}
        some = [s for s in step.statements if free[s.name].any()] or list(step.statements)
        for s in [some[rng.integers(len(some))]] if single else step.statements:
            moved[s.target.array.name] = perturbed(
                rng, s, moved, sizes, free[s.name], scale=scale, single=single, beyond=beyond
            )
        return moved

    def _joint_terms(self, step: Step, values: Values) -> Any:
        """The log densities, element by element, of all factors that mention the variables."""
        mentioning = [f for name in step.variables for f in self.graph.factors_of(name)]
        own = [s for s in self.graph.statements if s.target.array.name in step.variables]
        names = dict.fromkeys(f.name for f in (*mentioning, *own))
        return self._terms((f for f in self.graph.factors if f.name in names), values)

    def _terms(self, factors: Iterable[Factor], values: Values) -> Any:
        sizes = self.graph.sizes
        terms = [np.ravel(log_density(f, values, sizes)) for f in factors]
        return np.concatenate(terms) if terms else np.zeros(0)

    def _excluding(self, step: Step, beyond: bool) -> tuple[Factor, ...]:
        """The factors that say where a variable cannot be: by bounds, or by logs of indicators.

        (Elsewhere a log density of minus infinity is an overflow.)
        """
        own = step.statements if beyond else ()
        seen = ((f, n) for n in step.variables for f in self.graph.factors_of(n))
        return (*own, *(f for f, n in seen if _has_bounds(f, n)))

    def _state(self) -> dict[str, Any]:
        return {n: np.array(v) for n, v in self.values.items() if n in self.in_state}


def _has_bounds(factor: Factor, name: str) -> bool:
    """Whether a factor is impossible for some values of a variable."""
    told: list[Expr] = [e.args[0] for e in factor.log_density.atoms(sp.log) if e.has(*INDICATORS)]
    if isinstance(factor, Statement) and factor.target.array.name != name:
        told += [sp.sympify(b) for b in (factor.support.lower, factor.support.upper)]
    return any(mentions(e, (name,)) for e in told)


def _total(terms: Any) -> float:
    """The sum, ``-inf`` where any term is."""
    return -np.inf if np.isneginf(terms).any() else float(np.sum(terms))


def _distance(a: float, b: float) -> float:
    """How far apart two numbers are: 0 for the same infinity, infinite for what is no number."""
    if a == b:
        return 0.0
    return float(np.nan_to_num(abs(a - b), nan=np.inf, posinf=np.inf))


def _row_badness(row: Row) -> float:
    return _badness((row.discrepancy, row.tolerance))


def _badness(found: tuple[float, float]) -> float:
    """How far beyond its tolerance a discrepancy is: infinitely far if one of them is no number."""
    discrepancy, tolerance = found
    ratio = discrepancy / tolerance if tolerance else (np.inf if discrepancy else 0.0)
    return float(np.nan_to_num(ratio, nan=np.inf))
