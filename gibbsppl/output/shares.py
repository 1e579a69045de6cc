"""Labels in a summary: their numbers mean nothing, so that each label drawn has a row of its own.

Comes in: the draws of elements that are labels. Goes out: for each element whether the labels drawn
most are drawn, as numbers whose mean is the share of draws.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from gibbsppl.output.arrays import Array, Attributes

# The rows of an element: those of the labels drawn most, the last of all others together.
MOST = 5
# The attribute of draws that has the dims of labels, by variable.
LABELS = "labels"

# From the number of a label to its name.
Names = Callable[[int], str]


def dims_told(of: Mapping[str, str]) -> str | None:
    """The dims that labels point into, as an attribute; None without labels.

    >>> dims_told({"z": "component"})
    '{"z": "component"}'
    """
    return json.dumps(dict(of)) if of else None


def are_dims(told: object) -> bool:
    """Whether an attribute is such as `dims_told` makes."""
    try:
        found = json.loads(told) if isinstance(told, str) else None
    except ValueError:
        return False
    return isinstance(found, dict) and all(isinstance(d, str) for d in found.values())


def dims_of(attributes: Attributes) -> tuple[str, ...]:
    """The dims that labels point into, each once."""
    return tuple(dict.fromkeys(json.loads(attributes.get(LABELS) or "{}").values()))


def names_of(name: str, attributes: Attributes, coords: Mapping[str, Array]) -> Names | None:
    """The names of a variable's labels: coordinates of their dim, else numbers; None of no labels.

    >>> names_of("z", {"labels": '{"z": "k"}'}, {"k": np.array(["red", "green"])})(1)
    'green'
    """
    dim = json.loads(attributes.get(LABELS) or "{}").get(name)
    if dim is None:
        return None
    known = coords.get(dim, ())
    return lambda number: str(known[number]) if 0 <= number < len(known) else str(number)


def width(draws: Array) -> int:
    """The number of rows that an element may have."""
    return max(1, min(MOST, len(np.unique(draws))))


def indicators(draws: Array, names: Names) -> Iterator[tuple[str, Array]]:
    """The labels of one element in words, most frequent first, and where each is drawn.

    >>> [(told, x.mean()) for told, x in indicators(np.array([[2, 0], [2, 2]]), str)]
    [('2', np.float64(0.75)), ('0', np.float64(0.25))]
    """
    found, counts = np.unique(draws, return_counts=True)
    ordered = found[np.argsort(-counts, kind="stable")]
    shown = ordered if len(ordered) <= MOST else ordered[: MOST - 1]
    for label in shown:
        yield names(int(label)), draws == label
    if left := len(ordered) - len(shown):
        yield f"one of {left} others", ~np.isin(draws, shown)
