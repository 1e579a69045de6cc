"""Variables read by their means: what a term of the log density becomes, and the bound.

- `averages`: the expectations of functions of one factor of q; of rows of the table `of_families`,
  of `vectors`, `of_labels`, of `joint` normal arrays; `choice` of these by the step
- `of_scans`: scans of labels with others integrated out, from expected arrays
- `expected`: the expectation of an expression of the model, or of a piece; `by_element`: of a
  polynomial in many elements at once; `bound`: that of the log joint density, with the entropies
  of q
"""
