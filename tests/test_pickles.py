"""Pickles of the standard library: models, samplers and draws, as other processes get them."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.derive.changes import POWER, TRANSFORMS
from gibbsppl.families import FAMILIES
from gibbsppl.rewrites import RULES
from models import lda, pumps, rats, seeds

SETTINGS = {"warmup": 3, "chains": 2, "seed": 1, "progress": False}
# Of draws by closed forms, of labels and of augmented variables.
MODELS = (rats, lda, seeds)


def sent(value):
    """A value as another process gets it."""
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("table", [FAMILIES.values(), TRANSFORMS, RULES], ids="FTR")
def test_rows_of_tables_are_themselves_after_a_pickle(table):
    assert [sent(row) is row for row in table] == [True] * len(table)


def test_a_row_of_no_table_is_refused_by_name():
    for row in (replace(FAMILIES["Normal"], name="Odd"), replace(POWER, name="Odd")):
        with pytest.raises(pickle.PicklingError, match=r"^Odd: found a row that is in no table"):
            pickle.dumps(row)


@pytest.mark.parametrize("module", MODELS, ids=lambda m: m.__name__)
def test_models_and_samplers_give_the_same_draws_after_a_pickle(module):
    model = module.model()
    sampler = gp.compile(model)
    draws = sampler.sample(4, **SETTINGS)

    again, other = sent(sampler), gp.compile(sent(model))
    assert str(again) == str(sampler) == str(other)
    assert again.source == sampler.source == other.source
    for found in (again, other):
        drawn = found.sample(4, **SETTINGS)
        assert all(np.array_equal(drawn[n], draws[n]) for n in draws)
    assert all(np.array_equal(sent(draws)[n], draws[n]) for n in draws)


def test_a_pickled_sampler_explains_and_verifies_itself():
    sampler = gp.compile(pumps.model())

    assert sent(sampler).explain() == sampler.explain()
    assert sent(sampler).verify().passed
