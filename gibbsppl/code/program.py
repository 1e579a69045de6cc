"""A generated module, loaded: what the runner and the checks call.

The module's source stands alone on NumPy, SciPy and ``gibbsppl.runtime``. It defines

- ``prepare(data)``, which returns ``c``, a dict of all that depends on the data alone;
- one ``<variable>_given_rest(s, c)`` per step;
- ``sweep(rng, s, c)``, which draws every latent variable once, in order, into the state ``s``;
- ``deterministics(s, c)``, which returns the named functions of the state;
- ``STEPS``, a row for each step, in order (`gibbsppl.runtime.Step`): with ``deferred`` ones among
  them ``sweep`` has one more argument, the names of those that it carries out (by default all).

And only where there are some:

- ``augment(rng, s, c)``, which draws the auxiliary variables alone, and ``AUXILIARY``, their names;
  their values are made by the first sweep;
- ``WITHIN_SWEEP``, the auxiliary variables that hold for some draws of a sweep alone;
- ``PARTS``, part -> the divided array of the model: a sweep takes such arrays apart first, and puts
  the parts together last;
- ``UNITS``, the functions of the steps that stay together, where a sweep does not draw them all in
  order;
- ``bound(s, c)``, the evidence lower bound, where variables are read by their means;
- ``KERNELS``, step name -> function of the user's: names alone in the source, the functions are
  handed over to `load`.

The state ``s`` is a dict from the name of a random array to its current values; names that start
with ``"~"`` hold the tuning of moves (``Width``, ``Walk`` of ``gibbsppl.runtime``), which adapt
during warm-up only: ``runtime.moves.freeze(s)`` ends adaptation.
"""

from __future__ import annotations

import contextlib
import linecache
import pickle
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gibbsppl.errors import CompileError, GibbspplError, RunError
from gibbsppl.runtime.steps import Step

State = dict[str, Any]
Constants = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Prepared(Mapping[str, Any]):
    """The constants of a program, made of data when they are first looked at.

    Loops need few of them or none, and have what they read sorted in their own way.

    >>> source = "def prepare(data): return {'total': sum(data['y'])}"
    >>> program = load(source + chr(10) + "sweep = deterministics = None; STEPS = ()")
    >>> Prepared(program, {"y": [1, 2]})["total"]
    3
    """

    program: Program
    data: Mapping[str, Any]

    @cached_property
    def made(self) -> dict[str, Any]:
        """The constants."""
        return self.program.prepare(self.data)

    def __reduce__(self) -> tuple[Any, ...]:
        return Prepared, (self.program, self.data)

    def __getitem__(self, name: str) -> Any:
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.made)

    def __len__(self) -> int:
        return len(self.made)


@dataclass(frozen=True)
class Program:
    """The functions of one generated module, with its source."""

    source: str
    prepare: Callable[..., dict[str, Any]]
    sweep: Callable[..., None]
    deterministics: Callable[[State, Constants], dict[str, Any]]
    rows: tuple[Step, ...]
    augment: Callable[[np.random.Generator, State, Constants], None]
    auxiliary: tuple[str, ...] = ()
    parts: Mapping[str, str] = field(default_factory=dict)
    within_sweep: tuple[str, ...] = ()
    kernels: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    bound: Callable[[State, Constants], Any] | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)

    def _column(self, of: Callable[[Step], Any]) -> dict[str, Any]:
        """A column of the table, by step; nothing for rows without it."""
        found = ((row.name, of(row)) for row in self.rows)
        return {name: value for name, value in found if value is not None}

    @cached_property
    def steps(self) -> tuple[str, ...]:
        """The names of the steps, in order."""
        return tuple(row.name for row in self.rows)

    @cached_property
    def step_variables(self) -> Mapping[str, tuple[str, ...]]:
        """The arrays that each step changes."""
        return self._column(lambda row: row.arrays)

    @cached_property
    def given_rest(self) -> Mapping[str, Callable[[State, Constants], Any]]:
        """The function of each step's conditional."""
        return {row.name: row.given_rest for row in self.rows}

    @cached_property
    def kept(self) -> Mapping[str, Callable[[State, Constants], dict[str, Any]]]:
        """The functions that compute anew the arrays that a step keeps up to date."""
        return self._column(lambda row: row.kept)

    @cached_property
    def colours(self) -> Mapping[str, str]:
        """The constants with the indices of calls by colour."""
        return self._column(lambda row: row.colours)

    @cached_property
    def by_colour(self) -> Mapping[str, Callable[[State, Constants], Iterator[tuple[Any, Any]]]]:
        """The generators of the index and the parameters of each call by colour."""
        return self._column(lambda row: row.by_colour)

    @cached_property
    def interwoven(self) -> Mapping[str, Callable[[np.random.Generator, State, Constants], None]]:
        """The functions that carry out non-centred updates."""
        return self._column(lambda row: row.interwoven)

    @cached_property
    def scaled(self) -> Mapping[str, Callable[[State, Constants], Any]]:
        """The functions of scales and coefficients of draws by fixed matrices."""
        return self._column(lambda row: row.scaled)

    @cached_property
    def deferred(self) -> Mapping[str, tuple[str, ...]]:
        """The steps that recorded sweeps alone carry out, each with what it is recorded for."""
        return self._column(lambda row: row.deferred)

    @cached_property
    def to_second_order(self) -> Mapping[str, Callable[[State, Constants], Any]]:
        """The functions of log densities to second order, of proposals about their modes."""
        return self._column(lambda row: row.to_second_order)

    @cached_property
    def walks(self) -> tuple[str, ...]:
        """The steps that are random walks."""
        return tuple(row.name for row in self.rows if row.is_walk)

    def needed_for(self, names: Collection[str]) -> tuple[str, ...]:
        """The deferred steps that a sweep has to carry out for these names to be recorded."""
        return tuple(s for s, read in self.deferred.items() if not set(names).isdisjoint(read))

    def advance(
        self,
        rng: np.random.Generator,
        state: State,
        constants: Constants,
        deferred: tuple[str, ...],
    ) -> None:
        """A sweep with some of the deferred steps."""
        if self.deferred:
            self.sweep(rng, state, constants, deferred)
        else:
            self.sweep(rng, state, constants)

    def renew(self, state: State, constants: Constants) -> None:
        """Compute anew what sweeps keep up to date: rounding adds up."""
        for computed in self.kept.values():
            state |= computed(state, constants)

    def giving(self, functions: Mapping[str, Callable[[State, Constants], Any]]) -> Program:
        """The program with other functions of some steps' conditionals.

        What these return is drawn from, or averaged, in its sweeps.
        """
        made = load(self.source, self.kernels)
        for name, function in functions.items():
            made.sweep.__globals__[made.given_rest[name].__name__] = function
        rows = (replace(r, given_rest=functions.get(r.name, r.given_rest)) for r in made.rows)
        return replace(made, rows=tuple(rows))

    def __reduce__(self) -> tuple[Any, ...]:
        for step, kernel in self.kernels.items():
            try:
                pickle.dumps(kernel)
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                raise RunError(
                    f"kernels[{step!r}]: {getattr(kernel, '__qualname__', kernel)} cannot be sent "
                    f"to another process, nor written to a file ({error}); define it with def at "
                    "the top of a module that can be imported, not inside a function and not as a "
                    "lambda."
                ) from error
        return (load, (self.source, self.kernels)) if self.kernels else (load, (self.source,))

    def mended_by(self, rng: np.random.Generator, constants: Constants) -> Callable[[State], None]:
        """A function that makes a sweep from a state of zero density, as far as it comes."""

        def mend(state: State) -> None:
            drawn = set(state).union(*self.step_variables.values())
            failures = (ArithmeticError, ValueError, GibbspplError)
            with contextlib.suppress(*failures), np.errstate(all="ignore"):
                self.sweep(rng, state, constants)
            for name in [n for n in state if n.startswith("~") or n not in drawn]:
                del state[name]

        return mend


def _nothing_to_draw(rng: np.random.Generator, s: State, c: Constants) -> None:
    """Stands for the draw of auxiliary variables in a program without any."""


def load(source: str, kernels: Mapping[str, Callable[..., Any]] | None = None) -> Program:
    """The program that a source text defines (tracebacks show its lines).

    ``kernels``: the functions of the user's, by step.
    """
    kernels = dict(kernels or {})
    name = f"<gibbsppl sampler {abs(hash(source)):x}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    module: dict[str, Any] = {"__name__": "gibbsppl_sampler"}
    exec(compile(source, name, "exec"), module)  # noqa: S102  (the text is our own back end's)
    wanted = module.get("KERNELS", {})
    if missing := set(wanted) - set(kernels):
        raise CompileError(
            f"load: the source moves {', '.join(sorted(missing))} by kernels of your own, which it "
            "does not contain; give them as kernels={step: function}."
        )
    wanted |= kernels
    return Program(
        source=source,
        # (what is not finite is told where a state is looked for)
        prepare=np.errstate(all="ignore")(module["prepare"]),
        sweep=module["sweep"],
        deterministics=module["deterministics"],
        rows=module["STEPS"],
        augment=module.get("augment", _nothing_to_draw),
        auxiliary=module.get("AUXILIARY", ()),
        parts=module.get("PARTS", {}),
        within_sweep=module.get("WITHIN_SWEEP", ()),
        kernels=kernels,
        bound=module.get("bound"),
        sizes=module.get("SIZES", {}),
    )
