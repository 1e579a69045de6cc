"""Derivations kept on the disk: found again for the same model, data and settings alone."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.expressions import Array, Dim
from gibbsppl.algebra.pickling import pickled, restored
from gibbsppl.algebra.supports import POSITIVE
from gibbsppl.cache import derivation, fingerprint, folder
from gibbsppl.code.worth import NEVER, Worth
from gibbsppl.errors import NotLoweredError
from gibbsppl.families.rows import Family, Parameter
from gibbsppl.language.statements import constructor
from gibbsppl.runtime import kept_modules
from gibbsppl.runtime.cache_folder import VARIABLE, cache_folder
from models import hidden_markov, horseshoe, lda, pumps, rats, robust_regression, salm, seeds

ROOT = Path(__file__).parents[1]


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder of derivations in a cache of its own."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(derivation, "_kept_by_now", [])
    monkeypatch.setattr(derivation, "hold", lambda *_: None)  # (as in another process)
    return tmp_path / "cache" / "derivations"


@pytest.fixture
def derived(monkeypatch):
    """The names of the graphs that were derived."""
    import gibbsppl.deriving as module

    names, derive = [], module.derived

    def counted(graph, *arguments, **more):
        names.append(graph.name)
        return derive(graph, *arguments, **more)

    monkeypatch.setattr(module, "derived", counted)
    return names


def model(
    mean=0.0, data=(1.0, 2.0, 4.0), groups=2, where=(0, 1, 1), known=2.0, labels=None, row=gp.Normal
):
    """A regression with groups: an index, data, labels."""
    coords = {"group": labels or groups, "i": len(data)}
    with gp.Model(coords=coords, name="model") as made:
        x = gp.Data("x", [known, 1.0, 3.0][: len(data)], dims="i")
        group = gp.Index("group_of", list(where), dims="i", of="group")
        mu = gp.Normal("mu", mean, tau=0.5)
        tau = gp.Gamma("tau", 2, rate=1)
        theta = gp.Normal("theta", mu, tau=tau, dims="group")
        b = row("b", 2, sigma=1)
        gp.Normal("y", theta[group] + b * x, tau=1, dims="i", observed=list(data))
    return made


def key(made, **settings):
    return fingerprint.fingerprint((made.graph, dict(made.data), settings))


# ---- the digest ------------------------------------------------------------------------------


CHANGES = {
    "a constant of a prior": {"mean": 0.5},
    "the sign of a zero": {"mean": -0.0},
    "a number that prints alike": {"mean": 1e-300},
    "an observed value": {"data": (1.0, 2.0, 4.0000000000000009)},
    "a value of data": {"known": 2.5},
    "an index": {"where": (0, 0, 1)},
    "a size": {"groups": 3},
    "labels": {"labels": ["one", "two"]},
    "another family": {"row": gp.LogNormal},
}


def test_equal_models_have_equal_digests():
    assert key(model()) == key(model())
    assert key(model()) is not None


@pytest.mark.parametrize("change", [c for c in CHANGES if c != "the sign of a zero"])
def test_another_model_has_another_digest(change):
    assert key(model(**CHANGES[change])) != key(model())


@pytest.mark.parametrize(
    "settings",
    [
        {"blocks": False}, {"order": ("tau",)}, {"scan": "random"}, {"exact": True},
        {"kernels": {"b": gp.Slice()}}, {"kernels": {"b": gp.RandomWalk()}},
        {"scan": gp.RandomScan({"tau": 2.0})}, {"scan": gp.RandomScan({"tau": 2.5})},
    ],
    ids=str,
)  # fmt: skip
def test_other_settings_have_another_digest(settings):
    others = [key(model()), key(model(), kernels={"b": gp.OverRelaxed()})]

    assert key(model(), **settings) not in (None, *others)


def test_assumptions_and_classes_of_expressions_count():
    x = Array("x")
    every = [
        x, Array("x", positive=True), Array("x", bounds=(0, 1), positive=True),
        Array("x", bounds=(0, 2), positive=True), Dim("x"), sp.Symbol("x"), x[()], x[Dim("t")],
        sp.Integer(1), sp.Float(1), sp.Float(1, 30), sp.Float("0.1"), sp.Float("0.1", 30),
        sp.Rational(1, 3), sp.pi, sp.E, sp.oo, -sp.oo, sp.log(x[()]), sp.exp(x[()]),
        x[()] + 1, x[()] * 2, x[()] ** 2,
    ]  # fmt: skip
    digests = [fingerprint.fingerprint(e) for e in every]

    assert None not in digests
    assert len(set(digests)) == len(every)


def test_types_shapes_and_bytes_of_arrays_count():
    every = [
        np.zeros(4), np.zeros(4, int), np.zeros((2, 2)), np.zeros(5), np.zeros(4, "f4"),
        np.array([0.0, 0.0, 0.0, -0.0]), np.array([0.0, 0, 0, 5e-324]), np.zeros(4, bool),
        [0.0] * 4, (0.0,) * 4, {"a": np.zeros(4)}, {"b": np.zeros(4)}, "a", b"a", 1, 1.0, True,
        np.float64(1.0), np.int64(1), None, range(3), (1, (2, 3)), ((1, 2), 3), ("ab",), ("a", "b"),
    ]  # fmt: skip
    digests = [fingerprint.fingerprint(e) for e in every]

    assert None not in digests
    assert len(set(digests)) == len(every)


def test_the_order_of_an_array_in_memory_does_not_count():
    one = np.arange(6.0).reshape(2, 3)

    assert fingerprint.fingerprint(one) == fingerprint.fingerprint(np.asfortranarray(one))


def own_move(rng, value, log_density):
    return value


def test_functions_of_the_users_have_no_digest():
    assert key(model(), kernels={"b": own_move}) is None
    assert fingerprint.fingerprint(sp.Dummy("x")) is None
    assert fingerprint.fingerprint(sp.Function("f")(sp.Symbol("x"))) is None


def test_a_family_of_the_users_has_no_digest():
    def made(scale):
        return Family(
            name="Own",
            parameters={"scale": Parameter(POSITIVE)},
            support=lambda event, **_: POSITIVE,
            log_density=lambda x, event, scale: sp.log(scale) - scale * x,
            simulate="simulate_exponential",
        )

    with gp.Model() as own:
        constructor(made(1))("x", scale=2, observed=1.0)

    assert key(own) is None


def test_versions_and_the_files_of_the_package_count(tmp_path, monkeypatch):
    before = key(model())
    monkeypatch.setattr(gp, "__version__", "99")
    fingerprint._versions.cache_clear()
    assert key(model()) != before
    monkeypatch.undo()
    fingerprint._versions.cache_clear()
    assert key(model()) == before

    (tmp_path / "inner").mkdir()
    file = tmp_path / "inner" / "module.py"
    file.write_text("a = 1")
    seen = list(fingerprint._files(tmp_path))
    os.utime(file, ns=(1, 1))
    assert list(fingerprint._files(tmp_path)) != seen
    file.write_text("a = 12")
    assert len({*seen, *fingerprint._files(tmp_path)}) == 2


# ---- what is kept ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "module", [rats, pumps, seeds, horseshoe, hidden_markov, lda, salm, robust_regression]
)
def test_what_was_kept_is_what_is_derived(place, derived, module):
    made = module.model()
    fresh = gp.compile(made)
    told = str(fresh)  # (kept from now on)
    kept = gp.compile(module.model())

    assert len(derived) == 1
    assert kept.source == fresh.source
    assert str(kept) == told
    runs = [s.sample(3, warmup=2, chains=1, seed=1, progress=False) for s in (fresh, kept)]
    for name in runs[0]:
        np.testing.assert_array_equal(runs[0][name], runs[1][name])
        assert runs[0].dims_of(name) == runs[1].dims_of(name)
    assert kept.derivation.made is None  # (a run asks for no schedule)
    assert kept.explain() == fresh.explain()
    assert kept.schedule is not fresh.schedule
    assert len(derived) == 1


def test_expressions_are_kept_as_they_are():
    x, y = sp.symbols("x y", positive=True)
    every = (
        sp.Mul(-1, x + 1, evaluate=False), sp.Add(x, x, evaluate=False), sp.Mul(2, x + y),
        sp.Pow(x**2, sp.Rational(1, 2), evaluate=False), x - y, Array("x", positive=True)[Dim("t")],
    )  # fmt: skip

    assert [sp.srepr(e) for e in restored(pickled(every))] == [sp.srepr(e) for e in every]


def test_what_was_kept_passes_its_checks(place, derived):
    for _ in range(2):
        assert gp.compile(pumps.model()).verify().passed
    assert len(derived) == 1


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_kept_is_not_of_another_model(place, derived, change):
    gp.compile(model())
    asked = model(**CHANGES[change])
    found = gp.compile(asked)
    place.joinpath("none").touch()
    expected = gp.compile(asked, kernels={})

    assert found.source == expected.source
    if change != "the sign of a zero":
        assert len(derived) == 3


def test_a_digest_that_leaves_out_data_would_be_noticed(place, derived, monkeypatch):
    """Planted: the digest reads the settings alone."""
    tell = fingerprint.fingerprint
    monkeypatch.setattr(derivation, "fingerprint", lambda value: tell(value[2]))
    first, other = gp.compile(model()), gp.compile(model(mean=0.5))

    assert len(derived) == 1
    assert other.source == first.source != gp.compile(model(mean=0.5), order=("tau",)).source


def test_other_settings_are_derived(place, derived):
    gp.compile(model())
    assert gp.compile(model(), order=("tau",)).schedule.steps[0].name == "tau"
    assert len(derived) == 2


def test_what_cannot_be_told_is_derived_each_time(place, derived):
    for _ in range(2):
        gp.compile(model(), kernels={"b": own_move})

    assert len(derived) == 2
    assert not place.exists()


def test_errors_are_not_kept(place, derived):
    for _ in range(2):
        with pytest.raises(gp.CompileError, match="none"):
            gp.compile(model(), order=("none",))
    assert len(derived) == 2


# ---- what compiled sweeps are worth ------------------------------------------------------------


@pytest.fixture
def lowered(monkeypatch):
    """The names of the schedules of which loops were made."""
    import gibbsppl.code.loop_program as module

    names, make = [], module.loops_of

    def counted(schedule, *arguments):
        names.append(schedule.graph.name)
        return make(schedule, *arguments)

    monkeypatch.setattr(module, "loops_of", counted)
    return names


def short_run(sampler, backend="auto"):
    return sampler.sample(3, warmup=2, chains=1, seed=1, progress=False, backend=backend)


def test_loops_are_made_once_to_see_what_they_are_worth(place, derived, lowered):
    first = gp.compile(model())
    for _ in range(2):
        assert short_run(first).attributes["backend"] == "numpy"
    again = gp.compile(model())
    short_run(again)

    assert (len(derived), len(lowered), len(entries(place))) == (1, 1, 1)
    assert again.derivation.facts == first.derivation.facts
    assert again.derivation.made is None
    assert 0 < again.derivation.facts.worth.saved < again.derivation.facts.worth.compiling


def test_a_run_in_numpy_does_not_ask_what_loops_are_worth(place, derived, lowered):
    first = gp.compile(model())
    short_run(first, "numpy")
    assert (first.derivation.facts.worth, lowered) == (None, [])
    short_run(gp.compile(model()))
    assert gp.compile(model()).derivation.facts.worth is not None
    assert (len(derived), len(lowered)) == (1, 1)


def test_loops_are_made_again_where_they_are_worth_it(place, derived, lowered, monkeypatch):
    pytest.importorskip("numba")
    short_run(gp.compile(model()))
    kept = gp.compile(model())
    monkeypatch.setattr(Worth, "pays", lambda self, sweeps: True)
    assert short_run(kept).attributes["backend"] == "compiled"
    assert (len(derived), len(lowered)) == (1, 2)


def test_of_what_has_no_loops_this_is_kept(place, derived, monkeypatch):
    asked = []

    def refuse(schedule, *_):
        asked.append(schedule)
        raise NotLoweredError("a part without loops.")

    monkeypatch.setattr("gibbsppl.code.loop_program.loops_of", refuse)
    for _ in range(2):
        sampler = gp.compile(model())
        assert short_run(sampler).attributes["backend"] == "numpy"
        assert sampler.derivation.facts.worth == NEVER
    assert len(asked) == 1


def test_what_is_not_kept_is_known_as_long_as_the_sampler(derived, lowered):
    sampler = gp.compile(model())
    for _ in range(2):
        short_run(sampler)
    assert len(lowered) == 1


# ---- the folder ------------------------------------------------------------------------------


def entries(place):
    return sorted(place.glob("*.derivation"))


DAMAGES = {
    "empty": lambda content: b"",
    "cut": lambda content: content[:-1],
    "a bit": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "longer": lambda content: content + b"x",
    "of another key": lambda content: content[:8] + bytes(32) + content[40:],
    "of another program": lambda content: b"x" * len(content),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_ignored_and_written_anew(place, derived, damage, monkeypatch):
    gp.compile(model())
    (file,) = entries(place)
    whole = file.read_bytes()
    file.write_bytes(DAMAGES[damage](whole))
    gp.compile(model())

    assert len(derived) == 2
    assert folder.read(bytes.fromhex(file.stem)) is not None
    gp.compile(model())
    assert len(derived) == 2


def test_a_whole_file_that_is_no_derivation_is_ignored(place, derived):
    gp.compile(model())
    (file,) = entries(place)
    folder.write(bytes.fromhex(file.stem), b"no pickle")
    gp.compile(model())

    assert len(derived) == 2


def test_a_schedule_that_cannot_be_read_is_derived(place, derived, monkeypatch):
    gp.compile(model())
    kept = gp.compile(model())
    monkeypatch.setattr(derivation, "unpacked", lambda _: 1 / 0)

    assert [s.name for s in kept.schedule.steps]
    assert len(derived) == 2


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner")
def test_files_of_other_users_are_ignored(place, derived, monkeypatch):
    gp.compile(model())
    monkeypatch.setattr(os, "getuid", lambda: -1)
    gp.compile(model())

    assert len(derived) == 2


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, place, derived, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file" / "cache"))
    for _ in range(2):
        gp.compile(model())

    assert len(derived) == 2


def test_a_disk_that_is_full_leaves_nothing(place, derived, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    gp.compile(model())

    assert list(place.iterdir()) == []


def test_off_is_off(place, derived, monkeypatch):
    monkeypatch.setenv(VARIABLE, "off")
    for _ in range(2):
        gp.compile(model())

    assert len(derived) == 2
    assert not place.exists()


def test_the_folder_is_where_caches_are(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert folder.folder() == tmp_path / "gibbsppl" / "derivations"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert folder.folder() == tmp_path / ".cache" / "gibbsppl" / "derivations"
    assert kept_modules.folder() == tmp_path / ".cache" / "gibbsppl" / "loops"


def test_derivations_and_loops_are_in_the_folder_that_is_named(place):
    assert folder.folder() == place
    assert kept_modules.folder() == place.parent / "loops"
    assert kept_modules.folder().stat().st_mode & 0o077 == 0


def test_loops_that_are_not_kept_are_in_a_folder_that_goes(tmp_path):
    environment = {**os.environ, VARIABLE: "off", "TMPDIR": str(tmp_path)}
    code = "from gibbsppl.runtime.kept_modules import folder; print(folder(), folder().exists())"
    shown = out_of(code, environment).split()

    assert Path(shown[0]).parent == tmp_path
    assert shown[1] == "True"
    assert list(tmp_path.iterdir()) == []


def test_loops_are_written_where_no_other_user_writes(place, monkeypatch, tmp_path):
    assert kept_modules.folder() == place.parent / "loops"
    monkeypatch.setattr(os, "getuid", lambda: -1)
    assert kept_modules.folder() == kept_modules._passing()
    monkeypatch.undo()
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file" / "cache"))
    assert kept_modules.folder() == kept_modules._passing()
    assert cache_folder("loops") == tmp_path / "file" / "cache" / "loops"


def test_what_was_not_read_for_longest_is_removed(place, monkeypatch):
    monkeypatch.setattr(folder, "MOST_FILES", 4)
    keys = [bytes([n]) * 32 for n in range(5)]
    for n, one in enumerate(keys[:4]):
        folder.write(one, b"content")
        os.utime(place / f"{one.hex()}.derivation", ns=(n, n))
    assert folder.read(keys[0]) == b"content"  # (read now)
    folder.write(keys[4], b"content")

    assert [folder.read(one) is not None for one in keys] == [True, False, False, True, True]


def test_the_bytes_of_all_files_are_bounded(place, monkeypatch):
    monkeypatch.setattr(folder, "MOST_BYTES", 4000)
    for n in range(9):
        folder.write(bytes([n]) * 32, bytes(1000))

    assert sum(f.stat().st_size for f in entries(place)) <= 4000
    assert folder.read(bytes([8]) * 32) is not None


def test_large_derivations_are_not_kept(place, monkeypatch):
    monkeypatch.setattr(folder, "LARGEST", 10)
    folder.write(bytes(32), bytes(11))

    assert folder.read(bytes(32)) is None


def test_a_process_keeps_no_more_than_its_share(place, monkeypatch):
    monkeypatch.setattr(derivation, "MOST_KEPT", 2)
    for mean in range(4):
        gp.compile(model(mean=float(mean)))

    assert len(entries(place)) == 2


# ---- another process -------------------------------------------------------------------------

PROGRAM = """
import hashlib, sys
import gibbsppl as gp
from models import rats
sampler = gp.compile(rats.model())
draws = sampler.sample(5, warmup=5, chains=1, seed=1, progress=False)
digest = hashlib.sha256(b"".join(draws[n].tobytes() for n in draws))
print(digest.hexdigest(), hashlib.sha256(sampler.source.encode()).hexdigest())
print(*sorted(m for m in sys.modules if m.startswith(("gibbsppl.", "scipy."))))
print(hashlib.sha256(sampler.explain().encode()).hexdigest())
"""

# What a run loads of the parts of the package that derive, where all was derived before.
FEW = {
    **{part: {"methods"} for part in ("comparing", "fits", "predict", "tempering")},
    "code": {"cache_folder", "log_densities", "program", "worth"},
    "derive": {"designs"},
    "schedule": {"blocks", "kernel", "moments", "scanning"},
}
NONE = (
    *("rewrites", "kernels", "planning", "explain", "deriving", "checks"),
    *("atlas", "bugs"),
)


def out_of(code, environment):
    """What a program prints in another process."""
    path = os.pathsep.join((str(ROOT), environment.get("PYTHONPATH", "")))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
        env={**environment, "PYTHONPATH": path}, check=True,
    )  # fmt: skip
    return done.stdout


@pytest.mark.parametrize("backend", ["numpy", "auto"])
def test_another_process_finds_what_was_kept_and_loads_no_more(place, backend):
    """The choice of what carries out sweeps needs no more either, if they are too few."""
    environment = {**os.environ, VARIABLE: str(place.parent), "GIBBSPPL_BACKEND": backend}
    first, second = (out_of(PROGRAM, environment).splitlines() for _ in range(2))

    assert len(entries(place)) == 1
    assert (first[0], first[2]) == (second[0], second[2])
    loaded = {m for m in second[1].split() if m.startswith("gibbsppl.")}
    assert [m for m in loaded if m.split(".")[1] in NONE] == []
    for part, few in FEW.items():
        allowed = {f"gibbsppl.{part}", *(f"gibbsppl.{part}.{name}" for name in few)}
        assert {m for m in loaded if m.split(".")[1] == part} <= allowed
    assert not {"scipy.special", "scipy.sparse", "scipy.optimize"} & set(second[1].split())
    is_lowered = "gibbsppl.code.lowering.sweeps" in first[1].split()
    assert is_lowered == (backend == "auto")
