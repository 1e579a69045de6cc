"""The function ``sweep``: a sequence of draws and moves, each of a complete conditional."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import assert_never

import sympy as sp

from gibbsppl.algebra.expressions import Expr, Leaf, mentions
from gibbsppl.code.by_colour import name_by_colour, sweep_lines
from gibbsppl.code.forms import name_by_form
from gibbsppl.code.interweaving import (
    change_functions,
    draw_function,
    draw_name,
    together,
)
from gibbsppl.code.joint import joint_lines
from gibbsppl.code.kernels import scan_of_units, tied_move, unit_functions
from gibbsppl.code.label_chains import chain_lines
from gibbsppl.code.lines import INDENT, indented, renamed
from gibbsppl.code.maintained_forms import with_form_updates
from gibbsppl.code.module import Module
from gibbsppl.code.places import (
    colours_text,
    kept_axes_text,
    positions_text,
    slices_text,
    where_text,
)
from gibbsppl.code.scans import made, scan_lines
from gibbsppl.code.writer import Writer
from gibbsppl.derive.colours import colours_told
from gibbsppl.pieces.dependence import length_of
from gibbsppl.rewrites.parts import Part
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
    Single,
    Step,
)


def sweep(module: Module) -> str:
    """The function that draws every variable in place, after the functions of a scan's units."""
    if module.schedule.units:
        apart, together = _apart(module.schedule), _together(module.schedule)
        functions = unit_functions(module, _drawn)
        return "\n\n\n".join([*functions, *scan_of_units(module, apart, together)])
    lines = ["def sweep(rng, s, c):", f'{INDENT}"""Draw every latent variable once, in order."""']
    first = _leading(module.schedule)
    lines += [f"{INDENT}augment(rng, s, c)"] if first else indented(_apart(module.schedule))
    for step in module.schedule.steps[first:]:
        lines += indented(_carried_out(module, step))
    lines += indented(_together(module.schedule))
    return "\n".join(lines if len(lines) > 2 else [*lines, f"{INDENT}del rng, s, c"])


def interwoven(module: Module, step: Step) -> list[str]:
    """The functions of a step in whose graph arrays stand for others; the last one's draws all."""
    steps = together(module.schedule, step)
    is_last = steps[-1:] == (step,)
    draw = [draw_function(module, steps, lambda s: _drawn(module, s))] if is_last else []
    return [*change_functions(module, step), *draw]


def _carried_out(module: Module, step: Step) -> list[str]:
    """The lines of a step in the sweep."""
    steps = together(module.schedule, step)
    if not steps:
        return _drawn(module, step)
    if steps[0] is not step:
        return []
    called = [f"{draw_name(module, steps)}(rng, s, c)"]
    return [
        line for s in steps for line in with_form_updates(module, s, called if s is step else [])
    ]


def augment(module: Module) -> str:
    """The function that draws the auxiliary variables alone, of a state of whole arrays."""
    names = module.schedule.auxiliary
    doc = "Draw the auxiliary variables, each with those after it integrated out."
    lines = ["def augment(rng, s, c):", f'{INDENT}"""{doc}"""']
    lines += indented(_apart(module.schedule))
    for step in (s for s in module.schedule.steps if s.name in names):
        lines += indented(_drawn(module, step))
    return "\n".join(lines)


def _apart(schedule: Schedule) -> list[str]:
    """Lines that take arrays apart."""
    return [f's["{p.name}"] = s["{p.of}"]{_at(p)}' for p in schedule.parts]


def _together(schedule: Schedule) -> list[str]:
    """Lines that put parts together again."""
    lines = [f's["{of}"] = s["{of}"].copy()' for of in dict.fromkeys(p.of for p in schedule.parts)]
    return [*lines, *(f's["{p.of}"]{_at(p)} = s["{p.name}"]' for p in schedule.parts)]


def _at(part: Part) -> str:
    """The index of a part in its array."""
    return f"[{':, ' * part.axis}{part.position}]"


def _leading(schedule: Schedule) -> int:
    """How many steps at the start of a sweep are those of all auxiliary variables."""
    names = schedule.auxiliary
    leading = [s.name for s in schedule.steps[: len(names)]]
    return len(names) if leading == list(names) else 0


def _drawn(module: Module, step: Step) -> list[str]:
    """The lines that carry out a step, with updates of dependent forms."""
    if module.schedule.recentred(step):
        return _own_lines(module, step)
    return with_form_updates(module, step, _own_lines(module, step))


def _own_lines(module: Module, step: Step) -> list[str]:
    """The lines that carry out a step."""
    apart = name_by_colour(module, step) or name_by_form(module, step)
    match step:
        case ExactDraw() | FiniteDraw() if apart is not None:
            return sweep_lines(step, apart)
        case ExactDraw():
            return _exact(module, step)
        case BlockDraw():
            return _block(module, step)
        case JointDraw():
            return joint_lines(module, step)
        case FiniteDraw():
            return _labels(module, step)
        case ChainDraw():
            return chain_lines(module, step)
        case ConcaveDraw():
            return _concave(module, step)
        case Move():
            return _moved(module, step)
        case ScanDraw():
            return scan_lines(module, step)
        case _:
            assert_never(step)


def _exact(module: Module, step: ExactDraw) -> list[str]:
    """The lines of a draw from a family: of the whole array, of a part, or element by element."""
    draw = f"runtime.{_function(step)}"
    state, known = _state(step), _known(module, step) + _relaxed(module, step)
    count = len(step.parameters) + len(step.bounds)
    if step.is_by_element:
        etas = "".join(f", eta[{j}][at]" for j in range(count))
        size = f"{state}[at].shape" if step.is_coloured else "()"
        return [
            _each(module, step),
            f"{INDENT}eta = {_call(module, step)}",
            *indented(_put(module, step, "[at]", f"{draw}(rng{etas}, {size}{known})")),
        ]
    if module.is_whole(step):
        shape = module.shape(step.statement)
        return _put(module, step, "", f"{draw}(rng, *{_call(module, step)}, {shape}{known})")
    where = where_text(module, step)
    etas = "".join(f", eta[{j}]{where}" for j in range(count))
    return [
        *made(module, step),
        f"eta = {_call(module, step)}",
        *_put(module, step, where, f"{draw}(rng{etas}, {state}{where}.shape{known})"),
    ]


def _each(module: Module, step: Single) -> str:
    """The head of the loop over mutually dependent elements: by colour, or by element."""
    if step.is_coloured:
        return f"for at in {colours_text(module, step)}:  # {colours_told(step.colours)}"
    return f"for at in {positions_text(module, step)}:  # its elements depend on one another"


def _function(step: ExactDraw | BlockDraw) -> str | None:
    """The function of the runtime that draws."""
    natural = step.conditional.family.natural
    assert natural is not None
    if step.alpha is not None:
        return natural.over_relaxed
    return natural.truncated if isinstance(step, ExactDraw) and step.bounds else natural.draw


def _relaxed(module: Module, step: ExactDraw) -> str:
    """The current value and alpha of an over-relaxed draw, as keywords."""
    if step.alpha is None:
        return ""
    change, state = step.conditional.change, _state(step)
    now = state if change is None else _mapped(module, step, change.forward, state)
    where = where_text(module, step) if not module.is_whole(step) else ""
    where = "[at]" if step.is_by_element else where
    return f", x={now if change is None else f'({now})'}{where}, alpha={step.alpha!r}"


def _put(module: Module, step: ExactDraw | ConcaveDraw, where: str, drawn: str) -> list[str]:
    """Lines that assign a draw to its place, after the change of variable is undone."""
    change, state = step.conditional.change, _state(step)
    if change is None:
        return [f"{state}{where} = {drawn}"]
    new = module.names.of(step.conditional.place.array.name)
    undone = _mapped(module, step, change.backward, new)
    if not where or not change.given:
        return [f"{new} = {drawn}", f"{state}{where} = {undone}"]
    # The constants of the change are one number per element of the whole array.
    return [
        f"{new} = {module.writer().call('zeros')}({module.shape(step.statement)})",
        f"{new}{where} = {drawn}",
        f"{state}{where} = ({undone}){where}",
    ]


def _mapped(
    module: Module, step: ExactDraw | ConcaveDraw, map_: Callable[[Expr], Expr], code: str
) -> str:
    """The text of a function of an array of the step's shape, which is written as ``code``."""
    axes, array = module.dims(step.statement), step.statement.target.array
    writer = module.writer(local=array.name)
    writer.arrange(axes)
    text = writer.align(writer.write(map_(Leaf(array, *axes))), axes)
    return renamed(_qualified(module, writer, text), {module.names.of(array.name): code})


def _known(module: Module, step: ExactDraw) -> str:
    """The known parameters of the family, as keywords."""
    writer = module.writer()
    axes = module.dims(step.statement)
    writer.arrange(axes)
    found = ""
    whole = module.is_whole(step)
    for name, value in step.conditional.known:
        text = writer.write(value)
        code = writer.align(text, axes)
        if not whole and text.dims:
            shape = module.shape(step.statement)
            code = f"{writer.call('broadcast_to')}({code}, {shape})"
        code = _qualified(module, writer, code)
        if not whole and text.dims:
            code += "[at]" if step.is_by_element else where_text(module, step)
        found += f", {name}={code}"
    return found


def _block(module: Module, step: BlockDraw) -> list[str]:
    """The lines of a block draw: dense axes flattened for the draw, restored afterwards."""
    shape, order = tuple(map(length_of, step.region)), step.batch + step.dense
    batch = tuple(shape[a] for a in step.batch)
    dense = tuple(shape[a] for a in step.dense)
    state, first, etas = _state(step), [], f"*{_call(module, step)}"
    if not module.is_whole(step):
        axes = module.dims(step.statement)
        part = kept_axes_text(((step.region[a], axes[a]) for a in step.batch), module.writer())
        first = [*made(module, step), f"eta = {_call(module, step)}"]
        etas = f"eta[0]{part}, eta[1]{part}"
        state += kept_axes_text(zip(step.region, axes, strict=True), module.writer())
    now = ""
    if step.alpha is not None:
        moved = f".transpose{order}" if order != tuple(sorted(order)) else ""
        folded = f".reshape{(*batch, prod(dense))}" if len(dense) > 1 else ""
        now = f", x={state}{moved}{folded}, alpha={step.alpha!r}"
    code = f"runtime.{_function(step)}(rng, {etas}, {(*batch, prod(dense))}{now})"
    if len(dense) > 1:
        code += f".reshape{(*batch, *dense)}"
    if order != tuple(sorted(order)):
        code += f".transpose{tuple(order.index(a) for a in range(len(order)))}"
    return [*first, f"{state} = {code}"]


def _labels(module: Module, step: FiniteDraw) -> list[str]:
    """A draw of labels from their log weights, whose first axis is the label."""
    state, draw, lower = _state(step), "runtime.labels", step.conditional.lower
    shift = f" + {lower}" if lower > 0 else f" - {-lower}" if lower < 0 else ""
    if step.is_by_element:
        return [
            _each(module, step),
            f"{INDENT}{state}[at] = {draw}(rng, {_call(module, step)}[(slice(None), *at)]){shift}",
        ]
    if module.is_whole(step):
        return [f"{state} = {draw}(rng, {_call(module, step)}){shift}"]
    where = where_text(module, step)
    first = made(module, step)
    behind = f"(slice(None), *{where[1:-1]})" if step.statement.known != 0 else f":, {where[1:-1]}"
    return [*first, f"{state}{where} = {draw}(rng, {_call(module, step)}[{behind}]){shift}"]


def _moved(module: Module, step: Move) -> list[str]:
    """The lines of a move: of all elements at once, of a part, or element by element."""
    statement, state = step.statement, _state(step)
    bounds = "".join(_bound(module, step, b) for b in ("lower", "upper"))
    if step.asked is not None and not step.asked.slices:
        return step.asked.lines(module, step, _call(module, step), bounds)
    where = where_text(module, step)
    part = not step.is_by_element and not module.is_whole(step)
    ends = f"{bounds}{', whole=True' if statement.support.is_discrete else ''}"
    shape = f"{state}{where}.shape" if part else str(module.shape(statement))
    width = f'runtime.width_of(s, "{statement.name}", {shape})'
    if statement.support.is_tied:
        return tied_move(module, step, _call(module, step), width)
    if step.is_by_element:
        by = "colours" if step.is_coloured else "elements"
        positions = _listed(module, step)
        return [
            f"{state} = runtime.slice_{by}(",
            f"{INDENT}rng, {state}, {_call(module, step)}, {width}, {positions}{ends}",
            ")",
        ]
    if part:
        at = where[1:-1] if statement.known != 0 else slices_text(step.region)
        arguments = f"{at}, {_call(module, step)}, {width}{ends}"
        return [f"{state} = runtime.slice_part(rng, {state}, {arguments})"]
    move = "slice_integers" if statement.support.is_discrete else "slice_batch"
    return [f"{state} = runtime.{move}(rng, {state}, {_call(module, step)}, {width}{bounds})"]


def _concave(module: Module, step: ConcaveDraw) -> list[str]:
    """The lines of a draw by adaptive rejection: of the whole, of a part, or by element."""
    change, state, where = step.conditional.change, _state(step), where_text(module, step)
    now = state if change is None else _mapped(module, step, change.forward, state)
    bounds = "".join(_bound(module, step, b) for b in ("lower", "upper"))
    call = _call(module, step)
    if step.is_by_element:
        by = "colours" if step.is_coloured else "elements"
        arguments = f"{now}, {call}, {_listed(module, step)}{bounds}"
        return _put_part(module, step, where, f"runtime.log_concave_{by}(rng, {arguments})")
    if not module.is_whole(step):
        at = where[1:-1] if step.statement.known != 0 else slices_text(step.region)
        arguments = f"{now}, {at}, {call}{bounds}"
        return _put_part(module, step, where, f"runtime.log_concave_part(rng, {arguments})")
    return _put(module, step, "", f"runtime.log_concave(rng, {call}, {now}{bounds})")


def _listed(module: Module, step: Single) -> str:
    """The elements of each call, or each by itself."""
    return (colours_text if step.is_coloured else positions_text)(module, step)


def _put_part(module: Module, step: ConcaveDraw, where: str, whole: str) -> list[str]:
    """Lines that assign the drawn part of an array to its place."""
    change = step.conditional.change
    if change is None:
        return [f"{_state(step)} = {whole}"]
    new = module.names.of(step.conditional.place.array.name)
    undone = _mapped(module, step, change.backward, new)
    return [f"{new} = {whole}", f"{_state(step)}{where} = ({undone}){where}"]


def _bound(module: Module, step: Move | ConcaveDraw, name: str) -> str:
    """A bound of the support as a keyword; empty without a bound."""
    of = step.conditional if isinstance(step, ConcaveDraw) else step.statement
    value: Expr = sp.sympify(getattr(of.support, name))
    # A bound that is another element of the same array is a term of the log density.
    if value in (sp.oo, -sp.oo) or mentions(value, step.variables):
        return ""
    writer = module.writer()
    axes = module.dims(step.statement)
    writer.arrange(axes)
    return f", {name}={_qualified(module, writer, writer.align(writer.write(value), axes))}"


def _call(module: Module, step: Step) -> str:
    return f"{module.functions[step.name]}(s, c)"


def _state(step: Step) -> str:
    return f's["{step.statement.target.array.name}"]'


def _qualified(module: Module, writer: Writer, code: str) -> str:
    """The text with local names written as entries of the state and the constants."""
    entries = {local: f's["{name}"]' for name, local in writer.state_names.items()}
    entries |= {module.names.of(n): f'c["{n}"]' for n in writer.constant_names}
    module.hoisted.arrays |= writer.constant_names
    entries |= {n: f'c["{n}"]' for n in module.hoisted.all_names}
    return renamed(code, entries)
