"""Random models compared with a second implementation that knows nothing of gibbsppl.

A model is described once (`trees`, `models`), as a small immutable value. From it come the source
that declares it in gibbsppl's notation, and, element by element with NumPy and SciPy, its log
density, its forward simulation and an importance sampler. Only `exact`, `sampled` and `run`
import gibbsppl.
"""
