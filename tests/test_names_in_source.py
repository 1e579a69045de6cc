"""No text of the user's becomes code: names are checked where they are declared, text escaped."""

import ast
import builtins
import json

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.cli import main
from gibbsppl.code.names import Names, check_names

CODE = "import builtins; builtins.PWNED = True"
HOSTILE = [
    f'x"]; {CODE} #',
    f"x']; {CODE} #",
    f'x"""\n{CODE}\n"""',
    f"x'''\n{CODE}\n'''",
    f"x\n{CODE}\n",
    f"x\r{CODE}\r",
    f"x\\\n{CODE}",
    f"x\x00{CODE}",
    f"x\u2028{CODE}",
    "{__import__('builtins').__setattr__('PWNED', True)}",
    '"',
    "'",
    "\\",
    "x  y",
    "x\ty",
    "x#",
    "$x",
    "x[0]",
    "x/y",
    "~x",
    "-x",
    "",
    " ",
]
# Words of Python, of NumPy and of generated code, and letters of other alphabets.
PLAIN = [
    *("class", "lambda", "None", "float", "int", "len", "sum", "tuple", "zip", "__class__"),
    *("s", "c", "rng", "data", "runtime", "math", "prepare", "sweep", "at", "eta", "value", "np"),
    *("einsum", "zeros", "log", "sqrt", "STEPS", "_x", "x.y", "x y", "2x", "0", "τ", "naïve"),
    *("нет", "数", "ﬁ", "x½", "x\u2173", "x\u1d2c", "x𐄇", "ª", "e\u0301x"[:1] + "é"),
]


@pytest.fixture(autouse=True)
def unharmed():
    yield
    assert not hasattr(builtins, "PWNED")


def model(name="model", **names):
    """A model with a name for each kind of thing that has one."""
    given = {n: n for n in ("mu", "x", "group", "site", "obs", "y", "twice", "tie")} | names
    with gp.Model(coords={given["site"]: ["a", "b"]}, name=name) as made:
        mu = gp.Normal(given["mu"], 0, tau=1, dims=given["site"])
        x = gp.Data(given["x"], [1.0, 2.0, 3.0], dims=given["obs"])
        group = gp.Index(given["group"], [0, 1, 1], of=given["site"], dims=given["obs"])
        masked = np.ma.masked_invalid([1.0, np.nan, 2.0])
        gp.Normal(given["y"], mu[group] * x, tau=1, dims=given["obs"], observed=masked)
        gp.Deterministic(given["twice"], 2 * mu)
        gp.Potential(given["tie"], -(mu**2))
    return made


def many(names):
    """A model with an array of each kind for each of these names."""
    with gp.Model(coords={f"{n}_d": 2 for n in names}) as made:
        for n in names:
            mu = gp.Normal(n, 0, tau=1, dims=f"{n}_d")
            group = gp.Index(f"{n}_g", [0, 1, 1], of=f"{n}_d", dims=f"{n}_i")
            x = gp.Data(f"{n}_x", [1.0, 2.0, 3.0], dims=f"{n}_i")
            gp.Normal(f"{n}_y", mu[group] * x, tau=1, dims=f"{n}_i", observed=[1.0, 2.0, 3.0])
    return made


def used(made):
    """All that is written of a model, and all that is run of it."""
    sampler = gp.compile(made, interweave=False, rewrites=False)
    told = [str(sampler), repr(sampler), sampler.explain(), sampler.rewrites, sampler.source]
    draws = sampler.sample(4, warmup=2, chains=1, seed=1, progress=False)
    assert sampler.verify().proved
    return sampler, [*told, repr(draws), repr(draws.summary())]


@pytest.mark.parametrize("kind", ["mu", "x", "group", "site", "obs", "y", "twice", "tie"])
def test_names_that_are_none_are_refused(kind):
    for text in HOSTILE:
        try:
            model(**{kind: text})
        except gp.ModelError:
            continue
        pytest.fail(f"{text!r} is taken as a name of {kind}")


@pytest.mark.parametrize("text", HOSTILE)
def test_names_are_checked_in_every_constructor(text):
    declared = [
        lambda: gp.Array(text, dims="k"),
        lambda: gp.Constraint(text, gp.Normal("z", 0, sigma=1) < 1),
        lambda: gp.Censored(text, gp.Normal(0, sigma=1), lower=0, dims="k", observed=[1.0, 2.0]),
        lambda: gp.Neighbours(text, [[1], [0]], of="k"),
        lambda: gp.Index("i", [0, 1], of=text, dims="k", size=2),
        lambda: gp.Normal("z", 0, sigma=1, dims=text, observed=[1.0]),
        lambda: gp.Normal("z", 0, sigma=1, dims=(text,)),
    ]
    for declare in declared:
        with gp.Model(coords={"k": 2}), pytest.raises(gp.ModelError):
            declare()


@pytest.mark.parametrize("words", [PLAIN[i::11] for i in range(11)])
def test_words_of_python_and_other_alphabets_are_names(words):
    sampler = gp.compile(many(words), interweave=False, rewrites=False)
    draws = sampler.sample(400, warmup=1, chains=1, seed=1, progress=False)

    for word in words:  # (the mean of the second group is the sum of x * y by 1 + that of x**2)
        assert abs(draws[word].mean(axis=(0, 1))[1] - 13 / 14) < 5 * 14**-0.5 / 20


@pytest.mark.parametrize("words", [PLAIN[i::4] for i in range(4)])
def test_names_stay_apart(words):
    names = Names(())

    found = [names.of(w) for w in words]
    assert len(set(found)) == len(words)
    assert all(f.isidentifier() for f in found)


# (no null: that is refused)
TEXTS = [t for t in HOSTILE if "\x00" not in t]


def test_a_model_s_name_is_any_text():
    name = " ".join(TEXTS)
    sampler, told = used(model(name=name))

    assert all(told)
    assert f"for the model {name}" in ast.parse(sampler.source).body[0].value.value


def test_labels_are_any_text():
    with gp.Model(coords={"k": TEXTS}) as made:
        mu = gp.Normal("mu", 0, sigma=1, dims="k")
        z = gp.Categorical("z", gp.Dirichlet("p", 1, dims="k"), dims="i", observed=[0, 1, 1])
        gp.Normal("y", mu[z], sigma=1, dims="i", observed=[1.0, 2.0, 3.0])
    sampler, told = used(made)

    assert TEXTS[0] in told[-1]
    assert CODE not in sampler.source


OF_FILES = [t for t in HOSTILE if t.strip() and not {*"/\x00"} & {*t}]


@pytest.mark.parametrize("suffix", [".bug", ".py"])
def test_a_file_s_name_is_any_text(tmp_path, suffix, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program = "model { x ~ dnorm(0, 1)\n y ~ dnorm(x, 1) }"
    python = f"import gibbsppl as gp\ndef model():\n    return gp.read_bugs({program!r}, dict(y=1))"
    data = tmp_path / "data.json"
    data.write_text('{"y": 1.0}', encoding="utf-8")
    given = ["--data", str(data)] if suffix == ".bug" else []
    for text in OF_FILES:
        file = tmp_path / f"{text}{suffix}"
        file.write_text(program if suffix == ".bug" else python, encoding="utf-8")
        assert main(["source", f"./{text}{suffix}", *given]) == 0
        written = capsys.readouterr().out
        assert f"for the model {text}" in ast.parse(written).body[0].value.value

    out = tmp_path / "draws.nc"
    short = ["--draws", "4", "--warmup", "2", "--chains", "1", "--seed", "1", "--out", str(out)]
    assert main(["run", f"./{OF_FILES[0]}{suffix}", *given, *short]) == 0
    assert gp.load_draws(out).draws == 4


@pytest.mark.parametrize("text", HOSTILE)
def test_names_in_bugs_and_its_data_are_names_of_bugs(tmp_path, text):
    program = "model { x ~ dnorm(0, 1)\n y ~ dnorm(x, 1) }"
    file = tmp_path / "data.json"
    file.write_text(json.dumps({"y": 1.0, text: 2.0}), encoding="utf-8")
    told = f'y <- 1\n"{text}" <- 2', f"list(y = 1, {text} = 2)"
    for data in ({"y": 1.0, text: 2.0}, file, *told):
        with pytest.raises(gp.GibbspplError):
            gp.read_bugs(program, data)
    with pytest.raises(gp.GibbspplError):
        gp.read_bugs(program.replace("x", f"{text}!"), {"y": 1.0})


@pytest.mark.parametrize("name", ["lambda", "float.x", "x..y", "s", "True"])
def test_names_of_bugs_may_be_words_of_python(name):
    program = f"model {{ {name} ~ dnorm(0, 1)\n y ~ dnorm({name}, 1) }}"

    used(gp.read_bugs(program, {"y": 1.0}))


@pytest.mark.parametrize("name", ['x"', "x\\", "x\n", "x\r", "x\u2028", "x\x00"])
def test_source_is_not_written_with_names_that_end_its_strings(name):
    with pytest.raises(gp.CompileError, match="rename"):
        check_names(["fine", name])


def test_names_in_a_saved_file_are_not_run(tmp_path):
    path, name = tmp_path / "draws.nc", f'x"; {CODE} #'
    gp.Draws({name: np.zeros((2, 5))}, attributes={"model": HOSTILE[2]}).save(path)

    loaded = gp.load_draws(path)
    assert list(loaded) == [name]
    assert repr(loaded.summary())
