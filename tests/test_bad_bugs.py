"""Bad programs and bad data in BUGS's forms, each with the message that it must give.

The folder ``bad_bugs`` has a file for each theme; in it a line ``=== name`` starts a case, and a
line ``--- gives`` its message. Themes in DATA are read as data, those in MODELS as programs with
the data below, all others as programs alone.
"""

import re
from pathlib import Path

import pytest

from gibbsppl.bugs.data import read_data
from gibbsppl.bugs.parse import parse
from gibbsppl.bugs.read import read_bugs
from gibbsppl.bugs.syntax import NOWHERE, BugsError
from gibbsppl.errors import ModelError

FOLDER = Path(__file__).parent / "bad_bugs"
DATA = ("dumps", "json", "lists", "tables")
MODELS = ("models", "sizes")
GIVEN = {
    "N": 3,
    "v": [0.2, 0.5, 0.3],
    "g": [1, 2, 1],
    "P": [[2.0, 0.3], [0.3, 1.0]],
    "y": [1, 0, 2],
    "adj": [2, 1],
    "w": [1, 1],
    "num": [1, 1, 0],
}


def cases():
    for path in sorted(FOLDER.glob("*.txt")):
        for case in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name, rest = case.split("\n", 1)
            text, message = rest.split("\n--- gives\n")
            yield pytest.param(path.stem, text, message.rstrip("\n"), id=f"{path.stem}-{name}")


CASES = list(cases())


def read(theme, text):
    if theme in MODELS:
        read_bugs(text, {n: v for n, v in GIVEN.items() if re.search(rf"\b{n}\b", text)})
    else:
        (read_data if theme in DATA else parse)(text)


def error_of(theme, text):
    with pytest.raises(BugsError) as caught:
        read(theme, text)
    return caught.value


@pytest.mark.parametrize(("theme", "text", "message"), CASES)
def test_a_bad_text_gives_its_message(theme, text, message):
    error = error_of(theme, text)

    assert str(error) == message
    if theme not in MODELS:
        assert isinstance(error, ModelError)
        assert re.fullmatch(r"found .*, expected .*[.?]", error.reason)
    assert_the_caret_stands_below_what_was_found(error, message)


def assert_the_caret_stands_below_what_was_found(error, message):
    found = re.match(r"found '(.*?)(\.\.\.)?',", error.reason)
    if error.at == NOWHERE or found is None or "U+" in error.reason:
        return
    _, line, caret = message.split("\n")
    place = caret.index("^")

    # A name of data may stand in other quotes.
    assert line[place:].startswith((found[1], f'"{found[1]}"', f"`{found[1]}`"))


def test_every_theme_has_cases():
    themes = {case.id.split("-")[0] for case in CASES}

    assert themes == {path.stem for path in FOLDER.glob("*.txt")}
    assert set(DATA) < themes
    assert len({case.id for case in CASES}) == len(CASES)
