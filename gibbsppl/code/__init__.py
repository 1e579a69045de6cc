"""Back ends: the only modules that write source text.

`numpy` puts a module together from a schedule; `program` says what a module defines, and loads it.

- the functions ``<name>_given_rest``: `natural` parameters, `labels`, `label_chains`, `joint`
  (quadratic log densities), `moves`; by colour: `by_colour` (lattices), `forms` and `columns`
  (multilinear forms)
- the sweep: `sweep` and `places` (the index of what is drawn), `kernels` (moves), `scans` with
  `loops` that Numba compiles, `interweaving`
- what the state keeps: `maintained` arrays, `maintained_forms`
- one natural parameter: `accumulation` of the contributions, `tables` read by an index, `sums`,
  `segments` (by group), `squares`, `products`, `extremes`
- expressions as text: `expressions` by kind, `leaves`, `recursions`; `writer` has the order of the
  axes, `hoisting` what is computed once
- text alone: `module` (what the parts share), `lines`, `names`, `text`
"""
