"""How formulas of the table of families are compared with references in arbitrary precision.

At points where two arguments are ordinary or extreme and the rest as in an example; to within the
rounding of the size of what the reference is the sum of, and of what it moves by when an argument
does in its last digits. No tolerance is set by hand.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product

import mpmath
import numpy as np
import sympy as sp
from mpmath import mpf
from test_families import EXAMPLES, K, X, symbols_of

from gibbsppl.algebra.expressions import Array
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.evaluation import evaluate

EPS = sys.float_info.epsilon
# A formula is some dozens of operations, each of which rounds.
OPERATIONS = 64
DIGITS = 60


@dataclass(frozen=True)
class Grid:
    """What arguments are compared at, by their supports; ``at``: of rows, by name."""

    real: tuple[float, ...]
    positive: tuple[float, ...]
    unit: tuple[float, ...]
    counts: tuple[float, ...]
    at: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)

    def values(self, row, name):
        """Those of a parameter, or of x."""
        if name in self.at.get(row.name, {}):
            return self.at[row.name][name]
        own = row.support((), **symbols_of(row)) if name == "x" else row.parameters[name].support
        if own.is_discrete:
            return self.counts if name == "x" else self.counts[1:]
        return self.unit if own.upper == 1 else self.positive if own.lower == 0 else self.real

    def points(self, row, *, x=True):
        """Each pair of arguments at all of their values; without x, of parameters alone."""
        example = next((e.parameters for e in EXAMPLES if e.family == row.name), {})
        names = (*(("x",) if x else ()), *row.parameters)
        base = {n: float(v) for n, v in example.items()}
        base |= {"x": (ordinary := self.values(row, "x"))[len(ordinary) // 2]} if x else {}
        pairs = [(a, b) for j, a in enumerate(names) for b in names[j + 1 :]] or [names]
        for changed in pairs:
            for found in product(*(self.values(row, n) for n in changed)):
                point = {**base, **dict(zip(changed, found, strict=True))}
                if is_moderate(found) and is_possible(row, point):
                    yield point


def is_moderate(values):
    """Whether the squares of products and ratios of numbers are numbers."""
    return sum(abs(np.log10(abs(v))) for v in values if v) < sys.float_info.max_10_exp / 2


def scaled(row):
    """Ordinary points at scales of 1e-100 and 1e100, of the rows that have a scale."""
    powers = powers_of_scale(row)
    for case in (e for e in EXAMPLES if e.family == row.name and powers):
        base = {n: float(v) for n, v in case.parameters.items()}
        for x, scale in product((0.1, 1.7, 9.0), (1e-100, 1e100)):
            point = {**base, "x": x}
            yield {n: v * scale ** powers.get(n, 0) for n, v in point.items()}


def powers_of_scale(row):
    """The powers of the scale that the arguments go with."""
    if row.name in OF_SCALE:
        return OF_SCALE[row.name]
    if row.location_scale is None:
        return {}
    ((name, _),) = row.location_scale.unit.items()
    symbols = {n: sp.Symbol(n, positive=True) for n in row.parameters}
    _, power = row.location_scale.scale(**symbols).as_base_exp()
    located = {row.location_scale.location: 1} if row.location_scale.location else {}
    return {"x": 1, name: float(1 / power), **located}


# (rows that have no one parameter for it)
OF_SCALE = {"InverseGaussian": {"x": 1, "mu": 1, "lam": 1}}


def is_possible(row, point):
    """Whether a count is within its bounds, and a value above its minimum."""
    support = row.support((), **{n: sp.Float(v) for n, v in point.items() if n != "x"})
    lower, upper = (float(evaluate(b, (), {}, {})) for b in (support.lower, support.upper))
    return lower <= point["x"] <= upper if "x" in point else lower <= upper


def symbols_along(names):
    """Leaves for arguments of which there are many at once."""
    return {n: Array(n)[K] for n in names}


def evaluated(expr, points):
    """The formula of leaves along ``K`` at all points."""
    points = list(points)
    values = {n: np.array([p[n] for p in points], dtype=float) for n in points[0]}
    values = {**values, X: values["x"]} if "x" in values else values
    over = (Range(K, 0, len(points)),)
    found = evaluate(sp.sympify(expr), over, values, {K: len(points)})
    return np.broadcast_to(found, (len(points),))


def exact(references, point, counts=(), digits=DIGITS):
    """Values, each with how large its terms and the moves of its arguments are.

    ``references`` gives for each value the terms that it is the sum of. ``counts`` are arguments at
    which it is defined for whole numbers alone.
    """
    with mpmath.workdps(digits):
        found = references(**{n: mpf(v) for n, v in point.items()})
        values = [mpmath.fsum(terms) for terms in found]
        sizes = [mpmath.fsum(map(abs, terms)) for terms in found]
        step = mpf(2) ** -90
        for name in set(point) - set(counts):
            moved = {n: mpf(v) * (1 + step if n == name else 1) for n, v in point.items()}
            for j, terms in enumerate(references(**moved)):
                if mpmath.isfinite(values[j]):
                    sizes[j] += abs(mpmath.fsum(terms) - values[j]) / step
        return list(zip(values, sizes, strict=True))


def disagrees(found, value, size):
    """Whether a number is not a value, to within the rounding of a size."""
    if mpmath.isnan(value) or abs(value) > sys.float_info.max:
        wanted = float(mpmath.sign(value) * mpmath.inf)
        return not np.array_equal(found, wanted, equal_nan=True)
    return not abs(mpf(float(found)) - value) <= OPERATIONS * EPS * size + sys.float_info.min
