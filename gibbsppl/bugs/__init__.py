"""The BUGS language: model texts, data and initial values as JAGS and OpenBUGS have them.

`read` makes a model of a text, through these rooms in order:

- text to tree: `sources`, `spellings` of other languages, `lexer`, `reader`, `expressions`,
  `parse`, with trees in `syntax`; data: `data` of any form (`dumps`, `tables`, `json_data`, by
  `scanner`), `documents` with data after the program
- facts before any randomness: `facts`, made by `settling` (loops unrolled, numbers computed until
  nothing more becomes known) from `relations` (lines with their loops), `numbers`, `grids`,
  `bare_targets` and `ragged` lines
- a program stated anew, as another program: `observed_sums`, `exchangeable`
- a line as statements: `lowering`, with `parts` (one source for each name read), `layouts` and
  `axes` (where elements are), `placed`, `statements`, `checked_lines`, `auxiliaries`, `certain`,
  `constraints`, `intervals`, `maps` and `fields`, `recursions` and `ragged_recursions`, `cycles`
- expressions: `evaluator` (numbers or formulas) with `values` and `references` to random arrays
  (where indices, from 1 in a text, become positions: `grids` recognises these by their numbers),
  `ragged_lengths`; vectors certain to sum to one are found by `simplexes` and `sums`
- tables of what names mean: `distributions`, `functions` (`array_functions`, `array_numbers`),
  `densities`, `unsupported`; `rows` says what a row holds
- names and records: `added_names`, `quantities`, `inits`

`reading` keeps the text for the checks, which evaluate it a second time: `interpreter`, with
`interpreted_values`, `interpreted_functions`, `interpreted_scalars`, `interpreted_vectors` and
`interpreted_densities` (`interpreted_special` loads SciPy), which share the parser alone with the
rooms above.

`write` goes back: `inverses` of the table's rows, `written_expressions`, `written_numbers`,
`written_sides`, `printing`.
"""
