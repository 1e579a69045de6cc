"""The derivation of a sampler: settings carried out on a graph, and the program written.

Comes in: a graph, its data, settings in canonical form. Goes out: a `Derivation`. Only what has
not been derived before comes here (`gibbsppl.cache`).
"""

from __future__ import annotations

from collections.abc import Mapping

from gibbsppl.analysis.domains import within_domains, without_spellings
from gibbsppl.analysis.truncations import check_truncations
from gibbsppl.cache.derivation import Derivation, Facts
from gibbsppl.code.source import write_numpy
from gibbsppl.initial.impossible import check_possible
from gibbsppl.initial.looking import looked_at
from gibbsppl.kernels import kernels_of, moved_together
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.output.arrays import Array
from gibbsppl.planning import (
    Control,
    check_asked,
    check_kernels,
    functions_of,
    interwoven_if,
    is_proposed,
    planned,
    replaceable,
)
from gibbsppl.rewrites import REWRITES, Rewritten, rewritten
from gibbsppl.run.integer_types import integer_types
from gibbsppl.schedule.blocks import blocks_of, check_names
from gibbsppl.schedule.scanning import checked_scan
from gibbsppl.schedule.sweeps import Schedule
from gibbsppl.settings import Settings


def derived(graph: Graph, data: Values, settings: Settings, *, declared: bool) -> Derivation:
    """The derivation of a graph, a ``declared`` one that has no limits of parameters yet."""
    limited = within_domains(graph, data) if declared else graph
    schedule, known = scheduled(limited, data, settings)
    dims = {n: v.dims for n, v in schedule.whole.variables.items()}
    dims |= {d.name: d.dims for d in limited.deterministics}
    facts = Facts(
        source=write_numpy(schedule),
        limits=limited.potentials[len(graph.potentials) :],
        dims={name: tuple(d.name for d in own) for name, own in dims.items()},
        types=integer_types(schedule.whole, known),
        looked_at=looked_at(schedule),
    )
    return Derivation(facts, limited, known, lambda: schedule, functions_of(schedule), schedule)


def scheduled(
    graph: Graph, data: Values, settings: Settings
) -> tuple[Schedule, dict[str, Array]]:
    """The schedule of a graph, and the data that its program reads."""
    blocks, rewrites = blocks_of(settings["blocks"]), settings["rewrites"]
    control = Control(
        tuple(settings["order"]),
        checked_scan(settings["scan"]),
        kernels_of(settings["kernels"]),
        blocks,
        proposes=not (settings["exact"] or settings["by"]),
        together=moved_together(settings["kernels"]),
    )
    by = settings["by"]
    graph = without_spellings(graph)
    check_names(graph, blocks)
    check_kernels(graph, control.kernels)
    check_truncations(graph, data)
    check_possible(graph, data)
    asked = dict(rewrites) if isinstance(rewrites, Mapping) else {}

    def made(asked: Mapping[str, bool]) -> tuple[Rewritten, Schedule]:
        model = rewritten(
            graph,
            data,
            asked,
            blocks.elements,
            rules=REWRITES if rewrites is not False else (),
            collapse=settings["collapse"],
            approximate=settings["approximate"],
            moved=control.moved,
            interweave=interwoven_if(settings["interweave"], control),
            jointly=blocks.joined,
            named={*control.order, *blocks.alone, *(n for group in blocks.together for n in group)},
            closed=[n for n, how in by.items() if how == "mean"] if by else None,
            climbed=[n for n, how in by.items() if how == "mode"],
        )
        return model, planned(model, exact=settings["exact"], control=control)

    augmented, schedule = made(asked)
    for rule in replaceable(schedule, asked, graph) if control.proposes else ():
        model, without = made({**asked, rule: False})
        if is_proposed(without, schedule, rule, graph):
            augmented, schedule, asked = model, without, {**asked, rule: False}
    if by:
        from gibbsppl.planning.readings import read_by  # noqa: PLC0415  (draws need none of it)

        schedule = read_by(schedule, augmented.data, by, blocks)
    if not isinstance(settings["interweave"], bool):
        names, exact = settings["interweave"], settings["exact"]
        check_asked(augmented, names, schedule, control.kernels, exact=exact)
    return schedule, {**augmented.data, **schedule.tables}
