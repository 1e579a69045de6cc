"""Lines along which values with tied entries move, as in `gibbsppl.runtime.tied`.

Each line has three kernels. Of a line through two entries ``x`` and ``y`` of a vector,
``..._ends(k, j, x, y, out)`` tells whether entry ``k`` moves together with ``j`` (1 or 0), and
between which ends; ``..._at(x, y, t, out)`` are the two entries at ``t``; ``..._slope(x, y, t)`` is
the log Jacobian of the map to these. Those of a matrix have the matrix before its entry ``k, j``.
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
def shared_out_ends(k: int, j: int, x: float, y: float, out: Floats) -> None:
    """Shares of zero stay so."""
    out[0] = 1.0 if k != j and x > 0 and y > 0 else 0.0
    out[1], out[2] = -inf, inf


@kernel
def shared_out_at(x: float, y: float, t: float, out: Floats) -> None:
    """The sum of two shares, shared out by the log of their ratio."""
    ratio = log_of(x) - log_of(y)
    out[0] = (x + y) * expit(ratio + t)
    out[1] = (x + y) * expit(-(ratio + t))


@kernel
def shared_out_slope(x: float, y: float, t: float) -> float:  # noqa: ARG001
    """The product of the two shares."""
    return log_of(x) + log_of(y)


@kernel
def exchanged_ends(k: int, j: int, x: float, y: float, out: Floats) -> None:
    """No count becomes negative."""
    out[0] = 1.0 if k != j else 0.0
    out[1], out[2] = -float(x), float(y)


@kernel
def exchanged_at(x: float, y: float, t: float, out: Floats) -> None:
    """Some of one count given to another."""
    out[0] = x + t
    out[1] = y - t


@kernel
def exchanged_slope(x: float, y: float, t: float) -> float:  # noqa: ARG001
    """Whole numbers have no Jacobian."""
    return 0.0


@kernel
def turned_ends(k: int, j: int, x: float, y: float, out: Floats) -> None:  # noqa: ARG001
    """Directions turn by any angle."""
    out[0] = 1.0 if k != j else 0.0
    out[1], out[2] = -inf, inf


@kernel
def turned_at(x: float, y: float, t: float, out: Floats) -> None:
    """A direction turned by an angle in the plane of two axes."""
    c, s = cos(t), sin(t)
    out[0] = c * x - s * y
    out[1] = s * x + c * y


@kernel
def turned_slope(x: float, y: float, t: float) -> float:  # noqa: ARG001
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
