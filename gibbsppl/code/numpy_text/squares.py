"""Sums of squares about a centre, where that saves reading the data at each draw.

S(x) is S(x0) plus a slope and a quadratic form in x - x0; all but x is computed once.
"""

from __future__ import annotations

from dataclasses import replace

from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.arrays.expressions import Element, Expr
from gibbsppl.code.lowering.translation import Translation
from gibbsppl.code.numpy_text.text import PRODUCT, Text, tuple_text
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.derive.centring import RESIDUAL, Centred, CentredArray, about_centre
from gibbsppl.derive.contractions import data_only


def squares_about_centre(writer: Writer, base: Formula, ranges: tuple[Range, ...]) -> Expr | None:
    """The sum of squares as a local value of the function; None where a centre saves nothing."""
    if (base, ranges) in writer.centred:
        return writer.centred[base, ranges]
    known = writer.known
    about = about_centre(writer.graph, base, ranges, known)
    if about is None:
        return None
    prepared = _centre_prepared(writer, about)
    away = data_only(known.random | {p.away for p in about.parts}, about.graph)
    to = Translation(
        about.graph, replace(away, sizes=known.sizes), frozenset(writer.continuous), None
    )
    terms = [Text(prepared[0])]
    for part, centre, slope in zip(about.parts, prepared[1::2], prepared[2::2], strict=True):
        name = _away(writer, part, centre)
        code = f"{writer.call('inner')}({slope}, {name})" if part.dims else f"{slope} * {name}"
        terms.append(Text(code, (), PRODUCT))
    terms += [writer.text(to(form)) for form in about.forms]
    total = writer.names.fresh("sum_of_squares")
    codes = [t.within(PRODUCT) for t in terms]
    writer.lines += [f"{total} = (", f"    {codes[0]}", *(f"    + {c}" for c in codes[1:]), ")"]
    writer.stand_in(f"·{total}", total, ())
    writer.centred[base, ranges] = Element(f"·{total}")
    return writer.centred[base, ranges]


def _away(writer: Writer, part: CentredArray, centre: str) -> str:
    """The local name of the distances of an array from its centre."""
    x = writer.array(part.name)
    if (key := (part.name, centre)) not in writer.centred:
        writer.centred[key] = Element(writer.names.fresh(f"{x}_away"))
        writer.lines.append(f"{writer.centred[key]} = {x} - {centre}")
    name = str(writer.centred[key])
    writer.stand_in(part.away, name, tuple(map(writer.size, part.dims)))
    return name


def _centre_prepared(writer: Writer, about: Centred) -> list[str]:
    """The names of the values made by ``prepare``: S(x0), the centre and slope of each part."""
    key = ("centre", about.base, tuple((r.dim.name, r.start, r.stop) for r in about.ranges))
    stems = ["squares", *(f"{p.name}_{w}" for p in about.parts for w in ("centre", "slope"))]
    inner = writer.for_prepare(about.graph)
    inner.arrange(r.dim for r in about.ranges)

    def make() -> Text:
        unknown = [p.name for p in about.parts]
        shape = tuple_text(inner.count_text(r.dim, range(r.start, r.stop)) for r in about.ranges)
        with inner.over(about.ranges):
            base = inner.align(inner.write(about.base), tuple(r.dim for r in about.ranges))
        adjoint = [inner.align(inner.write(p.adjoint), p.dims) for p in about.parts]
        writer.hoisted.arrays |= inner.constant_names - set(unknown) - {RESIDUAL}
        names = ", ".join(writer.names.of(n) for n in unknown)
        shapes = ", ".join(inner.shape_text(p.dims) for p in about.parts)
        residual = writer.names.of(RESIDUAL)
        return Text(
            f"{writer.call('centred')}(\n"
            f"        lambda {names}: {base},\n"
            f"        lambda {residual}: ({', '.join(adjoint)},),\n"
            f"        {shape}, {shapes},\n"
            "    )"
        )

    told = f"least squares of {writer.shown(inner.expr(about.base))}"
    return list(map(writer.constant, writer.hoisted.add_all(key, stems, make, told)))
