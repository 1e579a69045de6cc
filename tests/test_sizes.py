"""Sizes by name: source that was written for some data fits other data of the same model."""

import io
import tokenize

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.code.program import load
from gibbsppl.errors import RunError
from gibbsppl.runtime import sizes
from models import (
    bayesian_lasso,
    bayesian_matrix_factorisation,
    dyes,
    factor_analysis,
    gaussian_mixture,
    hidden_markov,
    lda,
    linear_regression,
    local_level,
    poisson_factorisation,
    rats,
    robust_regression,
    seeds,
)


def _plates(n):
    names = ("germinated", "seeds", "aegyptiaca_73", "cucumber")
    return seeds.model(*(seeds.SEEDS[name][:n] for name in names))


def _topics(n):
    corpus = lda.bars(np.random.default_rng(1), documents=n, length=20)
    return lda.model(corpus, topics=6)


def _judges(n):
    judge, quality, rating = bayesian_matrix_factorisation.OBSERVED
    names = bayesian_matrix_factorisation.NAMES
    kept = judge < n
    found = judge[kept], quality[kept], rating[kept]
    return bayesian_matrix_factorisation.model(found, (names[0][:n], names[1]))


def _counts(n):
    counts = np.random.default_rng(2).poisson(1.0, (n, 7))
    return poisson_factorisation.model(counts)


# Models of some number of rows, years, documents.
MODELS = {
    "rats": lambda n: rats.model(weights=rats.RATS["weights"][:n]),
    "dyes": lambda n: dyes.model(dyes.YIELDS[: n // 4]),
    "seeds": _plates,
    "local level": lambda n: local_level.model(local_level.FLOW[:n]),
    "hidden Markov chain": lambda n: hidden_markov.model(hidden_markov.EARTHQUAKES["counts"][:n]),
    "mixture": lambda n: gaussian_mixture.model(gaussian_mixture.VELOCITIES[:n]),
    "regression": lambda n: linear_regression.model(
        linear_regression.X[:n], linear_regression.Y[:n]
    ),
    "robust": lambda n: robust_regression.model(
        robust_regression.X[:n], robust_regression.LOSS[:n]
    ),
    "lasso": lambda n: bayesian_lasso.model(bayesian_lasso.X[:n], bayesian_lasso.Y[:n]),
    "factors": lambda n: factor_analysis.model(factor_analysis.STANDARDISED[:n]),
    "topics": _topics,
    "ratings": _judges,
    "counts": _counts,
}
# (the matrices of 16 elements are dense, whatever they are)
FEW, MANY = 18, 22
# What is compiled twice every day; the others are as good, and take as long.
EVERYDAY = ("rats", "local level", "mixture", "topics")


def marked(name):
    return name if name in EVERYDAY else pytest.param(name, marks=pytest.mark.slow)


@pytest.fixture(scope="module", params=map(marked, MODELS))
def samplers(request):
    make = MODELS[request.param]
    return gp.compile(make(FEW)), gp.compile(make(MANY))


def _defined(source):
    """The names that a source defines."""
    found = {}
    exec(source, found)  # noqa: S102  (of our own back end)
    return found


def _code(source):
    """The source without texts, comments and the table of sizes that others can replace."""
    lines = [line for line in source.splitlines() if not line.startswith("SIZES = ")]
    tokens = tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline)
    kept = [t.string for t in tokens if t.type != tokenize.COMMENT and t.string[:3] != '"""']
    return [text for text in kept if text.strip()]


def test_the_source_is_the_same_for_other_data_of_the_model(samplers):
    few, many = (_code(s.source) for s in samplers)
    assert few == many


def test_the_loops_are_the_same_for_other_data_of_the_model(samplers):
    few, many = (s.loops().module.text for s in samplers)
    assert few == many


def test_a_source_fits_other_data(samplers):
    few, many = samplers
    program, known = load(few.source), many.data
    whole = {d.name: n for d, n in many.schedule.whole.sizes.items()}
    rest = {name: whole[name] for name in _defined(few.source).get("SIZES", {})}
    constants = program.prepare(known, rest) if "SIZES" in few.source else program.prepare(known)
    draws = many.sample(2, chains=1, warmup=0, seed=1, backend="numpy", progress=False)
    state = {name: draws[name][0, -1] for name in many.graph.drawn}
    found, expected = ({n: np.array(v) for n, v in state.items()} for _ in range(2))
    program.sweep(np.random.default_rng(1), found, constants)
    many.program.sweep(np.random.default_rng(1), expected, many.constants)
    for name in state:
        np.testing.assert_array_equal(found[name], expected[name])


def test_sizes_that_are_not_given_are_those_of_the_source():
    corpus = lda.bars(np.random.default_rng(1), documents=4, length=10)
    sampler = gp.compile(lda.model(corpus, topics=3))
    constants = load(sampler.source).prepare(sampler.data, {"doc": 9})
    sizes = {d.name: n for d, n in sampler.graph.sizes.items()}
    assert (constants["n_doc"], constants["n_vocab"]) == (9, sizes["vocab"])


def test_a_size_of_another_name_is_told():
    with pytest.raises(RunError, match="sizes: found docs, expected doc"):
        sizes({}, {}, {"doc": 3}, given={"docs": 4})


def test_arrays_that_disagree_are_told():
    program = load(gp.compile(rats.model()).source)
    weights, days = np.zeros((7, 5)), np.zeros(4)
    with pytest.raises(RunError, match=r"weight: found 5 along day, expected 4 as in age"):
        program.prepare({"weight": weights, "age": days})


def test_sizes_that_a_source_holds_for_alone_are_told():
    arrays = {"alpha": ("topic",)}
    told = "found 3 along topic, expected 2 as in the source; compile the model with these data"
    with pytest.raises(RunError, match=told):
        sizes({"alpha": np.ones(3)}, arrays, {}, {"topic": 2})


def test_an_array_of_other_axes_is_told():
    with pytest.raises(RunError, match=r"y: expected 1 axes \(n\), found the shape \(2, 3\)"):
        sizes({"y": np.ones((2, 3))}, {"y": ("n",)}, {})
