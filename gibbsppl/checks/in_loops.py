"""Whether the sweeps in loops of a sampler, which are run by default, are those in NumPy.

Comes in: a program that the other checks have looked at, and the loops of the sampler, with all
auxiliary variables in their state and with none. Goes out: one row, or one for each step that
differs.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from gibbsppl.checks.loops_beside import beside
from gibbsppl.checks.results import RELATIVE_TOLERANCE, Row, worst
from gibbsppl.checks.states import SWEEPS
from gibbsppl.checks.tapes import Difference, Tape
from gibbsppl.code.costs import worth_of
from gibbsppl.code.loop_program import LoopProgram
from gibbsppl.code.program import Program, State
from gibbsppl.errors import GibbspplError, NotLoweredError
from gibbsppl.model.evaluation import Values
from gibbsppl.runtime import freeze
from gibbsppl.runtime.tuning import ACCEPTED, SCALE, SHARE, field_of
from gibbsppl.runtime.types import Generator

# In plain Python a sweep of so many operations takes a minute, or more where moves evaluate log
# densities: larger ones are not compared.
MOST_OPERATIONS = 1e8
# Rounding explains differences of up to so many times by how much they change where data and values
# are one rounding off.
ROUNDINGS = 100.0
# So many such data and values are tried: sums of large numbers jump, or stay as they are.
TRIED = 5

# What a wrong program may raise.
FAILURES = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError),
    *(ValueError, GibbspplError),
)


class Loops(Protocol):
    """The loops of a sampler."""

    def __call__(self, *, keep: Sequence[str] | None = None) -> LoopProgram:
        """The loops; ``keep``: the auxiliary variables in their state, by default all."""


def rows_in_loops(
    rng: Generator,
    program: Program,
    loops: Loops,
    state: State,
    data: Values,
    steps: Sequence[Row],
) -> tuple[Row, ...]:
    """Whether sweeps in loops are those in NumPy: one row, or one for each step that differs.

    No row where there are no loops. After some sweeps steps adapt in the first one that is
    compared, and no longer in the second one. ``steps`` are the rows of the steps.
    """
    now, constants = copy.deepcopy(state), program.prepare(data)
    rows: list[Row] = []
    try:
        made, without = loops(), loops(keep=())
        if worth_of(made.sweep_value, made.known_sizes).operations > MOST_OPERATIONS:
            return (_row("", None),)
        with np.errstate(all="ignore"):
            for _ in range(SWEEPS):
                program.sweep(rng, now, constants)
        for is_frozen in (False, True):
            if is_frozen:
                freeze(now)
            before = copy.deepcopy((now, rng))
            texts = _of_two_texts(made, without, now, rng)
            found = beside(program, made, now, rng, constants).differences
            lost = _lost_in_accepting(steps)
            if _are_far((*texts, *found)):
                for other in _from_a_rounding_off(program, made, before, data):
                    changed = _changed(found, other)
                    lost |= {n: max(far, lost.get(n, 0.0)) for n, far in changed.items()}
            rows += _rows((*texts, *found), lost)
    except NotLoweredError:
        return ()
    except FAILURES as error:
        return (_row(f"{type(error).__name__}: {error}", np.inf),)
    by_step: dict[str, list[Row]] = {}
    for row in rows:
        by_step.setdefault(row.step, []).append(row)
    told = [row for row in map(worst, by_step.values()) if not row.proved]
    return tuple(told) or (replace(worst(rows), step=_row("", 0.0).step),)


def _row(
    what: str, far: float | None, tolerance: float = RELATIVE_TOLERANCE, *, is_hidden: bool = False
) -> Row:
    told = f"(compiled sweep{', ' * bool(what)}{what})"
    return Row(told, "compiled", "-", far, tolerance, is_hidden)


def _rows(differences: Sequence[Difference], lost: Mapping[str, float]) -> Iterator[Row]:
    """One row for each step that differs; one for all if none does.

    By step, so much may be ``lost`` by roundings, which may turn decisions as well.
    """
    largest: dict[str, Difference] = {}
    for d in differences:
        largest[d.step] = max(largest.get(d.step, d), d, key=lambda d: (np.isnan(d.far), d.far))
    is_turned = max((lost.get(n, 0.0) for n in largest), default=0.0) > RELATIVE_TOLERANCE
    for d in (d for d in largest.values() if d.is_far):
        tolerance = max(RELATIVE_TOLERANCE, ROUNDINGS * lost.get(d.step, 0.0))
        is_hidden = (d.far <= tolerance >= 1.0) or (d.is_decision and is_turned)
        told = f"{d.step}: {d.what}"
        yield _row(told, None if is_hidden else d.far, tolerance, is_hidden=is_hidden)
    if not _are_far(differences):
        yield _row("", max((d.far for d in differences), default=0.0))


def _are_far(differences: Iterable[Difference]) -> bool:
    return any(d.is_far for d in differences)


def _lost_in_accepting(steps: Iterable[Row]) -> dict[str, float]:
    """What shares of accepted moves lose: a rounding of the terms of their log densities."""
    eps = np.finfo(float).eps / RELATIVE_TOLERANCE
    fields = (SHARE, ACCEPTED, SCALE)
    return {field_of(r.step, f): eps * r.tolerance for r in steps for f in fields}


def _from_a_rounding_off(
    program: Program, loops: LoopProgram, before: tuple[State, Generator], data: Values
) -> Iterator[list[Difference]]:
    """How far loops are from NumPy that begin at data and values a rounding off."""
    constants = program.prepare(data)
    for seed in range(TRIED):
        state, rng = copy.deepcopy(before)
        there = replace(loops, data=_one_rounding_off(data, seed))
        start = _one_rounding_off(state, seed)
        yield beside(program, there, state, rng, constants, start).differences


def _one_rounding_off(values: Values, seed: int) -> State:
    """Data, or a state without its tuning, whose real numbers are a rounding larger or smaller."""
    sign, eps = np.random.default_rng(seed), np.finfo(float).eps
    kinds = {n: np.asarray(v).dtype.kind for n, v in values.items() if not n.startswith("~")}
    return {
        n: v * (1.0 + eps * sign.choice((-1.0, 1.0), np.shape(v))) if kinds.get(n) == "f" else v
        for n, v in values.items()
    }


def _changed(found: Iterable[Difference], other: Iterable[Difference]) -> dict[str, float]:
    """By step, by how much differences change, as long as they are of the same draws."""
    changes: dict[str, float] = {}
    for d, e in zip(found, other, strict=False):
        if (d.step, d.what) == (e.step, e.what) and np.isfinite(d.far) and np.isfinite(e.far):
            changes[d.step] = max(changes.get(d.step, 0.0), abs(d.far - e.far))
    return changes


def _of_two_texts(
    made: LoopProgram, without: LoopProgram, state: State, rng: Generator
) -> list[Difference]:
    """How far the text that keeps auxiliary variables in the state is from that which does not."""
    tape, found = Tape(), list[State]()
    if made.module.text == without.module.text:
        return []
    for loops in (made, without):
        arrays, stream = loops.arrays_of(copy.deepcopy(state)), copy.deepcopy(rng)
        with np.errstate(all="ignore"):
            loops.plain().sweep(loops.arguments(stream, arrays))
        found.append({**arrays, "~stream": stream.bit_generator.state})
    kept, other = found
    same = kept.pop("~stream") == other.pop("~stream")
    told = "the stream without auxiliary variables in the state"
    tape.note("sweep", told, is_wrong=not same, is_decision=True)
    for name, array in other.items():
        tape.compare(name, "value without auxiliary variables in the state", array, kept[name])
    return tape.differences
