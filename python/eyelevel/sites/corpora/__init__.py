"""Corpora: sets of many recordings, with a table of each one's source.

A corpus is a folder of recordings, or a list of them: a text file with one recording per line.
`members` opens both, and the synthetic ones of `synthetic`. `ledger` is the table next to the
recordings: the source of each, and why some are absent. `sources` finds other tools' recordings in
a folder, and `importing` imports them one at a time. `pages` reads lists of pages to record, and
has those of the studies that this project builds on, as far as they are named there.

`attributes` reads the numbers of each site, `table` summarises them in the form of Das's table 4.1,
and `selection` draws sites by strata, seeded. `checks` stores the results of checking each
recording.

Pages are loaded only through `eyelevel.sites`; `eyelevel.cli.corpus.record` records them.
"""
