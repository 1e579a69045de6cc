"""The model as a value: variables, statements, potentials; frozen. Every pass reads it, none edits.

A **variable** is an array. A **statement** says how a region of it is distributed; its log density
is a scalar template, summed over the ranges in ``over``. A **potential** is a log density without a
left side. Both are **factors**. Deterministics are already substituted in all of these; they are
kept for the output.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import networkx as nx
import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, arrays_in
from gibbsppl.algebra.functions import INDICATORS, Equals, Where
from gibbsppl.algebra.notation import Notation, Sign
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.recursions import Recursion, Step
from gibbsppl.algebra.supports import Support
from gibbsppl.families import Family
from gibbsppl.families.masses import Given, log_mass
from gibbsppl.html import Printed

Kind = Literal["random", "data", "index"]
# Of a network: an array or a factor, and its name.
Node = tuple[Literal["array", "factor"], str]

PLAIN = Notation()
MOST_KEPT = 4096  # (log densities are asked for again and again, and built once)


@dataclass(frozen=True, slots=True)
class Variable:
    """An array: the name, a dim for each axis, and the kind.

    ``random`` arrays are in the state of a chain; ``data`` and ``index`` arrays never change.
    ``of`` is the dim into which an integer array points (an index, a label). ``sign``: how elements
    are written that are moments. ``repeats``: how often each position of its dim is in the data.
    """

    name: str
    dims: tuple[Dim, ...]
    kind: Kind
    integer: bool = False
    of: Dim | None = None
    sign: Sign | None = None
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Censoring:
    """Censored values: known by a lower and an upper bound alone where ``where`` is 1.

    ``None`` is no bound. A detection limit needs no marks: censored values are at the limit.
    """

    where: Expr
    lower: Expr | None = None
    upper: Expr | None = None

    def __str__(self) -> str:
        low, high = (b if b is None else PLAIN.text(b) for b in (self.lower, self.upper))
        sides = {low is None: f"below {high}", high is None: f"above {low}"}
        side = sides.get(True, f"between {low} and {high}")
        if low is None and high is None:
            return f"not seen where {PLAIN.text(1 - self.where)} = 0"
        if self.where == 1 or isinstance(self.where, INDICATORS):
            return f"censored {side}"
        return f"censored {side} where {PLAIN.text(1 - self.where)} = 0"


@dataclass(frozen=True, slots=True)
class Statement:
    """``target ~ family(arguments)`` for all positions in ``over``.

    ``target`` is a leaf such as ``x[t]``, ``x[0]`` or ``theta[doc, topic]``; ``event`` are the dims
    that one value of the family has (for a label: the dim that it points into); ``over`` ranges
    over the other dims of the target. ``arguments`` are the family's canonical parameters.
    ``lower`` and ``upper`` truncate. ``censored`` says which observed values are known by their
    bounds alone, each value by one of them at most. ``known`` is 1 (observed), 0 (latent), or a
    leaf of a 0/1 data array at the target's indices (partly observed: drawn where it is 0).
    ``spelled`` are the parameters as the user wrote them, in the declared graph: limits are theirs.
    """

    name: str
    target: Leaf
    over: tuple[Range, ...]
    event: tuple[Dim, ...]
    family: Family
    arguments: tuple[tuple[str, Expr], ...]
    lower: Expr | None = None
    upper: Expr | None = None
    known: Expr = sp.S.Zero
    censored: tuple[Censoring, ...] = ()
    spelled: tuple[tuple[str, Expr], ...] = ()

    @property
    def support(self) -> Support:
        """The support of the target: the family's, narrowed by the truncation."""
        full = self.family.support(self.event, **dict(self.arguments))
        return full.narrowed(self.lower, self.upper)

    @property
    def is_latent(self) -> bool:
        """Whether any element is to be drawn."""
        return self.known != 1

    @property
    def mask(self) -> str | None:
        """The array that says which elements are known; None where all of them or none are."""
        return self.known.array.name if isinstance(self.known, Leaf) else None

    @property
    def log_density(self) -> Expr:
        """The log density of one element (one event), truncation included, on the support.

        Of a censored value, the log probability of the known interval.
        """
        return _log_density_of(self)

    def log_mass(self, lower: Expr | None, upper: Expr | None) -> Expr:
        """The log probability of the interval between two bounds."""
        return log_mass(Given(self.family, self.event, dict(self.arguments)), lower, upper)

    def __str__(self) -> str:
        if self.family.name:
            inside = ", ".join(f"{name}={PLAIN.text(value)}" for name, value in self.arguments)
            line = f"{self.target} ~ {self.family.name}({inside})"
        else:
            line = f"{self.target} has log density {PLAIN.text(dict(self.arguments)['log'])}"
        if self.family.event:
            line += f" over {', '.join(d.name for d in self.event)}"
        if self.lower is not None or self.upper is not None:
            bounds = ("" if b is None else PLAIN.text(b) for b in (self.lower, self.upper))
            line += f" truncated to ({', '.join(bounds)})"
        line += "".join(f", {c}" for c in self.censored)
        if self.known == 1:
            return line + ", observed"
        return line if self.known == 0 else line + f", observed where {self.known} = 1"


@lru_cache(maxsize=MOST_KEPT)
def _log_density_of(statement: Statement) -> Expr:
    """The log density of a statement, built once."""
    s = statement
    density = s.family.log_density(s.target, s.event, **dict(s.arguments))
    density = _of_others(density, s.target, s.lower)
    seen = 1 - sp.Add(*(c.where for c in s.censored))
    unseen = sp.Add(*(_log_mass_where(s, c) for c in s.censored))
    return seen * density + unseen - s.log_mass(s.lower, s.upper)


def _log_mass_where(statement: Statement, censoring: Censoring) -> Expr:
    """The log probability of the known interval of a censored value, 0 for other values."""
    lower = statement.lower if censoring.lower is None else censoring.lower
    upper = statement.upper if censoring.upper is None else censoring.upper
    return censoring.where * statement.log_mass(lower, upper)


def _of_others(density: Expr, target: Leaf, lower: Expr | None) -> Expr:
    """The density without the choice of a value that a truncation leaves out: a zero, say."""
    if lower is None or not lower.is_number:
        return density
    choices = {c: c.args[2] for c in density.atoms(Where) if _is_below(c.args[0], target, lower)}
    return density.xreplace(choices)


def _is_below(condition: Expr, target: Leaf, lower: Expr) -> bool:
    """Whether a condition is that the target is a number below its lower bound."""
    if not isinstance(condition, Equals) or target not in condition.args:
        return False
    (other,) = (
        (a for a in condition.args if a != target) if len(set(condition.args)) > 1 else (target,)
    )
    return bool(other.is_number and other < lower)


@dataclass(frozen=True, slots=True)
class Potential:
    """A log density added to the joint for all positions in ``over``; it has no left side.

    ``of`` names the observed array whose log likelihood it is a part of: such a potential ties no
    variables beyond what observing the array does. ``guards`` names the statement (or what it says
    of an observed outcome) that has no density where the potential is minus infinity.
    ``is_sparse``: few cells of the array are stored.
    """

    name: str
    log_density: Expr
    over: tuple[Range, ...]
    of: str | None = None
    guards: str | None = None
    is_sparse: bool = False

    def __str__(self) -> str:
        summed = ", ".join(r.dim.name for r in self.over)
        term = PLAIN.text(self.log_density)
        total = f"sum({term}, {summed})" if summed else term
        observed = "" if self.of is None else f", for {self.of} observed"
        return f"log density += {total}{observed}"


@dataclass(frozen=True, slots=True)
class Scatter:
    """A factor's contribution to an array: ``array[indices] += value``, for all in ``over``."""

    factor: str
    indices: tuple[Expr, ...]
    value: Expr
    over: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Maintained:
    """An array determined by other arrays: zeros plus the contributions scattered by factors.

    ``element`` is the array's leaf at its axes. Each draw of a sweep keeps the array up to date.
    """

    element: Leaf
    scatters: tuple[Scatter, ...]

    @property
    def name(self) -> str:
        """The name of the array."""
        return self.element.array.name

    @property
    def axes(self) -> tuple[Dim, ...]:
        """One dim per axis."""
        return self.element.own_dims

    @property
    def expressions(self) -> Iterator[Expr]:
        """The values added, and the positions."""
        return (e for s in self.scatters for e in (s.value, *s.indices))

    def __str__(self) -> str:
        parts = []
        for s in self.scatters:
            at = ", ".join(map(str, s.indices))
            over = "".join(f", {r.dim}" for r in s.over)
            parts.append(f"{PLAIN.text(s.value)} at [{at}]{over and ' for each' + over[1:]}")
        return f"{self.element} = sum of {'; '.join(parts)}"


@dataclass(frozen=True, slots=True)
class Marginal:
    """The log of an integral: the factor left by a variable that is integrated out.

    ``log_density`` is a log partition function of natural parameters, functions of the elements of
    ``arrays``, whose first axes are the dims in ``over``; or what it is says ``about``, in words.
    """

    name: str
    arrays: tuple[Maintained, ...]
    log_density: Expr
    over: tuple[Range, ...]
    about: str

    @property
    def scatters(self) -> tuple[Scatter, ...]:
        """The contributions scattered onto any of the arrays."""
        return tuple(s for a in self.arrays for s in a.scatters)

    def __str__(self) -> str:
        return f"log density += {PLAIN.text(self.log_density)}, {self.about}"


Factor = Statement | Potential | Marginal


@lru_cache(maxsize=MOST_KEPT)
def expressions_read_by(factor: Factor) -> tuple[Expr, ...]:
    """The expressions that a factor reads: log density, scattered values, bounds of the support."""
    if isinstance(factor, Marginal):
        read = (e for s in factor.scatters for e in (s.value, *s.indices))
        return (factor.log_density, *read)
    if not isinstance(factor, Statement):
        return (factor.log_density,)
    return (factor.log_density, *map(sp.sympify, (factor.support.lower, factor.support.upper)))


@dataclass(frozen=True, slots=True)
class Constant:
    """A region of a random array that is a known value (an expression of data) at all times."""

    target: Leaf
    over: tuple[Range, ...]
    value: Expr

    def __str__(self) -> str:
        return f"{self.target} = {PLAIN.text(self.value)}"


@dataclass(frozen=True, slots=True)
class Deterministic:
    """A named function of other variables, recorded with the draws."""

    name: str
    dims: tuple[Dim, ...]
    value: Expr

    def __str__(self) -> str:
        if isinstance(self.value, Recursion):
            own = (s for s in self.value.system.args if s.element.own == self.value.own)
            return "\n".join(map(_step_text, own))
        indices = f"[{', '.join(d.name for d in self.dims)}]" if self.dims else ""
        return f"{self.name}{indices} := {PLAIN.text(self.value)}"


def _step_text(step: Step) -> str:
    """The value of a region of a computed array."""
    over = "".join(f", {r.dim} = {r.start}..{r.stop - 1}" for r in step.over)
    return f"{PLAIN.text(step.element)} := {PLAIN.text(step.value)}{over}"


# The labels of positions, by the names of dims.
Labels = Mapping[str, Sequence[Hashable]]


@dataclass(frozen=True, slots=True)
class Graph(Printed):
    """A whole model. ``sizes`` gives the size of every dim, primed ones included.

    ``labels`` are those of the positions along dims, where they are not 0, 1, ...
    """

    name: str
    sizes: Mapping[Dim, int]
    variables: Mapping[str, Variable]
    statements: tuple[Statement, ...]
    potentials: tuple[Potential, ...] = ()
    constants: tuple[Constant, ...] = ()
    deterministics: tuple[Deterministic, ...] = ()
    marginals: tuple[Marginal, ...] = ()
    labels: Labels = field(default_factory=dict)
    _made: list[nx.DiGraph[Node]] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    @property
    def network(self) -> nx.DiGraph[Node]:
        """Arrays and factors: an edge from each array to the factors that read the array.

        And an edge from each statement to the array that it fills. Nodes are ``("array", name)``
        and ``("factor", name)``. The network is made once; do not change it.
        """
        if not self._made:
            self._made.append(_network_of(self.factors))
        return self._made[0]

    @property
    def factors(self) -> tuple[Factor, ...]:
        """All terms of the log joint density."""
        return self.statements + self.potentials + self.marginals

    @property
    def random(self) -> tuple[str, ...]:
        """The names of the arrays that are no data."""
        return tuple(v.name for v in self.variables.values() if v.kind == "random")

    @property
    def drawn(self) -> tuple[str, ...]:
        """The names of the arrays with something to draw."""
        return tuple(dict.fromkeys(s.target.array.name for s in self.latent))

    @property
    def latent(self) -> tuple[Statement, ...]:
        """The statements with something to draw."""
        return tuple(s for s in self.statements if s.is_latent)

    def statement(self, name: str) -> Statement:
        """The statement of that name."""
        return next(s for s in self.statements if s.name == name)

    def statements_of(self, array: str) -> tuple[Statement, ...]:
        """The statements that define elements of an array."""
        return tuple(s for s in self.statements if s.target.array.name == array)

    def factors_of(self, array: Array | str) -> tuple[Factor, ...]:
        """The factors of an array's conditional: own statements, and factors that mention it.

        (The density of a uniform, or of a beta-binomial with both parameters 1, does not mention
        the variable, but the support restricts it.)
        """
        node, network = ("array", str(array)), self.network
        if node not in network:
            return ()
        near = {*network.predecessors(node), *network.successors(node)}
        return tuple(f for f in self.factors if ("factor", f.name) in near)

    def __str__(self) -> str:
        """The model in mathematical notation, a line for each factor, with partial ranges."""
        ranged: tuple[Factor | Constant, ...] = (*self.factors, *self.constants)
        lines = (f"{f}{self._ranges(f.over)}" for f in ranged)
        return "\n".join((*lines, *map(str, self.deterministics)))

    def _ranges(self, over: tuple[Range, ...]) -> str:
        partial = (r for r in over if len(r) != self.sizes[r.dim])
        return "".join(f", {r.dim} = {r.start}..{r.stop - 1}" for r in partial)


def _network_of(factors: Sequence[Factor]) -> nx.DiGraph[Node]:
    network: nx.DiGraph[Node] = nx.DiGraph()
    for factor in factors:
        node = ("factor", factor.name)
        # (a draw reads all arguments, also those that a density does not depend on)
        arguments = [a for _, a in factor.arguments] if isinstance(factor, Statement) else []
        every = (*expressions_read_by(factor), *arguments)
        read = frozenset[str]().union(*map(arrays_in, every))
        network.add_edges_from((("array", name), node) for name in sorted(read))
        if isinstance(factor, Statement):
            network.add_edge(node, ("array", factor.target.array.name))
    return network
