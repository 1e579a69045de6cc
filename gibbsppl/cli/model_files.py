"""Models in files: Python with a function ``model()``, or a program of BUGS with its data.

Comes in: the path of a file. Goes out: a ``gp.Model``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from gibbsppl.cli.tables import FORMS, read_table
from gibbsppl.cli.users_files import told_by_line
from gibbsppl.errors import CompileError, ModelError

if TYPE_CHECKING:
    from gibbsppl.bugs.grids import Array
    from gibbsppl.language import Model

PYTHON = ".py"


def is_python(path: Path) -> bool:
    """Whether a file is read as Python."""
    return path.suffix == PYTHON


def model_of(path: Path, data: Sequence[Path] = (), monitor: Sequence[str] = ()) -> Model:
    """The model of a file, which is Python if its name ends in .py, and BUGS else.

    ``data`` are the files of a BUGS program's data, each name in one of them; ``monitor`` names
    what is recorded besides its random variables.
    """
    if is_python(path):
        if data:
            raise ModelError(
                f"--data: found {data[0]} for {path}, but a Python file has its data itself; data "
                "are for programs in the language of BUGS."
            )
        return model_in(path)
    from gibbsppl.bugs.read import read_bugs  # noqa: PLC0415  (Python files need none of it)

    if not path.is_file():
        raise ModelError(
            f"{path}: found no such file, expected a Python file with a model(), or a program in "
            "the language of BUGS."
        )
    return read_bugs(path, _data_in(data), monitor=monitor)


def _data_in(paths: Sequence[Path]) -> dict[str, Array]:
    """The arrays of all files, by name."""
    from gibbsppl.bugs.data import read_data  # noqa: PLC0415  (Python files need none of it)

    found: dict[str, Array] = {}
    for path in paths:
        is_table = path.suffix.lower() in FORMS
        values = read_data(read_table(path), str(path)) if is_table else read_data(path)
        for name in values.keys() & found.keys():
            raise ModelError(f"{path}: {name} has values in another file already; give it once.")
        found |= values
    return found


def model_in(path: Path) -> Model:
    """What ``model()`` of a Python file returns, named for the file unless it has a name."""
    from gibbsppl.language import Model  # noqa: PLC0415  (--help loads no SymPy)

    make = getattr(_module(path), "model", None)
    if not callable(make):
        found = "no model()" if make is None else f"model = {make!r}"
        raise ModelError(
            f"{path}: found {found}, expected a function model() that returns a gp.Model; write\n"
            "def model():\n    with gp.Model() as my_model:\n        ...\n    return my_model"
        )
    _check_arguments(path, make)
    with told_by_line(path):
        model = make()
    if not isinstance(model, Model):
        raise ModelError(
            f"{path}: model() returned {_described(model)}, expected a gp.Model; end it with "
            "`return`, followed by the model."
        )
    if model.name == Model().name:
        model.name = path.stem
    return model


def _described(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"


def _module(path: Path) -> ModuleType:
    """A Python file as a module; files beside it can be imported while it is read."""
    from importlib import util  # noqa: PLC0415  (with its machinery, only to read a file)

    if not path.is_file():
        raise ModelError(f"{path}: found no such file, expected a Python file with a model().")
    if path.suffix != ".py":
        found = path.suffix or "nothing"
        raise ModelError(f"{path}: found {found} at the end of the name, expected .py (Python).")
    spec = util.spec_from_file_location(f"gibbsppl_model_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = util.module_from_spec(spec)
    before = list(sys.path)
    # Last, not first: a model called lda.py must not hide the package lda from itself.
    folder = path.resolve().parent
    sys.path.append(str(folder))
    if (folder / "__init__.py").is_file():
        sys.path.append(str(folder.parent))  # (a file of a package may import others of it)
    try:
        with told_by_line(path):
            spec.loader.exec_module(module)
    finally:
        sys.path[:] = before
    return module


def _check_arguments(path: Path, make: Callable[..., object]) -> None:
    """Raise unless ``model`` can be called without arguments, and name the arguments needed."""
    from inspect import Parameter, signature  # noqa: PLC0415  (not for --help)

    optional = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    needed = [
        p.name
        for p in signature(make).parameters.values()
        if p.default is Parameter.empty and p.kind not in optional
    ]
    if needed:
        raise CompileError(
            f"{path}: model() needs a value of {', '.join(needed)}; give each argument a default, "
            "such as the data."
        )
