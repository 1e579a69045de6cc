"""The names of elements of arrays, with their coordinates: ``theta[Choate, 3]``.

Comes in: the name of a variable, its dims, the labels along dims. Goes out: a function from
positions to names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gibbsppl.output.arrays import Array

Labeller = Callable[[tuple[int, ...]], str]


def labelled(name: str, dims: Sequence[str], coords: Mapping[str, Array]) -> Labeller:
    """From a position in a variable to its name; positions along dims without labels.

    >>> labelled("theta", ("school", "year"), {"school": ["Choate", "Deerfield"]})((1, 3))
    'theta[Deerfield, 3]'
    >>> labelled("mu", (), {})(())
    'mu'
    """
    place = placed(dims, coords)

    def label(index: tuple[int, ...]) -> str:
        return f"{name}[{place(index)}]" if index else name

    return label


def placed(dims: Sequence[str], coords: Mapping[str, Array]) -> Labeller:
    """From a position in a variable to the labels of this position.

    >>> placed(("school", "year"), {"school": ["Choate", "Deerfield"]})((1, 3))
    'Deerfield, 3'
    """
    own = [coords.get(dim) for dim in dims]

    def place(index: tuple[int, ...]) -> str:
        return ", ".join(str(i if c is None else c[i]) for i, c in zip(index, own, strict=True))

    return place
