"""Benchmarks are programs; tests/test_benchmarks.py shows that they still run."""

collect_ignore_glob = ["*.py"]
