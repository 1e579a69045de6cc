"""The correctness checks, as functions on any model: each can fail, and the tests prove it.

`verification` does all exact checks of one sampler, at `states` near a start, after sweeps and
along `wander`, a walk on the declared density alone:

- each step against the joint density: `ratio`, with `perturb` for the changes; `joint` (both sides
  of the mean), `edges` (both sides of bounds), `interweaving` (with the Jacobian)
- each graph of a step against the declared one: `graphs`, with conditionals `normalised`
  by formula, `quadrature` or `label_by_label`; limits of parameters: `parameters`
- the calls of a sweep against its steps: `draws_called`, `expected_calls`; `elements_by_call` has
  the elements that one call draws, by colour; `in_parts`: what parts are drawn from
- a model against the text that it was read from: `reading`
- the sweep in loops, which is compiled, against that in NumPy: `in_loops`, with what is drawn
  (`recorded_sweeps`, on `tapes`) drawn so again (`loops_beside`), in copies of modules (`rebound`)
- rounding: `terms` measures it for all of these; `results` and `table` are what is printed

On request: `enumeration` (small discrete models, by their `transition` matrix, that of `proposals`
too), `geweke` (whole sweeps, by simulation), `one_step` (one step, by simulation); `methods`
are those of a sampler for these.
"""
