"""A sweep as a value: arrays over named dims, numbers for each position, statements in order.

Nothing here says in which order positions are visited, what is a temporary or what is vectorised:
passes and printers do.

- `expressions`: a number for each position; `statements`: what makes or changes arrays; `sweeps`:
  a whole sweep, with what it knows of arrays from outside; all of them print themselves
- `checking` of a sweep when it is made: what holds of each
- `terms` of sums, factors of products; `notation` for comments; `accesses`: what statements read
  and change, and whether one may go before another; `costs` of functions; `amounts` of work, in
  sizes of dims; `naming` of new arrays; `evaluation` of what depends on data alone
- passes: `passing` arrays of the state that no other sweep reads; sums over rows, of which many
  are `alike`, over those that differ; draws by `weights` instead of their logs; sums over rows as
  sums over what an index has `picked`; sums over `few` positions written out; `tabulation` of
  parameters by whole numbers; `gathers` of functions; `blocks` of labels; `buffers` of vectors
  that kernels read; `contraction`: sums as arrays of their own, some by `groups`, in `orders` of
  axes, some of them `equations`; `parting` of parameters from draws, `lifting` of dear functions
  out of loops, `exponentials` as powers of one; `sharing`: what is equal is computed once, what
  depends on data alone beforehand; `additions` of what is drawn, where it is drawn; `halves` of
  symmetric sums; sums in `fours` of members; `gates` before what they let in; data over
  `divisors` of data beforehand; `curves` of data by the piece in which a number is; long sums of
  log densities as `partial_sums`; `fusion`: statements over the same dim as one loop; `chunks` of
  large loops; `storage`: the axes that arrays need; `loads`: what is read once in a loop;
  `numbers` of data and priors in tables; large arrays as `singles`; `recursions` and their
  `systems`
"""
