"""From a schedule to a NumPy module: source that a person would be glad to have written.

Comes in: a `Schedule`. Goes out: the text of a module that stands alone on NumPy, SciPy and
``gibbsppl.runtime`` (what it defines is listed in `gibbsppl.backends.program`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

import sympy as sp

from gibbsppl.backends.text import ATOM, MATHEMATICS, NUMPY, PRODUCT, Hoisted, Names, Text, Writer
from gibbsppl.contractions import Contribution, Place
from gibbsppl.expressions import Dim, Expr, Leaf, dims_of, substitute
from gibbsppl.graph import PLAIN, Graph, Range, Statement
from gibbsppl.schedule.steps import (
    BlockDraw,
    ExactDraw,
    FiniteDraw,
    Move,
    NaturalParameter,
    Schedule,
    Step,
)

INDENT = "    "


def write_numpy(schedule: Schedule) -> str:
    """The source of the module that draws the schedule's sweep."""
    return _Module(schedule).text()


class _Module:
    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.graph = schedule.graph
        self.names = Names(NUMPY | MATHEMATICS | {"runtime", "prepare", "sweep", "deterministics"})
        self.hoisted = Hoisted(self.names)
        self.functions: dict[str, str] = {
            s.statement.name: self.names.fresh(self.names.of(s.statement.name) + "_given_rest")
            for s in schedule.steps
        }

    def text(self) -> str:
        """All parts of the module; the head is written last, when what it imports is known."""
        steps = [self._given_rest(s) for s in self.schedule.steps]
        sweep = self._sweep()
        deterministics = self._deterministics()
        prepare = self._prepare()
        tables = self._tables()
        return "\n\n\n".join([self._head(), prepare, *steps, sweep, deterministics, tables]) + "\n"

    def _writer(
        self,
        extra: dict[Dim, int] | None = None,
        local: str | None = None,
        *,
        keeps: bool = False,
    ) -> Writer:
        sizes = {**self.graph.sizes, **(extra or {})}
        return Writer(self.graph, self.names, self.hoisted, sizes, local=local, keeps=keeps)

    # ---- the parts ---------------------------------------------------------------------------

    def _head(self) -> str:
        used = self.hoisted.used
        lines = [
            f'"""Gibbs sampler for the model {self.graph.name}, written by gibbsppl.',
            "",
            *_indented(str(self.graph).splitlines()),
            '"""',
            "",
        ]
        if used & NUMPY:
            lines += [f"from numpy import {', '.join(sorted(used & NUMPY))}", ""]
        lines.append("from gibbsppl import runtime")
        if used & MATHEMATICS:
            lines.append(f"from gibbsppl.runtime import {', '.join(sorted(used & MATHEMATICS))}")
        return "\n".join(lines).rstrip()

    def _prepare(self) -> str:
        lines = ["def prepare(data):", f'{INDENT}"""What depends on the data alone, computed once."""']
        arrays = sorted(self.hoisted.arrays)
        lines += [f'{INDENT}{self.names.of(a)} = data["{a}"]' for a in arrays]
        for name, code, comment in self.hoisted.lines:
            lines.append(f"{INDENT}{name} = {code}  # {comment}")
        entries = [f'"{a}": {self.names.of(a)}' for a in arrays]
        entries += [f'"{n}": {n}' for n in self.hoisted.all_names]
        inner = "".join(f"{INDENT * 2}{e},\n" for e in entries)
        lines.append(f"{INDENT}return {{\n{inner}{INDENT}}}" if entries else f"{INDENT}return {{}}")
        return "\n".join(lines)

    def _unpacked(self, writer: Writer, body: str) -> list[str]:
        """Lines that bring the names a function uses into it."""
        used = _words(body)
        state = [
            (local, f's["{name}"]')
            for name, local in sorted(writer.state_names.items())
            if local in used
        ]
        read = sorted(n for n in writer.constant_names if self.names.of(n) in used)
        self.hoisted.arrays |= set(read)
        constants = [(self.names.of(n), f'c["{n}"]') for n in read]
        constants += [(n, f'c["{n}"]') for n in self.hoisted.all_names if n in used]
        return [*_unpacking(state), *_unpacking(constants)]

    def _function(self, name: str, doc: str, writer: Writer, body: list[str]) -> str:
        body = _with_gathers(writer.gathered, [*writer.lines, *body])
        unpacked = self._unpacked(writer, "\n".join(body))
        lines = [f"def {name}(s, c):", f'{INDENT}"""{doc}"""']
        return "\n".join(lines + _indented([*unpacked, *body]))

    def _given_rest(self, step: Step) -> str:
        match step:
            case ExactDraw() | BlockDraw():
                return self._natural_parameters(step)
            case FiniteDraw():
                return self._log_weights(step)
            case Move():
                return self._log_density(step)
            case _:
                assert_never(step)

    def _natural_parameters(self, step: ExactDraw | BlockDraw) -> str:
        statement = step.statement
        writer = self._writer(_partner_sizes(step, self.graph.sizes), keeps=True)
        body: list[str] = []
        etas = []
        for j, parameter in enumerate(step.parameters, 1):
            eta = f"eta_{j}"
            etas.append(eta)
            full = isinstance(step, BlockDraw) or not _is_whole(self, step)
            body += self._accumulated(writer, eta, parameter, full=full)
        if isinstance(step, BlockDraw):
            body += self._flattened(step, etas)
        statistics = ", ".join(map(PLAIN.text, step.conditional.statistics))
        joint = f", {_block_words(step)}" if isinstance(step, BlockDraw) else ""
        doc = f"{statement.target} | rest ~ {step.conditional.family.name}{joint}: "
        doc += f"the coefficients of {statistics}." if statistics else "no statistics."
        body.append(f"return ({', '.join(etas)}{',' if len(etas) == 1 else ''})")
        return self._function(self.functions[statement.name], doc, writer, body)

    def _accumulated(
        self, writer: Writer, name: str, parameter: NaturalParameter, *, full: bool
    ) -> list[str]:
        """Lines that compute one natural parameter from the contributions of the factors."""
        axes = parameter.axes
        writer.order = {}
        writer.arrange(axes)
        shape = tuple(map(writer.size, axes))
        everywhere = all(c.is_everywhere(writer.sizes) for c in parameter.contributions)
        if not everywhere:
            lines = [f"{name} = {writer.call('zeros')}({shape})"]
            lines += [self._added(writer, name, c, axes) for c in parameter.contributions]
            return lines + self._on_diagonal(writer, name, parameter)
        merged = _numbers_merged(parameter.contributions)
        texts = [(writer.write(c.value), c.factor) for c in merged]
        terms = [(writer.full(t, axes), factor) for t, factor in texts] or [("0.0", "")]
        lines = _assigned(name, terms)
        complete = {d for t, _ in texts for d in t.dims} == set(axes)
        if full and axes and not complete:
            lines.append(f"{name} = {writer.call('broadcast_to')}({name}, {shape})")
        return lines + self._on_diagonal(writer, name, parameter)

    def _on_diagonal(self, writer: Writer, name: str, parameter: NaturalParameter) -> list[str]:
        """A line that adds what multiplies squares to the diagonal of what multiplies pairs."""
        if not parameter.squares:
            return []
        own = parameter.axes[: len(parameter.squares[0].place)]
        codes = []
        for c in parameter.squares:
            with writer.over(_ranges(c.place)):
                codes.append(writer.full(writer.write(c.value), own))
        factors = ", ".join(dict.fromkeys(c.factor for c in parameter.squares))
        total = " + ".join(c if _is_product(c) and not c.startswith("-") else f"({c})" for c in codes)
        total = codes[0] if len(codes) == 1 else total
        count = len(parameter.axes) - len(own)
        function = writer.call("plus_diagonal")
        return [f"{name} = {function}({name}, {total}, {count})  # from {factors}"]

    def _added(
        self, writer: Writer, name: str, c: Contribution, axes: tuple[Dim, ...]
    ) -> str:
        with writer.over(_ranges(c.place)):
            left = tuple(a for a, p in zip(axes, c.place, strict=True) if not isinstance(p, int))
            code = writer.full(writer.write(c.value), left)
        where = _index(c.place, axes, writer)
        operator = "-=" if code.startswith("-") and " + " not in code and " - " not in code else "+="
        code = code[1:] if operator == "-=" else code
        return f"{name}{where} {operator} {code}  # from {c.factor}"

    def _flattened(self, step: BlockDraw, etas: Sequence[str]) -> list[str]:
        """Several dense axes as one."""
        if len(step.dense) < 2:  # noqa: PLR2004
            return []
        dims = self._dims(step.statement)
        batch = [self.graph.sizes[dims[a]] for a in step.batch]
        entries = 1
        for a in step.dense:
            entries *= self.graph.sizes[dims[a]]
        shapes = ((*batch, entries), (*batch, entries, entries))
        return [f"{e} = {e}.reshape{s}" for e, s in zip(etas, shapes, strict=True)]

    def _log_weights(self, step: FiniteDraw) -> str:
        statement = step.statement
        label, size = step.conditional.label, step.conditional.size
        whole = _is_whole(self, step)
        dense, tables = _tables(self.graph, step.weights) if whole else (step.weights, ())
        sizes = {label: size} | {t.along: t.size for t in tables}
        writer = self._writer(sizes, keeps=True)
        body = self._accumulated(writer, "log_weights", dense, full=not tables)
        if tables:
            body = body if dense.contributions else []
            body += self._read_tables(writer, step, tables, bool(dense.contributions))
        last = step.conditional.lower + size - 1
        doc = f"{statement.target} | rest: log weights of {step.conditional.lower}..{last} (first axis)."
        returned = [] if tables else ["return log_weights"]
        return self._function(self.functions[statement.name], doc, writer, [*body, *returned])

    def _read_tables(
        self, writer: Writer, step: FiniteDraw, tables: Sequence[_Table], dense: bool
    ) -> list[str]:
        """Log weights as a sum of tables, each read at an index."""
        axes = step.weights.axes
        shape = tuple(map(writer.size, axes))
        lines = [
            f"return {self._runtime('LogWeights')}(",
            f"{INDENT}{shape},",
            f"{INDENT}{'log_weights' if dense else '0.0'},",
        ]
        for t in tables:
            writer.order = {}
            writer.arrange((axes[0], t.along, *axes[1:]))
            values = writer.full(writer.write(t.value), (axes[0], t.along))
            index = writer.full(writer.write(t.index), axes[1:])
            code = f"{self._runtime('Table')}({values}, {index})"
            lines.append(f"{INDENT}{code},  # from {t.factor}")
        return [*lines, ")"]

    def _log_density(self, step: Move) -> str:
        statement = step.statement
        name = statement.target.array.name
        outer, inner = self._writer(keeps=True), self._writer(local=name, keeps=True)
        body: list[str] = []
        terms: list[tuple[str, str]] = []
        axes = self._dims(statement)
        full = step.region != _everything(axes, self.graph.sizes)
        place = Leaf(statement.target.array, *axes)
        for j, parameter in enumerate(step.parameters, 1):
            eta = f"eta_{j}"
            body += self._accumulated(outer, eta, parameter, full=full)
            inner.arrange(axes)
            statistic = inner.write(parameter.statistic.xreplace({statement.target: place}))
            terms.append((f"{eta} * {statistic.within(ATOM)}", "+".join(c.factor for c in parameter.contributions)))
        for c in step.terms:
            inner.arrange(axes)
            ranges = _ranges(c.place)
            with inner.over(ranges):
                text = inner.write(c.value)
            if not step.conditional.elements and not c.is_everywhere(self.graph.sizes):
                code = f"{inner.call('placed')}({text.code}, {tuple(map(_bounds, c.place))}, {tuple(map(inner.size, axes))})"
            else:
                code = inner.full(text, axes) if not step.conditional.elements else text.within(PRODUCT)
            terms.append((code, c.factor))
        local = self.names.of(name)
        within = {c: n for c, n in inner.gathered.items() if local in _words(c)}
        outer.gathered |= {c: n for c, n in inner.gathered.items() if c not in within}
        returned = _with_gathers(within, _returned(terms))
        body += ["", f"def log_density({local}):", *_indented(returned), "", "return log_density"]
        outer.state_names.update(inner.state_names)
        outer.constant_names |= inner.constant_names
        doc = f"{statement.target} | rest: its log density up to a constant, as a function."
        return self._function(self.functions[statement.name], doc, outer, body)

    # ---- the sweep ---------------------------------------------------------------------------

    def _sweep(self) -> str:
        lines = ["def sweep(rng, s, c):", f'{INDENT}"""Draw every latent variable once, in order."""']
        for step in self.schedule.steps:
            lines += _indented(self._drawn(step))
        return "\n".join(lines if len(lines) > 2 else [*lines, f"{INDENT}del rng, s, c"])  # noqa: PLR2004

    def _drawn(self, step: Step) -> list[str]:
        match step:
            case ExactDraw():
                return self._exact(step)
            case BlockDraw():
                return self._block(step)
            case FiniteDraw():
                return self._labels(step)
            case Move():
                return self._moved(step)
            case _:
                assert_never(step)

    def _call(self, step: Step) -> str:
        return f"{self.functions[step.statement.name]}(s, c)"

    def _state(self, step: Step) -> str:
        return f's["{step.statement.target.array.name}"]'

    def _exact(self, step: ExactDraw) -> list[str]:
        statement = step.statement
        natural = step.conditional.family.natural
        assert natural is not None
        draw = self._runtime(natural.draw)
        state, known = self._state(step), self._known(step)
        if step.is_by_element:
            etas = "".join(f", eta[{j}][at]" for j in range(len(step.parameters)))
            return [
                f"for at in {self._positions(step)}:  # its elements depend on one another",
                f"{INDENT}eta = {self._call(step)}",
                f"{INDENT}{state}[at] = {draw}(rng{etas}, (){known})",
            ]
        shape = tuple(self.graph.sizes[d] for d in self._dims(statement))
        if _is_whole(self, step):
            return [f"{state} = {draw}(rng, *{self._call(step)}, {shape}{known})"]
        where = self._where(step)
        etas = "".join(f", eta[{j}]{where}" for j in range(len(step.parameters)))
        size = f"{state}{where}.shape"
        return [
            f"eta = {self._call(step)}",
            f"{state}{where} = {draw}(rng{etas}, {size}{known})",
        ]

    def _known(self, step: ExactDraw) -> str:
        """The parameters of the family that are known, as keywords."""
        writer = self._writer()
        axes = self._dims(step.statement)
        writer.arrange(axes)
        found = ""
        whole = _is_whole(self, step)
        for name, value in step.conditional.known:
            own = value if step.conditional.place == step.statement.target else value
            text = writer.full(writer.write(own), axes)
            if not whole and writer.write(own).dims:
                shape = tuple(self.graph.sizes[d] for d in axes)
                where = "[at]" if step.is_by_element else self._where(step)
                text = f"{writer.call('broadcast_to')}({text}, {shape}){where}"
            found += f", {name}={self._qualified(writer, text)}"
        return found

    def _qualified(self, writer: Writer, code: str) -> str:
        """The text with local names written as entries of the state and the constants."""
        entries = {local: f's["{name}"]' for name, local in writer.state_names.items()}
        entries |= {self.names.of(n): f'c["{n}"]' for n in writer.constant_names}
        self.hoisted.arrays |= writer.constant_names
        entries |= {n: f'c["{n}"]' for n in self.hoisted.all_names}
        return _renamed(code, entries)

    def _block(self, step: BlockDraw) -> list[str]:
        natural = step.conditional.family.natural
        assert natural is not None
        dims = self._dims(step.statement)
        order = step.batch + step.dense
        batch = tuple(self.graph.sizes[dims[a]] for a in step.batch)
        dense = tuple(self.graph.sizes[dims[a]] for a in step.dense)
        entries = 1
        for n in dense:
            entries *= n
        code = f"{self._runtime(natural.draw)}(rng, *{self._call(step)}, {(*batch, entries)})"
        if len(dense) > 1:
            code += f".reshape{(*batch, *dense)}"
        if order != tuple(sorted(order)):
            code += f".transpose{tuple(order.index(a) for a in range(len(order)))}"
        return [f"{self._state(step)} = {code}"]

    def _labels(self, step: FiniteDraw) -> list[str]:
        state, draw, lower = self._state(step), self._runtime("labels"), step.conditional.lower
        shift = f" + {lower}" if lower > 0 else f" - {-lower}" if lower < 0 else ""
        if step.is_by_element:
            return [
                f"for at in {self._positions(step)}:  # its elements depend on one another",
                f"{INDENT}{state}[at] = {draw}(rng, {self._call(step)}[(slice(None), *at)]){shift}",
            ]
        if _is_whole(self, step):
            return [f"{state} = {draw}(rng, {self._call(step)}){shift}"]
        where = self._where(step)
        behind = f"(slice(None), *{where[1:-1]})" if "missing" in where else f":, {where[1:-1]}"
        return [f"{state}{where} = {draw}(rng, {self._call(step)}[{behind}]){shift}"]

    def _moved(self, step: Move) -> list[str]:
        statement = step.statement
        name, state = statement.target.array.name, self._state(step)
        bounds = "".join(self._bound(step, b) for b in ("lower", "upper"))
        where = self._where(step)
        part = not step.is_by_element and not _is_whole(self, step)
        shape = f"{state}{where}.shape" if part else str(
            tuple(self.graph.sizes[d] for d in self._dims(statement))
        )
        width = f'{self._runtime("width_of")}(s, "{statement.name}", {shape})'
        if step.is_by_element:
            positions = self._positions(step)
            move = self._runtime("slice_elements")
            return [
                f"{state} = {move}(",
                f"{INDENT}rng, {state}, {self._call(step)}, {width}, {positions}{bounds}",
                ")",
            ]
        integer = self.graph.variables[name].integer
        if not part:
            move = self._runtime("slice_integers" if integer else "slice_batch")
            return [f"{state} = {move}(rng, {state}, {self._call(step)}, {width}{bounds})"]
        at = where[1:-1] if statement.known != 0 else _slices(step.region)
        move = self._runtime("slice_part")
        return [f"{state} = {move}(rng, {state}, {at}, {self._call(step)}, {width}{bounds})"]

    def _bound(self, step: Move, name: str) -> str:
        value: Expr = sp.sympify(getattr(step.statement.support, name))
        if value in (sp.oo, -sp.oo):
            return ""
        writer = self._writer()
        axes = self._dims(step.statement)
        writer.arrange(axes)
        return f", {name}={self._qualified(writer, writer.full(writer.write(value), axes))}"

    def _runtime(self, name: str) -> str:
        return f"runtime.{name}"

    # ---- where a step draws ------------------------------------------------------------------

    def _dims(self, statement: Statement) -> tuple[Dim, ...]:
        return self.graph.variables[statement.target.array.name].dims

    def _where(self, step: Step) -> str:
        """The index of the elements that a step draws."""
        statement = step.statement
        if statement.known != 0:
            return f"[{self._missing(step)}]"
        return _index(step.region, self._dims(statement), self._writer())

    def _missing(self, step: Step) -> str:
        """The positions of unknown elements in the region, found once."""
        statement = step.statement
        known = statement.known.array.name
        self.hoisted.arrays.add(known)
        place = tuple(map(_bounds, step.region))

        def make() -> Text:
            function = self._runtime("missing_positions")
            return Text(f"{function}({self.names.of(known)}, {place})")

        stem = statement.target.array.name + "_missing"
        text = self.hoisted.add(("missing", statement.name), stem, make, "where it is not observed")
        return f'c["{text.code}"]'

    def _positions(self, step: Step) -> str:
        """The elements that a step draws, as a list of index tuples."""
        statement = step.statement
        place = tuple(map(_bounds, step.region))
        known = None if statement.known == 0 else statement.known.array.name
        if known:
            self.hoisted.arrays.add(known)

        def make() -> Text:
            function = self._runtime("element_positions")
            first = f"{self.names.of(known)}, " if known else "None, "
            return Text(f"{function}({first}{place})")

        stem = statement.target.array.name + "_elements"
        text = self.hoisted.add(("elements", statement.name), stem, make, "one after the other")
        return f'c["{text.code}"]'

    # ---- the rest ----------------------------------------------------------------------------

    def _deterministics(self) -> str:
        writer = self._writer()
        entries = []
        for d in self.graph.deterministics:
            writer.order = {}
            writer.arrange(d.dims)
            text = writer.write(d.value)
            shape = tuple(self.graph.sizes[a] for a in d.dims)
            code = writer.full(text, d.dims)
            if text.dims != d.dims:
                code = f"{writer.call('broadcast_to')}({code}, {shape})"
            entries.append(f'{INDENT}"{d.name}": {code},')
        body = ["return {", *entries, "}"] if entries else ["return {}"]
        return self._function(
            "deterministics", "The named functions of the state.", writer, body
        )

    def _tables(self) -> str:
        names = [s.statement.name for s in self.schedule.steps]
        arrays = [s.statement.target.array.name for s in self.schedule.steps]
        lines = ["STEPS = (" + "".join(f"{n!r}, " for n in names).rstrip() + ")"]
        pairs = "".join(f"{INDENT}{n!r}: {a!r},\n" for n, a in zip(names, arrays, strict=True))
        lines.append(f"STEP_VARIABLES = {{\n{pairs}}}")
        pairs = "".join(f"{INDENT}{n!r}: {self.functions[n]},\n" for n in names)
        lines.append(f"GIVEN_REST = {{\n{pairs}}}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _Table:
    """A log weight that an element has through one index alone: a table over label and index."""

    factor: str
    value: Expr
    along: Dim
    size: int
    index: Expr


def _tables(
    graph: Graph, weights: NaturalParameter
) -> tuple[NaturalParameter, tuple[_Table, ...]]:
    """The terms of log weights that are tables read at an index, and the weights without them."""
    tables: list[_Table] = []
    rest: list[Contribution] = []
    for c in weights.contributions:
        terms = [(t, _as_table(graph, c.factor, t, weights.axes)) for t in sp.Add.make_args(c.value)]
        tables += [t for _, t in terms if t is not None]
        left = sp.Add(*(term for term, t in terms if t is None))
        if left != 0:
            rest.append(replace(c, value=left))
    return replace(weights, contributions=tuple(rest)), tuple(tables)


def _as_table(graph: Graph, factor: str, term: Expr, axes: tuple[Dim, ...]) -> _Table | None:
    found = {
        (index, graph.sizes[graph.variables[leaf.array.name].dims[axis]])
        for leaf in term.atoms(Leaf)
        for axis, index in enumerate(leaf.indices)
        if isinstance(index, Leaf) and dims_of(index)
    }
    if len(found) != 1:
        return None
    ((index, size),) = found
    along = Dim(f"along {index}")
    value = substitute(term, {index: along})
    return None if dims_of(value) & set(axes[1:]) else _Table(factor, value, along, size, index)


def _is_whole(module: _Module, step: Step) -> bool:
    """Whether a step draws its whole array in one call."""
    statement = step.statement
    everything = _everything(module._dims(statement), module.graph.sizes)  # noqa: SLF001
    return statement.known == 0 and step.region == everything and not step.is_by_element


def _everything(dims: Iterable[Dim], sizes: Mapping[Dim, int]) -> tuple[Place, ...]:
    return tuple(Range(d, 0, sizes[d]) for d in dims)


def _partner_sizes(step: ExactDraw | BlockDraw, sizes: Mapping[Dim, int]) -> dict[Dim, int]:
    """The sizes of the axes that stand for the second entry of a pair."""
    if not isinstance(step, BlockDraw):
        return {}
    found = {}
    for p in step.parameters:
        order = step.batch + step.dense
        dense = p.axes[len(step.batch) : len(order)]
        found.update(
            {q: sizes[d] for q, d in zip(p.axes[len(order) :], dense, strict=False) if q not in sizes}
        )
    return found


def _block_words(step: BlockDraw) -> str:
    return "drawn jointly"


def _ranges(place: Iterable[Place]) -> list[Range]:
    return [p for p in place if isinstance(p, Range)]


def _bounds(place: Place) -> tuple[int, int]:
    return (place, place + 1) if isinstance(place, int) else (place.start, place.stop)


def _index(place: Iterable[Place], axes: Iterable[Dim], writer: Writer) -> str:
    """The index that selects a place, empty where it is everything."""
    parts = []
    for p, axis in zip(place, axes, strict=True):
        if isinstance(p, int):
            parts.append(str(p))
        elif (p.start, p.stop) == (0, writer.size(axis)):
            parts.append(":")
        else:
            parts.append(f"{p.start or ''}:{p.stop if p.stop != writer.size(axis) else ''}")
    while parts and parts[-1] == ":":
        parts.pop()
    return f"[{', '.join(parts)}]" if parts else ""


def _numbers_merged(contributions: Sequence[Contribution]) -> list[Contribution]:
    """The contributions, those that are plain numbers added up into one."""
    numbers = [c for c in contributions if c.value.is_number]
    if len(numbers) < 2:  # noqa: PLR2004
        return list(contributions)
    names = ", ".join(dict.fromkeys(c.factor for c in numbers))
    total = Contribution(names, sum((c.value for c in numbers), sp.S.Zero), numbers[0].place)
    return [total, *(c for c in contributions if not c.value.is_number)]


def _slices(place: Iterable[Place]) -> str:
    """A place as a tuple of positions and slices."""
    parts = [str(p) if isinstance(p, int) else f"slice({p.start}, {p.stop})" for p in place]
    return f"({', '.join(parts)},)"


def _assigned(name: str, terms: list[tuple[str, str]]) -> list[str]:
    """A sum of terms, each with the factor that it comes from."""
    if len(terms) == 1:
        code, factor = terms[0]
        return [f"{name} = {code}" + (f"  # from {factor}" if factor else "")]
    lines = [f"{name} = ("]
    for n, (code, factor) in enumerate(terms):
        sign, rest = ("-", code[1:]) if code.startswith("-") and _is_product(code) else ("+", code)
        lead = code if n == 0 else f"{sign} {rest}"
        lines.append(f"{INDENT}{lead}  # from {factor}")
    return [*lines, ")"]


def _is_product(code: str) -> bool:
    """Whether a text has no sum outside of parentheses."""
    depth = 0
    for n, ch in enumerate(code):
        depth += (ch in "([") - (ch in ")]")
        if depth == 0 and ch in "+-" and n and code[n - 1] == " ":
            return False
    return True


def _returned(terms: list[tuple[str, str]]) -> list[str]:
    lines = _assigned("value", terms or [("0.0", "")])
    return [lines[0].replace("value = ", "return ", 1), *lines[1:]]


def _indented(lines: Iterable[str]) -> list[str]:
    return [INDENT + line if line else line for line in lines]


def _with_gathers(gathered: Mapping[str, str], body: list[str]) -> list[str]:
    """The body with the gathers that it reads made first; one that is read once stays in place."""
    lines = list(body)
    for code, name in reversed(gathered.items()):
        uses = sum(len(re.findall(rf"\b{name}\b", line)) for line in lines)
        if uses == 1:
            lines = [re.sub(rf"\b{name}\b", code, line) for line in lines]
        elif uses:
            lines.insert(0, f"{name} = {code}")
    return lines


def _unpacking(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Assignments, several on a line as far as it goes."""
    lines = []
    for start in range(0, len(pairs), 5):
        names, values = zip(*pairs[start : start + 5], strict=True)
        lines.append(f"{', '.join(names)} = {', '.join(values)}")
    return lines


def _words(code: str) -> set[str]:
    return set(re.findall(r"[^\W\d]\w*", re.sub(r"#.*|\"[^\"]*\"", "", code)))


def _renamed(code: str, entries: dict[str, str]) -> str:
    return re.sub(r"[^\W\d]\w*", lambda m: entries.get(m.group(), m.group()), code)
