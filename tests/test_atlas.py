"""The atlas in the documentation is what the derivation finds, and its closed forms are true.

A sample of the cells is derived again in the everyday run, all of them under the marker ``slow``.
``python -m gibbsppl.atlas.pages docs`` writes the pages anew.
"""

import re
from pathlib import Path

import pytest

import gibbsppl as gp
from gibbsppl.atlas import pages as atlas
from gibbsppl.atlas.examples import TABLES

DOCS = Path(__file__).parents[1] / "docs"
CELLS = list(atlas.cells())
# A prime that divides no table's width: a sample has cells of all columns.
SAMPLE = CELLS[::23]
PROVED = (atlas.CLOSED, atlas.FINITE, atlas.CONCAVE, atlas.AUGMENTED)
LINK = re.compile(r"\]\(([^)]+)\)")


def name_of(cell):
    return f"{cell.prior.name} - {cell.column.name}"


def text_of(path):
    return (DOCS / path).read_text(encoding="utf-8")


def tables_in(text):
    """The cells of the tables of a page, by title, row and column."""
    found = {}
    for part in text.split("\n## ")[1:]:
        title, *lines = part.splitlines()
        head, _, *rows = (line[2:-2].split(" | ") for line in lines if line.startswith("|"))
        for prior, *cells in rows:
            named = zip(head[1:], cells, strict=True)
            found |= {(title, prior.strip("*"), column): cell for column, cell in named}
    return found


SHOWN = tables_in(text_of("atlas.md"))
IN_TABLES = {(p, c): cell for (_, p, c), cell in SHOWN.items()}


def check_pages(cell):
    """The cell and its derivation stand in the pages as they are found now."""
    found = atlas.found(cell)
    shown = IN_TABLES[cell.prior.name, cell.column.name]

    assert shown == (atlas.link(cell.prior.name, cell.column.name, found) if found else "")
    if found:
        page = text_of(f"atlas/{atlas.anchor(cell.prior.name)}.md")
        assert atlas.section(cell.column.name, found) in page
    return found


def check_ratio(cell, found):
    """What is drawn exactly has the joint density's ratios."""
    if found and found.kind in PROVED:
        result = gp.compile(cell.model()).verify()
        # With a flat prior the posterior has no integral where all gates are shut or labels are
        # elsewhere, and sweeps end there; the conditionals are right all the same.
        flat = cell.prior.name in ("Flat", "HalfFlat")
        rows = [row for row in result.rows if not (flat and row.step == "(sweeps)")]
        assert all(row.passed for row in rows), str(result)


@pytest.mark.parametrize("cell", SAMPLE, ids=name_of)
def test_a_sample_of_the_cells_is_as_derived_and_true(cell):
    check_ratio(cell, check_pages(cell))


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=name_of)
def test_every_cell_is_as_derived_and_true(cell):
    check_ratio(cell, check_pages(cell))


@pytest.mark.slow
def test_the_pages_are_written_by_the_generator():
    written = atlas.pages()
    kept = {str(p.relative_to(DOCS)) for p in (DOCS / "atlas").glob("*.md")} | {"atlas.md"}

    assert kept == set(written)
    assert {path: text_of(path) for path in written} == written


# ---- the pages -------------------------------------------------------------------------------


def test_the_tables_are_those_declared():
    assert set(SHOWN) == {
        (t.title, p.name, c.name) for t in TABLES for p in t.priors for c in t.columns
    }


def test_no_model_stands_in_two_tables():
    assert len({(c.prior.name, c.column.name) for c in CELLS}) == len(CELLS)


def test_no_table_is_too_wide():
    assert max(len(t.columns) for t in TABLES) <= 12


def headings(path):
    """The anchors of a page."""
    found = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return list(map(atlas.anchor, found))


def broken_links(text, folder):
    """The links that lead to no file, or to no heading in it."""
    targets = (target.partition("#") for target in set(LINK.findall(text)))
    return [
        f"{file}#{place}"
        for file, _, place in targets
        if not (folder / file).exists() or (place and place not in headings(folder / file))
    ]


def test_every_link_leads_to_a_derivation():
    assert broken_links(text_of("atlas.md"), DOCS) == []
    assert len(LINK.findall(text_of("atlas.md"))) == sum(map(bool, SHOWN.values()))
    for page in (DOCS / "atlas").glob("*.md"):
        assert broken_links(page.read_text("utf-8"), page.parent) == []


def test_a_broken_link_would_be_found():
    text = "[a](atlas.md#the-end-of-the-world) [b](atlas/none.md) [c](atlas.md)"

    assert set(broken_links(text, DOCS)) == {"atlas.md#the-end-of-the-world", "atlas/none.md#"}


def test_no_two_headings_of_a_page_have_the_same_anchor():
    for page in (DOCS / "atlas").glob("*.md"):
        found = headings(page)
        assert len(found) == len(set(found)), page.name


def test_the_counts_are_those_of_the_tables():
    line = next(s for s in text_of("atlas.md").splitlines() if s.startswith("Of "))
    total, *counts = map(int, re.findall(r"\d+", line))

    assert total == sum(counts) == sum(map(bool, SHOWN.values()))


# Pairs that every textbook has, whoever makes the tables.
FAMOUS = {
    ("Normal", "Normal mu"): "Normal",
    ("Gamma", "Normal tau"): "Gamma",
    ("InverseGamma", "Normal var"): "InverseGamma",
    ("Gamma", "Poisson rate"): "Gamma",
    ("Gamma", "Exponential rate"): "Gamma",
    ("Beta", "Binomial p"): "Beta",
    ("Dirichlet", "Multinomial p"): "Dirichlet",
    ("Wishart", "MvNormal tau"): "Wishart",
    ("InverseWishart", "MvNormal cov"): "InverseWishart",
    ("MvNormal", "MvNormal mu"): "MvNormal",
    ("Pareto", "Uniform upper"): "truncated Pareto",
    ("VonMises", "VonMises mu"): "VonMises",
}


@pytest.mark.parametrize("pair", FAMOUS, ids=" - ".join)
def test_famous_pairs_are_conjugate(pair):
    assert IN_TABLES[pair].startswith(f"[{FAMOUS[pair]}](")
