"""Facts of a program before any randomness: data, computed constants, the line of each element.

Comes in: a program and data. Goes out: `Facts`. The lines are evaluated over and over, in any
order, until nothing more becomes known: loops with known ends are unrolled, values that depend on
known numbers alone are computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import networkx as nx
import numpy as np

from gibbsppl.bugs.bare_targets import with_ranges
from gibbsppl.bugs.grids import Array, Data, Grid
from gibbsppl.bugs.numbers import Numbers, elements_of, is_settled, target_of
from gibbsppl.bugs.ragged import with_own_arrays
from gibbsppl.bugs.relations import Relation, Space, relations_of
from gibbsppl.bugs.settling import given_twice, settled, space_within
from gibbsppl.bugs.syntax import Assignment, Expression, Program, Stochastic, names_read
from gibbsppl.bugs.values import Known


@dataclass(frozen=True, slots=True, eq=False)
class Defined:
    """For each element of an array, the number of its line and of the loops' position there.

    ``relation`` counts lines from 1 (0: no line); ``position`` numbers the positions of the line's
    loops in order.
    """

    relation: np.ndarray
    position: np.ndarray


@dataclass(frozen=True, eq=False)
class Facts:
    """The lines with their positions, the known numbers, and the line of each element.

    ``computed`` names recursive arrays, computed by lines with ``<-`` from earlier elements;
    ``ordered`` names vectors held in increasing order.
    """

    program: Program
    relations: tuple[Relation, ...]
    numbers: Mapping[str, Numbers]
    defined: Mapping[str, Defined]
    given: frozenset[str]
    computed: frozenset[str] = frozenset()
    ordered: frozenset[str] = frozenset()

    @cached_property
    def random(self) -> frozenset[str]:
        """The names of the arrays that lines with ~ give elements of."""
        lines = (r.line for r in self.relations)
        return frozenset(line.target.name for line in lines if isinstance(line, Stochastic))

    @cached_property
    def recursive(self) -> frozenset[str]:
        """The names of arrays that may depend on elements of their own."""
        names = {r.line.target.name for r in self.relations}
        edges = ((n, r.line.target.name) for r in self.relations for n in names_read(r.line))
        view = nx.DiGraph((a, b) for a, b in edges if a in names)
        alone = {a for a in view if not view.has_edge(a, a)}
        groups = nx.strongly_connected_components(view)
        return frozenset(n for g in groups for n in g if len(g) > 1 or n not in alone)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array."""
        return self.numbers[name].shape

    def relation(self, number: int) -> Relation:
        """The line of a number, counted from 1."""
        return self.relations[number - 1]


def facts_of(program: Program, data: Data) -> Facts:
    """The facts that follow from a program and its data, before any randomness."""
    numbers = {name: _numbers(value) for name, value in data.items()}
    given = {name: n.known.copy() for name, n in numbers.items()}
    if program.data is not None:
        program = replace(program, data=with_ranges(program, program.data, numbers))
        numbers = _after_data_block(program, numbers)
    program = replace(program, model=with_ranges(program, program.model, numbers))
    relations = relations_of(program.model)
    relations, numbers = settled(program, relations, numbers, given=frozenset(data))
    before = len(relations)
    relations, numbers = with_own_arrays(program, relations, numbers)
    if len(relations) > before:
        given = {name: known & numbers[name].known for name, known in given.items()}
        relations, numbers = settled(program, relations, numbers, given=frozenset(data))
    for r in relations:
        if r.space is None:
            raise program.error(
                _unknown_loop(program, r, numbers).at,
                "the values that a loop goes through depend on what is not known; expected "
                "numbers, data, or what is computed from these.",
            )  # fmt: skip
    defined = _defined(program, relations, numbers, given)
    return Facts(program, relations, numbers, defined, frozenset(data))


def _numbers(value: Array) -> Numbers:
    masked = np.ma.asarray(value)
    values = np.array(masked.filled(0) if masked.mask is not np.ma.nomask else masked.data)
    return Numbers(values, ~np.ma.getmaskarray(masked))


def _after_data_block(program: Program, numbers: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """The data, with the arrays that the data block computes."""
    assert program.data is not None
    relations = relations_of(program.data)
    for r in relations:
        if isinstance(r.line, Stochastic):
            raise program.error(
                r.line.at,
                "~ in the data block draws data at random; expected <- there: simulate the data "
                "first, and pass them.",
            )  # fmt: skip
    relations, found = settled(program, relations, numbers, given=frozenset(numbers))
    for r in relations:
        line = r.line
        if r.space is None or not is_settled(program, r, found):
            raise program.error(
                line.at,
                f"{line.target.name} depends on what is not known: the data block computes from "
                "data alone.",
            )  # fmt: skip
    return found


def _unknown_loop(
    program: Program, relation: Relation, numbers: Mapping[str, Numbers]
) -> Expression:
    """The outermost loop around a line whose values are not known."""
    for n, loop in enumerate(relation.around, 1):
        if space_within(program, Relation(0, relation.line, relation.around[:n]), numbers) is None:
            return loop.values
    raise AssertionError(relation)


def _defined(
    program: Program,
    relations: tuple[Relation, ...],
    numbers: Mapping[str, Numbers],
    given: Mapping[str, np.ndarray],
) -> dict[str, Defined]:
    """The line of each element of each array; ``given`` are the elements of the data."""
    found = {
        name: Defined(np.zeros(n.shape, dtype=np.intp), np.zeros(n.shape, dtype=np.intp))
        for name, n in numbers.items()
    }
    for r in relations:
        name, space = r.line.target.name, r.space
        assert space is not None
        at = target_of(program, r, numbers)
        if at is None:
            raise program.error(
                r.line.target.at,
                f"the indices of {name} are not known here; expected numbers, or data.",
            )
        dims, elements, axes = elements_of(program, r.line.target, numbers[name].shape, at or None)
        order = (*space.dims, *axes)
        every = [np.broadcast_to(Grid(dims, e).along(order), _full(space, at)) for e in elements]
        position = np.arange(space.size).reshape((*space.shape, *[1] * len(axes)))
        position = np.broadcast_to(position, _full(space, at))
        places = tuple(e for e in every)
        if not places:
            if space.size > 1:
                raise given_twice(program, r.line, "")
            position = position.reshape(())
        here = found[name]
        _check_once(program, relations, r, numbers[name], here, places, given.get(name))
        if isinstance(r.line, Assignment) and numbers[name].known[places].all():
            continue
        here.relation[places] = r.number + 1
        here.position[places] = position
        if (here.position[places] != position).any():
            wrong = np.argwhere(here.position[places] != position)[0]
            element = ", ".join(str(int(p[tuple(wrong)]) + 1) for p in places)
            raise given_twice(program, r.line, element)
    return found


def _full(space: Space, at: tuple[Known, ...]) -> tuple[int, ...]:
    own = [i.grid.values.shape[i.grid.dims.index(a)] for i in at for a in i.axes]
    return (*space.shape, *own)


def _check_once(
    program: Program,
    relations: tuple[Relation, ...],
    relation: Relation,
    numbers: Numbers,
    here: Defined,
    places: tuple[np.ndarray, ...],
    given: np.ndarray | None,
) -> None:
    """No element is given by two lines, or by a line with <- and by the data."""
    line, name = relation.line, relation.line.target.name
    others = np.unique(here.relation[places])
    for other in others[others > 0]:
        one = relations[other - 1].line
        transformed = isinstance(one, Assignment) != isinstance(line, Assignment)
        if not (transformed and numbers.known[places].all()):
            raise program.error(
                line.target.at,
                f"elements of {name} are given here and by line {one.at.line}; expected one line "
                "for each element.",
            )
    is_data = given is not None and given[places].any()
    if isinstance(line, Assignment) and is_data:
        raise program.error(
            line.target.at,
            f"{name} is in the data and is computed here; take it out of one of them.",
        )
