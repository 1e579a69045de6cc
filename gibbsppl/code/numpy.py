"""From a schedule to a NumPy module: source that a person would be glad to have written.

Comes in: a `Schedule`. Goes out: the text of a module that stands alone on NumPy, SciPy and
``gibbsppl.runtime`` (what it defines is listed in `gibbsppl.code.program`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from gibbsppl.code.by_colour import by_colour, name_by_colour
from gibbsppl.code.forms import (
    by_form,
    calls_name,
    name_by_form,
)
from gibbsppl.code.interweaving import interwoven_functions
from gibbsppl.code.joint import joint_coefficients, pencil_functions, scaled_name
from gibbsppl.code.label_chains import chain_weights
from gibbsppl.code.labels import log_weights
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.maintained_forms import carried_forms, maintained_form_functions
from gibbsppl.code.module import Module, module_of
from gibbsppl.code.moves import log_density
from gibbsppl.code.names import MATHEMATICS, NUMPY, check_names, escaped
from gibbsppl.code.natural import natural_parameters
from gibbsppl.code.scans import carried_functions, scan_functions
from gibbsppl.code.sweep import augment, interwoven, sweep
from gibbsppl.schedule.steps import (
    BlockDraw,
    ChainDraw,
    ConcaveDraw,
    ExactDraw,
    FiniteDraw,
    JointDraw,
    Move,
    ScanDraw,
    Schedule,
    Step,
)


def write_numpy(schedule: Schedule) -> str:
    """The source of the module that draws the schedule's sweep."""
    check_names(_names_in(schedule))
    module = module_of(schedule)
    parts = [
        *(text for step in schedule.steps for text in _functions(module, step)),
        *([augment(module)] if schedule.rewrites or schedule.parts else []),
        sweep(module),
        _deterministics(module),
    ]
    # The first parts are written last, when it is known what they must bring in.
    prepare, tables = _prepare(module), _tables(module)
    computed = [text for _, _, text in module.hoisted.functions.values()]
    return "\n\n\n".join([_head(module), prepare, *computed, *parts, tables]) + "\n"


def _names_in(schedule: Schedule) -> Iterator[str]:
    """All names that the source has in strings and comments."""
    for graph in (schedule.whole, schedule.graph, *schedule.graphs):
        yield from graph.variables
        yield from (d.name for d in graph.sizes)
        yield from (f.name for f in (*graph.factors, *graph.deterministics))
    yield from (step.name for step in schedule.steps)


def _functions(module: Module, step: Step) -> list[str]:
    """The functions of a step beside the sweep."""
    found = [_given_rest(module, step), *interwoven(module, step)]
    if isinstance(step, ExactDraw | FiniteDraw) and (name := name_by_colour(module, step)):
        found.append(by_colour(module, step, name))
    if isinstance(step, ExactDraw) and (name := name_by_form(module, step)):
        found += [*maintained_form_functions(module, step), by_form(module, step, name)]
    if isinstance(step, JointDraw):
        found += pencil_functions(module, step)
    if isinstance(step, Move) and step.asked is not None:
        found += step.asked.functions(module, step)
    return found


def _head(module: Module) -> str:
    """The docstring, which shows the model, and the imports."""
    used = module.hoisted.used
    lines = [
        f'"""Gibbs sampler for the model {escaped(module.graph.name)}, written by gibbsppl.',
        "",
        *indented(map(escaped, str(module.graph).splitlines())),
        '"""',
        "",
    ]
    if any(isinstance(step, ScanDraw) for step in module.schedule.steps):
        lines += ["import math", ""]
    if used & NUMPY:
        lines += [f"from numpy import {', '.join(sorted(used & NUMPY))}", ""]
    lines.append("from gibbsppl import runtime")
    if used & MATHEMATICS:
        lines.append(f"from gibbsppl.runtime import {', '.join(sorted(used & MATHEMATICS))}")
    return "\n".join(lines).rstrip()


def _prepare(module: Module) -> str:
    """The function ``prepare``, which computes from the data all hoisted values."""
    lines = ["def prepare(data):", f'{INDENT}"""What depends on the data alone, computed once."""']
    arrays = sorted(module.hoisted.arrays)
    lines += [f"{INDENT}{module.names.of(a)} = {_data_text(module, a)}" for a in arrays]
    for name, code, comment in module.hoisted.lines:
        lines.append(f"{INDENT}{name} = {code}  # {comment}")
    entries = [f'"{a}": {module.names.of(a)}' for a in arrays]
    entries += [f'"{n}": {n}' for n in module.hoisted.all_names]
    inner = "".join(f"{INDENT * 2}{e},\n" for e in entries)
    all_of = f"{{\n{inner}{INDENT}}}" if entries else "{}"
    if not module.hoisted.last:
        return "\n".join([*lines, f"{INDENT}return {all_of}"])
    lines.append(f"{INDENT}c = {all_of}")
    lines += [f'{INDENT}c["{n}"] = {code}  # {told}' for n, code, told in module.hoisted.last]
    lines.append(f"{INDENT}return c")
    return "\n".join(lines)


def _data_text(module: Module, name: str) -> str:
    """An array of the data; counts as floats, whose products do not overflow."""
    variable = module.graph.variables.get(name)  # (colours are no array of the model)
    is_count = variable is not None and variable.integer and variable.of is None
    is_read_at = name in module.hoisted.positions
    return f'data["{name}"]' + (".astype(float)" if is_count and not is_read_at else "")


def _given_rest(module: Module, step: Step) -> str:
    """The function of a step's parameters, log weights or log density, given all else."""
    match step:
        case ExactDraw() | BlockDraw():
            return natural_parameters(module, step)
        case JointDraw():
            return joint_coefficients(module, step)
        case FiniteDraw():
            return log_weights(module, step)
        case ChainDraw():
            return chain_weights(module, step)
        case ConcaveDraw() | Move():
            return log_density(module, step)
        case ScanDraw():
            return scan_functions(module, step)
        case _:
            assert_never(step)


def _deterministics(module: Module) -> str:
    """The function that computes the model's deterministic quantities from the state."""
    writer = module.writer()
    entries = []
    for d in module.graph.deterministics:
        writer.order = {}
        writer.arrange(d.dims)
        text = writer.write(d.value)
        shape = tuple(module.graph.sizes[a] for a in d.dims)
        code = writer.align(text, d.dims)
        if text.dims != d.dims:
            code = f"{writer.call('broadcast_to')}({code}, {shape})"
        entries.append(f'{INDENT}"{d.name}": {code},')
    body = ["return {", *entries, "}"] if entries else ["return {}"]
    return module.function("deterministics", "The named functions of the state.", writer, body)


def _tables(module: Module) -> str:
    """The tables of steps, variables and functions by name, for callers of single steps."""
    names = [s.name for s in module.schedule.steps]
    arrays = [module.schedule.changed_by(s) for s in module.schedule.steps]
    lines = ["STEPS = (" + "".join(f"{n!r}, " for n in names).rstrip() + ")"]
    pairs = "".join(f"{INDENT}{n!r}: {a!r},\n" for n, a in zip(names, arrays, strict=True))
    lines.append(f"STEP_VARIABLES = {{\n{pairs}}}")
    pairs = "".join(f"{INDENT}{n!r}: {module.functions[n]},\n" for n in names)
    lines.append(f"GIVEN_REST = {{\n{pairs}}}")
    kernels = {s.name: s.asked for s in module.schedule.steps if isinstance(s, Move) and s.asked}
    if walks := [name for name, k in kernels.items() if k.accepts]:
        lines.append("WALKS = (" + "".join(f"{n!r}, " for n in walks).rstrip() + ")")
    if own := [name for name, k in kernels.items() if k.function is not None]:
        lines.append("# Functions of your own, handed over when this is loaded:")
        lines.append("KERNELS = {" + ", ".join(f"{n!r}: None" for n in own) + "}")
    if module.schedule.rewrites:
        lines.append(f"AUXILIARY = {module.schedule.auxiliary!r}")
    if pairs := "".join(f"{INDENT}{n!r}: {f},\n" for n, f in interwoven_functions(module).items()):
        lines.append(f"INTERWOVEN = {{\n{pairs}}}")
    if module.schedule.within_sweep:
        lines.append(f"WITHIN_SWEEP = {tuple(sorted(module.schedule.within_sweep))!r}")
    if module.schedule.parts:
        lines.append(f"PARTS = { ({p.name: p.of for p in module.schedule.parts})!r}")
    steps = [s for s in module.schedule.steps if not isinstance(s, JointDraw)]
    coloured = [(s.name, calls_name(module, s)) for s in steps if s.is_coloured]
    if coloured:
        pairs = "".join(f"{INDENT}{n!r}: {c!r},\n" for n, c in coloured)
        lines.append(f"COLOURS = {{\n{pairs}}}")
    apart = [
        (s.name, name_by_colour(module, s) or name_by_form(module, s))
        for s in module.schedule.steps
    ]
    pairs = "".join(f"{INDENT}{n!r}: {f},\n" for n, f in apart if f is not None)
    if pairs:
        lines.append(f"BY_COLOUR = {{\n{pairs}}}")
    scaled = [s for s in module.schedule.steps if isinstance(s, JointDraw) and s.pencil]
    if pairs := "".join(f"{INDENT}{s.name!r}: {scaled_name(module, s)},\n" for s in scaled):
        lines.append(f"SCALED = {{\n{pairs}}}")
    carried = carried_functions(module) | carried_forms(module)
    pairs = "".join(f"{INDENT}{n!r}: {f},\n" for n, f in carried.items())
    if pairs:
        lines.append(f"KEPT = {{\n{pairs}}}")
    return "\n".join(lines)
