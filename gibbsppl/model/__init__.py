"""The model as a value: its graph, and what a plain interpreter computes of it.

Densities, forward draws and ancestral order are read from the expressions of a `Graph`.
"""
