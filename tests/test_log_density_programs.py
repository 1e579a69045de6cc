"""Log densities of factors as programs: they agree with the plain interpreter, zeros included."""

from dataclasses import replace
from functools import cached_property

import numpy as np
import pytest

import gibbsppl as gp
import models
from gibbsppl.code import log_densities as by_factor
from gibbsppl.code.density_program import DensityProgram
from gibbsppl.code.log_densities import LogDensities, compiled_where_it_pays, numbers_of
from gibbsppl.code.loop_text import expressions
from gibbsppl.code.lowering import log_densities
from gibbsppl.errors import ModelError, NotLoweredError
from gibbsppl.initial import search
from gibbsppl.initial.pilot import Pilots
from gibbsppl.initial.search import initial_state
from gibbsppl.model.density import size_of_terms, told_of
from gibbsppl.model.evaluation import largest_power
from gibbsppl.run.engines import Interpreted

# Larger factors take too long where loops are carried out by Python.
MOST_NUMBERS = 20_000


class Plain(DensityProgram):
    """A program whose loops Python carries out."""

    @cached_property
    def runner(self):
        return self.loops.plain()


def both(model, name, **values):
    """What a program tells of a factor, and what the interpreter does."""
    factor = next(f for f in model.graph.factors if f.name == name)
    values = {**model.data, **{n: np.asarray(x) for n, x in values.items()}}
    program = Plain.of(model.graph, factor, model.data)
    return program(values), told_of(factor, values, model.graph.sizes)


def test_programs_agree_with_the_interpreter_on_all_models():
    """Every factor that has a program, at a start."""
    compared = told = 0
    for model in (m.model() for m in models.ALL):
        graph, data = model.graph, model.data
        values = {**data, **initial_state(np.random.default_rng(1), graph, data)[0]}
        for factor in graph.factors:
            if numbers_of(factor, graph.sizes) > MOST_NUMBERS:
                continue
            try:
                program = Plain.of(graph, factor, data)
            except NotLoweredError:
                continue
            assert program.can_read(values)
            found, expected = program(values), told_of(factor, values, graph.sizes)
            rounded = 1e-12 * size_of_terms(factor, values, graph.sizes)
            assert found.lost == expected.lost == 0
            assert found.total == pytest.approx(expected.total, rel=0, abs=rounded)
            assert found.least == pytest.approx(expected.least, rel=0, abs=rounded)
            compared += 1
            if found.largest is not None:
                largest = largest_power(factor.log_density, factor.over, values, graph.sizes)
                assert found.largest == pytest.approx(largest, rel=1e-9)
                told += 1
    assert compared > 150
    assert told > 140


def bounded():
    """A model with values and parameters that can be outside of their supports."""
    with gp.Model(coords={"i": 3, "factor": 2}, name="bounded") as model:
        scale = gp.Gamma("scale", 1, rate=1)
        low = gp.Normal("low", 0, sigma=1)
        x = gp.Normal("x", 0, sigma=1, dims="i", lower=low)
        n = gp.Poisson("n", scale, dims="i")
        zero = gp.Data("zero", np.zeros(2), dims="factor")
        eye = gp.Data("eye", np.eye(2), dims=("factor", "factor'"))
        v = gp.MvNormal("v", zero, tau=eye, dims=("i", "factor"), event="factor")
        gp.Normal("y", x + n + v.sum("factor"), sigma=scale, dims="i", observed=[0.5, 1.0, 2.0])
    return model


GOOD = {
    "scale": 1.5, "low": -1.0, "x": [0.5, 1.0, -0.5], "n": [1.0, 0.0, 4.0],
    "v": [[0.1, 0.2], [0.3, -0.4], [1.0, 0.0]],
}  # fmt: skip
OUTSIDE = [
    ("n", {"scale": -1.5}, 3),
    ("y", {"scale": 0.0}, 3),
    ("y", {"x": [0.5, np.inf, 0.0]}, 1),
    ("x", {"low": 0.0}, 1),
    ("x", {"x": [0.5, np.nan, -3.0]}, 2),
    ("n", {"n": [1.0, -1.0, 2.0]}, 1),
    ("v", {"v": [[0.1, 0.2], [np.inf, -0.4], [1.0, 0.0]]}, 1),
]


@pytest.mark.parametrize(("name", "values", "lost"), OUTSIDE)
def test_zeros_of_the_density_are_those_of_the_interpreter(name, values, lost):
    """Values and parameters outside of their supports, one after the other."""
    found, expected = both(bounded(), name, **{**GOOD, **values})
    assert (found.lost, found.total) == (expected.lost, expected.total) == (lost, -np.inf)


@pytest.mark.parametrize("x", [1e3, 1e100, 1e200])
def test_powers_that_are_too_large_are_told(x):
    """A square that has no square, or is infinite."""
    model = bounded()
    factor = model.graph.statement("y")
    values = {n: np.asarray(v) for n, v in {**GOOD, "x": [0.5, x, 0.0]}.items()}
    values = {**model.data, **values}
    found = Plain.of(model.graph, factor, model.data)(values).largest
    expected = largest_power(factor.log_density, factor.over, values, model.graph.sizes)
    assert found == pytest.approx(expected)
    assert (found < search.LARGEST) == (x < 1e50)


def test_a_program_without_a_condition_is_found(monkeypatch):
    """Planted: supports are not looked at."""
    monkeypatch.setattr(log_densities, "_conditions", lambda w, s: iter(()))
    wrong = []
    for name, values, _ in OUTSIDE:
        found, expected = both(bounded(), name, **{**GOOD, **values})
        wrong.append((found.lost, found.total) != (expected.lost, expected.total))
    assert sum(wrong) >= 3


def test_conditions_on_known_values_alone_are_looked_at_once():
    """Of observed values nothing is asked position by position, unless a bound is drawn."""
    model = bounded()
    factor = model.graph.statement("y")
    text = str(log_densities.log_density_program(model.graph, factor, model.data))
    assert "abs(1 / scale**2) < inf" in text
    assert "abs(y[i])" not in text


def test_what_loops_cannot_read_is_interpreted():
    """A label outside of its range is an error, as without loops; a fraction has density zero."""
    with gp.Model(coords={"i": 2, "k": 2}, name="labelled") as model:
        weight = gp.Data("weight", [0.5, 0.5], dims="k")
        z = gp.Categorical("z", weight, dims="i")
        mu = gp.Normal("mu", 0, sigma=1, dims="k")
        gp.Normal("y", mu[z], sigma=1, dims="i", observed=[0.0, 1.0])
    graph, data = model.graph, model.data
    factor = graph.statement("y")
    densities = LogDensities(graph, {"y": Plain.of(graph, factor, data)})
    good = {**data, "mu": np.zeros(2), "z": np.array([0.0, 1.0])}
    assert densities.of([factor], good)["y"].total == pytest.approx(
        told_of(factor, good, graph.sizes).total
    )
    for labels in ([0.0, 2.0], [-1.0, 0.0], [0.5, 1.0]):
        with pytest.raises(ModelError, match="expected a whole number from 0 to 1"):
            densities.of([factor], {**good, "z": np.array(labels)})


def factorised(count):
    """A factorisation of so many numbers."""
    rng = np.random.default_rng(0)
    with gp.Model(coords={"i": 20, "j": 10, "factor": 2, "n": count}, name="factorised") as model:
        i = gp.Index("of_i", rng.integers(0, 20, count), of="i", dims="n")
        j = gp.Index("of_j", rng.integers(0, 10, count), of="j", dims="n")
        u = gp.Normal("u", 0, sigma=1, dims=("i", "factor"))
        v = gp.Normal("v", 0, sigma=1, dims=("j", "factor"))
        tau = gp.Gamma("tau", 1, rate=1)
        gp.Normal(
            "y", (u[i] * v[j]).sum("factor"), tau=tau, dims="n", observed=rng.normal(size=count)
        )
    return model


def test_loops_are_compiled_where_the_interpreter_would_take_longer():
    """It depends on sizes and on the number of evaluations."""
    graph, data = factorised(500).graph, factorised(500).data
    y = graph.statement("y")
    assert numbers_of(y, graph.sizes) == 1000
    few = int(by_factor.COMPILING / (by_factor.A_NUMBER * 1000))
    assert compiled_where_it_pays(graph, graph.factors, data, few).in_loops == {}
    assert compiled_where_it_pays(graph, graph.factors, data, few + 1).in_loops.keys() == {"y"}


def test_a_start_by_loops_is_that_of_the_interpreter():
    """What is chosen among candidates, and from which draws, is the same."""
    sampler = gp.compile(factorised(50))
    graph, data = sampler.graph, sampler.data
    engine = Interpreted(sampler.program, sampler.constants)
    plain = Pilots(graph, data, sampler.program, sampler.constants, engine)
    programs = {f.name: Plain.of(graph, f, data) for f in graph.factors}
    by_loops = replace(plain, densities=LogDensities(graph, programs))
    one, other = (
        p.start(np.random.default_rng(3), None, lambda s: None) for p in (plain, by_loops)
    )
    assert one[1] == other[1]
    for name, values in one[0].items():
        assert np.array_equal(values, other[0][name])


def test_a_deviance_by_loops_is_that_along_draws(monkeypatch):
    """Of two arrays, one of which has missing values and stays as it was."""
    pytest.importorskip("numba")
    monkeypatch.setattr(DensityProgram, "runner", Plain.runner)
    monkeypatch.setattr(by_factor, "COMPILING", 0.0)
    with gp.Model(coords={"i": 4, "k": 2}, name="mixed") as model:
        z = gp.Categorical("z", gp.Data("weight", [0.5, 0.5], dims="k"), dims="i")
        mu = gp.Normal("mu", 0, sigma=1, dims="k")
        gp.Normal("y", mu[z], sigma=1, dims="i", observed=[0.0, 1.0, -0.5, 2.0])
        gp.Poisson("n", gp.exp(mu[z]), dims="i", observed=np.ma.masked_equal([1, 0, 9, 2], 9))
    sampler = gp.compile(model)
    numpy = sampler.sample(5, warmup=5, chains=2, seed=1, backend="numpy", progress=False)
    compiled = replace(numpy, attributes={**numpy.attributes, "backend": "compiled"})
    called = []
    monkeypatch.setattr(by_factor.LogDensities, "of", _noted(by_factor.LogDensities.of, called))
    expected = sampler.deviance(numpy)["deviance"]
    assert called == []
    found = sampler.deviance(compiled)["deviance"]
    assert called == [["y"]] * 10
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def _noted(method, called):
    def noting(self, factors, values):
        factors = list(factors)
        called.append([f.name for f in factors])
        return method(self, factors, values)

    return noting


def test_a_factor_without_loops_is_interpreted(monkeypatch):
    """Planted: loops have no kernels, which all but ``-tau`` need; programs are not made."""
    model = factorised(50)
    graph, data = model.graph, model.data
    monkeypatch.setattr(by_factor, "COMPILING", 0.0)
    found = compiled_where_it_pays(graph, graph.factors, data, 1).in_loops
    assert found.keys() == {"u", "v", "tau", "y"}
    monkeypatch.setattr(expressions, "kernels", dict)
    assert compiled_where_it_pays(graph, graph.factors, data, 1).in_loops.keys() == {"tau"}


@pytest.mark.slow
def test_compiled_loops_tell_what_plain_ones_do():
    """Number by number, but for the last digits of functions."""
    pytest.importorskip("numba")
    model = factorised(50)
    graph, data = model.graph, model.data
    values = {**data, **initial_state(np.random.default_rng(1), graph, data)[0]}
    for factor in graph.factors:
        compiled = DensityProgram.of(graph, factor, data)(values)
        plain = Plain.of(graph, factor, data)(values)
        assert compiled.lost == plain.lost == 0
        assert compiled.total == pytest.approx(plain.total, rel=1e-12)
        assert compiled.least == pytest.approx(plain.least, rel=1e-12)
        assert compiled.largest == pytest.approx(plain.largest, rel=1e-12)
