"""Golden texts: what is printed is compared with a committed file.

``pytest --update-golden`` writes the files anew; the difference is then reviewed like any other.
"""

from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write the golden texts anew")


@pytest.fixture
def golden(request):
    """A function ``golden(name, text)`` that compares a text with the file of that name."""

    def compare(name, text):
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        assert path.exists(), f"no golden file {path.name}: run pytest --update-golden"
        assert text + "\n" == path.read_text(encoding="utf-8")

    return compare
