"""Initial values of BUGS and JAGS for a model of `read_bugs`.

Comes in: values by the program's names. Goes out: arrays by the model's names. An array that the
model holds in another form (labels from 0, a table of rows, drawn elements only) is recorded under
the program's name as a quantity; evaluating the quantity finds where an element equals an element
of one array plus a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gibbsppl.algebra.expressions import Dim, leaves_of
from gibbsppl.algebra.ranges import Range
from gibbsppl.arguments import MODEL, POSITIVE, GivenArray, calls_told
from gibbsppl.bugs.data import read_data
from gibbsppl.bugs.documents import document_of
from gibbsppl.bugs.grids import Array, Data
from gibbsppl.bugs.parse import is_program, parsed
from gibbsppl.bugs.sources import read_source
from gibbsppl.bugs.syntax import BugsError
from gibbsppl.errors import ModelError, did_you_mean
from gibbsppl.language.model import Model
from gibbsppl.model.evaluation import Floats, evaluate
from gibbsppl.model.graph import Deterministic, Graph


@calls_told(ModelError, model=MODEL, chain=POSITIVE)
def read_inits(
    source: str | Path | Mapping[str, GivenArray], model: Model, chain: int = 1
) -> dict[str, Floats]:
    """Initial values of one chain, as ``sample(init=...)`` takes them; NaN where there is none.

    ``source`` is a text, the path of a file, or arrays by name, in the forms of `read_bugs`'s data,
    under the names of the program: labels count from 1. ``NA`` leaves an element to be found. For
    several chains, pass a list of what this returns for each; of a compound document (a program
    with its data and initial values after it) ``chain`` says whose list is read. Settings of JAGS's
    random numbers (``.RNG.seed``) are left out: ``sample(seed=...)`` has them here.

    Raises `BugsError` for a name that is not drawn, and for arrays of another shape.

    >>> from gibbsppl.bugs.read import read_bugs
    >>> text = "model { z ~ dcat(p[]); y ~ dnorm(m[z], 1); for (k in 1:2) { m[k] ~ dnorm(0, 1) } }"
    >>> mixture = read_bugs(text, {"p": [0.5, 0.5], "y": 0.3})
    >>> {n: a.tolist() for n, a in read_inits("z <- 2  m <- c(NA, 1)", mixture).items()}
    {'z.label': 1.0, 'm': [nan, 1.0]}
    """
    origin = source.name if isinstance(source, Path) else "initial values"
    graph, found = model.graph, dict[str, Floats]()
    for name, given in _given(source, chain).items():
        for own, values in _in_model(model, graph, name, given, origin).items():
            both = found.get(own, np.full(values.shape, np.nan))
            found[own] = np.where(np.isnan(values), both, values)
    return found


def _given(source: str | Path | Mapping[str, GivenArray], chain: int) -> Data:
    """The initial values of a chain, under the names of the program."""
    if isinstance(source, Mapping):
        return read_data(source)
    text = read_source(source)
    if not is_program(text):
        return read_data(source)
    inits = document_of(parsed(text)).inits
    if not 0 < chain <= len(inits):
        raise BugsError(
            f"found initial values of {len(inits)} chains after the program, expected those of "
            f"chain {chain}: Inits, and a list(...) for each chain.",
            origin=text.origin,
        )
    return inits[chain - 1]


def _in_model(
    model: Model, graph: Graph, name: str, given: Array, origin: str
) -> dict[str, Floats]:
    """Initial values of a quantity by array of the model: the quantity's, or those of parts."""
    data = model.data
    values = np.ma.filled(np.ma.masked_array(given, dtype=np.float64), np.nan)
    latent = set(graph.drawn)
    quantity = next((d for d in graph.deterministics if d.name == name), None)
    if name in latent:
        _check_shape(graph, name, graph.variables[name].dims, values, origin)
        return {name: values}
    if model.reading is not None and name in model.reading.ordered:
        own = model.reading.ordered[name]
        _check_shape(graph, name, graph.variables[own].dims, values, origin)
        return {own: np.sort(values)}
    if quantity is None:
        raise BugsError(_why_not(graph, data, name), origin=origin)
    _check_shape(graph, name, quantity.dims, values, origin)
    read = dict.fromkeys(leaf.array.name for leaf in leaves_of(quantity.value))
    owners = [n for n in read if n in latent and n.startswith(f"{name}.")]
    if not owners:
        raise BugsError(
            f"{name}: found initial values of a quantity that is computed; give them for the "
            "random variables that it is computed from.",
            origin=origin,
        )
    left, found = ~np.isnan(values), {}
    for own in owners:
        places, inside, shift = _places(graph, data, quantity, own, values.shape)
        asked = left & inside
        array = np.full(int(np.prod(_shape(graph, own))), np.nan)
        array[places[asked]] = (values - shift)[asked]
        found[own], left = array.reshape(_shape(graph, own)), left & ~inside
    for at in np.argwhere(left)[:1]:
        indices = ", ".join(str(int(k) + 1) for k in at)
        raise BugsError(
            f"{name}{f'[{indices}]' if indices else ''}: found an initial value of an element that "
            "is not drawn; give NA there.",
            origin=origin,
        )
    return found


def _shape(graph: Graph, name: str) -> tuple[int, ...]:
    return tuple(graph.sizes[d] for d in graph.variables[name].dims)


def _check_shape(
    graph: Graph, name: str, dims: tuple[Dim, ...], values: Floats, origin: str
) -> None:
    shape = tuple(graph.sizes[d] for d in dims)
    if values.shape != shape:
        raise BugsError(
            f"{name}: found initial values of shape {values.shape}, expected {shape}, NA where "
            "there is none.",
            origin=origin,
        )


def _why_not(graph: Graph, data: Data, name: str) -> str:
    if name in data:
        return f"{name}: found initial values of what the data say; leave them out."
    known = [n.partition(".")[0] if n not in graph.variables else n for n in graph.variables]
    meant = did_you_mean(name, known)
    drawn = ", ".join(graph.drawn)
    return f"{name}: found initial values, but only {drawn} are drawn.{meant}"


def _places(
    graph: Graph,
    data: Data,
    quantity: Deterministic,
    own: str,
    shape: tuple[int, ...],
) -> tuple[NDArray[np.intp], NDArray[np.bool_], Floats]:
    """For each element of a quantity, the position of the element of array ``own`` read there.

    The positions, counted from 0 in order; a mask of where there is one; the number added to the
    element of ``own``.
    """
    size = int(np.prod(_shape(graph, own)))
    over = tuple(Range(d, 0, graph.sizes[d]) for d in quantity.dims)
    others = {n: np.ones(_shape(graph, n)) for n in graph.variables if n not in data}

    def at(numbers: Array) -> Floats:
        here = {**others, **data, own: np.reshape(numbers, _shape(graph, own)).astype(float)}
        return np.broadcast_to(evaluate(quantity.value, over, here, graph.sizes), shape)

    # Positions, counted from 0, that a second numbering of the elements confirms.
    # (where they stand in a quotient, that of zero is no number)
    turned = np.arange(size)[::-1]
    with np.errstate(invalid="ignore"):
        shift = at(np.zeros(size))
        found = at(np.arange(size)) - shift
        inside = (found >= 0) & (found < size) & (found == np.rint(found))
        places = np.where(inside, found, 0).astype(int)
        return places, inside & (at(turned) - shift == turned[places]), shift
