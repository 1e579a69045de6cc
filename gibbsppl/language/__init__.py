"""The Python notation: models with named dimensions.

Every distribution of `gibbsppl.families` is a function of this module, under its own name. What is
declared passes through these rooms:

- the user's values: `values`, `data`, `coordinates` of positions, `missing` entries, `sparse`
  arrays; those of latent variables, `given` for a start
- expressions: `tensors` (named dims, indexing), `functions`, `ufuncs` (uses by NumPy)
- statements: `distributions` (parameters and spellings), `signatures`, `events` (dims of a value),
  `statements`, `censoring`, `potentials`, `neighbours`
- arrays filled region by region: `arrays`, `regions`; `computed` from their own earlier elements
- `model` collects all this, as what is `declared`, the only mutable object, and makes the graph;
  `dim_names`; what is `waiting` for the size of a dimension
- `formulas`: regressions by a formula, declared by all of these
- `other_data`: the same model with other values, and with dims of `other_sizes`
- what is checked: `completeness`, `cycles`, `checks` against data, with `evaluate` and `certain`

>>> import gibbsppl.language as gp
>>> with gp.Model(coords={"rat": 3}) as model:
...     mu = gp.Normal("mu", 0, sigma=10)
...     y = gp.Normal("y", mu, sigma=1, dims="rat", observed=[1.0, 2.0, 3.0])
>>> print(model.graph)
mu ~ Normal(mu=0, tau=0.01)
y[rat] ~ Normal(mu=mu, tau=1), observed
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gibbsppl.families import FAMILIES
from gibbsppl.language.arrays import Array
from gibbsppl.language.censoring import Censored
from gibbsppl.language.data import Data, Index
from gibbsppl.language.formulas import formula
from gibbsppl.language.functions import (
    Phi,
    abs,  # noqa: A004  (the language's name)
    centred,
    cumprod,
    cumsum,
    equals,
    exp,
    expit,
    log,
    loggamma,
    logit,
    max,  # noqa: A004  (the language's name)
    maximum,
    min,  # noqa: A004  (the language's name)
    minimum,
    prod,
    sqrt,
    step,
    stick_breaking,
    sum,  # noqa: A004  (the language's name)
    where,
)
from gibbsppl.language.model import Model
from gibbsppl.language.neighbours import Neighbours
from gibbsppl.language.other_data import with_other_data as _with_other_data  # noqa: F401  (is set)
from gibbsppl.language.potentials import Constraint, Deterministic, Potential
from gibbsppl.language.statements import constructor
from gibbsppl.language.tensors import Tensor

__all__ = [
    "Array",
    "Censored",
    "Constraint",
    "Data",
    "Deterministic",
    "Index",
    "Model",
    "Neighbours",
    "Phi",
    "Potential",
    "Tensor",
    "abs",
    "centred",
    "cumprod",
    "cumsum",
    "equals",
    "exp",
    "expit",
    "formula",
    "log",
    "loggamma",
    "logit",
    "max",
    "maximum",
    "min",
    "minimum",
    "prod",
    "sqrt",
    "step",
    "stick_breaking",
    "sum",
    "where",
]


def __getattr__(name: str) -> Callable[..., Any]:
    """The constructor of the family of that name."""
    if name in FAMILIES:  # (made at first use, with its signature and its docstring)
        found: Callable[..., Any] = globals().setdefault(name, constructor(FAMILIES[name]))
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *FAMILIES})
