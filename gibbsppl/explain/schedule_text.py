"""A schedule as text: what ``print(sampler)`` shows.

Fallbacks come first, each with its reason; then the steps in the order of the sweep, each with the
variable, the family, how it is drawn, and its natural parameters in the model's own notation.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gibbsppl.algebra.notation import Notation, wrapped
from gibbsppl.derive.match_results import NotConjugate
from gibbsppl.errors import counted
from gibbsppl.explain.leaves import leaf_lines
from gibbsppl.explain.names import drawn_name
from gibbsppl.explain.repairs import family_named, nearest, proposed
from gibbsppl.model.graph import PLAIN, Graph
from gibbsppl.model.graph_views import short_notation
from gibbsppl.rewrites.applied import Rewrite
from gibbsppl.runtime.libraries import library_of
from gibbsppl.schedule.choices import choices_told
from gibbsppl.schedule.composed import Composed
from gibbsppl.schedule.deferral import deferred
from gibbsppl.schedule.kinds import FamilyDraw
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule

WIDTH = 100
INDENT = " " * 6
MOST_LINES = 3
# A longer name, one of several variables, has a line of its own.
LONG_NAME = 24
CUT = "..."
NOT_IN_LOOPS = "(not counted, since compiled loops do not have all of their steps)"


def schedule_text(schedule: Schedule, data: Mapping[str, Any]) -> str:
    """The schedule: a title, the fallbacks with their reasons, the steps in order.

    ``data`` is what repairs are tried with.
    """
    lines = [title_of(schedule), *told_before(schedule, data)]
    if schedule.fallbacks:
        lines += ["sweep"]
    rows = _rows(schedule, short_notation(schedule.whole))
    lines += rows
    lines += composed_told(schedule)
    lines += units_told(schedule)
    if any(CUT in line for line in rows):
        lines.append(f'({CUT} stands for what is too long for a line; explain("name") shows all)')
    return "\n".join(lines)


def told_before(schedule: Schedule, data: Mapping[str, Any]) -> list[str]:
    """The lines before the steps: rewrites, choices, fallbacks with their reasons."""
    notation = short_notation(schedule.whole)
    choices = choices_told(schedule.choices, NOT_IN_LOOPS)
    told = [*_rewrites(schedule, notation), *(f"  {line}" for line in choices)]
    for move in schedule.fallbacks:
        told += _fallback(move, schedule, notation, data)
    return [part for line in told for part in _folded(line)]


def _rewrites(schedule: Schedule, notation: Notation) -> list[str]:
    """The parts; auxiliary variables, by which rule; what is drawn last, or apart; memory."""
    return [
        *(f"  {line}" for line in parts_told(schedule)),
        *(
            f"  added {r.variable}: {_named(r)}, from {notation.text(r.term)} in {r.factor}"
            for r in schedule.rewrites
        ),
        *(f"  {name} drawn last: {why}" for name, why in leaf_lines(schedule)),
        *(f"  {large}" for large in schedule.apart),
        *(f"  {line}" for line in _libraries(schedule)),
        *(f"  {line}" for line in schedule.memory),
    ]


def _libraries(schedule: Schedule) -> Iterator[str]:
    """The steps whose arrays a library draws in NumPy, each with its version."""
    for step in schedule.steps:
        natural = step.family.natural if isinstance(step, FamilyDraw) else None
        library = None if natural is None else library_of(natural.draw)
        if library is not None:
            yield f"{step.name} drawn in NumPy by {library.told}"


def _named(rewrite: Rewrite) -> str:
    """The rule of a rewrite by its name, and as the field knows it."""
    rule = rewrite.rule
    return f'"{rule.name}" ({rule.known_as})' if rule.known_as else f'"{rule.name}"'


def parts_told(schedule: Schedule) -> list[str]:
    """For each array that is taken apart, the axis and the parts."""
    told = []
    for of in dict.fromkeys(p.of for p in schedule.parts):
        parts = [p for p in schedule.parts if p.of == of]
        (along,) = set(schedule.whole.variables[of].dims) - set(parts[0].dims)
        told.append(f"{of} taken apart along {along}: {', '.join(p.name for p in parts)}")
    return told


def _folded(line: str) -> list[str]:
    """A line that is too long as several, the later ones further in."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.wrap(
        line, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def title_of(schedule: Schedule) -> str:
    """The name of a model, the number of its steps, and how many are not exact."""
    more = len(schedule.interwoven)
    found = [f"{len(schedule.approximate)} approximate"] if schedule.approximate else []
    if schedule.fallbacks:
        found.append(counted(len(schedule.fallbacks), "fallback"))
    if schedule.proposed:
        found.append(f"{len(schedule.proposed)} by proposals")
    if schedule.beside:
        found.append(f"{len(schedule.beside)} beside others")
    if schedule.asked:
        found.append(f"{len(schedule.asked)} by kernels asked for")
    ways = [s.by for s in schedule.steps if s.by != "draw"]
    found += [f"{ways.count(way)} by {way}" for way in dict.fromkeys(ways)]
    how = ", ".join(found or ["all exact"])
    scan = "" if schedule.scan == "systematic" else f", {schedule.scan} scan"
    also = f", and {more} interwoven" if more else ""
    steps = counted(len(schedule.steps) - more, "step")
    return f"{schedule.graph.name}: {steps}, {how}{scan}{also}"


def composed_told(schedule: Schedule) -> list[str]:
    """How the steps by one kernel follow one another, for each kernel made of others."""
    return [line for c in schedule.composed for line in _folded(f"  {turn_told(c, schedule)}")]


def turn_told(composed: Composed, schedule: Schedule) -> str:
    """How the steps by one kernel follow one another, in words."""
    name = name_of(schedule.step(composed.names[0]), schedule)
    told = composed.told(lambda step: owner_of(schedule.step(step), schedule))
    return f"{name} in each sweep: {told}"


def units_told(schedule: Schedule) -> list[str]:
    """The scan in words, with units and probabilities; nothing if systematic."""
    if not schedule.units:
        return []
    total = sum(schedule.weights)
    shares = [f" ({100 * w / total:.3g} %)" for w in schedule.weights] or [""] * len(schedule.units)
    units = [
        " then ".join(schedule.steps[j].name for j in unit) + share
        for unit, share in zip(schedule.units, shares, strict=True)
    ]
    number = counted(len(units), "unit")
    if schedule.scan == "symmetric":
        told = f"symmetric scan: a sweep draws {number} forwards, then backwards"
    else:
        chances = "with these probabilities" if schedule.weights else "all equally likely"
        told = f"random scan: a sweep draws {number}, each chosen at random, {chances}"
    return _folded(f"{told}: {'; '.join(units)}")


def _fallback(
    move: Step, schedule: Schedule, notation: Notation, data: Mapping[str, Any]
) -> list[str]:
    """What is moved and why, the nearest family, and the smallest repair."""
    graph, name = schedule.graph, drawn_name(move, schedule.graph)
    is_are = "are" if len(move.refusals) > 1 else "is"
    lines = [f"  fallback: {name} {is_are} moved by {move.method}, not drawn exactly"]
    for refusal in move.refusals:
        of = f"{refusal.statement.name}: " if len(move.refusals) > 1 else ""
        lines += [f"    {of}{refusal.reason}"]
        lines += [f"    {hint}" for hint in nearest_hint(graph, refusal, notation, data)]
        repair = next(proposed(graph, refusal, data), None)
        found = [] if repair is None else f"repair: {repair.text}".splitlines()
        lines += [f"    {line}" for line in found]
    return lines


def nearest_hint(
    graph: Graph, refusal: NotConjugate, notation: Notation, data: Mapping[str, Any]
) -> list[str]:
    """The nearest family, and the terms in its way."""
    found = nearest(graph, refusal, data)
    offending = refusal.offending if found is None else found.offending
    family = refusal.nearest if found is None else family_named(found.conditional)
    in_the_way = {(notation.text(p.statistic), p.factor): None for p in offending}
    terms = ", ".join(f"{statistic} (from {factor})" for statistic, factor in in_the_way)
    if family is not None:
        return [f"nearest family: {family}, were it not for {terms}"]
    return [f"in the way: {terms}"] if 0 < len(offending) < len(refusal.pieces) else []


def _rows(schedule: Schedule, notation: Notation) -> list[str]:
    put_off = deferred(schedule)
    heads = [
        (name_of(s, schedule), owner_of(s, schedule), how_told(s, schedule, s.name in put_off))
        for s in schedule.steps
    ]
    short = [(name if len(name) <= LONG_NAME else "", *rest) for name, *rest in heads]
    widths = [max(map(len, column)) for column in zip(*short, strict=True)] if heads else []
    lines = []
    held = ""
    for step, (name, *_), head in zip(schedule.steps, heads, short, strict=True):
        if (holding := held_told(step, schedule, notation)) != held:
            lines += _folded(f"  {holding or 'with nothing held fixed'}:")
        held = holding
        lines += [] if head[0] else _folded("  " + name)
        cells = (cell.ljust(width) for cell, width in zip(head, widths, strict=True) if width)
        lead = "  " + "  ".join(cells) + "  "
        lines += _laid_out(lead, *step.formula(notation))
    return [line.rstrip() for line in lines]


def name_of(step: Step, schedule: Schedule) -> str:
    """The variables that a step draws, in the names of the model."""
    step = step.instead_of or step
    name, array = drawn_name(step, schedule.whole), step.variables[0]
    return schedule.drawn_by(step)[0] + name.removeprefix(array)


def how_told(step: Step, schedule: Schedule, is_deferred: bool) -> str:
    """How elements are drawn, and whether only where something recorded depends on them."""
    how, names = step.how(schedule.whole), ", ".join(_integrated(step, schedule))
    told = (how, f"{names} integrated out" if names else "", "when recorded" if is_deferred else "")
    return ", ".join(filter(None, told))


def _integrated(step: Step, schedule: Schedule) -> list[str]:
    """The variables of the model that are integrated out of a draw, and drawn after it.

    (Scans say so themselves, and what is drawn last is out of all other draws.)
    """
    if step.name in schedule.interwoven or step.kind == "scan":
        return []
    own = {p.of for p in schedule.parts}.union(schedule.auxiliary, schedule.leaves)
    drawn = schedule.graph_of(step).drawn
    return [n for n in schedule.graph.drawn if n not in own.union(drawn)]


def owner_of(step: Step, schedule: Schedule) -> str:
    """The owner of a step; of a stand-in, with its formula."""
    own = [r for r in schedule.stand_ins(step) if r.name in step.variables]
    return step.owner + "".join(f" of {PLAIN.text(r.forward)}" for r in own)


def held_told(step: Step, schedule: Schedule, notation: Notation) -> str:
    """The arrays that a non-centred update holds fixed, in words; else nothing."""
    held = [r for r in schedule.stand_ins(step) if r.name not in step.variables]
    if not held:
        return ""
    fixed = ", ".join(f"{r.name} = {notation.text(r.forward)}" for r in held)
    return f"interwoven, with {fixed} held fixed, {', '.join(r.of for r in held)} moving along"


def _laid_out(lead: str, opening: str, parts: Sequence[str], closing: str) -> list[str]:
    """The formula on one line; else each part on its own; else below, wrapped and cut short."""
    whole = lead + opening + ", ".join(parts) + closing
    if len(whole) <= WIDTH:
        return [whole]
    ends = [","] * (len(parts) - 1) + [closing]
    lines = _aligned(lead + opening, parts, ends)
    if max(map(len, lines)) <= WIDTH:
        return lines
    below = _aligned(INDENT + opening, [_wrapped(p, opening) for p in parts], ends)
    if len(below[-1]) > WIDTH:
        shut, told = closing[:1], closing[1:].removeprefix(", ")
        ends[-1] = f"{shut},"
        below = _aligned(INDENT + opening, [_wrapped(p, opening) for p in parts], ends)
        below += _folded(INDENT + told)
    return [lead, *below]


def _aligned(start: str, parts: Sequence[str], ends: Sequence[str]) -> list[str]:
    """The parts below one another, after a start."""
    text = ("\n").join(p + e for p, e in zip(parts, ends, strict=True))
    first, *rest = text.split("\n")
    return [start + first, *(" " * len(start) + line for line in rest)]


def _wrapped(part: str, opening: str) -> str:
    """The part in at most a few lines, cut short if it needs more."""
    lines = wrapped(part, WIDTH - len(INDENT + opening) - len(CUT) - 1)
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1] + " " + CUT]
    return "\n".join(lines)
