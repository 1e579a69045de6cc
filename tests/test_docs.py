"""What the pages say is what happens: every example runs, the README's output is real.

A page's ``pycon`` blocks are doctests that share one namespace. The README's Python block prints
the text block that follows it; ``pytest --update-golden`` writes that block anew.
"""

import contextlib
import doctest
import io
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from gibbsppl.cli.command import _parsed
from gibbsppl.rewrites import RULES as EVERY_RULE

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
RULES = ROOT / "docs" / "rewrites.md"
PAGES = [README, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(page, kind):
    return [match for match in FENCE.finditer(page.read_text("utf-8")) if match[1] == kind]


def names_of(pages):
    return [page.name for page in pages]


WITH_EXAMPLES = [page for page in PAGES if blocks(page, "pycon")]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=names_of(WITH_EXAMPLES))
def test_examples_run_as_printed(page):
    text = page.read_text("utf-8")
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=FLAGS)
    shared = {}
    for block in blocks(page, "pycon"):
        line = text[: block.start(2)].count("\n")
        example = parser.get_doctest(block[2], shared, page.name, str(page), line)
        example.globs = shared
        report = io.StringIO()
        runner.run(example, out=report.write, clear_globs=False)
        assert runner.failures == 0, report.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=names_of(PAGES))
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    inside = [target for target in targets if "://" not in target]
    assert [target for target in inside if not (page.parent / target).exists()] == []


def commands_in(page):
    """The lines of a page that call gibbsppl from a shell."""
    text = re.sub(r"\\\n\s*", " ", page.read_text("utf-8"))
    names = "run|explain|source|check|graph|predict"
    lines = re.findall(rf"^(?: {{4}})?(gibbsppl (?:{names}) .*)$", text, re.MULTILINE)
    whole = [*lines, *re.findall(rf"`(gibbsppl (?:{names}) [^`\n]*)`", text)]
    return [c for c in whole if not c.split()[-1].startswith("--")]  # (an option is spoken of)


def test_commands_are_those_of_the_command_line():
    """All that pages tell to type is understood, whatever the files."""
    found = [c for page in PAGES for c in commands_in(page)]
    for command in found:
        _parsed(shlex.split(command, comments=True)[1:])

    assert len(found) >= 5


def rules_in(text):
    """Name, identity and source of each row of the table of rules."""
    rows = re.findall(r"^\| `(.+?)` \| `(.+?)` \| .+? \| (.+?) \|$", text, re.MULTILINE)
    return [tuple(cell.replace(r"\|", "|") for cell in row) for row in rows]


def test_the_table_of_rules_says_what_the_rules_say():
    said = [(r.name, r.identity, r.source) for r in EVERY_RULE]

    assert rules_in(RULES.read_text("utf-8")) == said


@pytest.mark.parametrize("field", ["name", "identity", "source"])
def test_any_other_word_in_the_table_of_rules_would_be_found(field):
    page = RULES.read_text("utf-8")

    for rule in EVERY_RULE:
        cell = getattr(rule, field).replace("|", r"\|")
        assert rules_in(page.replace(cell, "something else")) != rules_in(page)


@pytest.fixture
def example(request):
    """The README's example: what it prints, and what the page says that it prints."""
    page = README.read_text("utf-8")
    code = blocks(README, "python")[0]
    shown = next(block for block in blocks(README, "text") if block.start() > code.end())
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code[2], "README.md", "exec"), {})  # noqa: S102  (our own page)
    if request.config.getoption("--update-golden"):
        README.write_text(page[: shown.start(2)] + printed.getvalue() + page[shown.end(2) :])
        return printed.getvalue(), printed.getvalue()
    return printed.getvalue(), shown[2]


def test_the_example_is_short():
    assert len(blocks(README, "python")[0][2].splitlines()) <= 20


def test_the_example_prints_what_the_readme_shows(example):
    printed, shown = ([" ".join(line.split()) for line in text.splitlines()] for text in example)
    derived = printed.index("") if "" in printed else len(printed)
    assert printed[:derived] == shown[:derived]
    # What is drawn and rounded may differ from one machine to another in its digits alone.
    assert [NUMBER.sub("#", line) for line in printed] == [NUMBER.sub("#", line) for line in shown]
    ours, theirs = (summary_rows(lines) for lines in (printed, shown))
    assert ours.keys() == theirs.keys()
    assert ours
    # One in a million that chance alone fails any of the rows; same draws have a score of 0.
    limit = stats.norm.isf(1e-6 / 2 / len(ours))
    for label, (mean, error) in ours.items():
        other, other_error = theirs[label]
        assert abs(mean - other) <= limit * np.hypot(error, other_error), label


def summary_rows(lines):
    """Mean and Monte Carlo error by label: the rows below the summary's header."""
    rows = {}
    header = next(i for i, line in enumerate(lines) if line.startswith("mean sd"))
    for line in lines[header + 1 :]:
        if not line:
            break
        label, *cells = line.rsplit(" ", 9)
        if len(cells) == 9:
            rows[label] = float(cells[0]), float(cells[5])
    return rows
