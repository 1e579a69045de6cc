"""Records of what was measured, a file of JSON for each workload.

A record has ``key``, ``measured`` (the day), ``machine``, and ``sides``: by name of a side either
``missing``, the reason, or ``version``, ``compiling`` (CPU seconds) and ``turns``, each with the
fields of `measuring.Found`; of gibbsppl ``told`` says how the variable that mixes worst is drawn.
Turns of a peer stand beside those of gibbsppl in the same run, ``ours``.
"""

import json
import re
from dataclasses import asdict
from pathlib import Path

from measuring import Found

FOLDER = Path(__file__).parent / "measured"


def path_of(folder, key):
    """The file of a workload."""
    return Path(folder) / f"{re.sub(r'[^A-Za-z0-9_]+', '_', key)}.json"


def write(folder, record):
    """Keep a record; sides that were not measured this time stay as they were."""
    path = path_of(folder, record["key"])
    if path.exists():
        before = json.loads(path.read_text(encoding="utf-8"))
        record = record | {"sides": before["sides"] | record["sides"]}
    replace(folder, record)


def replace(folder, record):
    """Keep a record instead of the one before."""
    path = path_of(folder, record["key"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(folder):
    """All records, by workload."""
    paths = sorted(Path(folder).glob("*.json"))
    records = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    return {record["key"]: record for record in records}


def as_turns(found):
    """Turns as they are kept: numbers to six digits."""
    return [{n: _short(x) for n, x in asdict(turn).items()} for turn in found]


def turns_of(side, which="turns"):
    """The turns of a side, as they were found."""
    return [Found(**turn) for turn in side[which]]


def _short(x):
    return float(f"{x:.6g}") if isinstance(x, float) else x
