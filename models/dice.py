"""Dice: the weights of the faces of two dice, from 20,000 throws of each.

    counts[d, :] ~ Multinomial(throws, p[d, :]),   p[d, :] ~ Dirichlet(a)

R. Wolf threw a white and a red die 20,000 times in Zurich and published the counts in 1882
(Vierteljahrsschrift der Naturforschenden Gesellschaft in Zurich 26 to 38). E. T. Jaynes (1978),
"Where do we stand on maximum entropy?", The Maximum Entropy Formalism, MIT Press, found in them the
two flaws that the maker left: the dice are longer along one axis, and their pips are drilled out.
"""

import gibbsppl as gp

COUNTS = {
    "white": (3246, 3449, 2897, 2841, 3635, 3932),
    "red": (3407, 3631, 3176, 2916, 3448, 3422),
}

# Exact: the mean of a Dirichlet(1 + counts).
REFERENCE = {
    f"p[{die}, {face + 1}]": ((1 + count) / (6 + sum(counts)), 0.0)
    for die, counts in COUNTS.items()
    for face, count in enumerate(counts)
}


def model(counts=COUNTS, a=1):
    """The counts of each face of each die; ``counts`` maps a die's name to its counts."""
    table = list(counts.values())
    with gp.Model(coords={"die": list(counts), "face": range(1, len(table[0]) + 1)}) as dice:
        throws = gp.Data("throws", [sum(row) for row in table], dims="die")
        p = gp.Dirichlet("p", a, dims=("die", "face"), event="face")
        gp.Multinomial("counts", throws, p, dims=("die", "face"), event="face", observed=table)
    return dice


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    dice = enumerate(COUNTS)
    return {f"p[{name}, {f + 1}]": draws["p"][..., d, f] for d, name in dice for f in range(6)}
