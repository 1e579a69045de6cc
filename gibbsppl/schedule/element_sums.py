"""Elements one by one, with the sums over them that rows of data see kept up to date.

Comes in: a step that draws labels that depend on one another, each from log weights in which it
stands among the others: ``f(sum(x[r, k] * v[where([k = j], label, z[k])], k))`` for each row r; or
one that draws or moves elements by the log density of all. Goes out: a `SumLoop`: the same as
functions of the sums of the current elements and of what one element adds to each,

    sum(x[r, k] * v[z[k]], k) + x[r, j] * (v[label] - v[z[j]]),

so that a value is weighed by one look at each row that sees the element, whatever f is: a residual,
the rate of a count, a logit. What is quadratic in the change of an element is a polynomial of it,
whose coefficients are the same for all values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    Expr,
    Leaf,
    Over,
    dims_of,
    leaves_of,
    mentions,
    renamed_apart,
    substitute,
)
from gibbsppl.algebra.functions import Equals, Where
from gibbsppl.algebra.ranges import Range, range_of, size_of
from gibbsppl.algebra.recursions import Recursion
from gibbsppl.algebra.rounding import may_be_infinite
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.labels import LABEL
from gibbsppl.derive.multilinear_forms import degree_of
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.element_loops import UnsuitedError
from gibbsppl.schedule.kinds import DensityDraw, LabelDraw

# Terms that are polynomials of a change are taken apart by its powers, up to the square.
MOST_POWERS = 2
# The value of the element that a sum is about, in what the element adds to the sum.
VALUE = Array("·value")[()]
# The value of an element at which its log density is evaluated.
CANDIDATE = Array("·candidate")[()]


@dataclass(frozen=True, slots=True)
class ElementSum:
    """A sum over the elements of an array at each position of ``dims``.

    The element at the axes of the array adds ``weight`` times ``term``, a function of `VALUE`.
    ``place`` and ``weight_at`` are the elements of arrays that have the sum, and the weight, of
    each row.
    """

    whole: Expr
    dims: tuple[Dim, ...]
    weight: Expr
    term: Expr
    place: Leaf
    weight_at: Leaf

    def change(self, new: Expr, old: Expr) -> Expr:
        """The change of what an element adds, before it is weighted."""
        return self.term.xreplace({VALUE: new}) - self.term.xreplace({VALUE: old})


@dataclass(frozen=True, slots=True)
class SumLoop:
    """The terms by which an element is drawn, as functions of sums over all current elements.

    Of labels they are contributions to log weights, of others terms of the log density of a
    `CANDIDATE`.
    """

    sums: tuple[ElementSum, ...]
    terms: tuple[Contribution, ...]
    element: Leaf


def sum_loop(step: LabelDraw | DensityDraw, graph: Graph) -> SumLoop | None:
    """The loop by which a step draws by sums that are kept up to date; None for others."""
    array = step.statement.target.array
    axes = graph.variables[array.name].dims
    if not step.is_by_element or not axes or graph.marginals or step.statement.support.is_tied:
        return None
    element = array[axes]
    if isinstance(step, DensityDraw):
        if step.place.array != array or step.parameters:
            return None
        terms, sizes = tuple(_with_candidate(c, element) for c in step.terms), graph.sizes
    else:
        (weights,) = step.plain_parameters
        terms, sizes = weights.contributions, {**graph.sizes, LABEL: len(step.labels)}
    reader = _Reader(graph, element, sizes)
    try:
        values = [reader.read(c.value) for c in terms]
    except UnsuitedError:
        return None
    if not reader.sums or not all(c.is_everywhere(sizes) for c in terms):
        return None
    places = {s.place for s in reader.sums}
    if any(_has_bare(v, places, sp.log) or _has_bare(v, places, sp.Pow) for v in values):
        return None  # (where a large element leaves, the digits of the others are lost)
    pairs = zip(terms, values, strict=True)
    found = tuple(replace(c, value=v.xreplace(reader.changes)) for c, v in pairs)
    return SumLoop(tuple(reader.sums), found, element)


def _has_bare(expr: Expr, places: Collection[Expr], kind: type[Expr]) -> bool:
    """Whether a log (or a power that is no square) is of sums as they are: relative digits count.

    Inside of other functions, as in ``log(1 + exp(x))``, absolute ones do.
    """
    def bare(e: Expr) -> bool:
        plain = isinstance(e, Add | Mul | sp.Pow | Over | Where)
        return e in places or (plain and any(map(bare, e.args)))

    found = (e.args for e in expr.atoms(kind))
    return any(bare(base) for base, *power in found if not any(p.is_nonnegative for p in power))


def _with_candidate(term: Contribution, element: Leaf) -> Contribution:
    """A term of all elements, in which the one at work is the candidate."""
    # (sums over all elements bind the dims of the array)
    value = renamed_apart(term.value, element.own_dims)
    chosen: dict[Expr, Expr] = {}
    for leaf in leaves_of(value, (element.array.name,)):
        pairs = zip(leaf.indices, element.indices, strict=True)
        same = Mul(*(Equals(i, axis) for i, axis in pairs))
        chosen[leaf] = Where(same, CANDIDATE, leaf)
    return replace(term, value=value.xreplace(chosen))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads log weights in which the label of an element stands among those of others.

    ``changes`` are the changes of what the element adds to each sum, by what stands for them.
    """

    graph: Graph
    element: Leaf
    sizes: Mapping[Dim, int]
    sums: list[ElementSum] = field(default_factory=list)
    changes: dict[Leaf, Expr] = field(default_factory=dict)

    @property
    def target(self) -> tuple[str, ...]:
        """The array of the labels."""
        return (self.element.array.name,)

    def read(self, expr: Expr, rows: tuple[Range, ...] = ()) -> Expr:
        """An expression that reads sums of current labels, and the element's own."""
        if not mentions(expr, self.target):
            return expr
        if isinstance(expr, Leaf | Recursion):
            raise UnsuitedError
        if isinstance(expr, Over):
            found = self._of_labels(expr, rows)
            if found is not None:
                return found
            inside = (*rows, range_of(expr, self.sizes))
            return _by_powers(self.read(expr.body, inside), expr, self.changes)
        args = (self.read(a, rows) if isinstance(a, sp.Expr) else a for a in expr.args)
        return expr.func(*args)

    def _of_labels(self, whole: Over, rows: tuple[Range, ...]) -> Expr | None:
        """A sum over labels as that of the current ones, and what the element's changes it by."""
        choices = {e for e in whole.atoms(Where) if mentions(e, self.target)}
        body, sums = _unnested(whole)
        if len(choices) != 1 or any(mentions(e, self.target) for e in body.atoms(Over)):
            return None
        (choice,) = choices
        match, new, old = choice.args
        matches = Mul.make_args(match)
        if whole.bound[0] not in dims_of(match):
            return None
        places = [m.args[1] if isinstance(m, Equals) else None for m in matches]
        if not set(places) <= {*self.element.indices} or leaves_of(body, self.target) != {old}:
            raise UnsuitedError
        (read,) = leaves_of(body, self.target)
        here = {m.args[0]: m.args[1] for m in matches if isinstance(m.args[0], Dim)}
        # (a sum over a part alone sees the elements of the part)
        whole_axes = (r for r in sums if r.dim in here and self._is_whole(r, here[r.dim]))
        own = {r.dim: here[r.dim] for r in whole_axes}
        # (all that the sum reads of the element: an index may be that of the row, without a match)
        pairs = zip(read.indices, self.element.indices, strict=True)
        seen = (Equals(i, axis) for i, axis in pairs if i not in own)
        gained = Mul(body.xreplace({choice: VALUE}), *seen)
        left = tuple(r for r in sums if r.dim not in own)
        found = self._noted(whole.xreplace({choice: old}), substitute(gained, own), left, rows)
        change = found.change(new, self.element)
        if dims_of(change) & set(found.dims):
            return found.place + found.weight_at * change
        mark = Leaf(Array(f"·change {self.sums.index(found)}"))
        self.changes[mark] = change
        return found.place + found.weight_at * mark

    def _is_whole(self, r: Range, axis: Expr) -> bool:
        """Whether a range is all of an axis."""
        return isinstance(axis, Dim) and (r.start, len(r)) == (0, size_of(axis, self.sizes))

    def _noted(
        self, whole: Expr, gained: Expr, left: tuple[Range, ...], rows: tuple[Range, ...]
    ) -> ElementSum:
        """A sum, noted once, with what the element adds to it, summed over the ranges ``left``."""
        known = next((s for s in self.sums if s.whole == whole), None)
        if known is not None:
            return known
        shown = tuple(r for r in rows if r.dim in dims_of(whole))
        dims = tuple(r.dim for r in shown)
        # (an element's weights in later elements take as long as all of these anew)
        in_part = any(len(r) < size_of(r.dim, self.sizes) for r in shown)
        if whole.has(Recursion) or dims_of(whole) != set(dims) or in_part:
            raise UnsuitedError
        held = [f for f in Mul.make_args(gained) if f.has(VALUE)]
        if any(dims_of(f) & {r.dim for r in left} for f in held):
            raise UnsuitedError
        if any(may_be_infinite(f) for f in held):
            raise UnsuitedError  # (what is infinite cannot be taken out of a sum again)
        weight = Mul(*(f for f in Mul.make_args(gained) if f not in held))
        for r in reversed(left):
            weight = Over(weight, r.dim, r.start, r.stop)
        n, (name,) = len(self.sums), self.target
        place, at = (Leaf(Array(f"·{what} {n} of {name}"), *dims) for what in ("sum", "weight"))
        self.sums.append(ElementSum(whole, dims, weight, Mul(*held), place, at))
        return self.sums[-1]


def _unnested(whole: Over) -> tuple[Expr, tuple[Range, ...]]:
    """The body of sums of sums, and the ranges of these."""
    ranges, expr = list[Range](), whole.func(*whole.args)
    while isinstance(expr, Over):
        start, stop = expr.args[2:]
        ranges.append(Range(expr.bound[0], int(start), int(stop)))
        expr = expr.body
    return expr, tuple(ranges)


def _by_powers(body: Expr, whole: Over, changes: Mapping[Leaf, Expr]) -> Expr:
    """A sum over rows, by powers of the change that all rows share if it is quadratic in this."""
    shared = [m for m in changes if body.has(m)]
    if len(shared) == 1 and not any(e.has(*shared) for e in body.atoms(Over)):
        (mark,) = shared
        if degree_of(body, mark.array.name) <= MOST_POWERS:
            first = sp.diff(body, mark)
            parts = (body, first, sp.diff(first, mark) / 2)
            at_none = (p.xreplace({mark: sp.S.Zero}) for p in parts)
            return Add(*(mark**n * _over(whole, p) for n, p in enumerate(at_none)))
    return _over(whole, body)


def _over(whole: Over, body: Expr) -> Expr:
    """A sum over the positions of another one."""
    return Over(body, whole.bound[0], *whole.args[2:])
