"""The page of all that was measured, from records alone: what is not in a record is not on it.

Where a peer is ahead is said first. A ratio is how many times as much comes of a CPU second of
gibbsppl: the median of the turns, with quartiles. It is *ahead* from the peer's least ratio on.
"""

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

import defaults
import kept
from measuring import ENOUGH, HIGHEST_R_HAT, ratios, spread
from peers import BY_HAND, NAMED
from reasons import REASONS
from sides import CHAINS
from workload import BUGS, GROUPS

OURS = "gibbsppl"
# What the classic examples are to reach in the median.
TIMES_JAGS = 10


@dataclass(frozen=True, slots=True)
class Row:
    """A workload beside a peer, as it was measured."""

    key: str
    group: str
    peer: str
    least: float
    ours: tuple
    theirs: tuple
    compiling: tuple[float, float]
    told: tuple[str, ...] = ()
    wrong: str = ""

    @property
    def ratio(self):
        """Lower quartile, median and upper quartile."""
        return spread(ratios(self.ours, self.theirs))

    @property
    def is_settled(self):
        """Whether most turns of gibbsppl have draws enough."""
        return are_settled(self.ours)

    @property
    def counts(self):
        """Whether the ratio is among those of which a median is taken.

        The size of a peer that has not settled is high rather than low: such a ratio still counts.
        """
        return self.is_settled and not self.wrong

    @property
    def is_reached(self):
        """Whether the least ratio is reached."""
        return self.ratio[1] >= self.least

    @property
    def is_behind(self):
        """Whether the peer is ahead: of code by hand, by more than it may be."""
        return self.counts and self.ratio[1] < (self.least if self.peer == BY_HAND else 1)

    @property
    def is_short(self):
        """Whether gibbsppl is ahead, but by less than is asked for."""
        return self.counts and not self.is_reached and not self.is_behind


def are_settled(turns):
    """Whether most turns have draws enough."""
    return statistics.median(t.is_settled for t in turns) == 1


@dataclass(frozen=True, slots=True)
class Missing:
    """A workload beside a peer that could not be measured, and why."""

    key: str
    group: str
    peer: str
    why: str


def rows_of(workload, record):
    """The rows of a record, measured and missing, in the order of the table of peers."""
    sides = record["sides"]
    own = sides[OURS]
    for name in NAMED:
        side, place = sides.get(name), (workload.key, workload.group, name)
        if side is None:
            continue
        if "missing" in side:
            yield Missing(*place, side["missing"])
            continue
        found = (tuple(kept.turns_of(side, which)) for which in ("ours", "turns"))
        yield Row(
            *place, workload.peers.get(name, 1.0), *found, (own["compiling"], side["compiling"]),
            tuple(own["told"]), workload.wrong.get(name, ""),
        )  # fmt: skip


def lines_of(workload, record):
    """The rows of a record, a line for each peer."""
    return [
        f"{row.key:20} {row.peer:16} not measured: {row.why}"
        if isinstance(row, Missing)
        else f"{row.key:20} {row.peer:16} {_rate(row.ours):>12} {_rate(row.theirs):>12}"
        f" {_ratio(row):>24}  {_settled(row)}  {row.ours[0].element}"
        for row in rows_of(workload, record)
    ]


def of_records(workloads, folder):
    """The page, of the records in a folder."""
    return written(workloads, kept.read(folder), tuned=kept.read(folder / defaults.FOLDER))


def written(workloads: Mapping, records: Mapping, reasons: Mapping = REASONS, tuned: Mapping = {}):
    """The page, as Markdown; an error if a row that is behind or short has no reason."""
    known = [(workloads[key], records[key]) for key in workloads if key in records]
    everything = [row for pair in known for row in rows_of(*pair)]
    rows = [row for row in everything if isinstance(row, Row)]
    parts = [HEAD, _measured_on(records), *_behind(rows, reasons), *_examples(rows)]
    for group in GROUPS:
        own = [row for row in rows if row.group == group and row.is_settled]
        if own:
            parts += [f"## {group[0].upper()}{group[1:]}", _table(own)]
    parts += defaults.section(workloads, tuned)
    parts += [*_unsettled(rows), *_missing(everything, workloads, records), _versions(known)]
    return "\n\n".join(parts) + "\n"


HEAD = f"""# Benchmarks

Written by `python -m tests.benchmarks` from the records in `tests/benchmarks/measured`; nothing on
this page is written by hand. A ratio is how many times as much comes of a CPU second of gibbsppl as
of the other program, by default settings of both: effective draws (bulk, of the element that mixes
worst among the same monitored ones, by the same function) where there are draws, sweeps or
iterations elsewhere. CPU seconds are user and system time of sampling; compiling, adaptation and
warm-up (1,000 sweeps; 50 to 300 of large models) are not in them. Sides take turns; ratios are
medians of the turns, with quartiles in brackets. Of a draw of a chain, or of a sweep, CPU
microseconds are told, and how many effective draws it is worth: their quotient is the rate. Other
work ran on the same cores. Chains count as settled with {ENOUGH} effective draws at least and no
R-hat above {HIGHEST_R_HAT} (Vehtari et al. 2021); where a peer has not, its effective size, too
high rather than too low, stands beside its rate. Of hand-written code for the same back end at most
1.5 times the time is asked for, a ratio of 0.67."""


def _measured_on(records):
    machines = sorted({r["machine"].partition(", load")[0] for r in records.values()})
    days = sorted({r["measured"] for r in records.values()})
    loads = sorted(float(r["machine"].partition(", load ")[2]) for r in records.values())
    when = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    where = f"Measured on {'; '.join(machines)}, {when}"
    return f"{where}; load averages from {loads[0]:g} to {loads[-1]:g}."


def _behind(rows, reasons):
    """Where a peer is ahead, worst first, and where less is reached than is asked for: why."""
    behind = sorted((r for r in rows if r.is_behind), key=lambda row: row.ratio[1])
    short = [row for row in rows if row.is_short]
    silent = [f"{r.key}, {r.peer}" for r in (*behind, *short) if (r.key, r.peer) not in reasons]
    if silent:
        raise ValueError(
            f"behind, or short of the target, without a reason: {'; '.join(silent)}. Measure why, "
            "and add a row to tests/benchmarks/reasons.py."
        )
    yield "## Where a peer is ahead"
    counted = sum(row.counts for row in rows)
    if behind:
        yield f"In {len(behind)} of {counted} comparisons:"
        yield _told(behind, reasons, _how)
    else:
        yield f"Nowhere, in {counted} comparisons."
    wrong = [row for row in rows if row.wrong and row.ratio[1] < 1]
    if wrong:
        yield "Ahead, but not counted:"
        yield "\n".join(f"- {row.key}, {row.peer}: {_ratio(row)}: {row.wrong}" for row in wrong)
    if short:
        yield "Ahead, but short of the target:"
        yield _told(short, reasons, lambda row: f", target {row.least:g}")


def _told(rows, reasons, more):
    """Rows as a list, each with its reason."""
    return "\n".join(
        f"- {r.key}, {r.peer}: {_ratio(r)}{more(r)}: {reasons[r.key, r.peer]}." for r in rows
    )


def _examples(rows):
    """The median of the examples of BUGS, and how many are below the targets."""
    own = [row for row in rows if row.group == BUGS and row.peer.startswith("JAGS")]
    found = [row.ratio[1] for row in own if row.counts]
    if found:
        yield "## The examples of BUGS beside JAGS, in one line"
        yield (
            f"Of {len(found)} that settle: median {statistics.median(found):.1f} times JAGS's "
            f"effective draws a CPU second ({TIMES_JAGS} are asked for); "
            f"{sum(x < 1 for x in found)} below 1, {sum(x < TIMES_JAGS for x in found)} below "
            f"{TIMES_JAGS}; from {min(found):.2f} to {max(found):,.0f}."
        )


COLUMNS = (
    *("workload", "peer", "gibbsppl", "peer's", "ratio", "target"),
    *("us each", "peer's", "effective, each", "peer's", "compiling", "peer's", "worst element"),
)
ALIGNED = "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|"


def _table(rows):
    lines = [f"| {' | '.join(COLUMNS)} |", ALIGNED]
    for row in rows:
        wrong = f" (not counted: {row.wrong})" if row.wrong else ""
        worst = _worst(row.ours)
        theirs = _rate(row.theirs) + ("" if are_settled(row.theirs) else f" ({_state(row.theirs)})")
        cells = (
            row.key, f"{row.peer}{wrong}", _rate(row.ours), theirs, _ratio(row), f"{row.least:.3g}",
            *map(_micro, (row.ours, row.theirs)), *map(_each, (row.ours, row.theirs)),
            *(f"{x:.2f} s" for x in row.compiling), f"`{worst}`" if worst else "",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _unsettled(rows):
    """Rows of which chains have not settled: no ratio is to be believed."""
    found = [row for row in rows if not row.is_settled]
    if found:
        yield "## Not settled"
        yield (
            "Chains of gibbsppl that had too few effective draws, or did not agree, in the longest "
            "turns: ratios tell little."
        )
        yield "\n".join(
            f"- {row.key}, {row.peer}: {_ratio(row)}; gibbsppl {_state(row.ours)}, "
            f"{row.peer} {_state(row.theirs)}"
            for row in found
        )


def _missing(everything, workloads, records):
    """The workloads that could not be measured, and those not yet measured."""
    found = {}
    for row in everything:
        if isinstance(row, Missing):
            found.setdefault((row.peer, row.why), []).append(row.key)
    absent = [key for key in workloads if key not in records]
    for key, workload in workloads.items():
        sides = records[key]["sides"] if key in records else workload.peers
        absent += [f"{key} beside {peer}" for peer in workload.peers if peer not in sides]
    never = [peer for peer in NAMED.values() if peer.never]
    if found or absent or never:
        yield "## Not measured"
        lines = [f"- {peer.name}: {peer.never}" for peer in never]
        lines += [f"- {peer} ({', '.join(keys)}): {why}" for (peer, why), keys in found.items()]
        lines += [f"- not run yet: {', '.join(absent)}"] if absent else []
        yield "\n".join(lines)


def _versions(known):
    found = {}
    for _, record in known:
        for name, side in record["sides"].items():
            if side.get("version"):
                found.setdefault(name, set()).add(side["version"])
    about = {OURS: ""} | {name: f": {peer.about}" for name, peer in NAMED.items()}
    lines = [f"- {n} {', '.join(sorted(found[n]))}{x}" for n, x in about.items() if n in found]
    return "\n\n".join(["## Versions", "\n".join(lines)])


def _rate(turns):
    """The median rate, a second."""
    rate = statistics.median(t.rate for t in turns)
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def _chains(turns):
    """How many chains there are of the size of a turn."""
    return CHAINS if turns[0].element else 1


def _micro(turns):
    """CPU microseconds of a draw of one chain, or of a sweep."""
    seconds = statistics.median(t.sampling / t.size for t in turns)
    return _number(1e6 * seconds / _chains(turns))


def _each(turns):
    """Effective draws for each draw; nothing of sweeps."""
    each = statistics.median(t.amount / t.size for t in turns)
    return f"{each / _chains(turns):.3g}" if turns[0].element else ""


def _ratio(row):
    low, middle, high = map(_number, row.ratio)
    return middle if len(row.ours) == 1 else f"{middle} ({low} to {high})"


def _number(x):
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}"


def _worst(turns):
    """The element that mixes worst in most turns."""
    return statistics.mode(t.element for t in turns)


def _how(row):
    """How the variable that mixes worst is drawn."""
    return f" (`{_worst(row.ours)}`: {'; '.join(row.told)})" if row.told else ""


def _settled(row):
    settled = row.is_settled and are_settled(row.theirs)
    return "settled" if settled else f"{_state(row.ours)} / {_state(row.theirs)}"


def _state(turns):
    size = statistics.median(t.amount for t in turns)
    worst = statistics.median(t.r_hat for t in turns)
    return f"{size:,.0f} effective draws, R-hat {worst:.3f}"
