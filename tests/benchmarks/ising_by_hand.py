"""The Ising model by hand: arrays of 8-bit spins, a table of thresholds, 16 random bits a spin.

A lattice whose ends meet is cut into the spins at even and odd rows and columns, each an array of
its own that is contiguous. A spin points up with a probability that its number of neighbours up
decides, one of five, rounded to 16 bits: what a hand-written program may do, a generated one does
not.
"""

import numpy as np


def start(rng, size):
    """Spins (0 or 1) by parity of row and column, at random."""
    half = (size // 2, size // 2)
    return {
        (r, c): rng.integers(0, 2, half, dtype=np.uint8) for r in (0, 1) for c in (0, 1)
    }


def thresholds(coupling):
    """For each number of neighbours up, the bound below which 16 random bits mean up."""
    field = 2 * coupling * (2 * np.arange(5) - 4)
    return np.minimum(np.rint(2**16 / (1 + np.exp(-field))), 2**16 - 1).astype(np.uint16)


def sweep(rng, spins, bounds):
    """Draw all spins once, half of them at a time."""
    for r, c in ((0, 0), (1, 1), (0, 1), (1, 0)):
        rows, cols = spins[1 - r, c], spins[r, 1 - c]
        up = rows + cols
        _add_shifted(up, rows, 0, 2 * r - 1)
        _add_shifted(up, cols, 1, 2 * c - 1)
        bits = np.frombuffer(rng.bytes(2 * up.size), np.uint16).reshape(up.shape)
        spins[r, c] = (bits < bounds.take(up)).view(np.uint8)


def _add_shifted(total, values, axis, way):
    """Add to each the value one position later (``way`` 1) or earlier (-1), ends meeting."""
    total, values = np.moveaxis(total, axis, 0), np.moveaxis(values, axis, 0)
    if way > 0:
        total[:-1] += values[1:]
        total[-1] += values[0]
    else:
        total[1:] += values[:-1]
        total[0] += values[-1]


def energy(spins):
    """Minus the sum over neighbours of the products of spins (-1 or 1), for each spin."""
    half = spins[0, 0].shape[0]
    lattice = np.empty((2 * half, 2 * half))
    for (r, c), own in spins.items():
        lattice[r::2, c::2] = 2.0 * own - 1
    bonds = lattice * (np.roll(lattice, 1, 0) + np.roll(lattice, 1, 1))
    return -bonds.mean()
