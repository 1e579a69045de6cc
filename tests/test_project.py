"""The rules of the project that no tool checks: layers, names, imports, sizes, words."""

import ast
import importlib
import re
import statistics
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path

import networkx as nx
import pytest

from gibbsppl.families import FAMILIES

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gibbsppl"

# A module imports only modules above it; those of one line do not import one another.
LAYERS = (
    ("errors", "elsewhere"),
    ("arguments", "html", "runtime"),
    ("algebra",),
    ("families",),
    ("model",),
    ("analysis", "display"),
    ("language", "pieces"),
    ("bugs", "derive"),
    ("rewrites",),
    ("schedule",),
    ("code", "explain", "expectation", "output"),
    ("run", "kernels"),
    ("planning",),
    ("initial", "atlas"),
    ("cache", "checkpoints", "checks", "predict", "settings"),
    ("comparing", "deriving", "fits", "sampling", "tempering"),
    ("sampler",),
    ("compiling",),
    ("cli",),
    ("__main__",),
)
MOST_LAYERS, MOST_AT_THE_TOP = 20, 10

# No module of these names a distribution: what they know of one is its row in the table.
GENERIC = (
    "kernels", "algebra.bounds", "algebra.cuts", "algebra.identities", "algebra.polynomials",
    "algebra.ranges", "algebra.recursions", "algebra.rounding",
    "analysis", "pieces", "derive", "rewrites", "schedule", "code", "planning", "run",
    "families.masses", "explain.priors", "explain.rescaling", "explain.repairs",
    "initial.propriety", "initial.recession", "initial.separation",
)  # fmt: skip

# Tables of identities, whose text says what they are used for and who found them.
IDENTITIES = tuple(
    f"gibbsppl.rewrites.{name}" for name in ("counts", "links", "positive", "values", "volatility")
)

# Files that are loaded as two packages, plain and compiled, and so import one another relatively.
KERNELS = PACKAGE / "runtime" / "loops"

LONGEST_FUNCTION = 60
LONGEST_MODULE = 420

# What has a docstring.
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)

# Modules that may be longer, and why.
LONGER_MODULES = {
    "runtime/__init__.py": "the names that generated code may call, each imported and exported",
}


@cache
def modules():
    return sorted(p for p in PACKAGE.rglob("*.py") if "__pycache__" not in p.parts)


def name_of(path):
    """The dotted name of a module of the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(name):
    """The part of the package that a module belongs to; empty for the package's face."""
    return [*name.split("."), ""][1]


def is_generic(name):
    """Whether a module is one that names no distribution, or in a folder of such."""
    inside = name.removeprefix("gibbsppl.") + "."
    return any(inside.startswith(f"{g}.") for g in GENERIC)


@cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def known_names():
    return frozenset(name_of(p) for p in modules())


def imports_of(path):
    """The modules of the package that a module imports, at any time, or for its types."""
    known = known_names()
    found = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {a.name for a in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 or path.parent == KERNELS, f"{path}: relative import"
            module = node.module if not node.level else ".".join(
                filter(None, (name_of(path).rpartition(".")[0], node.module))
            )
            inner = {f"{module}.{a.name}" for a in node.names}
            found |= {i for i in inner if i in known} or {module}
    return {f for f in found if f in known} - {name_of(path)}


@cache
def edges():
    """What each module imports, looked at once, by the process that asks."""
    return {name_of(p): imports_of(p) for p in modules()}


RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}


# ---- layers ----------------------------------------------------------------------------------


def test_every_module_has_its_place_in_the_order():
    found = {layer_of(name) for name in edges()} - {""}

    assert found - set(RANK) == set(), "add new modules to LAYERS, where they belong"
    assert set(RANK) - found == set(), "no such modules: take them out of LAYERS"


def test_the_house_can_be_seen_at_a_glance():
    assert len(LAYERS) <= MOST_LAYERS
    assert len(list(PACKAGE.glob("*.py"))) <= MOST_AT_THE_TOP


def test_the_architecture_tells_the_order():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    lines = page.partition("## The order of the modules")[2].splitlines()
    told = [line.strip() for line in lines if line.startswith("    ") and " | " in line]
    layers = [names.split(", ") for line in told for names in line.split(" | ")]

    assert [tuple(n.rstrip("/") for n in names) for names in layers] == [
        names for names in LAYERS if names != ("__main__",)
    ]


def test_modules_import_only_what_is_above_them():
    wrong = {
        (name, other)
        for name, others in edges().items()
        for other in others
        if layer_of(name) and layer_of(other) and layer_of(name) != layer_of(other)
        if RANK.get(layer_of(other), 0) >= RANK.get(layer_of(name), len(LAYERS))
    }

    assert wrong == set()


def test_no_module_imports_itself_in_a_circle():
    graph = nx.DiGraph((a, b) for a, others in edges().items() for b in others)

    assert list(nx.simple_cycles(graph)) == []


def test_the_order_would_catch_an_import_from_below():
    assert RANK["families"] < RANK["derive"] < RANK["schedule"] < RANK["code"]
    assert "gibbsppl.pieces.split" in edges()["gibbsppl.derive.conditionals"]


# ---- maps ------------------------------------------------------------------------------------


def folders():
    """The folders of the package, with what is in each."""
    for init in sorted(PACKAGE.glob("*/**/__init__.py")):
        inside = {p.stem for p in init.parent.glob("*.py")} - {"__init__", "__main__"}
        yield init, inside | {p.parent.name for p in init.parent.glob("*/__init__.py")}


@pytest.mark.parametrize("folder", tuple(folders()), ids=lambda found: found[0].parent.name)
def test_the_docstring_of_a_folder_is_the_map_of_its_rooms(folder):
    init, inside = folder
    told = set(re.findall(r"`([a-z_]+)`", ast.get_docstring(parsed(init))))

    assert inside - told == set(), "name each module, and what is in it"
    assert told - inside == set(), "no such modules"


def test_what_docstrings_refer_to_is_there():
    for path in modules():
        nodes = (n for n in ast.walk(parsed(path)) if isinstance(n, DOCUMENTED))
        texts = (ast.get_docstring(n, clean=False) or "" for n in nodes)
        told = {name for text in texts for name in re.findall(r"`gibbsppl\.([\w.]+)`", text)}

        assert [name for name in told if not is_there(f"gibbsppl.{name}")] == [], path


def is_there(name):
    """Whether a dotted name is a module, or what a module defines or imports."""
    module, _, last = name.rpartition(".")
    if name in known_names():
        return True
    return module in known_names() and hasattr(importlib.import_module(module), last)


# ---- names -----------------------------------------------------------------------------------


def spelled(name):
    """A distribution's name as classes and as functions have it."""
    return {name, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()}


DISTRIBUTIONS = set().union(*map(spelled, FAMILIES))


def words_of(tree):
    """Identifiers, and the words of strings that are no docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and ast.get_docstring(node, clean=False) is not None
    }
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Constant(value=str(text)) if id(node) not in docstrings:
                yield from re.findall(r"\w+", text)


def test_the_core_names_no_distribution():
    core = [p for p in modules() if is_generic(name_of(p)) and name_of(p) not in IDENTITIES]
    named = {name_of(p): set(words_of(parsed(p))) & DISTRIBUTIONS for p in core}

    assert len(core) > 100
    assert {module: words for module, words in named.items() if words} == {}


def test_a_named_distribution_would_be_found():
    tree = ast.parse('"""Normal."""\nif family == "Normal": draw = runtime.inverse_gamma')

    assert set(words_of(tree)) & DISTRIBUTIONS == {"Normal", "inverse_gamma"}


def test_modules_are_named_for_what_they_hold():
    vague = {"utils", "util", "misc", "common", "helpers", "helper", "base", "core"}

    assert {p.name for p in modules() if p.stem in vague} == set()


# ---- what is imported ------------------------------------------------------------------------


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def packages_loaded(code):
    """The third-party packages that a program has loaded when it ends."""
    shown = run(code + "\nimport sys; print(*sorted(sys.modules), sep=chr(10))").splitlines()
    top = {name.split(".")[0] for name in shown}
    return {t for t in top if t not in sys.stdlib_module_names and not t.startswith("_")}, shown


def test_importing_the_package_loads_numpy_alone():
    bare, _ = packages_loaded("import numpy")
    found, shown = packages_loaded("import gibbsppl")

    assert found - bare <= {"gibbsppl"}, found - bare
    assert [m for m in shown if m.startswith("gibbsppl.")] == []


# The parts of the package that an ordinary run loads; checks, predictions, files and programs of
# BUGS are others.
RUN = (
    *("checkpoints", "checks", "comparing", "fits", "predict", "tempering"),
    *("algebra", "analysis", "arguments", "cache", "code", "compiling", "derive", "deriving"),
    "display",
    *("errors", "explain", "families", "html", "initial", "kernels", "language", "model", "output"),
    *("pieces", "planning", "rewrites", "run", "runtime", "sampler", "sampling", "schedule"),
    "settings",
)
# Normal and Gamma draws, and small matrices, need few parts of SciPy.
NOT_FOR_RATS = {
    *("scipy.optimize", "scipy.stats", "scipy.special", "scipy.sparse", "tqdm"),
    *("xarray", "pandas", "h5py", "numba", "arviz"),
}
# Loops are looked at where it is to be chosen what carries out sweeps, and where operations of two
# ways to draw are counted: in rats of lines drawn jointly, or, as here, one after the other.
OF_LOOPS = {
    f"gibbsppl.code.{name}"
    for name in ("arrays.fusion", "lowering.sweeps", "loop_program", "loop_text")
}


@cache
def of_linear_algebra():
    """What SciPy's own linear algebra loads (before SciPy 1.17 sparse matrices too)."""
    return {*packages_loaded("import scipy.linalg")[1]}


def test_the_command_line_saves_draws_without_xarray_and_loads_no_more_of_scipy(tmp_path):
    _, shown = packages_loaded(
        "from gibbsppl.cli import main\n"
        "main(['run', 'models/rats.py', '--draws', '50', '--warmup', '5', '--quiet', '--out', "
        f"{str(tmp_path / 'draws.nc')!r}])"
    )

    found = {m.split(".")[1] for m in shown if m.startswith("gibbsppl.")}
    assert found <= {*RUN, "cli"}
    assert (NOT_FOR_RATS - of_linear_algebra()) & set(shown) == {"h5py"}


@pytest.mark.parametrize(("backend", "more"), [("numpy", set()), ("auto", OF_LOOPS)])
def test_a_run_loads_no_optimiser_where_a_start_is_drawn_and_the_posterior_is_proper(backend, more):
    _, shown = packages_loaded(
        "import gibbsppl as gp\nfrom models import rats\ngp.compile(rats.model(), blocks=False)"
        f".sample(5, warmup=5, chains=1, seed=1, progress=False, backend={backend!r})"
    )

    assert "gibbsppl.run" in shown
    assert ((NOT_FOR_RATS - of_linear_algebra()) | OF_LOOPS) & set(shown) == more
    assert {m.split(".")[1] for m in shown if m.startswith("gibbsppl.")} <= set(RUN)


def test_importing_the_package_takes_hardly_longer_than_numpy():
    """CPU seconds of whole processes, the least of three: a busy machine does not matter."""
    code = "import resource, {0}; u = resource.getrusage(0); print(u.ru_utime + u.ru_stime)"
    ours, numpys = (
        min(float(run(code.format(name))) for _ in range(3)) for name in ("gibbsppl", "numpy")
    )

    assert ours <= 1.5 * numpys + 0.05
    assert ours - numpys <= 0.5


COMPILE_AND_SAMPLE = """
import gibbsppl as gp
with gp.Model(coords={"n": 3}) as m:
    mu, tau = gp.Normal("mu", 0, tau=1), gp.Gamma("tau", 1, rate=1)
    sd = gp.Uniform("sd", 0, 3, dims="n")
    gp.Normal("y", mu, tau=tau, dims="n", observed=[1.0, 2.0, 3.0])
sampler = gp.compile(m)
str(sampler), sampler.source
sampler.sample(5, warmup=2, chains=1, seed=1, progress=False)
"""


def test_compiling_and_sampling_load_no_more_than_they_need():
    _, shown = packages_loaded(COMPILE_AND_SAMPLE)
    heavy = ("scipy.stats", "arviz", "matplotlib", "numba", "xarray", "pandas", "h5netcdf", "h5py")

    assert [h for h in heavy if h in shown] == []
    assert "sympy" in shown


def test_scipy_stats_is_imported_nowhere():
    for path in modules():
        assert "scipy.stats" not in path.read_text(encoding="utf-8").replace("``scipy.stats``", "")


# ---- docstrings and sizes --------------------------------------------------------------------


def definitions(tree):
    """Modules, classes and functions (none inside functions), and whether each is public."""

    def visit(node, *, public):
        for child in getattr(node, "body", []):
            if isinstance(child, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
                if any(getattr(d, "id", "") == "overload" for d in child.decorator_list):
                    continue  # (a type of the function that follows)
                seen = public and not child.name.startswith("_")
                yield child, seen
                if isinstance(child, ast.ClassDef):
                    yield from visit(child, public=seen)

    yield tree, True
    yield from visit(tree, public=True)


def test_everything_public_is_documented():
    silent = {
        f"{name_of(path)}:{getattr(node, 'name', '')}"
        for path in modules()
        for node, public in definitions(parsed(path))
        if public and ast.get_docstring(node, clean=False) is None
    }

    assert silent == set()


def functions():
    for path in modules():
        for node in ast.walk(parsed(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield f"{path.relative_to(PACKAGE)}:{node.name}", _lines_of_code(node)


def _lines_of_code(node):
    """The lines of a function without its docstring and its signature."""
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def test_functions_are_short():
    sizes = dict(functions())
    long = {name: size for name, size in sizes.items() if size > LONGEST_FUNCTION}

    assert long == {}
    assert statistics.median(sizes.values()) <= 8
    assert statistics.quantiles(sizes.values(), n=10)[-1] <= 25


def test_modules_are_short():
    long = {
        str(path.relative_to(PACKAGE)): size
        for path in modules()
        if (size := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST_MODULE
    }

    assert set(long) - set(LONGER_MODULES) == set(), long
    assert set(LONGER_MODULES) - set(long) == set(), "short enough now: take them out of the list"


def test_the_tests_that_are_said_to_take_long_are_there():
    lines = (ROOT / "tests" / "long_tests.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        if not line.startswith("#"):
            file, _, name = line.partition("::")
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
            assert f"def {name.partition('[')[0]}(" in text, line


def test_the_fast_subset_is_there():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "quick", "--collect-only", "-q", "-p", "no:xdist",
         "-o", "addopts=--strict-markers --import-mode=importlib", "tests/test_gate_odds.py"],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert "tests/test_gate_odds.py::" in done.stdout
    lines = (ROOT / "tests" / "quick_tests.txt").read_text(encoding="utf-8").splitlines()
    files = [line for line in lines if not line.startswith("#")]
    assert [f for f in files if not (ROOT / "tests" / f).exists()] == []


# ---- words -----------------------------------------------------------------------------------

# In two parts each, so that this file does not contain them.
FORBIDDEN = {
    "a helper's name": r"\b" + "assist" + r"ants?\b",
    "how it was written": r"\b" + "sess" + r"ions?\b",
    "a path of one machine": r"(?<![\w.])/" + r"(work|root|home)/",
    "a scratch directory": r"(?<![\w.])/" + r"tmp/\w",
    "a package index": r"(extra-)?" + r"index[-_]" + r"url",
    "a local host": r"\b" + r"local" + r"host\b|127\.0\." + r"0\.1",
}
SCOPE = 'scope="sess' + 'ion"'
TEXT = {".py", ".md", ".toml", ".txt", ".yml", ".yaml", ".cfg", ".json", ".csv", ""}


def tracked():
    """The files under version control; without it, those of the source tree."""
    done = subprocess.run(["git", "ls-files", "-z"], capture_output=True, cwd=ROOT, check=False)
    if done.returncode == 0 and done.stdout:
        return [ROOT / name for name in done.stdout.decode().split("\0") if name]
    parts = ("gibbsppl", "models", "tests", "docs")
    return [p for part in parts for p in (ROOT / part).rglob("*") if "__pycache__" not in p.parts]


def texts():
    for path in tracked():
        if path.suffix in TEXT and path.is_file():
            yield path, path.read_text(encoding="utf-8")


def test_no_file_speaks_of_how_it_was_made():
    found = [
        f"{path.relative_to(ROOT)}: {what}: {match.group()!r}"
        for path, text in texts()
        for what, pattern in FORBIDDEN.items()
        for match in re.finditer(pattern, text.replace(SCOPE, ""), re.IGNORECASE)
    ]

    assert found == []


def test_a_forbidden_word_would_be_found():
    text = "an " + "Assist" + "ant wrote /" + "work/x in a " + "sess" + "ion"

    assert sum(bool(re.search(p, text, re.IGNORECASE)) for p in FORBIDDEN.values()) == 3


def test_no_file_has_trailing_blanks_or_tabs():
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path, text in texts()
        if path.suffix in (".py", ".toml")
        for number, line in enumerate(text.splitlines(), 1)
        if line != line.rstrip() or "\t" in line
    ]

    assert found == []


def test_unfinished_work_is_written_down_elsewhere():
    marks = "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX"))
    found = [str(p.relative_to(ROOT)) for p, t in texts() if re.search(rf"\b({marks})\b", t)]

    assert found == []


def test_layers_are_listed_once():
    names = [n for layer in LAYERS for n in layer]

    assert len(names) == len(set(names))
    assert all(a != b for a, b in pairwise(sorted(names)))
