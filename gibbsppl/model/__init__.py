"""The model as a value: a graph, with densities and draws by a plain interpreter.

Densities, forward draws and ancestral order are read from the expressions of a `Graph`.

- the value: `graph`; the same with other expressions: `graph_changes`
- data of which it is recorded what a derivation has asked: `asked`; the limit of `memory` by sizes
- views, which hold no facts of their own: `graph_views` (edges, the DAG, Markov blankets)
- the interpreter, which knows no generated code: `evaluation` (an expression at all positions),
  `operations` (one NumPy call each), `elements` of arrays, `by_position` (the steps of recursions);
  `density` on top, of many values at once `along_draws`; `powers`: what it raises or exponentiates
- the same density in other coordinates: `stand_ins`, arrays that stand for elements of others
- simulation: `ancestral` (each statement after its parents), `lagged` (arrays that read themselves,
  at once), then `forward` (the draws)
- arrays of the user's and positions in messages: `alignment`, `positions`; labels that an index is
  given: `label_codes`
"""
