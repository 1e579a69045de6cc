"""Joint draws as source text: the coefficients of a quadratic log density, and where they go."""

from __future__ import annotations

from gibbsppl.backends.accumulation import accumulated
from gibbsppl.backends.lines import INDENT
from gibbsppl.backends.maintained import writer_of
from gibbsppl.backends.module import Module
from gibbsppl.backends.places import bounds_of, index_text
from gibbsppl.backends.text import Text
from gibbsppl.backends.writer import Writer
from gibbsppl.dependence import region_of
from gibbsppl.expressions import Leaf
from gibbsppl.graph import Statement
from gibbsppl.schedule.parameters import Pair
from gibbsppl.schedule.steps import JointDraw


def joint_coefficients(module: Module, step: JointDraw) -> str:
    """The function that computes the coefficients of elements, of their squares and products."""
    writer = _writer(module, step)
    body, own, products = [], [], []
    for name, linear, squares in zip(step.variables, step.linear, step.squares, strict=True):
        found = []
        for parameter, stem in ((linear, "linear"), (squares, "squares")):
            local = module.names.fresh(f"{module.names.of(name)}_{stem}")
            body += accumulated(writer, local, parameter, full=False)
            found.append(local)
        own.append(f'"{name}": ({", ".join(found)})')
    for pair in step.pairs:
        local = module.names.fresh(_stem(module, pair))
        body += accumulated(writer, local, pair.parameter, full=False)
        products.append(local + index_text(pair.place, pair.parameter.axes, writer))
    body += ["return ({", *(f"{INDENT}{line}," for line in own), "}, ["]
    body += [*(f"{INDENT}{line}," for line in products), "])"]
    drawn = ", ".join(step.variables)
    doc = f"{drawn} | rest, jointly: the coefficients of elements, of squares, of products."
    return module.function(module.functions[step.name], doc, writer, body)


def joint_lines(module: Module, step: JointDraw) -> list[str]:
    """The line of a sweep that draws the block."""
    call = f"{module.functions[step.name]}(s, c)"
    return [f's.update(c["{_joint(module, step)}"].draw(rng, s, {call}))']


def _joint(module: Module, step: JointDraw) -> str:
    """The name of what says which elements are drawn, and where coefficients go."""
    stem = "_".join(map(module.names.of, step.variables)) + "_joint"

    def make() -> Text:
        writer = _writer(module, step)
        inside = INDENT * 2
        lines = ["runtime.Joint(", f"{inside}{{"]
        lines += [f'{inside}{INDENT}"{n}": {_drawn(module, step, n)},' for n in step.variables]
        lines += [f"{inside}}},", f"{inside}["]
        lines += [f"{inside}{INDENT}({_ends(writer, pair)})," for pair in step.pairs]
        return Text("\n".join([*lines, f"{inside}],", f"{INDENT})"]))

    return module.hoisted.add(("joint", step.name), stem, make, step.layout).code


def _writer(module: Module, step: JointDraw) -> Writer:
    axes = {a: n for p in step.pairs for a, n in zip(p.parameter.axes, p.sizes, strict=True)}
    return writer_of(module, step, axes)


def _drawn(module: Module, step: JointDraw, name: str) -> str:
    """The text of which elements of an array are drawn."""
    own = [s for s in step.statements if s.target.array.name == name]
    return " | ".join(_region(module, own, known) for known in _masks(own))


def _masks(statements: list[Statement]) -> list[str | None]:
    """The masks of what is known among some statements, each once."""
    names = (None if s.known == 0 else s.known.array.name for s in statements)
    return list(dict.fromkeys(names))


def _region(module: Module, statements: list[Statement], mask: str | None) -> str:
    shape = module.shape(statements[0])
    places = [
        tuple(map(bounds_of, region_of(module.graph, s)))
        for s in statements
        if (None if s.known == 0 else s.known.array.name) == mask
    ]
    if mask is not None:
        module.hoisted.arrays.add(mask)
    known = "" if mask is None else f", {module.names.of(mask)}"
    return f"runtime.drawn({shape}, {places}{known})"


def _ends(writer: Writer, pair: Pair) -> str:
    """The text of both elements of a pair: arrays and indices."""
    writer.order = {}
    writer.arrange(pair.parameter.axes)
    with writer.over(pair.place):
        return ", ".join(_end(writer, leaf, pair) for leaf in (pair.first, pair.second))


def _end(writer: Writer, leaf: Leaf, pair: Pair) -> str:
    texts = [writer.align(writer.prepared(i), pair.parameter.axes) for i in leaf.indices]
    return f'"{leaf.array.name}", ({"".join(f"{t}, " for t in texts).rstrip()})'


def _stem(module: Module, pair: Pair) -> str:
    names = (module.names.of(leaf.array.name) for leaf in (pair.first, pair.second))
    return "_".join(names)
