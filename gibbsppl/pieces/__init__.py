"""From log densities to pieces: each a coefficient times a statistic of the target.

`split` takes each factor through all stages: the identities of `gibbsppl.algebra` come first, then
`gates` (indicators inside of functions) are taken out; parts free of the target are cut off, `logs`
of products and powers taken apart, sums opened; the rest is multiplied out and collected as `Piece`
values. All this is a function of one log density, and is kept: the graphs that a search tries have
most factors in common.

Before that, `outcomes` puts in what is observed of an event, where this is one number everywhere,
`cases` takes the logs of arrays apart that are written element by element, and `choices` makes
polynomials of choices within sums.

Of pieces are then asked: `limits` (logs of indicators are bounds of the target's support),
`dependence` (which elements of the target depend on one another), `elements` (the pieces about one
element given the others), `vanishing` (what is exactly zero, whatever the log beside it); of
arrays, whether they hold `definite` matrices.

Potentials that are `corrections` are left out where a log density is simpler without them.
"""
