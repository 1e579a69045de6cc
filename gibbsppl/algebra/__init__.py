"""The algebra under everything: expressions in index notation, their supports, identities, print.

The ground floor: knows neither models nor distributions. By what is looked for:

- an expression: `expressions` (arrays, dims, leaves, sums), `functions` (one row each, of
  `function_rows`), `recursions` (arrays computed from their own elements), `exact_numbers`
- positions: `ranges` along dims, `copies` of a dim that is read twice
- values: `supports` of variables, `intervals` with exact ends, `bounds` compared by their form
- a log density made simpler: `identities`, then `cuts` (parts free of a target are set aside);
  `polynomials` (what multiplying out would cost), `log_gamma`, `inverses` of monotone functions;
  `residues`, by which an expression is known to be a number at all values of its variables
- derivatives: `calculus`; `differentials` of sums, matrices and functions, in steps of whole
  arrays; `tails`, what logs of probabilities change by;
  `expansions` to second order; `masses` between two ends
- digits in floating point: `near_one`, `rounding`; the interpreter and the back end read both
- text: `notation`, and `columns` of it; bytes, and back: `pickling`
"""
