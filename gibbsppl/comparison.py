"""Variants of one sampler, run briefly side by side: effective draws per second of each.

Comes in: how to compile a variant, and the variants by name. Goes out: a `Comparison` that prints
as a table, the best first. ESS is the smallest of the bulk ESS of all elements compared, so that a
variant is as good as its worst element.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Protocol

import numpy as np

from gibbsppl.checks.table import table
from gibbsppl.errors import CompileError, RunError
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.output.diagnostics import ess_bulk, r_hat
from gibbsppl.output.draws import Draws
from gibbsppl.rewrites import LOCATIONS, PARTS, UNSEEN, collapsible, possible
from gibbsppl.schedule.sweeps import Schedule
from gibbsppl.settings import Settings


class Compiled(Protocol):
    """What is asked of a compiled sampler."""

    @property
    def graph(self) -> Graph:
        """The model."""

    def sample(
        self,
        draws: int,
        *,
        warmup: int,
        chains: int,
        seed: int,
        keep: Sequence[str] | None,
        progress: bool,
    ) -> Draws:
        """Draws from the posterior."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant: settings, cost of a sweep, and mixing of the worst element.

    ``seconds`` are those of a sweep (CPU); ``ess`` is per 1,000 sweeps.
    """

    name: str
    settings: Settings
    seconds: float
    ess: float
    worst: str
    r_hat: float

    @property
    def ess_per_second(self) -> float:
        """Effective draws per second of the element that mixes worst."""
        return self.ess / 1000 / self.seconds


@dataclass(frozen=True, slots=True)
class Comparison:
    """Variants, the best first, and failed variants (not compiled or run), with the reason."""

    variants: tuple[Variant, ...]
    failed: tuple[tuple[str, str], ...]

    @property
    def best(self) -> Variant:
        """The variant with most effective draws per second."""
        return self.variants[0]

    def __str__(self) -> str:
        header = ("variant", "ESS/s", "ms/sweep", "ESS/1000 sweeps", "worst", "R-hat")
        rows = [
            (
                v.name,
                f"{v.ess_per_second:.3g}",
                f"{1000 * v.seconds:.3g}",
                f"{v.ess:.3g}",
                v.worst,
                f"{v.r_hat:.3f}",
            )
            for v in self.variants
        ]
        lines = [table(header, rows), *(f"{n}: not compared: {why}" for n, why in self.failed)]
        return "\n".join(lines)


def variants_of(
    graph: Graph, data: Values, schedule: Schedule, settings: Settings
) -> dict[str, Settings]:
    """The default variants of a sampler: settings by a name.

    The sampler as compiled; without the user's settings of the schedule; without each rewrite made;
    with each further possible rewrite; with all variables collapsed that can be.
    """
    asked = settings["rewrites"]
    now = dict(asked) if isinstance(asked, Mapping) else {}
    every: dict[str, Settings] = {"as compiled": {}, **_uncontrolled(schedule, settings)}
    made = dict.fromkeys(r.rule.name for r in schedule.rewrites)
    for rule in made:
        every[f'without "{rule}"'] = {"rewrites": {**now, rule: False}}
    if schedule.parts:
        every['without "parts"'] = {"rewrites": {**now, PARTS: False}}
    if schedule.leaves:
        every['without "unseen"'] = {"rewrites": {**now, UNSEEN: False}}
    if not settings["collapse"] and any(g.marginals for g in schedule.graphs):
        every['without "locations"'] = {"rewrites": {**now, LOCATIONS: False}}
    if schedule.interwoven:
        every["without interweaving"] = {"interweave": False}
    if any(s.is_joint for s in schedule.steps):
        every["without joint draws"] = {"blocks": False}
    for r in possible(graph, data, schedule.rewrites):
        every[f'with "{r.rule.name}"'] = {"rewrites": {**now, r.rule.name: True}}
    for name in collapsible(graph, data):
        if name not in settings["collapse"]:
            every[f"{name} collapsed"] = {"collapse": (*settings["collapse"], name)}
    return every


def _uncontrolled(schedule: Schedule, settings: Settings) -> dict[str, Settings]:
    """A sampler without the order, the kernels or the scan that the user has set."""
    found: dict[str, Settings] = {}
    if settings["order"]:
        found["in the default order"] = {"order": ()}
    if settings["kernels"]:
        found["with the default kernels"] = {"kernels": {}}
    if schedule.units:
        found["systematic scan"] = {"scan": "systematic"}
    return found


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
            found.append(_run(name, settings, compile_(settings), of, run))
        except CompileError as error:
            failed.append((name, str(error).splitlines()[0]))
    found.sort(key=lambda v: -v.ess_per_second)
    return Comparison(tuple(found), tuple(failed))


def _by_default(graph: Graph) -> tuple[str, ...]:
    """The latent variables that are compared by default: all but labels."""
    latent = {s.target.array.name: s.support.is_discrete for s in graph.latent}
    return tuple([n for n, discrete in latent.items() if not discrete] or latent)


def _run(
    name: str,
    settings: Settings,
    sampler: Compiled,
    of: Sequence[str] | None,
    run: Mapping[str, int],
) -> Variant:
    names = _by_default(sampler.graph) if of is None else tuple(of)
    sampler.sample(draws=1, warmup=0, chains=1, seed=0, keep=names, progress=False)  # (compiles)
    started = process_time()
    draws = sampler.sample(keep=names, progress=False, **run)
    seconds = process_time() - started
    sweeps = run["chains"] * (run["warmup"] + run["draws"])
    worst: tuple[float, str, float] = (np.inf, "-", np.nan)
    for variable in names:
        values = np.asarray(draws[variable], dtype=float)
        sizes, agreement = np.asarray(ess_bulk(values)), np.asarray(r_hat(values))
        sizes = np.where(np.isnan(sizes), np.inf, sizes)
        at = np.unravel_index(int(np.argmin(sizes)), sizes.shape) if sizes.ndim else ()
        if float(sizes[at]) < worst[0]:
            place = f"[{', '.join(map(str, at))}]" if at else ""
            worst = float(sizes[at]), f"{variable}{place}", float(agreement[at])
    if not np.isfinite(worst[0]):
        raise RunError("compare: nothing that was drawn varies; name variables with of=[...].")
    per_thousand = worst[0] / (run["chains"] * run["draws"]) * 1000
    return Variant(name, settings, seconds / sweeps, per_thousand, worst[1], worst[2])
