"""The mixing of moves along an ellipse, by theory, at a state.

Comes in: the normal part of a log density and all of it to second order, as normal blocks at a
state. Goes out: by how much a move brings deviations back (`Turned`).

A move by an angle ``t`` from ``x`` along the ellipse of a draw ``v`` of the normal part, whose mean
is ``m``, is a step ``(cos t - 1) (x - m) + sin t (v - m)``. Half of its expected square, times the
precision matrix, is how much of a deviation it takes away, as of any reversible move; the angle,
which the rest of the log density restricts, is taken to be independent of ``x`` and ``v``. Angles
are those of moves in the log density to second order, made by the kernel's own function.

>>> angles = angles_of(np.random.default_rng(1), lambda z: np.zeros(len(z)), 1000)
>>> bool(abs(np.cos(angles).mean()) < 0.1)  # where all of it is normal
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gibbsppl.model.evaluation import Floats
from gibbsppl.planning.normal_blocks import NormalBlock
from gibbsppl.runtime.elliptical import along_ellipses
from gibbsppl.runtime.types import Generator
from gibbsppl.schedule.choices import SEED

# So many moves tell the angles at a state.
MOVES = 64


class Turned(NamedTuple):
    """What moves take away of a deviation: a matrix times the precision matrix, of its own rows."""

    matrix: Floats

    def after(self, unit: Floats, scale: Floats, left: Floats) -> Floats:
        """What is left of deviations, in units in which the precision has ones on its diagonal."""
        found: Floats = left - (self.matrix * scale * scale[:, None]) @ (unit @ left)
        return found


def turned(block: NormalBlock, part: NormalBlock, x: Floats) -> Turned:
    """The moves along ellipses of a normal part from a value of all its elements.

    ``block`` has the precision of all of the log density, and its slope at ``x``.
    """
    away = x - np.linalg.solve(part.precision, part.linear)
    slope = block.linear + part.precision @ away
    bend = block.precision - part.precision
    rng = np.random.default_rng(SEED)
    z = rng.standard_normal((len(x), MOVES))
    noise = np.linalg.solve(np.linalg.cholesky(part.precision).T, z)

    def rest(angles: Floats) -> Floats:
        step = away[:, None] * (np.cos(angles) - 1) + noise * np.sin(angles)
        found: Floats = slope @ step - np.sum(step * (bend @ step), axis=0) / 2
        return found

    angles = angles_of(rng, rest, MOVES)
    factor = np.linalg.cholesky(block.precision)
    spread = factor.T @ np.linalg.solve(part.precision, factor)
    own, by = np.mean((1 - np.cos(angles)) ** 2), np.mean(np.sin(angles) ** 2)
    values, vectors = np.linalg.eigh((spread + spread.T) / 2)
    # (no move takes away more than there is)
    taken = np.minimum((own + by * values) / 2, 1.0)
    rows = np.linalg.solve(factor.T, vectors)
    return Turned((rows * taken) @ rows.T)


def angles_of(
    rng: Generator, log_density: Callable[[Floats], Floats], count: int
) -> Floats:
    """The angles by which so many moves end away from where they begin.

    ``log_density`` has one number for each, of its own angle.
    """
    # (each move is of one number: 1 turns about 0, by what is drawn along the other axis)
    here: Any = np.ones(count, dtype=complex)

    def of_angle(z: Any) -> Floats:
        return log_density(np.angle(z).astype(float))

    turned: Any = along_ellipses(rng, here, np.zeros(count), 1j * here, of_angle, apart=True)
    found: Floats = np.angle(turned).astype(float)
    return found
