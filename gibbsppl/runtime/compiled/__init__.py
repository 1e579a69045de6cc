"""The kernels of `gibbsppl.runtime.loops`, compiled: the same files, loaded once more.

What is compiled is kept by Numba for the next process.
"""

from __future__ import annotations

from numba import njit

from gibbsppl.runtime import loops

__path__ = loops.__path__

kernel = njit(cache=True, nogil=True, error_model="numpy")
