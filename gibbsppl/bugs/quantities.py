"""Quantities recorded with the draws: numbers, arrays that no line reads, monitored names.

An array that the model holds in another form is recorded in the program's form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, leaves_of
from gibbsppl.algebra.functions import Where
from gibbsppl.bugs.evaluator import Evaluator
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.grids import Grid
from gibbsppl.bugs.layouts import Table
from gibbsppl.bugs.reading import lines_in
from gibbsppl.bugs.references import Elements
from gibbsppl.bugs.relations import Space
from gibbsppl.bugs.syntax import BugsError, names_read
from gibbsppl.bugs.values import Known
from gibbsppl.errors import did_you_mean
from gibbsppl.model.graph import Deterministic, Graph


def check_monitor(facts: Facts, monitor: Sequence[str]) -> None:
    """Refuse names that the program does not define."""
    for name in monitor:
        if name not in facts.defined:
            meant = did_you_mean(name, facts.defined)
            raise BugsError(
                f"monitor: found {name!r}, expected names that the program gives, such as "
                f"{', '.join(list(facts.defined)[:5])}; whole arrays, without indices.{meant}",
                origin=facts.program.origin,
            )


def record(
    facts: Facts, elements: Elements, names: Mapping[str, str], monitor: Sequence[str]
) -> None:
    """Declare the quantities; ``names``: program's name -> model's name of a random array."""
    read = {n for r in facts.relations for n in names_read(r.line)}
    drawn = {line.target.name for line in lines_in(facts.program.model)}
    for name, defined in facts.defined.items():
        given = defined.relation > 0
        if not given.any() or facts.numbers[name].known[given].all():
            continue
        if name in facts.computed:
            _of_computed(facts, elements, name)
        elif name in names:
            if names[name].startswith(f"{name}.table"):
                _from_table(elements, name)
            elif names[name] != name and name not in facts.ordered:
                _every(facts, elements, name)
        elif name not in read or not facts.shape(name) or name in {*monitor, *drawn}:
            _every(facts, elements, name)


# Suffixes of the model's arrays that hold an array of the program in another form.
FORMS = ("free", "label", "ordered", "padded", "part", "shifted", "table")


def as_in_the_program(graph: Graph) -> tuple[str, ...]:
    """The names of the variables drawn and quantities recorded, in the program's form only."""
    forms = rf"(\.({'|'.join(FORMS)})(_\d+)?)+"
    read = ((d.name, {x.array.name for x in leaves_of(d.value)}) for d in graph.deterministics)
    held = {n for d, names in read for n in names if re.fullmatch(re.escape(d) + forms, n)}
    wanted = (n for n in graph.drawn if n not in held)
    return (*wanted, *(d.name for d in graph.deterministics))


def _from_table(elements: Elements, name: str) -> None:
    """A table as the program's array; elements that nothing gives are not numbers."""
    layout, dims = elements.layouts[name], elements.dims[name]
    assert isinstance(layout, Table)
    outer = tuple(d for n, d in enumerate(dims) if n not in layout.event)
    inner = [dims[n] for n in layout.event]
    starts = dict.fromkeys(dims, 0)
    rows = Grid(outer, np.maximum(layout.row, 0))
    row = elements.position(rows, layout.dim, f"{name}_row", starts)
    x = elements.symbols[name][(row, *inner)] + elements.lowest[name]
    _quantity(elements, name, dims, _where_given(elements, name, outer, layout.row >= 0, x))


def _of_computed(facts: Facts, elements: Elements, name: str) -> None:
    """An array computed from its own elements, with elements given by nothing."""
    given = (facts.defined[name].relation > 0) | facts.numbers[name].known
    if not given.all():
        dims = elements.dims[name]
        x = Leaf(Array(name), *dims)
        _quantity(elements, name, dims, _where_given(elements, name, dims, given, x))


def _every(facts: Facts, elements: Elements, name: str) -> None:
    """A quantity at all positions of its array; elements that nothing gives are not numbers."""
    dims = elements.dims[name]
    sizes = dict(zip(dims, facts.shape(name), strict=True))
    space = Space(sizes, {}, dict.fromkeys(dims, 0))
    evaluator = Evaluator(facts.program, elements, space)
    line = next(r.line for r in facts.relations if r.line.target.name == name)
    given = (facts.defined[name].relation > 0) | facts.numbers[name].known
    indices = tuple(Known(Grid.range(d, 1, n)) for d, n in sizes.items())
    if not given.all():
        some = np.argwhere(given)[0]
        places = zip(np.indices(given.shape), some, strict=True)
        indices = tuple(Known(Grid(dims, np.where(given, p, s) + 1)) for p, s in places)
    x = evaluator.expr(elements.reference(line.target, indices, evaluator))
    _quantity(elements, name, dims, _where_given(elements, name, dims, given, x))


def _where_given(
    elements: Elements, name: str, dims: tuple[Dim, ...], given: np.ndarray, x: Expr
) -> Expr:
    """The values of an array, where anything gives it."""
    if given.all():
        return x
    space = Space(dict(zip(dims, given.shape, strict=True)), {}, dict.fromkeys(dims, 0))
    where = Known(Grid(dims, given.astype(int)), text=f"{name}_given")
    return Where(elements.expr_of(where, space), x, sp.nan)


def _quantity(elements: Elements, name: str, dims: tuple[Dim, ...], value: Expr) -> None:
    model = elements.model
    if name not in model.declared.variables:
        model.claim(name, "a quantity")
    model.declared.deterministics.append(Deterministic(name, dims, value))
