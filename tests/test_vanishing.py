"""Terms of log densities that read labels: as many as there are cases, and the same in sum."""

import numpy as np
import pytest
import sympy as sp

from gibbsppl.pieces.vanishing import MOST_COMPLEMENTS, terms_of

CHOSEN = sp.symbols("z:10")
LOGS = sp.symbols("l:11", real=True)


def choices(count):
    """What the first of the indicators that is 1 chooses; the last where none is."""
    found = LOGS[count]
    for z, log in zip(CHOSEN[:count], LOGS, strict=False):
        found = z * log + (1 - z) * found
    return found


@pytest.mark.parametrize("count", [1, 3, 4, 10])
def test_choices_in_a_chain_have_terms_in_number_as_they_are(count):
    expr = choices(count)

    terms = list(terms_of(expr, lambda e: e.has(*CHOSEN)))

    assert len(terms) <= (count + 1) * 2**MOST_COMPLEMENTS
    assert not any(t.has(sp.Add) and t.atoms(sp.Add) & expr.atoms(sp.Add) - _complements()
                   for t in terms)  # fmt: skip
    rng = np.random.default_rng(count)
    for _ in range(10):
        v = dict(zip(LOGS, rng.integers(-9, 9, 11).tolist(), strict=True))
        v |= dict(zip(CHOSEN, rng.integers(0, 2, 10).tolist(), strict=True))
        assert sum(t.subs(v) for t in terms) == expr.subs(v)


def _complements():
    return {1 - z for z in CHOSEN}


def test_sums_beside_complements_are_multiplied_out():
    """Which labels a term reads is seen of each, though the factors before stay whole."""
    z = CHOSEN[: MOST_COMPLEMENTS + 1]
    before = sp.Mul(*(1 - x for x in z))
    a, b = LOGS[:2]

    terms = set(terms_of(before * (a + b), lambda e: e.has(*z, a, b)))

    assert terms == {before * a, before * b}
