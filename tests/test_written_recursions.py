"""Arrays computed from their own elements as lines of BUGS: the same model, which JAGS takes."""

import re
import shutil

import numpy as np
import pytest
from test_bugs_write import compiled_by_jags, gaps
from test_recursions import MODELS, PROGRAMS, Y, made

import gibbsppl as gp


def read(lines, **others):
    text = f"model {{ {lines} }}"
    data = {"y": Y, "start": np.array([2.0, 1.0]), **others}
    return gp.read_bugs(text, {n: v for n, v in data.items() if n in text})


SYSTEMS_IN_TURN = """
    a[1] <- u  for (t in 2:5) { a[t] <- a[t-1] * u }
    b[1] <- w  for (t in 2:5) { b[t] <- b[t-1] * w + pow(a[t-1], 2) }
    for (t in 1:5) { y[t] ~ dnorm(b[t], 1) }
    u ~ dunif(0, 1)  w ~ dunif(0, 1)
"""
WRITTEN = {
    **{name: lambda name=name: made(name) for name in MODELS},
    **{f"BUGS: {name}": lambda lines=lines: read(lines) for name, lines in PROGRAMS.items()},
    "BUGS: one system reads another": lambda: read(SYSTEMS_IN_TURN),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_recursions_are_read_back_as_the_same_model(name):
    model = WRITTEN[name]()
    program = gp.write_bugs(model)
    again = gp.read_bugs(program.text, program.data_text)

    for here, there in gaps(model, again, 2):
        np.testing.assert_allclose(there, here, rtol=1e-9)


@pytest.mark.skipif(shutil.which("jags") is None, reason="JAGS is not installed (Debian: jags)")
@pytest.mark.parametrize("name", WRITTEN)
def test_jags_compiles_recursions(name, tmp_path):
    compiled_by_jags(gp.write_bugs(WRITTEN[name]()), tmp_path)


def test_recursions_are_written_as_lines_in_loops():
    assert str(gp.write_bugs(made("shares"))) == (
        "model {\n"
        "  psi[1] <- first\n"
        "  for (t in 2:5) {\n"
        "    psi[t] <- (1 - psi[t - 1]) * come + psi[t - 1] * stay\n"
        "  }\n"
        "  first ~ dbeta(1, 1)\n"
        "  stay ~ dbeta(1, 1)\n"
        "  come ~ dbeta(1, 1)\n"
        "  for (t in 1:5) {\n"
        "    y[t] ~ dbin(psi[t], 6)\n"
        "  }\n"
        "}"
    )


def test_arrays_of_which_elements_are_not_given_are_written_where_they_are():
    program = gp.write_bugs(read(PROGRAMS["errors that are read"]))

    assert "m[t] <- " in program.text
    assert "nan" not in program.text.lower()


def test_what_is_recorded_in_part_is_written_there():
    lines = "x ~ dnorm(0, 1)  for (t in 2:4) { z[t] <- x * t  y[t] ~ dnorm(z[t], 1) }"
    text = f"model {{ {lines} }}"
    model = gp.read_bugs(text, {"y": [None, 1.0, 2.0, 3.0]}, monitor=["z"])

    assert re.search(r"for \(t in 2:4\) {[^}]* z\[t\] <- x", gp.write_bugs(model).text)


def test_what_is_recorded_at_positions_that_are_no_box_is_named():
    lines = "x ~ dnorm(0, 1)  z[1] <- x  z[3] <- 2 * x  y ~ dnorm(z[1] + z[3], 1)"
    model = gp.read_bugs(f"model {{ {lines} }}", {"y": 1.0}, monitor=["z"])

    with pytest.raises(gp.ModelError, match="z: recorded at some positions that are no box"):
        gp.write_bugs(model)


def test_known_elements_of_data_are_not_computed_as_well():
    program = gp.write_bugs(read(PROGRAMS["a matrix of rates"]))

    assert "<- 0" not in program.text
    assert np.ma.getmaskarray(program.data["A"]).tolist() == [[False, True], [True, True]]
