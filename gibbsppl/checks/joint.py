"""The exact checks of a joint draw: the drawn elements, the mean, and the precision matrix.

That the coefficients are those of the joint density is checked as for any step. Their positions in
the precision matrix are checked here: about the mean of the draw a quadratic log density is even,

    log_joint(mean + d) == log_joint(mean - d)

for any change ``d`` of the drawn elements, and about no other point.
"""

from __future__ import annotations

import numpy as np

from gibbsppl.checks.terms import Given, Terms, size_of
from gibbsppl.code.program import State
from gibbsppl.model.density import free_elements
from gibbsppl.model.evaluation import Sizes, Values
from gibbsppl.model.forward import fill
from gibbsppl.runtime.by_rows import ByRows
from gibbsppl.runtime.joint import Joint
from gibbsppl.runtime.pencils import Pencil, Scaled
from gibbsppl.schedule.steps import Step


def gap_of_joint(
    rng: np.random.Generator,
    step: Step,
    joint: Joint | ByRows,
    given: Given,
    values: Values,
    sizes: Sizes,
    terms: Terms,
) -> tuple[float, float]:
    """How far the log density is from even about the mean, with the size of its terms.

    Infinitely far if other elements are drawn than there are to draw. ``terms`` are those of the
    model. (Where the precision matrix is not positive definite there is no mean;
    the sweeps that `verify` makes stop at it.)
    """
    drawn = to_be_drawn(step, values, sizes)
    if any(not np.array_equal(drawn[n], joint.drawn[n]) for n in step.variables):
        return np.inf, 0.0
    try:
        mean = joint.mean(values, given)
    except np.linalg.LinAlgError:
        return 0.0, 0.0
    squares = {n: np.broadcast_to(given[0][n][1], free.shape) for n, free in drawn.items()}
    own = {n: -2 * v for n, v in squares.items()}
    change = _change(rng, drawn, joint.diagonal(given) if isinstance(joint, ByRows) else own)
    there = _along(values, mean, change, (1.0, -1.0))
    up, down = map(terms.at, there)
    gap = float(abs(up.sum() - down.sum()))
    return gap, terms.size_behind(gap, size_of(up, down), there)


def gap_of_pencil(
    rng: np.random.Generator, pencil: Pencil, scaled: Scaled, values: Values, terms: Terms
) -> tuple[float, float]:
    """How far the log density is from that of a draw by fixed matrices, diagonalised once.

    About the mean ``m`` of the draw, with ``Q`` its precision, for any change ``d``,

        log_joint(m + d) - log_joint(m) == -d' Q d / 2.
    """
    try:
        mean = pencil.mean(values, scaled)
    except np.linalg.LinAlgError:
        return 0.0, 0.0
    joint, precision = pencil.joint, pencil.precision(scaled[1])
    nothing = {name: np.zeros(shape) for name, shape in joint.shapes.items()}
    found = np.diagonal(precision, axis1=1, axis2=2).ravel()[joint.rank]
    diagonal = joint.placed(nothing, found)
    change = _change(rng, joint.drawn, diagonal)
    d = joint.flat(change)[joint.order].reshape(precision.shape[:2])
    length = float((d[:, None, :] @ precision @ d[:, :, None]).sum())
    return _gap_of_square(mean, change, length, values, terms)


def gap_of_normal(
    rng: np.random.Generator,
    step: Step,
    constants: Values,
    given: Given,
    values: Values,
    terms: Terms,
) -> tuple[float, float]:
    """How far a log density is from that of a normal draw of these elements, not up to a scale.

    As `gap_of_pencil`; infinitely far if no draw of a program is of the elements of the step.
    """
    drawn = to_be_drawn(step, values, terms.sizes)
    every = (c.joint if isinstance(c, Pencil) else c for c in constants.values())
    own = (j for j in every if isinstance(j, Joint) and j.arrays == step.variables)
    joint = next((j for j in own if np.array_equal(j.drawn[j.arrays[0]], drawn[j.arrays[0]])), None)
    if joint is None:
        return np.inf, 0.0
    pencils = (c for c in constants.values() if isinstance(c, Pencil) and c.joint is joint)
    pencil = next(pencils, None)
    if pencil is not None:
        return gap_of_pencil(rng, pencil, given, values, terms)
    try:
        mean = joint.mean(values, given)
    except np.linalg.LinAlgError:
        return 0.0, 0.0
    squares = {n: np.broadcast_to(given[0][n][1], free.shape) for n, free in drawn.items()}
    change = _change(rng, drawn, {n: -2 * v for n, v in squares.items()})
    length = joint.distance(given, joint.flat(change))
    return _gap_of_square(mean, change, length, values, terms)


def _gap_of_square(
    mean: Values, change: Values, length: float, values: Values, terms: Terms
) -> tuple[float, float]:
    """How far a log density is from falling by half of a squared length on both sides of a mean."""
    there = _along(values, mean, change, (1.0, 0.0, -1.0))
    up, at, down = map(terms.at, there)
    gap = max(float(abs(side.sum() - at.sum() + length / 2)) for side in (up, down))
    return gap, terms.size_behind(gap, size_of(up, at, down) + length / 2, there)


def _change(
    rng: np.random.Generator, drawn: Values, precisions: Values
) -> State:
    """A change of what is drawn, of the size that the diagonal of a precision matrix says."""
    change = {}
    for name, free in drawn.items():
        scale = np.sqrt(np.maximum(np.asarray(precisions[name], dtype=float), 0))
        noise = rng.standard_normal(free.shape)
        change[name] = np.where(free, noise / np.where(scale > 0, scale, 1.0), 0.0)
    return change


def _along(
    values: Values, mean: Values, change: Values, signs: tuple[float, ...]
) -> list[State]:
    """The values with the drawn elements at a multiple of the change from their mean."""
    at = ({n: mean[n] + sign * d for n, d in change.items()} for sign in signs)
    return [{**values, **moved} for moved in at]


def to_be_drawn(step: Step, values: Values, sizes: Sizes) -> State:
    """The elements of each array to be drawn by a step, as masks."""
    found = {n: np.zeros(np.shape(values[n]), dtype=bool) for n in step.variables}
    for statement in step.statements:
        name = statement.target.array.name
        copy = {**values, name: np.zeros(np.shape(values[name]))}
        fill(statement, free_elements(statement, values, sizes).astype(float), copy, sizes)
        found[name] |= np.asarray(copy[name]) > 0
    return found
