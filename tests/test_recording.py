"""What is recorded: the types of whole numbers, what is left out by default, arithmetic of both."""

from dataclasses import replace

import numpy as np
import pytest

import gibbsppl as gp
import models
from gibbsppl.cli import main
from gibbsppl.code.program import load
from gibbsppl.errors import RunError
from gibbsppl.run import recording
from gibbsppl.run.integer_types import integer_types
from gibbsppl.run.sampling import Chain, run, streams

SETTINGS = {"warmup": 10, "chains": 2, "seed": 1, "progress": False}


def types_of(sampler):
    found = integer_types(sampler.schedule.whole, sampler.data)
    return {name: str(kind) for name, kind in found.items()}


# ---- types -----------------------------------------------------------------------------------


def labels(size):
    gp.Categorical("x", 1 / size, dims="i", event=f"k{size}")


def array_of(first, rest):
    def declare():
        x = gp.Array("x", dims="i")
        x[0] = first
        x[1:] = rest()

    return declare


TRIALS = [9, 10, 11, 200]
COUNTS = {
    "Bernoulli": (lambda: gp.Bernoulli("x", 0.5), "int8"),
    "128 labels": (lambda: labels(128), "int8"),
    "129 labels": (lambda: labels(129), "int16"),
    "trials": (lambda: gp.Binomial("x", 127, 0.5), "int8"),
    "more trials": (lambda: gp.Binomial("x", 128, 0.5), "int16"),
    "trials in data": (
        lambda: gp.Binomial("x", gp.Data("n", TRIALS, dims="i"), 0.5, dims="i"), "int16"
    ),
    "random trials": (lambda: gp.Binomial("x", gp.DiscreteUniform("n", 1, 40_000), 0.5), "int32"),
    "trials without a bound": (lambda: gp.Binomial("x", gp.Poisson("n", 3), 0.5), "int64"),
    "differences": (lambda: gp.DiscreteUniform("x", -100, 100), "int16"),
    "many": (lambda: gp.DiscreteUniform("x", 0, 3_000_000_000), "int64"),
    "counts": (lambda: gp.Poisson("x", 3), "int64"),
    "truncated below": (lambda: gp.Poisson("x", 3, lower=1), "int64"),
    "truncated": (lambda: gp.Poisson("x", 3, lower=1, upper=6), "int8"),
    "truncated by data": (
        lambda: gp.Poisson("x", 3, upper=gp.Data("n", TRIALS, dims="i"), dims="i"), "int16"
    ),
    "beside a known number": (array_of(1_000, lambda: gp.Bernoulli(0.5)), "int16"),
    "beside a fraction": (array_of(1.5, lambda: gp.Poisson(3)), "float64"),
    "partly observed": (
        lambda: gp.Binomial("x", 9, 0.5, dims="i", observed=[1, None, 2, 3]), "int8"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_whole_numbers_have_the_smallest_type_that_holds_their_support(name):
    declare, expected = COUNTS[name]
    with gp.Model(coords={"i": 4, "k128": 128, "k129": 129}) as model:
        declare()
    sampler = gp.compile(model)

    assert sampler.sample(20, **SETTINGS)["x"].dtype == expected
    assert types_of(sampler).get("x", "float64") == expected


def test_what_no_integer_type_holds_is_recorded_as_it_is_drawn():
    with gp.Model() as model:
        gp.Poisson("x", 3, upper=1e19)
    assert types_of(gp.compile(model)) == {}


def test_quantities_with_bounds_have_small_types_too():
    with gp.Model(coords={"k": 3, "i": 4}) as model:
        z = gp.Categorical("z", 1 / 3, dims="i", event="k")
        n = gp.Poisson("n", 3)
        gp.Deterministic("place", z + 1)
        gp.Deterministic("spread", 100 * z - 100)
        gp.Deterministic("half", z / 2)
        gp.Deterministic("more", n + 1)
    draws = gp.compile(model).sample(20, **SETTINGS)

    kinds = {name: str(draws[name].dtype) for name in draws}
    assert kinds == {
        "z": "int8", "n": "int64", "place": "int8", "spread": "int16", "half": "float64",
        "more": "int64",
    }  # fmt: skip
    assert (draws["spread"] == 100 * draws.at("z", np.arange(40)).reshape(2, 20, 4) - 100).all()


def test_counts_of_auxiliary_variables_have_them():
    sampler = gp.compile(models.poisson_tensor.model())
    draws = sampler.sample(5, keep=["counts_split"], **SETTINGS)

    assert draws["counts_split"].dtype == np.int8
    assert (draws["counts_split"].sum(axis=-1) == sampler.data["counts"]).all()


WITH_WHOLE_NUMBERS = (
    "gaussian_mixture", "spike_and_slab", "capture_recapture", "poisson_factorisation",
    "dirichlet_process", "iris", "ising", "potts_segmentation", "hidden_markov",
)  # fmt: skip


@pytest.mark.parametrize("name", WITH_WHOLE_NUMBERS)
def test_small_types_hold_the_same_draws_and_quantities(name):
    module = getattr(models, name)
    sampler = gp.compile(module.model())
    draws = sampler.sample(20, **SETTINGS)
    starts, _ = sampler.initial_states(2, 1)
    as_drawn = run(sampler.program, sampler.constants, starts, draws=20, warmup=10).values

    assert all((draws[n] == as_drawn[n]).all() for n in draws)
    expected = module.quantities(replace(draws, values=dict(as_drawn)))
    for quantity, values in module.quantities(draws).items():
        np.testing.assert_array_equal(values, expected[quantity])


def test_a_draw_that_its_type_does_not_hold_is_an_error():
    def program(body):
        return load(f"""
from gibbsppl import runtime
def prepare(data): return dict(data)
def sweep(rng, s, c): s["z"] = {body}
def deterministics(s, c): return {{}}
STEPS = (runtime.Step("z", ("z",), None),)
""")

    def result(body):
        chains = [Chain({"z": 0}, r) for r in streams(1, 1)]
        settings = {"draws": 300, "warmup": 0, "types": {"z": np.int8}}
        return run(program(body), {}, chains, **settings).values["z"]

    assert result("rng.integers(-128, 128)").dtype == np.int8
    assert result("float(rng.integers(0, 9))").dtype == np.int8
    for body in ("rng.integers(0, 200)", "rng.random()"):
        with pytest.raises(RunError, match=r"^z: found draws that its type, int8, does not hold"):
            result(body)
    with pytest.raises(RunError, match=r"^z: found nan in sweep \d+ of chain 0"):
        result('0 * s["z"] if rng.random() < 0.99 else float("nan")')


def test_the_memory_of_small_types_is_counted():
    with gp.Model(coords={"i": 1000}) as model:
        gp.Bernoulli("x", 0.5, dims="i")
    sampler = gp.compile(model)

    assert sampler.sample(10, limit_bytes=20_000, **SETTINGS)["x"].nbytes == 20_000
    with pytest.raises(RunError, match=r"^x: its draws would take 19\.5 KiB of the 19\.5 KiB"):
        sampler.sample(10, limit_bytes=19_999, **SETTINGS)


# ---- what is computed from small types ----------------------------------------------------------


def sums():
    """Counts that are multiplied by numbers with which one byte overflows."""
    with gp.Model(coords={"i": 3, "k": 2}, name="sums") as model:
        n = gp.Binomial("n", 100, 0.5, dims="i")
        z = gp.Bernoulli("z", 0.5, dims="i")
        level = gp.Normal("level", 0, sigma=100)
        gp.Normal("y", 50 * n * n + 100 * n * z + level, sigma=1000, dims="i",
                  observed=[130_000.0, 120_000.0, 110_000.0])
    return gp.compile(model)


def test_all_that_is_computed_from_draws_is_that_of_wide_ones():
    sampler = sums()
    draws = sampler.sample(40, **SETTINGS)
    assert {draws[n].dtype.name for n in ("n", "z")} == {"int8"}
    wide = replace(draws, values={n: draws[n].astype(np.float64) for n in draws})

    def computed(d):
        prediction = sampler.predict(d, {})
        return {
            "predicted": prediction.mean,
            "variance": prediction.variance,
            "deviance": sampler.deviance(d)["deviance"],
            "dic": [sampler.dic(d).dic],
            "mean": sampler.conditional_mean(d, "level")["level"],
            "label": sampler.conditional_mean(d, "z")["z"],
            "chances": sampler.conditional_probabilities(d, "n")["n"],
        }

    found, expected = computed(draws), computed(wide)
    for name, values in found.items():
        np.testing.assert_allclose(values, expected[name], rtol=1e-12, err_msg=name)


def test_summaries_and_files_of_small_types(tmp_path):
    draws = sums().sample(40, **SETTINGS)
    wide = replace(draws, values={n: draws[n].astype(np.float64) for n in draws})
    assert str(draws.summary()) == str(wide.summary())

    draws.save(tmp_path / "sums.nc")
    read = gp.load_draws(tmp_path / "sums.nc")
    assert all(read[n].dtype == draws[n].dtype and (read[n] == draws[n]).all() for n in draws)
    paths = draws.save_coda(tmp_path / "sums-")
    assert paths[1].read_text().splitlines()[0].split() == ["11", str(draws["n"][0, 0, 0])]


# ---- what is left out ---------------------------------------------------------------------------


@pytest.fixture
def little_memory(monkeypatch):
    """Draws of more than 1,000 bytes are large."""
    monkeypatch.setattr(recording, "LARGE", 1000)


def mixture():
    with gp.Model(coords={"k": 3, "i": 60}, name="mixture") as model:
        w = gp.Dirichlet("w", 1, dims="k")
        mu = gp.Normal("mu", 0, sigma=10, dims="k")
        z = gp.Categorical("z", w, dims="i")
        y = np.random.default_rng(1).normal(size=60)
        gp.Normal("y", mu[z], tau=1, dims="i", observed=y)
    return gp.compile(model)


LEFT_OUT = 'z (1.17 KiB of draws) is not kept by default; name what to keep, as in keep=[..., "z"].'


def test_large_arrays_of_labels_are_left_out_and_the_run_says_so(little_memory, capsys, tmp_path):
    draws = mixture().sample(10, **SETTINGS)

    assert capsys.readouterr().err == f"gibbsppl: {LEFT_OUT}\n"
    assert set(draws) == {"w", "mu"}
    assert draws.attributes["left_out"] == draws.left_out == LEFT_OUT
    assert str(draws).splitlines()[-1] == LEFT_OUT
    with pytest.raises(RunError, match=r"^draws: found no variable 'z'.* keep=\[\.\.\., \"z\"\]"):
        draws["z"]
    draws.save(tmp_path / "mixture.nc")
    assert gp.load_draws(tmp_path / "mixture.nc").left_out == LEFT_OUT


def test_what_is_named_is_kept_and_so_is_what_takes_little(little_memory, capsys):
    sampler = mixture()

    assert set(sampler.sample(10, keep=["z"], **SETTINGS)) == {"z"}
    few = sampler.sample(8, **SETTINGS)
    assert set(few) == {"w", "mu", "z"}
    assert few.left_out == ""
    assert "left_out" not in few.attributes
    assert capsys.readouterr().err == ""


def test_the_draws_of_others_do_not_depend_on_what_is_left_out(little_memory):
    sampler = mixture()
    every = sampler.sample(10, keep=["w", "mu", "z"], **SETTINGS)

    assert (sampler.sample(10, **SETTINGS)["mu"] == every["mu"]).all()


def test_what_needs_labels_that_are_left_out_names_them(little_memory):
    sampler = mixture()
    draws = sampler.sample(10, **SETTINGS)

    for ask in (
        lambda: sampler.conditional_mean(draws),
        lambda: sampler.conditional_mean(draws, "mu"),
        lambda: sampler.predict(draws, {}),
        lambda: sampler.deviance(draws),
        lambda: sampler.dic(draws),
    ):
        with pytest.raises(RunError, match=r"^z: .* name it in keep= when sampling"):
            ask()
    for ask in (
        lambda: sampler.conditional_probabilities(draws, "z"),
        lambda: draws.summary("z"),
        lambda: draws.only(["z"]),
    ):
        with pytest.raises(RunError, match=r"'z'.* keep=\[\.\.\., \"z\"\]"):
            ask()


def test_labels_are_kept_where_there_is_nothing_else(little_memory, capsys):
    with gp.Model(coords={"i": 60}) as model:
        x = gp.Bernoulli("x", 0.5, dims="i")
        gp.Potential("alike", x * x.lag("i", 1))

    assert set(gp.compile(model).sample(10, **SETTINGS)) == {"x"}
    assert capsys.readouterr().err == ""


def test_numbers_that_are_not_whole_are_kept_however_large(little_memory):
    with gp.Model(coords={"i": 60}) as model:
        theta = gp.Normal("theta", 0, sigma=1, dims="i")
        gp.Normal("y", theta, sigma=1, dims="i", observed=np.zeros(60))

    assert gp.compile(model).sample(10, **SETTINGS)["theta"].nbytes > recording.LARGE


def test_what_is_left_out_does_not_count_against_the_limit(little_memory):
    draws = mixture().sample(10, limit_bytes=1000, **SETTINGS)
    assert sum(draws[n].nbytes for n in draws) <= 1000


# ---- the command line ----------------------------------------------------------------------------

MIXTURE = """
model {
  for (i in 1:60) { z[i] ~ dcat(p[]); y[i] ~ dnorm(m[z[i]], 1) }
  for (k in 1:2) { m[k] ~ dnorm(0, 0.01) }
  p[1:2] ~ ddirch(a[])
}
"""
SHORT = ("--draws", "10", "--warmup", "10", "--chains", "2", "--seed", "1", "--quiet")


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.bug").write_text(MIXTURE)
    y = ", ".join(map(str, [-3, 3] * 30))
    (tmp_path / "two.R").write_text(f"y <- c({y})  a <- c(1, 1)")
    return "run", "two.bug", "--data", "two.R", *SHORT


def test_a_program_records_small_types_and_leaves_out_large_arrays(program, little_memory, capsys):
    assert main(program) == 0
    assert set(gp.load_draws("two.nc")) == {"m", "p"}
    assert "z (1.17 KiB of draws)" in capsys.readouterr().err

    assert main([*program, "--monitor", "z,m"]) == 0
    z = gp.load_draws("two.nc")["z"]
    assert (z.dtype, z.min(), z.max()) == (np.int8, 1, 2)


@pytest.mark.parametrize("monitors", ["deviance", "pD", "m,deviance"])
def test_the_deviance_of_a_program_has_the_labels_that_it_needs(program, little_memory, monitors):
    assert main([*program, "--monitor", monitors]) == 0
