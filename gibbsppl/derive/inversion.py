"""The parameters of a family, read off natural parameters: derived from the row's own log density.

The log density with symbols for its parameters is split like any other; what multiplies each
statistic is eta as a function of the parameters, and SymPy inverts it. What it cannot invert (a
matrix equation) stays an equation.

>>> from gibbsppl.families import FAMILIES
>>> dict(inversion_of(FAMILIES["Gamma"]).solved)
{'shape': eta_1 + 1, 'rate': -eta_2}
>>> inversion_of(FAMILIES["MvNormal"]).equations
((eta_1, sum(mu[k']*tau[k, k'], k')),)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import (
    Array,
    Binder,
    Dim,
    Expr,
    Leaf,
    Over,
    Replacements,
    substitute,
)
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.readings import normal_form
from gibbsppl.families import Family, Parameter
from gibbsppl.pieces.split import Piece, split, views_of

EVENT = Dim("k")
PARTNER = primed(EVENT)
VALUE = "·value"
# Two roots differ by much more than the rounding of fifteen digits.
TINY = sp.Float("1e-9")


@dataclass(frozen=True, slots=True)
class Inversion:
    """Parameters by name as expressions of eta, and the equations that could not be solved.

    ``equations`` are pairs: a natural parameter, and its formula in terms of the parameters. Along
    an event, the formulas are for the entry at ``k`` or, of matrices, at ``k, k'``.
    """

    etas: tuple[Leaf, ...]
    solved: tuple[tuple[str, Expr], ...]
    equations: tuple[tuple[Expr, Expr], ...]


@cache
def inversion_of(family: Family) -> Inversion:
    """How the parameters of an exponential family follow from its natural parameters."""
    natural = family.natural
    assert natural is not None
    event = (EVENT, PARTNER)[: family.event]
    symbols = {n: _symbol(n, p)[(EVENT, PARTNER)[: p.event]] for n, p in family.parameters.items()}
    known = {n: symbols[n] for n in natural.known}
    place = Array(VALUE)[event]
    base = natural.log_base(place, event, **known)
    density = family.log_density(place, event, **symbols) - base
    pieces = split(VALUE, density, (), {VALUE}, {})
    statistics = natural.statistics(place, event, **known)
    etas = tuple(Array(f"eta_{j + 1}")[()] for j in range(len(statistics)))
    if natural.parameters is not None:
        return Inversion(etas, tuple(natural.parameters(*etas, event=event).items()), ())
    found = tuple(_coefficient(s, place, event, pieces) for s in statistics)
    unknown = {n: leaf for n, leaf in symbols.items() if n not in known}
    return _solved(etas, found, unknown)


def _symbol(name: str, parameter: Parameter) -> Array:
    """The array of a parameter, declared positive where its support is the positive half line."""
    lower = sp.sympify(parameter.support.lower)
    is_scalar = parameter.support.kind == "real"
    return Array(name, positive=True) if is_scalar and lower.is_nonnegative else Array(name)


def _coefficient(
    statistic: Expr, place: Leaf, event: tuple[Dim, ...], pieces: Sequence[Piece]
) -> Expr:
    """The coefficient of a statistic in the pieces, at the event's own dims."""
    ranges = tuple(Range(d, 0, 0) for d in (EVENT, PARTNER))
    own = Piece("", statistic, tuple(views_of(statistic, {VALUE})), sp.S.One, ranges)
    form = normal_form(own, place, event)
    return Add(*(_at_event(p) for p in pieces if normal_form(p, place, event) == form))


def _at_event(piece: Piece) -> Expr:
    """The coefficient with the indices of the views named k and k', and what is left summed."""
    indices = [i for v in piece.views for i in v.indices if i is not None]
    left = [r.dim for r in piece.over if r.dim not in indices]
    names = dict(zip([*indices, *left], (EVENT, PARTNER), strict=False))
    value = _symmetric(substitute(piece.coefficient, names))
    number, rest = value.as_coeff_Mul()
    return number * Over(rest, PARTNER) if left else value


def _symmetric(expr: Expr) -> Expr:
    """Entries of matrices, which are symmetric, with their indices in order."""
    leaves = (x for x in expr.atoms(Leaf) if x.indices == (PARTNER, EVENT))
    return expr.xreplace({x: Leaf(x.array, EVENT, PARTNER) for x in leaves})


def _solved(
    etas: Sequence[Leaf], coefficients: Sequence[Expr], unknown: Mapping[str, Leaf]
) -> Inversion:
    """The equations ``eta = coefficient`` solved for the parameters, as far as it goes."""
    signs = {leaf: {"positive": True} if leaf.is_positive else {} for leaf in unknown.values()}
    dummies = {leaf: sp.Dummy(name, **signs[leaf]) for name, leaf in unknown.items()}
    pairs = list(zip(etas, coefficients, strict=True))
    closed = [(e, c) for e, c in pairs if _is_under_a_sum(c, unknown.values())]
    letters = {e: sp.Dummy(str(e)) for e in etas}
    equations = {letters[e]: c.xreplace(dummies) for e, c in pairs if (e, c) not in closed}
    zeros = [c - letter for letter, c in equations.items()]
    solutions = sp.solve(zeros, *dummies.values(), dict=True) if zeros else []
    back = {d: e for e, d in letters.items()}
    found: Mapping[Expr, Expr] = next((s for s in solutions if _is_right(s, equations)), {})
    values = {n: found[dummies[x]] for n, x in unknown.items() if dummies[x] in found}
    solved = tuple((n, value.xreplace(back)) for n, value in values.items())
    return Inversion(tuple(etas), solved, tuple(closed if solutions else pairs))


def _is_right(solution: Mapping[Expr, Expr], equations: Replacements) -> bool:
    """Whether a solution gives parameters back from which eta was made: there may be two roots."""
    symbols = sorted({d for c in equations.values() for d in c.free_symbols}, key=str)
    point: dict[Expr, Expr] = {d: sp.Rational(n + 3, n + 2) for n, d in enumerate(symbols)}
    made = {letter: c.xreplace(point) for letter, c in equations.items()}
    found = {d: sp.N(v.xreplace(made).xreplace(point)) for d, v in solution.items()}
    return all(abs(v - point[d]) < TINY for d, v in found.items())


def _is_under_a_sum(expr: Expr, unknown: Iterable[Leaf]) -> bool:
    """Whether a parameter stands inside a sum or a matrix function."""
    arrays = {x.array for x in unknown}
    return any(arrays & b.free_symbols for b in expr.atoms(Binder))


def solved_parameters(
    family: Family, values: Mapping[str, Expr], names: Mapping[Dim, Dim] | None = None
) -> dict[str, Expr]:
    """The solved parameters with natural parameters put in, as fractions in plain form.

    ``names`` gives the model's names of the event dims k and k'.

    >>> from gibbsppl.families import FAMILIES
    >>> a, b = sp.symbols("a b")
    >>> solved_parameters(FAMILIES["Normal"], {"eta_1": a * b, "eta_2": -a / 2 - b / 2})
    {'mu': a*b/(a + b), 'tau': a + b}
    """
    leaves = {Array(n)[()]: v for n, v in values.items()}
    solved = ((n, e.xreplace(dict(names or {}))) for n, e in inversion_of(family).solved)
    return {n: _put_in(e, leaves) for n, e in solved}


def _put_in(formula: Expr, values: Replacements) -> Expr:
    """The formula with values in place of leaves; a fraction without needless signs or numbers."""
    above, below = (_multiplied_out(e.xreplace(values)) for e in sp.fraction(formula))
    if below.could_extract_minus_sign():
        above, below = _multiplied_out(-above), _multiplied_out(-below)
    return above / below


def _multiplied_out(expr: Expr) -> Expr:
    """Numbers multiplied into a sum."""
    coefficient, rest = expr.as_coeff_Mul()
    if rest.is_Add:
        return Add(*(Mul(coefficient, a) for a in rest.args))
    return expr
