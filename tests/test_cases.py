"""Probabilities written element by element: permuted, padded, lumped, products."""

import re

import numpy as np
import pytest

import gibbsppl as gp
from gibbsppl.checks.verification import verify
from gibbsppl.code.program import load
from gibbsppl.errors import RunError

RNG = np.random.default_rng(5)


def filled(name, dim, formulas):
    found = gp.Array(name, dims=dim)
    for n, formula in enumerate(formulas):
        found[n] = formula
    return found


def permuted():
    with gp.Model(coords={"k": 3, "i": 20}) as model:
        p = gp.Dirichlet("p", 2, dims="k", event="k")
        q = filled("q", "k", [p[2], p[0], p[1]])
        gp.Categorical("y", q, dims="i", observed=RNG.integers(0, 3, 20))
    return model


def padded(observed=(0, 0, 1, 3, 3, 3)):
    with gp.Model(coords={"k": 3, "c": 4, "i": len(observed)}) as model:
        p = gp.Dirichlet("p", 2, dims="k", event="k")
        q = filled("q", "c", [p[0], p[1], 0, p[2]])
        gp.Categorical("y", q, dims="i", observed=list(observed))
    return model


def padded_counts():
    with gp.Model(coords={"k": 3, "c": 4, "i": 3}) as model:
        p = gp.Dirichlet("p", 2, dims="k", event="k")
        q = filled("q", "c", [0, p[1], p[0], p[2]])
        counts = [[0, 3, 4, 3], [0, 1, 1, 8], [0, 10, 0, 0]]
        gp.Multinomial("y", 10, q, dims=("i", "c"), event="c", observed=counts)
    return model


def regions():
    """A slice of the array is filled at once, shifted against the vector that it reads."""
    with gp.Model(coords={"k": 4, "i": 12}) as model:
        p = gp.Dirichlet("p", 1, dims="k", event="k")
        q = gp.Array("q", dims="k")
        q[0] = p[3]
        q[1:] = p.lag("k", 1)
        gp.Categorical("y", q, dims="i", observed=RNG.integers(0, 4, 12))
    return model


def genotypes():
    """Of three alleles the frequencies of six genotypes: Hardy and Weinberg."""
    with gp.Model(coords={"allele": 3, "genotype": 6}) as model:
        p = gp.Dirichlet("p", 1, dims="allele", event="allele")
        pairs = [(i, j) for i in range(3) for j in range(i, 3)]
        q = filled("q", "genotype", [p[i] * p[j] * (1 + (i < j)) for i, j in pairs])
        gp.Multinomial(
            "y", 60, q, dims="genotype", event="genotype", observed=[12, 8, 20, 2, 8, 10]
        )
    return model


def blood_groups():
    """A, B, AB and O: those of A and B lump two genotypes each."""
    with gp.Model(coords={"allele": 3, "group": 4}) as model:
        p = gp.Dirichlet("p", 1, dims="allele", event="allele")
        a, b, o = p[0], p[1], p[2]
        q = filled("q", "group", [a**2 + 2 * a * o, b**2 + 2 * b * o, 2 * a * b, o**2])
        gp.Multinomial("y", 521, q, dims="group", event="group", observed=[186, 38, 13, 284])
    return model


def one_gene():
    with gp.Model(coords={"genotype": 3, "i": 10}) as model:
        p = gp.Beta("p", 1, 1)
        q = filled("q", "genotype", [p**2, 2 * p * (1 - p), (1 - p) ** 2])
        gp.Categorical("y", q, dims="i", observed=[0, 1, 2, 1, 1, 0, 1, 1, 2, 1])
    return model


MODELS = {m.__name__: m for m in (
    permuted, padded, padded_counts, regions, genotypes, blood_groups, one_gene,
)}  # fmt: skip


EVERY_DAY = {"padded", "regions", "blood_groups"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in EVERY_DAY else pytest.mark.slow) for n in MODELS]
)
def test_all_draws_are_exact(name):
    sampler = gp.compile(MODELS[name]())
    step = sampler.schedule.step("p")
    assert step.family is not None
    assert step.family.name in {"Dirichlet", "Beta"}
    assert sampler.verify().passed


def test_counts_are_of_the_elements_that_are_read():
    model = padded()
    sampler = gp.compile(model)
    program = load(sampler.source)
    (found,) = program.given_rest["p"]({}, program.prepare(sampler.data))
    np.testing.assert_array_equal(found, [2 + 1, 1 + 1, 3 + 1])


def test_genes_are_counted_twice_where_a_genotype_has_two():
    sampler = gp.compile(genotypes())
    program = load(sampler.source)
    (found,) = program.given_rest["p"]({}, program.prepare(sampler.data))
    np.testing.assert_array_equal(found, [2 * 12 + 8 + 20, 2 * 2 + 8 + 8, 2 * 10 + 20 + 8])


@pytest.mark.slow
def test_what_is_impossible_is_refused_when_it_is_observed():
    with pytest.raises(RunError, match="found 2 at position i=1, which is impossible"):
        gp.compile(padded((0, 2, 1))).sample(5, warmup=2, chains=1, seed=1, progress=False)


def test_recursions_stay():
    """An array that reads its own earlier elements is no list of cases."""
    with gp.Model(coords={"k": 3, "i": 4}) as model:
        a = gp.Beta("a", 1, 1)
        q = gp.Array("q", dims="k")
        q[0] = a / 2
        q[1:] = q.lag("k", 1) * a
        gp.Potential("all", gp.log(q).sum("k"))
    sampler = gp.compile(model)
    assert "q[0]" not in str(sampler)
    assert sampler.verify().passed


PLANTED = {
    "an element taken for another": (padded, r"equals\(y, 3\)|y == 3", "(y == 1)"),
    "a gene counted once": (genotypes, r"2 \* ", "1 * "),
}


@pytest.mark.parametrize("name", list(PLANTED))
def test_planted_bugs_are_seen(name):
    case, pattern, wrong = PLANTED[name]
    sampler = gp.compile(case())
    source, count = re.subn(pattern, wrong, sampler.source)
    assert count >= 1, sampler.source
    found = verify(sampler.graph, load(source), sampler.schedule.steps, sampler.data)
    assert {r.step for r in found.rows if not r.passed} == {"p"}
