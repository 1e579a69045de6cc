"""Ising model: spins on a square lattice, each of which tends to point where its neighbours do.

    p(s) is in proportion to exp(coupling * sum of s[a] s[b] over neighbours a, b),   s = -1 or 1

E. Ising (1925), "Beitrag zur Theorie des Ferromagnetismus", Zeitschrift fuer Physik 31, 253-258, in
two dimensions. No spin sees another of its own colour on a chessboard, so that half of them are
drawn at a time. With ends that meet (``periodic``) the energy of the large lattice is L. Onsager's
(1944), "Crystal statistics. I", Physical Review 65, 117-149, and what is left of the magnetisation
without a field that of C. N. Yang (1952), "The spontaneous magnetization of a two-dimensional Ising
model", Physical Review 85, 808-816.
"""

import numpy as np

import gibbsppl as gp

# Means by summation over all 65,536 states (tests/references/ising.py).
REFERENCE = {
    "energy": (-1.3791164822593567, 0),
    "magnetisation": (0.764712393221685, 0),
}


def model(rows=4, cols=4, coupling=0.4, *, periodic=True):
    """The lattice; ``periodic``: the last row is next to the first, the last column likewise."""
    with gp.Model(coords={"row": rows, "col": cols}) as ising:
        spin = 2 * gp.Bernoulli("up", 0.5, dims=("row", "col")) - 1
        gp.Potential("down", coupling * spin * spin.lag("row", 1))
        gp.Potential("right", coupling * spin * spin.lag("col", 1))
        if periodic:
            gp.Potential("rows_meet", coupling * spin.at("row", 0) * spin.at("row", -1))
            gp.Potential("cols_meet", coupling * spin.at("col", 0) * spin.at("col", -1))
    return ising


def energy(spin, *, periodic=True):
    """Minus the sum of ``s[a] s[b]`` over neighbours, for each spin; the last axes are the lattice.

    >>> energy(np.ones((4, 4)))
    -2.0
    """
    down = (spin[..., 1:, :] * spin[..., :-1, :]).sum(axis=(-2, -1))
    right = (spin[..., 1:] * spin[..., :-1]).sum(axis=(-2, -1))
    if periodic:
        down = down + (spin[..., 0, :] * spin[..., -1, :]).sum(axis=-1)
        right = right + (spin[..., 0] * spin[..., -1]).sum(axis=-1)
    return -(down + right) / np.prod(spin.shape[-2:])


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    spin = 2.0 * draws["up"] - 1
    return {
        "energy": energy(spin),
        "magnetisation": np.abs(spin.mean(axis=(-2, -1))),
    }
