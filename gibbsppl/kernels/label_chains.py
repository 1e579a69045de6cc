"""Joint draws of the labels of hidden Markov chains: forward filtering, backward sampling."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gibbsppl.algebra.columns import columns
from gibbsppl.algebra.copies import copy_of
from gibbsppl.algebra.expressions import Dim, Expr, dims_of
from gibbsppl.algebra.notation import Notation
from gibbsppl.algebra.ranges import Range
from gibbsppl.code.elements import call_text
from gibbsppl.code.module import Module
from gibbsppl.code.numpy_text.functions import Part
from gibbsppl.code.numpy_text.statements import parameter_part
from gibbsppl.code.numpy_text.text import Text
from gibbsppl.derive.contractions import pull_back
from gibbsppl.derive.label_chains import PREVIOUS, ChainConditional
from gibbsppl.derive.labels import LABEL
from gibbsppl.explain.derivation import Derivation
from gibbsppl.explain.terms import at_later, parameter_text
from gibbsppl.model.evaluation import Floats, Sizes, Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.pieces.dependence import Place, region_of
from gibbsppl.runtime.label_chains import log_probabilities
from gibbsppl.schedule.contributions import Contributions
from gibbsppl.schedule.kinds import LabelDraw, of_piece
from gibbsppl.schedule.parameters import NaturalParameter
from gibbsppl.schedule.steps import Formula, Kind

if TYPE_CHECKING:
    from gibbsppl.code.lowering.workshop import Workshop


@dataclass(frozen=True, slots=True)
class ChainDraw(LabelDraw):
    """A joint draw of the labels of hidden Markov chains along one axis.

    ``weights`` are log weights by label, ``transitions`` by previous label and label, at the
    position of the previous label (without positions where all are the same). ``step`` is the dim
    of these positions. ``region`` is the smallest region around all drawn labels.
    """

    conditional: ChainConditional
    weights: NaturalParameter
    transitions: NaturalParameter
    step: Dim
    region: tuple[Place, ...]
    kind: Kind = "chain"
    draw_function = "chain"
    returns_array = True
    ties_elements = True

    @classmethod
    def of(cls, derived: object, made: Contributions) -> Self | None:
        """The draw of whole chains; None for other conditionals."""
        if not isinstance(derived, ChainConditional):
            return None
        region = _hull(made.graph, derived)
        weights = made.weights(derived, region)
        step, transitions = _transitions(derived, weights, made)
        return cls(derived, weights, transitions, step, region)

    @property
    def name(self) -> str:
        """The name of the array."""
        return str(self.statement.target.array.name)

    @property
    def statement(self) -> Statement:
        """The statement of most of the labels."""
        return self.conditional.statement

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All statements of the array that have labels to be drawn."""
        return self.conditional.statements

    @property
    def axis(self) -> int:
        """The axis of the array that the chain is along."""
        return self.conditional.axis

    @property
    def may_be_coloured(self) -> bool:
        """Whole chains are drawn in one call."""
        return False

    def expressions(self, graph: Graph) -> Iterator[Expr]:
        """The supports of all labels, and what log weights and log transitions read."""
        yield from LabelDraw.expressions(self, graph)
        pieces = (*self.conditional.pieces, *self.conditional.transitions)
        yield from (e for p in pieces for e in of_piece(p))

    @property
    def has_probabilities(self) -> bool:
        """Whether the labels have known ends, too."""
        return self.statement.support.is_finite

    # Generated code

    def given_rest(self, module: Module) -> str:
        """The function of log weights of labels, and of pairs of neighbours."""
        axes = module.dims(self.statement)
        along = axes[self.axis]
        size = self.conditional.size
        more = {PREVIOUS: size, LABEL: size, self.step: module.graph.sizes[along] - 1}
        writer = module.writer(more, keeps=True)
        weights = parameter_part(writer, "log_weights", self.weights, full=True)
        # (one number would say nothing of labels)
        is_free = not any(c.value.free_symbols for c in self.transitions.contributions)
        transitions = parameter_part(writer, "log_transitions", self.transitions, full=is_free)
        target = f"{self.name}[{', '.join(map(str, axes))}]"
        doc = f"{target} | rest: log weights of {self.range_text}, and of each after each along "
        body: list[str | Part] = [weights, transitions, "return log_weights, log_transitions"]
        return module.function(module.functions[self.name], f"{doc}{along}.", writer, body)

    def lines(self, module: Module) -> list[str]:
        """The draw of all labels of a chain jointly, given the known labels."""
        return self._as_chain(module, "chain(rng, ")

    def lines_by_mode(self, module: Module, taken: Any) -> list[str]:
        """The likeliest labels of each chain, together."""
        del taken
        return self._as_chain(module, "likeliest_chain(")

    def _as_chain(self, module: Module, function: str) -> list[str]:
        """The line that puts the labels to what a function of the runtime finds."""
        state = f's["{self.name}"]'
        options = [f'name="{self.name}"']
        if self.axis:
            options.append(f"axis={self.axis}")
        if self.conditional.lower:
            options.append(f"lower={self.conditional.lower}")
        if not self._draws_all(module):
            options += [f"now={state}", f"known={self._known_text(module)}"]
        arguments = ", ".join((f"*{call_text(module, self)}", *options))
        return [f"{state} = runtime.{function}{arguments})"]

    def lines_by_mean(self, module: Module, taken: Any) -> list[str]:
        """The probabilities of labels and of neighbours, and the entropy."""
        names = {m.what: m.name for m in taken.moments}
        labels, pairs, entropy = (names[w] for w in ("probabilities", "pairs", "entropy"))
        options = [f'name="{self.name}"']
        if self.axis:
            options.append(f"axis={self.axis}")
        if not self._draws_all(module):
            shift = f" + {self.conditional.lower}" if self.conditional.lower else ""
            options += [f"lower={self.conditional.lower}"] * bool(shift)
            options += [f'now=s["{labels}"].argmax(axis=-1){shift}']
            options += [f"known={self._known_text(module)}"]
        arguments = ", ".join((f"*{call_text(module, self)}", *options))
        targets = f's["{labels}"], s["{pairs}"], s["{entropy}"]'
        return [f"{targets} = runtime.chain_probabilities({arguments})"]

    def lower(self, workshop: Workshop) -> None:
        """A joint draw of the labels of each chain."""
        from gibbsppl.code.lowering.draws import lower_chain  # noqa: PLC0415  (if compiled)

        with workshop.with_dims(self._own_dims(workshop)):
            lower_chain(workshop, self, self.weights, self.transitions)

    def lower_by_mean(self, workshop: Workshop, taken: Any) -> None:
        """The probabilities of labels and of neighbours, and the entropy."""
        from gibbsppl.code.lowering.readings import lower_chain_shares  # noqa: PLC0415

        found = {m.what: m.name for m in taken.moments}
        names = found["probabilities"], found["pairs"], found["entropy"]
        with workshop.with_dims(self._own_dims(workshop)):
            lower_chain_shares(workshop, self, self.weights, self.transitions, names)

    def lower_by_mode(self, workshop: Workshop, taken: Any) -> None:
        """The likeliest labels of each chain, together."""
        from gibbsppl.code.lowering.readings import lower_likeliest_chain  # noqa: PLC0415

        del taken
        with workshop.with_dims(self._own_dims(workshop)):
            lower_likeliest_chain(workshop, self, self.weights, self.transitions)

    def _own_dims(self, workshop: Workshop) -> dict[Dim, int]:
        """The sizes of the dims of labels, and of the positions of those before."""
        size, along = self.conditional.size, workshop.dims(self.name)[self.axis]
        return {PREVIOUS: size, LABEL: size, self.step: workshop.size(along) - 1}

    def _draws_all(self, module: Module) -> bool:
        """Whether no label of the array is known."""
        every = module.graph.statements_of(self.name)
        constant = any(c.target.array.name == self.name for c in module.graph.constants)
        known = any(s.known != 0 for s in self.statements)
        return not constant and not known and len(every) == len(self.statements)

    def _known_text(self, module: Module) -> str:
        """The mask of known labels, as a constant computed once."""
        masks = [s.mask for s in self.statements]
        module.hoisted.arrays |= {m for m in masks if m is not None}
        places = [module.bounds(region_of(module.graph, s)) for s in self.statements]

        def make() -> Text:
            parts = (
                f"({place}, {None if m is None else module.names.of(m)})"
                for place, m in zip(places, masks, strict=True)
            )
            writer = module.writer().for_prepare(module.graph)
            shape = writer.shape_text(module.dims(self.statement))
            return Text(f"runtime.known_labels({shape}, {', '.join(parts)})")

        told = f"{self.name} that is not drawn"
        text = module.hoisted.add(("known", self.name), f"{self.name}_is_known", make, told)
        return f'c["{text.code}"]'

    # The log density

    def log_terms(self, given: Any, values: Values, sizes: Sizes, drawn: Any = None) -> Floats:
        """The log weights of all labels, and the log transitions of all pairs of neighbours."""
        del sizes, drawn
        weights, transitions = (np.asarray(g, dtype=np.float64) for g in given)
        labels = np.rint(np.asarray(values[self.name])).astype(int) - self.conditional.lower
        full = np.broadcast_to(weights, (len(weights), *labels.shape))
        own = np.take_along_axis(full, labels[None], axis=0)
        count = labels.shape[self.axis]
        before = labels.take(range(count - 1), axis=self.axis)
        after = labels.take(range(1, count), axis=self.axis)
        if transitions.ndim > 2:
            size = len(weights)
            full = np.broadcast_to(transitions, (size, size, *before.shape))
            pairs = full[(before, after, *np.indices(before.shape))]
        else:
            pairs = transitions[before, after]
        return np.concatenate([np.ravel(own), np.ravel(pairs)])

    def log_normalised(self, normaliser: Any) -> Floats | None:
        """The log probability of each label given the later ones; None if some are known."""
        if self.statement.known != 0:
            return None
        weights, transitions = (np.asarray(g, dtype=np.float64) for g in normaliser.given)
        labels = normaliser.values[self.name]
        full = np.broadcast_to(weights, (len(weights), *np.shape(labels)))
        lower = self.conditional.lower
        found = log_probabilities(
            labels, full, transitions, name=self.name, axis=self.axis, lower=lower
        )
        return np.asarray(found, dtype=np.float64).ravel()

    # Words

    def how(self, graph: Graph) -> str:
        """The axis along which labels are drawn jointly."""
        return f"jointly along {graph.variables[self.name].dims[self.axis].name}"

    def formula(self, notation: Notation) -> Formula:
        """The log weights of labels, and of pairs of neighbours."""
        weights = "log weight = " + parameter_text(self.weights, self, notation)
        pairs = "log transition = " + parameter_text(self.later, self, notation)
        return "", [weights, pairs], ""

    @property
    def later(self) -> NaturalParameter:
        """The log weights of two neighbours, said at the position of the later one."""
        return at_later(self.transitions, self, self.step, self.axis)

    def collected(self, derivation: Derivation) -> list[str]:
        """The log weights with a single label, and the log weights with two neighbours."""
        text, told = derivation.notation.text, []
        for heading, pieces in (
            (f"those with one {self.name}, the label put in its place:", self.conditional.pieces),
            (f"those with two neighbours, {PREVIOUS} the one before:",
             self.conditional.transitions),
        ):  # fmt: skip
            rows = [(text(p.coefficient), p.factor) for p in pieces]
            told += [heading, *columns([("log weight", "from"), *rows])]
        return told

    def recognised(self, derivation: Derivation) -> list[tuple[str, list[str]]]:
        """The log weights and log transitions of labels, and the recursion of the joint draw."""
        along = derivation.graph.variables[self.name].dims[self.axis]
        t, before = self.name + f"[{along}]", self.name + f"[{along} - 1]"
        told = [
            f"all {t} have together a probability proportional to exp of the sum of",
            f"a({t}), with a(label) the sum of",
            *derivation.summed((self.weights,), named=False),
            f"and b({before}, {t}), with b({PREVIOUS}, label) the sum of",
            *derivation.summed((self.later,), named=False),
            "drawn by forward filtering, backward sampling (Chib 1996; Scott 2002):",
            f"   f({t}) = exp(a({t})) * sum(f({before}) * exp(b({before}, {t}))), forwards;",
            f"   the last label from f, then backwards {before}, given {t},",
            f"   with probability proportional to f({before}) * exp(b({before}, {t})).",
        ]
        return [("The log weights of labels and of neighbours", told)]


def _transitions(
    chain: ChainConditional, weights: NaturalParameter, made: Contributions
) -> tuple[Dim, NaturalParameter]:
    """The dim of the position of the label before, and the log transitions there."""
    graph = made.graph
    axes = list(graph.variables[chain.statement.target.array.name].dims)
    along = axes[chain.axis]
    read = (*(c.value for c in weights.contributions), *(p.value for p in chain.transitions))
    taken = {*graph.sizes, *(d for e in read for d in e.atoms(Dim))}  # (those of matrices, too)
    step = axes[chain.axis] = copy_of(along, taken)
    labels = tuple(Range(d, 0, chain.size) for d in (PREVIOUS, LABEL))
    sizes = {**graph.sizes, step: graph.sizes[along] - 1, **{r.dim: len(r) for r in labels}}
    found = []
    for piece in chain.transitions:
        indices = tuple(i for i in piece.views[0].indices if i is not None)
        c = pull_back(piece, tuple(axes), indices, sizes, made.is_data)
        found.append(replace(c, place=(*labels, *c.place)))
    same = all(c.is_everywhere(sizes) and not dims_of(c.value) & set(axes) for c in found)
    own = (PREVIOUS, LABEL) if same else (PREVIOUS, LABEL, *axes)
    kept = tuple(replace(c, place=c.place[: len(own)]) for c in found)
    return step, NaturalParameter(LABEL, own, kept)


def _hull(graph: Graph, chain: ChainConditional) -> tuple[Place, ...]:
    """The smallest region around all labels that a chain draws."""
    regions = [region_of(graph, s) for s in chain.statements]
    dims = graph.variables[chain.statement.target.array.name].dims
    found: list[Place] = []
    for dim, places in zip(dims, zip(*regions, strict=True), strict=True):
        starts = [p if isinstance(p, int) else p.start for p in places]
        stops = [p + 1 if isinstance(p, int) else p.stop for p in places]
        found.append(Range(dim, min(starts), max(stops)))
    return tuple(found)
