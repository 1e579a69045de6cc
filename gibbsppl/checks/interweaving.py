"""The exact check of a step that moves a group along: the joint density with the Jacobian.

A step that draws ``v`` with ``eta`` held fixed, where ``theta = location + scale * eta``, must draw
from what is, as a function of v alone,

    log_joint(theta(eta, v), v) + log |d theta / d eta|

in the model's own coordinates, as `gibbsppl.density` evaluates it there; and it must leave eta, and
all that it does not draw, as they were. The ratio check in the graph of the step cannot tell: that
graph has the Jacobian in it already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.backends.program import Program
from gibbsppl.checks.perturb import Which, free_elements, perturbed
from gibbsppl.checks.steps import log_terms_of
from gibbsppl.density import log_density
from gibbsppl.evaluation import Floats, Sizes, Values
from gibbsppl.expressions import Array
from gibbsppl.graph import Graph
from gibbsppl.rewrites.recentring import Recentred
from gibbsppl.schedule.interwoven import at_dims, put_together, taken_apart
from gibbsppl.schedule.steps import Schedule, Step

# How often a step that may leave its variable where it was is carried out.
TRIES = 20


def gap_of_interwoven(
    rng: np.random.Generator,
    schedule: Schedule,
    program: Program,
    step: Step,
    data: Values,
    state: Values,
) -> tuple[float, float]:
    """How far a step is from the joint density or from what it must leave, in sizes of the terms.

    The larger of the two gaps relative to the size of its terms, and that size: 1.
    """
    with np.errstate(all="ignore"):
        density = _gap_of_density(rng, schedule, program, step, data, state)
        moves = _gap_of_moves(rng, schedule, program, step, data, state)
    return max(density, moves), 1.0


def _gap_of_density(
    rng: np.random.Generator,
    schedule: Schedule,
    program: Program,
    step: Step,
    data: Values,
    state: Values,
) -> float:
    """By how much joint density and Jacobian change otherwise than the density of the step."""
    own, graph = schedule.interwoven[step.name], schedule.graph_of(step)
    changes, sizes, statement = own.recentred, graph.sizes, step.statement
    now = taken_apart(changes, {**data, **state}, sizes)
    before = _joint_terms(own.before, schedule.changed_by(step), changes, now, sizes)
    free = free_elements(statement, now, sizes)
    other, after = now, before
    for scale in 0.5 ** np.arange(12):
        # (elements that depend on one another are drawn one by one)
        single: Which | None = "any" if step.is_by_element else None
        new = perturbed(rng, statement, now, sizes, free, scale=scale, single=single)
        other = {**now, statement.target.array.name: new}
        other = put_together(changes, other, sizes)
        after = _joint_terms(own.before, schedule.changed_by(step), changes, other, sizes)
        if np.isfinite(after).all():
            break
    names = {*state, *(r.name for r in changes)} - {r.of for r in changes}
    standing = {n: np.array(v) for n, v in now.items() if n in names}
    given = program.given_rest[step.name](standing, program.prepare(data))
    log_q = [log_terms_of(step, given, values, sizes) for values in (now, other)]
    gap = (after.sum() - before.sum()) - (log_q[1].sum() - log_q[0].sum())
    size = sum(np.abs(t[np.isfinite(t)]).sum() for t in (before, after, *log_q))
    return float(np.nan_to_num(np.abs(gap), nan=np.inf, posinf=np.inf)) / max(float(size), 1.0)


def _joint_terms(
    graph: Graph,
    moved: Sequence[str],
    changes: Sequence[Recentred],
    values: Values,
    sizes: Sizes,
) -> Floats:
    """The log densities of all factors that mention what moves, and the logs of the Jacobians."""
    mentioning = {f.name for n in moved for f in graph.factors_of(n)}
    own = {s.name for s in graph.statements if s.target.array.name in moved}
    factors = [f for f in graph.factors if f.name in mentioning | own]
    terms = [np.ravel(log_density(f, values, sizes)) for f in factors]
    return np.concatenate([*terms, *(_log_slope(r, values, sizes) for r in changes)])


def _log_slope(change: Recentred, values: Values, sizes: Sizes) -> Floats:
    """``log |d of / d name|``, differentiated here: the graph's own Jacobian is what is checked."""
    x = sp.Dummy("x")
    leaves = (a for a in change.backward.free_symbols if str(a) == change.name)
    (leaf,) = (a[change.dims] for a in leaves if isinstance(a, Array))
    slope = sp.diff(change.backward.xreplace({leaf: x}), x).xreplace({x: leaf})
    return np.ravel(np.log(at_dims(change, sp.Abs(slope), values, sizes)))


def _gap_of_moves(
    rng: np.random.Generator,
    schedule: Schedule,
    program: Program,
    step: Step,
    data: Values,
    state: Values,
) -> float:
    """How far what a step, carried out, should leave is from what it was."""
    carried_out = program.interwoven[step.name]
    drawing = [s for s in schedule.steps if program.interwoven.get(s.name) is carried_out]
    drawn = {n for s in drawing for n in schedule.drawn_by(s)}
    held, sizes = schedule.recentred(step)[0], schedule.graph_of(step).sizes
    start = taken_apart((held,), {**data, **state}, sizes)
    constants = program.prepare(data)
    after: dict[str, Any] = {n: np.array(v) for n, v in state.items()}
    for _ in range(TRIES):
        carried_out(rng, after, constants)
        if all(not np.array_equal(after[n], state[n]) for n in drawn):
            break
    else:
        return np.inf
    left = {n for n in after if not n.startswith("~")} ^ set(state)
    same = (n for n in state if n not in (*drawn, held.of))
    if left or any(not np.array_equal(after[n], state[n]) for n in same):
        return np.inf
    wanted = put_together((held,), {**start, **{n: after[n] for n in drawn}}, sizes)[held.of]
    size = max(float(np.abs(wanted).max()), float(np.abs(after[held.of]).max()))
    return float(np.abs(after[held.of] - wanted).max()) / size
