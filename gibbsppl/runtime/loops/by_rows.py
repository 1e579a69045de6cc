"""Joint normal draws of many elements that few rows tie, as `gibbsppl.runtime.by_rows` has them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gibbsppl.runtime.types import Floats, Generator, Ints

from . import kernel
from .joint import definite
from .matrices import backward, factorised, forward

APART: Mapping[str, str] = {}


@kernel
def joint_by_rows(
    rng: Generator,
    linear: Floats,
    precisions: Floats,
    design: Floats,
    weights: Floats,
    responses: Floats,
    out: Floats,
) -> None:
    """A draw of elements by the rows that tie them, into ``out``.

    ``linear`` and ``precisions`` are those of each element alone, ``design[j]`` what the rows have
    of an element. The design and the responses are overwritten.
    """
    columns, rows = design.shape
    _of_unit_weight(linear, design, weights, responses)
    for j in range(columns):
        definite(precisions[j] > 0.0)
        noise = np.sqrt(precisions[j]) * rng.standard_normal()
        out[j] = (linear[j] + noise) / precisions[j]
    for i in range(rows):
        responses[i] -= rng.standard_normal()
    for j in range(columns):
        for i in range(rows):
            responses[i] -= design[j, i] * out[j]
    matrix = _of_rows(design, precisions)
    definite(factorised(matrix))
    forward(matrix, responses)
    backward(matrix, responses)
    for j in range(columns):
        total = 0.0
        for i in range(rows):
            total += design[j, i] * responses[i]
        out[j] += total / precisions[j]


@kernel
def _of_unit_weight(linear: Floats, design: Floats, weights: Floats, responses: Floats) -> None:
    """Rows and responses divided so that weights are one; without weight, in ``linear``."""
    columns, rows = design.shape
    for i in range(rows):
        if weights[i] > 0.0:
            weights[i] = np.sqrt(weights[i])
            responses[i] /= weights[i]
            continue
        for j in range(columns):
            linear[j] += responses[i] * design[j, i]
        responses[i] = 0.0
    for j in range(columns):
        for i in range(rows):
            design[j, i] *= weights[i]


@kernel
def _of_rows(design: Floats, precisions: Floats) -> Floats:
    """The matrix of the order of the rows, on and below its diagonal: four elements at a time.

    Elements that no row shows, as weights are whose gates are shut, are left out.
    """
    columns, rows = design.shape
    shown = np.empty(columns, np.int64)
    count = 0
    for j in range(columns):
        for i in range(rows):
            if design[j, i] != 0.0:
                shown[count] = j
                count += 1
                break
    matrix = np.zeros((rows, rows))
    for i in range(rows):
        matrix[i, i] = 1.0
    for t in range(0, count - count % 4, 4):
        _add_four(matrix, design, precisions, shown[t : t + 4])
    for t in range(count - count % 4, count):
        j = shown[t]
        for i in range(rows):
            a = design[j, i] / precisions[j]
            for k in range(i + 1):
                matrix[i, k] += a * design[j, k]
    return matrix


@kernel
def _add_four(matrix: Floats, design: Floats, precisions: Floats, four: Ints) -> None:
    """Add what four elements contribute to the matrix of the rows."""
    at_a, at_b, at_c, at_d = design[four[0]], design[four[1]], design[four[2]], design[four[3]]
    for i in range(len(matrix)):
        a, b = at_a[i] / precisions[four[0]], at_b[i] / precisions[four[1]]
        c, d = at_c[i] / precisions[four[2]], at_d[i] / precisions[four[3]]
        for k in range(i + 1):
            matrix[i, k] += a * at_a[k] + b * at_b[k] + c * at_c[k] + d * at_d[k]
