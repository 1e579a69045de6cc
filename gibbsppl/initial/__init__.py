"""Starting states, and what forbids them: improper posteriors, impossible data."""
