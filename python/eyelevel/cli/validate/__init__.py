"""`eyelevel validate`: is what this machine emulates what it should be?

`commands` is the group, with `validate path`; `stacks` holds our QUIC beside the kernel's TCP;
`level` says in what two stacks differ beyond what their protocols say.

Each prints what was measured, row by row, and exits with 1 if a bound is not held. Measuring is the
business of `eyelevel.calibration.validation`, and of `eyelevel.calibration.measuring`, which loads
pages.
"""
