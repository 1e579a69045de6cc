"""A sweep as one function of plain loops, in the part of Python that Numba compiles.

- `expressions`: expressions of one position; `statements`: loops, draws and stores
- `module`: the text of a module, or of one in `parts`; `loading` of its text, compiled or not, from
  a folder where both Numba and the next process find it
"""
