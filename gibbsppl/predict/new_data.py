"""The question of a prediction: the part of a model needed for predictions at new data.

Comes in: a graph with its data, and new values of some arrays. Goes out: a ``Question``: the
statements of what is predicted and of all variables to be drawn anew, with the sizes and the
data of the new positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gibbsppl.algebra.expressions import Dim, leaves_of, mentions
from gibbsppl.algebra.ranges import Range
from gibbsppl.algebra.recursions import Recursion
from gibbsppl.arguments import GivenArray, shown
from gibbsppl.errors import RunError, did_you_mean
from gibbsppl.language.completeness import first
from gibbsppl.language.values import entries_and_known
from gibbsppl.model.alignment import Seen, aligned, check_order, with_axes
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Statement, Variable
from gibbsppl.model.label_codes import (
    are_labels,
    could_be_labels,
    number_or_label,
    positions_of,
)
from gibbsppl.output.arrays import Array
from gibbsppl.predict.question import Question
from gibbsppl.predict.series import (
    carried_on,
    ordered_dims,
    read_before,
    read_of,
)

Sizes = dict[Dim, int]


def question_of(
    graph: Graph, data: Values, new: Mapping[str, GivenArray], name: str | None
) -> Question:
    """The question of one variable, which has a mean, or a `RunError` that names the mistake."""
    target = _observed(graph, name)
    if graph.variables[target].of is not None:
        raise RunError(f"{target}: its values are labels, which have no mean; predict a number.")
    return question_about(uncensored(graph), data, new, (target,))


def uncensored(graph: Graph) -> Graph:
    """The graph of the values themselves, whatever would be seen of them."""
    return replace(graph, statements=tuple(replace(s, censored=()) for s in graph.statements))


def question_about(
    graph: Graph, data: Values, new: Mapping[str, GivenArray], targets: tuple[str, ...]
) -> Question:
    """The question that a user asks with ``new``, or a `RunError` that names the mistake."""
    given = {n: _with_axes(graph, n, a) for n, a in new.items() if n in graph.variables}
    given = {n: _pointing(graph, n, a) for n, a in given.items()}
    arrays = {n: _array(graph.variables[n], a) for n, a in given.items()}
    counts = {Dim(n): _count(n, c) for n, c in new.items() if n not in graph.variables}
    _check_names(graph, targets, arrays, counts)
    sizes = _sizes(graph, arrays, counts)
    new_dims = _new_dims(graph, targets, arrays, counts, sizes)
    arrays = _in_order(graph, given, new_dims)
    reach = _reach(graph, targets, new_dims, arrays)
    _check_reach(graph, targets, reach, new_dims, arrays)
    needed = (*reach.redrawn, *targets)
    statements = [s for s in graph.statements if s.target.array.name in needed]
    _check_computed(graph, targets, new_dims)
    series = _series(graph, statements, new_dims)
    sizes = {**graph.sizes, **sizes}
    if series is not None:
        arrays = {n: _after(graph, data, n, a, series) for n, a in arrays.items()}
        own, more = statements, sizes[series]
        statements = [*carried_on(graph, own, series, more)]
        sizes[series] += graph.sizes[series]
    else:
        statements = [_resized(s, new_dims, sizes) for s in statements]
    _check_indices(graph, arrays, sizes)
    part = replace(
        graph,
        sizes=sizes,
        labels={n: own for n, own in graph.labels.items() if Dim(n) not in new_dims},
        statements=tuple(statements),
        potentials=(),
        constants=tuple(c for c in graph.constants if c.target.array.name in needed),
        deterministics=tuple(d for d in graph.deterministics if d.name in targets),
    )
    values = {n: a for n, a in data.items() if n not in needed} | arrays
    question = Question(targets, part, values, new_dims, reach.kept, reach.redrawn)
    if series is None:
        return question
    computed = [d.value for d in part.deterministics]
    carried = read_before([*(e for s in statements for e in read_of(s)), *computed], needed)
    latent = set(graph.drawn)
    before = {n: data[n] for n in carried if n not in latent}
    start = graph.sizes[series]
    return replace(question, series=series, start=start, carried=carried, before=before)


def _check_computed(graph: Graph, targets: tuple[str, ...], new_dims: frozenset[Dim]) -> None:
    """Raise for quantities whose elements at new positions follow from others of their own."""
    for one in graph.deterministics:
        if one.name in targets and one.value.has(Recursion) and new_dims:
            raise RunError(
                f"{one.name}: it is computed from its own elements, or of what is, so that it has "
                f"none at new positions along {_listed(new_dims)}; name others."
            )


def _series(
    graph: Graph, statements: Sequence[Statement], new_dims: frozenset[Dim]
) -> Dim | None:
    """The dim along which series are carried on, if the new positions have an order."""
    found = ordered_dims(graph, statements, new_dims)
    if len(new_dims) > 1 and found:
        (dim, name), *_ = found.items()
        raise RunError(
            f"{name}: its positions along {dim.name!r} have an order, so that new ones carry it "
            f"on, but those along {_listed(new_dims - {dim})} are new too; give one of both."
        )
    return next(iter(found), None)


def _after(graph: Graph, data: Values, name: str, array: Array, series: Dim) -> Array:
    """The new values of data after those before, if the data are along the series."""
    dims = graph.variables[name].dims
    if series not in dims:
        return array
    return np.concatenate([np.asarray(data[name]), array], axis=dims.index(series))


def observed_arrays(graph: Graph) -> tuple[str, ...]:
    """The names of the arrays that are observed, in whole or in part, in order."""
    return tuple(dict.fromkeys(s.target.array.name for s in graph.statements if s.known != 0))


def _observed(graph: Graph, name: str | None) -> str:
    """The observed variable to predict."""
    observed = observed_arrays(graph)
    sparse = [p.of for p in graph.potentials if p.of is not None]
    if name in sparse or (name is None and sparse and not observed):
        raise RunError(
            f"{name or sparse[0]}: observed as a sparse array, whose cells are not made, so that "
            "it is not predicted; compute what is wanted at some cells from the draws of its "
            "parameters, or compile the model with a dense array."
        )
    found = observed[0] if name is None and len(observed) == 1 else name
    if found is None or found not in observed:
        what = "no name" if name is None else repr(name)
        raise RunError(
            f"predict: found {what}, expected name= one of the observed variables: "
            f"{', '.join(observed) or 'there is none'}."
        )
    return found


def _with_axes(graph: Graph, name: str, value: GivenArray) -> GivenArray:
    """An array with named axes, transposed to the order of the model's dims."""
    dims = [d.name for d in graph.variables[name].dims]
    found: GivenArray = with_axes(f"new[{name!r}]", value, dims, RunError)
    return found


def _pointing(graph: Graph, name: str, value: GivenArray) -> GivenArray:
    """An index that is given as labels, as positions along the dim that it points into."""
    variable, what = graph.variables[name], f"new[{name!r}]"
    if variable.of is None:
        return value
    labels = graph.labels.get(variable.of.name, ())
    if not are_labels(value):
        if could_be_labels(_array(variable, value), labels):
            raise RunError(number_or_label(what, variable.of.name))
        return value
    if not labels:
        raise RunError(
            f"{what}: found labels, but {variable.of.name!r} has none; expected positions from 0 "
            f"to {graph.sizes[variable.of] - 1}."
        )
    return positions_of(what, value, variable.of.name, labels, RunError)


def _in_order(
    graph: Graph, given: Mapping[str, GivenArray], new_dims: frozenset[Dim]
) -> dict[str, Array]:
    """The new values in the order of their labels; new positions are labelled alike in all."""
    own = {n: labels for n, labels in graph.labels.items() if Dim(n) not in new_dims}
    seen: Seen = {}
    arrays = {}
    for name, value in given.items():
        variable, what = graph.variables[name], f"new[{name!r}]"
        dims = [d.name for d in variable.dims]
        check_order(what, value, dims, own, seen, RunError)
        arrays[name] = _array(variable, aligned(what, value, dims, own, RunError))
    return arrays


def _array(variable: Variable, value: GivenArray) -> Array:
    """The new values of an array, with as many axes as the old ones, all of them numbers."""
    if variable.kind == "random":
        raise RunError(
            f"new[{variable.name!r}]: it is drawn; only data and indices have new values."
        )
    try:
        array, known = entries_and_known(value)
    except (TypeError, ValueError):
        array, known = np.empty((), dtype=object), np.ones((), dtype=bool)
    if array.dtype.kind not in "biuf":
        raise RunError(f"new[{variable.name!r}]: found {shown(value)}, expected numbers.")
    if array.ndim != len(variable.dims):
        expected = ", ".join(d.name for d in variable.dims) or "none"
        raise RunError(
            f"new[{variable.name!r}]: found an array of shape {array.shape}, expected one axis for "
            f"each of its dimensions ({expected})."
        )
    if not (told := known & np.isfinite(array)).all():
        raise RunError(
            f"new[{variable.name!r}]: the entry at position {first(~told)} is missing or not "
            "finite, expected finite numbers: leave out the positions for which there are none."
        )
    return array


def _count(name: str, value: object) -> int:
    """The number of new positions along a dimension."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise RunError(
            f"new[{name!r}]: found {value!r}, expected the name of data or of an index with its "
            "new values, or the name of a dimension with its number of new positions."
        )
    return int(value)


def _check_names(
    graph: Graph, targets: tuple[str, ...], arrays: Mapping[str, Array], counts: Mapping[Dim, int]
) -> None:
    for target in set(targets) & arrays.keys():
        raise RunError(f"new[{target!r}]: it is what is predicted; leave it out of new=.")
    for dim in counts:
        if dim not in graph.sizes:
            names = [*graph.variables, *(d.name for d in graph.sizes)]
            raise RunError(
                f"new[{dim.name!r}]: neither data nor a dimension of the model; names are those "
                f"of the model.{did_you_mean(dim.name, names)}"
            )


def _sizes(graph: Graph, arrays: Mapping[str, Array], counts: Mapping[Dim, int]) -> Sizes:
    """The size of each dimension that ``new`` speaks of; all must agree."""
    sizes = {dim: count or graph.sizes[dim] for dim, count in counts.items()}
    said_by = {dim: f"new[{dim.name!r}]" for dim in sizes}
    for name, array in arrays.items():
        for dim, size in zip(graph.variables[name].dims, array.shape, strict=True):
            if sizes.setdefault(dim, size) != size or size == 0:
                raise RunError(
                    f"new[{name!r}]: dimension {dim.name!r} has size {size} here, expected "
                    f"{sizes[dim] or 'at least 1'} as in {said_by.get(dim, 'every array')}."
                )
            said_by.setdefault(dim, f"new[{name!r}]")
    return sizes


def _new_dims(
    graph: Graph,
    targets: tuple[str, ...],
    arrays: Mapping[str, Array],
    counts: Mapping[Dim, int],
    sizes: Sizes,
) -> frozenset[Dim]:
    """The dimensions with new positions: of another size, or named as such."""
    own = _free_dims(graph, targets)
    for dim, size in sizes.items():
        if size != graph.sizes[dim] and dim not in own and dim not in counts:
            raise RunError(
                f"new: dimension {dim.name!r} has size {graph.sizes[dim]} in the model, found "
                f"{size}, but {', '.join(targets)} is not along it; give arrays of the model's "
                f"size, or, if all its positions are new, say so: new={{..., {dim.name!r}: "
                f"{size}}}."
            )
    resized = {dim for dim, size in sizes.items() if size != graph.sizes[dim]}
    named = {dim for dim, count in counts.items() if count}
    touched = {d for n in arrays for d in graph.variables[n].dims if d in own} - set(counts)
    _refuse_events(graph, resized | named)
    if not resized | named:
        _refuse_ambiguous(graph, targets, touched, arrays)
    return frozenset(resized | named)


def _refuse_events(graph: Graph, new_dims: set[Dim]) -> None:
    for statement in graph.statements:
        if event := new_dims & set(statement.event):
            raise RunError(
                f"{statement.name}: {_listed(event)} is an event dimension of it: its positions "
                "belong to one draw together (or are what labels point to); none can be new."
            )


def _free_dims(graph: Graph, names: tuple[str, ...]) -> set[Dim]:
    """The dims of some variables along which their values are separate draws."""
    computed = {d for one in graph.deterministics if one.name in names for d in one.dims}
    return computed | {r.dim for n in names for s in graph.statements_of(n) for r in s.over}


def _refuse_ambiguous(
    graph: Graph, targets: tuple[str, ...], touched: set[Dim], arrays: Mapping[str, Array]
) -> None:
    """Ask, for new data of the old size, whether these are new positions."""
    local = _reach(graph, targets, frozenset(touched), arrays).redrawn
    for dim in sorted(touched, key=str):
        along = [n for n in local if dim in graph.variables[n].dims]
        if along:
            size = graph.sizes[dim]
            raise RunError(
                f"new: dimension {dim.name!r} keeps its size {size}, and {', '.join(along)} has "
                f"values along it; say whether its positions are new, "
                f"new={{..., {dim.name!r}: {size}}}, or the model's own, "
                f"new={{..., {dim.name!r}: 0}}."
            )


@dataclass(frozen=True, slots=True)
class _Reach:
    """The arrays that variables depend on: latents with draws, variables to draw anew, data."""

    kept: tuple[str, ...]
    redrawn: tuple[str, ...]
    given: tuple[str, ...]
    missing: tuple[str, ...]


def _reach(
    graph: Graph, targets: tuple[str, ...], new_dims: frozenset[Dim], arrays: Mapping[str, Array]
) -> _Reach:
    """All that the targets read, and what the variables to be drawn anew read in turn."""
    found: dict[str, str] = {}
    todo = [*targets]
    while todo:
        for name in _read_by(graph, todo.pop()) - {*targets, *found}:
            found[name] = _role(graph, name, new_dims, arrays)
            if found[name] == "redrawn":
                todo.append(name)

    def of_role(role: str) -> tuple[str, ...]:
        return tuple(n for n in graph.variables if found.get(n) == role)

    return _Reach(*map(of_role, ("kept", "redrawn", "given", "missing")))


def _role(
    graph: Graph, name: str, new_dims: frozenset[Dim], arrays: Mapping[str, Array]
) -> str:
    """What becomes of an array that is read."""
    if name in arrays:
        return "given"
    if not new_dims.isdisjoint(graph.variables[name].dims):
        modelled = any(s.target.array.name == name for s in graph.statements)
        return "redrawn" if modelled else "missing"
    return "kept" if graph.variables[name].kind == "random" else "data"


def _read_by(graph: Graph, name: str) -> set[str]:
    """The names of the arrays that a variable reads in its statements, or is computed of."""
    own = [e for s in graph.statements_of(name) for e in read_of(s)]
    own += [d.value for d in graph.deterministics if d.name == name]
    return {leaf.array.name for e in own for leaf in leaves_of(e)}


def _check_reach(
    graph: Graph,
    targets: tuple[str, ...],
    reach: _Reach,
    new_dims: frozenset[Dim],
    arrays: Mapping[str, Array],
) -> None:
    told = ", ".join(targets)
    if reach.missing:
        along = {d for n in reach.missing for d in graph.variables[n].dims} & new_dims
        raise RunError(
            f"new: {told} at new positions along {_listed(along)} needs "
            f"{', '.join(reach.missing)} too; give all data along them."
        )
    if unused := [n for n in arrays if n not in reach.given]:
        raise RunError(f"new: {told} does not depend on {', '.join(unused)}; leave it out.")
    for potential in graph.potentials:
        ties = potential.of is None and potential.guards is None
        if ties and mentions(potential.log_density, (*reach.redrawn, *targets)):
            raise RunError(
                f"{told}: it cannot be predicted, because the potential {potential.name} ties "
                f"{', '.join((*reach.redrawn, *targets))} in a way that cannot be simulated."
            )


def _listed(dims: Iterable[Dim]) -> str:
    return ", ".join(repr(d.name) for d in sorted(dims, key=str))


def _check_indices(graph: Graph, arrays: Mapping[str, Array], sizes: Sizes) -> None:
    """New indices are positions of the dimension that they point into."""
    for name, array in arrays.items():
        variable = graph.variables[name]
        if variable.of is None and not variable.integer:
            continue
        top = np.inf if variable.of is None else sizes[variable.of] - 1
        low = -np.inf if variable.of is None else 0
        bad = (array != np.rint(array)) | (array < low) | (array > top)
        if bad.any():
            where = "" if variable.of is None else f" from 0 to {top} ({variable.of.name!r})"
            raise RunError(f"new[{name!r}]: found {array[bad][0]}, expected whole numbers{where}.")


def _resized(statement: Statement, new_dims: frozenset[Dim], sizes: Mapping[Dim, int]) -> Statement:
    """The statement at the new positions, which are exchangeable with the old ones."""
    over = (Range(r.dim, 0, sizes[r.dim]) if r.dim in new_dims else r for r in statement.over)
    return replace(statement, over=tuple(over))
