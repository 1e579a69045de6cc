"""The reference of distributions is what the rows of the table say.

``python -m gibbsppl.atlas.distributions docs`` writes it anew.
"""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from scipy import stats

from gibbsppl.atlas import distributions
from gibbsppl.atlas.curves import FARTHEST, curves_of, svg_of_curves
from gibbsppl.families import FAMILIES

DOCS = Path(__file__).parent.parent / "docs"
NUMBER = re.compile(r"-?\d+\.?\d*")
PICTURED = [f for f in FAMILIES.values() if svg_of_curves(f) is not None]


def test_the_page_is_what_the_table_says():
    assert (DOCS / "distributions.md").read_text("utf-8") == distributions.page()


def test_each_distribution_is_there_once():
    headings = re.findall(r"^### (\w+)$", distributions.page(), re.MULTILINE)

    assert sorted(headings) == sorted(FAMILIES)


def test_a_row_that_says_something_else_would_be_found():
    normal = FAMILIES["Normal"]
    page = distributions.page()

    assert distributions.section(normal) in page
    for other in (replace(normal, about="Another one."), replace(normal, log_sf=None),
                  replace(normal, log_density=lambda x, _event, mu, tau: -tau * (x - mu) ** 4)):
        assert distributions.section(other) not in page


def test_the_pictures_are_there():
    written = dict(distributions.pictures())

    assert {p.name for p in (DOCS / "distributions").glob("*.svg")} == set(written)
    for name, svg in written.items():
        kept = (DOCS / "distributions" / name).read_text("utf-8")
        # (the last digit may depend on the machine)
        assert NUMBER.sub("#", kept) == NUMBER.sub("#", svg), name
        ours, theirs = (np.array(NUMBER.findall(t), dtype=float) for t in (svg, kept))
        assert np.abs(ours - theirs).max() < 0.11, name


@pytest.mark.parametrize("family", PICTURED, ids=lambda f: f.name)
def test_pictures_are_well_formed_and_finite(family):
    svg = svg_of_curves(family)

    ET.fromstring(svg)  # noqa: S314  (our own)
    assert "nan" not in svg
    assert "inf" not in svg
    assert 1 <= len(curves_of(family)) <= 3


KNOWN = {
    "Normal": stats.norm(0, 1), "Gamma": stats.gamma(1), "Poisson": stats.poisson(1),
    "Beta": stats.beta(1, 1), "Binomial": stats.binom(10, 0.3), "Cauchy": stats.cauchy(),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_curves_are_the_densities(name):
    first = curves_of(FAMILIES[name])[0]
    exact = getattr(KNOWN[name], "pdf", None) or KNOWN[name].pmf
    exact = KNOWN[name].pmf if FAMILIES[name].name in ("Poisson", "Binomial") else exact

    np.testing.assert_allclose(first.density, exact(first.places), rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("family", [f for f in PICTURED if f.natural], ids=lambda f: f.name)
def test_densities_have_the_mass_of_a_distribution_at_most(family):
    for curve in curves_of(family):
        finite = np.where(np.isfinite(curve.density), curve.density, 0.0)
        is_discrete = len(curve.places) <= 2 * FARTHEST + 1
        step = 1.0 if is_discrete else curve.places[1] - curve.places[0]
        # (a sum over a grid is as large as the integral, and the steps at ends and peaks)
        assert finite.sum() * step <= 1 + 2 * finite.max() * step * (not is_discrete) + 1e-9
