"""Programs as they are written in the wild: all are read, and the second reader of texts agrees."""

import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from bugs_programs import FOLDER
from references.bugs import disagreements

import gibbsppl as gp
from gibbsppl.checks.reading import RELATIVE_TOLERANCE, gaps_of_reading
from gibbsppl.initial.search import initial_state
from gibbsppl.output.diagnostics import ess_bulk
from gibbsppl.output.summary import LOWEST_ESS_PER_CHAIN

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))

import jags

FIELDS = ("ecology", "epidemiology", "psychometrics", "cognition", "econometrics", "biostatistics")
PROGRAMS = {
    f"{field}-{name}": program
    for field in FIELDS
    for name, program in importlib.import_module(
        f"bugs_programs.simulate_{field}"
    ).PROGRAMS.items()
}
# Programs of a second or less, of different fields and idioms.
RUN = ("cognition-insight", "cognition-rate_comparison", "psychometrics-rasch",
       "cognition-instruments",
       "cognition-kappa_agreement", "econometrics-mean_shift", "econometrics-ar3_gaps",
       "biostatistics-crossover")  # fmt: skip


def read(program):
    return gp.read_bugs(
        program.text, data=jags.read(program.data_path), monitor=program.monitors
    )


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_program_is_read_as_the_second_reader_does(name):
    model = read(PROGRAMS[name])
    rng = np.random.default_rng(0)
    states = [initial_state(rng, model.graph, model.data)[0]]
    gaps = gaps_of_reading(rng, model.reading, model.graph, model.data, states)

    assert {w for w, (gap, size) in gaps.items() if not gap <= RELATIVE_TOLERANCE * size} == set()


def test_programs_are_complete():
    assert len(PROGRAMS) >= 80
    for field in FIELDS:
        names = {n.removeprefix(f"{field}-") for n in PROGRAMS if n.startswith(f"{field}-")}
        assert {p.stem for p in (FOLDER / field).glob("*.bug")} == names
        assert set(json.loads((FOLDER / field / "references.json").read_text())) == names


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_monitored_is_in_the_text_and_has_references(name):
    program = PROGRAMS[name]
    arrays = {scalar.partition("[")[0] for scalar in program.references}

    assert arrays <= set(program.monitors)
    for array in program.monitors:
        assert re.search(rf"(?<![\w.]){re.escape(array)}(?![\w.])[^#\n]*(~|<-|=)", program.text)


def monitored(name, sampler, **settings):
    """The draws of what is monitored of a program, one array of chains for each number."""
    draws = sampler.sample(progress=False, **settings)
    return jags.scalars({n: np.asarray(draws[n], float) for n in PROGRAMS[name].monitors})


@pytest.mark.parametrize("name", RUN)
def test_draws_agree_with_the_reference(name):
    drawn = monitored(name, gp.compile(read(PROGRAMS[name])), seed=1)

    assert disagreements(drawn, PROGRAMS[name].references) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - set(RUN)))
def test_draws_of_other_programs_agree_with_their_references(name):
    """By a longer run where the default has few effective draws, or where they disagree.

    (An error of an sd, estimated from some hundred effective draws, is an estimate itself.)
    """
    sampler, references = gp.compile(read(PROGRAMS[name])), PROGRAMS[name].references
    drawn = monitored(name, sampler, seed=1)
    few = any(ess_bulk(x) < LOWEST_ESS_PER_CHAIN * len(x) for x in drawn.values() if np.ptp(x) > 0)
    if few or disagreements(drawn, references):
        drawn = monitored(name, sampler, seed=2, draws=4000, warmup=4000)

    assert disagreements(drawn, references) == {}
