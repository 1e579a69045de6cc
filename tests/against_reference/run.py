"""Run ranges of seeds: ``python tests/against_reference/run.py exact 0 3000 --out FILE``.

One JSON line per seed is appended to the file; seeds that it has are not run again. A summary of
what was found, refused and covered is printed at the end.
"""

import argparse
import collections
import json
import multiprocessing
import os
import signal
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

LEVELS = ("exact", "sampled", "exact-bugs", "sampled-bugs")
LEVEL = 1e-3
# Of CPU time; at the exact level for compiling, and again for the comparisons.
SECONDS = {"exact": 20, "exact-bugs": 20, "sampled": 240, "sampled-bugs": 240}


class TooLongError(BaseException):
    """The limit of CPU time was reached."""


def _too_long(*_):
    raise TooLongError


def _limit(level):
    signal.setitimer(signal.ITIMER_PROF, SECONDS[level], 1.0)


def one(task):
    """The report of one seed."""
    level, seed = task
    from against_reference.generator import NotFoundError

    start = time.process_time()
    report = {"seed": seed, "level": level}
    try:
        model = described(level, seed)
    except NotFoundError:
        return {**report, "result": "skipped", "kind": "no model", "seconds": 0.0}
    except Exception as error:  # noqa: BLE001  (the range goes on)
        return {**report, **of_error(error), "seconds": 0.0}
    report |= {**features_of(model), **of_model(level, model)}
    report["seconds"] = round(time.process_time() - start, 2)
    return report


def of_model(level, model):
    """What came out of one model."""
    from against_reference.exact import FindingError, RefusedError

    report = {}
    signal.signal(signal.SIGPROF, _too_long)
    try:
        _limit(level)
        report |= {"result": "passed", **checked(level, model)}
    except TooLongError:
        signal.setitimer(signal.ITIMER_PROF, 0)
        report |= {"result": "finding", "kind": "hang", "told": traceback.format_exc()[-1500:]}
    except RefusedError as refused:
        report |= {"result": "refused", "kind": str(refused)}
    except FindingError as finding:
        report |= {"result": "finding", "kind": finding.kind, "told": finding.told[:3000]}
    except skipped() as why:
        report |= {"result": "skipped", "kind": str(why)}
    except Exception as error:  # noqa: BLE001  (whatever comes is a finding)
        report |= of_error(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if report["result"] == "finding":
        from against_reference.exact import source_of

        report["source"] = source_of(model)
    return report


def of_error(error):
    """The finding that an unexpected error is, while it is handled."""
    return {"result": "finding", "kind": f"{type(error).__name__}: {str(error)[:120]}",
            "told": traceback.format_exc()[-2500:]}


def smallest(level, seed):
    """The smallest model found that shows what the model of a seed shows, and that."""
    from against_reference.shrink import shrunk

    model = described(level, seed)
    first = of_model(level, model)
    if first["result"] != "finding":
        return first

    def kind_of(report):
        return report["result"], report.get("kind"), hints(report)

    return of_model(level, shrunk(model, lambda m: kind_of(of_model(level, m)) == kind_of(first)))


def skipped():
    from against_reference.sampled import SkippedError

    return SkippedError


def described(level, seed):
    from against_reference.generator import model

    return model(seed, level)


def checked(level, model):
    """What a level says of a model."""
    if level.startswith("exact"):
        from against_reference.exact import check

        return check(model, on_compiled=lambda: _limit(level))
    from against_reference.sampled import check

    return check(model)


def features_of(model):
    """What a model has, for the coverage."""
    families = {p.family for v in model.variables for p in v.parts if p.number is None}
    latent = {p.family for _, p in model.latent}
    masked = {p.family for v in model.variables for p in v.parts
              if p.number is None and v.mask is not None and v.mask.any() and not v.mask.all()}
    return {"families": sorted(families), "latent": sorted(latent), "masked": sorted(masked),
            "features": sorted(model.features), "settings": sorted(model.settings)}


def run(level, start, stop, out, processes):
    """Run the seeds that the file lacks."""
    done = {r["seed"] for r in reports(out, level)}
    tasks = [(level, s) for s in range(start, stop) if s not in done]
    with multiprocessing.Pool(processes, maxtasksperchild=50) as pool, out.open("a") as file:
        for report in pool.imap_unordered(one, tasks):
            file.write(json.dumps(report) + "\n")
            file.flush()
            if report["result"] == "finding":
                print(f"{report['seed']}: {report['kind']} {hints(report)}", flush=True)


def hints(report):
    """The steps that have failed."""
    return [" ".join(line.split()[:2]) for line in report.get("told", "").split("\n")
            if line.endswith("FAILED")]


def reports(out, level):
    """The lines of a file."""
    if not out.exists():
        return []
    with out.open() as file:
        return [r for r in map(json.loads, file) if r["level"] == level]


def summary(found):
    """What a range of seeds has shown, as text."""
    count = collections.Counter
    lines = [f"{len(found)} models: " + ", ".join(
        f"{n} {r}" for r, n in count(r["result"] for r in found).most_common())]
    for result in ("finding", "refused", "skipped"):
        kinds = collections.defaultdict(list)
        for r in found:
            if r["result"] == result:
                kinds[r["kind"]].append(r["seed"])
        lines += [f"{result}:", *(f"  {len(s):5} {k}  {s[:6]}" for k, s in sorted(
            kinds.items(), key=lambda item: -len(item[1])))]
    refused = count(r["setting_refused"] for r in found if r.get("setting_refused"))
    lines += ["settings refused, then run with the usual ones:",
              *(f"  {n:5} {k}" for k, n in refused.most_common())]
    lines += [f"draws that differ, at {LEVEL} over the range: {doubtful(found)}"]
    passed = [r for r in found if r["result"] == "passed"]
    for what in ("families", "latent", "masked", "features", "settings", "steps", "rules",
                 "by"):
        counted = count(x for r in passed for x in r.get(what, ()))
        lines.append(f"{what}: " + ", ".join(f"{k} {n}" for k, n in counted.most_common()))
    missing = missing_of(passed)
    lines.append(f"never: {missing}")
    seconds = sorted(r["seconds"] for r in found) or [0.0]
    lines.append(f"seconds: median {seconds[len(seconds) // 2]}, largest {seconds[-1]}, "
                 f"all {sum(seconds):.0f}")
    return "\n".join(lines)


def doubtful(found):
    """The seeds of models whose draws differ, at a level over the whole range."""
    return [r["seed"] for r in found if r.get("p_again", 1.0) * len(found) < LEVEL]


def missing_of(passed):
    """Families, rules and kinds of steps that no model that passed has."""
    from typing import get_args

    from gibbsppl.families import FAMILIES
    from gibbsppl.rewrites.driver import PARTS, REWRITES, UNSEEN
    from gibbsppl.schedule.steps import Kind

    def had(what):
        return {x for r in passed for x in r.get(what, ())}

    return {
        "families": sorted(set(FAMILIES) - had("families")),
        "latent families": sorted(set(FAMILIES) - had("latent")),
        "masked families": sorted(set(FAMILIES) - had("masked")),
        "rules": sorted({*(r.name for r in REWRITES), PARTS, UNSEEN} - had("rules")),
        "steps": sorted(set(get_args(Kind)) - had("steps")),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("level", choices=LEVELS)
    parser.add_argument("start", type=int)
    parser.add_argument("stop", type=int)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--smaller", action="store_true",
                        help="print the smallest model with the finding of one seed")
    parser.add_argument("--show", action="store_true", help="print the source of one seed")
    asked = parser.parse_args()
    if asked.show:
        from against_reference.exact import source_of

        print(source_of(described(asked.level, asked.start)))
        return
    if asked.smaller:
        for what, told in smallest(asked.level, asked.start).items():
            print(f"{what}: {told}")
        return
    out = asked.out or Path(f"{asked.level}.jsonl")
    run(asked.level, asked.start, asked.stop, out, asked.processes)
    found = [r for r in reports(out, asked.level) if asked.start <= r["seed"] < asked.stop]
    print(summary(found))
    if doubtful(found) or any(r["result"] == "finding" for r in found):
        sys.exit(1)


if __name__ == "__main__":
    main()
