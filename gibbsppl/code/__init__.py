"""Back ends: the only modules that write source text."""
