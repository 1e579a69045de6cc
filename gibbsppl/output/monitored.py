"""Statistics of variables and of functions of the state whose draws were not kept.

Comes in: statistics of each chain, and of all chains together. Goes out: a `Monitored` for each
monitor, which prints as a table, and arrays for a file.

>>> one = Monitored(
...     counts=np.array([10, 10]), means=np.array([[1.0], [2.0]]), variances=np.ones((2, 1)),
...     chain_quantiles=np.zeros((2, 3, 1)), quantiles={0.05: np.zeros(1), 0.5: np.ones(1)},
...     r_hat=np.ones(1), mcse=np.ones(1), dims=("school",),
... )
>>> one.mean, one.var.round(3)
(array([1.5]), array([1.211]))
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from gibbsppl.errors import RunError, did_you_mean
from gibbsppl.html import Printed
from gibbsppl.output.arrays import Array, Named

# The elements of a variable that are printed.
SHOWN = 6

# In a file: the dim of quantiles, and that of the values that have probabilities.
PROBABILITY, VALUE = "monitored_probability", "monitored_value"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Monitored(Printed):
    """The statistics of one monitor, arrays along ``dims``.

    ``counts``, ``means``, ``variances`` and ``chain_quantiles`` are those of each chain, the first
    axis; ``quantiles`` have the probability as key. ``mcse`` is the Monte Carlo error of the mean,
    ``r_hat`` compares halves of chains. ``covariance`` has the axes twice, and is there for small
    arrays; ``probabilities``, of labels and few whole numbers, those of ``values`` along a last
    axis. ``noises``: of a prediction, the mean variance of what is predicted given the state.
    """

    counts: Array
    means: Array
    variances: Array
    chain_quantiles: Array
    quantiles: Mapping[float, Array]
    r_hat: Array
    mcse: Array
    dims: tuple[str, ...] = ()
    coords: Mapping[str, Array] = field(default_factory=dict)
    covariance: Array | None = None
    probabilities: Array | None = None
    values: Array | None = None
    noises: Array | None = None

    @property
    def draws(self) -> int:
        """The number of draws of all chains."""
        return int(self.counts.sum())

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the variable."""
        return self.means.shape[1:]

    @property
    def mean(self) -> Array:
        """The mean over all draws."""
        return self._averaged(self.means)

    @property
    def squares(self) -> Array:
        """The squared deviations of all draws from their mean."""
        gaps = (self.means - self.mean) ** 2
        counts = self._by_chain(self.counts)
        within = np.where(counts > 1, self.variances, 0.0) * (counts - 1)
        return np.asarray((within + counts * gaps).sum(axis=0))

    @property
    def var(self) -> Array:
        """The variance over all draws."""
        with np.errstate(all="ignore"):  # (of one draw there is none)
            return np.asarray(self.squares / np.float64(self.draws - 1))

    @property
    def sd(self) -> Array:
        """The standard deviation over all draws."""
        return np.sqrt(self.var)

    @property
    def by_chain(self) -> Mapping[str, Array]:
        """The number of draws, mean, variance, sd and quantiles of each chain, the first axis.

        Quantiles have the probability as second axis.
        """
        found = {"draws": self.counts, "mean": self.means, "var": self.variances}
        return {**found, "sd": np.sqrt(self.variances), "quantiles": self.chain_quantiles}

    @property
    def predictive_variance(self) -> Array:
        """The variance of what is predicted: of its mean over draws, and about it given a draw."""
        if self.noises is None:
            raise RunError(
                "predictive_variance: found a monitor of the state itself, expected a prediction, "
                "as in monitor={'y': gp.predictive('y', new={...})}; take var."
            )
        return np.asarray(self._averaged(self.noises) + self.squares / self.draws)

    @property
    def predictive_sd(self) -> Array:
        """The standard deviation of what is predicted, noise included."""
        return np.sqrt(self.predictive_variance)

    def _by_chain(self, numbers: Array) -> Array:
        return numbers.reshape(-1, *(1,) * len(self.shape))

    def _averaged(self, of_chains: Array) -> Array:
        """The mean over chains, each with the weight of its draws; of equal ones their value."""
        weights = self._by_chain(self.counts / self.draws)
        first = of_chains[0]
        with np.errstate(all="ignore"):  # (of what is no number)
            return np.asarray(first + (weights * (of_chains - first)).sum(axis=0))

    def label(self, index: tuple[int, ...]) -> str:
        """The coordinates of an element, as ``[Choate, 3]``; empty for a number."""
        coords = [self.coords.get(dim) for dim in self.dims]
        texts = (str(i if c is None else c[i]) for i, c in zip(index, coords, strict=True))
        return f"[{', '.join(texts)}]" if index else ""

    def rows(self, name: str) -> Iterator[tuple[str, ...]]:
        """The rows of a table, one for each of the first elements."""
        columns = [self.mean, self.sd, *self.quantiles.values(), self.mcse]
        for at in islice(np.ndindex(self.shape), SHOWN):
            numbers = (f"{np.asarray(c)[at]:.4g}" for c in columns)
            yield f"{name}{self.label(at)}", *numbers, f"{np.asarray(self.r_hat)[at]:.3f}"
        if (more := math.prod(self.shape) - SHOWN) > 0:
            yield f"{name}[...] {more} more", *[""] * (len(columns) + 1)

    def __repr__(self) -> str:
        return repr(AllMonitored({"": self}))

    @property
    def arrays(self) -> Mapping[str, Named]:
        """All that a file has of it, with the names of dims."""
        of, by = self.dims, ("chain",)
        found: dict[str, Named] = {
            "draws": (by, self.counts),
            "mean": (of, self.mean),
            "sd": (of, self.sd),
            "quantile": ((PROBABILITY, *of), np.stack(list(self.quantiles.values()))),
            "r_hat": (of, self.r_hat),
            "mcse": (of, self.mcse),
            "chain_mean": ((*by, *of), self.means),
            "chain_var": ((*by, *of), self.variances),
            "chain_quantile": ((*by, PROBABILITY, *of), self.chain_quantiles),
        }
        if self.covariance is not None:
            found["covariance"] = (*of, *(f"{d}_other" for d in of)), self.covariance
        if self.probabilities is not None:
            found["probability_of_value"] = (*of, VALUE), self.probabilities
        if self.noises is not None:
            found["chain_noise"] = (*by, *of), self.noises
        return found

    @property
    def labels(self) -> Mapping[str, Array]:
        """The labels along dims in a file."""
        found = {PROBABILITY: np.array(list(self.quantiles)), **self.coords}
        found |= {f"{d}_other": labels for d, labels in self.coords.items()}
        return found if self.values is None else {**found, VALUE: self.values}


def monitored_of(arrays: Mapping[str, Named], labels: Mapping[str, Array]) -> Monitored:
    """The statistics that a file has."""
    dims, _ = arrays["mean"]
    quantile = arrays["quantile"][1]
    probabilities = labels[PROBABILITY].tolist()

    def of(name: str) -> Array | None:
        return arrays[name][1] if name in arrays else None

    return Monitored(
        counts=arrays["draws"][1],
        means=arrays["chain_mean"][1],
        variances=arrays["chain_var"][1],
        chain_quantiles=arrays["chain_quantile"][1],
        quantiles=dict(zip(probabilities, quantile, strict=True)),
        r_hat=arrays["r_hat"][1],
        mcse=arrays["mcse"][1],
        dims=dims,
        coords={d: labels[d] for d in dims if d in labels},
        covariance=of("covariance"),
        probabilities=of("probability_of_value"),
        values=labels[VALUE] if "probability_of_value" in arrays else None,
        noises=of("chain_noise"),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AllMonitored(Printed, Mapping[str, Monitored]):
    """The statistics of all monitors of a run, by name; printed as a table."""

    monitors: Mapping[str, Monitored] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Monitored:
        if name not in self.monitors:
            known = ", ".join(self.monitors) or "none: nothing was monitored"
            told = did_you_mean(str(name), self.monitors)
            raise RunError(f"monitored: found no monitor {name!r}, expected {known}.{told}")
        return self.monitors[name]

    def __contains__(self, name: object) -> bool:
        return name in self.monitors

    def __iter__(self) -> Iterator[str]:
        return iter(self.monitors)

    def __len__(self) -> int:
        return len(self.monitors)

    def __repr__(self) -> str:
        from gibbsppl.algebra.columns import columns  # noqa: PLC0415  (only when printed)

        if not self.monitors:
            return "nothing was monitored"
        quantiles = next(iter(self.monitors.values())).quantiles
        shares = (f"{100 * p:g}%" for p in quantiles)
        header = ("", "mean", "sd", *shares, "mcse_mean", "r_hat")
        rows = [row for name, one in self.monitors.items() for row in one.rows(name)]
        return "\n".join(columns([header, *rows]))
