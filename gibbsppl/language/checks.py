"""Checks that need the data: values within supports, reads within arrays.

What cannot be evaluated from data alone is left to the run, which checks its initial state.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import sympy as sp

from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.exact_numbers import number
from gibbsppl.algebra.expressions import Dim, Expr, Leaf, dims_of
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.supports import REAL, UNIT, VECTOR, Kind, Support
from gibbsppl.errors import ModelError
from gibbsppl.families import Parameter
from gibbsppl.language.completeness import first
from gibbsppl.language.declared import Observed
from gibbsppl.language.distributions import Distribution
from gibbsppl.language.evaluate import evaluate
from gibbsppl.language.model import Model, typed
from gibbsppl.model.graph import Labels, Statement
from gibbsppl.model.graph_views import Bounds, reads_of
from gibbsppl.model.positions import place

Array = np.ndarray

# A bound of values: one number, or one for each value; None where it is not known.
Bound = Array | float | None


def check_reads(model: Model, name: str, expr: Expr, bounds: Bounds) -> None:
    """Every leaf of the expression is read inside its array."""
    check_stored(model, name, expr)
    for read in reads_of(expr, bounds, model.sizes):
        dims = model.declared.variables[read.leaf.array.name].dims
        for dim, index, interval in zip(dims, read.leaf.indices, read.intervals, strict=True):
            size = model.size(dim)
            if interval is None:
                _check_gather(name, index)
            elif interval[0] < 0 or interval[1] >= size:
                outside = interval[0] if interval[0] < 0 else interval[1]
                raise ModelError(
                    f"{name}: reads {read.leaf} at position {outside} of dimension {dim.name!r}, "
                    f"whose positions are 0 to {size - 1}; declare a gp.Array and fill the ends by "
                    "statements of their own: x[0] = ...; x[1:] = ... x.lag(...)."
                )


def check_stored(model: Model, name: str, expr: Expr) -> None:
    """Raise if an expression reads a sparse observed array, whose zeros are not stored."""
    for leaf in sorted(expr.atoms(Leaf), key=str):
        if leaf.array.name in model.declared.sparse:
            raise ModelError(
                f"{name}: reads {leaf}, which is observed as a sparse array: its zeros are not "
                "stored, and only its own distribution knows of them; declare what is read here "
                "as gp.Data."
            )


def _check_gather(name: str, index: Expr) -> None:
    if index.as_coeff_Add()[0] != 0:
        raise ModelError(
            f"{name}: reads at the index {index}, a lag of a gathered dimension; lag the index "
            "itself, or gather from a shifted array."
        )


def check_parameters(
    model: Model, name: str, distribution: Distribution, statement: Statement
) -> None:
    """Parameters that are numbers or data lie in their supports, and bounds are in order."""
    for which, tensor in distribution.parameters.items():
        row = distribution.parameter(which)
        event = _event_ranges(model, statement.event, row.event)
        used = dims_of(tensor.expr)
        over = tuple(r for r in statement.over if r.dim in used)
        values = evaluate(tensor.expr, (*over, *event), model.known, model.sizes)
        if values is not None:
            support = _support_of(model, row, statement)
            kind: Kind = "simplex" if support == UNIT and row.event else support.kind
            limits = (float(support.lower), float(support.upper))
            closed = np.isfinite(limits).all()
            bad = outside(kind, values, *limits)
            if _may_drop_cells(statement, row):
                _check_some_cell(f"{name}: {which}", values, over, model.labels)
            elif kind == "real" and not closed:
                bad = bad | (values == limits[0]) | (values == limits[1])
            _refuse(model, f"{name}: {which}", values, bad, over, _meaning(kind, support))
        elif isinstance(tensor.expr, Leaf):
            support = _support_of(model, row, statement)
            _check_latent(model, f"{name}: {which}", tensor.expr, support)
    _check_bounds_in_order(model, name, statement)


def _support_of(model: Model, row: Parameter, statement: Statement) -> Support:
    """Where the values of a parameter are, for an event of this size."""
    if row.above is None:
        return row.support
    above = evaluate(row.above(statement.event), (), model.known, model.sizes)
    assert above is not None  # (it reads the size of the event alone)
    return replace(row.support, lower=number(float(above)))


def _may_drop_cells(statement: Statement, parameter: Parameter) -> bool:
    """Whether a zero in the parameter says that the entry of the simplex there is zero."""
    return statement.support.kind == "simplex" and parameter.event == 1


def _check_some_cell(what: str, values: Array, over: tuple[Range, ...], labels: Labels) -> None:
    """A simplex keeps at least one entry that is not known to be zero."""
    empty = (values == 0).all(axis=-1)
    if empty.any():
        raise ModelError(
            f"{what}: all entries{place(first(empty), over, labels)} are 0; expected a positive "
            "one: 0 says that an entry is impossible, and one at least is not."
        )


def _check_latent(model: Model, what: str, leaf: Leaf, wanted: Support) -> None:
    """A variable that is a parameter cannot lie below where the parameter may be.

    Nor can numbers that are drawn apart be the entries of a symmetric matrix of more than one.
    """
    least = sp.sympify(wanted.lower)
    for prior in model.declared.statements:
        is_apart = prior.target.array == leaf.array and prior.support.kind != "spd"
        if is_apart and wanted.kind == "spd" and model.size(leaf.own_dims[-1]) > 1:
            raise ModelError(
                f"{what} is {leaf}, whose entries are drawn apart, on {prior.support}: such a "
                f"matrix is not symmetric; expected {_meaning('spd', wanted)}: give {leaf.array} "
                "a gp.Wishart or gp.InverseWishart prior, or make one of what is drawn, as in "
                "scale**2 * correlations."
            )
        lower = sp.sympify(prior.support.lower)
        of_leaf = prior.target.array == leaf.array and prior.support.kind in ("real", "vector")
        if of_leaf and wanted.kind == "real" and lower.is_number and lower < least:
            more = f" + {least}" if least else ""
            raise ModelError(
                f"{what} is {leaf}, a variable on {prior.support}, and must be "
                f"{_meaning('real', wanted)}; give {leaf.array} a prior there, or transform it, "
                f"as in gp.exp({leaf.array}){more}."
            )


def _check_bounds_in_order(model: Model, name: str, statement: Statement) -> None:
    support = statement.support
    used = dims_of(sp.sympify(support.lower)) | dims_of(sp.sympify(support.upper))
    statement = replace(statement, over=tuple(r for r in statement.over if r.dim in used))
    lower, upper = (_bound(model, b, statement) for b in (support.lower, support.upper))
    if support.is_discrete:
        _check_whole(model, name, statement, lower)
        _check_whole(model, name, statement, upper)
    if lower is None or upper is None:
        return
    bad = lower > upper if support.is_discrete else lower >= upper
    if np.any(bad):
        at = first(bad)
        raise ModelError(
            f"{name}: its lower bound {lower[at]:g} is not below its upper bound {upper[at]:g}"
            f"{place(at, statement.over, model.labels)}; give the bounds in order."
        )


def _check_whole(model: Model, name: str, statement: Statement, bound: Array | None) -> None:
    """A bound of whole numbers is one of them, or infinite."""
    if bound is not None:
        bad = np.isfinite(bound) & (bound != np.floor(bound))
        _refuse(model, f"{name}: a bound", bound, bad, statement.over, "a whole number")


def check_observed(model: Model, name: str, statement: Statement, observed: Observed) -> None:
    """The known values lie in the support of the statement."""
    if statement.support in (REAL, VECTOR):
        return  # (all numbers do)
    inside = dims_of(statement.target)
    event = tuple(Range(d, 0, model.size(d)) for d in statement.event if d in inside)
    values, known = (
        evaluate(statement.target, (*statement.over, *event), {_array(statement): a}, model.sizes)
        for a in (observed.values, observed.known)
    )
    assert values is not None
    assert known is not None
    support = statement.support
    lower, upper = (_bound(model, b, statement) for b in (support.lower, support.upper))
    bad = outside(support.kind, values, lower, upper)
    if support.kind == "real":
        bad = bad | _at_impossible_bound(statement, values, lower, upper)
    whole = np.asarray(known.all(axis=tuple(range(len(statement.over), values.ndim))))
    shown = support.narrowed(_same(lower), _same(upper))
    _refuse(model, name, values, bad & whole, statement.over, _meaning(support.kind, shown))
    if support.kind == "simplex":
        _check_dropped_cells(model, name, statement, np.where(known, values, 0.0))


def _check_dropped_cells(model: Model, name: str, statement: Statement, values: Array) -> None:
    """Observed entries of a simplex are zero where a parameter says so."""
    over = (*statement.over, Range(statement.event[0], 0, values.shape[-1]))
    for which, argument in statement.arguments:
        found = evaluate(argument, over, model.known, model.sizes)
        bad = np.zeros(1, dtype=bool) if found is None else (found == 0) & (values > 0)
        _refuse(model, name, values, bad, over, f"0, as {which} is 0 there")


def outside(kind: Kind, values: Array, lower: Bound, upper: Bound) -> Array:
    """Which values (events, their axes last) a kind of support excludes.

    >>> outside("simplex", np.array([[0.5, 0.5], [0.5, 0.6]]), None, None)
    array([False,  True])
    """
    match kind:
        case "real":
            return _beyond(values, lower, upper)
        case "integer":
            return np.asarray(_beyond(values, lower, upper) | (values != np.floor(values)))
        case "vector":
            return np.zeros(values.shape[:-1], dtype=bool)
        case "simplex":
            # A sum of n rounded shares is one to within n roundings, and the shares as many.
            allowed = 2 * values.shape[-1] * np.finfo(float).eps
            off = np.abs(values.sum(axis=-1) - 1) > allowed
            return np.asarray((values < 0).any(axis=-1) | off)
        case "sphere":
            # A sum of n squares of rounded entries is one to within twice as many roundings.
            allowed = 4 * values.shape[-1] * np.finfo(float).eps
            return np.asarray(np.abs((values**2).sum(axis=-1) - 1) > allowed)
        case "counts":
            whole = (values >= 0) & (values == np.floor(values))
            wrong = np.zeros(1, dtype=bool) if upper is None else values.sum(axis=-1) != upper
            return np.asarray(~whole.all(axis=-1) | wrong)
        case "spd":
            return _not_positive_definite(values)


def _not_positive_definite(values: Array) -> Array:
    transposed = np.swapaxes(values, -1, -2)
    rounding = values.shape[-1] * np.finfo(float).eps * np.abs(values).max(axis=(-1, -2))
    lopsided = (np.abs(values - transposed) > rounding[..., None, None]).any(axis=(-1, -2))
    return np.asarray(lopsided | (np.linalg.eigvalsh(values).min(axis=-1) <= 0))


def _beyond(values: Array, lower: Bound, upper: Bound) -> Array:
    bad = np.zeros(values.shape, dtype=bool)
    bad |= False if lower is None else values < lower
    return bad | (False if upper is None else values > upper)


def _at_impossible_bound(
    statement: Statement, values: Array, lower: Bound, upper: Bound
) -> Array:
    """Which values stand on a bound of the support where the log density is not finite."""
    bad = np.zeros(values.shape, dtype=bool)
    support = statement.support
    for bound, limit in ((support.lower, lower), (support.upper, upper)):
        at = bad if limit is None else values == limit
        if at.any():
            density = statement.log_density.xreplace({statement.target: bound})
            if density.has(sp.zoo, sp.oo, -sp.oo, sp.nan):
                bad = bad | at
    return bad


def _bound(model: Model, bound: Expr, statement: Statement) -> Array | None:
    if bound in (sp.oo, -sp.oo):
        return np.full(tuple(map(len, statement.over)), float(bound))
    return evaluate(bound, statement.over, model.known, model.sizes)


def _same(bound: Array | None) -> Expr | None:
    """The value of a bound that is the same number everywhere."""
    return None if bound is None or (bound != bound.flat[0]).any() else number(bound.flat[0])


def _event_ranges(model: Model, event: tuple[Dim, ...], axes: int) -> tuple[Range, ...]:
    dims = {0: (), 1: event[:1], 2: (*event[:1], *map(primed, event[:1]))}[axes]
    return tuple(Range(d, 0, model.size(d)) for d in dims)


def _refuse(
    model: Model, what: str, values: Array, bad: Array, over: tuple[Range, ...], meaning: str
) -> None:
    if bad.any():
        at = first(bad)
        count = f" (and {int(bad.sum()) - 1} more)" if bad.sum() > 1 else ""
        found = f"{values[at]:g}" if values.ndim == bad.ndim else _listed(values[at])
        raise ModelError(
            f"{what}: found {found}{place(at, over, model.labels)}{count}; expected {meaning}: "
            "correct the value, or choose a distribution that can have it."
        )


def _listed(values: Array) -> list[float] | list[list[float]]:
    """Numbers as lists, whole ones without a point."""
    is_whole = bool(np.isfinite(values).all() and (values == np.floor(values)).all())
    found: list[float] | list[list[float]] = typed(values, is_whole=is_whole).tolist()
    return found


def _meaning(kind: Kind, support: Support) -> str:
    match kind:
        case "real":
            return f"a number in {support!r}"
        case "integer":
            return f"a whole number in {support!r}"
        case "simplex":
            return "probabilities of sum one"
        case "sphere":
            return "vectors of length one"
        case "spd":
            return "a symmetric positive definite matrix"
        case "counts":
            return repr(support)
        case "vector":
            return "finite numbers"


def _array(statement: Statement) -> str:
    return statement.target.array.name
