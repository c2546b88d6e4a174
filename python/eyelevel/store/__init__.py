"""The run record: its schema and version, its outcomes, how it is written and read.

`directory` writes each trial once and whole and reads it back checked; the first writer wins.
`schema` is the shape of a record (spec/run-record.md), `outcomes` the closed list of how a load
can end, `hashing` the one canonical form that identifies a trial. Frames are lossless differences
(`frames`, `deltas`, `pixels`), last pictures are shared by all loads of a run (`pictures`).

Raw observations only: what is computed from a record lives in `eyelevel.metrics` and
`eyelevel.analysis`, so that a better computation needs no new loads. `unused_connections`
counts connections of one record for readers on both sides of that line.
"""
