"""Whether conditionals have a finite integral at a state: if one has none, nor has the posterior.

Comes in: a derivation, of which what `drawn_from` lists is looked at, its program, a state. Goes
out: nothing, or an error that names the variable and the element.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from gibbsppl.algebra.ranges import Range
from gibbsppl.code.program import Constants, Program
from gibbsppl.errors import RunError, StartError
from gibbsppl.initial.drawn_from import Derived, OfDensity, OfFamily, OfSeveral
from gibbsppl.initial.rooms import Rooms
from gibbsppl.initial.separation import EPSILON, Direction, direction_of
from gibbsppl.model.evaluation import Floats, Sizes, Values, evaluate
from gibbsppl.model.graph import Graph
from gibbsppl.model.operations import Bools
from gibbsppl.model.stand_ins import with_stand_ins
from gibbsppl.runtime.by_rows import jointly_in
from gibbsppl.runtime.in_parts import InParts
from gibbsppl.runtime.joint import Joint
from gibbsppl.runtime.layouts import MODERATE
from gibbsppl.runtime.pencils import LEAST, pencil_in
from gibbsppl.runtime.types import LogDensity

if TYPE_CHECKING:
    from gibbsppl.schedule.sweeps import Schedule

# The largest power of two that is looked at.
FARTHEST = 1019
# So many numbers of matrices are looked at together.
PART = 1 << 18
# Of so many elements that nearly coincide, names are told.
MOST_NAMED = 6


@np.errstate(all="ignore")  # what is not finite is looked for
def check_proper(
    derived: Derived,
    program: Program,
    constants: Constants,
    state: Values,
    first: bool = True,
    rooms: Rooms | None = None,
) -> None:
    """Raise an error where the conditional of a step, given the state, cannot be normalised.

    So too where, at the ``first`` state that is looked at, the log density of the model as
    declared, ``graph``, does not fall in some direction. It is a `StartError` where the state may
    be the reason: what is no number, or a precision that rounding alone may have made singular.
    ``rooms`` are loops that look at many blocks.
    """
    graph, data, looked = derived.graph, derived.known, derived.looked_at
    values = {**data, **state}
    for step in looked.steps:
        match step:
            case OfFamily() if step.dense and rooms and rooms.in_all(derived, step, values):
                continue
            case OfFamily():
                _check_family(graph, step, looked.sizes, program, constants, data, state)
            case OfSeveral():
                apart = with_stand_ins(step.stand_ins, values, looked.sizes)
                _check_joint(graph, step, program, constants, apart, values)
    found = direction_of(graph, values) if first else None
    if found is not None:
        raise _improper(found)
    if first and not _is_at_zero(graph, values):
        for step in looked.steps:
            # (a density that no family owns may be flat far out)
            if isinstance(step, OfDensity) and step.is_flat:
                given = program.given_rest[step.name]({**state}, constants)
                _check_far_out(derived.schedule, step, given, data, state)


def _check_family(
    graph: Graph,
    step: OfFamily,
    sizes: Sizes,
    program: Program,
    constants: Constants,
    data: Values,
    state: Values,
) -> None:
    """Raise an error where natural parameters are outside of the domain of their family."""
    values = {**data, **state}
    apart = with_stand_ins(step.stand_ins, values, sizes) if step.stand_ins else state
    try:
        given = program.given_rest[step.name]({**apart}, constants)
    except (ZeroDivisionError, OverflowError) as caught:  # (of plain numbers)
        raise StartError(_too_extreme(step.name)) from caught
    etas = given if isinstance(given, tuple) else (given,)
    bounds: tuple[Floats, ...] = ()
    if step.is_bounded:
        etas, bounds = etas[:-2], etas[-2:]
    margin = (
        _of_block(step, etas) if step.dense else _of_family(step, sizes, etas, bounds, data, state)
    )
    if margin is not None and np.isnan(margin).any():
        found = direction_of(graph, values)
        raise StartError(_too_extreme(step.name)) if found is None else _improper(found)
    if margin is not None and not (margin > 0).all():
        along = direction_of(graph, values)
        error = StartError if step.dense and along is None else RunError
        raise error(_message(step, etas, margin, along))


def _check_joint(
    graph: Graph,
    step: OfSeveral,
    program: Program,
    constants: Constants,
    state: Values,
    values: Values,
) -> None:
    """Raise an error where what is drawn jointly has no positive definite precision."""
    joint = jointly_in(constants, step.name)
    given = program.given_rest[step.name]({**state}, constants)
    if not all(np.isfinite(v).all() for v in joint.assembled(state, given)):
        raise StartError(_too_extreme(step.name))
    near = ""
    try:
        near = _nearly_coinciding(joint, state, given) if isinstance(joint, Joint) else ""
        mean = joint.mean(state, given)
        if step.name in program.scaled:
            scaled = program.scaled[step.name]({**state}, constants)
            pencil_in(constants, step.name).scaled(scaled[1])
        if not near and all(np.isfinite(v).all() for v in mean.values()):
            return
    except np.linalg.LinAlgError:
        pass
    found = "has a precision matrix that is not positive definite"
    along = direction_of(graph, values)
    if along is None:
        raise StartError(
            f"{step.name}: the conditional of {step.name}, drawn jointly, {found} as a number at "
            f"the values that were found for a start{near}. Centre columns that nearly coincide; "
            "pass other values with init={...} if these are too far apart; or give one of the "
            "variables a proper prior, or data that determine it, if the posterior is improper."
        )
    raise RunError(
        f"{step.name}: the posterior is improper: the conditional of {step.name}, drawn jointly, "
        f"{found}, and no finite integral: {_told(along)}; give one of them a proper prior, or "
        "data that determine it."
    )


def check_proper_as_usual(
    derived: Derived, compiled: Callable[[], Any], state: Values, first: bool
) -> None:
    """Check variables with a kernel of the user's to be proper, by their default draws.

    ``compiled`` makes the sampler without kernels of the user's, for the ``first`` state alone.
    """
    if first and derived.looked_at.is_moved_as_asked:
        usual, values = compiled(), copy.deepcopy(dict(state))
        usual.program.augment(np.random.default_rng(0), values, usual.constants)
        check_proper(usual.derivation, usual.program, usual.constants, values, first=False)


def _is_at_zero(graph: Graph, values: Values) -> bool:
    """Whether a real value is exactly zero, as given values may be: zeros hide coefficients."""
    names = {s.target.array.name for s in graph.latent if s.support.kind in ("real", "vector")}
    return any((np.asarray(values[n]) == 0).any() for n in names if n in values)


def _check_far_out(
    schedule: Schedule, step: OfDensity, given: LogDensity, data: Values, state: Values
) -> None:
    """Raise an error where a constant prior leaves a log density that hardly falls, far out.

    All elements go out at once where each has terms of its own that see no other.
    """
    from gibbsppl.schedule.densities import log_terms_of  # noqa: PLC0415  (few models come here)
    from gibbsppl.schedule.kinds import DensityDraw  # noqa: PLC0415

    name, sizes, drawing = step.array, schedule.whole.sizes, schedule.step(step.name)
    x, region = np.asarray(state[name], float), step.region
    support = next(s for s in drawing.statements if s.target.array.name == name).support
    drawn = _is_drawn(step, data, x.shape)
    is_single = isinstance(drawing, DensityDraw)
    apart = is_single and drawing.colours is None and not drawing.is_by_element
    chosen = [drawn] if apart else [_alone(place, x.shape) for place in np.argwhere(drawn)]
    shape = (x[region].size,) if apart else (1,)

    def log_density(power: Floats, places: Bools, side: float) -> Floats:
        """The log density of each element, or of all together, that many powers of two away."""
        away = np.zeros(x.shape)
        away[region] = np.reshape(side * 2.0**power, x[region].shape if apart else ())
        values = {**data, **state, name: np.where(places, x + away, x)}
        try:
            terms = log_terms_of(drawing, given, values, sizes)
        except ArithmeticError:  # (where Python's own numbers end)
            return np.full(shape, np.nan)
        return np.asarray(terms.reshape(-1, *shape).sum(axis=0))

    for side in [s for s in (-1.0, 1.0) if s * sp.oo in (support.lower, support.upper)]:
        for places in chosen:
            found = _hardly_falls(partial(log_density, places=places, side=side), shape)
            level = places.copy()
            level[region] &= found.reshape(x[region].shape if apart else ())
            if level.any():
                raise RunError(_hardly_falling(name, np.argwhere(level)[0], side))


def _hardly_falling(name: str, place: np.ndarray, side: float) -> str:
    element = name + (f"[{', '.join(map(str, place))}]" if len(place) else "")
    return (
        f"{name}: the posterior is improper: as {element} goes to "
        f"{'' if side > 0 else '-'}infinity, all else given, its log density falls no faster than "
        f"that of 1/|{element}|, which has no finite integral; give {name} a proper prior, or data "
        "that determine it."
    )


def _alone(place: np.ndarray, shape: tuple[int, ...]) -> Bools:
    """One element as a mask."""
    found = np.zeros(shape, dtype=bool)
    found[tuple(place)] = True
    return found


def _hardly_falls(log_density: Callable[[Floats], Floats], shape: tuple[int, ...]) -> Bools:
    """Whether functions of powers of two fall by at most log(2) at the largest finite power.

    >>> _hardly_falls(lambda power: -power * np.log(2.0), ())  # 1/x has no integral
    np.True_
    >>> _hardly_falls(lambda power: np.where(power < 600, -1.1 * power * np.log(2.0), np.nan), ())
    np.False_
    """
    low, high = np.zeros(shape), np.full(shape, float(FARTHEST))
    low = np.where(log_density(high) < np.inf, high, low)
    while ((apart := high - low) > 1).any():
        middle = low + np.floor(apart / 2)
        is_number = log_density(middle) < np.inf
        low, high = np.where(is_number, middle, low), np.where(is_number, high, middle)
    last, before = log_density(low), log_density(low - 1)
    rounded = EPSILON * (np.abs(last) + np.abs(before))
    slow: Bools = last - before >= -np.log(2.0) - rounded
    return (low >= 1) & (last > -np.inf) & slow


def _improper(found: Direction) -> RunError:
    """The message for a posterior that does not fall along a direction."""
    return RunError(
        f"{found.arrays[0]}: the posterior is improper: {_told(found)}, so that it has no finite "
        f"integral; give {' or '.join(found.arrays)} a proper prior, or data that determine it."
    )


def _told(found: Direction) -> str:
    """What a direction means."""
    if found.level and len(found.elements) == 1:
        return f"no term of the log density depends on {found}"
    if found.level:
        return f"no term of the log density changes along {found}, as columns are collinear"
    return (
        f"no term of the log density falls along {found}, however far, as outcomes are separated "
        "or all alike"
    )


def _of_family(
    step: OfFamily,
    sizes: Sizes,
    etas: Sequence[Floats],
    bounds: Sequence[Floats],
    data: Values,
    state: Values,
) -> Floats | None:
    """The least, by element, of an expression that must be positive for there to be a density.

    Of elements between ``bounds``, those count that these do not narrow: bounds may make any
    natural parameters proper.
    """
    if not step.domain:
        return None
    shape = tuple(sizes[a] for a in step.axes)
    numbers = zip(step.names, (*etas, *bounds), strict=True)
    full = {n: np.broadcast_to(e, shape) for n, e in numbers}
    over = tuple(Range(a, 0, sizes[a]) for a in step.axes)
    values = {**data, **state, **full}
    inside = [np.broadcast_to(evaluate(d, over, values, sizes), shape) for d in step.domain]
    least = np.minimum.reduce(inside)
    free = _is_drawn(step, data, shape)
    if bounds:
        free = free & ~_narrowed(step.ends, *(full[n] for n in step.names[-2:]))
    return np.where(free, least, np.inf)


def _narrowed(
    ends: tuple[float | None, float | None], lower: Floats, upper: Floats
) -> Bools:
    """Whether bounds narrow a family's support, by element; an end at a parameter is anywhere."""
    least, most = ends
    no = np.zeros(lower.shape, dtype=bool)
    return (no if least is None else lower > least) | (no if most is None else upper < most)


def _is_drawn(
    step: OfFamily | OfDensity, data: Values, shape: tuple[int, ...]
) -> Bools:
    """Which elements of its array a step draws."""
    drawn = np.zeros(shape, dtype=bool)
    drawn[step.region] = True
    return drawn if step.mask is None else drawn & (np.asarray(data[step.mask]) == 0)


def _of_block(step: OfFamily, etas: Sequence[Floats]) -> Floats:
    """The smallest eigenvalue of the precision of each block; infinite of what is not drawn."""
    margin = np.full(etas[1].shape[:-2], np.inf)
    margin[step.drawn] = _least_eigenvalues(etas[1])[step.drawn]
    return margin


def _least_eigenvalues(eta_2: Floats | InParts) -> Floats:
    """The least eigenvalues of precision matrices, scaled to unit diagonals; 0 within rounding.

    NaN for a matrix that is not finite. Of many matrices, part after part: each is copied.
    """
    if isinstance(eta_2, InParts):
        return np.concatenate([_least_of(eta_2.rows(*at)) for at in eta_2.parts()])
    matrices = eta_2.reshape(-1, *eta_2.shape[-2:])
    step = max(1, PART // max(1, matrices[:1].size))
    parts = (matrices[n : n + step] for n in range(0, max(1, len(matrices)), step))
    return np.concatenate([*map(_least_of, parts)]).reshape(eta_2.shape[:-2])


def _least_of(eta_2: Floats) -> Floats:
    finite = np.isfinite(eta_2).all(axis=(-2, -1))
    safe = np.where(np.asarray(finite)[..., None, None], eta_2, 0.0)
    values = np.linalg.eigvalsh(in_own_units(-(safe + np.swapaxes(safe, -2, -1))))
    least, largest = np.where(finite, values[..., 0], np.nan), values[..., -1]
    beyond = np.isnan(least) | (least > LEAST * values.shape[-1] * np.abs(largest))
    return np.asarray(np.where(beyond, least, 0.0))


def _nearly_coinciding(joint: Joint, state: Values, given: Any) -> str:
    """What is said of elements that rounding cannot tell apart, in blocks of a moderate size."""
    order = joint.border + max((g.shape[1] for g in joint.layout.groups), default=0)
    if joint.size > MODERATE and (joint.layout.kind != "blocks" or order > MODERATE):
        return ""  # (what is smooth along a long chain is next to nothing there, and exact)
    least, vector = joint.weakest(dict(state), given)
    if least > LEAST * order:
        return ""
    return _along(joint.elements, vector)


def _along(names: Sequence[str], vector: NDArray[np.floating]) -> str:
    most = np.flatnonzero(np.abs(vector) > np.abs(vector).max() / 2).tolist()
    told = " and ".join(names[k] for k in most[:MOST_NAMED])
    return f": what multiplies {told} nearly coincides"


def in_own_units(precision: Floats) -> Floats:
    """Precision matrices in units of each element that make its precision 1."""
    diagonal = np.diagonal(precision, axis1=-2, axis2=-1)
    unit = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    return np.asarray(precision * unit[..., :, None] * unit[..., None, :])


def _too_extreme(name: str) -> str:
    """What is said of a state at which arithmetic overflows."""
    return (
        f"{name}: the values that were found for a start are too extreme: those of what {name} is "
        f"drawn from are not all finite numbers; pass values near the data with init={{...}}, or "
        "rescale the data."
    )


def _message(
    step: OfFamily,
    etas: Sequence[Floats],
    margin: Floats,
    found_along: Direction | None,
) -> str:
    name = step.array
    at = tuple(int(i) for i in np.argwhere(~(margin > 0))[0])
    where = f" at {at if len(at) > 1 else at[0]}" if at else ""
    family = step.family
    if step.dense:
        found = "a precision matrix that is not positive definite"
    else:
        shown = (np.broadcast_to(e, margin.shape)[at] for e in etas)
        found = f"natural parameters ({', '.join(f'{float(v) + 0.0:g}' for v in shown)})"
    along = "" if found_along is None else f": {_told(found_along)}"
    if step.dense and found_along is None:
        block = etas[1][at]
        names = [f"{name}[{', '.join(map(str, (*at, k)))}]" for k in range(len(block))]
        vector = np.linalg.eigh(in_own_units(-(block + block.T)))[1][:, 0]
        return (
            f"{name}: the conditional of {name}{where} would be {family} with {found} as a "
            f"number{_along(names, vector)}. Centre columns that nearly coincide; or give it a "
            "proper prior, or data that determine it, if the posterior is improper."
        )
    return (
        f"{name}: the posterior is improper: the conditional of {name}{where} would be {family} "
        f"with {found}, which has no finite integral{along}; give it a proper prior, or data that "
        "determine it."
    )
