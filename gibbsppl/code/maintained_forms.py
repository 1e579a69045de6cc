"""Source text of the values of forms in the state: computed anew, updated, read.

Comes in: a step. Goes out: the step's lines in the sweep, with lines that add the step's changes to
the values of forms (or, for changes that are not linear, drop the values, to be computed anew by
the next reader); and the step's parameters, which read the values. The value of a form is a cache:
any step may stand between two readers, and a state without it is a state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import sympy as sp
from sympy import Mul

from gibbsppl.algebra.expressions import (
    Expr,
    Leaf,
    Over,
    dims_of,
    leaves_of,
    mentions,
)
from gibbsppl.code.columns import anew_name, by_position, column_writer, flat_text, in_column
from gibbsppl.code.lines import INDENT, indented
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.text import tuple_text
from gibbsppl.code.numpy_text.writer import Writer
from gibbsppl.derive.contractions import Contribution
from gibbsppl.model.graph import PLAIN
from gibbsppl.schedule.element_loops import (
    ElementLoop,
    is_carried,
    moved_by,
    reading_kept,
)
from gibbsppl.schedule.kept_sums import Kept
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.mean_loops import ByForm
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Step


def maintained_form_functions(module: Module, step: Step) -> list[str]:
    """The functions of the forms kept by a step, except functions already written."""
    found = []
    for kept in module.kept:
        loop = module.loops.get(step.name)
        is_own = loop is not None and loop.form.form == kept.form
        if loop is not None and is_own and module.is_new(anew_name(module, kept)):
            found += [_computed(module, kept, loop), *_moved(module, kept)]
    return found


def carried_forms(module: Module) -> dict[str, str]:
    """For each form kept from sweep to sweep: one of its steps -> the recomputing function."""
    found = {}
    for kept in module.kept:
        own = _drawn_by(module, kept)
        if is_carried(module.schedule, kept, own):
            found[own[0]] = anew_name(module, kept)
    return found


def with_form_updates(module: Module, step: Step, lines: list[str]) -> list[str]:
    """The lines of a step, with updates of the forms that depend on the arrays it changes."""
    changed = set(module.schedule.changed_by(step))
    before: list[str] = []
    after: list[str] = []
    for kept in module.kept:
        if not changed & kept.read or step.name in _drawn_by(module, kept):
            continue
        if moved_by(module.schedule, step, kept) is None:
            after.append(f's.pop("{kept.name}", None)  # to be computed anew')
            continue
        names = [n for n in module.schedule.changed_by(step) if n in kept.read]
        olds = {n: module.names.called("before", n, like=f"{n}_before") for n in names}
        known = f'if "{kept.name}" in s else 0.0'
        before += [f'{old} = s["{n}"] + 0.0 {known}' for n, old in olds.items()]
        change = ", ".join(f'"{n}": s["{n}"] - {old}' for n, old in olds.items())
        after.append(f'if "{kept.name}" in s:')
        call = f"{_moved_name(module, kept, step)}(s | {{{change}}}, c)"
        after.append(f'{INDENT}s["{kept.name}"] += {call}')
    before = list(dict.fromkeys(before))
    if step.is_by_element and lines and lines[0].startswith("for "):
        # (each call reads the changes of the calls before)
        return [lines[0], *indented(before), *lines[1:], *indented(after)]
    return [*before, *lines, *after]


def parameters_with_forms(
    module: Module, step: FamilyDraw
) -> tuple[tuple[NaturalParameter, ...], list[str]]:
    """The parameters of a step, written with kept forms, and lines that compute absent forms."""
    if not module.kept or step.name in module.loops or step.dense:
        return step.parameters, []
    own = step.variables

    def read(c: Contribution) -> Contribution:
        return replace(c, value=reading_kept(c.value, module.kept, own, module.graph.sizes))

    parameters = tuple(
        replace(p, contributions=tuple(map(read, p.contributions))) for p in step.parameters
    )
    names = {k.name for k in module.kept}
    every = (x for p in parameters for c in p.contributions for x in c.value.atoms(Leaf))
    used = {x.array.name for x in every} & names
    return parameters, [
        f's = s if "{k.name}" in s else s | {anew_name(module, k)}(s, c)'
        for k in module.kept
        if k.name in used
    ]


def _computed(module: Module, kept: Kept, loop: ElementLoop) -> str:
    """The function that computes a form anew, position by position of the outer axes."""
    step = module.schedule.step(_drawn_by(module, kept)[0])
    assert isinstance(step, FamilyDraw)  # (element loops are of these)
    writer = column_writer(module, step, loop)
    body = lines_anew(module, writer, step, loop, "value")
    shape = list(map(writer.length_text, kept.over))
    shaped = "value" if len(shape) == 1 else f"value.reshape{tuple_text(shape)}"
    body.append(f'return {{"{kept.name}": {shaped}}}')
    doc = f"{kept.name}, computed anew: {PLAIN.text(kept.form)}."
    return module.function(anew_name(module, kept), doc, writer, body)


def lines_anew(
    module: Module, writer: Writer, step: FamilyDraw, loop: ByForm, name: str
) -> list[str]:
    """Lines that compute a form anew, flat, under a local name."""
    looped, rest = _summands(loop)
    code, _ = flat_text(writer, loop.form.over, rest, spread=True)
    body = [f"{name} = runtime.owned({code})"]
    for term in looped:
        code, _ = flat_text(writer, loop.form.over, term, spread=True)
        body += by_position(module, writer, step, loop, [f"{name} += {code}"])
    return body


def _summands(loop: ByForm) -> tuple[list[Expr], Expr]:
    """The summands of the terms that are sums over an outer axis, and the rest of the form."""
    looped: list[Expr] = []
    rest: list[Expr] = []
    for term in sp.Add.make_args(loop.form.form):
        body = _summand(loop, term)
        if body is None:
            rest.append(term)
        else:
            looped.append(body)
    return looped, sp.Add(*rest)


def _summand(loop: ByForm, term: Expr) -> Expr | None:
    """The summand of a term that is a sum over the outer axis, read in a column; else None."""
    sums = [f for f in Mul.make_args(term) if isinstance(f, Over)]
    if not loop.outer or len(sums) != 1 or not mentions(term, loop.arrays):
        return None
    (whole,) = sums
    (dim,) = whole.bound
    own = leaves_of(whole.body, loop.arrays)
    if len(whole.args) > 2 or any(x.indices[loop.outer[0]] != dim for x in own):
        return None
    body = in_column(loop, Mul(term / whole, whole.body))
    return None if dim in dims_of(body) else body


def _moved(module: Module, kept: Kept) -> Iterator[str]:
    """The functions of a form's change, one for each step in which the form is linear."""
    own = _drawn_by(module, kept)
    for step in module.schedule.steps:
        terms = moved_by(module.schedule, step, kept)
        if step.name in own or terms is None:
            continue
        writer = module.writer()
        code, _ = flat_text(writer, kept.over, terms, spread=False)
        shape = tuple_text(map(writer.length_text, kept.over))
        is_flat = len(kept.over) > 1 and dims_of(terms)
        shaped = f"({code}).reshape{shape}" if is_flat else code
        drawn = ", ".join(n for n in step.variables if n in kept.read)
        doc = f"What {kept.name} changes by, where s has the changes of {drawn}."
        name = _moved_name(module, kept, step)
        yield module.function(name, doc, writer, [f"return {shaped}"])


def _moved_name(module: Module, kept: Kept, step: Step) -> str:
    like = f"{kept.name}_by_{'_'.join(step.variables)}"
    return module.names.called("moved", kept.name, step.name, like=like)


def _drawn_by(module: Module, kept: Kept) -> tuple[str, ...]:
    """The steps that draw by a form."""
    loops = module.loops.items()
    return tuple(name for name, loop in loops if loop.form.form == kept.form)
