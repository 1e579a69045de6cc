"""The reference of all public names in the documentation, from their docstrings.

    python -m tests.api

writes ``docs/api.md`` anew. Distributions have a page of their own.
"""

import inspect
import re
from pathlib import Path

import gibbsppl as gp
from gibbsppl.families import FAMILIES

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"
HEAD = """\
# All public names

What `import gibbsppl as gp` has, by what it is for. [Distributions](distributions.md) have a page
of their own. This page is written from docstrings by `python -m tests.api`.
"""


def names():
    """The public names, in the order of the alphabet, without distributions."""
    return sorted(n for n in dir(gp) if not n.startswith("_") and n not in FAMILIES)


def kind_of(name):
    """What a name is, as a heading says it."""
    found = getattr(gp, name)
    if not inspect.isclass(found):
        return "Functions" if callable(found) else "Modules"
    if issubclass(found, Exception):
        return "Errors"
    return "Kernels" if found.__module__.startswith("gibbsppl.kernels") else "Classes"


def signature_of(name, found):
    """A call with all of its arguments, without types."""
    parameters = [
        p.replace(annotation=inspect.Parameter.empty)
        for p in inspect.signature(found).parameters.values()
        if p.name != "self"
    ]
    return f"{name}{inspect.Signature(parameters)}"


def text_of(found):
    """A docstring, with its examples as blocks of code."""
    parts = []
    for paragraph in (inspect.getdoc(found) or "").split("\n\n"):
        if paragraph.startswith(">>>"):
            parts.append(f"```python\n{paragraph}\n```")
        else:
            parts.append(re.sub(r"``([^`]+)``", r"`\1`", paragraph))
    return "\n\n".join(parts)


def members_of(own):
    """The public methods and properties of a class that say what they are, by name."""
    for name, member in inspect.getmembers(own):
        is_told = isinstance(member, property) or inspect.isfunction(member)
        if is_told and not name.startswith("_") and inspect.getdoc(member):
            yield name, member


def section(name):
    """What the page has of a name."""
    found = getattr(gp, name)
    parts = [f"### {name}"]
    if kind_of(name) not in ("Errors", "Modules"):
        parts.append(f"```python\n{signature_of(f'gp.{name}', found)}\n```")
    parts.append(text_of(found))
    for member, method in members_of(found) if inspect.isclass(found) else ():
        told = member if isinstance(method, property) else signature_of(member, method)
        parts += [f"#### {name}.{member}", f"```python\n{told}\n```", text_of(method)]
    return "\n\n".join(parts)


def page():
    """The page: the names by kind."""
    kinds = {kind: [] for kind in ("Classes", "Functions", "Kernels", "Errors", "Modules")}
    for name in names():
        kinds[kind_of(name)].append(section(name))
    told = [f"## {kind}\n\n" + "\n\n".join(found) for kind, found in kinds.items() if found]
    return HEAD + "\n" + "\n\n".join(told) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
