"""Measures whether this machine emulates what it should, and compares that with theory.

`path` sends packets at known rates through a path and checks delay, rate and loss
(`path_experiment` is one such experiment). `stacks` holds our QUIC beside the kernel's TCP: the
same bulk data (`bulk`) over both, cell by cell (`stack_cells`), kept for this build and kernel
(`stack_cache`); `short_flows` does the same with flows of a page's size beside `flow_theory`;
`fine_grid` runs our controllers alone in virtual time.

No page is loaded here: the level, which loads pages, is `eyelevel.calibration.measuring`. What
cells say in words is `eyelevel.analysis.yardstick`.
"""
