"""From a family of gibbsppl back to a distribution of BUGS: the rows of its table, solved.

Comes in: a family and its canonical parameters. Goes out: the name of a distribution, and its
parameters in order. A row says what family its parameters make; that is solved for them.

>>> nu, scale = sp.symbols("nu scale", positive=True)
>>> inverse_of("Logistic", {"mu": nu, "scale": scale})
Written(name='dlogis', parameters=(nu, 1/scale), axes={'mu': 0, 'tau': 0}, lower=None)
>>> inverse_of("HalfNormal", {"tau": scale})
Written(name='dnorm', parameters=(0, scale), axes={'mu': 0, 'tau': 0}, lower=0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

import sympy as sp

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Dim, Expr, InverseEntry
from gibbsppl.algebra.inverses import solve_for
from gibbsppl.bugs.distributions import DISTRIBUTIONS, meaning_of
from gibbsppl.bugs.rows import Distribution
from gibbsppl.families import FAMILIES
from gibbsppl.language.distributions import written
from gibbsppl.language.tensors import Tensor

# A row, the symbols of its parameters, and the parameters in terms of a family's.
Solved = tuple[Distribution, tuple[sp.Symbol, ...], Mapping[sp.Symbol, Expr]]


@dataclass(frozen=True, slots=True)
class Case:
    """A family as a special case of another family, possibly truncated from below."""

    family: str
    arguments: Callable[..., Mapping[str, Expr]]
    lower: Expr | None = None


# Families that BUGS has no name for, as cases of those that it has.
CASES: Mapping[str, Case] = MappingProxyType(
    {
        "HalfNormal": Case("Normal", lambda tau: {"mu": sp.S.Zero, "tau": tau}, sp.S.Zero),
        "HalfCauchy": Case("Cauchy", lambda scale: {"mu": sp.S.Zero, "scale": scale}, sp.S.Zero),
        "HalfStudentT": Case(
            "StudentT",
            lambda nu, scale: {"nu": nu, "mu": sp.S.Zero, "tau": scale**-2},
            sp.S.Zero,
        ),
        "HalfFlat": Case("Flat", dict, sp.S.Zero),
        "Cauchy": Case("StudentT", lambda mu, scale: {"nu": sp.S.One, "mu": mu, "tau": scale**-2}),
        "Rayleigh": Case("Weibull", lambda tau: {"shape": sp.Integer(2), "rate": tau / 2}),
    }
)
_EVENT = (Dim("k of one value"), primed(Dim("k of one value")))


@dataclass(frozen=True, slots=True)
class Written:
    """A distribution of BUGS: name, parameters in order, and the lower bound of a truncation.

    ``axes``: the number of axes of each parameter, by name.
    """

    name: str
    parameters: tuple[Expr, ...]
    axes: Mapping[str, int]
    lower: Expr | None = None


def inverse_of(
    family: str, arguments: Mapping[str, Expr], event: tuple[Dim, ...] = ()
) -> Written | None:
    """The distribution of BUGS for a family with some parameters; None if there is none.

    Vectors are given and found by the entry at the first dim of ``event``, matrices by the entry at
    this dim and its primed dim.
    """
    for row, symbols, solutions in _rows_of(family):
        names: dict[Expr, Expr] = {_named(n): v for n, v in arguments.items()}
        dims = dict(zip(_EVENT, (*event, *map(primed, event)), strict=False))
        found = (solutions[s].xreplace({**names, **dims}) for s in symbols)
        return Written(row.names[0], tuple(map(_once, found)), row.parameters)
    if family not in CASES:
        return None
    case = CASES[family]
    general = inverse_of(case.family, case.arguments(**arguments), event)
    return None if general is None else replace(general, lower=case.lower)


def _once(expr: Expr) -> Expr:
    """The inverse of an inverse is the matrix itself."""
    if isinstance(expr, InverseEntry) and isinstance(expr.body, InverseEntry):
        return expr.body.body if expr.args[1:] == expr.body.args[1:] else expr
    return expr


def _named(name: str) -> sp.Symbol:
    return sp.Symbol(f"{name} of the family", positive=True)


@cache
def _rows_of(family: str) -> tuple[Solved, ...]:
    """The rows that make a family, with their parameters solved for; the plainest first."""
    rows = dict.fromkeys(r for r in DISTRIBUTIONS.values() if isinstance(r, Distribution))
    found = [s for row in rows if (s := _solved(row, family)) is not None]
    return tuple(sorted(found, key=lambda s: sum(e.count_ops() for e in s[2].values())))


def _solved(row: Distribution, family: str) -> Solved | None:
    """A row's parameters solved for in terms of a family's; None if the row is of another family.

    None, too, if the equations have no solution.
    """
    if row.auxiliaries or row.labels is not None:
        return None
    symbols = tuple(sp.Symbol(n, positive=True) for n in row.parameters)
    meaning = meaning_of(row, symbols, _EVENT[: max(row.event, *row.parameters.values(), 0)])
    if meaning.family != family:
        return None
    made = written(FAMILIES[family], "", (), dict(_tensors(meaning.arguments)))
    equations = [(made_of, _named(name)) for name, made_of in made.canonical(_EVENT)]
    solutions: dict[sp.Symbol, Expr] = {}
    while equations:
        ready = [
            (e, f) for e, f in equations if len(e.free_symbols & set(symbols) - set(solutions)) <= 1
        ]
        if not ready:
            return None
        expr, known = ready[0]
        equations.remove(ready[0])
        expr = expr.subs(solutions)
        left = [s for s in symbols if s not in solutions and expr.has(s)]
        if not left:
            if sp.simplify(expr - known) != 0:
                return None
            continue
        answer = _answer(expr, known, left[0])
        if answer is None:
            return None
        solutions[left[0]] = answer
    if set(solutions) != set(symbols):
        return None
    return row, symbols, solutions


def _answer(expr: Expr, known: Expr, unknown: Expr) -> Expr | None:
    """The value of a parameter if an expression of it is known; None unless there is one answer."""
    if isinstance(expr, InverseEntry):
        return expr.func(known, *expr.args[1:]) if expr.body == unknown else None
    found = solve_for(expr, unknown, known)
    return None if found is None else found[0]


def _tensors(arguments: Mapping[str, Expr]) -> Iterator[tuple[str, Tensor]]:
    for name, expr in arguments.items():
        yield name, Tensor(sp.sympify(expr))
