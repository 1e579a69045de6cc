"""From pieces to conditionals: matched families, labels, concave and quadratic log densities.

Where local conjugacy is found.
"""
