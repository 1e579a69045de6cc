"""Draws on the disk: a plain ``.npy`` file for each variable, filled segment by segment.

Its array has axes (chain, draw, ...) and room for all draws; where nothing is written yet, it takes
no room on most disks. Which of its draws are there the checkpoint says.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import numpy as np
from numpy.lib import format as npy

from gibbsppl.errors import RunError
from gibbsppl.output.thinning import Every
from gibbsppl.output.whole_files import reason
from gibbsppl.run.recording import Array
from gibbsppl.run.stores import Move, Rates, rows_of

# The folder, inside of that of a run, with the draws of its warm-up.
WARMUP = "warmup"


@dataclass(slots=True, eq=False)
class ArrayFile:
    """A file with the draws of one variable; ``start``: where the numbers begin in it."""

    path: Path
    file: IO[bytes]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    start: int

    @classmethod
    def made(cls, path: Path, shape: tuple[int, ...], dtype: np.dtype[Any]) -> ArrayFile:
        """A new file, with room for all draws."""
        with _told(path):
            file = path.open("x+b", buffering=0)
            header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
            npy.write_array_header_1_0(file, header)
            start = file.tell()
            file.truncate(start + math.prod(shape) * dtype.itemsize)
        return cls(path, file, shape, dtype, start)

    @classmethod
    def opened(cls, path: Path, *, to_write: bool) -> ArrayFile:
        """The file of a run that goes on, or is read."""
        with _told(path):
            file = path.open("r+b" if to_write else "rb", buffering=0)
            try:
                return cls._read(path, file)
            except BaseException:
                file.close()
                raise

    @classmethod
    def _read(cls, path: Path, file: IO[bytes]) -> ArrayFile:
        """The file as its header tells of it."""
        npy.read_magic(file)
        shape, _, dtype = npy.read_array_header_1_0(file)
        if path.stat().st_size < file.tell() + math.prod(shape) * dtype.itemsize:
            raise ValueError("it is shorter than its header says")
        return cls(path, file, shape, dtype, file.tell())

    def put(self, chain: int, first: int, draws: Array) -> None:
        """Write draws of a chain from number ``first`` on."""
        row = math.prod(self.shape[2:]) * self.dtype.itemsize
        left = np.ascontiguousarray(draws, self.dtype).reshape(-1).view(np.uint8).data
        with _told(self.path):
            self.file.seek(self.start + (chain * self.shape[1] + first) * row)
            while left:
                left = left[self.file.write(left) :]

    def sync(self) -> None:
        """Have all that is written on the disk; an error where the file has gone."""
        with _told(self.path):
            os.fsync(self.file.fileno())
            here, own = self.path.stat(), os.fstat(self.file.fileno())
            if (here.st_dev, here.st_ino) != (own.st_dev, own.st_ino):
                raise FileNotFoundError(2, "another file has its name")

    def mapped(self) -> Array:
        """The array, which is read from the disk where it is looked at."""
        if not math.prod(self.shape):
            return np.empty(self.shape, self.dtype)
        return np.asarray(np.memmap(self.path, self.dtype, "r", self.start, self.shape))


class _told:  # noqa: N801  (a context, as those of the standard library)
    """With errors of a file that say which it is, and what to do."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError | ValueError):
            raise RunError(
                f"{self.path}: draws cannot be written or read ({reason(error)}); what the last "
                "checkpoint tells of is left as it was: make room or put the file back, and go on "
                "from there with gibbsppl.resume."
            ) from error


@dataclass(slots=True, eq=False)
class OnDisk:
    """Draws in the files of a folder: of so many chains, so many of each; of some one in ``every``.

    ``values`` are the files of the variables, ``rates`` those of the statistics of moves.
    """

    folder: Path
    size: tuple[int, int]
    every: Every = field(default_factory=dict)
    values: dict[str, ArrayFile] = field(default_factory=dict)
    rates: dict[Move, ArrayFile] = field(default_factory=dict)
    warmup: OnDisk | None = None

    def with_warmup(self, draws: int) -> OnDisk:
        """The same, with a folder inside of it for so many draws of warm-up."""
        folder = self.folder / WARMUP
        with _told(folder):
            folder.mkdir(exist_ok=True)
        self.warmup = OnDisk(folder, (self.size[0], draws), self.every)
        return self

    def put(self, chain: int, first: int, values: Mapping[str, Array], rates: Rates) -> None:
        """Add what is kept of draws of a chain, before which there were ``first``, and rates."""
        for name, array in values.items():
            every = self.every.get(name, 1)
            if name not in self.values:
                self.values[name] = self.made(name, array, self.size[1] // every)
            self.values[name].put(chain, first // every, array)
        for (step, what), array in rates.items():
            if (step, what) not in self.rates:
                self.rates[step, what] = self.made(
                    f"{what} {step}", array, self.size[1], is_filled=True
                )
            self.rates[step, what].put(chain, first, array)

    def made(self, name: str, array: Array, draws: int, *, is_filled: bool = False) -> ArrayFile:
        """A new file for so many draws of which some are given; ``is_filled``: NaN at first."""
        taken = {f.path.name.lower() for f in (*self.values.values(), *self.rates.values())}
        stem = quote(name, safe=" ()[],='").strip(". ")[:100]
        found = next(n for k in range(len(taken) + 1) if (n := f"{stem}{'_' * k}.npy").lower()
                     not in taken)  # fmt: skip
        path = self.folder / found
        path.unlink(missing_ok=True)  # (made after the last checkpoint, which does not know of it)
        made = ArrayFile.made(path, (self.size[0], draws, *array.shape[1:]), array.dtype)
        if is_filled:
            for chain in range(self.size[0]):
                made.put(chain, 0, np.full(draws, np.nan))
        return made

    def kept(self, chains: list[int], draws: int) -> tuple[Mapping[str, Array], Rates]:
        """The first draws of some chains, and the statistics of moves; read where looked at."""
        rows = rows_of(chains)
        drawn = {name: draws // self.every.get(name, 1) for name in self.values}
        values = {name: file.mapped()[rows, : drawn[name]] for name, file in self.values.items()}
        return values, {move: file.mapped()[rows, :draws] for move, file in self.rates.items()}

    def sync(self) -> None:
        """Have all draws on the disk."""
        if self.warmup is not None:
            self.warmup.sync()
        for file in (*self.values.values(), *self.rates.values()):
            file.sync()

    def close(self) -> None:
        """Close the files."""
        if self.warmup is not None:
            self.warmup.close()
        for file in (*self.values.values(), *self.rates.values()):
            file.file.close()

    @property
    def told(self) -> Mapping[str, Any]:
        """The names of the files, by what they are of."""
        return {
            "draws": {name: file.path.name for name, file in self.values.items()},
            "every": dict(self.every),
            "statistics": [[*move, file.path.name] for move, file in self.rates.items()],
            **({} if self.warmup is None else {WARMUP: [self.warmup.size[1], self.warmup.told]}),
        }

    @classmethod
    def opened(
        cls, folder: Path, size: tuple[int, int], told: Mapping[str, Any], *, to_write: bool
    ) -> OnDisk:
        """The draws of a run that goes on, or is read, as a checkpoint tells of them."""
        found = cls(folder, size, told["every"])
        try:
            for name, file in told["draws"].items():
                found.values[name] = ArrayFile.opened(folder / file, to_write=to_write)
            for step, what, file in told["statistics"]:
                found.rates[step, what] = ArrayFile.opened(folder / file, to_write=to_write)
            found.check()
            if WARMUP in told:
                draws, own = told[WARMUP]
                again = cls.opened(folder / WARMUP, (size[0], draws), own, to_write=to_write)
                found.warmup = again
        except BaseException:
            found.close()
            raise
        return found

    def check(self) -> None:
        """Raise where a file has not the draws of this run."""
        sizes = {n: (self.size[0], self.size[1] // self.every.get(n, 1)) for n in self.values}
        expected = [*((f, sizes[n]) for n, f in self.values.items()),
                    *((f, self.size) for f in self.rates.values())]  # fmt: skip
        for file, size in expected:
            if file.shape[:2] != size:
                raise RunError(
                    f"{file.path}: found draws for (chain, draw) {file.shape[:2]}, expected "
                    f"{size}; put the file of the run back."
                )
