"""The context of the texts of one function: the order of axes, names, and hoisted values.

The cases, by kind of expression, are in `gibbsppl.code.numpy_text.expressions`; they come in as a
function, so that modules with cases may import this module.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Dim, Leaf
from gibbsppl.algebra.expressions import Expr as Formula
from gibbsppl.algebra.ranges import Range, from_the_end
from gibbsppl.code.arrays.expressions import (
    Element,
    Expr,
    Position,
    Span,
)
from gibbsppl.code.arrays.notation import Notation
from gibbsppl.code.arrays.systems import SO_FAR
from gibbsppl.code.arrays.terms import data_together, is_gather, varies
from gibbsppl.code.lowering.translation import Translation
from gibbsppl.code.names import MATHEMATICS, NUMPY, Names
from gibbsppl.code.numpy_text.axes import Axes
from gibbsppl.code.numpy_text.held import Held
from gibbsppl.code.numpy_text.hoisting import Hoisted, stem_of
from gibbsppl.code.numpy_text.text import ATOM, SUM, Text, plus_text
from gibbsppl.code.numpy_text.whole_numbers import is_whole
from gibbsppl.derive.contractions import Known, data_only
from gibbsppl.model.graph import Graph, Variable
from gibbsppl.model.memory import BYTES
from gibbsppl.pieces.dependence import Place
from gibbsppl.pieces.vanishing import continuous_arrays


@dataclass(frozen=True, slots=True)
class Computed:
    """An array by its text, with the dims of the outer axes and the shape of the inner axes."""

    code: str
    outer: tuple[str, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """An expression that has been written: whether it is computed once, its dims, their ranges."""

    of: Expr
    is_known: bool
    dims: set[str]
    ranges: Mapping[str, range]

    def is_whole(self, dim: str, size: Callable[[str], int]) -> bool:
        """Whether it is read at all positions of a dim, if it has that dim."""
        own = self.ranges.get(dim) if dim in self.dims else None
        return own is None or own == range(size(dim))


@dataclass(slots=True)
class Writer(Axes):
    """Writes expressions for one function; collects the names that the function must unpack.

    ``cases`` writes an expression that is not hoisted, ``squares`` a sum of squares about a centre
    (where the function ``keeps`` values). ``preparing``: the function is ``prepare``. ``local`` is
    an array that is an argument of the function, with the dims of the array ``like`` (of its own,
    without). ``aliases`` are names of arrays that the function makes, with their ``shapes``;
    ``lines`` make those that all parts of it may read, ``centred`` the sums of squares among them.
    ``constants`` are the values of ``prepare`` that it reads, ``held`` the temporary arrays made,
    ``seen`` the expressions written, ``turned`` the arrays of data that it reads with axes in
    another order, maybe only so. ``inline``: there is no function,
    arrays are read where they are; some have texts of their own.
    """

    graph: Graph
    names: Names
    hoisted: Hoisted
    cases: Callable[[Writer, Expr], Text]
    squares: Callable[[Writer, Formula, tuple[Range, ...]], Expr | None]
    preparing: bool = False
    local: str | None = None
    like: str | None = None
    keeps: bool = False
    random: set[str] = field(init=False)
    continuous: set[str] = field(init=False)
    state_names: dict[str, str] = field(default_factory=dict)
    data_read: set[str] = field(default_factory=set)
    turned: set[str] = field(default_factory=set)
    plain_data: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    sizes_read: dict[str, str] = field(default_factory=dict)
    variables: ChainMap[str, Variable] = field(init=False)
    lines: list[str] = field(default_factory=list)
    centred: dict[object, Expr] = field(default_factory=dict)
    computed: dict[str, Computed] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    constants: set[str] = field(default_factory=set)
    inline: Mapping[str, str] | None = None
    held: Held = field(default_factory=Held)
    seen: list[Seen] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = {v.name for v in self.graph.variables.values() if v.kind == "random"}
        self.continuous = continuous_arrays(self.graph)
        self.variables = ChainMap({}, dict(self.graph.variables))
        if self.local is not None and self.like in self.continuous:
            self.continuous.add(self.local)

    # What is known

    @property
    def known(self) -> Known:
        """Facts of the arrays of data, and the dims of the function's argument."""
        if self.local is None:
            return replace(data_only(self.random, self.graph), sizes=self.sizes)
        known = data_only(self.random | {self.local}, self.graph)
        dims = {**known.dims, self.local: self.axes_of(self.local)}
        return replace(known, dims=dims, sizes=self.sizes)

    def axes_of(self, name: str) -> tuple[Dim, ...]:
        """The dims of an array."""
        own = self.like if name == self.local and self.like is not None else name
        return self.graph.variables[own].dims

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array."""
        if name in self.shapes:
            return self.shapes[name]
        return tuple(map(self.size, self.axes_of(name)))

    @property
    def constant_names(self) -> set[str]:
        """The arrays of data that the function reads."""
        return self.data_read

    def is_data(self, expr: Formula) -> bool:
        """Whether an expression of the model reads data alone."""
        random = self.random | {self.local}
        return not any(leaf.array.name in random for leaf in expr.atoms(Leaf))

    def is_settled(self, e: Expr) -> bool:
        """Whether an expression over arrays reads data alone."""
        arrays = e.arrays
        return self.local not in arrays and arrays.isdisjoint(self.random)

    def is_whole(self, e: Expr) -> bool:
        """Whether a value is made of integers alone: a position, whose power may overflow."""
        return is_whole(e, self.variables)

    def expr(self, expr: Formula) -> Expr:
        """An expression of the model over arrays."""
        squares = (
            None if self.preparing or not self.keeps or self.local is not None else self.squares
        )
        own = None if squares is None else (lambda base, ranges: squares(self, base, ranges))
        return Translation(self.graph, self.known, frozenset(self.continuous), own)(
            sp.sympify(expr)
        )

    def span(self, dim: Dim) -> Span:
        """All positions of a dim."""
        return self.spans((Range(dim, 0, self.size(dim)),))[0]

    def spans(self, place: Iterable[Place]) -> tuple[Span, ...]:
        """The positions of a place, without single ones."""
        to = Translation(self.graph, self.known, frozenset(self.continuous))
        return tuple(to.span(p) for p in place if isinstance(p, Range))

    # Texts

    def write(self, expr: Formula) -> Text:
        """The text of an expression of the model; the name of its value if computed once."""
        return self.text(self.expr(expr))

    def text(self, e: Expr) -> Text:
        """The text of an expression; the name of its value if ``prepare`` computes it."""
        self.held.enter()
        is_known = not self.preparing and self._is_worth_hoisting(e)
        text = self._hoist(e) if is_known else self.cases(self, e)
        self.held.leave(e, text.dims, self.bytes_of, is_known=is_known)
        self.seen.append(Seen(e, is_known, {*e.free, *text.dims}, dict(self.ranges)))
        return text

    def bytes_of(self, dims: Iterable[str]) -> int:
        """The bytes of an array of numbers with dims, at the positions in force."""
        return BYTES * prod(len(self.places_along(d)) for d in dims)

    def together(self, args: Sequence[Expr], made: Callable[[list[Expr]], Expr]) -> list[Expr]:
        """The arguments, with all arguments of data alone combined, to be computed once."""
        return list(args) if self.preparing else data_together(args, self.is_settled, made)

    def call(self, name: str) -> str:
        """The name by which generated code calls a function."""
        self.hoisted.used.add(name)
        return name if name in NUMPY | MATHEMATICS else f"runtime.{name}"

    def array(self, name: str) -> str:
        """The local name of an array, noted for unpacking."""
        if name in self.aliases:
            return self.aliases[name]
        if self.inline is not None:
            return self._entry(name, self.inline)
        if name == self.local:
            self.given.add(name)
            return self.names.of(name)
        if name in self.random:
            self.state_names[name] = self.names.of(name)
        else:
            self.data_read.add(name)
            self.plain_data[self.names.of(name)] = name
        return self.names.of(name)

    def _entry(self, name: str, own: Mapping[str, str]) -> str:
        """An array where it is: in the state, or among the constants."""
        if name in own:
            return own[name]
        if name in self.random:
            return f's["{name}"]'
        self.hoisted.arrays.add(name)
        self.plain_data[f'c["{name}"]'] = name
        return f'c["{name}"]'

    def constant(self, name: str) -> str:
        """The text of a value that ``prepare`` computes, noted for unpacking."""
        self.constants.add(name)
        return name if self.inline is None else f'c["{name}"]'

    def sized(self, dim: Dim | str) -> Text:
        """The size of a dim, by the name of that of a dim of the model; else a number.

        A copy may have fewer positions than the dim that it is a copy of.
        """
        root, own = root_of(Dim(str(dim).removesuffix(SO_FAR))).rstrip("'"), self.size(dim)
        whole = self.graph.sizes.get(Dim(root))
        missing = None if whole is None else from_the_end(own, whole)
        if missing is None:
            return Text(str(own))
        name = self.hoisted.size(root)
        self.sizes_read[root] = name
        code = plus_text(name if self.preparing else self.constant(name), -missing)
        return Text(code, (), SUM if missing else ATOM)

    def stand_in(self, alias: str, code: str, shape: tuple[int, ...], like: str = "") -> None:
        """Note an array that the function makes, maybe of elements of another."""
        self.aliases[alias], self.shapes[alias] = code, shape
        self.random.add(alias)
        if like in self.variables:
            self.variables[alias] = self.variables[like]

    def shown(self, e: Expr) -> str:
        """The expression in mathematical notation, for a comment."""
        return Notation(self.size).text(e)

    def for_prepare(self, graph: Graph) -> Writer:
        """A writer for ``prepare``, with the same names."""
        own = (self.names, self.hoisted, self.cases, self.squares)
        return Writer(self.sizes, graph, *own, preparing=True)

    def for_function(self, computed: dict[str, Computed]) -> Writer:
        """A writer for a function that computes recursions from argument arrays."""
        inner = replace(self.for_prepare(self.graph), local=self.local, like=self.like)
        inner.order, inner.ranges, inner.computed = dict(self.order), dict(self.ranges), computed
        return inner

    def prepared(self, expr: Formula) -> Text:
        """The text of an expression of the model as ``prepare`` computes it."""
        return self.prepared_text(self.expr(expr))

    def prepared_text(self, e: Expr) -> Text:
        """The text of an expression as ``prepare`` computes it, in the same order of axes."""
        inner = self.for_prepare(self.graph)
        inner.order, inner.ranges = self.order, dict(self.ranges)
        text = inner.text(e)
        self.hoisted.arrays |= inner.constant_names
        return text

    def transposed(self, text: Text, dims: tuple[str, ...]) -> Text:
        """The text with its axes in the given order; a data array is laid out so once."""
        found = Axes.transposed(self, text, dims)
        if found is text or self.preparing or text.code not in self.plain_data:
            return found
        return self._turned(text, found)

    def _is_worth_hoisting(self, e: Expr) -> bool:
        """Whether an expression reads data alone, and is more than a plain array."""
        if not self.is_settled(e) or not varies(e):
            return False
        if isinstance(e, Element):
            shifted = any(isinstance(i, Position) and i.shift for i in e.indices)
            return (
                is_gather(e)
                or shifted
                or any(
                    self.places_along(d) != range(self.size(d)) for i in e.indices for d in i.free
                )
            )
        return True

    def _hoist(self, e: Expr) -> Text:
        ranges = tuple((d, self.places_along(d)) for d in sorted(e.free))
        found = self.hoisted.add(
            (e, ranges),
            stem_of(e),
            lambda: self.prepared_text(e),
            self.shown(e),
            is_position=isinstance(e, Element) and self._points(e),
        )
        return replace(found, code=self.constant(found.code))

    def _points(self, e: Element) -> bool:
        """Whether the elements of the array of an element are positions along a dim."""
        variable = self.graph.variables.get(e.array)  # (colours are no array of the model)
        return variable is not None and variable.of is not None

    def _turned(self, text: Text, found: Text) -> Text:
        """A data array with its axes in another order, laid out so once."""
        name = self.plain_data[text.code]
        self.turned.add(name)
        self.hoisted.arrays.add(name)

        def make() -> Text:
            turned = found.code.replace(text.code, self.names.of(name), 1)
            return Text(f"{self.call('ascontiguousarray')}({turned})", found.dims)

        key = ("turned", name, tuple(text.dims.index(d) for d in found.dims))
        turned = self.hoisted.add(key, f"{name}_turned", make, f"{name}, axes in another order")
        return Text(self.constant(turned.code), found.dims)
