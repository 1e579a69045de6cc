"""Elliptical slice sampling of variables whose log density has a normal part."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gibbsppl.algebra.supports import REAL, VECTOR
from gibbsppl.arguments import methods_told
from gibbsppl.code.elements import moved
from gibbsppl.code.joint import joint_coefficients, joint_name
from gibbsppl.code.module import Module
from gibbsppl.derive.quadratic import Quadratic, quadratic_of
from gibbsppl.errors import CompileError
from gibbsppl.kernels.joint import JointDraw, joint_draw
from gibbsppl.kernels.move import Move
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.schedule.asked import Asked
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Step

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


@methods_told(CompileError)
@dataclass(frozen=True, slots=True)
class EllipticalSlice(Kernel):
    """Elliptical slice sampling (I. Murray, R. P. Adams and D. J. C. MacKay, 2010, AISTATS).

    For variables with a normal prior, whose precision may be dense (a Gaussian process), banded (a
    random walk, an autoregression) or sparse (a map), and any likelihood. The whole array moves
    along an ellipse through its current value and a draw from the normal part of its log density,
    to where the rest of it allows: nothing is tuned, no step is rejected. Observations with normal
    errors are part of the normal part. Elements that are independent given the rest each have an
    ellipse of their own.

    >>> import gibbsppl as gp
    >>> with gp.Model(coords={"t": 4}) as model:
    ...     level = gp.Array("level", dims="t")
    ...     level[0] = gp.Normal(0, sigma=1)
    ...     level[1:] = gp.Normal(level.lag("t"), sigma=0.5)
    ...     y = gp.Poisson("y", gp.exp(level), dims="t", observed=[1, 0, 3, 4])
    >>> sampler = gp.compile(model, kernels={"level": gp.EllipticalSlice()})
    >>> draws = sampler.sample(10, warmup=5, chains=2, seed=1, progress=False)
    >>> draws["level"].shape
    (2, 10, 4)
    """

    by_log_density = True

    def __str__(self) -> str:
        return "elliptical slice"

    def step(self, asked: Asked) -> Step:
        """A move of all elements of a statement, with the normal part of their log density."""
        graph, block = _quadratic_part(asked)
        reference = None if block is None else joint_draw(graph, block, asked.data)
        if not isinstance(reference, JointDraw):
            raise CompileError(
                f"kernels[{asked.name!r}]: an elliptical slice needs a Gaussian prior without "
                f"bounds, but {asked.name} has none, or one whose precision is too large to be "
                f"factorised; by default it is drawn {asked.default}. Leave it out, or ask for "
                "gp.Slice()."
            )
        called = f"{asked.derived.statement.name}, its reference"
        return asked.move(self, by=EllipseMove(replace(reference, called=called), graph))


@dataclass(frozen=True, slots=True)
class EllipseMove(Kernel):
    """Elliptical slice sampling in one step, with the normal part of its log density."""

    reference: JointDraw
    graph: Graph
    colours = False
    takes_all = True

    def __str__(self) -> str:
        return "elliptical slice"

    def functions(self, module: Module, step: Move) -> list[str]:
        """The function of the coefficients of the normal part."""
        return [joint_coefficients(self._module(module, step), self.reference)]

    def lines(self, module: Module, step: Move, call: str, bounds: str) -> list[str]:  # noqa: ARG002
        """The call of the runtime, with the normal part."""
        own = self._module(module, step)
        joint, given = joint_name(own, self.reference), own.functions[self.reference.name]
        (name,) = step.variables
        arguments = f's, "{name}", {call}, c["{joint}"], {given}(s, c)'
        return moved(f's["{name}"]', "elliptical_slice", arguments)

    def lower(self, workshop: Workshop, step: Move) -> None:
        """The move of one vector, or of each of independent elements."""
        from gibbsppl.code.lowering.elliptical import lower_ellipse  # noqa: PLC0415  (if compiled)

        lower_ellipse(workshop, step, self.reference)

    def _module(self, module: Module, step: Move) -> Module:
        """The module with the normal part as one more step."""
        schedule = module.schedule
        steps, graphs = (*schedule.steps, self.reference), (*schedule.graphs, self.graph)
        own = module.function_of(step, "reference")
        return replace(
            module,
            schedule=replace(schedule, steps=steps, graphs=graphs),
            functions={**module.functions, self.reference.name: own},
        )


def _quadratic_part(asked: Asked) -> tuple[Graph, Quadratic | None]:
    """The statements quadratic in the elements of the asked one: their graph, their log density.

    The asked statement is among them, with all statements of its array if these are quadratic.
    The log density is None without squares, and for bounded or discrete values.
    """
    statement = asked.derived.statement
    if statement.support not in (REAL, VECTOR):
        return asked.graph, None

    def quadratic(factors: tuple[Statement, ...]) -> Quadratic | None:
        return quadratic_of(_of(asked.graph, factors), (statement,), asked.data)

    kept: tuple[Statement, ...] = asked.graph.statements_of(asked.name)
    if quadratic(kept) is None:
        kept = (statement,)
    for factor in asked.graph.factors_of(asked.name):
        if not isinstance(factor, Statement) or factor in kept:
            continue
        if quadratic((*kept, factor)) is not None:
            kept = (*kept, factor)
    found = quadratic(kept)
    has_squares = found is not None and bool(found.of(asked.name, 2) or found.pairs)
    return _of(asked.graph, kept), found if has_squares else None


def _of(graph: Graph, statements: tuple[Statement, ...]) -> Graph:
    """The graph with some of its statements as the only factors."""
    kept = tuple(s for s in graph.statements if s in statements)
    return replace(graph, statements=kept, potentials=(), marginals=())
