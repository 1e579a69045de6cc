"""Models written as BUGS programs: what is read back has the same density, and JAGS reads it."""

import importlib
import shutil
import subprocess
from itertools import product

import numpy as np
import pytest
from scipy.special import logsumexp

import gibbsppl as gp
import models
from gibbsppl.bugs.data import read_data
from gibbsppl.bugs.inverses import inverse_of
from gibbsppl.bugs.write import BugsProgram
from gibbsppl.families import FAMILIES
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import log_joint
from gibbsppl.model.forward import simulate
from gibbsppl.rewrites.leaves import marginalise_leaves

# Distributions that BUGS has not.
NOT_IN_BUGS = {"capture_recapture": "fish: DiscreteUniform"}
# What JAGS has not: log densities as observations.
# JAGS takes minutes for the words of the topic model.
LARGE = ("lda",)
WITH_POTENTIALS = ("car_disease_mapping", "ising", "ordered_probit", "potts_segmentation")


NAMES = [module.__name__.rpartition(".")[2] for module in models.ALL]


def example(name):
    return importlib.import_module(f"models.{name}").model()


def gaps(model, again, states):
    """The log joint densities of states in both models, those of each array by its name there."""
    rng = np.random.default_rng(1)
    for _ in range(states):
        state, _ = initial_state(rng, model.graph, model.data)
        there = {n if n in again.graph.variables else f"{n}.label": v for n, v in state.items()}
        assert set(there) <= set(again.graph.variables)
        yield (
            log_joint(model.graph, {**model.data, **state}),
            log_joint(again.graph, {**again.data, **there}),
        )


@pytest.mark.parametrize("name", [n for n in NAMES if n not in NOT_IN_BUGS])
def test_what_is_written_is_read_as_the_same_model(name):
    model = example(name)
    program = gp.write_bugs(model)
    again = gp.read_bugs(program.text, program.data_text)

    for here, there in gaps(model, again, 3):
        np.testing.assert_allclose(there, here, rtol=1e-9)
    latent = {s.target.array.name for s in model.graph.latent}
    assert {s.target.array.name.removesuffix(".label") for s in again.graph.latent} == latent


@pytest.mark.parametrize(("name", "message"), NOT_IN_BUGS.items())
def test_what_bugs_has_not_is_named(name, message):
    with pytest.raises(gp.ModelError, match=f"{message} has no name in the language of BUGS"):
        gp.write_bugs(example(name))


@pytest.mark.skipif(shutil.which("jags") is None, reason="JAGS is not installed (Debian: jags)")
@pytest.mark.parametrize(
    "name", [n for n in NAMES if n not in (*NOT_IN_BUGS, *WITH_POTENTIALS, *LARGE)]
)
def test_jags_compiles_what_is_written(name, tmp_path):
    compiled_by_jags(gp.write_bugs(example(name)), tmp_path)


def compiled_by_jags(program, tmp_path):
    program.save(tmp_path / "program")
    commands = 'model in "program.bug"\ndata in "program-data.R"\ncompile\n'
    (tmp_path / "run.cmd").write_text(commands)
    done = subprocess.run(
        ["jags", "run.cmd"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert "Total graph size" in done.stdout + done.stderr, done.stdout + done.stderr


# Parameters of families, inside their ranges.
NUMBERS = {"lower": -1.5, "upper": 2.5, "n": 7, "p": 0.3, "nu": 6.5, "nu_1": 3.5, "nu_2": 8.0}


def scalar_families():
    for family in FAMILIES.values():
        vectors = any(p.event for p in family.parameters.values())
        if not vectors and not family.event and "Flat" not in family.name:
            arguments = {n: NUMBERS.get(n, 1.7 + 0.2 * k) for k, n in enumerate(family.parameters)}
            if inverse_of(family.name, arguments) is not None:
                yield family.name, arguments


@pytest.mark.parametrize(("name", "arguments"), list(scalar_families()))
def test_every_family_that_bugs_has_is_written_with_its_density(name, arguments):
    with gp.Model() as model:
        getattr(gp, name)("x", **arguments)
    again = gp.read_bugs(gp.write_bugs(model).text)

    rng = np.random.default_rng(1)
    for _ in range(5):
        state = simulate(rng, model.graph, model.data)
        np.testing.assert_allclose(
            log_joint(again.graph, {**again.data, **state}),
            log_joint(model.graph, {**model.data, **state}),
            rtol=1e-9,
        )


@pytest.mark.parametrize("spelling", ["R", "V"])
def test_matrices_and_their_inverses(spelling):
    with gp.Model(coords={"i": 4, "k": 2}) as model:
        scale = gp.Data("scale", np.array([[2.0, 0.5], [0.5, 1.0]]), dims=("k", "k'"))
        tau = gp.Wishart("tau", 4, **{spelling: scale}, dims=("k", "k'"))
        gp.MvNormal("x", gp.Data("zero", np.zeros(2), dims="k"), tau=tau, dims=("i", "k"))
    program = gp.write_bugs(model)
    assert ("inverse(" in program.text) == (spelling == "V")
    again = gp.read_bugs(program.text, program.data)
    for here, there in gaps(model, again, 3):
        np.testing.assert_allclose(there, here, rtol=1e-9)


def test_truncation_lags_gaps_and_known_regions():
    y = np.ma.masked_invalid([1.0, np.nan, 2.0, 4.0])
    with gp.Model(coords={"t": 4}) as model:
        x = gp.Array("x", dims="t")
        x[0] = 0.0
        x[1:] = gp.Normal(0.5 * x.lag("t"), sigma=1, lower=-3)
        gp.Normal("y", x, sigma=1, dims="t", observed=y, missing="latent")
    program = gp.write_bugs(model)
    again = gp.read_bugs(program.text, program.data_text)

    assert "x[1] <- 0" in program.text
    assert "T(-3, )" in program.text
    assert "y <- c(1, NA, 2, 4)" in program.data_text
    for here, there in gaps(model, again, 3):
        np.testing.assert_allclose(there, here, rtol=1e-9)


def test_names_are_those_of_the_language():
    with gp.Model(coords={"in": 2, "5 days": 3}) as model:
        gp.Normal("rate of change", 0, sigma=1, dims=("in", "5 days"))
        gp.Normal("T", 0, sigma=1)
        gp.Normal("rate.of.change", 0, sigma=1)
    text = gp.write_bugs(model).text
    for part in ("v.in in 1:2", "v.5.days in 1:3", "rate.of.change[v.in", "rate.of.change_2 ~"):
        assert part in text
    gp.read_bugs(text)


def test_data_in_rs_form_are_read_back():
    values = {
        "a": np.array([[1.5, -2.0, 1e300], [4.0, 5.25, 1e-300]]),
        "b": np.ma.MaskedArray([0.1, 0.0], [False, True]),
        "n": np.array(3),
        "k": np.arange(24).reshape(2, 3, 4),
    }
    back = read_data(BugsProgram("", values).data_text)
    for name, array in values.items():
        np.testing.assert_array_equal(np.ma.filled(back[name], 0), np.ma.filled(array, 0))
    assert back["b"].mask.tolist() == [False, True]


DIED, HALF = [1, 0, 1], {"lower": [-1, 0, 0.5], "upper": [0.5, 3, 0.7]}
# How values are censored: a distribution, what is known of it, what was seen.
CENSORED = {
    "above": (lambda r: gp.Weibull(shape=2, rate=r), {"event": DIED}, [1.0, 2.0, 0.5]),
    "one number": (lambda r: gp.Exponential(rate=r), {"upper": 2.0}, 5.0),
    "limits": (lambda r: gp.Normal(r, sigma=1), {"lower": -1, "upper": [0.5, 1, 2]}, [-3, 2, 0.5]),
    "between": (
        lambda r: gp.Normal(r, sigma=1, lower=-2),
        {"event": [0, 1, 0], **HALF},
        [0, 2, 0.6],
    ),
    "counts": (gp.Poisson, {"event": DIED, "lower": 2, "upper": 4}, [9, 3, 0]),
    "limits of counts": (gp.Poisson, {"lower": 2, "upper": 6}, [1, 4, 8]),
}


def censored(how):
    distribution, known, observed = CENSORED[how]
    with gp.Model() as model:
        rate = gp.Gamma("rate", 2, rate=1)
        dims = "i" if np.ndim(observed) else None
        gp.Censored("y", distribution(rate), **known, dims=dims, observed=observed)
    return model


def log_joint_of_what_is_seen(model, state):
    """The log joint density with the missing values of ``y`` integrated out: counts summed."""
    left = marginalise_leaves(model.graph, model.data)
    if left.leaves:
        return log_joint(left.graph, {**left.data, **state})
    values = {**model.data, **state}
    places = np.argwhere(values["y.known"] == 0)
    logs = []
    for numbers in product(range(30), repeat=len(places)):
        y = np.array(values["y"])
        y[tuple(places.T)] = numbers
        logs.append(log_joint(model.graph, {**values, "y": y}))
    return logsumexp(logs)


@pytest.mark.parametrize("how", CENSORED)
def test_censored_observations_are_missing_values_on_a_side_of_bounds(how):
    model = censored(how)
    program = gp.write_bugs(model)
    again = gp.read_bugs(program.text, program.data_text)
    for rate in (0.3, 1.0, 2.5):
        here = log_joint(model.graph, {**model.data, "rate": np.array(rate)})
        there = log_joint_of_what_is_seen(again, {"rate": np.array(rate)})
        np.testing.assert_allclose(there, here, rtol=1e-9)


@pytest.mark.parametrize("how", CENSORED)
def test_the_comparison_sees_values_on_the_wrong_side(how):
    model = censored(how)
    program = gp.write_bugs(model)
    hidden = np.ma.getmaskarray(program.data["y"])
    data = dict(program.data)
    data["y.above"] = np.where(hidden, 1 - data["y.above"], data["y.above"])
    again = gp.read_bugs(program.text, data)
    here = log_joint(model.graph, {**model.data, "rate": np.array(0.3)})
    there = log_joint_of_what_is_seen(again, {"rate": np.array(0.3)})
    assert not np.isclose(there, here, rtol=1e-3)


@pytest.mark.skipif(shutil.which("jags") is None, reason="JAGS is not installed (Debian: jags)")
@pytest.mark.parametrize("how", CENSORED)
def test_jags_reads_censored_observations(how, tmp_path):
    compiled_by_jags(gp.write_bugs(censored(how)), tmp_path)


def test_censored_values_that_are_read_elsewhere_are_refused():
    with gp.Model() as model:
        t = gp.Censored("t", gp.Exponential(rate=2), upper=3.0, observed=[1.0, 4.0], dims="i")
        gp.Normal("z", t, sigma=1, dims="i", observed=[1.0, 2.0])
    with pytest.raises(gp.ModelError, match="z: reads t, whose censored values stand at their bou"):
        gp.write_bugs(model)
