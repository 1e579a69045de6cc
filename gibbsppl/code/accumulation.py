"""The lines of one natural parameter: the contribution and the place of each factor.

A parameter is over the whole array, also where a statement fills a region: what several factors add
to different parts is then added as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr, dims_of
from gibbsppl.code.lines import INDENT, assigned, is_product
from gibbsppl.code.places import index_text, kept_slices_text, ranges_of
from gibbsppl.code.tables import Gather, as_table, written
from gibbsppl.code.writer import Writer
from gibbsppl.derive.contractions import Contribution
from gibbsppl.pieces.dependence import Place
from gibbsppl.schedule.parameters import Bound, NaturalParameter

# Fewer values than this stay in the cache, and are computed where they are needed.
MANY_VALUES = 1 << 16


def accumulated(
    writer: Writer,
    name: str,
    parameter: NaturalParameter,
    *,
    full: bool,
    as_rows: bool = False,
) -> list[str]:
    """Lines that compute one natural parameter from the contributions of the factors.

    ``full``: the parameter must have all axes, even without a contribution that depends on them.
    ``as_rows``: it is read whole along the last axis, and may be a sum of rows of tables.
    """
    writer.order = {}
    writer.arrange(parameter.axes)
    rows = _rows(writer, parameter) if as_rows and not full else None
    if rows is not None:
        lines = _sum_of_rows(writer, name, parameter.axes, *rows)
    elif all(c.is_everywhere(writer.sizes) for c in parameter.contributions):
        lines = _summed(writer, name, parameter, full=full)
    else:
        shape = tuple(map(writer.size, parameter.axes))
        lines = [f"{name} = {writer.call('zeros')}({shape})"]
        lines += [_added(writer, name, c, parameter.axes) for c in parameter.contributions]
    return lines + _on_diagonal(writer, name, parameter)


def bound_lines(writer: Writer, bound: Bound, *, full: bool) -> list[str]:
    """Lines that compute one side of a truncated draw: the tightest bound of all factors."""
    writer.order = {}
    writer.arrange(bound.axes)
    name, tightest = bound.side, writer.call("maximum" if bound.side == "lower" else "minimum")
    everywhere = [c for c in bound.contributions if c.is_everywhere(writer.sizes)]
    texts = [writer.write(c.value) for c in everywhere]
    codes = [writer.align(t, bound.axes) for t in texts]
    code = codes[0] if codes else ('-float("inf")' if name == "lower" else 'float("inf")')
    for other in codes[1:]:
        code = f"{tightest}({code}, {other})"
    factors = ", ".join(dict.fromkeys(c.factor for c in everywhere))
    lines = [f"{name} = {code}" + (f"  # from {factors}" if factors else "")]
    rest = [c for c in bound.contributions if c not in everywhere]
    if (full or rest) and bound.axes:
        shape = tuple(map(writer.size, bound.axes))
        lines.append(f"{name} = {writer.call('broadcast_to')}({name}, {shape})")
        lines += [f"{name} = {name}.astype(float)"] * bool(rest)
    for c in rest:
        with writer.over(ranges_of(c.place)):
            value = writer.align(writer.write(c.value), _ranged(bound.axes, c))
        at = name + index_text(c.place, bound.axes, writer)
        lines.append(f"{at} = {tightest}({at}, {value})  # from {c.factor}")
    return lines


def _summed(writer: Writer, name: str, parameter: NaturalParameter, *, full: bool) -> list[str]:
    """Lines that add up contributions, each of which goes to every position."""
    axes = parameter.axes
    merged = _numbers_merged(parameter.contributions)
    texts = [(writer.write(c.value), c.factor) for c in merged]
    terms = [(writer.align(t, axes), factor) for t, factor in texts] or [("0.0", "")]
    lines = assigned(name, terms)
    complete = {d for t, _ in texts for d in t.dims} == set(axes)
    if full and axes and not complete:
        shape = tuple(map(writer.size, axes))
        lines.append(f"{name} = {writer.call('broadcast_to')}({name}, {shape})")
    return lines


def _rows(writer: Writer, parameter: NaturalParameter) -> tuple[Expr, list[Gather]] | None:
    """A parameter as a term common to all rows plus tables read by row; None for other forms."""
    axes = parameter.axes
    everywhere = all(c.is_everywhere(writer.sizes) for c in parameter.contributions)
    few = prod(map(writer.size, axes)) < MANY_VALUES
    if len(axes) < 2 or few or parameter.squares or not everywhere:
        return None
    terms = [(c.factor, t) for c in parameter.contributions for t in _terms(c.value)]
    same = sp.Add(*(t for _, t in terms if dims_of(t) <= {axes[-1]}))
    rest = [_read_at(writer, f, t, axes) for f, t in terms if not dims_of(t) <= {axes[-1]}]
    rows = [r for r in rest if r is not None]
    return (same, rows) if rows and len(rows) == len(rest) else None


def _terms(value: Expr) -> tuple[Expr, ...]:
    """The terms of a sum; the log of a product of nonnegative factors is split into terms, too."""
    found: list[Expr] = []
    for term in sp.Add.make_args(value):
        factors = term.args[0].args if isinstance(term, sp.log) and term.args[0].is_Mul else ()
        split = factors and all(f.is_nonnegative for f in factors)
        found += map(sp.log, factors) if split else (term,)
    return tuple(found)


def _read_at(writer: Writer, factor: str, term: Expr, axes: tuple[Dim, ...]) -> Gather | None:
    """A term as a table of rows, if the rows are fewer than the positions read; else None."""
    table = as_table(writer, factor, term, frozenset(axes[:-1]))
    if table is None or dims_of(table.value) != {table.along, axes[-1]}:
        return None
    return table if table.size < prod(map(writer.size, dims_of(table.index))) else None


def _sum_of_rows(
    writer: Writer, name: str, axes: tuple[Dim, ...], same: Expr, rows: Sequence[Gather]
) -> list[str]:
    """The lines of a ``SumOfRows``: a parameter as a sum of tables, each read at an index."""
    lines = [
        f"{name} = {writer.call('SumOfRows')}(",
        f"{INDENT}{tuple(map(writer.size, axes))},",
        f"{INDENT}{writer.align(writer.write(same), axes[-1:])},",
    ]
    for r in rows:
        values, index = written(writer, r, (r.along, axes[-1]), axes[:-1])
        lines.append(f"{INDENT}{writer.call('Rows')}({values}, {index}),  # from {r.factor}")
    return [*lines, ")"]


def _on_diagonal(writer: Writer, name: str, parameter: NaturalParameter) -> list[str]:
    """Lines that add the coefficients of squares to the diagonal of those of pairs."""
    if not parameter.squares:
        return []
    own = parameter.axes[: len(parameter.squares[0].place)]
    count, function = len(parameter.axes) - len(own), writer.call("plus_diagonal")
    by_place: dict[tuple[Place, ...], list[Contribution]] = {}
    for c in parameter.squares:
        by_place.setdefault(c.place, []).append(c)
    lines = []
    for place, found in by_place.items():
        with writer.over(ranges_of(place)):
            codes = [writer.align(writer.write(c.value), own) for c in found]
        total = " + ".join(map(_as_term, codes)) if len(codes) > 1 else codes[0]
        factors = ", ".join(dict.fromkeys(c.factor for c in found))
        at = "" if found[0].is_everywhere(writer.sizes) else f", {kept_slices_text(place)}"
        lines.append(f"{name} = {function}({name}, {total}, {count}{at})  # from {factors}")
    return lines


def _as_term(code: str) -> str:
    """The text as a term of a sum."""
    return code if is_product(code) and not code.startswith("-") else f"({code})"


def _added(writer: Writer, name: str, c: Contribution, axes: tuple[Dim, ...]) -> str:
    """A line that adds a contribution where it goes to."""
    with writer.over(ranges_of(c.place)):
        code = writer.align(writer.write(c.value), _ranged(axes, c))
    where = index_text(c.place, axes, writer)
    operator = "-=" if code.startswith("-") and " + " not in code and " - " not in code else "+="
    code = code[1:] if operator == "-=" else code
    return f"{name}{where} {operator} {code}  # from {c.factor}"


def _ranged(axes: tuple[Dim, ...], c: Contribution) -> tuple[Dim, ...]:
    """The axes along which a contribution goes to more than one position."""
    return tuple(a for a, p in zip(axes, c.place, strict=True) if not isinstance(p, int))


def _numbers_merged(contributions: Sequence[Contribution]) -> list[Contribution]:
    """The contributions, with all plain numbers added up into a single contribution."""
    numbers = [c for c in contributions if c.value.is_number]
    if len(numbers) < 2:
        return list(contributions)
    names = ", ".join(dict.fromkeys(c.factor for c in numbers))
    total = Contribution(names, sum((c.value for c in numbers), sp.S.Zero), numbers[0].place)
    return [total, *(c for c in contributions if not c.value.is_number)]
