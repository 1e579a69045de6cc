"""A sweep as a value: arrays over named dims, numbers for each position, statements in order.

Nothing here says in which order positions are visited, what is a temporary or what is vectorised:
passes and printers do.

- `expressions`: a number for each position; `statements`: what makes or changes arrays; `sweeps`:
  a whole sweep, with what it knows of arrays from outside; all of them print themselves
- `accesses`: what statements read and change, and whether one may go before another; `costs` of
  functions; `naming` of new arrays; `evaluation` of what depends on data alone
- passes: `passing` arrays of the state that no other sweep reads; draws by `weights` instead of
  their logs; `blocks` of labels; `buffers` of vectors that kernels read; `contraction`: sums as
  arrays of their own, some by `groups`; `lifting` of dear functions out of loops; `sharing`: what
  is equal is computed once, what depends on data alone beforehand; `additions` of what is drawn,
  where it is drawn; `halves` of symmetric sums; `fusion`: statements over the same dim as one loop;
  `storage`: the axes that arrays need; `loads`: what is read once in a loop; `numbers` of data and
  priors in tables; `recursions` and their `systems`
"""
