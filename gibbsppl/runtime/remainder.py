"""The remainder of a whole after its parts, for parts that are nearly the whole."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gibbsppl.runtime.types import Numbers

EPS = float(np.finfo(float).eps)


def remainder(left: Numbers, size: Numbers, terms: int) -> NDArray[np.float64]:
    """The remainder, with 0 in place of negative values within rounding error.

    Each term and each partial sum is rounded by ``EPS / 2`` times their ``size`` at most
    (N. J. Higham, 2002, "Accuracy and Stability of Numerical Algorithms", section 4.2).

    >>> remainder(np.array([-1e-16, -0.1, 0.2]), 2.0, 3)
    array([ 0. , -0.1,  0.2])
    """
    is_rounding = np.less(left, 0) & np.greater_equal(left, -EPS * terms * np.asarray(size))
    return np.where(is_rounding, 0.0, left)
