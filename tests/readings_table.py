"""The page `docs/readings-of-models.md`: which models are read by their means, and why others not.

``PYTHONPATH=. python tests/readings_table.py`` writes it anew; a slow test compares the two.
"""

import importlib
from pathlib import Path

import gibbsppl as gp
import models
from gibbsppl.errors import GibbspplError
from models.bugs import CASES, MORE

PAGE = Path(__file__).resolve().parents[1] / "docs" / "readings-of-models.md"
HEAD = """\
# Models read by their means

Which of the models in `models/` have a factorised approximation by `sampler.variational()`
([draw, mean, mode](readings.md)), and what the others are refused for. Written by
`tests/readings_table.py`.

{read} of {all} models are read.

| model | factors of q, or the reason for none |
| --- | --- |
"""


def declared():
    """The models by name: those in Python, then the programs of BUGS."""
    for module in models.ALL:
        name = module.__name__.removeprefix("models.")
        if name != "reuters":  # (a corpus, of the model lda)
            found = importlib.import_module(f"models.{name}")
            yield name, lambda m=found, n=name: m.model(
                **({"corpus": m.bars()} if n == "lda" else {})
            )
    for name, case in {**CASES, **MORE}.items():
        yield f"{name} (BUGS)", lambda c=case: gp.read_bugs(c.model, c.data)


def row_of(model):
    """Whether a model is read by its means, and its factors or the reason."""
    try:
        sampler = gp.compile(model)
        read = sampler.read_by(dict.fromkeys(sampler.graph.drawn, "mean"))
    except GibbspplError as refused:
        return False, str(refused).split(": read one of")[0].replace("|", "\\|")
    return True, "; ".join(step.name for step in read.schedule.steps)


def page():
    """The text of the page."""
    rows = [(name, *row_of(make())) for name, make in declared()]
    head = HEAD.format(read=sum(read for _, read, _ in rows), all=len(rows))
    return head + "".join(
        f"| {name} | {told if read else f'refused: {told}'} |\n" for name, read, told in rows
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
