"""Draws, with summaries, diagnostics and files.

`draws` is the value of a run, with `estimates`; `summary` the table that it prints, with the
`diagnostics` R-hat, ESS and MCSE; `elpd` how well a model predicts, by `psis`, and
`model_comparison` of several; `correlations` of pairs; `relabelling` of components; `monitored` are
statistics of what has no draws; `until` is a rule by which these end a run, `ends` are where its
chains have ended; by `thinning` a variable has fewer draws than others; draws are `checked` when
they are made; `netcdf` and `coda` (text) store them, `whole_files` whole or not at all; `files`
(xarray) hands them to other programs and reads them again, both by its `groups`; `labels` name
elements, `shares` tell of those whose values are labels; `arrays` has the types of all. Notebooks
show `pages`; `plots` are traces and ranks of the `worst` elements.
"""
