"""The commands `eyelevel validate`: is what this machine emulates what it should be?

`commands` is the group, with `validate path`; `stacks` compares our QUIC with the kernel's TCP;
`level` measures in what two stacks differ besides their protocols.

Each prints measurements row by row, and exits with 1 if a bound is violated.
`eyelevel.calibration.validation` measures, and `eyelevel.calibration.measuring`, which loads pages.
"""
