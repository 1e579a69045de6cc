"""Adaptive rejection: exact draws from log-concave conditionals, by default or on request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gibbsppl.algebra.notation import wrapped
from gibbsppl.arguments import methods_told
from gibbsppl.code.elements import (
    bounds_text,
    call_text,
    mapped,
    put,
    put_part,
    selection,
    state_text,
)
from gibbsppl.code.module import Module
from gibbsppl.code.places import where_text
from gibbsppl.derive.colours import Colours
from gibbsppl.derive.concavity import LogConcave, certified
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.errors import CompileError
from gibbsppl.explain.derivation import WIDTH, Derivation
from gibbsppl.explain.families import changed_told
from gibbsppl.explain.terms import log_density_text
from gibbsppl.kernels.by_density import ByDensity
from gibbsppl.model.density import regions
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.graph import PLAIN
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.asked import Asked
from gibbsppl.schedule.contributions import Contributions
from gibbsppl.schedule.densities import log_slope, of_drawn, of_region, on_new_scale
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.kinds import ChangedDraw
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Kind, Step

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


@dataclass(frozen=True, slots=True)
class ConcaveDraw(ChangedDraw, ByDensity):
    """An exact draw by adaptive rejection: the log density is certified to be concave.

    Parameters and terms are on the scale of the certificate.
    """

    conditional: LogConcave
    parameters: tuple[NaturalParameter, ...]
    terms: tuple[Contribution, ...]
    region: tuple[Place, ...]
    kernel: str = "adaptive rejection"
    kind: Kind = "concave"
    colours: Colours | None = None
    called: str = ""

    @classmethod
    def of(cls, derived: object, made: Contributions) -> Self | None:
        """The draw from a log-concave conditional; None for others."""
        if not isinstance(derived, LogConcave):
            return None
        region = made.region(derived.statement)
        parameters, terms = made.log_density(derived, derived.place, region)
        return cls(derived, parameters, terms, region)

    @property
    def refusal(self) -> NotConjugate:
        """Why no family owns the conditional."""
        return self.conditional.refusal

    # Generated code

    def lines(self, module: Module) -> list[str]:
        """The draw of the whole, of a part, or by element."""
        state, where, call = state_text(self), where_text(module, self), call_text(module, self)
        change, chosen = self.change, selection(module, self)
        now = state if change is None else mapped(module, self, change.forward, state)
        shape = f"{state}{where}.shape" if chosen.part else module.shape(self.statement)
        width = [f'width = runtime.width_of(s, "{self.name}", {shape}, 0)']
        ends = f"{bounds_text(module, self)}, width=width"
        if chosen.calls:
            function, arguments = f"log_concave_{chosen.by}", [now, call, chosen.calls]
        elif chosen.part:
            function, arguments = "log_concave_part", [now, chosen.part, call]
        else:
            return width + put(module, self, "", f"runtime.log_concave(rng, {call}, {now}{ends})")
        drawn = f"runtime.{function}(rng, {', '.join(arguments)}{ends})"
        return width + put_part(module, self, where, drawn)

    def lower(self, workshop: Workshop) -> None:
        """A draw of each element by its log density."""
        from gibbsppl.code.lowering.moves import lower_concave  # noqa: PLC0415  (if compiled)

        lower_concave(workshop, self)

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """The log density on the scale that is drawn, and the Jacobian."""
        statement, changed = on_new_scale(self, values, sizes)
        now = np.asarray(changed[statement.target.array.name])
        density = of_region(of_drawn(given, drawn)(now), statement)
        if self.change is None:
            return density
        slope = evaluate(log_slope(self), regions(statement, sizes), changed, sizes)
        return np.concatenate([density, np.ravel(slope)])

    # Words

    @property
    def owner(self) -> str:
        """The kernel, and the change of variable as a function of the variable."""
        if self.change is None:
            return self.kernel
        return f"{self.kernel} of {PLAIN.text(self.change.forward(self.statement.target))}"

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """Why there is no family, the certificate, and the log density."""
        notation = derivation.notation
        change = changed_told(self.conditional, notation)
        certificate = str(self.conditional.certificate).splitlines()
        density = wrapped(log_density_text(self, notation), WIDTH)
        return [
            ("No family recognised", derivation.refused(self.refusal)),
            ("The certificate: the log density is concave", change + certificate),
            (f"The log density that {self.kernel} evaluates", density),
        ]


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class AdaptiveRejection(Kernel):
    """An exact draw by adaptive rejection, where the log density is certified to be concave.

    >>> print(AdaptiveRejection())
    adaptive rejection
    """

    by_log_density = True

    def __str__(self) -> str:
        return "adaptive rejection"

    def step(self, asked: Asked) -> Step:
        """The draw, from a log density with its certificate of concavity."""
        refusal, _ = asked.refusal(self)
        own = asked.derived
        is_one = isinstance(own, LogConcave)
        found = own if is_one else certified(asked.graph, refusal, asked.data)
        if found is None:
            raise CompileError(
                f"kernels[{asked.name!r}]: adaptive rejection needs a log density that is "
                f"certified to be concave, and that of {asked.name} is not; by default it is drawn "
                f"{asked.default}. Leave it out, or ask for gp.Slice() or gp.RandomWalk()."
            )
        return asked.make(found)
