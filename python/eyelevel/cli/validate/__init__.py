"""The commands `eyelevel validate`: is what this machine emulates what it should be?

`commands` is the group, with `validate path`; it also compares our QUIC with the kernel's TCP and
measures in what two stacks differ besides their protocols. `live` compares a page with its replay.

Each prints measurements row by row, and exits with 1 if a bound is violated.
`eyelevel.calibration.validation` measures, and `eyelevel.calibration.measuring`, which loads pages.
"""
