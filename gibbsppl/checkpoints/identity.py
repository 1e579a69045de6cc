"""The identity of a run: its model, its data, the sampler, and the versions of all that draws.

Two runs with one identity and one seed make the same draws. Kept beside a run, it says what has
changed where somebody goes on with it.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import gibbsppl
from gibbsppl.errors import RunError
from gibbsppl.runtime.libraries import LIBRARIES

# The packages whose functions draw, or write what draws.
PACKAGES = ("numpy", "scipy", "numba")
NONE = "none"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a run was made of: digests of the model's text, of each array of data, of the program.

    ``program`` is that of the sampler: other settings of `compile` write another one.
    """

    name: str
    model: str
    data: Mapping[str, str]
    program: str
    versions: Mapping[str, str]

    @classmethod
    def of(cls, name: str, model: str, data: Mapping[str, Any], program: str) -> Identity:
        """The identity of a run of a sampler."""
        arrays = {n: _digest_of(np.asarray(a)) for n, a in sorted(data.items())}
        of_model, of_program = (_digest(text.encode()) for text in (model, program))
        return cls(name, of_model, arrays, of_program, versions(program))

    @property
    def as_header(self) -> dict[str, Any]:
        """The identity as plain values."""
        return asdict(self)

    @classmethod
    def from_header(cls, header: Mapping[str, Any]) -> Identity:
        """The identity of plain values."""
        return cls(**{name: header[name] for name in cls.__slots__})

    def check_versions(self, where: str, packages: Sequence[str] | None = None) -> None:
        """Raise where other versions are installed than those of the run, of some packages."""
        here = versions()
        for package, made_by in self.versions.items():
            is_looked_at = packages is None or package in packages
            found = here.get(package) or _version_of(package)
            if is_looked_at and found != made_by:
                do = f"uninstall {package}" if made_by == NONE else f"install {package} {made_by}"
                raise RunError(
                    f"{where}: the run was made by {package} {made_by}, and here is "
                    f"{found}, which may draw otherwise; {do} to go on, or begin a new run. (The "
                    "draws are .npy files, which numpy.load reads anywhere.)"
                )

    def check(self, other: Identity, where: str) -> None:
        """Raise where this run is not the one of ``other``, and say what differs."""
        for told, advice in self._differences(other):
            raise RunError(
                f"{where}: found {told} than those of the run; {advice}, or begin a new run."
            )
        self.check_versions(where)

    def _differences(self, other: Identity) -> Iterator[tuple[str, str]]:
        if self.model != other.model:
            yield f"other statements in {other.name}", "go on with the model as it was"
        for name in sorted({*self.data, *other.data}):
            if self.data.get(name) != other.data.get(name):
                yield f"other data, {name},", f"go on with {name} as it was"
        if self.program != other.program:
            yield f"other settings of compile for {other.name}", "compile it as it was"


def versions(program: str = "") -> dict[str, str]:
    """The versions of what draws, by package; without those that are not installed.

    Of libraries that a program would call if they were there it is told that they are not.
    """
    found = {"python": ".".join(map(str, sys.version_info[:2])), "gibbsppl": gibbsppl.__version__}
    found |= {p: v for p in PACKAGES if (v := _version_of(p)) != NONE}
    libraries = (row.package for d, row in LIBRARIES.items() if f"runtime.{d}(" in program)
    return found | {p: _version_of(p) for p in libraries}


def _version_of(package: str) -> str:
    """The version of a package that is installed; else that there is none."""
    try:
        return version(package)
    except PackageNotFoundError:
        return NONE


def _digest_of(array: np.ndarray[Any, Any]) -> str:
    head = f"{array.dtype.str} {array.shape} ".encode()
    found = hashlib.sha256(head)
    if array.dtype.kind == "O":
        found.update(repr(array.tolist()).encode())
    else:
        found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.hexdigest()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
