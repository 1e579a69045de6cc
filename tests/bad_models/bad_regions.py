"""Arrays filled by regions, and cycles among elements.

Each function declares a bad model; its docstring is the message that it must give.
"""

import numpy as np

import gibbsppl.language as gp


def overlapping_regions():
    """x: overlaps a region that is already filled (element (0,) of it); regions are disjoint:
    assign each element once.
    """
    with gp.Model(coords={"t": 3}):
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, sigma=1)
        x[:] = gp.Normal(0, sigma=1)


def region_that_is_missing():
    """x: 1 of 3 elements have no distribution, the first at position (2,); regions must fill the
    whole array: assign the rest.
    """
    with gp.Model(coords={"t": 3}) as model:
        x = gp.Array("x", dims="t")
        x[:2] = gp.Normal(0, sigma=1)
    return model.graph


def array_that_is_never_filled():
    """x: a gp.Array that is never filled; assign a distribution to it, as in `x[:] = gp.Normal(0,
    sigma=1)`, or remove it.
    """
    with gp.Model(coords={"t": 3}) as model:
        gp.Normal("y", 0, sigma=1)
        gp.Array("x", dims="t")
    return model.graph


def region_beyond_the_end():
    """x: position 5 of dimension 't', which has size 3; positions are 0 to 2."""
    with gp.Model(coords={"t": 3}):
        x = gp.Array("x", dims="t")
        x[0:5] = gp.Normal(0, sigma=1)


def empty_region():
    """x: the region 1:1 of dimension 't' (size 1) is empty; leave the assignment out, or give the
    dimension more positions.
    """
    with gp.Model(coords={"t": 1}):
        x = gp.Array("x", dims="t")
        x[1:] = gp.Normal(0, sigma=1)


def region_with_a_step():
    """x: a region with step 2; expected step 1: x[1:]."""
    with gp.Model(coords={"t": 4}):
        x = gp.Array("x", dims="t")
        x[::2] = gp.Normal(0, sigma=1)


def region_with_too_few_indices():
    """x: a region with 1 indices; expected one per dimension (t, u): write : for a whole
    dimension.
    """
    with gp.Model(coords={"t": 4, "u": 2}):
        x = gp.Array("x", dims=("t", "u"))
        x[0] = gp.Normal(0, sigma=1)


def region_of_a_mask():
    """x: position array([ True, False]) of dimension 't'; expected a whole number: positions are
    counted from 0.
    """
    with gp.Model(coords={"t": 2}):
        x = gp.Array("x", dims="t")
        x[np.array([True, False])] = gp.Normal(0, sigma=1)


def region_of_a_variable_that_is_no_array():
    """x[t]: only a gp.Array is filled by assignment; declare x = gp.Array("x", dims=...) and fill
    its regions.
    """
    with gp.Model(coords={"t": 2}):
        x = gp.Normal("x", 0, sigma=1, dims="t")
        x[0] = gp.Normal(0, sigma=1)


def part_of_a_vector():
    """x[:2]: a value extends over all of 'k'; expected the whole dimension in the region: write :
    there.
    """
    with gp.Model(coords={"k": 3}):
        x = gp.Array("x", dims="k", event="k")
        x[:2] = gp.Dirichlet(1)


def function_of_variables_beside_a_distribution():
    """x: some of its regions are computed from variables, others have distributions or are
    observed; expected one or the other for all: give what has a distribution an array of its own.
    """
    with gp.Model(coords={"t": 2}):
        mu = gp.Normal("mu", 0, sigma=1)
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, sigma=1)
        x[1:] = mu + 1


def constant_beside_what_is_observed():
    """x[0]: assigned a constant where other values are observed; mask these entries of observed=,
    or assign a distribution.
    """
    with gp.Model():
        x = gp.Array("x", dims="t", observed=[1.0, 2.0])
        x[0] = 3.0


def observed_array_of_known_numbers():
    """x: observed, but all its elements are assigned known numbers; observed= is for regions with
    a distribution: remove it.
    """
    with gp.Model():
        x = gp.Array("x", dims="t", observed=[1.0, 2.0])
        x[0] = 1.0
        x[1] = 2.0


def known_labels_out_of_range():
    """z: found 2.0 at position (1,); expected whole numbers from 0 to 1, the positions along
    'state': count from 0.
    """
    with gp.Model(coords={"state": 2, "t": 2}):
        z = gp.Array("z", dims="t", event="state")
        z[0] = 0
        z[1] = 2


def labels_that_point_elsewhere():
    """z: the probabilities of Categorical have, beside the dims of z (t), the dimensions colour;
    expected the event dimension state: name it with event="dim".
    """
    with gp.Model(coords={"state": 2, "colour": 2, "t": 3}):
        p = gp.Dirichlet("p", 1, dims="colour")
        z = gp.Array("z", dims="t", event="state")
        z[:] = gp.Categorical(p)


def labels_of_an_array_that_does_not_say_where_they_point():
    """z: its values point into 'state', those of z into none; declare gp.Array("z", ...,
    event="dim") with the dim that all its labels point into.
    """
    with gp.Model(coords={"state": 2, "t": 3}):
        p = gp.Dirichlet("p", 1, dims="state")
        z = gp.Array("z", dims="t")
        z[:] = gp.Categorical(p)


def whole_numbers_that_are_no_positions():
    """z: of='state' makes it a position 0..2, but its values are {0..1}; expected the two to be
    the same: choose another dim.
    """
    with gp.Model(coords={"state": 3}):
        gp.Bernoulli("z", 0.5, of="state")


def element_that_depends_on_itself():
    """x[0]: depends on itself through x[0] -> x[0]; an element may depend only on elements that do
    not depend on it: lag one of the reads, or declare a gp.Potential.
    """
    with gp.Model(coords={"t": 3}) as model:
        x = gp.Array("x", dims="t")
        x[:] = gp.Normal(0.5 * x, sigma=1)
    return model.graph


def cycle_given_by_data():
    """x[2]: depends on itself through x[2] -> x[1] -> x[2]; an element may depend only on elements
    that do not depend on it: lag one of the reads, or declare a gp.Potential.
    """
    with gp.Model(coords={"node": 4}) as model:
        parent = gp.Index("parent", [3, 2, 1, 0], of="node", dims="node")
        x = gp.Array("x", dims="node")
        x[0] = gp.Normal(0, sigma=1)
        x[1:] = gp.Normal(x[parent], sigma=1)
    return model.graph


def cycle_through_a_latent_label():
    """x[0]: depends on itself through x[0] -> x[0]; an element may depend only on elements that do
    not depend on it: lag one of the reads, or declare a gp.Potential.
    """
    with gp.Model(coords={"k": 2}) as model:
        z = gp.Categorical("z", 0.5, event="k")
        x = gp.Array("x", dims="k")
        x[:] = gp.Normal(x[z], sigma=1)
    return model.graph


def cycle_through_a_sum():
    """x[1]: depends on itself through x[1] -> x[1]; an element may depend only on elements that do
    not depend on it: lag one of the reads, or declare a gp.Potential.
    """
    with gp.Model(coords={"t": 3}) as model:
        x = gp.Array("x", dims="t")
        x[0] = gp.Normal(0, sigma=1)
        x[1:] = gp.Normal(x.sum("t"), sigma=1)
    return model.graph


def two_arrays_that_feed_each_other():
    """y[0]: depends on itself through y[0] -> x[0] -> y[0]; an element may depend only on elements
    that do not depend on it: lag one of the reads, or declare a gp.Potential.
    """
    with gp.Model(coords={"t": 2}) as model:
        x, y = gp.Array("x", dims="t"), gp.Array("y", dims="t")
        x[:] = gp.Normal(y, sigma=1)
        y[:] = gp.Normal(x, sigma=1)
    return model.graph


def two_neighbours_of_a_chain():
    """x[2]: depends on itself through x[2] -> x[1] -> x[2]; an element may depend only on elements
    that do not depend on it: lag one of the reads, or declare a gp.Potential.
    """
    with gp.Model(coords={"t": 4}) as model:
        x = gp.Array("x", dims="t")
        x[0], x[-1] = gp.Normal(0, sigma=1), gp.Normal(0, sigma=1)
        x[1:3] = gp.Normal((x.lag("t", 1) + x.lag("t", -1)) / 2, sigma=1)
    return model.graph


def stick_with_a_known_share():
    """v[k]: broken, but v has regions that are known numbers; for weights of sum one give each
    break a distribution, and what is left to into="dim".
    """
    with gp.Model(coords={"k": 3}):
        v = gp.Array("v", dims="k")
        v[:-1] = gp.Beta(1, 1)
        v[-1] = 1
        gp.stick_breaking(v, "k")
