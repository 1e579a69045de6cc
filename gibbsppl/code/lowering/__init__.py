"""From a schedule to a sweep as a value.

- `translation`: expressions of the model as expressions over arrays; `workshop`: the sweep under
  construction, its names, dims and statements; `squares`: sums of squares about a centre;
  `recursions`: arrays that are computed from their own earlier elements
- `contributions` of factors; `parameters`: natural parameters, log weights and bounds;
  `selections`: the elements that a step draws
- `draws` from families and of labels; of `blocks`; `joint` draws, with `joint_lengths`, or
  `by_rows`, also `corrected` ones;
  `densities`: draws and `moves` by a log density, `elliptical` ones, `modal` proposals,
  `vector_walks`, `swaps`, moves of `tied` entries (by what changes with `moved_entries`),
  `trajectories` by gradients; `forms`: residuals that are kept up to date, and draws `by_form`;
  draws `by_sums` over all elements; `kept_sums`, as all of these keep them; `stand_ins`: arrays
  that stand for others while something is drawn
- `scans` of labels with others integrated out: `scanning` is the lowering of one, with `scan_parts`
  that all elements share, or of many labels with `bucket_scans`, where weights have `buckets`; what
  scans read, `maintained` sums over the state, as they are `stored`
- what takes the mean or the mode of a conditional instead of a draw: `readings` of families, labels
  and chains, `means_by_form`, `averages` of joint normal distributions
- `sweeps`: all steps of a schedule, in order, or in that of its `units`; those of one kernel as
  they are `composed`
- without any draw: `log_densities` of factors, `moments` of what statements predict, `rooms` of
  blocks (their precision matrices)
"""
