"""Lines along which values with tied entries move, as in `gibbsppl.runtime.tied`.

Each line has three kernels. ``..._ends(x, k, j, out)`` tells whether entry ``k`` moves together
with ``j`` (1 or 0), and between which ends; ``..._at(x, k, j, t, out)`` is the point at ``t`` of
the line through ``x``; ``..._slope(new, k, j, t)`` the log Jacobian of the map to that point.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, inf, sin

from gibbsppl.runtime.types import Floats, Generator

from . import kernel
from .copies import copied
from .elementary import exp_of, expit, log_of

APART: Mapping[str, str] = {}


@kernel
def partner(rng: Generator, k: int, size: int) -> int:
    """Another of so many entries, chosen at random; the same where it is alone."""
    if size == 1:
        return k
    return (k + 1 + int(rng.integers(0, size - 1, 1)[0])) % size


@kernel
def shared_out_ends(x: Floats, k: int, j: int, out: Floats) -> None:
    """Shares of zero stay so."""
    out[0] = 1.0 if k != j and x[k] > 0 and x[j] > 0 else 0.0
    out[1], out[2] = -inf, inf


@kernel
def shared_out_at(x: Floats, k: int, j: int, t: float, out: Floats) -> None:
    """The sum of two shares, shared out by the log of their ratio."""
    total, ratio = x[k] + x[j], log_of(x[k]) - log_of(x[j])
    copied(x, out)
    out[k] = total * expit(ratio + t)
    out[j] = total * expit(-(ratio + t))


@kernel
def shared_out_slope(new: Floats, k: int, j: int, t: float) -> float:  # noqa: ARG001
    """The product of the two shares."""
    return log_of(new[k]) + log_of(new[j])


@kernel
def exchanged_ends(x: Floats, k: int, j: int, out: Floats) -> None:
    """No count becomes negative."""
    out[0] = 1.0 if k != j else 0.0
    out[1], out[2] = -float(x[k]), float(x[j])


@kernel
def exchanged_at(x: Floats, k: int, j: int, t: float, out: Floats) -> None:
    """Some of one count given to another."""
    copied(x, out)
    out[k] = x[k] + t
    out[j] = x[j] - t


@kernel
def exchanged_slope(new: Floats, k: int, j: int, t: float) -> float:  # noqa: ARG001
    """Whole numbers have no Jacobian."""
    return 0.0


@kernel
def turned_ends(x: Floats, k: int, j: int, out: Floats) -> None:  # noqa: ARG001
    """Directions turn by any angle."""
    out[0] = 1.0 if k != j else 0.0
    out[1], out[2] = -inf, inf


@kernel
def turned_at(x: Floats, k: int, j: int, t: float, out: Floats) -> None:
    """A direction turned by an angle in the plane of two axes."""
    c, s = cos(t), sin(t)
    copied(x, out)
    out[k] = c * x[k] - s * x[j]
    out[j] = s * x[k] + c * x[j]


@kernel
def turned_slope(new: Floats, k: int, j: int, t: float) -> float:  # noqa: ARG001
    """A turn leaves areas as they are."""
    return 0.0


@kernel
def sheared_ends(x: Floats, k: int, j: int, out: Floats) -> None:  # noqa: ARG001
    """Matrices are sheared or stretched by any number."""
    out[0], out[1], out[2] = 1.0, -inf, inf


@kernel
def sheared_at(x: Floats, k: int, j: int, t: float, out: Floats) -> None:
    """A matrix ``A x A'``, where ``A`` adds a multiple of row j to row k, or stretches row k."""
    copied(x, out)
    scale = exp_of(t)
    for i in range(len(x)):
        out[k, i] = out[k, i] * scale if k == j else out[k, i] + t * out[j, i]
    for i in range(len(x)):
        out[i, k] = out[i, k] * scale if k == j else out[i, k] + t * out[i, j]


@kernel
def sheared_slope(new: Floats, k: int, j: int, t: float) -> float:
    """Of such a map of the symmetric matrices of p rows: ``det(A)**(p + 1)``."""
    return (len(new) + 1) * t if k == j else 0.0
