"""The table of trials: one row a record, and which rows count.

`table` reads every record of a run once, computes its metrics and `facts` (small columns, of which
`downlink`, `limits` and `timer_gap` are read from logs in the record), and keeps the rows in
`trials.parquet`. `judgement` then tells by the other loads of a page what a load cannot tell of
itself; `blocks` leaves out failed loads, and with them the pairs that they are part of, and gives
the values of what is left as arrays.

A row depends on nothing but its record and the code of this package, of `eyelevel.metrics` and of
`eyelevel.store`: a hash of that code is kept with the rows (`eyelevel.analysis.study`). Comparing
rows is the business of `eyelevel.analysis.gains`.
"""
