"""Fields on maps (``car.normal``, ``car.proper``) as flat values with potentials of neighbours.

Values that sum to zero are raw values less their mean, the first raw value being zero: a linear
map, one to one, so that the density is the field's.

Comes in: a line and its array. Goes out: the constants, values and potentials of the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, substitute
from gibbsppl.algebra.ranges import Range
from gibbsppl.bugs.evaluator import Evaluator
from gibbsppl.bugs.grids import Data
from gibbsppl.bugs.layouts import Box
from gibbsppl.bugs.references import Elements
from gibbsppl.bugs.rows import SHAPES, Field, Sites
from gibbsppl.bugs.syntax import Stochastic
from gibbsppl.bugs.values import Known, Value
from gibbsppl.errors import ModelError
from gibbsppl.model.graph import Constant, Potential

Places = tuple[Range | int, ...]


@dataclass(frozen=True, eq=False)
class Map:
    """A field on a map: name, row of the table, box of elements, and array of the model."""

    name: str
    row: Field
    box: Box
    symbol: Array

    @property
    def sites(self) -> Range:
        """The range of the sites."""
        (axis,) = self.box.event
        place = self.box.places[axis]
        assert isinstance(place, Range)
        return place

    @property
    def drawn(self) -> Places:
        """The places of drawn values: all sites, without the first if values sum to zero."""
        return self._with(Range(self.sites.dim, int(self.row.is_centred), self.sites.stop))

    def constants(self) -> Iterator[Constant]:
        """The zero at the first site, if values sum to zero."""
        if self.row.is_centred:
            places = self._with(0)
            over = tuple(p for p in places if isinstance(p, Range))
            yield Constant(self.symbol[tuple(map(_index, places))], over, sp.S.Zero)

    def _with(self, site: Range | int) -> Places:
        (axis,) = self.box.event
        return tuple(site if n == axis else p for n, p in enumerate(self.box.places))

    def at(self, site: Expr) -> Leaf:
        """The value drawn at a site."""
        (axis,) = self.box.event
        indices = [site if n == axis else _index(p) for n, p in enumerate(self.box.places)]
        return Leaf(self.symbol, *indices)


def _index(place: Range | int) -> Expr:
    return sp.Integer(place) if isinstance(place, int) else place.dim


def potentials(field: Map, elements: Elements) -> Iterator[Potential]:
    """The log density of a field: of its sites, and of pairs of neighbours."""
    part, row, along = field.box.part, field.row, field.sites.dim
    assert part.space is not None
    evaluator = Evaluator(elements.facts.program, elements, part.space)
    given = _given(field, evaluator)
    sites = _sites(field, evaluator, given)
    centre = given.pop(row.centre) if row.centre else None
    others = {n: evaluator.expr(given[n]) for n in given if n not in row.known}

    def value_at(site: Expr) -> Expr:
        """A value less its mean."""
        if centre is None:
            return field.at(site)
        names: dict[Expr, Expr] = dict.fromkeys(centre.axes, site)
        return field.at(site) - substitute(evaluator.expr(centre), names)

    def told(numbers: Data, dim: Dim, of: Dim | None = None) -> dict[str, Expr]:
        """Data along a dim."""
        named = {n: np.asarray(v) for n, v in numbers.items()}
        return {
            n: elements.declared(f"{field.name}_{n}", v, (dim,), of)[dim] for n, v in named.items()
        }

    outer = tuple(p for p in field.drawn if isinstance(p, Range) and p.dim != along)
    density = row.site(value_at(along), **others, **told(sites.of_sites, along))
    yield Potential(f"{field.name} at sites", density, (*outer, field.sites))
    pairs = elements.own.dim(f"{field.name}_pair", len(sites.first))
    ends = told({"first": sites.first, "second": sites.second}, pairs, along)
    values = (value_at(ends["first"]), value_at(ends["second"]))
    density = row.pair(*values, **others, **told(sites.of_pairs, pairs))
    every = Range(pairs, 0, len(sites.first))
    yield Potential(f"{field.name} of neighbours", density, (*outer, every))


def _given(field: Map, evaluator: Evaluator) -> dict[str, Value]:
    """The parameters of a field, by name."""
    line = field.box.part.line
    assert isinstance(line, Stochastic)
    pairs = zip(field.row.parameters.items(), line.distribution.arguments, strict=True)
    found = {}
    for (name, axes), expression in pairs:
        found[name] = evaluator.value(expression)
        if len(found[name].axes) != axes:
            raise evaluator.error(
                expression,
                f"{name} of {field.row.names[0]} is {SHAPES[min(len(found[name].axes), 2)]}, "
                f"expected {SHAPES[axes]}.",
            )
    return found


def _sites(field: Map, evaluator: Evaluator, given: Mapping[str, Value]) -> Sites:
    """Who is whose neighbour."""
    line, row = field.box.part.line, field.row
    known = []
    for name in row.known:
        value = given[name]
        if not isinstance(value, Known) or set(value.grid.dims) - set(value.axes):
            told = f"{name} of {row.names[0]} differs or is random; expected data, one map."
            raise evaluator.error(line, told)
        known.append(value.grid.values)
    try:
        sites = row.sites(*known)
    except ModelError as error:
        raise evaluator.error(line, str(error)) from error
    count = len(next(iter(sites.of_sites.values())))
    if count != len(field.sites):
        told = f"found {count} sites in num, and {len(field.sites)} values of {field.name}; "
        raise evaluator.error(line, f"{told}expected as many.")
    return sites
