"""Means, covariances and entropies of joint normal distributions as statements.

The matrix is filled as for a draw; the kernels are those of `gibbsppl.runtime.loops.averages`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from gibbsppl.code.arrays.expressions import ONE, ZERO, Element, Position, Span
from gibbsppl.code.arrays.statements import Draw, Let, Store
from gibbsppl.code.lowering.joint import own_dims, put_values, put_whole, whole, with_coefficients
from gibbsppl.code.lowering.maintained import with_maintained
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.runtime.averages import JointMoments
from gibbsppl.runtime.joint import Joint, joint_in
from gibbsppl.runtime.joint_tables import Tables, asked_of, tables_of
from gibbsppl.schedule.kinds import QuadraticDraw
from gibbsppl.schedule.moments import Moment, X


def lower_averages(w: Workshop, step: QuadraticDraw, moments: Sequence[Moment]) -> None:
    """The means and covariances of all elements, and the entropy, the last of the moments."""
    *own, entropy = moments
    names = {m.name for m in own}
    every = (c for c in w.constants.values() if isinstance(c, JointMoments))
    asked = next(c for c in every if c.wanted.keys() == names)
    means = {m.of[0]: m.name for m in own if m.what == X}
    pairs = [m for m in own if m.what != X]
    shapes = [tuple(map(w.size, m.dims)) for m in pairs]
    ends = [
        [np.broadcast_to(asked.pairs[m.name][k], shape).ravel()
         for m, shape in zip(pairs, shapes, strict=True)]
        for k in range(2)
    ]  # fmt: skip
    found = _Averages.of(w, step, asked.joint, ends, means)
    for a in found.tables.arrays:
        if a.name in means:
            put_values(w, asked.joint, a, found.mean, means[a.name])
    start = 0
    for m, shape in zip(pairs, shapes, strict=True):
        put_whole(w, m.name, m.dims, found.covariances, start)
        start += prod(shape)
    w.add(Store(Element(entropy.name), Element(found.entropy, (ZERO,))))


def lower_mean(w: Workshop, step: QuadraticDraw) -> None:
    """The means of all elements, where the density is largest."""
    joint = joint_in(w.constants, step.name)
    found = _Averages.of(w, step, joint, [[], []], {})
    for a in found.tables.arrays:
        put_values(w, joint, a, found.mean)


class _Averages:
    """The names of what a kernel finds."""

    def __init__(self, tables: Tables, names: Sequence[str]) -> None:
        self.tables = tables
        self.mean, self.covariances, self.entropy = names

    @classmethod
    def of(
        cls,
        w: Workshop,
        step: QuadraticDraw,
        joint: Joint,
        ends: Sequence[Sequence[np.ndarray]],
        known: Mapping[str, str],
    ) -> _Averages:
        """The arrays, made of the coefficients: covariances of pairs of elements by number."""
        stem, tables = "_".join(step.variables), tables_of(joint)
        first, second = (np.concatenate([*e, np.zeros(0, dtype=np.intp)]) for e in ends)
        asked = asked_of(joint, tables, first.astype(np.intp), second.astype(np.intp))
        with with_maintained(w, step.kept), w.with_dims(own_dims(step)):
            given = with_coefficients(w, step, joint, tables, known)
        pair = w.own_dim(f"{stem}_pair", len(first))
        for name in ("first", "second", "slots"):
            table = w.given(f"{stem}_{name}", (pair.dim,), getattr(asked, name))
            given = (*given, whole(table, pair))
        one = Span(w.fresh(f"{stem}_one"), ZERO, ONE)
        spans = (w.own_dim(f"{stem}_values", joint.size), pair, one)
        told = ("mean", "covariances", "entropy")
        names = [w.fresh(f"{stem}_{n}") for n in told]
        own = list(zip(names, spans, strict=True))
        w.add(*(Let(n, (span,), ZERO, is_empty=True) for n, span in own))
        targets = tuple(Element(n, (Position(span.dim),)) for n, span in own)
        kernel = tables.kernel.replace("joint", "averaged")
        w.add(Draw(targets, kernel, given, own=spans, is_random=False, note=step.name))
        return cls(tables, names)
