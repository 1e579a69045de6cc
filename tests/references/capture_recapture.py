"""The size of a closed population, exactly: the probabilities of capture integrated out."""

import numpy as np
from scipy.special import betaln, gammaln


def means(caught, marked, most=2000, a=1.0, b=1.0):
    """The posterior means of the number of fish and of three of the probabilities.

    Where occasion ``t`` catches ``c`` fish, ``u`` of them new ones, the probability of a capture
    history is the product of ``p ** c (1 - p) ** (fish - c)``, and ``fish! / (fish - sum of u)!``
    orders of the new fish give the same counts (up to a factor without ``fish``).
    """
    c, new = np.asarray(caught, float), np.subtract(caught, marked)
    fish = np.arange(new.sum(), most + 1.0)
    captures = betaln(a + c, b + fish[:, None] - c).sum(axis=1)
    log_density = gammaln(fish + 1) - gammaln(fish - new.sum() + 1) + captures
    weight = np.exp(log_density - log_density.max())
    weight /= weight.sum()
    p = weight @ ((a + c) / (a + b + fish[:, None]))
    return {"fish": weight @ fish, "p[2]": p[1], "p[5]": p[4], "p[14]": p[13]}
