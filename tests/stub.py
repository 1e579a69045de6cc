"""The types of what a user calls: `gibbsppl/__init__.pyi`, made from the table of distributions.

    python tests/stub.py

writes it anew. A distribution has two overloads for each of its spellings: with a name it declares
a variable and is a `Tensor`, without one it is a `Distribution`.
"""

# The package is found before it is imported.
# ruff: noqa: E402

import sys
from inspect import cleandoc
from pathlib import Path
from textwrap import indent

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

import gibbsppl
from gibbsppl import language
from gibbsppl.families import FAMILIES
from gibbsppl.language.distributions import BOUNDS, by_position, can_be_truncated, spellings
from gibbsppl.language.signatures import docstring_of

PATH = ROOT / "gibbsppl" / "__init__.pyi"

HEAD = '''\
"""{about}"""

# Written by tests/stub.py from the table of distributions; a test compares the two.

from typing import overload

from numpy.typing import ArrayLike as _ArrayLike

{imports}
from gibbsppl.language.statements import Names as _Names
from gibbsppl.language.statements import Observations as _Observations
from gibbsppl.language.tensors import Value as _Value

__version__: str
'''
OF_A_VARIABLE = (
    *("dims: _Names = None", "event: _Names = None", "observed: _Observations = None"),
    *("missing: _ArrayLike | None = None", "of: str | None = None"),
)
OF_A_REGION = ("event: _Names = None", "of: str | None = None")


def written():
    """The text of the stub."""
    about = gibbsppl.__doc__.partition("\n")[0]
    head = HEAD.format(about=about, imports="\n".join(imports()))
    return "\n".join((head, *(overloads(family) for family in FAMILIES.values())))


def imports():
    """Imports of all but the distributions, from the modules that define them."""
    found = {n: f"gibbsppl.{module}" for n, module in gibbsppl._ELSEWHERE.items()}
    found |= {n: getattr(language, n).__module__ for n in language.__all__}
    found |= {"Distribution": "gibbsppl.language.distributions"}
    yield "from gibbsppl import runtime as runtime"
    for name, module in sorted(found.items(), key=lambda pair: (pair[1], pair[0])):
        yield f"from {module} import {name} as {name}"


def overloads(family):
    """Two declarations for each spelling, the first with the docstring."""
    docstring = indent(f'"""{cleandoc(docstring_of(family))}\n"""', "    ")
    lines = []
    for way in spellings(family):
        start = by_position(family, way)
        given = [typed(family, n) for n in way]
        given.insert(len(start), "*")
        bounds = [f"{b}: _Value | None = None" for b in BOUNDS] if truncates(family) else []
        of_all = ["name: str", "/", *given, *bounds, *OF_A_VARIABLE]
        of_region = [*given, *bounds, *OF_A_REGION]
        body = " ..." if lines else f"\n{docstring}"
        for arguments, found in ((of_all, "Tensor"), (of_region, "Distribution")):
            lines += ["@overload", declared(family.name, arguments, found, body)]
            body = " ..."
    return "\n".join(lines)


def truncates(family):
    """Whether bounds can be given beside the parameters."""
    return can_be_truncated(family) and not {*BOUNDS} & {*family.written}


def typed(family, name):
    """A parameter with its type, and its default if it may be left out."""
    return f"{name}: _Value" + (f" = {family.defaults[name]}" if name in family.defaults else "")


def declared(name, arguments, found, body):
    inside = "".join(f"    {a},\n" for a in arguments)
    return f"def {name}(\n{inside}) -> {found}:{body}"


if __name__ == "__main__":
    PATH.write_text(written(), encoding="utf-8")
