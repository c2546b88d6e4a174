"""Logs of emulated paths, ours and Mahimahi's, in one shape; pure, bytes and arrays only.

`reading.read_log` reads either kind into two `direction.DirectionLog`s: when packets arrived, were
dropped or released, and what the link could have carried. `series` and `summary` reduce them to
courses over time and to numbers; `packets` keeps single packets, for the spirit level, and their
fates, which another path can repeat.

The format is spec/path-log.md. Files are opened by callers; charts are in `eyelevel.report.charts`.
"""
