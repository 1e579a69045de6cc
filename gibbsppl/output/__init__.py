"""Draws, with summaries, diagnostics and files.

`draws` is the value of a run; `summary` the table that it prints, with the `diagnostics` R-hat, ESS
and MCSE; `netcdf` and `coda` (text) store it, `whole_files` whole or not at all; `files` (xarray)
hands it to other programs and reads it again, both by its `groups`; `arrays` has the types of all.
"""
