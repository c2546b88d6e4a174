"""Logs of emulated paths, ours and Mahimahi's, as one shape; pure, bytes and arrays only.

`own.read_log` reads either kind into two `direction.DirectionLog`s: when packets arrived, were
dropped or released, and what the link could have carried. `series` and `summary` reduce them to
courses over time and to numbers; `arrivals` keeps single packets, for the spirit level; `fates`
writes a log's losses and delays down for another path.

The format is spec/path-log.md. Files are opened by callers; charts are in `eyelevel.figures`.
"""
