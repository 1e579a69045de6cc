r"""The lines of generated code for one step, cut out of the source of a module.

>>> source = '''
... def x_given_rest(s, c):
...     return (0.0, -0.5)
...
... def sweep(rng, s, c):
...     s["x"] = runtime.normal(rng, *x_given_rest(s, c), size=())
...     s["y"] = runtime.normal(rng, *y_given_rest(s, c), size=())
...
... STEPS = (
...     runtime.Step("x", ("x",), x_given_rest),
...     runtime.Step("y", ("y",), y_given_rest),
... )
... '''
>>> print(*step_lines(source, "x"), sep="\n")
def x_given_rest(s, c):
    return (0.0, -0.5)
<BLANKLINE>
# in sweep(rng, s, c):
s["x"] = runtime.normal(rng, *x_given_rest(s, c), size=())
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator


def step_lines(source: str, step: str) -> list[str]:
    """The function of a step, and the lines of the sweep that draw it."""
    module = ast.parse(source)
    functions = {n.name: n for n in module.body if isinstance(n, ast.FunctionDef)}
    rows = _rows(module)
    calls = {name: row["given_rest"] for name, row in rows.items()}
    own = functions[calls[step]]
    # (a scan is drawn by its loops, fixed matrices by what scales them, and what is interwoven in a
    # function of its own)
    together = {n: row[k] for k in ("scaled", "interwoven") for n, row in rows.items() if k in row}
    others = {f: f.replace("_given_rest", "_scan") for f in calls.values()}
    drawing = {f: loops if loops in functions else f for f, loops in others.items()}
    drawing |= {calls[name]: f for name, f in together.items()}
    # (an auxiliary variable may have a function of its own, and so has each unit of a scan)
    places = [f for f in ("sweep", "augment", *_units(module)) if f in functions]
    found = (
        (f, list(_drawing(functions[f], drawing[calls[step]], set(drawing.values()))))
        for f in places
    )
    where, drawn = next(((f, lines) for f, lines in found if lines), ("sweep", []))
    loops = drawing[calls[step]]
    return [
        *([*_text(source, functions[loops]), ""] if loops != calls[step] else []),
        *_text(source, own),
        "",
        f"# in {where}(rng, s, c):",
        *(line for statement in drawn for line in _text(source, statement)),
    ]


def _rows(module: ast.Module) -> dict[str, dict[str, str]]:
    """The table of steps: the functions of each, by what they are."""
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="STEPS")], value=ast.Tuple(elts=rows)):
                return dict(_row(row) for row in rows if isinstance(row, ast.Call))
    return {}


def _row(row: ast.Call) -> tuple[str, dict[str, str]]:
    name, _, given_rest = row.args
    more = {k.arg: ast.unparse(k.value) for k in row.keywords if k.arg is not None}
    return ast.literal_eval(name), {"given_rest": ast.unparse(given_rest), **more}


def _units(module: ast.Module) -> list[str]:
    """The functions in the tuple UNITS."""
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="UNITS")], value=ast.Tuple(elts=names)):
                return [ast.unparse(n) for n in names]
    return []


def _drawing(sweep: ast.FunctionDef, function: str, others: set[str]) -> Iterator[ast.stmt]:
    """The statements from a call of the function up to a call of another drawing function."""
    inside = False
    for statement in sweep.body:
        called = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)} & others
        inside = function in called if called else inside
        if inside:
            yield statement


def _text(source: str, node: ast.stmt) -> list[str]:
    """The lines of a node, comments in them and at their ends included, dedented."""
    lines = source.splitlines()[node.lineno - 1 : node.end_lineno]
    return textwrap.dedent("\n".join(lines)).splitlines()
