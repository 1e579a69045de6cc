"""Limits: inequalities on a variable by other factors, read as bounds of its support.

Comes in: pieces, some of which are logs of indicators. Goes out: `Limit` values, and the pieces
that are left. ``y ~ Uniform(0, theta)`` bounds theta below by every y.

>>> from gibbsppl.algebra.expressions import Array, Dim
>>> theta, y, i = Array("theta")[()], Array("y"), Dim("i")
>>> solved(AtMost(y[i], 2 * theta), theta)
('lower', y[i]/2)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.bounds import parted
from gibbsppl.algebra.expressions import Dim, Expr, Extreme, Leaf, Over, substitute
from gibbsppl.algebra.functions import AtMost, Below, Equals, Maximum, Minimum, Where
from gibbsppl.algebra.inverses import solve_for
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import Range
from gibbsppl.analysis.bounds import ends_of
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.gates import is_gate
from gibbsppl.pieces.split import Piece, View

Side = Literal["lower", "upper"]

_OTHER: dict[Side, Side] = {"lower": "upper", "upper": "lower"}


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound that a factor puts on the element that a view shows.

    ``strict``: the bound itself is outside, which matters for whole numbers. ``whole``: the bound
    is a whole number, and itself possible.
    """

    factor: str
    side: Side
    value: Expr
    view: View
    over: tuple[Range, ...]
    strict: bool = False
    whole: bool = False

    def __str__(self) -> str:
        sign = ">=" if self.side == "lower" else "<="
        return f"{self.factor}: {self.view.leaf} {sign} {self.value}"


def limits_of(
    pieces: Iterable[Piece], binary: Collection[str] = (), *, whole: bool = False
) -> tuple[tuple[Limit, ...], tuple[Piece, ...]]:
    """The pieces that are bounds, as limits; and all others.

    ``binary`` names the arrays whose elements are 0 or 1: gates of bounds. ``whole``: the target is
    a whole number, for which a bound that is rounded is another one.
    """
    limits: list[Limit] = []
    rest: list[Piece] = []
    for piece in pieces:
        found = tuple(_limits(piece, binary, whole))
        limits += found
        if not found:
            rest.append(piece)
    return tuple(limits), tuple(rest)


def _limits(piece: Piece, binary: Collection[str], whole: bool) -> Iterator[Limit]:
    """Yield the limits that a piece puts on its views; none unless every view is bounded."""
    statistic, coefficient = piece.statistic, piece.coefficient
    always = bool(coefficient.is_positive and coefficient.is_number)
    if not isinstance(statistic, sp.log) or not (always or is_gate(coefficient, binary)):
        return
    if any(None in view.indices for view in piece.views):
        return
    indicator, gate = statistic.args[0], sp.S.One if always else coefficient
    leaves = [view.leaf for view in piece.views]
    strict = isinstance(indicator, Below)
    found = [
        Limit(piece.factor, *bound, view, piece.over, strict)
        for view, leaf in zip(piece.views, leaves, strict=True)
        if len(piece.views) < 3
        for bound in (solved(indicator, leaf),)
        if bound is not None
    ]
    if len(found) < len(piece.views):
        if len(piece.views) == 1:
            for bound in _both_sides(indicator, *leaves, whole=whole):
                yield _where(gate, Limit(piece.factor, *bound, *piece.views, piece.over, strict))
        return
    met = _met(*piece.views) if len(found) > 1 else sp.S.Zero
    of_one = _of_one(indicator, *leaves) if met != 0 else ()
    if of_one is None:
        return
    yield from (_where(gate * (1 - met), limit) for limit in found)
    for side, value in of_one:
        yield _where(gate * met, replace(found[0], side=side, value=value))


def _met(a: View, b: View) -> Expr:
    """The indicator of positions at which two views show the same element; 0 if there are none."""
    both = zip(a.indices, b.indices, strict=True)
    pairs = [(i, j) for i, j in both if i is not None and j is not None and i != j]
    if any((i - j).is_number for i, j in pairs):
        return sp.S.Zero
    return Mul(*(Equals(i, j) for i, j in pairs))


def _of_one(indicator: Expr, leaf: Leaf, other: Leaf) -> tuple[tuple[Side, Expr], ...] | None:
    """The bounds of the element that two leaves both read; None where they cannot be solved for.

    ``y <= x * x`` bounds x; by ``x <= x`` an element is no bound of itself, and where it cancels
    there is none.
    """
    small, large = (side.xreplace({other: leaf}) for side in indicator.args)
    gap = multiplied_out(large - small)
    if not gap.has(leaf) or gap.is_nonnegative:
        return ()
    kind = indicator.func
    found = solved(kind(small, large), leaf) or solved(kind(sp.S.Zero, gap), leaf)
    return None if found is None else (found,)


def _where(gate: Expr, limit: Limit) -> Limit:
    """The bound where a gate is open, none where it is shut."""
    if gate == 1:
        return limit
    none = -sp.oo if limit.side == "lower" else sp.oo
    return replace(limit, value=Where(gate, limit.value, none))


def solved(indicator: Expr, leaf: Expr) -> tuple[Side, Expr] | None:
    """The side of the leaf that an inequality bounds, and the bound; None if not solvable."""
    if not isinstance(indicator, AtMost | Below):
        return None
    small, large = indicator.args
    if small.has(leaf) == large.has(leaf):
        return None
    return (
        _isolated(small, "upper", large, leaf)
        if small.has(leaf)
        else _isolated(large, "lower", small, leaf)
    )


def _both_sides(
    indicator: Expr, leaf: Leaf, *, whole: bool = False
) -> tuple[tuple[Side, Expr], ...]:
    """The bounds of a leaf by a bound of a square, or of an absolute value.

    Of a whole number only where all is whole: its square root is exact then.

    >>> from gibbsppl.algebra.expressions import Array
    >>> x, r = Array("x")[()], Array("r")[()]
    >>> _both_sides(AtMost(x**2 + r**2, sp.S.One), x)
    (('upper', sqrt(Maximum(1 - r**2, 0))), ('lower', -sqrt(Maximum(1 - r**2, 0))))
    """
    for size in indicator.atoms(sp.Pow, sp.Abs):
        is_square = isinstance(size, sp.Pow) and size.exp == 2
        alone = not indicator.xreplace({size: sp.Dummy()}).has(leaf)
        found = solved(indicator, size) if alone and (is_square or size.func is sp.Abs) else None
        if found is not None and found[0] == "upper":
            most, base = Maximum(found[1], sp.S.Zero), size.args[0]
            if whole and not (found[1].is_Integer and (base - leaf).is_Integer):
                return ()
            most = sp.sqrt(most) if is_square else most
            sides = (solved(AtMost(base, most), leaf), solved(AtMost(-most, base), leaf))
            return tuple(s for s in sides if s is not None) if all(sides) else ()
    return ()


def made_whole(limit: Limit, graph: Graph) -> Limit:
    """The limit of a whole number as the last number allowed, where known; else as given."""
    value = limit.value
    if value.is_Rational and not value.is_Integer:
        next_one = sp.ceiling(value) if limit.side == "lower" else sp.floor(value)
        return replace(limit, value=next_one, strict=False, whole=True)
    if not is_whole(value, graph):
        return limit
    step = 0 if not limit.strict else 1 if limit.side == "lower" else -1
    return replace(limit, value=value + step, strict=False, whole=True)


def is_whole(value: Expr, graph: Graph) -> bool:
    """Whether an expression of whole numbers is certain to be one, or infinite."""
    if isinstance(value, Leaf):
        # (nothing is known of an array outside of the graph, the new variable of a change say)
        variable = graph.variables.get(value.array.name)
        return variable is not None and variable.integer
    if isinstance(value, Dim) or value.is_Integer or value in (sp.oo, -sp.oo):
        return True
    if isinstance(value, Where):
        return all(is_whole(branch, graph) for branch in value.args[1:])
    if isinstance(value, Over | Extreme):
        return is_whole(value.body, graph)
    if isinstance(value, sp.Pow):
        return bool(value.exp.is_Integer and value.exp > 0) and is_whole(value.base, graph)
    sums = isinstance(value, Add | Mul | Maximum | Minimum)
    return sums and all(is_whole(a, graph) for a in value.args)


def _isolated(of: Expr, side: Side, bound: Expr, leaf: Expr) -> tuple[Side, Expr] | None:
    """The side and the bound of a leaf, from a bound of a monotone function of the leaf."""
    found = solve_for(of, leaf, bound, clipped=True)
    if found is None or found[1] is None:
        return None
    value, rises = found
    return (side if rises else _OTHER[side]), value


def is_surely_at_least(
    a: Expr, b: Expr, over: tuple[Range, ...], graph: Graph, data: Values
) -> bool:
    """Whether ``a >= b`` at all positions, whatever is drawn, data being known."""
    if is_at_least(a, b, graph):
        return True
    _, most = ends_of(b - a, over, graph, data)
    return bool((most <= 0).all())


def is_at_least(a: Expr, b: Expr, graph: Graph) -> bool:
    """Whether ``a >= b`` follows from the supports of the arrays read."""
    return _is_nonnegative(multiplied_out(a - b), graph, depth=2)


def _is_nonnegative(gap: Expr, graph: Graph, depth: int) -> bool:
    if gap.is_nonnegative:
        return True
    if depth == 0:
        return False
    for leaf in sorted(gap.atoms(Leaf), key=str):
        slope = sp.diff(gap, leaf)
        if not slope.is_number:
            continue
        for bound in _bounds_of(leaf, graph, "lower" if slope > 0 else "upper"):
            if _is_nonnegative(multiplied_out(gap.xreplace({leaf: bound})), graph, depth - 1):
                return True
    return False


def _bounds_of(leaf: Leaf, graph: Graph, side: Side) -> tuple[Expr, ...]:
    """The finite bounds of an element by the statement of its array."""
    own = [s for s in graph.statements if s.target.array == leaf.array]
    if len(own) != 1:
        return ()
    (statement,) = own
    bound = getattr(statement.support, side)
    here = dict(zip(statement.target.indices, leaf.indices, strict=True))
    found = parted(bound, Maximum if side == "lower" else Minimum)
    moved = {i: j for i, j in here.items() if not i.is_number}
    return tuple(substitute(b, moved) for b in found if b.is_finite is not False)
