"""The reference of public names is what their docstrings say, and leaves none out."""

import api
import pytest


def test_the_page_is_what_the_docstrings_say():
    """Written anew by ``python -m tests.api``."""
    assert api.PAGE.read_text("utf-8") == api.page()


@pytest.mark.parametrize("name", api.names())
def test_every_name_says_what_it_is(name):
    assert api.text_of(getattr(api.gp, name)).split("\n\n")[0].rstrip(":").count(" ") > 0
    assert f"\n### {name}\n" in api.page()
