"""Libraries in C by which whole arrays are drawn in NumPy, where they are installed.

One row for each draw: the package, which is that of an extra of the same name, and for which
parameters it is taken: where it is faster than NumPy (`tests/benchmarks/draws.py`). Compiled loops
are as fast, and have no libraries. A schedule tells of them, since with and without one a seed
gives other draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any


@dataclass(frozen=True, slots=True)
class Library:
    """A package, and the parameters for which it draws, in words."""

    package: str
    where: str

    @property
    def version(self) -> str | None:
        """The version that is installed; None if none is."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None

    @property
    def told(self) -> str:
        """The package with its version, and where it draws."""
        return f"{self.package} {self.version} where {self.where}"


LIBRARIES: dict[str, Library] = {
    "polya_gamma": Library("polyagamma", "b is 1 or 2 and c at most 4"),
}


@cache
def module_of(draw: str) -> Any:
    """The module of the library of a draw; None where it is not installed."""
    library = library_of(draw)
    return None if library is None else import_module(library.package)


def library_of(draw: str) -> Library | None:
    """The library by which a draw is made, if it has one that is installed.

    >>> library_of("normal") is None
    True
    """
    library = LIBRARIES.get(draw)
    return None if library is None or library.version is None else library
