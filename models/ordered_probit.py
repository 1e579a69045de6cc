"""Ordered probit: the taste of four cheeses, on nine steps from strong dislike to excellent.

    P(taste[i] <= c) = Phi(cut[c] - X[i, :] @ effect),   cut[1] < ... < cut[8]

``X`` says which cheese rating ``i`` is about; the effect of cheese A is 0. The data are from P.
McCullagh and J. A. Nelder (1989), "Generalized Linear Models", second edition, section 5.6.1 (an
experiment of G. Newell); the model is that of J. H. Albert and S. Chib (1993), "Bayesian analysis
of binary and polychotomous response data", Journal of the American Statistical Association 88,
669-679, section 4.
"""

import json
from pathlib import Path

import numpy as np

import gibbsppl as gp

CHEESES = json.loads((Path(__file__).parent / "data" / "cheeses.json").read_text())
FAR = 40  # sds; Phi(-40) is 0 and Phi(40) is 1 in double precision: steps 1 and 9 have no end

# Posterior mean and Monte Carlo error: a long run of an independent sampler
# (tests/references/ordered_probit.py), a random walk on the posterior.
REFERENCE = {
    "cut[1]": (-3.139463, 0.001088),
    "cut[2]": (-2.543645, 0.000919),
    "cut[3]": (-1.890217, 0.000777),
    "cut[4]": (-1.259664, 0.000667),
    "cut[5]": (-0.488408, 0.000644),
    "cut[6]": (0.066016, 0.000648),
    "cut[7]": (0.956835, 0.000694),
    "cut[8]": (1.878936, 0.000873),
    "effect[B]": (-1.891862, 0.000866),
    "effect[C]": (-0.963055, 0.000804),
    "effect[D]": (0.986412, 0.000838),
}


def model(counts=CHEESES, cut_precision=0.1, effect_precision=0.1):
    """The ratings of cheeses, ``counts[cheese][c]`` of them at step ``c``."""
    table = np.array(list(counts.values()))
    steps = table.shape[1]
    cheese, taste = (np.repeat(i, table[table.nonzero()]) for i in table.nonzero())
    others = list(counts)[1:]
    coords = {"rating": range(len(taste)), "cheese": others, "step": range(1, steps + 1)}
    step = np.arange(steps)
    with gp.Model(coords=coords | {"between": range(1, steps)}) as tasting:
        design = gp.Data(
            "design", cheese[:, None] == np.arange(1, len(counts)), dims=("rating", "cheese")
        )
        upper = gp.Index("upper", step.clip(max=steps - 2), of="between", dims="step")
        lower = gp.Index("lower", (step - 1).clip(min=0), of="between", dims="step")
        above = gp.Data("above", np.where(step == steps - 1, FAR, 0), dims="step")
        below = gp.Data("below", np.where(step == 0, FAR, 0), dims="step")
        cut = gp.Normal("cut", 0, tau=cut_precision, dims="between")
        gp.Constraint("order", cut.lag("between", 1) < cut)
        effect = gp.Normal("effect", 0, tau=effect_precision, dims="cheese")
        line = design @ effect
        p = gp.Phi(cut[upper] + above - line) - gp.Phi(cut[lower] - below - line)
        gp.Categorical("taste", p, dims="rating", event="step", observed=taste)
    return tasting


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    cuts = {f"cut[{c + 1}]": draws["cut"][..., c] for c in range(draws["cut"].shape[-1])}
    effects = {f"effect[{c}]": draws["effect"][..., j] for j, c in enumerate(list(CHEESES)[1:])}
    return cuts | effects
