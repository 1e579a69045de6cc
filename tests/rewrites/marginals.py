"""The log of the sum or integral over an auxiliary variable, against the term that it replaced.

For any values of everything else, element by element of the factor that was rewritten,

    log density before == log density after + sum of log(sum or integral of exp(its own))

where the last sum is over the elements of the auxiliary variable that belong to the element: those
are independent of each other given the rest. A correction that came with them is on the right, too.
Sums are exact but for rounding, integrals to the error that the quadrature finds by itself.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import sympy as sp
from scipy.special import logsumexp

from gibbsppl.algebra.expressions import Array, Dim, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.density import log_density, regions
from gibbsppl.model.evaluation import evaluate
from gibbsppl.model.forward import fill

EPSILON = np.finfo(float).eps
# What the log density of an element may lose to rounding, in units of the size of its terms: each
# is a handful of operations, and functions such as loggamma are right to a few units themselves.
OPERATIONS = 2**8
# A quadrature that is further off than this has not converged, and proves nothing.
WORST_QUADRATURE = 1e-6
FARTHEST, COARSE, FINE = 600.0, 2401, 2**11 + 1
MOST_COUNTS = 2000
MANY = Dim("many~")


@dataclass(frozen=True)
class Comparison:
    """The two sides of the identity for each element of the factor, and how far they may differ."""

    before: np.ndarray
    after: np.ndarray
    tolerance: np.ndarray

    @property
    def passed(self):
        """Whether both sides agree everywhere (what is not a number does not)."""
        return bool((np.abs(self.before - self.after) <= self.tolerance).all())


def compared(rewrite, values):
    """The identity of a rewrite at values of all arrays but the auxiliary one.

    Of a potential nothing may be left: its log density is then 0.
    """
    values = {**rewrite.data, **values}
    old = next(f for f in rewrite.before.factors if f.name == rewrite.factor)
    left = [f for f in rewrite.graph.factors if f.name == rewrite.factor]
    before = log_density(old, values, rewrite.before.sizes)
    after = np.zeros_like(before)
    for new in left:
        after += log_density(new, values, rewrite.graph.sizes)
    total, error, size = log_marginal(rewrite.statement, rewrite.graph, values)
    sizes = (_size(f, values, rewrite.graph.sizes) for f in (old, *left))
    tolerance = np.array(OPERATIONS * EPSILON * sum(sizes))
    where = owners(rewrite, values)
    known = {p.name for p in rewrite.before.potentials}
    for correction in (p for p in rewrite.graph.potentials if p.name not in known):
        np.add.at(after[None], where, log_density(correction, values, rewrite.graph.sizes))
        more = _size(correction, values, rewrite.graph.sizes)
        np.add.at(tolerance[None], where, OPERATIONS * EPSILON * more)
    np.add.at(after[None], where, total)
    np.add.at(tolerance[None], where, error + OPERATIONS * EPSILON * size)
    return Comparison(before, after, tolerance)


def owners(rewrite, values):
    """For each element of the auxiliary variable, the element of the factor that it belongs to.

    After a first axis of length 1, which a factor without dims has too.
    """
    old = next(f for f in rewrite.before.factors if f.name == rewrite.factor)
    added = [
        n for n, v in rewrite.graph.variables.items()
        if n not in rewrite.before.variables and v.kind == "index"
    ]  # fmt: skip
    own = rewrite.statement.over
    shape = tuple(map(len, own))
    first = np.zeros(shape, int)
    if added:
        starts = (r.start for r in old.over)
        rows = zip(added, starts, strict=False)
        return (first, *(np.asarray(values[n]) - s for n, s in rows))
    assert own[: len(old.over)] == old.over
    return (first, *np.indices(shape)[: len(old.over)])


def log_marginal(statement, graph, values):
    """For each element: the log of its sum or integral, its error, the size of its terms."""
    assert _is_alone(statement)
    dims = graph.variables[statement.target.array.name].dims
    blank = np.zeros([graph.sizes[d] for d in dims])
    measure = _Measure(statement, graph.sizes, values, blank)
    match statement.support.kind:
        case "counts":
            total, size = _summed(measure, _shares(statement, graph.sizes, values))
        case "integer":
            total, size = _summed(measure, _whole_numbers(measure))
        case "real":
            return _integrated(measure)
    return total, np.zeros_like(total), size


def _is_alone(statement):
    """Whether the density of an element is of that element alone, and proper whatever its place."""
    name = statement.target.array.name
    leaves = {x for x in statement.log_density.atoms(Leaf) if x.array.name == name}
    return leaves <= {statement.target}


@dataclass(frozen=True)
class _Measure:
    """The log density of an auxiliary variable as a function of its values."""

    statement: object
    sizes: dict
    values: dict
    blank: np.ndarray

    def at(self, x):
        """The log density of all elements at values of theirs, ``-inf`` outside of the support."""
        return log_density(self.statement, self.with_values(x), self.sizes)

    def along(self, x):
        """The log density at many values: one more axis, the first, for all elements."""
        target = self.statement.target
        name = target.array.name
        own = self.statement.over
        array = np.zeros((len(x), *self.blank.shape))
        array[(slice(None), *(slice(r.start, r.stop) for r in own))] = x
        many = Array(name)[(MANY, *target.indices)]
        density = self.statement.log_density.xreplace({target: many})
        over = (Range(MANY, 0, len(x)), *own)
        found = evaluate(density, over, {**self.values, name: array}, self.sizes)
        return np.broadcast_to(found, x.shape)

    def with_values(self, x):
        array = self.blank.copy()
        there = {**self.values, self.statement.target.array.name: array}
        fill(self.statement, x, there, self.sizes)
        return there

    def size(self, x):
        """The size of the terms of the log density."""
        return _size(self.statement, self.with_values(x), self.sizes)

    def bounds(self):
        support, over = self.statement.support, self.statement.over
        shape = tuple(map(len, over))
        return tuple(
            np.broadcast_to(evaluate(sp.sympify(b), over, self.values, self.sizes), shape)
            for b in (support.lower, support.upper)
        )


def _size(factor, values, sizes):
    terms = sp.Add.make_args(sp.expand(factor.log_density))
    found = [np.abs(evaluate(t, factor.over, values, sizes)) for t in terms]
    total = sum(np.where(np.isfinite(f), f, 0.0) for f in found)
    return 1.0 + np.broadcast_to(total, tuple(map(len, factor.over)))


def _summed(measure, points):
    """The log of a sum over points, and the greatest size of a term that counts."""
    logs, sizes = [], []
    for x in points:
        logs.append(measure.at(x))
        sizes.append(np.where(np.isfinite(logs[-1]), measure.size(x), 0.0))
    with np.errstate(all="ignore"):
        total = logsumexp(np.array(logs), axis=0)
    return np.where(len(logs) < MOST_COUNTS, total, np.nan), len(logs) + np.max(sizes, axis=0)


def _whole_numbers(measure):
    """All values of a range; of an endless one, until what is left makes no difference.

    From some point on the terms fall about as fast as a geometric row, or faster: what is left is
    no more than the sum of that row. A sum that does not end has no value.
    """
    lower, upper = measure.bounds()
    if np.isfinite(upper).all():
        yield from range(int(lower.min()), int(upper.max()) + 1)
        return
    last, highest = measure.at(lower.min()), measure.at(lower.min())
    for x in range(int(lower.min()), MOST_COUNTS):
        yield x
        now = measure.at(x)
        highest = np.maximum(highest, now)
        with np.errstate(all="ignore"):
            rest = now - np.log(-np.expm1(now - last))
        falling = (now < last) & (rest < highest + np.log(EPSILON))
        if ((x >= upper) | falling).all():
            return
        last = now


def _shares(statement, sizes, values):
    """All ways to share out counts; each total that occurs, in every element."""
    (*_, event) = regions(statement, sizes)
    totals = evaluate(sp.sympify(statement.support.upper), statement.over, values, sizes)
    for total in np.unique(totals).astype(int):
        parts = len(event)
        for bars in combinations(range(total + parts - 1), parts - 1):
            ends = (-1, *bars, total + parts - 1)
            yield np.diff(ends) - 1


@np.errstate(all="ignore")
def _integrated(measure):
    """The log of an integral over a transformed variable: the trapezoid rule, from edge to edge.

    On the line, for a smooth integrand that falls off exponentially, the rule converges faster than
    any power of the step (L. N. Trefethen and J. A. C. Weideman, 2014, SIAM Review 56), so that
    what the last halving of the step changed is more than the error that is left.
    """
    lower, upper = measure.bounds()

    def log_integrand(t):
        x, log_slope = _unbounded(t, lower, upper)
        found = measure.along(x) + log_slope
        return np.where(np.isnan(found), -np.inf, found)

    coarse = np.linspace(-FARTHEST, FARTHEST, COARSE).reshape(-1, *(1,) * lower.ndim)
    heights = log_integrand(np.broadcast_to(coarse, (COARSE, *lower.shape)))
    inside = heights >= heights.max(axis=0) + 2 * np.log(EPSILON)
    ends = [np.where(inside, coarse, far).astype(float) for far in (np.inf, -np.inf)]
    first, last = ends[0].min(axis=0) - 1, ends[1].max(axis=0) + 1
    fine = np.linspace(first, last, FINE)
    logs = log_integrand(fine)
    top = logs.max(axis=0)
    heights = np.exp(logs - top)
    value, rougher = heights.sum(axis=0), 2 * heights[::2].sum(axis=0)
    edges = np.maximum(heights[0], heights[-1])
    error = np.abs(rougher / value - 1)
    usable = np.isfinite(top) & (edges < EPSILON) & (error < WORST_QUADRATURE)
    total = np.log(value) + top + np.log((last - first) / (FINE - 1))
    mode = np.take_along_axis(fine, logs.argmax(axis=0)[None], axis=0)[0]
    x, _ = _unbounded(mode, lower, upper)
    return np.where(usable, total, np.nan), np.where(usable, error, 0.0), measure.size(x)


def _unbounded(t, lower, upper):
    """The value at a point of the line, and the log of its derivative."""
    t = np.broadcast_to(t, np.broadcast_shapes(np.shape(t), lower.shape))
    below, above = np.isfinite(lower), np.isfinite(upper)
    with np.errstate(all="ignore"):
        between = lower + (upper - lower) / (1 + np.exp(-t))
        inside = np.log(upper - lower) - np.logaddexp(0, t) - np.logaddexp(0, -t)
        ends = [below & above, below, above]
        x = np.select(ends, [between, lower + np.exp(t), upper - np.exp(t)], t)
        return x, np.select(ends, [inside, t, t], np.zeros_like(t))
