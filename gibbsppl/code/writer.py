"""The context of the texts of one function: the order of axes, names, and hoisted values.

The cases, by kind of expression, are in `gibbsppl.code.expressions`; they come in as a function, so
that modules with cases may import this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import sympy as sp

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Binder, Dim, Expr, Leaf, dims_of
from gibbsppl.algebra.notation import Notation
from gibbsppl.algebra.ranges import Range, range_of, size_of, unnested
from gibbsppl.algebra.recursions import Own
from gibbsppl.code.hoisting import Hoisted, stem_of
from gibbsppl.code.lines import words
from gibbsppl.code.names import MATHEMATICS, NUMPY, Names
from gibbsppl.code.text import ATOM, SUM, Text
from gibbsppl.derive.contractions import Known, data_only
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.vanishing import continuous_arrays, weighted


@dataclass(frozen=True, slots=True)
class Computed:
    """An array by its text, with the dims of the outer axes and the shape of the inner axes."""

    code: str
    outer: tuple[Dim, ...]
    shape: tuple[int, ...]


@dataclass(slots=True)
class Writer:
    """Writes expressions for one function; collects the names that the function must unpack.

    ``cases`` writes an expression that is not hoisted. ``preparing``: the function is ``prepare``.
    ``local`` is an array that is an argument of the function, with the dims of the array ``like``
    (of its own, without). ``keeps``: gathers get local names, those ``within`` that read ``local``.
    """

    graph: Graph
    names: Names
    hoisted: Hoisted
    sizes: Mapping[Dim, int]
    cases: Callable[[Writer, Expr], Text]
    preparing: bool = False
    local: str | None = None
    like: str | None = None
    keeps: bool = False
    random: set[str] = field(init=False)
    continuous: set[str] = field(init=False)
    order: dict[Dim, int] = field(default_factory=dict)
    ranges: dict[Dim, tuple[int, int]] = field(default_factory=dict)
    strides: dict[Dim, int] = field(default_factory=dict)
    state_names: dict[str, str] = field(default_factory=dict)
    constant_names: set[str] = field(default_factory=set)
    plain_data: dict[str, str] = field(default_factory=dict)
    gathered: dict[str, str] = field(default_factory=dict)
    within: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    fixed: dict[Dim, str | int] = field(default_factory=dict)
    computed: dict[Own, Computed] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.random = {v.name for v in self.graph.variables.values() if v.kind == "random"}
        self.continuous = continuous_arrays(self.graph)
        if self.local is not None and self.like in self.continuous:
            self.continuous.add(self.local)

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

    def unnested(self, expr: Binder) -> tuple[Expr, tuple[Range, ...]]:
        """The body of nested sums, or extremes, and all their ranges."""
        body, nest = unnested(expr)
        return body, tuple(range_of(b, self.sizes) for b in nest)

    def is_whole(self, expr: Expr) -> bool:
        """Whether a value is made of integers alone: a position, whose power may overflow."""
        # (of what is no array of the graph, the new variable of a change say, nothing is known)
        variables = (self.graph.variables.get(leaf.array.name) for leaf in expr.atoms(Leaf))
        stay = (v and v.integer and (v.kind != "data" or v.of is not None) for v in variables)
        return not expr.has(sp.Function) and bool(expr.free_symbols) and all(stay)

    def is_data(self, expr: Expr) -> bool:
        """Whether an expression reads data alone."""
        random = self.random | {self.local}
        return not any(leaf.array.name in random for leaf in expr.atoms(Leaf))

    def size(self, dim: Dim) -> int:
        """The size of a dim or of a copy of it."""
        return size_of(dim, self.sizes)

    def range(self, dim: Dim) -> tuple[int, int]:
        """The range of a dim in force: its start and stop."""
        return self.ranges.get(dim, (0, self.size(dim)))

    @contextmanager
    def over(self, ranges: Iterable[Range]) -> Iterator[None]:
        """A context in which dims are read at the positions of ranges."""
        before = dict(self.ranges)
        self.ranges.update({r.dim: (r.start, r.stop) for r in ranges})
        yield
        self.ranges = before

    @contextmanager
    def along(self, slices: Mapping[Dim, slice]) -> Iterator[None]:
        """A context in which dims are read at the positions of strided slices."""
        before, strides = dict(self.ranges), dict(self.strides)
        self.ranges.update({d: (s.start, s.stop) for d, s in slices.items()})
        self.strides.update({d: s.step for d, s in slices.items()})
        yield
        self.ranges, self.strides = before, strides

    @contextmanager
    def arranged(self, dims: Iterable[Dim]) -> Iterator[None]:
        """A context with axes in this order."""
        before, self.order = self.order, {}
        self.arrange(dims)
        yield
        self.order = before

    @contextmanager
    def at(self, positions: Mapping[Dim, str | int]) -> Iterator[None]:
        """A context in which dims are fixed at one position each."""
        before = dict(self.fixed)
        self.fixed.update(positions)
        yield
        self.fixed = before

    def places(self, dim: Dim) -> Text:
        """The positions of a dim in an array cut to the range in force."""
        count = len(range(*self.range(dim), self.stride(dim)))
        return Text(f"{self.call('arange')}({count})", (dim,))

    def stride(self, dim: Dim) -> int:
        """The stride of the positions of a dim in force."""
        return self.strides.get(dim, 1)

    def arrange(self, dims: Iterable[Dim]) -> None:
        """Append dims to the order of axes, unless already there."""
        for d in dims:
            self.order.setdefault(d, len(self.order))

    def sorted(self, dims: Iterable[Dim]) -> tuple[Dim, ...]:
        """Dims in the order of axes."""
        declared = {d: n for n, d in enumerate(self.sizes)}

        def place(d: Dim) -> tuple[int, int, int, str]:
            # Long dims last: inner loops over them are fast.
            root = declared.get(Dim(root_of(d)), len(declared))
            size = self.size(d) if d not in self.order else 0
            return self.order.get(d, len(self.order)), size, declared.get(d, root), d.name

        return tuple(sorted(set(dims), key=place))

    def write(self, expr: Expr) -> Text:
        """The text of an expression; the name of its value if ``prepare`` computes it."""
        expr = sp.sympify(expr)
        if not self.preparing and self._is_worth_hoisting(expr):
            return self._hoist(expr)
        return self.cases(self, expr)

    def call(self, name: str) -> str:
        """The name by which generated code calls a function."""
        self.hoisted.used.add(name)
        return name if name in NUMPY | MATHEMATICS else f"runtime.{name}"

    def array(self, name: str) -> str:
        """The local name of an array, noted for unpacking."""
        if name in self.aliases:
            return self.aliases[name]
        if name == self.local:
            self.given.add(name)
            return self.names.of(name)
        if name in self.random:
            self.state_names[name] = self.names.of(name)
        else:
            self.constant_names.add(name)
            self.plain_data[self.names.of(name)] = name
        return self.names.of(name)

    def named_once(self, code: str, stem: str) -> str:
        """A local name for a value that a function reads more than once.

        A value that reads the function's argument has a separate name: outside, the same text is of
        the current value.
        """
        argument = set() if self.local is None else {self.names.of(self.local)}
        kept = self.within if words(code) & {*argument, *self.within.values()} else self.gathered
        if code not in kept:
            kept[code] = self.names.fresh(stem)
        return kept[code]

    def shown(self, expr: Expr) -> str:
        """The expression in mathematical notation, for a comment."""
        return Notation(sizes=self.sizes).text(expr)

    def data_together(self, args: list[Expr], func: Callable[..., Expr]) -> list[Expr]:
        """The arguments, with all arguments of data alone combined, to be computed once."""
        data = [a for a in args if self.is_data(a) and a.free_symbols]
        if self.preparing or not data:
            return args
        numbers = [a for a in args if not a.free_symbols]
        together = func(*data, *numbers) if func is sp.Add else func(*data)
        largest = max((len(dims_of(a)) for a in data), default=0)
        if len(data) + len(numbers) * (func is sp.Add) < 2 or len(dims_of(together)) > largest:
            return args
        gone = set(data) | (set(numbers) if func is sp.Add else set())
        return [a for a in args if a not in gone] + [together]

    def weighted(self, factors: Sequence[Expr]) -> list[Expr]:
        """The factors of a product; one factor where some may be infinite and others exactly 0."""
        return weighted(factors, self.continuous)

    def for_prepare(self, graph: Graph) -> Writer:
        """A writer for ``prepare``, with the same names."""
        return Writer(graph, self.names, self.hoisted, self.sizes, self.cases, preparing=True)

    def for_function(self, computed: dict[Own, Computed]) -> Writer:
        """A writer for a function that computes recursions from argument arrays."""
        inner = Writer(
            self.graph,
            self.names,
            self.hoisted,
            self.sizes,
            self.cases,
            preparing=True,
            local=self.local,
            like=self.like,
        )
        inner.order, inner.ranges = dict(self.order), dict(self.ranges)
        inner.strides, inner.computed = dict(self.strides), computed
        return inner

    def prepared(self, expr: Expr) -> Text:
        """The text of an expression as ``prepare`` computes it, in the same order of axes."""
        inner = self.for_prepare(self.graph)
        inner.order, inner.ranges = self.order, dict(self.ranges)
        inner.strides = dict(self.strides)
        text = inner.write(expr)
        self.hoisted.arrays |= inner.constant_names
        return text

    def aligned(self, texts: list[Text], rank: int = SUM) -> tuple[list[str], tuple[Dim, ...]]:
        """The code of texts, indexed to broadcast together, and the dims of the result."""
        dims = self.sorted(d for t in texts for d in t.dims)
        return [self.align(t, dims, rank) for t in texts], dims

    def align(self, text: Text, dims: tuple[Dim, ...], rank: int = SUM) -> str:
        """The code of a text, indexed to broadcast against an array with these dims."""
        text = self.transposed(text, tuple(d for d in dims if d in text.dims))
        if not text.dims:
            return text.within(rank)
        wanted = dims[dims.index(text.dims[0]) :]
        if wanted == text.dims:
            return text.within(rank)
        index = ", ".join(":" if d in text.dims else "None" for d in wanted)
        return f"{text.within(ATOM)}[{index}]"

    def transposed(self, text: Text, dims: tuple[Dim, ...]) -> Text:
        """The text with its axes in the given order."""
        if text.dims == dims:
            return text
        axes = ", ".join(str(text.dims.index(d)) for d in dims)
        turn = "T" if len(dims) == 2 else f"transpose({axes})"
        if text.code in self.plain_data and not self.preparing:
            return self._turned(text, dims, turn)
        return Text(f"{text.within(ATOM)}.{turn}", dims)

    def _is_worth_hoisting(self, expr: Expr) -> bool:
        """Whether an expression reads data alone, and is more than a plain array."""
        if not self.is_data(expr) or not expr.free_symbols:
            return False
        if isinstance(expr, Leaf):
            return any(not (i.is_Symbol or i.is_Integer) for i in expr.indices) or any(
                (*self.range(i), self.stride(i)) != (0, self.size(i), 1)
                for i in expr.indices
                if isinstance(i, Dim)
            )
        return True

    def _hoist(self, expr: Expr) -> Text:
        ranges = tuple(sorted((str(d), *self.range(d), self.stride(d)) for d in dims_of(expr)))
        return self.hoisted.add(
            (expr, ranges),
            stem_of(expr),
            lambda: self.prepared(expr),
            self.shown(expr),
            is_position=isinstance(expr, Leaf) and self._points(expr),
        )

    def _points(self, leaf: Leaf) -> bool:
        """Whether the elements of the array of a leaf are positions along a dim."""
        variable = self.graph.variables.get(leaf.array.name)  # (colours are no array of the model)
        return variable is not None and variable.of is not None

    def _turned(self, text: Text, dims: tuple[Dim, ...], turn: str) -> Text:
        """A data array with its axes in another order, laid out so once."""
        name = self.plain_data[text.code]
        self.hoisted.arrays.add(name)

        def make() -> Text:
            return Text(f"{self.call('ascontiguousarray')}({text.code}.{turn})", dims)

        key = ("turned", text.code, tuple(text.dims.index(d) for d in dims))
        turned = self.hoisted.add(key, f"{name}_turned", make, f"{name}, axes in another order")
        return Text(turned.code, dims)
