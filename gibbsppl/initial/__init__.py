"""Starting states, and reasons against them: improper posteriors, impossible data."""
