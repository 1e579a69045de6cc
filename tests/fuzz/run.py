"""Many cases, one line of JSON for each: ``python tests/fuzz/run.py KIND FIRST LAST --out FILE``.

What is in the file already is not run again. Cases run in a process of their own, so that one that
ends it, or never comes back to Python, is a finding too, and the next one goes on.
"""

import argparse
import json
import os
import resource
import sys
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from fuzz.kinds import KINDS, script  # noqa: E402  (a program beside its package)
from fuzz.scripts import LIMIT, checked_run, reduced  # noqa: E402

MEMORY = 6 << 30
GRACE = 10  # CPU seconds after the limit, for what does not come back to Python


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("kind", choices=sorted(KINDS))
    options.add_argument("first", type=int)
    options.add_argument("last", type=int)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--limit", type=float, default=LIMIT)
    asked = options.parse_args()
    while left := sorted(set(range(asked.first, asked.last + 1)) - set(done(asked))):
        child = os.fork()
        if child == 0:
            worked(asked, left)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:  # the case that it was at has no line
            seed = min(set(left) - set(done(asked)), default=None)
            if seed is None:
                break
            told = {"what": f"the process ended with status {status}", "where": "-"}
            append(asked, seed, {**told, "script": script(asked.kind, seed)})
    found = Counter(
        f"{r['what']} in {r['where']}" for r in done(asked).values() if r["what"] is not None
    )
    for signature, count in found.most_common():
        print(count, signature)


def done(asked):
    """What the file has of the kind, by seed."""
    if not asked.out.exists():
        return {}
    rows = map(json.loads, asked.out.read_text(encoding="utf-8").splitlines())
    return {r["seed"]: r for r in rows if r["kind"] == asked.kind}


def worked(asked, seeds):
    """Run cases until one takes the process with it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    seen = set()
    for seed in seeds:
        used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + asked.limit + GRACE) + 1, most))
        lines = script(asked.kind, seed)
        finding = checked_run(lines, asked.limit)
        if finding is None:
            append(asked, seed, {"what": None})
            continue
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        told = {"what": finding.what, "where": finding.where, "told": finding.told}
        if finding.signature not in seen:
            told["script"] = reduced(lines, finding)
        seen.add(finding.signature)
        append(asked, seed, told)


def append(asked, seed, told):
    with asked.out.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"kind": asked.kind, "seed": seed, **told}) + "\n")


if __name__ == "__main__":
    main()
