"""From a schedule to a NumPy module: source that a person would be glad to have written.

Comes in: a `Schedule`. Goes out: the text of a module that stands alone on NumPy, SciPy and
``gibbsppl.runtime`` (what it defines is listed in `gibbsppl.code.program`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gibbsppl.algebra.copies import root_of
from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.by_parts import Held
from gibbsppl.code.element_loops import calls_name
from gibbsppl.code.interweaving import interwoven_functions
from gibbsppl.code.lines import INDENT, indented, unpacking
from gibbsppl.code.maintained_forms import carried_forms
from gibbsppl.code.module import Module, module_of
from gibbsppl.code.names import MATHEMATICS, NUMPY, check_names, escaped
from gibbsppl.code.readings import total
from gibbsppl.code.sweep import augment, drawn_where, interwoven, sweep
from gibbsppl.errors import told_of
from gibbsppl.schedule.kinds import Single
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

# The longest row of the table of steps on one line.
WIDEST = 96


@dataclass(frozen=True, slots=True)
class Written:
    """The source of a module, and the bytes of temporary arrays that each step holds."""

    source: str
    held: Mapping[str, Held]

    @property
    def most(self) -> int:
        """The most bytes held at a time."""
        return max((h.bytes for h in self.held.values()), default=0)

    @property
    def told(self) -> tuple[str, ...]:
        """The steps that would hold too much all at once, and what is done about it."""
        return tuple(f"{n} {h.told}" for n, h in self.held.items() if h.at_once > h.limit)

    @property
    def is_within(self) -> bool:
        """Whether no step holds more than it may by default."""
        return all(h.is_within for h in self.held.values())


def write_numpy(schedule: Schedule) -> str:
    """The source of the module that draws the schedule's sweep."""
    return written(schedule).source


def written(schedule: Schedule) -> Written:
    """The source of the module that draws the schedule's sweep, with what its steps hold."""
    check_names(_names_in(schedule))
    module = module_of(schedule)
    functions = [text for step in schedule.steps for text in _functions(module, step)]
    drawn = [*([augment(module)] if schedule.rewrites or schedule.parts else []), sweep(module)]
    parts = [
        *functions,
        *module.drawn_in_parts.values(),
        *drawn,
        *([_bound(module)] if schedule.bound else []),
        _deterministics(module),
    ]
    # The first parts are written last, when it is known what they must bring in.
    prepare, tables = _prepare(module), _tables(module)
    computed = [text for *_, text in module.hoisted.functions.values()]
    source = "\n\n\n".join([_head(module), prepare, *computed, *parts, tables]) + "\n"
    return Written(source, dict(module.steps_held))


def lines_by_step(schedule: Schedule) -> dict[str, list[str]]:
    """The lines of the module about each step: its functions, and its draw in the sweep."""
    module = module_of(schedule)
    written = {s.name: _functions(module, s) for s in schedule.steps}
    every = (f for texts in written.values() for text in texts for f in text.split("\n\n\n"))
    functions = {f.partition("(")[0].removeprefix("def "): f.splitlines() for f in every}
    drawn_by = interwoven_functions(module)
    found = {}
    for step in schedule.steps:
        own = module.functions[step.name]
        interwoven_by = [drawn_by[step.name]] if step.name in drawn_by else []
        drawing = step.drawing_functions(module) or interwoven_by
        where, drawn = drawn_where(module, step)
        first = [line for name in drawing for line in (*functions[name], "")]
        found[step.name] = [*first, *functions[own], "", f"# in {where}(rng, s, c):", *drawn]
    return found


def _names_in(schedule: Schedule) -> Iterator[str]:
    """All names that the source has in strings and comments."""
    for graph in (schedule.whole, schedule.graph, *schedule.graphs):
        yield from graph.variables
        yield from (d.name for d in graph.sizes)
        yield from (f.name for f in (*graph.factors, *graph.deterministics))
    yield from (step.name for step in schedule.steps)


def _functions(module: Module, step: Step) -> list[str]:
    """The functions of a step beside the sweep."""
    with module.writing(step):
        conditional = step.given_rest(module)
    beside = interwoven(module, step)
    with module.writing(step):
        more = step.functions(module)
    return [conditional, *beside, *more]


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
    if needed := sorted({name for step in module.schedule.steps for name in step.imports}):
        lines += [*(f"import {name}" for name in needed), ""]
    if used & NUMPY:
        lines += [f"from numpy import {', '.join(sorted(used & NUMPY))}", ""]
    lines.append("from gibbsppl import runtime")
    if used & MATHEMATICS:
        lines.append(f"from gibbsppl.runtime import {', '.join(sorted(used & MATHEMATICS))}")
    return "\n".join(lines).rstrip()


def _prepare(module: Module) -> str:
    """The function ``prepare``, which computes from the data all hoisted values."""
    tables, head, sizes = _sizes(module)
    doc = f'{INDENT}"""What depends on the data alone, computed once."""'
    lines = [*tables, head, doc, *sizes]
    arrays = sorted(module.hoisted.arrays)
    lines += [f"{INDENT}{module.names.of(a)} = {_data_text(module, a)}" for a in arrays]
    for name, code, comment in module.hoisted.lines:
        lines.append(f"{INDENT}{name} = {code}  # {comment}")
    entries = [f'"{a}": {module.names.of(a)}' for a in arrays]
    entries += [f'"{n}": {n}' for n in (*module.size_names.values(), *module.hoisted.all_names)]
    inner = "".join(f"{INDENT * 2}{e},\n" for e in entries)
    all_of = f"{{\n{inner}{INDENT}}}" if entries else "{}"
    if not module.hoisted.last:
        return "\n".join([*lines, f"{INDENT}return {all_of}"])
    lines.append(f"{INDENT}c = {all_of}")
    lines += [f'{INDENT}c["{n}"] = {code}  # {told}' for n, code, told in module.hoisted.last]
    lines.append(f"{INDENT}return c")
    return "\n".join(lines)


def _sizes(module: Module) -> tuple[list[str], str, list[str]]:
    """The tables of sizes, the head of ``prepare``, and its lines that find the sizes it needs.

    They are read from the data; those that no array has can be given. What a label may be, and the
    patterns of colours, hold for one size alone.
    """
    names, graph = module.size_names, module.graph
    if not names:
        return [], "def prepare(data):", []
    arrays = {
        v.name: tuple(map(root_of, v.dims))
        for v in graph.variables.values()
        if v.kind != "random" and v.dims
    }
    read = {d for dims in arrays.values() for d in dims}
    labels = {v.of.name for v in graph.variables.values() if v.kind == "random" and v.of}
    held = (labels | module.hoisted.fixed) & {*names, *read}
    fixed = {d.name: n for d, n in graph.sizes.items() if d.name in held}
    free = {d: graph.sizes[Dim(d)] for d in names if d not in {*read, *fixed}}
    tables = []
    if read & set(names):
        tables += ["# The arrays of the data, with a dim for each axis.", f"ARRAYS = {arrays!r}"]
    if free:
        tables += ["# Sizes that no array of the data has: others can be given to prepare."]
        tables += [f"SIZES = {free!r}"]
    if fixed:
        tables += ["# Sizes that the source holds for alone.", f"FIXED = {fixed!r}"]
    found = ["data", "ARRAYS" if read & set(names) else "{}", "SIZES" if free else "{}"]
    found += ["FIXED"] * bool(fixed) + ["given=sizes"] * bool(free)
    head = "def prepare(data, sizes=SIZES):" if free else "def prepare(data):"
    lines = [f"sizes = runtime.sizes({', '.join(found)})"]
    lines += unpacking([(name, f'sizes["{d}"]') for d, name in names.items()])
    return [*tables, "", ""], head, indented(lines)


def _data_text(module: Module, name: str) -> str:
    """An array of the data; counts as floats, whose products do not overflow."""
    variable = module.graph.variables.get(name)  # (colours are no array of the model)
    is_count = variable is not None and variable.integer and variable.of is None
    is_read_at = name in module.hoisted.positions
    return f'data["{name}"]' + (".astype(float)" if is_count and not is_read_at else "")


def _deterministics(module: Module) -> str:
    """The function that computes the model's deterministic quantities from the state."""
    writer = module.writer()
    entries = []
    for d in module.graph.deterministics:
        writer.order = {}
        writer.arrange(d.dims)
        with told_of(d.name):
            code = writer.full(writer.write(d.value), d.dims)
        entries.append(f'{INDENT}"{d.name}": {code},')
    body = ["return {", *entries, "}"] if entries else ["return {}"]
    return module.function("deterministics", "The named functions of the state.", writer, body)


def _bound(module: Module) -> str:
    """The function that computes the evidence lower bound from the moments."""
    doc = "The evidence lower bound: expected log densities of all factors, and entropies."
    return total(module, "bound", "bound", module.schedule.bound, doc)


def _tables(module: Module) -> str:
    """The table of steps, for callers of single ones, and what is known of the arrays."""
    also = {"kept": carried_forms(module), "interwoven": interwoven_functions(module)}
    more = {n: {key: of[n] for key, of in also.items() if n in of} for n in module.functions}
    steps = module.schedule.steps
    rows = "".join(f"{INDENT}{x}\n" for s in steps for x in _row(module, s, more[s.name]))
    lines = [f"STEPS = (\n{rows})"]
    kernels = {s.name: s.asked for s in module.schedule.steps if s.asked is not None}
    if own := [name for name, k in kernels.items() if k.function is not None]:
        lines.append("# Functions of your own, handed over when this is loaded:")
        lines.append("KERNELS = {" + ", ".join(f"{n!r}: None" for n in own) + "}")
    if module.schedule.rewrites:
        lines.append(f"AUXILIARY = {module.schedule.auxiliary!r}")
    if module.schedule.within_sweep:
        lines.append(f"WITHIN_SWEEP = {tuple(sorted(module.schedule.within_sweep))!r}")
    if module.schedule.parts:
        lines.append(f"PARTS = { ({p.name: p.of for p in module.schedule.parts})!r}")
    return "\n".join(lines)


def _row(module: Module, step: Step, more: Mapping[str, str]) -> list[str]:
    """The lines of a step in the table, with ``more`` of its functions."""
    name = step.name
    found = {**step.in_row(module), **more}
    if isinstance(step, Single) and step.is_coloured:
        found["colours"] = repr(calls_name(module, step))
    if name in module.deferred:
        found["deferred"] = repr(tuple(module.deferred[name]))
    if step.asked is not None and step.asked.accepts:
        found["is_walk"] = "True"
    arrays = module.schedule.changed_by(step)
    parts = [repr(name), repr(arrays), module.functions[name]]
    parts += [f"{key}={value}" for key, value in found.items()]
    line = f"runtime.Step({', '.join(parts)}),"
    if len(line) <= WIDEST:
        return [line]
    return ["runtime.Step(", *(f"{INDENT}{part}," for part in parts), "),"]
