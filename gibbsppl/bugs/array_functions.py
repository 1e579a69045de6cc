"""The functions of vectors and matrices.

``numeric(*arrays, axes=...)``: the last axes of each array, as many as ``axes`` says, are its own;
the others are positions, and broadcast. Vectors are along the last axis, matrices along the last
two.
``symbolic`` takes and gives `Template`; of ``counts`` it takes the numbers.

>>> rows = {name: row for row in OF_ARRAYS for name in row.names}
>>> rows["sd"].numeric(np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 3.0]]), axes=(1,)).round(4)
array([1.5275, 1.7321])
>>> from gibbsppl.algebra.expressions import Array
>>> x, k = Array("x"), Dim("k")
>>> rows["mean"].symbolic(Template(x[k], (k,), (3,))).expr
sum(x[k], k)/3
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from gibbsppl.algebra.copies import copies_of, copy_of
from gibbsppl.algebra.expressions import (
    Dim,
    Expr,
    Greatest,
    InverseEntry,
    Least,
    LogDet,
    Over,
    Times,
    dims_of,
    substitute,
)
from gibbsppl.algebra.functions import AtMost, Below, Equals, Maximum, Minimum, Where
from gibbsppl.bugs import array_numbers as numbers_of
from gibbsppl.bugs.grids import Array
from gibbsppl.bugs.rows import Function, Template
from gibbsppl.bugs.values import are_as_long

# The axis of a vector that a function makes of others.
ENTRY = Dim("entry")


def _elements(x: Template) -> list[Expr]:
    """All entries, in the order of columns."""
    positions = product(*(map(sp.Integer, range(n)) for n in reversed(x.sizes)))
    return [substitute(x.expr, dict(zip(x.axes, p[::-1], strict=True))) for p in positions]


def _summed(x: Template, expr: Expr | None = None) -> Expr:
    """The sum over all positions that there are."""
    return _over(Over, x, x.within * (x.expr if expr is None else expr))


def _over(fold: Callable[[Expr, Dim], Expr], x: Template, expr: Expr) -> Expr:
    for axis in reversed(x.axes):
        expr = fold(expr, axis)
    return expr


def _sum_of(*values: Template) -> Template:
    return Template(sp.Add(*map(_summed, values)))


def _product_of(*values: Template) -> Template:
    # (a position that is not there is a factor of one)
    each = ((v, v.expr if v.within == 1 else Where(v.within, v.expr, sp.S.One)) for v in values)
    return Template(sp.Mul(*(_over(Times, v, e) for v, e in each)))


def _mean_of(x: Template) -> Template:
    return Template(_summed(x) / x.number)


def _sd_of(x: Template) -> Template:
    copies = copies_of(x.axes, dims_of(x.expr) | dims_of(x.within))
    expr, within = substitute(x.expr, copies), substitute(x.within, copies)
    copied = replace(x, axes=tuple(copies.values()), expr=expr, within=within)
    squares = (x.expr - _mean_of(copied).expr) ** 2
    return Template(sp.sqrt(_summed(x, squares) / (x.number - 1)))


def _geometric_mean_of(x: Template) -> Template:
    return Template(sp.exp(_summed(x, sp.log(x.expr)) / x.number))


def _extreme(
    of_two: Callable[[Expr, Expr], Expr], fold: Callable[[Expr, Dim], Expr]
) -> Callable[..., Template]:
    # (what is compared with an extreme is computed as its elements are: equal numbers are equal)
    def symbolic(*values: Template) -> Template:
        return Template(_by_halves(of_two, [_over(fold, v, v.expr) for v in values]))

    return symbolic


def _by_halves(of_two: Callable[[Expr, Expr], Expr], found: list[Expr]) -> Expr:
    """A function of two, of all of a list, no deeper than need be."""
    if len(found) == 1:
        return found[0]
    half = len(found) // 2
    return of_two(_by_halves(of_two, found[:half]), _by_halves(of_two, found[half:]))


def _aligned(x: Template, y: Template) -> Expr:
    """The expression of the second along the axes of the first, which has as many positions."""
    lengths = zip(x.lengths or [None] * len(x.axes), y.lengths or [None] * len(y.axes), strict=True)
    if x.sizes != y.sizes or not all(are_as_long(*pair) for pair in lengths):
        raise ValueError("their lengths differ")
    return substitute(y.expr, dict(zip(y.axes, x.axes, strict=True)))


def _inner_of(x: Template, y: Template) -> Template:
    return Template(_summed(x, x.expr * _aligned(x, y)))


def _interpolated_of(e: Template, x: Template, y: Template) -> Template:
    """The piecewise linear interpolant: the first value, plus the rise of each piece passed."""
    (k,), (count,) = x.axes, x.sizes
    values = _aligned(x, y)
    following = {k: k + 1}
    length = substitute(x.expr, following) - x.expr
    rise = substitute(values, following) - values
    passed = Minimum(Maximum(e.expr - x.expr, sp.S.Zero), length)
    first = substitute(values, {k: sp.S.Zero})
    return Template(first + Over(passed / length * rise, k, 0, count - 1))


def _matrix_product_of(a: Template, b: Template) -> Template:
    """The sum over the last axis of the first and the first of the second."""
    if a.sizes[-1] != b.sizes[0]:
        raise ValueError(f"{a.sizes[-1]} columns and {b.sizes[0]} rows")
    taken = {*dims_of(a.expr), *a.axes}
    names: dict[Dim, Dim] = {b.axes[0]: a.axes[-1]}
    own = b.axes[1:]
    names |= dict(zip(own, own, strict=True)) | copies_of(
        (d for d in own if d in taken), {*taken, *b.axes, *dims_of(b.expr)}
    )
    total = Over(a.expr * substitute(b.expr, names), a.axes[-1])
    axes = (*a.axes[:-1], *(names[d] for d in b.axes[1:]))
    return Template(total, axes, (*a.sizes[:-1], *b.sizes[1:]))


def _transposed_of(x: Template) -> Template:
    if len(x.axes) == 1:
        return Template(x.expr, (ENTRY, *x.axes), (1, *x.sizes))
    return Template(x.expr, x.axes[::-1], x.sizes[::-1])


def _log_determinant_of(m: Template) -> Template:
    return Template(LogDet(m.expr, *m.axes))


def _inverse_of(m: Template) -> Template:
    return Template(InverseEntry(m.expr, *m.axes, *m.axes), m.axes, m.sizes)


def _rank_of(v: Template, *s: Template) -> Template:
    (k,) = v.axes
    if s:
        other = copy_of(k, dims_of(v.expr))
        chosen = substitute(v.expr, {k: s[0].expr - 1})
        return Template(Over(AtMost(substitute(v.expr, {k: other}), chosen), other))
    return Template(1 + _number_before(v), v.axes, v.sizes)


def _number_before(v: Template) -> Expr:
    """For each element, the number of elements before it in sorted order; ties stay in order."""
    (k,) = v.axes
    other = copy_of(k, dims_of(v.expr))
    at_other = substitute(v.expr, {k: other})
    is_before = Where(Below(other, k), AtMost(at_other, v.expr), Below(at_other, v.expr))
    return Over(is_before, other)


def _in_order(v: Template, of_each: Callable[[Dim], Expr]) -> Template:
    """Something of each element, in the order of the elements."""
    (k,) = v.axes
    number = _number_before(v)
    own = copy_of(k, {*dims_of(v.expr), *(d for o in number.atoms(Over) for d in o.bound)})
    is_here = Equals(substitute(number, {k: own}), k)
    return Template(Over(is_here * of_each(own), own), v.axes, v.sizes)


def _sorted_of(v: Template) -> Template:
    (k,) = v.axes
    return _in_order(v, lambda own: substitute(v.expr, {k: own}))


def _order_of(v: Template) -> Template:
    return _in_order(v, lambda own: own + 1)


def _ranked_of(v: Template, s: Template) -> Template:
    found = _sorted_of(v)
    return Template(substitute(found.expr, {found.axes[0]: s.expr - 1}))


def _size_of(x: Template) -> Template:
    return Template(x.number)


def _sizes_of(x: Template) -> Template:
    return _listed([sp.Integer(n) for n in x.sizes or (1,)])


def _listed(elements: Sequence[Expr]) -> Template:
    """A vector with these entries."""
    *others, last = elements
    found = last
    for position, element in reversed(list(enumerate(others))):
        if element != found:
            found = Where(Below(ENTRY, sp.Integer(position + 1)), element, found)
    return Template(found, (ENTRY,), (len(elements),))


def _combined_of(*values: Template) -> Template:
    return _listed([e for v in values for e in _elements(v)])


def _repeated_of(v: Template, times: Array) -> Template:
    """The counts are numbers: how long a vector is, is known."""
    counts = np.asarray(times).astype(int)
    if counts.ndim == 0:
        return _listed(_elements(v) * int(counts))
    pairs = zip(_elements(v), counts.tolist(), strict=True)
    return _listed([e for e, n in pairs for _ in range(n)])


def _passed_of(t: Template, c: Template) -> Template:
    return Template(_summed(c, Below(c.expr, t.expr)))


def _of(
    names: str,
    numeric: Callable[..., ArrayLike],
    symbolic: Callable[..., Template] | None,
    least: int = 1,
    **facts: Any,
) -> Function:
    known = {"most": least, "of_arrays": True, **facts}
    return Function(tuple(names.split()), numeric, symbolic, least, **known)


_EXTREME = {"is_fold": True, "may_repeat": True}
_MAXIMUM = numbers_of.over_all(np.max, np.maximum)
_MINIMUM = numbers_of.over_all(np.min, np.minimum)

OF_ARRAYS = (
    _of("sum dsum", numbers_of.over_all(np.sum, np.add), _sum_of, most=None, is_fold=True),
    _of("prod", numbers_of.over_all(np.prod, np.multiply), _product_of, most=None, is_fold=True),
    _of("max", _MAXIMUM, _extreme(Maximum, Greatest), most=None, **_EXTREME),
    _of("min", _MINIMUM, _extreme(Minimum, Least), most=None, **_EXTREME),
    _of("mean", numbers_of.mean, _mean_of, is_fold=True),
    _of("sd", numbers_of.sd, _sd_of, is_fold=True),
    _of("geometric.mean", numbers_of.geometric_mean, _geometric_mean_of, is_fold=True),
    _of("inprod inprod2", numbers_of.inner, _inner_of, 2, is_fold=True),
    _of("interp.lin", numbers_of.interpolated, _interpolated_of, 3),
    _of("%*%", numbers_of.product, _matrix_product_of, 2),
    _of("t", numbers_of.transposed, _transposed_of),
    _of("logdet", numbers_of.log_determinant, _log_determinant_of),
    _of("inverse inverse.chol", numbers_of.inverse, _inverse_of),
    _of("inverse.lu", numbers_of.inverse, None, reason="of random variables write inverse(m)"),
    _of("det", numbers_of.determinant, None, reason="of random variables write exp(logdet(m))"),
    _of("mexp", numbers_of.exponential, None, reason="of random variables it is not built in"),
    _of("sort", numbers_of.in_order, _sorted_of),
    _of("order", numbers_of.order, _order_of),
    _of("ranked", numbers_of.ranked, _ranked_of, 2),
    _of("rank", numbers_of.rank, _rank_of, most=2),
    _of("length", numbers_of.size, _size_of, is_fold=True),
    _of("dim", numbers_of.sizes, _sizes_of),
    _of("c", numbers_of.combined, _combined_of, most=None),
    _of("rep", numbers_of.repeated, _repeated_of, 2, counts=(1,)),
    _of("dinterval", numbers_of.passed, _passed_of, 2, is_fold=True),
    _of("dround", numbers_of.decimals, None, 2, reason="of random variables it has no density"),
)
