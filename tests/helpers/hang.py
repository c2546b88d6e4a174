"""The bound of a test that hangs."""

HANG_S = 600.0
"""No duration is measured by it. A command that takes five seconds of one processor, nearly all of
them for its imports, took more than a minute on two processors with a load average of 19."""
