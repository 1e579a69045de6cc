"""Examples of BUGS are complete, and JAGS, where it is present, finds their references."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from references.bugs import disagreements, distance

from models.bugs import CASES, FOLDER, MORE

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

import bugs_by_jags
import jags
import simulate_schools

ALL = {**CASES, **MORE}
needs_jags = pytest.mark.skipif(not jags.present(), reason=jags.MISSING)

# Some seconds of CPU time each.
LONG = ("mice_1", "oxford_1", "leuk_1", "eyes_1", "blocker_1", "biops", "ice", "stagnant",
        "inhalers", "magnesium", "leukfr", "epil", "lsat", "kidney", "otrees", "otreesmvn",
        "cervix", "jaw_3", "schools", "endo_3", "lips", "fire", "hepatitis_1", "hepatitis_2",
        "eyetracking", "litters", "hips_4", "jama")  # fmt: skip
# And of which JAGS makes less than a hundred draws a second.
LONGEST = ("lsat", "cervix", "lips", "schools")

# ---- the files -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_an_example_is_complete(name):
    case = ALL[name]
    text = case.model.read_text(encoding="utf-8")

    assert text.isascii()
    assert "\t" not in text
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("{") == text.count("}")
    assert "model {" in text
    for path in (case.data, case.inits):
        for value in json.loads(path.read_text(encoding="utf-8")).values():
            assert np.array(value, dtype=float).dtype == float  # (no ragged list)


@pytest.mark.parametrize("name", ALL)
def test_what_is_monitored_is_in_the_text_and_has_references(name):
    case = ALL[name]
    text = case.model.read_text(encoding="utf-8")
    arrays = {scalar.partition("[")[0] for scalar in case.references}

    assert arrays == set(case.monitors)
    for array in arrays - {"deviance"}:
        assert re.search(rf"(?<![\w.]){re.escape(array)}(?![\w.])[^#\n]*(~|<-)", text)


@pytest.mark.parametrize("name", ALL)
def test_references_are_numbers_in_order(name):
    for known in ALL[name].references.values():
        assert set(known) == {"mean", "sd", "mcse", "q2.5", "q50", "q97.5"}
        assert known["q2.5"] <= known["q50"] <= known["q97.5"]
        if known["mcse"] is None:
            assert known["sd"] == 0
            assert known["mean"] == known["q2.5"] == known["q97.5"]
        else:
            assert 0 < known["mcse"] < known["sd"] / 20


def test_there_are_no_other_files():
    found = {p for p in FOLDER.rglob("*") if p.suffix in (".bug", ".json")}
    cases = {path for case in ALL.values() for path in (*case[:3], case.for_jags)}

    assert found - cases == {FOLDER / "references.json", FOLDER / "more" / "references.json"}
    assert cases - found == set()


def test_simulated_data_are_those_of_the_script():
    found = jags.read(MORE["schools"].data)
    made = simulate_schools.simulated(np.random.default_rng(simulate_schools.SEED))

    assert found.keys() == made.keys()
    for name, values in made.items():
        np.testing.assert_array_equal(found[name], values)


# ---- when draws agree ------------------------------------------------------------------------

KNOWN = {"mean": 2.0, "sd": 3.0, "mcse": 0.03, "q2.5": -3.9, "q50": 2.0, "q97.5": 7.9}
CONSTANT = {"mean": 1.0, "sd": 0.0, "mcse": None, "q2.5": 1.0, "q50": 1.0, "q97.5": 1.0}


def normal(mean, sd, seed=1):
    return mean + sd * np.random.default_rng(seed).standard_normal((4, 5000))


def test_draws_of_the_reference_agree():
    seeds = range(200)
    far = [distance(normal(2, 3, seed), KNOWN) for seed in seeds]

    # Squared distances over what they are in the mean: the reference itself has no error here.
    of_mean = np.mean([d.mean**2 for d in far]) * (0.03**2 + 9 / 20_000) / (9 / 20_000)
    of_sd = np.mean([d.sd**2 for d in far]) * (1e-4 + 1 / 20_000) / (1 / 20_000)
    error = np.sqrt(2 / len(seeds))
    assert abs(of_mean - 1) <= 4 * error
    assert abs(of_sd - 1) <= 4 * error


@pytest.mark.parametrize("planted", [(2.25, 3.0), (2.0, 3.25)])
def test_other_draws_do_not(planted):
    assert disagreements({"x": normal(*planted)}, {"x": KNOWN}).keys() == {"x"}


def test_constants_are_equal():
    ones = np.ones((4, 100))

    assert disagreements({"x": ones}, {"x": CONSTANT}) == {}
    assert disagreements({"x": ones + 1e-9}, {"x": CONSTANT}).keys() == {"x"}
    assert disagreements({"x": ones}, {"x": KNOWN}).keys() == {"x"}


# ---- what JAGS reads and writes --------------------------------------------------------------


def test_a_dump_is_by_columns_and_says_what_is_missing():
    values = {"n": 3, "x": [1, None, 1e-10], "y": np.ma.array([[1, 2, 3], [4, 5, 6.5]])}
    values["y"][0, 1] = np.ma.masked

    assert jags.r_dump(values).splitlines() == [
        '"n" <- 3',
        '"x" <- c(1, NA, 1e-10)',
        '"y" <- structure(c(1, 4, NA, 5, 3, 6.5), .Dim = c(2L, 3L))',
    ]


def test_data_are_read_with_what_is_missing_masked():
    y = jags.read(CASES["rats_2"].data)["Y"]

    assert y.shape == (30, 5)
    assert y.mask[25].tolist() == [False, True, True, True, True]


def test_scalars_have_the_names_of_bugs():
    draws = {"mu": np.zeros((2, 3)), "x": np.arange(36.0).reshape(2, 3, 2, 3)}
    found = jags.scalars(draws)

    names = ["mu", "x[1,1]", "x[1,2]", "x[1,3]", "x[2,1]", "x[2,2]", "x[2,3]"]
    assert list(found) == names
    assert found["x[2,3]"].tolist() == draws["x"][:, :, 1, 2].tolist()


def test_without_jags_there_is_a_message(monkeypatch, capsys):
    monkeypatch.setattr(jags.shutil, "which", lambda name: None)

    bugs_by_jags.main([])
    assert capsys.readouterr().out == f"{jags.MISSING}\n"
    with pytest.raises(jags.JagsError, match="skipped: jags is not on the PATH"):
        jags.run("model { x ~ dnorm(0, 1) }", {}, {}, ["x"])


# ---- JAGS itself -----------------------------------------------------------------------------


@needs_jags
def test_arrays_come_back_in_their_places():
    text = (
        "model { for (i in 1:2) { for (j in 1:3) { y[i,j] <- 10 * i + j + x } } x ~ dnorm(0, 1) }"
    )
    found = jags.run(text, {}, {}, ["y", "x", "y[2,3]"], draws=50, warmup=0, chains=2, seed=3)
    x = found.draws["x"]

    assert x.shape == (2, 50)
    # Six digits are written.
    assert np.abs(found.draws["y"][:, :, 1, 2] - 23 - x).max() <= 1e-4
    assert (found.draws["y[2,3]"] == found.draws["y"][:, :, 1, 2]).all()
    assert found.compiling > 0
    assert found.warming >= 0
    assert found.sampling > 0


@needs_jags
def test_the_same_seed_gives_the_same_draws():
    def drawn(seed):
        found = jags.run("model { x ~ dnorm(0, 1) }", {}, {}, ["x"], draws=20, chains=2, seed=seed)
        return found.draws["x"].tolist()

    assert drawn(1) == drawn(1)
    assert drawn(1)[1] == drawn(2)[0]


@needs_jags
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model { x ~~ dnorm(0, 1) }", 'model in .*syntax error on line 1 near "~"'),
        ("model { x ~ dnorm(mu, 1) }", "compile.*Unknown variable mu"),
        ("model { y ~ dnorm(0, 1) }", "monitor x.*Variable x not found"),
        ("model { y ~ dgamma(x, 1)  x ~ dexp(1) }", "initialize.*Node inconsistent with parents"),
    ],
)
def test_what_jags_refuses_is_an_error(text, message):
    with pytest.raises(jags.JagsError, match=f"(?s){message}"):
        jags.run(text, {"y": -1}, {}, ["x"], draws=10, chains=2)


@needs_jags
def test_what_jags_warns_of_is_kept():
    data = {"y": 1, "error": 2}
    found = jags.run("model { y ~ dnorm(x, 1)  x ~ dexp(1) }", data, {}, ["x"], draws=10, chains=1)

    assert found.warnings == ("WARNING: Unused variable(s) in data table:\nerror",)


@needs_jags
@pytest.mark.parametrize("name", [n for n in ALL if n not in LONG])
def test_short_runs_agree_with_the_references(name):
    assert disagreements(drawn(name, draws=2000, warmup=500), ALL[name].references) == {}


@needs_jags
@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_longer_runs_agree_with_the_references(name):
    draws, warmup = (1000, 500) if name in LONGEST else (5000, 2000)
    assert disagreements(drawn(name, draws, warmup), ALL[name].references) == {}


@needs_jags
def test_another_prior_would_be_noticed():
    case = CASES["line_1"]
    text = case.model.read_text(encoding="utf-8").replace("1.0E-3, 1.0E-3", "1, 1")
    data, inits = jags.read(case.data), jags.read(case.inits)
    found = jags.run(text, data, inits, case.monitors, draws=2000, chains=2, seed=1)

    assert "tau" in disagreements(jags.scalars(found.draws), case.references)


def drawn(name, draws, warmup):
    case = ALL[name]
    modules = () if name in bugs_by_jags.WITHOUT_GLM else ("glm",)
    text, data, inits = case.for_jags.read_text(encoding="utf-8"), *map(jags.read, case[1:3])
    settings = {"draws": draws, "warmup": warmup, "chains": 4, "seed": 1, "modules": modules}
    return jags.scalars(jags.run(text, data, inits, case.monitors, **settings).draws)
