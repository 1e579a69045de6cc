"""Lines with ``~`` as distributions of the language, and what else they need.

Comes in: a line at positions along dims of the model, and the dims of one value. Goes out: a
distribution whose parameters are tensors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import sympy as sp

from gibbsppl.algebra.bounds import Side, tighter
from gibbsppl.algebra.copies import primed, root_of
from gibbsppl.algebra.expressions import Array, Dim, Expr, Leaf, Over, dims_of, substitute
from gibbsppl.algebra.functions import Below, Where
from gibbsppl.algebra.ranges import Range
from gibbsppl.bugs.certain import certain, where_given
from gibbsppl.bugs.constraints import between, over_of
from gibbsppl.bugs.distributions import distribution, meaning_of
from gibbsppl.bugs.evaluator import Evaluator
from gibbsppl.bugs.facts import Facts
from gibbsppl.bugs.references import Elements
from gibbsppl.bugs.relations import Relation
from gibbsppl.bugs.rows import SHAPES, Auxiliary, Distribution, Labels, Row, Unsupported, shares
from gibbsppl.bugs.simplexes import are_probabilities
from gibbsppl.bugs.syntax import Expression, Restriction, Stochastic
from gibbsppl.bugs.values import Formula, Known, Value
from gibbsppl.families import FAMILIES
from gibbsppl.language import distributions as language
from gibbsppl.language.model import Model
from gibbsppl.language.tensors import Tensor
from gibbsppl.model.graph import Potential


def row_of(facts: Facts, line: Stochastic) -> Row:
    """The row of the distribution of a line; raise with the reason if there is none."""
    call = line.distribution
    row = distribution(call.function, len(call.arguments))
    if isinstance(row, Unsupported):
        raise facts.program.error(call.at, row.message)
    return row


class Lines:
    """Makes distributions of lines with ``~``."""

    def __init__(self, facts: Facts, model: Model, elements: Elements) -> None:
        self.facts, self.model, self.elements = facts, model, elements
        self.tables: dict[str, dict[str, Leaf]] = {}

    def along(self, parts: Sequence[Relation], name: str) -> Dim | None:
        """The dim of the vectors that the distribution of a number has, if it has some.

        Labels point into it; so does an auxiliary variable that chooses among entries. It is as
        long as the longest vector of the parts of an array.
        """
        row = self._kind_of(parts, name)
        if row.labels is not None:
            return self._along_labels(parts, name, row, row.labels)
        if not _chooses(row):
            return None
        axes = [self._axis(part) for part in parts]
        return Dim(root_of(max(axes, key=self.model.size)))

    def _kind_of(self, parts: Sequence[Relation], name: str) -> Distribution:
        """The row of the first line of an array; the rows of others count and choose alike."""
        rows = [row_of(self.facts, _line(part)) for part in parts]
        first = rows[0]
        assert isinstance(first, Distribution)
        for part, row in zip(parts, rows, strict=True):
            assert isinstance(row, Distribution)
            if _kind(row) != _kind(first):
                raise self.facts.program.error(
                    _line(part).distribution.at,
                    f"found {row.names[0]} for elements of {name} here and {first.names[0]} "
                    "elsewhere, which count their values or choose among vectors in another way; "
                    f"expected one kind: give the elements with {row.names[0]} an array of their "
                    "own.",
                )
        return first

    def _axis(self, part: Relation) -> Dim:
        """The axis of the probabilities of a line."""
        line = _line(part)
        row = row_of(self.facts, line)
        assert isinstance(row, Distribution)
        given = zip(row.parameters.values(), line.distribution.arguments, strict=True)
        vectors = [e for axes, e in given if axes]
        axes = self._evaluator(part).value(vectors[0]).axes if vectors else ()
        if len(axes) != 1:
            raise self.facts.program.error(
                line.distribution.arguments[0].at,
                "the probabilities of labels are a vector; expected a range: p[i, 1:K].",
            )
        return axes[0]

    def _along_labels(
        self, parts: Sequence[Relation], name: str, row: Distribution, labels: Labels
    ) -> Dim:
        """A new dim for the labels of a distribution, with their tables declared."""
        counts = [self._count(part, row, labels) for part in parts]
        tables = labels.tables(max(counts))
        for part, count in zip(parts, counts, strict=True):
            if tables and count != counts[0]:
                raise self.facts.program.error(
                    _line(part).distribution.at,
                    f"found {count} values of {name} here and {counts[0]} elsewhere; expected as "
                    "many everywhere: give lines with others an array of their own.",
                )
        values_from = row.values_from
        dim = self.elements.own.dim(f"{name}_value", range(values_from, values_from + max(counts)))
        given = _line(parts[0]).distribution.arguments
        values = [self._evaluator(parts[0]).value(e) for e in given]
        self.tables[name] = self._tables(name, dim, tables, values)
        return dim

    def _count(self, part: Relation, row: Distribution, labels: Labels) -> int:
        """The number of labels of a line."""
        called = _line(part).distribution
        values = [self._evaluator(part).value(e) for e in called.arguments]
        try:
            return int(labels.count(*(self._size(part, v) for v in values)))
        except TypeError:  # (a size is None)
            raise self.facts.program.error(
                called.at,
                f"the number of values of {row.names[0]} is not known; expected numbers, or data.",
            ) from None

    def made(
        self,
        parts: Sequence[Relation],
        label: str,
        event: tuple[Dim, ...],
        others: Mapping[str, Leaf] | None = None,
        auxiliary: Auxiliary | None = None,
    ) -> language.Distribution:
        """The distribution of lines, or that of an auxiliary variable of one."""
        part = parts[0]
        line = _line(part)
        row = row_of(self.facts, line)
        assert isinstance(row, Distribution)
        evaluator = self._evaluator(part)
        is_box = evaluator.space.within is None
        given = self._given(part, row, event) if is_box else [self._chosen(parts, row, event)]
        tables = self.tables.get(line.target.name, {})
        meaning = meaning_of(auxiliary or row, given, event, {**tables, **(others or {})})
        values = {k: Tensor(e, self.model) for k, e in meaning.arguments.items()}
        family = meaning.family
        bounds: dict[Side, Expr] = {}
        if auxiliary is None and line.restriction is not None:
            bounds = self._bounds(evaluator, line, given)
            if row.positive is not None and bounds.get("lower") == 0:
                family = row.positive
                bounds.pop("lower")
        made = language.written(FAMILIES[family], label, (), values)
        return self._truncated(made, label, event, bounds) if bounds else made

    def _given(self, part: Relation, row: Distribution, event: tuple[Dim, ...]) -> list[Expr]:
        """The parameters of the distribution of a line."""
        evaluator, given = self._evaluator(part), []
        pairs = zip(row.parameters.items(), _line(part).distribution.arguments, strict=True)
        self.elements.within, self.elements.stays_inside = evaluator.space.within, True
        for (key, axes), expression in pairs:
            with self.facts.program.told_at(expression.at):
                given.append(self._parameter(evaluator, row, key, axes, expression, event))
        self.elements.within, self.elements.stays_inside = None, False
        return given

    def _chosen(self, parts: Sequence[Relation], row: Distribution, event: tuple[Dim, ...]) -> Expr:
        """The one parameter of lines that each give some positions of a box.

        Where no line gives labels, known ones are certain.
        """
        name, evaluators = _line(parts[0]).target.name, [self._evaluator(part) for part in parts]
        masks = [e.space.within.values for e in evaluators if e.space.within is not None]
        found: Expr | None = None
        if not np.logical_or.reduce(masks).all():
            found = certain(self.elements, evaluators[0].space, name, event)
        for part, evaluator in zip(reversed(parts), reversed(evaluators), strict=True):
            (own,) = self._given(part, row, event)
            found = where_given(evaluator, name, own, found)
        assert found is not None
        return found

    def _truncated(
        self,
        whole: language.Distribution,
        label: str,
        event: tuple[Dim, ...],
        bounds: Mapping[Side, Expr],
    ) -> language.Distribution:
        """A distribution between bounds, left out where they are outside of its support."""
        support = whole.family.support(event, **dict(whole.canonical(event)))
        ends = {s: tighter(b, sp.sympify(getattr(support, s)), s) for s, b in bounds.items()}
        inside: dict[str, Tensor] = {
            s: Tensor(b, self.model) for s, b in ends.items() if b is not None
        }
        return language.written(whole.family, label, (), {**whole.parameters, **inside})

    def said_of(self, part: Relation, name: str, x: Expr) -> Potential | None:
        """The potential that ``I(,)`` says of a value, where it is no truncation."""
        where = _line(part).restriction
        if where is None:
            return None
        evaluator = self._evaluator(part)
        given = [evaluator.value(e) for e in _line(part).distribution.arguments]
        if self._truncates(evaluator, where, given):
            return None
        value = x + self.elements.lowest.get(name, 0)
        return between(evaluator, value, where.lower, where.upper, f"{name} is between")

    def in_order(self, part: Relation, name: str) -> Potential | None:
        """The potential that cut points increase, where they are random."""
        line, row = _line(part), row_of(self.facts, _line(part))
        assert isinstance(row, Distribution)
        if row.increasing is None:
            return None
        at = list(row.parameters).index(row.increasing)
        evaluator = self._evaluator(part)
        value = evaluator.value(line.distribution.arguments[at])
        if isinstance(value, Known):
            return None
        (axis,) = value.axes
        low = substitute(value.expr, {axis: axis - 1})
        over = (*over_of(evaluator, dims_of(value.expr)), Range(axis, 1, self.model.size(axis)))
        return Potential(f"{name} in order", sp.log(Below(low, value.expr)), over)

    def _parameter(
        self,
        evaluator: Evaluator,
        row: Distribution,
        name: str,
        axes: int,
        given: Expression,
        event: tuple[Dim, ...],
    ) -> Expr:
        """A parameter: along the event's dim where it is a vector, and its prime for a matrix.

        Labels without a weight, where there are fewer than elsewhere, have a weight of zero.
        """
        is_weights = name == row.weights and not row.event
        longest = self.model.size(event[0]) if is_weights and event else 0
        value = evaluator.within(longest=longest).value(given)
        if len(value.axes) != axes:
            raise self.facts.program.error(
                given.at,
                f"{name} of {row.names[0]} is {SHAPES[min(len(value.axes), 2)]}, expected "
                f"{SHAPES[axes]}.",
            )
        if not axes or row.increasing == name:
            return self._kept(evaluator, value, event)
        self._check_sizes(evaluator, row, name, given, value, event)
        if not event:  # (a vector or a matrix of one entry is a number)
            return substitute(evaluator.template(value).expr, dict.fromkeys(value.axes, sp.S.Zero))
        (first, *_) = event
        names = dict(zip(value.axes, (first, primed(first)), strict=False))
        vector = evaluator.template(value)
        expr = vector.expr if vector.within == 1 else Where(vector.within, vector.expr, sp.S.Zero)
        expr = substitute(expr, names)
        if axes > 1 and self.model.size(first) == 1:  # (one entry is read as a number)
            expr = sp.Mul(expr, self.elements.one((first, primed(first))))
        simplexes = self.elements.simplexes
        if row.weights != name or are_probabilities(self.facts, evaluator, given, simplexes):
            return expr
        return expr if self._sums_to_one(expr, first) else shares(expr, first)

    def _check_sizes(
        self,
        evaluator: Evaluator,
        row: Distribution,
        name: str,
        given: Expression,
        value: Value,
        event: tuple[Dim, ...],
    ) -> None:
        """Refuse a vector or a matrix of another size than a value's event."""
        expected = self.model.size(event[0]) if event else 1
        sizes = {evaluator.size(a, value) for a in value.axes}
        if sizes - {expected}:
            found = " x ".join(str(evaluator.size(a, value)) for a in value.axes)
            raise self.facts.program.error(
                given.at,
                f"{name} of {row.names[0]} has {found} entries, expected "
                f"{' x '.join([str(expected)] * len(value.axes))}, as the left side has.",
            )

    def _kept(self, evaluator: Evaluator, value: Value, event: tuple[Dim, ...]) -> Expr:
        expr = evaluator.expr(value)
        return substitute(expr, dict(zip(value.axes, event, strict=False))) if event else expr

    def _sums_to_one(self, expr: Expr, dim: Dim) -> bool:
        """Whether entries are certain to sum to one: of a simplex, or data that do."""
        if isinstance(expr, Where) or expr.func is Where:
            condition, *branches = expr.args
            is_one = dim not in dims_of(condition)
            return is_one and all(self._sums_to_one(e, dim) for e in branches)
        numerator, denominator = sp.fraction(expr)
        if denominator.has(Over):
            total = sp.Mul(*(f for f in sp.Mul.make_args(denominator) if dim not in dims_of(f)))
            return bool(sp.simplify(Over(numerator / (denominator / total), dim) - total) == 0)
        if not isinstance(expr, Leaf) or expr.indices[-1:] != (dim,):
            return False
        name = expr.array.name
        variable = self.model.declared.variables.get(name)
        if variable is None or self.model.size(variable.dims[-1]) != self.model.size(dim):
            return False  # (a part of a vector)
        values = self.model.declared.values.get(name)
        if values is not None:
            return bool(np.allclose(values.sum(axis=-1), 1, rtol=0, atol=1e-12))
        whole = (n for n in self.elements.simplexes if not len(self.elements.layouts[n].constants))
        return any(self.elements.simplexes[n] == name for n in whole)

    def _bounds(
        self, evaluator: Evaluator, line: Stochastic, given: Sequence[Expr]
    ) -> dict[Side, Expr]:
        """The bounds of a truncated distribution, counted as its values are in the model."""
        where = line.restriction
        assert where is not None
        ends: dict[Side, Expression | None] = {"lower": where.lower, "upper": where.upper}
        bounds = {k: evaluator.number(b) for k, b in ends.items() if b is not None}
        random = any(e.atoms(Array) - self._data() for e in given)
        fixed = all(isinstance(b, Known) for b in bounds.values()) and not random
        if where.kind == "T" or fixed:
            lowest = self.elements.lowest.get(line.target.name, 0)
            return {k: sp.sympify(evaluator.expr(b) - lowest) for k, b in bounds.items()}
        return {}

    def _data(self) -> set[Array]:
        return set(self.elements.made.values())

    def _truncates(self, evaluator: Evaluator, where: Restriction, given: Sequence[Value]) -> bool:
        ends = [evaluator.number(b) for b in (where.lower, where.upper) if b is not None]
        return where.kind == "T" or not any(isinstance(v, Formula) for v in (*ends, *given))

    def _evaluator(self, part: Relation) -> Evaluator:
        assert part.space is not None
        return Evaluator(self.facts.program, self.elements, part.space)

    def _size(self, part: Relation, value: Value) -> int | np.ndarray | None:
        """The argument of the number of labels: the size of a vector, or a known number."""
        if value.axes:
            return self._evaluator(part).size(value.axes[0], value)
        return value.grid.values if isinstance(value, Known) else None

    def _tables(
        self, name: str, dim: Dim, tables: Mapping[str, np.ndarray], values: Sequence[Value]
    ) -> dict[str, Leaf]:
        """Data along the dim of labels; whole numbers are positions in the vector parameter."""
        axis = next((v.axes[0] for v in values if v.axes), None)
        found = {}
        for key, numbers in tables.items():
            of = axis if numbers.dtype.kind in "iu" else None
            array = self.elements.declared(f"{name}_{key}", np.asarray(numbers), (dim,), of)
            found[key] = array[dim]
        return found


def _chooses(row: Distribution) -> bool:
    """Whether a number, or an auxiliary variable of it, chooses among the entries of vectors."""
    return not row.event and any(row.parameters.values())


def _kind(row: Distribution) -> tuple[bool, bool, int]:
    """All that the lines of one array have in common."""
    return _chooses(row), row.labels is not None, row.values_from


def _line(part: Relation) -> Stochastic:
    assert isinstance(part.line, Stochastic)
    return part.line
