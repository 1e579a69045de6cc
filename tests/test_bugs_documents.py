"""Compound documents: a program with its data and initial values after it, in one text."""

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.bugs.syntax import BugsError

PROGRAM = """
model {
  for (i in 1:N) { y[i] ~ dnorm(mu, tau) }
  for (j in 1:2) { z[j, 2] ~ dnorm(x[j] + z[j, 1], tau) }
  mu ~ dnorm(0, 0.001)
  tau ~ dgamma(0.1, 0.1)
}
"""
AFTER = """
Data       (click on one of the arrows to open data)
list(N = 3, y = c(1, 2, 4))   # list(N = 4)
x[] z[,1] z[,2]
1   2     3
4   5     NA
END

Inits for chain 1
list(mu = 0, tau = 1)
Inits for chain 2       list(mu = 3, tau = 2)
list(mu = -3)

Results
   node  mean   sd
   beta[1]  0.2  0.1
"""


def test_data_and_initial_values_are_read_from_the_text_of_the_program():
    model = gp.read_bugs(PROGRAM + AFTER)
    other = gp.read_bugs(
        PROGRAM, {"N": 3, "y": [1, 2, 4], "x": [1, 4], "z": [[2.0, 3.0], [5.0, None]]}
    )
    assert str(model.graph) == str(other.graph)
    assert {n: v.tolist() for n, v in model.data.items()} == {
        n: v.tolist() for n, v in other.data.items()
    }
    found = [gp.read_inits(PROGRAM + AFTER, model, chain=k) for k in (1, 2, 3)]
    assert [{n: float(v) for n, v in f.items()} for f in found] == [
        {"mu": 0, "tau": 1},
        {"mu": 3, "tau": 2},
        {"mu": -3},
    ]
    assert gp.compile(model).verify().proved
    draws = gp.compile(model).sample(3, chains=3, seed=1, init=found, progress=False)
    assert np.isfinite(draws["mu"]).all()


def test_a_file_is_a_document_as_well(tmp_path):
    path = tmp_path / "two.txt"
    path.write_text(PROGRAM + AFTER)
    model = gp.read_bugs(path)
    assert model.data["y"].tolist() == [1, 2, 4]
    assert float(gp.read_inits(path, model, chain=2)["mu"]) == 3


def test_data_that_are_given_come_before_those_of_the_text():
    model = gp.read_bugs(PROGRAM + AFTER, {"N": 2, "y": [5, 6]})
    assert model.data["y"].tolist() == [5, 6]
    assert model.data["x"].tolist() == [1, 4]


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ("list(N = 3, y = c(1, 2)\n", r"line 8"),
        ("list(N = 3)\nlist(N = 4)", r"line 9.*each name once"),
        ("x[] y[]\n1 2\n", r"END"),
    ],
)
def test_what_is_wrong_after_a_program_is_told(after, told):
    with pytest.raises(BugsError, match=told):
        gp.read_bugs(PROGRAM + after)


@pytest.mark.parametrize("chain", [0, 4, 1.5])
def test_chains_that_the_text_has_not_are_told(chain):
    model = gp.read_bugs(PROGRAM + AFTER)
    with pytest.raises(gp.ModelError, match="chain"):
        gp.read_inits(PROGRAM + AFTER, model, chain=chain)
