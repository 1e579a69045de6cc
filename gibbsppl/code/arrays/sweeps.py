"""A whole sweep: what is known of arrays from outside, what is computed once, what is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from gibbsppl.code.arrays.expressions import Element, Expr, Reduce, Size, Span, walk
from gibbsppl.code.arrays.statements import (
    Draw,
    Let,
    Statement,
    Type,
    expressions_of,
    inner,
    lines,
    spans_of,
)

Kind: TypeAlias = Literal["data", "state", "table", "asked"]


# The array of what a sweep is asked for: 1 for each deferred step that it carries out, else 0.
DEFERRED = "~deferred"


@dataclass(frozen=True, slots=True)
class Array:
    """An array from outside and its facts: data, state, a table made of data.

    Or what a sweep is ``asked`` for: which of its deferred steps it carries out.

    ``dims`` are roots, those that the model declares; elements may be positions ``of`` a dim.
    ``is_tuning``: it is state of kernels alone, which is ``start`` before they have moved.
    ``limits``: the least and the largest of whole numbers, if the model says so.
    """

    dims: tuple[str, ...]
    kind: Kind
    type: Type = "float"
    is_tuning: bool = False
    of: str = ""
    start: float = 0.0
    limits: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.type}[{', '.join(self.dims)}]"


@dataclass(frozen=True, slots=True)
class Table:
    """Tables that a function of the runtime makes of arguments, which may name arrays of data."""

    names: tuple[str, ...]
    function: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep as a value: arrays from outside, statements carried out once, and in each sweep.

    ``monitors`` compute what is recorded beside the state, the arrays ``outputs``. ``sizes`` are
    those of dims that the model does not have; ``lengths`` say of which dims of the model some of
    these are a product, or a sum of products, and so are numbers that a kernel is given ("x 4" is
    the fifth argument of what draws x). Positions of ``lanes`` are stored, and visited, side by
    side, inside of all others. Of the ``deferred`` steps those are carried out whose number in the
    array `DEFERRED` is not 0. What the language does not have yet may be
    ``left_out``: steps, with the reason.
    """

    name: str
    arrays: Mapping[str, Array]
    statements: tuple[Statement, ...]
    monitors: tuple[Statement, ...] = ()
    outputs: tuple[str, ...] = ()
    prepare: tuple[Statement, ...] = ()
    tables: tuple[Table, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    deferred: tuple[str, ...] = ()
    lengths: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    lanes: frozenset[str] = frozenset()
    left_out: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        shown = [f"sweep of {self.name}"]
        shown += [f"    {name}: {array}" for name, array in self.arrays.items()]
        parts = {"prepare": self.prepare, "sweep": self.statements, "monitors": self.monitors}
        for title, part in parts.items():
            if part:
                shown += [title, *(f"    {line}" for s in part for line in lines(s))]
        return "\n".join(shown)

    @property
    def every(self) -> tuple[Statement, ...]:
        """The statements of sweeps and of monitors."""
        return (*self.statements, *self.monitors)


def every(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Statements with all statements inside of them."""
    for statement in statements:
        yield statement
        yield from every(inner(statement))


def names_in(statements: Iterable[Statement]) -> frozenset[str]:
    """The names of all arrays that statements read or make."""
    found = set[str]()
    for s in every(statements):
        found.update(*(e.arrays for e in expressions_of(s)))
        found |= made_by(s)
    return frozenset(found)


def made_by(statement: Statement) -> set[str]:
    """The names of the arrays that a statement itself makes or changes."""
    match statement:
        case Let(name=name):
            return {name}
        case Draw(targets=targets, density=density):
            own = {density.argument} if density is not None else set[str]()
            return {t.array for t in targets} | own
    array = getattr(statement, "array", None)
    target: Element | None = getattr(statement, "target", None)
    return {a for a in (array, target.array if target is not None else None) if a is not None}


def spans_in(statements: Iterable[Statement]) -> dict[str, Span]:
    """A span for each dim that statements are over: all positions if some span has these."""
    found: dict[str, Span] = {}
    for span in _every_span(statements):
        if span.dim not in found or (span.is_whole and not found[span.dim].is_whole):
            found[span.dim] = span
    return found


def _every_span(statements: Iterable[Statement]) -> Iterator[Span]:
    for s in every(statements):
        yield from spans_of(s)
        if isinstance(s, Draw):
            yield from s.own
            yield from (span for a in s.arguments for span in a.own)
        for expr in expressions_of(s):
            yield from (span for e in walk(expr) if isinstance(e, Reduce) for span in e.spans)


def dims_sized(statements: Iterable[Statement]) -> frozenset[str]:
    """The dims whose sizes statements read."""
    found = (e for s in every(statements) for x in expressions_of(s) for e in walk(x))
    return frozenset(e.dim for e in found if isinstance(e, Size))


def mentions(expr: Expr, names: Iterable[str]) -> bool:
    """Whether an expression reads one of some arrays."""
    return not expr.arrays.isdisjoint(names)


def numbers_of(sweep: Sweep) -> frozenset[str]:
    """The arrays without axes that a sweep is given: of the state, of data, of what is prepared."""
    given = {n for n, a in sweep.arrays.items() if not a.dims}
    made = {s.name for s in every(sweep.prepare) if isinstance(s, Let) and not s.dims}
    return frozenset(given | made)
