"""Weighted draws: what importance sampling returns, and what it says of itself.

Means are self-normalised: with weights ``w`` that add up to one, ``sum(w f)``, of which the squared
standard error is ``sum(w**2 (f - mean)**2)``; the effective number of draws is ``1 / sum(w**2)``
(A. B. Owen, 2013, "Monte Carlo theory, methods and examples", chapter 9). Weights are kept as logs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gibbsppl.algebra.columns import columns
from gibbsppl.arguments import COUNT, NAME, NAMES, POSITIVE, methods_told, shown
from gibbsppl.errors import RunError, counted, did_you_mean
from gibbsppl.html import Printed
from gibbsppl.output.arrays import Array, Attributes
from gibbsppl.output.draws import Draws
from gibbsppl.run.sampling import Seed, seed_sequence
from gibbsppl.runtime.types import Floats

# A variable of more elements is shown by so many.
MOST_ROWS = 10
QUANTILES = (0.025, 0.5, 0.975)
# Below so many effective draws means and errors are rough, as for chains.
FEWEST_DRAWS = 100


@methods_told(
    RunError,
    mean={"name": NAME},
    sd={"name": NAME},
    standard_error={"name": NAME},
    quantile={"name": NAME},
    resampled={"draws": POSITIVE},
    summary={"names": NAMES.or_none(), "max_rows": COUNT.or_none()},
)
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Weighted(Printed):
    """Independent draws with weights.

    ``values``: arrays with axes (draw, *dims), by variable; ``log_weights``: the log of the weight
    of each draw, whose mean weight estimates the evidence. ``dims`` and ``coords`` are those of
    `Draws`.

    >>> two = Weighted({"x": np.array([0.0, 1.0])}, np.log([1.0, 3.0]))
    >>> two.mean("x"), two.effective_draws, round(two.log_evidence, 4)
    (np.float64(0.75), 1.6, 0.6931)
    """

    values: Mapping[str, Array]
    log_weights: Floats
    dims: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    coords: Mapping[str, Array] = field(default_factory=dict)
    attributes: Attributes = field(default_factory=dict)

    def __post_init__(self) -> None:
        logs = np.asarray(self.log_weights)
        if logs.ndim != 1 or np.isnan(logs).any() or not np.isfinite(logs.max(initial=-np.inf)):
            raise RunError(
                f"log_weights: found {shown(self.log_weights)}, expected the log of the weight of "
                "each draw, of which one is positive at least."
            )
        for name, array in self.values.items():
            if np.shape(array)[:1] != logs.shape:
                raise RunError(
                    f"{name}: found the shape {np.shape(array)}, expected {len(logs)} draws first."
                )

    @property
    def draws(self) -> int:
        """The number of draws."""
        return len(self.log_weights)

    @property
    def weights(self) -> Floats:
        """The weights, which add up to one."""
        found = np.exp(self.log_weights - self.log_weights.max())
        return np.asarray(found / found.sum())

    @property
    def effective_draws(self) -> float:
        """The number of draws of equal weights with means as good as these, about."""
        return float(1 / np.sum(self.weights**2))

    @property
    def log_evidence(self) -> float:
        """The log of the mean weight: the log marginal likelihood, if weights are likelihoods."""
        highest = self.log_weights.max()
        return float(highest + np.log(np.mean(np.exp(self.log_weights - highest))))

    @property
    def log_evidence_error(self) -> float:
        """The standard error of the log evidence: that of the mean weight, for its size."""
        if self.draws < 2:
            return math.nan
        relative = self.draws * self.weights
        return float(relative.std(ddof=1) / np.sqrt(self.draws))

    def __getitem__(self, name: str) -> Array:
        if name not in self.values:
            known = ", ".join(self.values)
            told = did_you_mean(str(name), self.values)
            raise RunError(f"weighted draws: found no variable {name!r}, only {known}.{told}")
        return self.values[name]

    def mean(self, name: str) -> Floats:
        """The weighted mean of a variable, by element."""
        return self._averaged(self[name])

    def sd(self, name: str) -> Floats:
        """The weighted standard deviation of a variable, by element."""
        return np.sqrt(self._averaged((self[name] - self.mean(name)) ** 2))

    def standard_error(self, name: str) -> Floats:
        """The standard error of the weighted mean, by element."""
        squares = (self[name] - self.mean(name)) ** 2
        return np.asarray(np.sqrt(np.tensordot(self.weights**2, squares, axes=1)))[()]

    def quantile(self, name: str, probability: float) -> Floats:
        """The least value at or below which a variable is with a probability, by element."""
        if not isinstance(probability, float | int) or not 0 <= probability <= 1:
            found = shown(probability)
            raise RunError(f"quantile: found {found}, expected a probability from 0 to 1.")
        array = self[name]
        flat = array.reshape(self.draws, -1)
        order = np.argsort(flat, axis=0, kind="stable")
        ends = np.cumsum(self.weights[order], axis=0)
        at = np.argmax(ends >= min(probability, 1.0) * ends[-1], axis=0)
        found = np.take_along_axis(flat, np.take_along_axis(order, at[None], axis=0), axis=0)[0]
        return np.asarray(found.reshape(array.shape[1:]))[()]

    def resampled(self, draws: int, seed: Seed = None) -> Draws:
        """So many draws of equal weights, each one of these by its weight, as `Draws`.

        Some of them are the same: they say no more than ``effective_draws`` of independent ones.
        """
        sequence = seed_sequence(seed)
        rng = np.random.default_rng(sequence)
        chosen = rng.choice(self.draws, size=draws, p=self.weights)
        return Draws(
            values={n: np.asarray(a)[chosen][None] for n, a in self.values.items()},
            dims=self.dims,
            coords=self.coords,
            attributes={**self.attributes, "resampled_by": sequence.entropy},
        )

    def summary(
        self, names: str | Sequence[str] | None = None, *, max_rows: int | None = MOST_ROWS
    ) -> str:
        """Means with their standard errors, sds and quantiles as a table, and the evidence.

        ``names`` chooses variables; one with more than ``max_rows`` elements is shown by the first
        ones (``None``: by all).
        """
        chosen = (names,) if isinstance(names, str) else names or tuple(self.values)
        rows = [row for n in chosen for row in self._rows(n, max_rows)]
        header = ("", "mean", "error", "sd", *(f"{100 * q:g}%" for q in QUANTILES))
        effective = self.effective_draws
        evidence = f"log evidence {self.log_evidence:.4f}, error {self.log_evidence_error:.2g}"
        notes = [f"{effective:.1f} effective draws of {self.draws}; {evidence}"]
        if effective < FEWEST_DRAWS:
            notes.append(
                f"Few draws have most of the weight (the largest {self.weights.max():.2g}): means "
                "and errors are rough. Raise draws=; of many parameters or much data, gp.compile "
                "does better."
            )
        title = f"importance sampling, {counted(self.draws, 'draw')}"
        return "\n\n".join([title, "\n".join(columns([header, *rows])), "\n".join(notes)])

    def __str__(self) -> str:
        return self.summary()

    __repr__ = __str__

    def _averaged(self, array: Array) -> Floats:
        return np.asarray(np.tensordot(self.weights, array, axes=1))[()]

    def _rows(self, name: str, most: int | None) -> list[tuple[str, ...]]:
        """The rows of a variable, one for each element that is shown."""
        found = [self.mean(name), self.standard_error(name), self.sd(name)]
        found += [self.quantile(name, q) for q in QUANTILES]
        coords = [self.coords.get(d) for d in self.dims.get(name, ())]
        rows = []
        for at in list(np.ndindex(np.shape(found[0])))[:most]:
            coords = coords or [None] * len(at)
            places = (str(i if c is None else c[i]) for i, c in zip(at, coords, strict=True))
            label = f"{name}[{', '.join(places)}]" if at else name
            rows.append((label, *(f"{np.asarray(c)[at]:.4g}" for c in found)))
        return rows
