"""Kernels: ways to draw that a user may ask for.

A kernel is a value with settings. It makes a step of a conditional, writes the lines of generated
code for the step, and has the other facts that passes need as attributes: no pass names a kernel.
Each is one file of `gibbsppl.kernels`.
"""

from __future__ import annotations

from typing import Any

from gibbsppl.errors import NotLoweredError


class Kernel:
    """A way to draw: needs of a conditional, lines of generated code, and properties.

    ``closed_form``: the kernel needs the closed form of the default draw. ``slices``: the kernel is
    the default move of conditionals in no family, and has no lines of its own. ``colours``:
    elements of one colour may be moved at once. ``takes_all``: all elements of a step are moved as
    one array. ``accepts``: the share of accepted proposals is recorded. ``enumerates``: the
    probabilities of steps between labels are known. ``by_element``: all elements are moved as one
    array, but each is accepted alone. ``takes_several``: several arrays may be moved together, and
    all statements of one always are. ``proposals``: so many are made in each sweep.
    ``by_log_density``: with its default settings it may move any real variable that is in no
    family, by its log density. ``is_beside``: nobody has asked for it; the default draw is there,
    too.
    """

    __slots__ = ()
    closed_form = False
    slices = False
    colours = True
    takes_all = False
    accepts = False
    enumerates = False
    by_element = False
    takes_several = False
    proposals: int = 1
    by_log_density = False
    is_beside = False

    @property
    def function(self) -> Any | None:
        """The user's function that generated code calls, if any."""
        return None

    def step(self, asked: Any) -> Any:
        """The step by this kernel for a conditional (`gibbsppl.schedule.asked.Asked`).

        An error says why the kernel does not apply to that variable, and what does.
        """
        raise NotImplementedError

    def steps(self, asked: Any, called: str = "") -> tuple[tuple[Any, ...], Any]:
        """The steps of a kernel, and how they follow one another (`gibbsppl.schedule.composed`).

        Here one step, ``called`` by a name of its own where others draw the same elements.
        """
        step = self.step(asked)
        step = step.with_fields(called=called) if called else step
        return (step,), step.name

    def lines(self, module: Any, step: Any, call: str, bounds: str) -> list[str]:
        """The lines of generated code that move the elements of a step.

        ``call`` is the text of its log density, ``bounds`` that of keywords that bound its values.
        """
        raise NotImplementedError

    def lower(self, workshop: Any, step: Any) -> None:
        """The statements of a move in a sweep as a value (`gibbsppl.code.lowering`)."""
        del workshop
        raise NotLoweredError(f"{step.name}: {self}, a function in Python that loops do not call.")

    def functions(self, module: Any, step: Any) -> list[str]:
        """Functions of generated code that the lines call, beside that of the log density."""
        del module, step
        return []

    def log_proposal(self, new: Any, old: Any) -> Any:
        """The log probability by which an array of elements is proposed from another."""
        raise NotImplementedError

    def probabilities(self, graph: Any, step: Any, given: Any, values: Any, labels: range) -> Any:
        """The probability of each label after a step, for each element alone: (label, ranges)."""
        raise NotImplementedError
