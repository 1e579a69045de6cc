"""The command line: what it prints, what it writes, and one clean message for what is wrong."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import xarray as xr

import gibbsppl as gp
from gibbsppl.arguments import START_WORDS
from gibbsppl.cli import main
from gibbsppl.cli.arguments import KERNELS
from gibbsppl.cli.command import STARTS
from gibbsppl.cli.model_files import model_in, model_of
from gibbsppl.kernels import OFFERED

COIN = """
import gibbsppl as gp

def model(heads=7):
    with gp.Model() as flips:
        p = gp.Beta("p", 1, 1)
        gp.Binomial("heads", 10, p, observed=heads)
    return flips
"""
VAGUE = """
import gibbsppl as gp

def model():
    with gp.Model(name="scales") as vague:
        tau = gp.Gamma("tau", 0.001, rate=0.001)
        mu = gp.Normal("mu", 0, tau=1)
        gp.Normal("y", mu, tau=tau, dims="i", observed=[1.5, 2.5, 0.5])
    return vague
"""


@pytest.fixture
def coin(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "coin.py"
    path.write_text(COIN)
    return str(path)


def written(tmp_path, text, name="mine.py"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def failing(capsys, *arguments):
    """What stderr says of a command that goes wrong: one message, no traceback, exit code 2."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert err.startswith("gibbsppl: ")
    assert "Traceback" not in err
    assert not out
    return err


def test_run_prints_the_schedule_and_summary_and_writes_the_draws(coin, capsys, tmp_path):
    options = ["--draws", "60", "--warmup", "10", "--chains", "2", "--seed", "1"]
    assert main(["run", coin, *options]) == 0
    out = capsys.readouterr().out
    assert "coin: 1 step, all exact" in out
    assert "2 chains, 60 draws each" in out
    assert "r_hat" in out
    assert "draws written to coin.nc (seed 1, " in out.splitlines()[-1]
    draws = gp.load_draws(tmp_path / "coin.nc")
    assert draws["p"].shape == (2, 60)


def test_tuning_is_told_before_the_schedule(coin, capsys, tmp_path):
    options = ["--draws", "20", "--warmup", "5", "--chains", "2", "--seed", "1", "--tune"]
    assert main(["run", coin, *options]) == 0
    out, _ = capsys.readouterr()

    assert out.startswith("chosen among 1 variants:")
    assert "best: as compiled" in out
    assert gp.load_draws(tmp_path / "coin.nc").attributes["tuned"] == "as compiled"


def test_the_same_seed_gives_the_same_draws_as_the_library(coin, capsys, tmp_path):
    main(["run", coin, "--draws", "20", "--chains", "2", "--seed", "5", "--out", "a.nc", "--quiet"])
    assert capsys.readouterr().out.startswith("draws written to a.nc (seed 5")
    expected = gp.compile(model_in(tmp_path / "coin.py")).sample(20, chains=2, seed=5)
    assert (gp.load_draws("a.nc")["p"] == expected["p"]).all()


def test_thin_keeps_every_nth_sweep(coin, capsys):
    main(["run", coin, "--draws", "20", "--chains", "1", "--seed", "5", "--thin", "3", "--quiet"])
    expected = gp.compile(model_in(Path("coin.py"))).sample(20, chains=1, seed=5, thin=3)
    assert (gp.load_draws("coin.nc")["p"] == expected["p"]).all()


def test_without_a_seed_runs_differ_and_say_their_seed(coin, capsys):
    lines = []
    for name in ("a.nc", "b.nc"):
        main(["run", coin, "--draws", "5", "--chains", "1", "--quiet", "--out", name])
        lines.append(capsys.readouterr().out)
    assert not (gp.load_draws("a.nc")["p"] == gp.load_draws("b.nc")["p"]).all()
    seeds = [line.split("(seed ")[1].split(",")[0] for line in lines]
    assert seeds[0] != seeds[1]
    main(["run", coin, "--draws", "5", "--chains", "1", "--seed", seeds[0], "--out", "c.nc"])
    assert (gp.load_draws("a.nc")["p"] == gp.load_draws("c.nc")["p"]).all()


def test_starts_that_are_not_from_the_prior_are_said(tmp_path, capsys, monkeypatch, coin):
    options = ["--draws", "5", "--chains", "2", "--seed", "1"]
    main(["run", written(tmp_path, VAGUE, "vague.py"), *options])
    out = capsys.readouterr().out
    assert out.startswith("scales: 2 steps")
    said = [line for line in out.splitlines() if line.startswith("started by rule")]
    assert len(said) == 1
    assert said[0].endswith(": tau")
    main(["run", coin, *options])
    assert "started by rule" not in capsys.readouterr().out


def test_explain_one_variable_or_all(coin, capsys):
    assert main(["explain", coin, "p"]) == 0
    one = capsys.readouterr().out
    assert one.startswith("p | rest: Beta")
    assert "a = eta_1 + 1 = heads + 1" in one
    assert main(["explain", coin]) == 0
    assert one.strip() in capsys.readouterr().out


def test_source_is_the_module_that_runs(coin, capsys, tmp_path):
    assert main(["source", coin]) == 0
    text = capsys.readouterr().out
    compile(text, "coin", "exec")
    assert "def sweep(rng, s, c):" in text
    assert main(["source", coin, "--out", "sampler.py"]) == 0
    assert (tmp_path / "sampler.py").read_text() == text


def test_check_passes_and_prints_its_table(coin, capsys):
    assert main(["check", coin]) == 0
    assert "passed" in capsys.readouterr().out


def test_check_fails_where_a_conditional_is_wrong(coin, capsys, monkeypatch):
    from gibbsppl.code import trials

    right = trials.written

    def wrong(schedule):
        found = right(schedule)
        return replace(found, source=found.source.replace("eta_1 = ", "eta_1 = 0.5 + "))

    monkeypatch.setattr(trials, "written", wrong)
    assert main(["check", coin]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_a_run_ends_by_the_rule_that_is_asked_for(coin, capsys, tmp_path):
    out = tmp_path / "draws.nc"
    options = ["--draws", "5000", "--warmup", "5", "--seed", "1", "--out", str(out)]
    assert main(["run", coin, *options, "--ess", "400", "--cores", "1"]) == 0

    draws = gp.load_draws(out)
    assert draws.draws < 5000
    assert draws.until.endswith("(400 asked)")
    assert main(["run", coin, *options, "--r-hat", "0.5"]) != 0
    assert "found r_hat=0.5, expected a number above 1" in capsys.readouterr().err


def test_chains_start_where_that_is_asked_for(coin, capsys, tmp_path):
    assert STARTS == START_WORDS
    out = tmp_path / "draws.nc"
    for start in ("prior", "variational"):
        assert main(["run", coin, *SHORT, "--seed", "1", "--start", start, "--out", str(out)]) == 0
        assert re.search(r"s in all, \d\.\d s for starts\)", capsys.readouterr().out)
        sampler, drawn = gp.compile(model_in(Path(coin))), gp.load_draws(out)
        again = sampler.sample(
            drawn.draws, warmup=drawn.attributes["warmup"], chains=drawn.chains, seed=1,
            start=start, progress=False,
        )  # fmt: skip
        assert (again["p"] == drawn["p"]).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", r"found no model\(\), expected a function model\(\)"),
        ("model = 3", r"found model = 3, expected a function"),
        ("def model(data, size=3): pass", r"model\(\) needs a value of data; give"),
        ("def model(): pass", r"model\(\) returned nothing, expected a gp.Model"),
        ("def model(): return 'rats'", r"model\(\) returned a str, expected a gp.Model"),
        (COIN.replace("heads=7", "heads=17"), r"heads"),
    ],
)
def test_a_file_without_a_usable_model_is_refused(text, message, tmp_path, capsys):
    said = failing(capsys, "explain", written(tmp_path, text))
    assert re.search(message, said), said


def test_other_mistakes_are_refused(coin, tmp_path, capsys):
    assert "found no such file" in failing(capsys, "run", "nowhere.py")
    assert "expected model { }" in failing(capsys, "run", written(tmp_path, "x", "model.txt"))
    assert "found no such variable" in failing(capsys, "explain", coin, "q")
    assert "found no directory" in failing(capsys, "run", coin, "--out", "nowhere/draws.nc")
    assert "is a directory" in failing(capsys, "run", coin, "--out", str(tmp_path))
    for arguments in (["run", coin, "--draws", "-1"], ["fly", coin], []):
        with pytest.raises(SystemExit) as stopped:
            main(arguments)
        assert stopped.value.code == 2


WRONG = {
    "exception": ("def model():\n    return 1 / 0", "ZeroDivisionError", "line 2: return 1 / 0"),
    "syntax": ("def model(:\n    pass", "syntax", "line 1"),
    "at import": ("x = 1\nimport no_such_package", "No module", "line 2: import no_such_package"),
    "of the language": (
        "import gibbsppl as gp\n\ndef model():\n    with gp.Model():\n        gp.Norml('x')",
        "Did you mean 'Normal'", "line 5: gp.Norml('x')",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "told", "line"), WRONG.values(), ids=WRONG)
def test_errors_in_the_users_own_code_are_told_with_their_line(text, told, line, tmp_path, capsys):
    said = failing(capsys, "explain", written(tmp_path, text))

    assert told in said
    assert f"mine.py, {line}" in said


def test_a_file_is_read_without_traces_on_the_path(tmp_path):
    written(tmp_path, "HEADS = 3", "heads_of_mine.py")
    text = "import heads_of_mine\n" + COIN.replace("heads=7", "heads=heads_of_mine.HEADS")
    path, before = Path(written(tmp_path, text)), list(sys.path)
    assert model_in(path).data["heads"] == 3
    assert sys.path == before


def test_models_are_named_for_their_files_unless_they_have_a_name(coin, tmp_path):
    assert model_in(Path(coin)).name == "coin"
    assert model_in(Path(written(tmp_path, VAGUE))).name == "scales"


def test_help_loads_nothing_heavy():
    code = (
        "import sys, gibbsppl.cli\n"
        "try: gibbsppl.cli.main(['run', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'sympy', 'scipy', 'networkx', 'xarray'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "--draws" in done.stdout


def test_a_reader_that_stops_reading_is_no_error(coin):
    root = str(Path(gp.__file__).parents[1])
    command = [sys.executable, "-m", "gibbsppl", "explain", coin]
    with subprocess.Popen(
        command, env={"PYTHONPATH": root}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        assert not process.stderr.read()
    assert process.returncode == 1


# ---- programs in the language of BUGS ------------------------------------------------------------

LINE = """
model {
  for (i in 1:N) {
    mu[i] <- alpha + beta * (x[i] - mean(x[]))
    y[i] ~ dnorm(mu[i], tau)
  }
  alpha ~ dnorm(0, 1.0E-4)
  beta ~ dnorm(0, 1.0E-4)
  tau ~ dgamma(0.001, 0.001)
}
"""
LINE_DATA = "N <- 5  x <- c(1, 2, 3, 4, 5)  y <- c(1, 3, 3, 3, 5)"


@pytest.fixture
def line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data, inits = (written(tmp_path, *t) for t in (
        (LINE_DATA, "line-data.R"), ("alpha <- 3  beta <- 0  tau <- 1", "line-inits.R"),
    ))  # fmt: skip
    return [written(tmp_path, LINE, "line.bug"), "--data", data], inits


SHORT = ("--draws", "50", "--warmup", "20", "--seed", "1")


def test_a_bugs_program_runs_with_its_data_and_monitors(line, capsys, tmp_path):
    program, inits = line
    monitors = "mu,beta,deviance,pD"
    options = ["--inits", inits, "--monitor", monitors, "--coda", "c-", *SHORT]
    assert main(["run", *program, *options]) == 0
    out = capsys.readouterr().out

    for text in ("mu[1] ", "mu[5] ", "beta ", "deviance ", "penalty (pD) ", "c-chain4.txt"):
        assert text in out
    assert "started by rule" not in out
    assert "alpha " not in out.split("4 chains")[1]
    assert list(gp.load_draws("line.nc")) == ["mu", "beta", "deviance"]
    assert (tmp_path / "c-index.txt").read_text().splitlines()[4:6] == [
        "mu[5] 201 250",
        "beta 251 300",
    ]


def test_fewer_draws_of_what_is_large_are_recorded(line, capsys, tmp_path):
    program, _ = line
    monitors = "beta,mu:10,deviance"
    assert main(["run", *program, "--monitor", monitors, "--coda", "c-", *SHORT]) == 0
    assert "mu[1] " in capsys.readouterr().out
    found = gp.load_draws("line.nc")
    assert found.every["mu"] == 10
    assert found["mu"].shape == (4, 5, 5)
    lines = (tmp_path / "c-index.txt").read_text().splitlines()
    assert "mu[2] 56 60" in lines
    for wrong in ("mu:0", "mu:x"):
        with pytest.raises(SystemExit):
            main(["run", *program, "--monitor", wrong, *SHORT])
        assert f"found '{wrong}', expected a name, or with" in capsys.readouterr().err


def test_more_chains_than_can_be_kept_are_refused_at_once(line, capsys):
    program, _ = line
    assert main(["run", *program, "--chains", "9" * 12, "--coda", "c-"]) == 2
    assert "its draws would take" in capsys.readouterr().err


def test_what_is_shown_has_the_names_of_the_program_alone(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "model { for (i in 1:2) { z[i] ~ dcat(p[]); y[i] ~ dnorm(z[i], 1) } }"
    data = written(tmp_path, "p <- c(0.5, 0.5)  y <- c(0.3, 2.2)", "data.R")
    assert main(["run", written(tmp_path, text, "mix.bug"), "--data", data, *SHORT]) == 0
    shown = capsys.readouterr().out.split("4 chains")[1]
    assert "z[1] " in shown
    assert "label" not in shown
    assert list(gp.load_draws("mix.nc")) == ["z"]


def test_a_penalty_alone_shows_what_the_program_has(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = """
    model {
      for (i in 1:4) { z[i] ~ dcat(p[]); y[i] ~ dnorm(m[z[i]], 1) }
      for (k in 1:2) { m[k] ~ dnorm(0, 0.01) }
      p[1:2] ~ ddirch(a[])
    }
    """
    program = written(tmp_path, text, "two.bug")
    data = written(tmp_path, "y <- c(-3, -2, 2, 3)  a <- c(1, 1)", "two.R")
    assert main(["run", program, "--data", data, "--monitor", "pD", *SHORT]) == 0

    assert "penalty (pD) " in capsys.readouterr().out
    assert set(gp.load_draws("two.nc")) == {"z", "m", "p"}


def test_each_chain_has_its_own_initial_values(line, capsys):
    program, inits = line
    given = ["--inits", inits, "--inits", inits]
    assert main(["run", *program, *given, "--chains", "2", *SHORT]) == 0
    assert "found 2 sets of initial values" in failing_after(
        capsys, "run", *program, *given, *SHORT
    )


def failing_after(capsys, *arguments):
    """What stderr says of a command that goes wrong once the schedule is printed."""
    capsys.readouterr()
    assert main(arguments) == 2
    return capsys.readouterr().err


def test_all_commands_take_bugs_programs(line, capsys):
    program, _ = line
    for command, text in (("explain", "tau"), ("source", "def sweep"), ("check", "passed")):
        assert main([command, *program]) == 0
        assert text in capsys.readouterr().out


def test_data_in_several_files_give_each_name_once(line, tmp_path, capsys):
    (program, _, data), _ = line
    more = written(tmp_path, "x <- 1", "more.R")
    err = failing(capsys, "check", program, "--data", data, "--data", more)
    assert "more.R: x has values in another file already" in err


def test_mistakes_in_programs_and_their_options_are_told(line, tmp_path, coin, capsys):
    program, _ = line
    wrong = failing(capsys, "run", *program, "--monitor", "mu,bet")
    assert "monitor: found 'bet'" in wrong
    assert "Did you mean 'beta'?" in wrong
    assert "a Python file has its data itself" in failing(capsys, "run", coin, "--data", "x.R")
    broken = written(tmp_path, "model { x ~ dnorm(0 }", "broken.bug")
    assert "broken.bug, line 1, column 21" in failing(capsys, "check", broken)
    assert "none.bug: found no such file" in failing(capsys, "check", "none.bug")


def test_a_name_that_no_file_has_is_one_line(coin, capsys):
    assert main(["run", coin, "--draws", "2", "--out", "a\0b"]) == 2
    assert re.fullmatch(r"gibbsppl: --out: .*\n", capsys.readouterr().err)


GROWTH = """
model {
  for (i in 1:4) { y[i] ~ dnorm(a + b * x[i], tau) }
  a ~ dnorm(0, 0.01)  b ~ dnorm(0, 0.01)  tau ~ dgamma(1, 1)
}
"""


def tables(tmp_path):
    """The same columns in files of every form."""
    columns = {"x": [1, 2, 3, 4], "y": [1.5, 2.0, None, 4.5]}
    floats = {n: np.array(v, dtype=float) for n, v in columns.items()}
    lines = ["x,y", *(f"{x},{'' if y is None else y}" for x, y in zip(*columns.values()))]  # noqa: B905
    written(tmp_path, "\n".join(lines), "data.csv")
    pl.DataFrame(columns).write_parquet(tmp_path / "data.parquet")
    np.savez(tmp_path / "whole.npz", x=floats["x"], y=[1.5, 2.0, 3.0, 4.5])
    data = {n: (("i",), v) for n, v in floats.items()}
    xr.Dataset(data).to_netcdf(tmp_path / "data.nc", engine="h5netcdf")


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "whole.npz", "data.nc"])
def test_data_are_read_from_tables(name, tmp_path):
    tables(tmp_path)
    program = tmp_path / "growth.bug"
    program.write_text(GROWTH)

    made = model_of(program, [tmp_path / name])

    assert made.data["x"].tolist() == [1, 2, 3, 4]
    assert made.data["y"][[0, 1, 3]].tolist() == [1.5, 2.0, 4.5]
    assert ("y.known" in made.data) == name.startswith("data")


@pytest.mark.parametrize(("text", "told"), [
    ("a,a\n1,2", "different names"), ("a,b\n1", "line 2 has 1 entries"), ("", "0 lines"),
])  # fmt: skip
def test_tables_that_are_none_are_refused(text, told, tmp_path, capsys):
    data = written(tmp_path, text, "data.csv")
    said = failing(capsys, "check", written(tmp_path, GROWTH, "growth.bug"), "--data", data)

    assert "data.csv" in said
    assert told in said


def test_a_file_that_is_broken_is_refused(tmp_path, capsys):
    program = written(tmp_path, GROWTH, "growth.bug")
    for name in ("data.npz", "data.nc"):
        data = written(tmp_path, "no such thing", name)
        assert name in failing(capsys, "check", program, "--data", data)


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])

    assert ended.value.code == 0
    assert capsys.readouterr().out == f"gibbsppl {gp.__version__}\n"


def test_options_stand_anywhere(coin, capsys):
    for arguments in (["explain", coin, "--scan", "systematic", "p"],
                      ["explain", "--scan", "systematic", coin, "p"]):  # fmt: skip
        assert main(arguments) == 0
        assert "p | rest" in capsys.readouterr().out.replace("p | everything else", "p | rest")


def test_results_as_json(coin, capsys):
    assert main(["run", coin, "--json", "--seed", "1", "--draws", "20", "--warmup", "5"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["draws"], told["seed"], [*told["summary"]]) == ("coin.nc", 1, ["p"])

    assert main(["check", coin, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["passed"] is True

    assert main(["graph", coin, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["edges"] == [["p", "heads"]]


def test_graphs(coin, capsys):
    assert main(["graph", coin]) == 0
    assert "heads ~ Binomial(n=10, p=p), observed" in capsys.readouterr().out
    assert main(["graph", "--dot", coin]) == 0
    assert '"p" -> "heads";' in capsys.readouterr().out


LINES = """
import gibbsppl as gp

def model():
    with gp.Model() as line:
        b = gp.Normal("b", 0, sigma=1)
        x = gp.Data("x", [1.0, 2.0, 3.0], dims="i")
        gp.Normal("y", b * x, sigma=0.1, dims="i", observed=[2.0, 4.0, 6.0])
    return line
"""


def test_predictions(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path, new = written(tmp_path, LINES), written(tmp_path, "x\n10\n20", "new.csv")
    assert main(["run", path, "--draws", "50", "--seed", "1", "--quiet"]) == 0
    capsys.readouterr()

    assert main(["predict", path, "--draws", "mine.nc", "--new", new, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert main(["predict", path, "--draws", "mine.nc", "--new", new]) == 0
    assert "predicted from" in capsys.readouterr().out
    sampler = gp.compile(model_in(Path(path)))
    expected = sampler.predict(gp.load_draws("mine.nc"), {"x": [10, 20]})
    assert [r["mean"] for r in rows.values()] == expected.mean.tolist()
    assert "expected a file whose name ends in" in failing(
        capsys, "predict", path, "--draws", "mine.nc", "--new", "new.txt"
    )


# ---- kernels -------------------------------------------------------------------------------------

PAIR = """
import gibbsppl as gp

def model():
    with gp.Model(name="pair") as m:
        a, b = gp.Normal("a", 0, sigma=1), gp.Normal("b", 0, sigma=1)
        gp.Normal("y", gp.exp(a) + b**2, sigma=1, observed=2.0)
    return m
"""


def test_every_kernel_that_needs_no_arguments_has_a_name_on_the_command_line():
    made = {name: getattr(gp, kernel)() for name, kernel in KERNELS.items()}
    of_others = {gp.Proposal, gp.Cycle, gp.Mix}

    assert {type(k) for k in made.values()} == {*OFFERED} - of_others


@pytest.mark.parametrize("asked", [["a,b=nuts"], ["a, b = hmc"], ["a=slice", "b=hmc"]])
def test_kernels_of_one_variable_and_of_several_are_asked_for(asked, tmp_path, capsys):
    path = written(tmp_path, PAIR, "pair.py")
    options = [o for one in asked for o in ("--kernel", one)]
    assert main(["check", str(path), *options]) == 0
    told = capsys.readouterr().out
    assert ("a, b " in told) == (len(asked) == 1)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("a=nutz", r"--kernel: found 'a=nutz', expected a variable, .*hmc.* Did you mean 'nuts'\?"),
        ("a,=nuts", r"--kernel: found 'a,=nuts', expected a variable"),
    ],
)
def test_kernels_that_cannot_be_are_told_with_what_can(asked, told, tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["check", str(written(tmp_path, PAIR, "pair.py")), "--kernel", asked])
    assert re.search(told, capsys.readouterr().err)


def test_a_kernel_of_one_variable_is_refused_for_several(tmp_path, capsys):
    path = str(written(tmp_path, PAIR, "pair.py"))
    told = failing(capsys, "check", path, "--kernel", "a,b=slice")
    assert "kernels[('a', 'b')]: slice moves one variable at a time" in told


def test_a_variable_with_two_kernels_is_told(tmp_path, capsys):
    path = str(written(tmp_path, PAIR, "pair.py"))
    told = failing(capsys, "check", path, "--kernel", "a=slice", "--kernel", "b,a=nuts")
    assert "--kernel: found 'a' 2 times, expected each variable once" in told
