"""Effective draws per CPU second of the posteriors of ``models/posteriordb``, beside NUTS.

    PYTHONPATH=. python tests/benchmarks/posteriordb.py measure [posterior ...]
    PYTHONPATH=. python tests/benchmarks/posteriordb.py page

``measure`` writes what it finds to ``posteriordb.json``, ``page`` makes ``docs/posteriordb.md`` of
it. The default sampler in compiled loops: the time of many draws less that of few, from the same
seed, so that starts, warm-up and what is loaded are left out. Of the NUTS of NumPyro the time of
the draws alone. The effective size is that in bulk, of the scalar of which it is smallest.
"""

# Threads are set before what reads them is imported.

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import statistics
import sys
from pathlib import Path
from time import process_time

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

import posteriordb_by_nuts as by_nuts

import gibbsppl as gp
from gibbsppl.explain.schedule_text import held_told, name_of, owner_of
from gibbsppl.model.graph_views import full_notation
from gibbsppl.output.diagnostics import ess_bulk
from models.posteriordb import POSTERIORS

MEASURED = Path(__file__).with_suffix(".json")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "posteriordb.md"
HEAD = """\
# Posteriors of posteriordb

[posteriordb](https://github.com/stan-dev/posteriordb) is a set of models with data; of some it
publishes means and standard deviations from 10,000 draws that are as good as independent. {count}
of these posteriors are in `models/posteriordb`, written in the language of gibbsppl. Slow tests
compare each published mean and sd with the draws of the default sampler
(`tests/test_posteriordb.py`): no difference is beyond the Monte Carlo errors of both sides, at a
level of 1 % for all comparisons together.

The table has effective draws per CPU second, in bulk, of the scalar of which they are fewest: of
the default sampler in compiled loops, and of the NUTS of NumPyro (eight schools not centred, labels
summed out, as in the published programs; double precision), compiling and warm-up left out on both
sides. *Drawn by* is what the schedule says of each step. Written by
`tests/benchmarks/posteriordb.py`, measured on one of two shared x86-64 cores; only ratios carry
over to other machines.

| posterior | drawn by | gibbsppl | NUTS | ratio |
| --- | --- | ---: | ---: | ---: |
"""
LEFT_OUT = """\

## Left out

Posteriors of which posteriordb publishes moments, too:

| posterior | why |
| --- | --- |
"""
LONG_ENOUGH = 0.5  # seconds
# Of posteriors with published references, those that are not here, and why.
WITHOUT = {
    "gp_pois_regr-gp_pois_regr": "can be written, but does not mix: the values of the curve are "
    "drawn one by one, given a covariance matrix that is all but singular, and the length scale "
    "given the curve; with `EllipticalSlice` for the curve the length scale still does not move",
    "hudson_lynx_hare-lotka_volterra, one_comp_mm_elim_abs, twocpt_pk_ode": "a differential "
    "equation is solved, for which the language has no word",
    "earnings (7), nes (9), kidscore_mom_work, kilpisjarvi, sesame, radon_all": "the data were not "
    "to be had as text",
    "bball_drive (2), hmm_example, diamonds, mcycle_gp, heaps (4)": "the data, as the published "
    "programs prepare them, were not to be had as text",
    "Rate_5, M0_model_discrete": "not looked at; the same models as others here, but for the data",
}


def scalars(draws):
    """Each element of kept arrays as a scalar, (chain, draw), as posteriordb names it."""
    return by_nuts.by_scalar({name: np.asarray(values) for name, values in draws.items()})


def kept(posterior):
    """The arrays that the published scalars are of."""
    return sorted({scalar.partition("[")[0] for scalar in posterior.references})


def ours(posterior, seed, draws=2000, warmup=1000):
    """Effective draws per CPU second of the default sampler, in compiled loops.

    Draws are doubled until they take half a second, by the median of three turns.
    """
    sampler, names = gp.compile(posterior.model()), kept(posterior)
    how = {"warmup": warmup, "chains": 4, "keep": names, "backend": "compiled", "progress": False}
    sampler.sample(4, seed=seed, **how)  # (what is compiled is loaded)

    def run(count):
        began = process_time()
        found = sampler.sample(count, seed=seed, **how)
        return found, process_time() - began

    def three(count):
        turns = [(*run(count), run(4)[1]) for _ in range(3)]
        return turns[0][0], statistics.median(many - few for _, many, few in turns)

    found, seconds = three(draws)
    while seconds < LONG_ENOUGH:
        draws *= 2
        found, seconds = three(draws)
    return fewest(posterior, scalars({n: found[n] for n in names})) / seconds


def of_nuts(posterior, seed, draws=1000, warmup=1000):
    """The same of NUTS."""
    found, seconds = by_nuts.scalars(posterior.name, draws, warmup, seed)
    return fewest(posterior, found) / seconds


def fewest(posterior, found):
    """The smallest effective size of the published scalars."""
    return min(float(ess_bulk(found[scalar])) for scalar in posterior.references)


def measure(names, seed=1):
    """Measure posteriors, one after the other, and keep what was found."""
    if not by_nuts.present():
        raise SystemExit(by_nuts.MISSING)
    for name in names:
        found = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
        posterior = POSTERIORS[name]
        rates = {"gibbsppl": ours(posterior, seed), "NUTS": of_nuts(posterior, seed)}
        found[name] = {side: float(f"{rate:.3g}") for side, rate in rates.items()}
        print(name, found[name], flush=True)
        ordered = {n: found[n] for n in POSTERIORS if n in found}
        MEASURED.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def drawn(sampler):
    """How each variable is drawn: the words of the schedule."""
    schedule, notation = sampler.schedule, full_notation(sampler.schedule.whole)
    told = []
    for step in schedule.steps:
        held = held_told(step, schedule, notation)
        words = f"{name_of(step, schedule)}: {owner_of(step, schedule)}"
        told.append(f"{words} ({held})" if held else words)
    return "; ".join(told)


def ratio_of(ratio):
    """A ratio to two or three digits."""
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def page():
    """The text of the page."""
    found = json.loads(MEASURED.read_text(encoding="utf-8"))
    lines = [HEAD.format(count=len(POSTERIORS))]
    for name, posterior in POSTERIORS.items():
        rates = found.get(name, {})
        cells = [f"{rates[side]:,.0f}" for side in rates] or ["not measured"] * 2
        cells.append(ratio_of(rates["gibbsppl"] / rates["NUTS"]) if rates else "")
        words = drawn(gp.compile(posterior.model())).replace("|", "\\|")
        lines.append(f"| {name} | {words} | {' | '.join(cells)} |\n")
    lines.append(LEFT_OUT)
    lines += [f"| {name} | {why} |\n" for name, why in WITHOUT.items()]
    return "".join(lines)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["measure", *names]:
            measure(names or POSTERIORS)
        case ["page"]:
            PAGE.write_text(page(), encoding="utf-8")
        case _:
            raise SystemExit(__doc__)
