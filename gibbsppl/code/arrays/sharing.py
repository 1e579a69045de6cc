"""Sharing of equal expressions: of data beforehand, of the state as long as they hold.

An array and all that is added to it are one value, as is what a kernel makes of a matrix. Two are
equal if they are the same under other names of their dims, and nothing that they read has been
changed in between. The statements of a log density that a kernel asks for share among themselves,
each time that they are carried out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from gibbsppl.code.arrays.accesses import reads, writes
from gibbsppl.code.arrays.costs import is_dear
from gibbsppl.code.arrays.evaluation import OF_MATRICES
from gibbsppl.code.arrays.expressions import (
    Element,
    Expr,
    Position,
    Reduce,
    Span,
    mapped,
    walk,
)
from gibbsppl.code.arrays.naming import Names
from gibbsppl.code.arrays.statements import (
    Add,
    Choice,
    Density,
    Draw,
    Let,
    Loop,
    Statement,
    everywhere,
    expressions_of,
    spans_of,
    with_expressions,
)
from gibbsppl.code.arrays.sweeps import Sweep, every, names_in, spans_in
from gibbsppl.code.arrays.terms import dims_in_order, renumbered


def shared(sweep: Sweep) -> Sweep:
    """The sweep with equal arrays computed once, and those of data alone in ``prepare``."""
    names = Names({*sweep.arrays, *names_in(sweep.every), *spans_in(sweep.every)})
    fixed = {n for n, a in sweep.arrays.items() if a.kind not in ("state", "asked")}
    own = frozenset(_overwritten(sweep.every))
    sized = frozenset(d for a in sweep.arrays.values() for d in a.dims)
    work = _Sharing(names, fixed, own, spans_in(sweep.every), list(sweep.prepare), sized)
    statements = tuple(work.of(sweep.statements))
    work.forget()
    monitors = tuple(work.of(sweep.monitors))
    prepare = tuple(work.prepare)
    return replace(sweep, statements=statements, monitors=monitors, prepare=prepare)


@dataclass(slots=True)
class _Sharing:
    """The work on a sweep: what depends on data alone, what is known by its value, other names.

    ``own`` are the arrays that kernels may overwrite, ``sized`` the dims of arrays of the sweep.
    """

    names: Names
    fixed: set[str]
    own: frozenset[str]
    spans: dict[str, Span]
    prepare: list[Statement]
    sized: frozenset[str] = frozenset()
    version: dict[str, int] = field(default_factory=dict)
    known: dict[object, str] = field(default_factory=dict)
    alias: dict[str, str] = field(default_factory=dict)

    def forget(self) -> None:
        """Begin with another part, which arrays of the state have other values in."""
        self.known = {key: name for key, name in self.known.items() if name in self.fixed}
        self.alias = {name: other for name, other in self.alias.items() if other in self.fixed}

    def of(
        self, statements: Iterable[Statement], outer: tuple[Span, ...] = (), *, asked: bool = False
    ) -> list[Statement]:
        """Statements without what is known; ``asked``: those of a log density."""
        found: list[Statement] = []
        for group, whole in self.groups(statements):
            if whole is not None and self.is_known(group, whole):
                continue
            found += [self.inside(s, outer, asked=asked) for s in group]
            for name in writes(group):
                self.version[name] = self.version.get(name, 0) + 1
        return found

    def groups(
        self, statements: Iterable[Statement]
    ) -> Iterator[tuple[list[Statement], Let | None]]:
        """Yield statements by the names that are known so far, with all that makes an array.

        And the new array, if nothing changes it afterwards.
        """
        body, start = list(statements), 0
        last = {name: place for place, s in enumerate(body) for name in writes([s])}
        while start < len(body):
            group = _of_matrix(body, start) or _with_additions(body, start)
            start += len(group)
            found = next((s for s in reversed(group) if isinstance(s, Let)), None)
            is_whole = found is not None and found.name not in self.own and last[found.name] < start
            yield [self.renamed(s) for s in group], found if is_whole else None

    def inside(
        self, s: Statement, outer: tuple[Span, ...] = (), *, asked: bool = False
    ) -> Statement:
        """A statement with expressions of data alone computed beforehand.

        Within loops and choices nothing of the state is shared, but for those of a log density.
        """
        if isinstance(s, Choice) and asked:
            return s.of(lambda body: self.apart(body, outer))
        if isinstance(s, Choice):
            return s.of(lambda body: self.without_data(body, outer))
        if isinstance(s, Draw) and s.density is not None and s.density.body:
            s = replace(s, density=self.density(s.density, outer))
        if isinstance(s, Loop):
            over = (*outer, *s.over)
            return replace(s, body=tuple(self.inside(b, over) for b in s.body))
        own = (x for a in s.arguments for x in a.own) if isinstance(s, Draw) else ()
        here = {x.dim: x for x in (*outer, *spans_of(s), *own)}
        return with_expressions(s, lambda e: self.prepared(e, here))

    def density(self, density: Density, outer: tuple[Span, ...]) -> Density:
        """A log density whose statements share what they compute."""
        known, alias = dict(self.known), dict(self.alias)
        self.forget()
        body = tuple(self.of(density.body, outer, asked=True))
        value = self.renamed(Let("", (), density.value))
        self.remember(known, alias)
        assert isinstance(value, Let)
        return replace(density, body=body, value=value.value)

    def apart(self, body: Iterable[Statement], outer: tuple[Span, ...]) -> list[Statement]:
        """Statements that read what is known before, and of which nothing is known afterwards."""
        known, alias = dict(self.known), dict(self.alias)
        found = self.of(body, outer, asked=True)
        self.remember(known, alias)
        return found

    def remember(self, known: Mapping[object, str], alias: Mapping[str, str]) -> None:
        """Go back to what was known before, with what of data alone has been found since."""
        self.known = {**{k: n for k, n in self.known.items() if n in self.fixed}, **known}
        self.alias = {**{n: o for n, o in self.alias.items() if o in self.fixed}, **alias}

    def without_data(
        self, statements: Iterable[Statement], outer: tuple[Span, ...]
    ) -> list[Statement]:
        """Statements without the arrays of data alone, which are computed beforehand."""
        found: list[Statement] = []
        for group, whole in self.groups(statements):
            if whole is not None and self.is_of_data(group) and self.is_known(group, whole):
                continue
            found += [self.inside(s, outer) for s in group]
        return found

    def is_of_data(self, group: Sequence[Statement]) -> bool:
        """Whether an array depends on data alone, and on some, wherever loops around it are."""
        read = reads(group) - writes(group)
        is_fixed = bool(read) and read <= self.fixed and not _has_reductions(group)
        return is_fixed and all(map(_is_closed, group))

    def is_known(self, group: Sequence[Statement], let: Let) -> bool:
        """Whether an array is known already, or of data alone: then computed in ``prepare``."""
        read = reads(group) - writes(group)
        is_fixed = self.is_of_data(group)
        if not (is_fixed or len(group) > 1):
            return False
        versions = tuple(sorted((r, self.version.get(r, 0)) for r in read - self.fixed))
        key = (tuple(_normal(s, let.name) for s in group), versions)
        if key in self.known:
            self.alias[let.name] = self.known[key]
            return True
        self.known[key] = let.name
        if is_fixed:
            self.prepare += group
            self.fixed.add(let.name)
        return is_fixed

    def renamed(self, s: Statement) -> Statement:
        """A statement that reads arrays by the names under which they are known."""

        def one(e: Expr) -> Expr | None:
            if isinstance(e, Element) and e.array in self.alias:
                inner = tuple(mapped(i, one) for i in e.indices)
                return Element(self.alias[e.array], inner)
            return None

        return everywhere(s, lambda e: mapped(e, one)) if self.alias else s

    def prepared(self, expr: Expr, here: Mapping[str, Span]) -> Expr:
        """An expression whose dear parts of data alone are read from arrays.

        An array has all positions of its dims, so that others may read it, or those ``here`` where
        it reads neighbours, which not all have, and of dims without a size of their own: labels are
        as many as the variable at hand has.
        """

        def one(e: Expr) -> Expr | None:
            if not e.arrays or not e.arrays <= self.fixed or not is_dear(e):
                return None
            if isinstance(e, Element) or not e.free <= self.spans.keys():
                return None
            is_here = any(map(_is_shifted, walk(e))) or not e.free <= self.sized
            known = {**self.spans, **here} if is_here else self.spans
            dims = tuple(known[d] for d in dims_in_order(e))
            if any(x.arrays or x.free for s in dims for x in s.ends):
                return None  # (members of a group have no positions of their own)
            if any(isinstance(x, Reduce) for x in walk(e)):
                return None
            key = ("data", renumbered(e, dims), tuple(s.ends for s in dims))
            if key not in self.known:
                self.known[key] = self.names.fresh("_".join(sorted(e.arrays)[:2]) + "_known")
                self.prepare.append(Let(self.known[key], dims, e))
                self.fixed.add(self.known[key])
            return Element(self.known[key], tuple(Position(d.dim) for d in dims))

        return mapped(expr, one)


def _has_reductions(group: Sequence[Statement]) -> bool:
    """Whether there are sums that no pass has made arrays yet."""
    every_ = (e for s in group for x in expressions_of(s) for e in walk(x))
    return any(isinstance(e, Reduce) for e in every_)


def _overwritten(statements: Iterable[Statement]) -> Iterator[str]:
    """The names of the arrays that kernels may overwrite."""
    for s in every(statements):
        if isinstance(s, Draw):
            given = (a.value for a in s.arguments if a.own)
            yield from (v.array for v in given if isinstance(v, Element))


def _is_closed(s: Statement) -> bool:
    """Whether a statement reads positions of its own dims alone."""
    inner = (x for a in s.arguments for x in a.own) if isinstance(s, Draw) else ()
    own = {x.dim for x in (*spans_of(s), *inner)}
    return all(e.free <= own for e in expressions_of(s))


def _of_matrix(body: Sequence[Statement], place: int) -> list[Statement]:
    """A matrix, and what a kernel makes of it; nothing where other statements stand."""
    match body[place : place + 3]:
        case [Let() as matrix, Let() as found, Draw(is_random=False) as made]:
            given = [a.value.array for a in made.arguments if isinstance(a.value, Element)]
            names = [t.array for t in made.targets]
            if made.kernel in OF_MATRICES and (given, names) == ([matrix.name], [found.name]):
                return [matrix, found, made]
    return []


def _with_additions(body: Sequence[Statement], place: int) -> list[Statement]:
    """The statement at a place, with the additions right after it if it is a new array."""
    first = body[place]
    group = [first]
    if isinstance(first, Let):
        for s in islice(body, place + 1, None):
            if not (isinstance(s, Add) and s.array == first.name):
                break
            group.append(s)
    return group


def _is_shifted(e: Expr) -> bool:
    """Whether an expression is the position before or after."""
    return isinstance(e, Position) and e.shift != 0


def _normal(s: Statement, name: str) -> object:
    """A statement up to the names of its array and of its dims."""
    match s:
        case Let(dims=dims):
            ends = tuple(d.ends for d in dims)
            return ("let", ends, renumbered(s.value, dims), s.type)
        case Add(over=over):
            ends = tuple(d.ends for d in over)
            indices = tuple(renumbered(i, over) for i in s.indices)
            return ("add", s.by, ends, indices, renumbered(s.value, over))
        case Draw(kernel=kernel, over=over, own=own):
            return ("made", kernel, *(tuple(d.ends for d in dims) for dims in (over, own)))
    return (type(s), name, s)


