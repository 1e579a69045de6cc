"""One workload, measured: gibbsppl and one peer after the other take turns in one run."""

import datetime as dt
import os
import platform
from contextlib import ExitStack

import jags
import kept
import numpy as np
from measuring import judged, longer
from peers import NAMED
from sides import CHAINS, ours

# A turn samples for so many CPU seconds, and for longer, if chains have not settled by then.
LEAST, MOST = 0.25, 4.0
# Of so many numbers at most: draws of all elements and chains.
NUMBERS = 800_000


def measured(workload, peers, repeats, most=MOST):
    """The record of a workload beside the peers asked for (None: all that can run it)."""
    sides = {}
    with ours(workload) as own:
        size, pilot = calibrated(own, workload, most)
        for name in workload.peers:
            if peers is None or name in peers:
                sides[name] = beside(own, size, NAMED[name], workload, repeats, most)
        sides["gibbsppl"] = {
            "version": own.version, "compiling": round(own.compiling, 3),
            "told": own.told(pilot.element) if pilot.element else [],
        }  # fmt: skip
    return {"key": workload.key, "measured": str(today()), "machine": machine(), "sides": sides}


def beside(own, size, peer, workload, repeats, most):
    """Turns of both, one of each at a time; or why there are none."""
    found = []
    with ExitStack() as stack:
        try:
            other = stack.enter_context(peer.beside(workload))
            other_size, _ = calibrated(other, workload, most)
            for seed in range(1, repeats + 1):
                turns = own.turn(seed, size), other.turn(seed, other_size)
                found.append(tuple(judged(turn, workload.watched) for turn in turns))
        except (ImportError, jags.JagsError) as error:
            return {"missing": str(error)}
        ours_found, theirs = zip(*found, strict=True)
        return {
            "version": other.version, "compiling": round(other.compiling, 3),
            "ours": kept.as_turns(ours_found), "turns": kept.as_turns(theirs),
        }  # fmt: skip


def calibrated(side, workload, most):
    """A size for turns of a side, and what the last pilot has found."""
    size = workload.fewest if workload.monitors else 1
    while True:
        turn = side.turn(0, size)
        found = judged(turn, workload.watched)
        wanted = longer(found, LEAST, most)
        if turn.draws is not None:
            elements = sum(np.prod(np.shape(x)[2:], dtype=int) for x in turn.draws.values())
            wanted = max(workload.fewest, min(wanted, NUMBERS // (CHAINS * int(elements))))
        if wanted <= 2 * size:
            return max(size, wanted), found
        size = min(wanted, 10 * size)  # (a short pilot tells little of a long run)


def today():
    """The day of the measurement."""
    return dt.datetime.now(tz=dt.UTC).date()


def machine():
    """The machine of the measurement, in plain words."""
    return (
        f"{os.cpu_count()} cores of {platform.machine()}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, load {os.getloadavg()[0]:.1f}"
    )
