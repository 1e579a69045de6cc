"""Source text of means by element that keep the form at the means, and sums along rows, up to date.

Comes in: a step with a `MeanLoop`. Goes out: a function that updates the arrays of moments, in
place and colour by colour: each call reads the entries of its elements alone.
"""

from __future__ import annotations

import sympy as sp

from gibbsppl.algebra.expressions import Array, Expr, Over
from gibbsppl.code.columns import by_position, column_writer, in_column, rows_text
from gibbsppl.code.element_loops import (
    at_entries,
    entries_names,
    local_name,
    prior_lines,
    shared_symbols,
)
from gibbsppl.code.lines import indented
from gibbsppl.code.maintained_forms import lines_anew
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.derive.colours import colours_told
from gibbsppl.model.graph import Variable
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.mean_loops import MeanLoop


def averaging_name(module: Module, step: FamilyDraw) -> str:
    """The name of the function that updates the moments of a step's elements."""
    return module.function_of(step, "averaged")


def averaging_function(module: Module, step: FamilyDraw, loop: MeanLoop) -> str:
    """The function that updates the moments of all elements, colour by colour."""
    etas = {leaf.array.name: Variable(leaf.array.name, (), "random") for leaf in loop.given}
    writer = column_writer(module, step, loop, etas)
    for name in loop.formulas:
        writer.state_names[name] = module.names.of(name)
    body = prior_lines(writer, step, loop)
    for expr, symbol in loop.rows.items():
        body.append(f"{local_name(module, symbol)} = {rows_text(writer, loop, expr)[0]}")
    body += lines_anew(module, writer, step, loop, local_name(module, loop.total))
    entries, calls = entries_names(module, step, loop)
    tables = [at_entries(module, writer, loop, e, entries) for e in loop.data]
    writer.constants |= {entries, calls, *tables}
    names = ", ".join(["entries", *(local_name(module, s) for s in loop.data.values())])
    over = f"zip({', '.join([entries, *tables])}, strict=True)" if tables else entries
    column = [
        *_sums(module, writer, loop),
        f"for {names} in {over}:",
        *indented(_Call(module, writer, loop).lines()),
    ]
    body.append(f"calls = iter({calls})")
    body += by_position(module, writer, step, loop, column) if loop.outer else column
    doc = f"The moments of {step.statement.target}, {colours_told(step.colours)}, in place."
    return module.function(averaging_name(module, step), doc, writer, body)


def _sums(module: Module, writer: Writer, loop: MeanLoop) -> list[str]:
    """Lines that compute the sums along rows, before any element of the column is averaged."""
    (r,), lines = loop.inner, []
    for monomial, symbol in loop.sums.items():
        whole = Over(in_column(loop, monomial), r.dim, r.start, r.stop)
        code, _ = rows_text(writer, loop, whole, spread=True)
        lines.append(f"{local_name(module, symbol)} = runtime.owned({code})")
    return lines


class _Call:
    """The lines of one call: its elements' moments, and the changes of what is kept."""

    def __init__(self, module: Module, writer: Writer, loop: MeanLoop) -> None:
        self.module, self.writer, self.loop = module, writer, loop
        numbers = shared_symbols(loop)
        self.by_row = [s for s in loop.rows.values() if s not in numbers]
        self.codes = {s: self._name(s) for s in (*loop.data.values(), *numbers)}
        self.codes |= {s: f"entries.read({self._name(s)})" for s in self.by_row}
        kept = (*loop.own.values(), loop.total, *loop.sums.values())
        self.codes |= {s: self._local(f"{s} now") for s in kept}

    def lines(self) -> list[str]:
        """All lines."""
        loop = self.loop
        own = {n: self.module.names.of(n) for n in loop.own}
        now = {s: self.codes[s] for s in loop.own.values()}
        new = {s: self._local(f"{s} new") for s in now}
        kept = [loop.total, *loop.sums.values()]
        lines = ["at = next(calls)"]
        lines += [f"{now[s]} = entries.spread({own[n]}[at])" for n, s in loop.own.items()]
        lines += [f"{self.codes[s]} = entries.read({self._name(s)})" for s in kept]
        parts, values = sp.cse((*loop.added, loop.slope), sp.numbered_symbols("part_", real=True))
        self.codes |= {s: self._local(str(s)) for s, _ in parts}
        lines += [f"{self.codes[s]} = {self._text(e)}" for s, e in parts]
        lines += [f"slope = {self._text(values[-1])}", *self._moments(values[:-1], parts)]
        lines += [f"{new[s]} = entries.spread({own[n]}[at])" for n, s in loop.own.items()]
        mean = loop.own[loop.mean]
        lines += self._moved(loop.total, f"slope * ({new[mean]} - {now[mean]})")
        more: list[str] = []
        later = {s: sp.Symbol(name) for s, name in new.items()}
        for monomial, symbol in loop.sums.items():
            value = loop.changes[monomial]
            more += self._moved(symbol, self._text(value.xreplace(later) - value))
        if more:
            lines.append("if not entries.is_last:  # (else nothing reads them any more)")
        return [*lines, *indented(more)]

    def _moments(self, added: list[Expr], parts: list[tuple[sp.Symbol, Expr]]) -> list[str]:
        """Lines that compute the natural parameters, and the moments by their formulas."""
        lines, symbols = [], {}
        for n, (leaf, value) in enumerate(zip(self.loop.given, added, strict=True), 1):
            whole = value
            for symbol, part in reversed(parts):
                whole = whole.xreplace({symbol: part})
            is_number = not whole.free_symbols - set(shared_symbols(self.loop))
            text = self._text(value)
            total = f"({text}) * entries.counts" if is_number else f"entries.total({text})"
            eta = self.writer.aliases[leaf.array.name] = self._local(f"eta {n} now")
            lines.append(f"{eta} = eta_{n}[at] + {total}")
            symbols[leaf] = Array(leaf.array.name)[()]
        for name, formula in self.loop.formulas.items():
            text = self.writer.write(formula.xreplace(symbols)).code
            lines.append(f"{self.module.names.of(name)}[at] = {text}")
        return lines

    def _moved(self, symbol: sp.Symbol, change: str) -> list[str]:
        """Lines that add a change to what is kept."""
        now = self.codes[symbol]
        return [f"{now} += {change}", f"entries.put({self._name(symbol)}, {now})"]

    def _name(self, symbol: sp.Symbol) -> str:
        return local_name(self.module, symbol)

    def _local(self, stem: str) -> str:
        return self.module.names.of(f"·{stem}")

    def _text(self, expr: Expr) -> str:
        symbols = {s: sp.Symbol(code) for s, code in self.codes.items()}
        return str(sp.pycode(sp.factor_terms(expr).xreplace(symbols)))
