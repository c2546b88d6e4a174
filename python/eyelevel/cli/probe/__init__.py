"""Commands that measure real servers: `probe` and `scan`.

`commands` asks the prober and hands rows to `output`: a table for people, JSON lines, the thesis's
CSV or Parquet; `answers` prints what servers said. `listed` goes through a list of hosts, with
`progress`; `rounds` repeats a measurement on time and survives restarts, for which `appended` mends
a file that broke off; `report` makes figures of files, `udp` says whether QUIC gets through. `scan`
asks many names what they support.

The probes themselves are the data plane's (`eyelevel.lab.prober`), their analysis is
`eyelevel.probes`, summaries of scans are `eyelevel.probes.scans`.
"""
