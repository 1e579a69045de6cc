"""A row of the catalogue: a prior, its children in every spelling, and the conditional."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import gibbsppl as gp
from forms.form import Form, numbers

# Data and hyperparameters that the rows share.
N = 6
Y = numbers(N, seed=11)
POSITIVE = np.abs(numbers(N, seed=12)) + 0.2
WEIGHT = np.abs(numbers(N, seed=13)) + 0.3
COUNTS = np.array([0, 2, 1, 4, 0, 3])
FLIPS = np.array([1, 0, 1, 1, 0, 1])
EVENT = np.array([1, 1, 0, 1, 0, 1])
A, B = 2.5, 1.5

Numbers = tuple[Any, ...]
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """A latent ``x`` and what it is given all else.

    ``children``: by the name of the spelling, what declares the children of ``x``.
    ``shown``: the family in the words of the schedule.
    ``parameters``: the family's parameters in the order of its row, then the bounds if it is
    truncated, as the catalogue states them; of all values of the model.
    """

    name: str
    prior: Callable[[], Any]
    children: Mapping[str, Callable[[Any], Any]]
    shown: str
    parameters: Callable[[Values], Numbers]

    @property
    def forms(self) -> Mapping[str, Form]:
        """One form for each spelling, by its name."""
        found = (self._form(spelling) for spelling in self.children)
        return {form.name: form for form in found}

    def _form(self, spelling: str) -> Form:
        def build() -> gp.Model:
            with gp.Model(coords={"n": N}) as m:
                self.children[spelling](self.prior())
            return m

        build.__name__ = f"{self.name}_{spelling}"
        return Form(build, {"x": self.shown.removeprefix("truncated ").split(" of ")[0]})


def weight(name: str = "w") -> Any:
    """Known positive weights, one for each child."""
    return gp.Data(name, WEIGHT, dims="n")


def gamma_prior() -> Any:
    """The prior of most rates."""
    return gp.Gamma("x", A, rate=B)


def gamma(shape: Any, rate: Any) -> Callable[[Values], Numbers]:
    """The parameters of a Gamma that depend on data alone."""
    return lambda _: (shape, rate)


def total(values: Any) -> float:
    """The sum of an array."""
    return float(np.sum(values))
