"""What the package needs is declared, and the oldest and the newest of it serve.

Environments of their own are slow: the oldest that pyproject.toml allows, and the newest on each
later Python that is on the path; warnings are errors in all of them.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
RUN_TIME = (*PROJECT["dependencies"], *EXTRAS["plot"], *EXTRAS["fast"], *EXTRAS["formula"])

# Imported where they are there already, and asked for by no extra.
IF_INSTALLED = {
    "arviz": "draws become its own data",
    "IPython": "in notebooks",
    "llvmlite": "comes with Numba",
}

# What the oldest needs for another reason than that the project calls it: later versions of it
# deprecate what the oldest of the project's own dependencies call.
OF_OTHERS = ("pyparsing<3.3",)  # (Matplotlib 3.8)

# One or two for each kind of thing that another version may have changed, beside the fast subset.
WITH_OTHER_VERSIONS = (
    *("test_netcdf.py", "test_draws_in_groups.py", "test_plots.py", "test_formulas.py"),
    *("test_loop_weights.py", "test_loop_draws.py", "test_scans_at_once.py", "test_compiled.py"),
    *("test_predict.py", "test_families.py", "test_pickles.py", "test_monitoring.py"),
    *("test_draws_of_steps.py", "test_elliptical_slice.py", "test_composed_kernels.py"),
    *("test_run.py", "test_workers.py", "test_bugs_interpreter.py", "test_label_codes.py"),
)


def least(requirement):
    """The name and the oldest version of a requirement."""
    found = re.fullmatch(r"([\w-]+)>=(\d[\d.]*)(,<\d+)?", requirement)
    assert found, f"{requirement}: expected name>=version"
    return found[1], found[2]


# ---- what is declared ------------------------------------------------------------------------


def test_each_dependency_has_one_oldest_version():
    every = [*PROJECT["dependencies"], *(r for extra in EXTRAS.values() for r in extra)]
    found = {least(r) for r in every}

    assert len(found) == len(dict(found)), "the same package has two oldest versions"
    for wrong in ("numpy", "numpy==2.0", "numpy<3"):
        with pytest.raises(AssertionError, match="expected name>=version"):
            least(wrong)


def imported(tree):
    """The packages that are imported somewhere in a module, by any kind of import."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (a.name.partition(".")[0] for a in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case ast.Call(
                func=ast.Name(id="import_module"), args=[ast.Constant(value=str(module))]
            ):
                yield module.partition(".")[0]


def test_what_the_package_imports_is_declared():
    files = (ROOT / "gibbsppl").rglob("*.py")
    found = {name for p in files for name in imported(ast.parse(p.read_text("utf-8")))}
    others = found - set(sys.stdlib_module_names) - {"gibbsppl", "polars", *IF_INSTALLED}

    # (a Parquet file is read by polars if it is there, else by pandas)
    assert others == {least(r)[0] for r in RUN_TIME}


# ---- what Python 3.12 and 3.13 deprecate -------------------------------------------------------

# Modules that are gone from 3.12 or 3.13, or came with an installer that no longer is.
GONE = {
    *("asynchat", "asyncore", "distutils", "imp", "smtpd", "pkg_resources", "lib2to3"),
    *("aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "mailcap", "msilib", "nis"),
    *("nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib"),
}
# The ends of dotted names.
DEPRECATED = {
    *("datetime.utcnow", "datetime.utcfromtimestamp", "locale.getdefaultlocale"),
    *("ast.Num", "ast.Str", "ast.Bytes", "ast.NameConstant", "ast.Ellipsis"),
    *("typing.ByteString", "abc.ByteString", "typing.no_type_check_decorator", "logging.warn"),
    *("pkgutil.find_loader", "pkgutil.get_loader", "glob.glob0", "glob.glob1"),
    *("sys.last_type", "sys.last_value", "sys.last_traceback", "sqlite3.version"),
    *("locale.resetlocale", "re.template", "unittest.makeSuite", "tempfile.mktemp"),
}
# The most arguments by position, of what takes its flags by name alone in the end.
BY_POSITION = {"re.sub": 3, "re.subn": 3, "re.split": 2}
# What a file has that is worth a closer look.
WORTH_READING = re.compile(
    rf"(import|from) +({'|'.join(sorted(GONE))})\b|\bre\.(sub|subn|split)\(|rmtree|~(True|False)|"
    rf"\b({'|'.join(sorted(name.partition('.')[2] for name in DEPRECATED))})\b"
)


def deprecated(tree):
    """What a module has of these, as it is written."""
    yield from GONE & set(imported(tree))
    for node in ast.walk(tree):
        match node:
            case ast.Attribute():
                name = ".".join(ast.unparse(node).split(".")[-2:])
                if name in DEPRECATED:
                    yield name
            case ast.ImportFrom(module=str(module), names=names):
                written = {f"{module.rpartition('.')[2]}.{a.name}" for a in names}
                yield from written & DEPRECATED
            case ast.Call(func=ast.Attribute() as f, args=args) if (
                len(args) > BY_POSITION.get(ast.unparse(f), len(args))
            ):
                yield f"{ast.unparse(f)} of {len(args)} arguments"
            case ast.Call(func=f, keywords=keywords) if ast.unparse(f).endswith("rmtree"):
                yield from (f"rmtree({k.arg}=)" for k in keywords if k.arg == "onerror")
            case ast.UnaryOp(op=ast.Invert(), operand=ast.Constant(value=bool())):
                yield ast.unparse(node)


def test_nothing_is_used_that_later_pythons_deprecate():
    folders = ("gibbsppl", "models", "tests", "docs")
    files = [p for folder in folders for p in (ROOT / folder).rglob("*.py")]
    texts = {str(p): p.read_text("utf-8") for p in files}
    read = {name: text for name, text in texts.items() if WORTH_READING.search(text)}
    found = {name: [*deprecated(ast.parse(text))] for name, text in read.items()}

    assert len(files) > 500
    assert {name: uses for name, uses in found.items() if uses} == {}


def test_what_is_deprecated_would_be_found():
    lines = (
        "import imp",
        "from distutils.core import setup",
        "import datetime; datetime.datetime.utcnow()",
        "from typing import ByteString",
        "isinstance(x, ast.Num)",
        "re.sub(a, b, c, 1)",
        "shutil.rmtree(folder, onerror=f)",
        "~True",
    )

    assert [len([*deprecated(ast.parse(line))]) for line in lines] == [1] * len(lines)
    assert all(map(WORTH_READING.search, lines))
    assert not [*deprecated(ast.parse("re.sub(a, b, c, count=1); ~x; datetime.now(UTC)"))]


# ---- other versions --------------------------------------------------------------------------


def run(*command, **more):
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ | more
    )


def python_of(version):
    """The program of a version of Python, where there is one that runs."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        return sys.executable
    found = shutil.which(f"python{version}")
    if found is None or run(found, "-c", "").returncode:
        pytest.skip(f"found no python{version} on the path")
    return found


def environment(place, version, constraints):
    """The Python of a new environment with the package and what its tests need."""
    done = run(python_of(version), "-m", "venv", place)
    assert done.returncode == 0, done.stderr
    python = str(place / "bin" / "python")
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    if (done := run(*pip, "pip")).returncode or (done := run(*pip, "tqdm")).returncode:
        pytest.skip(f"pip finds no registry of packages: {done.stderr.strip()[-300:]}")
    told = place / "constraints.txt"
    told.write_text("\n".join(constraints), "utf-8")
    done = run(*pip, "--constraint", told, "--editable", f"{ROOT}[test,plot,fast,formula]")
    assert done.returncode == 0, done.stderr
    return python


COMPILED_ANEW = """
import pathlib, warnings
warnings.simplefilter("error")
for folder in ("gibbsppl", "models", "tests"):
    for path in pathlib.Path(folder).rglob("*.py"):
        compile(path.read_bytes(), path, "exec")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "oldest"), [("3.11", True), ("3.12", False), ("3.13", False)],
    ids=["3.11-oldest", "3.12-newest", "3.13-newest"],
)  # fmt: skip
def test_the_package_runs_with_other_versions(version, oldest, tmp_path):
    """A part of the everyday tests, whose warnings are errors, and every file compiled anew."""
    every = {least(r) for r in (*RUN_TIME, *EXTRAS["test"])}
    exact = [f"{name}=={oldest_one}" for name, oldest_one in sorted(every)]
    python = environment(tmp_path / "venv", version, [*exact, *OF_OTHERS] if oldest else ())
    done = run(python, "-c", COMPILED_ANEW)
    assert done.returncode == 0, done.stderr
    quick = (ROOT / "tests" / "quick_tests.txt").read_text("utf-8").splitlines()
    names = [*(name for name in quick if not name.startswith("#")), *WITH_OTHER_VERSIONS]
    own = {"NUMBA_CACHE_DIR": f"{tmp_path}/numba", "XDG_CACHE_HOME": f"{tmp_path}/kept"}
    files = (f"tests/{name}" for name in names)
    done = run(python, "-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider", *files, **own)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
