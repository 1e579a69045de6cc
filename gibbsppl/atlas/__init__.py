"""The atlas of conjugacy: the conditional for each prior and each way to enter a child.

`examples` has the priors and the children, `pages` writes what is derived for each pair.
`distributions` writes the reference of all rows of the table, with `curves` of their densities.
"""
