"""From pieces to conditionals: matched families, labels, concave and quadratic log densities.

Where local conjugacy is found. `conditionals` adds up the pieces of all factors (computed arrays
are written by their `responses` to the target before) and asks in turn:

- a family: `readings` (statistics in one place, support, limits; as they are, and after one of the
  `changes` of variable), `matching` to a row of the table, `inversion` to its own parameters,
  `underflow` of changed values; results in `match_results`. A second search is made with
  `equal_data` written alike, and without what `telescoping` finds to cancel
- the log weights of a label: `labels`; of a whole hidden Markov chain: `label_chains`
- a concave log density: `concavity`, with a `certificate` term by term, and the `compensation` of
  functions that bend the other way by squares of the same elements

Several variables, or elements that depend on one another: `quadratic` log densities (joint
draws; `row_forms` where few rows tie the elements); `conflicts` between elements and their
`colours`; `multilinear_forms`, with `form_facts` of the data; the `second_order` of concave log
densities (joint modes, proposals, log densities in `batches`), whose derivatives are `weights`;
`gradients` of any that are
differentiable, through arrays that are `computed` on the way, by their `adjoints`, with the parts
that are `shared` with the log density.

What draws are computed from: `contractions` (pieces pulled back onto the target's axes), `centring`
of sums of squares. What others ask: `designs` of linear predictors, `moments` (formulas of the mean
and the variance), `expectations` of other functions, and the entropy, `modes`.
"""
