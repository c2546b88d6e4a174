"""Metrics: a load's record and frames in, numbers with units out; pure.

One metric a file; `catalogue` is the one table of them, with title, unit and definition, and
`compute` computes all metrics of a load. Visual metrics share a `history` of what changed on the
screen and when, so that frames are decoded once. `steps` has the metrics of steps after the load,
`video` those of any recorded video.

None if what a metric measures did not happen. A metric knows one load alone:
`eyelevel.analysis` compares loads. The table also writes docs/reference/metrics.md
(`eyelevel.reference.metrics`).
"""
