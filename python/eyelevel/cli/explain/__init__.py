"""`eyelevel explain`: why results can differ.

`commands` is the group, with `explain stacks`: in which settings two stacks differ and what was
measured of them. `trial` shows one connection or two of a trial on one time axis.

Both only show: the table of aspects is `eyelevel.calibration.level`, timelines are read by
`eyelevel.analysis.connections` and drawn by `eyelevel.report.pages`.
"""
