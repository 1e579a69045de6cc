"""Statements: distributions put on arrays.

Comes in: a distribution, by name or for a region. Goes out: a frozen statement, checked.

>>> from gibbsppl.families import FAMILIES
>>> with Model(coords={"rat": 3}) as model:
...     x = constructor(FAMILIES["Normal"])("x", 0, sigma=2, dims="rat")
>>> print(model.graph.statement("x"))
x[rat] ~ Normal(mu=0, tau=0.25)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import sympy as sp
from numpy.typing import ArrayLike

from gibbsppl.algebra import expressions
from gibbsppl.algebra.expressions import Dim, Expr, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.arguments import GivenArray
from gibbsppl.errors import ModelError
from gibbsppl.families import Family
from gibbsppl.language.checks import check_observed, check_parameters, check_reads
from gibbsppl.language.declared import Observed
from gibbsppl.language.dim_names import dims_named
from gibbsppl.language.distributions import Distribution, written
from gibbsppl.language.events import check_dims, event_of, label_dim
from gibbsppl.language.missing import declare_observed, fill_gaps, known_in
from gibbsppl.language.model import Model, current_model
from gibbsppl.language.regions import Region, whole
from gibbsppl.language.signatures import docstring_of, signature_of
from gibbsppl.language.sparse import declare_stored, is_sparse, read_stored
from gibbsppl.language.tensors import Tensor, Value, common_model, own_tensor
from gibbsppl.language.values import Sparse, dims_given, dims_of_values, read_values
from gibbsppl.model.graph import Statement, Variable
from gibbsppl.model.graph_views import Interval, bounds_of

Names = str | Iterable[str] | None

# What a variable is observed as.
Observations: TypeAlias = Tensor | GivenArray | Sparse | None

Censor = Callable[[Model, Statement, Observed | None], Statement]


def constructor(family: Family) -> Callable[..., Any]:
    """The function of the language that stands for a family.

    With a name it declares a variable and returns its tensor; without one it returns a
    distribution to be assigned to a region of a `gp.Array`.
    """

    def declare(
        *positional: str | Value,
        dims: Names = None,
        event: Names = None,
        observed: Observations = None,
        missing: ArrayLike | None = None,
        of: str | None = None,
        **parameters: Value | None,
    ) -> Tensor | Distribution:
        name = positional[0] if positional and isinstance(positional[0], str) else None
        owner = name or family.name
        values = positional if name is None else positional[1:]
        distribution = replace(
            written(family, owner, values, parameters),
            event=dims_named(event, owner),
            of=next(iter(dims_named(of, owner)), None),
        )
        if name is not None:
            return declared(
                name, distribution, dims_given(name, dims, observed), observed, missing
            )
        if dims is not None or observed is not None or missing is not None:
            raise ModelError(
                f"{family.name}: dims= and observed= belong to a variable; give it a name: "
                f'gp.{family.name}("name", ...).'
            )
        return distribution

    declare.__name__ = declare.__qualname__ = family.name
    declare.__doc__ = docstring_of(family)
    declare.__signature__ = signature_of(family)  # type: ignore[attr-defined]
    return declare


@dataclass(frozen=True, slots=True)
class Placed:
    """A distribution on a region of an array, before it is part of the model."""

    statement: Statement
    of: Dim | None


def declared(
    name: str,
    distribution: Distribution,
    dims: tuple[Dim, ...],
    observed: Observations,
    missing: ArrayLike | None = None,
    *,
    censor: Censor | None = None,
) -> Tensor:
    """A variable filled by one statement; ``censor`` adds the censoring of its values."""
    model = current_model(name)
    read = [t.expr for t in distribution.tensors]
    again = partial(declared, name, distribution, dims, observed, missing, censor=censor)
    if observed is None and (opened := model.open_dims(dims, read)):
        return _declared_later(model, name, distribution, dims, opened, again)
    if is_sparse(observed):
        return _declared_sparse(model, name, distribution, dims, observed, missing, censor)
    axes, values = axes_and_values(model, name, dims, observed, missing)
    if opened := model.open_dims((), read):
        return _declared_later(model, name, distribution, dims, opened, again)
    region = whole(model, name, axes)
    placed = place(model, name, distribution, region, _array_for, (), values)
    if censor is not None:
        placed = replace(placed, statement=censor(model, placed.statement, values))
    check_values(model, placed.statement, region, values, distribution)
    variable = Variable(name, axes, "random", of=placed.of)
    model.declare(variable, "a variable")
    if values is not None:
        declare_observed(model, variable, values)
    model.declared.statements.append(placed.statement)
    return Tensor(placed.statement.target, model, placed.of)


def _declared_later(
    model: Model,
    name: str,
    distribution: Distribution,
    dims: tuple[Dim, ...],
    opened: frozenset[str],
    again: Callable[[], Tensor],
) -> Tensor:
    """A variable that is declared as soon as the sizes of some dimensions are known.

    What it reads is as good as known: its support does not depend on sizes.
    """
    model.claim(name, "a variable")
    model.waiting.put(name, opened, again)
    event = event_of(distribution, name, dims)
    over = tuple(Range(d, 0, 1) for d in dims)
    statement = _stated(name, distribution, Region(dims, over, (), name), event, sp.S.Zero)
    return Tensor(_array_for(name, statement)[dims], model, label_dim(distribution, event))


def _declared_sparse(
    model: Model,
    name: str,
    distribution: Distribution,
    dims: tuple[Dim, ...],
    observed: Sparse,
    missing: ArrayLike | None,
    censor: Censor | None,
) -> Tensor:
    """A variable that is observed as a sparse array: its log likelihood, without a statement."""
    if censor is not None:
        raise ModelError(
            f"{name}: found a sparse array of censored values; expected a dense one (.toarray()): "
            "what is censored has a value, also where it is 0."
        )
    stored = read_stored(name, observed, missing)
    dims_of_values(model, name, stored.shape, dims)
    if opened := model.open_dims((), [t.expr for t in distribution.tensors]):
        again = partial(declared, name, distribution, dims, observed, missing)
        return _declared_later(model, name, distribution, dims, opened, again)
    placed = place(model, name, distribution, whole(model, name, dims), _array_for, (), None)
    statement = placed.statement
    check_parameters(model, name, distribution, statement)
    declare_stored(model, distribution, statement, stored)
    return Tensor(statement.target, model, placed.of)


def axes_and_values(
    model: Model,
    name: str,
    dims: tuple[Dim, ...],
    observed: Observations,
    missing: ArrayLike | None,
) -> tuple[tuple[Dim, ...], Observed | None]:
    """The dims of an array, sizes checked, and its observed values if any are known."""
    if observed is None:
        return model.dims((d.name for d in dims), name), None
    if is_sparse(observed):
        raise ModelError(
            f"{name}: found a sparse array for a gp.Array, which regions fill; expected a dense "
            "one (.toarray()), or one distribution for all cells, which is given the name."
        )
    values = _observed(model, name, observed, dims, missing)
    if values.known.size == 0:
        raise ModelError(
            f"{name}: the observed array of shape {values.known.shape} is empty; expected one or "
            "more values: leave observed= out for a latent variable."
        )
    dims_of_values(model, name, values.known.shape, dims, observed)
    return dims, values if values.known.any() else None


def _observed(
    model: Model,
    name: str,
    observed: Tensor | GivenArray | Sparse,
    dims: tuple[Dim, ...],
    missing: ArrayLike | None,
) -> Observed:
    if not isinstance(observed, Tensor):
        return read_values(model, name, dims, observed, missing)
    leaf = own_tensor(model, name, observed).expr
    known = model.declared.values
    is_known = isinstance(leaf, Leaf) and leaf.array.name in known
    if not isinstance(leaf, Leaf) or not is_known or set(leaf.indices) != set(dims):
        raise ModelError(
            f"{name}: observed={observed}; expected an array, or a gp.Data with the dims "
            f"({', '.join(map(str, dims))})."
        )
    model.declared.sources[name] = leaf.array.name
    values = known[leaf.array.name]
    values = values.transpose([leaf.indices.index(d) for d in dims])
    return read_values(model, name, dims, values, missing)


def place(
    model: Model,
    name: str,
    distribution: Distribution,
    region: Region,
    array: Callable[[str, Statement], expressions.Array],
    hint: tuple[Dim, ...],
    observed: Observed | None,
) -> Placed:
    """The statement that puts a distribution on a region, its arguments checked."""
    common_model((*distribution.tensors, Tensor(sp.S.Zero, model)))
    event = event_of(distribution, region.label, region.dims, hint)
    model.dims((d.name for d in event), region.label)
    check_dims(distribution, region.label, region.dims, event)
    known = known_in(region, name, observed)
    statement = _stated(name, distribution, region, event, known)
    _check_event_is_whole(model, region, event)
    statement = replace(statement, target=array(name, statement)[region.indices])
    for tensor in distribution.tensors:
        check_reads(model, region.label, tensor.expr, bounds_of(statement.over))
    return Placed(statement, _label(model, statement, distribution))


def _stated(
    name: str, distribution: Distribution, region: Region, event: tuple[Dim, ...], known: Expr
) -> Statement:
    """The statement of a distribution on a region, as it is written."""
    return Statement(
        name=region.label,
        target=expressions.Array(name)[region.indices],
        over=tuple(r for r in region.over if r.dim not in event),
        event=event,
        family=distribution.family,
        arguments=distribution.canonical(event),
        lower=None if distribution.lower is None else distribution.lower.expr,
        upper=None if distribution.upper is None else distribution.upper.expr,
        known=known,
        spelled=distribution.spelled,
    )


def _check_event_is_whole(model: Model, region: Region, event: tuple[Dim, ...]) -> None:
    for r in region.over:
        if r.dim in event and len(r) != model.size(r.dim):
            raise ModelError(
                f"{region.label}: a value extends over all of {r.dim.name!r}; expected the whole "
                "dimension in the region: write : there."
            )


def _label(model: Model, statement: Statement, distribution: Distribution) -> Dim | None:
    """The dim of values that are labels, else None; labels must be exactly its positions."""
    of = label_dim(distribution, statement.event)
    if of is None or distribution.of is None:
        return of
    model.dims(of.name, statement.name)
    support = statement.support
    positions: tuple[Interval | None, Interval] = (None, (0, model.size(of) - 1))
    if support.kind == "integer" and support.lower.is_Integer and support.upper.is_Integer:
        positions = ((int(support.lower), int(support.upper)), positions[1])
    if positions[0] != positions[1]:
        raise ModelError(
            f"{statement.name}: of={of.name!r} makes it a position 0..{positions[1][1]}, but its "
            f"values are {support!r}; expected the two to be the same: choose another dim."
        )
    return of


def check_values(
    model: Model,
    statement: Statement,
    region: Region,
    observed: Observed | None,
    distribution: Distribution,
) -> None:
    """Check all that is known of a statement, and give its missing entries a place."""
    check_parameters(model, region.label, distribution, statement)
    if observed is not None:
        check_observed(model, region.label, statement, observed)
        fill_gaps(model, statement, region, observed)


def plain_array(name: str, _statement: Statement) -> expressions.Array:
    """The symbol of an array whose regions may differ in support."""
    return expressions.Array(name)


def _array_for(name: str, statement: Statement) -> expressions.Array:
    """The symbol of a variable, with what its support says of the sign of each element."""
    support = statement.support
    numbers = support.numbers
    if not support.lower.is_nonnegative:
        return expressions.Array(name, numbers)
    # (an entry of a simplex is exactly zero where its parameter is)
    has_zeros = support.kind == "simplex" and not all(a.is_positive for _, a in statement.arguments)
    if support.kind in ("integer", "counts") or has_zeros:
        return expressions.Array(name, numbers, nonnegative=True)
    return expressions.Array(name, numbers, positive=support.kind in ("real", "simplex") or None)
