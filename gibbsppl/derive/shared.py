"""Parts that several expressions have in common, each an array that is computed once.

Comes in: terms at positions of ranges. Goes out: the same with elements of arrays in place of what
they have in common (linear predictors, functions of these, sums over them), and the arrays: a
gradient shares nearly all of its work with the log density that it is of.

>>> from gibbsppl.algebra.expressions import Array, Dim
>>> b, i = Array("b"), Dim("i")
>>> term = ("y", sp.exp(b[i]) - b[i] * sp.exp(b[i]), (Range(i, 0, 3),))
>>> found = shared_parts([term], {"b"}, {i: 3}, {"b"})
>>> found.terms[0][1], [(str(p.element), str(p.value)) for p in found.parts]
(-b[i]*part_1[i] + part_1[i], [('part_1[i]', 'exp(b[i])')])
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from gibbsppl.algebra.expressions import Array, Binder, Dim, Expr, Leaf, Over, dims_of, mentions
from gibbsppl.algebra.ranges import Range, fresh

# A term of a log density: its factor, its value at positions of ranges.
Term = tuple[str, Expr, tuple[Range, ...]]


@dataclass(frozen=True, slots=True)
class Part:
    """An array of what is computed once: an element, its value, the first factor that has it."""

    element: Leaf
    value: Expr
    factor: str

    @property
    def axes(self) -> tuple[Dim, ...]:
        """The dims of the array."""
        return tuple(i for i in self.element.indices if isinstance(i, Dim))


@dataclass(frozen=True, slots=True)
class Shared:
    """Terms that read elements of ``parts``, each of which reads those before it alone."""

    terms: tuple[Term, ...]
    parts: tuple[Part, ...]


def shared_parts(
    terms: Sequence[Term],
    names: Collection[str],
    sizes: Mapping[Dim, int],
    taken: Collection[str],
    stem: str = "part",
    steps: Collection[str] = (),
) -> Shared:
    """The parts that terms have in common, functions of arrays, with no name that is taken.

    A part has all positions of its dims: what is read at some alone is no part; nor is what holds
    ``steps``, in which terms have to stay linear.
    """
    names_taken, found = set(taken), list[Part]()
    values = [value for _, value, _ in terms]
    for part in _candidates(terms, names, sizes):
        if mentions(part, steps) or _count(part, [*values, *(p.value for p in found)]) < 2:
            continue
        array = Array(fresh(f"{stem}_{len(found) + 1}", names_taken), real=True)
        names_taken.add(array.name)
        axes = tuple(sorted(dims_of(part), key=str))
        element = Leaf(array, *axes)
        factor = next(f for f, value, _ in terms if value.has(part))
        values = [v.xreplace({part: element}) for v in values]
        found = [_read(p, part, element) for p in found]
        found.append(Part(element, part, factor))
    held = ((f, value, over) for (f, _, over), value in zip(terms, values, strict=True))
    return Shared(tuple(held), tuple(reversed(found)))


def _read(part: Part, other: Expr, element: Leaf) -> Part:
    return Part(part.element, part.value.xreplace({other: element}), part.factor)


def _candidates(
    terms: Sequence[Term], names: Collection[str], sizes: Mapping[Dim, int]
) -> list[Expr]:
    """The functions of arrays, and sums over them, the largest first."""
    found: dict[Expr, bool] = {}
    for _, value, over in terms:
        whole = {r.dim for r in over if (r.start, r.stop) == (0, sizes.get(r.dim))}
        for part, inside in _functions(value, names, whole):
            # (what is read at some positions of a dim in one place is no array of all)
            found[part] = found.get(part, True) and dims_of(part) <= inside
    able = [part for part, is_able in found.items() if is_able]
    return sorted(able, key=lambda e: (-int(sp.count_ops(e)), str(e)))


def _functions(
    expr: Expr, names: Collection[str], whole: set[Dim]
) -> Iterator[tuple[Expr, set[Dim]]]:
    """The functions in an expression, with the dims of which all positions are read there."""
    if not mentions(expr, names) or isinstance(expr, Leaf):
        return
    is_power = isinstance(expr, sp.Pow)
    is_plain = expr.is_Add or expr.is_Mul or (is_power and bool(expr.args[1].is_Integer))
    if (not is_plain and not isinstance(expr, Binder)) or isinstance(expr, Over):
        yield expr, whole
    if isinstance(expr, Over):
        bound = set(expr.bound)
        inside = (whole - bound) if expr.args[2:] else (whole | bound)
        yield from _functions(expr.body, names, inside)
        return
    if isinstance(expr, Binder):
        return
    for argument in expr.args:
        yield from _functions(argument, names, whole)


def _count(part: Expr, values: Sequence[Expr]) -> int:
    """How often expressions have a part."""
    return sum(e == part for value in values for e in sp.preorder_traversal(value))
