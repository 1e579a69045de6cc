"""Golden texts: what is printed is compared with a committed file. And which tests are slow.

``pytest --update-golden`` writes the files anew; the difference is then reviewed like any other.
``long_tests.txt`` has the tests that take longest (``pytest --durations=100`` says which), beside
those that are marked where they stand. ``quick_tests.txt`` has the files of the fast subset,
``pytest -m quick``, which collects no others.
"""

import gc
import os
import sys
from functools import cache
from pathlib import Path

import pytest

# Tests change the package under way, of which a cache on the disk knows nothing.
os.environ["GIBBSPPL_CACHE"] = "off"
# Sweeps are compiled where a test asks for it: seconds of compiling would be in many tests.
os.environ.setdefault("GIBBSPPL_BACKEND", "numpy")

# (a worker of the tests has a core of its own; set before any of them loads NumPy)
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The type of a function that keeps its results (to ask each name of each module for an attribute
# takes longer than most tests).
KEEPS = type(cache(len))

GOLDEN = Path(__file__).parent / "golden"
LONG_TESTS = Path(__file__).parent / "long_tests.txt"
QUICK_TESTS = Path(__file__).parent / "quick_tests.txt"
# Files with tests that take a minute each: they come first, so that no worker waits for them.
FIRST = ("test_signatures.py", "test_docs.py")


def pytest_addoption(parser):
    parser.addoption("--update-golden", action="store_true", help="write the golden texts anew")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is collected stays: none of it is looked at by the collector of garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    """Files without an example are not searched for examples, function by function."""
    found = yield
    if file_path.suffix != ".py" or b">>>" in file_path.read_bytes():
        return found
    return [one for one in found if type(one) is pytest.Module]


class Backwards(pytest.Dir):
    """A folder whose files are collected from the last one on."""

    def collect(self):
        return reversed(list(super().collect()))


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path, parent):
    """Every second worker collects backwards: each compiles half of the tests' files for both."""
    worker = getattr(parent.config, "workerinput", {"workerid": "gw0"})["workerid"]
    if int(worker.removeprefix("gw")) % 2 == 0 or (path / "__init__.py").exists():
        return None
    return Backwards.from_parent(parent, path=path)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark the tests that take longest as slow, those of the fast subset as quick.

    Workers have them in one order, in which they do not come where one collects backwards.
    """
    items.sort(key=lambda i: (i.path.name not in FIRST, i.path, isinstance(i, pytest.Function)))
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
    found = (f for m in modules for f in vars(m).values() if type(f) is KEEPS)
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
