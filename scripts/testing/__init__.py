"""Runs tests: `make test`, `make test-all`, and one test by its path."""
