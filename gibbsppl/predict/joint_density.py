"""The log joint density of a model at values of its latent variables, or at all draws.

Comes in: a graph with its data, values by variable or draws. Goes out: the sum of the log densities
of all statements and potentials of the declared model, all constants included, by the plain
interpreter: no generated code, no auxiliary variables.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from gibbsppl.algebra.expressions import mentions
from gibbsppl.errors import RunError
from gibbsppl.language.given import given_arrays
from gibbsppl.model.along_draws import Along, Declared, along_draws, draws_at_once, total_along
from gibbsppl.model.density import is_on_support
from gibbsppl.model.evaluation import Floats, Values
from gibbsppl.model.forward import State, as_declared, put_constants
from gibbsppl.model.graph import Graph
from gibbsppl.output.draws import Draws


def log_density_of(graph: Graph, data: Values, given: Values | Draws) -> float | Floats:
    """The log joint density at values by variable; of draws, with axes (chain, draw)."""
    if not isinstance(given, Draws):
        return float(log_density_along(graph, data, _values(graph, data, given))[0])
    draws = given.together(_names(graph, given))
    rows = np.arange(draws.chains * draws.draws)
    along = {n: np.moveaxis(draws.at(n, rows), 0, -1) for n in draws}
    return log_density_along(graph, data, along).reshape(draws.chains, draws.draws)


def log_density_along(graph: Graph, data: Values, along: Along) -> Floats:
    """The log joint density at each draw; ``-inf`` outside of the support."""
    (count,) = {np.shape(a)[-1] for a in along.values()} or {1}
    rows = np.flatnonzero(_has_labels_inside(graph, data, along, count))
    found, step = np.full(count, -np.inf), draws_at_once(graph)
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        here = {n: np.asarray(a)[..., some] for n, a in along.items()}
        own = {n: np.asarray(as_declared(graph, n, a)) for n, a in here.items()}
        factors: tuple[Declared, ...] = (*graph.statements, *graph.potentials)
        parts = [total_along(f, data, own, graph.sizes, len(some)) for f in factors]
        impossible = np.any([np.isneginf(p) for p in parts], axis=0)
        with np.errstate(invalid="ignore"):
            found[some] = np.where(impossible, -np.inf, np.sum(parts, axis=0))
    return found


def _has_labels_inside(graph: Graph, data: Values, along: Along, count: int) -> np.ndarray:
    """The draws whose labels others can be read at, as far as data alone bounds them."""
    possible = np.ones(count, dtype=bool)
    stacked = along_draws(graph, along, count)
    latent = set(graph.drawn)
    for s, own in zip(graph.statements, stacked.statements, strict=True):
        bounds = map(sp.sympify, (s.support.lower, s.support.upper))
        is_label = s.is_latent and s.support.is_discrete
        if not is_label or any(mentions(b, latent) for b in bounds):
            continue
        inside = is_on_support(own, {**data, **along}, stacked.sizes)
        inside = np.broadcast_to(inside, tuple(map(len, own.over)))
        possible &= inside.all(axis=tuple(range(inside.ndim - 1)))
    return possible


def _values(graph: Graph, data: Values, given: Values) -> dict[str, Floats]:
    """The user's values, each with one draw; refused unless all latent variables have some."""
    found = given_arrays("log_density", graph, data, given)
    if missing := [n for n in graph.drawn if n not in found]:
        raise RunError(
            f"log_density: found no value of {', '.join(missing)}, expected one of each latent "
            f"variable: {', '.join(graph.drawn)}."
        )
    asked = {n: np.array(a) for n, a in found.items()}
    put_constants(graph, State(data) | found)  # (the arrays themselves are changed)
    for name, array in found.items():
        wrong = ~np.isnan(asked[name]) & (asked[name] != array)
        if wrong.any():
            first = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise RunError(
                f"log_density: {name} is {asked[name][first]:g} at {first}, where the model says "
                f"{array[first]:g}; give NaN at elements that are no variables."
            )
        if np.isnan(array).any():
            first = tuple(int(i) for i in np.argwhere(np.isnan(array))[0])
            raise RunError(
                f"log_density: {name} has no value{f' at {first}' if first else ''}, expected a "
                "number for each element that is not observed."
            )
    return {n: a[..., None] for n, a in found.items()}


def _names(graph: Graph, draws: Draws) -> tuple[str, ...]:
    """The latent variables, all of which draws must have, in the model's shapes."""
    for name in graph.drawn:
        if name not in draws:
            raise RunError(
                f"log_density: {name} is not among the draws ({', '.join(draws)}), expected all "
                "latent variables; name it in keep= when sampling."
            )
        shape = tuple(graph.sizes[d] for d in graph.variables[name].dims)
        if draws[name].shape[2:] != shape:
            raise RunError(
                f"log_density: {name} has draws of shape {draws[name].shape[2:]}, expected "
                f"{shape}; pass draws of this model."
            )
    return tuple(graph.drawn)
