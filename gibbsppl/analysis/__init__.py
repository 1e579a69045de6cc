"""What can be proved of an expression: bounds, signs, curvature, domains.

Answers are certain or missing, never guesses.
"""
