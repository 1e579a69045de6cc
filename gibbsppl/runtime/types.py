"""Types of the arguments and results of generated code: numbers, arrays, indices, densities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Generator = np.random.Generator

# The shape of a draw, event axes last; () for one number.
Size = tuple[int, ...]

# Arrays of real numbers (of 64 bits), of whole numbers (counts, labels), of positions; and masks.
# NumPy's scalars count as arrays without axes; integers are taken where floats are asked for.
Floats = NDArray[np.floating]
Integers = NDArray[np.integer]
Ints = NDArray[np.intp]
Flags = NDArray[np.bool_]

# A number, or an array of numbers that broadcasts with others.
Numbers = float | Floats
# A whole number, or an array of whole numbers.
Wholes = int | np.integer | Integers
# Arrays of either, and either: the values of variables, continuous or discrete, and their bounds.
Array = NDArray[np.floating | np.integer]
Values = float | np.integer | Array

# What stands between the brackets of an array; on several axes, one for each.
AxisIndex = int | slice | Ints
Index = AxisIndex | Flags | tuple[AxisIndex, ...]

# The log density of a value up to a constant: one number, or one for each element.
LogDensity = Callable[[Values], Numbers]

# The variables of a model, by name.
State = Mapping[str, Values]
# A state that moves change, with their tuning (Width, Walk) under names that start with "~".
TunedState = dict[str, Any]
# What a program computes once, by name: data, groups of positions, matrices.
Constants = Mapping[str, object]
