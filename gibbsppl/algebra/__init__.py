"""The algebra under everything: expressions in index notation, their supports, identities, print.

The ground floor: knows neither models nor distributions.
"""
