"""Sums of squares, about a centre where that saves reading the data at each draw.

S(x) is S(x0) plus a slope and a quadratic form in x - x0; all but x is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.text import PRODUCT, Text
from gibbsppl.code.writer import Writer
from gibbsppl.derive.centring import RESIDUAL, Centred, about_centre


def squares(writer: Writer, base: Expr, ranges: tuple[Range, ...]) -> Text:
    """The sum of squares of an expression: about a centre where that saves the data."""
    plain = writer.preparing or not writer.keeps or writer.local is not None
    about = None if plain else about_centre(writer.graph, base, ranges, writer.known)
    if about is not None:
        return _about_centre(writer, about)
    return Text(f"{writer.call('sum_of_squares')}({writer.write(base).code})")


def _about_centre(writer: Writer, about: Centred) -> Text:
    """S(x) as S(x0) plus a slope and a quadratic form in x - x0, all but x computed once."""
    prepared = _centre_prepared(writer, about)
    terms = [Text(prepared[0])]
    away = {}
    for part, centre, slope in zip(about.parts, prepared[1::2], prepared[2::2], strict=True):
        x = writer.array(part.name)
        name = writer.named_once(f"{x} - {centre}", f"{x}_away")
        away[part.away] = name
        code = f"{writer.call('inner')}({slope}, {name})" if part.dims else f"{slope} * {name}"
        terms.append(Text(code, (), PRODUCT))
    with _aliases(writer, about, away):
        terms += [writer.write(e) for e in about.forms]
    total = writer.names.fresh("sum_of_squares")
    codes = [t.within(PRODUCT) for t in terms]
    writer.lines += [f"{total} = (", f"    {codes[0]}", *(f"    + {c}" for c in codes[1:]), ")"]
    return Text(total)


@contextmanager
def _aliases(writer: Writer, about: Centred, away: Mapping[str, str]) -> Iterator[None]:
    """A context in which distances from the centre are arrays of the state, by local names."""
    graph, random = writer.graph, writer.random
    writer.graph, writer.random = about.graph, random | set(away)
    writer.aliases.update(away)
    yield
    writer.graph, writer.random = graph, random


def _centre_prepared(writer: Writer, about: Centred) -> list[str]:
    """The names of the values made by ``prepare``: S(x0), the centre and slope of each part."""
    key = ("centre", about.base, tuple((r.dim.name, r.start, r.stop) for r in about.ranges))
    stems = ["squares", *(f"{p.name}_{w}" for p in about.parts for w in ("centre", "slope"))]

    def make() -> Text:
        inner = writer.for_prepare(about.graph)
        unknown = [p.name for p in about.parts]
        inner.arrange(r.dim for r in about.ranges)
        shape = tuple(len(r) for r in about.ranges)
        with inner.over(about.ranges):
            base = inner.align(inner.write(about.base), tuple(r.dim for r in about.ranges))
        adjoint = [inner.align(inner.write(p.adjoint), p.dims) for p in about.parts]
        writer.hoisted.arrays |= inner.constant_names - set(unknown) - {RESIDUAL}
        names = ", ".join(writer.names.of(n) for n in unknown)
        shapes = ", ".join(str(tuple(map(writer.size, p.dims))) for p in about.parts)
        residual = writer.names.of(RESIDUAL)
        return Text(
            f"{writer.call('centred')}(\n"
            f"        lambda {names}: {base},\n"
            f"        lambda {residual}: ({', '.join(adjoint)},),\n"
            f"        {shape}, {shapes},\n"
            "    )"
        )

    return writer.hoisted.add_all(key, stems, make, f"least squares of {writer.shown(about.base)}")
