"""The exceptions a user can see: one per audience.

Each message names the variable, what was found, what was expected and what to do.
"""


class GibbspplError(Exception):
    """The root of every error that gibbsppl raises on purpose."""


class ModelError(GibbspplError):
    """The model or its data, as declared, is not a model: shapes, names, values, supports."""


class CompileError(GibbspplError):
    """The model is a model, but no sampler of the kind that was asked for can be made of it."""


class RunError(GibbspplError):
    """A run cannot start or go on: initial values, memory, a state that is not finite."""
