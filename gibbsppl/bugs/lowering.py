"""A program and its data as a model.

Comes in: a program, data. Goes out: a `gp.Model`: loops are dimensions, index expressions are
views, each line with ``~`` is a statement (or a few, if several lines give the elements read),
lines with ``<-`` are substituted wherever read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import Support, bounds_of, point
from gibbsppl.bugs.added_names import OwnNames
from gibbsppl.bugs.auxiliaries import not_drawn, ranges_at
from gibbsppl.bugs.axes import axes_of
from gibbsppl.bugs.checked_lines import check_event, check_observed
from gibbsppl.bugs.constraints import increasing, observations
from gibbsppl.bugs.cycles import cycle_error
from gibbsppl.bugs.exchangeable import in_their_order
from gibbsppl.bugs.facts import Facts, facts_of
from gibbsppl.bugs.grids import Data, Grid
from gibbsppl.bugs.layouts import Layout, Natural, Table, box_of, layout_of, observed_in
from gibbsppl.bugs.maps import Map, potentials
from gibbsppl.bugs.numbers import target_of
from gibbsppl.bugs.observed_sums import without_sums
from gibbsppl.bugs.parts import Recursive, parts_of
from gibbsppl.bugs.placed import Placed, every_part, placed_in
from gibbsppl.bugs.quantities import check_monitor, record
from gibbsppl.bugs.reading import Beside, Reading, beside
from gibbsppl.bugs.recursions import declare_computed, out_of_order
from gibbsppl.bugs.references import Elements
from gibbsppl.bugs.relations import Relation, Space
from gibbsppl.bugs.rows import Distribution, Field
from gibbsppl.bugs.simplexes import is_vector
from gibbsppl.bugs.statements import Lines, row_of
from gibbsppl.bugs.syntax import Assignment, Program, Stochastic
from gibbsppl.bugs.values import Known
from gibbsppl.families import FAMILIES
from gibbsppl.language import distributions as language
from gibbsppl.language.computed import OrderError
from gibbsppl.language.cycles import CycleError
from gibbsppl.language.declared import Observed
from gibbsppl.language.missing import declare_observed
from gibbsppl.language.model import Model
from gibbsppl.language.regions import Region, region_of
from gibbsppl.language.statements import check_values, place
from gibbsppl.model.graph import Constant, Potential, Variable


def lowered(
    program: Program, data: Data, name: str, monitor: Sequence[str] = ()
) -> Model:
    """The model of a program with its data; quantities of the names in ``monitor`` are recorded."""
    facts = facts_of(program, data)
    check_monitor(facts, monitor)
    source, sums = facts.program, without_sums(facts.program, data)
    facts = facts_of(sums.program, sums.data) if sums.names else facts
    changed, ordered = in_their_order(facts, monitor)
    facts = replace(facts_of(changed, sums.data), ordered=ordered) if ordered else facts
    monitor = tuple(dict.fromkeys((*monitor, *sums.names)))
    while True:
        try:
            found = _lowered(facts, name, monitor)
            break
        except Recursive as more:
            if more.names <= facts.computed:
                raise more.error from None
            facts = replace(facts, computed=facts.computed | more.names)
    model, names = found.model, {n: found.names[n] for n in ordered}
    model.reading = Reading(source, dict(data), found.beside, model.graph.factors, names)
    return model


def _lowered(facts: Facts, name: str, monitor: Sequence[str]) -> _Lowering:
    """The model of a program; raise `Recursive` unless ``facts.computed`` has such arrays."""
    parts: dict[str, list[Relation]] = {}
    fields: dict[str, Relation] = {}
    others: list[Relation] = []
    for relation in facts.relations:
        if not isinstance(line := relation.line, Stochastic):
            continue
        if isinstance(row := row_of(facts, line), Distribution):
            check_event(facts, relation, row)
            parts.setdefault(line.target.name, []).extend(parts_of(facts, relation))
        elif isinstance(row, Field):
            fields[line.target.name] = relation
        else:
            check_observed(facts, relation)
            others.append(relation)
    lowering = _Lowering(facts, Model(name=name), parts, fields, others, monitor)
    try:
        _ = lowering.model.graph  # (which is checked for cycles as it is made)
    except CycleError as error:
        raise cycle_error(error, facts, lowering.names, lowering.layouts) from error
    except OrderError as error:
        raise out_of_order(facts, error.names) from error
    return lowering


class _Lowering:
    """The model, in the making."""

    def __init__(
        self,
        facts: Facts,
        model: Model,
        parts: Mapping[str, Sequence[Relation]],
        fields: Mapping[str, Relation],
        others: Sequence[Relation],
        monitor: Sequence[str],
    ) -> None:
        self.facts, self.model, self.parts, self.monitor = facts, model, parts, monitor
        self.dims = axes_of(facts, model)
        self.own = OwnNames(facts, model)
        self.inner: dict[str, tuple[Dim, ...]] = {}
        self.beside: dict[str, Beside] = {}
        self.names = {n: self._named(n) for n in parts}
        self.layouts = {n: self._layout(n) for n in parts}
        for n, layout in self.layouts.items():
            is_known = facts.numbers[n].known[facts.defined[n].relation > 0].all()
            if layout.form and self.names[n] == n and not is_known:
                self.names[n] = self.own.fresh(f"{n}.{layout.form}")
        layouts = self.layouts.items()
        self.placed = {
            n: placed_in(facts, k, self.inner.get(n, ()), model.size) for n, k in layouts
        }
        self.symbols = {n: Array(self.names[n]) for n in parts}
        self.maps = {n: self._map(relation) for n, relation in fields.items()}
        self.elements = Elements(facts, model, self.layouts, self.symbols, self.dims, self.own)
        for n, field in self.maps.items():
            if field.row.is_centred:
                (self.elements.centred[n],) = field.box.event
        for n in parts:
            self.elements.lowest[n] = max(r.values_from for r in self._rows(n))
        self.lines = Lines(facts, model, self.elements)
        self.along = {n: self.lines.along(every_part(self.placed[n]), n) for n in parts}
        self.of = {n: a if self._are_labels(n) else None for n, a in self.along.items()}
        self.elements.simplexes |= {
            n: self.names[n]
            for n in parts
            if all(
                self._support(p, n).kind == "simplex" and is_vector(p.part.line.target)
                for p in self.placed[n]
            )
        }
        self.symbols.update({n: self._symbol(n) for n in parts})
        self.variables = {n: self._declare(n) for n in parts}
        declare_computed(facts, model, self.elements)
        for n in self.maps:
            model.declare(Variable(self.names[n], self.dims[n], "random"), "a variable")
        for n in parts:
            with facts.program.told_at(self.parts[n][0].line.at):
                self._fill(n)
        for field in self.maps.values():
            self._field(field)
        for relation in others:
            self._observe(relation)
        record(facts, self.elements, self.names, monitor)

    def _rows(self, name: str) -> list[Distribution]:
        lines = (p.line for p in self.parts[name])
        rows = (row_of(self.facts, s) for s in lines if isinstance(s, Stochastic))
        return [r for r in rows if isinstance(r, Distribution)]

    def _row(self, placed: Placed) -> Distribution:
        (row,) = {row_of(self.facts, placed.part.line)}  # type: ignore[arg-type]
        assert isinstance(row, Distribution)
        return row

    def _named(self, name: str) -> str:
        """The model's name for a random array: the program's, if the values are the same.

        Else with a suffix: ``free`` (without the elements that lines with <- compute), ``shifted``
        or ``label`` (values counted from 0), ``ordered``.
        """
        defined = self.facts.defined[name].relation
        lines = (self.facts.relation(int(n)).line for n in np.unique(defined[defined > 0]))
        if any(isinstance(line, Assignment) for line in lines):
            return self.own.fresh(f"{name}.free")
        is_shifted = any(r.values_from for r in self._rows(name))
        form = "shifted" if is_shifted else "ordered" if name in self.facts.ordered else None
        form = "label" if self._are_labels(name) else form
        return self.own.fresh(f"{name}.{form}") if form else name

    def _are_labels(self, name: str) -> bool:
        """Whether values are positions in a vector of probabilities."""
        return any(r.values_from and (r.labels or r.weights) for r in self._rows(name))

    def _layout(self, name: str) -> Layout:
        """The layout of an array; the last dim of a matrix becomes the prime of its first."""
        if any(r.event == 2 for r in self._rows(name)):
            dims = self.dims[name]
            self.dims[name] = (*dims[:-1], primed(dims[-2]))
        table = Dim(self.own.fresh(f"{name}_row"))
        layout = layout_of(self.facts, name, self.parts[name], self.dims[name], table)
        if isinstance(layout, Table):
            self.model.add_dim(table.name, layout.parts[-1][2] + len(layout.constants))
            own = self.dims[name]
            self.inner[name] = tuple(own[n] for n in layout.event)
        return layout

    def _dims(self, name: str) -> tuple[Dim, ...]:
        """The dims of an array in the model."""
        layout = self.layouts[name]
        return layout.dims if isinstance(layout, Natural) else (layout.dim, *self.inner[name])

    def _event(self, name: str, placed: Placed) -> tuple[Dim, ...]:
        along = self.along[name]
        return placed.event or (() if along is None else (along,))

    def _support(self, placed: Placed, name: str) -> Support:
        """The support of a line's values."""
        own = self.names[name]
        keys = (k for r in self._rows(name) for k in r.auxiliaries)
        others = {k: Array(self.own.beside(own, k))[()] for k in keys}
        event = self._event(name, placed)
        made = self.lines.made(placed.parts, name, event, others)
        bounds = (None if b is None else b.expr for b in (made.lower, made.upper))
        return made.family.support(event, **dict(made.canonical(event))).narrowed(*bounds)

    def _symbol(self, name: str) -> Array:
        """The symbol of an array, with the bounds and the sign of all elements, from supports."""
        own, numbers = self.names[name], self.facts.numbers[name]
        supports = [self._support(p, name) for p in self.placed[name]]
        is_told = numbers.known & bool(len(self.layouts[name].constants))
        seen = np.unique(numbers.values[is_told] - self.elements.lowest[name]).tolist()
        self.elements.supports[own] = (*supports, *map(point, seen))
        bounds = bounds_of(supports, map(float, seen))
        below = all(s.lower.is_nonnegative for s in supports) and all(v > 0 for v in seen)
        kinds = {s.kind for s in supports}
        is_positive, is_count = (kinds <= k for k in ({"real", "simplex"}, {"integer", "counts"}))
        sign = {"positive": below and is_positive, "nonnegative": below and is_count}
        return Array(own, bounds, **{name: True for name, known in sign.items() if known})

    def _declare(self, name: str) -> Variable:
        """Declare an array of the model, with its observed elements."""
        layout, numbers = self.layouts[name], self.facts.numbers[name]
        variable = Variable(self.names[name], self._dims(name), "random", of=self.of[name])
        self.model.declare(variable, "a variable")
        inside = observed_in(layout, numbers.values, numbers.known, self.elements.lowest[name])
        values = np.array(inside["values"] - self.elements.lowest[name])
        if self.of[name] is not None:  # (they are read as indices)
            values = values.astype(np.intp)
        if inside["known"].any():
            declare_observed(self.model, variable, Observed(values, np.array(inside["known"])))
        return variable

    def _fill(self, name: str) -> None:
        dims, layout = self._dims(name), self.layouts[name]
        for placed in self.placed[name]:
            with self.facts.program.told_at(placed.part.line.at):
                region = _region(self.model, self.names[name], dims, placed.places)
                self._state(name, placed, region)
        for slices in layout.constant_boxes:
            self._constant(name, dims, slices)
        for key in dict.fromkeys(k for r in self._rows(name) for k in r.auxiliaries):
            own = self.own.beside(self.names[name], key)
            at = (p.places for p in self.placed[name] if key not in self._row(p).auxiliaries)
            others = (*at, *layout.constant_boxes)
            self.model.declared.constants += not_drawn(self.model, own, dims, others)

    def _constant(self, name: str, dims: tuple[Dim, ...], slices: tuple[slice, ...]) -> None:
        """Declare a box as constant: known values, or elements of lines with <- (never read)."""
        numbers, layout = self.facts.numbers[name], self.layouts[name]
        inside = observed_in(layout, numbers.values, numbers.known)
        lowest = self.elements.lowest[name]
        values = np.where(inside["known"][slices], inside["values"][slices], lowest)
        ranges = ranges_at(self.model, dims, slices)
        space = Space({}, {}, {r.dim: r.start for r in ranges})
        value = Known(Grid(dims, values - lowest), text=f"{name}_known")
        expr = self.elements.expr_of(value, space)
        self.model.declared.constants.append(Constant(self.symbols[name][dims], ranges, expr))

    def _state(self, name: str, placed: Placed, region: Region) -> None:
        """Declare the statement of a line with ~ on a region, after its auxiliary variables."""
        event, part = self._event(name, placed), placed.part
        row = self._row(placed)
        others = {key: self._auxiliary(name, key, placed, row) for key in row.auxiliaries}
        made = self.lines.made(placed.parts, region.label, event, others)
        observed = self.model.declared.observed.get(self.names[name])
        symbol = self.symbols[name]
        parts = (self.model, self.names[name], made, region, lambda *_: symbol, event, observed)
        found = place(*parts)
        check_values(self.model, found.statement, region, observed, made)
        self.model.declared.statements.append(found.statement)
        x = symbol[region.indices]
        order = increasing(x, region.over[0], name) if name in self.facts.ordered else None
        for said in (self.lines.said_of(part, name, x), self.lines.in_order(part, name), order):
            self._add(said and replace(said, name=self.own.fresh(said.name)))

    def _auxiliary(self, name: str, key: str, placed: Placed, row: Distribution) -> Leaf:
        """An auxiliary variable beside each value of a line."""
        auxiliary = row.auxiliaries[key]
        event = placed.event if auxiliary.axes else ()
        inner = [d for d in placed.event if d not in event[: auxiliary.axes]]
        own = self.own.beside(self.names[name], key)
        kept = [
            (d, p) for d, p in zip(self._dims(name), placed.places, strict=True) if d not in inner
        ]
        dims = tuple(d for d, _ in kept)
        given = self._event(name, placed)
        made = self.lines.made(placed.parts, own, given, None, auxiliary)
        if own not in self.model.declared.variables:
            points = any(p.event for p in made.family.parameters.values()) and not made.family.event
            of = given[0] if points else None
            self.model.declare(Variable(own, dims, "random", of=of), "an auxiliary variable")
        self.beside[f"{name}.{key}"] = beside(own, self.layouts[name])
        region = _region(self.model, own, dims, tuple(p for _, p in kept))
        support = made.family.support(given, **dict(made.canonical(given)))
        is_positive = support.lower == 0 and not support.is_discrete
        symbol = Array(own, positive=True) if is_positive else Array(own)
        found = place(self.model, own, made, region, lambda *_: symbol, given, None)
        self.model.declared.statements.append(found.statement)
        return symbol[region.indices]

    def _map(self, relation: Relation) -> Map:
        """A field on a map, which fills a whole vector, or one at each position of loops."""
        name, row = relation.line.target.name, row_of(self.facts, relation.line)  # type: ignore[arg-type]
        target = target_of(self.facts.program, relation, self.facts.numbers)
        assert isinstance(row, Field)
        assert target is not None
        dims = self.dims[name]
        box = box_of(relation, target, self.facts.shape(name), dims)
        alone = box is not None and box.event and name not in self.parts
        if not alone or self.facts.numbers[name].known.any():
            raise self.facts.program.error(
                relation.line.at,
                f"{name} ~ {row.names[0]} gives a part of an array, or what is observed; expected "
                "all values along an axis, which nothing else gives.",
            )
        assert box is not None
        self.names[name] = self.own.fresh(f"{name}.free") if row.is_centred else name
        self.layouts[name] = Natural(dims, (box,), ())
        self.symbols[name] = Array(self.names[name])
        return Map(name, row, box, self.symbols[name])

    def _field(self, field: Map) -> None:
        """Declare a field: flat values, and the potentials of neighbours."""
        own, dims = self.names[field.name], self.dims[field.name]
        region = _region(self.model, own, dims, field.drawn)
        flat = language.written(FAMILIES[field.row.family], region.label, (), {})
        found = place(self.model, own, flat, region, lambda *_: field.symbol, (), None)
        self.model.declared.statements.append(found.statement)
        self.model.declared.constants.extend(field.constants())
        for said in potentials(field, self.elements):
            self._add(said)

    def _observe(self, relation: Relation) -> None:
        """Declare a line that constrains or observes other variables."""
        name = self.own.fresh(f"{relation.line.target.name}_is_seen")
        for said in observations(self.facts, self._in_model(relation, name), self.elements, name):
            self._add(said)

    def _add(self, said: Potential | None) -> None:
        if said is not None:
            self.model.claim(said.name, "what is known of a value")
            self.model.declared.potentials.append(said)

    def _in_model(self, relation: Relation, name: str) -> Relation:
        """The line at positions along its array's dims, if these form a box, else of a table."""
        given = relation.line.target.name
        target = target_of(self.facts.program, relation, self.facts.numbers)
        assert target is not None
        assert relation.space is not None
        box = box_of(relation, target, self.facts.shape(given), self.dims[given])
        if box is not None:
            return box.part
        rows = self.own.dim(f"{name}_row", relation.space.size)
        return relation.within(relation.space.table(rows))


def _region(
    model: Model, name: str, dims: tuple[Dim, ...], places: Sequence[Range | int]
) -> Region:
    key = tuple(p if isinstance(p, int) else slice(p.start, p.stop) for p in places)
    return region_of(model, name, dims, key)
