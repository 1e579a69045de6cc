"""Marginalisation: variables integrated out in sequence, each by its log partition function.

Comes in: a graph, and the names of variables. Goes out: the graph without them, with a `Marginal`
for each. The natural parameters of a variable are sums over its factors: these are kept as arrays,
and the log partition function is a term of the log density that reads them. Where a variable still
to be integrated out multiplies such a sum (the precision of a normal mean does), it is taken out of
the sum, so that its own conditional is read from that term as from any other: of a normal and a
gamma that share their observations the mean goes first, then the precision (the rows "normal-gamma"
and "normal-Wishart" in A. Gelman and others, 2013, "Bayesian Data Analysis", chapter 3).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import sympy as sp
from sympy import Add

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, Expr, leaves_of, mentions, substitute
from gibbsppl.algebra.identities import without_inverses
from gibbsppl.algebra.ranges import Range, bounded
from gibbsppl.derive.conditionals import conditional_of
from gibbsppl.derive.contractions import data_only, pull_back
from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.responses import with_responses
from gibbsppl.errors import CompileError
from gibbsppl.model.density import event_dims
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import (
    Graph,
    Maintained,
    Marginal,
    Potential,
    Scatter,
    Statement,
    Variable,
)
from gibbsppl.pieces.dependence import region_of
from gibbsppl.pieces.gates import Binary, binary_arrays
from gibbsppl.pieces.logs import expand_logs
from gibbsppl.pieces.split import Piece, rest_of
from gibbsppl.rewrites.applied import with_density
from gibbsppl.rewrites.sums import Sums


@dataclass(frozen=True, slots=True)
class Integral:
    """A variable integrated out: its conditional, in the graph without earlier such variables."""

    conditional: Conditional
    graph: Graph

    @property
    def is_tied(self) -> bool:
        """Whether the conditional reads arrays of variables integrated out before."""
        arrays = {a.name for m in self.graph.marginals for a in m.arrays}
        return any(mentions(p.coefficient, arrays) for ps in self.conditional.pieces for p in ps)


def integrated(
    graph: Graph, data: Values, names: tuple[str, ...]
) -> tuple[Graph, tuple[Integral, ...]]:
    """The graph with variables integrated out, in the first order in which that can be done."""
    found = _in_some_order(Open(graph), data, names)
    return _finished(found), found.integrals


@dataclass(frozen=True, slots=True)
class Open:
    """A graph on the way: integrals are potentials, the arrays in them are variables."""

    graph: Graph
    marginals: tuple[Marginal, ...] = ()
    integrals: tuple[Integral, ...] = ()

    @property
    def arrays(self) -> tuple[Maintained, ...]:
        """The arrays that integrals read."""
        return tuple(a for m in self.marginals for a in m.arrays)


def _in_some_order(work: Open, data: Values, names: tuple[str, ...]) -> Open:
    refusal: CompileError | None = None
    for name in names:
        later = tuple(n for n in names if n != name)
        try:
            return _in_some_order(without(work, data, name, later), data, later)
        except CompileError as error:
            refusal = refusal or error
    if refusal is not None:
        raise refusal
    return work


def _finished(work: Open) -> Graph:
    """The graph with a marginal for each potential that an integral has left."""
    left = {p.name: p.log_density for p in work.graph.potentials}
    arrays = {a.name: a for a in work.arrays}
    found = []
    for m in work.marginals:
        density = left.get(m.name, sp.S.Zero)
        read = {x.array.name for x in leaves_of(density, arrays)}
        kept = tuple(a for a in work.arrays if a.name in read)
        found.append(replace(m, arrays=kept, log_density=density))
    own = {m.name for m in work.marginals}
    return replace(
        work.graph,
        potentials=tuple(p for p in work.graph.potentials if p.name not in own),
        variables={n: v for n, v in work.graph.variables.items() if n not in arrays},
        marginals=tuple(m for m in found if m.log_density != 0),
    )


def without(work: Open, data: Values, name: str, later: tuple[str, ...]) -> Open:
    """The graph with one more variable integrated out; ``later`` names the ones still to come."""
    found = closed_form(work, data, name)
    statement, integral = found.statement, Integral(found, _finished(work))
    natural = found.family.natural
    assert natural is not None
    assert natural.log_partition is not None
    event = found.own_event
    work, etas, arrays = natural_parameters(work, found, later)
    known = {n: substitute(v, _block_dims(found, event)) for n, v in found.known}
    density = natural.log_partition(*etas, **known, **({"event": event} if event else {}))
    density = bounded(density, work.graph.sizes)
    inside = {a.name for a in arrays} | {a.name for a in work.arrays} | set(later)
    density = without_inverses(expand_logs_of(density, (*arrays, *work.arrays), inside))
    over = tuple(r for r in statement.over if r.dim not in event)
    marginal = Marginal(name, tuple(arrays), density, over, f"with {name} integrated out")
    left = _left(work.graph, marginal, binary_arrays(work.graph, data))
    return Open(left, (*work.marginals, marginal), (*work.integrals, integral))


def natural_parameters(
    work: Open, found: Conditional, later: Collection[str]
) -> tuple[Open, list[Expr], list[Maintained]]:
    """The natural parameters of a closed form as functions of arrays, and these arrays.

    What is in ``later`` multiplies arrays, and is in none of them. The graph knows the dims of
    pairs of entries, too.
    """
    name, event = found.statement.target.array.name, found.own_event
    partners = {primed(d): work.graph.sizes[d] for d in event}
    work = replace(work, graph=replace(work.graph, sizes={**partners, **work.graph.sizes}))
    etas, arrays = [], []
    matrices = {n: _matrix_dims(work.graph, n) for n in later}
    stem = free_stem(f"{name}_eta", work.graph)
    for j, pieces in enumerate(found.pieces, 1):
        eta, kept = _natural_parameter(work, found, pieces, f"{stem}_{j}", event, matrices)
        etas.append(eta)
        arrays += kept
    return work, etas, arrays


def expand_logs_of(expr: Expr, arrays: Collection[Maintained], targets: Collection[str]) -> Expr:
    """The expression with logs taken apart, as far as the signs of arrays allow.

    The parts of a log have to be positive (`expand_logs`). An array of what is subtracted,
    such as minus a precision, is negative: it is read as minus a positive one meanwhile. Where the
    sign of what a log divides by is not known, nothing is taken apart.
    """
    signs = {a.name: _sign(a) for a in arrays}
    unsure = {n for n, sign in signs.items() if sign is None}
    powers = (p for log in expr.atoms(sp.log) for p in log.atoms(sp.Pow) if p.exp.is_negative)
    if any(mentions(p, unsure) for p in powers):
        return expr
    turned = {
        x: Array(x.array.name, positive=True)[x.indices]
        for x in leaves_of(expr, {n for n, sign in signs.items() if sign == -1})
    }
    expanded = expand_logs(expr.xreplace({x: -p for x, p in turned.items()}), targets)
    return expanded.xreplace({p: -x for x, p in turned.items()})


def _sign(array: Maintained) -> int | None:
    """1 for a positive array, -1 for a negative one, None where the sign is not known."""
    if array.element.is_positive:
        return 1
    return -1 if all(s.value.is_nonpositive for s in array.scatters) else None


def free_stem(stem: str, graph: Graph) -> str:
    """A prefix that no array's name starts with."""
    while any(name.startswith(f"{stem}_") for name in graph.variables):
        stem += "_"
    return stem


def closed_form(work: Open, data: Values, name: str) -> Conditional:
    """The conditional of a variable, if its integral is known."""
    statement, *others = [s for s in work.graph.latent if s.target.array.name == name]
    found = conditional_of(work.graph, statement, data)
    plain = isinstance(found, Conditional) and not (
        found.change or found.truncated or found.limits or found.elements
    )
    if not isinstance(found, Conditional) or not plain:
        gone = {m.name for m in work.marginals}
        tied = f", with {', '.join(sorted(gone))} integrated out before" if gone else ""
        raise CompileError(
            f"collapse: {name} has no closed form whose integral is known{tied}; expected a "
            f"variable drawn exactly, not truncated (see explain({name!r}))."
        )
    natural = found.family.natural
    whole = all(
        isinstance(p, Range) and len(p) == work.graph.sizes[p.dim]
        for p in region_of(work.graph, statement)
    )
    if natural is None or natural.log_partition is None:
        raise CompileError(
            f"collapse: {name} is {found.family.name}, whose log partition function is not in the "
            "table; leave it out of collapse=."
        )
    if statement.known != 0 or others or not whole:
        raise CompileError(
            f"collapse: {name} is an array that is known in part, or defined by several "
            "statements; leave it out of collapse=."
        )
    if len(found.dense) > 1:
        raise CompileError(
            f"collapse: {name} is drawn jointly over more than one of its axes, for which its "
            "integral is not known; leave it out of collapse=."
        )
    return found


def _matrix_dims(graph: Graph, name: str) -> tuple[Dim, ...]:
    """The last two dims of an array of symmetric matrices; none of another array."""
    for statement in graph.latent:
        if statement.target.array.name == name and statement.support.kind == "spd":
            event = event_dims(statement)
            return event if statement.target.indices[-2:] == event else ()
    return ()


def _block_dims(found: Conditional, event: tuple[Dim, ...]) -> dict[Expr, Expr]:
    return dict(zip(found.event, event, strict=True)) if found.dense else {}


def _natural_parameter(
    work: Open,
    found: Conditional,
    pieces: tuple[Piece, ...],
    name: str,
    event: tuple[Dim, ...],
    later: Mapping[str, tuple[Dim, ...]],
) -> tuple[Expr, list[Maintained]]:
    """A natural parameter as a function of arrays, and these arrays, whose names start alike."""
    read, sizes = {a.name for a in work.arrays}, work.graph.sizes
    sums = Sums(name, event, later)
    total = sp.S.Zero
    for piece in pieces:
        axes, indices = _position(piece, found.statement, event)
        if mentions(piece.coefficient, read):
            known = data_only(work.graph.variables, work.graph)
            pulled = pull_back(piece, axes, indices, sizes, known)
            if not pulled.is_everywhere(sizes):
                raise CompileError(
                    f"collapse: {found.statement.target.array.name} is seen in part by what is "
                    "left of the variables integrated out before it; leave one of them out."
                )
            total += pulled.value
        else:
            value = bounded(piece.coefficient, sizes)
            sums.add(Scatter(piece.factor, indices, value, piece.over), axes)
    own, arrays = sums.finished()
    return own + total, arrays


def _position(
    piece: Piece, statement: Statement, event: tuple[Dim, ...]
) -> tuple[tuple[Dim, ...], tuple[Expr, ...]]:
    """The axes of a piece's natural parameter, and where on them the piece is.

    The coefficient of a pair of entries of an event has a second, primed axis for each event dim.
    """
    target = statement.target.own_dims
    first = piece.views[0]
    named = [(a, i) for a, i in zip(target, first.indices, strict=True) if i is not None]
    if len(event) == 1 and not _is_linear(piece):
        second = piece.views[-1]
        pairs = zip(target, second.indices, strict=True)
        named += [(primed(a), i) for a, i in pairs if a in event and i is not None]
    return tuple(a for a, _ in named), tuple(i for _, i in named)


def _is_linear(piece: Piece) -> bool:
    """Whether the statistic is of one entry of an event: not a square, not a product of two."""
    return len(piece.views) == 1 and not piece.statistic.is_Pow


def _prior(
    graph: Graph, statement: Statement, kept: tuple[Statement, ...], binary: Binary
) -> Potential:
    """The terms of a prior in latent parameters without the variable: its normaliser, say."""
    name = statement.target.array.name
    latent = {s.target.array.name for s in kept if s.is_latent}
    rest = rest_of(statement.log_density, statement.over, (name,), graph.sizes, binary)
    unknown = (t for t in Add.make_args(expand_logs(rest, latent)) if mentions(t, latent))
    return Potential(f"{name}_prior", Add(*unknown), statement.over)


def _left(graph: Graph, marginal: Marginal, binary: Binary) -> Graph:
    """The graph without a variable, and without the terms that hold it, but for the integral.

    ``binary`` names the arrays whose elements are 0 or 1.
    """
    name = marginal.name
    # (what is left of a square of an affine function has to be told apart, as its pieces were)
    graph = with_responses(graph, name)
    kept = tuple(s for s in graph.statements if s.target.array.name != name)
    priors = tuple(_prior(graph, s, kept, binary) for s in graph.statements if s not in kept)
    rest = replace(
        graph,
        statements=kept,
        potentials=(*graph.potentials, *(p for p in priors if p.log_density != 0)),
    )
    for factor in rest.factors:
        if mentions(factor.log_density, (name,)):
            density = rest_of(factor.log_density, factor.over, (name,), graph.sizes, binary)
            rest = with_density(rest, factor, density)
    arrays = {a.name: Variable(a.name, a.axes, "random") for a in marginal.arrays}
    integral = Potential(name, marginal.log_density, marginal.over)
    return replace(
        rest,
        potentials=(*rest.potentials, integral),
        variables={**rest.variables, **arrays},
    )
