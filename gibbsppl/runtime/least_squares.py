"""A point near the minimum of a sum of squares: the centre about which the sum is expanded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gibbsppl.runtime.types import Floats, Numbers

ITERATIONS = 200
PASSES = 2
# The square of the part of a slope that a pass may leave: all of them together leave its square.
LEFT = 1e-8


def centred(
    residual: Callable[..., Numbers],
    adjoint: Callable[[Floats], tuple[Numbers, ...]],
    shape: tuple[int, ...],
    *shapes: tuple[int, ...],
) -> tuple[Numbers, ...]:
    """The sum of squares at a centre, and for each array the centre and the slope there.

    ``residual(*arrays)`` is affine; ``adjoint`` sums an array like the residual onto each of the
    arrays. The centre is found by conjugate gradients on the normal equations (Hestenes and
    Stiefel 1952), run twice: the second pass works on the residual of the first. Any centre gives
    the exact sum; a centre near the arrays' values keeps all digits. Collinear arrays have many
    centres, and the arrays of fewest elements are fitted alone first: of a level and groups'
    deviations, the level then takes up the data's distance from zero.

    >>> y = np.array([1e8, 1e8 + 2])
    >>> squares, centre, slope = centred(lambda m: y - m, lambda r: (-r.sum(),), (2,), ())
    >>> squares, centre - 1e8, abs(slope)
    (2.0, 1.0, 0.0)
    """
    full = _Flat(residual, adjoint, shape, shapes)
    x = np.zeros(full.size)
    for free in (*full.each(), *[np.ones(full.size)] * PASSES):
        x = x + _step(full, full.residual(x), free)
    left = full.residual(x)
    pairs = zip(full.parted(x), full.parted(2 * full.adjoint(left)), strict=True)
    return (float(left @ left), *(number_or_array(p) for pair in pairs for p in pair))


def number_or_array(value: Floats) -> Numbers:
    """A number of Python's own for an array without axes: arithmetic with it is faster."""
    return float(value) if value.ndim == 0 else value


class _Flat:
    """The residual and its adjoint as functions of one flat vector."""

    def __init__(
        self,
        residual: Callable[..., Numbers],
        adjoint: Callable[[Floats], tuple[Numbers, ...]],
        shape: tuple[int, ...],
        shapes: tuple[tuple[int, ...], ...],
    ) -> None:
        self._residual, self._adjoint = residual, adjoint
        self.shape, self.shapes = shape, shapes
        self.cuts = np.cumsum([int(np.prod(s)) for s in shapes])
        self.size = int(self.cuts[-1])

    def parted(self, x: Floats) -> list[Floats]:
        """A flat vector as the arrays that it holds."""
        parts = np.split(x, self.cuts[:-1])
        return [p.reshape(s) for p, s in zip(parts, self.shapes, strict=True)]

    def each(self) -> list[Floats]:
        """For each of several arrays, ones at its elements and zeros elsewhere, smallest first."""
        sizes = np.diff(self.cuts, prepend=0)
        if len(sizes) == 1:
            return []
        owner = np.repeat(np.arange(len(sizes)), sizes)
        return [(owner == k).astype(float) for k in np.argsort(sizes, kind="stable")]

    def residual(self, x: Floats) -> Floats:
        """The residual at a point, flat."""
        value = np.asarray(self._residual(*self.parted(x)), dtype=np.float64)
        return np.broadcast_to(value, self.shape).reshape(-1)

    def adjoint(self, r: Floats) -> Floats:
        """The adjoint of the residual's linear part, flat."""
        parts = self._adjoint(r.reshape(self.shape))
        full = (np.broadcast_to(p, s) for p, s in zip(parts, self.shapes, strict=True))
        return np.concatenate([np.reshape(p, -1) for p in full])


def _step(full: _Flat, start: Floats, free: Floats) -> Floats:
    """The step from a point to the least-squares point, given the residual there.

    Only elements with ``free`` equal to one, not zero, move.
    """
    origin = full.residual(np.zeros(full.size))
    x, r = np.zeros(full.size), -start
    s = full.adjoint(r) * free
    p, norm = s.copy(), float(s @ s)
    target = norm * LEFT
    for _ in range(min(ITERATIONS, 2 * full.size + 2)):
        if norm <= target or norm == 0.0:
            break
        q = full.residual(p) - origin
        length = float(q @ q)
        if length == 0.0:
            break
        alpha = norm / length
        x, r = x + alpha * p, r - alpha * q
        s = full.adjoint(r) * free
        before, norm = norm, float(s @ s)
        p = s + (norm / before) * p
    return x
