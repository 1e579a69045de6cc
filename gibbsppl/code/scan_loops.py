"""The loops of scans of labels: plain Python, in the part of the language that Numba compiles.

Comes in: a `Scan`. Goes out: the text of a function that draws its labels one after the other, by
numbers that are drawn beforehand, or tells the log weights of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

import sympy as sp

from gibbsppl.algebra.expressions import Array
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.arrays.contraction import contracted
from gibbsppl.code.arrays.expressions import (
    ONE,
    ZERO,
    Apply,
    Element,
    Number,
    Position,
    Reduce,
    Span,
    negative,
    product,
    total,
)
from gibbsppl.code.arrays.fusion import fused
from gibbsppl.code.arrays.loads import read_once
from gibbsppl.code.arrays.recursions import unfolded
from gibbsppl.code.arrays.statements import Add, Choice, Let, Loop, Statement, Store
from gibbsppl.code.arrays.storage import Local, declared, stored_axes, without_axes
from gibbsppl.code.arrays.sweeps import Sweep
from gibbsppl.code.lines import indented
from gibbsppl.code.lowering.scan_parts import sums_beforehand
from gibbsppl.code.lowering.scanning import Scanning
from gibbsppl.code.lowering.stored import Stored
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.code.module import Module
from gibbsppl.code.scan_text import ScanLines, ScanWriter
from gibbsppl.derive.labels import LABEL
from gibbsppl.errors import CompileError, NotLoweredError
from gibbsppl.rewrites.collapsing import Scan
from gibbsppl.schedule.kinds import LabelDraw

# The arguments of the function besides arrays of the model: whether labels are drawn, where log
# weights go, and a number between 0 and 1 for each label that is drawn, in whose place the sum of
# the weights is left (infinite where nothing can be drawn).
DRAWS, OUT, LEVELS = "·draws", "·out", "·u"


def scan_loops(module: Module, step: LabelDraw, scan: Scan, name: str) -> str:
    """The function of the loops of a scan that keeps its arrays up to date."""
    try:
        return _text(module, step, scan, name)
    except NotLoweredError as error:
        raise CompileError(
            f"collapse: the scan of {step.variables[0]} would need more in its loops than they "
            f"can compute ({error}); leave collapse= out."
        ) from error


def _text(module: Module, step: LabelDraw, scan: Scan, name: str) -> str:
    body = contracted(unfolded(Sweep(name, {}, _statements(module, step, scan)))).statements
    locals_, made = declared(body)
    made = fused(made)
    axes = stored_axes(made, locals_)
    made = read_once(without_axes(made, axes))
    kept = [k.name for k in scan.kept]
    given = [step.variables[0], *fixed_arrays(scan), *kept]
    numbers = {p.array for p in step.kept if not p.axes}
    writer = ScanWriter.of(module.names, name, given, numbers)
    lines = ScanLines(writer, locals_).of(made)
    rooms = {n: a for n, a in locals_.items() if any(axes.get(n, ()))}
    module.hoisted.used |= {"empty"} if rooms else set()
    lines = [*(writer.room(n, _stored(a, axes[n])) for n, a in rooms.items()), *lines]
    doc = f"Draw the elements of {step.variables[0]} one by one, or write their log weights to out."
    module.scanned[step.name] = tuple(writer.sizes)
    first, last = (DRAWS, OUT, LEVELS, *given[: len(given) - len(kept)]), kept
    read = [*map(writer.array, first), *writer.sizes.values(), *map(writer.array, last)]
    arguments = ", ".join(read)
    return "\n".join([f"def {name}({arguments}):", *indented([f'"""{doc}"""', *lines])])


def _stored(local: Local, kept: Sequence[bool]) -> Local:
    """A new array with the axes that are stored."""
    return replace(local, dims=tuple(d for d, k in zip(local.dims, kept, strict=True) if k))


def _statements(module: Module, step: LabelDraw, scan: Scan) -> tuple[Statement, ...]:
    """Each element in turn: taken off, weighed, drawn or told, and put back."""
    w = Workshop.of(module.schedule, {}, {})
    w.read = {
        p.array: Stored(p, p.array, tuple(range(len(p.axes))), frozenset(), (), 0)
        for p in step.kept
    }
    with w.with_dims({LABEL: scan.size}):
        work = Scanning.of(w, step, scan)
        weights, is_ratio = work.weights(scan.terms)
        here = (Position(work.label.dim),)
        with w.apart() as body:
            now = work.index("now", work.counted)
            changes(work, now, is_added=False)
            found = Element(w.fresh("weights"), here)
            w.add(Let(found.array, (work.label,), weights))
            drawn = work.index("drawn", now)
            told = Apply("log", (found,)) if is_ratio else found
            place = Element(OUT, (*here, *work.target.indices))
            tell: tuple[Statement, ...] = (Store(place, told, (work.label,)),)
            draw = _drawn(work, found, drawn, is_ratio=is_ratio)
            w.add(Choice(Element(DRAWS), (tell, draw)))
            changes(work, drawn, is_added=True)
        own = {r.dim: r for r in step.statement.over}
        dims = scan.statement.target.own_dims
        over = w.spans(tuple(own.get(d, Range(d, 0, w.size(d))) for d in dims))
        loop = Loop(over, sums_beforehand(w, body, over)) if over else None
    return (*w.statements, loop) if loop is not None else (*w.statements, *body)


def changes(work: Scanning, label: Element, *, is_added: bool) -> None:
    """The contributions of an element with a label, taken off or put back."""
    work.change(label, (), is_added=is_added)


def _drawn(
    work: Scanning, weights: Element, drawn: Element, *, is_ratio: bool
) -> tuple[Statement, ...]:
    """The label at which the sum of weights first exceeds a level, stored."""
    w, label, last = work.w, work.label, work.scan.size - 1
    here, before = (Element(weights.array, (Position(label.dim, n),)) for n in (0, -1))
    with w.apart() as found:
        if is_ratio:
            span = Span(label.dim, ONE, label.stop)
            w.add(Loop((span,), (Store(here, total([here, before])),)))
        else:
            highest, so_far = (Element(w.fresh(n)) for n in ("highest", "total"))
            w.add(
                Let(highest.array, (), Reduce(here, (label,), "max")), Let(so_far.array, (), ZERO)
            )
            away = Apply("exp", (total([here, negative(highest)]),))
            w.add(Loop((label,), (Add(so_far.array, (), away, ()), Store(here, so_far))))
        level = Element(w.fresh("level"))
        largest = Element(weights.array, (Number(last),))
        w.add(Let(level.array, (), product([Element(LEVELS, work.target.indices), largest])))
        is_below = Apply("where", (Apply("at_most", (here, level)), ONE, ZERO))
        below = Add(drawn.array, (), is_below, ())
        w.add(Store(drawn, ZERO), Loop((Span(label.dim, ZERO, Number(last)),), (below,)))
        is_possible = Apply("below", (ZERO, largest))
        left = Apply("where", (is_possible, largest, Number(inf)))
        w.add(Store(Element(LEVELS, work.target.indices), left))
        w.add(Store(work.target, work.label_of(drawn)))
    return tuple(found)


def fixed_arrays(scan: Scan) -> list[str]:
    """The arrays that a scan reads and does not change."""
    kept = {k.name for k in scan.kept} | {scan.statement.target.array.name}
    read = [t for t, _ in scan.terms]
    read += [e for c in scan.changes for e in (c.value, *c.at)]
    names = {str(x) for e in read for x in sp.sympify(e).atoms(Array)}
    return sorted(names - kept)
