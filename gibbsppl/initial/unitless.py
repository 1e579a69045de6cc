"""Arrays without a unit: exponents, and the locations and scales of their priors.

Comes in: a graph and its data. Goes out: names of arrays, each with a scale. Whatever the data are
measured in, a change by one of an exponent changes a mean by a factor, and one of a logit or a
probit moves a probability: the scale of the data says nothing of them. A coefficient has the scale
at which its covariate moves an exponent by one. What is read elsewhere too has the unit that it has
there.

>>> from gibbsppl.algebra.expressions import Array
>>> a, b = Array("a")[()], Array("b")[()]
>>> sorted(_in_exponents(sp.exp(a) + b)), sorted(_outside(sp.exp(a) + b))
(['a'], ['b'])
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf, Over, arrays_in, mentions
from gibbsppl.algebra.functions import FADING
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.graph import Factor, Graph, Potential, Statement
from gibbsppl.model.graph_views import read_expressions


def unitless_scales(graph: Graph, data: Values) -> Mapping[str, float]:
    """The scale of each array read as an exponent alone, or by priors of such arrays alone."""
    found: dict[str, float] = {}
    latent = {s.target.array.name for s in graph.latent}
    while more := {n for n in latent - set(found) if _is_unitless(graph, n, found)}:
        found |= {n: _scale(graph, data, n, found) for n in more}
    return found


def only_for(graph: Graph, name: str, arrays: Collection[str]) -> bool:
    """Whether an array is read by the priors of some arrays, and by nothing else.

    Terms of the log density that tie neighbours are priors, too.
    """
    readers = _readers(graph, name)
    priors = (_is_of(f, arrays) or _ties(f, graph, name, arrays) for f in readers)
    return bool(readers) and all(priors)


def _is_unitless(graph: Graph, name: str, found: Collection[str]) -> bool:
    readers = _readers(graph, name)
    return bool(readers) and all(_is_of(f, found) or _as_exponent(f, name) for f in readers)


def _readers(graph: Graph, name: str) -> list[Factor]:
    """The factors that read an array, beside its own prior."""
    return [f for f in graph.factors if any(name in arrays_in(e) for e in read_expressions(f))]


def _is_of(factor: Factor, arrays: Collection[str]) -> bool:
    """Whether a factor is the prior of one of some arrays."""
    return (
        isinstance(factor, Statement) and factor.known == 0 and factor.target.array.name in arrays
    )


def _ties(factor: Factor, graph: Graph, name: str, arrays: Collection[str]) -> bool:
    """Whether a factor is a term of the log density of some arrays and one of this name alone."""
    if not isinstance(factor, Potential):
        return False
    others = {n for n in graph.drawn if n != name and mentions(factor.log_density, (n,))}
    return bool(others) and others <= {*arrays}


def _as_exponent(factor: Factor, name: str) -> bool:
    """Whether a factor reads an array inside of exponentials; a density has their logs, too."""
    read = read_expressions(factor)
    inside = any(name in _in_exponents(e) for e in read)
    return inside and (isinstance(factor, Potential) or not any(name in _outside(e) for e in read))


@lru_cache(maxsize=2**14)
def _in_exponents(expr: Expr) -> frozenset[str]:
    found = expr.atoms(*FADING)
    return frozenset().union(*(arrays_in(a) for f in found for a in f.args))


@lru_cache(maxsize=2**14)
def _outside(expr: Expr) -> frozenset[str]:
    """The arrays that an expression reads outside of exponentials, whose arguments have no unit."""
    if isinstance(expr, FADING):
        return frozenset()
    own = arrays_in(expr) if not expr.args else frozenset()
    return own.union(*map(_outside, expr.args))


def _scale(graph: Graph, data: Values, name: str, found: Mapping[str, float]) -> float:
    """The smallest of the scales at which an array moves its readers."""
    return min((1.0, *_scales(graph, data, name, found)))


def _scales(graph: Graph, data: Values, name: str, found: Mapping[str, float]) -> Iterator[float]:
    for factor in _readers(graph, name):
        own = factor.target.array.name if isinstance(factor, Statement) else ""
        unit = found[own] if _is_of(factor, found) else 1.0
        for expr in read_expressions(factor):
            for by in _coefficients(expr, name, sp.S.One):
                yield unit / (_size(by, data) or 1.0)


def _coefficients(expr: Expr, name: str, by: Expr) -> Iterator[Expr]:
    """The multipliers of an array, one for each place where an expression reads it.

    A function other than a sum or a product begins anew.
    """
    if not mentions(expr, (name,)):
        return
    if isinstance(expr, Leaf):
        yield by
    elif expr.is_Add:
        for term in expr.args:
            yield from _coefficients(term, name, by)
    elif expr.is_Mul:
        held = [a for a in expr.args if mentions(a, (name,))]
        rest = sp.Mul(*(a for a in expr.args if a not in held))
        for part in held:
            yield from _coefficients(part, name, by * rest if len(held) == 1 else sp.S.One)
    elif isinstance(expr, Over):
        yield from _coefficients(expr.args[0], name, by)
    else:
        for part in expr.args:
            yield from _coefficients(part, name, sp.S.One)


def _size(by: Expr, data: Values) -> float:
    """The product of the root mean squares of the data in a coefficient."""
    size = 1.0
    for factor in sp.Mul.make_args(by):
        if factor.is_number:
            size *= abs(float(factor))
        elif isinstance(factor, Leaf) and factor.array.name in data:
            size *= _root_mean_square(np.asarray(data[factor.array.name], float))
    return size if np.isfinite(size) else 1.0


def _root_mean_square(values: Floats) -> float:
    """The root mean square of the numbers among values; 0 without any.

    >>> _root_mean_square(np.array([2e200, np.nan, -2e200]))
    2e+200
    """
    numbers = np.abs(values[np.isfinite(values)])
    largest = numbers.max(initial=0.0)
    return float(largest * np.sqrt(np.mean((numbers / largest) ** 2))) if largest > 0 else 0.0
