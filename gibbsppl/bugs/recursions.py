"""Arrays that lines with ``<-`` compute from their own earlier elements, as arrays of the model.

Comes in: which arrays these are. Goes out: they are declared, each line as what computes a box.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from gibbsppl.algebra.expressions import Array, Expr, substitute
from gibbsppl.algebra.ranges import Range
from gibbsppl.bugs.checked_lines import check_assigned
from gibbsppl.bugs.evaluator import Evaluator
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.grids import Grid
from gibbsppl.bugs.layouts import Box, box_of, boxes_of, places_of
from gibbsppl.bugs.numbers import target_of
from gibbsppl.bugs.parts import unsupported
from gibbsppl.bugs.ragged_recursions import in_regions
from gibbsppl.bugs.references import Elements
from gibbsppl.bugs.relations import Relation, Space
from gibbsppl.bugs.syntax import Assignment, Stochastic, names_read
from gibbsppl.bugs.values import Known
from gibbsppl.language.model import Model
from gibbsppl.model.graph import Constant, Variable


def declare_computed(facts: Facts, model: Model, elements: Elements) -> None:
    """Declare the arrays, each with the value of its regions."""
    for name in sorted(facts.computed):
        model.declare(Variable(name, elements.dims[name], "random"), "a computed array")
    for name in sorted(facts.computed):
        lines = [r for r in _lines(facts, name) if isinstance(r.line, Assignment)]
        if any(_box(facts, elements, name, r) is None for r in lines):
            given = in_regions(facts, elements, name, lines)
        else:
            own = (_of_line(facts, elements, name, r) for r in lines)
            given = [*own, *_drawn(facts, elements, name), *_numbers(facts, elements, name)]
        model.declared.computed[name] = given


def out_of_order(facts: Facts, names: Collection[str]) -> Exception:
    """The error at the first line computing elements of arrays from other elements of them."""
    lines = (r.line for r in facts.relations if r.line.target.name in names)
    line = next(s for s in lines if isinstance(s, Assignment) and {*names_read(s)} & {*names})
    return unsupported(facts, line.target.name, line, line.value.at)


def _lines(facts: Facts, name: str) -> list[Relation]:
    """The lines giving elements of an array, except for lines of known numbers alone."""
    defined, known = facts.defined[name].relation, facts.numbers[name].known
    lines = (r for r in facts.relations if r.line.target.name == name)
    return [
        r
        for r in lines
        if isinstance(r.line, Stochastic) or not known[defined == r.number + 1].all()
    ]


def _box(facts: Facts, elements: Elements, name: str, line: Relation) -> Box | None:
    """The box filled by a line; None if its elements are no box."""
    target = target_of(facts.program, line, facts.numbers)
    assert target is not None
    return box_of(line, target, facts.shape(name), elements.dims[name])


def _of_line(facts: Facts, elements: Elements, name: str, line: Relation) -> Constant:
    """The value of a line with ``<-`` on its box."""
    assignment, box = line.line, _box(facts, elements, name, line)
    assert isinstance(assignment, Assignment)
    assert box is not None
    assert box.part.space is not None
    evaluator = Evaluator(facts.program, elements, box.part.space)
    with facts.program.told_at(assignment.value.at):
        value = evaluator.assigned(assignment)
        expr = evaluator.expr(value)
    check_assigned(facts, assignment, len(value.axes), len(box.event))
    event = (elements.dims[name][a] for a in box.event)
    own: dict[Expr, Expr] = dict(zip(value.axes, event, strict=True))
    return _given(name, box.places, substitute(expr, own))


def _drawn(facts: Facts, elements: Elements, name: str) -> list[Constant]:
    """The elements given by lines with ``~``, observed ones among them."""
    drawn = [
        r.number + 1
        for r in facts.relations
        if r.line.target.name == name and isinstance(r.line, Stochastic)
    ]
    defined = np.isin(facts.defined[name].relation, drawn)
    line = next(r.line for r in facts.relations if r.line.target.name == name)
    found = []
    for box in boxes_of(defined):
        places = places_of(box, elements.dims[name])
        ranges = tuple(p for p in places if isinstance(p, Range))
        dims = tuple(r.dim for r in ranges)
        shape = tuple(map(len, ranges))
        every = np.moveaxis(np.indices(defined.shape), 0, -1)[box]
        at = tuple(every[..., n].reshape(shape) for n in range(defined.ndim))
        space = Space({}, {}, {r.dim: r.start for r in ranges})
        found.append(_given(name, places, elements.element(line.target, dims, at, space)))
    return found


def _numbers(facts: Facts, elements: Elements, name: str) -> list[Constant]:
    """The elements known as numbers."""
    numbers, dims = facts.numbers[name], elements.dims[name]
    found = []
    for box in boxes_of(numbers.known & (facts.defined[name].relation == 0)):
        places = places_of(box, dims)
        ranges = tuple(p for p in places if isinstance(p, Range))
        own = tuple(r.dim for r in ranges)
        kept = numbers.values[box].reshape(tuple(map(len, ranges)))
        space = Space({}, {}, {r.dim: r.start for r in ranges})
        expr = elements.expr_of(Known(Grid(own, np.asarray(kept)), text=f"{name}_known"), space)
        found.append(_given(name, places, expr))
    return found


def _given(name: str, places: tuple[Range | int, ...], expr: Expr) -> Constant:
    indices = tuple(p.dim if isinstance(p, Range) else p for p in places)
    over = tuple(p for p in places if isinstance(p, Range))
    return Constant(Array(name)[indices], over, expr)
