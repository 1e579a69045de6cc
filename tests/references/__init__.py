"""Independent answers: exact posteriors by quadrature, and samplers written by hand.

Nothing here imports gibbsppl: what these modules say must not depend on what they are to check.
"""
