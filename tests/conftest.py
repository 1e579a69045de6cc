"""Golden texts: what is printed is compared with a committed file. And which tests are slow.

``pytest --update-golden`` writes the files anew; the difference is then reviewed like any other.
``long_tests.txt`` has the tests that take longest (``pytest --durations=100`` says which), beside
those that are marked where they stand. ``quick_tests.txt`` has the files of the fast subset,
``pytest -m quick``, which collects no others.
"""

import os
import sys
from pathlib import Path

import pytest

# Tests change the package under way, of which a cache on the disk knows nothing.
os.environ["GIBBSPPL_CACHE"] = "off"
# Sweeps are compiled where a test asks for it: seconds of compiling would be in many tests.
os.environ.setdefault("GIBBSPPL_BACKEND", "numpy")

# (a worker of the tests has a core of its own; set before any of them loads NumPy)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

GOLDEN = Path(__file__).parent / "golden"
LONG_TESTS = Path(__file__).parent / "long_tests.txt"
QUICK_TESTS = Path(__file__).parent / "quick_tests.txt"


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write the golden texts anew")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the tests that take longest as slow, those of the fast subset as quick."""
    long, quick = listed(LONG_TESTS), listed(QUICK_TESTS)
    for item in items:
        name = item.nodeid.removeprefix("tests/")
        if name in long or name.partition("[")[0] in long:
            item.add_marker(pytest.mark.slow)
        if item.path.name in quick and item.get_closest_marker("slow") is None:
            item.add_marker(pytest.mark.quick)


def pytest_ignore_collect(collection_path, config):
    """Of the fast subset no other files are looked into."""
    if config.getoption("markexpr") != "quick" or collection_path.is_dir():
        return None
    return collection_path.name not in listed(QUICK_TESTS) or None


def listed(file):
    """The lines of a file that are no comments."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def clear_caches():
    """Forget what pure functions have found: it may be of another program than the present one."""
    modules = [m for n, m in sys.modules.items() if n.partition(".")[0] == "gibbsppl"]
    found = (f for m in modules for f in vars(m).values() if hasattr(f, "cache_clear"))
    for kept in {id(f): f for f in found}.values():
        kept.cache_clear()


@pytest.fixture
def monkeypatch(monkeypatch):
    """The usual one, with no result of pure functions kept from before it or after it."""
    clear_caches()
    yield monkeypatch
    clear_caches()


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
