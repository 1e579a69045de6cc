"""Names, and what belongs to which model.

Each function declares a bad model; its docstring is the message that it must give.
"""

import gibbsppl.language as gp


def name_declared_twice():
    """mu: declared twice, as a variable and as a variable; names are unique in a model: rename one
    of them.
    """
    with gp.Model():
        gp.Normal("mu", 0, sigma=1)
        gp.Gamma("mu", 1, rate=1)


def name_of_a_dimension():
    """rat: declared twice, as a dimension and as a variable; names are unique in a model: rename
    one of them.
    """
    with gp.Model(coords={"rat": 3}):
        gp.Normal("rat", 0, sigma=1)


def name_of_a_mask():
    """y.known: declared twice, as a variable and as the mask of the missing entries of y; names
    are unique in a model: rename one of them.
    """
    with gp.Model():
        gp.Normal("y.known", 0, sigma=1)
        gp.Normal("y", 0, sigma=1, dims="i", observed=[1.0, -9.0], missing=-9)


def declared_outside_a_model():
    """mu: declared outside a model; put the declaration under `with gp.Model():`."""
    gp.Normal("mu", 0, sigma=1)


def tensors_of_two_models():
    """mu: found together with tensors of another model (Model('first', variables: mu),
    Model('second', variables: none)) in one expression; declare them in one model.
    """
    with gp.Model(name="first"):
        mu = gp.Normal("mu", 0, sigma=1)
    with gp.Model(name="second"):
        gp.Normal("x", mu, sigma=1)


def distribution_without_a_name():
    """expression: found Normal(mu=0, sigma=1); expected a number or a tensor of the model (a
    distribution becomes one when it is given a name).
    """
    with gp.Model():
        gp.exp(gp.Normal(0, sigma=1))


def dims_without_a_name():
    """Normal: dims= and observed= belong to a variable; give it a name: gp.Normal("name", ...)."""
    with gp.Model(coords={"rat": 3}):
        gp.Normal(0, sigma=1, dims="rat")


def model_without_distributions():
    """nothing: no distribution was declared; a model needs at least one, such as gp.Normal("x", 0,
    sigma=1).
    """
    with gp.Model(name="nothing") as model:
        gp.Data("x", 1.0)
    return model.graph


def comparison_as_truth():
    """Below(0, x): a tensor has no truth value while the model is declared; write
    gp.where(condition, a, b) in the place of if.
    """
    with gp.Model():
        x = gp.Normal("x", 0, sigma=1)
        if x > 0:
            gp.Normal("y", x, sigma=1)


def equality_as_indicator():
    """x: == compares objects; write gp.equals(a, b) for the indicator."""
    with gp.Model():
        return gp.Normal("x", 0, sigma=1) == 1


def label_used_twice():
    """coords: dimension 'group' has the label 'a' at positions 0 and 2; expected different labels:
    rename one, or give the size alone.
    """
    gp.Model(coords={"group": ["a", "b", "a"]})


def label_missing():
    """coords: dimension 'day' has the missing label nan at position 1; expected a label for each
    position: name it, or leave the position out.
    """
    gp.Model(coords={"day": [1.0, float("nan"), 3.0]})
