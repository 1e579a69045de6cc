"""Simulated data of the programs of psychometrics."""

import numpy as np
from scipy.special import expit, softmax

from bugs_programs import Field

PROGRAMS = Field("psychometrics")


def _categories(rng, p):
    """Draws of categories, from 1, of the probabilities along the last axis."""
    above = np.cumsum(p, axis=-1)[..., :-1] < rng.random(p.shape[:-1])[..., None]
    return 1 + above.sum(-1)


@PROGRAMS.program("mu sigma b p.spread", thin=2)
def rasch(rng):
    """Right and wrong answers by ability less difficulty, with a check of the spread of scores."""
    theta = rng.normal(0.5, 1.2, 40)
    b = np.array([-1.2, -0.4, 0.1, 0.5, 1.0])
    y = rng.binomial(1, expit(theta[:, None] - b))
    return {"N": 40, "J": 5, "y": y}


@PROGRAMS.program("a b mu.b sigma.b")
def two_pl(rng):
    """Answers in long format: items differ in discrimination and in difficulty."""
    theta = rng.normal(0.0, 1.0, 60)
    a, b = np.array([0.8, 1.2, 1.6, 2.0]), np.array([-0.8, 0.6, 0.0, 0.9])
    person, item = (x.ravel() + 1 for x in np.indices((60, 4)))
    asked = rng.random(240) > 0.1
    y = rng.binomial(1, expit(a * (theta[:, None] - b))).ravel()
    return {
        "n": int(asked.sum()), "P": 60, "I": 4,
        "person": person[asked], "item": item[asked], "y": y[asked],
    }  # fmt: skip


@PROGRAMS.program("b guess a eta")
def three_pl(rng):
    """Multiple choice: even those of low ability guess right at times."""
    theta = rng.normal(0.0, 1.0, 50)
    b = np.array([-1.0, -0.3, 0.4, 1.0])
    p = 0.2 + 0.8 * expit(1.7 * (theta[:, None] - b))
    return {"N": 50, "K": 4, "resp": rng.binomial(1, p)}


@PROGRAMS.program("kappa a")
def graded_response(rng):
    """Attitude items of four grades, with cumulative logits."""
    theta = rng.normal(0.0, 1.0, 60)
    a = np.array([1.0, 1.5, 2.0])
    kappa = np.array([[-1.5, 0.0, 1.5], [-1.0, 0.2, 1.4], [-2.0, -0.5, 1.0]])
    above = expit(a[:, None] * theta[:, None, None] - kappa)
    edges = np.concatenate((np.ones((60, 3, 1)), above, np.zeros((60, 3, 1))), axis=2)
    return {"N": 60, "J": 3, "C": 4, "y": _categories(rng, -np.diff(edges, axis=2))}


@PROGRAMS.program("delta sigma easiest")
def partial_credit(rng):
    """Items scored in steps: each step has a difficulty of its own."""
    theta = rng.normal(0.0, 1.3, 40)
    delta = np.array([[-1.0, 0.5], [-0.5, 1.0], [0.0, 0.4], [-0.8, -0.2]])
    steps = theta[:, None, None] - delta
    psi = np.concatenate((np.zeros((40, 4, 1)), np.cumsum(steps, axis=2)), axis=2)
    return {"n": 40, "m": 4, "M": 3, "Y": _categories(rng, softmax(psi, axis=2))}
