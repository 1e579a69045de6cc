"""A factor of q as one would write it: a family with its parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gibbsppl.algebra.expressions import Dim, Expr, Leaf
from gibbsppl.algebra.ranges import Range
from gibbsppl.derive.inversion import inversion_of
from gibbsppl.model.evaluation import Floats, evaluate
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.steps import Step

# Digits of printed parameters.
DIGITS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A factor of q: the name of its family, and its parameters, arrays over the dims of values.

    Parameters are attributes, too: ``fit.factor("tau").rate``.
    """

    family: str
    parameters: Mapping[str, Floats]

    def __getattr__(self, name: str) -> Floats:
        if name in self.parameters:
            return self.parameters[name]
        raise AttributeError(f"{self.family} has no {name!r}, but {', '.join(self.parameters)}")

    def __repr__(self) -> str:
        inside = ", ".join(f"{n}={_shown(v)}" for n, v in self.parameters.items())
        return f"{self.family}({inside})"


def _shown(value: Floats) -> str:
    """A number, or an array of a few."""
    if np.ndim(value) == 0:
        return f"{float(value):.{DIGITS}g}"
    with np.printoptions(precision=DIGITS, threshold=6, edgeitems=2):
        return str(np.array2string(np.asarray(value), separator=", ")).replace("\n", "")


def factor_of(fit: Any, step: Step) -> Factor:
    """The factor of a step: by the parameters of its family where these are solved for."""
    if step.labels is not None:
        return Factor("labels", {"p": fit.probabilities(step.variables[0])})
    if isinstance(step, FamilyDraw) and not step.statement.event and not step.dense:
        found = _parameters(fit, step)
        if found:
            return Factor(step.owner, found)
    names: dict[str, Floats] = {}
    for name in step.variables:
        own = "" if len(step.variables) == 1 else f"_{name}"
        names |= {f"mean{own}": fit.mean(name), f"sd{own}": fit.sd(name)}
    return Factor(step.owner, names)


def _parameters(fit: Any, step: FamilyDraw) -> dict[str, Floats]:
    """The parameters of a row of scalars, from its natural parameters."""
    given = fit.program.given_rest[step.name](fit.state, fit.constants)
    inversion = inversion_of(step.conditional.family)
    if inversion.equations:
        return {}
    count = len(step.parameters)
    values = {f"eta_{j}": np.asarray(g, dtype=float) for j, g in enumerate(given[:count], 1)}
    found = {}
    for name, formula in inversion.solved:
        if {x.array.name for x in formula.atoms(Leaf)} <= values.keys():
            found[name] = _by_element(formula, values)
    for name, value in step.conditional.known:
        sizes = fit.schedule.graph.sizes
        found[name] = np.asarray(evaluate(value, step.statement.over, fit.data, sizes))
    return found


def _by_element(formula: Expr, values: Mapping[str, Floats]) -> Floats:
    """A formula of natural parameters, element by element."""
    shape = np.broadcast_shapes(*(np.shape(v) for v in values.values()))
    flat = {n: np.broadcast_to(v, shape).ravel() for n, v in values.items()}
    element = Dim("element")
    own = {x: x.array[element] for x in formula.atoms(Leaf)}
    over = (Range(element, 0, math.prod(shape)),)
    found = evaluate(formula.xreplace(own), over, flat, {element: math.prod(shape)})
    return np.broadcast_to(np.asarray(found, dtype=float), math.prod(shape)).reshape(shape)
