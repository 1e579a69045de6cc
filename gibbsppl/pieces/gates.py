"""Indicators inside functions, taken out: ``f(z) = z f(1) + (1 - z) f(0)`` for a z of 0 or 1.

A probability ``z p`` has the logs ``log(z p)`` and ``log(1 - z p)``; the second is
``z log(1 - p)``, which is a statistic of p with a coefficient. So occupancy and zero inflation are
indicator-weighted terms, and so is a choice of parameters by ``where``.

>>> from gibbsppl.algebra.expressions import Array
>>> z, p = Array("z", nonnegative=True)[()], Array("p", positive=True)[()]
>>> opened(sp.log(1 - z * p), {"p"}, {"z": ()})
log(1 - p)*z

A gate that ends a support stays inside: where z is 1, a count of 0 to n + z may be n + 1, and the
other branch of ``log((n + z - count)!)`` is no number there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np
import sympy as sp
from sympy import Add

from gibbsppl.algebra.expressions import (
    Expr,
    Leaf,
    Over,
    dims_of,
    leaves_of,
    mentions,
    renamed_apart,
)
from gibbsppl.algebra.functions import INDICATORS, Where
from gibbsppl.algebra.log_gamma import loggamma
from gibbsppl.algebra.masses import LOG_MASSES
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.model.asked import answer
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import MOST_KEPT, Constant, Graph, Statement

# The arrays whose elements are 0 or 1, each with the arrays whose supports end by it.
Binary = Mapping[str, Collection[str]]
NO_GATES: Binary = MappingProxyType({})
FrozenBinary = frozenset[tuple[str, frozenset[str]]]

MOST_BRANCHES = 8
FEW = 64


def binary_arrays(graph: Graph, data: Values) -> Binary:
    """The arrays whose elements are 0 or 1: by their support, or (data) by their values."""
    supports: dict[str, list[bool]] = {}
    for s in graph.statements:
        supports.setdefault(s.target.array.name, []).append(_support_of(s)[0])
    for c in graph.constants:
        supports.setdefault(c.target.array.name, []).append(_is_binary_constant(c, data))
    random = {name for name, found in supports.items() if all(found)}
    known = {n for n in graph.variables if n not in supports} & set(data)
    found = random | {n for n in known if answer(data, _are_binary, n)}
    ended: dict[str, set[str]] = {name: set() for name in sorted(found)}
    for s in graph.statements:
        for name in _support_of(s)[1] & found:
            ended[name].add(s.target.array.name)
    return ended


def frozen(binary: Binary) -> FrozenBinary:
    """The binary arrays as a hashable value."""
    return frozenset((name, frozenset(ended)) for name, ended in binary.items())


@lru_cache(maxsize=MOST_KEPT)
def _support_of(statement: Statement) -> tuple[bool, frozenset[str]]:
    """Whether a statement's values are 0 or 1, and the arrays in the bounds of its support."""
    support = statement.support
    read = leaves_of(sp.Tuple(support.lower, support.upper))
    return support.is_binary, frozenset(leaf.array.name for leaf in read)


def _are_binary(data: Values, name: str) -> bool:
    """Whether all values of an array are 0 or 1; the first few come first, to fail early."""
    each = np.ravel(data[name])
    return all(bool(((v == 0) | (v == 1)).all()) for v in (each[:FEW], each))


def _is_binary_constant(constant: Constant, data: Values) -> bool:
    """Whether a region is known to be 0 or 1: by a number, or by an array of data."""
    value = constant.value
    if isinstance(value, Leaf):
        return value.array.name in data and answer(data, _are_binary, value.array.name)
    return bool(value in (0, 1))


def is_gate(expr: Expr, binary: Collection[str]) -> bool:
    """Whether an expression is 0 or 1: a gate, the opposite of one, or a product of gates."""
    if expr.is_Mul:
        return all(is_gate(a, binary) for a in expr.args)
    return _is_binary(expr, binary) or _is_binary(multiplied_out(1 - expr), binary)


def opened(expr: Expr, targets: Collection[str], binary: Binary, *, whole: bool = False) -> Expr:
    """The expression with gates taken out of the functions that hold a target beside them.

    Sums and products are left as they are; terms in which no target is left are dropped, but kept
    of the ``whole`` expression.
    """
    if not mentions(expr, targets) or isinstance(expr, Leaf):
        return expr
    if isinstance(expr, Over):
        return expr.func(opened(expr.body, targets, binary, whole=whole), *expr.args[1:])
    if expr.is_Add or (expr.is_Mul and sum(mentions(a, targets) for a in expr.args) == 1):
        return expr.func(*(opened(a, targets, binary, whole=whole) for a in expr.args))
    # (a distribution function has no algebra, and may not exist where the gate is shut)
    branches = () if expr.has(*LOG_MASSES) else _branches(expr, targets, binary)
    held = [(gate, branch) for gate, branch in branches if whole or mentions(branch, targets)]
    gated = (_gated(expr, gate, branch) for gate, branch in held)
    terms = [t for t in gated if t is not None]
    if branches and len(terms) == len(held):
        return Add(*terms)
    # (cases of all factors together are many, where each factor alone has few)
    each = expr.args if expr.is_Mul and not expr.has(*LOG_MASSES) else ()
    return expr.func(*(opened(a, targets, binary, whole=True) for a in each)) if each else expr


def _gated(expr: Expr, gate: Expr, branch: Expr) -> Expr | None:
    """A gate times a branch of a function; ``log(0)``, which counts where it is open, as a log.

    None for other infinite branches, and those not real (the log of a negative number): the
    function stays as it is.
    """
    if isinstance(expr, sp.log) and branch == sp.zoo:
        return sp.log(1 - gate)
    return None if branch.has(sp.zoo, sp.oo, sp.nan, sp.I) else gate * branch


def _branches(expr: Expr, targets: Collection[str], binary: Binary) -> list[tuple[Expr, Expr]]:
    """The branches of a function by its gates, open or shut, each with the product of the gates.

    Empty if there is no gate, or too many for the branches to be simpler than the function: choices
    in a chain, however long, have one branch for each, and one more.
    """
    # (a sum inside may bind a dim that is free beside it)
    expr = renamed_apart(expr, dims_of(expr))
    most = max(MOST_BRANCHES, 1 + len(set(_gates(expr, targets, binary))))
    waiting, settled = [(sp.S.One, expr)], []
    while waiting:
        where, branch = waiting.pop()
        gate = next(_gates(branch, targets, binary), None)
        if gate is None:
            settled.append((where, branch))
            continue
        waiting += [
            (where * (1 - gate), _settled(branch, gate, 0)),
            (where * gate, _settled(branch, gate, 1)),
        ]
        if len(waiting) + len(settled) > most:
            return []
    return settled if len(settled) > 1 else []


def _gates(expr: Expr, targets: Collection[str], binary: Binary) -> Iterator[Expr]:
    """The gates in a function, free of targets and of dims that are bound inside."""
    is_polynomial = isinstance(expr, sp.Pow) and expr.exp.is_Integer and expr.exp > 0
    for part in _parts(expr):
        if isinstance(part, Where):
            choice, *branches = part.args
            if mentions(choice, targets) or not any(mentions(b, targets) for b in branches):
                continue
            part = choice  # noqa: PLW2901
        elif is_polynomial or not _is_binary(part, binary) or not _in_a_sum(expr, part, targets):
            continue
        if mentions(part, targets) or not dims_of(part) <= dims_of(expr):
            continue
        if not _is_undefined_beside(expr, part, binary):
            yield part


def _parts(expr: Expr) -> Iterator[Expr]:
    """All parts of an expression but those inside of indices: a position is no gate."""
    yield expr
    for a in () if isinstance(expr, Leaf) else expr.args:
        yield from _parts(a)


def _is_binary(expr: Expr, binary: Collection[str]) -> bool:
    return isinstance(expr, INDICATORS) or (isinstance(expr, Leaf) and expr.array.name in binary)


def _is_undefined_beside(expr: Expr, gate: Expr, binary: Binary) -> bool:
    """Whether a branch may be undefined at values in the support of the other branch."""
    ended = {name for leaf in leaves_of(gate) for name in binary.get(leaf.array.name, ())}
    return any(mentions(part, ended) and _is_partial(part) for part in _parts(expr))


def _is_partial(expr: Expr) -> bool:
    """Whether a function is undefined at some numbers."""
    if isinstance(expr, sp.Pow):
        return not (expr.exp.is_Integer and expr.exp > 0)
    return isinstance(expr, sp.log | loggamma)


def _in_a_sum(expr: Expr, gate: Expr, targets: Collection[str]) -> bool:
    """Whether the gate is in a sum with a target: in a product alone a log takes it apart."""
    sums = (s for s in sp.preorder_traversal(expr) if s.is_Add and mentions(s, targets))
    return any(s.has(gate) for s in sums)


def _settled(expr: Expr, gate: Expr, value: int) -> Expr:
    """The expression where the gate has a value."""
    found = expr.replace(
        lambda e: isinstance(e, Where) and e.args[0] == gate,
        lambda e: e.args[1] if value else e.args[2],
    )
    return found.xreplace({gate: sp.Integer(value)})
