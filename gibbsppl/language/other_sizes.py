"""The same model with dims of other sizes: what extends along them goes on to the new ends.

Comes in: a model that may be changed, new values by name, new labels by dim. Goes out: the model
with these sizes, its statements along them; its values are still the first ones. What stands at
positions near the end of such a dim is refused: whether it is to move with the end nobody says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Binder, Dim, Expr, Leaf
from gibbsppl.algebra.ranges import Range, from_the_end, ranges_of
from gibbsppl.arguments import GivenArray
from gibbsppl.errors import ModelError, did_you_mean
from gibbsppl.language.checks import check_reads
from gibbsppl.language.coordinates import GivenLabels, labels_of
from gibbsppl.language.dim_names import base
from gibbsppl.language.evaluate import evaluate
from gibbsppl.language.model import Model
from gibbsppl.language.values import read_as_array
from gibbsppl.model.alignment import labels_along, names_of
from gibbsppl.model.graph import PLAIN, Constant, Potential, Statement
from gibbsppl.model.graph_views import bounds_of

# The numbers of positions of dims, by name.
Sizes = Mapping[str, int]
F = TypeVar("F", Statement, Potential, Constant)
ANEW = "write a function that declares the model, and call it again."


def resize(
    model: Model, given: Mapping[str, GivenArray], coords: Mapping[str, GivenLabels]
) -> None:
    """Let dims have the sizes of the arrays given, and the labels of ``coords``."""
    before = {d: len(c) for d, c in model.positions.items()}
    labels = _labels(model, given, coords)
    changed = {d: len(own) for d, own in labels.items() if len(own) != before[d]}
    if made := sorted(model.declared.counted & changed.keys()):
        raise ModelError(
            f"with_data: {made[0]!r} gets {changed[made[0]]} positions, and an expression was made "
            f"of its {before[made[0]]} (a mean, a stick broken, neighbours): {ANEW}"
        )
    _check_others(model, given, changed)
    for dim, own in labels.items():
        model.label(dim, own, is_sized=isinstance(own, range) and dim not in model.labels)
    if changed:
        _Carried(model, before, changed).carry()


def _labels(
    model: Model, given: Mapping[str, GivenArray], coords: Mapping[str, GivenLabels]
) -> dict[str, np.ndarray | range]:
    """The new positions of dims: those of ``coords``, and of arrays of other sizes."""
    found: dict[str, np.ndarray | range] = {}
    for dim, own in coords.items():
        if not isinstance(dim, str) or not model.has_dim(dim):
            known = list(model.coords)
            raise ModelError(
                f"with_data: coords has {dim!r}, expected dimensions of the model: "
                f"{', '.join(known) or 'there are none'}.{did_you_mean(str(dim), known)}"
            )
        found[dim] = labels_of(own, dim, "coords")
    told: dict[str, str] = {}
    for name, values in given.items():
        dims = model.declared.variables[name].dims
        names = names_of(values) or tuple(d.name for d in dims)
        own_labels = labels_along(values, names)
        with read_as_array(name, values):
            shape = np.shape(values if hasattr(values, "shape") else np.asarray(values, "O"))
        if len(shape) != len(dims):
            continue  # (which is refused where it is read)
        for dim, n in zip(names, shape, strict=True):
            root = base(dim)
            if not model.has_dim(dim) or n == len(found.get(root, range(model.size(root)))):
                continue
            if root in found:
                owner = told.get(root, "coords")
                raise ModelError(
                    f"{name}: found {n} positions along {root!r}, of which {owner} has "
                    f"{len(found[root])}; expected one number: make them agree."
                )
            if dim not in own_labels and root in model.labels and not _counted(model, root):
                raise ModelError(
                    f"{name}: found {n} positions along {root!r}, whose {model.size(root)} labels "
                    f"are known; expected labels of the new ones: with_data(..., "
                    f"coords={{{root!r}: [...]}})."
                )
            found[root] = labels_of(own_labels.get(dim, n), root, name)
            told[root] = name
    return found


def _counted(model: Model, dim: str) -> bool:
    return isinstance(model.positions[dim], range)


def _check_others(model: Model, given: Mapping[str, object], changed: Sizes) -> None:
    """Arrays along a dim of another size have other values, too; indices point inside of it."""
    told = model.declared
    for name, values in told.values.items():
        variable = told.variables[name]
        if name in given or name.endswith(".known"):
            continue
        along = [d.name for d in variable.dims if base(d) in changed]
        if along:
            raise ModelError(
                f"with_data: {name} has {along[0]!r} too, which gets {changed[base(along[0])]} "
                f"positions; expected its values as well: give them, or {ANEW}"
            )
        if variable.of is not None and base(variable.of) in changed:
            most = changed[base(variable.of)]
            if values.size and values.max() >= most:
                raise ModelError(
                    f"{name}: found {values.max()}, expected positions along {variable.of.name!r} "
                    f"below {most}, of which it gets so many: give {name} other values, too."
                )


class _Carried:
    """A model, the sizes of its dims before, and those that have changed."""

    def __init__(self, model: Model, before: Sizes, changed: Sizes) -> None:
        self.model, self.before, self.changed = model, before, changed

    def carry(self) -> None:
        """All that is declared along dims of other sizes goes on to their ends."""
        told = self.model.declared
        for statement in told.statements:
            own = (*(e for _, e in statement.arguments), statement.lower, statement.upper)
            self.check(statement.name, (statement.target, *(e for e in own if e is not None)))
        for name, values in (
            *((p.name, (p.log_density,)) for p in told.potentials),
            *((d.name, (d.value,)) for d in told.deterministics),
            *((c.target.array.name, (c.target, c.value)) for c in self.constants),
        ):
            self.check(name, values)
        told.statements = [self.along(s.name, s) for s in told.statements]
        told.potentials = [self.along(p.name, p) for p in told.potentials]
        told.constants = [self.along(c.target.array.name, c) for c in told.constants]
        told.computed = {n: [self.along(n, c) for c in own] for n, own in told.computed.items()}
        for s in told.statements:
            for _, expr in s.arguments:
                check_reads(self.model, s.name, expr, bounds_of(s.over))
        for p in told.potentials:
            check_reads(self.model, p.name, p.log_density, bounds_of(p.over))
        for d in told.deterministics:
            check_reads(self.model, d.name, d.value, {})
        for dim in self.changed:
            told.seen.pop(dim, None)
        for name in told.arrays:
            self.fill(name)

    @property
    def constants(self) -> Iterator[Constant]:
        """The regions that are given by values."""
        told = self.model.declared
        yield from told.constants
        for own in told.computed.values():
            yield from own

    def along(self, name: str, factor: F) -> F:
        """A factor, its ranges up to the new ends."""
        return replace(factor, over=tuple(self.range_of(name, r) for r in factor.over))

    def range_of(self, name: str, r: Range) -> Range:
        """A range that goes on to the new end if it has gone to the old one."""
        if base(r.dim) not in self.changed:
            return r
        old, new = self.before[base(r.dim)], self.changed[base(r.dim)]
        self.stays(name, r.dim, r.start - 1, old)
        if r.stop != old:
            self.stays(name, r.dim, r.stop - 1, old)
        stop = new if r.stop == old else r.stop
        if not r.start < stop <= new:
            raise ModelError(
                f"{name}: found the positions {r.start} to {r.stop - 1} along {r.dim.name!r}, "
                f"which gets {new}; expected all of them inside: {ANEW}"
            )
        return replace(r, stop=stop)

    def stays(self, name: str, dim: Dim, position: int, old: int) -> None:
        """Refuse a position that may be meant to be counted from the end."""
        if position > 0 and from_the_end(position + 1, old) is not None:
            raise ModelError(
                f"{name}: reads or fills {dim.name!r} at position {position} of {old}, near its "
                f"end, which moves to {self.changed[base(dim)]}: {ANEW}"
            )

    def check(self, name: str, exprs: Iterable[Expr]) -> None:
        """Refuse expressions that read positions which may move with an end."""
        variables = self.model.declared.variables
        for expr in exprs:
            for part in sp.preorder_traversal(expr):
                if isinstance(part, Leaf) and part.array.name in variables:
                    for index, dim in zip(
                        part.indices, variables[part.array.name].dims, strict=False
                    ):
                        if index.is_Integer and base(dim) in self.changed:
                            self.at(name, dim, int(index))
                if isinstance(part, Binder) and len(part.args) > 1 + part.binds:
                    self.between(name, part)

    def at(self, name: str, dim: Dim, position: int) -> None:
        """Refuse a position that is near the old end, or beyond the new one."""
        self.stays(name, dim, position, self.before[base(dim)])
        if position >= self.changed[base(dim)]:
            raise ModelError(
                f"{name}: found position {position} along {dim.name!r}, which gets "
                f"{self.changed[base(dim)]}; expected one inside: {ANEW}"
            )

    def between(self, name: str, binder: Binder) -> None:
        """Refuse a sum, or an extreme, between ends of its own near the old end."""
        for r in ranges_of(binder, {}):
            if base(r.dim) in self.changed:
                self.at(name, r.dim, r.stop - 1)

    def fill(self, name: str) -> None:
        """Which elements of an array that regions fill are filled, and the numbers given."""
        told, variable = self.model.declared, self.model.declared.variables[name]
        shape = tuple(self.model.size(d) for d in variable.dims)
        filled, numbers = np.zeros(shape, dtype=bool), np.zeros(shape)
        for region in (*told.statements, *told.constants, *told.computed.get(name, ())):
            if region.target.array.name != name:
                continue
            at = {r.dim: slice(r.start, r.stop) for r in region.over}
            key = tuple(
                int(i) if i.is_Integer else at.get(i, slice(None)) for i in region.target.indices
            )
            if filled[key].any():
                raise ModelError(
                    f"{name}: the region {PLAIN.text(region.target)} would be filled twice with "
                    f"{shape} elements: {ANEW}"
                )
            filled[key] = True
            if isinstance(region, Constant) and not region.value.atoms(Leaf):
                numbers[key] = evaluate(region.value, region.over, {}, self.model.sizes)
        told.arrays[name], told.numbers[name] = filled, numbers
