"""The table of trials: one row a record, and which rows count.

`table` reads every record of a run once, computes its metrics and `facts` (small columns, of which
`downlink`, `limits` and `timer_gap` are read from logs in the record), and keeps the rows in
`trials.parquet`. `post_hoc_exclusions` then excludes loads by comparing them with the other loads
of the page. `blocks` leaves out failed loads and the pairs that they are part of, and returns the
remaining values as arrays.

A row depends on nothing but its record and the code of this package, of `eyelevel.metrics` and of
`eyelevel.store`: a hash of that code is kept with the rows (`eyelevel.analysis.study`). Comparing
rows is the business of `eyelevel.analysis.gains`.
"""
