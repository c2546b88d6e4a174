"""Metrics: a load's record and frames in, numbers with units out; pure.

`catalogue` is the one table of them, with title, unit and definition, and computes all metrics of a
load. There is a file for each kind of the catalogue: `visual` for frames, whose metrics share a
history of the changes on the screen, so that frames are decoded once; `browser` for what the
browser reports; `network` for traffic. `steps` has the metrics of steps after the load, `video`
those of any recorded video.

A metric is None if its event did not happen, and depends on one load alone: `eyelevel.analysis`
compares loads. The table is also the source of docs/reference/metrics.md
(`python -m eyelevel.cli.reference`).
"""
