"""Data like those of the example schools of the BUGS volumes.

    python tests/benchmarks/simulate_schools.py

writes ``models/bugs/more/schools.data.json``: as many pupils and schools, covariates of the same
kinds, and results from the model at the published posterior means. The published scale matrix
``R`` of the prior of the coefficients of schools is not at hand: the one here is an assumption.
"""

import json
from pathlib import Path

import numpy as np

PUPILS, SCHOOLS = 1978, 38
SEED = 38
BETA = (2.6e-4, 0.414, 0.170, 0.112, 0.052, -0.284, 0.143, -0.167)
GAMMA = (-0.662, 0.0314, 0.951)
THETA, PHI = 0.580, -0.0027
SIGMA = ((0.15, 0.002, 0.02), (0.002, 0.0015, 0.001), (0.02, 0.001, 0.10))
FILE = Path(__file__).parents[2] / "models" / "bugs" / "more" / "schools.data.json"


def simulated(rng):
    """Names and values of a set of data."""
    school = np.sort(np.r_[1 : SCHOOLS + 1, rng.integers(1, SCHOOLS + 1, PUPILS - SCHOOLS)])
    score = np.clip(np.round(rng.normal(0, 11.5, PUPILS)), -34, 38)
    # Verbal reasoning goes with the score: the best quarter, the half in the middle, the others.
    place = np.argsort(np.argsort(score + rng.normal(0, 5, PUPILS))) / PUPILS
    reasoning = np.c_[place >= 0.75, (place >= 0.25) & (place < 0.75)].astype(int)
    # Schools are mixed, of girls or of boys, and of the state or of one of three denominations.
    kind = rng.choice(3, SCHOOLS, p=(0.55, 0.25, 0.2))
    faith = rng.choice(4, SCHOOLS, p=(0.6, 0.15, 0.2, 0.05))
    faith[:4] = 0, 1, 2, 3
    of_school = np.c_[kind == 1, kind == 2].astype(int)[school - 1]
    denomination = np.c_[faith == 1, faith == 2, faith == 3].astype(int)[school - 1]
    girl = np.where(kind == 1, 1, np.where(kind == 2, 0, -1))[school - 1]
    girl = np.where(girl < 0, rng.integers(0, 2, PUPILS), girl)

    alpha = rng.multivariate_normal(GAMMA, SIGMA, SCHOOLS)[school - 1]
    others = np.c_[score**2, reasoning[:, 1], girl, of_school, denomination]
    mean = alpha[:, 0] + alpha[:, 1] * score + alpha[:, 2] * reasoning[:, 0] + others @ BETA
    results = rng.normal(mean, np.exp(-(THETA + PHI * score) / 2))
    return {
        "N": PUPILS,
        "M": SCHOOLS,
        "mn": [0, 0, 0],
        "prec": np.diag([1e-4] * 3).tolist(),
        "R": [[0.1, 0.005, 0.005], [0.005, 0.1, 0.005], [0.005, 0.005, 0.1]],
        "school": school.tolist(),
        "LRT": score.astype(int).tolist(),
        "VR": reasoning.tolist(),
        "Gender": girl.tolist(),
        "School.gender": of_school.tolist(),
        "School.denom": denomination.tolist(),
        "Y": np.round(results, 4).tolist(),
    }


def main():
    """Write the file."""
    values = simulated(np.random.default_rng(SEED)).items()
    rows = ",\n".join(f'  "{name}": {json.dumps(value)}' for name, value in values)
    FILE.write_text("{\n" + rows + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
