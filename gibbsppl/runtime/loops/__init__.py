"""Kernels of loops: one draw each, in the part of Python that Numba compiles.

- `draws` from families, `truncated` ones, by `rejection` (`falls`, `powers`), `polya_gamma`,
  `over_relaxed`; `vectors` and matrices (`matrices`), `joint` draws (also `sparse`, `pencils`,
  `by_rows`, and their `averages`), `labels`, label `chains` (`filters`), labels by `blocks`, many
  labels by `buckets`, labels and counts by `weights`; the `units` of a scan, and parts of a mixture
- by log densities, which the caller evaluates: `concave` (`concave_four`, `concave_points`,
  `concave_search`, `concave_hull`), `slices` (along lines of `tied` entries), `walks`,
  `vector_walks`, `swaps`, `elliptical` (with `normal_parts`), `modal` proposals (`modal_steps`,
  `modal_batches`, `spreads`), `trajectories` by gradients, of `hamiltonian` steps between
  `unconstrained` coordinates; decisions about `corrected` joint draws
- `markers` of quantiles of what is not kept
- `functions` of the language, with `beta_functions`, `gamma_functions`, `normal_functions`,
  `passage`, `stirling`, `log_chi` and `normalisers`; `elementary` ones, `exponentials` by
  polynomials; `copies` of vectors; `places` in tables

Two packages come of the same files: here they are plain Python; `gibbsppl.runtime.compiled` has
them compiled. Generated loops call either by the same names, so that what is compiled is tested
against what is not, number by number.

A kernel has the name of the draw of whole arrays in `gibbsppl.runtime` and its arguments, without
the size: ``gamma(rng, eta_1, eta_2)`` returns a number; a vector or matrix goes into a last
argument, ``dirichlet(rng, eta_1, out)``. Arrays among the arguments may be overwritten.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])


# What is added to it is rounded to a whole number, which its last bits are.
WHOLE = 6755399441055744.0


def power_of_shifted(shifted: float) -> float:
    """Two to the power of a whole number plus `WHOLE`; by its bits in the other package."""
    return float(2.0 ** (shifted - WHOLE))


def where(condition: Any, value: Any, other: Any) -> Any:
    """One of two values, of arrays element by element; of numbers alone in the other package."""
    return np.where(condition, value, other)


def any_of(condition: Any) -> bool:
    """Whether a condition holds of any element; of a number alone in the other package."""
    return bool(np.any(condition))


def fetch(array: Any, place: int) -> None:
    """Nothing; in the other package an element begins to come into the cache of the processor."""
    del array, place


def stream_of(rng: Any) -> Any:
    """The generator as it is; in the other package what it draws from, whose calls are shorter."""
    return rng


def kernel(function: Function) -> Function:
    """The function as it is; in the other package compiled, for calls by what is compiled."""
    return function


def entry(function: Function) -> Function:
    """The function as it is; in the other package compiled, for calls by Python: makes no array."""
    return function


def making(function: Function) -> Function:
    """The function as it is; in the other package compiled, for calls by Python: makes arrays."""
    return function


def inlined(function: Function) -> Function:
    """The function as it is; in the other package compiled anew wherever it is called."""
    return function
