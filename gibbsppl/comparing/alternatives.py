"""All choices of a sweep: those made by theory, and what else there was where rules decide.

Comes in: a model with its schedule and settings. Goes out: each `Choice`, with the settings that
ask for its other candidates. A kind of choice is a function of `KINDS`, which looks at the schedule
alone; nothing is compiled until operations are counted (`counted_choices`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gibbsppl.derive.match_results import Conditional
from gibbsppl.derive.quadratic import Quadratic, is_quadratic, quadratic_of
from gibbsppl.errors import CompileError
from gibbsppl.kernels import NUTS, EllipticalSlice
from gibbsppl.kernels.composed import OFFERED
from gibbsppl.kernels.defaults import maker_of
from gibbsppl.kernels.modal import ModalMove
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.pieces.dependence import count_of
from gibbsppl.planning import held_by, held_by_term
from gibbsppl.planning.concave_blocks import is_searched_for
from gibbsppl.rewrites import (
    LOCATIONS,
    MARGINAL_MOVES,
    PARTS,
    UNSEEN,
    Rule,
    collapsible,
    possible,
)
from gibbsppl.schedule.asked import Asked
from gibbsppl.schedule.blocks import MATRIX, ROWS, blocks_of
from gibbsppl.schedule.choices import Candidate, Choice, Counting, asking
from gibbsppl.schedule.kernel import Kernel
from gibbsppl.schedule.kinds import DensityDraw
from gibbsppl.schedule.precisions import may_have_rows
from gibbsppl.schedule.steps import Step
from gibbsppl.schedule.sweeps import Schedule
from gibbsppl.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Planned:
    """A model with its data, the schedule that is planned for it, and the settings of this."""

    graph: Graph
    data: Values
    schedule: Schedule
    settings: Settings

    def asking(self, name: str, more: Mapping[Any, Any]) -> dict[str, Any]:
        """The settings that ask for more by a name."""
        return asking(self.settings, name, more)

    def decided_beside(self, choice: Choice) -> Choice:
        """A choice whose candidates ask for what has been decided about the schedule, too.

        (With a variable collapsed no other one is integrated out of moves.)
        """
        decided = self.schedule.decided
        if any("collapse" in c.settings for c in choice.others):
            left = {k: v for k, v in decided.get("rewrites", {}).items() if k != MARGINAL_MOVES}
            decided = {**decided, "rewrites": left}
        return choice.with_decided(decided)

    @property
    def own(self) -> list[Step]:
        """The steps that nobody has asked for, but for non-centred updates."""
        every = self.schedule.steps
        return [s for s in every if s.name not in self.schedule.interwoven and s.asked is None]

    def drawn(self, steps: Iterable[Step]) -> tuple[str, ...]:
        """The variables of the model that some steps draw."""
        whole = {p.name: p.of for p in self.schedule.parts}
        names = (whole.get(n, n) for s in steps for n in s.variables)
        return tuple(dict.fromkeys(n for n in names if n in self.graph.variables))


def choices_of(planned: Planned) -> tuple[Choice, ...]:
    """The choices of a sweep that the user has left open, with what has been counted.

    Of candidates with equal settings, or of equal names, the first. None besides those made by
    theory where conditionals are not drawn from.
    """
    found = list(planned.schedule.choices)
    known = [c.settings for choice in found for c in (choice.made, *choice.others)]
    named = {choice.named(c) for choice in found for c in (choice.made, *choice.others)}
    for kind in () if planned.settings["by"] else KINDS:
        for choice in map(planned.decided_beside, kind(planned)):
            new = (c for c in choice.others if choice.named(c) not in named)
            others = tuple(c for c in new if c.settings not in known)
            known += [c.settings for c in others]
            found += [replace(choice, others=others)] if others else []
    return tuple(c for c in found if c.is_open(planned.settings))


def counted_choices(choices: Iterable[Choice], own: float, count: Counting) -> tuple[Choice, ...]:
    """The choices with the operations of all candidates, ``own`` those of the schedule."""
    found = (c.counted(own, count) for c in choices)
    return tuple(c for c in found if c is not None)


# ---- rewrites ------------------------------------------------------------------------------------


def _auxiliary(planned: Planned) -> Iterator[Choice]:
    """Yield what has auxiliary variables, or might have: what the terms of rules hold."""
    schedule, graph = planned.schedule, planned.graph
    made: dict[frozenset[str], list[Rule]] = {}
    for rule in {r.rule.name: r.rule for r in schedule.rewrites}.values():
        made.setdefault(frozenset(held_by(schedule, (rule.name,), graph)), []).append(rule)
    others = {names: [_by_rule(planned, r, wanted=False) for r in made[names]] for names in made}
    open_names, left = set[str](), list[Candidate]()
    for rewrite in possible(graph, planned.data, schedule.rewrites):
        held = held_by_term(rewrite).intersection(graph.drawn)
        other = _by_rule(planned, rewrite.rule, wanted=True)
        own = next((others[names] for names in made if names & held), left)
        own += [] if other in own else [other]
        open_names |= held if own is left else set()
    for names, candidates in others.items():
        what = "with " + " and ".join(f'"{r.name}"' for r in made[names])
        yield Choice(_in_order(graph, names), Candidate(what, {}), tuple(candidates))
    if left:
        made_without = Candidate("without auxiliary variables", {})
        yield Choice(_in_order(graph, open_names), made_without, tuple(left))


def _by_rule(planned: Planned, rule: Rule, *, wanted: bool) -> Candidate:
    what = f'with "{rule.name}"' if wanted else f'without "{rule.name}"'
    asked = planned.asking("rewrites", {rule.name: wanted})
    # (of one that is made the lines on auxiliary variables say it)
    return Candidate(what, asked, of_model=True, known_as=rule.known_as if wanted else "")


def _in_order(graph: Graph, names: Collection[str]) -> tuple[str, ...]:
    """Names of drawn variables as declared; all where none is named."""
    return tuple(n for n in graph.drawn if n in names) or tuple(graph.drawn)


def _forbidding(
    planned: Planned, names: Iterable[str], what: str, otherwise: str, rewrite: str
) -> Iterator[Choice]:
    """Yield the choice of what is done to some variables unless it is forbidden."""
    other = Candidate(otherwise, planned.asking("rewrites", {rewrite: False}))
    if found := tuple(dict.fromkeys(names)):
        yield Choice(found, Candidate(what, {}), (other,))


def _parts(planned: Planned) -> Iterator[Choice]:
    """Yield the arrays that are taken apart."""
    names = (p.of for p in planned.schedule.parts)
    return _forbidding(planned, names, "taken apart", "not taken apart", PARTS)


def _unseen(planned: Planned) -> Iterator[Choice]:
    """Yield the arrays that are drawn last."""
    names = planned.schedule.leaves
    return _forbidding(planned, names, "drawn last", "drawn with all others", UNSEEN)


def _locations(planned: Planned) -> Iterator[Choice]:
    """Yield the variables that are drawn without others, which the user has not named."""
    if planned.settings["collapse"]:
        return
    own = [s for s in planned.own if planned.schedule.graph_of(s).marginals]
    made, other = "drawn without the locations", "drawn given the locations"
    yield from _forbidding(planned, planned.drawn(own), made, other, LOCATIONS)


def _collapsed(planned: Planned) -> Iterator[Choice]:
    """Yield the variables that might be integrated out of draws of labels, or of moves."""
    asked = tuple(planned.settings["collapse"])
    # (with its auxiliary variables: what these give a closed form gains nothing from collapsing)
    found = collapsible(planned.schedule.graph, planned.data)
    chosen = {c.variables for c in planned.schedule.choices}
    known = {*asked, *(n for n in found if (n,) in chosen)}
    names = tuple(n for n in found if n in planned.graph.variables and n not in known)
    others = tuple(
        Candidate(f"{n} collapsed", {"collapse": (*asked, n)}, of_model=True) for n in names
    )
    if names:
        yield Choice(names, Candidate("not collapsed", {}), others)


def _not_interwoven(planned: Planned) -> Iterator[Choice]:
    """Yield the variables that are drawn once more with others moving along.

    Not those about which theory has chosen.
    """
    every = tuple(planned.schedule.interwoven.values())
    chosen = [{*c.variables} for c in planned.schedule.choices]
    for one in every if planned.settings["interweave"] is True else ():
        names = tuple(dict.fromkeys((*one.variables, one.group)))
        left = tuple(dict.fromkeys(v for i in every if i is not one for v in i.variables))
        other = Candidate("not interwoven", {"interweave": left or False})
        if not planned.graph.variables.keys() >= {*left}:  # (of working scales none is asked for)
            continue
        if not any({*names} <= own for own in chosen):
            yield Choice(names, Candidate("interwoven", {}), (other,))


# ---- joint draws and moves -----------------------------------------------------------------------


def _one_by_one(planned: Planned, names: Iterable[str]) -> Candidate:
    apart: dict[Any, str] = dict.fromkeys(names, "elements")
    return Candidate("one by one", planned.asking("blocks", apart))


def _layouts(planned: Planned) -> Iterator[Choice]:
    """Yield the blocks of more elements than rows of data, by the matrix that is factorised."""
    for step in planned.own:
        names = planned.drawn([step])
        if names != tuple(step.variables) or step.is_move:
            continue
        graph = planned.schedule.graph_of(step)
        block = _quadratic(graph, step, planned.data)
        if block is None or not may_have_rows(graph, block):
            continue
        key: Any = names if len(names) > 1 else names[0]
        by_rows, by_elements = (
            Candidate(what, planned.asking("blocks", {key: layout}))
            for what, layout in (("by rows of data", ROWS), ("by the precision matrix", MATRIX))
        )
        is_by_rows = getattr(step, "rows", None) is not None
        made, other = (by_rows, by_elements) if is_by_rows else (by_elements, by_rows)
        yield Choice(names, made, (other,))


def _proposed(planned: Planned) -> Iterator[Choice]:
    """Yield the blocks whose elements are proposed at once: all, or some with others besides."""
    can_be_exact = not (planned.schedule.fallbacks or planned.schedule.asked)
    without = Candidate("without proposals", {"exact": True}, of_model=True)
    for step in planned.own:
        names = planned.drawn([step])
        if isinstance(step, ModalMove) and not step.last:
            yield Choice(names, Candidate("proposed", {}), (_one_by_one(planned, names),))
        elif isinstance(step, ModalMove) and can_be_exact:
            others = ", ".join(n for n in step.variables if n not in step.last)
            made = Candidate(f"also proposed, {others} moving along", {})
            yield Choice(tuple(step.last), made, (without,))


def _paths(planned: Planned) -> Iterator[Choice]:
    """Yield the variables that are moved together along paths."""
    for step in planned.schedule.fallbacks:
        if not isinstance(step, DensityDraw):
            names = planned.drawn([step])
            made = Candidate(f"together by {step.kernel}", {})
            yield Choice(names, made, (_one_by_one(planned, names),))


def _ellipses(planned: Planned) -> Iterator[Choice]:
    """Yield the arrays that move along an ellipse besides being drawn by element.

    Not those about which theory has chosen.
    """
    chosen = {c.variables for c in planned.schedule.choices}
    for step in planned.schedule.beside:
        if planned.drawn([step]) in chosen:
            continue
        (name,) = names = planned.drawn([step])
        along = planned.asking("kernels", {name: EllipticalSlice()})
        others = _one_by_one(planned, names), Candidate(f"by {step.kernel} alone", along)
        yield Choice(names, Candidate(f"by {step.kernel} and one by one", {}), others)


def _by_density(planned: Planned) -> Iterator[Choice]:
    """Yield the variables drawn by their log density, by each kernel for all that it applies to."""
    if planned.settings["exact"]:
        return
    offered: tuple[Any, ...] = OFFERED
    every = (s for s in planned.own if isinstance(s, DensityDraw))
    own = [s for s in every if not s.statement.support.is_discrete]
    for owner in dict.fromkeys(s.kernel for s in own):
        steps = [s for s in own if s.kernel == owner]
        names = planned.drawn(steps)
        others = list[Candidate]()
        for kernel in (k() for k in offered if k.by_log_density and str(k()) != owner):
            able = planned.drawn(s for s in steps if applies(planned, kernel, s))
            asked = planned.asking("kernels", dict.fromkeys(able, kernel))
            what = f"by {kernel}" if able == names else f"{', '.join(able)} by {kernel}"
            others += [Candidate(what, asked)] if able else []
        others += _together(planned, steps)
        if others:
            yield Choice(names, Candidate(f"by {owner}", {}), tuple(others))


def _together(planned: Planned, steps: Iterable[DensityDraw]) -> Iterator[Candidate]:
    """Yield the ways to move all elements of some steps at once: proposed, or along paths."""
    every = [*steps]
    names = planned.drawn(every)
    count = sum(count_of(planned.schedule.graph_of(s), s.statement) for s in every)
    graphs = {id(planned.schedule.graph_of(s)) for s in every}
    if count < 2 or len(graphs) > 1:
        return
    key: Any = names if len(names) > 1 else names[0]
    if all(is_searched_for(s.conditional) for s in every):
        yield Candidate("proposed", planned.asking("blocks", {key: "proposed"}))
    if applies(planned, kernel := NUTS(), *every):
        yield Candidate(f"together by {kernel}", planned.asking("kernels", {key: kernel}))


def applies(planned: Planned, kernel: Kernel, *steps: DensityDraw) -> bool:
    """Whether a kernel may take the place of a step by the log density, or of several at once."""
    graph, first = planned.schedule.graph_of(steps[0]), steps[0].conditional
    if any(s.variables[0] not in planned.graph.variables for s in steps):  # (of a part)
        return False
    elements = blocks_of(planned.settings["blocks"]).elements
    together = tuple(s.statement for s in steps) if kernel.takes_several else ()
    asked = Asked(maker_of(graph), graph, first, planned.data, elements, together)
    try:
        kernel.step(asked)
    except CompileError:
        return False
    return True


def _quadratic(graph: Graph, step: Step, data: Values) -> Quadratic | None:
    """The log density of a joint draw, or of the draw of one vector; None of others."""
    found = getattr(step, "conditional", None)
    if isinstance(found, Quadratic):
        return found
    is_vector = isinstance(found, Conditional) and bool(found.event) and is_quadratic(found)
    return quadratic_of(graph, step.statements, data) if is_vector else None


# All kinds, in the order in which their choices are told.
KINDS: tuple[Callable[[Planned], Iterator[Choice]], ...] = (
    _auxiliary, _parts, _unseen, _locations, _layouts, _proposed, _paths, _ellipses, _by_density,
    _not_interwoven, _collapsed,
)  # fmt: skip
