"""The exact check of a non-centred update: the joint density with the Jacobian.

A step that draws ``v`` with ``eta`` held fixed, where ``theta = location + scale * eta``, must draw
from the log density that is, as a function of v alone,

    log_joint(theta(eta, v), v) + log |d theta / d eta|

in the model's own coordinates, as evaluated by `gibbsppl.model.density`; and the step must leave
eta, and all other variables, unchanged, and nothing beyond its bounds. The ratio check in the graph
of the step cannot tell: that graph contains the Jacobian already.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Array, leaves_of
from gibbsppl.checks.perturb import Which, perturbed
from gibbsppl.checks.terms import Terms, size_of
from gibbsppl.code.program import Constants, Program, State
from gibbsppl.model.density import free_elements, is_on_support
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Statement
from gibbsppl.model.stand_ins import StandIn, at_dims, with_originals, with_stand_ins
from gibbsppl.schedule.densities import log_terms_of
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

# Tries of a step that may leave its variable unchanged.
TRIES = 20


def gap_of_interwoven(
    rng: np.random.Generator,
    schedule: Schedule,
    program: Program,
    step: Step,
    data: Values,
    state: Values,
) -> tuple[float, float]:
    """The larger gap of a step: to the joint density, or in the values that it must leave alone.

    Both gaps are relative to the size of their terms, so that the size returned is 1.
    """
    check = _Check(schedule, program, step, data, state)
    with np.errstate(all="ignore"):
        gaps = [check.gap_of_density(rng), check.gap_of_moves(rng)]
    return float(np.nan_to_num(gaps, nan=np.inf, posinf=np.inf).max()), 1.0


@dataclass(frozen=True, slots=True)
class _Check:
    schedule: Schedule
    program: Program
    step: Step
    data: Values
    state: Values

    @property
    def sizes(self) -> Sizes:
        """The sizes of dims in the graph of the step."""
        return self.schedule.graph_of(self.step).sizes

    def gap_of_density(self, rng: np.random.Generator) -> float:
        """The gap between changes of the joint density with Jacobian and of the step's density."""
        step, sizes = self.step, self.sizes
        changes = self.schedule.stand_ins(step)
        now = with_stand_ins(changes, {**self.data, **self.state}, sizes)
        before = self._joint_terms(now)
        free = {s.name: free_elements(s, now, sizes) for s in step.statements}
        other, after = now, before
        for scale in 0.5 ** np.arange(12):
            # (elements that depend on one another are drawn one by one)
            single: Which | None = "any" if step.is_by_element else None
            moved = dict(now)
            for s in step.statements:
                own = free[s.name]
                new = perturbed(rng, s, moved, sizes, own, scale=scale, single=single)
                moved[s.target.array.name] = new
            other = with_originals(changes, moved, sizes)
            after = self._joint_terms(other)
            if np.isfinite(after).all():
                break
        names = {*self.state, *(r.name for r in changes)} - {r.of for r in changes}
        standing = {n: np.array(v) for n, v in now.items() if n in names}
        given = self.program.given_rest[step.name](standing, self.program.prepare(self.data))
        log_q = [log_terms_of(step, given, values, sizes) for values in (now, other)]
        gap = float(abs((after.sum() - before.sum()) - (log_q[1].sum() - log_q[0].sum())))
        size = max(size_of(before, after, *log_q), 1.0)
        return gap / self._moved.size_behind(gap, size, (now, other))

    @property
    def _moved(self) -> Terms:
        """The log densities of all factors of the moved variables."""
        graph = self.schedule.interwoven[self.step.name].before
        moved = self.schedule.changed_by(self.step)
        mentioning = {f.name for n in moved for f in graph.factors_of(n)}
        return Terms([f for f in graph.factors if f.name in mentioning], self.sizes)

    def _joint_terms(self, values: Values) -> Floats:
        """The log densities of all factors that mention what moves, and the logs of Jacobians."""
        changes = self.schedule.stand_ins(self.step)
        slopes = (_log_slope(r, values, self.sizes) for r in changes)
        return np.concatenate([self._moved.at(values), *slopes])

    def gap_of_moves(self, rng: np.random.Generator) -> float:
        """The gap between the group after the step and its value at the ``eta`` held fixed."""
        schedule, state, sizes = self.schedule, self.state, self.sizes
        carried_out = self.program.interwoven[self.step.name]
        drawing = [
            s for s in schedule.steps if self.program.interwoven.get(s.name) is carried_out
        ]
        drawn = {n for s in drawing for n in schedule.drawn_by(s)}
        held = tuple(r for r in schedule.stand_ins(self.step) if r.of not in drawn)
        start = with_stand_ins(held, {**self.data, **state}, sizes)
        constants = self.program.prepare(self.data)
        after: State = {n: np.array(v) for n, v in state.items()}
        for _ in range(TRIES):
            carried_out(rng, after, constants)
            if all(not np.array_equal(after[n], state[n]) for n in drawn):
                break
        else:
            return np.inf
        moved = [r.of for r in held]
        left = {n for n in after if not n.startswith("~")} ^ set(state)
        same = (n for n in state if n not in (*drawn, *moved))
        if left or any(not np.array_equal(after[n], state[n]) for n in same):
            return np.inf
        wanted = with_originals(held, {**start, **{n: after[n] for n in drawn}}, sizes)
        gap = max(_relative_gap(after[n], wanted[n]) for n in moved)
        return gap if self._stays_on_supports(rng, after, constants) else np.inf

    def _stays_on_supports(
        self, rng: np.random.Generator, state: State, constants: Constants
    ) -> bool:
        """Whether no bound, of what moves along or by it, is crossed in some tries."""
        before = self.schedule.interwoven[self.step.name].before
        changed = set(self.schedule.changed_by(self.step))
        own = {f for n in changed for f in before.factors_of(n) if isinstance(f, Statement)}
        for _ in range(TRIES):
            self.program.interwoven[self.step.name](rng, state, constants)
            values = {**self.data, **state}
            if not all(is_on_support(s, values, before.sizes).all() for s in own):
                return False
        return True


def _relative_gap(found: Floats, wanted: Floats) -> float:
    size = max(float(np.abs(wanted).max()), float(np.abs(found).max()))
    return float(np.abs(found - wanted).max()) / size


def _log_slope(change: StandIn, values: Values, sizes: Sizes) -> Floats:
    """``log |d of / d name|``, differentiated here: the graph's own Jacobian is what is checked.

    What is computed of an element and of others that are computed of themselves alone has the
    slopes in each element as its Jacobian: those of all that read it where they stand.
    """
    (array,) = (a for a in change.backward.free_symbols if str(a) == change.name)
    assert isinstance(array, Array)
    read = {array[change.dims], *leaves_of(change.backward, (change.name,))}
    slopes = np.zeros(tuple(sizes[d] for d in change.dims))
    for leaf in read:
        x = sp.Dummy("x")
        slope = sp.diff(change.backward.xreplace({leaf: x}), x).xreplace({x: leaf})
        at = tuple(slice(None) if i in change.dims else int(i) for i in leaf.indices)
        slopes[at] += at_dims(change, slope, values, sizes)[at]
    return np.ravel(np.log(np.abs(slopes)))
