"""The mean and the variance of a statement at all of its positions, as a program.

Comes in: a statement of a graph, data. Goes out: a `Sweep` without draws, whose outputs these are.
"""

from __future__ import annotations

import sympy as sp

from gibbsppl.code.arrays.statements import Let
from gibbsppl.code.arrays.sweeps import Sweep
from gibbsppl.code.lowering.sweeps import arrays_of
from gibbsppl.code.lowering.workshop import Workshop
from gibbsppl.model.evaluation import Values
from gibbsppl.model.graph import Graph, Statement
from gibbsppl.schedule.sweeps import Schedule


def moments_program(graph: Graph, statement: Statement, data: Values) -> Sweep:
    """The program of a statement of one number for each position, whose family has both moments."""
    w, family = Workshop.of(Schedule(graph, (), ()), data, {}), statement.family
    names = tuple(w.fresh(f"{statement.name}_{of}") for of in ("mean", "variance"))
    for name, formula in zip(names, (family.mean, family.variance), strict=True):
        assert formula is not None
        value = formula(statement.event, **dict(statement.arguments))
        w.add(Let(name, w.spans(statement.over), w.plain(sp.sympify(value))))
    statements = tuple(w.statements)
    return Sweep(
        graph.name,
        w.arrays | arrays_of(w, statements),
        (),
        monitors=statements,
        outputs=names,
        tables=(*w.tables.values(), *w.groups.tables),
        sizes=w.own_sizes,
    )
