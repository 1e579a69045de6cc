"""The examples of the atlas: priors, ways to enter a child, and the tables that they make.

Comes in: nothing. Goes out: `TABLES`, lists of examples. No answers are written down here: the
models are made of small numbers inside the supports, and `atlas` has them planned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import gibbsppl.language as gp
from gibbsppl.algebra.supports import NATURAL, REAL, UNIT
from gibbsppl.families import FAMILIES, Family
from gibbsppl.language.distributions import spellings

Form = Callable[[Any], Any]

X, Y = "x", "y"
COORDS = {"i": 3, "k": 2, "m": 3}


@dataclass(frozen=True, slots=True)
class Prior:
    """A row of the tables: ``declare(**options)`` says how ``x`` is distributed."""

    name: str
    declare: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the tables: the children of ``x``, and its dims."""

    name: str
    build: Form
    dims: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """How ``x`` is declared, beside its distribution."""
        return {"dims": self.dims} if self.dims else {}


@dataclass(frozen=True, slots=True)
class AtlasTable:
    """Priors by ways to enter a child, under a title."""

    title: str
    priors: tuple[Prior, ...]
    columns: tuple[Column, ...]


REALS, COUNTS, SHARES = (0.3, 0.7, 1.2), (1, 0, 1), (0.2, 0.5, 0.6)
PARAMETERS: Mapping[str, Mapping[str, float]] = {
    "Uniform": {"lower": 0, "upper": 2},
    "DiscreteUniform": {"lower": 0, "upper": 3},
    "Pareto": {"shape": 2, "minimum": 0.1},
    "Binomial": {"n": 4, "p": 0.4},
    "Hypergeometric": {"N": 9, "D": 4, "n": 3},
}


def _numbers(row: Family, names: Iterable[str]) -> dict[str, float]:
    """Values of the parameters of a row, no two positive ones alike."""
    known, own = row.written, PARAMETERS.get(row.name, {})
    plain = {REAL: 0.5, UNIT: 0.4, NATURAL: 5}
    return {n: own.get(n, plain.get(known[n].support, 2 + j)) for j, n in enumerate(names)}


def _observed(row: Family) -> tuple[float, ...]:
    """Three values that the row can take."""
    support = row.support((), **_numbers(row, row.parameters))
    if support.kind == "integer":
        return COUNTS
    return SHARES if support == UNIT else REALS


def _priors(names: str) -> tuple[Prior, ...]:
    return tuple(map(_prior, names.split()))


def _prior(name: str) -> Prior:
    """A row of the table of distributions, its parameters numbers."""
    numbers = _numbers(FAMILIES[name], FAMILIES[name].parameters)
    return _with(name, name, **numbers)


def _with(title: str, name: str, **parameters: float) -> Prior:
    return Prior(title, lambda **o: getattr(gp, name)(X, **parameters, **o))


ON_REALS = (
    *_priors("Normal Flat Laplace Logistic Gumbel StudentT VonMises"),
    _with("Uniform on (-5, 5)", "Uniform", lower=-5, upper=5),
    *_priors("HalfNormal Exponential Gamma"),
)
ON_POSITIVES = (
    *_priors("Gamma InverseGamma Exponential HalfFlat LogNormal HalfNormal"),
    _with("Uniform on (0, 9)", "Uniform", lower=0, upper=9),
    *_priors("Weibull Pareto HalfCauchy InverseGaussian"),
)
MORE_POSITIVES = _priors(
    "ChiSquared GeneralizedInverseGaussian ModifiedHalfNormal BetaPrime Rayleigh Maxwell Chi "
    "Nakagami GeneralizedGamma Gompertz Frechet"
)
ON_UNIT = (
    _prior("Beta"),
    _with("Uniform on (0, 1)", "Uniform", lower=0, upper=1),
    _with("Beta below 0.9", "Beta", a=2, b=3, upper=0.9),
)
LABELS = (
    *_priors("Bernoulli Binomial DiscreteUniform Hypergeometric"),
    Prior("Categorical", lambda **o: gp.Categorical(X, _data("w", (0.2, 0.3, 0.5), "m"), **o)),
    *_priors("Poisson Geometric NegativeBinomial"),
)
VECTORS = (
    Prior("Normal, a vector", lambda **o: gp.Normal(X, 0, tau=2, **o)),
    Prior("MvNormal", lambda **o: gp.MvNormal(X, _data("m0", (1, 2), "k"), tau=_matrix("T"), **o)),
    Prior(
        "Normal, of unknown scale",
        lambda **o: gp.Normal(X, 0, tau=gp.Gamma("t", 2, rate=3), **o),
    ),
)
MORE_VECTORS = (
    Prior("Laplace, a vector", lambda **o: gp.Laplace(X, 0, rate=2, **o)),
    Prior("StudentT, a vector", lambda **o: gp.StudentT(X, 4, 0, tau=2, **o)),
)
SIMPLEXES = (
    Prior("Dirichlet", lambda **o: gp.Dirichlet(X, 2, event="k", **o)),
    Prior("Dirichlet, sparse", lambda **o: gp.Dirichlet(X, _data("a", (0.5, 0.1), "k"), **o)),
)
MATRICES = (
    Prior("Wishart", lambda **o: gp.Wishart(X, 4, V=_matrix("V"), **o)),
    Prior("InverseWishart", lambda **o: gp.InverseWishart(X, 4, S=_matrix("S"), **o)),
)


def _data(name: str, values: Any, *dims: str) -> Any:
    return gp.Data(name, np.array(values, dtype=float), dims=dims)


def _matrix(name: str) -> Any:
    return _data(name, [[2, 0.5], [0.5, 1]], "k", "k'")


def _places(names: str) -> tuple[Column, ...]:
    """Columns for parameters: ``Normal.tau``."""
    pairs = (name.split(".") for name in names.split())
    return tuple(_place(name, parameter) for name, parameter in pairs)


def _place(name: str, parameter: str, words: str = "", form: Form = lambda x: x) -> Column:
    """Three observations of a distribution, a function of ``x`` one of its parameters."""
    row = FAMILIES[name]
    numbers = _numbers(row, next(s for s in spellings(row) if parameter in s))

    def build(x: Any) -> None:
        parameters = {**numbers, parameter: form(x)}
        getattr(gp, name)(Y, **parameters, dims="i", observed=_observed(row))

    return Column(f"{name} {parameter}{words}", build)


def _forms(name: str, parameter: str, forms: Mapping[str, Form]) -> tuple[Column, ...]:
    return tuple(_place(name, parameter, f", {words}", form) for words, form in forms.items())


def _child(words: str, build: Form, *dims: str) -> Column:
    return Column(words, build, dims)


def _known_index() -> Any:
    return gp.Index("group", [0, 0, 1], of="k", dims="i")


def _latent_index() -> Any:
    return gp.Categorical("z", _data("w", (0.4, 0.6), "k"), dims="i")


def _gate() -> Any:
    return gp.Bernoulli("s", 0.4, dims="i")


def _gated(x: Any) -> Any:
    """``x`` where the gate is open, else a number."""
    s = _gate()
    return s * x + (1 - s) * 0.25


def _known() -> Any:
    """A positive covariate."""
    return _data("u", (1, 2, 4), "i")


def _design() -> Any:
    return _data("A", [[1, 2], [1, -1], [0, 3]], "i", "k")


def _normal(mean: Any, tau: Any = 2) -> Any:
    return gp.Normal(Y, mean, tau=tau, dims="i", observed=REALS)


def _counts(rate: Any) -> Any:
    return gp.Poisson(Y, rate, dims="i", observed=COUNTS)


def _coin(p: Any) -> Any:
    return gp.Bernoulli(Y, p, dims="i", observed=COUNTS)


def _label(p: Any, **options: Any) -> Any:
    return gp.Categorical(Y, p, dims="i", observed=(0, 1, 1), **options)


def _points(mean: Any, **scale: Any) -> Any:
    points = [[0.3, 1.0], [0.7, -0.4], [1.2, 0.1]]
    return gp.MvNormal(Y, mean, **scale, dims=("i", "k"), observed=points)


def _twice(x: Any) -> Any:
    return gp.Gamma(Y, x, rate=x, dims="i", observed=REALS)


def _row_index() -> Any:
    return gp.Index("row", [0, 2, 1], of="m", dims="i")


def _mixture(weights: Any) -> Any:
    return _normal(_data("c", (-1, 1), "k")[gp.Categorical("z", weights, dims="i")])


def _table_of_counts(p: Any) -> Any:
    return gp.Multinomial(Y, 5, p, dims="k", event="k", observed=(2, 3))


def _shares_of_counts(x: Any) -> Any:
    return gp.Poisson(Y, 5 * x, dims="k", observed=(2, 3))


def _about(**scale: Any) -> Any:
    """Points about a known centre."""
    return _points(_data("mu", (0, 1), "k"), **scale)


def _spread(row: str, **matrix: Any) -> Any:
    """An observed matrix."""
    observed = [[2.0, 0.3], [0.3, 1.0]]
    return getattr(gp, row)(Y, nu=4, **matrix, observed=observed, dims=("k", "k'"))


TABLES = (
    AtlasTable(
        "Places on the real line",
        ON_REALS,
        _places(
            "Normal.mu LogNormal.mu Laplace.mu StudentT.mu Logistic.mu Gumbel.mu VonMises.mu "
            "Uniform.lower Bernoulli.logit_p Binomial.logit_p"
        ),
    ),
    AtlasTable(
        "Functions of a real variable",
        ON_REALS,
        (
            *_forms("Normal", "mu", {
                "scaled": lambda x: 3 * x,
                "in a sum": lambda x: 1 + x * _known(),
                "squared": lambda x: x**2,
                "exp": gp.exp,
            }),
            _child("Normal mu, gated", lambda x: _normal(_gate() * x)),
            *_forms("Normal", "tau", {"exp": gp.exp}),
            *_forms("Poisson", "rate", {
                "exp": gp.exp,
                "exp in a sum": lambda x: gp.exp(1 + 2 * x),
            }),
            *_forms("Bernoulli", "p", {"expit": gp.expit, "Phi": gp.Phi}),
        ),
    ),
    AtlasTable(
        "Precisions, variances and rates",
        ON_POSITIVES + MORE_POSITIVES,
        _places(
            "Normal.tau Normal.sigma Normal.var LogNormal.tau Laplace.scale Poisson.rate "
            "Exponential.rate Gamma.rate Gamma.scale InverseGamma.scale Weibull.rate"
        ),
    ),
    AtlasTable(
        "Shapes, bounds and other positive parameters",
        ON_POSITIVES,
        _places(
            "Gamma.shape Weibull.scale Weibull.shape Pareto.shape Pareto.minimum Uniform.upper "
            "InverseGaussian.mu InverseGaussian.lam VonMises.kappa NegativeBinomial.mu "
            "Kumaraswamy.b"
        ),
    ),
    AtlasTable(
        "Functions of a positive variable",
        ON_POSITIVES,
        (
            *_forms("Poisson", "rate", {
                "scaled": lambda x: _known() * x,
                "in a sum": lambda x: _known() + x,
                "squared": lambda x: x**2,
                "square root": gp.sqrt,
                "reciprocal": lambda x: 1 / x,
            }),
            _child("Poisson rate, gathered", lambda x: _counts(x[_known_index()]), "k"),
            _child("Poisson rate, by label", lambda x: _counts(x[_latent_index()]), "k"),
            _child("Poisson rate, gated", lambda x: _counts(_gated(x))),
            _child("Normal mu and var", lambda x: _normal(x, 1 / x)),
            _child("Gamma shape and rate", _twice),
        ),
    ),
    AtlasTable(
        "Probabilities",
        ON_UNIT,
        (
            *_places("Bernoulli.p Binomial.p Geometric.p NegativeBinomial.p Beta.mu Normal.mu"),
            *_forms("Bernoulli", "p", {
                "complement": lambda x: 1 - x,
                "half": lambda x: x / 2,
                "squared": lambda x: x**2,
                "square root": gp.sqrt,
            }),
        ),
    ),
    AtlasTable(
        "Probabilities, gathered",
        ON_UNIT,
        (
            _child("Bernoulli p, gathered", lambda x: _coin(x[_known_index()]), "k"),
            _child("Bernoulli p, by label", lambda x: _coin(x[_latent_index()]), "k"),
            _child("Bernoulli p, gated", lambda x: _coin(_gated(x))),
            _child("Bernoulli p, of a gate", lambda x: _normal(2 * gp.Bernoulli("s", x, dims="i"))),
            _child("stick breaking", lambda x: _label(gp.stick_breaking(x, "k", into="m")), "k"),
        ),
    ),
    AtlasTable(
        "Labels and counts",
        LABELS,
        (
            *_places("Normal.mu"),
            *_forms("Normal", "tau", {"in a sum": lambda x: 1 + x}),
            *_forms("Poisson", "rate", {"in a sum": lambda x: 1 + x}),
            *_forms("Bernoulli", "p", {"logit": lambda x: gp.expit(x - 1)}),
            *_places("Binomial.n"),
            _child("one for each", lambda x: _normal(2.0 * x), "i"),
            _child("in a sum of all", lambda x: gp.Normal(Y, x.sum("i"), tau=2, observed=1.5), "i"),
        ),
    ),
    AtlasTable(
        "Vectors",
        VECTORS,
        (
            _child("MvNormal mu", lambda x: _points(x, tau=_matrix("P")), "k"),
            _child("MvNormal mu, scaled", lambda x: _points(3 * x, cov=_matrix("P")), "k"),
        ),
    ),
    AtlasTable(
        "Means by group and coefficients",
        VECTORS + MORE_VECTORS,
        (
            _child("Normal mu, gathered", lambda x: _normal(x[_known_index()]), "k"),
            _child("Normal mu, by label", lambda x: _normal(x[_latent_index()]), "k"),
            _child("linear regression", lambda x: _normal(_design() @ x), "k"),
            _child("Poisson regression", lambda x: _counts(gp.exp(_design() @ x)), "k"),
            _child("logistic regression", lambda x: _coin(gp.expit(_design() @ x)), "k"),
            _child("probit regression", lambda x: _coin(gp.Phi(_design() @ x)), "k"),
        ),
    ),
    AtlasTable(
        "Points of the simplex",
        SIMPLEXES,
        (
            _child("Categorical p", _label, "k"),
            _child("Categorical p, of a mixture", _mixture, "k"),
            _child("Categorical p, rows by index", lambda x: _label(x[_row_index()]), "m", "k"),
            _child("Multinomial p", _table_of_counts, "k"),
            _child("Poisson rate, shares", _shares_of_counts, "k"),
        ),
    ),
    AtlasTable(
        "Matrices",
        MATRICES,
        (
            _child("MvNormal tau", lambda x: _about(tau=x), "k", "k'"),
            _child("MvNormal tau, scaled", lambda x: _about(tau=3 * x), "k", "k'"),
            _child("MvNormal cov", lambda x: _about(cov=x), "k", "k'"),
            _child("Wishart V", lambda x: _spread("Wishart", V=x), "k", "k'"),
            _child("Wishart R", lambda x: _spread("Wishart", R=x), "k", "k'"),
            _child("InverseWishart S", lambda x: _spread("InverseWishart", S=x), "k", "k'"),
        ),
    ),
)
