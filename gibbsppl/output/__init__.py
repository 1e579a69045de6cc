"""Draws, their summaries and diagnostics, and the files that they are written to."""
