"""The same model with other data: values anew, all that was checked of them checked once more.

Comes in: a model and new values by name. Goes out: another model; the first one stays as it is.
What is missing may differ, and sizes of dims (`other_sizes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.arguments import GivenArray
from gibbsppl.errors import ModelError, did_you_mean
from gibbsppl.language.coordinates import GivenLabels
from gibbsppl.language.data import checked_data
from gibbsppl.language.declared import Observed
from gibbsppl.language.distributions import Distribution
from gibbsppl.language.missing import declare_observed, known_in, mask_name
from gibbsppl.language.model import Model
from gibbsppl.language.other_sizes import resize
from gibbsppl.language.regions import Region, region_of
from gibbsppl.language.statements import check_values
from gibbsppl.language.tensors import Tensor
from gibbsppl.language.values import dims_of_values, read_values
from gibbsppl.model.graph import Statement, Variable


def with_other_data(
    model: Model, values: Mapping[str, GivenArray], missing: Mapping[str, Any],
    coords: Mapping[str, GivenLabels],
) -> Model:
    """A model with the statements of another, and these values in the place of its own."""
    made = model.copied()
    _check_names(made, values, missing)
    named = dict(values)
    for name, source in made.declared.sources.items():
        if source in values and name not in values:  # (observed=, given as a gp.Data)
            named[name] = values[source]
    resize(made, named, coords)
    for name, given in named.items():
        variable = made.declared.variables[name]
        if name in made.declared.observed:
            _observe(made, variable, given, missing.get(name))
        else:
            _tell(made, variable, given)
    for number, statement in enumerate(made.declared.statements):
        name = statement.target.array.name
        region = _region(made, made.declared.variables[name], statement)
        observed = made.declared.observed.get(name)
        anew = replace(statement, known=known_in(region, name, observed))
        check_values(made, anew, region, observed, _distribution(made, statement))
        made.declared.statements[number] = anew
    return made


def _check_names(model: Model, values: Mapping[str, object], missing: Mapping[str, object]) -> None:
    """Only data and observed arrays that nothing else was computed from have other values."""
    told = model.declared
    data = [n for n, v in told.variables.items() if v.kind != "random" and n in told.values]
    known = [n for n in (*data, *told.observed) if not n.endswith(".known")]
    for name in (*values, *missing):
        if name not in known:
            raise ModelError(
                f"with_data: found {name!r}, expected names of data and of observed arrays: "
                f"{', '.join(known) or 'there are none'}.{did_you_mean(str(name), known)}"
            )
    made_of = {s.target.array.name for s in told.statements if s.censored} | told.sparse
    # (numbers that were assigned to regions may have been computed from data)
    made_of |= {n for n in told.arrays if told.variables[n].kind != "random"}
    made_of |= {c.target.array.name for c in told.constants if c.value.atoms(Leaf)}
    if made_of:
        raise ModelError(
            f"with_data: {', '.join(sorted(made_of))} was made from the first values (censored, "
            "sparse, or filled with known numbers); expected whole arrays: write a function that "
            "declares the model, and call it again."
        )


def _tell(model: Model, variable: Variable, given: GivenArray) -> None:
    """Other values of data, or of an index."""
    name, before = variable.name, model.declared.values[variable.name]
    found = checked_data(model, variable, given)
    dims_of_values(model, name, found.shape, variable.dims)
    was_positive = variable.kind == "data" and bool((before > 0).all())
    if was_positive and not (found > 0).all():
        raise ModelError(
            f"{name}: found {found[found <= 0][0]}, where all its first values were above 0, by "
            "which expressions were simplified; expected values above 0: declare the model anew."
        )
    whole = variable.kind != "data" or found.dtype.kind == "i"
    model.declared.variables[name] = replace(variable, integer=whole)
    model.declared.values[name] = found


def _observe(model: Model, variable: Variable, given: GivenArray, missing: Any) -> None:
    """Other values of an observed array."""
    name = variable.name
    found = read_values(model, name, variable.dims, given, missing)
    dims_of_values(model, name, found.known.shape, variable.dims)
    own = Observed(np.array(found.values), np.array(found.known))
    mask = mask_name(name)
    if mask in model.declared.values and own.known.any() and not own.known.all():
        model.declared.observed[name], model.declared.values[name] = own, own.values
        model.declared.values[mask] = own.known.astype(np.intp)
        return
    model.forget(mask)
    if own.known.any():
        declare_observed(model, variable, own)
    else:
        del model.declared.observed[name], model.declared.values[name]


def _region(model: Model, variable: Variable, statement: Statement) -> Region:
    """The region that a statement fills."""
    ranges: dict[sp.Basic, Range] = {r.dim: r for r in statement.over}
    keys: list[int | np.integer | slice] = []
    for index in statement.target.indices:
        at = ranges.get(index)
        is_fixed = index.is_Integer
        keys.append(int(index) if is_fixed else slice(at.start, at.stop) if at else slice(None))
    if not keys:
        return Region((), (), (), variable.name)
    return region_of(model, variable.name, variable.dims, tuple(keys))


def _distribution(model: Model, statement: Statement) -> Distribution:
    """The distribution of a statement, as it was written."""
    spelled = {n: Tensor(sp.sympify(e), model) for n, e in statement.spelled}
    lower, upper = (
        None if b is None else Tensor(b, model) for b in (statement.lower, statement.upper)
    )
    family = statement.family
    return Distribution(family, tuple(spelled), spelled, lower, upper, event=statement.event)


Model.told_anew = staticmethod(with_other_data)
