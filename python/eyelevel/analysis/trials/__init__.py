"""The table of trials: one row per record, and which rows count.

`table` reads every record of a run once, computes its metrics and `facts` (small columns, of which
`waits`, `limits` and `timer_gap` are read from logs in the record), and caches the rows in
`trials.parquet`. `post_hoc_exclusions` then excludes loads by comparing them with the other loads
of the page. `blocks` leaves out failed loads and the pairs that they are part of, and returns the
remaining values as arrays.

A row depends only on its record and on the code of this package, of `eyelevel.analysis.metrics` and
of `eyelevel.store`: a hash of that code is stored with the rows (`eyelevel.analysis.study`).
`eyelevel.analysis.gains` compares rows.
"""
