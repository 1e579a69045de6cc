"""Commands that ask: the graph of a model, predictions at new data.

Comes in: options. Goes out: text, or JSON.
"""

# Printing is what a command line is for.
# ruff: noqa: T201

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gibbsppl.cli.model_files import model_of
from gibbsppl.cli.tables import FORMS, read_table
from gibbsppl.errors import RunError

if TYPE_CHECKING:
    from gibbsppl.sampler import Sampler


def add_graph_options(options: argparse.ArgumentParser) -> None:
    """The options of `graph`."""
    options.add_argument("--dot", action="store_true", help="in the language of Graphviz")
    options.add_argument("--json", action="store_true", help="nodes and edges as JSON")


def add_predict_options(options: argparse.ArgumentParser) -> None:
    """The options of `predict`."""
    options.add_argument(
        "--draws", type=Path, required=True, metavar="PATH", help="the draws that run has written"
    )
    options.add_argument(
        "--new", type=Path, required=True, metavar="PATH",
        help=f"new values of data, by name ({', '.join(FORMS)})",
    )  # fmt: skip
    options.add_argument("--name", help="the observed variable (default: the only one)")
    options.add_argument("--json", action="store_true", help="means and sds as JSON")


def graph(options: argparse.Namespace) -> int:
    """Print the statements of a model, or what depends on what."""
    model = model_of(options.file, options.data)
    if not options.dot and not options.json:
        print(model.graph)
        return 0
    dag = model.dag()
    if options.json:
        nodes = [{"name": n, "kind": dag.nodes[n]["kind"]} for n in dag.nodes]
        print_json({"nodes": nodes, "edges": [list(e) for e in dag.edges]})
        return 0
    print(f"digraph {json.dumps(model.name)} {{")
    for name in dag.nodes:
        is_seen = dag.nodes[name]["kind"] == "observed"
        print(f"  {json.dumps(name)}{' [style=filled]' if is_seen else ''};")
    for parent, child in dag.edges:
        print(f"  {json.dumps(parent)} -> {json.dumps(child)};")
    print("}")
    return 0


def predict(options: argparse.Namespace, sampler: Sampler) -> int:
    """Print predictive means and standard deviations at new data."""
    from numpy import ndindex  # noqa: PLC0415  (not for --help)

    from gibbsppl.sampling.resuming import load_draws  # noqa: PLC0415  (as above)

    if options.new.suffix.lower() not in FORMS:
        raise RunError(
            f"--new: found {options.new}, expected a file whose name ends in {', '.join(FORMS)}."
        )
    draws = load_draws(options.draws)
    found = sampler.predict(draws, read_table(options.new), options.name)
    if options.json:
        where = list(ndindex(found.mean.shape))
        rows = {
            found.label(i): {"mean": float(found.mean[i]), "sd": float(found.sd[i])} for i in where
        }
        print_json({"name": found.name, "draws": found.draws, "rows": rows})
    else:
        print(found)
    return 0


def print_json(value: Any) -> None:
    """Print a value as JSON, null for what is no finite number."""
    print(json.dumps(_finite(value), indent=2, ensure_ascii=False))


def _finite(value: Any) -> Any:
    """The value without infinities and NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
