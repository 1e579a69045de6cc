"""Whoever watches a run: callbacks, bars on terminals and in notebooks."""

import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.run import progress, shown, workers
from models import rats

SETTINGS = {"warmup": 60, "draws": 90, "chains": 2, "seed": 1, "progress": False, "cores": 1}


@pytest.fixture(scope="module")
def sampler():
    return gp.compile(rats.model())


def seen_of(sampler, every, **settings):
    seen = []

    def look(view):
        told = {n: np.array(a) for n, a in view.state.items()}
        own = {n: np.array(a) for n, a in view.draws.items()}
        seen.append((view.chain, view.sweep, view.is_warm, told, own))

    draws = sampler.sample(**{**SETTINGS, **settings}, callback=look, callback_every=every)
    return draws, seen


@pytest.mark.parametrize("backend", ["numpy", "compiled"])
@pytest.mark.parametrize(("every", "thin"), [(50, 1), (60, 2), (25, 3)])
def test_each_chain_is_seen_every_so_many_sweeps(sampler, backend, every, thin):
    draws, seen = seen_of(sampler, every, thin=thin, backend=backend)
    whole = sampler.sample(**{**SETTINGS, "thin": thin}, backend=backend)

    assert all(np.array_equal(draws[n], whole[n]) for n in whole)
    for chain in (0, 1):
        own = [row for row in seen if row[0] == chain]
        sweeps = [sweep for _, sweep, *_ in own]
        most = 60 + 90 * thin
        assert len(sweeps) == most // every
        # (in warm-up at once, afterwards with the draw that follows)
        for sweep, at in zip(sweeps, range(every, most + 1, every), strict=True):
            assert sweep == at if at <= 60 else at <= sweep < at + thin
        for _, sweep, is_warm, state, so_far in own:
            drawn = max(0, sweep - 60) // thin
            assert is_warm == (sweep >= 60)
            assert all(len(a) == drawn for a in so_far.values())
            if drawn:
                assert np.array_equal(so_far["tau"], draws["tau"][chain, :drawn])
                assert state["tau"] == draws["tau"][chain, drawn - 1]


def test_what_is_seen_cannot_be_changed(sampler):
    def spoil(view):
        view.state["tau"][...] = 1

    with pytest.raises(ValueError, match="read-only"):
        sampler.sample(**SETTINGS, callback=spoil)


def test_a_callback_takes_one_view(sampler):
    for wrong in (lambda: 1, lambda one, other: 1):
        with pytest.raises(gp.RunError, match="callback: found <lambda>, which cannot be called"):
            sampler.sample(**SETTINGS, callback=wrong)


def test_chains_of_other_workers_are_seen_here(sampler):
    _, here = seen_of(sampler, 30)
    with ThreadPoolExecutor(2) as executor:
        _, there = seen_of(sampler, 30, executor=executor, cores=None)

    def in_order(seen):
        return sorted(row[:2] for row in seen)

    assert in_order(here) == in_order(there)


def test_a_callback_ends_a_run_as_ctrl_c_does(sampler):
    def stop(view):
        if len(view.draws.get("tau", ())) >= 30:
            raise KeyboardInterrupt

    draws = sampler.sample(**SETTINGS, callback=stop, callback_every=10)
    assert draws.interrupted.startswith("stopped by the user; the first ")


class Notebook:
    """What a notebook is to whoever asks."""

    def __init__(self):
        self.pictures = []

    def display(self, value, *, display_id):
        assert display_id
        self.pictures.append(value._repr_html_())
        return SimpleNamespace(update=lambda found: self.pictures.append(found._repr_html_()))


@pytest.fixture
def notebook(monkeypatch):
    found = Notebook()
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=found.display))
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_PICTURES", 0.0)
    monkeypatch.setattr(shown, "SECONDS_BETWEEN_LOOKS", 0.0)
    monkeypatch.setattr(workers, "SECONDS_HERE", 0.0)
    return found


def test_a_notebook_shows_progress(sampler, notebook):
    sampler.sample(**{**SETTINGS, "progress": True}, backend="numpy")

    told = " ".join(notebook.pictures)
    assert "2 chains, starting" in told
    assert "of 300 sweeps, 2 chains, warm-up, " in told
    assert "2 chains, sampling, R-hat " in told
    assert " a second, " in told
    assert "s left" in told
    assert notebook.pictures[-1] == ""


def test_nothing_is_shown_where_nobody_looks(sampler, notebook, monkeypatch, capsys):
    sampler.sample(**SETTINGS)
    monkeypatch.delitem(sys.modules, "IPython")
    sampler.sample(**{**SETTINGS, "progress": True})

    assert notebook.pictures == []
    assert capsys.readouterr() == ("", "")


def test_a_shell_in_a_terminal_is_no_notebook(sampler, notebook, monkeypatch):
    monkeypatch.setitem(
        sys.modules, "IPython", SimpleNamespace(get_ipython=SimpleNamespace)
    )
    sampler.sample(**{**SETTINGS, "progress": True})
    assert notebook.pictures == []
