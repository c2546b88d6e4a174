"""Logs of emulated paths, ours and Mahimahi's, in one form; pure, bytes and arrays only.

`reading.read_log` reads either kind into two `direction.DirectionLog`s: when packets arrived, were
dropped or released, and the link's capacity. `series` and `summary` reduce them to time series and
to numbers; `packets` has single packets, for the spirit level, and their fates, which another path
can repeat.

The format is in spec/path-log.md. Callers open the files; charts are in `eyelevel.report.charts`.
"""
