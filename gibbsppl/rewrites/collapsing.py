"""Variables integrated out by their log partition functions, and the scan that draws labels then.

Comes in: a graph, and the names of variables to integrate out. Goes out: the graph without them,
each a `Marginal` in its place; and a `Scan` for each label that they see: labels depend on one
another through the natural parameters of what is gone. One element at a time is drawn: take its
contribution off the parameters, weigh each label by what it would add to the log partition
function, draw, add (T. L. Griffiths and M. Steyvers, 2004, "Finding scientific topics", Proceedings
of the National Academy of Sciences 101, for topics).
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp
from sympy import Add, Mul

from gibbsppl.conditionals import conditional_of
from gibbsppl.dependence import region_of
from gibbsppl.errors import CompileError
from gibbsppl.expressions import (
    Array,
    Dim,
    Equals,
    Expr,
    Leaf,
    Over,
    dims_of,
    leaves_of,
    mentions,
    substitute,
)
from gibbsppl.finite import LABEL, FiniteConditional, finite_of
from gibbsppl.graph import Graph, Marginal, Range, Scatter, Statement
from gibbsppl.identities import simplified
from gibbsppl.logs import expand_logs
from gibbsppl.matching import Conditional
from gibbsppl.pieces import rest_of
from gibbsppl.rewrites.applied import with_density


@dataclass(frozen=True, slots=True)
class Change:
    """What an element of a label adds to one maintained array: ``array[at] += value``.

    ``over`` are dims of the children of one element: the change is made for each position.
    """

    array: str
    at: tuple[Expr, ...]
    value: Expr
    over: tuple[Range, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """A maintained array: natural parameter ``position`` of ``of``, or the sum of a function of it.

    ``total`` is what is summed over the event dims, ``None`` for the parameter itself.
    """

    name: str
    of: str
    position: int
    axes: tuple[Dim, ...]
    total: Expr | None = None


@dataclass(frozen=True, slots=True)
class Scan:
    """The conditional of a label given its other elements, with variables integrated out.

    ``terms`` add up to the log weight of the label ``LABEL`` of one element, whose own contribution
    has been taken off the arrays in ``kept``, each with the ranges that it is summed over.
    ``changes`` are what the element adds, at ``LABEL``.
    """

    statement: Statement
    lower: int
    size: int
    terms: tuple[tuple[Expr, tuple[Range, ...]], ...]
    changes: tuple[Change, ...]
    kept: tuple[Kept, ...]
    integrated: tuple[str, ...]
    approximate: bool = False
    elements: bool = True


def collapsed(
    graph: Graph, data: Mapping[str, Any], names: Collection[str]
) -> tuple[Graph, tuple[Scan, ...]]:
    """The graph with variables integrated out, and the scans of the labels that saw them."""
    latent = {s.target.array.name: s for s in graph.latent}
    names = tuple(dict.fromkeys(names))
    for name in names:
        if name not in latent:
            raise CompileError(
                f"collapse: found {name!r}, expected latent variables among {', '.join(latent)}."
            )
    marginals = tuple(_marginal(graph, data, latent[name]) for name in names)
    for marginal in marginals:
        read = (e for s in marginal.scatters for e in (s.value, *s.indices))
        others = {x.array.name for e in read for x in leaves_of(e, set(names))}
        if others:
            raise CompileError(
                f"collapse: the conditional of {marginal.name} depends on {min(others)}, so that "
                "the integral over both is not the product of two; leave one of them out."
            )
    rest = _without(graph, set(names))
    labels = [s for s in rest.latent if s.support.is_finite and _is_seen(s, marginals)]
    if not labels:
        raise CompileError(
            f"collapse: no label depends on {', '.join(names)}, so that nothing could be drawn "
            "with them integrated out; leave collapse= out."
        )
    scans = tuple(_scan(rest, data, s, marginals) for s in labels)
    return replace(rest, marginals=marginals), scans


def collapsible(graph: Graph, data: Mapping[str, Any]) -> tuple[str, ...]:
    """The variables that can be integrated out, each by itself."""
    found = []
    for name in dict.fromkeys(s.target.array.name for s in graph.latent):
        with contextlib.suppress(CompileError):
            collapsed(graph, data, (name,))
            found.append(name)
    return tuple(found)


def _is_seen(label: Statement, marginals: tuple[Marginal, ...]) -> bool:
    name = (label.target.array.name,)
    read = (e for m in marginals for s in m.scatters for e in (s.value, *s.indices))
    return any(mentions(e, name) for e in read)


def _marginal(graph: Graph, data: Mapping[str, Any], statement: Statement) -> Marginal:
    """The log of the integral of all that mentions a variable."""
    name = statement.target.array.name
    found = conditional_of(graph, statement, data)
    natural = found.family.natural if isinstance(found, Conditional) else None
    plain = isinstance(found, Conditional) and not (
        found.change or found.truncated or found.limits or found.elements or found.dense
    )
    if not isinstance(found, Conditional) or natural is None or not plain:
        raise CompileError(
            f"collapse: {name} has no closed form whose integral is known; expected a variable "
            f"drawn exactly, not truncated and not in a block (see explain({name!r}))."
        )
    if natural.log_partition is None or statement.known != 0:
        raise CompileError(
            f"collapse: {name} is {found.family.name}, whose log partition function is not in the "
            "table, or is known in part; leave it out of collapse=."
        )
    axes = graph.variables[name].dims
    arrays = [f"{name}_eta_{j}" for j in range(1, len(found.statistics) + 1)]
    etas = [Array(a, real=True)[axes] for a in arrays]
    event = {"event": found.event} if found.event else {}
    density = natural.log_partition(*etas, **dict(found.known), **event)
    parameters = tuple(
        (a, tuple(Scatter(p.views[0].indices, p.coefficient, p.over) for p in pieces))
        for a, pieces in zip(arrays, found.pieces, strict=True)
    )
    over = tuple(r for r in statement.over if r.dim not in found.event)
    return Marginal(name, axes, parameters, density, over)


def _without(graph: Graph, names: set[str]) -> Graph:
    """The graph without variables, and without the terms that hold them."""
    kept = [s for s in graph.statements if s.target.array.name not in names]
    rest = replace(graph, statements=tuple(kept))
    for factor in rest.factors:
        if mentions(factor.log_density, names):
            density = rest_of(factor.log_density, factor.over, names, graph.sizes)
            rest = with_density(rest, factor, density)
    return rest


def _scan(
    rest: Graph, data: Mapping[str, Any], label: Statement, marginals: tuple[Marginal, ...]
) -> Scan:
    name = label.target.array.name
    own = finite_of(rest, label, data)
    whole = all(
        isinstance(p, Range) and len(p) == rest.sizes[p.dim] for p in region_of(rest, label)
    )
    indices = label.target.indices
    if own is None or label.known != 0 or not whole or not indices:
        raise CompileError(
            f"collapse: {name} is not an array of labels of which all elements are drawn, as a "
            "scan needs; leave collapse= out."
        )
    terms = list(_own_terms(own))
    _check_ranges(label, [p.over for p in own.pieces], marginals)
    changes: list[Change] = []
    kept: list[Kept] = []
    seen = [m for m in marginals if _is_seen(label, (m,))]
    for marginal in seen:
        touch = _touched(marginal, label, own)
        weights, own_changes, own_kept = _difference(marginal, touch)
        terms += weights
        changes += own_changes
        kept += own_kept
    return Scan(
        label,
        own.lower,
        own.size,
        tuple((t, over) for t, over in terms if t != 0),
        tuple(changes),
        tuple(kept),
        tuple(m.name for m in seen),
    )


def _check_ranges(
    label: Statement, over: list[tuple[Range, ...]], marginals: tuple[Marginal, ...]
) -> None:
    """Refuse children that see a part of the labels alone: a scan treats all elements alike."""
    own = {r.dim: r for r in label.over}
    every = [*over, *(s.over for m in marginals for s in m.scatters)]
    for ranges in every:
        for r in ranges:
            if r.dim in own and r != own[r.dim]:
                raise CompileError(
                    f"collapse: {label.target.array.name} is seen at the positions {r.start} to "
                    f"{r.stop - 1} of {r.dim.name} alone by one of its children, which a scan does "
                    "not do yet; leave collapse= out."
                )


def _own_terms(own: FiniteConditional) -> list[tuple[Expr, tuple[Range, ...]]]:
    """The log weights that do not come from what was integrated out, by the dims summed over."""
    indices = own.statement.target.indices
    ranges = {r.dim for r in own.statement.over}
    if own.elements or any(p.views[0].indices != indices for p in own.pieces):
        raise CompileError(
            f"collapse: elements of {own.statement.target.array.name} see one another, or are read "
            "through an index, which a scan does not do yet; leave collapse= out."
        )
    return [(p.coefficient, tuple(r for r in p.over if r.dim not in ranges)) for p in own.pieces]


@dataclass(frozen=True, slots=True)
class _Touch:
    """Where an element touches the parameters of a marginal, and by how much each changes."""

    at: tuple[Expr, ...]
    changes: tuple[Expr, ...]
    over: tuple[Range, ...]


def _touched(marginal: Marginal, label: Statement, own: FiniteConditional) -> _Touch:
    """What one element of a label adds, which must all be at one place."""
    name, ranges = label.target.array.name, {r.dim for r in label.over}
    places: dict[tuple[tuple[Expr, ...], tuple[Range, ...]], list[Expr]] = {}
    for position, (_, scatters) in enumerate(marginal.parameters):
        for s in scatters:
            leaves = {x for e in (s.value, *s.indices) for x in leaves_of(e, (name,))}
            if not leaves:
                continue
            _check_direct(marginal, label, s, leaves)
            value = {label.target: LABEL + own.lower}
            at = tuple(substitute(i, value) for i in s.indices)
            over = tuple(r for r in s.over if r.dim not in ranges)
            found = places.setdefault((at, over), [sp.S.Zero] * len(marginal.parameters))
            found[position] += substitute(s.value, value)
    if len(places) != 1:
        shown = "; ".join(str(list(at)) for at, _ in places)
        raise CompileError(
            f"collapse: an element of {name} touches {marginal.name} at more than one place "
            f"({shown}), which a scan does not do yet; leave {marginal.name} out of collapse=."
        )
    (((at, over), changes),) = places.items()
    return _Touch(at, tuple(changes), over)


def _check_direct(
    marginal: Marginal, label: Statement, scatter: Scatter, leaves: Collection[Leaf]
) -> None:
    """Refuse labels read through an index, and sums onto one place."""
    ranges = {r.dim for r in label.over}
    extra = {r.dim for r in scatter.over} - ranges
    event = {d for o in marginal.log_density.atoms(Over) for d in o.bound}
    # One child for each place: a further dim is itself the position on an axis that is no event.
    pairs = zip(marginal.axes, scatter.indices, strict=True)
    shown = {i for a, i in pairs if isinstance(i, Dim) and a not in event}
    if set(leaves) != {label.target} or not extra <= shown:
        raise CompileError(
            f"collapse: {label.target} changes {marginal.name} through several elements at once "
            f"({', '.join(map(str, leaves))}), which a scan does not do yet; leave "
            f"{marginal.name} out of collapse=."
        )


def _difference(
    marginal: Marginal, touch: _Touch
) -> tuple[list[tuple[Expr, tuple[Range, ...]]], list[Change], list[Kept]]:
    """What an element adds to a log partition function; what it changes; the arrays to keep."""
    here = dict(zip(marginal.axes, touch.at, strict=True))
    event = {d for o in marginal.log_density.atoms(Over) for d in o.bound}
    batch = tuple(a for a in marginal.axes if a not in event)
    before = {
        Array(n, real=True)[marginal.axes]: Array(n, real=True)[touch.at]
        for n, _ in marginal.parameters
    }
    after = {x: y + t for (x, y), t in zip(before.items(), touch.changes, strict=True)}
    kept = [
        Kept(n, marginal.name, j, marginal.axes) for j, (n, _) in enumerate(marginal.parameters)
    ]
    changes = [
        Change(n, touch.at, t, touch.over)
        for (n, _), t in zip(marginal.parameters, touch.changes, strict=True)
    ]
    total = sp.S.Zero
    for term in Add.make_args(marginal.log_density):
        sums = sorted(term.atoms(Over), key=str)
        if isinstance(term, Over):
            total += term.body.xreplace(after) - term.body.xreplace(before)
            continue
        old, new = {}, {}
        for o in sums:
            name = f"{marginal.name}_sum_{len(kept)}"
            at = tuple(here[a] for a in batch)
            leaf = Array(name, positive=True)[at]
            change = sp.expand(o.body.xreplace(after) - o.body.xreplace(before))
            old[o], new[o] = leaf, leaf + change
            kept.append(Kept(name, marginal.name, 0, batch, o.body))
            changes.append(Change(name, at, change, touch.over))
        total += term.xreplace(new).xreplace(after) - term.xreplace(old).xreplace(before)
    arrays = {k.name for k in kept}
    reduced = expand_logs(simplified(sp.sympify(total), arrays), arrays)
    terms = [t for t in Add.make_args(reduced) if LABEL in dims_of(t)]
    used = {str(x.array) for t in terms for x in leaves_of(t, arrays)}
    return (
        [(Add(*terms), touch.over)],
        [c for c in changes if c.array in used],
        [k for k in kept if k.name in used],
    )


def log_weight(scan: Scan) -> Expr:
    """The log weight of a label, from arrays that still hold what the element itself adds."""
    own: dict[Expr, Expr] = {LABEL: scan.statement.target - scan.lower}
    fewer = {}
    for change in scan.changes:
        leaf = Array(change.array, **_kind(change.array, scan))[change.at]
        here = (Equals(i, substitute(i, own)) for i in change.at if LABEL in dims_of(i))
        fewer[leaf] = leaf - Mul(substitute(change.value, own), *here)
    total = sp.S.Zero
    for term, over in scan.terms:
        value = term.xreplace(fewer)
        for r in over:
            value = Over(value, r.dim, r.start, r.stop)
        total += value
    return total


def _kind(array: str, scan: Scan) -> dict[str, bool]:
    """What is known of the elements of a maintained array."""
    (kept,) = (k for k in scan.kept if k.name == array)
    return {"real": True} if kept.total is None else {"positive": True}
