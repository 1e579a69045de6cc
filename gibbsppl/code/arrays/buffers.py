"""Vectors and matrices that kernels read as arrays of their own, which they may overwrite."""

from __future__ import annotations

from dataclasses import replace

from gibbsppl.code.arrays.expressions import Element, Position
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import Argument, Choice, Draw, Let, Loop, Statement
from gibbsppl.code.arrays.sweeps import Sweep, names_in, spans_in


def buffered(sweep: Sweep) -> Sweep:
    """The sweep, whose draws read vectors and matrices from arrays that nothing else reads."""
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    monitors = _of(sweep.monitors, names)
    return replace(sweep, statements=_of(sweep.statements, names), monitors=monitors)


def _of(statements: tuple[Statement, ...], names: Names) -> tuple[Statement, ...]:
    found: list[Statement] = []
    for s in statements:
        match s:
            case Choice():
                found.append(s.of(lambda body: _of(body, names)))
            case Loop():
                found.append(replace(s, body=_of(s.body, names)))
            case Draw():
                arguments = []
                for n, a in enumerate(s.arguments, 1):
                    let, argument = _buffer(s, a, n, names)
                    found += let
                    arguments.append(argument)
                found.append(replace(s, arguments=tuple(arguments)))
            case _:
                found.append(s)
    return tuple(found)


def _buffer(draw: Draw, a: Argument, n: int, names: Names) -> tuple[list[Statement], Argument]:
    if not a.own or a.as_is:
        return [], a
    name = names.fresh(f"{draw.targets[0].array}_from_{n}")
    dims = (*(s for s in draw.over), *a.own)
    element = Element(name, tuple(Position(s.dim) for s in dims))
    return [Let(name, dims, a.value)], replace(a, value=element)
