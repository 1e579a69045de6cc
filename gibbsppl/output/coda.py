"""Draws as text files of the CODA format, which R's coda and boa and JAGS's users read.

Comes in: draws by label. Goes out: ``<prefix>index.txt``, a line with the first and the last row of
each label, and ``<prefix>chain1.txt``, ... with an iteration and a number in each row (M. Plummer,
N. Best, K. Cowles and K. Vines, 2006, R News 6).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path

import numpy as np

from gibbsppl.output.arrays import Array
from gibbsppl.output.whole_files import whole


def write_coda(
    prefix: str | PathLike[str],
    values: Mapping[str, tuple[int, Array]],
    *,
    warmup: int,
    thin: int,
) -> tuple[Path, ...]:
    """Write draws by label, arrays with axes (chain, draw); the files that were written.

    ``values``: of how many draws one is in the array, and the array. ``warmup`` is the iteration
    before the first draw, ``thin`` what lies between two draws. Numbers have as many digits as tell
    them apart from any other.
    """
    chains = next(iter(values.values()))[1].shape[0]
    paths = coda_files(prefix, range(chains))
    ends = np.cumsum([array.shape[1] for _, array in values.values()]).tolist()
    rows = zip(map(_quoted, values), [1, *(n + 1 for n in ends)], ends, strict=False)
    with whole(*paths) as (index, *others):
        index.write_text("".join(f"{n} {a} {b}\n" for n, a, b in rows), encoding="utf-8")
        for chain, path in enumerate(others):
            with path.open("w", encoding="utf-8") as file:
                for every, array in values.values():
                    numbers = warmup + thin * every * np.arange(1, 1 + array.shape[1])
                    pairs = zip(numbers.tolist(), array[chain].tolist(), strict=True)
                    file.writelines(f"{n}  {_text(x)}\n" for n, x in pairs)
    return paths


def coda_files(prefix: str | PathLike[str], chains: Iterable[int]) -> tuple[Path, ...]:
    """The index and the files of draws of chains, counted from 0."""
    start = fspath(prefix)
    names = ("index", *(f"chain{n + 1}" for n in chains))
    return tuple(Path(f"{start}{name}.txt") for name in names)


def _quoted(label: str) -> str:
    r"""A label as R's ``read.table`` reads it, in quotes where it would be cut otherwise.

    >>> print(_quoted("b[1,2]"), _quoted('a["New York"]'))
    b[1,2] "a[\"New York\"]"
    """
    if not set(label) & set(" \"'#\\"):
        return label
    escaped = label.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _text(x: float) -> str:
    """A number as R reads it."""
    if x != x:  # noqa: PLR0124  (only what is no number differs from itself)
        return "NA"
    return {np.inf: "Inf", -np.inf: "-Inf"}.get(x) or f"{x!r}"
