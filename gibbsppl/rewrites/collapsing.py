"""Collapsed scans: labels drawn in sequence, with the variables that tie them integrated out.

Comes in: a graph, and the names of variables to integrate out. Goes out: the graph without them
(`gibbsppl.rewrites.integrals`), and a `Scan` for each label that was tied by them: its elements
depend on one another through the natural parameters of these variables. One element at a time is
drawn: take its contribution off the arrays of natural parameters, weigh each label by its increment
of the log partition function, draw, add (T. L. Griffiths and M. Steyvers, 2004, "Finding scientific
topics", Proceedings of the National Academy of Sciences 101, for topics). Where the contribution of
an element depends on others, the scan is *recomputed*: the whole log density is computed at each
label of each element.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

import sympy as sp

from gibbsppl.algebra.expressions import (
    Expr,
    Leaf,
    Over,
    dims_of,
    leaves_of,
    mentions,
    substitute,
)
from gibbsppl.algebra.functions import AtMost, Below, Equals
from gibbsppl.algebra.ranges import Range, bounded
from gibbsppl.derive.labels import LABEL, FiniteConditional, density_with_indicators, finite_of
from gibbsppl.errors import CompileError, did_you_mean
from gibbsppl.model.density import is_kept, kept_entries
from gibbsppl.model.evaluation import Values, evaluate
from gibbsppl.model.graph import Graph, Maintained, Marginal, Statement
from gibbsppl.pieces.dependence import region_of
from gibbsppl.pieces.vanishing import vanishing, with_exact_zeros
from gibbsppl.rewrites.increments import Increment, NoIncrementsError, difference, touched
from gibbsppl.rewrites.integrals import Integral, integrated

# A recomputed scan computes the log density at most this often in a sweep.
MOST_RECOMPUTED = 20_000

_Terms = tuple[tuple[Expr, tuple[Range, ...]], ...]


@dataclass(frozen=True, slots=True)
class Scan:
    """The conditional of a label given its other elements, with variables integrated out.

    ``terms`` add up to the log weight of the label ``LABEL`` of one element, whose own contribution
    has been taken off the arrays in ``kept``, each with the ranges that it is summed over.
    ``changes`` are the contributions of the element, at ``LABEL``. Of a ``recomputed`` scan
    ``terms`` add up to the log density of all labels together, and there are no changes; the arrays
    in ``kept`` are computed anew. With ``shares``, the probability of ``LABEL`` of one element, the
    arrays in ``kept`` are expectations: what an element adds, it adds by its shares.
    """

    statement: Statement
    lower: int
    size: int
    terms: _Terms
    changes: tuple[Increment, ...]
    kept: tuple[Maintained, ...]
    integrated: tuple[str, ...]
    approximate: bool = False
    recomputed: str = ""
    elements: bool = True
    shares: Expr | None = None


def collapsed(
    graph: Graph, data: Values, names: Collection[str]
) -> tuple[Graph, tuple[Scan, ...], tuple[Integral, ...]]:
    """The graph with variables integrated out, scans of the labels that see them, the integrals."""
    latent = graph.drawn
    names = tuple(dict.fromkeys(names))
    for name in names:
        if name not in latent:
            raise CompileError(
                f"collapse: found {name!r}, expected latent variables among {', '.join(latent)}."
                + did_you_mean(name, latent)
            )
    for statement in (s for name in names for s in graph.statements_of(name)):
        _refuse_zeros(graph, data, statement)
    rest, integrals = integrated(graph, data, names)
    labels = [s for s in rest.latent if _is_seen(s, rest.marginals)]
    return rest, tuple(_scan(rest, data, s) for s in labels), integrals


def refuse_pinned(scans: Iterable[Scan], auxiliary: Statement, rule: str) -> None:
    """Raise if an auxiliary variable determines a label.

    Given the variable the label could not change, nor the variable given the label (events behind a
    missing outcome: none are "no", any are "yes"): chains would stay where they start.
    """
    for scan in scans:
        if scan.size > 1 and _are_apart(scan, auxiliary):
            name, other = (s.target.array.name for s in (scan.statement, auxiliary))
            raise CompileError(
                f"collapse: {name} would be drawn given the auxiliary variable {other} (the rule "
                f"{rule!r}), which determines it, so that neither could change without the "
                f"other. Leave collapse= out, or forbid the rule: rewrites={{{rule!r}: False}}."
            )


def _are_apart(scan: Scan, auxiliary: Statement) -> bool:
    """Whether no value of an auxiliary variable is possible with two labels.

    (A single number has no probability where the variable is continuous.)
    """
    name = auxiliary.target.array.name
    logs = (x.args[0] for term, _ in scan.terms for x in term.atoms(sp.log))
    bounds = [i for x in logs for i in x.atoms(AtMost, Below) if mentions(i, (name,))]
    if not bounds:
        return False
    found = sorted(_between(bounds, name, scan, scan.lower + n) for n in range(scan.size))
    whole = auxiliary.support.is_discrete
    return all(a[1] < b[0] if whole else a[1] <= b[0] for a, b in pairwise(found))


def _between(bounds: Iterable[Expr], name: str, scan: Scan, label: int) -> tuple[float, float]:
    """The ends of an auxiliary variable with a label, infinite unless they are numbers."""
    lower, upper = -math.inf, math.inf
    for bound in bounds:
        first, second = (_at_label(e, scan, label) for e in bound.args)
        if _is_leaf(second, name) and first.is_number:
            lower = max(lower, float(first))
        if _is_leaf(first, name) and second.is_number:
            upper = min(upper, float(second))
    return lower, upper


def _is_leaf(expr: Expr, name: str) -> bool:
    return isinstance(expr, Leaf) and expr.array.name == name


def _at_label(expr: Expr, scan: Scan, value: int) -> Expr:
    """An expression at a label, as a number if it depends on nothing else."""
    own = {scan.statement.target: sp.Integer(value), LABEL: sp.Integer(value - scan.lower)}
    found = sp.sympify(substitute(expr, own))
    if found.is_number or leaves_of(found) or dims_of(found):
        return found
    return sp.Float(float(evaluate(found, (), {}, {})))


def _refuse_zeros(graph: Graph, data: Values, statement: Statement) -> None:
    """Raise if entries of a simplex are known to be zero: the integral has no closed form."""
    if statement.support.kind != "simplex" or mentions(is_kept(statement), graph.drawn):
        return
    if not kept_entries(statement, data, graph.sizes).all():
        raise CompileError(
            f"collapse: parameters of {statement.name} are 0 at some entries, where the integral "
            "has no value; leave these entries out of the dimension, or leave collapse= out."
        )


def _is_seen(label: Statement, marginals: tuple[Marginal, ...]) -> bool:
    if not label.support.is_finite:
        return False
    name = (label.target.array.name,)
    read = (e for m in marginals for s in m.scatters for e in (s.value, *s.indices))
    return any(mentions(e, name) for e in read)


def _scan(graph: Graph, data: Values, label: Statement) -> Scan:
    """The scan of a label: by increments, or else recomputed."""
    rest = replace(graph, marginals=())
    own = finite_of(rest, label, data)
    if own is None:
        raise CompileError(
            f"collapse: the range of {label.target.array.name} is not known before the draw, as a "
            "scan needs; leave collapse= out."
        )
    seen = tuple(m for m in graph.marginals if _is_seen(label, (m,)))
    try:
        return _by_increments(rest, own, seen)
    except NoIncrementsError as why:
        return _recomputed(rest, own, seen, str(why))


def _recomputed(graph: Graph, own: FiniteConditional, seen: tuple[Marginal, ...], why: str) -> Scan:
    """The scan that computes the log density of all labels anew for each."""
    label = own.statement
    count = own.size * prod(1 if isinstance(p, int) else len(p) for p in region_of(graph, label))
    if count > MOST_RECOMPUTED:
        raise CompileError(
            f"collapse: {why}, so that each of {count} labels would need the whole log density "
            f"computed anew, more than {MOST_RECOMPUTED}; leave collapse= out."
        )
    factors = graph.factors_of(label.target.array)
    may_vanish = vanishing(graph)
    densities = [
        (with_exact_zeros(density_with_indicators(graph, f, label), may_vanish), f.over)
        for f in factors
    ]
    densities += [(m.log_density, m.over) for m in seen]
    terms = [(bounded(density, graph.sizes), over) for density, over in densities]
    kept = {a.name: a for m in seen for a in m.arrays}
    names = tuple(m.name for m in seen)
    every = tuple(kept.values())
    return Scan(label, own.lower, own.size, tuple(terms), (), every, names, recomputed=why)


def _by_increments(graph: Graph, own: FiniteConditional, seen: tuple[Marginal, ...]) -> Scan:
    """The scan that keeps arrays up to date."""
    label = own.statement
    name = label.target.array.name
    if label.known != 0 or not label.target.indices or not _is_whole(graph, label):
        raise NoIncrementsError(f"{name} is not an array of labels of which all elements are drawn")
    terms = list(_own_terms(own))
    _check_ranges(label, [p.over for p in own.pieces], seen)
    touches = [touched(m, own) for m in seen]
    found = [difference(m, t, graph) for m, t in zip(seen, touches, strict=True)]
    terms += [t for weights, _, _ in found for t in weights]
    changes = {c.array: c for _, own_changes, _ in found for c in own_changes}
    kept = {k.name: k for _, _, own_kept in found for k in own_kept}
    return Scan(
        label,
        own.lower,
        own.size,
        tuple((t, over) for t, over in terms if t != 0),
        tuple(changes.values()),
        tuple(kept.values()),
        tuple(m.name for m in seen),
    )


def _is_whole(graph: Graph, label: Statement) -> bool:
    return all(
        isinstance(p, Range) and len(p) == graph.sizes[p.dim] for p in region_of(graph, label)
    )


def _check_ranges(
    label: Statement, over: list[tuple[Range, ...]], marginals: tuple[Marginal, ...]
) -> None:
    """Raise if a child reads a part of the labels alone: a scan treats all elements alike."""
    own = {r.dim: r for r in label.over}
    every = [*over, *(s.over for m in marginals for s in m.scatters)]
    for ranges in every:
        for r in ranges:
            if r.dim in own and r != own[r.dim]:
                raise NoIncrementsError(
                    f"{label.target.array.name} is seen at the positions {r.start} to "
                    f"{r.stop - 1} of {r.dim.name} alone by one of its children"
                )


def _own_terms(own: FiniteConditional) -> Iterator[tuple[Expr, tuple[Range, ...]]]:
    """The log weights beside those of the integrals, each with the ranges that are summed over."""
    label = own.statement
    ranges = {r.dim for r in label.over}
    if own.elements or any(p.views[0].indices != label.target.indices for p in own.pieces):
        raise NoIncrementsError(
            f"elements of {label.target.array.name} see one another, or are read through an index"
        )
    return ((p.coefficient, tuple(r for r in p.over if r.dim not in ranges)) for p in own.pieces)


def log_weights(scan: Scan) -> tuple[Expr, Expr]:
    """The log weight of a label, from arrays that include the contributions of all elements.

    First as that of one more element like it: nothing is taken off. Then the exact one, the
    element's own contributions taken off.
    """
    if scan.shares is None:
        own = of_label(scan.statement.target - scan.lower)
    else:
        own = _by_shares(scan.shares, scan.size)
    less = [(without(t, scan.changes, own), over) for t, over in scan.terms]
    return _added_up(scan.terms), _added_up(less)


# What an element has added, where one of label ``LABEL`` adds a value: there alone, or anywhere.
Own = Callable[[Expr, bool], Expr]


def of_label(now: Expr) -> Own:
    """The contributions of an element of label ``now``."""

    def own(value: Expr, there: bool) -> Expr:
        found = substitute(value, {LABEL: now})
        return Equals(LABEL, now) * found if there else found

    return own


def _by_shares(shares: Expr, size: int) -> Own:
    """The contributions of an element by its shares of so many labels."""

    def own(value: Expr, there: bool) -> Expr:
        if there:
            return shares * value
        return value if LABEL not in dims_of(value) else Over(shares * value, LABEL, 0, size)

    return own


def without(expr: Expr, changes: tuple[Increment, ...], own: Own) -> Expr:
    """An expression of arrays at ``LABEL``, less the contributions of an element.

    What an element changes at a place of its label is taken off at that label alone. The value of a
    change is read from arrays without the element.
    """
    mapping: dict[Expr, Expr] = {}
    for n, change in enumerate(changes):
        whole = {r.dim for r in change.over}
        is_chosen = any(LABEL in dims_of(i) for i in change.at)
        for leaf in leaves_of(expr, (change.array.name,)):
            pairs = list(zip(change.at, leaf.indices, strict=True))
            if all(a == i or a in whole for a, i in pairs):
                value = own(without(change.value, changes[:n], own), is_chosen)
                mapping[leaf] = leaf - substitute(value, {a: i for a, i in pairs if a != i})
    return expr.xreplace(mapping)


def _added_up(terms: Iterable[tuple[Expr, tuple[Range, ...]]]) -> Expr:
    """Terms, each summed over its ranges."""
    total = sp.S.Zero
    for term, over in terms:
        value = term
        for r in over:
            value = Over(value, r.dim, r.start, r.stop)
        total += value
    return total
