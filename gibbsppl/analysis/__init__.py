"""Facts proved of expressions: bounds, signs, curvature, domains.

Answers are certain or missing, never guesses. By what is asked:

- the interval and the sign of an expression, from the bounds of its leaves: `signs`
- the least and the greatest value at each position, data being known: `ends`; as far as
  potentials tell by numbers: `known_limits`
- whether a log density is concave, with the proof by rules: `curvature`
- whether a parameter may leave its support (the first pass over a declared graph): `domains`
- whether bounds of a truncation are inside of the family's support: `truncations`
"""
