"""Components that can be exchanged, numbered alike in all draws: Stephens' relabelling.

Comes in: for each draw, the probabilities of the component of each observation. Goes out: for each
draw, an order of the components, by which these probabilities differ least from their mean over
all draws (M. Stephens, 2000, "Dealing with label switching in mixture models", Journal of the Royal
Statistical Society B 62, algorithm 2).

>>> one = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
>>> alike(np.stack([one, one[:, ::-1], one]))
array([[0, 1],
       [1, 0],
       [0, 1]])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from gibbsppl.output.arrays import Array
from gibbsppl.runtime.types import Floats

Ints = NDArray[np.int64]
# The most rounds; each lowers the divergence, and there are finitely many orders.
ROUNDS = 1000


def alike(probabilities: Floats) -> Ints:
    """The order of the components of each draw, so that they are alike in all draws.

    ``probabilities`` have axes (draw, observation, component); the result has axes (draw,
    component): which component of the draw comes at each place.
    """
    p = np.maximum(np.asarray(probabilities, dtype=float), np.finfo(float).tiny)
    own = np.einsum("sik,sik->sk", p, np.log(p))
    # The first reference is the draw that tells components apart best.
    reference = p[np.argmax(p.max(axis=2).sum(axis=1))]
    orders = np.full(own.shape, -1)
    for _ in range(ROUNDS):
        divergence = own[:, :, None] - np.einsum("sik,il->skl", p, np.log(reference))
        found = np.array([linear_sum_assignment(one.T)[1] for one in divergence])
        if (found == orders).all():
            break
        orders = found
        reference = np.take_along_axis(p, orders[:, None, :], axis=2).mean(axis=0)
    return orders


def in_order(array: Array, orders: Ints, axis: int) -> Array:
    """An array with a draw along its first axis, its components along another one in their order.

    >>> in_order(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0, 1], [1, 0]]), 1)
    array([[1., 2.],
           [4., 3.]])
    """
    shape = [1] * array.ndim
    shape[0], shape[axis] = orders.shape
    found: Array = np.take_along_axis(array, orders.reshape(shape), axis)
    return found


def renamed(labels: Array, orders: Ints) -> Array:
    """Labels, with a draw along the first axis, as the places of their components.

    >>> renamed(np.array([[0, 1, 1], [0, 1, 1]]), np.array([[0, 1], [1, 0]]))
    array([[0, 1, 1],
           [1, 0, 0]])
    """
    places = np.argsort(orders, axis=1).astype(labels.dtype)
    flat = labels.reshape(len(labels), -1)
    return np.take_along_axis(places, flat.astype(np.int64), axis=1).reshape(labels.shape)
