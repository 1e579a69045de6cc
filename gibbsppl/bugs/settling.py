"""Loops, arrays and numbers of lines, evaluated until nothing more becomes known.

Comes in: lines, and numbers. Goes out: the positions of the lines' loops, and all arrays, with the
numbers that follow from the given ones.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.bugs.grids import Grid
from gibbsppl.bugs.numbers import Numbers, elements_of, evaluator_of, target_of
from gibbsppl.bugs.ragged import divided
from gibbsppl.bugs.relations import EMPTY, Relation, Space, space_of
from gibbsppl.bugs.syntax import Assignment, Expression, Program, Stochastic
from gibbsppl.bugs.values import Formula, Known


def settled(
    program: Program,
    relations: tuple[Relation, ...],
    numbers: Mapping[str, Numbers],
    given: frozenset[str],
) -> tuple[tuple[Relation, ...], dict[str, Numbers]]:
    """Lines with their spaces, and numbers, once nothing more becomes known; ragged lines divided.

    Lines in empty loops are left out.
    """
    found = dict(numbers)
    while True:
        here, found = _gone_through(program, relations, found, given)
        here = tuple(r for r in here if r.space is None or r.space.size)
        relations = divided(program, here, found)
        if len(relations) == len(here):
            return relations, found


def _gone_through(
    program: Program,
    relations: tuple[Relation, ...],
    numbers: Mapping[str, Numbers],
    given: frozenset[str],
) -> tuple[tuple[Relation, ...], dict[str, Numbers]]:
    """Lines with their spaces, and numbers, without dividing lines."""
    found = dict(numbers)
    spaces = {r.number: r.space for r in relations if r.space is not None}
    done: set[int] = set()
    sizes = declared(program, found)
    while True:
        before = (len(spaces), sum(int(n.known.sum()) for n in found.values()), len(found))
        for r in relations:
            if r.number not in spaces and (space := space_within(program, r, found)) is not None:
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


def space_within(
    program: Program, relation: Relation, numbers: Mapping[str, Numbers]
) -> Space | None:
    """The positions of the loops around a line; None while they are not known."""

    def values(expression: Expression, space: Space) -> Grid | None:
        found = evaluator_of(program, numbers, space).vector(expression)
        if found is not None:
            count = float(space.size) * found.values.shape[-1]
            program.check_size(expression.at, "loops", count)
        return found

    return space_of(relation.around, values)


def declared(program: Program, numbers: Mapping[str, Numbers]) -> dict[str, tuple[int, ...]]:
    """The declared shapes."""
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
    """The arrays, large enough for all elements given by lines."""
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
    """Compute the known elements of a line; return whether all are known."""
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
        raise given_twice(program, line, "")
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
    """Refuse values of another shape than the left side."""
    given = sizes_of(value)
    wanted = tuple(n for i in at for n in sizes_of(i))
    if given != wanted:
        found, expected = (
            "one number" if not s else f"{' x '.join(map(str, s))} numbers" for s in (given, wanted)
        )
        raise program.error(
            line.at, f"found {found} to the right of <-, expected {expected}: {line.target.name}."
        )


def sizes_of(value: Known) -> tuple[int, ...]:
    """The sizes of the axes of known numbers."""
    grid = value.grid
    return tuple(grid.values.shape[grid.dims.index(a)] for a in value.axes)


def given_twice(program: Program, line: Assignment | Stochastic, element: str) -> Exception:
    """The error of a line giving an element, or a name without indices, more than once."""
    name = f"{line.target.name}[{element}]" if element else line.target.name
    return program.error(
        line.target.at,
        f"{name} is given more than once by this line; expected each element once: index it by all "
        "loops around it.",
    )
