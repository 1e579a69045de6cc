"""Coin: is a spun one-euro coin fair? 140 heads and 110 tails, with a uniform prior.

    toss[i] ~ Bernoulli(p),   p ~ Beta(a, b),   so   p | tosses ~ Beta(a + heads, b + tails)

In January 2002 newspapers reported that a Belgian one-euro coin, spun on edge 250 times, came up
heads 140 times (The Guardian, 4 January 2002). D. J. C. MacKay (2003), "Information Theory,
Inference, and Learning Algorithms", Cambridge University Press, section 3.3, shows how little that
says against a fair coin.
"""

import gibbsppl as gp

HEADS, TAILS = 140, 110

# Exact: the mean of a Beta(1 + heads, 1 + tails).
REFERENCE = {"p": ((1 + HEADS) / (2 + HEADS + TAILS), 0.0)}


def model(heads=HEADS, tails=TAILS, a=1, b=1):
    """The tosses one by one."""
    with gp.Model(coords={"toss": range(heads + tails)}) as coin:
        p = gp.Beta("p", a=a, b=b)
        gp.Bernoulli("toss_is_heads", p=p, dims="toss", observed=[1] * heads + [0] * tails)
    return coin


def quantities(draws):
    """The scalars that the reference is about, as arrays over (chain, draw)."""
    return {"p": draws["p"]}
