"""Scans: choose the names to query, and summarise the results.

`names` reads lists of names and opt-outs, `summary` counts each feature over rows, with intervals.
Pure except for reading its input files, and cheap: a scan of a million names runs for days, row by
row.

The data plane makes the queries (`eyelevel.lab.prober`); `eyelevel.cli.probe.scan` shows the
progress.
"""
