"""The family that owns all statistics of a conditional, after a change of variable if needed.

Comes in: a statement and the pieces that mention it. Goes out: a `Conditional`, or a
`NotConjugate` with its reason. The prior's own family comes first, then the smallest: a Beta(1, 1)
without data stays a Beta, though a Uniform has fewer statistics. A family with fewer statistics
wins after a change of variable, too: ``log x, x**2`` is a Gamma of ``x**2``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import sympy as sp
from sympy import Add

from gibbsppl.algebra.bounds import Side
from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Binder, Dim, Expr, Leaf, Over, dims_of, substitute
from gibbsppl.algebra.polynomials import MOST_KEPT, multiplied_out
from gibbsppl.algebra.supports import Support
from gibbsppl.analysis.truncations import is_surely_inside
from gibbsppl.derive.match_results import Conditional, NotConjugate
from gibbsppl.derive.readings import Reading, alpha, changed, in_place, leaves_in, reading_of
from gibbsppl.derive.underflow import may_underflow
from gibbsppl.families import FAMILIES, Family
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import Role
from gibbsppl.pieces.limits import Limit, made_whole
from gibbsppl.pieces.logs import expand_logs
from gibbsppl.pieces.split import Piece, views_of

# Where the row of each family stands in the table.
RANKS = {name: rank for rank, name in enumerate(FAMILIES)}


def match(
    graph: Graph,
    statement: Statement,
    pieces: tuple[Piece, ...],
    limits: tuple[Limit, ...],
    roles: tuple[Role, ...],
    data: Values,
    *,
    elements: bool = False,
) -> Conditional | NotConjugate:
    """The conditional of the family that owns all statistics of the pieces between the limits.

    The statement's own family comes first, then the smallest; the variable as it is before any
    change of it.
    """
    if statement.support.is_discrete:
        limits = tuple(made_whole(limit, graph) for limit in limits)
    reading = reading_of(statement, pieces, limits, roles, graph.sizes, elements=elements)
    known = _Known(graph, data)
    found = _best(reading, known)
    if (found is None or found.is_spacious(statement)) and None not in reading.forms:
        after = (r for r in changed(reading, graph, data) if not may_underflow(r, graph, data))
        others = ((r, _best(r, known)) for r in after)
        owned = [(r, o) for r, o in others if o is not None]
        if found is not None:
            owned = [(r, o) for r, o in owned if o.size < found.size]
        if owned:
            # (the first of several in the order of the table, then of the changes)
            reading, found = min(owned, key=lambda pair: (pair[1].size, pair[1].rank))
    if found is None:
        return _refusal(reading, elements, known)
    return Conditional(
        statement,
        found.family,
        found.known,
        reading.place,
        reading.event,
        found.statistics,
        found.pieces,
        roles,
        reading.support,
        elements=elements,
        change=reading.change,
        truncated=found.truncated,
        limits=reading.limits,
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """A graph with its data: decides whether a support is surely inside of another one."""

    graph: Graph
    data: Values

    def is_within(self, reading: Reading, wider: Support) -> bool:
        """Whether the support of a reading is inside of a wider one, whatever is drawn.

        Bounds that truncate a family are inside of the family's own support (`truncations`).
        """
        statement = reading.statement
        if any(b.atoms(sp.Dummy) for b in map(sp.sympify, (wider.lower, wider.upper))):
            return False
        supports = [reading.support]
        if reading.change is None:
            supports.append(statement.family.support(statement.event, **dict(statement.arguments)))
        sides: tuple[Side, Side] = ("lower", "upper")
        return all(
            any(self._is_inside(getattr(s, side), getattr(wider, side), side, statement)
                for s in supports)
            for side in sides
        )

    def _is_inside(self, bound: Expr, wider: Expr, side: Side, statement: Statement) -> bool:
        given, own = sp.sympify(bound), sp.sympify(wider)
        return is_surely_inside(given, own, side, statement.over, self.graph, self.data)


@dataclass(frozen=True, slots=True)
class _Fit:
    """How a row fits a support: whether truncated, and the parameters that its bounds give."""

    truncated: bool
    known: Mapping[str, Expr]


@dataclass(frozen=True, slots=True)
class _Owned:
    """A family that owns a reading: the statistics, the pieces of each, the known parameters."""

    family: Family
    statistics: tuple[Expr, ...]
    pieces: tuple[tuple[Piece, ...], ...]
    known: tuple[tuple[str, Expr], ...]
    truncated: bool

    @property
    def size(self) -> tuple[int, bool]:
        """The number of statistics, and whether the family is truncated: smaller is better."""
        return len(self.statistics), self.truncated

    def is_spacious(self, statement: Statement) -> bool:
        """Whether a family may have fewer statistics after a change of variable.

        Where a statistic has no pieces; where a family other than the statement's has more than
        two, one of them may be in the base measure of another: of ``1/x`` a generalised inverse
        Gaussian with index 1/2 is an inverse Gaussian.
        """
        is_large = len(self.pieces) > 2 and self.family is not statement.family
        return is_large or not all(self.pieces)

    @property
    def rank(self) -> int:
        """The row's place in the table."""
        return RANKS[self.family.name]


def _best(reading: Reading, known: _Known) -> _Owned | None:
    """The best row that owns the reading: the statement's own family, or else the smallest."""
    found = [o for row in _rows() if (o := _owned(row, reading, known)) is not None]
    own = reading.statement.family if reading.change is None else None
    return min(found, key=lambda o: (o.family is not own, o.size), default=None)


def _rows() -> Iterable[Family]:
    return (f for f in FAMILIES.values() if f.natural is not None)


def _owned(family: Family, reading: Reading, others: _Known) -> _Owned | None:
    """A family with the pieces of each statistic; None if its support or a piece does not fit."""
    natural = family.natural
    fit = _fit(family, reading, others)
    if natural is None or fit is None:
        return None
    known: dict[str, Expr] = {n: v for n, v in fit.known.items() if n in natural.known}
    if reading.change is None and family is reading.statement.family:
        known = {n: v for n, v in reading.statement.arguments if n in natural.known} | known
    bounds = _bound_parameters(family, reading.event) if fit.truncated else set()
    for values in _completed(family, reading, known, bounds):
        statistics = tuple(natural.statistics(reading.place, reading.event, **values))
        base = _terms(natural.log_base(reading.place, reading.event, **values), reading)
        pieces = _shared_out(reading, statistics, base)
        if pieces is not None:
            kept = tuple((n, v) for n, v in values.items() if n not in bounds)
            return _Owned(family, statistics, pieces, kept, fit.truncated)
    return None


def _fit(family: Family, reading: Reading, others: _Known) -> _Fit | None:
    """The fit of a family's support to that of the reading, as it is or truncated; else None."""
    natural, here = family.natural, reading.support
    assert natural is not None
    if family.event != len(reading.event):
        return None
    own, dummies = own_support(family, reading.event)
    if own.kind != here.kind:
        return None
    if not reading.limits:
        known = _unified(own, here, dummies)
        if known is not None:
            return _Fit(truncated=False, known=known)
    within = natural.within or own
    if natural.truncated is None or not others.is_within(reading, within):
        return None
    if here.is_discrete and not all(limit.whole for limit in reading.limits):
        return None  # (whether a limit is itself possible is not known)
    return _Fit(truncated=True, known={})


@lru_cache(maxsize=MOST_KEPT)
def own_support(family: Family, event: tuple[Dim, ...]) -> tuple[Support, Mapping[str, Expr]]:
    """The support of a row, and the names that stand for its parameters there."""
    dummies = {n: sp.Dummy(n) for n in family.parameters}
    return family.support(event, **dummies), dummies


def _unified(own: Support, here: Support, dummies: Values) -> dict[str, Expr] | None:
    """The parameters that make a row's bounds those of the reading."""
    names = {dummy: name for name, dummy in dummies.items()}
    known: dict[str, Expr] = {}
    for mine, wanted in ((own.lower, here.lower), (own.upper, here.upper)):
        if mine in names and (here.kind == "real" or sp.sympify(wanted).is_finite is not False):
            known[names[mine]] = wanted
        elif mine != wanted:
            return None
    return known


def _bound_parameters(family: Family, event: tuple[Dim, ...]) -> set[str]:
    """The parameters of a row that are nothing but bounds of its support."""
    support, dummies = own_support(family, event)
    return {n for n, dummy in dummies.items() if dummy in (support.lower, support.upper)}


def _completed(
    family: Family, reading: Reading, known: Mapping[str, Expr], bounds: Collection[str]
) -> Iterator[dict[str, Expr]]:
    """Values of all known parameters: those not given are read off the statistics found.

    ``x**k`` says the k of ``x**shape``. Parameters that are bounds of a truncated draw may be
    anything.
    """
    natural = family.natural
    assert natural is not None
    values = {n: known[n] if n in known else sp.Dummy(n) for n in natural.known}
    unknown = [n for n in values if n not in known and n not in bounds]
    if not unknown:
        yield values
    if len(unknown) != 1:
        return
    (name,) = unknown
    statistics = map(alpha, natural.statistics(reading.place, reading.event, **values))
    base = _terms(natural.log_base(reading.place, reading.event, **values), reading)
    wild = sp.Wild("w", exclude=[reading.place, reading.place.array])
    patterns = [
        t.xreplace({values[name]: wild})
        for t in (*statistics, *base)
        if t.atoms(sp.Dummy) == {values[name]}
    ]
    # (not in normal form: a parameter keeps the names of the dims that it is summed over)
    written = [in_place(p, reading.place, reading.event) for p in reading.pieces]
    found = (f.match(p) for p in patterns for f in written if f is not None)
    for solution in dict.fromkeys(m[wild] for m in found if m and wild in m):
        yield values | {name: solution}


def _shared_out(
    reading: Reading, statistics: tuple[Expr, ...], base: dict[Expr, Expr]
) -> tuple[tuple[Piece, ...], ...] | None:
    """The pieces by statistic, those of the base measure taken out; None if any is left over."""
    place, event = reading.place, reading.event
    keys = [alpha(s) for s in statistics]
    squares = {alpha(place**2): j for j, k in enumerate(keys) if k == alpha(_pair(place, event))}
    squares |= {d: j for j, s in enumerate(statistics) for d in _diagonals(s, event)}
    owned: list[list[Piece]] = [[] for _ in statistics]
    of_base: dict[Expr, list[Piece]] = {form: [] for form in base}
    for piece, form in zip(reading.pieces, reading.forms, strict=True):
        if form in keys:
            owned[keys.index(form)].append(piece)
        elif form in squares:
            owned[squares[form]].append(piece)
        elif form in of_base:
            of_base[form].append(piece)
        else:
            return None
    for form, wanted in base.items():
        total = reading.total(of_base[form])
        if total is None or multiplied_out(total - wanted) != 0:
            return None
    return tuple(map(tuple, owned))


def _diagonals(statistic: Expr, event: tuple[Dim, ...]) -> Iterator[Expr]:
    """The statistic of an entry of a matrix, on its diagonal."""
    if len(event) == 2 and set(event) <= dims_of(statistic):
        for d, other in (event, event[::-1]):
            yield alpha(substitute(statistic, {d: other}))


def _pair(place: Leaf, event: tuple[Dim, ...]) -> Expr:
    """x[k] * x[k'], the statistic of two entries of one event."""
    return place * substitute(place, {d: primed(d) for d in event[:1]}) if event else sp.S.NaN


def _terms(log_base: Expr, reading: Reading) -> dict[Expr, Expr]:
    """The base measure as coefficient by statistic; the pieces must have just that coefficient."""
    array = reading.array
    found: dict[Expr, Expr] = {}
    expanded = multiplied_out(expand_logs(sp.sympify(log_base), {array}), log=False)
    for term in Add.make_args(expanded) if expanded != 0 else ():
        number, summed = term.as_coeff_Mul()
        body = _summand(summed, array)
        if leaves := leaves_in(body, array):
            coefficient, statistic = body.as_independent(*leaves)
            form = alpha(statistic)
            found[form] = found.get(form, sp.S.Zero) + number * coefficient
    return found


def _summand(term: Expr, array: str) -> Expr:
    """The body of a term that is a sum over elements of the array; other terms as given."""
    while isinstance(term, Binder) and any(True for _ in views_of(term, {array})):
        term = term.body
    return term


def _refusal(reading: Reading, elements: bool, known: _Known) -> NotConjugate:
    """Why no row matched: the statistics found, and the row that shares the most of them."""
    forms = reading.forms
    shown = {p.statistic if f is None else f for p, f in zip(reading.pieces, forms, strict=True)}
    why = f"no family on {reading.support}"
    best: tuple[int, str | None, set[Expr]] = (0, None, set())
    for family in _rows():
        keys = _keys(family, reading, known)
        if len(keys & shown) > best[0]:
            best = (len(keys & shown), family.name, keys)
    offending = tuple(p for p, f in zip(reading.pieces, forms, strict=True) if f not in best[2])
    # (sums are shown with the names of their dims)
    named = frozenset(
        p.statistic if f is None or f.has(Over) else f
        for p, f in zip(reading.pieces, forms, strict=True)
    )
    return NotConjugate(
        reading.statement, why, offending, best[1], reading.pieces, elements, named
    )


def _keys(family: Family, reading: Reading, others: _Known) -> set[Expr]:
    """The statistics of a row on the support of the reading; none where it does not apply."""
    natural = family.natural
    assert natural is not None
    if _fit(family, reading, others) is None:
        return set()
    known = {n: sp.Dummy(n) for n in natural.known}
    return {alpha(s) for s in natural.statistics(reading.place, reading.event, **known)}
