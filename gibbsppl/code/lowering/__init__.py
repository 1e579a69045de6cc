"""From a schedule to a sweep as a value.

- `translation`: expressions of the model as expressions over arrays; `workshop`: the sweep under
  construction, its names, dims and statements; `squares`: sums of squares about a centre
- `parameters`: natural parameters, log weights and bounds; `selections`: the elements that a step
  draws
- `draws` from families and of labels; `joint` draws; `densities`: draws and `moves` by a log
  density; `forms`: residuals that are kept up to date; `stand_ins`: arrays that stand for others
  while something is drawn
- `sweeps`: all steps of a schedule, in order
"""
