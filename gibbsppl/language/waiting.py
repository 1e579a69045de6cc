"""Declarations that wait for the size of a dimension, which data that come later will tell.

Comes in: a declaration along dimensions of which no size is known yet, or of what waits for these.
Goes out: the same declaration, made and checked as soon as the sizes are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from gibbsppl.algebra.expressions import Expr, arrays_in
from gibbsppl.errors import ModelError

Declare = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Waiting:
    """The declarations that wait, by name: the dimensions waited for, and what makes each."""

    dims: dict[str, frozenset[str]] = field(default_factory=dict)
    made_by: dict[str, Declare] = field(default_factory=dict)

    def put(self, name: str, dims: frozenset[str], declare: Declare) -> None:
        """Let a declaration wait for dimensions."""
        self.dims[name], self.made_by[name] = dims, declare

    def of(self, exprs: Iterable[Expr]) -> frozenset[str]:
        """The dimensions that the arrays wait for which some expressions read."""
        read = {n for e in exprs for n in arrays_in(e)} & self.dims.keys()
        return frozenset().union(*(self.dims[n] for n in read))

    def ready(self, is_known: Callable[[str], bool]) -> Iterator[tuple[str, Declare]]:
        """The declarations that have waited until now, in their order; they wait no more."""
        for name in [n for n, dims in self.dims.items() if all(map(is_known, dims))]:
            del self.dims[name]
            yield name, self.made_by.pop(name)

    def check_none(self) -> None:
        """Raise if anything waits still, when the model is complete."""
        for name, dims in self.dims.items():
            raise ModelError(
                f"{name}: {_no_size(min(dims))} at the end of the model: add it to the model's "
                "coords, or declare data along it."
            )


def unsized(dim: str) -> ModelError:
    """The error where the size of a dimension is needed before it is known."""
    return ModelError(
        f"{_no_size(dim)} yet, and it is needed here: add it to the model's coords, or declare "
        "data along it before."
    )


def _no_size(dim: str) -> str:
    return f"no size of the dimension {dim!r} is known"
