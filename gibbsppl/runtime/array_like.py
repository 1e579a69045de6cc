"""The common part of values that stand for arrays, which are made where one is needed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class ArrayLike(NDArrayOperatorsMixin):
    """A value of a ``shape`` that answers as the array does that it converts to."""

    __slots__ = ()
    shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **settings: Any) -> Any:
        arrays = (np.asarray(x) if isinstance(x, ArrayLike) else x for x in inputs)
        return getattr(ufunc, method)(*arrays, **settings)

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self)[index]

    def __getattr__(self, name: str) -> Any:
        # The array answers for attributes of arrays; NumPy and pickle also ask for absent ones.
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)
