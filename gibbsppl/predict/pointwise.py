"""The log likelihood of each observation at each draw, of which WAIC and LOO are made.

Comes in: a graph with its data, draws of its posterior. Goes out: draws of the log densities of
observed values given all else, with the dims and coords of the observed variables. A vector that is
drawn as one (of a multivariate normal, say) is one observation.

>>> import gibbsppl as gp
>>> with gp.Model(coords={"i": 3}) as model:
...     mu = gp.Flat("mu")
...     y = gp.Normal("y", mu, sigma=1, dims="i", observed=[1.0, -1.0, 0.0])
>>> sampler = gp.compile(model)
>>> draws = sampler.log_likelihood(sampler.sample(100, chains=2, seed=1, progress=False))
>>> draws.groups["log_likelihood"]
2 chains, 100 draws each
y (i: 3)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gibbsppl.algebra.expressions import Dim
from gibbsppl.errors import RunError, counted, did_you_mean
from gibbsppl.model.density import event_dims
from gibbsppl.model.evaluation import Values, evaluate
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.model.operations import Bools
from gibbsppl.output.arrays import Array
from gibbsppl.output.draws import Draws
from gibbsppl.output.labels import Labeller, labelled, placed
from gibbsppl.predict.deviance import (
    chunks,
    is_seen,
    names_needed,
    seen_density,
    seen_statements,
)
from gibbsppl.run.recording import check_memory
from gibbsppl.runtime.types import Ints

# The places of a statement's observations in its variable, event dims left out.
Places = tuple[Ints, ...]


def log_likelihoods(
    graph: Graph,
    data: Values,
    draws: Draws,
    names: str | Sequence[str] | None = None,
    *,
    limit_bytes: int = 4 << 30,
) -> Draws:
    """The log likelihood of each observation of some variables, by default of all.

    Of a variable that is observed in part there is one for each value that is observed, along a
    dim ``<name>_observed`` with their labels.
    """
    own = _asked(graph, names)
    draws = draws.together(names_needed(graph, draws) or None)
    dims = {n: _dims(graph, n, statements) for n, statements in own.items()}
    shapes = {n: tuple(graph.sizes[Dim(d)] for d in found) for n, found in dims.items()}
    count = draws.chains * draws.draws
    needed = {n: 8 * count * math.prod(shape) for n, shape in shapes.items()}
    check_memory(needed, limit_bytes, "log likelihoods")
    places = {s.name: _places(graph, s, data) for ss in own.values() for s in ss}
    found = {n: np.full((*shape, count), np.nan) for n, shape in shapes.items()}
    for chunk, rows, given, _ in chunks(graph, draws):
        some, values = np.s_[..., rows[0] : rows[-1] + 1], {**data, **given}
        for s in (s for s in chunk.statements if s.name in places):
            into = found[s.target.array.name][some]
            into[places[s.name]] = seen_density(chunk, s, values)
    arrays, named, coords = {}, {}, dict(draws.coords)
    for name, statements in own.items():
        seen = _seen(graph, statements, shapes[name], data)
        array, named[name] = np.moveaxis(found.pop(name), -1, 0), dims[name]
        if not seen.all():
            along, place = f"{name}_observed", placed(dims[name], draws.coords)
            coords[along] = np.array([place(tuple(at)) for at in np.argwhere(seen)])
            named[name], array = (along,), array[:, seen]
        arrays[name] = array.reshape(draws.chains, draws.draws, *array.shape[1:])
        _check(arrays[name], labelled(name, named[name], coords))
    used = {d for own_dims in named.values() for d in own_dims}
    return Draws(arrays, named, {d: labels for d, labels in coords.items() if d in used})


def with_log_likelihoods(draws: Draws, found: Draws) -> Draws:
    """The draws with the log likelihoods as a group."""
    return replace(draws, groups={**draws.groups, "log_likelihood": found})


def _asked(graph: Graph, names: str | Sequence[str] | None) -> dict[str, list[Statement]]:
    """The statements of the observed variables that are asked for, by variable."""
    own: dict[str, list[Statement]] = {}
    for statement in seen_statements(graph):
        own.setdefault(statement.target.array.name, []).append(statement)
    chosen = (names,) if isinstance(names, str) else own if names is None else names
    for name in chosen:
        if name not in own:
            raise RunError(
                f"log_likelihood: found {name!r}, expected names of observed variables: "
                f"{', '.join(own)}.{did_you_mean(name, own)}"
            )
    return {n: own[n] for n in dict.fromkeys(chosen)}


def _dims(graph: Graph, name: str, statements: Sequence[Statement]) -> tuple[str, ...]:
    """The dims of a variable along which its values are separate observations."""
    first, *others = ({d.name for d in event_dims(s)} for s in statements)
    if any(other != first for other in others):
        raise RunError(
            f"{name}: found statements of values along different dims, expected all of its values "
            "to be numbers, or vectors along the same dim; name other variables."
        )
    return tuple(d.name for d in graph.variables[name].dims if d.name not in first)


def _places(graph: Graph, statement: Statement, data: Values) -> Places:
    """Where each position of a statement is in its variable, event dims left out."""
    of_events = {d.name for d in event_dims(statement)}
    dims = graph.variables[statement.target.array.name].dims
    pairs = zip(dims, statement.target.indices, strict=True)
    own = (i for d, i in pairs if d.name not in of_events)
    shape = tuple(map(len, statement.over))
    whole = (np.rint(evaluate(i, statement.over, data, graph.sizes)).astype(int) for i in own)
    return tuple(np.broadcast_to(i, shape) for i in whole)


def _seen(
    graph: Graph, statements: Sequence[Statement], shape: tuple[int, ...], data: Values
) -> Bools:
    """The elements of a variable that are observed, as truths."""
    found = np.zeros(shape, dtype=bool)
    for statement in statements:
        found[_places(graph, statement, data)] = is_seen(graph, statement, data)
    return found


def _check(array: Array, label: Labeller) -> None:
    """Raise where a log likelihood is no finite number."""
    bad = ~np.isfinite(array)
    if bad.any():
        first = tuple(int(k) for k in np.argwhere(bad)[0])
        count = int(np.moveaxis(bad, (0, 1), (-2, -1))[first[2:]].sum())
        raise RunError(
            f"{label(first[2:])}: its log likelihood is {array[first]} in "
            f"{counted(count, 'draw')}, expected finite numbers: pass "
            "draws of this model, given these data."
        )
