"""Sparse observations: zeros are data, but nothing is stored for them.

Comes in: a `scipy.sparse` array and the statement that it is observed for. Goes out: two potentials
that are together its log likelihood, and a table of the stored entries. With ``f`` the density of a
cell, and ``v[r]`` the value that is stored at ``d[r], w[r]``, these are

    sum over all cells of log f(0)
    sum over r of log f(v[r]) - log f(0), at d[r], w[r]

In the first sum all cells are alike, so that it is summed factor by factor and the cells are never
made; in the second, what does not depend on the value cancels.

>>> from scipy.sparse import coo_array
>>> from gibbsppl.language import Gamma, Poisson
>>> with Model(coords={"doc": 2, "word": 2}) as model:
...     rate = Gamma("rate", 1, rate=1, dims="doc")
...     y = Poisson("y", rate, dims=("doc", "word"), observed=coo_array([[0, 3], [0, 0]]))
>>> print(model.graph)
rate[doc] ~ Gamma(shape=1, rate=1)
log density += sum(-rate[doc], doc, word), for y observed
log density += sum(y[y_rows]*log(rate[y_doc[y_rows]]) - loggamma(y[y_rows] + 1), y_rows), for y \
observed
>>> model.data
{'y': array([3]), 'y_doc': array([0]), 'y_word': array([1])}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
import sympy as sp
from numpy.typing import ArrayLike

from gibbsppl.algebra.expressions import Array, Dim, Expr, substitute
from gibbsppl.algebra.polynomials import multiplied_out
from gibbsppl.algebra.ranges import Range, plain_name
from gibbsppl.algebra.supports import Support
from gibbsppl.errors import ModelError
from gibbsppl.language.certain import is_certain
from gibbsppl.language.checks import outside
from gibbsppl.language.completeness import first
from gibbsppl.language.distributions import Distribution
from gibbsppl.language.evaluate import evaluate
from gibbsppl.language.model import Model, typed
from gibbsppl.language.values import Sparse
from gibbsppl.model.graph import Potential, Statement, Variable

WHAT_ELSE = (
    "pass a dense array (.toarray()), or the values seen as a table, with gp.Index for each dim"
)


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """The entries of a sparse array that are not zero, in row-major order, each position once."""

    shape: tuple[int, ...]
    positions: tuple[np.ndarray, ...]
    values: np.ndarray


def is_sparse(values: object) -> TypeGuard[Sparse]:
    """Whether values are a `scipy.sparse` array or matrix, of any format."""
    return hasattr(values, "tocoo") and hasattr(values, "toarray")


def read_stored(name: str, values: Sparse, missing: ArrayLike | None) -> Stored:
    """The stored entries: duplicates summed, zeros dropped."""
    if missing is not None:
        raise ModelError(
            f"{name}: found missing= with a sparse array, whose zeros are all data; where entries "
            f"are missing, {WHAT_ELSE}."
        )
    coo = values.tocoo()
    positions = tuple(
        np.asarray(p, np.intp) for p in getattr(coo, "coords", ()) or (coo.row, coo.col)
    )
    if coo.data.dtype.kind not in "biuf":
        raise ModelError(
            f"{name}: found a sparse array of {coo.data.dtype}; expected real numbers: convert "
            "them first."
        )
    if 0 in coo.shape:
        raise ModelError(
            f"{name}: the observed array of shape {coo.shape} is empty; expected one or more "
            "values: leave observed= out for a latent variable."
        )
    _check_finite(name, coo.data, positions)
    number = np.float64 if coo.data.dtype.kind == "f" else np.intp
    return _canonical(coo.shape, positions, coo.data, number)


def _canonical(
    shape: tuple[int, ...],
    positions: tuple[np.ndarray, ...],
    data: np.ndarray,
    number: type[np.float64 | np.intp],
) -> Stored:
    order = np.lexsort(positions[::-1])
    positions = tuple(p[order] for p in positions)
    # Of booleans the sum is "or", as SciPy has it; that of small integers must not overflow.
    add = np.logical_or if data.dtype == bool else np.add
    data = data[order].astype(bool if data.dtype == bool else number)
    starts = np.flatnonzero(np.logical_or.reduce([np.diff(p, prepend=-1) != 0 for p in positions]))
    summed = add.reduceat(data, starts) if len(starts) else data
    kept = summed != 0
    return Stored(
        tuple(map(int, shape)),
        tuple(p[starts][kept] for p in positions),
        summed[kept].astype(number),
    )


def _check_finite(name: str, data: np.ndarray, positions: tuple[np.ndarray, ...]) -> None:
    bad = ~np.isfinite(data)
    if bad.any():
        (at,) = first(bad)
        raise ModelError(
            f"{name}: found {data[at]} at position {tuple(int(p[at]) for p in positions)} of a "
            "sparse array; expected finite numbers: what is not stored is 0, and nothing is "
            f"missing; where entries are missing, {WHAT_ELSE}."
        )


def declare_stored(
    model: Model, distribution: Distribution, statement: Statement, stored: Stored
) -> None:
    """The log likelihood of the stored entries and of the zeros, as part of the model."""
    name = statement.target.array.name
    at_zero = _at_zero(model, distribution, statement)
    model.claim(f"{name}.zeros", f"the zeros of {name}")
    model.declared.sparse.add(name)
    zeros = Potential(f"{name}.zeros", at_zero, statement.over, of=name, is_sparse=True)
    model.declared.potentials.append(zeros)
    if not len(stored.values):
        model.claim(name, "a sparse array of zeros")
        return
    positions = _declare_table(model, statement, stored)
    _check_inside(model, statement, stored, positions)
    rows = Range(_rows(statement), 0, len(stored.values))
    value = Array(name, nonnegative=True) if (stored.values > 0).all() else Array(name)
    seen = sp.S.One if _is_binary(statement.support) else value[rows.dim]
    excess = statement.log_density.xreplace({statement.target: seen}) - at_zero
    excess = min(excess, multiplied_out(excess), key=sp.count_ops)
    log_ratio = substitute(excess, positions)
    model.declared.potentials.append(Potential(name, log_ratio, (rows,), of=name))


def _rows(statement: Statement) -> Dim:
    return Dim(f"{statement.target.array.name}_rows")


def _is_binary(support: Support) -> bool:
    """Whether a value that is not zero can only be one."""
    return bool(support.is_discrete and support.lower == 0 and support.upper == 1)


def _declare_table(model: Model, statement: Statement, stored: Stored) -> dict[Expr, Expr]:
    """The stored entries as data, and the position of each along the dims of the array."""
    name, rows = statement.target.array.name, _rows(statement)
    model.add_dim(rows.name, len(stored.values), name)
    is_whole = statement.support.is_discrete
    values = typed(stored.values, is_whole=is_whole)
    arrays = {Variable(name, (rows,), "data", integer=is_whole): values}
    positions: dict[Expr, Expr] = {}
    for r, at in zip(statement.over, stored.positions, strict=True):
        index = Variable(f"{name}_{plain_name(r.dim)}", (rows,), "index", integer=True, of=r.dim)
        arrays[index] = at
        positions[r.dim] = Array(index.name, nonnegative=True)[rows]
    for variable, array in arrays.items():
        model.declare(variable, f"the stored entries of {name}")
        array.setflags(write=False)
        model.declared.values[variable.name] = array
    return positions


def _check_inside(
    model: Model, statement: Statement, stored: Stored, positions: Mapping[Expr, Expr]
) -> None:
    """The stored values are in the support, wherever it is known."""
    support, rows = statement.support, Range(_rows(statement), 0, len(stored.values))
    lower, upper = (
        evaluate(substitute(sp.sympify(b), positions), (rows,), model.known, model.sizes)
        if sp.sympify(b).is_finite is not False
        else None
        for b in (support.lower, support.upper)
    )
    bad = outside(support.kind, stored.values, lower, upper)
    if bad.any():
        (at,) = first(bad)
        where = ", ".join(
            f"{r.dim.name}={p[at]}" for r, p in zip(statement.over, stored.positions, strict=True)
        )
        count = f" (and {int(bad.sum()) - 1} more)" if bad.sum() > 1 else ""
        raise ModelError(
            f"{statement.name}: found {stored.values[at]:g} at position {where}{count}; expected "
            f"{_expected(support)}: correct the value, or choose a distribution that "
            "can have it."
        )


def _at_zero(model: Model, distribution: Distribution, statement: Statement) -> Expr:
    """The log density of a cell that is zero; refused where 0 is no value, or may be none."""
    name, family = statement.name, statement.family.name
    if statement.event or statement.support.kind not in ("real", "integer"):
        raise ModelError(
            f"{name}: found a sparse array for {family}, whose values are labels, vectors or "
            f"matrices; expected a distribution of numbers; here {WHAT_ELSE}."
        )
    at_zero = statement.log_density.xreplace({statement.target: sp.S.Zero})
    if not _can_be_zero(model, statement) or at_zero.has(sp.zoo, sp.oo, -sp.oo, sp.nan):
        raise ModelError(
            f"{name}: found a sparse array, but {family} on {statement.support!r} has no log "
            "density at 0, so that what is not stored is no value of it; if it is missing, give "
            f"only what was seen: {WHAT_ELSE}."
        )
    _check_certain(model, distribution, statement)
    return at_zero


def _can_be_zero(model: Model, statement: Statement) -> bool:
    """Whether zero is in the support at all positions."""
    for bound, sign in ((statement.support.lower, 1), (statement.support.upper, -1)):
        used = tuple(r for r in statement.over if r.dim in sp.sympify(bound).free_symbols)
        if sp.sympify(bound) not in (sp.oo, -sp.oo):
            found = evaluate(sp.sympify(bound), used, model.known, model.sizes)
            if found is None:
                raise ModelError(
                    f"{statement.name}: found a sparse array, but how large its values can be is "
                    f"drawn ({bound}); expected bounds that are known: {WHAT_ELSE}."
                )
            if (sign * found > 0).any():
                return False
    return True


def _check_certain(model: Model, distribution: Distribution, statement: Statement) -> None:
    """Raise unless every parameter is certain to be in range, without a check of each cell."""
    for which, tensor in distribution.parameters.items():
        support = distribution.parameter(which).support
        if not is_certain(model, tensor.expr, support):
            raise ModelError(
                f"{statement.name}: {which} is {tensor.expr}, which is not known to be "
                f"{_expected(support)} in every cell, and the cells of a sparse array "
                "are not looked at one by one; make it of what is (sums and products of positive "
                f"variables, gp.exp, gp.expit), or {WHAT_ELSE}."
            )


def _expected(support: Support) -> str:
    return f"a {'whole ' if support.is_discrete else ''}number in {support!r}"
