"""Scans of labels with others integrated out: one label after the other, or approximately at once.

Of each element the contributions are taken off the maintained arrays, labels are weighed, one is
drawn, contributions are put back. What is dear in a weight and the same for all elements that have
the label is an array of its own, of which a draw changes two entries (`scan_parts`).
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import nullcontext

from gibbsppl.code.arrays.expressions import (
    ZERO,
    Apply,
    Element,
    Expr,
    Position,
    at,
    total,
)
from gibbsppl.code.arrays.statements import Argument, Choice, Draw, Let, Loop, Store
from gibbsppl.code.lowering.bucket_scans import counts_of, lower_by_buckets
from gibbsppl.code.lowering.buckets import Buckets, are_worth_it, buckets_of
from gibbsppl.code.lowering.maintained import kept_up, with_maintained
from gibbsppl.code.lowering.scan_parts import parted, sums_beforehand, with_known
from gibbsppl.code.lowering.scanning import (
    Scanning,
    factors_of,
    ratios_of,
    shifted,
)
from gibbsppl.code.lowering.selections import selection
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.labels import LABEL
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.rewrites.increments import Increment
from gibbsppl.schedule.kinds import LabelDraw


def lower_scan(w: Workshop, step: LabelDraw, scan: Scan) -> None:
    """A scan: by buckets, if there are so many labels, or one that keeps its arrays up to date."""
    with w.with_dims({LABEL: scan.size}):
        if (found := _buckets(w, scan)) is None:
            _dense(w, step, scan)
        else:
            lower_by_buckets(Scanning.of(w, step, scan), found)


def _buckets(w: Workshop, scan: Scan) -> Buckets | None:
    """The buckets of a scan; None where a draw weighs all labels, or may as well."""
    ratios = ratios_of(scan.terms)
    if ratios is None:
        return None
    counts = counts_of(w, scan)
    found = buckets_of(scan, w.graph, w.data, factors_of(ratios), counts)
    return found if found is not None and are_worth_it(found, scan.size) else None


def _dense(w: Workshop, step: LabelDraw, scan: Scan) -> None:
    """A scan that keeps its arrays up to date, and weighs all labels of an element."""
    with with_maintained(w, step.kept, _labels_last(scan)):
        work = Scanning.of(w, step, scan)
        weights, is_ratio = work.weights(scan.terms)
        own, is_alike = work.weights(work.without_own())
        if is_ratio and is_alike and work.is_by_label(weights):
            _corrected(work, weights, own)
        else:
            _taken_off(work, weights, "label_of_weights" if is_ratio else "labels")
    whole = {c.array.name for c in scan.changes if c.value.is_integer}
    kept_up(w, [c.array.name for c in scan.changes], whole)


def _taken_off(work: Scanning, weights: Expr, kernel: str) -> None:
    """A scan that takes the contributions of an element off, and puts them back."""
    w = work.w
    parts, weights = parted(w, weights, work.moving)
    with w.apart() as body:
        now = work.index("now", work.counted)
        work.change(now, parts, is_added=False)
        argument = Argument(weights, (work.label,))
        drawn = work.drawn(kernel, argument)
        w.add(Store(work.target, work.label_of(drawn)))
        work.change(drawn, parts, is_added=True)
    w.add(Loop(work.over, sums_beforehand(w, body, work.over)))


def _corrected(work: Scanning, weights: Expr, own: Expr) -> None:
    """A scan that weighs labels by arrays with the element in them, its own label apart.

    Arrays change with the label alone: most elements keep theirs, and what has just been written
    is not read again at once.
    """
    w = work.w
    parts, weights = parted(w, weights, work.moving)
    own = with_known(own, parts)
    with w.inside(*work.over):
        now = work.index("now", work.counted)
        found = Element(w.fresh(f"{work.array}_weights"), (Position(work.label.dim),))
        w.add(Let(found.array, (work.label,), weights))
        w.add(Store(Element(found.array, (now,)), at(own, {work.label.dim: now})))
        drawn = work.drawn("label_of_weights", Argument(found, (work.label,), as_is=True))
        with w.apart() as moved:
            w.add(Store(work.target, work.label_of(drawn)))
            work.change(now, (), is_added=False)
            work.change(drawn, (), is_added=True)
            for label in (now, drawn):
                for part in parts:
                    w.add(*part.at_label(work.label, label))
        w.add(Choice(Apply("equals", (now, drawn)), (tuple(moved), ())))


def lower_at_once(w: Workshop, step: LabelDraw, scan: Scan) -> None:
    """An approximate scan: all labels at once, by arrays that no draw of these changes."""
    with w.with_dims({LABEL: scan.size}), with_maintained(w, step.kept, _labels_last(scan)):
        work = Scanning.of(w, step, scan)
        weights, is_ratio = work.weights(scan.terms)
        drawn = Element(w.fresh(f"{work.array}_drawn"), tuple(Position(s.dim) for s in work.over))
        w.add(Let(drawn.array, work.over, ZERO, type="int"))
        kernel = "label_of_weights" if is_ratio else "labels"
        argument = Argument(weights, (work.label,))
        w.add(Draw((drawn,), kernel, (argument,), work.over, note=step.name))
        w.add(Store(work.target, work.label_of(drawn), work.over))


def lower_recomputed(
    w: Workshop, step: LabelDraw, scan: Scan, terms: Collection[Contribution]
) -> None:
    """A scan that computes the log density of all labels anew for each label of each element."""
    chosen = selection(w, step)
    array = step.variables[0]
    target = chosen.element(array, w.dims(array))
    label = w.own_dim(f"{array}_label", scan.size)
    weights = Element(w.fresh(f"{array}_log_weights"), (Position(label.dim),))
    with w.apart() as given_label:
        w.add(Store(target, shifted(Position(label.dim), scan.lower)))
        with with_maintained(w, step.kept):
            value = total([w.plain(c.value) for c in terms])
        w.add(Store(weights, value))
    each = Loop((label,), sums_beforehand(w, given_label))
    with w.inside(*chosen.over) if chosen.over else nullcontext():
        w.add(Let(weights.array, (label,), ZERO), each)
        drawn = Element(w.fresh(f"{array}_drawn"))
        w.add(Let(drawn.array, (), ZERO, type="int"))
        argument = Argument(weights, (label,), as_is=True)
        w.add(Draw((drawn,), "labels", (argument,), note=step.name))
        w.add(Store(target, shifted(drawn, scan.lower)))


def _labels_last(scan: Scan) -> dict[str, int]:
    """The axes of labels, which are stored last."""
    axes = {c.array.name: _axis_of_label(c) for c in scan.changes}
    return {name: axis for name, axis in axes.items() if axis is not None}


def _axis_of_label(change: Increment) -> int | None:
    """The axis along which the labels of one element are neighbours in memory."""
    return change.at.index(LABEL) if LABEL in change.at and not change.over else None
