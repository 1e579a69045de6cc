"""The evidence from conditionals (S. Chib, 1995, Journal of the American Statistical Association).

Comes in: a sampler, a start, so many draws. Goes out: the log marginal likelihood. At any point
``x`` of the latent variables, in blocks drawn by the steps of a sweep,

    log p(y) = log p(x, y) - sum over blocks b of log p(x_b | x of the blocks before, y)

where each ordinate is the mean of the normalised conditional over a run of a sweep without the
blocks before, which stay at the point. Labels come last: once all else is fixed their ordinate
needs no run, and with the joint density it makes the sum over all labels. Auxiliary variables are
drawn in each run, and have no ordinate: the joint density is that of the declared model.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from gibbsppl.checks.normalised import log_conditional
from gibbsppl.checks.results import RELATIVE_TOLERANCE
from gibbsppl.code.program import Program, State, load
from gibbsppl.code.source import write_numpy
from gibbsppl.errors import RunError
from gibbsppl.model.density import log_joint, log_terms
from gibbsppl.model.graph import Graph
from gibbsppl.run.chains import Chain, advance
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule
from gibbsppl.tempering.sampling import Sampling
from gibbsppl.tempering.stones import Estimate, error_of_mean

# Of so many draws the one with the highest density is the point.
TRIED = 100
ADVICE = "use method='stepping stone'"


def chib(model: Sampling, chain: Chain, draws: int, warmup: int) -> Estimate:
    """The evidence of a sampler whose steps all have normalised conditionals, by one chain."""
    own = _Ordinates.of(model, draws, warmup)
    point = own.point(chain)
    value = log_joint(model.graph, {**model.data, **point})
    variance, gone = 0.0, list[Step]()
    for step in own.blocks:
        logs = own.logs(chain, step, point, gone)
        mean = float(logsumexp(logs)) - math.log(len(logs))
        value -= mean
        variance += error_of_mean(np.exp(logs - mean)) ** 2
        gone.append(step)
    return Estimate(value, math.sqrt(variance))


def is_suited(model: Sampling) -> bool:
    """Whether all steps of a sampler are independent draws that have a density."""
    try:
        _Ordinates.of(model, 0, 0)
    except RunError:
        return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class _Ordinates:
    """The steps with an ordinate, in order, and the runs that these are means over."""

    model: Sampling
    schedule: Schedule
    draws: int
    warmup: int
    blocks: tuple[Step, ...]

    @classmethod
    def of(cls, model: Sampling, draws: int, warmup: int) -> _Ordinates:
        """The ordinates of a sampler; `RunError` for steps that draw without a density."""
        schedule, own = model.derivation.schedule, set(model.graph.drawn)
        plain = [s for s in schedule.steps if s.name not in schedule.interwoven]
        blocks = [s for s in plain if own.issuperset(s.variables)]
        if missing := own - {n for s in blocks for n in s.variables}:
            raise RunError(
                f"{model.graph.name}: Chib's method needs the density of each draw, and "
                f"{', '.join(sorted(missing))} is drawn in parts; {ADVICE}."
            )
        for step in plain:
            for other in plain:
                if step is not other and set(step.variables) & set(other.variables):
                    raise _refused(model.graph, step, "it is one of several of an array")
        leaves = set(schedule.leaves)
        for step in plain:
            absent = own - leaves - set(schedule.graph_of(step).drawn)
            if step not in blocks and absent:
                why = f"{', '.join(sorted(absent))} is integrated out of it"
                raise _refused(model.graph, step, why)
        blocks.sort(key=lambda s: (not leaves.isdisjoint(s.variables), s.support.is_discrete))
        for k, step in enumerate(blocks):
            before = {n for s in blocks[:k] for n in s.variables}
            if step.is_by_element or step.is_move or step.is_asked or step.maintained:
                why = "it is no independent draw of all its elements"
                why += " (exact=True draws each by itself)" * (step in schedule.proposed)
                raise _refused(model.graph, step, why)
            if absent := before - set(schedule.graph_of(step).drawn):
                why = f"{', '.join(sorted(absent))} is integrated out of it"
                raise _refused(model.graph, step, why)
        return cls(model, schedule, draws, warmup, tuple(blocks))

    def point(self, chain: Chain) -> State:
        """The point: a draw of high density. The chain is left where its warm-up ends."""
        program, constants = self.model.program, self.model.prepared
        advance(program, constants, chain, self.warmup)
        found: dict[float, State] = {}
        for _ in range(TRIED):
            advance(program, constants, chain)
            state = {n: np.copy(chain.state[n]) for n in self.model.graph.drawn}
            found[log_joint(self.model.graph, {**self.model.data, **state})] = state
        return found[max(found)]

    def logs(self, chain: Chain, step: Step, point: State, gone: Sequence[Step]) -> np.ndarray:
        """The log ordinates of a step at the point, in a run without the blocks before.

        One is enough where nothing else is drawn.
        """
        fixed = {n: point[n] for s in gone for n in s.variables}
        skipped = {*gone, *(s for s in self.schedule.steps if s.name in self.schedule.interwoven)}
        left = [k for k, s in enumerate(self.schedule.steps) if s not in skipped]
        chain.state |= {n: np.copy(x) for n, x in fixed.items()}
        if all(self.schedule.steps[k] is step for k in left):
            return np.array([self.log_ordinate(step, chain.state, point)])
        program = load(write_numpy(self.schedule.only(left)))
        return np.fromiter(self._along(chain, program, step, point), dtype=float)

    def _along(
        self, chain: Chain, program: Program, step: Step, point: State
    ) -> Iterator[float]:
        """The log ordinates along a run."""
        constants = program.prepare(self.model.derivation.known)
        with np.errstate(all="ignore"):
            advance(program, constants, chain, self.warmup)
            for _ in range(self.draws):
                advance(program, constants, chain)
                yield self.log_ordinate(step, chain.state, point)

    def log_ordinate(self, step: Step, state: State, point: State) -> float:
        """The log density of a step's conditional at the point, all else at a state."""
        at = {**state, **{n: point[n] for n in step.variables}}
        own = (self.model.program, self.model.derivation.known, self.model.prepared)
        found = log_conditional(self.schedule, *own, step, at)
        if found is None or not np.isfinite(found).all():
            raise _refused(self.model.graph, step, "the normaliser of its density is not known")
        return float(found.sum())


def _refused(graph: Graph, step: Step, why: str) -> RunError:
    return RunError(
        f"{graph.name}: Chib's method needs the density of each draw, and that of {step.name} "
        f"({step.kind}) is not there: {why}; {ADVICE}."
    )


def exchangeable(model: Sampling, chain: Chain) -> Iterator[str]:
    """A warning for each dim whose positions can be exchanged, labels that point along it too."""
    graph, point = model.graph, {n: chain.state[n] for n in model.graph.drawn}
    values = {**model.data, **point}
    pointed = {v.of for n, v in graph.variables.items() if v.of is not None and n in point}
    for dim in sorted((d for d in pointed if d is not None and graph.sizes[d] > 1), key=str):
        swapped = _swapped(graph, point, dim)
        now, then = (log_terms(graph, v) for v in (values, {**values, **swapped}))
        gap, size = abs(sum(now.values()) - sum(then.values())), sum(map(abs, now.values()))
        count = graph.sizes[dim]
        if gap <= RELATIVE_TOLERANCE * size:
            yield (
                f"the {count} positions along {dim} can be exchanged. A run that does not visit "
                f"all orders gives up to log({count}!) = {math.lgamma(count + 1):.3g} too little "
                f"(R. M. Neal, 1999); {ADVICE}"
            )


def _swapped(graph: Graph, point: State, dim: Any) -> dict[str, Any]:
    """All latent variables with the first two positions along a dim exchanged."""
    found = {}
    for name, x in point.items():
        variable, new = graph.variables[name], np.array(x)
        for axis, own in enumerate(variable.dims):
            if own == dim:
                order = [1, 0, *range(2, new.shape[axis])]
                new = new.take(order, axis=axis)
        if variable.of == dim:
            new = np.where(new == 0, 1, np.where(new == 1, 0, new))
        found[name] = new
    return found
