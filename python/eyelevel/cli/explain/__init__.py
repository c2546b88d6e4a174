"""The commands `eyelevel explain`: why results can differ.

`commands` is the group, with `explain stacks`: the settings in which two stacks differ, and what
was measured of them; it also shows one or two connections of a trial on one time axis.

Both only display: the table of aspects is in `eyelevel.calibration.level`, timelines are read by
`eyelevel.analysis.connections` and drawn by `eyelevel.report.pages`.
"""
