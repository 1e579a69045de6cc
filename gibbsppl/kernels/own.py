"""A kernel of the user's: a function that moves a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gibbsppl.arguments import name_of
from gibbsppl.code.elements import index_text, moved
from gibbsppl.code.module import Module
from gibbsppl.kernels.move import Move
from gibbsppl.schedule.asked import Asked
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step


@dataclass(frozen=True, slots=True)
class Own(Kernel):
    """A function of the user's: ``kernel(rng, value, log_density) -> value``."""

    moves: Callable[..., object]
    colours = False
    takes_all = True

    def __str__(self) -> str:
        return f"your kernel {name_of(self.moves)}"

    @property
    def function(self) -> Callable[..., object]:
        """The user's function, as called by generated code."""
        return self.moves

    def step(self, asked: Asked) -> Step:
        """A move of all elements that a step draws, as one array."""
        asked.refuse_tied(self)
        return asked.move(self)

    def lines(self, module: Module, step: Move, call: str, bounds: str) -> list[str]:
        """The runtime's call of the user's function, which checks the returned value."""
        state = f's["{step.variables[0]}"]'
        whole = ", whole=True" if step.statement.support.is_discrete else ""
        kernel = f'KERNELS["{step.name}"], "{step.variables[0]}"'
        arguments = f"{state}, {index_text(module, step)}, {call}, {kernel}{bounds}{whole}"
        return moved(state, "own_move", arguments)
