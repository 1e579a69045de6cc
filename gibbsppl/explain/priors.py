"""Another prior for a variable: a row of the table on the same support, and the declaration.

Comes in: a statement, a family, the settled parameters. Goes out: the statement with that family,
other parameters at some possible values; and the line of the declaration as a user writes it.

>>> from gibbsppl.algebra.expressions import Array
>>> from gibbsppl.families import FAMILIES
>>> from gibbsppl.model.graph import Variable
>>> x = Statement("x", Array("x")[()], (), (), FAMILIES["Exponential"], (("rate", sp.S.One),))
>>> graph = Graph("one", {}, {"x": Variable("x", (), "random")}, (x,))
>>> prior = prior_of(x, x.support, FAMILIES["Gamma"], (), graph)
>>> print(prior)
x ~ Gamma(shape=7/3, rate=11/3)
>>> declared(prior, graph)
'x = gp.Gamma("x", shape=..., rate=...)'
"""

from __future__ import annotations

import re
from dataclasses import replace
from keyword import iskeyword

import sympy as sp

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, Expr, mentions
from gibbsppl.algebra.functions import Equals
from gibbsppl.algebra.supports import Support
from gibbsppl.families import Family, Parameter
from gibbsppl.model.graph import PLAIN, Graph, Statement


def prior_of(
    statement: Statement,
    support: Support,
    family: Family,
    known: tuple[tuple[str, Expr], ...],
    graph: Graph,
) -> Statement | None:
    """The statement with another family on the support, unsettled parameters at some numbers.

    None where the row has no such support, or where a parameter would read observed values.
    """
    event = statement.event
    observed = {s.target.array.name for s in graph.statements if s.known != 0}
    if any(mentions(value, observed) for _, value in known):
        return None
    own = family.support(event, **{n: sp.Dummy(n) for n in family.parameters})
    if own.kind != support.kind or family.event != statement.family.event:
        return None
    values = {
        n: some_value(p, k, event, graph) for k, (n, p) in enumerate(family.parameters.items())
    }
    ends = ((own.lower, support.lower), (own.upper, support.upper))
    values |= {mine.name: wanted for mine, wanted in ends if isinstance(mine, sp.Dummy)}
    values |= _kept(statement, family) | dict(known)
    if any(not _is_possible(values[n], p) for n, p in family.parameters.items()):
        return None
    inside = family.support(event, **values)
    lower = None if inside.lower == support.lower else support.lower
    upper = None if inside.upper == support.upper else support.upper
    gaps = (inside.lower - support.lower, support.upper - inside.upper)
    if any(sp.sympify(gap).is_extended_positive for gap in gaps):
        return None
    if (lower, upper) != (None, None) and (family.log_cdf is None or family.log_sf is None):
        return None
    arguments = tuple((n, sp.sympify(values[n])) for n in family.parameters)
    return replace(statement, family=family, arguments=arguments, lower=lower, upper=upper)


def _kept(statement: Statement, family: Family) -> dict[str, Expr]:
    """The arguments that read other variables and are parameters of the new family too."""
    before = statement.family.parameters
    return {
        name: value
        for name, value in statement.arguments
        if before[name] == family.parameters.get(name) and value.atoms(Array)
    }


def _is_possible(value: Expr | None, parameter: Parameter) -> bool:
    """Whether a parameter can have a value."""
    if value is None or sp.sympify(value).has(sp.oo, sp.Dummy):
        return False
    lower, support = sp.sympify(parameter.support.lower), parameter.support
    return support.kind != "real" or not (value - lower).is_nonpositive


def some_value(
    parameter: Parameter, place: int, event: tuple[Dim, ...], graph: Graph
) -> Expr | None:
    """A value that a parameter may have; no two the same, none that makes a term vanish."""
    support, size = parameter.support, graph.sizes[event[0]] if event else 0
    some = sp.Rational(7 + 4 * place, 3)
    match support.kind:
        case "real" if sp.oo not in (-support.lower, support.upper):
            return support.lower + (support.upper - support.lower) / (some + 1)
        case "real" | "vector":
            return size + some + (support.lower if support.lower != -sp.oo else 0)
        case "integer":
            return support.lower + place + 3 if support.upper == sp.oo else None
        case "simplex":
            return sp.Rational(1, size)
        case "sphere":
            return 1 / sp.sqrt(size)
        case "spd":
            return some * Equals(event[0], primed(event[0]))
        case _:
            return None


def declared(prior: Statement, graph: Graph) -> str:
    """The line that declares a prior, parameters of any value as dots."""
    array, family = prior.target.array.name, prior.family
    whole = prior.name == array
    event = prior.event
    own = family.support(event, **{n: sp.Dummy(n) for n in family.parameters})
    bounds = {b.name for b in (own.lower, own.upper) if isinstance(b, sp.Dummy)}
    known = bounds | set(family.natural.known if family.natural else ())
    settled = {n for n, v in prior.arguments if n in known or v.atoms(Array)}
    shown = [f"{n}={in_code(v) if n in settled else '...'}" for n, v in prior.arguments]
    ends = (("lower", prior.lower), ("upper", prior.upper))
    shown += [f"{n}={in_code(b)}" for n, b in ends if b is not None]
    dims = [d.name for d in graph.variables[array].dims] if whole else []
    shown += [f"dims={_names(dims)}"] if dims else []
    inside = ", ".join([f'"{array}"', *shown] if whole else shown)
    is_assigned = not whole or (array.isidentifier() and not iskeyword(array))
    assigned = f"{prior.name} = " if is_assigned else ""
    return f"{assigned}gp.{family.name}({inside})"


def _names(dims: list[str]) -> str:
    quoted = [f'"{d}"' for d in dims]
    return quoted[0] if len(quoted) == 1 else f"({', '.join(quoted)})"


def in_code(expr: Expr) -> str:
    """An expression as it is written in a model."""
    return re.sub(r"\b([A-Za-z_]\w*)\(", r"gp.\1(", PLAIN.text(expr))
