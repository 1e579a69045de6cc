"""The atlas of conjugacy: what the derivation finds for each prior and each way to enter a child.

Comes in: the tables of `examples`. Goes out: pages of text, ``atlas.md`` with one cell for each
model, and one page for each prior with the derivations that the cells link to:

    python -m gibbsppl.atlas.pages docs

Nothing here knows an answer: a cell is a model, planned like any other, and what is printed is the
step that the plan has made: of the model as it is, or, where that has no exact draw, of the model
with auxiliary variables.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from gibbsppl.atlas.examples import COORDS, TABLES, AtlasTable, Column, Prior, X
from gibbsppl.code.source import lines_by_step
from gibbsppl.derive.colours import colours_told
from gibbsppl.errors import CompileError, ModelError
from gibbsppl.explain.derivation import explained
from gibbsppl.families import FAMILIES
from gibbsppl.language import Model
from gibbsppl.planning.plan import plan, planned
from gibbsppl.rewrites import rewritten
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

CLOSED, FINITE, CONCAVE, SLICE, NONE = "closed form", "labels", "concave", "slice", "none"
AUGMENTED = "augmented"
DASH = "\u2013"
LONGEST_NAME = 15
# The sections of a derivation that a page shows.
ESSENTIAL = (
    "The terms that hold",
    "The family recognised",
    "The parameters read off",
    "The log weights",
    "No family recognised",
    "The certificate",
)

LEGEND = """\
# The atlas of conjugacy

What gibbsppl finds for the conditional of `x`, for each prior (a row) and each way in which three
observations, or one vector or matrix of them, hang on `x` (a column). There is no table of pairs
in the compiler: each cell is a model that was declared and planned, and its link leads to the terms
that were collected, the family that was recognised, and the parameters read off. Known parameters
are small numbers.

| a cell says | and means |
| --- | --- |
| `Gamma` | drawn exactly, from this family |
| `truncated Gamma` | the same between bounds, the prior's or those that data give |
| ``Gamma of `1/x**2` `` | this function of `x` has this family |
| `labels` | all values are enumerated, with their probabilities |
| `concave` | no family, but the log density is shown to be concave: adaptive rejection, exact |
| ``concave of `log(x)` `` | the log density of this function of `x` is concave |
| `Gamma, augmented` | the same, given auxiliary variables that gibbsppl brings in: exact as well |
| `{dash}` | none of these: slice sampling, a fallback |
| `none` | refused, for the reason that the link tells |
| (empty) | no model: the prior has values that the parameter cannot have |
| `one by one` | the elements depend on one another: each is drawn given the others |

{shortened}

Of {total} cells: {counts}.

This page and those it links to are written by `python -m gibbsppl.atlas.pages docs`; the tests
compare them with what is derived.
"""


@dataclass(frozen=True, slots=True)
class Cell:
    """One model of the atlas: a prior for ``x``, and the children of a column."""

    prior: Prior
    column: Column

    def model(self) -> Model:
        """The model, declared; `ModelError` where the prior is wider than the parameter."""
        with Model(coords=COORDS) as model:
            self.column.build(self.prior.declare(**self.column.options))
        return model


@dataclass(frozen=True, slots=True)
class Finding:
    """The finding for a cell: the kind of step, the words of the cell, the short derivation."""

    kind: str
    words: str
    derivation: str


def cells(tables: Iterable[AtlasTable] = TABLES) -> Iterator[Cell]:
    """The cells of the tables, row by row."""
    return (Cell(p, c) for t in tables for p in t.priors for c in t.columns)


def found(cell: Cell) -> Finding | None:
    """The finding for a cell, by its plan; None where the language refuses the model."""
    try:
        model = cell.model()
    except ModelError:
        return None
    graph = model.graph
    try:
        schedule = plan(graph, model.data)
    except CompileError as refused:
        return Finding(NONE, NONE, f"{graph}\n\n{refused}")
    step = _step_of(schedule)
    if kind_of(step) != SLICE:
        return Finding(kind_of(step), words_of(step), _derived(model, schedule, step))
    augmented = planned(rewritten(graph, model.data))
    given = _step_of(augmented)
    if kind_of(given) == SLICE:
        return Finding(SLICE, words_of(step), _derived(model, schedule, step))
    rewrites = (f"{r.variable} is brought in: {r.rule.name}" for r in augmented.rewrites)
    shown = "\n".join((*rewrites, str(augmented.graph_of(given))))
    derivation = _derived(model, augmented, given, shown)
    return Finding(AUGMENTED, f"{words_of(given)}, {AUGMENTED}", derivation)


def _step_of(schedule: Schedule) -> Step:
    """The step that draws ``x``."""
    return next(s for s in schedule.steps if s.variables[0] == X)


def _derived(model: Model, schedule: Schedule, step: Step, *more: str) -> str:
    """The model as text, further texts, and the short derivation of one step."""
    at = schedule.steps.index(step)
    alone = replace(schedule, steps=(step,), graphs=(schedule.graphs[at],), rewrites=())
    told = explained(alone, lines_by_step(alone), model.data, X)
    return "\n\n".join((str(model.graph), *more, *essential(told)))


def kind_of(step: Step) -> str:
    """How a step draws, in the words of the legend."""
    if step.family is not None:
        return CLOSED
    if step.labels is not None:
        return FINITE
    return SLICE if step.is_move else CONCAVE


def words_of(step: Step) -> str:
    """The words of a cell: the family, or how ``x`` is drawn without one."""
    kind = kind_of(step)
    if kind == SLICE:
        return DASH
    name, *change = step.owner.split(" of ", 1)
    words = short(name) if kind == CLOSED else kind
    words += "".join(f" of `{c}`" for c in change)
    return f"{words}, {colours_told(step.colours)}" if step.is_by_element else words


def short(name: str) -> str:
    """A family's name, a long one by its capitals.

    >>> short("Gamma"), short("truncated ModifiedHalfNormal")
    ('Gamma', 'truncated MHN')
    """
    return " ".join(_capitals(w) if len(w) > LONGEST_NAME else w for w in name.split())


def _capitals(name: str) -> str:
    return "".join(filter(str.isupper, name))


def essential(derivation: str) -> list[str]:
    r"""The sections of a derivation with the findings; of a certificate one line a term.

    >>> essential("1. The joint\n   x\n\n2. The certificate\n   -x  affine\n     x  affine")
    ['The certificate\n   -x  affine']
    """
    sections = re.split(r"^\d+\. ", derivation, flags=re.MULTILINE)[1:]
    kept = (s.strip() for s in sections if s.startswith(ESSENTIAL))
    return [_top(s) if s.startswith("The certificate") else s for s in kept]


def _top(certificate: str) -> str:
    return "\n".join(s for s in certificate.splitlines() if not s.startswith(" " * 4))


# ---- pages -----------------------------------------------------------------------------------


def pages(tables: tuple[AtlasTable, ...] = TABLES) -> dict[str, str]:
    """The text of each page by its path: the tables, and a page for each prior."""
    derived = {(c.prior.name, c.column.name): found(c) for c in cells(tables)}
    told = {key: f for key, f in derived.items() if f is not None}
    counts = Counter(f.kind for f in told.values())
    parts = [legend(counts), *(_table(t, told) for t in tables)]
    names = dict.fromkeys(p for p, _ in told)
    return {"atlas.md": "\n".join(parts)} | {
        f"atlas/{anchor(n)}.md": _page(n, {c: f for (p, c), f in told.items() if p == n})
        for n in names
    }


def legend(counts: Mapping[str, int]) -> str:
    """What the cells mean, and how many there are of each kind."""
    long = (n for n in FAMILIES if len(n) > LONGEST_NAME)
    shortened = ", ".join(f"{short(n)} is `{n}`" for n in long)
    kinds = (CLOSED, FINITE, CONCAVE, AUGMENTED, SLICE, NONE)
    shown = ", ".join(f"{counts[k]} {k}" for k in kinds if counts[k])
    return LEGEND.format(
        dash=DASH, shortened=f"Long names: {shortened}.", total=sum(counts.values()), counts=shown
    )


def _table(table: AtlasTable, told: Mapping[tuple[str, str], Finding]) -> str:
    heads = [c.name for c in table.columns]
    lines = [f"## {table.title}", "", _row(["prior", *heads]), _row(["---"] * (len(heads) + 1))]
    for p in table.priors:
        row = ((c, told.get((p.name, c))) for c in heads)
        lines.append(_row([f"**{p.name}**", *(link(p.name, c, f) if f else "" for c, f in row)]))
    return "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def link(prior: str, column: str, cell: Finding) -> str:
    """A cell of a table: its words, which lead to the derivation."""
    return f"[{cell.words}](atlas/{anchor(prior)}.md#{anchor(column)})"


def _page(prior: str, told: Mapping[str, Finding]) -> str:
    head = f"# {prior}\n\nDerivations of the [atlas](../atlas.md), where `x` has this prior.\n"
    return "\n".join((head, *(section(c, f) for c, f in told.items())))


def section(column: str, cell: Finding) -> str:
    """The derivation of a cell under its title, to which the cell leads."""
    return f"## {column}\n\n{cell.words}\n\n```text\n{cell.derivation}\n```\n"


def anchor(title: str) -> str:
    """What a link to a title is called.

    >>> anchor("Poisson rate, in a sum")
    'poisson-rate-in-a-sum'
    """
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """The pages written into a folder, those of priors that are no more taken away."""
    (folder / "atlas").mkdir(parents=True, exist_ok=True)
    for old in (folder / "atlas").glob("*.md"):
        old.unlink()
    for path, text in texts.items():
        (folder / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]), pages())
