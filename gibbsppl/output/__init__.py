"""Draws, with summaries, diagnostics and files.

`draws` is the value of a run; `summary` the table that it prints, with the `diagnostics` R-hat, ESS
and MCSE; `files` (xarray, netCDF) and `coda` (text) store it, `whole_files` whole or not at all;
`arrays` has the types of all of these.
"""
