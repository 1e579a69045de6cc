"""Initial values of BUGS and JAGS for a model of `read_bugs`.

Comes in: values by the program's names. Goes out: arrays by the model's names. An array that the
model holds in another form (labels from 0, a table of rows, only those elements that are drawn) is
recorded under the program's name as a quantity; where an element of it is an element of one array,
plus a number, is found by evaluating it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gibbsppl.bugs.data import read_data
from gibbsppl.bugs.syntax import BugsError
from gibbsppl.errors import did_you_mean
from gibbsppl.evaluation import evaluate
from gibbsppl.expressions import leaves_of
from gibbsppl.graph import Deterministic, Graph, Range
from gibbsppl.language.model import Model

Floats = NDArray[np.float64]


def read_inits(source: str | Path | Mapping[str, Any], model: Model) -> dict[str, Floats]:
    """Initial values of one chain, as ``sample(init=...)`` takes them; NaN where there is none.

    ``source`` is a text, the path of a file, or arrays by name, in the forms of `read_bugs`'s data,
    under the names of the program: labels count from 1. ``NA`` leaves an element to be found. For
    several chains, pass a list of what this returns for each. Settings of JAGS's random numbers
    (``.RNG.seed``) are left out: ``sample(seed=...)`` has them here.

    Raises `BugsError` for a name that is not drawn, and for arrays of another shape.

    >>> from gibbsppl.bugs.read import read_bugs
    >>> text = "model { z ~ dcat(p[]); y ~ dnorm(m[z], 1); for (k in 1:2) { m[k] ~ dnorm(0, 1) } }"
    >>> mixture = read_bugs(text, {"p": [0.5, 0.5], "y": 0.3})
    >>> {n: a.tolist() for n, a in read_inits("z <- 2  m <- c(NA, 1)", mixture).items()}
    {'z.label': 1.0, 'm': [nan, 1.0]}
    """
    origin = source.name if isinstance(source, Path) else "initial values"
    graph, found = model.graph, {}
    for name, given in read_data(source).items():
        own, values = _in_model(graph, model.data, name, given, origin)
        found[own] = values
    return found


def _in_model(
    graph: Graph, data: Mapping[str, Any], name: str, given: Any, origin: str
) -> tuple[str, Floats]:
    """The model's array and its values."""
    values = np.ma.filled(np.ma.masked_array(given, dtype=np.float64), np.nan)
    latent = {s.target.array.name for s in graph.latent}
    quantity = next((d for d in graph.deterministics if d.name == name), None)
    if name in latent:
        _check_shape(graph, name, graph.variables[name].dims, values, origin)
        return name, values
    if quantity is None:
        raise BugsError(_why_not(graph, data, name), origin=origin)
    _check_shape(graph, name, quantity.dims, values, origin)
    for own in dict.fromkeys(leaf.array.name for leaf in leaves_of(quantity.value)):
        if own in latent and own.startswith(f"{name}."):
            return own, _scattered(graph, data, quantity, own, values, origin)
    raise BugsError(
        f"{name}: found initial values of a quantity that is computed; give them for the random "
        "variables that it is computed from.",
        origin=origin,
    )


def _check_shape(
    graph: Graph, name: str, dims: tuple[Any, ...], values: Floats, origin: str
) -> None:
    shape = tuple(graph.sizes[d] for d in dims)
    if values.shape != shape:
        raise BugsError(
            f"{name}: found initial values of shape {values.shape}, expected {shape}, NA where "
            "there is none.",
            origin=origin,
        )


def _why_not(graph: Graph, data: Mapping[str, Any], name: str) -> str:
    if name in data:
        return f"{name}: found initial values of what the data say; leave them out."
    known = [n.partition(".")[0] if n not in graph.variables else n for n in graph.variables]
    meant = did_you_mean(name, known)
    drawn = ", ".join(dict.fromkeys(s.target.array.name for s in graph.latent))
    return f"{name}: found initial values, but only {drawn} are drawn.{meant}"


def _scattered(
    graph: Graph,
    data: Mapping[str, Any],
    quantity: Deterministic,
    own: str,
    values: Floats,
    origin: str,
) -> Floats:
    """The values of a quantity at the elements of the array of which they are readings."""
    variable = graph.variables[own]
    shape = tuple(graph.sizes[d] for d in variable.dims)
    size = int(np.prod(shape))
    over = tuple(Range(d, 0, graph.sizes[d]) for d in quantity.dims)
    others = {
        n: np.ones([graph.sizes[d] for d in v.dims])
        for n, v in graph.variables.items()
        if n not in data
    }

    def at(numbers: Any) -> Floats:
        here = {**others, **data, own: np.reshape(numbers, shape).astype(float)}
        found = evaluate(quantity.value, over, here, graph.sizes)
        return np.broadcast_to(found, values.shape)

    # Positions, counted from 0, that a second numbering of the elements confirms.
    shift = at(np.zeros(size))
    places, turned = at(np.arange(size)) - shift, np.arange(size)[::-1]
    with np.errstate(invalid="ignore"):
        inside = (places >= 0) & (places < size) & (places == np.rint(places))
    at_place = np.where(inside, places, 0).astype(int)
    inside &= at(turned) - shift == turned[at_place]
    asked = ~np.isnan(values)
    if (asked & ~inside).any():
        first = tuple(int(k) + 1 for k in np.argwhere(asked & ~inside)[0])
        element = f"{quantity.name}[{', '.join(map(str, first))}]" if first else quantity.name
        raise BugsError(
            f"{element}: found an initial value of an element that is not drawn; give NA there.",
            origin=origin,
        )
    result = np.full(size, np.nan)
    result[at_place[asked]] = (values - shift)[asked]
    return result.reshape(shape)
