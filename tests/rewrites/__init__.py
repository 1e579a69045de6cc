"""What the tests of rewrites share: small models with terms of each rule, and exact marginals."""
