"""Every distribution of BUGS in a program: the model that is read has its density."""

import numpy as np
import pytest
from test_bugs_tables import EXAMPLES

import gibbsppl as gp
from gibbsppl.density import log_joint

INDICES = ("", "[]", "[,]")


def program_of(case):
    """A program with one variable of a distribution, and the parameters as data."""
    given = list(zip(case.row.parameters, case.parameters, strict=True))
    arguments = ", ".join(f"a{k}{INDICES[np.ndim(v)]}" for k, (_, v) in enumerate(given))
    size = np.shape(case.values[0])
    event = f"[{', '.join(f'1:{n}' for n in size[-case.row.event:])}]" if case.row.event else ""
    text = f"model {{ x{event} ~ {case.name}({arguments}) }}"
    return text, {f"a{k}": v for k, (_, v) in enumerate(given)}


@pytest.mark.parametrize("case", [c for c in EXAMPLES if not c.row.auxiliaries], ids=str)
def test_a_program_of_each_distribution_has_its_density(case):
    text, data = program_of(case)
    model = gp.read_bugs(text, data)
    (statement,) = model.graph.statements
    lowest = case.row.values_from
    for value in case.values:
        values = {**model.data, statement.target.array.name: np.asarray(value, float) - lowest}
        expected = float(case.log_density(value))
        found = log_joint(model.graph, values)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("case", EXAMPLES, ids=str)
def test_a_program_of_each_distribution_is_compiled_and_proved(case):
    text, data = program_of(case)
    if case.name == "dflat":
        pytest.skip("an improper prior has no posterior without data")
    sampler = gp.compile(gp.read_bugs(text, data))
    assert sampler.verify().passed


@pytest.mark.parametrize("case", [c for c in EXAMPLES if c.row.auxiliaries], ids=str)
def test_auxiliary_variables_are_latent_beside_what_they_explain(case):
    text, data = program_of(case)
    model = gp.read_bugs(text, data)
    names = {s.target.array.name for s in model.graph.latent}
    assert names == {"x", *(f"x.{key}" for key in case.row.auxiliaries)}
