"""Rao-Blackwell estimates: for each draw, the mean of a variable's conditional given the others.

Comes in: a compiled model, and draws of its posterior. Goes out: `Draws` whose values are means,
sds or probabilities of the exact conditionals that the sampler draws from, at the other variables
of each draw. The average of the means estimates the posterior mean, as that of the draws does,
without the noise of the last step (A. E. Gelfand and A. F. M. Smith 1990, JASA 85, 398-409).
Elements that are known are their values.

>>> import gibbsppl as gp
>>> with gp.Model(name="coin") as coin:
...     p = gp.Beta("p", 1, 1)
...     heads = gp.Binomial("heads", 10, p, observed=7)
>>> sampler = gp.compile(coin)
>>> draws = sampler.sample(draws=3, seed=1, chains=1, progress=False)
>>> sampler.conditional_mean(draws, "p")["p"].round(4)
array([[0.6667, 0.6667, 0.6667]])
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gibbsppl.code.program import Constants, Program
from gibbsppl.errors import RunError
from gibbsppl.model.along_draws import LARGEST
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.output.arrays import Array, for_arithmetic
from gibbsppl.output.draws import Draws
from gibbsppl.predict.step_moments import (
    Along,
    Jointly,
    State,
    What,
    numbers_of,
    refusal,
    values_of,
)
from gibbsppl.schedule.staleness import stale_after
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule


@dataclass(frozen=True, slots=True, eq=False)
class Conditionals:
    """The conditionals of a compiled model: its schedule, program, constants and data."""

    schedule: Schedule
    program: Program
    constants: Constants
    data: Values

    def of(self, draws: Draws, names: str | Sequence[str] | None, what: What) -> Draws:
        """The means, sds or probabilities, for each draw; of all variables that have them.

        Of draws of which some variables keep fewer, those that have all variables.
        """
        draws = draws.together()
        values, dims, coords = {}, {}, dict(draws.coords)
        stale, joint = stale_after(self.schedule), dict[tuple[str, int], Jointly]()
        for name in self._chosen(draws, names, what):
            self._check(draws, name, what)
            own = _Of(self, draws, name, self.steps_of(name), what, stale, joint)
            values[name], dims[name] = own.values(), draws.dims_of(name)
            if what == "probabilities":
                axis, labels = own.label_axis()
                dims[name] += (axis,)
                coords[axis] = labels
        used = {d for own_dims in dims.values() for d in own_dims}
        return Draws(
            values=values,
            dims=dims,
            coords={d: c for d, c in coords.items() if d in used},
            attributes=draws.attributes,
        )

    def steps_of(self, name: str) -> tuple[Step, ...]:
        """The steps that draw the elements of an array."""
        return self.schedule.drawing(name)

    def _chosen(
        self, draws: Draws, names: str | Sequence[str] | None, what: What
    ) -> tuple[str, ...]:
        if names is not None:
            return (names,) if isinstance(names, str) else tuple(names)
        drawn = (n for n in draws if self._is_drawn(n))
        refused = {n: self._refusals(n, what) for n in drawn}
        able = tuple(n for n, reasons in refused.items() if not reasons)
        if not able:
            first = ((n, next(iter(reasons.values()))) for n, reasons in refused.items())
            lines = "".join(f"\n    {n}: {reason}" for n, reason in first)
            wanted = f"a formula for the {what} of its conditional"
            raise RunError(f"{self.schedule.graph.name}: found no variable with {wanted}.{lines}")
        return able

    def check_able(self, name: str, what: What) -> None:
        """Raise an error for what is not drawn, or has no formula."""
        if not self._is_drawn(name):
            raise RunError(f"{name}: it is not drawn, expected a latent variable.")
        for refused, reason in self._refusals(name, what).items():
            raise RunError(f"{refused}: {reason}")

    def _check(self, draws: Draws, name: str, what: What) -> None:
        array, steps = draws[name], self.steps_of(name)
        self.check_able(name, what)
        graph = self.schedule.graph_of(steps[0])
        shape = tuple(graph.sizes[d] for d in graph.variables[name].dims)
        if array.shape[2:] != shape:
            raise RunError(
                f"{name}: the draws have shape {array.shape[2:]}, the model {shape}; pass draws of "
                "this model."
            )

    def _is_drawn(self, name: str) -> bool:
        return bool(self.steps_of(name) or self._parts_of(name))

    def _parts_of(self, name: str) -> tuple[str, ...]:
        """The arrays that stand for the positions of an array taken apart."""
        return tuple(p.name for p in self.schedule.parts if p.of == name)

    def _refusals(self, name: str, what: What) -> dict[str, str]:
        """Why what is drawn of an array has no such value, by the name of its statement."""
        if parts := self._parts_of(name):
            drawn = f"it is taken apart, and drawn as {', '.join(parts)}, each given the others"
            return {name: f"{drawn}, not as a whole; take the moments of its draws."}
        found = ((s.name, refusal(s, what)) for s in self.steps_of(name))
        return {statement: reason for statement, reason in found if reason is not None}


@dataclass(frozen=True, slots=True, eq=False)
class _Of:
    """What is asked of one variable, whose elements the steps draw.

    ``joint`` are moments of several variables, by the step that draws them and the first draw.
    """

    model: Conditionals
    draws: Draws
    name: str
    steps: tuple[Step, ...]
    what: What
    stale: frozenset[str]
    joint: dict[tuple[str, int], Jointly] = field(default_factory=dict)

    @property
    def labels(self) -> range:
        """All values that a label can have."""
        own = [found for s in self.steps if (found := values_of(s)) is not None]
        return range(min(r.start for r in own), max(r.stop for r in own))

    def label_axis(self) -> tuple[str, Array]:
        """The dim of probabilities with coordinates: the dim of the label, if there is one."""
        first, labels = self.steps[0], self.labels
        sizes = self.model.schedule.graph_of(first).sizes
        own = self.model.schedule.whole.variables[self.name].of
        for dim in (*([own] if own else []), *first.statement.event[:1]):
            if labels == range(sizes[dim]) and dim.name not in self.draws.dims_of(self.name):
                return dim.name, self.draws.coords.get(dim.name, np.asarray(labels))
        return f"{self.name}_label", np.asarray(labels)

    def values(self) -> Floats:
        """The array with axes (chain, draw, ...)."""
        stacked = self.draws.stacked(self.name)
        found = self._of_known(stacked)
        sizes = [numbers_of(s, self.model.schedule.graph_of(s)) for s in self.steps]
        at_once = max(1, LARGEST // max(sizes))
        with np.errstate(all="ignore"):  # what is not finite is found and explained below
            for start in range(0, len(stacked), at_once):
                part = range(start, min(start + at_once, len(stacked)))
                for step in self.steps:
                    self._fill(step, part, found[part.start : part.stop])
        if not np.isfinite(found).all():
            chain, draw = divmod(int(np.argwhere(~np.isfinite(found))[0][0]), self.draws.draws)
            raise RunError(
                f"{self.name}: the {self.what} of its conditional is not finite, or lost to "
                f"rounding, in draw {draw} of chain {chain}; take the moments of the draws."
            )
        return found.reshape(self.draws.chains, self.draws.draws, *found.shape[1:])

    def _of_known(self, values: Array) -> Floats:
        """The moments of known elements: the values themselves, without any spread."""
        if self.what == "sd":
            return np.zeros(values.shape)
        if self.what == "mean":
            return np.array(values, dtype=float)
        return np.array(values[..., None] == np.asarray(self.labels), dtype=float)

    def _fill(self, step: Step, part: range, found: Floats) -> None:
        """Write the moments of a step's drawn elements, for some draws."""
        model = self.model
        given = (model.program, model.constants, model.data)
        states, first = list(self._states(step, part)), step.statements[0]
        own = Along(step, model.schedule.graph_of(step), *given, states, first)
        if step.is_joint:
            key = (step.name, part.start)
            if key not in self.joint:
                self.joint[key] = own.jointly(self.what)
            own.put_joint(self.joint[key], self.name, found)
            return
        for statement in step.statements:
            one = replace(own, of=statement)  # (what has been computed of the step stays)
            if self.what == "probabilities":
                one.put_probabilities(found, self.labels)
            else:
                one.put(one.moment(self.what), found)

    def _states(self, step: Step, part: Iterable[int]) -> Iterator[State]:
        """The states of some draws."""
        arrays = {n: self.draws.stacked(n) for n in self.draws}
        for draw in part:
            values = {n: for_arithmetic(a[draw]) for n, a in arrays.items()}
            # What reads an array that is taken apart reads its parts, which draws do not have.
            for p in self.model.schedule.parts:
                if p.of in values:
                    values[p.name] = values[p.of][p.at]
            yield State(values, step.name, self.stale)
