"""The complete conditional of a statement, recognised by its statistics and its support.

Comes in: a graph and one of its statements. Goes out: a `Conditional` (closed form), a
`FiniteConditional` (labels), a `LogConcave` (no family's, but proved to be log-concave), or a
`NotConjugate` with its reason. There is no table of pairs: all log densities that mention the
target are added up as pieces, and the family whose row has those statistics on that support owns
the conditional.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, prod

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.concavity import LogConcave, certified
from gibbsppl.derive.equal_data import with_equal_data
from gibbsppl.derive.form_facts import shown_by
from gibbsppl.derive.labels import FiniteConditional, finite_of
from gibbsppl.derive.match_results import Conditional, NotConjugate
from gibbsppl.derive.matching import match
from gibbsppl.derive.multilinear_forms import (
    LinearForm,
    NotMultilinear,
    degree_of,
    form_pieces,
    linear_form,
    over_elements,
)
from gibbsppl.derive.responses import with_responses
from gibbsppl.derive.telescoping import telescoped
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import Place, Role, is_separable, region_of, roles_of, touches
from gibbsppl.pieces.elements import element_pieces, idempotent
from gibbsppl.pieces.gates import Binary, binary_arrays
from gibbsppl.pieces.limits import Limit, limits_of
from gibbsppl.pieces.split import Piece, pieces_of, prepared, split

# Gates are drawn by a residual where rows see them at so many positions at most, of each of which
# NumPy keeps what it reads there; beyond, by sums over pairs of columns.
MOST_KEPT = 1 << 24

Derived = Conditional | FiniteConditional | LogConcave | NotConjugate


def conditional_of(
    graph: Graph,
    statement: Statement,
    data: Values,
    *,
    elements: bool = False,
    certify: bool = True,
) -> Derived:
    """The complete (full) conditional of a statement's elements, given everything else.

    A closed form comes first; else labels, else a log-concave density, else the refusal.
    ``elements`` asks for the reading by element: the conditional of each element given all others.
    Where there is no closed form, a second search writes equal data alike, and leaves out terms
    that cancel along sums over data.
    ``certify``: log-concavity is looked for (which may take long) where there is no other form.
    """
    graph = with_responses(graph, statement.target.array.name)
    found = _read(graph, statement, data, elements, certify=certify)
    if isinstance(found, Conditional):
        return found
    alike = with_equal_data(graph, statement, data)
    again = found if alike is None else _read(alike, statement, data, elements, certify=False)
    if not isinstance(again, Conditional):
        again = _telescoped(graph, statement, data, elements) or found
    return again if isinstance(again, Conditional) else found


def _read(
    graph: Graph, statement: Statement, data: Values, elements: bool, *, certify: bool
) -> Derived:
    """The complete conditional of a statement in the graph as written."""
    region = region_of(graph, statement)
    degree = 2 if elements or statement.support.is_binary else 3
    formed = _by_form(graph, statement, data, region, degree)
    if isinstance(formed, Conditional):
        return formed
    said = _said(graph, statement, binary_arrays(graph, data), region)
    found = _found(graph, statement, data, said, region, elements)
    if isinstance(found, NotConjugate):
        apart = _by_form(graph, statement, data, region, 3, plain=True)
        if isinstance(apart, Conditional):
            return apart
        if isinstance(formed, NotMultilinear):
            found = replace(found, besides=formed.reason)
        # A label has a conditional, whatever its factors are.
        finite = finite_of(graph, statement, data) if statement.support.is_finite else None
        refusal = replace(found, pieces=_moved_pieces(found, said))
        concave = certified(graph, refusal, data) if certify and finite is None else None
        return finite or concave or refusal
    return found


def _telescoped(
    graph: Graph, statement: Statement, data: Values, elements: bool
) -> Conditional | NotConjugate | None:
    """The conditional without terms that cancel along sums over data; None if no terms do.

    Binary data are plain numbers here, not gates.
    """
    region = region_of(graph, statement)
    binary = {n: v for n, v in binary_arrays(graph, data).items() if n in graph.random}
    said = _said(graph, statement, binary, region)
    found = telescoped(graph, statement, said.rest, said.limits, data)
    if found is None:
        return None
    rest, limits = found
    return _found(graph, statement, data, _Said(rest, limits, rest), region, elements)


def _by_form(
    graph: Graph,
    statement: Statement,
    data: Values,
    region: tuple[Place, ...],
    degree: int,
    *,
    plain: bool = False,
) -> Conditional | NotMultilinear | None:
    """The closed form of one element, from factors quadratic in forms linear in each element.

    None where no factor is a polynomial of at least the given degree in the elements. Forms without
    sums, whose elements may be apart as they are read, are left to others, unless ``plain``.
    """
    is_binary = statement.support.is_binary
    if not (statement.support.kind == "real" or is_binary) or statement.event:
        return None
    binary, array = binary_arrays(graph, data), statement.target.array.name
    forms: list[LinearForm] = []
    pieces: list[Piece] = []
    for factor in graph.factors_of(array):
        density = prepared(factor, statement, binary)
        if not degree <= degree_of(density, array) < inf:
            pieces += split(factor.name, density, factor.over, {array}, graph.sizes)
            continue
        form = linear_form(graph, statement, factor, density)
        is_sum = isinstance(form, LinearForm) and any(e.ranges for e in form.entries)
        left = not is_sum and (is_binary or (isinstance(form, LinearForm) and not plain))
        left = left or (is_binary and isinstance(form, LinearForm) and _positions(form) > MOST_KEPT)
        facts = shown_by(form, graph, data) if isinstance(form, LinearForm) and not left else form
        if isinstance(form, LinearForm) and isinstance(facts, NotMultilinear):
            # (elements that a position sees several times, by an index of data)
            by_sums = linear_form(graph, statement, factor, over_elements(graph, density, array))
            if isinstance(by_sums, LinearForm) and _positions(by_sums) <= MOST_KEPT:
                form, facts = replace(by_sums, form=form.form), shown_by(by_sums, graph, data)
        # (pairs of gates are read otherwise: no form has to be found)
        if left or (is_binary and (not factor.over or isinstance(facts, NotMultilinear))):
            pieces += split(factor.name, density, factor.over, {array}, graph.sizes)
            continue
        if isinstance(form, NotMultilinear) or isinstance(facts, NotMultilinear):
            return facts if isinstance(facts, NotMultilinear) else None
        forms.append(form)
    pieces = [p for p in pieces if any(touches(v, p.over, region) for v in p.views)]
    limits, rest = limits_of(pieces, binary)
    if not forms or not all(map(is_separable, rest)):
        return None
    own = [p for p in element_pieces(rest) if touches(p.views[0], p.over, region)]
    # (log odds are sums over pairs of gates, too: a form is worth it where it can be kept)
    if is_binary and not _is_kept(graph, statement, forms, region):
        return None
    own += [p for form in forms for p in form_pieces(form)]
    batch: tuple[Role, ...] = tuple("batch" for _ in statement.target.indices)
    own = list(idempotent(own, statement.support))
    found = match(graph, statement, tuple(own), limits, batch, data, elements=True)
    return replace(found, forms=tuple(forms)) if isinstance(found, Conditional) else None


def _positions(form: LinearForm) -> int:
    """The number of positions at which rows see elements."""
    return sum(prod(map(len, (*form.over, *e.ranges))) for e in form.entries)


def _is_kept(
    graph: Graph,
    statement: Statement,
    forms: list[LinearForm],
    region: tuple[Place, ...],
) -> bool:
    """Whether all elements of an array are drawn by the value of one form by row."""
    dims = graph.variables[statement.target.array.name].dims
    whole = tuple(Range(d, 0, graph.sizes[d]) for d in dims)
    return len(forms) == 1 and statement.known == 0 and region == whole


def move_density(
    graph: Graph, statement: Statement, data: Values, reason: str
) -> tuple[NotConjugate, tuple[Role, ...]]:
    """The log density of a statement's elements for a move, families untried; the roles of axes.

    ``reason`` says why no family is looked for.
    """
    region = region_of(graph, statement)
    said = _said(graph, statement, binary_arrays(graph, data), region)
    roles, tied = _ties(statement, said, region)
    apart = all(map(is_separable, said.rest)) and not statement.support.is_tied
    own = element_pieces(said.rest) if apart else said.rest
    if apart:
        own = tuple(p for p in own if touches(p.views[0], p.over, region))
    found = NotConjugate(statement, reason, (), None, own, elements=tied)
    return replace(found, pieces=_moved_pieces(found, said)), roles


def _said(
    graph: Graph, statement: Statement, binary: Binary, region: tuple[Place, ...]
) -> _Said:
    """The pieces that mention the elements of a statement, sorted into limits and the rest."""
    every = pieces_of(graph.factors_of(statement.target.array), statement, graph.sizes, binary)
    pieces = tuple(
        p
        for p in idempotent(every, statement.support)
        if any(touches(view, p.over, region) for view in p.views)
    )
    whole = statement.support.is_discrete
    return _Said(pieces, *limits_of(pieces, binary, whole=whole))


@dataclass(frozen=True, slots=True)
class _Said:
    """All pieces about a variable, and the same sorted into limits (bounds) and the rest."""

    pieces: tuple[Piece, ...]
    limits: tuple[Limit, ...]
    rest: tuple[Piece, ...]


def _moved_pieces(found: NotConjugate, said: _Said) -> tuple[Piece, ...]:
    """The pieces evaluated by a move: each term once and whole, if elements move one by one."""
    if found.elements:
        return said.pieces
    bounds = (replace(p, views=(v,)) for p in said.pieces if p not in said.rest for v in p.views)
    return (*bounds, *found.pieces)


def _found(
    graph: Graph,
    statement: Statement,
    data: Values,
    said: _Said,
    region: tuple[Place, ...],
    asked: bool,
) -> Conditional | NotConjugate:
    """The closed form of all elements together, or of one given the others."""
    limits, rest = said.limits, said.rest
    roles = roles_of(said.pieces, statement)
    joint = all(map(is_separable, rest)) and set(roles) <= {"batch", "dense"}
    if joint and not asked and _is_whole(graph, statement, roles):
        found = match(graph, statement, rest, limits, roles, data)
        if isinstance(found, Conditional):
            return found
        if "dense" not in roles or statement.support.is_tied:
            return replace(found, elements=statement.support.is_tied)
    roles, tied = _ties(statement, said, region)
    return _by_element(graph, statement, data, said, region, roles, tied)


def _ties(
    statement: Statement, said: _Said, region: tuple[Place, ...]
) -> tuple[tuple[Role, ...], bool]:
    """The role of each axis, and whether elements must be drawn one by one.

    (Elements that no term ties are drawn all at once by any reading: it is the same draw.)
    """
    roles = roles_of(said.pieces, statement, region)
    several = bool(statement.over or statement.event)
    tied = several and set(roles) != {"batch"}
    inseparable = bool(statement.target.indices) and not all(map(is_separable, said.rest))
    return roles, tied or inseparable or statement.support.is_tied


def _is_whole(graph: Graph, statement: Statement, roles: tuple[Role, ...]) -> bool:
    """Whether a block would cover all positions of its dense axes, none of them known."""
    full: dict[Expr, bool] = {r.dim: len(r) == graph.sizes[r.dim] for r in statement.over}
    dense = [i for i, role in zip(statement.target.indices, roles, strict=True) if role == "dense"]
    return not dense or (
        statement.known == 0 and all(full.get(d, d in statement.event) for d in dense)
    )


def _by_element(
    graph: Graph,
    statement: Statement,
    data: Values,
    said: _Said,
    region: tuple[Place, ...],
    roles: tuple[Role, ...],
    dependent: bool,
) -> Conditional | NotConjugate:
    """The closed form of an element given all others, or a refusal where a term is inseparable."""
    pieces = said.rest
    if all(map(is_separable, pieces)) and not statement.support.is_tied:
        batch: tuple[Role, ...] = tuple("batch" for _ in roles)
        every = idempotent(element_pieces(pieces), statement.support)
        own = tuple(p for p in every if touches(p.views[0], p.over, region))
        return match(graph, statement, own, said.limits, batch, data, elements=dependent)
    reason = "a term of the log density holds several elements at once"
    several = tuple(p for p in pieces if len(p.views) > 1)
    offending = tuple(p for p in pieces if not is_separable(p)) or several
    return NotConjugate(statement, reason, offending, None, pieces, elements=dependent)
