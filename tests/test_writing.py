"""What cannot be written is told before a run, or leaves the draws; what Ctrl-C leaves out."""

import itertools
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.cli import main
from gibbsppl.output import draws as draws_module

MODEL = """
import gibbsppl as gp

def model():
    with gp.Model() as m:
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Normal("y", mu, sigma=1, observed=1.0)
    return m
"""
SHORT = ["--draws", "20", "--warmup", "5", "--chains", "2", "--seed", "1"]


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mean.py"
    path.write_text(MODEL, encoding="utf-8")
    return path


def some_draws():
    return gp.Draws({"x": np.random.default_rng(1).normal(size=(2, 50))})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--out", "/proc/draws.nc"], "--out: /proc/draws.nc cannot be written"),
        (["--out", "nowhere/draws.nc"], "--out: found no directory nowhere"),
        (["--out", "."], "--out: . is a directory"),
        (["--coda", "/proc/mean"], "--coda: /proc/meanindex.txt cannot be written"),
        (["--coda", "nowhere/mean"], "--coda: found no directory nowhere"),
    ],
)
def test_output_is_tested_before_the_run(file, options, told, capsys, monkeypatch):
    monkeypatch.setattr("gibbsppl.cli.command.model_of", lambda *_: pytest.fail("it went on"))

    assert main(["run", str(file), *SHORT, *options]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith(f"gibbsppl: {told}")
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert [p.name for p in file.parent.iterdir()] == ["mean.py"]


def test_a_disk_that_fills_leaves_the_draws_elsewhere(file, capsys, monkeypatch):
    write, out = Path.write_bytes, file.parent / "draws.nc"

    def full(path, data):
        if path.parent == file.parent and len(data) > 100:
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    elsewhere = file.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(elsewhere))

    assert main(["run", str(file), *SHORT, "--quiet", "--out", str(out)]) == 2
    shown = capsys.readouterr().err
    (kept,) = elsewhere.iterdir()
    assert shown == (
        f"gibbsppl: --out: {out}: cannot be written (No space left on device); what was there is "
        f"left as it was: make room, or name another place. The draws are kept in {kept}.\n"
    )
    assert gp.load_draws(kept)["mu"].shape == (2, 20)
    assert not out.exists()


def test_a_file_that_grows_too_large_leaves_the_draws(file):
    """By the limit of the system on the size of a file, in a process of its own."""
    code = """
import resource, signal
import gibbsppl as gp, numpy as np
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
draws = gp.Draws({"x": np.random.default_rng(1).normal(size=(2, 100_000))})
Path("x.nc").write_text("as it was")
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
for write in (lambda: draws.save("x.nc"), lambda: draws.save_coda("x")):
    try:
        write()
    except gp.RunError as error:
        assert "File too large" in str(error), error
    else:
        raise AssertionError
assert Path("x.nc").read_text() == "as it was"
assert sorted(p.name for p in Path().iterdir()) == ["mean.py", "x.nc"], list(Path().iterdir())
assert draws.summary().rows
"""
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=file.parent, env={"PYTHONPATH": str(root)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", ["/proc/draws.nc", "nowhere/x.nc"])
def test_draws_that_cannot_be_saved_are_left(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draws = some_draws()

    for write in (draws.save, lambda p: draws.save_coda(f"{p}/x")):
        with pytest.raises(gp.RunError, match=r"cannot be written|no directory"):
            write(path)
    with pytest.raises(gp.RunError, match="cannot be written"):
        draws.save(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert draws.summary().rows


def test_too_little_memory_for_a_summary_leaves_the_draws(file, capsys, monkeypatch):
    def too_little(*_, **__):
        raise MemoryError

    monkeypatch.setattr(draws_module, "block_of", too_little)
    draws = some_draws()
    with pytest.raises(gp.RunError, match="the draws are left"):
        draws.summary()
    assert draws["x"].shape == (2, 50)

    out = file.parent / "draws.nc"
    assert main(["run", str(file), *SHORT, "--out", str(out)]) == 2
    assert f"(draws written to {out})" in capsys.readouterr().err
    assert gp.load_draws(out)["mu"].shape == (2, 20)


def test_the_source_is_written_whole_or_not_at_all(file, capsys):
    assert main(["source", str(file), "--out", "/proc/x.py"]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("stop", "told", "kept"),
    [
        (160, "the first 100 of 100 draws of chain 0 are kept", 100),
        (60, "the first 50 of 100 draws of chain 0 are kept", 50),
    ],
)
def test_ctrl_c_says_what_it_left_out(stop, told, kept, capsys, tmp_path):
    told = f"stopped by the user; {told}"
    with gp.Model() as model:
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Normal("y", mu, sigma=1, observed=1.0)
    sampler = gp.compile(model)
    sweeps = itertools.count(1)

    def sweep(rng, state, constants):
        if next(sweeps) == stop:
            raise KeyboardInterrupt
        sampler.program.sweep(rng, state, constants)

    stopped = replace(sampler, program=replace(sampler.program, sweep=sweep))
    draws = stopped.sample(
        100, warmup=9, chains=3, seed=1, init={"mu": 0.0}, progress=False
    )

    assert draws["mu"].shape == (1, kept)
    assert draws.interrupted == told
    assert told in repr(draws)
    assert f"The run was {told}." in repr(draws.summary())
    assert capsys.readouterr().err == f"gibbsppl: {told}\n"
    draws.save(tmp_path / "draws.nc")
    assert gp.load_draws(tmp_path / "draws.nc").interrupted == told


def test_a_whole_run_says_nothing(capsys):
    draws = some_draws()

    assert draws.interrupted is None
    assert "stopped" not in repr(draws) + repr(draws.summary())
    assert capsys.readouterr().err == ""
