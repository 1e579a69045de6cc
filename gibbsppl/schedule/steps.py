"""A step of a sweep: its facts, its generated code, its log density, its words.

Each kind of step is a subclass, one file of `gibbsppl.kernels`. A pass asks a step for its facts
and parts, or for one of the base classes in `kinds`, where an algorithm is about all of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal, Self

from gibbsppl.algebra.expressions import Expr, Leaf
from gibbsppl.algebra.notation import Notation
from gibbsppl.algebra.supports import Support
from gibbsppl.derive.changes import Change
from gibbsppl.derive.colours import Colours, OneByOne, colours_told
from gibbsppl.derive.concavity import LogConcave
from gibbsppl.derive.gradients import Slopes
from gibbsppl.derive.label_chains import ChainConditional
from gibbsppl.derive.labels import FiniteConditional
from gibbsppl.derive.match_results import Conditional, NotConjugate
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.errors import NotLoweredError
from gibbsppl.families import Family
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Graph, Maintained, Statement
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.moments import By
from gibbsppl.schedule.parameters import Bound, NaturalParameter

Kind = Literal["exact", "block", "joint", "finite", "chain", "concave", "move", "scan"]
# A conditional from which a step draws.
OfOne = Conditional | FiniteConditional | ChainConditional | LogConcave | NotConjugate | Scan
Drawable = OfOne | Quadratic | Slopes
# A formula: what comes before its parts, the parts, what comes after.
Formula = tuple[str, list[str], str]


class Step:
    """A draw, or a move, of elements of one statement or of several in one call.

    ``kind`` is the word of tables. ``bounds`` are the lower and the upper bound of a truncated
    draw, otherwise empty. ``kept`` are the maintained arrays, sums over the state, that the step
    reads. ``alpha`` is the parameter of an over-relaxed draw, ``asked`` the kernel that the user
    named, else None. What a step does of its own is below: its generated code, its log density, its
    words, what the checks compare.
    """

    __slots__ = ()
    conditional: Drawable
    kind: Kind
    colours: Colours | None = None
    bounds: tuple[Bound, ...] = ()
    kept: tuple[NaturalParameter, ...] = ()
    alpha: float | None = None
    asked: Kernel | None = None
    # By what the conditional is read.
    by: By = "draw"
    # The draw whose conditional the step reads otherwise, if it is no draw.
    instead_of: Step | None = None
    # How values are moved, or drawn without a family.
    kernel: str = ""
    # Axes of the array along which elements are moved as one vector.
    joint: tuple[int, ...] = ()
    # The name of the step, if other than that of its statement.
    called: str = ""
    # All of several arrays in one draw, from a quadratic log density.
    is_joint = False
    # Whether elements are drawn by one another, beside what their conditionals read.
    ties_elements = False
    # It leaves its conditional invariant, but is no draw from it.
    is_move = False
    # It is a proposal of which the tuning in the state learns how large a share is accepted.
    learns_acceptance = False
    # It proposes values that may be outside of supports: its log density has to exclude these.
    may_leave = False
    # Elements that depend on one another are drawn in one call of the runtime, not in one each.
    in_one_call = False
    # The call of the runtime returns the new array, on the scale of the model.
    returns_array = False
    # The arrays that are drawn last, or alone, all others of the step following them.
    last: tuple[str, ...] = ()
    # The call of the runtime returns all arrays that are drawn, by name.
    returns_arrays = False
    # The draw of a part of the log density that a move goes by, and the graph of its factors.
    reference: Step | None = None
    of_reference: Graph | None = None
    # A sweep calls the function of the conditional, given all else, before the draw.
    calls_given_rest = True
    # Modules of Python that its generated code needs.
    imports: tuple[str, ...] = ()

    # Facts

    @property
    def statement(self) -> Statement:
        """The statement whose elements the step draws, the main one of several of an array."""
        return self.statements[0]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements whose elements the step draws, in one call."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The name of the step: that of its statement, if it has none of its own."""
        return self.called or self.statement.name

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

    @property
    def may_be_coloured(self) -> bool:
        """Whether independent elements among those tied to others may be drawn in one call."""
        return self.is_by_element

    @property
    def is_from_current(self) -> bool:
        """Whether the step moves from the current value, instead of an independent draw."""
        return self.is_by_element

    @property
    def is_asked(self) -> bool:
        """Whether the user asks for a kernel that is no independent draw."""
        is_kernel = self.asked is not None and not self.asked.is_beside
        return self.alpha is not None or is_kernel

    @property
    def method(self) -> str:
        """How values are moved, in words."""
        return f"{self.kernel} sampling"

    @property
    def approximate(self) -> bool:
        """Whether the step does not leave the posterior as it is, but comes near."""
        return False

    @property
    def maintained(self) -> tuple[Maintained, ...]:
        """The arrays, sums over the state, that each of its draws updates by its own change."""
        return ()

    @property
    def dense(self) -> tuple[int, ...]:
        """The axes of the array along which all elements are drawn as one vector."""
        return ()

    @property
    def batch(self) -> tuple[int, ...]:
        """The axes along which such vectors are independent."""
        return ()

    @property
    def drawn(self) -> tuple[slice, ...]:
        """The part of the batch that is drawn."""
        return ()

    @property
    def axis(self) -> int | None:
        """The axis of a hidden Markov chain that is drawn jointly."""
        return None

    @property
    def family(self) -> Family | None:
        """The family that is drawn from, if any."""
        return None

    @property
    def support(self) -> Support:
        """The support of what is drawn."""
        return self.statement.support

    @property
    def change(self) -> Change | None:
        """The change of variable under which the step draws."""
        return None

    @property
    def place(self) -> Leaf:
        """The leaf that is drawn: the target, or the new variable after a change."""
        return self.statement.target

    @property
    def known(self) -> dict[str, Expr]:
        """The known parameters of the family."""
        return {}

    @property
    def labels(self) -> range | None:
        """The values of the labels that the step draws; None where it draws no labels."""
        return None

    @property
    def refusal(self) -> NotConjugate | None:
        """Why no family owns the conditional; None where there is a closed form."""
        return None

    @property
    def refusals(self) -> tuple[NotConjugate, ...]:
        """Why no family owns the conditionals, of each that is moved."""
        return () if self.refusal is None else (self.refusal,)

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """All expressions that the conditional reads."""
        raise NotImplementedError

    def with_fields(self, **fields: Any) -> Self:
        """The step with other values of some of its fields."""
        own: Any = self  # (every kind of step is a dataclass)
        found: Self = replace(own, **fields)
        return found

    def coloured(self, colours: Colours, graph: Graph) -> Self:
        """The step with the colours of its elements."""
        del graph
        return self.with_fields(colours=colours)

    def on_new_scale(self, statement: Statement) -> Step:
        """The draw of the new variable, of which a statement is, without its change."""
        raise NotImplementedError

    # Generated code

    def given_rest(self, module: Any) -> str:
        """The function of natural parameters, log weights or the log density, given all else."""
        raise NotImplementedError

    def functions(self, module: Any) -> list[str]:
        """Further functions of the step."""
        del module
        return []

    def lines(self, module: Any) -> list[str]:
        """The lines of a sweep that carry out the step."""
        raise NotImplementedError

    def drawing_functions(self, module: Any) -> tuple[str, ...]:
        """The names of functions that a draw calls, besides that of its conditional."""
        del module
        return ()

    def in_row(self, module: Any) -> dict[str, str]:
        """The further entries of the step in the table of steps (`gibbsppl.runtime.Step`)."""
        del module
        return {}

    def lower(self, workshop: Any) -> None:
        """The statements of the step in a sweep as a value (`gibbsppl.code.lowering`)."""
        raise NotImplementedError

    # Generated code of other readings of the conditional (`gibbsppl.kernels.readings`)

    def functions_by_mean(self, module: Any, taken: Any) -> list[str]:
        """Further functions where the step takes the moments of its conditional."""
        del module, taken
        return []

    def lines_by_mean(self, module: Any, taken: Any) -> list[str]:
        """The lines of a sweep that take the moments of the conditional."""
        raise NotImplementedError

    def functions_by_mode(self, module: Any, taken: Any) -> list[str]:
        """Further functions where the step takes the mode of its conditional."""
        del module, taken
        return []

    def lines_by_mode(self, module: Any, taken: Any) -> list[str]:
        """The lines of a sweep that put the variable to the mode of the conditional."""
        raise NotImplementedError

    def lower_by_mode(self, workshop: Any, taken: Any) -> None:
        """The statements that put the variable to the mode, in a sweep as a value."""
        del workshop, taken
        raise NotLoweredError(f"{self.name}: a search for the mode.")

    def lower_by_mean(self, workshop: Any, taken: Any) -> None:
        """The statements that take the moments, in a sweep as a value."""
        del workshop, taken
        raise NotLoweredError(f"{self.name}: the moments of its conditional.")

    @property
    def plain_parameters(self) -> tuple[NaturalParameter, ...]:
        """The parameters that a call can compute of its own elements alone; empty if others."""
        return ()

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """The terms of the log density that the step draws from, at the values of its variable.

        ``given`` is what the function of its conditional has returned; ``drawn`` marks the
        elements that one call draws, if not all.
        """
        raise NotImplementedError

    def log_weights_at_once(self, values: Values, sizes: Sizes) -> Floats:
        """The log weights of labels that are drawn approximately, all at once; labels first."""
        raise NotImplementedError

    def log_normalised(self, normaliser: Any) -> Floats | None:
        """The terms of the normalised log density; None where the normaliser is out of reach."""
        del normaliser
        return None

    # Words

    @property
    def owner(self) -> str:
        """The family, the labels or the kernel by which the step draws."""
        raise NotImplementedError

    def how(self, graph: Graph) -> str:
        """The order in which elements are drawn, in words; nothing for a single vector call."""
        del graph
        return colours_told(self.colours) if self.is_by_element else ""

    def formula(self, notation: Notation) -> Formula:
        """The formula of the conditional in the model's own notation."""
        raise NotImplementedError

    def collected(self, derivation: Any) -> list[str]:
        """Every term that holds the variable: statistic, coefficient and factor."""
        raise NotImplementedError

    def recognised(self, derivation: Any) -> list[tuple[str, list[str]]]:
        """The sections on the family or kernel recognised, and the numbers that a draw needs."""
        raise NotImplementedError

    # What the checks compare

    @property
    def draw_function(self) -> str | None:
        """The function of the runtime that must draw, where a row of a table names it."""
        return None

    @property
    def has_probabilities(self) -> bool:
        """Whether the probability of each label after the step can be enumerated."""
        return False

    def label_probabilities(
        self, graph: Graph, given: Any, values: Values, labels: range
    ) -> Floats:
        """The probability of each label after the step, for each element: (label, ranges)."""
        raise NotImplementedError
