"""Source text of draws of labels one by one, with sums over all labels kept up to date.

Comes in: a step with a `SumLoop`. Goes out: a generator function that yields, for each label, where
it is and its log weights alone; resumed after the draw, it adds the change to the sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gibbsppl.algebra.expressions import Array, Expr, Leaf, substitute
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.lines import indented
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.statements import parameter_part
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.code.places import positions_name
from gibbsppl.derive.labels import LABEL
from gibbsppl.model.graph import Variable
from gibbsppl.schedule.element_sums import SumLoop, sum_loop
from gibbsppl.schedule.kept_sums import KeptSum
from gibbsppl.schedule.kinds import LabelDraw
from gibbsppl.schedule.parameters import NaturalParameter


def loop_by_sums(module: Module, step: LabelDraw) -> SumLoop | None:
    """The loop of a step whose labels NumPy draws one by one; None for others."""
    if step.is_coloured or step.name in module.schedule.auxiliary:
        return None
    return sum_loop(step, module.graph)


def name_by_sums(module: Module, step: LabelDraw) -> str:
    """The name of a step's generator."""
    return module.function_of(step, "by_sums")


def by_sums(module: Module, step: LabelDraw, loop: SumLoop) -> str:
    """The generator: for each label where it is, and its log weights."""
    work = _Work.of(module, step, loop)
    every = [s.kept for s in loop.sums]
    body = [f"{work.local(k.leaf)} = {work.by_row(k.form, k.over)}" for k in every]
    inside = [f"{', '.join(map(work.local, work.at.values()))}, = at"]
    inside.append(f"{work.local(work.before)} = {work.written(loop.element)}")
    for s in loop.sums:
        if isinstance(s.weight_at, Leaf):
            weight = work.by_row(s.weight_by_row, s.across)
            inside.append(f"{work.local(s.weight_at)} = {weight}")
    inside += parameter_part(work.writer, "log_weights", work.weights, full=True).lines(work.writer)
    inside.append("yield at, (log_weights,)")
    inside.append(f"if {work.written(loop.element)} != {work.local(work.before)}:")
    moved = [f"{work.place(s)} += {work.by_row(work.moved(s), s.across)}" for s in loop.sums]
    inside += indented(moved)
    positions = work.writer.constant(positions_name(module, step))
    body += [f"for at in {positions}:", *indented(inside)]
    doc = f"{step.statement.target} | rest, one by one: where each label is, and its log weights, "
    doc += "by sums that are kept up to date."
    return module.function(name_by_sums(module, step), doc, work.writer, body)


@dataclass(frozen=True, slots=True)
class _Work:
    """What writes the texts of a loop, at the element whose position along each axis is ``at``."""

    module: Module
    writer: Writer
    loop: SumLoop
    at: dict[Expr, Leaf]
    before: Leaf

    @classmethod
    def of(cls, module: Module, step: LabelDraw, loop: SumLoop) -> _Work:
        """The work on a step."""
        axes = loop.element.own_dims
        at: dict[Expr, Leaf] = {d: Leaf(Array(f"·{d} of {step.name}", integer=True)) for d in axes}
        before = Leaf(Array(f"·{step.name} before", real=True))
        own = (x for s in loop.sums for x in (s.kept.leaf, s.weight_at) if isinstance(x, Leaf))
        more = {x.array.name: Variable(x.array.name, x.own_dims, "random") for x in own}
        numbers = (x.array.name for x in (before, *at.values()))
        more |= {n: Variable(n, (), "random", integer=True) for n in numbers}
        writer = module.writer({LABEL: len(step.labels)}, more=more)
        work = cls(module, writer, loop, at, before)
        writer.aliases |= {n: work.local(Leaf(Array(n))) for n in more}
        return work

    def local(self, leaf: Leaf) -> str:
        """The local name of an array."""
        return self.module.names.of(leaf.array.name)

    def written(self, expr: Expr) -> str:
        """The text of a number at the element at work."""
        return self.writer.write(substitute(expr, self.at)).code

    def by_row(self, expr: Expr, over: tuple[Range, ...]) -> str:
        """The text of a value at all positions of ranges, the element's along other axes."""
        dims = tuple(r.dim for r in over)
        placed = substitute(expr, {d: i for d, i in self.at.items() if d not in dims})
        with self.writer.arranged(dims):
            return self.writer.full(self.writer.write(placed), dims)

    def place(self, s: KeptSum) -> str:
        """The text of the part of a sum that the element at work may be in."""
        own = [":" if r in s.across else self.local(self.at[r.dim]) for r in s.kept.over]
        place = self.local(s.kept.leaf)
        return place if s.across == s.kept.over else f"{place}[{', '.join(own)}]"

    def moved(self, s: KeptSum) -> Expr:
        """What the label that has been drawn changes a sum by."""
        return s.weight_at * s.change(self.loop.element, self.before)

    @property
    def weights(self) -> NaturalParameter:
        """The log weights of the element at work."""
        values = ((c, substitute(c.value, self.at)) for c in self.loop.terms)
        found = tuple(replace(c, value=value, place=c.place[:1]) for c, value in values)
        return NaturalParameter(LABEL, (LABEL,), found)
