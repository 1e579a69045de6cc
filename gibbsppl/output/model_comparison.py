"""Models compared by how well they predict the same observations.

Comes in: the expected log predictive density of each model, or draws with log likelihoods. Goes
out: a ``ModelComparison``, which prints as a table: models from the best to the worst, by how much
each is worse than the best, with the standard error of that difference, and weights of a mixture
of all that predicts best (stacking: Y. Yao, A. Vehtari, D. Simpson and A. Gelman, 2018, Bayesian
Analysis 13).

>>> rng = np.random.default_rng(1)
>>> near, far = (
...     Draws({"x": rng.normal(size=(2, 100))}, groups={"log_likelihood": Draws({"y": array})})
...     for array in (rng.normal(-1, 0.1, (2, 100)), rng.normal(-2, 0.1, (2, 100)))
... )
>>> found = compare_models({"far": far, "near": near})
>>> found.best, round(found["far"].difference, 1)
('near', -1.0)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from gibbsppl.arguments import DRAWS, NAME, Kind, calls_told, is_name, methods_told
from gibbsppl.errors import RunError, did_you_mean
from gibbsppl.html import Printed
from gibbsppl.output.draws import Draws
from gibbsppl.output.elpd import METHODS, Elpd, standard_error
from gibbsppl.runtime.types import Floats

if TYPE_CHECKING:
    import pandas as pd

Method: TypeAlias = Literal["loo", "waic"]
COLUMNS = ("elpd", "se", "penalty", "difference", "difference_se", "weight")
# From so many observations on, standard errors can be trusted; differences that are smaller than
# the other say little whatever their standard errors are (T. Sivula, M. Magnusson, A. A. Matamoros
# and A. Vehtari, 2025, "Uncertainty in Bayesian leave-one-out cross-validation based model
# comparison", Bayesian Analysis).
FEWEST, SMALL = 100, 4.0
# How far the score of weights may be below that of the best ones, by observation; and the most
# steps towards them.
PRECISION, STEPS = 1e-6, 10_000

MODELS = Kind(
    lambda value: isinstance(value, Mapping)
    and len(value) > 0
    and all(is_name(n) and (isinstance(v, Elpd) or DRAWS.fits(v)) for n, v in value.items()),
    "a dict from names of models to draws with log likelihoods, or to what loo() returns",
)


@dataclass(frozen=True, slots=True)
class Compared:
    """One model of several: its elpd, and the difference to that of the best, with errors.

    ``weight`` is its share of the mixture of all models that predicts best.
    """

    elpd: float
    se: float
    penalty: float
    difference: float
    difference_se: float
    weight: float
    bad: int


@methods_told(RunError, __getitem__={"name": NAME})
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ModelComparison(Printed):
    """Several models of the same observations, from the best to the worst, printed as a table.

    >>> from gibbsppl.output.elpd import Points, leave_one_out
    >>> rng = np.random.default_rng(1)
    >>> one, two = (
    ...     leave_one_out(Points({"y": rng.normal(m, 0.1, (4, 100, 50))}, {"y": ("i",)}, {}))
    ...     for m in (-1.0, -1.5)
    ... )
    >>> print(compare_models({"a line": two, "a curve": one}))
             elpd   se  penalty  difference    se  weight
    a curve ...
    a line ...
    """

    method: str
    rows: Mapping[str, Compared]
    count: int

    @property
    def best(self) -> str:
        """The name of the model with the largest elpd."""
        return next(iter(self.rows))

    def __getitem__(self, name: str) -> Compared:
        if name not in self.rows:
            raise RunError(
                f"compare_models: found no model {name!r}, only {', '.join(self.rows)}."
                f"{did_you_mean(name, self.rows)}"
            )
        return self.rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The table as plain dicts of floats."""
        return {name: {c: getattr(row, c) for c in COLUMNS} for name, row in self.rows.items()}

    def to_dataframe(self) -> pd.DataFrame:
        """The table as a pandas data frame, a row for each model."""
        import pandas as pd  # noqa: PLC0415  (slow to import)

        return pd.DataFrame.from_dict(self.to_dict(), orient="index", columns=list(COLUMNS))

    def __repr__(self) -> str:
        width = max(map(len, self.rows))
        head = ("elpd", "se", "penalty", "difference", "se", "weight")
        digits = (1, 1, 1, 1, 1, 2)
        table = [
            [f"{getattr(r, c):.{d}f}" for c, d in zip(COLUMNS, digits, strict=True)]
            for r in self.rows.values()
        ]
        widths = [max(map(len, cells)) for cells in zip(head, *table, strict=True)]
        lines = [
            name.ljust(width) + "".join(f"  {c:>{w}}" for c, w in zip(cells, widths, strict=True))
            for name, cells in zip(("", *self.rows), (head, *table), strict=True)
        ]
        return "\n".join([*lines, *self._notes()])

    def _notes(self) -> list[str]:
        notes = []
        others = [n for n in self.rows if n != self.best]
        if self.count < FEWEST and others:
            notes.append(
                f"Of fewer than {FEWEST} observations ({self.count}), standard errors of "
                "differences may be too small."
            )
        if small := [n for n in others if abs(self.rows[n].difference) < SMALL]:
            notes.append(
                f"Differences below {SMALL:g} are small, and say little: {', '.join(small)} and "
                f"{self.best} predict about as well."
            )
        if bad := [f"{n} ({row.bad})" for n, row in self.rows.items() if row.bad]:
            notes.append(
                f"Observations for which {self.method} fails, so that elpd is too high: "
                f"{', '.join(bad)}; see the {self.method}() of each."
            )
        return notes


@calls_told(RunError, models=MODELS, method=NAME)
def compare_models(
    models: Mapping[str, Draws | Elpd], *, method: Method = "loo"
) -> ModelComparison:
    """Compare models of the same observations by their expected log predictive densities.

    ``models`` are draws with log likelihoods (``sampler.log_likelihood(draws)``), or what their
    ``loo()`` or ``waic()`` returns, by name; ``method`` is "loo" or "waic". Differences are those
    to the best model, below 0 for all others, with standard errors of the sum over observations.
    Raises `RunError` for models of different observations.
    """
    if method not in METHODS:
        raise RunError(f"method: found {method!r}, expected 'loo' or 'waic'.")
    found = {n: m if isinstance(m, Elpd) else getattr(m, method)() for n, m in models.items()}
    _check_same(found, method)
    ordered = dict(sorted(found.items(), key=lambda one: -one[1].elpd))
    best = next(iter(ordered.values()))
    points = np.array([one.all_points for one in ordered.values()])
    rows = {}
    for (name, one), own, weight in zip(ordered.items(), points, stacking(points), strict=True):
        gaps = own - best.all_points
        error = 0.0 if one is best else standard_error(gaps)
        total = float(gaps.sum())
        rows[name] = Compared(
            one.elpd, one.se, one.penalty, total, error, float(weight), len(one.bad)
        )
    return ModelComparison(method, rows, best.count)


def _check_same(found: Mapping[str, Elpd], method: str) -> None:
    """Raise unless all models are of the same observations, judged by the same method."""
    (first, expected), *others = found.items()
    for name, one in found.items():
        if one.method != method:
            raise RunError(f"{name}: found what {one.method}() returns, expected {method}().")
    for name, one in others:
        shapes, own = ({n: a.shape for n, a in e.pointwise.items()} for e in (expected, one))
        if shapes != own:
            raise RunError(
                f"{name}: found observations {own}, expected those of {first}: {shapes}; models "
                "are compared on the same variables, by the same names."
            )
        for variable in expected.observed.keys() & one.observed.keys():
            here, there = (e.observed[variable][1] for e in (one, expected))
            if not np.array_equal(here, there, equal_nan=here.dtype.kind == "f"):
                raise RunError(
                    f"{name}: found other values of {variable} than in {first}, expected the same "
                    "observations in the same order and on the same scale."
                )


def stacking(points: Floats) -> Floats:
    """The weights of the mixture of models that predicts best, given log densities by model.

    The log score is concave in the weights; each step raises it (expectation and maximisation).

    >>> stacking(np.log([[0.9, 0.1, 0.9, 0.1], [0.1, 0.9, 0.1, 0.9], [0.1] * 4])).round(3)
    array([0.5, 0.5, 0. ])
    """
    densities = np.exp(points - points.max(axis=0))
    weights = np.full(len(points), 1 / len(points))
    for _ in range(STEPS):
        # The gradient of the score, by observation: its largest entry bounds what is to be gained.
        gradient = (densities / (weights @ densities)).mean(axis=1)
        if gradient.max() <= 1 + PRECISION:
            break
        weights = weights * gradient
    return weights / math.fsum(weights)
