"""A schedule: steps in order, each with its conditional and natural parameters.

- `steps`: what a step is, its facts and what it does of its own; `kinds`: steps by what they draw
  from, of which each kernel in `gibbsppl.kernels` is one. `sweeps`: a `Schedule`, all of a sweep,
  with `pages` that list its steps
- what steps are made of: `contributions` of factors to `parameters`, `precisions` of joint draws
  (of `fixed_matrices`, if these are known; of few rows, `row_forms`), `terms_by_element`,
  `cancelling` terms merged
- `moments`: what others read of a variable that is read by its mean
- what the user asks for: `kernel` (what a kernel is), `asked` (the conditional that it is asked
  for), `composed` (several steps by one kernel), `blocks`, `scanning` (random, symmetric)
- `choices`: what else there was, with costs and mixing
- `kept_sums`: values by row that draws of elements keep up to date, and which rows see an element;
  `element_loops` read residuals, `element_sums` any sums over elements, `mean_loops` those of
  means, `moved_entries` what changes with two entries of a value
- `staleness`: no step reads what is stale; `deferral`: steps that only records need
- `densities`: parts of the log densities that steps draw from; the checks compare these
"""
