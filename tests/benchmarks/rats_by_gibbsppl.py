"""The rats model by gibbsppl, as a program of its own: what ``rats_by_hand.py`` does.

    python tests/benchmarks/rats_by_gibbsppl.py [draws] [warmup] [chains]

It reads the data, derives and writes the sampler, draws, and prints the summary.
"""

import sys
from pathlib import Path

import gibbsppl as gp
from gibbsppl.cli.model_files import model_in

MODEL = Path(__file__).parents[2] / "models" / "rats.py"

if __name__ == "__main__":
    draws, warmup, chains = (int(a) for a in (sys.argv[1:] or (1000, 500, 4)))
    sampler = gp.compile(model_in(MODEL))
    found = sampler.sample(draws, warmup=warmup, chains=chains, seed=1, progress=False)
    print(found.summary(["alpha0", "mu_b", "tau"]))
