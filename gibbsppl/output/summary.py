"""The summary of draws as a value that prints as a table.

Comes in: one array of draws per variable with labels for its elements. Goes out: a ``Summary``:
numbers by row and column, what was left out, and, in print, what to worry about.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from gibbsppl.arguments import NAME, methods_told
from gibbsppl.errors import RunError, counted
from gibbsppl.html import Printed
from gibbsppl.output.arrays import Array
from gibbsppl.output.diagnostics import PROBS, RELIABILITY, columns_of, measures, split_r_hat
from gibbsppl.output.shares import Names, indicators, width
from gibbsppl.runtime.draws import BELOW_ONE, HUGE, TINY

if TYPE_CHECKING:
    import pandas as pd

HIGHEST_R_HAT = 1.01
LOWEST_ESS_PER_CHAIN = 100
# Of the steps of a random walk, the share accepted at which it is half as good as at its best: of
# a * q(a / 2)**2, q the normal quantile (G. O. Roberts, A. Gelman and W. R. Gilks, 1997, Annals of
# Applied Probability 7).
LOWEST_ACCEPTANCE = 0.039
# Draws nearer to 0, to 1 or to infinity than numbers can be are kept at the last number before it.
LAST_NUMBERS = (TINY, BELOW_ONE, HUGE)
HIGHEST_SHARE_KEPT = 0.001

Row = Mapping[str, float]
Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """The rows of one variable: all of its elements, or the first and the last few.

    ``head`` rows stand before the gap; ``places`` are the positions of the rows in the variable
    (of a label, whose rows are those of the labels drawn, the same for each).
    ``hidden_r_hat`` is the largest R-hat, from means and
    variances alone, among the elements that are not shown. ``kept``: the element of which most
    draws are at the last number before an end of their support, and their share.
    """

    name: str
    rows: Mapping[str, Row]
    size: int
    head: int
    hidden_r_hat: float = math.nan
    places: tuple[Place, ...] = ()
    kept: tuple[str, float] = ("", 0.0)

    @property
    def hidden(self) -> int:
        """The number of elements that are not shown."""
        return self.size - len(set(self.places))


@methods_told(RunError, __getitem__={"label": NAME})
@dataclass(frozen=True, slots=True, repr=False)
class Summary(Printed):
    """Mean, sd, quantiles, Monte Carlo error, ESS and R-hat, one row per element shown.

    ``summary["theta[3]"]["mean"]`` is one number, ``rows`` the whole table by label and column.
    ``acceptance``: for each random walk, the share of its steps that was accepted, in the chain in
    which it is smallest. ``interrupted`` says what Ctrl-C left out of the run, ``tempered`` how
    states at powers of the likelihood were swapped. ``paths``: for each move along paths by
    gradients, the mean number of points, and the share that diverged, in the worst chain of each.
    """

    blocks: tuple[Block, ...]
    chains: int
    draws: int
    acceptance: Mapping[str, float] = field(default_factory=dict)
    interrupted: str | None = None
    tempered: str | None = None
    paths: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Two variables may label their elements alike: a scalar "x[1]", and an element of x.
        object.__setattr__(self, "blocks", _blocks_told_apart(self.blocks))

    @property
    def rows(self) -> dict[str, Row]:
        """The table, by row label."""
        return {label: row for block in self.blocks for label, row in block.rows.items()}

    def __getitem__(self, label: str) -> Row:
        for block in self.blocks:
            if label in block.rows:
                return block.rows[label]
        raise RunError(
            f"summary: found no row {label!r}; rows are labelled as printed, and rows left out are "
            "there after summary(max_rows=None)."
        )

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The table as plain dicts of floats."""
        return {label: dict(row) for label, row in self.rows.items()}

    def to_dataframe(self) -> pd.DataFrame:
        """The table as a pandas data frame: a row for each that is shown, by its label."""
        import pandas as pd  # noqa: PLC0415  (slow to import)

        return pd.DataFrame.from_dict(self.to_dict(), orient="index")

    def __repr__(self) -> str:
        title = f"{counted(self.chains, 'chain')}, {counted(self.draws, 'draw')} each"
        notes = _notes(self)
        return "\n".join([title, "", *_table(self.blocks), *([""] if notes else []), *notes])

    def _repr_html_(self) -> str:
        from gibbsppl.output.pages import summary_page  # noqa: PLC0415  (only in notebooks)

        title = f"{counted(self.chains, 'chain')}, {counted(self.draws, 'draw')} each"
        return summary_page(title, _columns(self.blocks), self._marked_rows(), _notes(self))

    def _marked_rows(self) -> Iterator[tuple[str, Sequence[str], Mapping[str, bool]]]:
        """The rows as texts, with the cells to worry about; where rows are left out, one line."""
        lowest = LOWEST_ESS_PER_CHAIN * self.chains
        for block in self.blocks:
            for n, (label, row) in enumerate(block.rows.items()):
                if block.hidden and n == block.head:
                    yield _gap(block), (), {}
                worry = {name: row[name] < lowest for name in ("ess_bulk", "ess_tail")}
                yield label, _cells(row), {**worry, "r_hat": row["r_hat"] > HIGHEST_R_HAT}
            if block.hidden and block.head == len(block.rows):
                yield _gap(block), (), {}


def block_of(
    name: str,
    draws: Array,
    label: Callable[[tuple[int, ...]], str],
    max_rows: int | None,
    *,
    probs: Sequence[float] = PROBS,
    observed: Array | None = None,
    names: Names | None = None,
) -> Block:
    """The summary of one variable, of at most ``max_rows`` of its elements.

    Where others are missing, elements that are ``observed`` are no parameters, and left out. Labels
    have ``names``, and a row for each that is drawn, which says how often; ``max_rows`` in all.

    >>> block = block_of("x", np.zeros((2, 10, 99)), lambda index: f"x[{index[0]}]", max_rows=3)
    >>> list(block.rows), block.hidden
    (['x[0]', 'x[1]', 'x[98]'], 96)
    """
    shape = draws.shape[2:]
    flat = draws.reshape(*draws.shape[:2], math.prod(shape))
    latent = latent_of(shape, observed)
    if len(latent) < flat.shape[2]:
        flat = flat[..., latent]
    size = len(latent)
    if names is not None and max_rows is not None:
        max_rows = max(1, max_rows // width(flat))
    all_shown = max_rows is None or size <= max_rows
    head, tail = (size, 0) if all_shown else ((max_rows + 1) // 2, max_rows // 2)  # type: ignore[operator]
    shown = [*range(head), *range(size - tail, size)]
    kinds = [(label(p), p, flat[..., i]) for i in shown for p in [place_in(shape, latent[i])]]
    before = head
    if names is not None:
        of = [[(f"{t} = {n}", p, x) for n, x in indicators(x, names)] for t, p, x in kinds]
        kinds, before = [row for own in of for row in own], sum(map(len, of[:head]))
    columns = measures(np.stack([x for _, _, x in kinds], axis=-1) if kinds else flat, probs)
    places = tuple(p for _, p, _ in kinds)
    labels = told_apart([(text, p) for text, p, _ in kinds])
    rows = {
        text: {column: float(found[k]) for column, found in columns.items()}
        for k, text in enumerate(labels)
    }
    hidden_r_hat = _largest(split_r_hat(flat[..., head : size - tail]))
    kept = _kept(flat, lambda i: label(place_in(shape, latent[i])))
    return Block(name, rows, size, before, hidden_r_hat, places, kept)


def latent_of(shape: Place, observed: Array | None) -> Array:
    """The numbers of the elements of a variable that are not observed; all where all are.

    >>> latent_of((3,), np.array([1.0, np.nan, 2.0]))
    array([1])
    """
    if observed is not None and observed.dtype.kind == "f" and np.isnan(observed).any():
        return np.flatnonzero(np.isnan(observed))
    return np.arange(math.prod(shape))


def place_in(shape: Place, number: int) -> Place:
    """The position of an element, by its number."""
    return tuple(map(int, np.unravel_index(number, shape)))


def _kept(flat: Array, label: Callable[[int], str]) -> tuple[str, float]:
    """The element with the largest share of draws at last numbers, and the share.

    >>> _kept(np.array([[[0.2, BELOW_ONE], [0.3, 0.7]]]), lambda number: f"x[{number}]")
    ('x[1]', 0.5)
    """
    if not flat.size or flat.dtype.kind != "f":
        return "", 0.0
    shares = sum(np.mean(flat == number, axis=(0, 1)) for number in LAST_NUMBERS)
    most = int(np.argmax(shares))
    return label(most), float(shares[most])


def told_apart(labelled: Sequence[tuple[str, Place]]) -> list[str]:
    """Labels, repeated ones with the position of their element.

    >>> told_apart([("x[a]", (0,)), ("x[b]", (1,)), ("x[a]", (2,))])
    ['x[a] at 0', 'x[b]', 'x[a] at 2']
    """
    counts = Counter(text for text, _ in labelled)
    return [
        f"{text} at {', '.join(map(str, place))}" if counts[text] > 1 and place else text
        for text, place in labelled
    ]


def _blocks_told_apart(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks with positions in the labels that another block has too."""
    rows = [row for b in blocks for row in zip(b.rows, b.places, strict=True)]
    labels = iter(told_apart(rows))
    return tuple(
        replace(b, rows=dict(zip(islice(labels, len(b.rows)), b.rows.values(), strict=True)))
        for b in blocks
    )


def _largest(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.max()) if finite.size else math.nan


def _columns(blocks: Sequence[Block]) -> tuple[str, ...]:
    """The names of the columns."""
    return next((tuple(row) for b in blocks for row in b.rows.values()), columns_of())


def _table(blocks: Sequence[Block]) -> list[str]:
    """The lines of the table: header, rows, and a line wherever rows are left out."""
    labels = [label for block in blocks for label in block.rows]
    gaps = {_place(blocks, k): block for k, block in enumerate(blocks) if block.hidden}
    cells = [_cells(row) for block in blocks for row in block.rows.values()]
    names = _columns(blocks)
    columns = [_aligned([row[k] for row in cells], name) for k, name in enumerate(names)]
    width = max([0, *map(len, labels), *(len(_gap(b)) for b in gaps.values())])
    lines = [" " * width + "".join("  " + column[0] for column in columns)]
    for k in range(len(labels) + 1):
        if k in gaps:
            lines.append(_gap(gaps[k]))
        if k < len(labels):
            lines.append(labels[k].ljust(width) + "".join("  " + c[k + 1] for c in columns))
    return [line.rstrip() for line in lines]


def _place(blocks: Sequence[Block], k: int) -> int:
    """The number of rows before the gap of block ``k``."""
    return sum(len(block.rows) for block in blocks[:k]) + blocks[k].head


def _gap(block: Block) -> str:
    return f"{block.name}[...] {block.hidden} more"


def _cells(row: Row) -> list[str]:
    """A row as text: as many digits as its sd and its Monte Carlo error can bear."""
    shown = [_located(row[c], row) for c in _located_columns(row)]
    sizes = [_rounded(row[c], 0) for c in ("ess_bulk", "ess_tail")]
    return [*shown, _error(row["mcse_mean"]), *sizes, _rounded(row["r_hat"], 3)]


def _located_columns(row: Row) -> tuple[str, ...]:
    """The mean, the sd and the quantiles."""
    return tuple(row)[: -len(RELIABILITY)]


def _located(value: float, row: Row) -> str:
    """A mean or quantile, to three significant digits of the sd."""
    scale = row["sd"] if row["sd"] > 0 else abs(row["mean"])
    largest = max(abs(row[c]) for c in _located_columns(row))
    if not (math.isfinite(largest) and scale > 0):
        return f"{value:.3g}"
    decimals = 2 - math.floor(math.log10(scale))
    if decimals > 6 or largest >= 1e7:
        return f"{value:.3e}"
    return _rounded(value, max(0, decimals))


def _error(value: float) -> str:
    """A Monte Carlo error, to two significant digits."""
    if not value > 0 or not math.isfinite(value):
        return f"{value:.3g}"
    decimals = 1 - math.floor(math.log10(value))
    return f"{value:.1e}" if decimals > 7 or value >= 1e5 else _rounded(value, max(0, decimals))


def _rounded(value: float, decimals: int) -> str:
    text = f"{value:.{decimals}f}"
    return text.lstrip("-") if float(text) == 0 else text


def _aligned(cells: list[str], header: str) -> list[str]:
    """A column under its header, the decimal points below one another (but for 1.2e-9)."""
    after = [len(cell) - len(cell.partition(".")[0]) for cell in cells]
    plain = ["e" not in cell for cell in cells]
    deepest = max((n for n, is_plain in zip(after, plain, strict=True) if is_plain), default=0)
    missing = [deepest - n if is_plain else 0 for n, is_plain in zip(after, plain, strict=True)]
    padded = [cell + " " * n for cell, n in zip(cells, missing, strict=True)]
    width = max(map(len, [header, *padded]))
    return [header.rjust(width), *(cell.rjust(width) for cell in padded)]


def _notes(summary: Summary) -> list[str]:
    """The notes below the table: rows left out, and warnings on convergence and precision."""
    rows = summary.rows
    notes = [*([f"The run was {summary.interrupted}."] if summary.interrupted else [])]
    notes += [f"Tempered, {line}." for line in (summary.tempered or "").splitlines()]
    notes += _left_out(summary.blocks)
    if summary.draws < 4:
        return [*notes, "Fewer than 4 draws in a chain: nothing can be said of their quality."]
    high = {k: row["r_hat"] for k, row in rows.items() if row["r_hat"] > HIGHEST_R_HAT}
    if high:
        worst = max(high, key=lambda label: high[label])
        notes.append(
            f"R-hat is above {HIGHEST_R_HAT} in {len(high)} of {len(rows)} rows (worst: {worst}, "
            f"{high[worst]:.3f}): the chains do not agree yet. Raise warmup= and draws=; if that "
            "does not help, see docs/sampling.md (components that can be exchanged are "
            "numbered alike by sampler.relabelled)."
        )
    lowest = LOWEST_ESS_PER_CHAIN * summary.chains
    sizes = {k: min(row["ess_bulk"], row["ess_tail"]) for k, row in rows.items()}
    low = {k: size for k, size in sizes.items() if size < lowest}
    if low:
        worst = min(low, key=lambda label: low[label])
        notes.append(
            f"ESS is below {lowest} (100 per chain) in {len(low)} of {len(rows)} rows (worst: "
            f"{worst}, {low[worst]:.0f}): R-hat and quantiles are rough there. Raise draws=."
        )
    if summary.acceptance:
        rates = ", ".join(f"{n} {_percent(rate)}" for n, rate in summary.acceptance.items())
        notes.append(f"Proposals accepted (in the worst chain): {rates}.")
    if poor := [n for n, rate in summary.acceptance.items() if rate < LOWEST_ACCEPTANCE]:
        notes.append(
            f"Too few proposals are accepted of {', '.join(poor)} (below "
            f"{_percent(LOWEST_ACCEPTANCE)}): raise warmup=, or give RandomWalk a smaller scale= "
            "with a target_accept=, from which it is adapted; make shorter steps in a Proposal."
        )
    notes += _about_paths(summary)
    if infinite := [k for k, row in rows.items() if not math.isfinite(row["mean"])]:
        notes.append(f"Draws that are not finite: {', '.join(infinite[:5])}: no diagnostics there.")
    if kept := [b.kept for b in summary.blocks if b.kept[1] > HIGHEST_SHARE_KEPT]:
        notes.append(
            "Draws nearer to an end of their support than numbers can be are kept at the last "
            f"number before it: {', '.join(f'{n} in {_percent(share)}' for n, share in kept[:5])} "
            "of the draws. What is drawn given them is not exact: a prior that puts less of its "
            "mass there, or data, is needed for that."
        )
    if summary.chains == 1:
        notes.append("One chain only: R-hat compares its halves. Raise chains= to compare chains.")
    return notes


def _about_paths(summary: Summary) -> list[str]:
    """How long paths by gradients are, and where some left what they should follow."""
    if not summary.paths:
        return []
    points = ", ".join(f"{n} {points:.1f}" for n, (points, _) in summary.paths.items())
    notes = [f"Points of a path (in the longest chain): {points}."]
    if lost := {n: share for n, (_, share) in summary.paths.items() if share > 0}:
        told = ", ".join(f"{n} {_percent(share)}" for n, share in lost.items())
        notes.append(
            f"Paths diverged (in the worst chain): {told}. The density is too steep there for the "
            "steps, and may be seen too little of: raise target_accept=, or write the model so "
            "that scales of effects do not depend on others (non-centred)."
        )
    return notes


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %"


def _left_out(blocks: Sequence[Block]) -> list[str]:
    """How to see rows left out, and whether the cheap R-hat of any of them is high."""
    hiding = [block for block in blocks if block.hidden]
    if not hiding:
        return []
    worst = max(hiding, key=lambda block: np.nan_to_num(block.hidden_r_hat))
    trouble = ""
    if worst.hidden_r_hat > HIGHEST_R_HAT:
        trouble = f"; among those of {worst.name} R-hat reaches {worst.hidden_r_hat:.3f}"
    return [f'Rows are left out{trouble}: see summary("{worst.name}", max_rows=None).']
