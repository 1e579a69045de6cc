"""The steps of a schedule: values that print, and that back ends lower by ``match``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeGuard

from gibbsppl.algebra.expressions import Dim
from gibbsppl.derive.colours import Colours, OneByOne
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.finite import FiniteConditional
from gibbsppl.derive.label_chains import ChainConditional
from gibbsppl.derive.match_results import Conditional, NotConjugate
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.errors import CompileError
from gibbsppl.families import Family
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import Place, slices_of
from gibbsppl.rewrites import Rewrite
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.rewrites.parts import Part
from gibbsppl.rewrites.recentring import Interwoven, Recentred
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.parameters import Bound, NaturalParameter, Pair
from gibbsppl.schedule.pencils import Pencil

Kind = Literal["exact", "block", "joint", "finite", "chain", "concave", "move", "scan"]

# Of these kinds, labels of all elements are drawn from one range.
OF_LABELS: frozenset[Kind] = frozenset({"finite", "chain", "scan"})


class _OfConditional:
    """The facts of a step's conditional, common to all kinds of steps."""

    __slots__ = ()
    conditional: (
        Conditional
        | FiniteConditional
        | ChainConditional
        | LogConcave
        | NotConjugate
        | Scan
        | Quadratic
    )
    colours: Colours | None

    @property
    def statement(self) -> Statement:
        """The statement whose elements the step draws, the main one of several of an array."""
        assert not isinstance(self.conditional, Quadratic)
        return self.conditional.statement

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements whose elements the step draws, in one call."""
        found = self.conditional
        return found.statements if isinstance(found, Quadratic) else (found.statement,)

    @property
    def name(self) -> str:
        """The name of the step: that of its statement."""
        return self.statement.name

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the arrays that the step draws elements of."""
        return tuple(dict.fromkeys(s.target.array.name for s in self.statements))

    @property
    def is_by_element(self) -> bool:
        """Whether elements are mutually dependent: drawn colour by colour, or one by one."""
        return self.conditional.elements

    @property
    def is_coloured(self) -> bool:
        """Whether the step draws all elements of one colour in vector calls."""
        return self.is_by_element and not isinstance(self.colours, OneByOne | None)


@dataclass(frozen=True, slots=True)
class ExactDraw(_OfConditional):
    """An exact draw from a family of the table, in one vector call or element by element.

    ``bounds`` are the lower and the upper bound of a truncated family, otherwise empty. ``kept``
    are the maintained arrays of variables integrated out that the draw reads. ``alpha`` is the
    parameter of an over-relaxed draw, else None.
    """

    conditional: Conditional
    parameters: tuple[NaturalParameter, ...]
    region: tuple[Place, ...]
    bounds: tuple[Bound, ...] = ()
    kept: tuple[NaturalParameter, ...] = ()
    kind: Kind = "exact"
    colours: Colours | None = None
    alpha: float | None = None

    @property
    def family(self) -> Family | None:
        """The family that the conditional belongs to."""
        return self.conditional.family


@dataclass(frozen=True, slots=True)
class BlockDraw(_OfConditional):
    """A joint draw of all elements along the dense axes, batched over the others.

    The dense axes are drawn whole. Natural parameters have entries for the whole batch, also
    outside of the region. ``kept`` and ``alpha`` are as in an `ExactDraw`.
    """

    conditional: Conditional
    parameters: tuple[NaturalParameter, ...]
    region: tuple[Place, ...]
    kept: tuple[NaturalParameter, ...] = ()
    kind: Kind = "block"
    colours: None = None
    alpha: float | None = None

    @property
    def family(self) -> Family | None:
        """The family that the block's conditional belongs to."""
        return self.conditional.family

    @property
    def batch(self) -> tuple[int, ...]:
        """The axes of the array along which blocks are independent."""
        return self.conditional.batch

    @property
    def dense(self) -> tuple[int, ...]:
        """The axes of the array that one block holds."""
        return self.conditional.dense

    @property
    def drawn(self) -> tuple[slice, ...]:
        """The part of the batch that is drawn."""
        return slices_of(self.region[a] for a in self.batch)


@dataclass(frozen=True, slots=True)
class JointDraw(_OfConditional):
    """A joint draw of all elements of several statements, whose log density is quadratic in them.

    ``linear`` and ``squares`` have a natural parameter for each of the arrays; ``layout`` says how
    the precision matrix is factorised; with a ``pencil`` it is diagonalised once instead.
    ``called`` is the name of the step, if other than the names of its arrays.
    """

    conditional: Quadratic
    linear: tuple[NaturalParameter, ...]
    squares: tuple[NaturalParameter, ...]
    pairs: tuple[Pair, ...]
    layout: str
    family: Family
    pencil: Pencil | None = None
    called: str = ""
    kept: tuple[NaturalParameter, ...] = ()
    colours: None = None
    kind: Kind = "joint"

    @property
    def name(self) -> str:
        """The names of the arrays, unless the step has a name of its own."""
        return self.called or ", ".join(self.variables)


@dataclass(frozen=True, slots=True)
class FiniteDraw(_OfConditional):
    """A draw of labels from their log weights."""

    conditional: FiniteConditional
    weights: NaturalParameter
    region: tuple[Place, ...]
    kind: Kind = "finite"
    family: Family | None = None
    colours: Colours | None = None


@dataclass(frozen=True, slots=True)
class ChainDraw(_OfConditional):
    """A joint draw of the labels of hidden Markov chains along one axis.

    ``weights`` are log weights by label, ``transitions`` by previous label and label, at the
    position of the previous label (without positions where all are the same). ``step`` is the dim
    of these positions. ``region`` is the smallest region around all drawn labels.
    """

    conditional: ChainConditional
    weights: NaturalParameter
    transitions: NaturalParameter
    step: Dim
    region: tuple[Place, ...]
    kind: Kind = "chain"
    family: Family | None = None
    colours: None = None

    @property
    def name(self) -> str:
        """The name of the array."""
        return str(self.statement.target.array.name)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements of the array that have labels to be drawn."""
        return self.conditional.statements

    @property
    def axis(self) -> int:
        """The axis of the array that the chain is along."""
        return self.conditional.axis


@dataclass(frozen=True, slots=True)
class ConcaveDraw(_OfConditional):
    """An exact draw by adaptive rejection: the log density is certified to be concave.

    ``parameters`` and ``terms`` are as those of a `Move`, on the scale of the certificate.
    """

    conditional: LogConcave
    parameters: tuple[NaturalParameter, ...]
    terms: tuple[Contribution, ...]
    region: tuple[Place, ...]
    kernel: str = "adaptive rejection"
    kind: Kind = "concave"
    family: Family | None = None
    colours: Colours | None = None


@dataclass(frozen=True, slots=True)
class Move(_OfConditional):
    """A move that leaves the conditional invariant: a fallback, or a kernel the user asks for.

    ``parameters`` belong to the terms whose coefficient is computed once per move; ``terms`` are
    evaluated anew at each candidate. Where elements are moved one by one (``elements``), ``terms``
    has everything, summed to one number. ``asked`` is the kernel that the user named, if any;
    ``joint`` are the axes along which it moves elements as one vector.
    """

    conditional: NotConjugate
    parameters: tuple[NaturalParameter, ...]
    terms: tuple[Contribution, ...]
    region: tuple[Place, ...]
    kernel: str = "slice"
    kind: Kind = "move"
    family: Family | None = None
    colours: Colours | None = None
    asked: Kernel | None = None
    joint: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScanDraw(_OfConditional):
    """A draw of labels one after the other, with shared variables integrated out.

    ``kept`` are the arrays that the scan keeps up to date, each as the contributions of factors
    (its statistic is the array's element). ``approximate``: all labels are drawn at once, each
    given the others before the sweep, which does not leave the posterior invariant; ``weights`` are
    then the log weights by label, ``terms`` the excess at the current label of an element. Of a
    recomputed scan ``terms`` are the terms of the log density that it evaluates.
    """

    conditional: Scan
    region: tuple[Place, ...]
    kept: tuple[NaturalParameter, ...]
    weights: NaturalParameter | None = None
    terms: tuple[Contribution, ...] = ()
    kind: Kind = "scan"
    family: Family | None = None
    colours: None = None

    @property
    def approximate(self) -> bool:
        """Whether all labels are drawn at once."""
        return self.weights is not None

    @property
    def increments(self) -> bool:
        """Whether each draw updates the scan's arrays by its own change."""
        return not self.approximate and not self.conditional.recomputed


def is_asked(step: Step) -> TypeGuard[Move | ExactDraw | BlockDraw]:
    """Whether the user asks for a kernel that is no independent draw."""
    if isinstance(step, ExactDraw | BlockDraw):
        return step.alpha is not None
    return isinstance(step, Move) and step.asked is not None


# A step that draws of one array; or any.
Single = ExactDraw | BlockDraw | FiniteDraw | ChainDraw | ConcaveDraw | Move | ScanDraw
Step = Single | JointDraw


@dataclass(frozen=True, slots=True)
class Schedule:
    """One sweep: its steps in order.

    ``graph`` is that of all variables. ``graphs`` has for each step the graph in which it draws:
    one that lacks auxiliary variables has them integrated out. ``rewrites`` brought them in.
    ``parts`` are arrays that stand for positions of others while a sweep goes on. Auxiliary
    variables ``within_sweep`` hold for some of its draws alone. ``tables`` are data besides those
    of the model, which its program reads. ``scan`` says how steps follow one another: in order, or
    by ``units`` (each the positions of steps that stay together), of which a random scan draws as
    many as there are, with probabilities in proportion to ``weights`` (none: all equal), and a
    symmetric one takes all forwards and then backwards. ``interwoven`` are the
    non-centred updates, by name of step: recentred arrays are computed before the draw, their
    originals after. ``leaves`` are arrays with leaves (missing data, predictions), imputed last.
    """

    graph: Graph
    steps: tuple[Step, ...]
    graphs: tuple[Graph, ...]
    rewrites: tuple[Rewrite, ...] = ()
    parts: tuple[Part, ...] = ()
    within_sweep: frozenset[str] = frozenset()
    tables: Mapping[str, Any] = field(default_factory=dict)
    scan: str = "systematic"
    units: tuple[tuple[int, ...], ...] = ()
    weights: tuple[float, ...] = ()
    interwoven: Mapping[str, Interwoven] = field(default_factory=dict)
    leaves: tuple[str, ...] = ()

    @property
    def whole(self) -> Graph:
        """The graph, with the arrays and the dims of all graphs that steps draw in."""
        variables, sizes = dict(self.graph.variables), dict(self.graph.sizes)
        for graph in self.graphs:
            variables = {**graph.variables, **variables}
            sizes = {**graph.sizes, **sizes}
        return replace(self.graph, variables=variables, sizes=sizes)

    @property
    def auxiliary(self) -> tuple[str, ...]:
        """The names of the auxiliary variables, in the order in which they are drawn."""
        return tuple(r.variable for r in self.rewrites)

    @property
    def approximate(self) -> tuple[ScanDraw, ...]:
        """The steps that do not leave the posterior as it is, but come near."""
        return tuple(s for s in self.steps if isinstance(s, ScanDraw) and s.approximate)

    @property
    def fallbacks(self) -> tuple[Move, ...]:
        """The moves that no user has asked for: there is no exact draw.

        A move beside an exact draw is none.
        """
        moves = (s for s in self.steps if isinstance(s, Move) and s.asked is None)
        return tuple(m for m in moves if m.name not in self.interwoven)

    @property
    def asked(self) -> tuple[Move | ExactDraw | BlockDraw, ...]:
        """The steps that are no independent draws because the user asks for another kernel."""
        return tuple(s for s in self.steps if is_asked(s))

    def recentred(self, step: Step) -> tuple[Recentred, ...]:
        """The recentred arrays in the graph of a step, each with its original."""
        found = self.interwoven.get(step.name)
        return () if found is None else found.recentred

    def drawn_by(self, step: Step) -> tuple[str, ...]:
        """The arrays that a step draws, by their names in the model."""
        stands_for = {r.name: r.of for r in self.recentred(step)}
        return tuple(stands_for.get(n, n) for n in step.variables)

    def changed_by(self, step: Step) -> tuple[str, ...]:
        """The arrays of the model that a step changes: the drawn ones, and groups moved along."""
        moved = (r.of for r in self.recentred(step))
        return tuple(dict.fromkeys((*self.drawn_by(step), *moved)))

    def only(self, places: Sequence[int]) -> Schedule:
        """The schedule of some of its steps alone, in this order."""
        steps = tuple(self.steps[j] for j in places)
        names = {s.name for s in steps}
        return replace(
            self,
            steps=steps,
            graphs=tuple(self.graphs[j] for j in places),
            interwoven={n: i for n, i in self.interwoven.items() if n in names},
        )

    def graph_of(self, step: Step) -> Graph:
        """The graph in which a step draws."""
        return self.graphs[self.steps.index(step)]

    def step(self, name: str) -> Step:
        """The step of this name, or the step that draws the statement of this name."""
        for step in self.steps:
            if name in (step.name, *(t.name for t in step.statements)):
                return step
        raise CompileError(
            f"{self.graph.name}: found no step {name!r}, expected one of "
            f"{', '.join(s.name for s in self.steps)}."
        )
