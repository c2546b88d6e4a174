"""Measure whether this machine emulates paths and stacks as intended, and compare with theory.

`path` sends packets at known rates through a path and checks delay, rate and loss. `stacks`
compares our QUIC with the kernel's TCP: the same bulk data (`bulk`) over both, cell by cell, cached
for this build and kernel; `short_flows` does the same with flows of a page's size, next to theory;
`fine_grid` runs only our controllers, in virtual time.

No page is loaded here: `eyelevel.calibration.measuring` measures the level, which loads pages.
`eyelevel.analysis.yardstick` describes cells in words.
"""
