"""Run records: their schema and version, the outcomes of loads, and how records are stored.

`directory` has the layout of a run and reads trials, validated; `commit` writes each trial once and
atomically, and the first writer wins. `schema` defines a record (spec/run-record.md), `outcomes`
the closed list of how a load can end, `hashing` the canonical form that identifies a trial. Frames
are stored as lossless differences (`frames`); last frames are shared by all
loads of a run (`pictures`). `disk` writes files whole or not at all.

Records have raw observations only: what is computed from a record belongs in
`eyelevel.analysis.metrics` and `eyelevel.analysis`, so that a better computation needs no new
loads. `unused_connections` counts connections of one record for readers on both sides of that
boundary.
"""
