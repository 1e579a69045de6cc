"""Draws of elements that keep what they share up to date, and the values that are kept.

Comes in: a step with an `ElementLoop`. Goes out: a generator function that yields, for each call of
the sweep, which elements it draws and their parameters alone, and that, when it goes on, adds what
the draw has changed to the values of the form and of the sums. Other steps read the value of the
form from the state, and add to it what they change; after a step that cannot, it is computed anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from types import MappingProxyType

import sympy as sp
from sympy import Mul

from gibbsppl.backends.accumulation import accumulated
from gibbsppl.backends.lines import INDENT, indented
from gibbsppl.backends.module import Module
from gibbsppl.backends.places import colours_name
from gibbsppl.backends.text import Text
from gibbsppl.backends.writer import Writer
from gibbsppl.colours import colours_told
from gibbsppl.contractions import Contribution
from gibbsppl.expressions import (
    Array,
    Dim,
    Expr,
    Leaf,
    Over,
    dims_of,
    mentions,
    root_of,
    substitute,
)
from gibbsppl.graph import PLAIN, Range, Variable
from gibbsppl.schedule.element_loops import (
    ElementLoop,
    Kept,
    is_carried,
    moved_by,
    outer_dims,
    reading_kept,
)
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import BlockDraw, ExactDraw, Single, Step


def name_by_form(module: Module, step: Step) -> str | None:
    """The name of the generator of a step; None where nothing is kept."""
    if step.name not in module.loops:
        return None
    return module.functions[step.name].replace("_given_rest", "_by_colour")


def kept_functions_of(module: Module, step: Step) -> list[str]:
    """The functions of what a step keeps that have not been written yet."""
    found = []
    for kept in module.kept:
        loop = module.loops.get(step.name)
        if loop is not None and loop.form.form == kept.form and module.is_new(_anew(kept)):
            found += [_computed(module, kept, loop), *_moved(module, kept)]
    return found


def carried_forms(module: Module) -> dict[str, str]:
    """For each form that sweeps keep up to date, a step that does, and what computes it anew."""
    found = {}
    for kept in module.kept:
        own = _drawn_by(module, kept)
        if is_carried(module.schedule, kept, own):
            found[own[0]] = module.names.of(_anew(kept))
    return found


def keeping(module: Module, step: Step, lines: list[str]) -> list[str]:
    """The lines of a step, with those that keep right what depends on the arrays it changes."""
    changed = set(module.schedule.changed_by(step))
    before: list[str] = []
    after: list[str] = []
    for kept in module.kept:
        if not changed & kept.read or step.name in _drawn_by(module, kept):
            continue
        if moved_by(module.schedule, step, kept) is None:
            after.append(f's.pop("{kept.name}", None)  # to be computed anew')
            continue
        names = [n for n in module.schedule.changed_by(step) if n in kept.read]
        olds = {n: f"{module.names.of(n)}_before" for n in names}
        before += [f'{old} = s["{n}"] + 0.0' for n, old in olds.items()]
        change = ", ".join(f'"{n}": s["{n}"] - {old}' for n, old in olds.items())
        after.append(f'if "{kept.name}" in s:')
        call = f"{module.names.of(_moved_name(kept, step))}(s | {{{change}}}, c)"
        after.append(f'{INDENT}s["{kept.name}"] += {call}')
    return [*dict.fromkeys(before), *lines, *after]


def reading(
    module: Module, step: ExactDraw | BlockDraw
) -> tuple[tuple[NaturalParameter, ...], list[str]]:
    """The parameters of a step, which read the values of forms; lines that make sure of these."""
    if not module.kept or step.name in module.loops or isinstance(step, BlockDraw):
        return step.parameters, []
    own = step.variables

    def read(c: Contribution) -> Contribution:
        return replace(c, value=reading_kept(c.value, module.kept, own, module.graph.sizes))

    parameters = tuple(
        replace(p, contributions=tuple(map(read, p.contributions))) for p in step.parameters
    )
    names = {k.name for k in module.kept}
    every = (x for p in parameters for c in p.contributions for x in c.value.atoms(Leaf))
    used = {x.array.name for x in every} & names
    return parameters, [
        f's = s if "{k.name}" in s else s | {module.names.of(_anew(k))}(s, c)'
        for k in module.kept
        if k.name in used
    ]


def by_form(module: Module, step: ExactDraw, name: str) -> str:
    """The generator: for each call where it draws, and the parameters there."""
    loop = module.loops[step.name]
    kept = next(k for k in module.kept if k.form == loop.form.form)
    writer = _writer(module, step, loop)
    form, own = module.names.of(kept.name), module.names.of(step.variables[0])
    body = _prior(writer, step, loop)
    curvature, is_scalar = _rows_text(writer, loop, loop.form.curvature)
    constant, _ = _rows_text(writer, loop, loop.form.constant)
    body.append(f"curvature = {curvature}")
    if loop.form.constant != 0:
        body.append(f"constant = {constant}")
    for expr, symbol in loop.rows.items():
        body.append(f"{symbol} = {_rows_text(writer, loop, expr)[0]}")
    anew = module.names.of(_anew(kept))
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
        dims = _position_names(loop)
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


def _position_names(loop: ElementLoop) -> list[str]:
    return [f"{root_of(d)}_position" for d in outer_dims(loop)]


def _writer(
    module: Module,
    step: ExactDraw,
    loop: ElementLoop,
    more: Mapping[str, Variable] = MappingProxyType({}),
) -> Writer:
    """A writer that knows a column of the array: its elements at one position of the outer axes."""
    dims = module.dims(step.statement)
    kept = tuple(d for a, d in enumerate(dims) if a not in loop.outer)
    column = Variable(_column(step.variables[0]), kept, "random")
    sizes = {r.dim: r.stop for r in loop.entry.ranges}
    writer = module.writer(sizes, more={column.name: column, **more})
    own = module.names.of(step.variables[0])
    writer.aliases[column.name] = f"{own}_column" if loop.outer else own
    writer.state_names[step.variables[0]] = own
    return writer


def _column(name: str) -> str:
    return f"·column of {name}"


def _in_column(loop: ElementLoop, expr: Expr) -> Expr:
    """An expression that reads a column of the array instead of the array."""
    name = loop.entry.view.array.name
    column = Array(_column(name), real=True)
    mapping = {
        leaf: Leaf(column, *(i for a, i in enumerate(leaf.indices) if a not in loop.outer))
        for leaf in expr.atoms(Leaf)
        if leaf.array.name == name
    }
    return expr.xreplace(mapping)


def _sums(writer: Writer, loop: ElementLoop) -> list[str]:
    """Lines that compute the sums, before any element of the column is drawn."""
    lines: list[str] = []
    for expr, symbol in () if loop.rest else loop.sums.items():
        code, _ = _rows_text(writer, loop, _in_column(loop, expr), spread=True)
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
        whole = substitute(_in_column(loop, expr.body), {dim: star})
        parts = _data_parts(whole, {r.dim for r in (*loop.form.over, *loop.inner)})
        for part in parts:
            if part not in tables:
                tables[part] = module.names.fresh("others")
                name = f"·{tables[part]}"
                more[name] = Variable(name, (star, row), "random")
        read = {p: Array(f"·{tables[p]}", real=True)[star, row] for p in parts}
        writer = _writer(module, step, loop, more)
        writer.aliases |= {f"·{local}": local for local in tables.values()}
        text = writer.write(Over(whole.xreplace(read), star))
        lines.append(f"{symbol}_at = {text.code}")
    width = len(loop.inner[0])
    named = {}
    for part, local in tables.items():

        def make(part: Expr = part) -> Text:
            return Text(f"[e.others({_prepared(module, loop, part)}, {width}) for e in {entries}]")

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


def _rows_text(
    writer: Writer, loop: ElementLoop, expr: Expr, *, spread: bool = False
) -> tuple[str, bool]:
    """The text of a value by row, flat; and whether it is one number for all rows."""
    return _flat(writer, loop.form.over, expr, spread=spread)


def _flat(
    writer: Writer, over: tuple[Range, ...], expr: Expr, *, spread: bool
) -> tuple[str, bool]:
    dims = tuple(r.dim for r in over)
    writer.order = {}
    # (of one dim the axes stand as is fastest)
    writer.arrange(dims if len(dims) > 1 else ())
    with writer.over(over):
        text = writer.write(expr)
    if not text.dims and not spread:
        return text.code, True
    code = writer.align(text, dims)
    if text.dims != dims:
        code = f"{writer.call('broadcast_to')}({code}, {tuple(map(len, over))})"
        return f"{code}.reshape(-1)", False
    return (f"{text.within(3)}.reshape(-1)" if len(dims) > 1 else text.code), False


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
        texts = [_prepared(module, loop, e) for e in (number, *loop.entry.weights)]
        shape = tuple(module.graph.sizes[dims[a]] for a in kept)
        lengths = (tuple(map(len, loop.form.over)), tuple(map(len, loop.inner)))
        weights = ", ".join(texts[1:])
        own = (tuple(kept), shape)
        arguments = f"{texts[0]}, [{weights}], {lengths}, {calls}, {count}, {own}"
        return Text(f"runtime.entries_of({arguments})")

    comment = "for each call the positions that see its elements"
    stems = [f"{step.variables[0]}_entries", f"{step.variables[0]}_calls"]
    return module.hoisted.add_all(("entries", step.name), stems, make, comment)


def _prepared(module: Module, loop: ElementLoop, expr: Expr) -> str:
    """The text, for ``prepare``, of data at all positions."""
    inner = module.writer({r.dim: r.stop for r in loop.entry.ranges}).for_prepare(module.graph)
    inner.sizes = {**inner.sizes, **{r.dim: r.stop for r in loop.entry.ranges}}
    over = (*loop.form.over, *loop.inner)
    dims = tuple(r.dim for r in over)
    inner.arrange(dims)
    with inner.over(over):
        code = inner.align(inner.write(expr), dims)
        lead = expr if dims_of(expr) else None
    module.hoisted.arrays |= inner.constant_names
    shape = tuple(map(len, over))
    return code if lead is not None else f"{inner.call('broadcast_to')}({code}, {shape})"


def _at_entries(
    module: Module, writer: Writer, loop: ElementLoop, expr: Expr, entries: str
) -> str:
    """The name of values of the data at the entries of each colour."""

    def make() -> Text:
        shape = tuple(map(len, (*loop.form.over, *loop.inner)))
        code = f"{writer.call('broadcast_to')}({_prepared(module, loop, expr)}, {shape})"
        return Text(f"[e.of({code}) for e in {entries}]")

    comment = f"{PLAIN.text(expr)}, by entry"
    return module.hoisted.add(("at entries", entries, expr), f"{entries}_data", make, comment).code


def _anew(kept: Kept) -> str:
    return f"{kept.name}_anew"


def _moved_name(kept: Kept, step: Step) -> str:
    return f"{kept.name}_by_{'_'.join(step.variables)}"


def _drawn_by(module: Module, kept: Kept) -> tuple[str, ...]:
    """The steps that draw by a form."""
    loops = module.loops.items()
    return tuple(name for name, loop in loops if loop.form.form == kept.form)


def _computed(module: Module, kept: Kept, loop: ElementLoop) -> str:
    """The function that computes a form anew, one position of the outer axes after the other."""
    step = module.schedule.step(_drawn_by(module, kept)[0])
    assert isinstance(step, ExactDraw)
    writer = _writer(module, step, loop)
    looped, rest = _by_position(loop)
    code, _ = _flat(writer, kept.over, rest, spread=True)
    body = [f"value = runtime.owned({code})"]
    own = module.names.of(step.variables[0])
    for axis, position, term in looped:
        column = [":"] * len(module.dims(step.statement))
        column[axis] = position
        size = writer.size(module.dims(step.statement)[axis])
        code, _ = _flat(writer, kept.over, term, spread=True)
        copied = f"{writer.call('ascontiguousarray')}({own}[{', '.join(column)}])"
        lines = [f"{own}_column = {copied}", f"value += {code}"]
        body += [f"for {position} in range({size}):", *indented(lines)]
    shape = tuple(map(len, kept.over))
    shaped = "value" if len(shape) == 1 else f"value.reshape{shape}"
    body.append(f'return {{"{kept.name}": {shaped}}}')
    doc = f"{kept.name}, computed anew: {PLAIN.text(kept.form)}."
    return module.function(module.names.of(_anew(kept)), doc, writer, body)


def _by_position(loop: ElementLoop) -> tuple[list[tuple[int, str, Expr]], Expr]:
    """The terms of a form that are sums over an outer axis, as what is summed; and the rest."""
    looped: list[tuple[int, str, Expr]] = []
    rest: list[Expr] = []
    names = _position_names(loop)
    for term in sp.Add.make_args(loop.form.form):
        body = _summand(loop, term)
        if body is None:
            rest.append(term)
        else:
            looped.append((loop.outer[0], names[0], body))
    return looped, sp.Add(*rest)


def _summand(loop: ElementLoop, term: Expr) -> Expr | None:
    """What a term sums over the outer axis, read in a column; None if it is no such sum."""
    sums = [f for f in Mul.make_args(term) if isinstance(f, Over)]
    if not loop.outer or len(sums) != 1 or not mentions(term, (loop.entry.view.array.name,)):
        return None
    (whole,) = sums
    (dim,) = whole.bound
    own = [x for x in whole.body.atoms(Leaf) if x.array == loop.entry.view.array]
    if len(whole.args) > 2 or any(x.indices[loop.outer[0]] != dim for x in own):
        return None
    body = _in_column(loop, Mul(term / whole, whole.body))
    return None if dim in dims_of(body) else body


def _moved(module: Module, kept: Kept) -> Iterator[str]:
    """Functions of what a form changes by, for each step that it is linear in."""
    own = _drawn_by(module, kept)
    for step in module.schedule.steps:
        terms = moved_by(module.schedule, step, kept)
        if step.name in own or terms is None:
            continue
        writer = module.writer()
        code, _ = _flat(writer, kept.over, terms, spread=False)
        shape = tuple(map(len, kept.over))
        shaped = f"({code}).reshape{shape}" if len(shape) > 1 and dims_of(terms) else code
        drawn = ", ".join(n for n in step.variables if n in kept.read)
        doc = f"What {kept.name} changes by, where s has the changes of {drawn}."
        name = module.names.of(_moved_name(kept, step))
        yield module.function(name, doc, writer, [f"return {shaped}"])
