"""What distributions say of themselves: signatures, docstrings, and the types in the stub."""

import doctest
import subprocess
import sys
from inspect import Parameter, getdoc, signature

import pytest
import stub
import sympy as sp

import gibbsppl as gp
from gibbsppl.algebra.copies import primed
from gibbsppl.algebra.expressions import Array, Dim
from gibbsppl.errors import ModelError
from gibbsppl.families import FAMILIES
from gibbsppl.language.distributions import by_position, spellings, written

NAMES = sorted(FAMILIES)


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_distribution_runs(name):
    docstring = getdoc(getattr(gp, name))
    test = doctest.DocTestParser().get_doctest(docstring, {}, name, None, None)
    assert len(test.examples) == 2
    assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
    assert test.globs["model"].graph.statement("x").family is FAMILIES[name]


def statistics_of(family):
    """The statistics of a row, none where it is no exponential family or uniform."""
    if family.natural is None:
        return ()
    known = {n: sp.Symbol(n) for n in family.natural.known}
    event = (Dim("k"), primed(Dim("k")))
    return family.natural.statistics(Array("x")[event[: family.event]], event, **known)


@pytest.mark.parametrize("name", NAMES)
def test_a_docstring_says_what_a_row_holds(name):
    family, docstring = FAMILIES[name], getdoc(getattr(gp, name))
    assert family.about.endswith(".")
    assert " ".join(family.about.split()) in " ".join(docstring.split())
    assert max(map(len, docstring.splitlines())) <= 96
    lines = docstring.splitlines()
    for parameter in family.written:
        assert sum(line.startswith(f"    {parameter} ") for line in lines) == 1
    for title, fact in (("Mean", family.mean), ("Variance", family.variance)):
        assert any(line.startswith(f"{title}:") for line in lines) == (fact is not None)
    assert ("Exponential family" in docstring) == bool(statistics_of(family))
    assert ("truncate" in docstring) == ("lower=None" in str(signature(getattr(gp, name))))


@pytest.mark.parametrize("name", NAMES)
def test_a_signature_has_all_that_a_distribution_takes(name):
    family = FAMILIES[name]
    found = signature(getattr(gp, name)).parameters
    assert set(family.written) <= set(found)
    optional = {n for n, p in found.items() if p.default is not Parameter.empty}
    for way in spellings(family):
        # (what is in no way optional stands in every spelling)
        assert set(found) - optional - {"name"} <= set(way)


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_by_position_is_taken_by_position(name):
    family = FAMILIES[name]
    for way in spellings(family):
        start = by_position(family, way)
        rest = dict.fromkeys(way[len(start) :], 0.5)
        found = written(family, "x", (0.5,) * len(start), rest)
        assert {n: float(v) for n, v in found.spelled} == dict.fromkeys(way, 0.5)
        if start != way:  # one more would be ambiguous, or a parameter of another spelling
            more = way[: len(start) + 1]
            rest.pop(way[len(start)])
            try:
                other = written(family, "x", (0.5,) * len(more), rest)
            except ModelError:
                continue
            assert set(dict(other.spelled)) != set(way)


def test_the_stub_is_what_the_table_says():
    assert stub.PATH.read_text(encoding="utf-8") == stub.written()


def test_the_stub_has_all_that_is_offered():
    offered = {n for n in dir(gp) if not n.startswith("_")}
    text = stub.PATH.read_text(encoding="utf-8")
    assert all(f" as {n}\n" in text or f"def {n}(\n" in text for n in offered)


SOUND = """\
import gibbsppl as gp
import numpy as np

with gp.Model(coords={"i": 3}) as model:
    mu = gp.Normal("mu", 0, sigma=np.float64(10))
    tau = gp.Gamma("tau", shape=1, rate=1)
    theta = gp.Array("theta", dims="i")
    theta[0] = gp.Normal(mu, tau=tau, lower=0)
    y = gp.Normal("y", mu + 1, tau=tau, dims="i", observed=[1, 2, 3])
sampler = gp.compile(model)
draws = sampler.sample(10, seed=1)
"""
UNSOUND = (
    ('gp.Normal("x", 0, 1)', "Normal"),
    ('gp.Normal("x", 0, sd=1)', "Normal"),
    ('gp.Gamma("x", shape="a", rate=1)', "Gamma"),
    ('gp.Beta("x", 1, gp.Beta(1, 1))', "Beta"),
    ('gp.Norml("x", 0, sigma=1)', "Norml"),
    ('gp.Normal("x", mu, sgima=1)', "Normal"),
    ("sampler.sample(tune=3)", "tune"),
    ('gp.compile(model, kernel={"mu": gp.Slice()})', "kernel"),
    ("sampler.predict(draws, news={})", "news"),
    ("draws.sumary()", "sumary"),
    ("sampler.fit()", "fit"),
    ("mu.T", "T"),
)


def test_a_type_checker_takes_the_package_and_sound_calls_alone(tmp_path):
    """The package, and a program of calls, sound ones and others, in one run: it takes long."""
    calls = "".join(f"{call}\n" for call, _ in UNSOUND)
    program = tmp_path / "program.py"
    program.write_text(SOUND + calls, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "gibbsppl", str(program)],
        cwd=stub.ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [e for e in errors if "/program.py:" not in e] == []
    checked = {int(e.split(":")[1]): e for e in errors}
    first = SOUND.count("\n") + 1
    assert sorted(checked) == [first + i for i in range(len(UNSOUND))]
    for (_, name), line in zip(UNSOUND, sorted(checked), strict=True):
        assert name in checked[line]
