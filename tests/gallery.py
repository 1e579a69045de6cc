"""The gallery of models in the documentation, with a picture of each.

    python -m tests.gallery

writes ``docs/gallery.md`` and the pictures in ``docs/gallery`` anew.
"""

from pathlib import Path

import models

DOCS = Path(__file__).resolve().parents[1] / "docs"
HEAD = """\
# A gallery of models

Each is a file of [`models/`](../models), with real data and a reference result, and runs as it is:
`gibbsppl run models/rats.py`. Pictures are `model.plot()`: latent variables are round, observed
ones shaded, computed ones dashed, data flat, potentials angular; a box is a dimension, with its
size.

This page is written by `python -m tests.gallery`.
"""


def page():
    """The page: of each model its first sentence, its statements and its picture."""
    return "\n".join([HEAD, *map(section, models.NAMES)])


def section(name):
    """What the page has of a model."""
    module = getattr(models, name)
    title, _, about = module.__doc__.split("\n\n")[0].replace("\n", " ").partition(": ")
    text = "\n".join(map(shortened, str(module.model().graph).splitlines()))
    if not about:
        title, about = name.replace("_", " ").capitalize(), title
    link = f"[`models/{name}.py`](../models/{name}.py)"
    return "\n".join([
        f"## {title}", "", f"{about[0].upper()}{about[1:]} ({link})", "",
        "```text", text, "```", "", f"![Plate diagram: {title}](gallery/{name}.svg)", "",
    ])  # fmt: skip


def shortened(line, most=150):
    """A statement, cut where it is too long for a page."""
    return line if len(line) <= most else f"{line[: most - 3]}..."


def pictures():
    """The picture of each model, by the name of its file."""
    return {f"{n}.svg": getattr(models, n).model().plot().svg for n in models.NAMES}


if __name__ == "__main__":
    (DOCS / "gallery").mkdir(exist_ok=True)
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
    for file, svg in pictures().items():
        (DOCS / "gallery" / file).write_text(svg, encoding="utf-8")
