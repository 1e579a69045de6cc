"""A sweep in plain loops is the sweep in NumPy, for the examples of the BUGS volumes."""

import pytest
from replays import beside

import gibbsppl as gp
from gibbsppl.errors import NotLoweredError
from gibbsppl.runtime import freeze
from models.bugs import CASES, MORE

ALL = {**CASES, **MORE}

# More than a second each, most of it to compile them.
LONG = ("dyes_1", "magnesium", "epil", "kidney", "schools", "hepatitis_1", "hepatitis_2", "jama",
        "inhalers", "lips", "ice", "otrees", "bones",
        "lsat", "fire", "pines", "stagnant", "eyetracking", "hips_4")  # fmt: skip


def marked(name):
    return pytest.param(name, marks=pytest.mark.slow) if name in LONG else name


@pytest.mark.parametrize("name", [marked(n) for n in ALL])
def test_a_sweep_in_loops_is_the_sweep_in_numpy(name):
    case = ALL[name]
    sampler = gp.compile(gp.read_bugs(case.model.read_text(encoding="utf-8"), case.data))
    try:
        program = sampler.loops()
    except NotLoweredError as error:
        pytest.skip(str(error))
    ((chain,), _) = sampler.initial_states(1, 7)

    for is_frozen in (False, True):
        if is_frozen:
            freeze(chain.state)
        assert beside(sampler, chain.state, chain.rng, program).far == []
