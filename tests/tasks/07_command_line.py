"""A BUGS program and a CSV file, by the command line: a summary to read with other programs."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import gibbsppl as gp

rng = np.random.default_rng(7)
folder = Path(tempfile.mkdtemp())
x = rng.normal(size=50)
y = 1 + 2 * x + rng.normal(0, 0.5, 50)
np.savetxt(folder / "points.csv", np.c_[x, y], delimiter=",", header="x,y", comments="")
(folder / "line.bug").write_text("""model {
  for (i in 1:50) { y[i] ~ dnorm(a + b * x[i], tau) }
  a ~ dnorm(0, 0.01)
  b ~ dnorm(0, 0.01)
  tau ~ dgamma(1, 1)
}""")


os.chdir(folder)
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

# task
command = "gibbsppl run line.bug --data points.csv --seed 1 --out draws.nc --json"
out = subprocess.run(command.split(), capture_output=True, check=True, text=True).stdout
# done

rows = json.loads(out)["summary"]
for name, truth in {"a": 1.0, "b": 2.0, "tau": 4.0}.items():
    assert abs(rows[name]["mean"] - truth) < 4 * rows[name]["sd"]
assert gp.load_draws(folder / "draws.nc")["b"].shape == (4, 1000)
