"""Expressions as NumPy source text: each text knows which dims its axes are.

Comes in: scalar templates. Goes out: `Text`, the source of an array with one axis per dim, the dims
in the order of the `Writer`. What depends on data alone is named in the `Hoisted` store instead,
and computed once in ``prepare``.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import sympy as sp
from sympy import Mul

from gibbsppl.centring import RESIDUAL, Centred, about_centre
from gibbsppl.contractions import contracted
from gibbsppl.errors import CompileError
from gibbsppl.expressions import (
    FUNCTIONS,
    Dim,
    Equals,
    Expr,
    InverseEntry,
    Leaf,
    LogDet,
    Over,
    Times,
    dims_of,
    root_of,
)
from gibbsppl.graph import Graph, Range
from gibbsppl.notation import Notation

SUM, MATMUL, PRODUCT, UNARY, POWER, ATOM = range(6)

# What generated code imports by name; all else is called as ``runtime.name``.
NUMPY = frozenset(("arange", "ascontiguousarray", "broadcast_to", "einsum", "zeros"))
MATHEMATICS = frozenset((*FUNCTIONS.values(), "sqrt"))

# The local names of generated code; a variable of the user's may not take them.
RESERVED = {"s", "c", "rng", "data", "at", "eta", "log_weights", "log_density", "value"}


@dataclass(frozen=True, slots=True)
class Text:
    """Source text of an array, the dim of each axis, and how tightly its outermost operator binds."""

    code: str
    dims: tuple[Dim, ...] = ()
    rank: int = ATOM

    def within(self, rank: int) -> str:
        """The text, in parentheses if it binds less tightly than the place it goes to."""
        return self.code if self.rank >= rank else f"({self.code})"


class Names:
    """Python identifiers for the user's names, one for each, none of them taken."""

    def __init__(self, taken: Collection[str]) -> None:
        self.taken = set(taken) | RESERVED | set(keyword.kwlist)
        self.given: dict[str, str] = {}

    def of(self, name: str) -> str:
        """The identifier that stands for a name."""
        if name not in self.given:
            self.given[name] = self.fresh(name)
        return self.given[name]

    def fresh(self, name: str) -> str:
        """A new identifier that looks like a name."""
        plain = re.sub(r"\W+", "_", name.replace("'", "_prime")).strip("_") or "x"
        plain = plain if not plain[0].isdigit() else "_" + plain
        plain = f"{plain}_" if re.fullmatch(r"eta(_\d+)?", plain) else plain
        candidate, n = plain, 2
        while candidate in self.taken:
            candidate, n = f"{plain}_{n}", n + 1
        self.taken.add(candidate)
        return candidate


@dataclass(slots=True)
class Hoisted:
    """What is computed once: name by expression and ranges, and the lines of ``prepare``."""

    names: Names
    known: dict[tuple[object, ...], Text] = field(default_factory=dict)
    lines: list[tuple[str, str, str]] = field(default_factory=list)
    arrays: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)

    def add(self, key: tuple[object, ...], stem: str, make: Callable[[], Text], comment: str) -> Text:
        """The name of a value, computed in ``prepare`` by the text that ``make`` returns."""
        if key not in self.known:
            text = make()
            name = self.names.fresh(stem)
            # A number of Python's own: arithmetic of arrays with it is faster than with NumPy's.
            number = not text.dims and not isinstance(key[0], str)
            self.lines.append((name, f"float({text.code})" if number else text.code, comment))
            self.known[key] = Text(name, text.dims)
        return self.known[key]

    def add_all(
        self, key: tuple[object, ...], stems: list[str], make: Callable[[], Text], comment: str
    ) -> list[str]:
        """The names of several values that one call in ``prepare`` returns."""
        if key not in self.known:
            code = make().code
            names = ", ".join(map(self.names.fresh, stems))
            self.lines.append((names, code, comment))
            self.known[key] = Text(names)
        return self.known[key].code.split(", ")

    @property
    def all_names(self) -> list[str]:
        """The names of all values that ``prepare`` computes."""
        return [name for names, _, _ in self.lines for name in names.split(", ")]


def stem_of(expr: Expr) -> str:
    """A telling name for a hoisted expression: what it sums, and over which arrays."""
    arrays = sorted({leaf.array.name for leaf in expr.atoms(Leaf)})
    sums = expr.has(Over)
    return "_".join((["sum"] if sums else []) + arrays[:3]) or "positions"


class Writer:
    """Writes expressions for one function; collects the names that the function must unpack."""

    def __init__(
        self,
        graph: Graph,
        names: Names,
        hoisted: Hoisted,
        sizes: Mapping[Dim, int],
        *,
        preparing: bool = False,
        local: str | None = None,
        keeps: bool = False,
    ) -> None:
        self.graph, self.names, self.hoisted = graph, names, hoisted
        self.sizes = sizes
        self.preparing = preparing
        self.local = local
        self.random = {v.name for v in graph.variables.values() if v.kind == "random"}
        self.order: dict[Dim, int] = {}
        self.ranges: dict[Dim, tuple[int, int]] = {}
        self.state_names: dict[str, str] = {}
        self.constant_names: set[str] = set()
        self.plain_data: dict[str, str] = {}
        self.keeps = keeps
        self.gathered: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        self.lines: list[str] = []

    # ---- what an expression is made of -------------------------------------------------------

    def is_data(self, expr: Expr) -> bool:
        """Whether an expression reads data alone."""
        return not any(leaf.array.name in self.random for leaf in expr.atoms(Leaf))

    def size(self, dim: Dim) -> int:
        """The size of a dim or of a copy of it."""
        return self.sizes[dim] if dim in self.sizes else self.sizes[Dim(root_of(dim))]

    def range(self, dim: Dim) -> tuple[int, int]:
        """The positions of a dim that are meant here."""
        return self.ranges.get(dim, (0, self.size(dim)))

    @contextmanager
    def over(self, ranges: Iterable[Range]) -> Iterator[None]:
        """Within it, the dims are read at the positions of the ranges."""
        before = dict(self.ranges)
        self.ranges.update({r.dim: (r.start, r.stop) for r in ranges})
        yield
        self.ranges = before

    def arrange(self, dims: Iterable[Dim]) -> None:
        """Give dims their place in the order of axes, after those that have one."""
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

    # ---- expressions -------------------------------------------------------------------------

    def write(self, expr: Expr) -> Text:
        """The text of an expression."""
        expr = sp.sympify(expr)
        if not self.preparing and self._is_worth_hoisting(expr):
            return self._hoist(expr)
        match expr:
            case sp.Number() | sp.NumberSymbol():
                return _number(expr)
            case Dim():
                return self._positions(expr)
            case Leaf():
                return self._leaf(expr)
            case sp.Add():
                return self._sum(expr)
            case sp.Mul():
                return self._product(expr)
            case sp.Pow():
                return self._power(expr)
            case Over():
                return self._over(expr)
            case Times():
                return self._times(expr)
            case LogDet():
                inner = self._matrix(expr.body, *expr.bound)
                return Text(f"{self.call('logdet')}({inner.code})", inner.dims[:-2])
            case InverseEntry():
                return self._inverse(expr)
            case sp.Function() if expr.func in FUNCTIONS:
                texts, dims = self._aligned([self.write(a) for a in expr.args])
                return Text(f"{self.call(FUNCTIONS[expr.func])}({', '.join(texts)})", dims)
            case _ if expr.is_number:
                return _number(expr)
            case _:
                raise CompileError(f"the NumPy back end cannot write {expr}.")

    def call(self, name: str) -> str:
        """The name by which generated code calls a function."""
        self.hoisted.used.add(name)
        return name if name in NUMPY | MATHEMATICS else f"runtime.{name}"

    def _is_worth_hoisting(self, expr: Expr) -> bool:
        if not self.is_data(expr) or not expr.free_symbols:
            return False
        if isinstance(expr, Leaf):
            return any(not (i.is_Symbol or i.is_Integer) for i in expr.indices) or any(
                self.range(i) != (0, self.size(i)) for i in expr.indices if isinstance(i, Dim)
            )
        return True

    def _hoist(self, expr: Expr) -> Text:
        ranges = tuple(sorted((str(d), *self.range(d)) for d in dims_of(expr)))
        return self.hoisted.add(
            (expr, ranges), stem_of(expr), lambda: self._prepared(expr), self.shown(expr)
        )

    def shown(self, expr: Expr) -> str:
        """The expression in mathematical notation, for a comment."""
        return Notation(sizes=self.sizes).text(expr)

    def _prepared(self, expr: Expr) -> Text:
        inner = Writer(self.graph, self.names, self.hoisted, self.sizes, preparing=True)
        inner.order, inner.ranges = self.order, dict(self.ranges)
        text = inner.write(expr)
        self.hoisted.arrays |= inner.constant_names
        return text

    def _positions(self, dim: Dim) -> Text:
        start, stop = self.range(dim)
        return Text(f"{self.call('arange')}({start}, {stop})", (dim,))

    def _sum(self, expr: Expr) -> Text:
        terms = sorted(self._grouped(list(expr.args), sp.Add), key=_constant_last)
        signs = ["-" if t.could_extract_minus_sign() else "+" for t in terms]
        plain = [-t if sign == "-" else t for sign, t in zip(signs, terms, strict=True)]
        texts, dims = self._aligned([self.write(t) for t in plain], PRODUCT)
        code = texts[0] if signs[0] == "+" else f"-{texts[0]}"
        code += "".join(f" {sign} {t}" for sign, t in zip(signs[1:], texts[1:], strict=True))
        return Text(code, dims, SUM)

    def _grouped(self, args: list[Expr], func: Callable[..., Expr]) -> list[Expr]:
        """Arguments that read data alone as one, so that they are computed once."""
        data = [a for a in args if self.is_data(a) and a.free_symbols]
        if self.preparing or not data:
            return args
        numbers = [a for a in args if not a.free_symbols]
        together = func(*data, *numbers) if func is sp.Add else func(*data)
        largest = max((len(dims_of(a)) for a in data), default=0)
        if len(data) + len(numbers) * (func is sp.Add) < 2 or len(dims_of(together)) > largest:  # noqa: PLR2004
            return args
        gone = set(data) | (set(numbers) if func is sp.Add else set())
        return [a for a in args if a not in gone] + [together]

    def _product(self, expr: Expr) -> Text:
        coefficient, rest = expr.as_coeff_Mul()
        factors = self._grouped(list(Mul.make_args(rest)), Mul)
        below = [1 / f for f in factors if f.is_Pow and f.exp.is_number and f.exp.is_negative]
        above = [f for f in factors if 1 / f not in below]
        sign = "-" if coefficient.is_negative else ""
        front, divisor = _split_number(abs(coefficient))
        parts = [self.write(f) for f in above]
        texts, dims = self._aligned(parts, PRODUCT)
        numerator = " * ".join(([front] if front else []) + texts) or "1"
        unders = [self.write(f) for f in below]
        _, all_dims = self._aligned([Text("", dims), *unders])
        under = [self._align(u, all_dims, POWER) for u in unders] + ([divisor] if divisor else [])
        if under and dims != all_dims:
            numerator = self._align(Text(numerator, dims, PRODUCT), all_dims, PRODUCT)
        code = " / ".join([numerator, *under])
        return Text(sign + code, all_dims, PRODUCT)

    def _power(self, expr: Expr) -> Text:
        base, exponent = expr.args
        if exponent == sp.Rational(1, 2):
            inner = self.write(base)
            return Text(f"{self.call('sqrt')}({inner.code})", inner.dims)
        if exponent.is_number and exponent.is_negative:
            inner = self.write(base**-exponent)
            return Text(f"1 / {inner.within(POWER)}", inner.dims, PRODUCT)
        texts, dims = self._aligned([self.write(base), self.write(exponent)], ATOM)
        return Text(f"{texts[0]}**{texts[1]}", dims, POWER)

    # ---- alignment ---------------------------------------------------------------------------

    def _aligned(self, texts: list[Text], rank: int = SUM) -> tuple[list[str], tuple[Dim, ...]]:
        """Texts indexed so that they broadcast against each other, and the dims of the result."""
        dims = self.sorted(d for t in texts for d in t.dims)
        return [self._align(t, dims, rank) for t in texts], dims

    def _align(self, text: Text, dims: tuple[Dim, ...], rank: int = SUM) -> str:
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
        turn = "T" if len(dims) == 2 else f"transpose({axes})"  # noqa: PLR2004
        if text.code in self.plain_data and not self.preparing:
            return self._turned(text, dims, turn)
        return Text(f"{text.within(ATOM)}.{turn}", dims)

    def _turned(self, text: Text, dims: tuple[Dim, ...], turn: str) -> Text:
        """A data array with its axes in another order, laid out so once."""
        name = self.plain_data[text.code]
        self.constant_names.discard(name)
        self.hoisted.arrays.add(name)

        def make() -> Text:
            return Text(f"{self.call('ascontiguousarray')}({text.code}.{turn})", dims)

        key = ("turned", text.code, tuple(text.dims.index(d) for d in dims))
        turned = self.hoisted.add(key, f"{name}_turned", make, f"{name}, axes in another order")
        return Text(turned.code, dims)

    def full(self, text: Text, axes: tuple[Dim, ...]) -> str:
        """The text aligned with axes of a result."""
        return self._align(text, axes)

    # ---- leaves ------------------------------------------------------------------------------

    def array(self, name: str) -> str:
        """The local name of an array, noted for unpacking."""
        if name in self.aliases:
            return self.aliases[name]
        if name == self.local:
            return self.names.of(name)
        if name in self.random:
            self.state_names[name] = self.names.of(name)
        else:
            self.constant_names.add(name)
            self.plain_data[self.names.of(name)] = name
        return self.names.of(name)

    def _leaf(self, leaf: Leaf) -> Text:
        name = self.array(leaf.array.name)
        if not leaf.indices:
            return Text(name)
        gathers = self._gathers(leaf)
        plain: dict[int, tuple[Dim, str]] = {
            axis: self._slice(leaf, axis, index)
            for axis, index in enumerate(leaf.indices)
            if axis not in gathers
        }
        inner = {d for t in gathers.values() for d in t.dims}
        for axis, (dim, _) in list(plain.items()):
            # A dim that occurs twice is read pairwise: all its axes become gathers.
            if dim in inner or any(dim == d for a, (d, _) in plain.items() if a != axis):
                gathers[axis] = self.write(leaf.indices[axis])
        return self._indexed(name, len(leaf.indices), plain, gathers)

    def _gathers(self, leaf: Leaf) -> dict[int, Text]:
        """The texts of the indices that are not slices, by axis."""
        found = {
            axis: self.write(index)
            for axis, index in enumerate(leaf.indices)
            if not index.is_Integer and self._contiguous(index) is None
        }
        if found:
            integers = {a: Text(str(i)) for a, i in enumerate(leaf.indices) if i.is_Integer}
            found.update(integers)
        return found

    def _contiguous(self, index: Expr) -> tuple[Dim, int] | None:
        """A dim and a constant whose sum the index is, if it is."""
        dims = dims_of(index)
        if len(dims) != 1 or index.atoms(Leaf):
            return None
        (dim,) = dims
        shift = index - dim
        return (dim, int(shift)) if shift.is_Integer else None

    def _slice(self, leaf: Leaf, axis: int, index: Expr) -> tuple[Dim, str]:
        if index.is_Integer:
            return Dim("·"), str(index)
        found = self._contiguous(index)
        assert found is not None
        dim, shift = found
        start, stop = (p + shift for p in self.range(dim))
        size = self.sizes[self.graph.variables[leaf.array.name].dims[axis]]
        if (start, stop) == (0, size):
            return dim, ":"
        return dim, f"{start or ''}:{stop if stop != size else ''}"

    def _indexed(
        self,
        name: str,
        count: int,
        plain: dict[int, tuple[Dim, str]],
        gathers: dict[int, Text],
    ) -> Text:
        texts, inner = self._aligned(list(gathers.values()))
        codes = dict(zip(gathers, texts, strict=True))
        index = [codes[a] if a in codes else plain[a][1] for a in range(count)]
        sliced = {a: d for a, (d, t) in plain.items() if ":" in t and a not in gathers}
        axes = sorted(gathers)
        together = bool(axes) and axes[-1] - axes[0] + 1 == len(axes)
        before = [d for a, d in sorted(sliced.items()) if together and a < axes[0]]
        after = [d for a, d in sorted(sliced.items()) if not (together and a < axes[0])]
        dims = (*before, *inner, *after)
        text = Text(_read(name, index), dims)
        return self._kept(name, text) if gathers else text

    def _kept(self, name: str, text: Text) -> Text:
        """A gather under a local name, so that it is made once however often it is read."""
        if self.preparing or not self.keeps:
            return text
        if text.code not in self.gathered:
            self.gathered[text.code] = self.names.fresh(f"{name}_read")
        return Text(self.gathered[text.code], text.dims)

    # ---- sums --------------------------------------------------------------------------------

    def _over(self, expr: Over) -> Text:
        body, ranges = _unnested(expr, self.size)
        settled = self.is_data(body) and {r.dim for r in ranges} <= dims_of(body)
        pushed = body if settled else contracted(body, ranges, self.is_data)
        if not settled and pushed != _nest(body, ranges):
            return self.write(pushed)
        with self.over(ranges):
            return self._contraction(body, ranges)

    def _contraction(self, body: Expr, ranges: tuple[Range, ...]) -> Text:
        summed = {r.dim for r in ranges}
        factors = list(Mul.make_args(body))
        matches = [f for f in factors if _is_one_hot(f, summed)]
        rest = [f for f in factors if f not in matches]
        if matches:
            return self._segments(matches, rest, ranges)
        coefficient, rest = Mul(*rest).as_coeff_Mul()
        if rest.is_Pow and rest.exp == 2 and dims_of(rest) == summed:  # noqa: PLR2004
            text = self._squares(rest.base, ranges)
            return _times_number(coefficient, text)
        operands = [self.write(f) for f in self._grouped(list(Mul.make_args(rest)), Mul)]
        return _times_number(coefficient, self._einsum(operands, summed))

    def _squares(self, base: Expr, ranges: tuple[Range, ...]) -> Text:
        """The sum of squares of an expression: about a centre where that saves the data."""
        plain = self.preparing or not self.keeps or self.local is not None
        about = None if plain else about_centre(self.graph, base, ranges, self.is_data)
        if about is not None:
            return self._about_centre(about)
        return Text(f"{self.call('sum_of_squares')}({self.write(base).code})")

    def _about_centre(self, about: Centred) -> Text:
        """S(x) as S(x0) plus a slope and a quadratic form in x - x0, all but x computed once."""
        prepared = self._centre_prepared(about)
        terms = [Text(prepared[0])]
        away = {}
        for part, centre, slope in zip(about.parts, prepared[1::2], prepared[2::2], strict=True):
            x = self.array(part.name)
            name = self._named_once(f"{x} - {centre}", f"{x}_away")
            away[part.away] = name
            code = f"{self.call('inner')}({slope}, {name})" if part.dims else f"{slope} * {name}"
            terms.append(Text(code, (), PRODUCT))
        with self._aliases(about, away):
            terms += [self.write(e) for e in about.forms]
        total = self.names.fresh("sum_of_squares")
        codes = [t.within(PRODUCT) for t in terms]
        self.lines += [f"{total} = (", f"    {codes[0]}", *(f"    + {c}" for c in codes[1:]), ")"]
        return Text(total)

    def _named_once(self, code: str, stem: str) -> str:
        """A local name for a value that a function reads more than once."""
        if code not in self.gathered:
            self.gathered[code] = self.names.fresh(stem)
        return self.gathered[code]

    @contextmanager
    def _aliases(self, about: Centred, away: Mapping[str, str]) -> Iterator[None]:
        """Within it, the distances from the centre are arrays of the state with local names."""
        graph, random = self.graph, self.random
        self.graph, self.random = about.graph, random | set(away)
        self.aliases.update(away)
        yield
        self.graph, self.random = graph, random

    def _centre_prepared(self, about: Centred) -> list[str]:
        """The names of what ``prepare`` knows: S(x0), and centre and slope of each part."""
        key = ("centre", about.base, tuple((r.dim.name, r.start, r.stop) for r in about.ranges))
        stems = ["squares", *(f"{p.name}_{w}" for p in about.parts for w in ("centre", "slope"))]

        def make() -> Text:
            inner = Writer(about.graph, self.names, self.hoisted, self.sizes, preparing=True)
            unknown = [p.name for p in about.parts]
            inner.arrange(r.dim for r in about.ranges)
            shape = tuple(len(r) for r in about.ranges)
            with inner.over(about.ranges):
                base = inner.full(inner.write(about.base), tuple(r.dim for r in about.ranges))
            adjoint = [inner.full(inner.write(p.adjoint), p.dims) for p in about.parts]
            self.hoisted.arrays |= inner.constant_names - set(unknown) - {RESIDUAL}
            names = ", ".join(self.names.of(n) for n in unknown)
            shapes = ", ".join(str(tuple(map(self.size, p.dims))) for p in about.parts)
            residual = self.names.of(RESIDUAL)
            return Text(
                f"{self.call('centred')}(\n"
                f"        lambda {names}: {base},\n"
                f"        lambda {residual}: ({', '.join(adjoint)},),\n"
                f"        {shape}, {shapes},\n"
                "    )"
            )

        return self.hoisted.add_all(key, stems, make, f"least squares of {self.shown(about.base)}")

    def _einsum(self, operands: list[Text], summed: set[Dim]) -> Text:
        dims = self.sorted(d for t in operands for d in t.dims)
        kept = tuple(d for d in dims if d not in summed)
        if len(operands) == 1:
            (text,) = operands
            axes = [str(a) for a, d in enumerate(text.dims) if d in summed]
            inner = "" if len(axes) == len(text.dims) else (
                f"axis={axes[0]}" if len(axes) == 1 else f"axis=({', '.join(axes)})"
            )
            left = tuple(d for d in text.dims if d not in summed)
            return Text(f"{text.within(ATOM)}.sum({inner})", left)
        if (product := _matmul(operands, summed)) is not None:
            return product
        if (form := _quadratic_form(operands, summed)) is not None:
            return form
        letters = {d: chr(ord("a") + n) for n, d in enumerate(dims)}
        spec = ",".join("".join(letters[d] for d in t.dims) for t in operands)
        out = "".join(letters[d] for d in kept)
        codes = ", ".join(t.code for t in operands)
        # (NumPy itself finds a good order for more than two.)
        ordered = ", optimize=True" if len(operands) > 2 else ""  # noqa: PLR2004
        return Text(f'{self.call("einsum")}("{spec}->{out}", {codes}{ordered})', kept)

    def _segments(
        self, matches: list[Expr], rest: list[Expr], ranges: tuple[Range, ...]
    ) -> Text:
        """A sum by group: sum_i Equals(g[i], a) * values."""
        indices = [m.args[0] for m in matches]
        axes = tuple(m.args[1] for m in matches)
        texts, along = self._aligned([self.write(i) for i in indices])
        inner = [r for r in ranges if r.dim not in along]
        summand = contracted(Mul(*rest), inner, self.is_data)
        fixed = len(indices) == 1 and len(along) == 1 and self.is_data(indices[0])
        with self._first(along):
            if fixed and not self.preparing:
                return self._grouped_sum(indices[0], axes[0], along[0], summand)
            value = self.write(summand)
            others = tuple(d for d in value.dims if d not in along)
            code = self._spread(value, along + others).code if value.dims else value.code
        shown = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
        sizes = tuple(self.size(a) for a in axes)
        shape = str(sizes[0]) if len(sizes) == 1 else str(sizes)
        return Text(f"{self.call('segment_sum')}({code}, {shown}, {shape})", axes + others)

    def _grouped_sum(self, index: Expr, axis: Dim, along: Dim, summand: Expr) -> Text:
        """A sum over the groups that a data index makes."""
        groups = self._groups(index, axis, along)
        coefficient, rest = summand.as_coeff_Mul()
        if (pair := self._outer(rest, along)) is not None:
            first, second = pair
            left, right = (self._spread(t, self._along_first(t, along)) for t in pair)
            text = Text(
                f"{groups}.outer({left.code}, {right.code})",
                (axis, *self._along_first(first, along)[1:], *self._along_first(second, along)[1:]),
            )
        elif rest == 1:
            text = Text(f"{groups}.count", (axis,))
        else:
            value = self.write(rest)
            value = self._spread(value, self._along_first(value, along))
            text = Text(f"{groups}.sum({value.code})", (axis, *value.dims[1:]))
        if coefficient == 1:
            return text
        return Text(f"{_number(coefficient).code} * {text.code}", text.dims, PRODUCT)

    def _along_first(self, text: Text, along: Dim) -> tuple[Dim, ...]:
        return (along, *(d for d in text.dims if d != along))

    def _outer(self, product: Expr, along: Dim) -> tuple[Text, Text] | None:
        """The two sides of an outer product that is summed by group, if it is one."""
        factors = Mul.make_args(product)
        trailing = [dims_of(f) - {along} for f in factors]
        sides = sorted({d for t in trailing for d in t}, key=str)
        if len(sides) != 2 or any(len(t) > 1 for t in trailing):  # noqa: PLR2004
            return None
        sides = list(self.sorted(sides))
        first = Mul(*(f for f, t in zip(factors, trailing, strict=True) if t <= {sides[0]}))
        second = Mul(*(f for f, t in zip(factors, trailing, strict=True) if t == {sides[1]}))
        return self.write(first), self.write(second)

    @contextmanager
    def _first(self, dims: tuple[Dim, ...]) -> Iterator[None]:
        """Within it, the dims come before all others in the order of axes."""
        before = dict(self.order)
        rest = [d for d in before if d not in dims]
        self.order = {d: n for n, d in enumerate((*dims, *rest))}
        yield
        self.order = before

    def _spread(self, text: Text, dims: tuple[Dim, ...]) -> Text:
        """The text with one axis per dim, repeated along those that it lacks."""
        ordered = self.transposed(text, tuple(d for d in dims if d in text.dims))
        if ordered.dims == dims:
            return ordered
        index = ", ".join(":" if d in ordered.dims else "None" for d in dims)
        shape = tuple(stop - start for start, stop in map(self.range, dims))
        code = f"{self.call('broadcast_to')}({ordered.within(ATOM)}[{index}], {shape})"
        return Text(code, dims)

    def _groups(self, index: Expr, axis: Dim, along: Dim) -> str:
        """The name of the groups of positions that a data index makes."""
        key = ("groups", index, axis, self.range(along))
        size = self.size(axis)

        def make() -> Text:
            inner = self._prepared(index)
            return Text(f"{self.call('Groups')}({inner.code}, {size})")

        return self.hoisted.add(key, "by_" + stem_of(index), make, f"groups by {self.shown(index)}").code

    def _times(self, expr: Times) -> Text:
        (dim,) = expr.bound
        inner = self.write(expr.body)
        if dim not in inner.dims:
            return Text(f"{inner.within(POWER)}**{self.size(dim)}", inner.dims, POWER)
        left = tuple(d for d in inner.dims if d != dim)
        return Text(f"{inner.within(ATOM)}.prod(axis={inner.dims.index(dim)})", left)

    # ---- matrices ----------------------------------------------------------------------------

    def _matrix(self, body: Expr, k: Dim, l: Dim) -> Text:
        text = self.write(body)
        outer = tuple(d for d in text.dims if d not in (k, l))
        if not {k, l} <= set(text.dims):
            raise CompileError(f"{body} is no matrix over {k} and {l}.")
        return self.transposed(text, (*outer, k, l))

    def _inverse(self, expr: InverseEntry) -> Text:
        """Entries of an inverse: the whole of it, its diagonal, or those at two indices."""
        inner = self._matrix(expr.body, *expr.bound)
        row, column = expr.args[3:]
        outer = inner.dims[:-2]
        code = f"{self.call('inverse')}({inner.code})"
        if row == column and isinstance(row, Dim):
            return Text(f"{code}.diagonal(axis1=-2, axis2=-1)", (*outer, row))
        if isinstance(row, Dim) and isinstance(column, Dim):
            return Text(code, (*outer, row, column))
        if outer:
            raise CompileError(f"the NumPy back end cannot write single entries of {expr}.")
        (at_row, at_column), dims = self._aligned([self.write(row), self.write(column)])
        return Text(f"{code}[{at_row}, {at_column}]", dims)


def _read(name: str, index: list[str]) -> str:
    """The text that reads an array at an index."""
    open_axes = [i for i in index if i != ":"]
    if len(index) > 1 and len(open_axes) == 1 and open_axes[0].isidentifier():
        # The same as a plain index with an array, and faster where whole rows are read.
        return f"{name}.take({open_axes[0]}, axis={index.index(open_axes[0])})"
    while index and index[-1] == ":":
        index.pop()
    return f"{name}[{', '.join(index)}]" if index else name


def _times_number(coefficient: Expr, text: Text) -> Text:
    if coefficient == 1:
        return text
    code = f"{_number(coefficient).within(PRODUCT)} * {text.within(PRODUCT)}"
    return Text(code, text.dims, PRODUCT)


def _is_one_hot(factor: Expr, summed: set[Dim]) -> bool:
    return (
        isinstance(factor, Equals)
        and isinstance(factor.args[1], Dim)
        and factor.args[1] not in summed
        and bool(dims_of(factor.args[0]))
        and dims_of(factor.args[0]) <= summed
    )


def _unnested(expr: Over, size: Callable[[Dim], int]) -> tuple[Expr, tuple[Range, ...]]:
    """The body of nested sums and all their ranges."""
    ranges: list[Range] = []
    body: Expr = expr
    while isinstance(body, Over) and body.bound[0] not in {r.dim for r in ranges}:
        (dim,) = body.bound
        bounds = [int(b) for b in body.args[2:]] or [0, size(dim)]
        ranges.append(Range(dim, *bounds))
        body = body.body
    return body, tuple(ranges)


def _nest(body: Expr, ranges: tuple[Range, ...]) -> Expr:
    for r in reversed(ranges):
        body = Over(body, r.dim, r.start, r.stop)
    return body


def _quadratic_form(operands: list[Text], summed: set[Dim]) -> Text | None:
    """Two vectors and a matrix between them, all summed."""
    matrices = [t for t in operands if len(t.dims) == 2]  # noqa: PLR2004
    vectors = {t.dims[0]: t for t in operands if len(t.dims) == 1}
    if len(operands) != 3 or len(matrices) != 1 or len(vectors) != 2:  # noqa: PLR2004
        return None
    (matrix,) = matrices
    if set(matrix.dims) != set(vectors) or not set(vectors) <= summed:
        return None
    left, right = (vectors[d].within(POWER) for d in matrix.dims)
    return Text(f"{left} @ {matrix.within(POWER)} @ {right}", (), MATMUL)


def _matmul(operands: list[Text], summed: set[Dim]) -> Text | None:
    """Two operands with one dim between them as a matrix product, where their axes stand so."""
    if len(operands) != 2 or len(summed) != 1:  # noqa: PLR2004
        return None
    (k,) = summed
    for a, b in (operands, operands[::-1]):
        meets = bool(a.dims) and bool(b.dims) and a.dims[-1] == k == b.dims[0]
        shared = set(a.dims) & set(b.dims)
        if meets and shared == {k} and len(b.dims) <= 2 and len(a.dims) <= 2:  # noqa: PLR2004
            # A factor that multiplies the product must not be drawn into it: * and @ bind alike.
            code = f"{a.within(POWER)} @ {b.within(POWER)}"
            return Text(code, a.dims[:-1] + b.dims[1:], MATMUL)
    a, b = operands
    if len(a.dims) == len(b.dims) == 2 and set(a.dims) & set(b.dims) == {k}:  # noqa: PLR2004
        # Two matrices with the summed dim on the same side: one of them is turned.
        if a.dims[0] == b.dims[0] == k:
            return Text(f"{a.within(ATOM)}.T @ {b.within(POWER)}", (a.dims[1], b.dims[1]), MATMUL)
        if a.dims[1] == b.dims[1] == k:
            return Text(f"{a.within(POWER)} @ {b.within(ATOM)}.T", (a.dims[0], b.dims[0]), MATMUL)
    return None


def _number(value: Expr) -> Text:
    if value.is_Integer:
        return Text(str(value), (), ATOM if value >= 0 else UNARY)
    if value in (sp.oo, -sp.oo):
        return Text('float("inf")' if value > 0 else '-float("inf")', (), ATOM if value > 0 else UNARY)
    as_float = float(value)
    return Text(repr(as_float), (), ATOM if as_float >= 0 else UNARY)


def _split_number(value: Expr) -> tuple[str, str]:
    """A positive number as a factor in front and a divisor at the end; empty where it is one."""
    if value == 1:
        return "", ""
    if value.is_Rational and 1 < value.q <= 9:  # noqa: PLR2004
        return ("" if value.p == 1 else str(value.p)), str(value.q)
    return _number(value).code, ""


def _constant_last(term: Expr) -> tuple[bool, bool, str]:
    """Numbers go last; terms with a minus sign go after one without."""
    return (term.is_number, bool(term.could_extract_minus_sign()), str(term))


