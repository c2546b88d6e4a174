"""Commands that measure real servers: `probe` and `scan`.

`commands` runs the prober and passes rows to `output`: a table, JSON lines, the thesis's CSV or
Parquet, or responses. It probes a list of hosts, with `progress`, repeats a measurement on schedule
and survives restarts, for which `progress` repairs a truncated file, and tests whether QUIC is
blocked. `report` makes figures from files. `scan` queries many
names for supported protocols.

The data plane does the probing (`eyelevel.lab.prober`), `eyelevel.probes` the analysis,
`eyelevel.probes.scans` the summaries of scans.
"""
