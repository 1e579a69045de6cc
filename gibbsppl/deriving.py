"""The derivation of a sampler: settings carried out on a graph, and the program written.

Comes in: a graph, its data, settings in canonical form. Goes out: a `Derivation`. Only what has
not been derived before comes here (`gibbsppl.cache`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial

from gibbsppl.analysis.domains import within_domains, without_spellings
from gibbsppl.analysis.truncations import check_truncations
from gibbsppl.cache.derivation import Derivation, Facts
from gibbsppl.code.trials import Trial
from gibbsppl.errors import CompileError
from gibbsppl.initial.impossible import check_possible
from gibbsppl.initial.looking import looked_at
from gibbsppl.initial.settled import settled_states
from gibbsppl.kernels import kernels_of, moved_together
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph
from gibbsppl.planning import (
    Control,
    Planned,
    addable,
    check_asked,
    check_kernels,
    functions_of,
    interwoven_if,
    is_closed,
    is_partial,
    is_proposed,
    planned,
    replaceable,
    with_choices,
    with_marginal_moves,
    with_or_without,
    with_proposals,
)
from gibbsppl.rewrites import MARGINAL_MOVES, REWRITES, Found, Rewritten, Rule, rewritten
from gibbsppl.run.integer_types import integer_types
from gibbsppl.schedule.blocks import Blocks, blocks_of, check_names
from gibbsppl.schedule.choices import Candidate, Choice, asking, choices_told
from gibbsppl.schedule.scanning import checked_scan
from gibbsppl.schedule.sweeps import Schedule
from gibbsppl.settings import Settings

# A plan with proposals, where these pay, and the choices made.
Proposing = tuple[Planned, tuple[Choice, ...]]


def derived(graph: Graph, data: Values, settings: Settings, *, declared: bool) -> Derivation:
    """The derivation of a graph, a ``declared`` one that has no limits of parameters yet."""
    limited = within_domains(graph, data) if declared else graph
    made = scheduled(limited, data, settings)
    schedule, known = replace(made.schedule, memory=made.written.told), made.known
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
    return Derivation(facts, limited, known, lambda: schedule, functions_of(schedule), schedule)


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
    check_truncations(graph, data)
    check_possible(graph, data)
    asked: Mapping[str, bool] = dict(rewrites) if isinstance(rewrites, Mapping) else {}
    made_by = partial(_planned, graph, data, control, {} if found is None else found)
    states = cache(partial(_states, graph))
    search = _Search(settings, states)
    augmented, trial, asked, choices = _augmented(graph, data, control, search, asked, made_by)
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

    def chosen(trial: Trial, model: Rewritten) -> Trial:
        now, own = Planned(trial, model, control), choices
        if control.proposes and _is_free(settings, control):
            now, proposed = search.proposing(now)
            own = (*choices, *(_beside(c, settings, asked) for c in proposed))
        best = with_choices(now, settings, states)
        return best.with_choices((*own, *best.schedule.choices)) if own else best

    def integrated(name: str) -> tuple[Trial, Callable[[], Trial]]:
        model, schedule = made_by({**settings, "collapse": (*settings["collapse"], name)}, asked)
        trial = Trial(schedule, model.data)
        return trial, partial(chosen, trial, model)

    best = chosen(trial, augmented)
    if not (_is_free(settings, control) if is_asked is None else is_asked):
        return best
    return with_marginal_moves(best, settings, integrated, states, is_asked=bool(is_asked))


def _beside(choice: Choice, settings: Settings, asked: Mapping[str, bool]) -> Choice:
    """A choice whose candidates ask, too, for what has been decided about rewrites before it.

    With other settings of blocks alone, that would be decided anew.
    """
    decided = asking(settings, "rewrites", asked) if asked else {}

    def also(candidate: Candidate) -> Candidate:
        return replace(candidate, settings={**decided, **candidate.settings})

    return replace(choice, made=also(choice.made), others=tuple(map(also, choice.others)))


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """The settings of a search for the best schedule, and what it finds once: states, proposals."""

    settings: Settings
    states: Callable[[Trial], Sequence[Values]]
    found: dict[int, tuple[Trial, Proposing]] = field(default_factory=dict)

    def proposing(self, now: Planned) -> Proposing:
        """The proposals of a plan; those of one trial are found once."""
        key = id(now.trial)  # (kept with the trial, which has its place while it is known by that)
        if key not in self.found:
            self.found[key] = now.trial, with_proposals(now, self.settings, self.states)
        return self.found[key][1]


def _augmented(
    graph: Graph,
    data: Values,
    control: Control,
    search: _Search,
    asked: Mapping[str, bool],
    made_by: Callable[[Settings, Mapping[str, bool]], tuple[Rewritten, Schedule]],
) -> tuple[Rewritten, Trial, Mapping[str, bool], tuple[Choice, ...]]:
    """The model with or without the auxiliary variables that it might do without, or gain by.

    And its schedule on trial, the rewrites asked for, and the choices made.
    """
    settings = search.settings

    def tried(rewrites: Mapping[str, bool]) -> tuple[Rewritten, Trial]:
        model, schedule = made_by(settings, rewrites)
        return model, Trial(schedule, model.data, functions_of(schedule))

    now, choices = tried(asked), list[Choice]()
    replaced = [*replaceable(now[1].schedule, asked, graph)] if control.proposes else []
    is_free = _is_free(settings, control) and not settings["by"]
    added = addable(now[1].schedule, asked, graph, data) if is_free else ()
    for rule in dict.fromkeys((*replaced, *added)):
        is_made = rule in replaced
        try:
            other = tried({**asked, rule: not is_made})
        except CompileError:
            continue
        augmented, plain = (now, other) if is_made else (other, now)
        without = plain[1]
        if is_made and is_free and is_partial(augmented[1].schedule, rule, graph):
            # (more is proposed where it pays)
            without = search.proposing(Planned(without, plain[0], control))[0].trial
        schedules = without.schedule, augmented[1].schedule
        if not (is_proposed if is_made else is_closed)(*schedules, rule, graph):
            continue
        choice, stays = with_or_without(augmented[1], without, rule, settings, search.states)
        choices += [] if choice is None else [choice]
        asked = {**asked, rule: stays}
        now = augmented if stays else plain
    return *now, asked, tuple(choices)


def _planned(
    graph: Graph,
    data: Values,
    control: Control,
    found: Found,
    settings: Settings,
    asked: Mapping[str, bool],
) -> tuple[Rewritten, Schedule]:
    """The model with the rewrites that are asked for and those that it needs, and its schedule."""
    blocks, by = control.blocks, settings["by"]
    model = rewritten(
        graph,
        data,
        asked,
        blocks.elements,
        rules=_rules(settings, blocks),
        collapse=settings["collapse"],
        approximate=settings["approximate"],
        moved=control.moved,
        interweave=interwoven_if(settings["interweave"], control),
        jointly=blocks.joined,
        named={*control.order, *blocks.named - blocks.elements},
        closed=[n for n, how in by.items() if how == "mean"] if by else None,
        climbed=[n for n, how in by.items() if how == "mode"],
        found=found,
    )
    return model, planned(model, exact=settings["exact"], control=control)


def _is_free(settings: Settings, control: Control) -> bool:
    """Whether the user leaves it open how variables are drawn."""
    is_open = settings["interweave"] is True and settings["rewrites"] is not False
    return is_open and not settings["collapse"] and control == Control(proposes=control.proposes)


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
