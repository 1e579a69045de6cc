"""Plates inside of others, so that each node is in the plates of its dims and in no other.

Comes in: the dims of each node. Goes out: a path for each, from the outermost plate to the
innermost. Plates are boxes, of which two are apart or one inside of the other: a dim along which
nodes vary that share no other dim has a plate more than once.

>>> paths = paths_of({"theta": ("doc", "topic"), "phi": ("topic",), "n": ("doc", "word")})
>>> paths["theta"], paths["phi"], paths["n"]
(('doc', 'topic'), ('topic',), ('doc', 'word'))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

Path = tuple[str, ...]


def paths_of(dims: Mapping[str, Iterable[str]]) -> dict[str, Path]:
    """The plates that each node is in: those of most nodes outside."""
    paths: dict[str, Path] = {}
    _place({name: tuple(own) for name, own in dims.items()}, (), paths)
    return {name: paths[name] for name in dims}


def _place(rest: Mapping[str, tuple[str, ...]], path: Path, paths: dict[str, Path]) -> None:
    """Put nodes into plates inside of the last plate of a path; what has no dims left stays."""
    paths.update({name: path for name, own in rest.items() if not own})
    rest = {name: own for name, own in rest.items() if own}
    while rest:
        counts = Counter(d for own in rest.values() for d in own)
        outer = max(counts, key=counts.__getitem__)  # (the first that is named, of equals)
        inside = {
            name: tuple(d for d in own if d != outer)
            for name, own in rest.items()
            if outer in own
        }
        _place(inside, (*path, outer), paths)
        rest = {name: own for name, own in rest.items() if name not in inside}


def every_plate(paths: Iterable[Path]) -> list[Path]:
    """All plates, by their paths, outer ones first.

    >>> every_plate([("doc", "topic"), ("doc",), ()])
    [('doc',), ('doc', 'topic')]
    """
    found = {path[:n]: None for path in paths for n in range(1, len(path) + 1)}
    return sorted(found, key=len)
