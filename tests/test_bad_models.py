"""Bad models, each with the message that it must give (the docstring of the function)."""

import importlib.util
from pathlib import Path

import pytest

from gibbsppl.errors import ModelError
from gibbsppl.language.model import _OPEN

FOLDER = Path(__file__).parent / "bad_models"


def cases():
    for path in sorted(FOLDER.glob("bad_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        theme = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(theme)
        own = (f for f in vars(theme).values() if getattr(f, "__module__", "") == path.stem)
        yield from (pytest.param(f, id=f"{path.stem[4:]}-{f.__name__}") for f in own)


CASES = list(cases())


@pytest.mark.parametrize("declare", CASES)
def test_a_bad_model_gives_its_message_and_is_closed(declare):
    with pytest.raises(ModelError) as caught:
        declare()

    assert " ".join(str(caught.value).split()) == " ".join(declare.__doc__.split())
    assert _OPEN.get() == (), "a model is closed by its error"


def test_every_theme_has_cases():
    themes = {case.id.split("-")[0] for case in CASES}

    assert themes == {path.stem[4:] for path in FOLDER.glob("bad_*.py")}
    assert len(themes) == 6
