"""What is known before anything is random: data, constants computed from them, who defines what.

Comes in: a program and data. Goes out: `Facts`. Lines are gone through until nothing more becomes
known, whatever their order: loops whose ends are known are opened, values that depend on known
numbers alone are computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np

from gibbsppl.bugs.bare_targets import with_ranges
from gibbsppl.bugs.grids import Grid
from gibbsppl.bugs.numbers import Numbers, elements_of, evaluator_of, is_settled, target_of
from gibbsppl.bugs.ragged import divided, with_own_arrays
from gibbsppl.bugs.relations import EMPTY, Relation, Space, relations_of, space_of
from gibbsppl.bugs.syntax import (
    Assignment,
    Expression,
    Program,
    Stochastic,
    names_read,
)
from gibbsppl.bugs.values import Formula, Known


@dataclass(frozen=True, slots=True, eq=False)
class Defined:
    """For each element of an array the line that gives it (0: none), and which of its positions.

    ``relation`` counts lines from 1; ``position`` numbers the positions of its loops in order.
    """

    relation: np.ndarray
    position: np.ndarray


@dataclass(frozen=True, eq=False)
class Facts:
    """The lines with their positions, the numbers that are known, and what each element is.

    ``computed`` names arrays that lines with ``<-`` compute from their own earlier elements.
    """

    program: Program
    relations: tuple[Relation, ...]
    numbers: Mapping[str, Numbers]
    defined: Mapping[str, Defined]
    given: frozenset[str]
    computed: frozenset[str] = frozenset()

    @cached_property
    def random(self) -> frozenset[str]:
        """The names of the arrays that lines with ~ give elements of."""
        lines = (r.line for r in self.relations)
        return frozenset(line.target.name for line in lines if isinstance(line, Stochastic))

    @cached_property
    def recursive(self) -> frozenset[str]:
        """The names of which some element may depend on another one of the same name."""
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


def facts_of(program: Program, data: Mapping[str, Any]) -> Facts:
    """All that follows from a program and its data, before anything is random."""
    numbers = {name: _numbers(value) for name, value in data.items()}
    if program.data is not None:
        numbers = _after_data_block(program, numbers)
    shapes = {n: v.shape for n, v in numbers.items()} | _declared(program, numbers)
    program = with_ranges(program, shapes)
    relations = relations_of(program.model)
    relations, numbers = _settled(program, relations, numbers, given=frozenset(data))
    before = len(relations)
    relations, numbers = with_own_arrays(program, relations, numbers)
    if len(relations) > before:
        relations, numbers = _settled(program, relations, numbers, given=frozenset(data))
    for r in relations:
        if r.space is None:
            raise program.error(
                _unknown_loop(program, r, numbers).at,
                "the values that a loop goes through depend on what is not known; expected "
                "numbers, data, or what is computed from these.",
            )  # fmt: skip
    return Facts(
        program, relations, numbers, _defined(program, relations, numbers, data), frozenset(data)
    )


def _numbers(value: Any) -> Numbers:
    masked = np.ma.asarray(value)
    values = np.array(masked.filled(0) if masked.mask is not np.ma.nomask else masked.data)
    return Numbers(values, ~np.ma.getmaskarray(masked))


def _after_data_block(program: Program, numbers: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """The data with what the data block computes from them."""
    assert program.data is not None
    relations = relations_of(program.data)
    for r in relations:
        if isinstance(r.line, Stochastic):
            raise program.error(
                r.line.at,
                "~ in the data block draws data at random; expected <- there: simulate the data "
                "first, and pass them.",
            )  # fmt: skip
    relations, found = _settled(program, relations, numbers, given=frozenset(numbers))
    for r in relations:
        line = r.line
        if r.space is None or not is_settled(program, r, found):
            raise program.error(
                line.at,
                f"{line.target.name} depends on what is not known: the data block computes from "
                "data alone.",
            )  # fmt: skip
    return found


def _settled(
    program: Program,
    relations: tuple[Relation, ...],
    numbers: Mapping[str, Numbers],
    given: frozenset[str],
) -> tuple[tuple[Relation, ...], dict[str, Numbers]]:
    """Spaces and numbers, once nothing more becomes known; lines of different lengths divided.

    Lines in loops that go through nothing give nothing, and are left out.
    """
    found = dict(numbers)
    while True:
        settled, found = _gone_through(program, relations, found, given)
        settled = tuple(r for r in settled if r.space is None or r.space.size)
        relations = divided(program, settled, found)
        if len(relations) == len(settled):
            return relations, found


def _gone_through(
    program: Program,
    relations: tuple[Relation, ...],
    numbers: Mapping[str, Numbers],
    given: frozenset[str],
) -> tuple[tuple[Relation, ...], dict[str, Numbers]]:
    """Spaces and numbers, of lines as they are."""
    found = dict(numbers)
    spaces = {r.number: r.space for r in relations if r.space is not None}
    done: set[int] = set()
    sizes = _declared(program, found)
    while True:
        before = (len(spaces), sum(int(n.known.sum()) for n in found.values()), len(found))
        for r in relations:
            if r.number not in spaces and (space := _space(program, r, found)) is not None:
                spaces[r.number] = space
        found = _shaped(program, relations, spaces, found, sizes, given)
        for r in relations:
            waits = r.number in spaces and r.number not in done
            if waits and isinstance(r.line, Assignment):
                here = r.within(spaces[r.number])
                done |= {r.number} if _computed(program, here, found) else set()
        if before == (len(spaces), sum(int(n.known.sum()) for n in found.values()), len(found)):
            break
    return tuple(r.within(spaces[r.number]) if r.number in spaces else r for r in relations), found


def _space(program: Program, relation: Relation, numbers: Mapping[str, Numbers]) -> Space | None:
    def values(expression: Expression, space: Space) -> Grid | None:
        found = evaluator_of(program, numbers, space).vector(expression)
        if found is not None:
            count = float(space.size) * found.values.shape[-1]
            program.check_size(expression.at, "loops", count)
        return found

    return space_of(relation.around, values)


def _declared(program: Program, numbers: Mapping[str, Numbers]) -> dict[str, tuple[int, ...]]:
    """The shapes that are declared."""
    found = {}
    for d in program.declarations:
        sizes = [evaluator_of(program, numbers, EMPTY).value(s) for s in d.sizes or ()]
        if not all(isinstance(s, Known) and s.is_known for s in sizes):
            raise program.error(
                d.at, f"the size of {d.name} is not known; expected numbers, or data."
            )
        ends = [s.grid.values.astype(float) for s in sizes if isinstance(s, Known)]
        if any(e.ndim or not e >= 1 or e != np.rint(e) for e in ends):
            told = ", ".join(str(e.tolist()) for e in ends)
            raise program.error(
                d.at, f"the size of {d.name} is [{told}]; expected whole numbers from 1 on."
            )
        program.check_size(d.at, d.name, float(np.prod(ends)))
        found[d.name] = tuple(map(int, ends))
    return found


def _shaped(
    program: Program,
    relations: tuple[Relation, ...],
    spaces: Mapping[int, Space],
    numbers: Mapping[str, Numbers],
    sizes: Mapping[str, tuple[int, ...]],
    given: frozenset[str],
) -> dict[str, Numbers]:
    """The arrays, as large as the elements that lines give."""
    ends: dict[str, list[int]] = {n: list(s) for n, s in sizes.items()}
    for r in relations:
        name = r.line.target.name
        if r.number not in spaces or name in given or name in sizes:
            continue
        at = target_of(program, r.within(spaces[r.number]), numbers)
        if at is None:
            continue
        largest = [float(g.grid.values.max(initial=0)) for g in at]
        program.check_size(r.line.at, name, float(np.prod(largest)))
        own = [int(n) for n in largest]
        known = ends.setdefault(
            name, [*numbers[name].shape] if name in numbers else [0] * len(own)
        )
        if len(known) != len(own):
            raise program.error(
                r.line.at,
                f"{name} has {len(own)} indices here and {len(known)} elsewhere; expected as many.",
            )  # fmt: skip
        ends[name] = [max(a, b) for a, b in zip(known, own, strict=True)]
        program.check_size(r.line.at, name, float(np.prod(ends[name], dtype=float)))
    found = dict(numbers)
    for name, size in ends.items():
        if name not in found:
            found[name] = Numbers(np.zeros(size), np.zeros(size, dtype=bool))
        elif name not in given and found[name].shape != tuple(size):
            wider = Numbers(np.zeros(size), np.zeros(size, dtype=bool))
            inside = tuple(slice(0, n) for n in found[name].shape)
            wider.values[inside], wider.known[inside] = found[name].values, found[name].known
            found[name] = wider
    return found


def _computed(program: Program, relation: Relation, numbers: dict[str, Numbers]) -> bool:
    """Compute the elements that a line gives, as far as they are known; whether all are."""
    line, space = relation.line, relation.space
    assert isinstance(line, Assignment)
    assert space is not None
    at = target_of(program, relation, numbers)
    if at is None:
        return False
    value = evaluator_of(program, numbers, space).assigned(line)
    if isinstance(value, Formula) or not np.any(value.grid.known):
        return False
    own = tuple(a for i in at for a in i.axes)
    _check_shape(program, line, at, value)
    grid = value.grid.renamed(dict(zip(value.axes, own, strict=True)))
    array = numbers[line.target.name]
    dims, elements, _ = elements_of(program, line.target, array.shape, at or None)
    order = (*(d for d in space.dims if d in {*dims, *grid.dims}), *own)
    if any(space.sizes[d] > 1 for d in set(order) & set(space.dims) - set(dims)):
        raise _given_twice(program, line, "")
    every = [Grid(dims, e).along(order) for e in elements]
    values, known = grid.along(order), grid.known_along(order)
    full = np.broadcast_shapes(np.shape(values), *(np.shape(e) for e in every))
    where = np.broadcast_to(known, full)
    if not every:
        full, where = (1,), np.reshape(where, 1)
    places = tuple(np.broadcast_to(e, full)[where] for e in every or [np.zeros(1, np.intp)])
    flat = np.ravel_multi_index(places, array.shape or (1,))
    if values.dtype.kind == "f" and array.values.dtype.kind != "f":
        array = numbers[line.target.name] = Numbers(array.values.astype(float), array.known)
    array.values.flat[flat] = np.broadcast_to(values, full)[where]
    array.known.flat[flat] = True
    return bool(where.all())


def _check_shape(
    program: Program, line: Assignment, at: tuple[Known, ...], value: Known
) -> None:
    """Refuse values of another shape than what they are given to."""
    given = _sizes_of(value)
    wanted = tuple(n for i in at for n in _sizes_of(i))
    if given != wanted:
        found, expected = (
            "one number" if not s else f"{' x '.join(map(str, s))} numbers" for s in (given, wanted)
        )
        raise program.error(
            line.at, f"found {found} to the right of <-, expected {expected}: {line.target.name}."
        )


def _sizes_of(value: Known) -> tuple[int, ...]:
    grid = value.grid
    return tuple(grid.values.shape[grid.dims.index(a)] for a in value.axes)


def _given_twice(program: Program, line: Assignment | Stochastic, element: str) -> Exception:
    name = f"{line.target.name}[{element}]" if element else line.target.name
    return program.error(
        line.target.at,
        f"{name} is given more than once by this line; expected each element once: index it by all "
        "loops around it.",
    )


def _unknown_loop(program: Program, relation: Relation, numbers: Mapping[str, Numbers]) -> Any:
    """The outermost loop around a line whose values are not known."""
    for n, loop in enumerate(relation.around, 1):
        if _space(program, Relation(0, relation.line, relation.around[:n]), numbers) is None:
            return loop.values
    raise AssertionError(relation)


def _defined(
    program: Program,
    relations: tuple[Relation, ...],
    numbers: Mapping[str, Numbers],
    given: Mapping[str, Any],
) -> dict[str, Defined]:
    """For each element of each array the line that gives it."""
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
                raise _given_twice(program, r.line, "")
            position = position.reshape(())
        here = found[name]
        _check_once(program, relations, r, numbers[name], here, places, name in given)
        if isinstance(r.line, Assignment) and numbers[name].known[places].all():
            continue
        here.relation[places] = r.number + 1
        here.position[places] = position
        if (here.position[places] != position).any():
            wrong = np.argwhere(here.position[places] != position)[0]
            element = ", ".join(str(int(p[tuple(wrong)]) + 1) for p in places)
            raise _given_twice(program, r.line, element)
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
    is_data: bool,
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
    if is_data and isinstance(line, Assignment) and numbers.known[places].any():
        raise program.error(
            line.target.at,
            f"{name} is in the data and is computed here; take it out of one of them.",
        )
