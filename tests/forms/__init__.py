"""A zoo of small models, each with the step that every one of its variables must get.

A model is a function without arguments that returns a `gp.Model` with data of its own. What the
derivation must find is said in words, one per step:

- a family's name: a draw of all elements in one call;
- ``block`` before it: elements that depend on one another, drawn jointly;
- ``each`` before it: elements that depend on one another, drawn one after the other;
- ``labels``: a draw from log weights;
- ``concave``: an exact draw from a log density that is certified to be concave;
- ``slice``: the fallback.

The forms of the modules ``catalogue_*`` are the lines of the catalogue of conjugate forms, in every
spelling; beside them stand the parameters of their conditionals, which `test_catalogue` compares.
"""

from functools import cache

import gibbsppl as gp
from forms import (
    catalogue_counts,
    catalogue_entering,
    catalogue_extremes,
    catalogue_hierarchies,
    catalogue_locations,
    catalogue_probabilities,
    catalogue_rates,
    catalogue_scales,
    chains,
    discrete,
    gathers,
    linear,
    multivariate,
    scales,
    single,
    unknowns,
)
from forms.form import Form

FORMS: tuple[Form, ...] = (
    *single.FORMS,
    *scales.FORMS,
    *gathers.FORMS,
    *linear.FORMS,
    *chains.FORMS,
    *discrete.FORMS,
    *multivariate.FORMS,
    *unknowns.FORMS,
    *catalogue_locations.FORMS,
    *catalogue_rates.FORMS,
    *catalogue_scales.FORMS,
    *catalogue_probabilities.FORMS,
    *catalogue_counts.FORMS,
    *catalogue_entering.FORMS,
    *catalogue_hierarchies.FORMS,
    *catalogue_extremes.FORMS,
)

__all__ = ["FORMS", "Form", "compiled", "form_named"]


def form_named(name: str) -> Form:
    """The form whose function has that name."""
    return next(f for f in FORMS if f.name == name)


@cache
def compiled(name: str) -> gp.Sampler:
    """The sampler of a form, compiled once by each process for all tests that only look at it."""
    return form_named(name).compiled()
