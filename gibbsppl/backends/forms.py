"""Draws of elements that keep up to date what they share, as source text.

Comes in: a step with an `ElementLoop`. Goes out: a generator function that yields, for each call of
the sweep, which elements it draws and their parameters alone, and that, when it goes on, adds what
the draw has changed to the values of the form and of the sums.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import sympy as sp

from gibbsppl.backends.accumulation import accumulated
from gibbsppl.backends.columns import (
    anew_name,
    column_writer,
    in_column,
    position_names,
    prepared_text,
    rows_text,
)
from gibbsppl.backends.lines import INDENT, indented
from gibbsppl.backends.module import Module
from gibbsppl.backends.places import colours_name
from gibbsppl.backends.text import Text
from gibbsppl.backends.writer import Writer
from gibbsppl.colours import colours_told
from gibbsppl.expressions import (
    Array,
    Dim,
    Expr,
    Leaf,
    Over,
    dims_of,
    substitute,
)
from gibbsppl.graph import PLAIN, Variable
from gibbsppl.schedule.element_loops import (
    ElementLoop,
)
from gibbsppl.schedule.steps import ExactDraw, Single, Step


def name_by_form(module: Module, step: Step) -> str | None:
    """The name of the generator of a step; None where nothing is kept."""
    if step.name not in module.loops:
        return None
    return module.functions[step.name].replace("_given_rest", "_by_colour")


def by_form(module: Module, step: ExactDraw, name: str) -> str:
    """The generator: for each call where it draws, and the parameters there."""
    loop = module.loops[step.name]
    kept = next(k for k in module.kept if k.form == loop.form.form)
    writer = column_writer(module, step, loop)
    form, own = module.names.of(kept.name), module.names.of(step.variables[0])
    body = _prior(writer, step, loop)
    curvature, is_scalar = rows_text(writer, loop, loop.form.curvature)
    constant, _ = rows_text(writer, loop, loop.form.constant)
    body.append(f"curvature = {curvature}")
    if loop.form.constant != 0:
        body.append(f"constant = {constant}")
    for expr, symbol in loop.rows.items():
        body.append(f"{symbol} = {rows_text(writer, loop, expr)[0]}")
    anew = module.names.of(anew_name(kept))
    # (the first time, or after what this depends on was drawn otherwise)
    body += [f'if "{kept.name}" not in s:', f"{INDENT}s |= {anew}(s, c)"]
    body += [f'{form} = s["{kept.name}"].reshape(-1)']
    rests, others = _rests(module, step, loop) if loop.rest else ([], {})
    once = _call_lines(module, step, loop, form, rests, scalar=is_scalar)
    entries, every_call = _entries_names(module, step, loop)
    tables = [_at_entries(module, writer, loop, e, entries) for e in loop.data]
    tables += [n for n in others.values() if n not in tables]
    names = ", ".join(["entries", *map(str, loop.data.values()), *others])
    over = f"zip({', '.join([entries, *tables])}, strict=True)" if tables else entries
    inner = [f"for {names} in {over}:", *indented(once)]
    body.append(f"calls = iter({every_call})")
    if loop.outer:
        dims = position_names(loop)
        column = [":"] * len(module.dims(step.statement))
        for axis, position in zip(loop.outer, dims, strict=True):
            column[axis] = position
        copied = f"{writer.call('ascontiguousarray')}({own}[{', '.join(column)}])"
        inner = [f"{own}_column = {copied}", *_sums(writer, loop), *inner]
        sizes = [writer.size(module.dims(step.statement)[a]) for a in loop.outer]
        body += [f"for {dims[0]} in range({sizes[0]}):", *indented(inner)]
    else:
        body += [*_sums(writer, loop), *inner]
    doc = f"{step.statement.target} | rest, {colours_told(step.colours)}: for each call where it "
    doc += f"draws, and what from; {kept.name} is kept up to date."
    return module.function(name, doc, writer, body)


def _call_lines(
    module: Module, step: ExactDraw, loop: ElementLoop, form: str, rests: list[str], *, scalar: bool
) -> list[str]:
    """The lines of one call: the slopes, the parameters, and what the draw has changed."""
    own, at = module.names.of(step.variables[0]), str(loop.own)
    lines = ["at = next(calls)", f"now = {own}[at]"]
    if loop.slope.has(loop.own):
        lines.append(f"{at} = entries.spread(now)")
    lines += rests or [f"{s}_at = entries.read({s})" for s in loop.sums.values()]
    lines.append(f"form_at = entries.read({form})")
    slope = _text(loop, loop.slope)
    first = "form_at"
    if loop.form.constant != 0:
        first = "(entries.read(constant) + entries.read(curvature) * form_at)"
        if scalar:
            first = "(entries.read(constant) + curvature * form_at)"
    elif not scalar:
        first = "entries.read(curvature) * form_at"
    lead = "curvature * " if scalar else ""
    front = lead if loop.form.constant == 0 else ""
    weighed = "" if scalar else "entries.read(curvature) * "
    if loop.slope.is_number and scalar:
        times = "" if loop.slope**2 == 1 else f"{_text(loop, loop.slope**2)} * "
        square = f"{lead}{times}entries.counts"
    else:
        square = f"{lead}entries.total({weighed}slope * slope)"
    if loop.slope.is_number and not scalar:
        square = f"entries.total({weighed}{_text(loop, loop.slope**2)})"
    lines += [
        f"slope = {slope}",
        f"square = {square}",
        f"linear = {front}entries.total(slope * {first}) - square * now",
        "yield at, (eta_1[at] + linear, eta_2[at] + square / 2)",
        *_column_lines(module, step, loop, own),
        f"change = entries.spread({own}[at] - now)",
        "form_at += slope * change",
        f"entries.put({form}, form_at)",
    ]
    more = []
    for expr, symbol in () if loop.rest else loop.sums.items():
        change = _text(loop, loop.changes[expr])
        times = "" if loop.changes[expr] == 1 else f"{change} * "
        more += [f"{symbol}_at += {times}change", f"entries.put({symbol}, {symbol}_at)"]
    if more:
        lines.append("if not entries.is_last:  # (else nothing reads them any more)")
    return [*lines, *indented(more)]


def _column_lines(module: Module, step: ExactDraw, loop: ElementLoop, own: str) -> list[str]:
    """Lines that put what has been drawn into the copy of the column."""
    if not loop.outer:
        return []
    kept = [a for a in range(len(module.dims(step.statement))) if a not in loop.outer]
    return [f"{own}_column[{', '.join(f'at[{a}]' for a in kept)}] = {own}[at]"]


def _text(loop: ElementLoop, expr: Expr) -> str:
    """A slope as text: sums and rows are read at the entries."""
    at = {s: sp.Symbol(f"{s}_at") for s in loop.sums.values()}
    at |= {s: sp.Symbol(f"entries.read({s})") for s in loop.rows.values() if dims_of_row(loop, s)}
    return str(sp.pycode(sp.factor_terms(expr).xreplace(at)))


def dims_of_row(loop: ElementLoop, symbol: sp.Symbol) -> set[Dim]:
    """The dims of a value by row."""
    return next(set(dims_of(e)) for e, s in loop.rows.items() if s == symbol)


def _prior(writer: Writer, step: ExactDraw, loop: ElementLoop) -> list[str]:
    """Lines that compute what all other factors contribute."""
    lines = []
    for n, parameter in enumerate(step.parameters, 1):
        rest = tuple(c for c in parameter.contributions if c.factor != loop.form.factor)
        lines += accumulated(writer, f"eta_{n}", replace(parameter, contributions=rest), full=True)
    return lines


def _sums(writer: Writer, loop: ElementLoop) -> list[str]:
    """Lines that compute the sums, before any element of the column is drawn."""
    lines: list[str] = []
    for expr, symbol in () if loop.rest else loop.sums.items():
        code, _ = rows_text(writer, loop, in_column(loop, expr), spread=True)
        lines.append(f"{symbol} = runtime.owned({code})")
    return lines


def _rests(
    module: Module, step: ExactDraw, loop: ElementLoop
) -> tuple[list[str], dict[str, str]]:
    """Lines that compute sums over the other positions of each row, and the tables that they read.

    The tables are of data at these positions, by entry: local name -> name of those of all calls.
    """
    entries, _ = _entries_names(module, step, loop)
    star = loop.inner[0].dim
    row, tables = loop.form.over[0].dim, dict[Expr, str]()
    lines, more = [], dict[str, Variable]()
    for expr, symbol in loop.sums.items():
        (dim,) = expr.bound
        whole = substitute(in_column(loop, expr.body), {dim: star})
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
        lines.append(f"{symbol}_at = {text.code}")
    width = len(loop.inner[0])
    named = {}
    for part, local in tables.items():

        def make(part: Expr = part) -> Text:
            table = prepared_text(module, loop, part)
            return Text(f"[e.others({table}, {width}) for e in {entries}]")

        comment = f"{PLAIN.text(part)} at the other positions of the row, by entry"
        stem = f"{step.variables[0]}_others"
        named[local] = module.hoisted.add(("others", entries, part), stem, make, comment).code
    return lines, named


def _data_parts(expr: Expr, dims: set[Dim]) -> list[Expr]:
    """The arrays of data in an expression that depend on some dims, each as it is read."""
    found: list[Expr] = []
    if isinstance(expr, Leaf) and not expr.array.name.startswith("·"):
        return [expr] if dims_of(expr) & dims else []
    for a in expr.indices if isinstance(expr, Leaf) else expr.args:
        found += [p for p in _data_parts(a, dims) if p not in found]
    return found


def calls_name(module: Module, step: Single) -> str:
    """The name of the indices of what each call of a coloured step draws, in ``c``."""
    loop = module.loops.get(step.name)
    if loop is None or not isinstance(step, ExactDraw):
        return colours_name(module, step)
    return _entries_names(module, step, loop)[1]


def _entries_names(module: Module, step: ExactDraw, loop: ElementLoop) -> list[str]:
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
            number = number * module.graph.sizes[dims[a]] + loop.entry.view.indices[a]
        texts = [prepared_text(module, loop, e) for e in (number, *loop.entry.weights)]
        shape = tuple(module.graph.sizes[dims[a]] for a in kept)
        lengths = (tuple(map(len, loop.form.over)), tuple(map(len, loop.inner)))
        weights = ", ".join(texts[1:])
        own = (tuple(kept), shape)
        arguments = f"{texts[0]}, [{weights}], {lengths}, {calls}, {count}, {own}"
        return Text(f"runtime.entries_of({arguments})")

    comment = "for each call the positions that see its elements"
    stems = [f"{step.variables[0]}_entries", f"{step.variables[0]}_calls"]
    return module.hoisted.add_all(("entries", step.name), stems, make, comment)


def _at_entries(
    module: Module, writer: Writer, loop: ElementLoop, expr: Expr, entries: str
) -> str:
    """The name of values of the data at the entries of each colour."""

    def make() -> Text:
        shape = tuple(map(len, (*loop.form.over, *loop.inner)))
        code = f"{writer.call('broadcast_to')}({prepared_text(module, loop, expr)}, {shape})"
        return Text(f"[e.of({code}) for e in {entries}]")

    comment = f"{PLAIN.text(expr)}, by entry"
    return module.hoisted.add(("at entries", entries, expr), f"{entries}_data", make, comment).code
