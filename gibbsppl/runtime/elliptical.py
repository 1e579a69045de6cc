"""Elliptical slice sampling: moves along an ellipse through the current value and a normal draw.

I. Murray, R. P. Adams and D. J. C. MacKay (2010, AISTATS, JMLR Workshop and Conference Proceedings
9, 541-548). The normal distribution may be any: what the log density has besides it says where the
move ends (R. Nishihara, I. Murray and R. P. Adams, 2014, Journal of Machine Learning Research 15).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gibbsppl.errors import RunError
from gibbsppl.runtime.joint import Given, Joint
from gibbsppl.runtime.pencils import Pencil, Scaled
from gibbsppl.runtime.types import Floats, Generator, LogDensity, Numbers, State

# An arc that is left after so many cuts holds the current value alone.
SHORTEST = 1e-12


@np.errstate(all="ignore")  # what is not a number, or overflows, is outside of the slice
def elliptical_slice(
    rng: Generator,
    s: State,
    name: str,
    split: tuple[LogDensity, Given | Scaled],
    normal: Joint | Pencil,
    *,
    by_element: bool = False,
) -> Numbers:
    """The array of that name in a state, moved along an ellipse about the mean of its normal part.

    ``normal`` is that part; ``split`` has the log density without it, and its coefficients. Where
    the elements of the normal part are independent, and the log density is ``by_element``, each
    moves along an ellipse of its own.
    """
    log_density, given = split
    joint = normal if isinstance(normal, Joint) else normal.joint
    mean, noise = normal.normal(rng, s, given)  # type: ignore[arg-type]  # (those of its kind)
    now = joint.flat({name: s[name]})
    apart = by_element and not joint.pairs

    def rest(x: Floats) -> Floats:
        """The log density besides the normal one."""
        found = np.asarray(log_density(joint.placed(s, x)[name]), dtype=float)
        if not apart:
            return found.sum()
        return joint.flat({name: np.broadcast_to(found, joint.shapes[name])})

    return joint.placed(s, along_ellipses(rng, now, mean, noise, rest, apart=apart))[name]


def along_ellipses(
    rng: Generator,
    x: Floats,
    mean: Floats,
    noise: Floats,
    log_density: Callable[[Floats], Floats],
    *,
    apart: bool,
) -> Floats:
    """The vector moved along an ellipse, or each of its elements along one of its own (``apart``).

    ``log_density`` is one number then for each element.
    """
    shape: tuple[int, ...] = x.shape if apart else (1,)
    level = log_density(x) - rng.standard_exponential(shape)
    if not (level > -np.inf).all():
        raise RunError("elliptical slice: the current value has no finite log density.")
    angle = rng.uniform(0, 2 * np.pi, shape)
    low, high = angle - 2 * np.pi, angle.copy()
    new, waiting = x.copy(), np.ones(shape, dtype=bool)
    while waiting.any():
        tried = mean + (x - mean) * np.cos(angle) + noise * np.sin(angle)
        tried = np.where(waiting, tried, new)
        accepted = waiting & (log_density(tried) >= level)
        new = np.where(accepted, tried, new)
        waiting &= ~accepted
        low, high = np.where(angle < 0, angle, low), np.where(angle < 0, high, angle)
        waiting &= high - low > SHORTEST
        angle[waiting] = rng.uniform(low[waiting], high[waiting])
    return new
