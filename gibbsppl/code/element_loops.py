"""Source text of draws by element that keep the shared form and sums up to date.

Comes in: a step with an `ElementLoop`. Goes out: a generator function that yields, for each call of
the sweep, the elements drawn and only their parameters; resumed after the draw, it adds the
elements' changes to the values of the form and of the sums.
"""

from __future__ import annotations

from math import prod

import sympy as sp

from gibbsppl.algebra.expressions import (
    Array,
    Dim,
    Expr,
    Leaf,
    Over,
    Size,
    dims_of,
    substitute,
)
from gibbsppl.code.columns import (
    anew_name,
    by_position,
    column_name,
    column_writer,
    flat_text,
    in_column,
    prepared_text,
    rows_text,
)
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.statements import parameter_part
from gibbsppl.code.numpy_text.text import Text, tuple_text
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.code.places import colours_name
from gibbsppl.derive.colours import colours_told
from gibbsppl.model.graph import PLAIN, Variable
from gibbsppl.schedule.element_loops import ElementLoop, is_tied_otherwise, others_of
from gibbsppl.schedule.kinds import FamilyDraw, Single
from gibbsppl.schedule.mean_loops import ByForm
from gibbsppl.schedule.steps import Step


def name_by_form(module: Module, step: Step) -> str | None:
    """The name of a step's generator; None without a kept form."""
    if step.name not in module.loops:
        return None
    return module.function_of(step, "by_colour")


def by_form(module: Module, step: FamilyDraw, name: str) -> str:
    """The generator: for each call where it draws, and the parameters there."""
    loop = module.loops[step.name]
    kept = next(k for k in module.kept if k.form == loop.form.form)
    writer = column_writer(module, step, loop)
    form = module.names.of(kept.name)
    prior, numbers = prior_lines(writer, step, loop), set[str]()
    is_tied = is_tied_otherwise(step, loop.form)
    body = [] if is_tied else prior
    for local in ("curvature", "constant") if loop.form.constant != 0 else ("curvature",):
        code, is_number = rows_text(writer, loop, getattr(loop.form, local))
        body.append(f"{local} = {code}")
        numbers |= {local} if is_number else set()
    for expr, symbol in loop.rows.items():
        body.append(f"{local_name(module, symbol)} = {rows_text(writer, loop, expr)[0]}")
    anew = anew_name(module, kept)
    body += _state_lines(module, writer, step, loop)
    # (the first time, or after what this depends on was drawn otherwise)
    body += [f'if "{kept.name}" not in s:', f"{INDENT}s |= {anew}(s, c)"]
    body += [f'{form} = s["{kept.name}"].reshape(-1)']
    rests, others = _rests(module, step, loop) if loop.rest else ([], {})
    once = _call_lines(module, step, loop, form, rests, numbers)
    once = [*prior, *once] if is_tied else once
    entries, every_call = entries_names(module, step, loop)
    tables = [at_entries(module, writer, loop, e, entries) for e in loop.data]
    tables += [n for n in others.values() if n not in tables]
    writer.constants |= {entries, every_call, *tables}
    names = ", ".join(["entries", *(local_name(module, s) for s in loop.data.values()), *others])
    over = f"zip({', '.join([entries, *tables])}, strict=True)" if tables else entries
    inner = [f"for {names} in {over}:", *indented(once)]
    body.append(f"calls = iter({every_call})")
    if loop.outer:
        inner = [*_sums(module, writer, loop), *inner]
        body += by_position(module, writer, step, loop, inner)
    else:
        body += [*_sums(module, writer, loop), *inner]
    doc = f"{step.statement.target} | rest, {colours_told(step.colours)}: for each call where it "
    doc += f"draws, and what from; {kept.name} is kept up to date."
    return module.function(name, doc, writer, body)


def _call_lines(
    module: Module,
    step: FamilyDraw,
    loop: ElementLoop,
    form: str,
    rests: list[str],
    numbers: set[str],
) -> list[str]:
    """The lines of one call: slopes, parameters, and the changes made by the draw.

    ``numbers``: whichever of curvature and constant is a number shared by all rows.
    """
    own, at = module.names.of(step.variables[0]), local_name(module, loop.own)
    etas, unchanged = _parameters_of_call(step, own)
    lines = ["at = next(calls)", f"now = {own}[at]"]
    if loop.slope.has(loop.own):
        lines.append(f"{at} = entries.spread(now)")
    sums = [(_at(module, s.symbol), local_name(module, s.symbol)) for s in loop.sums]
    for e, symbol in (*loop.elements.items(), *loop.state.items()):
        name = local_name(module, symbol)
        read = f"entries.spread({name}[at])" if e in loop.elements else f"entries.of({name})"
        lines.append(f"{_at(module, symbol)} = {read}")
    lines += rests or [f"{there} = entries.read({name})" for there, name in sums]
    lines.append(f"form_at = entries.read({form})")
    slope = _text(module, loop, loop.slope)
    is_number = not loop.slope.free_symbols - set(shared_symbols(loop))
    # (what all rows share is multiplied once, not by entry)
    lead = "curvature * " if "curvature" in numbers else ""
    weighed = "" if lead else "entries.read(curvature) * "
    first, front = f"{weighed}form_at", lead
    if loop.form.constant != 0:
        constant = "constant" if "constant" in numbers else "entries.read(constant)"
        first, front = f"({constant} + {lead or weighed}form_at)", ""
    if is_number and lead:
        times = "" if loop.slope**2 == 1 else f"{_text(module, loop, loop.slope**2)} * "
        square = f"{lead}{times}entries.counts"
    else:
        squares = _text(module, loop, loop.slope**2) if is_number else "slope * slope"
        square = f"{lead}entries.total({weighed}{squares})"
    lines += [
        f"slope = {slope}",
        f"square = {square}",
        f"linear = {front}entries.total(slope * {first}) - square * now",
        f"yield at, {etas}",
        *_column_lines(module, step, loop, own),
        *unchanged,
        f"change = entries.spread({own}[at] - now)",
        "form_at += slope * change",
        f"entries.put({form}, form_at)",
    ]
    more = []
    for s, (there, name) in () if loop.rest else zip(loop.sums, sums, strict=True):
        times = "" if s.weight == 1 else f"{_text(module, loop, s.weight)} * "
        more += [f"{there} += {times}change", f"entries.put({name}, {there})"]
    if more:
        lines.append("if not entries.is_last:  # (else nothing reads them any more)")
    return [*lines, *indented(more)]


def _parameters_of_call(step: FamilyDraw, own: str) -> tuple[str, list[str]]:
    """The text of the parameters of a call, and the lines that pass over what stays as it is."""
    if not step.statement.support.is_binary:
        return "(eta_1[at] + linear, eta_2[at] + square / 2)", []
    same = [f"if ({own}[at] == now).all():  # (most stay as they are)", f"{INDENT}continue"]
    # (the square of what is 0 or 1 is itself)
    return "(eta_1[at] + linear + square / 2,)", same


def _state_lines(
    module: Module, writer: Writer, step: FamilyDraw, loop: ElementLoop
) -> list[str]:
    """Lines that compute values of the state by element, and by position of all rows."""
    lines: list[str] = []
    axes = module.dims(step.statement)
    for expr, symbol in loop.elements.items():
        writer.order = {}
        writer.arrange(axes)
        code = writer.align(writer.write(expr), axes)
        if dims_of(expr) != set(axes):
            code = f"{writer.call('broadcast_to')}({code}, {module.shape(step.statement)})"
        lines.append(f"{local_name(module, symbol)} = {code}")
    for expr, symbol in loop.state.items():
        code, _ = flat_text(writer, (*loop.form.over, *loop.inner), expr, spread=True)
        lines.append(f"{local_name(module, symbol)} = {code}")
    return lines


def _column_lines(module: Module, step: FamilyDraw, loop: ElementLoop, own: str) -> list[str]:
    """Lines that put what has been drawn into the copy of the column."""
    if not loop.outer:
        return []
    kept = [a for a in range(len(module.dims(step.statement))) if a not in loop.outer]
    at = ", ".join(f"at[{a}]" for a in kept)
    return [f"{column_name(module, step.variables[0])}[{at}] = {own}[at]"]


def local_name(module: Module, symbol: sp.Symbol) -> str:
    """The local name for a symbol of a loop."""
    return module.names.of(f"·{symbol}")


def _at(module: Module, symbol: sp.Symbol) -> str:
    """The local name of its values at the entries of a call."""
    return module.names.of(f"·{symbol}·at")


def _text(module: Module, loop: ElementLoop, expr: Expr) -> str:
    """A slope as text: sums and rows are read at the entries."""
    shared = shared_symbols(loop)
    by_row = set(loop.rows.values()) - set(shared)
    codes = {s: local_name(module, s) for s in (loop.own, *loop.data.values(), *shared)}
    kept = (*(s.symbol for s in loop.sums), *loop.elements.values(), *loop.state.values())
    codes |= {s: _at(module, s) for s in kept}
    codes |= {s: f"entries.read({local_name(module, s)})" for s in by_row}
    symbols = {s: sp.Symbol(code) for s, code in codes.items()}
    return str(sp.pycode(sp.factor_terms(expr).xreplace(symbols)))


def shared_symbols(loop: ByForm) -> list[sp.Symbol]:
    """The symbols of values that are a single number for all rows."""
    return [s for e, s in loop.rows.items() if not dims_of(e)]


def prior_lines(writer: Writer, step: FamilyDraw, loop: ByForm) -> list[str]:
    """Lines that compute the contributions of all factors but the form's."""
    lines = []
    for n, parameter in enumerate(step.parameters, 1):
        others = others_of(parameter, loop.form)
        lines += parameter_part(writer, f"eta_{n}", others, full=True).lines(writer)
    return lines


def _sums(module: Module, writer: Writer, loop: ElementLoop) -> list[str]:
    """Lines that compute the sums, before any element of the column is drawn."""
    lines: list[str] = []
    for s in () if loop.rest else loop.sums:
        code, _ = rows_text(writer, loop, in_column(loop, s.kept.form), spread=True)
        lines.append(f"{local_name(module, s.symbol)} = runtime.owned({code})")
    return lines


def _rests(module: Module, step: FamilyDraw, loop: ElementLoop) -> tuple[list[str], dict[str, str]]:
    """Lines that compute sums over the other positions of each row, and the tables read there.

    The tables are data at these positions, by entry: local name -> name of all calls' tables.
    """
    entries, _ = entries_names(module, step, loop)
    star = loop.inner[0].dim
    row, tables = loop.form.over[0].dim, dict[Expr, str]()
    lines, more = [], dict[str, Variable]()
    for s in loop.sums:
        assert isinstance(s.kept.form, Over)
        (dim,) = s.kept.form.bound
        whole = substitute(in_column(loop, s.kept.form.body), {dim: star})
        parts = _data_parts(whole, {r.dim for r in (*loop.form.over, *loop.inner)})
        for part in parts:
            if part not in tables:
                tables[part] = module.names.fresh("others")
                name = f"·{tables[part]}"
                more[name] = Variable(name, (star, row), "random")
        read = {p: Array(f"·{tables[p]}", real=True)[star, row] for p in parts}
        writer = column_writer(module, step, loop, more)
        writer.aliases |= {f"·{local}": local for local in tables.values()}
        text = writer.write(Over(whole.xreplace(read), star))
        lines.append(f"{_at(module, s.symbol)} = {text.code}")
    named = {}
    for part, local in tables.items():

        def make(part: Expr = part) -> Text:
            table = _at_all(module, writer, loop, part)
            width = module.writer().for_prepare(module.graph).length_text(loop.inner[0])
            return Text(f"[entries.others({table}, {width}) for entries in {entries}]")

        comment = f"{PLAIN.text(part)} at the other positions of the row, by entry"
        stem = f"{step.variables[0]}_others"
        named[local] = module.hoisted.add(("others", entries, part), stem, make, comment).code
    return lines, named


def _data_parts(expr: Expr, dims: set[Dim]) -> list[Expr]:
    """The leaves of data in an expression that depend on some dims, each once."""
    found: list[Expr] = []
    if isinstance(expr, Leaf) and not expr.array.name.startswith("·"):
        return [expr] if dims_of(expr) & dims else []
    for a in expr.indices if isinstance(expr, Leaf) else expr.args:
        found += [p for p in _data_parts(a, dims) if p not in found]
    return found


def calls_name(module: Module, step: Single) -> str:
    """The name, in ``c``, of the indices drawn by each call of a coloured step."""
    loop = module.loops.get(step.name)
    if loop is None or not isinstance(step, FamilyDraw):  # (element loops are of these)
        return colours_name(module, step)
    return entries_names(module, step, loop)[1]


def entries_names(module: Module, step: FamilyDraw, loop: ByForm) -> list[str]:
    """The names of the entries of each call and of the calls, computed once."""
    dims = module.dims(step.statement)
    kept = [a for a in range(len(dims)) if a not in loop.outer]
    calls = colours_name(module, step)
    colours = step.colours
    assert colours is not None
    count = getattr(colours, "count", 1) // prod(module.graph.sizes[dims[a]] for a in loop.outer)

    def make() -> Text:
        number: Expr = sp.S.Zero
        for a in kept:
            number = number * Size(dims[a].name) + loop.entry.view.read[a]
        texts = [prepared_text(module, loop, e) for e in (number, *loop.entry.weights)]
        writer = module.writer().for_prepare(module.graph)
        shape = tuple_text(writer.size_text(dims[a]) for a in kept)
        parts = (map(writer.length_text, ranges) for ranges in (loop.form.over, loop.inner))
        lengths = tuple_text(map(tuple_text, parts))
        weights = ", ".join(texts[1:])
        own = tuple_text([str(tuple(kept)), shape])
        arguments = f"{texts[0]}, [{weights}], {lengths}, {calls}, {count}, {own}"
        return Text(f"runtime.entries_of({arguments})")

    comment = "for each call the positions that see its elements"
    stems = [f"{step.variables[0]}_entries", f"{step.variables[0]}_calls"]
    return module.hoisted.add_all(("entries", step.name), stems, make, comment)


def at_entries(module: Module, writer: Writer, loop: ByForm, expr: Expr, entries: str) -> str:
    """The name of values of the data at the entries of each colour."""

    def make() -> Text:
        table = _at_all(module, writer, loop, expr)
        return Text(f"[entries.of({table}) for entries in {entries}]")

    comment = f"{PLAIN.text(expr)}, by entry"
    return module.hoisted.add(("at entries", entries, expr), f"{entries}_data", make, comment).code


def _at_all(module: Module, writer: Writer, loop: ByForm, expr: Expr) -> str:
    """The text of values of the data at all positions of all rows."""
    inner = module.writer().for_prepare(module.graph)
    shape = tuple_text(map(inner.length_text, (*loop.form.over, *loop.inner)))
    return f"{writer.call('broadcast_to')}({prepared_text(module, loop, expr)}, {shape})"
