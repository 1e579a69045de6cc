"""Source text of generated code: with the lines of `gibbsppl.kernels`, all that is written.

`source` puts a module together from a schedule; `program` says what a module defines, and loads it.

- the functions ``<name>_given_rest``: `natural` parameters, `labels`, `joint` (quadratic log
  densities), `moves` (log densities); by colour: `by_colour` (lattices), `element_loops` and
  `columns` (multilinear forms)
- the sweep: `sweep`, `units` of a scan, `interweaving`; `elements` and `places` (what is drawn, and
  where draws go); `scan_loops` with `loops` that Numba compiles
- what the state keeps: `maintained` arrays, `maintained_forms`
- one natural parameter: `accumulation` of the contributions, `tables` read by an index, `sums`,
  `segments` (by group), rows `looked_up`, `squares`, `products`, `extremes`
- expressions as text: `expressions` by kind, `reads` of arrays, `recursions`; `writer` has the
  order of the axes, `hoisting` what is computed once
- a sweep as a value: `arrays`, the language and its passes; `lowering` to it; `loop_text` prints it
  as plain loops, `loop_program` is these with all they read; `costs`: what they are `worth`
- `cache_folder`: where files for the next process are kept
- text alone: `module` (what the parts share), `lines`, `names`, `text`
"""
