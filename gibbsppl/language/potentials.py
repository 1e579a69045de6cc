"""Named functions of variables, and terms of the log density without a left side.

>>> from gibbsppl.language import Model, Normal
>>> with Model(coords={"row": 4}) as model:
...     s = Normal("s", 0, sigma=1, dims="row")
...     Potential("coupling", 0.5 * s * s.lag("row", 1))
>>> print(model.graph)
s[row] ~ Normal(mu=0, tau=1)
log density += sum(s[row - 1]*s[row]/2, row), row = 1..3
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import sympy as sp

from gibbsppl.algebra.expressions import Dim, Expr, Extreme, Leaf, Times
from gibbsppl.algebra.functions import INDICATORS, Maximum, Minimum, Where
from gibbsppl.algebra.ranges import Range
from gibbsppl.arguments import calls_told
from gibbsppl.errors import ModelError
from gibbsppl.language.checks import check_reads, check_stored
from gibbsppl.language.model import Model, current_model
from gibbsppl.language.statements import Names
from gibbsppl.language.tensors import Tensor, Value, own_tensor
from gibbsppl.model.graph import Deterministic as NamedFunction
from gibbsppl.model.graph import Potential as PotentialFactor
from gibbsppl.model.graph_views import bounds_of, offset_of


@calls_told(ModelError)
def Deterministic(  # noqa: N802  (constructors of the language are capitalised)
    name: str, value: Value, dims: Names = None
) -> Tensor:
    """A named function of variables, recorded with the draws; the expression is returned."""
    model = current_model(name)
    tensor = own_tensor(model, name, value)
    if _waits(model, name, "a deterministic", tensor, partial(Deterministic, name, value, dims)):
        return tensor
    axes = _all_dims(model, name, tensor, dims)
    check_reads(model, name, tensor.expr, {})
    model.claim(name, "a deterministic")
    model.declared.deterministics.append(NamedFunction(name, axes, tensor.expr))
    return tensor


@calls_told(ModelError)
def Potential(  # noqa: N802  (constructors of the language are capitalised)
    name: str, log_density: Value, dims: Names = None
) -> None:
    """A term of the log joint density, summed over all positions where its lags exist."""
    model = current_model(name)
    tensor = own_tensor(model, name, log_density)
    if _waits(model, name, "a potential", tensor, partial(Potential, name, log_density, dims)):
        return
    check_stored(model, name, tensor.expr)
    over = tuple(_inside(model, name, tensor, d) for d in _all_dims(model, name, tensor, dims))
    check_reads(model, name, tensor.expr, bounds_of(over))
    model.claim(name, "a potential")
    model.declared.potentials.append(PotentialFactor(name, tensor.expr, over))


@calls_told(ModelError)
def Constraint(  # noqa: N802  (constructors of the language are capitalised)
    name: str, holds: Value, dims: Names = None
) -> None:
    """A constraint on variables: ``holds`` is 1 where it holds and 0 elsewhere.

    The joint density is zero where the constraint fails at any position where its lags exist.
    """
    model = current_model(name)
    tensor = own_tensor(model, name, holds)
    if not _is_indicator(tensor.expr):
        raise ModelError(
            f"{name}: found {tensor}; expected a comparison, such as a < b, or a product of "
            "comparisons, which is 1 where the constraint holds and 0 elsewhere."
        )
    if _waits(model, name, "a constraint", tensor, partial(Constraint, name, holds, dims)):
        return
    check_stored(model, name, tensor.expr)
    arrays = {leaf.array.name for leaf in tensor.expr.atoms(Leaf)}
    if all(model.declared.variables[n].kind != "random" for n in arrays):
        raise ModelError(
            f"{name}: {tensor} depends on no variable; a constraint is on variables: check data "
            "before the model is declared."
        )
    Potential(name, Tensor(sp.log(tensor.expr), model, gone=tensor.gone), dims)


def _waits(
    model: Model, name: str, what: str, tensor: Tensor, again: Callable[[], object]
) -> bool:
    """Whether what is declared waits for the size of a dimension."""
    opened = model.open_dims(map(Dim, tensor.dims), (tensor.expr,))
    if opened:
        model.claim(name, what)
        model.waiting.put(name, opened, again)
    return bool(opened)


def _is_indicator(expr: Expr) -> bool:
    """Whether all values of an expression are 0 or 1, by its form."""
    if isinstance(expr, INDICATORS) or expr in (sp.S.Zero, sp.S.One):
        return True
    if isinstance(expr, Times | Extreme):
        return _is_indicator(expr.body)
    if isinstance(expr, sp.Pow):
        return bool(expr.exp.is_Integer and expr.exp > 0) and _is_indicator(expr.base)
    if expr.is_Add:
        return len(expr.args) == 2 and 1 in expr.args and _is_indicator(1 - expr)
    of_indicators = expr.is_Mul or isinstance(expr, (Where, Minimum, Maximum))
    return of_indicators and all(map(_is_indicator, expr.args))


def _all_dims(model: Model, name: str, tensor: Tensor, dims: Names) -> tuple[Dim, ...]:
    """The dims of a tensor, in the order given, if one is."""
    found = tuple(map(Dim, tensor.dims))
    if dims is None:
        return found
    given = model.dims(dims, name)
    if set(given) != set(found):
        raise ModelError(
            f"{name}: dims name {', '.join(map(str, given)) or 'none'}, but the expression has the "
            f"dimensions {', '.join(map(str, found)) or 'none'}; leave dims out, or name these."
        )
    return given


def _inside(model: Model, name: str, tensor: Tensor, dim: Dim) -> Range:
    """The positions of a dim at which all its lags exist."""
    start, stop = 0, model.size(dim)
    for leaf in set().union(*(e.atoms(Leaf) for e in (tensor.expr, *tensor.gone))):
        axes = model.declared.variables[leaf.array.name].dims
        for axis, index in zip(axes, leaf.indices, strict=True):
            offset = offset_of(index, dim)
            if offset is not None:
                start, stop = max(start, -offset), min(stop, model.size(axis) - offset)
    if start >= stop:
        raise ModelError(
            f"{name}: no position of {dim.name!r} (size {model.size(dim)}) has all its lags; use a "
            "smaller lag."
        )
    return Range(dim, start, stop)
