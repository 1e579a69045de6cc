"""Predictive moments of large statements in loops are those of the plain interpreter."""

from dataclasses import replace

import numpy as np
import pytest

import gibbsppl as gp
import models
from gibbsppl.code import log_densities, moments_program
from gibbsppl.code.numbers_program import NumbersProgram
from gibbsppl.predict import prediction
from models import bayesian_matrix_factorisation, local_level


class Plain:
    """The loops uncompiled."""

    runner = property(lambda self: self.loops.plain())


@pytest.fixture
def in_loops(monkeypatch):
    """All moments in loops that are not compiled, how few they may be; the statements that are."""
    made, of = [], moments_program.MomentsProgram.of.__func__

    def noted(cls, graph, statement, data):
        made.append(statement.name)
        return of(cls, graph, statement, data)

    monkeypatch.setattr(moments_program.MomentsProgram, "of", classmethod(noted))
    monkeypatch.setattr(NumbersProgram, "runner", Plain.runner)
    monkeypatch.setattr(log_densities, "COMPILING", 0.0)
    monkeypatch.setattr(prediction, "is_installed", lambda: True)
    return made


def chosen():
    """Two of three levels, chosen by a label of each element, and noise by group."""
    rng = np.random.default_rng(1)
    with gp.Model(coords={"k": 2, "g": 3, "i": 12}) as m:
        z = gp.Categorical("z", gp.Dirichlet("p", 1, dims="k", event="k"), dims="i")
        level = gp.Normal("level", 0, sigma=3, dims="k")
        group = gp.Index("group", np.arange(12) % 3, of="g", dims="i")
        tau = gp.Gamma("tau", 2, rate=1, dims="g")
        gp.Normal("y", level[z], tau=tau[group], dims="i", observed=rng.normal(size=12))
    return m


def counts():
    with gp.Model(coords={"n": 6}) as m:
        x = gp.Data("x", np.linspace(-1, 1, 6), dims="n")
        b = gp.Normal("b", 0, sigma=1)
        gp.Poisson("y", gp.exp(b * x), dims="n", observed=[0, 1, 1, 2, 1, 3])
    return m


def series():
    """The first position is another statement; what is lagged is drawn."""
    return local_level.model(local_level.FLOW[:8])


CASES = {
    "ratings": (
        bayesian_matrix_factorisation.model,
        {"judge_of": [0, 1, 2], "quality_of": [0, 3, 5], "rating": 3},
    ),
    "rats": (models.rats.model, {}),
    "labels": (chosen, {}),
    "counts": (counts, {"x": [0.5, 2.0, -3.0]}),
    "series": (series, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_they_are_those_of_the_interpreter(name, in_loops):
    build, new = CASES[name]
    sampler = gp.compile(build())
    draws = sampler.sample(4, chains=2, warmup=5, seed=1, backend="numpy", progress=False)
    expected = sampler.predict(draws, new)
    assert not in_loops
    compiled = replace(draws, attributes={**draws.attributes, "backend": "compiled"})

    found = sampler.predict(compiled, new)

    assert in_loops == [expected.name]
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)
    np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-12)


def test_a_moment_for_another_is_seen(in_loops, monkeypatch):
    """The comparison above fails where the program of one moment is that of the other."""
    right = moments_program.moments_program

    def turned(*arguments):
        sweep = right(*arguments)
        return replace(sweep, outputs=sweep.outputs[::-1])

    monkeypatch.setattr(moments_program, "moments_program", turned)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        test_they_are_those_of_the_interpreter("labels", in_loops)


def test_positions_out_of_range_are_left_to_the_interpreter(in_loops):
    sampler = gp.compile(chosen())
    draws = sampler.sample(2, chains=1, warmup=5, seed=1, backend="numpy", progress=False)
    wrong = np.where(np.arange(12) == 3, 7, draws["z"])
    spoilt = replace(
        draws,
        values={**draws.values, "z": wrong},
        attributes={**draws.attributes, "backend": "compiled"},
    )
    with pytest.raises(gp.errors.GibbspplError):
        sampler.predict(spoilt, {})
