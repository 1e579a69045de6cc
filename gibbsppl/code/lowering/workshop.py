"""A sweep under construction: its names, dims and statements.

Comes in: a schedule and its data. A kernel's `lower` adds statements and asks for what it needs.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Dim
from gibbsppl.algebra.ranges import Range, fresh
from gibbsppl.code.arrays.expressions import Element, Expr, Position, Span, mapped
from gibbsppl.code.arrays.groups import Groups
from gibbsppl.code.arrays.statements import Let, Loop, Statement, Type, of_step
from gibbsppl.code.arrays.sweeps import Array, Kind, Table
from gibbsppl.code.lowering.squares import expanded, values_at_centre
from gibbsppl.code.lowering.stored import Stored, placed
from gibbsppl.code.lowering.translation import Translation
from gibbsppl.derive.centring import RESIDUAL, about_centre
from gibbsppl.derive.contractions import data_only
from gibbsppl.errors import NotLoweredError
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Variable
from gibbsppl.pieces.dependence import Place
from gibbsppl.pieces.vanishing import continuous_arrays
from gibbsppl.schedule.kept_sums import Kept
from gibbsppl.schedule.sweeps import Schedule


@dataclass(slots=True)
class Workshop:
    """A sweep that is being made.

    ``own`` are arrays and sizes of dims that the step at work has besides those of the model;
    ``walks`` the steps that count what they accept, each with what it counts besides; ``lanes``
    dims whose positions are side by side; ``maintained`` sums over the state that have been
    computed, ``read`` those that are read now.
    ``left_out`` are the steps that the language does not have, with the reason; None if there must
    be none.
    """

    schedule: Schedule
    data: Values
    constants: Mapping[str, Any]
    graph: Graph
    statements: list[Statement] = field(default_factory=list)
    arrays: dict[str, Array] = field(default_factory=dict)
    tables: dict[object, Table] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    local: set[str] = field(default_factory=set)
    sizes: dict[Dim, int] = field(default_factory=dict)
    own_sizes: dict[str, int] = field(default_factory=dict)
    lengths: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    forms: tuple[Kept, ...] = ()
    made: Groups | None = None
    walks: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lanes: set[str] = field(default_factory=set)
    maintained: dict[str, Stored] = field(default_factory=dict)
    read: dict[str, Stored] = field(default_factory=dict)
    left_out: dict[str, str] | None = None

    @classmethod
    def of(cls, schedule: Schedule, data: Values, constants: Mapping[str, Any]) -> Workshop:
        """An empty sweep of a schedule."""
        graph = schedule.whole
        names = {*graph.variables, *(d.name for d in graph.sizes)}
        return cls(schedule, data, constants, graph, taken=set(names))

    @property
    def translation(self) -> Translation:
        """The facts at hand where expressions are translated now."""
        random = {v.name for v in self.graph.variables.values() if v.kind == "random"}
        read = {n for n, s in self.read.items() if s.name not in self.arrays}  # (others are tables)
        known = data_only(random | self.local | read, self.graph)
        axes = {name: s.parameter.axes for name, s in self.read.items()}
        sizes = {**self.graph.sizes, **self.sizes}
        known = replace(known, sizes=sizes, dims={**known.dims, **axes})
        continuous = frozenset(continuous_arrays(self.graph))
        return Translation(self.graph, known, continuous, self._squares)

    def _squares(self, base: sp.Expr, ranges: tuple[Range, ...]) -> Expr | None:
        """A sum of squares about a centre; None where that is no gain."""
        to = replace(self.translation, squares=None)
        axes = {n: s.parameter.axes for n, s in self.read.items() if s.name not in self.arrays}
        kept = {n: Variable(n, own, "random") for n, own in axes.items()}
        graph = replace(self.graph, variables={**self.graph.variables, **kept})
        about = about_centre(graph, base, ranges, to.known)
        if about is None or any(p.name in self.local for p in about.parts):
            return None
        stems = ("squares", *(f"{p.name}_{w}" for p in about.parts for w in ("centre", "slope")))
        dims = ((), *(p.dims for p in about.parts for _ in range(2)))
        random = data_only(to.known.random | {p.away for p in about.parts}, about.graph)
        inner = replace(to, graph=about.graph, known=replace(random, sizes=to.known.sizes))
        spans = {p.name: tuple(map(self.span, p.dims)) for p in about.parts}
        along = tuple(Let(p.away, spans[p.name], inner(p.adjoint)) for p in about.parts)
        spread = Let(RESIDUAL, tuple(map(inner.span, ranges)), inner(about.base))
        make = partial(values_at_centre, about, spread, along, self.data, self.graph.sizes)
        names = self.computed(("centre", base, ranges), stems, dims, make)
        return expanded(about, names, tuple(map(inner, about.forms)), spans)

    def computed(
        self,
        key: object,
        stems: tuple[str, ...],
        dims: Iterable[tuple[Dim, ...]],
        make: Callable[[], tuple[Any, ...]],
    ) -> tuple[str, ...]:
        """The names of tables of real numbers that are computed when they are needed."""
        if key not in self.tables:
            names = tuple(map(self.fresh, stems))
            self.tables[key] = Table(names, "as_computed", (make,))
            axes = (tuple(d.name for d in own) for own in dims)
            self.arrays |= {n: Array(a, "table") for n, a in zip(names, axes, strict=True)}
        return self.tables[key].names

    def expr(self, expr: sp.Expr) -> Expr:
        """An expression of the model over arrays."""
        return placed(self.translation(expr), self.read)

    def plain(self, expr: sp.Expr) -> Expr:
        """An expression of a candidate, which no sum of squares has a centre for."""
        return placed(replace(self.translation, squares=None)(expr), self.read)

    def add(self, *statements: Statement) -> None:
        """Add statements to the sweep."""
        self.statements += statements

    def fresh(self, stem: str) -> str:
        """A new name for an array or a dim."""
        name = fresh(stem, self.taken)
        self.taken.add(name)
        return name

    def span(self, dim: Dim) -> Span:
        """All positions of a dim."""
        return self.spans((Range(dim, 0, self.size(dim)),))[0]

    def size(self, dim: Dim) -> int:
        """The size of a dim or of a copy of it."""
        from gibbsppl.algebra.ranges import size_of  # noqa: PLC0415

        return size_of(dim, {**self.graph.sizes, **self.sizes})

    def spans(self, place: Collection[Place]) -> tuple[Span, ...]:
        """The positions of a place, without single ones."""
        to = self.translation
        return tuple(to.span(p) for p in place if isinstance(p, Range))

    def dims(self, array: str) -> tuple[Dim, ...]:
        """The dims of an array of the model."""
        return self.graph.variables[array].dims

    def is_state(self, array: str) -> bool:
        """Whether an array is a part of the state."""
        variable = self.graph.variables.get(array)
        return variable is not None and variable.kind == "random" and array not in self.local

    @contextmanager
    def inside(self, *over: Span) -> Iterator[None]:
        """A context whose statements are carried out for one position after the other."""
        before, self.statements = self.statements, []
        yield
        if self.statements:
            before.append(Loop(over, tuple(self.statements)))
        self.statements = before

    @contextmanager
    def apart(self) -> Iterator[list[Statement]]:
        """A context whose statements are kept apart."""
        before, self.statements = self.statements, []
        yield self.statements
        self.statements = before

    @contextmanager
    def of_step(self, name: str) -> Iterator[None]:
        """A context whose statements are made for a step, unless they are for another already.

        Where the language does not have them, and steps may be left out, the step is.
        """
        statements, first = self.statements, len(self.statements)
        before = {n: getattr(self, n) for n in ("graph", "sizes", "local", "read")}
        try:
            yield
        except NotLoweredError as error:
            if self.left_out is None:
                raise
            self.left_out[name] = str(error)
            del statements[first:]
            self.statements = statements
            for field_name, value in before.items():
                setattr(self, field_name, value)
        statements[first:] = [of_step(s, name) for s in statements[first:]]

    @contextmanager
    def with_dims(self, sizes: Mapping[Dim, int]) -> Iterator[None]:
        """A context with dims that the model does not have."""
        before, self.sizes = self.sizes, {**self.sizes, **sizes}
        yield
        self.sizes = before

    @contextmanager
    def with_local(self, *names: str) -> Iterator[None]:
        """A context with arrays that the state does not have."""
        before, self.local = self.local, {*self.local, *names}
        yield
        self.local = before

    def table(
        self, stems: tuple[str, ...], function: str, *arguments: Any, kind: Type = "int"
    ) -> tuple[str, ...]:
        """The names of tables that a function of the runtime makes of data."""
        key = (function, repr(arguments))
        if key not in self.tables:
            names = tuple(map(self.fresh, stems))
            self.tables[key] = Table(names, function, arguments)
            self.arrays |= {n: Array((), "table", kind) for n in names}
        return self.tables[key].names

    def side_by_side(self, expr: Expr, dim: str) -> Expr:
        """An expression that reads data along a dim from tables with that axis as the last."""

        def one(e: Expr) -> Expr | None:
            variable = self.graph.variables.get(e.array) if isinstance(e, Element) else None
            if not isinstance(e, Element) or variable is None or variable.kind == "random":
                return None
            along = [n for n, i in enumerate(e.indices) if dim in i.free]
            last = len(e.indices) - 1
            if len(along) != 1 or along == [last] or e.indices[along[0]] != Position(dim):
                return None
            (axis,) = along
            kind: Type = "int" if variable.integer else "float"
            stems = (f"{e.array}_by_{dim}",)
            (name,) = self.table(stems, "axis_last", f"@{e.array}", axis, kind=kind)
            order = [*(n for n in range(last + 1) if n != axis), axis]
            dims = tuple(variable.dims[n].name for n in order)
            self.arrays[name] = Array(dims, "table", kind)
            return Element(name, tuple(e.indices[n] for n in order))

        return mapped(expr, one)

    @property
    def groups(self) -> Groups:
        """The groups that indices of data make, with their tables."""
        if self.made is None:
            found: dict[str, Array] = {}
            for name, v in self.graph.variables.items():
                kind: Kind = "state" if v.kind == "random" else "data"
                dims = tuple(d.name for d in v.dims)
                found[name] = Array(dims, kind, "int" if v.integer else "float")
            # (tables are noted among the arrays of the sweep)
            self.made = Groups(ChainMap(self.arrays, found), self, [], {})
        return self.made

    def given(self, stem: str, dims: tuple[str, ...], values: Any) -> str:
        """The name of a table of values that are known."""
        name = self.fresh(stem)
        self.tables[name] = Table((name,), "as_given", (values,))
        self.arrays[name] = Array(dims, "table", type_of(values))
        return name

    def own_dim(
        self, stem: str, size: int, along: Iterable[tuple[Dim, ...]] | None = None
    ) -> Span:
        """All positions of a new dim: as many as ``along`` some dims, which are added up."""
        name = self.fresh(stem)
        self.own_sizes[name] = size
        if along is not None:
            self.lengths[name] = tuple(tuple(d.name for d in dims) for dims in along)
        return Span.whole(name)

    def tuning(
        self, name: str, dims: tuple[str, ...] = (), kind: Type = "float", start: float = 0.0
    ) -> Element:
        """A part of the state that kernels alone read and change: as a number, without dims."""
        self.arrays[name] = Array(dims, "state", kind, is_tuning=True, start=start)
        return Element(name)


def positions(dims: Collection[Dim]) -> tuple[Expr, ...]:
    """The position along each of some dims."""
    return tuple(Position(d.name) for d in dims)


def type_of(values: Any) -> Type:
    """Whether an array has whole numbers."""
    return "int" if np.asarray(values).dtype.kind in "iub" else "float"
