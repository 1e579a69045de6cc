"""Draws, with summaries, diagnostics and files."""
