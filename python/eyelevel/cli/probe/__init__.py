"""Commands that measure real servers: `probe` and `scan`.

`commands` runs the prober and passes rows to `output`: a table, JSON lines, the thesis's CSV or
Parquet; `answers` prints responses. `listed` probes a list of hosts, with `progress`; `rounds`
repeats a measurement on schedule and survives restarts, for which `appended` repairs a truncated
file; `report` makes figures from files, `udp` tests whether QUIC is blocked. `scan` queries many
names for supported protocols.

The data plane does the probing (`eyelevel.lab.prober`), `eyelevel.probes` the analysis,
`eyelevel.probes.scans` the summaries of scans.
"""
