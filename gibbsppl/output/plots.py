"""Pictures of draws: traces, and the ranks of each chain's draws among all.

Comes in: the worst elements of a run. Goes out: a figure of matplotlib, with a row for each. Where
chains agree, the ranks of each are spread evenly (A. Vehtari et al., 2021, Bayesian Analysis 16):
counts are then mostly inside of a band of two standard errors, those of as many independent draws
as the effective sample sizes of the chains, each by itself, say.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from gibbsppl.arguments import PATH, methods_told
from gibbsppl.errors import RunError, counted
from gibbsppl.output.arrays import Array
from gibbsppl.output.diagnostics import ess_bulk
from gibbsppl.output.worst import Element

WIDTH, HEIGHT, RESOLUTION = 10.0, 2.1, 110
MOST_POINTS = 4000
MOST_BINS, DRAWS_IN_A_BIN = 20, 10


@methods_told(RunError, save={"path": PATH})
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DrawsPlot:
    """A picture of draws, which notebooks show; ``figure`` is one of matplotlib, to change it.

    ``elements`` are those that are shown, the worst first.
    """

    figure: Any
    elements: tuple[Element, ...]

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture to a file of the kind that its ending says: .png, .pdf, .svg."""
        known = self.figure.canvas.get_supported_filetypes()
        if Path(path).suffix[1:].lower() not in known:
            raise RunError(
                f"save: found the path {str(path)!r}, expected one that ends in one of "
                f"{', '.join('.' + ending for ending in sorted(known))}."
            )
        self.figure.savefig(path, dpi=RESOLUTION)
        return Path(path)

    def _repr_png_(self) -> bytes:
        written = io.BytesIO()
        self.figure.savefig(written, format="png", dpi=RESOLUTION)
        return written.getvalue()

    def __repr__(self) -> str:
        return f"<Traces and ranks of {', '.join(e.label for e in self.elements)}>"


def plot_of(elements: Sequence[Element], title: str) -> DrawsPlot:
    """The picture of some elements: traces at the left, ranks at the right."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  (an extra, and slow to import)
    except ImportError:
        raise RunError(
            "plot: found no matplotlib, which draws pictures; install it, as in pip install "
            "'gibbsppl[plot]', or look at summary()."
        ) from None
    figure = Figure(figsize=(WIDTH, HEIGHT * len(elements) + 0.5), layout="constrained")
    rows = figure.subplots(len(elements), 2, squeeze=False, width_ratios=(5, 3))
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    for (left, right), element in zip(rows, elements, strict=True):
        _trace(left, element)
        _ranks(right, element)
    rows[-1, 0].set_xlabel("draw")
    rows[-1, 1].set_xlabel("rank among the draws of all chains")
    return DrawsPlot(figure, tuple(elements))


def _trace(axes: Any, element: Element) -> None:
    every = -(-element.draws.shape[1] // MOST_POINTS)
    at = np.arange(0, element.draws.shape[1], every)
    for chain, draws in enumerate(element.draws):
        axes.plot(at, draws[at], color=f"C{chain % 10}", linewidth=0.6, alpha=0.8)
    told = f"  (one draw in {every} shown)" if every > 1 else ""
    axes.set_title(f"{element}{told}", fontsize=9, loc="left")
    axes.margins(x=0.01)


def _ranks(axes: Any, element: Element) -> None:
    draws = _compared(element.draws)
    counts = rank_counts(draws)
    if counts is None:
        axes.text(0.5, 0.5, "no ranks: all draws are equal, or some not finite",
                  ha="center", va="center", fontsize=8, transform=axes.transAxes)  # fmt: skip
        axes.set_axis_off()
        return
    chains, bins = counts.shape
    expected = draws.shape[1] / bins
    edges = np.linspace(0, draws.size, bins + 1)
    error = 2 * rank_error(element, bins)
    axes.axhspan(expected - error, expected + error, color="0.5", alpha=0.18, linewidth=0)
    axes.axhline(expected, color="0.4", linewidth=0.8)
    for chain in range(chains):
        axes.stairs(counts[chain], edges, color=f"C{chain % 10}", linewidth=1.1, baseline=None)
    axes.set_ylim(bottom=0)
    of = counted(chains, "chain") if len(element.draws) > 1 else "the halves of the chain"
    axes.set_title(f"ranks of {of}", fontsize=9, loc="left")


def rank_counts(draws: Array) -> Array | None:
    """How many draws of each chain have ranks in each of some ranges; None without ranks.

    Equal draws share their ranks evenly.

    >>> rank_counts(np.array([[0.0, 1.0] * 10, [1.0, 2.0] * 10])).tolist()
    [[10.0, 5.0, 5.0, 0.0], [0.0, 5.0, 5.0, 10.0]]
    """
    if not np.isfinite(draws).all() or (draws == draws.flat[0]).all():
        return None
    bins = int(np.clip(draws.size // DRAWS_IN_A_BIN, 2, MOST_BINS))
    values, places = np.unique(draws, return_inverse=True)
    own = [np.bincount(p, minlength=len(values)) for p in places.reshape(draws.shape)]
    below = np.concatenate([np.zeros((len(own), 1)), np.cumsum(own, axis=1)], axis=1)
    edges = np.linspace(0, draws.size, bins + 1)
    return np.diff([np.interp(edges, below.sum(axis=0), b) for b in below], axis=1)


def rank_error(element: Element, bins: int) -> float:
    """The standard error of the count of a chain's ranks in one of some ranges, if chains agree.

    Of independent draws that is hypergeometric; of others larger, as the ESS of each chain by
    itself, which says nothing of whether they agree, is smaller than their number.
    """
    draws = _compared(element.draws)
    share = (1 - 1 / bins) * (1 - 1 / len(draws))
    by_chain = ess_bulk(draws.T[np.newaxis])
    effective = np.nansum(by_chain) if np.isfinite(by_chain).any() else draws.size
    return float(np.sqrt(draws.shape[1] / bins * share * max(1.0, draws.size / effective)))


def _compared(draws: Array) -> Array:
    """The chains; of one alone its halves."""
    half = draws.shape[1] // 2
    return draws[:, : 2 * half].reshape(2, half) if len(draws) == 1 and half else draws
