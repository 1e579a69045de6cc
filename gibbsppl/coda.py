"""Draws as text files of the CODA format, which R's coda and boa and JAGS's users read.

Comes in: draws by label. Goes out: ``<prefix>index.txt``, a line with the first and the last row of
each label, and ``<prefix>chain1.txt``, ... with an iteration and a number in each row (M. Plummer,
N. Best, K. Cowles and K. Vines, 2006, R News 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gibbsppl.errors import RunError


def write_coda(
    prefix: str | PathLike[str],
    values: Mapping[str, NDArray[Any]],
    *,
    first: int,
    thin: int,
) -> tuple[Path, ...]:
    """Write draws by label, arrays with axes (chain, draw); the files that were written.

    ``first`` is the iteration of the first draw, ``thin`` what lies between two draws. Numbers have
    as many digits as tell them apart from any other.
    """
    start = fspath(prefix)
    folder = Path(start + "index.txt").parent
    if not folder.is_dir():
        raise RunError(f"{start}: found no directory {folder}; create it, or choose another one.")
    chains, draws = next(iter(values.values())).shape
    index = Path(start + "index.txt")
    rows = ((label, 1 + k * draws, (k + 1) * draws) for k, label in enumerate(values))
    index.write_text("".join(f"{n} {a} {b}\n" for n, a, b in rows), encoding="utf-8")
    written = [index]
    iterations = first + thin * np.arange(draws)
    for chain in range(chains):
        path = Path(f"{start}chain{chain + 1}.txt")
        with path.open("w", encoding="utf-8") as file:
            for array in values.values():
                pairs = zip(iterations.tolist(), array[chain].tolist(), strict=True)
                file.writelines(f"{n}  {_text(x)}\n" for n, x in pairs)
        written.append(path)
    return tuple(written)


def _text(x: float) -> str:
    """A number as R reads it."""
    if x != x:  # noqa: PLR0124  (only what is no number differs from itself)
        return "NA"
    return {np.inf: "Inf", -np.inf: "-Inf"}.get(x) or f"{x!r}"
