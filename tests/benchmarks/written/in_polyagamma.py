"""Polya-Gamma draws by polyagamma, a library in C."""

from time import process_time

import numpy as np
from polyagamma import random_polyagamma

PACKAGES = ("polyagamma",)


def draws(data):
    """Draws of arrays of shapes and tilts; the seconds of one call."""
    b, c = data["b"], data["c"]

    def turn(seed, size):
        rng = np.random.default_rng(seed)
        start = process_time()
        random_polyagamma(b[:size], c[:size], random_state=rng)
        return {"sampling": process_time() - start}

    return turn


WORKLOADS = {"draws": draws}
