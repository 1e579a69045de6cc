"""Variants of one sampler, run briefly side by side: effective draws per operation of each.

Comes in: how to compile a variant, and the variants by name. Goes out: a `Comparison` that prints
as a table, the best first. ESS is the smallest of the bulk ESS of all elements compared, so that a
variant is as good as its worst element. Operations are counted (`gibbsppl.code.operations`), paths
by gradients by the points that they had: what is best does not depend on the machine. Seconds are
told beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from time import process_time
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from gibbsppl.checks.table import table
from gibbsppl.code.trials import operations_of
from gibbsppl.comparing.costs import Lowered
from gibbsppl.comparing.mixing import Mixing, mixing
from gibbsppl.errors import GibbspplError, NotLoweredError, RunError
from gibbsppl.html import Printed
from gibbsppl.model.graph import Graph
from gibbsppl.output.draws import STATISTICS, Draws
from gibbsppl.settings import Settings

# The level of all comparisons with the first variant together.
LEVEL = 0.05


class Compiled(Lowered, Protocol):
    """A compiled sampler, as far as a comparison asks it."""

    @property
    def graph(self) -> Graph:
        """The model."""

    def sample(self, draws: int, **how: Any) -> Draws:
        """Draws from the posterior."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant: settings, cost of a sweep, and mixing of the worst element.

    ``seconds`` are those of a sweep (CPU), ``operations`` too (NaN where they are not known);
    ``ess`` is per 1,000 sweeps, of which there were ``sweeps`` in all chains.
    """

    name: str
    settings: Settings
    seconds: float
    operations: float
    mixing: Mixing
    sweeps: int

    @property
    def ess(self) -> float:
        """Effective draws in 1,000 sweeps, of the element that mixes worst."""
        return 1000 * self.mixing.share

    @property
    def worst(self) -> str:
        """The element that mixes worst."""
        return self.mixing.worst

    @property
    def r_hat(self) -> float:
        """The R-hat of the element that mixes worst."""
        return self.mixing.r_hat

    @property
    def error(self) -> float:
        """The standard error of ``ess``, as a share of it."""
        return self.mixing.error

    @property
    def ess_per_second(self) -> float:
        """Effective draws per second of the element that mixes worst."""
        return self.ess / 1000 / self.seconds

    @property
    def ess_per_operation(self) -> float:
        """Effective draws per million operations of the element that mixes worst."""
        return 1e6 * self.mixing.share / self.operations

    def beats(self, other: Variant, level: float) -> bool:
        """Whether it has more effective draws per operation than another, by more than the error.

        Not where the operations of one are not known.
        """
        ratio = self.ess_per_operation / other.ess_per_operation
        return ratio > 1 and self.mixing.below(other.mixing, ratio) < level


@dataclass(frozen=True, slots=True)
class Comparison(Printed):
    """Variants, the best first, and failed variants (not compiled or run), with the reason.

    ``best`` is the variant that was named first, unless others have more effective draws per
    operation by more than the error: then the one of these with most. ``level`` is that of each
    comparison; that of all together is 5 %.
    """

    variants: tuple[Variant, ...]
    failed: tuple[tuple[str, str], ...]
    chosen: Variant | None
    level: float

    @property
    def best(self) -> Variant:
        """The first variant, or one that is better by more than the error."""
        if self.chosen is None:
            told = "; ".join(f"{name}: {why}" for name, why in self.failed)
            raise RunError(f"compare: no variant has been compiled and run: {told}")
        return self.chosen

    @property
    def as_chosen(self) -> str:
        """The comparison, and how the best was found, for the head of its schedule."""
        return f"chosen among {len(self.variants) + len(self.failed)} variants:\n{self}"

    def __getitem__(self, name: str) -> Variant:
        """A variant by its name."""
        return next(v for v in self.variants if v.name == name)

    def __str__(self) -> str:
        header = (
            *("variant", "ESS/million operations", "error", "operations/sweep"),
            *("ESS/1000 sweeps", "sweeps", "ms/sweep", "worst", "R-hat"),
        )
        rows = [
            (
                v.name,
                _number(v.ess_per_operation),
                f"{100 * v.error:.0f} %" if not isnan(v.error) else "-",
                _number(v.operations),
                f"{v.ess:.3g}",
                f"{v.sweeps:,}",
                f"{1000 * v.seconds:.3g}",
                v.worst,
                f"{v.r_hat:.3f}",
            )
            for v in self.variants
        ]
        failed = (f"{n}: not compared: {why}" for n, why in self.failed)
        return "\n".join([table(header, rows), *self._told(), *failed])

    def _told(self) -> list[str]:
        """The best, and those that are not worse than it by more than the error."""
        if self.chosen is None:
            return []
        best = self.chosen
        equal = [v.name for v in self.variants if v is not best and not best.beats(v, self.level)]
        return [
            f"best: {best.name}"
            + (f"; not told apart from it: {', '.join(equal)}" if equal else "")
        ]


def best_of(variants: Sequence[Variant], first: str, level: float) -> Variant:
    """The first by name, or of those that are better by more than the error the best."""
    own = next((v for v in variants if v.name == first), variants[0])
    better = [v for v in variants if v.beats(own, level)]
    return max(better, key=lambda v: v.ess_per_operation, default=own)


def ordered(variants: Sequence[Variant]) -> tuple[Variant, ...]:
    """Variants by effective draws per operation, and after them those whose are not known."""
    return tuple(sorted(variants, key=_rank))


def _rank(v: Variant) -> tuple[bool, float]:
    unknown = isnan(v.operations)
    return unknown, -(v.ess_per_second if unknown else v.ess_per_operation)


def compared(
    compile_: Callable[[Settings], Compiled],
    variants: Mapping[str, Settings],
    of: Sequence[str] | None,
    **run: int,
) -> Comparison:
    """Each variant compiled and run; ``of`` names the variables that are compared."""
    found, failed = [], []
    for name, settings in variants.items():
        try:
            found.append(measured(name, settings, compile_(settings), of, run))
        except Exception as error:
            if isinstance(error, RunError) and not found:  # (of the sampler itself)
                raise
            failed.append((name, reason_of(error)))
    level = LEVEL / max(1, len(variants) - 1)
    best = best_of(found, next(iter(variants)), level) if found else None
    return Comparison(ordered(found), tuple(failed), best, level)


def reason_of(error: Exception) -> str:
    """Why a variant has failed: the first line of a message; of an error of no message its kind.

    >>> reason_of(RunError("no state is finite.")), reason_of(ZeroDivisionError("by zero"))
    ('no state is finite.', 'ZeroDivisionError: by zero')
    >>> reason_of(AssertionError())
    'AssertionError'
    """
    told = str(error).strip().splitlines()[:1]
    kind = [] if isinstance(error, GibbspplError) and told else [type(error).__name__]
    return ": ".join([*kind, *told])


def by_default(graph: Graph) -> tuple[str, ...]:
    """The latent variables that are compared by default: all but labels."""
    latent = {s.target.array.name: s.support.is_discrete for s in graph.latent}
    return tuple([n for n, discrete in latent.items() if not discrete] or latent)


def measured(
    name: str,
    settings: Settings,
    sampler: Compiled,
    of: Sequence[str] | None,
    run: Mapping[str, Any],
) -> Variant:
    """A variant that is run, its chains from starts of their own."""
    names = by_default(sampler.graph) if of is None else tuple(of)
    once = {**run, "draws": 1, "warmup": 0, "chains": 1, "seed": 0}
    sampler.sample(**once, keep=names, progress=False)  # (compiles)
    started = process_time()
    draws = sampler.sample(**run, keep=names, progress=False)
    seconds = process_time() - started
    sweeps = run["chains"] * (run["warmup"] + run["draws"])
    operations = operations_by(sampler, points_of(draws))
    return Variant(name, settings, seconds / sweeps, operations, mixing(draws, names), sweeps)


def points_of(draws: Draws) -> dict[str, float]:
    """The mean number of points of the paths of each step by gradients, by its name."""
    prefix = STATISTICS["points"]
    told = {n: np.asarray(v, float) for n, v in draws.sample_stats.items()}
    return {
        n.removeprefix(prefix): float(np.nanmean(v))
        for n, v in told.items()
        if n.startswith(prefix) and np.isfinite(v).any()
    }


def operations_by(
    sampler: Compiled, points: Mapping[str, float] = MappingProxyType({})
) -> float:
    """The operations of a sweep; NaN where they are not known.

    ``points`` are those that paths of steps by gradients have had, on average.
    """
    try:
        return operations_of(sampler.schedule, sampler.loops(), points)
    except NotLoweredError:
        return nan


def _number(value: float) -> str:
    return "-" if isnan(value) else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
