"""New arrays as declarations, and the axes that have to be stored: none that a loop stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gibbsppl.code.arrays.accesses import accesses
from gibbsppl.code.arrays.expressions import Element, Expr, Position, Span
from gibbsppl.code.arrays.statements import (
    Choice,
    Density,
    Draw,
    Let,
    Loop,
    Statement,
    Store,
    Type,
    everywhere,
    inner,
)


@dataclass(frozen=True, slots=True)
class Local:
    """A new array: its dims and type."""

    dims: tuple[Span, ...]
    type: Type


def declared(
    statements: Iterable[Statement],
) -> tuple[dict[str, Local], tuple[Statement, ...]]:
    """The new arrays of statements, and the statements, in which new arrays are stored to."""
    locals_: dict[str, Local] = {}
    return locals_, _of(statements, locals_)


def _of(statements: Iterable[Statement], locals_: dict[str, Local]) -> tuple[Statement, ...]:
    found = (_declared(s, locals_) for s in statements)
    return tuple(s for s in found if s is not None)


def _declared(s: Statement, locals_: dict[str, Local]) -> Statement | None:
    match s:
        case Let():
            locals_[s.name] = Local(s.dims, s.type)
            if s.is_empty:
                return None
            target = Element(s.name, tuple(Position(d.dim) for d in s.dims))
            return Store(target, s.value, s.dims, s.note)
        case Loop():
            return replace(s, body=_of(s.body, locals_))
        case Choice():
            return s.of(lambda body: _of(body, locals_))
        case Draw(density=Density() as density):
            return replace(s, density=replace(density, body=_of(density.body, locals_)))
    return s


def stored_axes(
    statements: Sequence[Statement], locals_: Mapping[str, Local], whole: Iterable[str] = ()
) -> dict[str, tuple[bool, ...]]:
    """For each new array, which of its axes are stored: those that some access spans alone."""
    paths: dict[str, list[tuple[tuple[int, str], ...]]] = {}
    spots: dict[str, list[tuple[Expr, ...]]] = {}
    for s, path in _with_paths(statements, ()):
        for array, found in accesses(_bare(s)).found.items():
            if array in locals_:
                paths.setdefault(array, []).append(path)
                spots.setdefault(array, []).extend(i for hows in found.values() for i in hows)
    return {
        array: (True,) * len(locals_[array].dims)
        if array in whole
        else _axes(len(locals_[array].dims), paths[array], spots[array])
        for array in paths
    }


def without_axes(
    statements: Sequence[Statement], stored: Mapping[str, Sequence[bool]]
) -> tuple[Statement, ...]:
    """Statements that index new arrays by the axes that are stored alone."""

    def one(e: Expr) -> Expr:
        if isinstance(e, Element) and e.array in stored:
            kept = zip(e.indices, stored[e.array], strict=True)
            return Element(e.array, tuple(one(i) for i, is_stored in kept if is_stored))
        return e.over(one)

    return tuple(everywhere(s, one) for s in statements)


def _axes(
    rank: int, paths: Sequence[tuple[tuple[int, str], ...]], spots: Sequence[tuple[Expr, ...]]
) -> tuple[bool, ...]:
    common = set()
    for level in zip(*paths, strict=False):
        if len(set(level)) > 1:
            break
        common.add(level[0][1])
    return tuple(not _is_of_loop({i[a] for i in spots}, common) for a in range(rank))


def _is_of_loop(indices: set[Expr], common: set[str]) -> bool:
    """Whether an axis is read and written at the position of one common loop alone."""
    if len(indices) != 1:
        return False
    (index,) = indices
    return isinstance(index, Position) and not index.shift and index.dim in common


def _with_paths(
    statements: Sequence[Statement], path: tuple[tuple[int, str], ...]
) -> Iterator[tuple[Statement, tuple[tuple[int, str], ...]]]:
    """Statements without statements inside, with the loops that each is in."""
    for s in statements:
        inside = (*path, *((id(s), d.dim) for d in s.over)) if isinstance(s, Loop) else path
        if not isinstance(s, Loop):
            yield s, path
        yield from _with_paths(inner(s), inside)


def _bare(s: Statement) -> Statement:
    """A statement without those inside, which are looked at by themselves."""
    if isinstance(s, Draw) and s.density is not None:
        return replace(s, density=replace(s.density, body=()))
    return replace(s, bodies=()) if isinstance(s, Choice) else s
