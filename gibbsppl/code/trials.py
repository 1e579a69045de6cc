"""A schedule on trial: its program in NumPy, and the operations of its loops, once asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from gibbsppl.code.program import Program, load
from gibbsppl.code.source import Written, written
from gibbsppl.code.worth import Worth
from gibbsppl.errors import NotLoweredError
from gibbsppl.model.evaluation import Values
from gibbsppl.runtime.operations import POINTS_OF_PATH
from gibbsppl.schedule.choices import Choice
from gibbsppl.schedule.sweeps import Schedule

if TYPE_CHECKING:
    from gibbsppl.code.loop_program import LoopProgram


@dataclass(frozen=True, eq=False)
class Trial:
    """A schedule with the data of its model; all else is made when it is first looked at."""

    schedule: Schedule
    data: Values
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def with_choices(self, choices: tuple[Choice, ...]) -> Trial:
        """The same with choices in its schedule."""
        return self._with(choices=choices)

    def deciding(self, decided: Mapping[str, Any]) -> Trial:
        """The same with settings of what has been decided in its schedule."""
        return self._with(decided=decided)

    def _with(self, **told: Any) -> Trial:
        """The same, other things told in its schedule, with all that has been made so far."""
        found = replace(self, schedule=replace(self.schedule, **told))
        made = {n: v for n, v in self.__dict__.items() if n not in {f.name for f in fields(self)}}
        found.__dict__.update(made)
        return found

    @property
    def known(self) -> dict[str, Any]:
        """The data that the program reads: those of the model, and tables."""
        return {**self.data, **self.schedule.tables}

    @cached_property
    def source(self) -> str:
        """The program in NumPy, as text."""
        return self.written.source

    @cached_property
    def written(self) -> Written:
        """The program in NumPy as text, with the memory that its steps hold."""
        return written(self.schedule)

    @cached_property
    def program(self) -> Program:
        """The program in NumPy."""
        return load(self.source, self.functions)

    @cached_property
    def constants(self) -> dict[str, Any]:
        """The constants that the program reads."""
        return dict(self.program.prepare(self.known))

    @cached_property
    def loops(self) -> LoopProgram | None:
        """The sweep in loops; None where loops do not have all of its steps."""
        from gibbsppl.code.loop_program import loops_of  # noqa: PLC0415  (only if counted)

        try:
            return loops_of(self.schedule, self.known, self.constants)
        except NotLoweredError:
            return None

    @cached_property
    def operations(self) -> float:
        """The operations of a sweep; NaN where loops do not have all of its steps."""
        return nan if self.loops is None else operations_of(self.schedule, self.loops)

    @property
    def worth(self) -> Worth | None:
        """The worth of loops; None if these have not been made."""
        found: LoopProgram | None = self.__dict__.get("loops")
        if found is None:
            return None
        from gibbsppl.code.costs import worth_of  # noqa: PLC0415  (only if counted)

        return worth_of(found.sweep_value, found.known_sizes)


def operations_of(
    schedule: Schedule, loops: LoopProgram, points: Mapping[str, float] = MappingProxyType({})
) -> float:
    """The operations of a sweep, all of whose steps the language has.

    ``points`` are those of the paths of steps by gradients, on average; without, a usual number.
    """
    from gibbsppl.code.operations import counted  # noqa: PLC0415  (only if counted)

    found = counted(loops.sweep_value, loops.known_sizes, shares_of(schedule))
    each = {name: work.operations.at(found.sizes) for name, work in found.steps.items()}
    longer = {name: own / POINTS_OF_PATH for name, own in points.items()}
    return sum(own * longer.get(name, 1.0) for name, own in each.items())


def shares_of(schedule: Schedule) -> tuple[float, ...]:
    """How often a random scan takes each unit, of the times that it takes one."""
    return tuple(w / sum(schedule.weights) for w in schedule.weights)
