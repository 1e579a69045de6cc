"""The array language as NumPy: arrays with one axis for each dim.

- `functions` as values, and what in them gets a name
- `statements`: arrays that are added up, each term with its factor; `tables` read by an index
- `expressions` by kind, `reads` of arrays, `recursions`; `reductions` by the `ways` that they are
  done, rows `looked_up`, `products` of arrays, `squares` about a centre
- bytes of temporary arrays that are `held`
- `axes`: their order; `writer` has the names of a function, `hoisting` what is computed once,
  `whole_numbers` what has no digits to lose; `text` alone
"""
