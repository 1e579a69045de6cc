"""Source text of generated code: with the lines of `gibbsppl.kernels`, all that is written.

`source` puts a module together from a schedule; `program` says what a module defines, and loads it.

- the functions ``<name>_given_rest``: `natural` parameters, `labels`, `joint` (quadratic log
  densities; of few rows, `by_rows`), `moves` (log densities), `gradients` with these; by colour:
  `by_colour` (lattices),
  `element_loops` and `columns` (multilinear forms), `element_sums` (labels one by one)
- means and modes in place of draws: `readings`; by colour: `mean_loops`
- the sweep: `sweep`, `units` of a scan, `composed` steps of one kernel, `interweaving`; `elements`
  and `places` (what is drawn, and where draws go); `scan_loops` that Numba compiles, with their
  `scan_text`
- what the state keeps: `maintained` arrays, `maintained_forms`
- expressions, and contributions that are added up: `lowering` to the array language, which
  `numpy_text` prints
- a sweep as a value: `arrays`, the language and its passes; `lowering` to it; `loop_text` prints it
  as plain loops, `loop_program` is these with all they read, `parted_program` the same in parts
  that threads share; `operations` of each step (of a log density those that are `asked_for`);
  `costs`: what loops are `worth`;
  `numbers_program`: loops that tell numbers, `density_program`: a log density, `log_densities`:
  where its loops pay, `moments_program`: what a statement predicts
- `trials`: schedules whose operations are counted beside others, to choose among them
- memory: steps of large arrays `by_parts`
- text alone: `module` (what the parts share), `lines`, `names`
"""
