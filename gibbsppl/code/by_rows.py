"""Joint draws by rows as source text: precisions of elements, and the rows that tie them."""

from __future__ import annotations

from gibbsppl.code.lines import INDENT
from gibbsppl.code.maintained import with_maintained, writer_of
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.functions import Part
from gibbsppl.code.numpy_text.statements import parameter_part
from gibbsppl.code.numpy_text.text import Text
from gibbsppl.schedule.kinds import QuadraticDraw
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.row_forms import Rows


def row_coefficients(module: Module, step: QuadraticDraw, rows: Rows) -> str:
    """The function that computes the coefficients of elements, and weights, responses, designs."""
    writer = writer_of(module, step, {})
    body: list[str | Part] = []

    def local(stem: str, parameter: NaturalParameter) -> str:
        if not parameter.contributions:
            return "0.0"
        name = module.names.fresh(stem)
        body.append(parameter_part(writer, name, parameter, full=False))
        return name

    names = {name: module.names.of(name) for name in step.variables}
    own = []
    for name, linear, squares in zip(step.variables, rows.linear, rows.squares, strict=True):
        found = local(f"{names[name]}_linear", linear), local(f"{names[name]}_squares", squares)
        own.append(f'"{name}": ({", ".join(found)})')
    forms = []
    for form in rows.forms:
        stem = module.names.of(form.factor)
        parts = local(f"{stem}_weight", form.weight), local(f"{stem}_response", form.response)
        pairs = zip(step.variables, form.design, strict=True)
        designs = (f"{local(f'{names[n]}_design', d)}," for n, d in pairs)
        forms.append(f"({', '.join(parts)}, ({' '.join(designs)}))")
    body += ["return ({", *(f"{INDENT}{line}," for line in own), "}, ["]
    body += [*(f"{INDENT}{line}," for line in forms), "])"]
    drawn = ", ".join(step.variables)
    doc = f"{drawn} | rest, jointly: coefficients of elements; rows: weights, responses, designs."
    first = with_maintained(module, step)
    return module.function(module.functions[step.name], doc, writer, body, first)


def by_rows_name(module: Module, step: QuadraticDraw, rows: Rows) -> str:
    """The name of the ``runtime.ByRows``: the shapes of the arrays and of the rows."""
    stem = "_".join(map(module.names.of, step.variables)) + "_joint"

    def make() -> Text:
        writer = writer_of(module, step, {})
        dims = {n: module.graph.variables[n].dims for n in step.variables}
        arrays = (f'"{n}": {writer.shape_text(dims[n])}' for n in step.variables)
        shapes = (writer.shape_text(tuple(r.dim for r in form.rows)) for form in rows.forms)
        own = f", called={step.name!r}" * (step.name != ", ".join(step.variables))
        return Text(f"runtime.ByRows({{{', '.join(arrays)}}}, [{', '.join(shapes)}]{own})")

    return module.hoisted.add(("joint", step.name), stem, make, step.layout).code
