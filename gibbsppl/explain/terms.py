"""Natural parameters and log densities of steps as text: the contributions of the factors, summed.

A contribution that does not reach all elements that a step draws says which ones it does reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp
from sympy import Add, Mul

from gibbsppl.algebra.expressions import Dim, Expr, Leaf, substitute
from gibbsppl.algebra.functions import Equals, in_full
from gibbsppl.algebra.notation import Notation, signed_sum
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.label_chains import PREVIOUS
from gibbsppl.derive.labels import LABEL
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import Place
from gibbsppl.pieces.split import Piece
from gibbsppl.schedule.kinds import DensityDraw, Single
from gibbsppl.schedule.parameters import NaturalParameter


def parameter_text(parameter: NaturalParameter, step: Single, notation: Notation) -> str:
    """All contributions to a natural parameter, as one sum."""
    return _sum_text(contributions_of(parameter, step), parameter.axes, step, notation)


def at_later(
    parameter: NaturalParameter, step: Single, before: Dim, axis: int
) -> NaturalParameter:
    """The log weights of two neighbours along an axis, said at the position of the later one.

    ``before`` is the dim of the position of the label before.
    """
    dims = step.statement.target.own_dims
    if len(parameter.axes) == 2:
        return parameter
    at = 2 + axis
    along = dims[axis]
    later = (
        replace(
            c,
            value=substitute(c.value, {before: along - 1}),
            place=(*c.place[:at], _after(c.place[at], along), *c.place[at + 1 :]),
        )
        for c in parameter.contributions
    )
    axes = (*parameter.axes[:at], along, *parameter.axes[at + 1 :])
    return replace(parameter, axes=axes, contributions=tuple(later))


def _after(place: Place, along: Dim) -> Place:
    """A place moved on by one position."""
    return place + 1 if isinstance(place, int) else Range(along, place.start + 1, place.stop + 1)


def bounds_told(step: Single, notation: Notation) -> list[str]:
    """The bounds of a truncated draw, each the tightest of its contributions."""
    told = []
    for bound in step.bounds:
        finite = [c for c in bound.contributions if c.value not in (sp.oo, -sp.oo)]
        texts = [_reaching(notation.text(c.value), c, bound.axes, step) for c in finite]
        if len(texts) == 1:
            told.append(f"{bound.side} = {texts[0]}")
        elif texts:
            tightest = "max" if bound.side == "lower" else "min"
            told.append(f"{bound.side} = {tightest}({', '.join(texts)})")
    return told


def _reaching(text: str, contribution: Contribution, axes: Iterable[Expr], step: Single) -> str:
    """The text of a contribution, with the elements reached unless all are."""
    where = reach(contribution, axes, step)
    return f"({text} for {where})" if where else text


def log_density_text(move: DensityDraw, notation: Notation) -> str:
    """The log density that a move evaluates, up to a constant."""
    parameters = (replace(p, statistic=in_full(p.statistic)) for p in move.parameters)
    terms = (replace(t, value=in_full(t.value)) for t in move.terms)
    parts = [_weighted(p, move, notation) for p in parameters]
    parts += [_sum_text([t], move.statement.target.indices, move, notation) for t in terms]
    return signed_sum([p for p in parts if p != "0"] or ["0"])


def contributions_of(parameter: NaturalParameter, step: Single) -> tuple[Contribution, ...]:
    """All contributions, said at what the step draws.

    Those to the diagonal get a factor that is 1 there and 0 elsewhere; where a step draws one
    position of an axis (``x[0]``), that position stands in place of the axis.
    """
    squares = (
        replace(c, value=Mul(c.value, *_on_diagonal(parameter, c))) for c in parameter.squares
    )
    drawn = _along(parameter.axes, [step.region[a] for a in _order(step)], step)
    pinned: dict[Expr, Expr] = {axis: sp.Integer(p) for axis, p in drawn if isinstance(p, int)}
    if step.labels is not None and step.labels.start:
        # Said of the label's value, not of its place among the log weights.
        for label in (LABEL, PREVIOUS):
            pinned[label] = label - step.labels.start
    return tuple(
        replace(c, value=substitute(c.value, pinned)) for c in (*parameter.contributions, *squares)
    )


def value_of(parameter: NaturalParameter, step: Single) -> Expr | None:
    """The natural parameter as one expression, where all contributions reach all elements."""
    found = contributions_of(parameter, step)
    if any(reach(c, parameter.axes, step) for c in found):
        return None
    return Add(*(c.value for c in found))


def reach(contribution: Contribution, axes: Iterable[Expr], step: Single) -> str:
    """Which of the elements drawn a contribution reaches; empty for all of them."""
    dims = step.statement.target.indices
    drawn = dict(zip(dims, step.region, strict=True))
    return " and ".join(
        f"{axis} = {p if isinstance(p, int) else _positions(p, drawn[axis])}"
        for axis, p in _along(axes, contribution.place, step)
        if axis in drawn and not _covers(p, drawn[axis])
    )


def _order(step: Single) -> tuple[int, ...]:
    """The axes of the array in the order in which natural parameters have them."""
    return step.batch + step.dense if step.dense else tuple(range(len(step.region)))


def _along(
    axes: Iterable[Expr], place: Sequence[Place], step: Single
) -> Iterator[tuple[Expr, Place]]:
    """Each axis of what is drawn with its place: neither labels nor the partners of a block's.

    Labels come first, partners last; of an event that counts as one, the axes are left out.
    """
    axes, count = tuple(axes), len(step.region)

    def from_labels(several: Sequence[Any]) -> Sequence[Any]:
        labels = 0 if step.dense else max(0, len(several) - count)
        return several[labels : labels + count]

    return zip(from_labels(axes), from_labels(place), strict=False)


def statistic_shown(parameter: NaturalParameter, step: Single, graph: Graph) -> Expr:
    """The statistic of a natural parameter, a block's written at the axes' own names."""
    if not step.dense:
        return parameter.statistic
    target = step.statement.target
    axes = graph.variables[target.array.name].dims
    order = step.batch + step.dense
    own = Leaf(target.array, *axes)
    partners = dict(zip(step.dense, parameter.axes[len(order) :], strict=False))
    if not partners:
        return own
    partner = Leaf(target.array, *(partners.get(n, a) for n, a in enumerate(axes)))
    return Mul(own, partner)


def _on_diagonal(parameter: NaturalParameter, square: Contribution) -> Iterator[Expr]:
    """``[k = k']`` for each of the axes that have a partner."""
    partners = parameter.axes[len(square.place) :]
    own = parameter.axes[len(square.place) - len(partners) : len(square.place)]
    return (Equals(a, b) for a, b in zip(own, partners, strict=True))


def _sum_text(
    contributions: Iterable[Contribution], axes: Iterable[Expr], step: Single, notation: Notation
) -> str:
    everywhere, parts = [], []
    axes = tuple(axes)
    for c in contributions:
        if reach(c, axes, step):
            parts.append(_reaching(notation.text(c.value), c, axes, step))
        else:
            everywhere.append(c.value)
    if not parts:
        return notation.total(everywhere)
    return signed_sum([*([notation.total(everywhere)] if everywhere else []), *parts])


def _weighted(parameter: NaturalParameter, step: Single, notation: Notation) -> str:
    """A coefficient times its statistic."""
    value = value_of(parameter, step)
    if value is not None:
        return notation.text(Mul(value, parameter.statistic))
    return f"({parameter_text(parameter, step, notation)})*{notation.text(parameter.statistic)}"


def _positions(place: Range, drawn: Place) -> str:
    """The positions of a range that are also drawn."""
    start, stop = place.start, place.stop
    if isinstance(drawn, Range):
        start, stop = max(start, drawn.start), min(stop, drawn.stop)
    return str(start) if stop - start == 1 else f"{start}..{stop - 1}"


def _covers(place: Place, drawn: Place) -> bool:
    """Whether a place holds all positions that are drawn."""
    (a0, a1), (b0, b1) = map(_ends, (place, drawn))
    return a0 <= b0 and b1 <= a1


def touches(piece: Piece, step: Single) -> bool:
    """Whether a view of the piece shows any element that the step draws."""
    ranges = {r.dim: r for r in piece.over}
    return any(
        all(_meet(i, ranges, p) for i, p in zip(v.indices, step.region, strict=True))
        for v in piece.views
    )


def _meet(index: Expr | None, ranges: Mapping[Dim, Range], drawn: Place) -> bool:
    """Whether an index can be at a position that is drawn."""
    if index is None:
        return True
    offset, rest = index.as_coeff_Add()
    if not isinstance(rest, Dim) or rest not in ranges:
        return rest != 0 or _covers(drawn, int(offset))
    start, stop = ranges[rest].start + offset, ranges[rest].stop + offset
    first, last = _ends(drawn)
    return bool(start < last and first < stop)


def _ends(place: Place) -> tuple[int, int]:
    return (place, place + 1) if isinstance(place, int) else (place.start, place.stop)
