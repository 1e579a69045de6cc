"""Label chains (hidden Markov chains): the function of log weights, and the lines of the draw."""

from __future__ import annotations

from gibbsppl.algebra.expressions import Dim
from gibbsppl.code.accumulation import accumulated
from gibbsppl.code.module import Module
from gibbsppl.code.places import bounds_of
from gibbsppl.code.text import Text
from gibbsppl.derive.finite import LABEL
from gibbsppl.derive.label_chains import PREVIOUS
from gibbsppl.pieces.dependence import region_of
from gibbsppl.schedule.steps import ChainDraw


def chain_weights(module: Module, step: ChainDraw) -> str:
    """The function that computes the log weights of labels, and of pairs of neighbours."""
    chain = step.conditional
    writer = module.writer(extra_dims(module, step), keeps=True)
    body = accumulated(writer, "log_weights", step.weights, full=True)
    # (one number would say nothing of labels)
    is_free = not any(c.value.free_symbols for c in step.transitions.contributions)
    body += accumulated(writer, "log_transitions", step.transitions, full=is_free)
    labels = f"{chain.lower}..{chain.lower + chain.size - 1}"
    along = module.dims(step.statement)[step.axis]
    target = f"{step.name}[{', '.join(map(str, module.dims(step.statement)))}]"
    doc = f"{target} | rest: log weights of {labels}, and of each after each along {along}."
    return module.function(
        module.functions[step.name], doc, writer, [*body, "return log_weights, log_transitions"]
    )


def extra_dims(module: Module, step: ChainDraw) -> dict[Dim, int]:
    """The dims of the labels before and after a transition, and of transitions, with sizes."""
    along = module.dims(step.statement)[step.axis]
    size = step.conditional.size
    return {PREVIOUS: size, LABEL: size, step.step: module.graph.sizes[along] - 1}


def chain_lines(module: Module, step: ChainDraw) -> list[str]:
    """The lines that draw all labels of a chain jointly, given the known labels."""
    state, chain = f's["{step.name}"]', step.conditional
    call = f"*{module.functions[step.name]}(s, c)"
    options = [f'name="{step.name}"']
    if step.axis:
        options.append(f"axis={step.axis}")
    if chain.lower:
        options.append(f"lower={chain.lower}")
    if not _draws_all(module, step):
        options += [f"now={state}", f"known={_known_text(module, step)}"]
    return [f"{state} = runtime.chain(rng, {call}, {', '.join(options)})"]


def _draws_all(module: Module, step: ChainDraw) -> bool:
    """Whether no label of the array is known."""
    statements = step.statements
    name = step.name
    every = module.graph.statements_of(name)
    constant = any(c.target.array.name == name for c in module.graph.constants)
    return not constant and len(every) == len(statements) and all(s.known == 0 for s in statements)


def _known_text(module: Module, step: ChainDraw) -> str:
    """The mask of known labels, as a constant computed once."""
    masks = [s.mask for s in step.statements]
    module.hoisted.arrays |= {m for m in masks if m is not None}
    places = [tuple(map(bounds_of, region_of(module.graph, s))) for s in step.statements]

    def make() -> Text:
        parts = (
            f"({place}, {None if m is None else module.names.of(m)})"
            for place, m in zip(places, masks, strict=True)
        )
        shape = module.shape(step.statement)
        return Text(f"runtime.known_labels({shape}, {', '.join(parts)})")

    told = f"{step.name} that is not drawn"
    text = module.hoisted.add(("known", step.name), f"{step.name}_is_known", make, told)
    return f'c["{text.code}"]'
