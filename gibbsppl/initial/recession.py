"""A log density as concave functions of linear forms, and the directions in which no term falls.

Comes in: a graph, data, a state. Goes out: `Sides`, linear constraints on a direction in the space
of some variables: along a direction that meets all constraints no term of the log density falls.
(The recession function of a concave function: R. T. Rockafellar 1970, Convex Analysis, section 8.)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy
import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import Array, Expr, Leaf, Over, mentions, renamed_apart
from gibbsppl.algebra.functions import Expit, Softplus
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import Range
from gibbsppl.analysis.bounds import Bounds, known_bounds, sign_of
from gibbsppl.analysis.curvature import CONCAVE, curvature_of
from gibbsppl.derive.designs import (
    ROUNDING,
    Forms,
    Linear,
    NotLinear,
    first_rows,
    is_masked,
    shares_of,
)
from gibbsppl.errors import ModelError
from gibbsppl.model.evaluation import Floats, Values, evaluate
from gibbsppl.model.graph import Factor, Graph, Marginal, Statement, expressions_read_by
from gibbsppl.model.operations import Bools
from gibbsppl.pieces.logs import expand_logs

# So many times as far out as a form is, functions of it have the slope that they have at infinity;
# a power of two, so that multiples of it are exact.
FAR = 2.0**40

# The name of the linear forms in a function of them.
FORM = Array("·form")


@dataclass(frozen=True, slots=True)
class Sides:
    """Rows: a direction must be zero on those of ``equal``, at least zero on those of ``least``.

    So that it stays inside the supports it must be at least zero on those of ``inside``, too.
    """

    equal: scipy.sparse.csr_array
    least: scipy.sparse.csr_array
    inside: scipy.sparse.csr_array

    @classmethod
    def of(
        cls,
        equal: Iterable[scipy.sparse.csr_array],
        least: Iterable[scipy.sparse.csr_array],
        inside: Iterable[scipy.sparse.csr_array],
        width: int,
    ) -> Sides:
        """The rows of several matrices together."""
        none = scipy.sparse.csr_array((0, width))
        every = (equal, least, inside)
        return cls(*(scipy.sparse.vstack([none, *rows], format="csr") for rows in every))


@dataclass(frozen=True, slots=True)
class Term:
    """Part of a log density over its ranges: a linear form, and concave functions of forms."""

    over: tuple[Range, ...]
    linear: Linear
    curved: Expr


def sides_of(graph: Graph, arrays: tuple[str, ...], values: Values) -> Sides | None:
    """What holds directions in the space of the arrays; None if it cannot be told.

    Everything else is given, at its value: if the integral over these is infinite for almost all
    values of the others, or all continuous ones beside discrete ones of a positive probability, it
    is infinite.
    """
    reader = _Reader(graph, arrays, values)
    equal, least = [], []
    try:
        for factor in graph.factors:
            for sides in reader.of_factor(factor):
                equal.append(sides.equal)
                least.append(sides.least)
    except (NotLinear, ModelError):
        return None
    return Sides.of(equal, least, reader.of_supports(), len(reader.columns))


class _Reader:
    """The reading of factors as rows, for some arrays."""

    def __init__(self, graph: Graph, arrays: tuple[str, ...], values: Values) -> None:
        self.graph, self.arrays, self.values = graph, arrays, values
        self.forms = Forms.of(graph, arrays, values)
        self.columns, self.latent = self.forms.columns, self.forms.latent
        data = {n: v for n, v in values.items() if n not in self.latent}
        self.bounds: Bounds = known_bounds(graph, data)

    def of_factor(self, factor: Factor) -> Iterator[Sides]:
        """The rows of the terms of a factor."""
        if not any(mentions(e, self.arrays) for e in expressions_read_by(factor)):
            return
        if isinstance(factor, Marginal):
            raise NotLinear
        if isinstance(factor, Statement) and _has_moving_bounds(factor, self.arrays):
            raise NotLinear
        density = _with_bands_apart(expand_logs(factor.log_density, self.arrays))
        terms = self._terms(renamed_apart(density, {r.dim for r in factor.over}), factor.over)
        for term in terms:
            kept = self._is_known(factor, term.over)
            yield self._of_softmax(term, kept) or self._of_curve(term, kept)

    def of_supports(self) -> Iterator[scipy.sparse.csr_array]:
        """Directions that stay inside the supports: up from a lower bound, down from an upper."""
        for statement in self.graph.latent:
            name = statement.target.array.name
            if name in self.arrays and statement.support.kind == "real":
                rows = self.forms.design(((sp.S.One, statement.target, ()),), statement.over)
                yield from ([rows] if statement.support.lower != -sp.oo else [])
                yield from ([-rows] if statement.support.upper != sp.oo else [])

    # Taking a template apart.

    def _terms(self, density: Expr, over: tuple[Range, ...]) -> list[Term]:
        """The density by ranges: terms with the same ranges are one function."""
        linear: dict[tuple[Range, ...], Linear] = {over: ()}
        curved: dict[tuple[Range, ...], Expr] = {over: sp.S.Zero}
        for part, ranges in self.forms.parts(density, over):
            found = self.forms.linear(part)
            if found is None and self._is_there(part, ranges):
                curved[ranges] = curved.get(ranges, sp.S.Zero) + part
            elif found is None:
                continue
            else:
                linear[ranges] = (*linear.get(ranges, ()), *found)
        keys = dict.fromkeys((*linear, *curved))
        terms = [Term(k, linear.get(k, ()), curved.get(k, sp.S.Zero)) for k in keys]
        return [t for t in terms if t.linear or t.curved != 0]

    def _is_there(self, part: Expr, over: tuple[Range, ...]) -> bool:
        """Whether what multiplies a term is anywhere other than zero."""
        scale = Mul(*(a for a in Mul.make_args(part) if not mentions(a, self.arrays)))
        if scale.is_number or mentions(scale, self.latent):
            return True
        return bool((self.forms.at(scale, over) != 0).any())

    # Rows.

    def _of_curve(self, term: Term, kept: Bools) -> Sides:
        """The constraints by a function of a form at each position, from slopes at both ends."""
        forms: dict[Expr, int] = {}
        function = self._in_forms(term.curved, forms, term.over)
        if curvature_of(self._straightened(function), FORM.name, self.bounds).kind not in CONCAVE:
            raise NotLinear
        rows = [self.forms.design(self.forms.linear(f) or (), term.over) for f in forms]
        line = self.forms.design(term.linear, term.over)
        axis = first_rows([*rows, line])
        shares = [shares_of(r, axis) for r in rows]
        slope = shares_of(line, axis)
        start = [self.forms.at(f, term.over) for f in forms]
        up, down = (
            self._slope(function, term.over, start, [sign * s for s in shares], sign * slope)
            for sign in (1.0, -1.0)
        )
        return Sides.of(
            [axis[kept & ~up & ~down]],
            [axis[kept & up & ~down], -axis[kept & down & ~up]],
            [],
            len(self.columns),
        )

    def _in_forms(self, expr: Expr, forms: dict[Expr, int], over: tuple[Range, ...]) -> Expr:
        """The expression with its largest linear forms named, each by a leaf of `FORM`."""
        if not mentions(expr, self.arrays):
            return expr
        if self.forms.linear(expr) is not None:
            held = [a for a in Mul.make_args(expr) if mentions(a, self.arrays)]
            free = [a for a in Mul.make_args(expr) if a not in held]
            number = forms.setdefault(Mul(*held), len(forms))
            return Mul(*free, FORM[(sp.Integer(number), *(r.dim for r in over))])
        if isinstance(expr, Leaf | Over) or not expr.args:
            raise NotLinear
        # What multiplies a form must not be zero by the values that happen to be given.
        free = [a for a in expr.args if not mentions(a, self.arrays)] if expr.is_Mul else []
        moving = [a for a in free if mentions(a, self.latent)]
        if any(sign_of(a, self.bounds) not in ("positive", "negative") for a in moving):
            raise NotLinear
        return expr.func(*(self._in_forms(a, forms, over) for a in expr.args))

    def _straightened(self, function: Expr) -> Expr:
        """The function with each ``log(1 - exp(-c exp(z)))`` as ``-log(1 + exp(-z))``.

        Both are concave and increase: the first has slope x / (exp(x) - 1), which falls as
        x = c exp(z) grows. The second is one of which that is known.
        """
        found = {}
        for log in function.atoms(sp.log):
            rest = 1 - log.args[0]
            if isinstance(rest, sp.exp) and rest.has(sp.exp):
                scale, exponent = _exponential(-rest.args[0], (FORM.name,))
                if exponent not in (0, None) and sign_of(scale, self.bounds) == "positive":
                    found[log] = -Softplus(-exponent)
        return function.xreplace(found)

    def _slope(
        self,
        function: Expr,
        over: tuple[Range, ...],
        start: list[Floats],
        shares: list[Floats],
        slope: Floats,
    ) -> Bools:
        """Where the function does not fall far out in a direction, to rounding."""
        size = np.max([np.abs(z) for z in start], axis=0, initial=1.0)
        away = FAR * np.exp2(np.ceil(np.log2(size)))  # (beside where the forms are now)
        near, far = (
            self._with_forms(
                function, over, [z + t * s for z, s in zip(start, shares, strict=True)]
            )
            for t in (away, 2 * away)
        )
        with np.errstate(all="ignore"):
            rise = (far - near) / away
            margin = ROUNDING * (np.abs(slope) + np.abs(rise) * (np.abs(far) > 0))
            stays: Bools = np.isfinite(far) & np.isfinite(near) & (slope + rise >= -margin)
        return stays

    def _with_forms(self, function: Expr, over: tuple[Range, ...], forms: list[Floats]) -> Floats:
        shape = tuple(map(len, over))
        full = np.zeros((len(forms), *(r.stop for r in over)))
        inside = tuple(slice(r.start, r.stop) for r in over)
        for number, form in enumerate(forms):
            full[number, ...][inside] = form.reshape(shape)
        values = {**self.values, FORM.name: full}
        found = evaluate(function, over, values, self.graph.sizes)
        return np.broadcast_to(found, shape).ravel()

    def _of_softmax(self, term: Term, kept: Bools) -> Sides | None:
        """``a.b - w log(sum exp(a_l.b))``: it falls but where a.b is at least w a_l.b for all l."""
        weight, total = _log_of_sum(term.curved, self.arrays)
        if total is None:
            return None
        line, weights = self.forms.design(term.linear, term.over), -self.forms.at(weight, term.over)
        if not (weights >= 0).all():
            return None
        least = []
        for part, ranges in self.forms.parts(total, term.over):
            scale, exponent = _exponential(part, self.arrays)
            form = None if exponent is None else self.forms.linear(exponent)
            if form is None or not (self.forms.at(scale, ranges) >= 0).all():
                return None
            rows = self.forms.design(form, ranges)
            own = np.repeat(np.arange(len(weights)), math.prod(map(len, ranges[len(term.over) :])))
            under = line[own] - scipy.sparse.diags_array(weights[own]) @ rows
            least.append(under[kept[own]])
        return Sides.of([], least, [], len(self.columns))

    def _is_known(self, factor: Factor, over: tuple[Range, ...]) -> Bools:
        """Where a factor counts."""
        if isinstance(factor, Statement) and is_masked(self.graph, factor):
            known: Bools = self.forms.at(factor.known, over) != 0
            return known
        return np.ones(math.prod(map(len, over)), dtype=bool)


def _with_bands_apart(density: Expr) -> Expr:
    """The logs of differences of two ``Expit``, as of the middle of ordered classes, as sums.

    ``Expit(u) - Expit(v) = Expit(u) Expit(-v) (1 - exp(v - u))``.
    """
    bands = {}
    for log in density.atoms(sp.log):
        terms = [t.as_coeff_Mul() for t in Add.make_args(log.args[0])]
        ends = {sign: e.args[0] for sign, e in terms if isinstance(e, Expit)}
        if len(terms) == 2 and set(ends) == {1, -1}:
            u, v = ends[sp.S.One], ends[sp.S.NegativeOne]
            bands[log] = -Softplus(-u) - Softplus(v) + sp.log(1 - sp.exp(multiplied_out(v - u)))
    return density.xreplace(bands)


def _has_moving_bounds(statement: Statement, arrays: Collection[str]) -> bool:
    bounds = statement.support.lower, statement.support.upper
    return any(mentions(sp.sympify(b), arrays) for b in bounds)


def _log_of_sum(expr: Expr, arrays: Collection[str]) -> tuple[Expr, Expr | None]:
    """The weight and the sum of a multiple of the log of a sum; no sum if it is none."""
    held = [a for a in Mul.make_args(expr) if mentions(a, arrays)]
    if len(held) != 1 or not isinstance(held[0], sp.log) or not held[0].has(sp.exp):
        return sp.S.One, None
    total = held[0].args[0]
    weight = Mul(*(a for a in Mul.make_args(expr) if a not in held))
    return weight, total if isinstance(total, Add | Over) else None


def _exponential(expr: Expr, arrays: Collection[str]) -> tuple[Expr, Expr | None]:
    """The scale and the exponent of a multiple of an exponential; a constant has exponent 0."""
    held = [a for a in Mul.make_args(expr) if mentions(a, arrays)]
    total = Add(*(a.args[0] for a in held))
    exponent = total if all(isinstance(a, sp.exp) for a in held) else None
    return Mul(*(a for a in Mul.make_args(expr) if a not in held)), exponent
