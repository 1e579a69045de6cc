"""The documentation site: all pages are in it, and it can be built."""

import re
import subprocess
import sys
from pathlib import Path

import gallery

from gibbsppl.families import FAMILIES

ROOT = Path(__file__).parent.parent
CONFIG = (ROOT / "mkdocs.yml").read_text("utf-8")
IN_NAV = re.findall(r"^ +- .+: ([\w./-]+\.md)$", CONFIG, re.MULTILINE)


def test_every_page_is_in_the_navigation_once():
    pages = {p.name for p in (ROOT / "docs").glob("*.md")}

    assert len(IN_NAV) == len(set(IN_NAV))
    assert set(IN_NAV) == pages


def test_home_links_to_where_one_starts():
    home = (ROOT / "docs" / "index.md").read_text("utf-8")

    for page in ("tutorial", "from-pymc", "from-bugs", "from-scikit-learn", "when-not-gibbs"):
        assert f"]({page}.md)" in home


def texts_of(svg):
    """What a picture says, without where."""
    return re.findall(r">([^<>]+)<|data-(?:node|source|target|plate)=\"([^\"]*)\"", svg)


def test_the_gallery_is_what_the_models_are():
    """Written anew by ``python -m tests.gallery``."""
    assert (ROOT / "docs" / "gallery.md").read_text("utf-8") == gallery.page()
    kept = {p.name: p.read_text("utf-8") for p in (ROOT / "docs" / "gallery").glob("*.svg")}
    made = gallery.pictures()
    assert set(kept) == set(made)
    for name, svg in made.items():
        assert sorted(texts_of(kept[name])) == sorted(texts_of(svg)), name


def test_the_site_is_built_without_warnings(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    for page in IN_NAV:
        name = page.removesuffix(".md")
        built = tmp_path / ("index.html" if name == "index" else f"{name}/index.html")
        assert "<title>" in built.read_text("utf-8")
    reference = (tmp_path / "distributions/index.html").read_text("utf-8")
    assert reference.count('<math display="block">') == len(FAMILIES)
    assert "$" not in re.sub(r"<script.*?</script>", "", reference, flags=re.DOTALL)
    assert not list(tmp_path.glob("*.py"))
