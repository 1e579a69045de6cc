"""Joint draws as source text: the coefficients of a quadratic log density, and where they go."""

from __future__ import annotations

from collections.abc import Sequence

from gibbsppl.algebra.expressions import Array, Leaf
from gibbsppl.code.arrays.expressions import Expr
from gibbsppl.code.lines import INDENT
from gibbsppl.code.maintained import with_maintained, writer_of
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.functions import Part, Written
from gibbsppl.code.numpy_text.statements import parameter_part
from gibbsppl.code.numpy_text.text import Text
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.code.places import index_text
from gibbsppl.model.graph import Statement
from gibbsppl.pieces.dependence import region_of
from gibbsppl.schedule.fixed_matrices import FixedMatrices
from gibbsppl.schedule.kinds import QuadraticDraw, TogetherStep
from gibbsppl.schedule.moments import Moment, X
from gibbsppl.schedule.parameters import NaturalParameter, Pair


def joint_coefficients(
    module: Module, step: QuadraticDraw, doc: str = "", called: str = ""
) -> str:
    """The function that computes the coefficients of elements, of their squares and products.

    ``doc`` says what they are, and ``called`` the name of the function, if not those of a draw.
    """
    writer = _writer(module, step)
    body: list[str | Part] = []
    own = []
    for name, linear, squares in zip(step.variables, step.linear, step.squares, strict=True):
        found = [
            _local(module, writer, body, name, part)
            for part in ((linear, "linear"), (squares, "squares"))
        ]
        own.append(f'"{name}": ({", ".join(found)})')
    products = _products(module, writer, body, step, [p.parameter for p in step.pairs])
    body += ["return ({", *(f"{INDENT}{line}," for line in own), "}, ["]
    body += [*(f"{INDENT}{line}," for line in products), "])"]
    drawn = ", ".join(step.variables)
    doc = doc or (
        f"{drawn} | rest, jointly: the coefficients of elements, of squares, of products."
    )
    first = with_maintained(module, step)
    return module.function(called or module.functions[step.name], doc, writer, body, first)


def fixed_matrices(module: Module, step: QuadraticDraw, pencil: FixedMatrices) -> str:
    """The function that computes the coefficients of squares and products for each scale."""
    writer = _writer(module, step)
    body: list[str | Part] = []
    returned = []
    for squares, pairs in zip(pencil.squares, pencil.pairs, strict=True):
        named = zip(step.variables, squares, strict=True)
        own = [f'"{n}": {_local(module, writer, body, n, (p, "squares"))}' for n, p in named]
        products = _products(module, writer, body, step, pairs)
        returned.append(f"({{{', '.join(own)}}}, [{', '.join(products)}])")
    body += ["return [", *(f"{INDENT}{line}," for line in returned), "]"]
    drawn = ", ".join(step.variables)
    doc = f"The coefficients of squares and products of {drawn}: those of {pencil.told}."
    return module.function(_fixed_name(module, step), doc, writer, body)


def scaled_coefficients(module: Module, step: QuadraticDraw, pencil: FixedMatrices) -> str:
    """The function that computes the coefficients of elements, and the scales."""
    writer = _writer(module, step)
    body: list[str | Part] = []
    named = zip(step.variables, step.linear, strict=True)
    own = [f'"{n}": {_local(module, writer, body, n, (p, "linear"))}' for n, p in named]
    scales = map(writer.expr, pencil.scales)
    body += ["return ({", *(f"{INDENT}{line}," for line in own), Written.of(scales, _scales)]
    drawn = ", ".join(step.variables)
    doc = f"{drawn} | rest, jointly: the coefficients of elements, what scales fixed matrices."
    return module.function(scaled_name(module, step), doc, writer, body)


def _scales(writer: Writer, scales: Sequence[Expr]) -> list[str]:
    """The end of what is returned."""
    found = "".join(f"{writer.text(s).code}, " for s in scales).rstrip()
    return [f"}}, ({found}))"]


def _local(
    module: Module,
    writer: Writer,
    body: list[str | Part],
    name: str,
    part: tuple[NaturalParameter, str],
) -> str:
    """The local name of a coefficient of an array, whose lines are added to the body, or a 0."""
    parameter, stem = part
    if not parameter.contributions:
        return "0.0"
    local = module.names.fresh(f"{module.names.of(name)}_{stem}")
    body += [parameter_part(writer, local, parameter, full=False)]
    return local


def _products(
    module: Module,
    writer: Writer,
    body: list[str | Part],
    step: QuadraticDraw,
    parameters: Sequence[NaturalParameter],
) -> list[str]:
    """The texts of the coefficients of products, whose lines are added to the body."""
    found = []
    for pair, parameter in zip(step.pairs, parameters, strict=True):
        if not parameter.contributions:
            found.append("0.0")
            continue
        local = module.names.fresh(_stem(module, pair))
        body += [parameter_part(writer, local, parameter, full=False)]
        found.append(local + index_text(pair.place, parameter.axes, writer))
    return found


def scaled_name(module: Module, step: QuadraticDraw) -> str:
    """The name of the function that computes what a pencil is drawn from."""
    return module.function_of(step, "scaled")


def _fixed_name(module: Module, step: QuadraticDraw) -> str:
    return module.function_of(step, "fixed")


def pencil_name(module: Module, step: QuadraticDraw, pencil: FixedMatrices) -> str:
    """The name of the fixed matrices, diagonalised."""
    joint = joint_name(module, step)
    code = f'runtime.Pencil(c["{joint}"], {_fixed_name(module, step)}({{}}, c))'
    told = f"diagonalised once: the matrices of {pencil.told}"
    return module.hoisted.add_last(("pencil", step.name), f"{joint}_pencil", code, told)


def joint_name(module: Module, step: TogetherStep) -> str:
    """The name of the ``runtime.Joint``: the elements drawn, and the places of coefficients."""
    stem = "_".join(map(module.names.of, step.variables)) + "_joint"

    def make() -> Text:
        writer = _writer(module, step)
        inside = INDENT * 2
        lines = ["runtime.Joint(", f"{inside}{{"]
        lines += [f'{inside}{INDENT}"{n}": {_drawn(module, step, n)},' for n in step.variables]
        lines += [f"{inside}}},", f"{inside}["]
        lines += [f"{inside}{INDENT}({_ends(writer, pair)})," for pair in step.pairs]
        more = ["in_blocks=True,"] * (step.pencil is not None)
        more += [f"last={step.last!r},"] * bool(step.last)
        more += [f"called={step.name!r},"] * (step.name != ", ".join(step.variables))
        lines += [f"{inside}],", *(f"{inside}{line}" for line in more)]
        return Text("\n".join([*lines, f"{INDENT})"]))

    return module.hoisted.add(("joint", step.name), stem, make, step.layout).code


def wanted_name(module: Module, step: QuadraticDraw, moments: Sequence[Moment]) -> str:
    """The name of the ``runtime.JointMoments``: means that are asked for, and pairs of elements."""
    joint = joint_name(module, step)
    writer = _writer(module, step).for_prepare(module.graph)
    entries = []
    for m in moments:
        if m.what == X:
            entries.append(f'"{m.name}": "{m.of[0]}"')
            continue
        if m.what == "variance":
            own = Leaf(Array(m.of[0]), *m.dims)
            ends = own, own
        else:
            ends = m.what[:2]
        writer.order = {}
        writer.arrange(m.dims)
        numbers = []
        for leaf in ends:
            at = [writer.full(writer.prepared(i), m.dims) for i in leaf.indices]
            numbers.append(f'{joint}.number({", ".join([repr(leaf.array.name), *at])})')
        entries.append(f'"{m.name}": ({", ".join(numbers)})')
    inner = INDENT * 2
    first = f'runtime.JointMoments(c["{joint}"], {{'
    code = "\n".join([first, *(f"{inner}{e}," for e in entries), f"{INDENT}}})"])
    code = code.replace(f"{joint}.number", f'c["{joint}"].number')
    module.hoisted.arrays |= writer.constant_names
    told = "what others read"
    return module.hoisted.add_last(("wanted", step.name), f"{joint}_moments", code, told)


def _writer(module: Module, step: TogetherStep) -> Writer:
    axes = {a: n for p in step.pairs for a, n in zip(p.parameter.axes, p.sizes, strict=True)}
    return writer_of(module, step, axes)


def _drawn(module: Module, step: TogetherStep, name: str) -> str:
    """The text of which elements of an array are drawn."""
    own = [s for s in step.statements if s.target.array.name == name]
    return " | ".join(_region(module, own, known) for known in _masks(own))


def _masks(statements: list[Statement]) -> list[str | None]:
    """The masks of known elements of some statements, each once."""
    names = (s.mask for s in statements)
    return list(dict.fromkeys(names))


def _region(module: Module, statements: list[Statement], mask: str | None) -> str:
    writer = module.writer().for_prepare(module.graph)
    shape = writer.shape_text(module.dims(statements[0]))
    regions = (region_of(module.graph, s) for s in statements if s.mask == mask)
    places = f"[{', '.join(map(module.bounds, regions))}]"
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
