"""The derivation of a sampler: settings carried out on a graph, and the program written.

Comes in: a graph, its data, settings in canonical form. Goes out: a `Derivation`. Only what has
not been derived before comes here (`gibbsppl.cache`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from math import isnan, nan
from typing import Any

from gibbsppl.analysis.domains import within_domains, without_spellings
from gibbsppl.analysis.truncations import check_truncations
from gibbsppl.cache.derivation import Derivation, Facts
from gibbsppl.code.trials import Trial
from gibbsppl.errors import CompileError
from gibbsppl.initial.impossible import check_possible
from gibbsppl.initial.looking import looked_at
from gibbsppl.initial.settled import settled_states
from gibbsppl.kernels import kernels_of, moved_together
from gibbsppl.model.asked import answer, asked_of, plain
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.planning import (
    Control,
    Forgotten,
    Planned,
    addable,
    check_asked,
    check_kernels,
    forgotten_of,
    functions_of,
    integrable,
    interwoven_if,
    is_closed,
    is_partial,
    is_proposed,
    planned,
    replaceable,
    with_choices,
    with_ellipses,
    with_marginal_moves,
    with_or_without,
    with_proposals,
    with_recentred,
    with_ridges,
)
from gibbsppl.rewrites import MARGINAL_MOVES, REWRITES, Found, Rewritten, Rule, rewritten
from gibbsppl.run.integer_types import integer_types
from gibbsppl.schedule.blocks import Blocks, blocks_of, check_names
from gibbsppl.schedule.choices import Choice, asking, choices_told, with_decided
from gibbsppl.schedule.scanning import checked_scan
from gibbsppl.schedule.sweeps import Schedule
from gibbsppl.settings import Settings

# A plan, the choices by which it was made, and the settings that these have changed.
Proposing = tuple[Planned, tuple[Choice, ...], tuple[Settings, ...]]


def derived(graph: Graph, data: Values, settings: Settings, *, declared: bool) -> Derivation:
    """The derivation of a graph, a ``declared`` one that has no limits of parameters yet."""
    asked = asked_of(data)
    limited = answer(asked, _limited, graph) if declared else graph
    made = scheduled(limited, asked, settings)
    found = asked.record.kept()
    # (a plan has no data of its own)
    rewrites = tuple(replace(r, data={}) for r in made.schedule.rewrites)
    schedule = replace(made.schedule, memory=made.written.told, rewrites=rewrites)
    known = {**plain(made.data), **schedule.tables}
    dims = {n: v.dims for n, v in schedule.whole.variables.items()}
    dims |= {d.name: d.dims for d in limited.deterministics}
    facts = Facts(
        source=made.source,
        limits=limited.potentials[len(graph.potentials) :],
        dims={name: tuple(d.name for d in own) for name, own in dims.items()},
        types=integer_types(schedule.whole, known),
        looked_at=looked_at(schedule),
        choices=tuple(choices_told(schedule.choices)),
        is_within=made.written.is_within,
        worth=made.worth,
    )
    functions = functions_of(schedule)
    return Derivation(facts, limited, known, lambda: schedule, functions, schedule, asked=found)


def _limited(data: Values, graph: Graph) -> Graph:
    return within_domains(graph, data)


def _checked(data: Values, graph: Graph) -> None:
    """Raise an error where some data are impossible."""
    check_truncations(graph, data)
    check_possible(graph, data)


def scheduled(
    graph: Graph, data: Values, settings: Settings, found: Found | None = None
) -> Trial:
    """The schedule of a graph, with its data and its program.

    ``found`` has conditionals that have been derived by other settings, and keeps these.
    """
    blocks, rewrites = blocks_of(settings["blocks"]), settings["rewrites"]
    control, by = _control_of(settings, blocks), settings["by"]
    graph = without_spellings(graph)
    check_names(graph, blocks)
    if blocks.proposed and not control.proposes:
        raise CompileError(
            "blocks: found 'proposed' beside exact=True or by=, with which nothing is proposed; "
            "leave one of them out."
        )
    check_kernels(graph, control.kernels)
    answer(data, _checked, graph)
    given: Mapping[str, bool] = dict(rewrites) if isinstance(rewrites, Mapping) else {}
    models = _Models(graph, data, control, settings, {} if found is None else found)
    search = _Search(models, given, cache(partial(_states, graph)))
    augmented, trial, asked, left = _augmented(graph, data, search)
    if by:
        from gibbsppl.planning.readings import read_by  # noqa: PLC0415  (draws need none of it)

        schedule = read_by(trial.schedule, augmented.data, by, blocks)
        trial = Trial(schedule, augmented.data, functions_of(schedule))
    if not isinstance(settings["interweave"], bool):
        names, exact = settings["interweave"], settings["exact"]
        check_asked(augmented, names, trial.schedule, control.kernels, exact=exact)
    is_asked = asked.get(MARGINAL_MOVES)
    if by or trial.functions:
        if is_asked:
            raise CompileError(
                f"rewrites[{MARGINAL_MOVES!r}]: found True beside by= or a function of yours in "
                "kernels=, with which nothing is chosen; leave one of them out."
            )
        return trial
    choices = tuple(search.settled(rewrite, asked) for rewrite in left)

    def integrated(name: str) -> tuple[Trial, Callable[[], Trial]]:
        more = {"collapse": (*settings["collapse"], name)}
        model, schedule = models.planned(asked, **more)
        decided = {**asked, MARGINAL_MOVES: True}
        made = Planned(Trial(schedule, model.data), model, control)
        return made.trial, partial(search.chosen, made, decided, choices, **more)

    best = search.chosen(Planned(trial, augmented, control), asked, choices)
    last = best
    if models.is_free if is_asked is None else is_asked:
        asks = bool(is_asked)
        last = with_marginal_moves(best, settings, integrated, search.states, is_asked=asks)
    if not (models.is_free and models.control.proposes):
        return last
    return with_ridges(last, settings, partial(search.states, best))


@dataclass(frozen=True, slots=True, eq=False)
class _Models:
    """A graph with its data and settings, and models and schedules that are made of these.

    ``found`` has conditionals that have been derived.
    """

    graph: Graph
    data: Values
    control: Control
    settings: Settings
    found: Found

    @property
    def is_free(self) -> bool:
        """Whether the user leaves it open how variables are drawn."""
        settings = self.settings
        is_open = settings["interweave"] is True and settings["rewrites"] is not False
        own = Control(proposes=self.control.proposes)
        return is_open and not settings["collapse"] and self.control == own

    def planned(self, asked: Mapping[str, bool], **more: Any) -> tuple[Rewritten, Schedule]:
        """The model, and its schedule made by rules; ``more`` settings in place of the user's."""
        model = self.rewritten(asked, **more)
        return model, planned(model, exact=self.settings["exact"], control=self.control)

    def rewritten(self, asked: Mapping[str, bool], **more: Any) -> Rewritten:
        """The model with the rewrites that are asked for and those that it needs."""
        settings = {**self.settings, **more}
        blocks, by = self.control.blocks, settings["by"]
        return rewritten(
            self.graph,
            self.data,
            asked,
            blocks.elements,
            rules=_rules(settings, blocks),
            collapse=settings["collapse"],
            approximate=settings["approximate"],
            moved=self.control.moved,
            interweave=interwoven_if(settings["interweave"], self.control),
            jointly=blocks.joined,
            named={*self.control.order, *blocks.named - blocks.elements},
            closed=[n for n, how in by.items() if how == "mean"] if by else None,
            climbed=[n for n, how in by.items() if how == "mode"],
            found=self.found,
        )


@dataclass(frozen=True, slots=True, eq=False)
class _OfRewrite:
    """The choice of a rewrite, the plan that was not taken, and the rewrites that this asks for.

    ``judged`` is the schedule of it that theory was asked about.
    """

    choice: Choice
    other: Planned
    asked: Mapping[str, bool]
    judged: Schedule


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """A search for the best schedule, and what it finds once: states, proposals.

    ``given`` are the rewrites that the user asks for, ``states`` makes those of a trial.
    """

    models: _Models
    given: Mapping[str, bool]
    states: Callable[[Trial], Sequence[Values]]
    found: dict[int, tuple[Trial, Proposing]] = field(default_factory=dict)

    def proposing(self, now: Planned) -> Proposing:
        """The proposals of a plan; those of one trial are found once."""
        key = id(now.trial)  # (kept with the trial, which has its place while it is known by that)
        if key not in self.found:
            settings, states = self.models.settings, self.states
            plan, before = with_ellipses(now, settings, states)
            made, more = with_proposals(plan, settings, states, before)
            changed = [c.made.settings for c in more if c.made.what == "proposed"]
            changed = [*(c.made.settings for c in before), *changed]
            self.found[key] = now.trial, (made, (*before, *more), tuple(changed))
        return self.found[key][1]

    def chosen(
        self,
        now: Planned,
        asked: Mapping[str, bool],
        choices: tuple[Choice, ...],
        **more: Any,
    ) -> Trial:
        """The best plan of a model, ways to draw chosen, with the choices; more come before.

        The model has the rewrites that are ``asked`` for, and has been made with ``more`` settings.
        """
        models, settings = self.models, self.models.settings
        decided = {} if asked == self.given else asking(settings, "rewrites", asked)
        if models.control.proposes and models.is_free:
            now, found, changed = self.proposing(now)
            choices = (*choices, *(c.with_decided(decided) for c in found))
            for own in changed:
                decided = with_decided(decided, own)
        now = replace(now, trial=now.trial.deciding(decided))

        @cache
        def updated(interweave: bool | tuple[str, ...]) -> Rewritten:
            return models.rewritten(asked, **{**more, "interweave": interweave})

        if models.is_free:
            now, more_choices = with_recentred(now, settings, self.states, updated)
            choices = (*choices, *(c.with_decided(decided) for c in more_choices))
        is_whole = not {**settings, **more}["collapse"]
        known = partial(forgotten_of, models.graph) if is_whole else _everything
        best = with_choices(now, settings, self.states, updated, known)
        choices = (*choices, *best.schedule.choices)
        if not all(isnan(c.made.operations) for c in choices):
            choices = tuple(c.beside_a_sweep_of(best.operations) for c in choices)
        return best.with_choices(choices)

    def settled(self, of: _OfRewrite, asked: Mapping[str, bool]) -> Choice:
        """The choice of a rewrite whose other candidate is the sampler that its settings make.

        Of the plan not taken, too, ways to draw are chosen. ``asked`` has all that was decided on.
        """
        choice = of.choice.with_decided(asking(self.models.settings, "rewrites", asked))
        (candidate,) = choice.others
        best = self.chosen(of.other, of.asked, ())
        if not asked.keys() <= of.asked.keys() or integrable(best):
            candidate = replace(candidate, operations=nan, share=nan)
        elif best.schedule.ways != of.judged.ways:
            candidate = replace(candidate, operations=best.operations, share=nan)
        return replace(choice, others=(candidate,))


def _augmented(
    graph: Graph, data: Values, search: _Search
) -> tuple[Rewritten, Trial, Mapping[str, bool], tuple[_OfRewrite, ...]]:
    """The model with or without the auxiliary variables that it might do without, or gain by.

    And its schedule on trial, the rewrites asked for, and the choices made.
    """
    models, asked = search.models, search.given
    settings, control = models.settings, models.control

    def tried(rewrites: Mapping[str, bool]) -> tuple[Rewritten, Trial]:
        model, schedule = models.planned(rewrites)
        return model, Trial(schedule, model.data, functions_of(schedule))

    now, choices = tried(asked), list[_OfRewrite]()
    replaced = [*replaceable(now[1].schedule, asked, graph)] if control.proposes else []
    is_free = models.is_free and not settings["by"]
    added = addable(now[1].schedule, asked, graph, data) if is_free else ()
    for rules in dict.fromkeys((*replaced, *added)):
        is_made = rules in replaced
        if not asked.keys().isdisjoint(rules):
            continue
        try:
            other = tried({**asked, **dict.fromkeys(rules, not is_made)})
        except CompileError:
            continue
        augmented, plain = (now, other) if is_made else (other, now)
        without = plain[1]
        if is_free and (not is_made or is_partial(augmented[1].schedule, rules, graph)):
            # (more is proposed where it pays)
            without = search.proposing(Planned(without, plain[0], control))[0].trial
        schedules = without.schedule, augmented[1].schedule
        if not (is_proposed if is_made else is_closed)(*schedules, rules, graph):
            continue
        choice, stays = with_or_without(augmented[1], without, rules, settings, search.states)
        now, left = (augmented, plain) if stays else (plain, augmented)
        if choice is not None:
            rival = Planned(left[1], left[0], control)
            judged = schedules[0] if stays else schedules[1]
            other_asked = {**asked, **dict.fromkeys(rules, not stays)}
            choices.append(_OfRewrite(choice, rival, other_asked, judged))
        asked = {**asked, **dict.fromkeys(rules, stays)}
    return *now, asked, tuple(choices)


def _control_of(settings: Settings, blocks: Blocks) -> Control:
    """The user's settings of a schedule."""
    return Control(
        tuple(settings["order"]),
        checked_scan(settings["scan"]),
        kernels_of(settings["kernels"]),
        blocks,
        proposes=not (settings["exact"] or settings["by"]),
        together=moved_together(settings["kernels"]),
    )


def _everything(trial: Trial, states: Sequence[Values]) -> Forgotten:
    """All is forgotten: theory is silent where variables are integrated out of the model."""
    del trial, states
    return Forgotten(1.0, {})


def _states(graph: Graph, trial: Trial) -> tuple[Values, ...]:
    """The values of all arrays at some states that sweeps make; none where none goes on."""
    found = settled_states(graph, trial.data, trial.program, trial.constants)
    return tuple({**trial.known, **state} for state in found)


def _rules(settings: Settings, blocks: Blocks) -> tuple[Rule, ...]:
    """The rules to choose from: those whose draws are proposals where all else allows these."""
    asked = settings["rewrites"]
    if asked is False:
        return ()
    in_the_way = {
        "exact=True": settings["exact"],
        "by=": bool(settings["by"]),
        "collapse=": bool(settings["collapse"]),
        "blocks=False": not blocks.joined,
    }
    names = [name for name, is_set in in_the_way.items() if is_set]
    if not names:
        return REWRITES
    for rule in (r for r in REWRITES if r.proposes):
        if isinstance(asked, Mapping) and asked.get(rule.name):
            raise CompileError(
                f"rewrites[{rule.name!r}]: with it variables are proposed by a joint draw, and not "
                f"always accepted, which {names[0]} does not go with; leave one of them out."
            )
    return tuple(r for r in REWRITES if not r.proposes)
