"""A peer in an environment of its own: reads what to do line by line, and answers each.

    python peer_process.py program workload data.npz

The program is a module of ``written/`` with ``PACKAGES`` and a function for each workload that it
can run, in ``WORKLOADS``: from the data a function of seed and size, whose answer has CPU seconds
of ``sampling``, of ``warming`` and, if it knows, of ``compiling``; and draws by name with axes
(chain, draw, ...), or none where iterations are counted. gibbsppl is not imported here.
"""

import importlib
import json
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np


def main(program, workload, path):
    """Answer until there is nothing more to be read."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # (what a program prints is no answer)
    sys.path.insert(0, str(Path(__file__).parent / "written"))
    module = importlib.import_module(program)

    def answer(found):
        answers.write(json.dumps(found) + "\n")
        answers.flush()

    with np.load(path) as kept:
        turn = module.WORKLOADS[workload](dict(kept))
    answer({"versions": {p: version(p) for p in module.PACKAGES}})
    for line in sys.stdin:
        asked = json.loads(line)
        found = turn(asked["seed"], asked["size"])
        draws = found.pop("draws", None)
        if draws is not None:
            handle, name = tempfile.mkstemp(suffix=".npz", dir=Path(path).parent)
            os.close(handle)
            np.savez(name, **draws)
            found["draws"] = name
        answer({"size": asked["size"], "warming": 0.0} | found)


if __name__ == "__main__":
    main(*sys.argv[1:])
