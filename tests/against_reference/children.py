"""Variables of a draft by chance: latent ones, and observed ones that depend on what is there."""

from dataclasses import replace

import numpy as np

from against_reference.models import Part, Variable
from against_reference.scalars import BINARY, COUNT, LABEL, POSITIVE, REAL, UNIT
from against_reference.series import chain, series
from against_reference.trees import Number
from against_reference.variables import (
    SCALARS,
    add,
    function,
    label,
    matrix,
    observed,
    probabilities,
    scalar,
    simple_part,
    simplex,
    some_dims,
    spare,
    sphere,
    sphere_part,
    transitions,
    vector,
    vector_part,
)
from against_reference.vectors import COUNTS, SIMPLEX, SPD, SPHERE, VECTOR

LIMITS = {REAL: (-0.5, 1.2), POSITIVE: (0.3, 1.5), UNIT: (0.2, 0.7), COUNT: (1, 4)}


def latent(draft):
    """Declare a latent variable, or one of which some elements are known."""
    ways = {scalar: 10, label: 2, simplex: 1.5, vector: 1.5, matrix: 0.8, series: 2, chain: 0.8,
            sphere: 0.3, transitions: 0.5, function: 0.8 if draft.sources else 0, spare: 0.3}
    draft.one_of(ways, list(ways.values()))(draft)


def child(draft):
    """Declare an observed variable that depends on what is there."""
    last = [s for s in draft.sources if s.kind != SPD]
    draft.near = tuple(s.expr for s in draft.some_of(last, 2))
    chosen = [s.expr for s in last if s.kind in (LABEL, BINARY)]
    if chosen and draft.chance(0.6):
        draft.near = (*draft.near[:1], draft.one_of(chosen))
    ways = {seen_scalar: 8, seen_label: 1, seen_counts: 0.7, seen_vector: 1, seen_simplex: 0.3,
            seen_sphere: 0.2, seen_matrix: 0.2, seen_series: 0.8}
    draft.one_of(ways, list(ways.values()))(draft)
    draft.near = ()


def _dims(draft):
    near = set().union(*(e.dims for e in draft.near)) if draft.near else set()
    near = draft.some_of(sorted(d for d in near if d in draft.sizes), 2)
    dims = [*near, *(d for d in some_dims(draft, 1) if d not in near)][:2]
    return tuple(d for d in draft.sizes if d in dims)


def seen_scalar(draft):
    dims = _dims(draft)
    part, kind = simple_part(draft, dims, 1 + int(draft.chance(0.3)))
    row = next((r for r in SCALARS if r.name == part.family), None)
    limits = {}
    if row is not None and row.has_tails and row.kind in LIMITS and draft.chance(0.12):
        limits = censoring(draft, part, row, dims)
    mask = np.ones(tuple(draft.size(d) for d in dims), bool) if limits else observed(draft, dims)
    floats = row is not None and row.whole and draft.chance(0.1)
    add(draft, Variable(draft.fresh("y"), dims, kind, (part,), mask=mask, censoring=limits,
                        floats=floats))


def censoring(draft, part, row, dims):
    """What is known of values by their bounds."""
    if any(b is not None for b in (part.lower, part.upper)):
        return {}
    low, high = map(Number, LIMITS[row.kind])
    if row.parameters.keys() == {"lower", "upper"} or row.name == "Pareto":
        return {}
    draft.features.add("censored")
    if "n" in row.parameters and row.kind == COUNT:
        return {"lower": low} if row.name != "NegativeBinomial" else {}
    ways = [{"lower": low}, {"upper": high}, {"lower": low, "upper": high}]
    if dims:
        event = draft.covariate("flag", (draft.one_of(dims),))
        ways += [{"event": event}, {"event": event, "upper": high},
                 {"event": event, "lower": low, "upper": high}] * 2
    return draft.one_of(ways)


def seen_label(draft):
    of = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    dims = tuple(d for d in _dims(draft) if d != of)
    part = Part("Categorical", {"p": probabilities(draft, of, dims)})
    add(draft, Variable(draft.fresh("y"), dims, LABEL, (part,), of=of,
                        mask=observed(draft, dims)))


def seen_counts(draft):
    event = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    dims = tuple(d for d in _dims(draft) if d != event)
    p = probabilities(draft, event, dims)
    if f"{event}'" in p.dims:
        event = f"{event}'"
    n = draft.one_of((Number(5), Number(2)))
    if draft.chance(0.2):
        n = draft.positive_count(dims)
    part = Part("Multinomial", {"n": n, "p": p})
    # (a total that is drawn cannot be that of counts that are missing)
    total_known = isinstance(n, Number)
    axes = (*dims, event)
    mask = observed(draft, axes, whole=1, share=None if total_known else 0)
    add(draft, Variable(draft.fresh("y"), axes, COUNTS, (part,), event=(event,), mask=mask))


def seen_vector(draft):
    event = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    dims = tuple(d for d in _dims(draft) if d != event)
    part = vector_part(draft, event, dims)
    axes = (*dims, event)
    whole = 1 if draft.calm or draft.chance(0.4) else 0
    if not whole:
        draft.features.add("vectors partly observed")
    add(draft, Variable(draft.fresh("y"), axes, VECTOR, (part,), event=(event,),
                        mask=observed(draft, axes, whole=whole)))


def seen_simplex(draft):
    event = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    dims = tuple(d for d in _dims(draft) if d != event)
    axes = (*dims, event)
    part = Part("Dirichlet", {"a": draft.term(POSITIVE, axes, 1)})
    add(draft, Variable(draft.fresh("y"), axes, SIMPLEX, (part,), event=(event,),
                        mask=observed(draft, axes, whole=1)))


def seen_sphere(draft):
    event = draft.one_of([d for d in draft.sizes if draft.size(d) > 1])
    dims = tuple(d for d in _dims(draft) if d != event)
    axes = (*dims, event)
    add(draft, Variable(draft.fresh("y"), axes, SPHERE, (sphere_part(draft, event, dims),),
                        event=(event,), mask=observed(draft, axes, whole=1)))


def seen_matrix(draft):
    matrix(draft, draft.fresh("y"))
    last = draft.items[-1]
    if last.kind == SPD:
        draft.items[-1] = replace(last, mask=observed(draft, last.dims, whole=2))
        draft.sources.pop()
    else:
        seen_scalar(draft)


def seen_series(draft):
    series(draft, draft.fresh("y"))
    variable = draft.items[-1]
    mask = observed(draft, variable.dims)
    if variable.parts[0].number is not None:
        stops = variable.parts[0].stops
        mask[tuple(map(slice, variable.parts[0].starts, stops))] = False
    draft.items[-1] = replace(variable, mask=mask)
