"""Facts proved of expressions: bounds, signs, curvature, domains.

Answers are certain or missing, never guesses. By what is asked:

- between which numbers an expression is, and which sign it has: `bounds`; the sign of what bounds
  do not tell, by coefficients: `signs`; limits that potentials set, as numbers: `known_limits`
- whether a log density is concave, with the proof by rules: `curvature`; whether an entry is that
  of a positive definite matrix: `definite`
- whether a parameter may leave its support (the first pass over a declared graph): `domains`;
  whether entries of a vector are never negative and sum to one: `shares`
- whether bounds of a truncation are inside of the family's support: `truncations`
"""
