"""The folder of a run: what it was made of, its draws, its checkpoints, and who writes to it.

`run.gibbsppl` has the run, as it began; `chains.gibbsppl` how far it has come, replaced as a whole
at each checkpoint; the ``.npy`` files the draws. A run is unpickled when it goes on: go on with
runs of people whose programs you would run.
"""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import Any

from gibbsppl.algebra.pickling import pickled, restored
from gibbsppl.checkpoints.arrays import OnDisk
from gibbsppl.checkpoints.identity import Identity
from gibbsppl.checkpoints.sealed import read_sealed, write_sealed
from gibbsppl.errors import RunError
from gibbsppl.output.whole_files import reason
from gibbsppl.run.beginning import SoFar

RUN, CHAINS, LOCK = "run.gibbsppl", "chains.gibbsppl", "lock"
KIND_OF_RUN, KIND_OF_CHAINS = "gibbsppl run, format 1", "gibbsppl chains, format 1"


@dataclass(slots=True, eq=False)
class Checkpoints:
    """The checkpoints of a run in a folder, made every so many seconds."""

    folder: Path
    store: OnDisk
    every: float
    due: float = field(default=0.0)

    def is_due(self) -> bool:
        """Whether it is time for the next one."""
        return perf_counter() >= self.due

    def keep(self, so_far: SoFar) -> None:
        """Write how far the run has come, after the draws that it tells of."""
        self.store.sync()
        drawn = [p.drawn for p in so_far.positions]
        header = {"drawn": drawn, "size": self.store.size, **self.store.told}
        write_sealed(self.folder / CHAINS, KIND_OF_CHAINS, header, pickled(so_far))
        self.due = perf_counter() + self.every


def folder_at(path: str | PathLike[str]) -> Path:
    """A folder by its path, in which ``~`` is the user's own."""
    return Path(path).expanduser()


def check_new(path: str | PathLike[str], *, but: tuple[str, ...] = ()) -> Path:
    """Refuse a folder that has something in it, or is nowhere."""
    folder = folder_at(path)
    if not folder.parent.is_dir():
        raise RunError(
            f"checkpoint: found no directory {folder.parent}; create it, or name another folder."
        )
    if folder.exists() and (not folder.is_dir() or {p.name for p in folder.iterdir()} - {*but}):
        is_run = (folder / RUN).exists()
        advice = f"go on with gibbsppl.resume({str(folder)!r}), or " if is_run else ""
        raise RunError(
            f"checkpoint: found {'a run' if is_run else 'something else'} in {folder}, expected no "
            f"folder, or an empty one; {advice}name another one."
        )
    return folder


def content_of(run: object) -> bytes:
    """The bytes of a run, or of what it reads; an error where it cannot be written."""
    try:
        return pickled(run)
    except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
        raise RunError(
            f"checkpoint: the run cannot be written to a file ({error}): functions must have a "
            "name that can be imported."
        ) from error


@contextmanager
def new_folder(
    path: str | PathLike[str], identity: Identity, run: object, needed: int | None
) -> Iterator[Path]:
    """A new folder for a run, which nobody else writes to as long as it lasts.

    ``needed``: the bytes of its draws, for which there must be room, or None if nobody knows.
    """
    folder, content = check_new(path), content_of(run)
    try:
        folder.mkdir(exist_ok=True)
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise RunError(
            f"checkpoint: {folder} cannot be made ({reason(error)}); name another folder."
        ) from error
    if needed is not None and needed > free:
        raise RunError(
            f"checkpoint: the draws would take {needed} bytes, and {folder} has {free}; name what "
            "you need in keep=[...], store fewer draws (draws=, thin=), or name another folder."
        )
    with _locked(folder):
        check_new(folder, but=(LOCK,))  # (another run may have been quicker)
        write_sealed(folder / RUN, KIND_OF_RUN, identity.as_header, content)
        yield folder


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A run that was found in a folder: what it was made of, and how far it has come."""

    folder: Path
    identity: Identity
    content: bytes
    told: Mapping[str, Any]
    chains: bytes

    @classmethod
    def at(cls, path: str | PathLike[str]) -> Found:
        """The run in a folder."""
        folder = folder_at(path)
        if not (folder / RUN).exists():
            raise RunError(
                f"{folder}: found no run, expected a folder that sample(checkpoint=...) has made."
            )
        if not (folder / CHAINS).exists():
            raise RunError(
                f"{folder}: found a run that ended before its first checkpoint; remove the folder, "
                "and begin again."
            )
        header, content = read_sealed(folder / RUN, KIND_OF_RUN)
        told, chains = read_sealed(folder / CHAINS, KIND_OF_CHAINS)
        return cls(folder, Identity.from_header(header), content, told, chains)

    def run(self, packages: Sequence[str] | None = None) -> Any:
        """The run, as it began; only of the versions that it was made by, of some packages."""
        self.identity.check_versions(str(self.folder), packages)
        return self._restored(self.content, RUN)

    def so_far(self) -> SoFar:
        """How far it has come."""
        found: SoFar = self._restored(self.chains, CHAINS)
        return found

    def _restored(self, content: bytes, name: str) -> Any:
        try:
            return restored(content)
        except (AttributeError, ImportError) as error:
            raise RunError(
                f"{self.folder / name}: the run needs what cannot be found here ({error}); define "
                "it, or go on where the run was begun."
            ) from error

    def store(self, *, to_write: bool) -> OnDisk:
        """Its draws."""
        first, second = self.told["size"]
        return OnDisk.opened(self.folder, (first, second), self.told, to_write=to_write)


@contextmanager
def to_go_on(path: str | PathLike[str]) -> Iterator[Found]:
    """The run in a folder, which nobody else writes to as long as it lasts."""
    Found.at(path)  # (nothing is made in a folder without a run)
    with _locked(folder_at(path)):
        yield Found.at(path)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """With the lock of a folder, which the system takes away from a process that ends."""
    try:
        file = (folder / LOCK).open("ab")
    except OSError as error:
        raise RunError(
            f"{folder}: cannot be written to ({reason(error)}); make it writable, or copy it."
        ) from error
    with file:
        with suppress(ImportError):  # (a system without locks of this kind)
            import fcntl  # noqa: PLC0415

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise RunError(
                    f"{folder}: another process is writing to it; wait for it, or stop it."
                ) from error
        yield
