"""Thirty tasks of new users: each is done, in no more lines than PyMC or bambi need."""

import runpy

import matplotlib as mpl
import pytest
import user_tasks


@pytest.mark.filterwarnings("ignore:::arviz", "ignore:::matplotlib")
@pytest.mark.parametrize("file", user_tasks.FILES, ids=lambda f: f.stem)
def test_a_task_is_done(file, tmp_path, monkeypatch):
    """Each file says what must be true of its result."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with mpl.rc_context():
        runpy.run_path(str(file))


@pytest.mark.parametrize("file", user_tasks.FILES, ids=lambda f: f.stem)
def test_a_peer_needs_as_many_lines(file):
    lines, peer = (user_tasks.lines_of(f) for f in (file, user_tasks.peer_of(file)))

    assert lines > 0
    assert not peer or lines <= peer


def test_a_task_says_what_must_be_true():
    for file in user_tasks.FILES:
        _, checks = file.read_text("utf-8").split("# done\n")
        assert checks.count("\n    assert ") + checks.count("\nassert ") >= 1, file.name


def test_the_page_is_what_the_files_say():
    """Written anew by ``python -m tests.user_tasks``."""
    assert user_tasks.PAGE.read_text("utf-8") == user_tasks.page()
