"""Data of which it is written down what a derivation asks: the facts that a plan follows from.

Comes in: arrays by name. Goes out: the same arrays, as `Asked` data, with a `Record` of which were
read as they are, and which questions were asked of others, with their answers. Other data of which
all of that is the same have the same plan.

>>> import numpy as np
>>> data, other = ({"x": np.array([1.0, x]), "y": np.array([y])} for x, y in ((2, 5), (7, 0)))
>>> asked = asked_of(data)
>>> answer(asked, _least, "x"), asked.record.kept().holds(other)
(1.0, True)
>>> asked["y"], asked.record.kept().holds(other)
(array([5]), False)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from gibbsppl.errors import GibbspplError

T = TypeVar("T")
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What was found when a question was asked of data, with arrays that are ``made`` of these."""

    question: Callable[..., Any]
    more: tuple[Any, ...]
    found: Any
    made: Values

    def is_of(self, data: Values) -> bool:
        """Whether other data give the same answer, and not an error."""
        try:
            return bool(self.question({**data, **self.made}, *self.more) == self.found)
        except GibbspplError:
            return False


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """A record without the data: digests of arrays, and answers."""

    digests: Mapping[str, bytes]
    answers: tuple[Answer, ...]

    def holds(self, data: Values) -> bool:
        """Whether all that was read or asked is the same of other data."""
        same = all(digest_of(data[n]) == digest for n, digest in self.digests.items())
        return same and all(a.is_of(data) for a in self.answers)


@dataclass(slots=True, eq=False)
class Record:
    """What has been asked of ``data``: arrays that were ``read``, and questions with answers."""

    data: Values
    read: set[str] = field(default_factory=set)
    answers: list[Answer] = field(default_factory=list)

    def kept(self) -> Kept:
        """The record as far as it goes, without the data."""
        # (what is asked of an array that was read has the same answer)
        return Kept({n: digest_of(self.data[n]) for n in sorted(self.read)}, tuple(self.answers))


class Asked(Mapping[str, Any]):
    """Arrays by name: those of the `record`, and others that were made of what it has."""

    __slots__ = ("arrays", "record")

    def __init__(self, arrays: Values, record: Record) -> None:
        self.arrays, self.record = arrays, record

    def __getitem__(self, name: str) -> Any:
        found = self.arrays[name]
        if found is self.record.data.get(name):
            self.record.read.add(name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    @property
    def made(self) -> dict[str, Any]:
        """The arrays that are none of the data."""
        given = self.record.data
        return {n: a for n, a in self.arrays.items() if a is not given.get(n)}


def asked_of(data: Values) -> Asked:
    """Data of which nothing has been asked."""
    return Asked(data, Record(data))


def plain(data: Values) -> Values:
    """The arrays by name, to be read without a record."""
    return data.arrays if isinstance(data, Asked) else data


def joined(data: Values, more: Values) -> Values:
    """Arrays with further ones, which come before those of the same name.

    >>> joined({"x": 1}, {"y": 2})
    {'x': 1, 'y': 2}
    """
    found = {**plain(data), **plain(more)}
    records = [d.record for d in (data, more) if isinstance(d, Asked)]
    return Asked(found, records[0]) if records else found


def answer(data: Values, question: Callable[..., T], *more: Any) -> T:
    """The answer to a question: a function of the arrays, and of ``more`` that other data share.

    Answers are compared by ``==``.
    """
    found = question(plain(data), *more)
    if isinstance(data, Asked):
        data.record.answers.append(Answer(question, more, found, data.made))
    return found


def identity(data: Values, name: str) -> int | None:
    """A number that two arrays share if they are one; None where there is none of this name."""
    found = plain(data).get(name)
    return None if found is None else id(found)


def digest_of(array: Any) -> bytes:
    """A digest of the type, the shape and the elements of an array.

    >>> digest_of([0.0]) == digest_of([-0.0]), digest_of([1]) == digest_of([1])
    (False, True)
    """
    values = np.asarray(array)
    head = f"{values.dtype.str} {values.shape}".encode()
    return hashlib.sha256(head + values.tobytes()).digest()


def _least(data: Values, name: str) -> float:
    return float(np.min(data[name]))
