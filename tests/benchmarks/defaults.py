"""Defaults beside `sampler.tuned`: effective draws per operation, of models that have monitors.

Comes in: a workload. Goes out: a record, a file of JSON in ``measured/tuned/``, and of all records
a section of the page. No clock is read: operations are counted. Where another variant than the
default has won, both run again, with other seeds and longer, so that luck does not choose:
``share`` is what the default has of the effective draws per operation of the winner, ``error`` the
standard error of its log.
"""

from math import hypot

import runner

import gibbsppl as gp
from gibbsppl.errors import RunError

FOLDER = "tuned"
SEED, ANOTHER = 1, 1001
# Both run again so many times as long as the longest pilot, in as many chains.
LONGER, CHAINS = 4, 4
# The share of what `tuned` finds that the default is to have.
ENOUGH = 0.8
DEFAULT = "as compiled"


def is_tuned(workload):
    """Whether a workload has a row: monitors, and chains that begin at starts of their own."""
    return bool(workload.monitors) and workload.inits is None


def measured(workload):
    """The record of a workload."""
    record = {"key": workload.key, "measured": str(runner.today()), "machine": runner.machine()}
    sampler = gp.compile(workload.model(workload.data()), **workload.settings)
    try:
        found = sampler.tuned(SEED).tuned_from
    except RunError as error:
        return record | {"missing": str(error).splitlines()[0]}
    best, own = found.best, found[DEFAULT]
    if best.name != DEFAULT:
        both = {DEFAULT: {}, best.name: best.settings}
        sweeps = LONGER * best.sweeps // CHAINS
        how = {"draws": sweeps, "warmup": sweeps // LONGER, "chains": CHAINS, "seed": ANOTHER}
        again = sampler.compare(both, **how)
        best, own = again[best.name], again[DEFAULT]
    return record | {
        "variants": len(found.variants), "failed": len(found.failed), "chosen": best.name,
        "share": _short(own.ess_per_operation / best.ess_per_operation),
        "error": _short(hypot(own.error, best.error)) if best is not own else 0.0,
        "ess": [_short(v.ess) for v in (own, best)],
        "operations": [_short(v.operations) for v in (own, best)],
        "r_hat": [_short(v.r_hat) for v in (own, best)],
        "worst": [v.worst for v in (own, best)], "sweeps": own.sweeps,
    }  # fmt: skip


def _short(x):
    return float(f"{x:.4g}")


def line_of(record):
    """A record in a line."""
    if "missing" in record:
        return f"{record['key']:28} not tuned: {record['missing']}"
    share = f"{record['share']:.3g} (error {record['error']:.2g})"
    return f"{record['key']:28} {share} {record['chosen']}"


HEAD = f"""Effective draws per operation (`Sampler.costs`; no clock) of the sampler by default, as a
share of those of the one that `sampler.tuned(seed={SEED})` finds: 1 where the default stays, which
it does unless another is better by more than the error. Where another was found, both ran again
with other seeds, {LONGER} times as long. {ENOUGH:g} is asked for."""
COLUMNS = (
    *("model", "share", "chosen", "ESS of 1,000 sweeps", "chosen"),
    *("operations", "chosen", "worst"),
)
ALIGNED = "|---|---:|---|---:|---:|---:|---:|---|"


def section(workloads, records):
    """The part of the page, of all records; nothing where there are none."""
    known = [records[key] for key in workloads if key in records]
    found = [r for r in known if "missing" not in r]
    if not known:
        return
    yield "## Defaults beside `tuned`"
    yield HEAD
    others = [r for r in found if r["chosen"] != DEFAULT]
    short = [r for r in others if r["share"] < ENOUGH]
    stayed = [r["key"] for r in found if r not in others]
    yield (
        f"Of {len(found)} models {len(found) - len(short)} reach it. The default stays in "
        f"{len(stayed)}: {', '.join(stayed)}."
    )
    if others:
        rows = sorted(others, key=lambda r: r["share"])
        lines = [f"| {' | '.join(COLUMNS)} |", ALIGNED, *map(_row, rows)]
        yield "\n".join(lines)
    missing = [f"- {r['key']}: {r['missing']}" for r in known if "missing" in r]
    absent = [k for k, w in workloads.items() if is_tuned(w) and k not in records]
    missing += [f"- not run yet: {', '.join(absent)}"] if absent else []
    if missing:
        yield "Not tuned:"
        yield "\n".join(missing)


def _row(record):
    share = f"{record['share']:.2f} ± {100 * record['error']:.0f} %"
    numbers = *(f"{x:.3g}" for x in record["ess"]), *(f"{x:,.0f}" for x in record["operations"])
    worst = f"`{record['worst'][0]}`"
    return f"| {' | '.join((record['key'], share, record['chosen'], *numbers, worst))} |"
