"""The reason why a factor has density zero: value, parameter and position.

Comes in: a graph, one of its factors, and values of all variables. Goes out: a text.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf, leaves_of, substitute
from gibbsppl.algebra.ranges import Range
from gibbsppl.model.density import log_density, regions
from gibbsppl.model.evaluation import Values, evaluate
from gibbsppl.model.graph import PLAIN, Factor, Graph, Statement
from gibbsppl.model.operations import Bools
from gibbsppl.model.positions import place


def why_impossible(graph: Graph, factor: Factor, values: Values, bad: Bools | None = None) -> str:
    """What is wrong with the first element of a factor whose log density is not finite.

    ``bad`` says which elements are meant, if not all.
    """
    density = log_density(factor, values, graph.sizes)
    bad = ~np.isfinite(density) if bad is None else bad
    label, hopeless = _hopeless(graph, factor, values, bad)
    at = tuple(map(int, np.argwhere(bad if label is None else hopeless)[0]))
    where = place(at, factor.over, graph.labels)
    if not isinstance(factor, Statement):
        told = PLAIN.text(factor.log_density)
        return f"{told} is {density[at]:g}{where}, expected a finite number"
    element = _Element(graph, factor, values, at)
    if label is not None:
        found = f"found {element.value()}{where}, impossible whatever {label} is"
        return f"{found}, expected a value that a label allows"
    wrong = element.wrong_parameter()
    if wrong:
        return f"{wrong}{where}{element.given()}"
    outside = element.outside()
    if outside:
        return f"found {element.value()}{where}, expected {outside}"
    what = "impossible" if density[at] < 0 else f"of log density {density[at]:g}"
    return (
        f"found {element.value()}{where}, which is {what} under {element.distribution()}, expected "
        "a value of positive and finite density"
    )


def _hopeless(
    graph: Graph, factor: Factor, values: Values, bad: Bools
) -> tuple[Leaf | None, Bools]:
    """A latent label without a value that makes some bad elements possible, and these elements."""
    latent = {s.target.array.name: s.support for s in graph.latent}
    said = [a for _, a in factor.arguments] if isinstance(factor, Statement) else []
    leaves = {x for a in said for x in leaves_of(a, latent)}
    for leaf in sorted(leaves, key=str):
        support = latent[leaf.array.name]
        if support.is_finite and isinstance(factor, Statement):
            ends = [sp.sympify(b) for b in (support.lower, support.upper)]
            if leaves_of(ends[0]) or leaves_of(ends[1]):
                continue
            first, last = (int(evaluate(e, (), values, graph.sizes)) for e in ends)
            hopeless = bad
            for label in map(sp.Integer, range(first, last + 1)):
                there = _at_label(factor, leaf, label)
                if not there.log_density.has(sp.zoo, sp.nan):  # (impossible by its form)
                    hopeless = hopeless & ~np.isfinite(log_density(there, values, graph.sizes))
            if hopeless.any():
                return leaf, hopeless
    return None, bad


def _at_label(statement: Statement, leaf: Leaf, label: Expr) -> Statement:
    """A statement for one value of a label."""

    def at(expr: Expr) -> Expr:
        return substitute(sp.sympify(expr), {leaf: label})

    arguments = tuple((n, at(a)) for n, a in statement.arguments)
    lower, upper = (b if b is None else at(b) for b in (statement.lower, statement.upper))
    return replace(statement, arguments=arguments, lower=lower, upper=upper)


class _Element:
    """An element of a statement, with its value and its parameters as text."""

    def __init__(
        self, graph: Graph, statement: Statement, values: Values, at: tuple[int, ...]
    ) -> None:
        self.graph, self.statement, self.values = graph, statement, values
        both = zip(statement.over, at, strict=True)
        self.over = tuple(Range(r.dim, r.start + i, r.start + i + 1) for r, i in both)

    def wrong_parameter(self) -> str | None:
        """The first parameter that is outside of its support."""
        for name, argument in self.statement.arguments:
            parameter = self.statement.family.parameters[name]
            if parameter.event:
                continue
            value, support = self._number(argument), parameter.support
            ends = [self._number(b) for b in (support.lower, support.upper)]
            if not math.isfinite(value) or not ends[0] <= value <= ends[1]:
                meaning = f"{name} = {PLAIN.text(argument)}"
                return f"{meaning} is {value:g}, expected a number in {support!r}"
        return None

    def value(self) -> str:
        """The value of the element, as text."""
        if self.statement.family.event:
            over = regions(replace(self.statement, over=self.over), self.graph.sizes)
            found = evaluate(self.statement.target, over, self.values, self.graph.sizes)
            return str(np.squeeze(found, tuple(range(len(self.over)))).tolist())
        return f"{self._number(self.statement.target):g}"

    def distribution(self) -> str:
        """The distribution, with the values of the parameters that are single numbers."""
        rows = self.statement.family.parameters
        said = [
            f"{n}={PLAIN.text(a)}"
            + ("" if rows[n].event or a.is_number else f" = {self._number(a):g}")
            for n, a in self.statement.arguments
        ]
        return f"{self.statement.family.name}({', '.join(said)})"

    def outside(self) -> str | None:
        """The support, if the value is outside of it."""
        support = self.statement.support
        if support.kind not in ("real", "integer") or self.statement.family.event:
            return None
        ends = [self._number(b) for b in (support.lower, support.upper)]
        value = self._number(self.statement.target)
        if ends[0] <= value <= ends[1]:
            return None
        low, high = (f"{e:g}" for e in ends)
        now = f"{{{low}..{high}}}" if support.is_discrete else f"({low}, {high})"
        moving = "" if now == repr(support) else f" = {now}"
        return f"a value in {support!r}{moving}"

    def given(self) -> str:
        """What the latent elements that the arguments read are, as text."""
        latent = set(self.graph.drawn)
        leaves = {x for _, a in self.statement.arguments for x in leaves_of(a, latent)}
        free = {r.dim for r in self.over}
        shown = [
            f"{x} = {self._number(x):g}"
            for x in sorted(leaves, key=str)
            if {s for i in x.indices for s in i.free_symbols if s.is_Symbol} <= free
        ]
        return f" (at {', '.join(shown[:3])})" if shown else ""

    def _number(self, expr: Expr) -> float:
        found = evaluate(sp.sympify(expr), self.over, self.values, self.graph.sizes)
        return float(np.ravel(found)[0])
