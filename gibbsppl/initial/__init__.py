"""Starting states, and reasons against them: improper posteriors, impossible data.

In the order in which they are called:

- `impossible`, before anything is compiled: data of density zero, whatever the parameters
- `inits`: values of the user's; `from_prior`: a draw of the prior as it is, if that is asked for
- `pilot`: several starts by `search`, a few sweeps from each, the best is taken, by its log
  density (`code/log_densities`), until these are in `agreement`. `search` goes from
  a `dispersed` state (`unitless`: scales of exponents and coefficients) to one that is `feasible`
  (scales of noise are not moved under `saturation`, where nothing holds them up);
  if the density is still zero, `polyhedra` moves it to where all that is linear in the model's
  `requirements` is met, and `nearing` towards where the rest is
- `settled`: states of a short chain, at which theory is asked how sweeps mix
- `zero_density` says why a start has density zero
- `propriety`: each conditional at a start has a finite integral (`looking` finds what it is
  `drawn_from`, `rooms` looks at many blocks in loops); `separation`: so has the
  posterior, unless no term falls along some direction, found by a linear programme from the
  designs and sides of `recession`
"""
