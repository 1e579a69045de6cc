"""Elliptical slice sampling of variables whose log density has a normal part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.notation import Notation, signed_sum
from gibbsppl.algebra.supports import REAL, VECTOR
from gibbsppl.arguments import methods_told
from gibbsppl.code.elements import moved
from gibbsppl.code.joint import joint_coefficients, joint_name, pencil_name, scaled_name
from gibbsppl.code.lines import INDENT
from gibbsppl.code.module import Module
from gibbsppl.code.moves import log_density
from gibbsppl.derive.conditionals import move_density
from gibbsppl.derive.quadratic import Quadratic, quadratic_of
from gibbsppl.errors import CompileError
from gibbsppl.explain.derivation import Derivation
from gibbsppl.kernels.joint import JointDraw, joint_draw
from gibbsppl.kernels.move import Move
from gibbsppl.model.density import log_terms
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.schedule.asked import Asked
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.steps import Formula, Step

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
    colours = False
    takes_all = True

    def __str__(self) -> str:
        return "elliptical slice"

    def step(self, asked: Asked) -> Step:
        """A move of all elements of a statement, with the normal part of their log density."""
        found = _along_reference(self, asked)
        if found is None:
            raise CompileError(
                f"kernels[{asked.name!r}]: an elliptical slice needs a Gaussian prior without "
                f"bounds, but {asked.name} has none, or one whose precision is too large to be "
                f"factorised; by default it is drawn {asked.default}. Leave it out, or ask for "
                "gp.Slice()."
            )
        return found


@dataclass(frozen=True, slots=True)
class _Beside(EllipticalSlice):
    """The kernel where nobody has asked for it, beside the default draws."""

    is_beside = True


def ellipse_beside(asked: Asked) -> Step | None:
    """A move of all elements besides the default draw of each, if their normal part ties them.

    None where there is no such part, or it ties none.
    """
    found = _along_reference(_Beside(), asked)
    if found is None or not found.reference.pairs:
        return None
    return found.with_fields(called=f"{asked.derived.statement.name} by {found.kernel}")


def _along_reference(kernel: EllipticalSlice, asked: Asked) -> EllipticalMove | None:
    """The move along ellipses of the normal part; None if none can be factorised."""
    graph, block = _quadratic_part(asked)
    reference = None if block is None else joint_draw(graph, block, asked.data, by_rows=False)
    if not isinstance(reference, JointDraw):
        return None
    called = f"{asked.derived.statement.name}, reference"
    beside = replace(asked.graph, statements=_others(asked.graph, graph.statements))
    reason = asked.refusal(kernel)[0].reason
    rest, _ = move_density(beside, asked.derived.statement, asked.data, reason)
    step = asked.make(rest)
    own = {f: getattr(step, f) for f in ("conditional", "parameters", "terms", "region", "colours")}
    part = replace(reference, called=called)
    return EllipticalMove(
        **own, kernel=str(kernel), asked=kernel, reference=part, of_reference=graph
    )


def _others(graph: Graph, statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    return tuple(s for s in graph.statements if s not in statements)


@dataclass(frozen=True, slots=True, kw_only=True)
class EllipticalMove(Move):
    """A move along an ellipse: of a draw of the normal part, to where all else allows.

    ``reference`` is the draw of the normal part, in a graph of its factors alone; the conditional
    has the pieces of all other factors.
    """

    reference: JointDraw
    of_reference: Graph

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """All that the normal part reads, and the rest of the log density."""
        yield from self.reference.expressions(graph)
        yield from Move.expressions(self, graph)

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The function of the log density besides the normal part, and of that part."""
        name, (rest, given) = module.functions[self.name], self.drawing_functions(module)
        told = f"{self.statement.target} | rest: its log density besides a Gaussian part, and that."
        lines = [
            f"def {name}(s, c):",
            f'{INDENT}"""{told}"""',
            f"{INDENT}return {rest}(s, c), {given}(s, c)",
        ]
        return "\n".join(lines)

    def drawing_functions(self, module: Module) -> tuple[str, ...]:
        """The functions of the log density besides the normal part, and of that part."""
        own = self._with_reference(module)
        is_fixed = self.reference.pencil is not None
        given = scaled_name(own, self.reference) if is_fixed else own.functions[self.reference.name]
        return module.function_of(self, "others"), given

    def functions(self, module: Module) -> list[str]:
        """The functions of the log density besides the normal part, and of that part."""
        own, (name, _) = self._with_reference(module), self.drawing_functions(module)
        rest = log_density(module, self, name, " besides a Gaussian part,")
        if self.reference.pencil is None:
            return [rest, joint_coefficients(own, self.reference)]
        return [rest, *self.reference.functions(own)]

    def lines(self, module: Module) -> list[str]:
        """The call of the runtime, with the normal part."""
        own, (name,) = self._with_reference(module), self.variables
        pencil = self.reference.pencil
        if pencil is None:
            made = joint_name(own, self.reference)
        else:
            made = pencil_name(own, self.reference, pencil)
        given = f'{module.functions[self.name]}(s, c), c["{made}"]'
        if not self.conditional.elements:
            given += ", by_element=True"
        return moved(f's["{name}"]', "elliptical_slice", f's, "{name}", {given}')

    def lower(self, workshop: Workshop) -> None:
        """The move of one vector, or of each of independent elements."""
        from gibbsppl.code.lowering.elliptical import lower_ellipse  # noqa: PLC0415  (if compiled)

        lower_ellipse(workshop, self, self.reference)

    def _with_reference(self, module: Module) -> Module:
        """The module with the normal part as one more step."""
        schedule = module.schedule
        steps = (*schedule.steps, self.reference)
        graphs = (*schedule.graphs, self.of_reference)
        own = module.function_of(self, "reference")
        return replace(
            module,
            schedule=replace(schedule, steps=steps, graphs=graphs),
            functions={**module.functions, self.reference.name: own},
        )

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """The factors of the normal part, and the rest of the log density.

        (That the normal part is drawn from is compared by itself, as `reference`.)
        """
        found = log_terms(self.of_reference, values)
        rest = Move.log_terms(self, given[0], values, sizes, drawn)
        return np.concatenate([*map(np.ravel, found.values()), rest])

    # Words

    def formula(self, notation: Notation) -> Formula:
        """The log density: the normal part, and the rest."""
        head, (quadratic,), tail = self.reference.formula(notation)
        _, (rest,), _ = Move.formula(self, notation)
        return head, [signed_sum([quadratic, rest])], tail

    def collected(self, derivation: Derivation) -> list[str]:
        """Every piece of the normal part, and of the rest."""
        own, rest = self.reference.collected(derivation), Move.collected(self, derivation)
        return [*own, "and, which is no part of the Gaussian one:", *rest]

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """The family of the normal part, and the log density besides it."""
        ((_, told),) = self.reference.recognised(derivation)
        return [("The Gaussian part", told), *Move.recognised(self, derivation)]


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
