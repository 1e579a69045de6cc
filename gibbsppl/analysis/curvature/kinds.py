"""Kinds of curvature, curvatures with their proofs, and certificates of concavity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.function_rows import Kind, Monotone
from gibbsppl.analysis.bounds import Bounds, Sign
from gibbsppl.model.graph import PLAIN

# The kinds that are also of a kind.
CONCAVE = ("constant", "affine", "concave")
CONVEX = ("constant", "affine", "convex")
AFFINE = ("constant", "affine")

MIRRORED: Mapping[Kind, Kind] = {"convex": "concave", "concave": "convex"}
REVERSED: Mapping[Monotone, Monotone] = {"increasing": "decreasing", "decreasing": "increasing"}


class Reader(Protocol):
    """A reader of the curvature of expressions, as the rules for parts of them call it."""

    @property
    def bounds(self) -> Bounds:
        """The known bounds of all arrays."""

    @property
    def definite(self) -> frozenset[str]:
        """The names of matrices that are definite."""

    @property
    def signs(self) -> dict[Expr, Sign]:
        """The signs found so far."""

    def read(self, expr: Expr) -> Curvature:
        """The curvature of an expression."""

    def is_concave(self, expr: Expr) -> bool:
        """Whether an expression alone is shown to be concave."""

    def holds(self, expr: Expr) -> bool:
        """Whether an expression reads the array."""

    def sign(self, expr: Expr) -> Sign:
        """The sign of an expression."""


@dataclass(frozen=True, slots=True)
class Curvature:
    """The curvature of an expression, the rule that shows it, and the parts the rule applies to."""

    kind: Kind
    expression: Expr
    rule: str
    parts: tuple[Curvature, ...] = ()

    def __str__(self) -> str:
        return _in_columns(self._lines())

    @property
    def obstacle(self) -> Curvature:
        """The innermost part of unknown curvature, the first one; itself where there is none."""
        inner = next((p for p in self.parts if p.kind == "unknown"), None)
        return self if inner is None else inner.obstacle

    def _lines(self, depth: int = 0) -> Iterator[tuple[str, str]]:
        yield "  " * depth + PLAIN.text(self.expression), f"{self.kind}: {self.rule}"
        for part in self.parts:
            if part.kind != "constant":
                yield from part._lines(depth + 1)  # noqa: SLF001  (of the same class)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof that a log density is concave in arrays together: a curvature for each term."""

    arrays: tuple[str, ...]
    terms: tuple[Curvature, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.terms))


def _in_columns(lines: Iterable[tuple[str, str]]) -> str:
    lines = tuple(lines)
    width = max(len(left) for left, _ in lines)
    return "\n".join(f"{left:<{width}}  {right}" for left, right in lines)


def joined(kinds: Iterable[Kind]) -> Kind:
    """The kind of a sum of functions of these kinds."""
    found = set(kinds)
    order: tuple[Kind, ...] = ("constant", "affine", "convex", "concave")
    allowed = ({"constant"}, set(AFFINE), set(CONVEX), set(CONCAVE))
    return next((k for k, a in zip(order, allowed, strict=True) if found <= a), "unknown")


def plural(kind: Kind) -> str:
    """The words for functions of a kind."""
    return "constants" if kind == "constant" else f"{kind} functions"


def same(expr: Expr, inner: Curvature) -> Curvature:
    """The curvature of an expression that is equal to another."""
    return Curvature(inner.kind, expr, "the same as what follows", (inner,))
