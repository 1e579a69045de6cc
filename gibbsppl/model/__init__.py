"""The model as a value: a graph, with densities and draws by a plain interpreter.

Densities, forward draws and ancestral order are read from the expressions of a `Graph`.
"""
