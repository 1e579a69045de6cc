"""Elements one by one, with the sums over them that rows of data see kept up to date.

Comes in: a step that draws labels that depend on one another, each from log weights in which it
stands among the others: ``f(sum(x[r, k] * v[where([k = j], label, z[k])], k))`` for each row r; or
one that draws or moves elements by the log density of all. Goes out: a `SumLoop`: the same as
functions of the sums of the current elements and of what one element adds to each,

    sum(x[r, k] * v[z[k]], k) + x[r, j] * (v[label] - v[z[j]]),

so that a value is weighed by one look at each row, whatever f is: a residual, the rate of a count,
a logit. (A row that an index of data does not show the element has the weight 0.) What is quadratic
in the change of an element is a polynomial of it,
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
    mentions,
    renamed_apart,
)
from gibbsppl.algebra.functions import Where
from gibbsppl.algebra.ranges import Range, range_of
from gibbsppl.algebra.recursions import Recursion
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.labels import LABEL
from gibbsppl.derive.multilinear_forms import degree_of
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.kept_sums import KeptSum, UnsuitedError, kept_sum
from gibbsppl.schedule.kinds import DensityDraw, LabelDraw

# Terms that are polynomials of a change are taken apart by its powers, up to the square.
MOST_POWERS = 2
# The value of an element at which its log density is evaluated.
CANDIDATE = Array("·candidate")[()]


@dataclass(frozen=True, slots=True)
class SumLoop:
    """The terms by which an element is drawn, as functions of sums over all current elements.

    Of labels they are contributions to log weights, of others terms of the log density of a
    `CANDIDATE`.
    """

    sums: tuple[KeptSum, ...]
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
        # (sums over all elements bind the dims of the array)
        terms = tuple(replace(c, value=renamed_apart(c.value, axes)) for c in step.terms)
        reader = _Reader(element, CANDIDATE, graph.sizes)
    else:
        (weights,) = step.plain_parameters
        label, sizes = LABEL + step.labels.start, {**graph.sizes, LABEL: len(step.labels)}
        terms = tuple(_of_current(c, element, label) for c in weights.contributions)
        reader = _Reader(element, label, sizes)
    try:
        values = [reader.read(c.value) for c in terms]
    except UnsuitedError:
        return None
    if not reader.sums or not all(c.is_everywhere(reader.sizes) for c in terms):
        return None
    places = {s.kept.leaf for s in reader.sums}
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


def _of_current(term: Contribution, element: Leaf, label: Expr) -> Contribution:
    """A term of log weights in which all elements, the one at work too, are the current ones.

    (Where an element under a sum is the one at work, it has the label in its place.)
    """
    current: dict[Expr, Expr] = {}
    for choice in term.value.atoms(Where):
        _, new, old = choice.args
        if new == label and isinstance(old, Leaf) and old.array == element.array:
            current[choice] = old
    return replace(term, value=term.value.xreplace(current))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads terms in which an element has a ``new`` value, with the current ones of others in sums.

    ``changes`` are the changes of what the element adds to each sum, by what stands for them.
    """

    element: Leaf
    new: Expr
    sizes: Mapping[Dim, int]
    sums: list[KeptSum] = field(default_factory=list)
    changes: dict[Leaf, Expr] = field(default_factory=dict)

    @property
    def target(self) -> tuple[str, ...]:
        """The array of the elements."""
        return (self.element.array.name,)

    def read(self, expr: Expr, rows: tuple[Range, ...] = ()) -> Expr:
        """An expression that reads sums of current elements, and the element's own."""
        if not mentions(expr, self.target):
            return expr
        if expr == self.element:
            return self.new
        if isinstance(expr, Leaf | Recursion):
            raise UnsuitedError
        if isinstance(expr, Over):
            found = self._of_elements(expr, rows)
            if found is not None:
                return found
            inside = (*rows, range_of(expr, self.sizes))
            return _by_powers(self.read(expr.body, inside), expr, self.changes)
        args = (self.read(a, rows) if isinstance(a, sp.Expr) else a for a in expr.args)
        return expr.func(*args)

    def _of_elements(self, whole: Over, rows: tuple[Range, ...]) -> Expr | None:
        """A sum over elements as that of the current ones, and what the element's changes it by."""
        try:
            found = self._noted(whole, rows)
        except UnsuitedError:  # (a sum over rows, maybe)
            return None
        change = found.change(self.new, self.element)
        if dims_of(change) & {r.dim for r in found.across}:
            return found.kept.leaf + found.weight_at * change
        mark = Leaf(Array(f"·change {self.sums.index(found)}"))
        self.changes[mark] = change
        return found.kept.leaf + found.weight_at * mark

    def _noted(self, whole: Over, rows: tuple[Range, ...]) -> KeptSum:
        """A sum, noted once."""
        known = next((s for s in self.sums if s.kept.form == whole), None)
        if known is not None:
            return known
        name = f"·sum {len(self.sums)} of {self.element.array.name}"
        axes = (Range(d, 0, self.sizes[d]) for d in self.element.own_dims)
        found = kept_sum(name, whole, self.element, (*axes, *rows), self.sizes)
        self.sums.append(found)
        return found


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
