"""Runs in folders: killed at any moment, gone on with; extended; refused where they are others."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.algebra.pickling import pickled, restored_plainly
from gibbsppl.checkpoints import folders, identity
from gibbsppl.checkpoints.arrays import ArrayFile
from gibbsppl.errors import RunError
from gibbsppl.output.ends import Ends
from gibbsppl.run import workers
from gibbsppl.run.stores import InMemory
from models import eight_schools, gaussian_mixture, rats

ROOT = Path(__file__).parents[1]
SETTINGS = {"warmup": 60, "seed": 3, "progress": False, "cores": 1}

# A model with slices, a scan of labels with others integrated out, kept forms, adapted walks, a
# path by gradients and a chain of labels drawn backward.
MODEL = """
import sys
import numpy as np
import gibbsppl as gp

def model():
    rng = np.random.default_rng(0)
    with gp.Model(coords={"t": 12, "k": 2, "g": 3, "i": 12}, name="all") as found:
        p = gp.Dirichlet("p", 1, dims="k")
        z = gp.Categorical("z", p, dims="i")
        level = gp.Normal("level", 0, sigma=3, dims="k")
        x = gp.Normal("x", level[z], sigma=1, dims="i", observed=rng.normal(size=12) * 2)
        a = gp.Normal("a", 0, sigma=2)
        b = gp.Normal("b", 0, sigma=2)
        df = gp.Exponential("df", rate=0.1)
        seen = rng.normal(size=12)
        y = gp.StudentT("y", df, a * gp.exp(-0.1 * a) + b, sigma=1, dims="t", observed=seen)
        w = gp.Normal("w", 0, sigma=1, dims="g")
        c = gp.Poisson("c", gp.exp(w), dims="g", observed=[1, 4, 0])
    return found

def sampler(backend="numpy"):
    kernels = {"a": gp.RandomWalk(), "b": gp.Slice(), "w": gp.NUTS()}
    return gp.compile(model(), kernels=kernels, collapse=("p",))

SETTINGS = {"draws": 150, "warmup": 50, "chains": 2, "seed": 3, "progress": False, "cores": 1}
"""


def same(one, other):
    return set(one) == set(other) and all(np.array_equal(one[n], other[n]) for n in one)


def of_this_file():
    found = {}
    exec(MODEL, found)  # noqa: S102  (the text above)
    return found


@pytest.fixture(scope="module")
def whole():
    """The draws of the run that nobody kills."""
    own = of_this_file()
    return own["sampler"]().sample(**own["SETTINGS"], backend="numpy")


class Ended(Exception):  # noqa: N818
    """The end of a run in the midst of it."""


def left_after(looks, monkeypatch):
    """Runs that end after so many checkpoints, as if they were killed."""
    usual = folders.Checkpoints.keep

    def keep(self, so_far):
        usual(self, so_far)
        keep.left -= 1
        if keep.left == 0:
            raise Ended

    keep.left = looks
    monkeypatch.setattr(folders.Checkpoints, "keep", keep)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """The folder of that run, at its beginning."""
    own, place = of_this_file(), tmp_path_factory.mktemp("begun") / "run"
    with pytest.MonkeyPatch.context() as patched:
        left_after(1, patched)
        with pytest.raises(Ended):
            own["sampler"]().sample(**own["SETTINGS"], backend="numpy", checkpoint=place)
    return place


# (short segments, so that there are many checkpoints)
RESUME = """
import sys
import gibbsppl as gp
from gibbsppl.run import workers
workers.SECONDS_HERE = 0.01
gp.resume(sys.argv[1], progress=False, cores=1, every=0.005)
"""


def started(place):
    """A process that goes on with the run in a folder, when it has made a checkpoint."""
    before = (place / folders.CHAINS).stat().st_mtime_ns
    process = subprocess.Popen(
        [sys.executable, "-c", RESUME, str(place)], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    ends = monotonic() + 120
    while (place / folders.CHAINS).stat().st_mtime_ns == before:
        assert process.poll() is None, process.stderr.read()
        assert monotonic() < ends
        sleep(0.005)
    return process


def killed(process, seconds):
    """Kill a process after so many seconds."""
    sleep(seconds)
    process.kill()
    process.communicate()


@pytest.mark.parametrize("number", range(5))
def test_a_run_that_is_killed_ends_with_the_same_draws(whole, begun, tmp_path, number):
    place = shutil.copytree(begun, tmp_path / "run")
    killed(started(place), np.random.default_rng(number).uniform(0, 0.5))
    draws = gp.resume(place, progress=False, cores=1)

    assert same(draws.values, whole.values)
    assert same(draws.sample_stats, whole.sample_stats)


@pytest.mark.slow
def test_fifty_runs_that_are_killed_end_with_the_same_draws(whole, begun, tmp_path):
    rng, seen = np.random.default_rng(50), set()
    process, began = started(shutil.copytree(begun, tmp_path / "run")), monotonic()
    process.communicate()
    lasts = monotonic() - began
    for number in range(50):
        place = shutil.copytree(begun, tmp_path / str(number))
        killed(started(place), rng.uniform(0, lasts))
        seen.add(tuple(folders.Found.at(place).told["drawn"]))
        draws = gp.resume(place, progress=False, cores=1)
        assert same(draws.values, whole.values)
        assert same(draws.sample_stats, whole.sample_stats)
    assert len(seen) > 25  # (they were killed at different moments)


def test_a_run_is_killed_again_and_again(whole, begun, tmp_path):
    place = shutil.copytree(begun, tmp_path / "run")
    for _ in range(3):
        killed(started(place), 0.1)
    gp.resume(place, progress=False, cores=1)

    assert same(gp.load_draws(place).values, whole.values)


# ---- in this process --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sampler():
    return gp.compile(rats.model())


@pytest.fixture
def short(monkeypatch):
    """Segments of one call, so that there is much between two of them."""
    monkeypatch.setattr(workers, "SECONDS_HERE", 0.0)


@pytest.mark.parametrize("backend", ["numpy", "compiled"])
@pytest.mark.parametrize("looks", [1, 2, 4])
def test_a_run_goes_on_from_its_last_checkpoint(
    sampler, tmp_path, monkeypatch, short, backend, looks
):
    place, how = tmp_path / "run", {**SETTINGS, "backend": backend, "draws": 300, "thin": 2}
    with monkeypatch.context() as patched:
        left_after(looks, patched)
        with pytest.raises(Ended):
            sampler.sample(**how, checkpoint=place, every=1e-9)
    draws = gp.resume(place, progress=False, cores=1)

    expected = sampler.sample(**how)
    assert same(draws.values, expected.values)
    assert same(draws.sample_stats, expected.sample_stats)
    told = ("seed", "backend", "warmup", "thin", "started_by_rule", "choices")
    assert {n: draws.attributes[n] for n in told} == {n: expected.attributes[n] for n in told}


def test_a_run_that_has_ended_is_told_again(sampler, tmp_path):
    draws = sampler.sample(**SETTINGS, draws=80, checkpoint=tmp_path / "run")
    again = gp.resume(tmp_path / "run", progress=False)
    read = gp.load_draws(tmp_path / "run")

    expected = sampler.sample(**SETTINGS, draws=80)
    for found in (draws, again, read):
        assert same(found.values, expected.values)
        assert found.interrupted is None
        assert str(found.summary()) == str(expected.summary())


def test_workers_write_the_same(sampler, tmp_path):
    how = {**SETTINGS, "cores": 2, "draws": 100}
    draws = sampler.sample(**how, checkpoint=tmp_path / "run", every=0.01)
    assert same(draws.values, sampler.sample(**SETTINGS, draws=100).values)


def test_tempered_chains_go_on(tmp_path, monkeypatch, short):
    made = gp.compile(gaussian_mixture.model())
    how = {"warmup": 70, "draws": 40, "chains": 2, "seed": 1, "temper": 3, "progress": False}
    with monkeypatch.context() as patched:
        left_after(6, patched)
        with pytest.raises(Ended):
            made.sample(**how, checkpoint=tmp_path / "run", every=1e-9)
    draws, expected = gp.resume(tmp_path / "run", progress=False), made.sample(**how)

    assert same(draws.values, expected.values)
    assert draws.attributes["swap_rates"] == expected.attributes["swap_rates"]
    longer = made.extend(expected, more=10, progress=False)
    assert same(longer.values, made.sample(**{**how, "draws": 50}).values)
    assert same(longer.sample_stats, made.sample(**{**how, "draws": 50}).sample_stats)


def test_a_rule_ends_a_run_where_it_would_have(sampler, tmp_path, monkeypatch, short):
    rule = gp.until(ess=400, of=["alpha0", "tau"])
    how = {**SETTINGS, "draws": 4000, "backend": "numpy", "until": rule}
    with monkeypatch.context() as patched:
        left_after(7, patched)
        with pytest.raises(Ended):
            sampler.sample(**how, checkpoint=tmp_path / "run", every=1e-9)
    draws, expected = gp.resume(tmp_path / "run", progress=False), sampler.sample(**how)

    assert draws.draws == expected.draws < 4000
    assert same(draws.values, expected.values)
    assert draws.until == expected.until == gp.load_draws(tmp_path / "run").until


CALLS = []


def pressing(rng, value):
    """A proposal in which Ctrl-C is pressed, twice in a row."""
    CALLS.append(1)
    if len(CALLS) in (300, 301):
        signal.raise_signal(signal.SIGINT)
    return value + rng.normal()


def test_ctrl_c_leaves_a_run_that_goes_on(tmp_path, monkeypatch):
    """The second Ctrl-C ends a sweep in its midst."""
    monkeypatch.setattr(workers, "SECONDS_HERE", 60.0)
    with gp.Model() as model:
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Normal("y", mu, tau=gp.Gamma("tau", 1, rate=1), observed=1.0)
    made = gp.compile(model, kernels={"mu": gp.Proposal(pressing)})
    place, how = tmp_path / "run", {**SETTINGS, "draws": 400, "chains": 1}
    CALLS.clear()
    stopped = made.sample(**how, checkpoint=place)
    assert stopped.interrupted.startswith("stopped by the user; the first ")
    assert gp.load_draws(place).interrupted == stopped.interrupted

    expected = made.sample(**how)
    assert same(gp.resume(place, progress=False).values, expected.values)
    longer = made.extend(stopped, more=400 - stopped.draws, progress=False)
    assert same(longer.values, expected.values)


# ---- more draws -------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["numpy", "compiled"])
def test_draws_are_extended_as_if_there_had_been_more(backend, tmp_path):
    """Of the model with adapted walks, paths and slices; also of draws that were saved."""
    made, how = of_this_file()["sampler"](), {**SETTINGS, "chains": 2}
    if backend == "compiled":
        made = gp.compile(of_this_file()["model"](), kernels={"b": gp.Slice(), "w": gp.NUTS()})
    draws = made.sample(100, **how, backend=backend)
    draws.save(tmp_path / "draws.nc")
    expected = made.sample(160, **how, backend=backend)
    for found in (draws, gp.load_draws(tmp_path / "draws.nc")):
        longer = made.extend(found, more=60, progress=False)
        assert same(longer.values, expected.values)
        assert same(longer.sample_stats, expected.sample_stats)
    assert draws.draws == 100

    folder = made.extend(draws, more=60, checkpoint=tmp_path / "run", progress=False)
    assert same(folder.values, expected.values)
    assert same(gp.load_draws(tmp_path / "run").values, expected.values)


def test_a_run_in_a_folder_is_extended(sampler, tmp_path):
    sampler.sample(50, **SETTINGS, checkpoint=tmp_path / "run")
    longer = sampler.extend(gp.load_draws(tmp_path / "run"), more=50, progress=False)
    assert same(longer.values, sampler.sample(100, **SETTINGS).values)


def test_draws_with_no_ends_are_refused(sampler):
    draws = sampler.sample(20, **SETTINGS)
    for chosen in (draws.thinned(2), draws.only(["tau"]), gp.Draws(dict(draws.values), draws.dims)):
        with pytest.raises(RunError, match="draws: found draws without the ends of their chains"):
            sampler.extend(chosen, more=10)


def test_a_run_of_another_model_is_refused(sampler):
    draws = sampler.sample(20, **SETTINGS)
    with pytest.raises(RunError, match=r"draws: found other statements in .* than th"):
        gp.compile(eight_schools.model()).extend(draws, more=10)


@pytest.mark.parametrize("changed", ["y", "model", "settings"])
def test_what_differs_is_named(changed):
    def made(y, sigma, **settings):
        with gp.Model(name="m", coords={"i": 3}) as model:
            mu = gp.Normal("mu", 0, sigma=sigma)
            tau = gp.Gamma("tau", 1, rate=1)
            gp.Normal("y", mu, tau=tau, dims="i", observed=y)
        return gp.compile(model, **settings)

    draws = made([1.0, 2, 3], 1).sample(20, **SETTINGS)
    told, other = {
        "y": ("found other data, y, than", made([1.0, 2, 4], 1)),
        "model": ("found other statements in m than", made([1.0, 2, 3], 2)),
        "settings": ("settings of compile", made([1.0, 2, 3], 1, kernels={"mu": gp.Slice()})),
    }[changed]
    with pytest.raises(RunError, match=told):
        other.extend(draws, more=10)


def test_a_file_of_draws_runs_nothing_that_it_says(sampler, tmp_path):
    class Bad:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    draws = sampler.sample(20, **SETTINGS)
    content = pickle.dumps(Bad())
    bad = gp.Draws(dict(draws.values), draws.dims, ends=Ends(content=content))
    bad.save(tmp_path / "bad.nc")
    with pytest.raises(RunError, match=r"the ends of the chains cannot be read .*posix.mkdir"):
        sampler.extend(gp.load_draws(tmp_path / "bad.nc"), more=10)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("seed", [1, np.random.SeedSequence(3), None])
def test_streams_are_read_plainly(sampler, seed):
    ends = sampler.sample(5, **{**SETTINGS, "seed": seed}).ends
    restored_plainly(pickled(ends.value))


# ---- what is in the way -----------------------------------------------------------------------


@pytest.fixture
def run_in(sampler, tmp_path):
    sampler.sample(20, **SETTINGS, checkpoint=tmp_path / "run")
    return tmp_path / "run"


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def test_a_folder_with_a_run_or_other_files_is_left_as_it_is(sampler, run_in, tmp_path):
    before = contents(run_in)
    with pytest.raises(RunError, match=r"found a run in .*go on with gibbsppl.resume\("):
        sampler.sample(20, **SETTINGS, checkpoint=run_in)
    assert contents(run_in) == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(RunError, match=r"found something else in .*name another one"):
        sampler.sample(20, **SETTINGS, checkpoint=tmp_path / "other")
    with pytest.raises(RunError, match="found no run, expected a folder"):
        gp.resume(tmp_path / "other")


@pytest.mark.parametrize("name", [folders.RUN, folders.CHAINS])
@pytest.mark.parametrize("where", [3, 60, -3])
def test_a_file_that_was_changed_is_named_and_nothing_overwritten(run_in, name, where):
    content = bytearray((run_in / name).read_bytes())
    content[where] ^= 1
    (run_in / name).write_bytes(bytes(content))
    before = contents(run_in)
    with pytest.raises(RunError, match=f"{name}: (the file is not as it was|found another file)"):
        gp.resume(run_in)
    assert contents(run_in) == before


def test_draws_that_were_cut_or_have_gone_are_named(run_in):
    with (run_in / "tau.npy").open("r+b") as file:
        file.truncate(150)
    with pytest.raises(RunError, match=r"tau.npy: draws cannot be written or read .*shorter"):
        gp.resume(run_in)
    (run_in / "tau.npy").unlink()
    with pytest.raises(RunError, match=r"tau.npy: draws cannot be written or read .*No such file"):
        gp.load_draws(run_in)


@pytest.mark.parametrize("package", ["numpy", "gibbsppl", "python"])
def test_other_versions_are_named(run_in, monkeypatch, package):
    here = identity.versions()
    monkeypatch.setattr(identity, "versions", lambda *_: {**here, package: "0.0.1"})
    told = f"the run was made by {package} {here[package]}, and here is 0.0.1"
    with pytest.raises(RunError, match=told):
        gp.resume(run_in)
    if package == "numpy":  # (which draws, and does not read)
        assert gp.load_draws(run_in).draws == 20
    else:
        with pytest.raises(RunError, match=told):
            gp.load_draws(run_in)


def test_a_run_that_somebody_writes_to_is_left_alone(run_in):
    with folders.to_go_on(run_in), pytest.raises(RunError, match="another process is writing"):
        gp.resume(run_in)
    gp.resume(run_in, progress=False)


def test_a_folder_that_cannot_be_made_is_named(sampler, tmp_path):
    (tmp_path / "file").touch()
    for place in (tmp_path / "file" / "run", tmp_path / "none" / "run"):
        with pytest.raises(RunError, match="checkpoint: found no directory"):
            sampler.sample(20, **SETTINGS, checkpoint=place)


def test_functions_without_a_name_are_refused(tmp_path):
    with gp.Model() as model:
        mu = gp.Normal("mu", 0, sigma=1)
        gp.Normal("y", mu, sigma=1, observed=1.0)
    walk = gp.Proposal(lambda rng, value: value + rng.normal())
    made = gp.compile(model, kernels={"mu": walk})
    with pytest.raises(RunError, match=r"nor written to a file .*define it with def"):
        made.sample(20, **SETTINGS, checkpoint=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_functions_to_be_monitored_are_refused_before_the_starts(sampler, tmp_path, monkeypatch):
    monkeypatch.setattr(type(sampler), "_started", None)
    with pytest.raises(RunError, match=r"checkpoint: the run cannot be written .* imported"):
        sampler.sample(
            20, **SETTINGS, checkpoint=tmp_path / "run", monitor={"double": lambda s: 2 * s["tau"]}
        )


def test_seconds_between_checkpoints_need_a_folder(sampler):
    with pytest.raises(RunError, match=r"every: found 10 seconds .* name one in checkpoint="):
        sampler.sample(20, **SETTINGS, every=10)


def test_a_file_that_goes_under_a_run_ends_it(sampler, tmp_path, monkeypatch, short):
    usual, place = ArrayFile.put, tmp_path / "run"

    def put(self, *args):
        usual(self, *args)
        if self.path.name == "tau.npy":
            self.path.unlink(missing_ok=True)

    monkeypatch.setattr(ArrayFile, "put", put)
    with pytest.raises(RunError, match=r"tau.npy: draws cannot be written"):
        sampler.sample(200, **SETTINGS, checkpoint=place, every=1e-9)
    assert folders.Found.at(place).so_far().positions[0].drawn == 0


FULL = """
import resource, sys
import gibbsppl as gp
with gp.Model(coords={"i": 200}) as model:
    x = gp.Normal("x", gp.Normal("mu", 0, sigma=1), sigma=1, dims="i")
made = gp.compile(model)
how = {"draws": 400, "warmup": 10, "chains": 2, "seed": 1, "progress": False, "cores": 1}
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
try:
    made.sample(**how, checkpoint=sys.argv[1], backend="numpy")
except gp.RunError as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print((gp.resume(sys.argv[1], progress=False)["x"] == made.sample(**how)["x"]).all())
"""


def test_a_disk_that_is_full_ends_a_run_that_goes_on_later(tmp_path):
    """A limit of what a process may write stands for a full disk."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "run")], cwd=ROOT, text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    told, is_same = done.stdout.splitlines()
    assert "x.npy: draws cannot be written or read (File too large)" in told
    assert "go on from there with gibbsppl.resume" in told
    assert is_same == "True"


@pytest.fixture
def small_disk(tmp_path):
    """A disk that holds few draws; skipped where none can be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    told = ["mount", "-t", "tmpfs", "-o", "size=700k", "tmpfs", str(place)]
    if subprocess.run(told, check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_draws_that_fill_a_disk_leave_its_last_checkpoint_whole(sampler, small_disk, short):
    how = {**SETTINGS, "draws": 3000, "keep": ["a"], "backend": "numpy"}
    rule = gp.until(ess=1e9, of="a")  # (nobody knows how many draws it will take)
    with pytest.raises(RunError, match="No space left on device"):
        sampler.sample(**how, until=rule, checkpoint=small_disk / "run", every=1e-9)
    found = folders.Found.at(small_disk / "run")
    assert found.so_far().positions[0].drawn > 0
    read = gp.load_draws(small_disk / "run")
    expected = sampler.sample(**how)
    assert np.array_equal(read["a"], expected["a"][:, : read.draws])
    with pytest.raises(RunError, match=r"the draws would take 2880000 bytes, and .* has "):
        sampler.sample(**how, checkpoint=small_disk / "other")


def test_names_of_files_are_told_apart(tmp_path):
    with gp.Model(coords={"i": 2}) as model:
        for name in ("x", "X", "x_", "é"):
            gp.Normal(name, 0, sigma=1, dims="i")
    made = gp.compile(model)
    draws = made.sample(20, **SETTINGS, checkpoint=tmp_path / "run")
    names = [p.name.lower() for p in (tmp_path / "run").iterdir()]
    assert len({*names}) == len(names)
    assert same(draws.values, made.sample(20, **SETTINGS).values)


@pytest.mark.slow
def test_ten_gigabytes_of_draws_take_little_memory(tmp_path):
    script = textwrap.dedent("""
        import resource, sys, numpy as np, gibbsppl as gp
        with gp.Model(coords={"i": 500_000}) as model:
            mu = gp.Normal("mu", 0, sigma=1)
            x = gp.Normal("x", mu, sigma=1, dims="i")
        made = gp.compile(model)
        made.sample(4, warmup=4, chains=1, seed=1, progress=False, keep=["x"])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        draws = made.sample(2600, warmup=4, chains=1, seed=1, progress=False, keep=["x"],
                            checkpoint=sys.argv[1])
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print((after - before) / 1024, draws["x"].nbytes / 1e9, draws["x"][0, -1, :5].std())
    """)
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "run")], cwd=ROOT, text=True,
        capture_output=True, check=True,
    )  # fmt: skip
    megabytes, gigabytes, _ = map(float, done.stdout.split())
    assert gigabytes > 10
    assert megabytes < 500


# ---- found by reading -------------------------------------------------------------------------


def test_two_ctrl_c_while_draws_are_written_lose_nothing(sampler, tmp_path, monkeypatch, short):
    """What a checkpoint tells of is in the files, wherever Ctrl-C comes."""
    usual, calls, place = ArrayFile.put, [], tmp_path / "run"

    def put(self, *args):
        calls.append(1)
        if len(calls) == 400:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        usual(self, *args)

    how = {**SETTINGS, "draws": 300, "backend": "numpy"}
    with monkeypatch.context() as patched:
        patched.setattr(ArrayFile, "put", put)
        stopped = sampler.sample(**how, checkpoint=place)
    assert stopped.interrupted
    expected = sampler.sample(**how)
    read = gp.load_draws(place)
    assert all(np.array_equal(read[n], expected[n][:, : read.draws]) for n in expected)
    assert same(gp.resume(place, progress=False).values, expected.values)


def test_checkpoints_of_threads_are_whole(sampler, tmp_path, monkeypatch):
    """Threads move a position of their own, not the one that is written meanwhile."""
    monkeypatch.setattr(workers, "SECONDS_ELSEWHERE", 0.02)
    usual, copies, place = folders.Checkpoints.keep, [], tmp_path / "run"

    def keep(self, so_far):
        usual(self, so_far)
        if len(copies) < 5:
            copies.append(shutil.copytree(place, tmp_path / f"copy {len(copies)}"))

    how = {**SETTINGS, "draws": 600, "cores": None, "backend": "numpy"}
    with monkeypatch.context() as patched, ThreadPoolExecutor(3) as executor:
        patched.setattr(folders.Checkpoints, "keep", keep)
        draws = sampler.sample(**how, checkpoint=place, every=1e-9, executor=executor)
    for copied in copies:
        assert same(gp.resume(copied, progress=False, cores=1).values, draws.values)


def test_a_file_calls_no_function_by_another_name(sampler, tmp_path):
    """A module of the package may have functions of others, which evaluate texts."""
    marked = tmp_path / "made"

    text = f"open({str(marked)!r}, 'w')".encode()
    bad = b"cgibbsppl.bugs.functions\nexp\n(V" + text + b"\ntR."
    draws = sampler.sample(20, **SETTINGS)
    with pytest.raises(RunError, match=r"cannot be read \(found gibbsppl.bugs.functions.exp"):
        sampler.extend(gp.Draws(dict(draws.values), draws.dims, ends=Ends(content=bad)), more=10)
    assert not marked.exists()


def test_ends_of_all_kinds_of_steps_are_read_plainly():
    own = of_this_file()
    draws = own["sampler"]().sample(5, warmup=30, chains=1, seed=1, progress=False)
    assert restored_plainly(pickled(draws.ends.value)).positions[0].chain.sweep == 35


def test_a_folder_is_begun_once(sampler, tmp_path, monkeypatch):
    """Of two that begin a run in one folder, the slower finds that of the other."""
    place, usual = tmp_path / "run", folders._locked

    @contextmanager
    def after_the_other(folder):
        monkeypatch.setattr(folders, "_locked", usual)
        sampler.sample(20, **SETTINGS, checkpoint=place)
        with usual(folder):
            yield

    monkeypatch.setattr(folders, "_locked", after_the_other)
    with pytest.raises(RunError, match="found a run in"):
        sampler.sample(30, **SETTINGS, checkpoint=place)
    assert gp.load_draws(place).draws == 20


def test_numbers_of_numpy_are_numbers(sampler, tmp_path):
    how = {**SETTINGS, "warmup": np.int64(60)}
    draws = sampler.sample(np.int64(20), **how, checkpoint=tmp_path / "run")
    longer = sampler.extend(draws, np.int64(5), checkpoint=tmp_path / "more", progress=False)
    assert gp.load_draws(tmp_path / "more").draws == longer.draws == 25


def test_a_run_before_its_first_checkpoint_is_told(run_in):
    (run_in / folders.CHAINS).unlink()
    for read in (gp.resume, gp.load_draws):
        with pytest.raises(RunError, match="ended before its first checkpoint; remove the folder"):
            read(run_in)


def test_a_run_that_a_rule_has_ended_is_whole(sampler, tmp_path):
    rule = gp.until(ess=50, of="tau")
    sampler.sample(**{**SETTINGS, "draws": 3000}, until=rule, checkpoint=tmp_path / "run")
    assert gp.load_draws(tmp_path / "run").interrupted is None


def test_draws_of_other_sizes_than_the_ends_are_refused(sampler):
    draws = sampler.sample(20, **SETTINGS)
    for cut in (np.s_[:1], np.s_[:, 5:]):
        values = {n: a[cut] for n, a in draws.values.items()}
        with pytest.raises(RunError, match=r"draws: found .* whose ends they have"):
            sampler.extend(replace(draws, values=values, sample_stats={}), more=5)


def test_a_longer_run_looks_first_at_what_it_has(sampler):
    seen = []

    class Rule(type(gp.until(ess=1))):
        def found(self, values):
            seen.append(values["tau"].shape[1])
            return super().found(values)

    draws = sampler.sample(400, **SETTINGS)
    sampler.extend(draws, more=400, until=Rule(ess=1e9, of=("tau",)), progress=False)
    assert seen == [400, 600, 800]


def test_a_callback_that_fails_loses_no_draw(sampler, tmp_path, short):
    def fails(view):
        if view.sweep == 100:
            raise ValueError("of the user's")

    how = {**SETTINGS, "draws": 200, "backend": "numpy"}
    with pytest.raises(ValueError, match="of the user's"):
        sampler.sample(**how, checkpoint=tmp_path / "run", callback=fails, callback_every=50)
    assert gp.load_draws(tmp_path / "run").draws > 0
    assert same(gp.resume(tmp_path / "run", progress=False).values, sampler.sample(**how).values)


def test_views_of_chains_copy_nothing():
    store = InMemory((3, 10))
    for chain in range(3):
        store.put(chain, 0, {"x": np.arange(10.0)}, {})
    for chains in ([0, 1, 2], [1], [1, 2]):
        assert np.shares_memory(store.kept(chains, 5)[0]["x"], store.values["x"])


def test_other_monitors_of_one_name_are_refused(sampler):
    draws = sampler.sample(20, **SETTINGS, monitor={"u": "a"}, keep=["tau"])
    with pytest.raises(RunError, match="monitor: found another 'u' than in the run of the draws"):
        sampler.extend(draws, more=5, monitor={"u": "b"}, progress=False)


def test_what_was_left_out_is_told_of_a_longer_run(sampler):
    draws = sampler.sample(20, **SETTINGS)
    told = replace(draws, attributes={**draws.attributes, "left_out": "z is not kept."})
    assert sampler.extend(told, more=5, progress=False).left_out == "z is not kept."
