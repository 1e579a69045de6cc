"""Thirty tasks of new users, beside what PyMC or bambi need: the page about them.

Comes in: the files of ``tests/tasks``, each a task between two marks, and of ``tests/tasks/peers``,
the same task by a peer, as its documentation has it. Goes out: ``tests/tasks/README.md``, written
anew by ``python -m tests.user_tasks``.
"""

import ast
from pathlib import Path

FOLDER = Path(__file__).parent / "tasks"
PAGE = FOLDER / "README.md"
FILES = sorted(FOLDER.glob("[0-9]*.py"))
AREAS = {"data in": 8, "models": 6, "runs": 4, "checks": 4, "results": 8}

HEAD = """# Thirty tasks of new users

Each file has data as a user would have them, then the task between `# task` and `# done`, then what
must be true of its result. All are run in the everyday tests (`tests/test_tasks.py`).

Lines are those of code within the marks, imports left out: of gibbsppl, and of PyMC, ArviZ or bambi
for the same (`tests/tasks/peers`, written by their documentation, not run in the tests). A dash is
what the peer cannot do.

| | area | task | lines | of the peer |
| --- | --- | --- | --- | --- |
"""


def peer_of(file):
    """The task of a file, by a peer."""
    return FOLDER / "peers" / file.name


def lines_of(file):
    """The number of lines of code within the marks of a task, without imports.

    >>> lines_of(FOLDER / "peers" / "16_stopped_and_resumed.py")
    0
    """
    text = file.read_text("utf-8")
    _, rest = text.split("# task\n")
    task, _ = rest.split("# done\n")
    ast.parse(task)
    stripped = (line.strip() for line in task.splitlines())
    return sum(bool(s) and not s.startswith(("#", "import ", "from ")) for s in stripped)


def about(file):
    """The task, in a sentence."""
    return ast.get_docstring(ast.parse(file.read_text("utf-8")))


def page():
    """The page, of the files as they are."""
    areas = [area for area, count in AREAS.items() for _ in range(count)]
    rows = []
    for area, file in zip(areas, FILES, strict=True):
        number = file.name.partition("_")[0]
        peer = lines_of(peer_of(file)) or "–"
        rows.append(
            f"| [{number}]({file.name}) | {area} | {about(file)} | {lines_of(file)} | {peer} |\n"
        )
    return HEAD + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
