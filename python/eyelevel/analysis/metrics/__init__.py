"""Metrics: a load's record and frames in, numbers with units out; pure.

`catalogue` is the one table of them, with title, unit and definition, and `compute` computes all
metrics of a load. One metric a file, in a room for each kind of the catalogue: `visual` of the
pictures, whose metrics share a history of what changed on the screen and when, so that frames are
decoded once; `browser` of what the browser told; `network` of what went over it. `steps` has the
metrics of steps after the load, `video` those of any recorded video.

None if what a metric measures did not happen. A metric knows one load alone:
`eyelevel.analysis` compares loads. The table also writes docs/reference/metrics.md
(`eyelevel.cli.reference.metrics`).
"""
