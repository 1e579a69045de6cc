"""Parameters of joint draws by rows: what `gibbsppl.derive.row_forms` found, as contributions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from gibbsppl.algebra.expressions import Expr
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.contractions import Contribution
from gibbsppl.derive.quadratic import Quadratic
from gibbsppl.derive.row_forms import RowForm, RowForms
from gibbsppl.model.graph import Graph
from gibbsppl.schedule.parameters import NaturalParameter


@dataclass(frozen=True, slots=True)
class RowParameters:
    """The rows of one factor: weights, responses, and the part of each array in the design.

    The parameters are over the ``rows``, those of the design over these and the array's dims.
    """

    factor: str
    rows: tuple[Range, ...]
    weight: NaturalParameter
    response: NaturalParameter
    design: tuple[NaturalParameter, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of all factors that tie elements, and what other factors say of single elements.

    ``linear`` and ``squares`` have the coefficients of elements and of their squares, by array;
    ``size`` is the number of elements, ``count`` that of rows.
    """

    forms: tuple[RowParameters, ...]
    linear: tuple[NaturalParameter, ...]
    squares: tuple[NaturalParameter, ...]
    size: int
    count: int

    @property
    def told(self) -> str:
        """The layout in words."""
        return f"{self.size} columns by a matrix of the order of {self.count} rows"


def rows_of(
    graph: Graph,
    found: RowForms,
    parameters: Callable[[Quadratic, int], tuple[NaturalParameter, ...]],
) -> Rows:
    """The parameters of rows; ``parameters`` has those of elements, by degree."""
    forms = tuple(_of_factor(graph, form, found.others.arrays) for form in found.forms)
    linear, squares = (parameters(found.others, degree) for degree in (1, 2))
    return Rows(forms, linear, squares, found.size, found.count)


def _of_factor(graph: Graph, form: RowForm, arrays: tuple[str, ...]) -> RowParameters:
    """The parameters of the rows of one factor."""

    def parameter(value: Expr, over: tuple[Range, ...]) -> NaturalParameter:
        contributions = (Contribution(form.factor, value, over),) if value != 0 else ()
        return NaturalParameter(sp.S.One, tuple(r.dim for r in over), contributions)

    dims = {n: graph.variables[n].dims for n in arrays}
    columns = {n: tuple(Range(d, 0, graph.sizes[d]) for d in own) for n, own in dims.items()}
    return RowParameters(
        form.factor,
        form.rows,
        parameter(form.weight, form.rows),
        parameter(form.response, form.rows),
        tuple(parameter(form.design[n], (*form.rows, *columns[n])) for n in arrays),
    )
